"""Going somewhere on any number of legs: the cost of rajamaki2017 eq. 7.

goal = gait(scene, velocity=(1.0, 0.0))       # 1 m/s along x
goal = gait(scene, target=(5.0, 2.0, 0.0))    # to a point
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numba import njit

from tumble.errors import UserError, check_number, check_vector
from tumble.goals.course import Course
from tumble.goals.goal import Goal, Term
from tumble.world.drives import Servo
from tumble.world.scene import Scene
from tumble.world.sims import Rows

FASTEST = 20.0  # m/s that may be asked for
WORLD = 1000.0  # m from the origin, beyond which nothing is wanted
PACE = 1.0  # m/s to a target, rajamaki2017 section 4.1
UNIT = 0.5  # of a motor's strength, the torque that counts 1: the paper's 80 N m of 160


@dataclass(frozen=True)
class MotorTorque(Term):
    """Torques of the motors in the last step, as multiples of a torque that counts 1. (tau)

    A servo's torque is that at the end of the step: MuJoCo's `actuator_force` is what it would have been if the joint
    did not give way, which is many times as much.
    """

    gains: tuple[float, ...]  # of the servos, over the torque that counts 1, s/rad
    dofs: tuple[int, ...]
    sigma: float = 1.0
    name: ClassVar[str] = "torque"
    _arrays: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_arrays", (np.array(self.dofs, np.intp), np.array(self.gains)))

    def residual(self, sims: Rows) -> np.ndarray:
        return _torques(sims.view("ctrl"), sims.view("qvel"), *self._arrays)


@njit(cache=True)
def _torques(ctrl, qvel, dofs, gains):  # type: ignore[no-untyped-def]
    """(n, motors): gain times what is missing to the set-point."""
    torques = np.empty((ctrl.shape[0], dofs.size))
    for i in range(ctrl.shape[0]):
        for j in range(dofs.size):
            torques[i, j] = gains[j] * (ctrl[i, j] - qvel[i, dofs[j]])
    return torques


@dataclass(frozen=True)
class Turned(Term):
    """Angles of bones from how they stand in the rest pose, with the character facing along the course, rad. (alpha)"""

    course: Course
    bodies: tuple[int, ...]
    rest: tuple[tuple[float, float, float, float], ...]
    sigma: float = math.radians(10)
    name: ClassVar[str] = "turned"
    _arrays: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_arrays", (np.array(self.bodies, np.intp), np.array(self.rest)))

    def residual(self, sims: Rows) -> np.ndarray:
        return _angles(sims.view("xquat"), self.course.directions(sims.view("com")), *self._arrays)


@njit(cache=True)
def _angles(quats, directions, bodies, rest):  # type: ignore[no-untyped-def]
    """(n, bodies): angles between orientations and the rest's, which is turned into the directions (n, 2)."""
    angles = np.empty((quats.shape[0], bodies.size))
    for i in range(quats.shape[0]):
        w = math.sqrt(max(0.0, 0.5 * (1.0 + directions[i, 0])))  # half the turn about z
        z = math.copysign(math.sqrt(max(0.0, 0.5 * (1.0 - directions[i, 0]))), directions[i, 1])
        for j in range(bodies.size):
            q, r = quats[i, bodies[j]], rest[j]
            same = (
                q[0] * (w * r[0] - z * r[3])
                + q[1] * (w * r[1] - z * r[2])
                + q[2] * (w * r[2] + z * r[1])
                + q[3] * (w * r[3] + z * r[0])
            )
            angles[i, j] = 2.0 * math.acos(min(1.0, abs(same)))
    return angles


@dataclass(frozen=True)
class CourseVelocity(Term):
    """Velocity of the centre of mass from that of the course, m/s; moving upwards is no fault. (v_target - v)"""

    course: Course
    sigma: float = 0.05
    name: ClassVar[str] = "course_velocity"

    def residual(self, sims: Rows) -> np.ndarray:
        return _off_course(sims.view("com_velocity"), self.course.directions(sims.view("com")), self.course.speed)


@njit(cache=True)
def _off_course(velocity, directions, speed):  # type: ignore[no-untyped-def]
    """(n, 3): velocities (n, 3) from speed along directions (n, 2)."""
    off = np.empty(velocity.shape)
    for i in range(velocity.shape[0]):
        off[i, 0] = velocity[i, 0] - speed * directions[i, 0]
        off[i, 1] = velocity[i, 1] - speed * directions[i, 1]
        off[i, 2] = min(0.0, velocity[i, 2])
    return off


@dataclass(frozen=True)
class OverLegs(Term):
    """Horizontal way from the middle of the feet to the centre of mass, and how far it is below a foot, m. (d)"""

    feet: tuple[str, ...]
    sigma: float = 0.025
    name: ClassVar[str] = "over_legs"

    def residual(self, sims: Rows) -> np.ndarray:
        com = sims.view("com")
        feet = [sims.view(f"{foot}.pos") for foot in self.feet]
        return _off_feet(com, feet[0], feet[-1])


@njit(cache=True)
def _off_feet(com, one, other):  # type: ignore[no-untyped-def]
    """(n, 3): horizontal way from the middle of two points (n, 3) to com (n, 3); how far com is below the higher."""
    off = np.empty(com.shape)
    for i in range(com.shape[0]):
        off[i, 0] = com[i, 0] - 0.5 * (one[i, 0] + other[i, 0])
        off[i, 1] = com[i, 1] - 0.5 * (one[i, 1] + other[i, 1])
        off[i, 2] = max(0.0, max(one[i, 2], other[i, 2]) - com[i, 2])
    return off


def gait(
    scene: Scene,
    velocity: Sequence[float] | None = None,
    target: Sequence[float] | None = None,
    facing: Sequence[float] | None = None,
) -> Goal:
    """Go with a horizontal velocity, m/s, or at 1 m/s to a point, m, on whatever legs there are (rajamaki2017 eq. 7).

    Departures: torques count in halves of a motor's strength, which are the paper's 80 N m for its own characters.
    Who has more than two legs is not asked to keep the centre of mass over their middle, as in the authors' code.
    There too speed upwards is no fault and a foot above the centre of mass is one.

    Args:
      facing: horizontal direction to look into where the velocity is 0; else it is that of the velocity.
    """
    if (velocity is None) == (target is None):
        raise UserError("goal 'gait' takes a velocity or a target, and not both")
    course = _course(velocity, target, facing)
    character, motors = scene.character, scene.drive
    servo = scene.drives.get(Servo.name)
    if not isinstance(servo, Servo):
        raise UserError("goal 'gait' weighs the torques of servos, and the scene has none")
    strengths = np.array([joint.strength for joint in character.joints.values()])
    gains = (servo.gains / (UNIT * strengths)).tolist()
    bodies = _kept_straight(scene)
    quats = scene.show(scene.state("rest")).xquat[bodies].tolist()
    terms: list[Term] = [
        MotorTorque(tuple(gains), tuple(motors.qvel.tolist())),
        Turned(course, tuple(bodies), tuple(tuple(quat) for quat in quats)),
        CourseVelocity(course),
    ]
    if len(character.feet) <= 2:
        terms.append(OverLegs(character.feet))
    return Goal(*terms, alarmed=4000.0, least_effort=0.35, course=course)


def _course(velocity: Sequence[float] | None, target: Sequence[float] | None, facing: Sequence[float] | None) -> Course:
    along = (1.0, 0.0)
    if facing is not None:
        check_vector("facing", facing, 2, WORLD, "m")
        length = math.hypot(*facing)
        check_number("length of the facing direction", length, 0, above=True)
        along = (facing[0] / length, facing[1] / length)
    if target is not None:
        check_vector("target", target, 3, WORLD, "m")
        return Course(PACE, along, (float(target[0]), float(target[1])))
    assert velocity is not None
    check_vector("velocity", velocity, 2, FASTEST, "m/s")
    speed = math.hypot(*velocity)
    return Course(speed, (velocity[0] / speed, velocity[1] / speed) if speed > 1e-6 else along)


def _kept_straight(scene: Scene) -> list[int]:
    """Bodies whose orientation counts: all but arms and a biped's feet; who has one leg or four stands on shins."""
    character = scene.character
    free = {*character.toes, *character.hands, *(character.feet if len(character.feet) == 2 else ())}
    for name, joint in character.joints.items():
        if joint.group in character.arms:
            free.add(scene.model.body(scene.model.joint(name).bodyid[0]).name)
    return [scene.body(bone) for bone in scene.bones if bone not in free]
