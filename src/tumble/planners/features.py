"""Features: the state of a character as learners see it, rajamaki2017 eqs. 5 and 6."""

import math

import numpy as np

from tumble.goals import Goal
from tumble.goals.stance import headings
from tumble.maths.compiled import Given2, Given3, MadeSingle2, Places1, entry
from tumble.world.scene import Scene
from tumble.world.sims import Sims

LOUD = 10.0  # weight of the target speed, the feet's heights and speeds, and the recovery mode, as in the authors' code


class Features:
    """What learners are told of a row: target speed, feet, recovery mode, and every bone.

    Of a bone: its place from the centre of mass, height above the ground, velocity, orientation as a quaternion, spin.
    All of it is turned by the goal's course, so that walking north looks as walking east does; a goal without a
    course is seen by the root's heading.

    **Departures**: the authors turn velocities and orientations only; here places are turned too, as eq. 6 is printed.

    Attributes:
      size: 13 for each bone, 2 for each foot, and 2.
    """

    def __init__(self, scene: Scene) -> None:
        character = scene.character
        self._first, self._bones = scene.body(scene.bones[0]), len(scene.bones)
        self._feet = np.array([scene.body(foot) for foot in character.feet], np.intp)
        self.size = 13 * self._bones + 2 * len(self._feet) + 2

    def of(self, sims: Sims, goal: Goal, recovering: bool, out: np.ndarray) -> None:
        """Features of all rows into (nsim, size)."""
        com = sims.view("com")
        if goal.course is None:
            directions, speed = _directions(sims.view("qpos")), 0.0
        else:
            directions, speed = goal.course.directions(com), goal.course.speed
        _describe(
            out, com, directions, LOUD * speed, LOUD * recovering, self._first, self._bones, self._feet,
            sims.view("xipos"), sims.view("xquat"), sims.view("cvel"),
        )  # fmt: skip


def _directions(qpos: np.ndarray) -> np.ndarray:
    """(n, 2): unit vectors along which the roots look; x for who looks straight up."""
    c, s = headings(qpos)
    steep = np.sqrt(c * c + s * s) <= 0.5  # they are 1 or near 0
    return np.stack([np.where(steep, 1.0, c), np.where(steep, 0.0, s)], axis=1)


@entry
def _describe(
    out: MadeSingle2, com: Given2, directions: Given2, speed: float, recovering: float, first: int, bones: int,
    feet: Places1, centre: Given3, quat: Given3, spatial: Given3,
) -> None:  # fmt: skip
    """Features (n, size) of rows whose courses are (n, 2), by MuJoCo's xipos, xquat and cvel (n, bodies, 3, 4, 6)."""
    for i in range(out.shape[0]):
        row, c, s = out[i], directions[i, 0], directions[i, 1]
        half = math.sqrt(max(0.0, 0.5 * (1.0 + c)))
        turn = math.copysign(math.sqrt(max(0.0, 0.5 * (1.0 - c))), s)
        row[0], row[1] = speed, recovering
        at = 2
        for f in range(feet.size):
            b = feet[f]
            x, y = centre[i, b, 0] - com[i, 0], centre[i, b, 1] - com[i, 1]
            row[at] = LOUD * centre[i, b, 2]
            row[at + 1] = LOUD * (spatial[i, b, 5] + spatial[i, b, 0] * y - spatial[i, b, 1] * x)
            at += 2
        for b in range(first, first + bones):
            x, y, z = centre[i, b, 0] - com[i, 0], centre[i, b, 1] - com[i, 1], centre[i, b, 2] - com[i, 2]
            wx, wy, wz = spatial[i, b, 0], spatial[i, b, 1], spatial[i, b, 2]
            vx, vy = spatial[i, b, 3] + wy * z - wz * y, spatial[i, b, 4] + wz * x - wx * z
            row[at], row[at + 1], row[at + 2] = c * x + s * y, c * y - s * x, centre[i, b, 2]
            row[at + 3], row[at + 4] = c * vx + s * vy, c * vy - s * vx
            row[at + 5] = spatial[i, b, 5] + wx * y - wy * x
            q0, q3 = half * quat[i, b, 0] + turn * quat[i, b, 3], half * quat[i, b, 3] - turn * quat[i, b, 0]
            q1, q2 = half * quat[i, b, 1] + turn * quat[i, b, 2], half * quat[i, b, 2] - turn * quat[i, b, 1]
            sign = 1.0 if q0 >= 0.0 else -1.0  # q and -q are one orientation
            row[at + 6], row[at + 7], row[at + 8], row[at + 9] = sign * q0, sign * q1, sign * q2, sign * q3
            row[at + 10], row[at + 11], row[at + 12] = c * wx + s * wy, c * wy - s * wx, wz
            at += 13
