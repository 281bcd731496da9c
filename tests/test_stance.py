"""Stances: bones' velocities against MuJoCo, every term in closed form, and the ways of balance."""

import math
from functools import partial

import mujoco
import numpy as np
import pytest
from bodies import STANCES, able

from tumble.characters import character, humanoid
from tumble.errors import UserError
from tumble.goals import GOALS, Goal, Term, Way, balance, looking, on_ball, reach, reaching
from tumble.goals.judging import goal_of
from tumble.goals.stance import (
    BonesSpeed,
    ComSpeed,
    Displaced,
    FaceUp,
    Low,
    OnlyFeet,
    Posed,
    Tilted,
    bone_velocities,
    headings,
    stance_ways,
)
from tumble.goals.wants import Balance, Meet
from tumble.live.commands import decode
from tumble.planners.smc.quality import MotionQuality
from tumble.world.scene import Scene
from tumble.world.sims import Sims

POSES = ("rest", "ready", "taiko", "t-pose")
FEET = ("left_foot", "right_foot")


def product(one, other) -> np.ndarray:
    """Of quaternions: the turn `other`, then the turn `one`."""
    found = np.empty(4)
    mujoco.mju_mulQuat(found, np.asarray(one, float), np.asarray(other, float))
    return found


def turn(axis, angle: float) -> np.ndarray:
    """The quaternion of a turn about an axis."""
    return np.r_[math.cos(angle / 2), math.sin(angle / 2) * np.asarray(axis, float)]


def placed(scene: Scene, pose: str, yaw: float = 0.0, shift=(0.0, 0.0), tilt=(1.0, 0.0, 0.0, 0.0), **angles: float):
    """One simulation in a pose, tilted about its root, then turned about the vertical and shifted; angles are added."""
    data = scene.show(scene.state(pose))
    data.qpos[:2] = shift
    data.qpos[3:7] = product(turn([0, 0, 1], yaw), tilt)
    for joint, angle in angles.items():
        data.joint(joint).qpos[0] += angle
    sims = Sims(scene, 1, 1)
    sims.load(scene.read(data))
    return sims


def random_sims(scene: Scene, seed: int, count: int = 6) -> Sims:
    """Anywhere, any way up, in any pose, moving in any way."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(count):
        data = scene.show(scene.state())
        data.qpos[:3] = rng.uniform((-3, -3, 2), (3, 3, 8))
        quat = rng.standard_normal(4)
        data.qpos[3:7] = quat / np.linalg.norm(quat)
        low, high = scene.model.jnt_range[[scene.model.joint(name).id for name in scene.character.joints]].T
        data.qpos[scene.drive.qpos] = rng.uniform(low, high)
        data.qvel[:] = rng.standard_normal(scene.model.nv) * 3
        rows.append(scene.read(data))
    sims = Sims(scene, count, 1)
    sims.load(np.array(rows))
    return sims


def residual(term: Term, sims) -> np.ndarray:
    """Of the only row."""
    (found,) = term.residual(sims)
    return found


def term_of(scene: Scene, pose: str, kind: type, way: str = "balance") -> Term:
    (found,) = [term for one in stance_ways(scene, pose) if one.name == way for term in one.terms if type(term) is kind]
    return found


# Velocities and heading -----------------------------------------------------------------------------


def facing(qpos: np.ndarray) -> tuple[float, float]:
    """Cosine and sine of one root's heading."""
    (c,), (s,) = headings(qpos[None])
    return c, s


@pytest.mark.parametrize("seed", range(5))
def test_bones_velocities_are_mujocos(ball_scene, seed):
    """Of the centre of mass of every bone, along the world's axes."""
    scene, sims = ball_scene, random_sims(ball_scene, seed)
    first, count = scene.body(scene.bones[0]), len(scene.bones)
    of_term, of_care = BonesSpeed(first, count).residual(sims), MotionQuality(scene).velocities(sims)
    bones = slice(first, first + count)
    plain = bone_velocities(sims.view("cvel")[:, bones], sims.view("xipos")[:, bones], sims.view("com"))
    assert count == 15
    for i in range(sims.nsim):
        data, wanted, both = scene.show(sims.state[i]), [], np.empty(6)
        for bone in scene.bones:
            mujoco.mj_objectVelocity(scene.model, data, mujoco.mjtObj.mjOBJ_BODY, scene.body(bone), both, 0)
            wanted.append(both[3:].copy())
        assert of_term[i] == pytest.approx(np.ravel(wanted), abs=1e-11)
        assert np.array_equal(of_care[i], of_term[i])
        assert np.array_equal(plain[i], of_term[i])
        for part in scene.character.ends:
            place = 3 * scene.bones.index(part)
            assert of_term[i, place : place + 3] == pytest.approx(sims.view(f"{part}.vel")[i], abs=1e-11)


def test_com_speed_is_horizontal_and_the_bones_together(scene):
    sims = random_sims(scene, 9)
    speed = ComSpeed().residual(sims)
    first = scene.body(scene.bones[0])
    mass = scene.model.body_mass[first : first + 15]
    bones = BonesSpeed(first, 15).residual(sims).reshape(-1, 15, 3)
    assert speed.shape == (6, 2)
    assert speed == pytest.approx(np.einsum("nbk,b->nk", bones, mass / mass.sum())[:, :2], abs=1e-11)


@pytest.mark.parametrize("yaw", [0.0, 0.7, -2.0, 3.1])
@pytest.mark.parametrize("pitch", [0.0, 0.8, -1.2])
def test_heading_is_the_horizontal_way_that_the_root_looks(scene, yaw, pitch):
    qpos = np.zeros(scene.model.nq)
    qpos[3:7] = product(product(turn([0, 0, 1], yaw), turn([0, 1, 0], pitch)), turn([1, 0, 0], 0.3))
    assert facing(qpos) == pytest.approx((math.cos(yaw), math.sin(yaw)))


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2])
def test_who_looks_straight_up_or_down_has_no_heading(scene, pitch):
    qpos = np.zeros(scene.model.nq)
    qpos[3:7] = product(turn([0, 0, 1], 1.0), turn([0, 1, 0], pitch))
    assert np.hypot(*facing(qpos)) < 1e-9
    qpos[3:7] = product(turn([0, 0, 1], 1.0), turn([0, 1, 0], pitch * (1 - 1e-2)))  # 0.9 degrees off
    assert facing(qpos) == pytest.approx((math.cos(1.0), math.sin(1.0)))


# Terms ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize(("yaw", "shift"), [(0.0, (0, 0)), (2.0, (3.0, -7.0)), (-0.6, (-0.2, 0.1))], ids=str)
def test_in_the_pose_itself_all_is_well_wherever_it_is(scene, pose, yaw, shift):
    sims = placed(scene, pose, yaw, shift)
    balanced, up = stance_ways(scene, pose)
    for term in balanced.terms:
        assert residual(term, sims) == pytest.approx(0, abs=1e-9), term.name
    low = {type(term): residual(term, sims) for term in up.terms}.pop(Low)
    assert low == pytest.approx(-0.1)  # who gets up is to be a little higher: eq. 10
    costs = balance(scene, pose=pose).way_costs(sims)[0]
    assert costs == pytest.approx([0, (0.1 / 0.05) ** 2], abs=1e-9)


@pytest.mark.parametrize("pose", POSES)
def test_what_it_costs_to_be_somewhere_does_not_depend_on_place_and_heading(scene, pose):
    rng = np.random.default_rng(1)
    angles = dict(zip(scene.character.joints, rng.uniform(-0.3, 0.3, 30), strict=True))
    tilt = product(turn([0, 1, 0], 0.4), turn([1, 0, 0], -0.7))
    here, there = (placed(scene, pose, yaw, shift, tilt, **angles) for yaw, shift in ((0.0, (0, 0)), (2.2, (4, 1))))
    goal = balance(scene, pose=pose, roll=True)
    one, other = goal.way_costs(here), goal.way_costs(there)
    assert one == pytest.approx(other, rel=1e-9)
    assert (one > 1).all()


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize("angle", [0.1, -0.5])
@pytest.mark.parametrize("yaw", [0.0, 1.3])
def test_leaning_forwards_as_a_whole(scene, pose, angle, yaw):
    """The way from the feet to the centre of mass turns with the root: x' = x cos + z sin, z' = z cos - x sin."""
    data = scene.show(scene.state(pose))
    middle = np.mean([data.body(foot).xipos for foot in FEET], axis=0)
    x, _, z = data.body("pelvis").subtree_com - middle
    sims = placed(scene, pose, yaw, (1.0, 2.0), turn([0, 1, 0], angle))
    c, s = math.cos(angle), math.sin(angle)
    displaced = residual(term_of(scene, pose, Displaced), sims)
    assert displaced == pytest.approx([x * c + z * s - x, 0], abs=1e-9)
    low = residual(term_of(scene, pose, Low, "get up"), sims)
    assert low == pytest.approx(min(0.0, z * c - x * s - z - 0.1), abs=1e-9)
    assert residual(term_of(scene, pose, Tilted), sims) == pytest.approx([s, 0, c - 1], abs=1e-9)
    assert residual(term_of(scene, pose, Posed), sims) == pytest.approx(0, abs=1e-9)


def test_leaning_to_the_left_is_aside_of_the_heading(scene):
    for yaw in (0.0, -2.0):
        sims = placed(scene, "rest", yaw, tilt=turn([1, 0, 0], -0.3))
        assert residual(term_of(scene, "rest", Tilted), sims) == pytest.approx([0, math.sin(0.3), math.cos(0.3) - 1])
        assert residual(term_of(scene, "rest", Displaced), sims)[1] > 0.2


@pytest.mark.parametrize("yaw", [0.0, 1.0, -2.5])
def test_displaced_is_seen_from_the_heading(scene, yaw):
    sims = placed(scene, "ready", yaw, (5, 5))
    x, y = term_of(scene, "ready", Displaced).middle
    assert residual(Displaced(*FEET, (x + 0.3, y - 0.4)), sims) == pytest.approx([-0.3, 0.4])
    assert Goal(Displaced(*FEET, (x + 0.3, y - 0.4))).cost(sims) == pytest.approx((0.5 / 0.05) ** 2)


@pytest.mark.parametrize("bend", [0.3, 0.9])
def test_low_in_a_crouch(scene, bend):
    """Thigh and shin both lean by `bend` with the feet flat: all above the knees comes down, feet stay."""
    sims = placed(scene, "t-pose")
    legs = {
        f"{side}_{j}": k * bend for side in ("left", "right") for j, k in (("hip_bend", 1), ("knee", 2), ("ankle", 1))
    }
    crouched = placed(scene, "t-pose", **legs)
    heights = []
    for one in (sims, crouched):
        feet = np.mean([one.view(f"{foot}.pos")[0, 2] for foot in FEET])
        heights.append(one.view("com")[0, 2] - feet)
    height = float(heights[0])
    assert residual(Low(*FEET, height), sims) == pytest.approx(0, abs=1e-9)
    assert residual(Low(*FEET, height), crouched) == pytest.approx(heights[1] - height)
    assert heights[1] < height - 0.02
    assert residual(Low(*FEET, height - 1.0), crouched) == 0.0  # higher than that is no fault


def test_posed_is_the_difference_of_every_angle(scene):
    changes = {"left_knee": 0.3, "spine_twist": -0.2, "right_wrist_bend": 0.1}
    sims = placed(scene, "ready", 1.0, (2, 3), turn([1, 0, 0], 0.5), **changes)
    wanted = [changes.get(joint, 0.0) for joint in scene.character.joints]
    term = term_of(scene, "ready", Posed)
    assert residual(term, sims) == pytest.approx(wanted, abs=1e-12)
    assert Goal(term).cost(sims)[0] == pytest.approx((0.3**2 + 0.2**2 + 0.1**2) / math.radians(15) ** 2)


def test_only_feet_counts_other_bones_on_the_ground(scene):
    term = term_of(scene, "rest", OnlyFeet)
    assert isinstance(term, OnlyFeet)
    assert sorted(scene.bones[i] for i in term.others) == sorted(set(scene.bones) - set(FEET))
    seen, drive = [], scene.drive
    for pose, lying, height in (
        ("rest", "upright", 0),
        ("t-pose", "supine", 0),
        ("rest", "prone", 0),
        ("rest", "prone", 1),
    ):
        sims = Sims(scene, 1, 1)
        sims.load(scene.state(pose, lying, height))
        for _ in range(6):
            sims.act(np.r_[np.zeros(drive.joints), np.ones(drive.size - drive.joints)][None])
        data, touching = scene.show(sims.state[0]), set()
        ground = scene.model.geom("ground").id
        for contact in data.contact:
            if ground in contact.geom:
                touching |= {scene.model.geom_bodyid[geom] for geom in contact.geom if geom != ground}
        others = {scene.model.body(i).name for i in touching} - set(FEET)
        assert residual(term, sims) == pytest.approx(math.sqrt(len(others)))
        assert Goal(term).cost(sims)[0] == pytest.approx(len(others) / term.sigma**2)
        seen.append(len(others))
    assert seen[0] == seen[3] == 0 < min(seen[1:3]) < max(seen[1:3])


@pytest.mark.parametrize(("lying", "wanted"), [("supine", 2), ("prone", 0), ("upright", 1)])
@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_face_up(scene, lying, wanted, yaw):
    sims = Sims(scene, 1, 1)
    state = scene.show(scene.state("t-pose", lying))
    state.qpos[3:7] = product(turn([0, 0, 1], yaw), state.qpos[3:7])
    sims.load(scene.read(state))
    assert residual(FaceUp(), sims) == pytest.approx(wanted, abs=1e-9)
    assert Goal(FaceUp()).cost(sims)[0] == pytest.approx(40 * wanted**2, abs=1e-9)  # eq. 11: e^(-20 |y + 1|^2)


def test_toes_may_touch_the_ground_too():
    toed = character(able("toes")[0])
    scene = Scene(toed)
    found = term_of(scene, "rest", OnlyFeet)
    assert {scene.bones[i] for i in found.others} == set(scene.bones) - {*toed.feet, *toed.toes}


# Ways -----------------------------------------------------------------------------------------------


def test_the_ways_of_balance(scene):
    plain, roll = balance(scene, pose="ready"), balance(scene, pose="ready", roll=True)
    assert [way.name for way in plain.ways] == ["balance", "get up"]
    assert [way.name for way in roll.ways] == ["balance", "get up", "roll"]
    assert [way.priority for way in roll.ways] == pytest.approx([0, math.log(1e-4), math.log(1e-40)])
    assert plain.ways == roll.ways[:2]
    names = [[term.name for term in way.terms] for way in roll.ways]
    assert sorted(names[0]) == ["bones_speed", "com_speed", "displaced", "only_feet", "posed", "tilted"]
    assert sorted(names[1]) == ["bones_speed", "com_speed", "displaced", "low", "only_feet", "tilted"]
    assert names[2] == ["face_up"]
    assert plain.names == balance(scene).names  # planners that judge step by step know nothing of it
    assert (plain.pose, balance(scene).pose) == ("ready", None)


def test_tolerances_are_the_papers(scene):
    sigmas = [{term.name: term.sigma for term in way.terms} for way in balance(scene, roll=True).ways]
    assert (sigmas[0]["com_speed"], sigmas[0]["bones_speed"]) == (0.05, 0.75)
    assert (sigmas[1]["com_speed"], sigmas[1]["bones_speed"]) == pytest.approx((1.0, 15.0))
    for one in sigmas[:2]:
        assert (one["displaced"], one["tilted"]) == (0.05, 0.1)
    assert sigmas[0]["posed"] == pytest.approx(math.radians(15))
    assert sigmas[1]["low"] == 0.05


def test_without_a_pose_it_is_rest(scene):
    assert balance(scene).ways == balance(scene, pose="rest").ways != balance(scene, pose="ready").ways


def test_a_goal_has_one_way_unless_it_says_more(scene):
    goal = reaching(scene, (0.5, 0.2, 1.2))
    assert goal.ways == (Way("goal", goal.terms, 0.0),)
    sims = random_sims(scene, 2)
    assert goal.way_costs(sims) == pytest.approx(goal.cost(sims)[:, None])


def test_adding_goals_combines_their_ways(scene):
    one, two = balance(scene, roll=True), reaching(scene, (0.5, 0.2, 1.2))
    both = one + two
    assert [way.name for way in both.ways] == ["balance", "get up", "roll"]
    assert [way.priority for way in both.ways] == [way.priority for way in one.ways]
    for mine, other in zip(both.ways, one.ways, strict=True):
        assert mine.terms == other.terms + two.terms
    sims = random_sims(scene, 3)
    assert both.way_costs(sims) == pytest.approx(one.way_costs(sims) + two.cost(sims)[:, None])
    assert reach(scene, (0.5, 0.2, 1.2)).ways == (balance(scene) + two).ways
    assert balance(scene, facing=(0, 1)).ways == (balance(scene) + looking(scene, (0, 1))).ways


def test_every_way_of_one_goes_with_every_way_of_the_other():
    a, b, c = ComSpeed(1.0), ComSpeed(2.0), ComSpeed(3.0)
    one = Goal(a, ways=[Way("a", (a,), -1.0), Way("b", (b,), -2.0)])
    two = Goal(c, ways=[Way("c", (c,), -10.0), Way("none", (), -20.0)])
    assert [(way.name, way.terms, way.priority) for way in (one + two).ways] == [
        ("a", (a, c), -11.0), ("a", (a,), -21.0), ("b", (b, c), -12.0), ("b", (b,), -22.0)
    ]  # fmt: skip


def test_a_term_that_is_in_a_way_twice_counts_twice(scene):
    goal, sims = Goal(ComSpeed()), random_sims(scene, 4)
    assert (goal + goal).way_costs(sims) == pytest.approx(2 * goal.way_costs(sims))


def test_without_drops_ways(scene, ball_scene):
    goal = balance(scene, roll=True).without("spin")
    assert goal.ways == (Way("goal", goal.terms),)
    assert "spin" not in goal.names
    assert [way.name for way in on_ball(ball_scene).ways] == ["goal"]


def test_weights_apply_to_the_terms_of_ways(scene):
    sims, goal = random_sims(scene, 5), balance(scene, pose="ready", roll=True)
    heavy = goal.weighted({"tilted": 3.0, "posed": 0.0, "face_up": 0.5})
    weights = {"tilted": 3.0, "posed": 0.0, "face_up": 0.5}
    wanted = [sum(weights.get(term.name, 1.0) * Goal(term).cost(sims) for term in way.terms) for way in goal.ways]
    assert heavy.way_costs(sims) == pytest.approx(np.transpose(wanted))
    assert goal.way_costs(sims) == pytest.approx(
        np.transpose([sum(Goal(term).cost(sims) for term in way.terms) for way in goal.ways])
    )


OPTIONS = {"reach": {"target": (0.5, 0.2, 1.2)}, "steer": {"velocity": (1, 0)}, "turbo": {"velocity": (1, 0)}}
OPTIONS |= {"ball-reach": OPTIONS["reach"], "balance": {"pose": "taiko", "roll": True}, "gait": OPTIONS["steer"]}


@pytest.mark.parametrize("name", GOALS)
def test_ways_cost_a_number_or_infinity(ball_scene, name):
    goal, sims = GOALS[name](ball_scene, **OPTIONS.get(name, {})), random_sims(ball_scene, 6)
    assert np.isfinite(goal.way_costs(sims)).all()
    assert (goal.way_costs(sims) >= 0).all()
    sims.view("qvel")[2] = np.nan
    sims.act(np.zeros((6, ball_scene.drive.size)))
    costs = goal.way_costs(sims)
    assert costs.shape == (6, len(goal.ways))
    assert np.isinf(costs[2]).all() and np.isfinite(np.delete(costs, 2, axis=0)).all()


def test_tolerances_of_ways_are_checked():
    with pytest.raises(UserError, match="sigma of term 'com_speed' must be a number above 0, got 0"):
        Goal(ways=[Way("still", (ComSpeed(sigma=0.0),))])


# By name --------------------------------------------------------------------------------------------


def test_no_pose_of_that_name(scene):
    listed = ", ".join(sorted(scene.character.poses))
    with pytest.raises(UserError, match=f"no pose 'nope'; there are: {listed}"):
        balance(scene, pose="nope")
    with pytest.raises(UserError, match=r"no pose 'reddy'.*did you mean 'ready'"):
        goal_of(scene, Balance(pose="reddy"))


def test_a_pose_and_rolling_by_command(scene):
    want = decode('{"type": "balance", "pose": "taiko", "roll": true}')
    assert want == Balance(pose="taiko", roll=True)
    want.check()
    goal = goal_of(scene, want)
    assert goal.pose == "taiko"
    assert goal.ways == stance_ways(scene, "taiko", roll=True)
    assert goal_of(scene, Balance(roll=False)).ways == goal_of(scene, Balance()).ways == balance(scene).ways
    with pytest.raises(UserError, match="goal 'steer' takes no pose; it takes: velocity"):
        goal_of(scene, Meet("steer", {"velocity": (1, 0), "pose": "ready"}))
    for bad in ('"roll": "yes"', '"pose": 3', '"role": true'):
        with pytest.raises(UserError, match="not a command"):
            decode('{"type": "balance", ' + bad + "}")


BODIES = {name: partial(character, name) for name in STANCES}
BODIES |= {"child": lambda: humanoid(height=1.2, mass=30.0), "bear": lambda: humanoid(torso_mass=3.0, legs=1.2)}


@pytest.mark.parametrize("name", BODIES)
def test_every_body_has_stances(name):
    scene = Scene(BODIES[name]())
    for pose in scene.character.poses:
        cost = balance(scene, pose=pose).way_costs(placed(scene, pose, 1.0))[0]
        assert cost == pytest.approx([0, 4], abs=1e-9)
