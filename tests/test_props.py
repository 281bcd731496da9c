"""Props: what they feel, what they block, where they are put, and recipes from strangers."""

import json
import re
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from tumble.characters import biped, humanoid
from tumble.errors import UserError
from tumble.walking.terrain import terrain_of
from tumble.world.props import (
    PARKED,
    PROPS,
    Ball,
    Box,
    Companion,
    Crate,
    Ramp,
    Staircase,
    Stone,
    boxes_of,
    prop_recipe,
    remake_prop,
)
from tumble.world.scene import Scene
from tumble.world.sims import Sims


def sims_of(scene: Scene, state: np.ndarray) -> Sims:
    """One simulation in a state."""
    sims = Sims(scene, 1, 1)
    sims.load(state)
    return sims


def limp(sims: Sims, frames: int) -> None:
    """Let time pass without control."""
    for _ in range(frames):
        sims.act(np.zeros((1, sims.scene.drive.size)))


def hovering(scene: Scene) -> np.ndarray:
    """The character far up, out of the way of what happens on the ground."""
    return scene.state(height=50.0)


def solid(scene: Scene, bone: str) -> int:
    """The geom of a bone that has one."""
    (geom,) = [g for g in range(scene.model.ngeom) if scene.model.geom_bodyid[g] == scene.body(bone)]
    return geom


# Boxes ----------------------------------------------------------------------------------------------


def test_a_box_never_moves(scene):
    boxed = Scene(humanoid(), [Box("block", (0.0, 0.0, 0.4), (0.3, 0.3, 0.1))])
    assert (boxed.model.nq, boxed.model.nv) == (scene.model.nq, scene.model.nv)
    sims = sims_of(boxed, boxed.state("t-pose", "prone", height=0.6))  # dropped upon it
    limp(sims, 30)
    data = boxed.show(sims.state[0])
    assert data.body("block").xpos == pytest.approx([0, 0, 0.4])
    assert data.body("torso").xpos[2] > 0.4
    assert not sims.broken.any()


@pytest.mark.parametrize("turn", [0.0, 0.5, -2.0])
def test_a_box_is_turned_about_the_vertical(turn):
    """A ball outside the middle of a face is as far from the box as it is from that face."""
    box = Box("block", (1.0, -2.0, 0.8), (0.3, 0.5, 0.7), turn)
    scene = Scene(humanoid(), [box, Ball(radius=0.15)])
    c, s = np.cos(turn), np.sin(turn)
    faces = {0.3: (c, s, 0), 0.5: (-s, c, 0), 0.7: (0, 0, 1)}
    for half, normal in faces.items():
        place = np.array(box.middle) + (half + 0.15 + 0.07) * np.array(normal)
        data = scene.show(scene.placed(hovering(scene), "ball", place))
        gap = mujoco.mj_geomDistance(
            scene.model, data, scene.model.geom("block").id, scene.model.geom("ball").id, 1.0, None
        )
        assert gap == pytest.approx(0.07, abs=1e-6)


@pytest.mark.parametrize("speed", [3.0, 10.0, 20.0])  # up to 67 cm in a step, through 20 cm of wall
@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_a_wall_stops_a_ball(speed, turn):
    normal = np.array([np.cos(turn), np.sin(turn), 0])
    wall = Box("wall", (2.0, 0.0, 1.5), (0.1, 3.0, 1.5), turn)
    for props, stopped in (([Ball(), wall], True), ([Ball()], False)):
        scene = Scene(humanoid(), props)
        start = np.array(wall.middle) - 1.0 * normal
        sims = sims_of(scene, scene.placed(hovering(scene), "ball", start, speed * normal))
        limp(sims, 15)
        beyond = (sims.view("ball.pos")[0] - wall.middle) @ normal
        assert (beyond < -0.1 - 0.15 + 0.02) == stopped


def test_a_hand_on_a_wall_is_not_a_hand_on_the_ground():
    plain = Scene(humanoid())
    data = plain.show(plain.state("t-pose"))
    fingertips = (
        data.geom_xpos[solid(plain, "left_hand"), 1] + plain.model.geom_size[solid(plain, "left_hand")][:2].sum()
    )
    scene = Scene(humanoid(), [Box("wall", (0.0, fingertips + 0.1 - 0.003, 1.5), (3.0, 0.1, 1.5))])
    sims = sims_of(scene, scene.state("t-pose"))
    touching = {frozenset(scene.model.geom_bodyid[pair]) for pair in scene.show(sims.state[0]).contact.geom}
    assert {scene.body("left_hand"), scene.body("wall")} in touching
    grounded = dict(zip(scene.bones, sims.view("grounded")[0], strict=True))
    assert [bone for bone, count in grounded.items() if count > 0] == ["left_foot", "right_foot"]


def test_feet_on_a_box_are_not_on_the_ground():
    scene = Scene(humanoid(), [Box("floor", (0.0, 0.0, 0.25), (1.0, 1.0, 0.25))])
    sims = sims_of(scene, scene.state(height=0.499))
    assert scene.show(sims.state[0]).ncon > 0
    assert not (sims.view("grounded")[0] > 0).any()


def test_boxes_of_the_ground_are_stood_on():
    for ground in (False, True):
        scene = Scene(humanoid(), [Box("floor", (0.0, 0.0, 0.25), (1.0, 1.0, 0.25), ground=ground)])
        sims = sims_of(scene, scene.state(height=0.499))
        assert (sims.view("left_foot.ground") > 0) == ground
        assert remake_prop(json.loads(json.dumps(prop_recipe(scene.props[0])))) == scene.props[0]


def test_a_scene_of_boxes_has_the_bones_of_the_character(scene):
    boxed = Scene(humanoid(), [Box("block", (3.0, 0.0, 0.4), (0.3, 0.3, 0.1)), Ball()])
    assert boxed.bones == scene.bones
    assert boxed.show(boxed.state()).qpos[: scene.model.nq] == pytest.approx(scene.show(scene.state()).qpos)


# Balls ----------------------------------------------------------------------------------------------


def test_a_ball_waits_out_of_the_way(ball_scene):
    data = ball_scene.show(ball_scene.state())
    assert data.sensor("ball.pos").data == pytest.approx([*PARKED, 0.15])
    assert not data.sensor("ball.vel").data.any()
    assert data.sensor("ball.ground").data[0] > 0  # on the ground there
    assert not data.sensor("ball.contact").data.any()


def test_a_ball_feels_its_place_and_velocity(ball_scene):
    state = ball_scene.placed(ball_scene.state(), "ball", (2.0, -1.0, 3.0), (0.5, -4.0, 1.5), (7.0, 8.0, 9.0))
    sims = sims_of(ball_scene, state)
    assert sims.view("ball.pos")[0] == pytest.approx([2, -1, 3], abs=1e-12)
    assert sims.view("ball.vel")[0] == pytest.approx([0.5, -4, 1.5], abs=1e-12)
    dt = ball_scene.dt
    limp(sims, 6)  # free flight: semi-implicit Euler
    assert sims.view("ball.vel")[0] == pytest.approx([0.5, -4, 1.5 - 9.81 * 6 * dt], abs=1e-9)
    fallen = 9.81 * dt**2 * 6 * 7 / 2
    assert sims.view("ball.pos")[0] == pytest.approx([2 + 0.5 * 6 * dt, -1 - 24 * dt, 3 + 9 * dt - fallen], abs=1e-9)


@pytest.mark.parametrize(
    ("radius", "gap", "fall", "speculative", "touch"),
    [
        (0.15, -0.001, 0.0, True, True),
        (0.15, 0.01, 0.0, True, False),
        (0.15, 0.1, 5.0, True, True),  # within the next step, in which it goes farther than its radius
        (0.20, 0.1, 5.0, True, False),  # in which it does not
        (0.15, 0.25, 5.0, True, False),
        (0.15, 0.1, 5.0, False, False),
        (0.15, -0.001, 0.0, False, True),
    ],
)
def test_a_ball_feels_the_ground(radius, gap, fall, speculative, touch):
    scene = Scene(humanoid(), [Ball(radius=radius)], drives=["servo" if speculative else "torque"])
    assert scene.drive.speculative == speculative
    data = scene.show(scene.placed(scene.state(), "ball", (3, 0, radius + gap), (0, 0, -fall)))
    assert (data.sensor("ball.ground").data[0] > 0) == touch
    assert not data.sensor("ball.contact").data.any()


def test_boxes_and_other_balls_are_neither_ground_nor_character():
    scene = Scene(humanoid(), [Ball("a", 0.2), Ball("b", 0.2), Box("table", (3, 0, 0.25), (1, 1, 0.25))])
    state = scene.placed(scene.state(), "a", (3, 0, 0.5 + 0.199))
    data = scene.show(scene.placed(state, "b", (3, 0, 0.5 + 0.199 + 0.399)))
    assert data.ncon >= 2
    for ball in ("a", "b"):
        assert data.sensor(f"{ball}.ground").data[0] == 0
        assert not data.sensor(f"{ball}.contact").data.any()


@pytest.mark.parametrize("angle", [0.0, 0.8, 2.5])
def test_a_ball_feels_where_it_touches_the_character(ball_scene, angle):
    """Beside a capsule: in the middle of the overlap, on the line from its axis to the ball's centre."""
    state = ball_scene.state("t-pose")
    data, geom, depth = ball_scene.show(state), solid(ball_scene, "torso"), 0.004
    normal = np.array([np.cos(angle), np.sin(angle), 0])
    radius = ball_scene.model.geom_size[geom, 0]
    place = data.geom_xpos[geom] + (radius + 0.15 - depth) * normal
    found, *where = ball_scene.show(ball_scene.placed(state, "ball", place)).sensor("ball.contact").data
    assert found > 0
    assert where == pytest.approx(data.geom_xpos[geom] + (radius - depth / 2) * normal, abs=1e-6)


def test_of_several_touches_the_deepest_counts(ball_scene):
    rng = np.random.default_rng(0)
    data = ball_scene.show(ball_scene.state())
    torso, ball, several = data.body("torso").xipos.copy(), ball_scene.body("ball"), 0
    for _ in range(60):
        state = ball_scene.placed(ball_scene.state(), "ball", torso + rng.uniform(-0.35, 0.35, 3))
        data = ball_scene.show(state)
        touches = [one for one in data.contact if ball in ball_scene.model.geom_bodyid[one.geom]]
        found, *where = data.sensor("ball.contact").data
        assert (found > 0) == bool(touches)
        if touches:
            assert where == pytest.approx(min(touches, key=lambda one: one.dist).pos, abs=1e-9)
        several += len(touches) > 1
    assert several > 10


# Placing --------------------------------------------------------------------------------------------


def test_placed_moves_the_ball_and_nothing_else():
    scene = Scene(humanoid(), [Ball("a"), Ball("b")])
    data = scene.show(scene.state("t-pose", "prone"))
    data.qvel[:36] = np.random.default_rng(0).standard_normal(36)
    state = scene.read(data)
    before = state.copy()
    placed = scene.placed(state, "b", (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), (7.0, 8.0, 9.0))
    assert np.array_equal(state, before)
    after = scene.show(placed)
    assert after.joint("b").qpos == pytest.approx([1, 2, 3, 1, 0, 0, 0])
    assert after.joint("b").qvel == pytest.approx([4, 5, 6, 7, 8, 9])
    changed = np.flatnonzero(placed != state)
    assert len(changed) == 3 + 6  # it was parked unturned
    assert np.array_equal(scene.placed(placed, "b", (*PARKED, 0.15)), state)


@pytest.mark.parametrize("spin", [(7.0, 0, 0), (0, -3.0, 2.0)])
def test_spin_is_in_the_worlds_axes(ball_scene, spin):
    """Also where the ball was turned before: velocity of a point is v + spin x way."""
    turned = ball_scene.show(ball_scene.state())
    turned.joint("ball").qpos[3:] = (0.5, 0.5, 0.5, 0.5)
    state = ball_scene.placed(ball_scene.read(turned), "ball", (3.0, 0.0, 2.0), (1.0, 0.0, 0.0), spin)
    data, jacobian = ball_scene.show(state), np.zeros((3, ball_scene.model.nv))
    way = np.array([0.05, -0.1, 0.02])
    mujoco.mj_jac(ball_scene.model, data, jacobian, None, data.body("ball").xpos + way, data.body("ball").id)
    assert jacobian @ data.qvel == pytest.approx(np.array([1.0, 0, 0]) + np.cross(spin, way), abs=1e-12)


@pytest.mark.parametrize("angle", [0.0, 2.0])
def test_a_ball_that_rolls_goes_on_rolling_and_one_that_slides_keeps_five_sevenths(angle):
    scene = Scene(humanoid(), [Ball(radius=0.5, mass=250.0)])
    velocity = 2.0 * np.array([np.cos(angle), np.sin(angle), 0])
    rolling = np.cross([0, 0, 1], velocity) / 0.5  # no velocity where it touches the ground
    for spin, share in ((rolling, 1.0), (np.zeros(3), 5 / 7)):
        sims = sims_of(scene, scene.placed(hovering(scene), "ball", (0, 0, 0.5), velocity, spin))
        limp(sims, 30)
        assert sims.view("ball.vel")[0] == pytest.approx(share * velocity, abs=0.02)


# What is refused ------------------------------------------------------------------------------------

NAN = float("nan")
TABLE = Box("table", (3, 0, 0.25), (1, 1, 0.25))
BAD = [
    (lambda s: s.prop("bal", Ball), "no ball 'bal' in the scene of 'humanoid'; there are: ball (did you mean 'ball'?)"),
    (lambda s: s.prop("ball", Box), "no box 'ball' in the scene of 'humanoid'; there are: table"),
    (lambda s: s.prop("table", Ball), "no ball 'table' in the scene of 'humanoid'; there are: ball"),
    (
        lambda s: Scene(humanoid(), [TABLE]).prop("ball", Ball),
        "no ball 'ball' in the scene; it has none; build it with props=[Ball(...)]",
    ),
    (
        lambda s: Scene(humanoid()).prop("wall", Box),
        "no box 'wall' in the scene; it has none; build it with props=[Box(...)]",
    ),
    (lambda s: s.placed(s.state(), "table", (0, 0, 1)), "no ball 'table' in the scene of 'humanoid'"),
    (lambda s: s.placed(s.state(), "ball", (0, NAN, 1)), "position of a ball must be three numbers, got (0, nan, 1)"),
    (lambda s: s.placed(s.state(), "ball", (0, 1)), "position of a ball must be three numbers, got (0, 1)"),
    (
        lambda s: s.placed(s.state(), "ball", (0, 0, 1), (0, 0, float("inf"))),
        "velocity of a ball must be three numbers, got (0, 0, inf)",
    ),
    (
        lambda s: s.placed(s.state(), "ball", (0, 0, 1), spin=(0, 0)),
        "spin of a ball must be three numbers, got (0, 0)",
    ),
    (
        lambda s: Scene(humanoid(), [Box("b", (0, 0, NAN), (1, 1, 1))]),
        "place of box 'b' must be a number -1000 or more and at most 1000, got nan",
    ),
    (lambda s: Scene(humanoid(), [Box("b", (0, 0, 1), (1, 1, 1), NAN)]), "place of box 'b' must be a number"),
    (
        lambda s: Scene(humanoid(), [Box("b", (0, 0, 1), (1, 0, 1))]),
        "half size of box 'b' must be a number 0.001 or more and at most 100, got 0",
    ),
    (lambda s: Scene(humanoid(), [Box("b", (0, 0, 1), (1, 1, -1))]), "half size of box 'b' must be a number"),
    (lambda s: Scene(humanoid(), [Ball(radius=11)]), "radius of a ball must be a number 0.01 or more and at most 10"),
    (lambda s: Scene(humanoid(), [Ball(mass=0)]), "mass of a ball must be a number 0.001 or more"),
]


@pytest.fixture(scope="module")
def table_scene() -> Scene:
    """A ball and a box."""
    return Scene(humanoid(), [Ball(), TABLE])


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_calls(table_scene, call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call(table_scene)


ANA = Companion("ana", biped(legs=1.1).recipe, (1.0, 2.0), 0.5, (1.0, 0.0, 0.5))


@pytest.mark.parametrize(
    "prop",
    [
        Ball("a", 0.2, 3.0),
        Box("b", (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), 0.5),
        Ball("lies", 0.2, 3.0, place=(1.0, 2.0, 0.2), friction=0.3, bounce=0.5),
        Ramp("e", (1.0, 2.0, 0.2), (1.0, 0.5, 0.2), 0.4, friction=0.1),
        Staircase("f", (1.0, 2.0, 0.4), (0.6, 0.5, 0.4), 0.4, steps=3),
        Crate("c", turn=0.5, handles=((0.0, 0.1, 0.2),)),
        ANA,
        Stone("d", (1.0, 0.2, 0.1), 0.3, tilt=(0.1, -0.05), depth=0.2),
    ],
    ids=lambda prop: prop.name,
)
def test_a_recipe_makes_the_same_prop(prop):
    recipe = json.loads(json.dumps(prop_recipe(prop)))
    assert recipe["kind"] in PROPS
    assert remake_prop(recipe) == prop


def test_every_kind_of_prop_is_under_contract():
    assert set(PROPS.values()) == {Ball, Box, Ramp, Staircase, Crate, Companion, Stone}


STRANGE = "not a scene of this version of tumble"
BOX = {"kind": "box", "name": "b", "middle": [3, 0, 1], "half": [1, 1, 1]}
STRANGERS = [
    ([{"kind": "cone"}], "no kind of prop 'cone'; there are: ball, box"),
    ([{"kind": "bal"}], "(did you mean 'ball'?)"),
    ([{"name": "ball"}], STRANGE),
    ([{"kind": ["ball"]}], STRANGE),
    ([{"kind": 3}], STRANGE),
    ([{"kind": "ball", "colour": "red"}], STRANGE),
    ([{"kind": "ball", "radius": "big"}], STRANGE),
    ([{"kind": "ball", "name": 3}], STRANGE),
    ([{"kind": "ball", "mass": None}], STRANGE),
    ([{"kind": "ball", "mass": -1}], "mass of a ball must be a number 0.001 or more"),
    ([{"kind": "box", "name": "b"}], STRANGE),
    ([{**BOX, "middle": 5}], STRANGE),
    ([{**BOX, "middle": [0, 0]}], STRANGE),
    ([{**BOX, "middle": [0, 0, 0, 0]}], STRANGE),
    ([{**BOX, "half": [1, 1]}], STRANGE),
    ([{**BOX, "half": "abc"}], STRANGE),
    ([{**BOX, "half": [1, 1, 1e9]}], "half size of box 'b' must be a number"),
    ([{**BOX, "turn": "left"}], STRANGE),
    ([{"kind": "companion", "name": "c", "recipe": {"kind": "bipet"}}], "no character 'bipet'; there are: beast1"),
    ([{"kind": "companion", "name": "c", "recipe": {"kind": "biped", "height": 9}}], "no proportion 'height' of a b"),
    ([{"kind": "companion", "name": "c"}], STRANGE),
    ([{"kind": "companion", "name": "c", "recipe": 3}], STRANGE),
    (["ball"], STRANGE),
    ([5], STRANGE),
    ("ball", STRANGE),
    (None, STRANGE),
    ({"ball": {}}, STRANGE),
]


@pytest.mark.parametrize(("props", "message"), STRANGERS, ids=[str(props)[:50] for props, _ in STRANGERS])
def test_strange_recipes_are_refused_with_a_sentence(scene, props, message):
    with pytest.raises(UserError, match=re.escape(message)):
        Scene.from_recipe({**scene.recipe, "props": props})


# Surfaces, ramps, stairs ------------------------------------------------------------------------------


def rebound(bounce: float, drive: str) -> float:
    """The share of its speed that a ball has after it fell 1 m, by the height that it comes to again."""
    scene = Scene(biped(), [Ball("b", 0.15, 1.0, place=(2.0, 0.0, 1.15), bounce=bounce)])
    sims, chosen, heights = sims_of(scene, scene.state()), scene.drives[drive], []
    for _ in range(60):
        sims.act(np.zeros((1, chosen.size)), chosen)
        heights.append(float(sims.view("b.pos")[0, 2]) - 0.15)
    low = int(np.argmin(heights[:25]))
    return float(np.sqrt(max(0.0, max(heights[low : low + 35]))))


def test_what_bounces_comes_back_with_its_share_of_speed():
    shares = {drive: [rebound(bounce, drive) for bounce in (0.0, 0.2, 0.5, 0.8)] for drive in ("torque", "servo")}
    assert shares["torque"] == pytest.approx([0.0, 0.2, 0.5, 0.8], abs=0.12)
    assert shares["servo"] == sorted(shares["servo"]) and shares["servo"][-1] > 0.4  # steps of 1/30 s lose some


@pytest.mark.parametrize(("friction", "slides"), [(0.05, True), (1.0, False)])
def test_a_crate_slides_down_a_slippery_ramp(friction, slides):
    """tan of the slope is 0.27: less friction lets it slide. The ramp's counts, and the crate's is no larger."""
    ramp = Ramp("ramp", (3.0, 0.0, 0.4), (1.5, 0.5, 0.4), turn=np.pi / 2, friction=friction)
    crate = Crate("crate", (3.0, 0.6, 0.75), (0.1, 0.1, 0.1), friction=friction, handles=((0.0, 0.0, 0.0),))
    scene = Scene(biped(), [ramp, crate])
    sims = sims_of(scene, scene.state())
    limp(sims, 15)
    before = sims.view("crate.pos")[0].copy()
    limp(sims, 20)
    down = before[1] - sims.view("crate.pos")[0, 1]  # it rises along y, after the turn
    assert (down > 0.3) if slides else (abs(down) < 0.02)


def test_steps_of_stairs_are_boxes_that_rise():
    stairs = Staircase("stairs", (2.0, 1.0, 0.3), (0.6, 0.5, 0.3), turn=np.pi / 2, steps=3)
    boxes = stairs.boxes
    assert [box.name for box in boxes] == ["stairs", "stairs.1", "stairs.2"] and all(box.ground for box in boxes)
    assert [box.middle[2] + box.half[2] for box in boxes] == pytest.approx([0.2, 0.4, 0.6])
    assert [box.middle[2] - box.half[2] for box in boxes] == pytest.approx([0.0, 0.0, 0.0])
    assert [box.middle[1] for box in boxes] == pytest.approx([0.6, 1.0, 1.4])
    scene = Scene(biped(), [stairs, Box("b", (0, 3, 0.5), (0.1, 0.1, 0.5))])
    assert [box.name for box in boxes_of(scene.props)] == ["stairs", "stairs.1", "stairs.2", "b"]
    assert terrain_of(scene).boxes.shape == (3, 9)  # the walker's feet see all of them
    with pytest.raises(UserError, match=re.escape("stairs 'stairs' have 1 to 50 steps, got 0")):
        Scene(biped(), [replace(stairs, steps=0)])
    with pytest.raises(UserError, match=r"bounce of 'b' must be a number 0 or more and at most 0\.95"):
        Scene(biped(), [Ball("b", bounce=1.0)])
