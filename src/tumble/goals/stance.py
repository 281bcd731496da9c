"""Balancing in a pose, or getting back to it, as hamalainen2014 section 4.4 judges whole plans.

`stance_ways` gives `balance` its ways: be balanced in the pose at some moment; or at least be on the feet; or,
where that is allowed, turn onto the face.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numba import njit

from tumble.goals.goal import Term, Way
from tumble.world.scene import Scene
from tumble.world.sims import Rows

GET_UP = math.log(1e-4)  # log w_u, eq. 3
ROLL = math.log(1e-40)  # log w_r, eq. 11
RISE = 0.1  # m, h below eq. 10: who gets up may be that much higher than the pose
TOUCHES = 0.005  # sigma of a bone on the ground: 20000 nats each; paper: f = 0, which tells no fall from another
EASY = 20.0  # how much less speed matters to getting up than to balancing: sigma_vel1 and sigma_vel2, eq. 10


def stance_ways(scene: Scene, pose: str, roll: bool = False) -> tuple[Way, ...]:
    """Be balanced in a pose (f_b), get up (f_u), and where asked for roll onto the face (f_r)."""
    character = scene.character
    left, right = character.feet
    feet = (*character.feet, *character.toes)
    touching = OnlyFeet(tuple(i for i, bone in enumerate(scene.bones) if bone not in feet))
    data = scene.show(scene.state(pose))
    com, up = data.body(character.root).subtree_com, data.body(character.root).xmat.reshape(3, 3)[:, 2]
    middle = np.mean([data.body(foot).xipos for foot in character.feet], axis=0)
    x, y, z = (com - middle).tolist()
    bones = (scene.body(scene.bones[0]), len(scene.bones))
    placed = Displaced(left, right, (x, y)), Tilted(character.root, (float(up[0]), float(up[1]), float(up[2])))
    balanced = Posed(tuple(character.pose(pose)), tuple(scene.drive.qpos.tolist()))
    ways = [
        Way("balance", (ComSpeed(), BonesSpeed(*bones), *placed, balanced, touching)),
        Way(
            "get up",
            (
                ComSpeed(sigma=EASY * ComSpeed.sigma),
                BonesSpeed(*bones, sigma=EASY * BonesSpeed.sigma),
                *placed,
                Low(left, right, z + RISE),
                touching,
            ),
            GET_UP,
        ),
    ]
    if roll:
        ways.append(Way("roll", (FaceUp(),), ROLL))
    return tuple(ways)


@dataclass(frozen=True)
class ComSpeed(Term):
    """Horizontal velocity of the centre of mass, m/s. (c, eq. 8)"""

    sigma: float = 0.05
    name: ClassVar[str] = "com_speed"

    def residual(self, sims: Rows) -> np.ndarray:
        return sims.view("com_velocity")[:, :2]


@dataclass(frozen=True)
class BonesSpeed(Term):
    """Velocities of all bones, m/s: `count` bodies from body `first` on. (b, eq. 8)"""

    first: int
    count: int
    sigma: float = 0.75
    name: ClassVar[str] = "bones_speed"

    def residual(self, sims: Rows) -> np.ndarray:
        bones = slice(self.first, self.first + self.count)
        return bone_velocities(sims.view("cvel")[:, bones], sims.view("xipos")[:, bones], sims.view("com"))


@njit(cache=True)
def bone_velocities(spatial, centre, com):  # type: ignore[no-untyped-def]
    """(n, 3 bones): velocities of centres (n, bones, 3) from MuJoCo's spatial ones (n, bones, 6) about com (n, 3)."""
    n, bones = centre.shape[:2]
    velocity = np.empty((n, 3 * bones))
    for i in range(n):
        for j in range(bones):
            w, v = spatial[i, j, :3], spatial[i, j, 3:]
            x, y, z = centre[i, j, 0] - com[i, 0], centre[i, j, 1] - com[i, 1], centre[i, j, 2] - com[i, 2]
            velocity[i, 3 * j] = v[0] + w[1] * z - w[2] * y
            velocity[i, 3 * j + 1] = v[1] + w[2] * x - w[0] * z
            velocity[i, 3 * j + 2] = v[2] + w[0] * y - w[1] * x
    return velocity


@dataclass(frozen=True)
class Displaced(Term):
    """Horizontal way of the centre of mass from where it belongs between the feet, by the root's heading, m. (d_com)"""

    left: str
    right: str
    middle: tuple[float, float]
    sigma: float = 0.05
    name: ClassVar[str] = "displaced"

    def residual(self, sims: Rows) -> np.ndarray:
        left, right = sims.view(f"{self.left}.pos"), sims.view(f"{self.right}.pos")
        return _displaced(sims.view("com"), left, right, sims.view("qpos"), self.middle[0], self.middle[1])


@njit(cache=True)
def heading(qpos):  # type: ignore[no-untyped-def]
    """Cosine and sine of the root's heading, from the quaternion of its free joint at qpos[3:7]."""
    w, x, y, z = qpos[3], qpos[4], qpos[5], qpos[6]
    ahead, aside = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)
    length = max(math.sqrt(ahead * ahead + aside * aside), 1e-3)  # who looks straight up has none
    return ahead / length, aside / length


@njit(cache=True)
def _displaced(com, left, right, qpos, x, y):  # type: ignore[no-untyped-def]
    displaced = np.empty((com.shape[0], 2))
    for i in range(com.shape[0]):
        c, s = heading(qpos[i])
        dx = com[i, 0] - 0.5 * (left[i, 0] + right[i, 0])
        dy = com[i, 1] - 0.5 * (left[i, 1] + right[i, 1])
        displaced[i, 0], displaced[i, 1] = c * dx + s * dy - x, c * dy - s * dx - y
    return displaced


@dataclass(frozen=True)
class Low(Term):
    """How far the centre of mass is less than `height` above the middle of the feet, m. (y of d_com, eq. 10)"""

    left: str
    right: str
    height: float
    sigma: float = 0.05
    name: ClassVar[str] = "low"

    def residual(self, sims: Rows) -> np.ndarray:
        feet = 0.5 * (sims.view(f"{self.left}.pos")[:, 2] + sims.view(f"{self.right}.pos")[:, 2])
        return np.minimum(0.0, sims.view("com")[:, 2] - feet - self.height)


@dataclass(frozen=True)
class Tilted(Term):
    """Difference of the root's up vector from the pose's, seen from the root's heading. (d_up)"""

    root: str
    up: tuple[float, float, float]
    sigma: float = 0.1
    name: ClassVar[str] = "tilted"

    def residual(self, sims: Rows) -> np.ndarray:
        return _tilted(sims.view(f"{self.root}.up"), sims.view("qpos"), np.array(self.up))


@njit(cache=True)
def _tilted(up, qpos, wanted):  # type: ignore[no-untyped-def]
    tilted = np.empty((up.shape[0], 3))
    for i in range(up.shape[0]):
        c, s = heading(qpos[i])
        tilted[i, 0] = c * up[i, 0] + s * up[i, 1] - wanted[0]
        tilted[i, 1] = c * up[i, 1] - s * up[i, 0] - wanted[1]
        tilted[i, 2] = up[i, 2] - wanted[2]
    return tilted


@dataclass(frozen=True)
class Posed(Term):
    """Joint angles differ from a pose's, rad; they are at those places of qpos. (q_d)"""

    angles: tuple[float, ...]
    places: tuple[int, ...]
    sigma: float = math.radians(15.0)
    name: ClassVar[str] = "posed"

    def residual(self, sims: Rows) -> np.ndarray:
        return sims.view("qpos")[:, self.places] - self.angles


@dataclass(frozen=True)
class OnlyFeet(Term):
    """Square root of the number of other bones, by their place in 'grounded', that touch the ground. (f_g)"""

    others: tuple[int, ...]
    sigma: float = TOUCHES
    name: ClassVar[str] = "only_feet"

    def residual(self, sims: Rows) -> np.ndarray:
        return np.sqrt((sims.view("grounded")[:, self.others] > 0).sum(axis=1))


@dataclass(frozen=True)
class FaceUp(Term):
    """How far the root's forward vector is from pointing at the ground, 0 to 2. (y_f + 1, eq. 11)"""

    sigma: float = math.sqrt(1 / 40)
    name: ClassVar[str] = "face_up"

    def residual(self, sims: Rows) -> np.ndarray:
        quaternion = sims.view("qpos")[:, 3:7]
        w, x, y, z = quaternion.T
        return 1.0 + 2.0 * (x * z - w * y)
