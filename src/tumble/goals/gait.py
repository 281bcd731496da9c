"""Going somewhere on any number of legs: the cost of rajamaki2017 eq. 7.

goal = gait(scene, velocity=(1.0, 0.0))       # 1 m/s along x
goal = gait(scene, target=(5.0, 2.0, 0.0))    # to a point
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from tumble.errors import UserError, check_number, check_vector
from tumble.goals.course import Course
from tumble.goals.goal import Goal, Term
from tumble.maths.compiled import Given2, Given3, Made2, Places1, entry
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
        dofs, gains = self._arrays
        return gains * (sims.view("ctrl")[:, : dofs.size] - sims.view("qvel")[:, dofs])


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
        angles = np.empty((sims.nsim, len(self.bodies)))
        _angles(sims.view("xquat"), self.course.directions(sims.view("com")), *self._arrays, angles)
        return angles


@entry
def _angles(quats: Given3, directions: Given2, bodies: Places1, rest: Given2, angles: Made2) -> None:
    """2 acos |q . t r|, (n, bodies): from the rest's orientations r, which t turns into the directions (n, 2), to q."""
    for i in range(quats.shape[0]):
        w = math.sqrt(max(0.0, 0.5 * (1.0 + directions[i, 0])))  # half the turn about z
        z = math.copysign(math.sqrt(max(0.0, 0.5 * (1.0 - directions[i, 0]))), directions[i, 1])
        for j in range(bodies.size):
            b = bodies[j]
            same = (
                quats[i, b, 0] * (w * rest[j, 0] - z * rest[j, 3])
                + quats[i, b, 1] * (w * rest[j, 1] - z * rest[j, 2])
                + quats[i, b, 2] * (w * rest[j, 2] + z * rest[j, 1])
                + quats[i, b, 3] * (w * rest[j, 3] + z * rest[j, 0])
            )
            angles[i, j] = 2.0 * math.acos(min(1.0, abs(same)))


@dataclass(frozen=True)
class CourseVelocity(Term):
    """Velocity of the centre of mass from that of the course, m/s; moving upwards is no fault. (v_target - v)"""

    course: Course
    sigma: float = 0.05
    name: ClassVar[str] = "course_velocity"

    def residual(self, sims: Rows) -> np.ndarray:
        off = np.minimum(sims.view("com_velocity"), (np.inf, np.inf, 0.0))
        off[:, :2] -= self.course.speed * self.course.directions(sims.view("com"))
        return off


@dataclass(frozen=True)
class OverLegs(Term):
    """Horizontal way from the middle of the feet to the centre of mass, and how far it is below a foot, m. (d)"""

    feet: tuple[str, ...]
    sigma: float = 0.025
    name: ClassVar[str] = "over_legs"

    def residual(self, sims: Rows) -> np.ndarray:
        com = sims.view("com")
        one, other = sims.view(f"{self.feet[0]}.pos"), sims.view(f"{self.feet[-1]}.pos")
        off = com - 0.5 * (one + other)
        off[:, 2] = np.maximum(0.0, np.maximum(one[:, 2], other[:, 2]) - com[:, 2])
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
