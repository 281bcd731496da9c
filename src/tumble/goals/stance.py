"""Balancing in a pose, or getting back to it, as hamalainen2014 section 4.4 judges whole plans.

`stance_ways` gives `balance` its ways: be balanced in the pose at some moment; or at least be on the feet; or,
where that is allowed, turn onto the face.

    balance, get_up = stance_ways(scene, "rest")
    Goal(*terms, ways=(balance, get_up)).way_costs(rollouts.of(rows))    # (n steps, 2)

The fitness of a plan is f = f_d f_s max[f_b, w_u f_u, f_r] (eqs. 3, 11), where f_b and f_u are the largest of
f_g exp(-|r|^2 / 2) over its steps. In costs, -2 log f, that is the least sum of (residual / sigma)^2 over ways and
steps, less 2 log w of the way.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.goals.goal import Term, Way
from tumble.maths.compiled import Given2, Given3, Made2, entry
from tumble.world.scene import Scene
from tumble.world.sims import Rows

GET_UP = math.log(1e-4)  # log w_u, eq. 3
ROLL = math.log(1e-40)  # log w_r, eq. 11
RISE = 0.1  # m, h below eq. 10: who gets up may be that much higher than the pose
TOUCHES = 0.005  # sigma of a bone on the ground: 20000 nats each; paper: f = 0, which tells no fall from another
STEEP = 1e-3  # horizontal part of a unit vector from which on it has a heading; ours
EASY = 20.0  # how much less speed matters to getting up than to balancing: sigma_vel1 and sigma_vel2, eq. 10


def stance_ways(scene: Scene, pose: str, roll: bool = False) -> tuple[Way, ...]:
    """Be balanced in a pose (f_b), get up (f_u), and where asked for roll onto the face (f_r).

    r_b = (c / sigma_vel, b, d_com, d_up, q_d), eq. 8: slow, the centre of mass where it is in the pose, upright as in
    it, joints at its angles. r_u, eq. 10: the same without angles, with `EASY` speeds, and high enough instead.

    Args:
      pose: of the character; it is read once, as the scene builds it.
      roll: whether f_r is among the ways.
    """
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
    """Horizontal velocity of the centre of mass, m/s, (n, 2), a live view. (c, eq. 8)"""

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


def bone_velocities(spatial: np.ndarray, centre: np.ndarray, com: np.ndarray) -> np.ndarray:
    """(n, 3 bones), m/s: v + w x (p - c) of bones with centres p, a new array.

    Args:
      spatial: (n, bones, 6), MuJoCo's w and v, about c.
      centre, com: (n, bones, 3) and (n, 3), p and c.
    """
    n, bones, _ = centre.shape
    velocity = np.empty((n, 3 * bones))
    _bone_velocities(spatial, centre, com, velocity)
    return velocity


@entry
def _bone_velocities(spatial: Given3, centre: Given3, com: Given2, velocity: Made2) -> None:
    for i in range(centre.shape[0]):
        for j in range(centre.shape[1]):
            wx, wy, wz = spatial[i, j, 0], spatial[i, j, 1], spatial[i, j, 2]
            x, y, z = centre[i, j, 0] - com[i, 0], centre[i, j, 1] - com[i, 1], centre[i, j, 2] - com[i, 2]
            velocity[i, 3 * j] = spatial[i, j, 3] + wy * z - wz * y
            velocity[i, 3 * j + 1] = spatial[i, j, 4] + wz * x - wx * z
            velocity[i, 3 * j + 2] = spatial[i, j, 5] + wx * y - wy * x


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
        way = sims.view("com") - 0.5 * (left + right)
        return turned(way, sims.view("qpos"))[:, :2] - self.middle


def headings(qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines (n,) of the roots' headings, from the quaternions of their free joints at qpos (n, nq)[:, 3:7].

    Where a root looks straight up or down, both are near 0: it has no heading.
    """
    w, x, y, z = qpos[:, 3:7].T
    ahead, aside = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)
    length = np.maximum(np.sqrt(ahead * ahead + aside * aside), STEEP)
    return ahead / length, aside / length


def turned(vectors: np.ndarray, qpos: np.ndarray) -> np.ndarray:
    """(n, 3): vectors (n, 3) of the world as seen from the roots' headings: x ahead, y to the left."""
    c, s = headings(qpos)
    x, y, z = vectors.T
    return np.stack([c * x + s * y, c * y - s * x, z], axis=1)


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
        return turned(sims.view(f"{self.root}.up"), sims.view("qpos")) - self.up


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
