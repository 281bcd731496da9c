"""Scenarios: success on histories made by hand, what a seed decides, short trials with all they suggest."""

import math
import re
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from bodies import STANCES
from conftest import Still
from histories import put, ran, readings, seen, world_of

from tumble.characters import biped, character, humanoid
from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.goals.judging import goal_of
from tumble.goals.wants import WANTS, Balance, Go, Reach, StayOn, Together
from tumble.live.commands import Explode, Push
from tumble.planners import PLANNERS
from tumble.scenarios import SCENARIOS, Trial, run_trial
from tumble.scenarios.balancing import Explosion, Pushed, Stand
from tumble.scenarios.ball import DROP, RADIUS, JuggleBall, OnBall, OnBallReach, OnLightBall, on_top
from tumble.scenarios.history import hand_near
from tumble.scenarios.locomotion import Obstacles, ReachPoint, Steering, Turbo, Wall, along
from tumble.scenarios.manipulation import CratePull, CratePush, ObstacleCourse, PickUpCup
from tumble.world.props import Ball, Box, Crate
from tumble.world.scene import Scene
from tumble.world.sims import Sims

each_scenario = pytest.mark.parametrize("name", SCENARIOS)
SETTLED = {"stand", "getup", "getup-prone", "obstacles", "turbo"}  # nothing is left to chance
SETTLED |= {"learn-walk", "learn-hop", "learn-trot", "stop", "planar-net"}
SETTLED |= {"step-over", "duck", "stairs"}  # where things are is the scene's
SETTLED |= {"pick-up", "crate-push", "crate-pull", "crate-carry", "course"}
SETTLED |= {"walk-projectiles", "hop-projectiles"}  # before the first throw
SETTLED |= {"sequence", "stepping-stones", "gaps-walker"}
COURSE = {"way_seconds", "touches", "peak_torque"}
HAULED = {"peak_torque", "along", "aside"}
GAPS = {"course_seconds", "footfalls", "good_footfalls", "gaps_crossed"}
STONES = {"stones", "mean_error", "largest_error"}
COUNTED, FALLS = {"throws", "hits"}, {"downs", "resets"}
LEARNED = {"stable_seconds", "stable_wall_seconds", "under_a_minute", "speed_along"} | FALLS
TOUCHING = 0.0011  # m that SIMBICON's first foot is in the ground
DEEPEST = {"getup-tree": 0.02}  # m, of what was dropped and still comes to rest
OWN = {
    **{name: {"facing_degrees", "up_seconds"} for name in ("getup-tree", "crouch", "jump", "twist", "sequence")},
    **{f"simbicon-{body}": {"speed"} for body in ("humanoid", "planar", "bird", "raptor")},
    **dict.fromkeys(("gaps", "gaps-3d", "gaps-push", "gaps-walker"), GAPS), "path-3d": GAPS | {"way_points"},
    "stones": STONES, "stones-3d": STONES, "stepping-stones": {"footfalls", "good_footfalls", "mean_share"},
    "steer": {"speed_along"}, "steer-walk": {"speed_error"},
    "dodge": COUNTED | {"balanced"}, "dodge-heavy": COUNTED | {"balanced"},
    "learn-walk": LEARNED, "learn-hop": LEARNED, "learn-trot": LEARNED,
    "pole": {"poles"} | FALLS, "turn": {"speed_along"} | FALLS, "stop": {"speed_left"} | FALLS,
    "walk-projectiles": COUNTED | {"survived"} | FALLS, "hop-projectiles": COUNTED | {"survived"} | FALLS,
    "step-over": COURSE, "duck": COURSE, "stairs": COURSE, "crowd": {"fallen", "stuck", "deepest", "bumps"},
    "pick-up": {"peak_torque", "taken_seconds"}, "crate-carry": {"peak_torque", "off_goal"},
    "crate-push": HAULED, "crate-pull": HAULED, "course": {"peak_torque", "way"},
    "planar-net": {"net_seconds", "speed_along"} | FALLS,
    "lamp-posts": {"way_points", "course_seconds", "hardest_touch"},
    "bird-mania": {"lanes_passed", "hits", "made_good", "course_seconds"},
    "walk-on": {
        "downs", "recovered", "on_feet", "rise_seconds", "slowest_rise", "again_seconds", "slowest_again", "rising",
        "speed_along",
    },
}  # fmt: skip


# Hardly anything ---------------------------------------------------------------------------------------


@each_scenario
def test_hardly_anything_is_no_success_and_its_metrics_are_numbers(name):
    scene, scenario = world_of(name), SCENARIOS[name]()
    rows = readings(scene, frames=2)
    for frames in (0, 1, 2):
        made = seen(scene, rows[:frames])
        assert scenario.success(made) is False
        assert all(np.isfinite(value) for value in (made.metrics() | scenario.metrics(made)).values())


# On a ball ------------------------------------------------------------------------------------------


def aloft(**changes: object) -> np.ndarray:
    """A character in a T-pose on top of the resting ball."""
    scene = world_of("ball")
    options = {"pose": "t-pose", "height": 2 * RADIUS, **changes}
    return scene.placed(scene.state(**options), "ball", (0, 0, RADIUS))


def test_on_top_of_the_ball_for_a_second():
    scene = world_of("ball")
    rows = readings(scene, aloft(), 40)
    assert on_top(seen(scene, rows)).all()
    assert OnBall().success(seen(scene, rows)) is True
    assert OnBall().success(seen(scene, rows[:30])) is True
    assert OnBall().success(seen(scene, rows[:29])) is False
    assert OnBall().success(seen(scene, rows, broken=True)) is False


@pytest.mark.parametrize(
    ("channel", "value"),
    [
        ("left_foot.ground", 1),  # a foot on the ground
        ("right_hand.ground", 1),
        ("right_foot.pos", (0.6, 0, RADIUS - 0.01)),  # hanging beside the ball
        ("com", (0.8 * (RADIUS + 0.01), -0.6 * (RADIUS + 0.01), 1.9)),  # not above it
        ("torso.up", (np.sin(np.radians(45.5)), 0, np.cos(np.radians(45.5)))),
        ("ball.pos", (0, RADIUS + 0.05, RADIUS)),  # rolled away beneath
    ],
)
@pytest.mark.parametrize("frame", [-1, -30])
def test_off_the_ball(channel, value, frame):
    scene = world_of("ball")
    rows = readings(scene, aloft(), 40)
    put(scene, rows, frame, channel, value)
    assert (~on_top(seen(scene, rows))).sum() == 1
    assert OnBall().success(seen(scene, rows)) is False
    rows = readings(scene, aloft(), 40)
    put(scene, rows, -31, channel, value)  # earlier than the last second
    assert OnBall().success(seen(scene, rows)) is True


@pytest.mark.parametrize(
    ("channel", "value"),
    [
        ("com", (0.8 * (RADIUS - 0.01), -0.6 * (RADIUS - 0.01), 1.9)),
        ("right_foot.pos", (0.4, 0, RADIUS + 0.01)),
        ("torso.up", (np.sin(np.radians(24.5)), 0, np.cos(np.radians(24.5)))),
        ("ball.ground", 1),  # the ball may
    ],
)
def test_just_on_the_ball(channel, value):
    scene = world_of("ball")
    rows = readings(scene, aloft(), 40)
    put(scene, rows, slice(None), channel, value)
    assert OnBall().success(seen(scene, rows)) is True


def test_neither_beside_nor_across_the_ball():
    scene = world_of("ball")
    beside = scene.placed(scene.state(), "ball", (0.9, 0, RADIUS))
    between = scene.placed(scene.state(), "ball", (0.0, 0, RADIUS))  # standing where the ball is
    for state in (beside, between, aloft(lying="prone"), aloft(lying="supine")):
        assert not on_top(seen(scene, readings(scene, state))).any()


def ask(hand: str = "left") -> Reach:
    return Reach((0.5, 0.2, 1.2), hand)


@pytest.mark.parametrize("hand", ["left", "right"])
@pytest.mark.parametrize(("away", "near"), [(0.09, True), (0.11, False), (0.0, True)])
def test_a_hand_is_near_within_ten_centimetres(scene, hand, away, near):
    rows = readings(scene)
    other = "left" if hand == "right" else "right"
    put(
        scene,
        rows,
        slice(-15, None),
        f"{hand}_hand.pos",
        np.array([0.5, 0.2, 1.2]) + away * np.array([2, -1, 2]) / 3,
    )
    put(scene, rows, slice(-15, None), f"{other}_hand.pos", (5, 5, 5))
    made = seen(scene, rows, commands={3: ask(hand)})
    assert hand_near(made) is near
    assert ReachPoint().success(made) is near


def test_a_hand_must_stay_there_for_half_a_second(scene):
    for frame, near in ((-15, False), (-1, False), (-16, True)):
        rows = readings(scene)
        put(scene, rows, slice(None), "left_hand.pos", (0.5, 0.2, 1.2))
        put(scene, rows, frame, "left_hand.pos", (0.5, 0.2, 1.31))
        assert hand_near(seen(scene, rows, commands={0: ask()})) is near


def test_the_last_target_counts_and_there_must_be_one(scene):
    rows = readings(scene)
    put(scene, rows, slice(None), "left_hand.pos", (0.5, 0.2, 1.2))
    far = Reach((0.5, 0.2, 1.5))
    assert hand_near(seen(scene, rows, commands={0: far, 9: ask()})) is True
    assert hand_near(seen(scene, rows, commands={0: ask(), 9: far})) is False
    assert hand_near(seen(scene, rows, want=ask())) is True
    assert hand_near(seen(scene, rows, commands={0: ask(), 9: Go(style="steer")})) is True  # goes along with it
    assert hand_near(seen(scene, rows, commands={0: ask(), 9: Balance()})) is False  # which ends it
    assert hand_near(seen(scene, rows)) is False


def test_reaching_while_falling_is_no_success(scene):
    rows = readings(scene)
    put(scene, rows, slice(None), "left_hand.pos", (0.5, 0.2, 1.2))
    assert ReachPoint().success(seen(scene, rows, commands={0: ask()})) is True
    put(scene, rows, -3, "right_hand.ground", 1)
    assert ReachPoint().success(seen(scene, rows, commands={0: ask()})) is False


def test_reaching_on_a_ball_takes_both():
    scene = world_of("ball-reach")
    state = scene.placed(scene.state("t-pose", height=2 * RADIUS), "ball", (0, 0, RADIUS))
    goal = Together((StayOn(), Reach((0.4, 0.1, 2.2))))
    rows = readings(scene, state)
    put(scene, rows, slice(None), "left_hand.pos", (0.4, 0.19, 2.2))
    assert OnBallReach().success(seen(scene, rows, commands={0: goal})) is True
    put(scene, rows, -1, "left_hand.pos", (0.4, 0.21, 2.2))
    assert OnBallReach().success(seen(scene, rows, commands={0: goal})) is False
    put(scene, rows, -1, "left_hand.pos", (0.4, 0.19, 2.2))
    put(scene, rows, -1, "left_foot.ground", 1)
    assert OnBallReach().success(seen(scene, rows, commands={0: goal})) is False


@pytest.mark.parametrize("frame", [0, 17, -1])
def test_a_juggled_ball_never_touches_the_ground(frame):
    scene = world_of("juggle")
    rows = readings(scene, JuggleBall().setup(scene, np.random.default_rng(0)).state, 300)
    assert JuggleBall().success(seen(scene, rows)) is True
    assert JuggleBall().success(seen(scene, rows[:29])) is False
    put(scene, rows, frame, "ball.ground", 1)
    assert JuggleBall().success(seen(scene, rows)) is False


def test_a_ball_that_nobody_catches_is_on_the_ground():
    result = ran(JuggleBall(), world_of("juggle"), Still(world_of("juggle")), 0, 3.0)
    assert result.finished and result.success is False


# Going ----------------------------------------------------------------------------------------------


def go(x: float, y: float) -> Go:
    return Go(speed=math.hypot(x, y), heading=math.atan2(y, x))


def test_along_is_the_mean_over_what_was_commanded_last(scene):
    rows = readings(scene, frames=40)
    put(scene, rows, slice(0, 10), "com_velocity", (1.0, 0.5, 9.0))  # nobody asked yet
    put(scene, rows, slice(10, 25), "com_velocity", (0.8, 0.5, 9.0))  # 0.8 along x
    put(scene, rows, slice(25, 40), "com_velocity", (0.6, -0.8, 9.0))  # 1.0 along (3, -4)
    made = seen(scene, rows, commands={10: go(1.25, 0), 25: go(3, -4)})
    assert along(made) == pytest.approx((10 * 0 + 15 * 0.8 + 15 * 1.0) / 40)
    assert Steering().metrics(made) == {"speed_along": pytest.approx(along(made))}
    back = seen(scene, rows, commands={0: go(-1, 0), 39: go(0, 1)})
    assert along(back) == pytest.approx((-10 * 1.0 - 15 * 0.8 - 14 * 0.6 - 0.8) / 40)
    assert along(seen(scene, rows)) == 0.0
    assert along(seen(scene, rows, commands={0: go(1, 0), 5: Balance()})) == pytest.approx(
        (10 * 1.0 + 15 * 0.8 + 15 * 0.6) / 40
    )


def test_standing_by_command_goes_nowhere_and_says_so_in_numbers(scene):
    rows = readings(scene, frames=40)
    put(scene, rows, slice(None), "com_velocity", (1.0, 0, 0))
    assert along(seen(scene, rows, commands={0: go(1, 0), 20: go(0, 0)})) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("pace", "speed", "success"), [(1.25, 0.91, True), (1.25, 0.89, False), (2.5, 1.81, True), (2.5, 1.79, False)]
)
def test_steering_takes_speed(scene, pace, speed, success):
    rows = readings(scene, frames=60)
    put(scene, rows, slice(None), "com_velocity", (0, speed, 0))
    made = seen(scene, rows, commands={0: go(0, pace)})
    assert Steering(pace=pace).success(made) is success
    assert Steering(pace=pace).success(seen(scene, rows, commands={0: go(pace, 0)})) is False  # the other way
    put(scene, rows, 40, "pelvis.pos", (0, 0, 0.3))  # a fall
    assert Steering(pace=pace).success(seen(scene, rows, commands={0: go(0, pace)})) is False


@pytest.mark.parametrize(("x", "success"), [(6.01, True), (5.99, False)])
def test_obstacles_are_behind_after_six_metres(x, success):
    scene = world_of("obstacles")
    rows = readings(scene, frames=60)
    put(scene, rows, -1, "com", (x, 0, 1))
    assert Obstacles().success(seen(scene, rows)) is success
    put(scene, rows, 40, "pelvis.pos", (3, 0, 0.3))
    assert Obstacles().success(seen(scene, rows)) is False


def test_turbo_takes_all_ends_beyond_the_block_at_one_time():
    scene, ends = world_of("turbo"), world_of("turbo").character.ends
    rows = readings(scene, frames=60)
    assert Turbo().success(seen(scene, rows)) is False
    for end in ends:
        put(scene, rows, 50, f"{end}.pos", (1.51, 0, 1))
    assert Turbo().success(seen(scene, rows)) is True
    assert Turbo(depth=0.6).success(seen(scene, rows)) is False
    for end in ends:
        near = rows.copy()
        put(scene, near, 50, f"{end}.pos", (1.49, 0, 1))
        assert Turbo().success(seen(scene, near)) is False
    apart = readings(scene, frames=60)
    for i, end in enumerate(ends):
        put(scene, apart, 40 + i, f"{end}.pos", (1.9, 0, 1))  # one after the other
    assert Turbo().success(seen(scene, apart)) is False


# Skills ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "way"), [(CratePush, 1.0), (CratePull, -1.0)])
@pytest.mark.parametrize("seed", range(3))
def test_a_crate_is_moved_along_its_own_axis(kind, way, seed):
    scenario = kind(distance=1.0)
    scene = scenario.scene(biped(), seed)
    crate = scene.prop("crate", Crate)
    ahead = np.array([math.cos(crate.turn), math.sin(crate.turn), 0.0])
    left = np.array([-ahead[1], ahead[0], 0.0])
    for gone, aside, success in ((0.91, 0.49, True), (0.89, 0.0, False), (1.0, -0.51, False), (-1.0, 0.0, False)):
        rows = readings(scene, frames=31)  # a second
        put(scene, rows, -1, "crate.pos", crate.middle + way * gone * ahead + aside * left)
        made = seen(scene, rows)
        assert scenario.moved(made) == pytest.approx((gone, abs(aside)), abs=1e-9)
        assert scenario.success(made) is success


# What a seed decides --------------------------------------------------------------------------------


def tell(setup) -> tuple:
    return setup.state.tobytes(), setup.seconds, tuple(setup.events)


@each_scenario
def test_a_trial_is_decided_by_its_seed(name):
    scene, scenario = world_of(name), SCENARIOS[name]()
    one, again, other = (tell(scenario.setup(scene, np.random.default_rng(seed))) for seed in (1, 1, 2))
    assert one == again
    assert (one != other) == (name not in SETTLED)


@each_scenario
def test_scenarios_introduce_themselves(name):
    kind, scene = SCENARIOS[name], world_of(name)
    assert kind.name == name
    assert kind.summary and kind.__doc__
    setup = kind().setup(scene, np.random.default_rng(0))
    assert 0 < setup.seconds <= 70
    assert all(0 <= when < setup.seconds for when, _ in setup.events)
    assert [when for when, _ in setup.events] == sorted(when for when, _ in setup.events)
    for _, command in setup.events:
        command.check() if isinstance(command, WANTS) else command.check(scene)


@each_scenario
def test_a_trial_begins_with_nothing_inside_anything(name):
    scene = world_of(name)
    for seed in range(5):
        data = scene.show(SCENARIOS[name]().setup(scene, np.random.default_rng(seed)).state)
        assert min(data.contact.dist, default=0) > -DEEPEST.get(name, TOUCHING)
        sims = Sims(scene, 1, 1)
        sims.load(scene.read(data))
        if SCENARIOS[name].make.controllers[0] in PLANNERS:
            assert np.isfinite(goal_of(scene, SCENARIOS[name]().wants()).cost(sims)).all()


@each_scenario
def test_a_scenarios_scene_is_always_the_same(name):
    body = character(SCENARIOS[name].make.characters[0])
    assert SCENARIOS[name]().scene(body).fingerprint == world_of(name).fingerprint
    assert Scene.from_recipe(world_of(name).recipe).fingerprint == world_of(name).fingerprint


@each_scenario
def test_other_characters_fit_every_scenario(name):
    """A body without toes, a biped, and in turn one of all: in all scenarios together everybody."""
    scenario, turn = SCENARIOS[name](), STANCES[list(SCENARIOS).index(name) % len(STANCES)]
    own = scenario.controllers[0] in ("simbicon", "task", "tree", "stones", "placer") or isinstance(scenario, PickUpCup)
    # gaits, policies and trees belong to a body, and what is picked up is within its reach
    for body in scenario.characters[:1] if own else {"humanoid": 0, "biped": 0, turn: 0}:
        scene = scenario.scene(character(body))
        setup = scenario.setup(scene, np.random.default_rng(0))
        if scenario.controllers[0] in PLANNERS:
            assert goal_of(scene, scenario.wants()).names
        deepest = min(scene.show(setup.state).contact.dist, default=0)
        assert deepest > -DEEPEST.get(name, TOUCHING), body


def test_pushes_are_horizontal_of_the_asked_size_from_all_sides(scene):
    angles = []
    for seed in range(200):
        setup = Pushed(force=600.0).setup(scene, np.random.default_rng(seed))
        ((when, push),) = setup.events
        assert isinstance(push, Push)
        assert push.body == "torso" and push.seconds == 0.1
        assert push.force[2] == 0
        assert np.hypot(*push.force[:2]) == pytest.approx(600)
        assert 1 <= when <= 2
        assert setup.seconds == pytest.approx(when + 5.1)
        angles.append(np.arctan2(*push.force[:2]))
    # the mean of 200 random directions has a length of 1/sqrt(200) = 0.07 or so; of 0.2, once in 3000
    assert abs(np.exp(1j * np.array(angles)).mean()) < 0.2


def test_blasts_are_beside_the_feet(scene):
    ((when, blast),) = Explosion(speed=4.0).setup(scene, np.random.default_rng(0)).events
    assert isinstance(blast, Explode)
    assert blast.speed == 4.0
    assert np.hypot(*blast.at[:2]) == pytest.approx(0.7) and blast.at[2] == 0
    assert 1 <= when <= 2


@pytest.mark.parametrize("kind", [OnBall, OnLightBall])
def test_the_ball_rolls_without_slipping_under_a_character_that_drops(kind):
    scene = kind().scene(humanoid())
    angles = []
    for seed in range(20):
        setup = kind(rolling=0.8).setup(scene, np.random.default_rng(seed))
        data, jacobian = scene.show(setup.state), np.zeros((3, scene.model.nv))
        velocity = data.sensor("ball.vel").data.copy()
        assert np.linalg.norm(velocity) == pytest.approx(0.8) and velocity[2] == 0
        assert data.sensor("ball.pos").data == pytest.approx([0, 0, RADIUS])
        mujoco.mj_jac(scene.model, data, jacobian, None, np.zeros(3), scene.body("ball"))
        assert jacobian @ data.qvel == pytest.approx(np.zeros(3), abs=1e-12)  # where it touches the ground
        assert not data.qvel[: scene.model.nv - 6].any()
        gap = min(
            mujoco.mj_geomDistance(scene.model, data, scene.model.geom("ball").id, geom, 1.0, None)
            for geom in range(scene.model.ngeom)
            if scene.model.geom_bodyid[geom] in (scene.body("left_foot"), scene.body("right_foot"))
        )
        assert DROP <= gap < 2 * DROP  # the feet stand beside the ball's top
        assert setup.seconds == 5.0
        angles.append(np.arctan2(velocity[1], velocity[0]))
    assert np.ptp(angles) > 3


def test_the_balls_of_the_paper():
    for kind, mass in ((OnBall, 250), (OnLightBall, 10), (OnBallReach, 250)):
        ball = kind().scene(humanoid()).prop("ball", Ball)
        assert (ball.radius, ball.mass) == (0.5, mass)
    assert OnBall(mass=77).scene(humanoid()).prop("ball", Ball).mass == 77
    assert OnBall(until=8.0).setup(world_of("ball"), np.random.default_rng(0)).seconds == 8


def test_reaching_on_a_ball_is_commanded_once_it_stands():
    scene = world_of("ball-reach")
    for seed in range(20):
        setup = OnBallReach().setup(scene, np.random.default_rng(seed))
        ((when, goal),) = setup.events
        stay, reach = goal.wants
        assert (when, stay, reach.hand) == (1.0, StayOn("ball"), "left")
        assert 0.3 <= np.hypot(*reach.target[:2]) <= 0.6 and 1.9 <= reach.target[2] <= 2.5
        assert not scene.show(setup.state).sensor("ball.vel").data.any()


def test_a_juggled_ball_begins_above_the_head():
    scene = world_of("juggle")
    for seed in range(20):
        data = scene.show(JuggleBall().setup(scene, np.random.default_rng(seed)).state)
        way = data.sensor("ball.pos").data - data.sensor("head.pos").data
        assert np.abs(way[:2]).max() <= 0.03
        assert way[2] - 0.15 == pytest.approx(0.25)
        assert data.sensor("ball.contact").data[0] == 0


def test_targets_to_reach_are_all_around(scene):
    targets, hands = [], []
    for seed in range(200):
        setup = ReachPoint(near=0.4, far=0.9).setup(scene, np.random.default_rng(seed))
        ((when, goal),) = setup.events
        assert isinstance(goal, Reach)
        assert (when, setup.seconds) == (0.0, 4.0)
        assert 0.4 <= np.hypot(*goal.target[:2]) <= 0.9
        assert 0.7 <= goal.target[2] <= 1.9
        targets.append(goal.target)
        hands.append(goal.hand)
    angles = np.arctan2(*np.array(targets)[:, :2].T)
    assert abs(np.exp(1j * angles).mean()) < 0.2  # see the pushes
    assert 70 <= hands.count("left") == 200 - hands.count("right") <= 130  # 4 standard deviations of a fair coin


@pytest.mark.parametrize("pace", [1.25, 0.6])
def test_steering_turns_every_five_seconds(scene, pace):
    setup = Steering(pace=pace).setup(scene, np.random.default_rng(3))
    assert setup.seconds == 30
    assert [when for when, _ in setup.events] == [0, 5, 10, 15, 20, 25]
    for _, goal in setup.events:
        assert isinstance(goal, Go) and goal.style is None
        assert np.hypot(*goal.velocity) == pytest.approx(pace)
    assert len({goal.velocity for _, goal in setup.events}) == 6


def test_blocks_lie_on_the_ground_across_the_way():
    scene = Obstacles(height=0.2).scene(humanoid())
    heights = []
    for block in scene.props:
        assert block.middle[2] == block.half[2]
        assert 0.5 < block.middle[0] < 6.0 - 0.3
        assert abs(block.middle[1]) < block.half[1] + 0.6  # straight ahead leads over it or past its edge
        heights.append(2 * block.half[2])
    assert len(heights) == 11
    assert 0.4 * 0.2 <= min(heights) < max(heights) <= 0.2


def test_the_block_of_turbo_is_as_asked():
    (block,) = Turbo(height=0.7, depth=0.4).scene(humanoid()).props
    assert block.middle[0] - block.half[0] == pytest.approx(1.0)
    assert block.middle[0] + block.half[0] == pytest.approx(1.4)
    assert (block.middle[2] - block.half[2], block.middle[2] + block.half[2]) == pytest.approx((0, 0.7))
    assert block.half[1] > 12.5  # no way around in 10 s


def test_pushes_beside_a_wall_go_towards_it():
    scene = world_of("wall")
    wall = scene.prop("wall", Box)
    hand = scene.show(scene.state()).body("left_hand").xipos[1]
    assert hand + 0.1 < wall.middle[1] - wall.half[1] < 0.7
    for seed in range(50):
        setup = Wall(force=300.0).setup(scene, np.random.default_rng(seed))
        ((when, push),) = setup.events
        assert push.body == "torso" and push.seconds == 0.1 and push.force[2] == 0
        assert np.hypot(*push.force[:2]) == pytest.approx(300)
        assert push.force[1] > 0.7 * 300
        assert 1 <= when <= 2 and setup.seconds == pytest.approx(when + 5.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Pushed(force=-1), "force must be a number 0 or more and at most 100000, got -1"),
        (lambda: Pushed(force=float("nan")), "force must be a number 0 or more and at most 100000, got nan"),
        (lambda: Explosion(speed=float("inf")), "speed must be a number 0 or more and at most 1000, got inf"),
        (lambda: OnBall(mass=0), "mass must be a number 0.1 or more and at most 10000, got 0"),
        (lambda: OnLightBall(rolling=-1), "rolling must be a number 0 or more and at most 10, got -1"),
        (lambda: OnBallReach(until=float("nan")), "until must be a number 1 or more and at most 3600, got nan"),
        (lambda: JuggleBall(radius=0), "radius must be a number 0.05 or more and at most 0.5, got 0"),
        (lambda: JuggleBall(mass=float("inf")), "mass must be a number 0.01 or more and at most 100, got inf"),
        (lambda: ReachPoint(near=2.0, far=1.0), "far must be a number 2 or more and at most 100, got 1"),
        (lambda: ReachPoint(near=-1), "near must be a number 0 or more and at most 100, got -1"),
        (lambda: Steering(pace=0), "pace must be a number 0.1 or more and at most 5, got 0"),
        (lambda: Obstacles(height=9), "height must be a number 0.01 or more and at most 0.3, got 9"),
        (lambda: Turbo(height=0), "height must be a number 0.05 or more and at most 3, got 0"),
        (lambda: Turbo(depth=float("nan")), "depth must be a number 0.05 or more and at most 10, got nan"),
        (lambda: PickUpCup().scene(humanoid()), "'humanoid' has no palms to pick things up with; choose a biped"),
        (lambda: Wall(force=-1), "force must be a number 0 or more and at most 100000, got -1"),
    ],
)
def test_bad_options(call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call()


# Running --------------------------------------------------------------------------------------------


CHEAP = {"samples": 8, "horizon": 0.2}
RELATED = ("ps", "cem", "mppi", "pf-mpc")  # to each other, and the last to C-PBP: each scenario has one in turn
PAIRS = [
    (name, controller)
    for i, (name, kind) in enumerate(SCENARIOS.items())
    for controller in kind.make.controllers
    if controller not in RELATED or controller == RELATED[i % 4]
]


def cheap(name: str, controller: str):
    """The settings that a controller has in a scenario, with few samples."""
    settings = SCENARIOS[name].make.settings_for(controller)
    return replace(settings, **CHEAP) if controller in PLANNERS else settings


@pytest.mark.parametrize(("name", "controller"), PAIRS)
def test_every_controller_that_a_scenario_suggests_begins_it(name, controller):
    scenario = SCENARIOS[name]()
    body = scenario.body_for(controller)
    assert CONTROLLERS[controller].suits(character(body))
    scene = world_of(name, body) if scenario.body(character(body), 1).name == body else None
    trial = Trial(scenario, 1, controller, settings=cheap(name, controller), threads=1, scene=scene)
    for _ in range(3):
        frame = trial.step()
        assert not frame.broken and np.isfinite(frame.state).all()
    assert trial.session.wanted is not None
    trial.controller.close()


def test_scenarios_suggest_who_takes_what_they_want():
    for name, kind in SCENARIOS.items():
        assert kind.make.controllers and set(kind.make.controllers) <= set(CONTROLLERS)
        for controller in kind.make.controllers:
            assert CONTROLLERS[controller].takes(kind().wants()), (name, controller)
        assert kind().suited() == kind.make.controllers


@pytest.mark.parametrize("name", ["push", "steer", "reach", "turn", "pole"])
def test_what_planners_do_is_put_to_a_walker_too(name):
    """For a second, all events of which reach it."""
    trial = Trial(SCENARIOS[name](), 2, "walker", seconds=1.0)
    result = run_trial(trial)
    assert (result.finished, result.frames, result.sim_steps, result.broken_rows) == (True, 30, 0, 0)
    assert trial.scene.character.name == "biped"
    due = [command for when, command in trial.setup.events if when < 1.0]
    assert [command for _, command in trial.history.commands] == due
    assert trial.history.downs() == 0


@each_scenario
def test_a_short_trial(name):
    scene, scenario, heard = world_of(name), SCENARIOS[name](), []
    controller = scenario.controllers[0]
    plans = controller in PLANNERS
    kind = CONTROLLERS[controller]
    settings = kind.settings(**CHEAP) if plans else kind.settings()

    def made():
        return kind.make(scene, settings, 0, 1)

    result = ran(
        scenario,
        scene,
        made(),
        3,
        0.3,
        watch=lambda session: session.listeners.append(lambda s, f: heard.append(f)),
    )
    assert result.finished
    assert result.frames == 9 == len(heard)
    assert result.seconds == pytest.approx(0.3)
    assert len(result.plan_seconds) == 9 and min(result.plan_seconds) > 0
    assert result.sim_steps == (9 * 8 * 6 if plans else 0)
    assert result.broken_rows == 0
    assert set(result.metrics) == {"rms_joint_speed", "rms_jerk", "falls"} | OWN.get(name, set())
    assert result.success is False  # too short to judge
    again = ran(scenario, scene, made(), 3, 0.3)
    for metrics in (result.metrics, again.metrics):
        metrics.pop("stable_wall_seconds", None)  # which no seed decides
    assert again.metrics == result.metrics


def test_steering_wants_reach_the_controller(scene, still):
    result = ran(Steering(), scene, still, 0, 6.0)
    first, second = (want for _, want in Steering().setup(scene, np.random.default_rng(0)).events[:2])
    assert still.wants == [Steering().wants(), first, second]
    assert abs(result.metrics["speed_along"]) < 0.2  # it stood there
    assert result.success is False


def test_events_come_when_they_are_due(scene, still):
    heard = []
    scenario = Pushed(force=100.0)
    setup = scenario.setup(scene, np.random.default_rng(4))
    result = ran(
        scenario, scene, still, 4, watch=lambda session: session.listeners.append(lambda s, f: heard.append(f))
    )
    ((when, push),) = setup.events
    (frame,) = [frame for frame in heard if frame.commands]
    assert frame.commands == (push,)
    assert 0 <= frame.index * scene.dt - when < scene.dt
    assert result.frames == round(setup.seconds / scene.dt)


def test_holding_still_stands_for_a_second(scene, still):
    result = ran(Stand(), scene, still, 0, 1.0)
    assert result.success is True
    assert result.sim_steps == 0


def test_stopping_early_is_no_success(scene, still):
    left = iter([False] * 20 + [True] * 99)
    result = ran(Stand(), scene, still, 0, 1.0, stop=lambda: next(left))
    assert (result.finished, result.success, result.frames) == (False, False, 20)


def test_a_world_that_breaks_ends_the_trial(scene, still):
    def spoil(session):
        def hear(session, frame):
            if frame.index == 4:
                session.world.view("qvel")[0] = np.nan

        session.listeners.append(hear)

    result = ran(Stand(), scene, still, 0, 1.0, watch=spoil)
    assert (result.finished, result.success, result.frames, result.broken_rows) == (True, False, 6, 1)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), 1e9])
def test_bad_durations(scene, still, seconds):
    with pytest.raises(UserError, match=r"seconds must be a number 0\.0333333 or more and at most 86400"):
        ran(Stand(), scene, still, 0, seconds)


def test_a_push_on_the_ball_is_an_option():
    scene = world_of("ball")
    assert not OnBall().setup(scene, np.random.default_rng(0)).events
    ((when, push),) = OnBall(force=100.0).setup(scene, np.random.default_rng(0)).events
    assert when == 2.0
    assert push.body == "torso"
    assert np.linalg.norm(push.force) == pytest.approx(100.0)
    kinds = [
        type(command).__name__ for _, command in OnBallReach(force=50.0).setup(scene, np.random.default_rng(0)).events
    ]
    assert kinds == ["Together", "Push"]


def test_reaching_on_the_ball_takes_more_than_a_second():
    with pytest.raises(UserError, match="until must be a number 2 or more"):
        OnBallReach(until=1.5)


@pytest.mark.parametrize(
    ("place", "height", "away", "done"),
    [(11, 1.0, 0, True), (11.7, 1.0, 0, True), (11.9, 1.0, 0, False), (11, 0.8, 0, False), (11, 1.0, 1, False)],
)
def test_the_course_ends_with_the_crate_in_the_hands(place, height, away, done):
    scene = world_of("course")
    rows = readings(scene, frames=round(1.2 / scene.dt))
    put(scene, rows, slice(None), "com", (place, 0.0, 1.4))
    put(scene, rows, slice(None), "crate.pos", (place, 0.0, height))
    for hand in scene.character.hands:
        put(scene, rows, slice(None), f"{hand}.pos", (place + away, 0.0, height))
    assert ObstacleCourse().success(seen(scene, rows)) is done
