"""Grips against closed forms: springs with dampers that are there only while a hand holds."""

import mujoco
import numpy as np
import pytest

from tumble.characters import biped, humanoid
from tumble.world.grips import DAMPING, PARTS, STIFFNESS, TURN_DAMPING, grips_of
from tumble.world.props import Crate, handle_name
from tumble.world.scene import Ground, Scene

G = 9.81  # m/s^2


@pytest.fixture(scope="module")
def scene() -> Scene:
    """A biped with a crate for both hands and a cup for one."""
    cup = Crate("cup", (1.0, 0.5, 0.05), (0.05, 0.05, 0.05), 15.0, handles=((0.0, 0.0, 0.0),))
    return Scene(biped(), [Crate("crate", (2.0, 0.0, 0.2)), cup], Ground(friction=0.8), ["torque"])


def number_of(scene: Scene, side: int, crate: str, handle: int = 0) -> int:
    """Of a grip."""
    return grips_of(scene.character, scene.props).index((side, crate, handle))


def parts(scene: Scene, grip: int) -> slice:
    """A grip's actuators."""
    first = scene.drive.joints + PARTS * grip
    return slice(first, first + PARTS)


def tossed(scene: Scene, seed: int) -> mujoco.MjData:
    """Everything somewhere, turned and moving."""
    data, rng = scene.show(scene.state(height=3.0)), np.random.default_rng(seed)
    data.qvel[:] = rng.normal(size=scene.model.nv)
    mujoco.mj_integratePos(scene.model, data.qpos, rng.normal(0, 0.4, scene.model.nv), 1.0)
    mujoco.mj_forward(scene.model, data)
    return data


def test_grips_come_after_the_joints(scene):
    names, joints = scene.drive.names, scene.drive.joints
    assert list(names[:joints]) == list(scene.character.joints)
    expected = [
        f"{scene.character.palms[side]}>{handle_name(crate, handle)}.{part}"
        for side, crate, handle in grips_of(scene.character, scene.props)
        for part in ("x", "y", "z", "turn")
    ]
    assert list(names[joints:]) == expected
    assert len(expected) == PARTS * 2 * 3  # two hands, three handles
    assert (scene.drive.low[joints:] == 0).all() and (scene.drive.high[joints:] == 1).all()


def test_who_has_no_palms_has_no_grips(scene):
    assert grips_of(humanoid(), scene.props) == ()
    assert Scene(humanoid(), scene.props, drives=["torque"]).drive.size == len(humanoid().joints)


def test_an_open_grip_exerts_no_force(scene):
    data = tossed(scene, 0)
    data.ctrl[:] = 0.0
    mujoco.mj_forward(scene.model, data)
    assert not data.actuator_force[scene.drive.joints :].any()
    assert not data.qfrc_actuator.any()


def apart(scene: Scene, data: mujoco.MjData, palm: int, handle: int, frame: np.ndarray) -> np.ndarray:
    """Palm from handle, m, in the axes of a frame (3, 3)."""
    mujoco.mj_kinematics(scene.model, data)
    return frame.T @ (data.site_xpos[palm] - data.site_xpos[handle])


@pytest.mark.parametrize("firm", [1.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_a_closed_grip_is_a_spring_with_a_damper(scene, seed, firm):
    """-k x - c v along each axis of the handle, with v by finite differences, and as much on the hand as on it."""
    for grip, (side, crate, handle) in enumerate(grips_of(scene.character, scene.props)):
        data = tossed(scene, seed)
        data.ctrl[parts(scene, grip)] = firm
        mujoco.mj_forward(scene.model, data)
        force, pushed = data.actuator_force[parts(scene, grip)].copy(), data.qfrc_actuator.copy()
        palm = scene.model.site(scene.character.palms[side]).id
        site = scene.model.site(handle_name(crate, handle)).id
        frame = data.site_xmat[site].reshape(3, 3).copy()
        x = apart(scene, data, palm, site, frame)
        before, after = tossed(scene, seed), tossed(scene, seed)
        mujoco.mj_integratePos(scene.model, before.qpos, data.qvel, -1e-6)
        mujoco.mj_integratePos(scene.model, after.qpos, data.qvel, 1e-6)
        v = (apart(scene, after, palm, site, frame) - apart(scene, before, palm, site, frame)) / 2e-6
        assert force[:3] == pytest.approx(firm * (-STIFFNESS * x - DAMPING * v), rel=1e-6, abs=1e-3)
        dof = int(scene.model.joint(crate).dofadr[0])
        assert pushed[dof : dof + 3] == pytest.approx(-frame @ force[:3], rel=1e-9)
        assert pushed[:3] == pytest.approx(frame @ force[:3], rel=1e-9)  # of the whole body


def test_a_turn_about_the_handles_is_damped(scene):
    grip = number_of(scene, 0, "cup")
    data = scene.show(scene.state(height=3.0))
    dof = int(scene.model.joint("cup").dofadr[0])
    data.qvel[dof + 4] = 2.0  # rad/s about its y axis
    data.ctrl[parts(scene, grip)][3] = 1.0
    mujoco.mj_forward(scene.model, data)
    assert data.actuator_force[parts(scene, grip)][3] == pytest.approx(TURN_DAMPING * 2.0)
    assert data.qfrc_actuator[dof + 4] == pytest.approx(-TURN_DAMPING * 2.0)


@pytest.mark.parametrize("off", [0.0, 0.01, -0.01])
def test_fifteen_kilograms_hang_as_low_as_the_spring_says(scene, off):
    """At rest m g / k below the palm no force is left but those of contacts; a bit off, k of that."""
    data = scene.show(scene.state(height=3.0))
    start, dof = int(scene.model.joint("cup").qposadr[0]), int(scene.model.joint("cup").dofadr[0])
    palm = data.site_xpos[scene.model.site(scene.character.palms[1]).id]
    data.qpos[start : start + 3] = palm - (0.0, 0.0, 15.0 * G / STIFFNESS + off)
    data.ctrl[parts(scene, number_of(scene, 1, "cup"))] = 1.0
    mujoco.mj_forward(scene.model, data)
    assert data.qfrc_smooth[dof : dof + 6] == pytest.approx([0, 0, STIFFNESS * off, 0, 0, 0], abs=1e-9)


def test_forearms_do_not_collide_with_crates(scene):
    data = scene.show(scene.state(height=3.0))
    model = scene.model
    start = int(model.joint("crate").qposadr[0])
    data.qpos[start : start + 3] = data.body(scene.character.hands[0]).xipos  # 40 cm wide: hip and trunk are in it too
    mujoco.mj_forward(model, data)
    touching = {
        model.body(body).name
        for pair in model.geom_bodyid[data.contact.geom]
        if model.body("crate").id in pair
        for body in pair
    } - {"crate"}
    assert touching  # the rest of the body does
    assert not touching & set(scene.character.hands)
