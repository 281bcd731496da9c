"""Bones for the characters of Simbicon: what their builders share.

Axes are x ahead, y left, z up. All hinges turn by the right hand about these axes: `bend` about y (a trunk
forwards, a limb backwards), `side` about x (a trunk to its right, a limb to the left), `twist` about z (to the
left). The hinges of a joint are in series, side, bend, twist, so that a joint's rotation is
R_x(side) R_y(bend) R_z(twist). A hinge is called as its joint and its way: 'left_hip_bend' turns the joint
'left_hip'. A frame of a bone has its origin in the joint that holds it; in the zero pose all are parallel.

Trap: MuJoCo's contact solution depends a little (1e-3 rad/s a step) on the order of contacts. A left and a right
foot mirror each other to rounding only if their capsules, and the ends of these, are given in mirrored order.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np

from tumble.characters.character import Character, Joint, add_sensors
from tumble.characters.humanoid import GROUND_BIT

WAYS = {"side": (1.0, 0.0, 0.0), "bend": (0.0, 1.0, 0.0), "twist": (0.0, 0.0, 1.0)}
FIRM = 0.008  # s, of a contact; MuJoCo's 0.02 lets a running foot sink 35 mm as it lands
SIDES = (("left", 1), ("right", -1))
Range = tuple[float, float]


class BallJoint(NamedTuple):
    """A joint of one to three hinges.

    Attributes:
      strength: largest torque of a hinge, N m.
      damping: N m s/rad of each hinge, integrated by the engine; k_d of the authors' files.
      steady: the same for twist, where it is more: what a controller takes back of the engine's damping d acts as
        an inertia of d times the step, which keeps a light bone with a strong torque about its length stable.
      bend, side, twist: lowest and highest angle, rad, of the left or middle joint; None where it cannot turn.
    """

    strength: float
    damping: float
    bend: Range | None = None
    side: Range | None = None
    twist: Range | None = None
    steady: float | None = None

    def damped(self, way: str) -> float:
        """Damping of a hinge, N m s/rad."""
        return self.steady if way == "twist" and self.steady is not None else self.damping

    def hinges(self) -> dict[str, Range]:
        """The ways in which it turns, in their order, with their ranges."""
        ways = {"side": self.side, "bend": self.bend, "twist": self.twist}
        return {way: limits for way, limits in ways.items() if limits is not None}


def actuated(joints: Mapping[str, BallJoint], group: Mapping[str, str]) -> dict[str, Joint]:
    """The hinges of some joints by name, in order; the group is that of the longest prefix in `group`."""
    found = {}
    for name, ball in joints.items():
        for way in ball.hinges():
            prefix = max((p for p in group if name.startswith(p)), key=len)
            found[f"{name}_{way}"] = Joint(group[prefix], ball.strength, 1.0)
    return found


def both(joints: Mapping[str, BallJoint]) -> dict[str, BallJoint]:
    """Joints of the left and of the right side; what is to the left for one is to the right for the other."""

    def mirrored(limits: Range | None) -> Range | None:
        """The range (-high, -low) of a turn to the other side."""
        return None if limits is None else (-limits[1], -limits[0])

    left = {f"left_{name}": ball for name, ball in joints.items()}
    right = {
        f"right_{name}": ball._replace(side=mirrored(ball.side), twist=mirrored(ball.twist))
        for name, ball in joints.items()
    }
    return left | right


class SimbiconMaker:
    """Adds bones, solid capsules and drawings to a spec. Lengths in m."""

    def __init__(self, joints: Mapping[str, BallJoint]) -> None:
        """Begin an empty spec, angles in rad; `joints` are all that its bones may be held by, by name."""
        self.spec = mujoco.MjSpec()
        self.spec.compiler.degree = False
        self.joints = joints

    def bone(
        self, parent: Any, name: str, pos: Sequence[float], joint: str | None, centre: Sequence[float],
        mass: float, inertia: Sequence[float],
    ) -> Any:  # fmt: skip
        """A body held by a joint (None: the root's) at `pos` of its parent; mass kg, inertia about (x, y, z) kg m^2."""
        body = parent.add_body(
            name=name, pos=pos, ipos=centre, mass=mass, inertia=inertia, explicitinertial=True
        )  # fmt: skip
        if joint is not None:
            ball = self.joints[joint]
            for way, limits in ball.hinges().items():
                body.add_joint(
                    name=f"{joint}_{way}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=WAYS[way], range=limits,
                    damping=ball.damped(way), armature=0.003,
                )  # fmt: skip
        return body

    def capsule(self, body: Any, start: Any, end: Any, radius: float, rgba: Any, solid: bool = True) -> None:
        """A capsule from start to end: solid, or a drawing."""
        geom = body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[*start, *end], size=[radius, 0, 0], mass=0, rgba=rgba,
            contype=0, conaffinity=GROUND_BIT if solid else 0, group=0 if solid else 1,
        )  # fmt: skip
        if solid:
            geom.solref, geom.priority = [FIRM, 1.0], 1  # and not the ground's own

    def ellipsoid(self, body: Any, pos: Any, radii: Any, rgba: Any) -> None:
        """A drawing that neither weighs nor collides."""
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_ELLIPSOID, pos=pos, size=radii, mass=0, rgba=rgba,
            contype=0, conaffinity=0, group=1,
        )  # fmt: skip

    def finish(self, character: Character) -> mujoco.MjSpec:
        """The spec with the sensors that controllers read."""
        bones = [body.name for body in self.spec.bodies if body.name != "world"]
        add_sensors(self.spec, character, bones)
        return self.spec


def planar_root(body: Any) -> None:
    """Slides along x and z and a hinge about y, in this order: qpos is (x, z, pitch), m and rad."""
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    body.add_joint(name="root_x", type=slide, axis=(1, 0, 0))
    body.add_joint(name="root_z", type=slide, axis=(0, 0, 1))
    body.add_joint(name="root_pitch", type=hinge, axis=(0, 1, 0))


def shade(rgba: Sequence[float], light: float) -> tuple[float, ...]:
    """A lighter or darker colour."""
    return (*np.clip(np.asarray(rgba[:3]) * light, 0, 1).tolist(), 1.0)
