"""Motors: the closed form of the set-point's clamp, and that it is stable at 1/30 s."""

import mujoco
import numpy as np
import pytest
from bodies import STANCES

from tumble.characters import character
from tumble.world.scene import Scene
from tumble.world.sims import Sims


def torques(scene: Scene, control: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """What the servos do at the start of a step, N m, by MuJoCo's own account."""
    data = scene.show(scene.state(height=1.0))
    data.qvel[scene.motors.qvel] = speeds
    scene.motors.write(control[None], data.qvel[None], data.ctrl[None])
    mujoco.mj_forward(scene.model, data)
    return data.actuator_force.copy()


def strengths(scene: Scene) -> np.ndarray:
    return np.array([joint.strength for joint in scene.character.joints.values()])


def limits(scene: Scene, control: np.ndarray) -> np.ndarray:
    """The torque that each joint may use, N m."""
    joints = scene.character.joints
    share = dict(zip(scene.character.groups, control[len(joints) :], strict=True))
    return np.array([share[joint.group] * joint.strength for joint in joints.values()])


@pytest.mark.parametrize("name", STANCES)
def test_torque_is_that_of_a_clamped_servo(name):
    scene = Scene(character(name))
    motors = scene.motors
    rng = np.random.default_rng(0)
    gain = scene.physics.motor_gain * strengths(scene)
    clamped = 0
    for _ in range(50):
        control, speeds = rng.uniform(motors.low, motors.high), rng.normal(0, 6, motors.joints)
        limit = limits(scene, control)
        wanted = gain * (control[: motors.joints] - speeds)
        torque = torques(scene, control, speeds)
        assert torque == pytest.approx(np.clip(wanted, -limit, limit), rel=1e-9, abs=1e-9)
        assert (np.abs(torque) <= limit * (1 + 1e-12) + 1e-9).all()
        clamped += np.count_nonzero(np.abs(wanted) > limit)
    assert 0 < clamped < 50 * motors.joints  # both branches were there


def test_a_group_has_its_own_limit(scene):
    motors, joints = scene.motors, scene.character.joints
    control = motors.high.copy()  # all joints at full speed: every motor saturates
    speeds = -np.ones(motors.joints)
    full = torques(scene, control, speeds)
    for i, group in enumerate(scene.character.groups):
        weak = control.copy()
        weak[motors.joints + i] = 0.1
        changed = torques(scene, weak, speeds)
        mine = np.array([joint.group == group for joint in joints.values()])
        assert mine.any() and not mine.all()
        assert np.array_equal(changed[~mine], full[~mine])
        assert changed[mine] == pytest.approx(0.1 * strengths(scene)[mine])


def test_bounds_and_names(scene):
    motors, character_ = scene.motors, scene.character
    assert motors.size == motors.joints + len(character_.groups) == len(motors.names) == 35
    assert list(motors.names[: motors.joints]) == list(character_.joints)
    assert motors.names[motors.joints] == f"{character_.groups[0]}.limit"
    assert motors.high[: motors.joints] == pytest.approx(1.3 * np.pi)
    assert np.array_equal(motors.low[: motors.joints], -motors.high[: motors.joints])
    assert (motors.low[motors.joints :] > 0).all()
    assert (motors.high[motors.joints :] == 1).all()


@pytest.mark.parametrize("name", STANCES)
def test_random_control_is_stable_at_a_thirtieth_of_a_second(name):
    scene = Scene(character(name))
    assert scene.dt == pytest.approx(1 / 30) and scene.physics.substeps == 1
    motors = scene.motors
    rng = np.random.default_rng(1)
    sims = Sims(scene, 32, 1)
    sims.load(scene.state())
    fastest = 0.0
    for _ in range(60):
        sims.act(rng.uniform(motors.low, motors.high, (32, motors.size)))
        fastest = max(fastest, np.abs(sims.view("qvel")[:, motors.qvel]).max())
    assert not sims.broken.any()
    assert fastest < 3 * motors.SPEED  # an impact may exceed the target speed; it must not explode


def test_motors_reach_their_target_speed(scene):
    motors = scene.motors
    elbow = list(scene.character.joints).index("left_elbow")
    control = np.r_[np.zeros(motors.joints), np.ones(motors.size - motors.joints)][None]
    control[0, elbow] = 2.0
    sims = Sims(scene, 1, 1)
    sims.load(scene.state(height=5.0))
    for _ in range(6):
        sims.act(control)
    assert sims.view("qvel")[0, motors.qvel[elbow]] == pytest.approx(2.0, rel=0.05)
