"""Motors: what a control means to the joints.

The papers drive ODE's motors: a target velocity and the largest torque that may be used to reach
it. Here a motor is MuJoCo's velocity servo, torque = kv (ctrl - qvel), whose *set-point* is kept
within limit / kv of the joint's speed. The servo is integrated implicitly, so this is stable at a
step of 1/30 s, where a clamped force is not.

Trap: the bound is soft inside a step: an impact can push the torque beyond it once.

`ForceMotors` are for small scenes with known dynamics: a control is a force.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeAlias

import mujoco
import numpy as np
from numba import njit

from tumble.characters import Character


class VelocityMotors:
    """Target velocities of all joints, then a torque limit per bone group as a fraction of strength.

    A control is a row of `size` numbers: first the joints' target velocities in rad/s, then the
    groups' limits in [0, 1] (section 4.1 of hamalainen2015), of which samplers use [`WEAKEST`, 1].

    Attributes:
      low, high: (size,) bounds that samplers keep to.
      joints: number of target velocities.
      names: what each number of a control is called.
      speeds: whether controls of joints are speeds, by which a pose can be steered to.
    """

    speeds: ClassVar[bool] = True
    SPEED = 1.3 * np.pi  # rad/s, section 4.4 of hamalainen2015
    WEAKEST = 0.7  # lowest torque limit; paper: 0, but a leg that goes weak for a frame falls (docs/decisions.md)

    def __init__(self, model: mujoco.MjModel, character: Character):
        groups = character.groups
        ids = [model.joint(name).id for name in character.joints]
        self.joints = len(ids)
        self.names: Sequence[str] = (*character.joints, *(f"{group}.limit" for group in groups))
        self.size = len(self.names)
        self.low = np.r_[np.full(self.joints, -self.SPEED), np.full(len(groups), self.WEAKEST)]
        self.high = np.r_[np.full(self.joints, self.SPEED), np.ones(len(groups))]
        self.qpos = model.jnt_qposadr[ids].astype(np.intp)
        self.qvel = model.jnt_dofadr[ids].astype(np.intp)
        self._group = np.array([groups.index(joint.group) for joint in character.joints.values()])
        strength = np.array([joint.strength for joint in character.joints.values()])
        self._reach = strength / model.actuator_gainprm[:, 0]  # rad/s of set-point at full strength

    def write(self, control: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray) -> None:
        """Turn controls (nsim, size) into MuJoCo's ctrl (nsim, nu), given the joint speeds."""
        _set_points(control, qvel, self.qvel, self._group, self._reach, ctrl)

    @staticmethod
    def add(spec: mujoco.MjSpec, character: Character, gain: float) -> None:
        """Give a spec the servos: kv = gain times the character's own (s/rad) times the joint's strength."""
        for name, joint in character.joints.items():
            servo = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            servo.set_to_velocity(kv=gain * character.motor_gain * joint.strength)


class ForceMotors:
    """A force on every joint, as a fraction of its strength in [-1, 1]; then how firmly each grip holds, 0 to 1.

    Joints of companions come after the character's, by the prefixes of their names. Grips are those of
    `tumble.world.grips`, four numbers each, of the character alone. Attributes as in `VelocityMotors`, and
    strength: (size,) N m at a control of 1, 1 for grips.
    """

    speeds: ClassVar[bool] = False

    def __init__(self, model: mujoco.MjModel, character: Character, companions: Mapping[str, Character] = {}):
        cast = {"": character, **companions}
        joints = {prefix + name: joint for prefix, who in cast.items() for name, joint in who.joints.items()}
        ids = [model.joint(name).id for name in joints]
        self.joints, self.size = len(ids), model.nu
        self.names: Sequence[str] = tuple(model.actuator(i).name for i in range(model.nu))
        self.low, self.high = -np.ones(self.size), np.ones(self.size)
        self.low[self.joints :] = 0.0
        self.qpos = model.jnt_qposadr[ids].astype(np.intp)
        self.qvel = model.jnt_dofadr[ids].astype(np.intp)
        self.strength = np.ones(self.size)
        self.strength[: self.joints] = [joint.strength for joint in joints.values()]

    def write(self, control: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray) -> None:
        """Turn controls (nsim, size) into MuJoCo's ctrl (nsim, nu)."""
        np.multiply(control, self.strength, out=ctrl)

    @staticmethod
    def add(spec: mujoco.MjSpec, character: Character, gain: float, prefix: str = "") -> None:
        """Give a spec the motors of a character whose names begin with a prefix; they have no gain."""
        for joint in character.joints:
            name = prefix + joint
            spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT).set_to_motor()


Motors: TypeAlias = VelocityMotors | ForceMotors
MOTORS: Mapping[str, type[Motors]] = {"velocity": VelocityMotors, "force": ForceMotors}


@njit(cache=True)
def _set_points(control, qvel, address, group, reach, ctrl):  # type: ignore[no-untyped-def]
    joints = address.size
    for i in range(control.shape[0]):
        for j in range(joints):
            speed = qvel[i, address[j]]
            r = reach[j] * control[i, joints + group[j]]
            ctrl[i, j] = min(max(control[i, j], speed - r), speed + r)
