"""Scenes: states, names, recipes and what they refuse."""

import json
import re
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from tumble.characters import humanoid
from tumble.errors import UserError
from tumble.world.placing import LYING
from tumble.world.props import PARKED, Ball, Box, Crate
from tumble.world.scene import Ground, Scene


@pytest.mark.parametrize("lying", LYING)
@pytest.mark.parametrize("pose", ["rest", "t-pose"])
def test_a_state_touches_the_ground_at_its_lowest_point(scene, pose, lying):
    for height in (0.0, 0.4):
        data = scene.show(scene.state(pose, lying, height))
        lowest = min(
            mujoco.mj_geomDistance(scene.model, data, scene.model.geom("ground").id, geom, 10.0, None)
            for geom in range(scene.model.ngeom)
            if scene.model.geom_bodyid[geom] > 0
        )
        assert lowest == pytest.approx(height, abs=1e-6)
        assert not data.qvel.any()
        assert data.qpos[scene.drive.qpos] == pytest.approx(scene.character.pose(pose))


@pytest.mark.parametrize(("lying", "z"), [("supine", 1), ("prone", -1)])
def test_ways_to_lie(scene, lying, z):
    data = scene.show(scene.state("t-pose", lying))
    forward = data.body("head").xmat.reshape(3, 3)[:, 0]
    assert forward == pytest.approx([0, 0, z], abs=1e-9)


def test_show_and_read_are_inverse(scene):
    rng = np.random.default_rng(0)
    state = scene.state("t-pose", "prone")
    data = scene.show(state)
    data.qvel[:] = rng.standard_normal(scene.model.nv)
    state = scene.read(data)
    assert np.array_equal(scene.read(scene.show(state)), state)


def test_state_is_a_copy(scene):
    one = scene.state()
    one[:] = 0
    assert scene.state().any()


def test_channels_are_the_sensors_of_those_names(scene):
    data = scene.show(scene.state("t-pose", "supine"))
    for name, part in scene.channels.items():
        if name not in ("ends", "grounded"):
            assert np.array_equal(data.sensordata[part], data.sensor(name).data)
    ends = scene.character.ends
    wanted = [data.body(end).xipos for end in ends] + [np.zeros(3)] * len(ends)
    assert data.sensordata[scene.channels["ends"]] == pytest.approx(np.concatenate(wanted), abs=1e-12)
    touching = dict(zip(scene.bones, data.sensordata[scene.channels["grounded"]], strict=True))
    assert set(touching) == set(scene.bones)


def test_a_recipe_builds_the_same_physics():
    scene = Scene(
        humanoid(legs=1.1, name="x"),
        [Ball(), Box("step", (1.0, 0.5, 0.1), (0.2, 0.3, 0.1), 0.4), Ball("b", 0.2, 1.0)],
        Ground(friction=0.8, isotropic=True),
        ["torque", "servo"],
    )
    scene.claim("walker", np.dtype([("phase", "f8"), ("stance", "i8"), ("place", "f8", 3)]))
    again = Scene.from_recipe(json.loads(json.dumps(scene.recipe)))
    assert again.fingerprint == scene.fingerprint
    assert again.recipe == scene.recipe
    assert again.props == scene.props
    assert again.ground == scene.ground == Ground(0.8, True)
    assert list(again.drives) == ["torque", "servo"]
    assert again.memory.claims == {"walker": 5}
    assert again.dt == 1 / 30
    assert again.model.opt.timestep == 1 / 510


def test_fingerprint_tells_physics_apart(scene):
    scenes = [
        scene,
        Scene(humanoid(), ground=Ground(friction=0.5)),
        Scene(humanoid(), ground=Ground(isotropic=True)),
        Scene(replace(humanoid(), motor_gain=0.5)),
        *(Scene(humanoid(), drives=drives) for drives in (["servo"], ["torque"], ["force"], ["torque", "servo"])),
    ]
    assert len({one.fingerprint for one in scenes}) == len(scenes)
    assert Scene(humanoid(), [], Ground(), ("servo", "torque")).fingerprint == scene.fingerprint


HUMANOID = {"kind": "humanoid"}
TALL, TALLER = HUMANOID | {"height": "x"}, HUMANOID | {"height": 99}
BAD = [
    (lambda s: s.body("torzo"), "no body 'torzo' in the scene of 'humanoid'; there are: head, left_foot,"),
    (lambda s: s.body("torzo"), "(did you mean 'torso'?)"),
    (lambda s: s.state("sitting"), "no pose 'sitting'; there are: ready, rest, t-pose, taiko"),
    (lambda s: s.state("rest", "sideways"), "no way to lie 'sideways'; there are: prone, supine, upright"),
    (lambda s: s.show(np.zeros(3)), "a state of this scene has"),
    (lambda s: Scene(humanoid(), drives=["torqe"]), "no drive 'torqe'; there are: force, pd, servo, torque (did you"),
    (lambda s: Scene(humanoid(), drives=[]), "a scene has one drive or more, each once, and of those that share"),
    (lambda s: Scene(humanoid(), drives=["servo", "servo"]), "a scene has one drive or more, each once"),
    (lambda s: Scene(humanoid(), drives=["torque", "force"]), "(as torque and force) one; got: torque, force"),
    (lambda s: s.place(s.state(), pose="sitting"), "no pose 'sitting'; there are: ready, rest, t-pose, taiko"),
    (lambda s: s.place(s.state(), lying="sideways"), "no way to lie 'sideways'; there are: prone, supine, upright"),
    (lambda s: Scene(humanoid(), [Ball(radius=0)]), "radius of a ball must be a number 0.01 or more"),
    (lambda s: Scene(humanoid(), [Ball(mass=float("nan"))]), "mass of a ball must be a number 0.001 or more"),
    (lambda s: Scene.from_recipe({}), "not a scene of this version of tumble"),
    (lambda s: Scene.from_recipe({**s.recipe, "props": 3}), "not a scene of this version of tumble"),
    (lambda s: Scene.from_recipe({**s.recipe, "ground": {"gravity": 1}}), "not a scene of this version of tumble"),
    (lambda s: Scene.from_recipe({**s.recipe, "ground": {"friction": 0}}), "friction must be a number above 0, got 0"),
    (
        lambda s: Scene.from_recipe({**s.recipe, "drives": ["muscle"]}),
        "no drive 'muscle'; there are: force, pd, servo, torque",
    ),
    (lambda s: Scene.from_recipe({**s.recipe, "drives": []}), "a scene has one drive or more"),
    (lambda s: Scene.from_recipe({**s.recipe, "drives": 3}), "not a scene of this version of tumble"),
    (lambda s: Scene.from_recipe({**s.recipe, "memory": {"a": "x"}}), "not a scene of this version of tumble"),
    (lambda s: Scene.from_recipe({**s.recipe, "memory": {"a": -1}}), "numbers of memory 'a' must be a number 1 or"),
    (
        lambda s: Scene.from_recipe({**s.recipe, "memory": {"a": 999}}),
        "no room for 999 numbers of 'a': the scene has 1",
    ),
    (
        lambda s: Scene.from_recipe({**s.recipe, "character": HUMANOID | {"height": "x"}}),
        "not a scene of this version of tumble",
    ),
    (
        lambda s: Scene.from_recipe({**s.recipe, "character": HUMANOID | {"height": 99}}),
        "height must be a number 0.5 or more",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_calls(scene, call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call(scene)


@pytest.mark.parametrize("names", [("ball", "ball"), ("torso",), ("left_knee",), ("ground",), ("world",), ("",)])
@pytest.mark.parametrize("kind", ["ball", "box"])
def test_a_prop_needs_a_name_of_its_own(kind, names):
    message = f"the scene has a part '{names[0]}' already; give every prop a name of its own"
    props = [Ball(name) if kind == "ball" else Box(name, (3, 0, 1), (0.1, 0.1, 1)) for name in names]
    with pytest.raises(UserError, match=message):
        Scene(humanoid(), props)
    more = {"middle": [3, 0, 1], "half": [0.1, 0.1, 1]} if kind == "box" else {}
    with pytest.raises(UserError, match=message):
        Scene.from_recipe(
            {**Scene(humanoid()).recipe, "props": [{"kind": kind, "name": name, **more} for name in names]}
        )


@pytest.mark.parametrize("friction", [float("nan"), -1.0, 0.0])
def test_friction_is_checked(friction):
    with pytest.raises(UserError, match="friction must be a number above 0"):
        Ground(friction)


def test_a_motor_gain_is_checked_where_there_are_servos():
    slack = replace(humanoid(), motor_gain=0.0)
    with pytest.raises(UserError, match="motor gain must be a number above 0, got 0"):
        Scene(slack)
    Scene(slack, drives=["torque"])


def test_friction_is_the_grounds_and_a_crates_is_its_own():
    scene = Scene(humanoid(), [Ball(), Crate("crate", friction=0.3)], Ground(0.6))
    for geom in range(scene.model.ngeom):
        wanted = 0.3 if scene.model.geom(geom).name == "crate" else 0.6
        assert scene.model.geom_friction[geom] == pytest.approx([wanted, 0.005, 0.0001])


def test_height_is_checked(scene):
    with pytest.raises(UserError, match="height"):
        scene.state(height=float("nan"))


def test_a_state_is_carried_to_another_scene_by_joint_name(scene):
    taller = Scene(humanoid(legs=1.2), [Ball("new")])
    data = scene.show(scene.state("t-pose", lying="prone"))
    data.qvel[:] = np.linspace(-1, 1, scene.model.nv)
    carried = taller.show(taller.carried(scene.read(data), scene))
    for i in range(scene.model.njnt):
        name = scene.model.joint(i).name
        if name != "root":
            assert np.array_equal(carried.joint(name).qpos, data.joint(name).qpos), name
        assert np.array_equal(carried.joint(name).qvel, data.joint(name).qvel), name
    assert carried.joint("new").qpos[:2] == pytest.approx(PARKED)
    back = scene.carried(taller.read(carried), taller)
    assert scene.show(back).qpos == pytest.approx(data.qpos)
    assert np.array_equal(scene.show(back).qvel, data.qvel)


def test_another_body_is_put_onto_its_feet(scene):
    taller = Scene(humanoid(legs=1.2))
    standing = taller.show(taller.carried(scene.state("rest"), scene))
    assert standing.qpos == pytest.approx(taller.show(taller.state("rest")).qpos, abs=1e-9)
    same = Scene(humanoid(), [Ball("new")])
    assert np.array_equal(same.show(same.carried(scene.state("rest"), scene)).qpos[:37], scene.show(scene.state()).qpos)
