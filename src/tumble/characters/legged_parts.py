"""Bones for the characters of rajamaki2017: what their builders share.

    make = LeggedMaker(density(10.0, [Size(0.05, 0.5)]))          # kg/m^3
    bone = make.bone(make.spec.worldbody, "torso", (0, 0, 1), {})
    make.solid(bone, (0, 0, 0), (0, 0, 0.5), 0.05, (1, 1, 1, 1))

Axes are x forward, y left, z up. A frame of a bone has its origin in the joint that holds it; all are parallel when
all angles are 0. Every bone is one capsule, and all weigh the same per litre.

Traps: a solid capsule weighs unless its bone was weighed by `weigh`. Limits of a `Hinge` are in degrees, those of the
spec in rad.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from tumble.characters.character import Character, Joint, add_sensors
from tumble.characters.humanoid import GROUND_BIT, LEGS_BIT
from tumble.characters.looks import EYES

# N m, of every motor. A limit of one half is the 80 N m of rajamaki2017 section 4.1; all of it is what the authors'
# code allows in recovery mode (paper: 400 N m).
STRENGTH = 160.0
# s/rad: 34 N m s/rad, the CFM of 0.0291 in the authors' motors. With five times as much, their recovery mode's, one leg
# and four do not learn to go.
MOTOR_GAIN = 1 / (0.0291 * STRENGTH)
DAMPING, ARMATURE = 0.1, 0.002  # N m s/rad, kg m^2; not given; ours. Stable at 1/30 s; an armature of 0 is so, too
INERT = 1e8  # kg, kg m^2 of what must not move; 1e-5 rad in 30 s of stumbling
SIDES = (("left", 1), ("right", -1))


class Hinge(NamedTuple):
    """One axis of a joint.

    Attributes:
      axis: of the left or middle joint.
      low, high: limits, degrees.
      activity: how much it moves by habit, rad/s.
    """

    axis: tuple[int, int, int]
    low: float
    high: float
    activity: float


class Size(NamedTuple):
    """A capsule's radius and the length between the centres of its ends, m."""

    radius: float
    length: float

    @property
    def volume(self) -> float:
        """In m^3."""
        return math.pi * self.radius**2 * (self.length + 4 / 3 * self.radius)

    def inertia(self, mass: float) -> tuple[float, float]:
        """About axes across and along it through its centre, kg m^2."""
        r, h = self
        ends = 4 / 3 * r / (h + 4 / 3 * r)  # share of the mass
        across = (1 - ends) * (h**2 / 12 + r**2 / 4) + ends * (0.4 * r**2 + h**2 / 4 + 3 * h * r / 8)
        return mass * across, mass * ((1 - ends) * r**2 / 2 + ends * 0.4 * r**2)


def density(mass: float, sizes: Iterable[Size]) -> float:
    """kg/m^3 of capsules that weigh `mass` kg together."""
    return mass / sum(size.volume for size in sizes)


def on(side: str, hinges: Mapping[str, Hinge]) -> dict[str, Hinge]:
    """The hinges of one side by their full names; on the right, axes that point sideways are mirrored."""
    (sign,) = (sign for name, sign in SIDES if side.startswith(name))
    return {
        f"{side}_{name}": hinge._replace(axis=(sign * hinge.axis[0], hinge.axis[1], sign * hinge.axis[2]))
        for name, hinge in hinges.items()
    }


def actuated(groups: Mapping[str, Mapping[str, Hinge]]) -> dict[str, Joint]:
    """The joints of a character, given the hinges of its groups in order."""
    return {
        name: Joint(group, STRENGTH, hinge.activity)
        for group, hinges in groups.items()
        for name, hinge in hinges.items()
    }


class LeggedMaker:
    """Adds bones, solid capsules and drawings to a spec. Lengths in m."""

    def __init__(self, density: float) -> None:
        """Begin an empty spec, angles in rad, whose solid capsules weigh `density` kg/m^3."""
        self.spec = mujoco.MjSpec()
        self.spec.compiler.degree = False
        self.density = density

    def bone(self, parent: Any, name: str, pos: Sequence[float], hinges: Mapping[str, Hinge]) -> Any:
        """A body held by hinges at `pos` of its parent."""
        body = parent.add_body(name=name, pos=pos)
        for joint, hinge in hinges.items():
            body.add_joint(
                name=joint,
                type=mujoco.mjtJoint.mjJNT_HINGE,
                axis=hinge.axis,
                range=np.radians([hinge.low, hinge.high]),
                damping=DAMPING,
                armature=ARMATURE,
            )
        return body

    def solid(self, body: Any, start: Any, end: Any, radius: float, rgba: Sequence[float], side: str = "") -> None:
        """What collides with the ground, and in a leg (which has a side) with the legs of the other side."""
        left, right = side.startswith("left"), side.startswith("right")
        geom = self._capsule(body, start, end, radius, rgba)
        geom.density, geom.group = self.density, 0
        geom.contype, geom.conaffinity = LEGS_BIT if left else 0, GROUND_BIT | (LEGS_BIT if right else 0)

    def weigh(self, body: Any, size: Size, up: float) -> None:
        """Let a bone weigh as an upright capsule with its centre at height `up`, whatever its shapes are."""
        mass = self.density * size.volume
        across, along = size.inertia(mass)
        body.explicitinertial, body.mass, body.ipos, body.inertia = True, mass, (0, 0, up), (across, across, along)

    def capsule(self, body: Any, start: Any, end: Any, radius: float, rgba: Sequence[float]) -> None:
        """A drawing that neither weighs nor collides."""
        self._capsule(body, start, end, radius, rgba)

    def _capsule(self, body: Any, start: Any, end: Any, radius: float, rgba: Sequence[float]) -> Any:
        """A geom that neither weighs nor collides yet."""
        return body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[*start, *end], size=[radius, 0, 0], density=0, rgba=rgba,
            contype=0, conaffinity=0, group=1,
        )  # fmt: skip

    def ellipsoid(self, body: Any, pos: Any, radii: Any, rgba: Sequence[float]) -> None:
        """A drawing that neither weighs nor collides."""
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_ELLIPSOID, pos=pos, size=radii, mass=0, rgba=rgba,
            contype=0, conaffinity=0, group=1,
        )  # fmt: skip

    def eyes(self, body: Any, x: float, y: float, z: float, radius: float) -> None:
        """Two eyes that look ahead from (x, +-y, z)."""
        for way in (-y, y):
            self.ellipsoid(body, (x, way, z), (0.8 * radius, radius, 1.2 * radius), (0.97, 0.97, 0.95, 1))
            self.ellipsoid(body, (x + 0.55 * radius, 0.94 * way, z), (0.35 * radius, 0.5 * radius, 0.6 * radius), EYES)

    def keep_in_plane(self, body: Any) -> None:
        """Give a root that was weighed three slides and a ball joint, and so much inertia that it stays in y = 0.

        Its qpos and qvel are those of a free joint.
        """
        for name, axis, armature in (
            ("root_x", (1, 0, 0), 0.0), ("root_y", (0, 1, 0), INERT), ("root_z", (0, 0, 1), 0.0),
        ):  # fmt: skip
            body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis, armature=armature)
        body.add_joint(name="root", type=mujoco.mjtJoint.mjJNT_BALL)
        body.inertia = (INERT, body.inertia[1], INERT)

    def finish(self, character: Character) -> mujoco.MjSpec:
        """The spec with the sensors that goals and planners read."""
        add_sensors(self.spec, character, [body.name for body in self.spec.bodies if body.name != "world"])
        return self.spec
