"""History: what a trial is judged by, gathered frame by frame from the live world."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from tumble.goals.wants import SIDES, WANTS, Go, Reach, Want, kept, part
from tumble.live.commands import Command, Reset
from tumble.live.session import Frame, Session
from tumble.world.drives import Drive, Torque
from tumble.world.scene import Scene
from tumble.world.sims import Sims

SETTLED = 0.5  # s at the end over which `balanced` must hold
UPRIGHT = float(np.cos(np.radians(25)))  # of the trunk's angle from the vertical
TALL = 0.85  # of the root's standing height
SLOW = 0.5  # m/s, centre of mass
FALLEN = 0.5  # of the root's standing height, below which a character that stood has fallen
LATE = 5.0  # s at the end over which speeds and jerks are averaged


class History:
    """A listener that notes how the character does.

    Attributes:
      wants: (seconds, all that is wanted since), from the beginning.
      began: simulated seconds at its first frame.
      frames: how many it has seen.
      commands: (seconds, command) as they were applied.
      broken: whether the live world went unstable.
    """

    SIGHT: ClassVar[float] = 0.1  # s between two looks at what sensors do not tell

    def __init__(
        self, scene: Scene, want: Want | None = None, began: float = 0.0,
        sights: Mapping[str, Callable[[Sims], np.ndarray]] = {},
    ) -> None:  # fmt: skip
        """Follow a scene.

        Args:
          sights: by name, what is looked at ten times a second beside the sensors: a row of numbers for the live world.
        """
        self.scene, self.began = scene, began
        self.wants: list[tuple[float, Want]] = [] if want is None else [(began, want)]
        self._clock = time.perf_counter()
        feet = (*scene.character.feet, *scene.character.toes)
        self._others = np.array([bone not in feet for bone in scene.bones])
        self._rows = np.empty((64, scene.model.nsensordata))  # of the sensors; those of `frames` count
        self._standing = scene.standing
        self._angles: list[np.ndarray] = []
        self._speeds: list[np.ndarray] = []
        self._torques: list[np.ndarray] = []
        self._acting: list[str] = []
        self._walls: list[float] = []
        self._sights = sights
        self._every = max(1, round(self.SIGHT / scene.dt))  # frames between two looks
        self._seen: dict[str, list[np.ndarray]] = {name: [] for name in sights}
        self.frames = 0
        self.commands: list[tuple[float, Command]] = []
        self.broken = False

    def __call__(self, session: Session, frame: Frame) -> None:
        if session.scene is not self.scene:
            self._move(session.scene)
        self.hear(frame.commands)
        self.look(session.world)
        view, motors = session.world.view, self.scene.drive
        angles, speeds = view("qpos")[:1, motors.qpos], view("qvel")[:1, motors.qvel]
        torques = torques_of(self.scene.drives[frame.drive], frame.control[None])
        self.extend(view("sensordata")[:1], angles, speeds, torques, frame.broken, frame.acting)

    def hear(self, commands: Sequence[Command]) -> None:
        """Note commands that are applied before the next frame."""
        for command in commands:
            self.commands.append((self.time, command))
            if isinstance(command, WANTS):
                self.wants.append((self.time, kept(self.wants[-1][1] if self.wants else None, command)))

    def look(self, world: Sims) -> None:
        """Look at what sensors do not tell, in a world of one row, where that is due after the next frame."""
        if self.frames % self._every == 0:
            for name, look in self._sights.items():
                self._seen[name].append(look(world))

    def extend(
        self, sensors: np.ndarray, angles: np.ndarray, speeds: np.ndarray, torques: np.ndarray, broken: bool,
        acting: str = "",
    ) -> None:  # fmt: skip
        """Note one frame or more; all arrays but the sensors are kept as they are.

        Args:
          sensors: (k, nsensordata).
          angles, speeds: (k, joints) of the scene's first drive.
          torques: of `torques_of`.
          broken: whether the world went unstable in them.
          acting: who of several controllers acted.
        """
        end = self.frames + len(sensors)
        while end > len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[self.frames : end] = sensors
        self.frames = end
        self._walls += [time.perf_counter() - self._clock] * len(sensors)
        self._angles += [*angles]
        self._speeds += [*speeds]
        self._torques += [*torques]
        self._acting += [acting] * len(sensors)
        self.broken |= broken

    def _move(self, scene: Scene) -> None:
        """Go on in another scene: what its sensors would have read before is 0 where there were none."""
        rows = np.zeros((len(self._rows), scene.model.nsensordata))
        for name, place in scene.channels.items():
            before = self.scene.channels.get(name, slice(0, 0))
            if before.stop - before.start == place.stop - place.start:
                rows[:, place] = self._rows[:, before]
        self.scene, self._rows = scene, rows

    def wanted(self, when: float) -> Want | None:
        """All that was wanted in the frame that ends at a time."""
        before = [want for since, want in self.wants if since < when - 0.5 * self.scene.dt]
        return before[-1] if before else self.wants[0][1] if self.wants else None

    def cut(self, frames: int, want: Want | None = None) -> None:
        """Forget all but the first frames, as where time is turned back.

        Args:
          want: all that is wanted from there on; where it is not given, what is wanted now.
        """
        want = want or (self.wants[-1][1] if self.wants else None)
        self.frames = frames = min(max(frames, 0), self.frames)
        end = self.time - 0.5 * self.scene.dt
        self.commands = [(when, command) for when, command in self.commands if when < end]
        self.wants = [(when, one) for when, one in self.wants if when < end]
        if want is not None and (not self.wants or self.wants[-1][1] != want):
            self.wants.append((self.time, want))
        for looks in self._seen.values():
            del looks[-(-frames // self._every) :]
        for kept_list in (self._walls, self._angles, self._speeds, self._torques, self._acting):
            del kept_list[frames:]
        self.broken = False

    def forget(self, seconds: float) -> None:
        """Keep little more than the last seconds, and all that was wanted."""
        drop = self.frames - round(seconds / self.scene.dt)
        drop -= drop % self._every  # looks stay in step
        if drop <= 0:
            return
        for looks in self._seen.values():
            del looks[: drop // self._every]
        self._rows = self._rows[drop : self.frames].copy()
        self.frames -= drop
        self.began += drop * self.scene.dt
        self.commands = [
            (when, command) for when, command in self.commands if when >= self.began or isinstance(command, WANTS)
        ]
        for kept_list in (self._walls, self._angles, self._speeds, self._torques, self._acting):
            del kept_list[:drop]

    @property
    def acting(self) -> np.ndarray:
        """(frames,): names of who acted, '' where there is one controller."""
        return np.array(self._acting, dtype=str)

    def of(self, channel: str) -> np.ndarray:
        """(frames, d): a channel of the scene in every frame, live."""
        return self._rows[: self.frames, self.scene.channels[channel]]

    def seen(self, sight: str) -> np.ndarray:
        """(looks, d): one of the sights, ten times a second; nothing where nobody looked."""
        looks = self._seen.get(sight)
        return np.array(looks) if looks else np.empty((0, 0))

    @property
    def time(self) -> float:
        """Simulated seconds at the end of the last frame."""
        return self.began + self.frames * self.scene.dt

    @property
    def wall(self) -> np.ndarray:
        """(frames,): wall time since the history was made, s."""
        return np.array(self._walls)

    def frame(self, when: float) -> int:
        """The frame that begins at a time."""
        return round((when - self.began) / self.scene.dt)

    def last(self, seconds: float) -> slice:
        """The frames of the last seconds."""
        return slice(-max(1, round(seconds / self.scene.dt)), None)

    @property
    def height(self) -> np.ndarray:
        """(frames,): of the root above the ground over its standing height."""
        place = self.of(f"{self.scene.character.root}.pos")
        return (place[:, 2] - self.scene.ground.height(place[:, 0])) / self._standing

    @property
    def upright(self) -> np.ndarray:
        """(frames,): cosine of the trunk's angle from the vertical."""
        return self.of(f"{self.scene.character.trunk}.up")[:, 2]

    @property
    def speed(self) -> np.ndarray:
        """(frames,): of the centre of mass, m/s."""
        return np.linalg.norm(self.of("com_velocity"), axis=1)

    @property
    def only_feet(self) -> np.ndarray:
        """(frames,): whether nothing but feet touches the ground."""
        return np.logical_not((self.of("grounded")[:, self._others] > 0).any(axis=1))

    @property
    def stands(self) -> np.ndarray:
        """(frames,): whether only feet touch the ground and the root is at 85 % or more of its standing height."""
        return self.only_feet & (self.height >= TALL)

    @property
    def along(self) -> np.ndarray:
        """(frames,): speed of the centre of mass along the velocity, or to the target, that was wanted last, m/s.

        0 where nobody wanted to go anywhere yet, or wanted to stand.
        """
        ways, com = np.zeros((self.frames, 2)), self.of("com")[:, :2]
        for when, want in self.wants:
            go = part(want, Go)
            later = slice(max(0, self.frame(when)), None)
            if go is not None and go.target is not None:
                ways[later] = np.array(go.target)[:2] - com[later]
            elif go is not None:
                ways[later] = go.velocity
        speeds = (ways * self.of("com_velocity")[:, :2]).sum(axis=1)
        return speeds / np.maximum(np.linalg.norm(ways, axis=1), 1e-9)

    def lasted(self, seconds: float) -> bool:
        """Whether the history is that long and nothing broke."""
        return not self.broken and self.frames * self.scene.dt > seconds - 0.5 * self.scene.dt

    def balanced(self, at: float | None = None) -> bool:
        """Whether over the last 0.5 s only feet touched the ground and it stood tall, upright and still.

        Tall: the root at 85 % or more of its standing height; upright: the trunk within 25 degrees of
        the vertical; still: the centre of mass slower than 0.5 m/s. A world that broke is not balanced.

        Args:
          at: seconds from the start, instead of the end of the history.
        """
        end = self.frames if at is None else round(at / self.scene.dt)
        last = slice(end - round(SETTLED / self.scene.dt), end)
        return (
            last.start >= 0
            and end <= self.frames - self.broken
            and bool(self.only_feet[last].all())
            and bool(self.height[last].min() >= TALL)
            and bool(self.upright[last].min() >= UPRIGHT)
            and bool(self.speed[last].max() < SLOW)
        )

    def falls(self) -> int:
        """How often it went down after having stood."""
        falls, stood = 0, False
        for height, only_feet in zip(self.height, self.only_feet, strict=True):
            if only_feet and height >= TALL:
                stood = True
            elif stood and height < FALLEN:
                falls, stood = falls + 1, False
        return falls

    def downs(self) -> int:
        """How often its body touched the ground after having stood: the falls of rajamaki2017."""
        downs, stood = 0, False
        for stands, only_feet in zip(self.stands, self.only_feet, strict=True):
            if stood and not only_feet:
                downs, stood = downs + 1, False
            stood |= bool(stands)
        return downs

    @property
    def down(self) -> float:
        """How long ago its body touched the ground, s, if it has not stood since nor was put on its feet; else 0."""
        resets = [self.frame(when) for when in self.resets()]
        up = max([0, *resets, *(1 + np.flatnonzero(self.stands)[-1:])])
        touched = np.flatnonzero(~self.only_feet[up:])
        return float(self.frames - 1 - up - touched[0]) * self.scene.dt if touched.size else 0.0

    def resets(self) -> list[float]:
        """When it was put back on its feet, s."""
        return [when for when, command in self.commands if isinstance(command, Reset)]

    def stable(self, seconds: float = 10.0, pace: float = 0.8) -> int | None:
        """The first frame that ends so many seconds in which only feet touched and it went along at that pace.

        The pace is the mean of `along`, m/s. None where there is no such frame.
        """
        n, end = round(seconds / self.scene.dt), self.frames - self.broken
        if end < n:
            return None
        gone, touched = (np.cumsum([0, *row[:end]]) for row in (self.along, ~self.only_feet))
        good = (gone[n:] - gone[:-n] >= n * (pace - 1e-9)) & (touched[n:] == touched[:-n])
        return int(good.argmax()) + n - 1 if good.any() else None

    def until(self, happened: np.ndarray) -> float:
        """Seconds until it first happened, by frames (frames,); the whole trial's where it never did."""
        first = np.flatnonzero(happened)
        return float(first[0] if first.size else self.frames) * self.scene.dt

    def peak_torque(self) -> float:
        """Largest torque of any joint, N m, as the mean over a frame, which leaves impacts out; of the torque drive.

        Walkers give the engine's damping back in their controls: it is taken off again, by the joints' mean speeds.
        """
        if len(self._torques) < 2 or not any(torque.size for torque in self._torques):
            return 0.0
        joints = len(self._angles[0])
        pushed = np.array([t[:joints] if t.size else np.zeros(joints) for t in self._torques[1:]])
        speeds = np.diff(self._angles, axis=0) / self.scene.dt
        pushed -= self.scene.model.dof_damping[self.scene.drive.qvel] * speeds
        acted = np.array([torque.size > 0 for torque in self._torques[1:]])
        return float(np.abs(pushed[acted]).max()) if acted.any() else 0.0

    def metrics(self) -> dict[str, float]:
        """rms_joint_speed (rad/s) and rms_jerk (rad/s^3) of the joints over the last 5 s; falls."""
        speeds = np.array(self._speeds)[self.last(LATE)]
        jerks = np.diff(speeds, n=2, axis=0) / self.scene.dt**2
        return {
            "rms_joint_speed": float(np.sqrt(np.mean(speeds**2))) if speeds.size else 0.0,
            "rms_jerk": float(np.sqrt(np.mean(jerks**2))) if jerks.size else 0.0,
            "falls": float(self.falls()),
        }


def hand_near(history: History, within: float = 0.1, seconds: float = 0.5) -> bool:
    """Whether the hand was within so many m of its last target over the last seconds."""
    reach = part(history.wants[-1][1], Reach) if history.wants else None
    if reach is None:
        return False
    hand = history.of(f"{history.scene.character.touch(SIDES.index(reach.hand))}.pos")[history.last(seconds)]
    return bool((np.linalg.norm(hand - reach.target, axis=1) < within).all())


def torques_of(drive: Drive, controls: np.ndarray) -> np.ndarray:
    """(k, joints) of controls (k, size), N m, where the drive's are torques of one frame each; else (k, 0)."""
    if not isinstance(drive, Torque):
        return np.empty((len(controls), 0))
    return np.asarray(controls[:, : drive.joints] * drive.strength[: drive.joints])
