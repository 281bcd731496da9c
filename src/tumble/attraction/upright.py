"""UprightSystem: a body that shall come to stand, facing ahead: the paper's getting up, crouch, jump and twist.

    system = UprightSystem(SKILLS["getup-1"])
    states = system.sample(alpha, 10, rng)
    system.roll(states, tracks).reached

Success is the same everywhere: `HOLD` s after the track has ended, under the standing controller, it is balanced as
`tumble.scenarios` means it, and faces within `FACING` - `MARGIN` of where it should. A skill with an end of its own is
judged so in that stance, held by PD control.
"""

import math
from collections.abc import Sequence

import mujoco
import numpy as np

from tumble.attraction.bodies import Bodies
from tumble.attraction.rolling import Rolling
from tumble.attraction.skills import STAND, Skill, sides
from tumble.attraction.standing import StandingFeedback
from tumble.attraction.system import Followed, System
from tumble.characters import character
from tumble.maths.vectors import yaws
from tumble.world.drives import FRAME, Pd
from tumble.world.placing import LYING, turned_about_z
from tumble.world.scene import Scene
from tumble.world.sims import Sims

VERSION = 1  # of what rollouts mean: a tree is only good for the physics and the law that it was grown with
BODY = "humanoid25"
UPRIGHT = math.radians(25.0)  # of the trunk from the vertical
TALL = 0.85  # of the root's height at the goal
SLOW = 0.5  # m/s, centre of mass
FACING = math.radians(15.0)  # within which scenarios want it to face
MARGIN = math.radians(1.0)  # inside that at which trees want it: who stands for long turns by up to so much
ROOT_SPREAD = 3.0  # mean of the L1 norm of a rotation matrix's change over the small angle it turns by
SPEEDS = 0.1  # weight of speeds over that of angles, s, alborno2016 section 4.4
EFFORT = 1e-7  # w2 over w1, kg rad / (N m)^2; not given; ours

# Mass by which alpha is divided, kg: hip, knee and shoulder follow from the degrees in section 4.3; others ours.
SHARES = {"spine": 10.6, "neck": 3.2, "shoulder": 3.2, "elbow": 3.2, "hip": 10.6, "knee": 6.2, "ankle": 6.2}
TURN = 1 / 10  # of the way to a random orientation for each alpha; not given; ours: alpha = 10 lies anyhow
DROP = 0.05  # m from which it is dropped; not given; ours
WAIT = 1.0  # s after which it lies; not given; ours
PUSH = 0.1  # s of a push, alborno2016 section 4.3


class UprightSystem(System):
    """A body that comes to stand, or to a stance; see `System`.

    Attributes as of `System`, and
      skill: what it is about.
      scene, drive: where it is simulated.
      bodies: its simulations.
      standing: who stands after a track.
      end: (joints,) the pose that is held after a track instead, rad; None where it stands.
      facing: rad that it shall face in the end; None where that does not matter.
    """

    def __init__(self, skill: Skill, threads: int = 1) -> None:
        self.skill, self.facing = skill, 0.0 if skill.facing else None
        self.scene = Scene(character(BODY))
        self.drive = self.scene.drives[Pd.name]
        model = self.drive.model
        self.joints = self.drive.joints
        self.low, self.high = self.drive.low[: self.joints], self.drive.high[: self.joints]
        self.effort = EFFORT
        self.recipe = {
            "body": BODY, "drive": Pd.name, "step": self.drive.timestep, "skill": skill.name, "version": VERSION,
        }  # fmt: skip
        self._nq, self._nv = model.nq, model.nv
        self.names = tuple(self.scene.character.joints)
        self._row = self.scene.state("rest")
        self.bodies = Bodies(self.scene, self._row, threads)
        self.standing = StandingFeedback(self.scene)
        self._root = f"{self.scene.character.root}.pos", f"{self.scene.character.trunk}.up"
        self._others = np.array([bone not in self.scene.character.feet for bone in self.scene.bones])
        masses = model.body_mass[model.jnt_bodyid[[model.joint(name).id for name in self.names]]]
        pelvis = float(model.body_mass[self.scene.root()])
        self._weights = np.r_[masses, np.full(9, pelvis / ROOT_SPREAD), SPEEDS * masses, np.full(3, SPEEDS * pelvis)]
        self._start = np.array(sides(skill.start, self.names))
        self._quat = np.array(turned_about_z(leaning(LYING[skill.lying], skill.lean), skill.heading))
        stand = self._rested(self.bodies.motion(self._row))
        self.target = self._dropped(self._start[None], self._quat[None])[0]
        if skill.start == STAND:
            self.target = np.r_[stand[:3], turned_about_z(stand[3:7].tolist(), skill.heading), stand[7:]]
        self.goal, self._upright, self.end = stand, math.cos(UPRIGHT), None
        if skill.end is not None:
            self.end = np.array(sides(skill.end.pose, self.names))
            self.goal = self._dropped(self.end[None], np.array([leaning(LYING["upright"], skill.end.lean)]))[0]
            self._upright = math.cos(skill.end.tilt)
        self._sole = float(self.scene.show(self._row).body(self.scene.character.feet[0]).xipos[2])
        self._tall = float(
            self.scene.show(self.bodies.rows(self.goal[None])[0]).body(self.scene.character.root).xipos[2]
        )

    @property
    def width(self) -> int:
        """Numbers of a whole state row."""
        return len(self._row)

    def after(self, row: np.ndarray, track: np.ndarray, frames: int) -> np.ndarray:
        """The whole state row after so many frames of following a track and, beyond its end, standing.

        Standing also where the skill ends in a stance of its own: nobody is in that before the skill.
        """
        sims, some = self.bodies.loaded(row[None]), np.arange(1)
        for frame in range(frames):
            own = track[frame : frame + 1] if frame < len(track) else self.standing.control(sims, some)
            sims.act(own, self.drive, some)
        return sims.state[0].copy()

    def heading(self, state: np.ndarray) -> float:
        """rad about the vertical by which the target's orientation comes nearest to that of a state.

        Of the rotation M = R R_target^T it is atan2(M_10 - M_01, M_00 + M_11): whoever is turned back by it lies as the
        target does, as far as a turn about the vertical goes.
        """
        turn = np.empty(4)
        mujoco.mju_mulQuat(turn, state[3:7], self.target[3:7] * [1, -1, -1, -1])
        return 2.0 * math.atan2(turn[3], turn[0])

    def turn_to(self, state: np.ndarray, facing: float | None) -> float:
        """rad by which a tree is turned for a body in a state that shall face somewhere, rad, or as it does now."""
        return self.heading(state) if facing is None else facing

    def turned(self, state: np.ndarray, angle: float) -> np.ndarray:
        """A state after a turn about the vertical, rad."""
        result = state.copy()
        result[3:7] = turned_about_z(state[3:7].tolist(), angle)
        return result  # speeds of a free joint's turning are those of its own axes

    def features(self, states: np.ndarray) -> np.ndarray:
        qpos, qvel = states[:, : self._nq], states[:, self._nq :]
        w, x, y, z = qpos[:, 3:7].T
        turned = np.stack([
            1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
            2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
            2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
        ], axis=1)  # fmt: skip
        parts = [qpos[:, self.drive.qpos], turned, qvel[:, self.drive.qvel], qvel[:, 3:6]]
        return np.hstack(parts) * self._weights

    def angles(self, states: np.ndarray) -> np.ndarray:
        return states[:, : self._nq][:, self.drive.qpos]

    # How states are drawn ---------------------------------------------------------------------------

    def sample(self, level: float, count: int, rng: np.random.Generator) -> np.ndarray:
        """Dropped poses around the skill's with alpha = level, or pushes of up to kappa = level N."""
        if self.skill.domain == "push":
            return self.pushed(rng.uniform(0.0, 2 * math.pi, count), rng.uniform(0.0, level, count))
        reach = level / np.array([next(m for part, m in SHARES.items() if part in name) for name in self.names])
        low, high = np.maximum(self._start - reach, self.low), np.minimum(self._start + reach, self.high)
        angles = rng.uniform(np.minimum(low, high), high, (count, self.joints))
        others = rng.normal(size=(count, 4))
        others /= np.linalg.norm(others, axis=1, keepdims=True)
        quats = np.array([slerp(self._quat, other, min(1.0, TURN * level)) for other in others])
        states = self._dropped(angles, quats)
        if self.facing is None:
            return np.array([self.turned(state, -self.heading(state)) for state in states])
        return states

    def _dropped(self, angles: np.ndarray, quats: np.ndarray) -> np.ndarray:
        """States after bodies that hold these angles were dropped in these orientations."""
        data = mujoco.MjData(self.drive.model)
        rows = np.tile(self._row, (len(angles), 1))
        for row, pose, quat in zip(rows, angles, quats, strict=True):
            data.qpos[:3], data.qpos[3:7], data.qpos[self.drive.qpos] = 0.0, quat, pose
            self.scene.land(data, DROP)
            self.bodies.motion(row)[: self._nq] = data.qpos
        return self._held(rows, angles, WAIT)

    def _held(self, rows: np.ndarray, angles: np.ndarray, seconds: float) -> np.ndarray:
        """States after PD control has held angles for some time, put above the origin."""
        sims = self.bodies.loaded(rows)
        some, control = np.arange(len(rows)), np.hstack([angles, angles])
        for _ in range(round(seconds / FRAME)):
            sims.act(control, self.drive, some)
        states = self.bodies.motion(sims.state[: len(rows)]).copy()
        states[:, :2] = 0.0
        return states

    def _rested(self, state: np.ndarray) -> np.ndarray:
        """The state in which it stands after a while."""
        sims = self.bodies.loaded(self.bodies.rows(state[None]))
        some = np.arange(1)
        for _ in range(90):
            sims.act(self.standing.control(sims, some), self.drive, some)
        return self.bodies.motion(sims.state[0]).copy()

    def pushed(self, angle: np.ndarray, force: np.ndarray) -> np.ndarray:
        """States (n, nstate) after pushes on the trunk towards angles (n,), rad, by forces (n,), N, from the target."""
        count = len(angle)
        sims = self.bodies.loaded(self.bodies.rows(np.tile(self.target, (count, 1))))
        some = np.arange(count)
        forces = sims.view("xfrc_applied")[:count, self.scene.body(self.scene.character.trunk)]
        forces[:, 0], forces[:, 1] = force * np.cos(angle), force * np.sin(angle)
        pose = np.tile(self.angles(self.target[None]), (count, 2))
        for _ in range(round(PUSH / FRAME)):
            sims.act(pose, self.drive, some)
        forces[:] = 0.0
        states = self.bodies.motion(sims.state[:count]).copy()
        states[:, :2] = 0.0
        return states

    # What tracks come to ----------------------------------------------------------------------------

    def between(self, near: np.ndarray, far: np.ndarray, share: float) -> np.ndarray:
        """Angles in a straight line and the root on the shortest way; dropped, where states are drawn so."""
        if self.skill.domain == "push":
            state = near + share * (far - near)
            state[3:7] = slerp(near[3:7], far[3:7], share)
            return state
        angles = self.angles(near[None]) + share * (self.angles(far[None]) - self.angles(near[None]))
        return self._dropped(angles, slerp(near[3:7], far[3:7], share)[None])[0]

    def roll(
        self, states: np.ndarray, tracks: Sequence[np.ndarray], trace: int = 0, first: bool = False, hold: bool = True,
        ways: np.ndarray | None = None,
    ) -> Followed:  # fmt: skip
        """See `System`; it shall face as the skill has it."""
        rolling = self.rolling(states, tracks, trace, hold, self.facing, ways)
        while rolling.alive.size and not (first and rolling.rolled.reached.any()):
            rolling.advance()
        return rolling.rolled

    def rolling(
        self, states: np.ndarray, tracks: Sequence[np.ndarray], trace: int, hold: bool, heading: float | None,
        ways: np.ndarray | None = None,
    ) -> Rolling:  # fmt: skip
        """Rollouts that are advanced frame by frame, to face a heading, rad, or anywhere; one at a time of a size."""
        return Rolling(self, self.bodies.loaded(self.bodies.rows(states)), tracks, trace, hold, heading, ways)

    def staying(self, sims: Sims, rows: np.ndarray) -> np.ndarray:
        """Controls of rows whose tracks have ended: standing, or the end's pose held."""
        if self.end is None:
            return self.standing.control(sims, rows)
        return np.tile(self.end, (len(rows), 2))

    def clearance(self, sims: Sims, rows: np.ndarray) -> np.ndarray:
        """(n,) m by which the lower foot is above where it stands; 0 where anything touches the ground."""
        heights = np.min([sims.view(f"{foot}.pos")[rows, 2] for foot in self.scene.character.feet], axis=0)
        return np.where((sims.view("grounded")[rows] > 0).any(1), 0.0, np.maximum(heights - self._sole, 0.0))

    def stature(self, sims: Sims, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n,) height of the root over its standing height, and cosine of the trunk's angle from the vertical."""
        return sims.view(self._root[0])[rows, 2] / self._tall, sims.view(self._root[1])[rows, 2]

    def balanced(self, sims: Sims, rows: np.ndarray, heading: float | None) -> np.ndarray:
        """(n,): whether it is tall, upright and slow, on its feet alone, and faces a heading, rad, if there is one."""
        height, up = self.stature(sims, rows)
        slow = np.linalg.norm(sims.view("com_velocity")[rows], axis=1) < SLOW
        others = (sims.view("grounded")[rows][:, self._others] > 0).any(1)
        fine = (height >= TALL) & (up >= self._upright) & slow & ~others
        if heading is None:
            return fine
        away = yaws(sims.view("qpos")[rows, 3:7]) - heading
        return fine & (np.abs(np.arctan2(np.sin(away), np.cos(away))) < FACING - MARGIN)


def leaning(quat: Sequence[float], lean: float) -> tuple[float, float, float, float]:
    """An orientation leant ahead by some rad about its own y axis."""
    result = np.empty(4)
    mujoco.mju_mulQuat(result, np.array(quat, float), np.array([math.cos(lean / 2), 0.0, math.sin(lean / 2), 0.0]))
    w, x, y, z = result.tolist()
    return w, x, y, z


def slerp(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    """The orientation part of the way from one unit quaternion to another, the short way round."""
    cosine = float(a @ b)
    if cosine < 0:
        b, cosine = -b, -cosine
    angle = math.acos(min(1.0, cosine))
    if angle < 1e-9:
        return a
    return (math.sin((1 - share) * angle) * a + math.sin(share * angle) * b) / math.sin(angle)
