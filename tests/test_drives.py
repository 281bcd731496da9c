"""Drives: the closed form of the servos' clamp, stability at 1/30 s, torques at 1/510 s, and several in one model."""

import re

import mujoco
import numpy as np
import pytest

from tumble.characters import CHARACTERS, biped, character, humanoid
from tumble.errors import UserError
from tumble.simbicon.simbicon import Simbicon
from tumble.walking import Walker
from tumble.world.drives import DRIVES, FRAME, Drive, MotorDrive, Pd, Servo
from tumble.world.grips import PARTS, grips_of
from tumble.world.props import Ball, Companion, Crate
from tumble.world.scene import Scene
from tumble.world.sims import Sims


def torques(scene: Scene, control: np.ndarray, speeds: np.ndarray) -> np.ndarray:
    """What the servos do at the start of a step, N m, by MuJoCo's own account."""
    data = scene.show(scene.state(height=1.0))
    data.qvel[scene.drive.qvel] = speeds
    scene.drive.write(control[None], data.qvel[None], data.ctrl[None], 0)
    mujoco.mj_forward(scene.model, data)
    return data.actuator_force[scene.drive.columns].copy()


def strengths(scene: Scene) -> np.ndarray:
    return np.array([joint.strength for joint in scene.character.joints.values()])


def limits(scene: Scene, control: np.ndarray) -> np.ndarray:
    """The torque that each joint may use, N m."""
    joints = scene.character.joints
    share = dict(zip(scene.character.groups, control[len(joints) :], strict=True))
    return np.array([share[joint.group] * joint.strength for joint in joints.values()])


@pytest.mark.parametrize("name", CHARACTERS)
def test_torque_is_that_of_a_clamped_servo(name):
    scene = Scene(character(name))
    drive = scene.drive
    rng = np.random.default_rng(0)
    gain = scene.character.motor_gain * strengths(scene)
    assert drive.gains == pytest.approx(gain)
    clamped = 0
    for _ in range(50):
        control, speeds = rng.uniform(drive.low, drive.high), rng.normal(0, 6, drive.joints)
        limit = limits(scene, control)
        wanted = gain * (control[: drive.joints] - speeds)
        torque = torques(scene, control, speeds)
        assert torque == pytest.approx(np.clip(wanted, -limit, limit), rel=1e-9, abs=1e-9)
        assert (np.abs(torque) <= limit * (1 + 1e-12) + 1e-9).all()
        clamped += np.count_nonzero(np.abs(wanted) > limit)
    assert 0 < clamped < 50 * drive.joints  # both branches were there


def test_a_group_has_its_own_limit(scene):
    drive, joints = scene.drive, scene.character.joints
    control = drive.high.copy()  # all joints at full speed: every motor saturates
    speeds = -np.ones(drive.joints)
    full = torques(scene, control, speeds)
    for i, group in enumerate(scene.character.groups):
        weak = control.copy()
        weak[drive.joints + i] = 0.1
        changed = torques(scene, weak, speeds)
        mine = np.array([joint.group == group for joint in joints.values()])
        assert mine.any() and not mine.all()
        assert np.array_equal(changed[~mine], full[~mine])
        assert changed[mine] == pytest.approx(0.1 * strengths(scene)[mine])


def test_bounds_and_names(scene):
    drive, character_ = scene.drive, scene.character
    assert drive.size == drive.joints + len(character_.groups) == len(drive.names) == 35
    assert list(drive.names[: drive.joints]) == list(character_.joints)
    assert drive.names[drive.joints] == f"{character_.groups[0]}.limit"
    assert drive.high[: drive.joints] == pytest.approx(1.3 * np.pi)
    assert np.array_equal(drive.low[: drive.joints], -drive.high[: drive.joints])
    assert (drive.low[drive.joints :] > 0).all()
    assert (drive.high[drive.joints :] == 1).all()


@pytest.mark.parametrize("name", CHARACTERS)
def test_random_control_is_stable_at_a_thirtieth_of_a_second(name):
    scene = Scene(character(name))
    assert scene.dt == pytest.approx(1 / 30) and scene.drive.steps == 1 and scene.model.opt.timestep == 1 / 30
    drive = scene.drive
    rng = np.random.default_rng(1)
    sims = Sims(scene, 32, 1)
    sims.load(scene.state())
    fastest = 0.0
    for _ in range(60):
        sims.act(rng.uniform(drive.low, drive.high, (32, drive.size)))
        fastest = max(fastest, np.abs(sims.view("qvel")[:, drive.qvel]).max())
    assert not sims.broken.any()
    assert fastest < 3 * drive.SPEED  # an impact may exceed the target speed; it must not explode


def test_motors_reach_their_target_speed(scene):
    drive = scene.drive
    elbow = list(scene.character.joints).index("left_elbow")
    control = np.r_[np.zeros(drive.joints), np.ones(drive.size - drive.joints)][None]
    control[0, elbow] = 2.0
    sims = Sims(scene, 1, 1)
    sims.load(scene.state(height=5.0))
    for _ in range(6):
        sims.act(control)
    assert sims.view("qvel")[0, drive.qvel[elbow]] == pytest.approx(2.0, rel=0.05)


# Torques --------------------------------------------------------------------------------------------

BODIES = {"humanoid": humanoid, "biped": biped}
CROWD = [Companion("ana", biped(legs=1.1).recipe, (1.0, 0.5)), Companion("bo", humanoid().recipe, (-1.0, 0.0), 1.0)]


def spring(drive: Drive, scene: Scene):
    """A law: back to where the joints are at rest, with damping, in fractions of strength."""
    rest = scene.show(scene.state()).qpos[drive.qpos]

    def law(sims: Sims) -> np.ndarray:
        pull = 20.0 * (rest - sims.view("qpos")[:, drive.qpos]) - 0.5 * sims.view("qvel")[:, drive.qvel]
        control = np.zeros((sims.nsim, drive.size))
        control[:, : drive.joints] = np.clip(pull, -1, 1)
        return control

    return law


def test_a_frame_of_torques_is_seventeen_steps_and_a_thirtieth_of_a_second(scene):
    torque, servo = scene.drives["torque"], scene.drives["servo"]
    assert (torque.steps, torque.timestep, torque.model.opt.timestep) == (17, 1 / 510, 1 / 510)
    assert (servo.steps, servo.timestep, servo.model.opt.timestep) == (1, FRAME, FRAME)
    assert torque.steps * torque.timestep == pytest.approx(scene.dt) == pytest.approx(1 / 30)
    speculative = mujoco.mjtEnableBit.mjENBL_SPECULATIVE.value
    assert servo.model.opt.enableflags & speculative and not torque.model.opt.enableflags & speculative


@pytest.mark.parametrize("name", BODIES)
def test_torques_are_fractions_of_strength(name):
    scene, rng = Scene(BODIES[name]()), np.random.default_rng(0)
    drive = scene.drives["torque"]
    assert list(drive.names) == list(scene.character.joints) and drive.size == drive.joints
    assert (drive.low == -1).all() and (drive.high == 1).all()
    data, control = scene.show(scene.state(height=1.0)), rng.uniform(-1, 1, drive.size)
    drive.write(control[None], data.qvel[None], data.ctrl[None], 0)
    mujoco.mj_forward(drive.model, data)
    assert data.qfrc_actuator[drive.qvel] == pytest.approx(control * strengths(scene))
    assert np.delete(data.qfrc_actuator, drive.qvel) == pytest.approx(0, abs=1e-12)  # nothing holds the root
    assert not data.actuator_force[scene.drives["servo"].columns].any()


@pytest.mark.parametrize("name", BODIES)
def test_a_law_of_torques_is_a_plain_loop_to_the_last_bit(name):
    scene = Scene(BODIES[name]())
    drive = scene.drives["torque"]
    law, sims = spring(drive, scene), Sims(scene, 2, 1)
    states = np.stack([scene.state("rest", height=0.02), scene.state("t-pose", height=0.3)])
    sims.load(states)
    plain = [scene.show(state) for state in states]
    rest = scene.show(scene.state()).qpos[drive.qpos]
    for _ in range(20):
        sims.act(law, drive)
        for data in plain:
            for _ in range(17):
                pull = 20.0 * (rest - data.qpos[drive.qpos]) - 0.5 * data.qvel[drive.qvel]
                data.ctrl[drive.columns] = np.clip(pull, -1, 1) * strengths(scene)
                mujoco.mj_step(drive.model, data)
        assert np.array_equal(np.stack([scene.read(data) for data in plain]), sims.state)
    assert not sims.broken.any()


def test_companions_get_torques_by_the_prefixes_of_their_names():
    scene = Scene(biped(), CROWD)
    drive, cast = scene.drives["torque"], scene.cast
    names = [prefix + joint for prefix, who in cast.items() for joint in who.joints]
    assert list(cast) == ["", "ana/", "bo/"]
    assert list(drive.names) == names and drive.size == drive.joints == 31 + 31 + 30
    strength = np.array([joint.strength for who in cast.values() for joint in who.joints.values()])
    assert np.array_equal(drive.strength, strength)
    for i in (0, 31 + 3, 31 + 31 + 5):
        data, control = scene.show(scene.state(height=1.0)), np.zeros(drive.size)
        control[i] = -0.5
        drive.write(control[None], data.qvel[None], data.ctrl[None], 0)
        mujoco.mj_forward(drive.model, data)
        (pushed,) = np.flatnonzero(data.qfrc_actuator)
        assert pushed == int(scene.model.joint(names[i]).dofadr[0])
        assert data.qfrc_actuator[pushed] == pytest.approx(-0.5 * strength[i])


def test_servos_move_the_scenes_own_character_alone():
    scene = Scene(biped(), CROWD)
    drive = scene.drives["servo"]
    assert drive.joints == 31 and list(drive.names[:31]) == list(scene.character.joints)
    data = scene.show(scene.state(height=1.0))
    drive.write(drive.high[None], data.qvel[None], data.ctrl[None], 0)
    mujoco.mj_forward(drive.model, data)
    assert set(np.flatnonzero(data.qfrc_actuator)) == set(drive.qvel)


def test_grips_come_after_joints_and_are_open_under_servos():
    props = [Crate("crate", (0.5, 0.0, 0.2))]
    scene = Scene(biped(), props)
    torque, servo = scene.drives["torque"], scene.drives["servo"]
    grips = PARTS * len(grips_of(scene.character, props))
    assert grips == 16 and (torque.joints, torque.size) == (31, 31 + grips)
    assert (torque.low[31:] == 0).all() and (torque.high == 1).all() and (torque.strength[31:] == 1).all()
    assert servo.size == Scene(biped()).drives["servo"].size
    data = scene.show(scene.state())
    data.ctrl[torque.columns] = 1.0  # of a frame by torques, with all grips closed
    mujoco.mj_forward(servo.model, data)
    crate = int(scene.model.joint("crate").dofadr[0])
    assert not data.qfrc_actuator[crate : crate + 6].any()
    mujoco.mj_forward(torque.model, data)
    assert data.qfrc_actuator[crate : crate + 6].any()


# Several drives in one model ------------------------------------------------------------------------


@pytest.mark.parametrize("props", [[], [Ball()], [CROWD[0]]], ids=["alone", "a ball", "a companion"])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(("name", "frames"), [("servo", 60), ("torque", 12)])  # 60 and 204 steps
def test_a_drive_acts_to_the_last_bit_as_if_it_were_alone(name, frames, body, props):
    both, alone = Scene(BODIES[body](), props), Scene(BODIES[body](), props, drives=[name])
    assert both.model.nu > alone.model.nu and len(both.drives) == 2
    drives, rng = (both.drives[name], alone.drive), np.random.default_rng(0)
    assert list(drives[0].names) == list(drives[1].names)
    worlds = Sims(both, 3, 1), Sims(alone, 3, 1)
    for sims in worlds:
        sims.load(sims.scene.state("t-pose", "supine", height=0.05))
    for frame in range(frames):
        control = rng.uniform(drives[0].low, drives[0].high, (3, drives[0].size))
        for sims, drive in zip(worlds, drives, strict=True):
            sims.act(control, drive)
        for field in ("time", "qpos", "qvel", "act", "sensordata", "qfrc_actuator", "qfrc_constraint", "xipos", "cvel"):
            assert np.array_equal(worlds[0].view(field), worlds[1].view(field)), (frame, field)
    assert not worlds[0].broken.any()
    assert not np.array_equal(worlds[0].state[0], worlds[0].state[1])


@pytest.mark.parametrize(("name", "body"), [("servo", "humanoid"), ("torque", "humanoid"), ("torque", "biped")])
def test_crates_change_nothing_of_that_where_no_idle_grip_ties_them(name, body):
    props = [Crate("crate", (0.6, 0.0, 0.2))]
    both, alone = Scene(BODIES[body](), props), Scene(BODIES[body](), props, drives=[name])
    for frame, (one, two) in enumerate(frames_of(both, alone, name)):
        assert np.array_equal(one, two), frame


def test_idle_grips_change_no_more_than_rounding():
    """An actuator between hand and crate ties them into one island of contacts, even in a group that is off."""
    props = [Crate("crate", (0.6, 0.0, 0.2))]
    both, alone = Scene(biped(), props), Scene(biped(), props, drives=["servo"])
    differed = 0.0
    for one, two in frames_of(both, alone, "servo"):
        differed = max(differed, np.abs(one - two).max())
    assert differed < 1e-9


def frames_of(both: Scene, alone: Scene, name: str):
    """(frames) of pairs of positions and speeds, each after one frame by the same drive from the same state."""
    drives, rng = (both.drives[name], alone.drive), np.random.default_rng(0)
    worlds = Sims(both, 3, 1), Sims(alone, 3, 1)
    for sims in worlds:
        sims.load(sims.scene.state("t-pose", "supine", height=0.05))
    for _ in range(20):
        control = rng.uniform(drives[0].low, drives[0].high, (3, drives[0].size))
        for field in ("qpos", "qvel", "qacc_warmstart"):
            worlds[1].view(field)[:] = worlds[0].view(field)
        for sims, drive in zip(worlds, drives, strict=True):
            sims.act(control, drive)
        yield [np.hstack([sims.view("qpos"), sims.view("qvel")]) for sims in worlds]


@pytest.mark.parametrize("order", [("servo", "torque"), ("torque", "servo")])
def test_switching_keeps_the_state_exactly(order):
    scene, rng = Scene(biped(), [Ball()], drives=order), np.random.default_rng(1)
    scene.claim("walker", np.dtype([("phase", "f8")]))
    sims = Sims(scene, 3, 1)
    sims.load(scene.state(height=0.02))
    sims.memory("walker").phase[:] = [0.1, 0.2, 0.3]
    for name in (*order, *order):
        drive = scene.drives[name]
        before = sims.state.copy()
        sims.use(drive)
        assert np.array_equal(sims.state, before)
        sims.refresh(drive)
        assert np.array_equal(sims.state, before)
        for i in range(3):
            data = mujoco.MjData(drive.model)
            mujoco.mj_setState(drive.model, data, before[i], mujoco.mjtState.mjSTATE_INTEGRATION)
            mujoco.mj_forward(drive.model, data)
            assert np.array_equal(sims.view("sensordata")[i], data.sensordata)
        sims.act(rng.uniform(drive.low, drive.high, (3, drive.size)), drive)
        assert sims.memory("walker").phase.tolist() == [0.1, 0.2, 0.3]
    assert sims.view("time").ravel() == pytest.approx(4 / 30)


def test_a_frame_of_one_drive_between_frames_of_another_is_a_plain_loop(scene):
    """Handing over is choosing another model for the same state; what the other drive left in ctrl acts on nothing."""
    sims, rng, data = Sims(scene, 1, 1), np.random.default_rng(2), scene.show(scene.state(height=0.02))
    sims.load(scene.state(height=0.02))
    for name in ("servo", "torque", "torque", "servo", "torque", "servo"):
        drive = scene.drives[name]
        control = rng.uniform(drive.low, drive.high, (1, drive.size))
        sims.act(control, drive)
        fresh = mujoco.MjData(drive.model)
        fresh.qpos[:], fresh.qvel[:], fresh.time = data.qpos, data.qvel, data.time
        fresh.qacc_warmstart[:] = data.qacc_warmstart
        for _ in range(drive.steps):
            drive.write(control, fresh.qvel[None], fresh.ctrl[None], 0)
            mujoco.mj_step(drive.model, fresh)
        data = fresh
        assert np.array_equal(sims.view("qpos")[0], data.qpos)
        assert np.array_equal(sims.view("qvel")[0], data.qvel)


def test_threads_do_not_matter_to_torques_and_switches():
    scene = Scene(biped(), [CROWD[0]])

    def run(nthread: int) -> np.ndarray:
        rng, sims, seen = np.random.default_rng(3), Sims(scene, 6, nthread), []
        sims.load(scene.state(height=0.05))
        for frame in range(12):
            drive = scene.drives["servo" if frame % 4 == 3 else "torque"]
            sims.act(rng.uniform(drive.low, drive.high, (6, drive.size)), drive)
            seen.append(np.hstack([sims.state, sims.view("sensordata")]))
        return np.array(seen)

    assert np.array_equal(run(1), run(2))


# What is refused ------------------------------------------------------------------------------------

BAD = [
    (lambda: Walker(Scene(biped(), drives=["servo"])), "no drive 'torque'; there are: servo"),
    (lambda: Simbicon(Scene(character("planar"), drives=["servo"])), "no drive 'torque'; there are: servo"),
    (lambda: Scene(biped(), drives=["muscle"]), "no drive 'muscle'; there are: force, pd, servo, torque"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_a_drive_that_a_scene_lacks(call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call()


def test_a_drive_of_another_scene(scene):
    sims, other = Sims(Scene(humanoid(), drives=["servo"]), 1, 1), scene.drives["torque"]
    sims.load(sims.scene.state())
    before = sims.state.copy()
    message = "the drive 'torque' is not one of this scene, which has: servo; take `scene.drives`"
    for call in (lambda: sims.act(np.zeros((1, 30)), other), lambda: sims.use(other), lambda: sims.refresh(other)):
        with pytest.raises(UserError, match=message):
            call()
    assert np.array_equal(sims.state, before)
    sims.act(np.zeros((1, 35)))


def test_a_control_of_another_drive_is_refused(scene):
    sims = Sims(scene, 2, 1)
    with pytest.raises(UserError, match=r"controls must have the shape \(2, 30\), got \(2, 35\)"):
        sims.act(np.zeros((2, scene.drives["servo"].size)), scene.drives["torque"])


@pytest.mark.parametrize("name", DRIVES)
def test_every_drive_says_what_it_is(name):
    scene = Scene(humanoid(), drives=[name])
    drive = scene.drive
    assert (drive.name, type(drive), scene.model) == (name, DRIVES[name].make, drive.model)
    assert drive.size == len(drive.names) == len(drive.low) == len(drive.high) and (drive.low < drive.high).all()
    assert drive.steps * drive.timestep == pytest.approx(1 / 30)
    assert drive.speeds == isinstance(drive, Servo)
    assert isinstance(drive, Servo | MotorDrive | Pd)
    assert np.array_equal(scene.model.jnt_qposadr[1:], drive.qpos)
    assert np.array_equal(scene.model.jnt_dofadr[1:], drive.qvel)
