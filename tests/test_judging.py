"""Judging: every want is judged by the goal that the behaviours have for it, and what planners refuse."""

import math
import re
from typing import Any

import numpy as np
import pytest

from tumble.characters import character, humanoid
from tumble.errors import UserError
from tumble.goals import GOALS, Goal, balance, gait, juggle, on_ball, on_ball_reach, reach, reaching, steer, turbo
from tumble.goals.judging import GO_STYLES, built, goal_of
from tumble.goals.wants import Balance, Do, Go, Juggle, Meet, Reach, StayOn, Together
from tumble.world.props import Ball
from tumble.world.scene import Scene
from tumble.world.sims import Sims

POINT = (0.5, 0.2, 1.2)
AHEAD = (math.cos(0.5), math.sin(0.5))
JUDGED = [  # a want, and the goal that is meant, of a scene
    (Balance(), balance),
    (Balance(facing=(0.0, -2.0)), lambda scene: balance(scene, facing=(0.0, -2.0))),
    (Balance(pose="ready", roll=True), lambda scene: balance(scene, pose="ready", roll=True)),
    (Balance(roll=False), balance),
    (Reach(POINT), lambda scene: reach(scene, POINT)),
    (Reach(POINT, hand="right"), lambda scene: reach(scene, POINT, "right")),
    (Go(), lambda scene: steer(scene, (0.0, 0.0))),
    (Go(speed=1.0, heading=0.5), lambda scene: steer(scene, AHEAD)),
    (Go(speed=-1.0, heading=0.5), lambda scene: steer(scene, (-AHEAD[0], -AHEAD[1]))),
    (Go(speed=1.0, heading=0.5, style="steer"), lambda scene: steer(scene, AHEAD)),
    (Go(speed=1.0, heading=0.5, style="turbo"), lambda scene: turbo(scene, AHEAD)),
    (Go(speed=1.0, heading=0.5, style="gait"), lambda scene: gait(scene, velocity=AHEAD)),
    (Go(heading=0.5, style="gait"), lambda scene: gait(scene, velocity=(0.0, 0.0), facing=AHEAD)),
    (Go(speed=0.0, style="gait"), lambda scene: gait(scene, velocity=(0.0, 0.0))),
    (Go(target=(3.0, 1.0, 0.0)), lambda scene: gait(scene, target=(3.0, 1.0, 0.0))),
    (Go(target=(3.0, 1.0, 0.0), style="gait"), lambda scene: gait(scene, target=(3.0, 1.0, 0.0))),
    (StayOn(), on_ball),
    (Juggle(), juggle),
    (Meet("balance"), balance),
    (Meet("turbo", {"velocity": [1.0, 0.5]}), lambda scene: turbo(scene, (1.0, 0.5))),
    (Meet("ball-reach", {"target": list(POINT)}), lambda scene: on_ball_reach(scene, POINT)),
    (Together((Juggle(),)), juggle),
    (Together((Reach(POINT),)), lambda scene: reach(scene, POINT)),
    (Together((StayOn(), Reach(POINT, hand="right"))), lambda scene: on_ball_reach(scene, POINT, "right")),
    (Together((Reach(POINT), StayOn())), lambda scene: on_ball_reach(scene, POINT)),
    (Together((Go(speed=1.0, heading=0.5), Reach(POINT))), lambda s: steer(s, AHEAD) + reaching(s, POINT)),
    (
        Together((Reach(POINT, hand="right"), Go(speed=1.0, style="turbo"))),
        lambda scene: turbo(scene, (1.0, 0.0)) + reaching(scene, POINT, "right"),
    ),
]


def anywhere(scene: Scene, nsim: int = 24) -> Sims:
    """Simulations in random states: thrown about, moving, one broken."""
    rng, sims = np.random.default_rng(0), Sims(scene, nsim, 1)
    sims.load(scene.state("t-pose", "supine", height=0.3))
    qpos, qvel = sims.view("qpos"), sims.view("qvel")
    turn = rng.standard_normal((nsim, 4))
    qpos[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    qpos[:, scene.drive.qpos] += rng.uniform(-0.5, 0.5, (nsim, scene.drive.joints))
    qpos[:, 2] += rng.uniform(0, 1, nsim)
    qvel[:, :] = rng.standard_normal(qvel.shape)
    if any(isinstance(prop, Ball) for prop in scene.props):
        ball = int(scene.model.joint("ball").qposadr[0])
        qpos[:, ball : ball + 3] = rng.uniform((-1, -1, 0), (1, 1, 2), (nsim, 3))
    sims.load(sims.state.copy())
    drive = scene.drive
    sims.act(rng.uniform(drive.low, drive.high, (nsim, drive.size)))
    sims.broken[3] = True
    return sims


def same(one: Goal, two: Goal, sims: Sims) -> bool:
    """Whether two goals are of the same terms and judge alike to the last bit."""
    values, efforts = (one.values(sims), two.values(sims)), (one.effort(one.values(sims)), two.effort(two.values(sims)))
    return (
        one.names == two.names
        and one.terms == two.terms
        and one.ways == two.ways
        and one.pose == two.pose
        and all(np.array_equal(*pair) for pair in (values, efforts))
        and np.array_equal(one.cost(sims), two.cost(sims))
        and np.array_equal(one.way_costs(sims), two.way_costs(sims))
    )


@pytest.fixture(scope="module")
def rows(ball_scene) -> Sims:
    """Simulations with a ball."""
    return anywhere(ball_scene)


@pytest.mark.parametrize(("want", "meant"), JUDGED, ids=[str(want) for want, _ in JUDGED])
def test_a_want_is_judged_by_the_goal_that_is_meant(ball_scene, rows, want, meant):
    goal = goal_of(ball_scene, want)
    assert same(goal, meant(ball_scene), rows)
    cost = goal.cost(rows)
    assert np.isinf(cost[3]) and np.isfinite(np.delete(cost, 3)).all() and len(np.unique(cost)) > 1


def test_every_kind_that_planners_take_is_judged_and_every_goal_met():
    assert {type(want) for want, _ in JUDGED} == {Balance, Reach, Go, StayOn, Juggle, Meet, Together}


@pytest.mark.parametrize("name", GOALS)
def test_every_goal_can_be_met_by_its_name(name, ball_scene, rows):
    options: dict[str, Any] = {
        "reach": {"target": POINT}, "ball-reach": {"target": POINT}, "steer": {"velocity": AHEAD},
        "turbo": {"velocity": AHEAD}, "gait": {"velocity": AHEAD},
    }.get(name, {})  # fmt: skip
    meant = GOALS[name](ball_scene, **options)
    assert same(goal_of(ball_scene, Meet(name, options)), meant, rows)
    assert same(built(name, ball_scene, options), meant, rows)


# How going is judged --------------------------------------------------------------------------------


@pytest.mark.parametrize("go_style", GO_STYLES)
def test_going_without_a_style_is_judged_as_the_planner_says(go_style, ball_scene, rows):
    want = Go(speed=1.0, heading=0.5)
    assert same(goal_of(ball_scene, want, go_style), GOALS[go_style](ball_scene, velocity=AHEAD), rows)
    for style in GO_STYLES:  # a style that is asked for comes first
        asked = Go(speed=1.0, heading=0.5, style=style)
        assert same(goal_of(ball_scene, asked, go_style), GOALS[style](ball_scene, velocity=AHEAD), rows)
    together = Together((want, Reach(POINT)))
    meant = GOALS[go_style](ball_scene, velocity=AHEAD) + reaching(ball_scene, POINT)
    assert same(goal_of(ball_scene, together, go_style), meant, rows)


@pytest.mark.parametrize("name", ["monoped", "quadruped", "planar-walker"])
def test_who_has_not_two_feet_and_hands_is_judged_by_gait(name):
    scene = Scene(character(name))
    sims = Sims(scene, 2, 1)
    sims.load(scene.state())
    goal = goal_of(scene, Go(speed=1.0))
    meant = gait(scene, velocity=(1.0, 0.0))
    assert goal.terms == meant.terms and np.array_equal(goal.cost(sims), meant.cost(sims))


# What is refused ------------------------------------------------------------------------------------

BAD = [
    (Do("wait 1 s"), "planners do no scripts"),
    (Together((Do("wait 1 s"), Go(style="happy"))), "planners do no scripts"),
    (Go(speed=1.0, style="happy"), "planners know no style 'happy'; they judge going by: steer, turbo, gait"),
    (Go(speed=1.0, period=0.4), "planners go as they find out, and take no period"),
    (Go(step_width=0.1, bend=0.1), "planners go as they find out, and take no step_width, bend"),
    (Go(target=(1.0, 0.0, 0.0), style="steer"), "goal 'steer' takes no target; it takes: velocity"),
    (Go(target=(1.0, 0.0, 0.0), speed=1.0), "to go takes a target, or a speed and a heading, and not both"),
    (Go(speed=21.0), "velocity must be 2 numbers within 20 m/s, got (21.0, 0.0)"),
    (Balance(pose="reddy"), "no pose 'reddy'; there are: ready, rest, t-pose, taiko (did you mean 'ready'?)"),
    (Balance(facing=(0.0, 0.0)), "length of the facing direction must be a number above 0, got 0"),
    (Reach(POINT, hand="middle"), "no hand 'middle'; there are: left, right"),
    (StayOn("bal"), "no ball 'bal' in the scene of 'humanoid'; there are: ball (did you mean 'ball'?)"),
    (Juggle("moon"), "no ball 'moon' in the scene of 'humanoid'; there are: ball"),
    (Meet("stand"), "no goal 'stand'; there are: balance, ball, ball-reach, gait, juggle, reach, steer, turbo"),
    (Meet("steer"), "goal 'steer' needs a velocity"),
    (Meet("steer", {"velocity": (1, 0), "pose": "ready"}), "goal 'steer' takes no pose; it takes: velocity"),
    (Meet("gait", {"velocity": (1, 0), "target": (1, 0, 0)}), "goal 'gait' takes a velocity or a target, and not both"),
    (Meet("reach", {"target": 5}), "goal 'reach' cannot be made with {'target': 5}: "),
    (Meet("steer", {"velocity": "ab"}), "goal 'steer' cannot be made with {'velocity': 'ab'}: "),
    (Meet("ball", {"ball": ["ball"]}), "goal 'ball' cannot be made with {'ball': ['ball']}: "),
    (Together((Balance(), Juggle())), "planners do not judge balance and juggle at once"),
    (Together((StayOn(), Go(speed=1.0))), "planners do not judge stay on a ball and go at once"),
    (Together((Balance(), Reach(POINT))), "planners reach alone, while going, or while staying on a ball"),
    (Together((Juggle(), Reach(POINT))), "planners reach alone, while going, or while staying on a ball"),
    (Together((StayOn(), Go(), Reach(POINT))), "planners reach alone, while going, or while staying on a ball"),
    (Together((Reach(POINT), Reach(POINT, hand="right"))), "together are wants of different kinds, got: reach and"),
    (Together(()), "together are 1 to 7 wants, got 0"),
]


@pytest.mark.parametrize(("want", "message"), BAD, ids=[f"{message[:40]} {i}" for i, (_, message) in enumerate(BAD)])
def test_what_planners_refuse(ball_scene, want, message):
    with pytest.raises(UserError, match=re.escape(message)):
        goal_of(ball_scene, want)


def test_gait_weighs_servos():
    with pytest.raises(UserError, match="goal 'gait' weighs the torques of servos, and the scene has none"):
        goal_of(Scene(humanoid(), drives=["torque"]), Go(target=(1.0, 0.0, 0.0)))


@pytest.mark.parametrize(
    ("name", "want", "message"),
    [
        ("monoped", Balance(), "balance wants a body with biped; 'monoped' has: legs-1"),
        ("quadruped", Balance(facing=(1.0, 0.0)), "balance wants a body with biped; 'quadruped' has: legs-4"),
        ("quadruped", Reach(POINT), "balance wants a body with biped; 'quadruped' has: legs-4"),
        ("quadruped", Go(speed=1.0, style="turbo"), "turbo wants a body with biped; 'quadruped' has: legs-4"),
        ("planar-walker", Reach(POINT), "balance wants a body with biped; 'planar-walker' has: legs-2, planar"),
        ("monoped", Together((Go(speed=1.0), Reach(POINT))), "reaching wants a body with hands; 'monoped' has: legs-1"),
    ],
)
def test_bodies_that_lack_what_a_want_needs(name, want, message):
    with pytest.raises(UserError, match=re.escape(message)):
        goal_of(Scene(character(name)), want)
