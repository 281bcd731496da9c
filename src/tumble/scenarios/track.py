"""Track: what a trial is judged by, gathered frame by frame from the live world."""

import numpy as np

from tumble.commands import Command, SetGoal
from tumble.scene import Scene
from tumble.session import Frame, Session

SETTLED = 0.5  # s at the end over which `balanced` must hold
UPRIGHT = float(np.cos(np.radians(25)))  # of the trunk's angle from the vertical
TALL = 0.85  # of the root's standing height
SLOW = 0.5  # m/s, centre of mass
FALLEN = 0.5  # of the root's standing height, below which a character that stood has fallen
LATE = 5.0  # s at the end over which speeds and jerks are averaged


class Track:
    """A listener that notes how the character does.

    Attributes:
      commands: (seconds, command) as they were applied.
      broken: whether the live world went unstable.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._standing = scene.show(scene.state("rest")).body(scene.character.root).xipos[2]
        feet = (*scene.character.feet, *scene.character.toes)
        self._others = np.array([bone not in feet for bone in scene.bones])
        self._sensors: list[np.ndarray] = []
        self._rows = np.empty((0, scene.model.nsensordata))  # the same as an array, up to the last look
        self._speeds: list[np.ndarray] = []
        self.commands: list[tuple[float, Command]] = []
        self.broken = False

    def __call__(self, session: Session, frame: Frame) -> None:
        view = session.world.view
        self.commands += [(frame.time - self.scene.dt, command) for command in frame.commands]
        self._sensors.append(view("sensordata")[0].copy())
        self._speeds.append(view("qvel")[0, self.scene.motors.qvel].copy())
        self.broken |= frame.broken

    def of(self, channel: str) -> np.ndarray:
        """(frames, d): a channel of the scene in every frame."""
        if len(self._rows) < len(self._sensors):
            self._rows = np.array(self._sensors)
        return self._rows[:, self.scene.channels[channel]]

    def last(self, seconds: float) -> slice:
        """The frames of the last seconds."""
        return slice(-max(1, round(seconds / self.scene.dt)), None)

    @property
    def height(self) -> np.ndarray:
        """(frames,): of the root over its standing height."""
        return self.of(f"{self.scene.character.root}.pos")[:, 2] / self._standing

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

    def lasted(self, seconds: float) -> bool:
        """Whether the track is that long and nothing broke."""
        return not self.broken and len(self._sensors) * self.scene.dt > seconds - 0.5 * self.scene.dt

    def balanced(self, at: float | None = None) -> bool:
        """Whether over the last 0.5 s only feet touched the ground and it stood tall, upright and still.

        Tall: the root at 85 % or more of its standing height; upright: the trunk within 25 degrees of
        the vertical; still: the centre of mass slower than 0.5 m/s. A world that broke is not balanced.

        Args:
          at: seconds from the start, instead of the end of the track.
        """
        frames = len(self._sensors)
        end = frames if at is None else round(at / self.scene.dt)
        last = slice(end - round(SETTLED / self.scene.dt), end)
        return (
            last.start >= 0
            and end <= frames - self.broken
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

    def metrics(self) -> dict[str, float]:
        """rms_joint_speed (rad/s) and rms_jerk (rad/s^3) of the joints over the last 5 s; falls."""
        speeds = np.array(self._speeds)[self.last(LATE)]
        jerks = np.diff(speeds, n=2, axis=0) / self.scene.dt**2
        return {
            "rms_joint_speed": float(np.sqrt(np.mean(speeds**2))) if speeds.size else 0.0,
            "rms_jerk": float(np.sqrt(np.mean(jerks**2))) if jerks.size else 0.0,
            "falls": float(self.falls()),
        }


def hand_near(track: Track, within: float = 0.1, seconds: float = 0.5) -> bool:
    """Whether the hand was within so many m of its last target over the last seconds."""
    asked = [command for _, command in track.commands if isinstance(command, SetGoal) and command.target is not None]
    if not asked:
        return False
    side = ("left", "right").index(asked[-1].hand or "left")
    hand = track.of(f"{track.scene.character.hands[side]}.pos")[track.last(seconds)]
    return bool((np.linalg.norm(hand - asked[-1].target, axis=1) < within).all())
