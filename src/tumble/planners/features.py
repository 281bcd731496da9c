"""Features: the state of a character as learners see it, rajamaki2017 eqs. 5 and 6."""

import numpy as np
from numba import njit

from tumble.goals import Goal
from tumble.goals.stance import heading
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
            directions, speed = _headings(sims.view("qpos")), 0.0
        else:
            directions, speed = goal.course.directions(com), goal.course.speed
        _describe(
            out, com, directions, LOUD * speed, LOUD * recovering, self._first, self._bones, self._feet,
            sims.view("xipos"), sims.view("xquat"), sims.view("cvel"),
        )  # fmt: skip


@njit(cache=True)
def _headings(qpos):  # type: ignore[no-untyped-def]
    headings = np.empty((qpos.shape[0], 2))
    for i in range(qpos.shape[0]):
        c, s = heading(qpos[i])
        length = np.sqrt(c * c + s * s)
        if length > 0.5:
            headings[i, 0], headings[i, 1] = c, s
        else:  # who looks straight up has none
            headings[i, 0], headings[i, 1] = 1.0, 0.0
    return headings


@njit(cache=True)
def _describe(  # type: ignore[no-untyped-def]
    out, com, directions, speed, recovering, first, bones, feet, centre, quat, spatial
):
    for i in range(out.shape[0]):
        row, c, s = out[i], directions[i, 0], directions[i, 1]
        half = np.sqrt(max(0.0, 0.5 * (1.0 + c)))
        turn = np.copysign(np.sqrt(max(0.0, 0.5 * (1.0 - c))), s)
        row[0], row[1] = speed, recovering
        at = 2
        for foot in feet:
            p, w, v = centre[i, foot], spatial[i, foot, :3], spatial[i, foot, 3:]
            row[at] = LOUD * p[2]
            row[at + 1] = LOUD * (v[2] + w[0] * (p[1] - com[i, 1]) - w[1] * (p[0] - com[i, 0]))
            at += 2
        for body in range(first, first + bones):
            p, q, w, v = centre[i, body], quat[i, body], spatial[i, body, :3], spatial[i, body, 3:]
            x, y, z = p[0] - com[i, 0], p[1] - com[i, 1], p[2] - com[i, 2]
            vx, vy, vz = v[0] + w[1] * z - w[2] * y, v[1] + w[2] * x - w[0] * z, v[2] + w[0] * y - w[1] * x
            row[at], row[at + 1], row[at + 2] = c * x + s * y, c * y - s * x, p[2]
            row[at + 3], row[at + 4], row[at + 5] = c * vx + s * vy, c * vy - s * vx, vz
            q0, q1 = half * q[0] + turn * q[3], half * q[1] + turn * q[2]
            q2, q3 = half * q[2] - turn * q[1], half * q[3] - turn * q[0]
            sign = 1.0 if q0 >= 0.0 else -1.0  # q and -q are one orientation
            row[at + 6], row[at + 7], row[at + 8], row[at + 9] = sign * q0, sign * q1, sign * q2, sign * q3
            row[at + 10], row[at + 11], row[at + 12] = c * w[0] + s * w[1], c * w[1] - s * w[0], w[2]
            at += 13
