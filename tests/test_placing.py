"""Placing: lowest points against a brute-force support function; characters put somewhere, with any kind of root."""

import math
import re
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from tumble.characters import CHARACTERS, biped, character, humanoid
from tumble.characters.character import Character
from tumble.errors import UserError
from tumble.live.commands import Reset
from tumble.world.placing import LYING, lowest, place_root, turned_about_z
from tumble.world.props import Ball, Companion
from tumble.world.scene import Scene
from tumble.world.sims import Sims

KINDS = mujoco.mjtGeom
TETRAHEDRON = np.array([[0.1, 0.2, 0.3], [0.5, -0.2, 0.1], [-0.3, 0.1, -0.4], [0.0, 0.6, 0.0]])


def ball_points(rng: np.random.Generator, count: int) -> np.ndarray:
    """Points all over a unit sphere."""
    points = rng.standard_normal((count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def surface(kind: str, size: tuple[float, float, float], rng: np.random.Generator, count: int = 40_000) -> np.ndarray:
    """(n, 3): points of a shape's surface, in its own frame, corners and rims among them."""
    a, b, c = size
    match kind:
        case "sphere":
            return a * ball_points(rng, count)
        case "capsule":
            return a * ball_points(rng, count) + np.array([0, 0, b]) * rng.choice([-1, 1], (count, 1))
        case "ellipsoid":
            return ball_points(rng, count) * size
        case "cylinder":
            turn = rng.uniform(0, 2 * np.pi, count)
            return np.stack([a * np.cos(turn), a * np.sin(turn), rng.choice([-b, b], count)], axis=1)
        case "box":
            corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
            return np.vstack([corners, rng.uniform(-1, 1, (count, 3))]) * (a, b, c)
        case _:
            return TETRAHEDRON


SHAPES = {
    "sphere": (KINDS.mjGEOM_SPHERE, (0.2, 0.0, 0.0)),
    "capsule": (KINDS.mjGEOM_CAPSULE, (0.1, 0.3, 0.0)),
    "cylinder": (KINDS.mjGEOM_CYLINDER, (0.2, 0.3, 0.0)),
    "box": (KINDS.mjGEOM_BOX, (0.1, 0.2, 0.3)),
    "ellipsoid": (KINDS.mjGEOM_ELLIPSOID, (0.1, 0.2, 0.3)),
    "mesh": (KINDS.mjGEOM_MESH, (0.0, 0.0, 0.0)),
}


def lone(kind: str) -> mujoco.MjModel:
    """A free body with one geom, off its middle and turned."""
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="body")
    body.add_freejoint(name="root")
    shape, size = SHAPES[kind]
    geom = body.add_geom(name="geom", type=shape, pos=[0.1, -0.2, 0.3], quat=[0.5, 0.5, -0.5, 0.5], mass=1.0)
    if kind == "mesh":
        faces = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
        spec.add_mesh(name="mesh", uservert=TETRAHEDRON.ravel(), userface=faces)
        geom.meshname = "mesh"
    else:
        geom.size = size
    return spec.compile()


@pytest.mark.parametrize("kind", SHAPES)
def test_lowest_is_the_least_of_all_points(kind):
    model, rng = lone(kind), np.random.default_rng(0)
    data, root = mujoco.MjData(model), model.body("body").id
    points, turn = surface(kind, SHAPES[kind][1], rng), np.empty(9)
    seen = []
    for _ in range(40):
        quat = rng.standard_normal(4)
        data.qpos[:3], data.qpos[3:7] = rng.uniform(-1, 1, 3), quat / np.linalg.norm(quat)
        mujoco.mj_kinematics(model, data)
        mujoco.mju_quat2Mat(turn, np.array([0.5, 0.5, -0.5, 0.5]))
        world = data.body("body").xmat.reshape(3, 3)
        of_body = points @ turn.reshape(3, 3).T + [0.1, -0.2, 0.3]  # the shape as it was described
        brute = (of_body @ world.T)[:, 2].min() + data.qpos[2]
        found = lowest(model, data, root)
        # of samples on a curved surface none is the very lowest: 40 000 on a sphere are 1 degree apart
        assert found <= brute + 1e-6 and found == pytest.approx(brute, abs=1e-6 if kind in ("box", "mesh") else 1e-3)
        seen.append(data.qpos[2] - found)
    assert kind == "sphere" or np.ptp(seen) > 0.01


@pytest.mark.parametrize("kind", [kind for kind in SHAPES if kind != "mesh"])
def test_lowest_is_what_the_engine_says_of_the_ground(kind):
    """Up to where its own search for the nearest points ends."""
    spec = mujoco.MjSpec.from_string(f"""<mujoco><worldbody><geom name="ground" type="plane" size="0 0 1"/>
        <body name="body"><freejoint/><geom name="geom" type="{kind}" size="0.1 0.2 0.3"/></body></worldbody>
        </mujoco>""")
    model = spec.compile()
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    for _ in range(10):
        quat = rng.standard_normal(4)
        data.qpos[:3], data.qpos[3:7] = (0, 0, 1), quat / np.linalg.norm(quat)
        mujoco.mj_forward(model, data)
        gap = mujoco.mj_geomDistance(model, data, model.geom("ground").id, model.geom("geom").id, 10.0, None)
        assert lowest(model, data, model.body("body").id) == pytest.approx(gap, abs=1e-5)


def test_nothing_solid_and_shapes_without_a_lowest_point_are_refused():
    ghost = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="ghost"><freejoint/><geom size="1" conaffinity="0"/></body></worldbody></mujoco>'
    )
    with pytest.raises(UserError, match="body 'ghost' has nothing solid to stand on; give its geoms a conaffinity"):
        lowest(ghost, mujoco.MjData(ghost), 1)
    flat = mujoco.MjModel.from_xml_string(
        '<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset><worldbody><body name="field">'
        '<freejoint/><geom type="hfield" hfield="h"/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    with pytest.raises(UserError, match="a character's solid part cannot be a hfield; make it a sphere, capsule, box"):
        lowest(flat, mujoco.MjData(flat), 1)


# A body with box feet -------------------------------------------------------------------------------


def booted() -> Character:
    """The humanoid with a box for each foot, level in the rest pose."""
    plain = humanoid()
    scene = Scene(plain)
    turns = {foot: scene.show(scene.state()).body(foot).xquat * [1, -1, -1, -1] for foot in plain.feet}

    def build() -> mujoco.MjSpec:
        spec = plain.build()
        for foot, level in turns.items():
            sole, *others = [geom for geom in spec.body(foot).geoms if geom.conaffinity]
            for geom in others:
                spec.delete(geom)
            sole.type, sole.fromto[:] = KINDS.mjGEOM_BOX, np.full(6, np.nan)
            sole.pos, sole.quat, sole.size = [0.05, 0, -0.045], level, [0.135, 0.063, 0.035]
        return spec

    return replace(plain, name="booted", build=build)


def gap_below(scene: Scene, state: np.ndarray, prefix: str = "") -> float:
    """Distance of a character from the ground by the engine's account, m."""
    data = scene.show(state)
    own = [
        geom
        for geom in range(scene.model.ngeom)
        if scene.model.body_rootid[scene.model.geom_bodyid[geom]] == scene.root(prefix)
        and scene.model.geom_conaffinity[geom]
    ]
    ground = scene.model.geom("ground").id
    return min(mujoco.mj_geomDistance(scene.model, data, ground, geom, 100.0, None) for geom in own)


def test_a_body_with_box_feet_stands():
    scene = Scene(booted())
    boxes = scene.model.geom_type == KINDS.mjGEOM_BOX
    assert {scene.model.body(i).name for i in scene.model.geom_bodyid[boxes]} == {"left_foot", "right_foot"}
    for pose in scene.character.poses:
        for lying in LYING:
            assert gap_below(scene, scene.state(pose, lying)) == pytest.approx(0, abs=1e-6)
    drive, sims = scene.drive, Sims(scene, 1, 1)
    sims.load(scene.state())
    before, wanted, control = sims.view("com")[0].copy(), scene.character.pose("rest"), np.ones((1, drive.size))
    for _ in range(30):
        control[0, : drive.joints] = (wanted - sims.view("qpos")[0, drive.qpos]) / scene.dt
        sims.act(np.clip(control, drive.low, drive.high))
    assert sims.view("com")[0] == pytest.approx(before, abs=0.03)
    assert (sims.view("left_foot.ground")[0] > 0) and (sims.view("right_foot.ground")[0] > 0)


# Characters put somewhere ---------------------------------------------------------------------------

ALL = [*CHARACTERS]
PLANAR = "planar"


def facing(scene: Scene, state: np.ndarray, prefix: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Where a root's x and z axes point."""
    turn = scene.show(state).body(prefix + scene.cast[prefix].root).xmat.reshape(3, 3)
    return turn[:, 0], turn[:, 2]


def disturbed(scene: Scene, seed: int = 0) -> np.ndarray:
    """A state with everything elsewhere, bent and moving."""
    rng = np.random.default_rng(seed)
    data = scene.show(scene.state(height=0.7))
    data.qpos[scene.drive.qpos] += rng.uniform(-0.2, 0.2, scene.drive.joints)
    data.qvel[:] = rng.standard_normal(scene.model.nv)
    data.time = 3.0
    return scene.read(data)


@pytest.mark.parametrize("lying", LYING)
@pytest.mark.parametrize("name", ALL)
def test_everybody_stands_and_lies_where_they_are_put(name, lying):
    scene = Scene(character(name))
    before = disturbed(scene)
    kept = before.copy()
    state = scene.place(before, at=(1.5, 0.0), pose="rest", lying=lying, height=0.25)
    assert np.array_equal(before, kept)
    data = scene.show(state)
    ahead, up = facing(scene, state)
    wanted = {"upright": ((1, 0, 0), (0, 0, 1)), "supine": ((0, 0, 1), (-1, 0, 0)), "prone": ((0, 0, -1), (1, 0, 0))}
    assert ahead == pytest.approx(wanted[lying][0], abs=1e-9) and up == pytest.approx(wanted[lying][1], abs=1e-9)
    assert data.body(scene.character.root).xpos[:2] == pytest.approx([1.5, 0.0], abs=1e-9)
    assert gap_below(scene, state) == pytest.approx(0.25, abs=1e-6)
    assert not data.qvel.any() and data.time == 3.0
    assert data.qpos[scene.drive.qpos] == pytest.approx(scene.character.pose("rest"))
    assert np.array_equal(scene.place(state, lying=lying, height=0.25), state)  # twice is once, to the last bit


@pytest.mark.parametrize("lying", LYING)
@pytest.mark.parametrize("name", ["humanoid", "raptor", "quadruped"])
def test_headings_turn_about_the_vertical(name, lying):
    scene = Scene(character(name))
    plain = scene.place(disturbed(scene), (2.0, -1.0), None, "rest", lying)
    for heading in (0.0, 0.8, -2.5, math.pi):
        c, s = math.cos(heading), math.sin(heading)
        about = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        state = scene.place(disturbed(scene), (2.0, -1.0), heading, "rest", lying)
        for axis, unturned in zip(facing(scene, state), facing(scene, plain), strict=True):
            assert axis == pytest.approx(about @ unturned, abs=1e-9)
        assert scene.show(state).body(scene.character.root).xpos == pytest.approx(
            scene.show(plain).body(scene.character.root).xpos, abs=1e-9
        )
        assert gap_below(scene, state) == pytest.approx(0, abs=1e-6)


def test_what_is_not_given_stays(scene):
    before = disturbed(scene)
    old, new = scene.show(before), scene.show(scene.place(before))
    assert np.array_equal(new.qpos[:2], old.qpos[:2]) and np.array_equal(new.qpos[7:], old.qpos[7:])
    assert np.array_equal(new.userdata, old.userdata)


def test_nobody_else_is_moved():
    scene = Scene(biped(), [Companion("ana", humanoid().recipe, (2.0, 1.0), 0.5), Ball()])
    data = scene.show(scene.state())
    data.qvel[:] = np.random.default_rng(0).standard_normal(scene.model.nv)
    before = scene.read(data)
    for prefix, other in (("", "ana/"), ("ana/", "")):
        state = scene.place(before, (-1.0, 0.5), 1.0, lying="prone", prefix=prefix)
        old, new = scene.show(before), scene.show(state)
        own = scene.model.body_rootid[scene.model.dof_bodyid] == scene.root(prefix)
        assert not new.qvel[own].any() and np.array_equal(new.qvel[~own], old.qvel[~own])
        assert np.array_equal(new.joint("ball").qpos, old.joint("ball").qpos)
        for body in (scene.root(other), scene.body("ball")):
            assert np.array_equal(new.xpos[body], old.xpos[body]) and np.array_equal(new.xquat[body], old.xquat[body])
        assert new.xpos[scene.root(prefix)][:2] == pytest.approx([-1.0, 0.5])
        assert facing(scene, state, prefix)[0] == pytest.approx([0, 0, -1], abs=1e-9)
        assert gap_below(scene, state, prefix) == pytest.approx(0, abs=1e-6)


def test_a_companion_stands_at_its_place_facing_its_heading():
    scene = Scene(biped(), [Companion("ana", biped(legs=1.2).recipe, (2.0, 1.0), 0.5)])
    state = scene.state("rest", "supine", height=0.3)
    assert gap_below(scene, state) == pytest.approx(0.3, abs=1e-6)
    assert gap_below(scene, state, "ana/") == pytest.approx(0.0, abs=1e-6)
    assert facing(scene, state, "ana/")[0] == pytest.approx([math.cos(0.5), math.sin(0.5), 0])
    assert scene.show(state).body("ana/pelvis").xpos[:2] == pytest.approx([2.0, 1.0])


# In the plane ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def flat() -> Scene:
    """Seven links in the plane."""
    return Scene(character(PLANAR))


def test_the_planar_root_is_cartesian(flat):
    """Its slides come before its hinge: they are x and z of the trunk whatever the pitch."""
    names = [flat.model.joint(i).name for i in range(3)]
    assert names == ["root_x", "root_z", "root_pitch"]
    data = flat.show(flat.state())
    origin = data.body("torso").xpos - [0, 0, data.qpos[1]]
    for pitch in (0.0, 0.7, -2.0):
        data.qpos[:3] = 1.5, 0.9, pitch
        mujoco.mj_kinematics(flat.model, data)
        assert data.body("torso").xpos == pytest.approx(np.add(origin, [1.5, 0.0, 0.9]), abs=1e-12)
        wanted = [math.cos(pitch), 0, -math.sin(pitch)]
        assert data.body("torso").xmat.reshape(3, 3)[:, 0] == pytest.approx(wanted, abs=1e-12)


def test_its_speeds_are_those_of_the_trunk(flat):
    data = flat.show(flat.state(height=1.0))
    data.qpos[2] = 0.8
    data.qvel[:3] = 1.5, -0.5, 2.0
    mujoco.mj_forward(flat.model, data)
    velocity = np.empty(6)
    frame = mujoco.mjtObj.mjOBJ_XBODY
    mujoco.mj_objectVelocity(flat.model, data, frame, flat.body("torso"), velocity, 0)
    assert velocity == pytest.approx([0, 2.0, 0, 1.5, 0, -0.5], abs=1e-12)


@pytest.mark.parametrize("heading", [1.0, math.pi, -0.1])
def test_who_moves_in_a_plane_faces_one_way(flat, heading):
    message = "this character moves in a plane and cannot face another way; leave its heading at 0"
    with pytest.raises(UserError, match=message):
        flat.place(flat.state(), heading=heading)
    assert np.array_equal(flat.place(flat.state(), heading=0.0), flat.state())


@pytest.mark.parametrize("name", [PLANAR, "planar-walker", "humanoid", "biped"])
def test_reset_puts_the_fallen_back_on_their_feet(name):
    scene = Scene(character(name))
    sims = Sims(scene, 2, 1)
    sims.load(np.stack([scene.place(disturbed(scene), (0.7, 0.0), lying=lying) for lying in ("supine", "prone")]))
    for _ in range(5):
        sims.act(np.zeros((2, scene.drive.size)))
    where = sims.view("qpos")[:, 0].copy()
    Reset().check(scene)
    Reset().apply(sims)
    for i in range(2):
        ahead, up = facing(scene, sims.state[i])
        assert ahead == pytest.approx([1, 0, 0], abs=1e-9) and up == pytest.approx([0, 0, 1], abs=1e-9)
        assert gap_below(scene, sims.state[i]) == pytest.approx(0, abs=1e-6)
    assert np.array_equal(sims.view("qpos")[:, 0], where) and not sims.view("qvel").any()
    assert not sims.broken.any()


# Quaternions ----------------------------------------------------------------------------------------


def test_turns_about_the_vertical_add_up():
    for quat in LYING.values():
        assert turned_about_z(quat, 0.0) == quat
        twice = turned_about_z(turned_about_z(quat, 0.4), 0.7)
        assert twice == pytest.approx(turned_about_z(quat, 1.1))
        assert np.linalg.norm(twice) == pytest.approx(1)


def test_a_root_that_is_left_alone_stays(scene):
    data = scene.show(disturbed(scene))
    before = data.qpos.copy()
    place_root(scene.model, data, scene.root())
    assert np.array_equal(data.qpos, before)
    place_root(scene.model, data, scene.root(), at=(3.0, 4.0))
    assert data.qpos[:2].tolist() == [3, 4] and np.array_equal(data.qpos[2:], before[2:])


def test_bad_places(scene):
    for call, message in (
        (lambda: scene.place(scene.state(), lying="sitting"), "no way to lie 'sitting'; there are: prone, supine, up"),
        (lambda: scene.place(scene.state(), pose="reddy"), "no pose 'reddy'; there are: ready, rest, t-pose, taiko"),
    ):
        with pytest.raises(UserError, match=re.escape(message)):
            call()
