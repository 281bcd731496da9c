"""Drives: what a control means to the joints, and how a frame is simulated.

    scene = Scene(biped())
    servo, torque = scene.drives["servo"], scene.drives["torque"]
    sims.act(controls, servo)          # (nsim, servo.size): one step of 1/30 s
    sims.act(law, torque)              # 17 steps of 1/510 s, law(sims) -> (nsim, torque.size) before each
    register("mine", Mine, "what a control means")    # a class that derives from Drive; Scene(body, drives=["mine"])

One model holds the actuators of all drives of a scene, in groups; a drive is the model with its own group switched on,
its own number of steps a frame and its own contact flags. All drives share one state row, so that handing a body from
one to another is choosing another drive. A frame is 1/30 s for everybody.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import mujoco
import numpy as np

from tumble.characters import Character
from tumble.errors import UserError, check_number
from tumble.maths.compiled import Given1, Given2, Made2, Places1, entry
from tumble.registry import Entry, Registry
from tumble.world.grips import add_grips
from tumble.world.props import Prop

FRAME = 1 / 30  # s, hamalainen2015 section 4

Cast = Mapping[str, Character]  # the characters of a scene by the prefix of their parts; '' is the scene's own


class Drive(ABC):
    """A way to act in a scene.

    Attributes:
      name: how scenes and recordings call it; registering gives it.
      group: number of its actuators' group, 0 to 30; drives that share one cannot be in one scene.
      steps: physics steps a frame.
      speculative: whether contacts are found before a fast limb is deep in the ground.
      speeds: whether controls of joints are speeds, by which a pose can be steered to.
      model: the scene's, with only this drive's actuators on.
      timestep: s a physics step.
      columns: its actuators' places in MuJoCo's ctrl.
      joints: how many numbers of a control are for joints; they come first.
      size, names: of a control.
      low, high: (size,) bounds that samplers keep to.
      qpos, qvel: (joints,) addresses of the joints.
    """

    name: ClassVar[str]
    group: ClassVar[int]
    steps: ClassVar[int] = 1
    speculative: ClassVar[bool] = True
    speeds: ClassVar[bool] = False
    names: Sequence[str]
    low: np.ndarray
    high: np.ndarray

    def __init__(self, model: mujoco.MjModel, cast: Cast) -> None:
        """A copy of a compiled model with all actuators of other groups off; the given model stays as it is."""
        joints = [prefix + name for prefix, who in self.moved(cast).items() for name in who.joints]
        self.model = copy.copy(model)
        option = self.model.opt
        self.timestep = option.timestep = FRAME / self.steps
        present = {int(group) for group in model.actuator_group}
        option.disableactuator = sum(1 << group for group in present if group != self.group)
        if self.speculative:
            option.enableflags |= mujoco.mjtEnableBit.mjENBL_SPECULATIVE.value  # type: ignore[attr-defined]
        own = np.flatnonzero(model.actuator_group == self.group)
        self.columns = slice(int(own[0]), int(own[-1]) + 1) if own.size else slice(0, 0)
        ids = [model.joint(name).id for name in joints]
        self.joints = len(ids)
        self.qpos = model.jnt_qposadr[ids].astype(np.intp)
        self.qvel = model.jnt_dofadr[ids].astype(np.intp)

    @classmethod
    @abstractmethod
    def add(cls, spec: mujoco.MjSpec, cast: Cast, props: Sequence[Prop]) -> None:
        """Give a spec the actuators of this drive."""

    @classmethod
    @abstractmethod
    def moved(cls, cast: Cast) -> Cast:
        """Whose joints it moves."""

    @property
    def size(self) -> int:
        """Numbers of a control."""
        return len(self.names)

    @abstractmethod
    def write(self, control: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray, step: int) -> None:
        """Turn controls (n, size) into this drive's columns of MuJoCo's ctrl (n, nu), before a step of the frame.

        Args:
          qvel: (n, nv) speeds at that time.
          step: 0 for the frame's first.
        """


class Servo(Drive):
    """Target velocities of all joints, then a torque limit per bone group as a fraction of strength.

    The papers drive ODE's motors: a target velocity and the largest torque that may be used to reach it. Here a motor
    is MuJoCo's velocity servo, torque = kv (ctrl - qvel), whose *set-point* is kept within limit / kv of the joint's
    speed. The servo is integrated implicitly, so this is stable at a step of 1/30 s, where a clamped force is not.

    A control is a row of `size` numbers: first the joints' target velocities in rad/s, then the groups' limits in
    [0, 1] (section 4.1 of hamalainen2015), of which samplers use [`WEAKEST`, 1]. It moves the scene's own character.

    Trap: the bound is soft inside a step: an impact can push the torque beyond it once.
    """

    group: ClassVar[int] = 0
    speeds: ClassVar[bool] = True
    SPEED: ClassVar[float] = 1.3 * np.pi  # rad/s, section 4.4 of hamalainen2015
    WEAKEST: ClassVar[float] = 0.7  # paper: 0, but a leg that goes weak for a frame falls (docs/decisions.md)

    def __init__(self, model: mujoco.MjModel, cast: Cast) -> None:
        """Bounds and limits of the scene's own character, by its groups and strengths."""
        character = cast[""]
        super().__init__(model, cast)
        groups = character.groups
        self.names = (*character.joints, *(f"{group}.limit" for group in groups))
        self.low = np.r_[np.full(self.joints, -self.SPEED), np.full(len(groups), self.WEAKEST)]
        self.high = np.r_[np.full(self.joints, self.SPEED), np.ones(len(groups))]
        self.gains = model.actuator_gainprm[self.columns, 0].copy()  # (joints,) N m s/rad
        self._group = np.array([groups.index(joint.group) for joint in character.joints.values()])
        strength = np.array([joint.strength for joint in character.joints.values()])
        self._reach = strength / self.gains  # rad/s of set-point at full strength

    @classmethod
    def moved(cls, cast: Cast) -> Cast:
        """The scene's own character."""
        return {"": cast[""]}

    def write(self, control: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray, step: int) -> None:
        """Set-points within reach of the present speeds."""
        _set_points(control, qvel, self.qvel, self._group, self._reach, ctrl[:, self.columns])

    @classmethod
    def add(cls, spec: mujoco.MjSpec, cast: Cast, props: Sequence[Prop]) -> None:
        """Give a spec the servos: kv = the character's motor gain (s/rad) times the joint's strength."""
        character = cast[""]
        check_number("motor gain", character.motor_gain, 0, above=True)
        for name, joint in character.joints.items():
            servo = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, group=cls.group)
            servo.set_to_velocity(kv=character.motor_gain * joint.strength)


class MotorDrive(Drive):
    """A torque on every joint of every character, as a fraction of its strength; then how firmly each grip holds.

    A control of joints is in [-1, 1], of a grip in [0, 1]; joints of companions come after the character's, by the
    prefixes of their names. Grips are those of `tumble.world.grips`, four numbers each, of the character alone; under
    other drives they are open.

    Attributes as in `Drive`, and strength: (size,) N m at a control of 1, 1 for grips.
    """

    group: ClassVar[int] = 1

    def __init__(self, model: mujoco.MjModel, cast: Cast) -> None:
        """Bounds and strengths of everybody's joints, then of the grips."""
        super().__init__(model, cast)
        columns = range(model.nu)[self.columns]
        self.names = tuple(model.actuator(i).name.removesuffix(SUFFIX) for i in columns)
        self.low, self.high = -np.ones(self.size), np.ones(self.size)
        self.low[self.joints :] = 0.0
        self.strength = np.ones(self.size)
        self.strength[: self.joints] = [joint.strength for who in cast.values() for joint in who.joints.values()]

    @classmethod
    def moved(cls, cast: Cast) -> Cast:
        """Everybody."""
        return cast

    def write(self, control: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray, step: int) -> None:
        """Fractions times strengths."""
        np.multiply(control, self.strength, out=ctrl[:, self.columns])

    @classmethod
    def add(cls, spec: mujoco.MjSpec, cast: Cast, props: Sequence[Prop]) -> None:
        """Give a spec a motor for every joint of everybody, and the grips of the scene's own character."""
        for prefix, character in cast.items():
            for joint in character.joints:
                name = prefix + joint
                motor = spec.add_actuator(
                    name=name + SUFFIX, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, group=cls.group
                )
                motor.set_to_motor()
        add_grips(spec, cast[""], props, cls.group)


class Torque(MotorDrive):
    """Torques in 17 steps of 1/510 s a frame, for laws.

    1/500 s is the largest step at which walkers keep their balance as well as at smaller ones; it does not divide a
    frame.
    """

    steps: ClassVar[int] = 17
    speculative: ClassVar[bool] = False


class Force(MotorDrive):
    """The same forces in one step a frame: for small scenes with known dynamics, as the toy of hamalainen2015."""


class Pd(Drive):
    """Reference angles of all joints through proportional-derivative control (alborno2016 eq. 1), in 3 steps a frame.

    u = k_p (q_ref - q) - k_d q', within the joint's strength. A control is a row of `size` numbers: the references at
    the beginning of the frame and at its end, rad, between which a joint's reference goes in a straight line. So
    references that are continuous from frame to frame stay so within it, and a control needs no memory of the last one.

    Departures: the paper's step is 0.01 s; here 1/90 s, which divides a frame. The `discrete` integrator solves for
    these springs together with the contacts: explicit ones blow up at such a step. References change at 30 Hz.
    """

    group: ClassVar[int] = 2
    steps: ClassVar[int] = 3
    STIFFNESS: ClassVar[float] = 700.0  # k_p, N m/rad, alborno2016 section 4.1
    DAMPING: ClassVar[float] = 1.0  # k_d, N m s/rad, alborno2016 section 4.1

    def __init__(self, model: mujoco.MjModel, cast: Cast) -> None:
        """Bounds are the joints' limits."""
        super().__init__(model, cast)
        joints = tuple(cast[""].joints)
        self.names = (*joints, *(f"{joint}.end" for joint in joints))
        low, high = model.jnt_range[[model.joint(joint).id for joint in joints]].T
        self.low, self.high = np.tile(low, 2), np.tile(high, 2)

    @classmethod
    def moved(cls, cast: Cast) -> Cast:
        """The scene's own character."""
        return {"": cast[""]}

    def write(self, control: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray, step: int) -> None:
        """References part of the way from the frame's beginning to its end."""
        share = (step + 1) / self.steps
        ctrl[:, self.columns] = (1.0 - share) * control[:, : self.joints] + share * control[:, self.joints :]

    @classmethod
    def add(cls, spec: mujoco.MjSpec, cast: Cast, props: Sequence[Prop]) -> None:
        """Give a spec a position actuator for every joint of its own character, limited by the joint's strength."""
        for name, joint in cast[""].joints.items():
            actuator = spec.add_actuator(
                name=f"{name}.{cls.name}", target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, group=cls.group
            )
            actuator.set_to_position(kp=cls.STIFFNESS, kv=cls.DAMPING)
            actuator.forcelimited = True
            actuator.forcerange = np.array([-joint.strength, joint.strength])


SUFFIX = ".torque"  # of a motor's name after its joint's, which the servo has
GROUPS = range(31)  # that MuJoCo can switch off


@dataclass(frozen=True)
class DriveEntry(Entry[type[Drive]]):
    """A drive that scenes have by name; `make` is its class."""


def _call_it_so(one: DriveEntry) -> None:
    """Refuse what is no drive; let it know its name."""
    kind, own = one.make, vars(one.make) if isinstance(one.make, type) else {}
    if not (isinstance(kind, type) and issubclass(kind, Drive)) or kind.__abstractmethods__:
        raise UserError(f"drive '{one.name}' must be a class that derives from Drive and is whole, got {kind!r}")
    if own.get("name", one.name) != one.name:
        raise UserError(f"drive '{one.name}' is a class whose name is '{own['name']}': leave one of them out")
    if getattr(kind, "group", None) not in GROUPS:
        raise UserError(f"drive '{one.name}' needs a group of actuators, 0 to {GROUPS[-1]}")
    kind.name = one.name


DRIVES: Registry[DriveEntry] = Registry("drive", DriveEntry, _call_it_so)
register = DRIVES.register
register("servo", Servo, "target speeds and torque limits, one step of 1/30 s (planners)")
register("torque", Torque, "torques in 17 steps of 1/510 s a frame (walkers)")
register("force", Force, "forces in one step of 1/30 s (small scenes with known dynamics)")
register("pd", Pd, "reference angles through springs, three steps of 1/90 s (trees)")


def drives_named(names: Sequence[str]) -> list[type[Drive]]:
    """Kinds of drives by their names: one or more, none with the actuators of another."""
    kinds = [DRIVES[name].make for name in names]
    if not kinds or len({kind.group for kind in kinds}) < len(kinds):
        got = ", ".join(names) or "none"
        raise UserError(
            f"a scene has one drive or more, each once, and of those that share actuators (as torque and force)"
            f" one; got: {got}"
        )
    return kinds


@entry
def _set_points(control: Given2, qvel: Given2, address: Places1, group: Places1, reach: Given1, ctrl: Made2) -> None:
    """clip(w, v - L r, v + L r), rad/s, into ctrl (n, joints): w and L of controls (n, size), v speeds, r `reach`."""
    joints = address.size
    for i in range(control.shape[0]):
        for j in range(joints):
            speed = qvel[i, address[j]]
            r = reach[j] * control[i, joints + group[j]]
            ctrl[i, j] = min(max(control[i, j], speed - r), speed + r)
