"""The contract of every planner by name, and of a planner as a controller."""

import dataclasses
import math
import re
from typing import Any

import numpy as np
import pytest

from tumble.characters import humanoid
from tumble.errors import UserError
from tumble.goals import GOALS, Goal, Term, balance, gait, reach, steer, turbo
from tumble.goals.terms import Velocity
from tumble.goals.wants import Balance, Do, Go, Juggle, Meet, Reach, StayOn, Together
from tumble.learners.experience import Experience
from tumble.maths.bundles import Address
from tumble.planners import CPBP, PLANNERS, CPBPSettings, Plan, Planned
from tumble.planners.cpbp.cpbp import Scales
from tumble.planners.playback import Playback
from tumble.settings import names_of, replaced
from tumble.world.scene import Scene
from tumble.world.sims import Sims

each_planner = pytest.mark.parametrize("name", PLANNERS)
LYING = ("t-pose", "supine")


def make(name, scene, seed=0, nthread=1, **changes) -> Any:
    """A planner of eight futures of 0.2 s."""
    kind = PLANNERS[name]
    settings = dataclasses.replace(kind.settings(), **{"samples": 8, "horizon": 0.2, **changes})
    return kind.make(scene, settings, seed, nthread)


def frozen(planner) -> Any:
    """The planner, taught nothing: `reset` forgets frames, not what learners were taught."""
    if planner.learner is not None:
        planner.learner.growing = False
    return planner


def within(name, drive, controls) -> bool:
    """Whether controls keep to the motors' bounds; MCTS bounds angles, not speeds, and has strengths of its own."""
    if name == "mcts":
        limits = controls[:, drive.joints :]
        return bool(np.isfinite(controls).all() and (limits > 0).all() and (limits <= 1).all())
    return bool((drive.low <= controls).all() and (controls <= drive.high).all())


def live(planner, goal, frames=4, pose=LYING) -> list[Plan]:
    """Plans of a few frames in which the first control of each is carried out."""
    world = Sims(planner.scene, 1, 1)
    world.load(planner.scene.state(*pose))
    plans = []
    for _ in range(frames):
        plans.append(planner.plan(world.state[0].copy(), goal))
        world.act(plans[-1].controls[:1])
    return plans


def same(one: list[Plan], other: list[Plan]) -> bool:
    """Whether all that plans say is alike to the last bit."""
    arrays = ("controls", "values", "path", "paths", "smoothed")
    return all(
        p.cost == q.cost
        and p.effort == q.effort
        and p.statistics == q.statistics
        and all(getattr(p, name).tobytes() == getattr(q, name).tobytes() for name in arrays)
        for p, q in zip(one, other, strict=True)
    )


def replayed(scene, goal, state, controls) -> tuple[np.ndarray, np.ndarray]:
    """Values (K, terms) and root positions (K, 3) of doing it, in a world of its own."""
    world = Sims(scene, 1, 1)
    world.load(state)
    values, path = [], []
    for control in controls:
        world.act(control[None])
        values.append(goal.values(world)[0])
        path.append(world.view("ends")[0, :3].copy())
    return np.array(values), np.array(path)


def least_cost(scene, goal, state, plan) -> float:
    """What the goal alone has to say of doing it: all steps; or of a plan as a whole, the best moment of its way."""
    if not plan.way:
        return float(replayed(scene, goal, state, plan.controls)[0].sum())
    (way,) = [way for way in goal.ways if way.name == plan.way]
    alone = Goal(*way.terms)
    return float(replayed(scene, alone, state, plan.controls)[0].sum(axis=1).min() - 2 * way.priority)


@pytest.fixture
def planned(scene, goal, small):
    return Planned(CPBP(scene, small, 0, 1), goal)


# Every planner --------------------------------------------------------------------------------------


@each_planner
def test_same_seed_same_plans(name, scene, goal):
    plans = live(make(name, scene, seed=5), goal)
    assert same(plans, live(make(name, scene, seed=5), goal))
    assert not same(plans, live(make(name, scene, seed=6), goal))
    assert not same(plans[:1], plans[1:2])
    planner = frozen(make(name, scene, seed=5))
    plans = live(planner, goal)
    planner.reset()
    assert same(plans, live(planner, goal))


@each_planner
def test_threads_do_not_matter(name, scene, goal):
    assert same(live(make(name, scene, nthread=1), goal), live(make(name, scene, nthread=2), goal))


@each_planner
def test_shapes(name, scene, goal):
    planner = make(name, scene)
    for plan in live(planner, goal, 2):
        assert planner.steps == 6
        assert plan.controls.shape == (6, scene.drive.size)
        assert plan.values.shape == (6, len(goal.terms))
        assert plan.path.shape == (6, 3)
        assert plan.paths.shape[1:] == (6, 3)
        assert plan.smoothed.shape in ((6, 3), (0, 3))
        assert 0 <= plan.effort <= 1
        assert plan.sim_steps == 48
        assert plan.broken == 0
        assert np.isfinite(plan.cost)


@each_planner
@pytest.mark.parametrize("pose", [("rest", "upright"), LYING])
def test_values_and_path_are_those_of_doing_it(name, scene, goal, pose):
    world = Sims(scene, 1, 1)
    world.load(scene.state(*pose))
    planner = make(name, scene, horizon=0.4)
    for _ in range(4):
        state = world.state[0].copy()
        plan = planner.plan(state, goal)
        values, path = replayed(scene, goal, state, plan.controls)
        assert np.array_equal(plan.values, values)
        assert np.array_equal(plan.path, path)
        assert plan.cost >= least_cost(scene, goal, state, plan) * (1 - 1e-12)  # and the control's own
        assert any(np.array_equal(plan.path, sampled) for sampled in plan.paths)
        world.act(plan.controls[:1])


@each_planner
def test_planning_leaves_the_state_and_the_live_world_alone(name, scene, goal):
    world = Sims(scene, 1, 1)
    world.load(scene.state(*LYING))
    before, sensors = world.state.copy(), world.view("ends").copy()
    state = world.state[0].copy()
    planner = frozen(make(name, scene))
    first = planner.plan(state, goal)
    kept = first.controls.copy(), first.values.copy(), first.path.copy(), first.paths.copy()
    second = planner.plan(scene.state(), goal)
    assert np.array_equal(state, before[0])
    assert np.array_equal(world.state, before)
    assert np.array_equal(world.view("ends"), sensors)
    for then, now in zip(kept, (first.controls, first.values, first.path, first.paths), strict=True):
        assert np.array_equal(then, now)
    planner.reset()
    for array in vars(planner.plan(state, goal)).values():
        if isinstance(array, np.ndarray):
            array[:] = np.nan  # a plan is the caller's own
    assert same([planner.plan(scene.state(), goal)], [second])


@each_planner
def test_controls_keep_to_the_motors_bounds(name, scene, goal):
    for plan in live(make(name, scene), goal):
        assert within(name, scene.drive, plan.controls)


def sabotage(planner, rows, step) -> None:
    """Make rows unstable at a step of every plan; they come back standing, which costs next to nothing."""
    act, count = planner.sims.act, 0

    def spoiled(control, **some):
        nonlocal count
        if count % planner.steps == step:
            planner.sims.view("qvel")[rows] = np.nan
        count += 1
        act(control, **some)

    planner.sims.act = spoiled


@each_planner
@pytest.mark.parametrize("rows", [[0, 1, 2], [1, 3, 5, 7], [1, 2, 3, 4, 5, 6, 7]], ids=str)
def test_a_broken_row_never_wins(name, scene, goal, rows):
    planner = make(name, scene)
    sabotage(planner, rows, step=2)
    state = scene.state(*LYING)
    world = Sims(scene, 1, 1)
    world.load(scene.state())
    standing = goal.cost(world)[0]
    for _ in range(3):
        plan = planner.plan(state, goal)
        values, path = replayed(scene, goal, state, plan.controls)
        assert plan.broken == len(rows)
        assert least_cost(scene, goal, state, plan) * (1 - 1e-12) <= plan.cost < np.inf
        assert np.array_equal(plan.values, values)  # those of lying, not of having come back standing
        assert np.array_equal(plan.path, path)
        assert values.sum(axis=1).min() > 100 > 1 > standing


@each_planner
def test_where_all_break_the_cost_is_infinite_and_planning_goes_on(name, scene, goal):
    planner = make(name, scene)
    sabotage(planner, slice(None), step=3)
    for _ in range(3):
        plan = planner.plan(scene.state(*LYING), goal)
        assert plan.cost == np.inf
        assert plan.broken == 8
        assert plan.effort == pytest.approx(1)
        assert not np.isnan(plan.values).any()
        assert within(name, scene.drive, plan.controls)
    del planner.sims.act
    assert np.isfinite(planner.plan(scene.state(), goal).cost)


@each_planner
def test_a_state_that_is_no_number_costs_infinity(name, scene, goal):
    state = scene.state()
    state[3] = np.nan
    plan = make(name, scene).plan(state, goal)
    assert plan.cost == np.inf
    assert np.isfinite(plan.controls).all()


@each_planner
def test_a_plan_costs_less_than_lying_limp(name, scene):
    goal, state = Goal(Velocity(target=(0, 0, 1.0))), scene.state(*LYING)
    plan = make(name, scene, samples=16).plan(state, goal)
    drive = scene.drive
    limp = np.tile(np.r_[np.zeros(drive.joints), drive.low[drive.joints :]], (6, 1))
    assert plan.values.sum() < replayed(scene, goal, state, limp)[0].sum()


@each_planner
def test_every_planner_takes_every_goal(name, ball_scene):
    options = {"reach": {"target": (0.5, 0.2, 1.2)}, "steer": {"velocity": (1, 0)}, "turbo": {"velocity": (1, 0)}}
    options |= {"ball-reach": options["reach"], "gait": options["steer"]}
    for kind in GOALS:
        goal = GOALS[kind](ball_scene, **options.get(kind, {}))
        for plan in live(make(name, ball_scene), goal, 2, ("rest", "upright")):
            assert plan.values.shape == (6, len(goal.terms)), kind
            assert np.isfinite(plan.cost), kind
            assert 0 <= plan.effort <= 1, kind
            assert kind != "turbo" or name == "mcts" or plan.effort == pytest.approx(1)  # MCTS's is its strength


@each_planner
def test_a_goal_may_change_between_frames(name, scene, goal):
    planner = make(name, scene)
    for wanted in (goal, reach(scene, (0.5, 0.2, 1.2)), goal.without("height"), goal):
        plan = planner.plan(scene.state(), wanted)
        assert plan.values.shape == (6, len(wanted.terms))


BAD = [
    ({"samples": 0}, "samples must be a number 2 or more and at most 100000, got 0"),
    ({"samples": float("nan")}, "samples must be a number 2 or more and at most 100000, got nan"),
    ({"horizon": -1.0}, "horizon must be a number 0.0333333 or more and at most 60, got -1"),
    ({"horizon": 0.0}, "horizon must be a number 0.0333333 or more"),
    ({"horizon": float("nan")}, "horizon must be a number 0.0333333 or more and at most 60, got nan"),
    ({"horizon": float("inf")}, "horizon must be a number 0.0333333 or more and at most 60, got inf"),
]


@each_planner
def test_every_planner_refuses_bad_sizes(name, scene):
    for change, message in BAD:
        with pytest.raises(UserError, match=re.escape(message) if name == "cpbp" else next(iter(change))):
            make(name, scene, **change)


@each_planner
def test_who_does_not_learn_says_so(name, scene):
    planner = make(name, scene)
    if planner.learner_kind is Experience:
        planner.learn_with(Experience(*planner.memory))
        return
    with pytest.raises(UserError, match=f"{type(planner).__name__} does not learn from experience; choose: smc"):
        planner.learn_with(Experience(1, 1))


def test_unknown_planner():
    with pytest.raises(UserError, match=r"no planner 'cpb'; there are: .*cpbp.* \(did you mean 'cpbp'\?\)"):
        PLANNERS["cpb"]


@each_planner
def test_every_setting_must_be_a_number(name, scene, goal):
    settings = make(name, scene).settings
    taken = []
    for setting in names_of(settings):
        if setting in ("samples", "elites", "refine", "wrist_rule"):  # whole numbers and switches
            continue
        try:
            PLANNERS[name].make(scene, replaced(settings, {setting: float("nan")}), 0, 1).plan(scene.state(), goal)
            taken.append(setting)
        except UserError as error:
            assert setting.split(".")[-1] in str(error)
        except (ValueError, ArithmeticError):
            taken.append(setting)
    assert taken == []


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("calm.speed", 0.0, "speed must be a number above 0, got 0"),
        ("tense.limit", -1.0, "limit must be a number above 0, got -1"),
        ("calm.control_weight", -1.0, "control_weight must be a number 0 or more, got -1"),
        ("no_prior", 1.5, "no_prior must be a number 0 or more and at most 1, got 1.5"),
        ("regularisation", 0.0, "regularisation must be a number above 0, got 0"),
        ("cost_ceiling", 0.0, "cost_ceiling must be a number above 0, got 0"),
    ],
)
def test_cpbp_checks_its_settings(planned, setting, value, message):
    before = planned.planner.settings
    with pytest.raises(UserError, match=re.escape(message)):
        planned.set_parameters({setting: value})
    assert planned.planner.settings is before


def test_a_seed_is_not_negative(scene, small):
    with pytest.raises(UserError, match="seed"):
        CPBP(scene, small, seed=-1)


# C-PBP ----------------------------------------------------------------------------------------------


def even(**changes: float) -> CPBPSettings:
    """Settings with the same known scales at any effort; torque limits cost next to nothing."""
    scales = Scales(
        **{"speed": 2.0, "change": 1.0, "bend": 0.7, "pose": 1.0, "mutation": 0.5, "limit": 1e6, "control_weight": 0.3}
    )
    return CPBPSettings(samples=8, horizon=0.4, calm=scales, tense=scales, **changes)


def control_cost(scene, controls, done) -> float:
    """Of controls (K, size) after two that were done before, newest first (eq. 22), torque limits aside."""
    activity = np.array([joint.activity for joint in scene.character.joints.values()])
    x = np.vstack([done[1], done[0], controls])[:, : scene.drive.joints] / activity
    return float(
        (x[2:] ** 2).sum() / 2.0**2 + (np.diff(x, axis=0)[1:] ** 2).sum() + (np.diff(x, 2, axis=0) ** 2).sum() / 0.7**2
    )


@pytest.mark.parametrize("seed", range(3))
def test_cpbp_cost_is_the_goals_and_the_controls_along_the_way(scene, goal, seed):
    planner = CPBP(scene, even(resample_below=1.0), seed, 1)  # costs must follow the walkers through it
    world = Sims(scene, 1, 1)
    world.load(scene.state(*LYING))
    done = np.zeros((2, scene.drive.size))
    for _ in range(6):
        plan = planner.plan(world.state[0].copy(), goal)
        assert plan.statistics["resampled"] == planner.steps - 1
        assert plan.cost == pytest.approx(plan.values.sum() + 0.3 * control_cost(scene, plan.controls, done), rel=1e-9)
        world.act(plan.controls[:1])
        done = np.stack([plan.controls[0], done[0]])


def test_cpbp_takes_the_cheapest_walker(scene, goal):
    planner = CPBP(scene, even(resample_below=0.0), 1, 1)
    act, costs, controls = planner.sims.act, [], []

    def spied(control, **some):
        act(control, **some)
        costs.append(goal.cost(planner.sims))
        controls.append(control.copy())

    planner.sims.act = spied
    plan = planner.plan(scene.state(*LYING), goal)
    done = np.zeros((2, scene.drive.size))
    walked = np.array(controls).swapaxes(0, 1)
    totals = np.sum(costs, axis=0) + [0.3 * control_cost(scene, walk, done) for walk in walked]
    assert plan.statistics["resampled"] == 0
    assert plan.cost == pytest.approx(totals.min(), rel=1e-9)
    assert np.array_equal(plan.controls, walked[totals.argmin()])
    assert len(np.unique(totals)) == 8


class NotTheFirst(Term):
    """The first row is the worst of all."""

    name, sigma = "not_the_first", 1.0

    def residual(self, sims):
        return np.r_[1e3, np.zeros(sims.nsim - 1)]


def test_cpbp_replays_the_best_of_the_previous_frame(scene, goal):
    planner = CPBP(scene, even(resample_below=1.0), 1, 1)
    state = scene.state(*LYING)
    first = planner.plan(state, goal)
    act, seen = planner.sims.act, []

    def spied(control, **some):
        act(control, **some)
        seen.append((control[0].copy(), planner.sims.state[0].copy()))

    planner.sims.act = spied
    planner.plan(state, goal + Goal(NotTheFirst()))
    world = Sims(scene, 1, 1)
    world.load(state)
    for wanted, (control, after) in zip(first.controls[1:], seen, strict=False):
        world.act(wanted[None])
        assert np.array_equal(control, wanted)
        assert np.array_equal(after, world.state[0])  # resampling leaves this walker alone


def habits(pose: float) -> CPBPSettings:
    """One step of many walkers; known scales at any effort, with a pose prior of some width (rad)."""
    scales = Scales(speed=2.0, change=2.0, bend=2.0, pose=pose, mutation=1.0, limit=0.5, control_weight=1.0)
    return CPBPSettings(samples=400, horizon=1 / 30, calm=scales, tense=scales)


def drawn(scene, goal, pose) -> np.ndarray:
    """(800, size): what C-PBP draws first with two seeds, with nothing done before."""
    seen = []
    for seed in range(2):
        planner = CPBP(scene, habits(pose), seed, 1)
        planner.plan(scene.state("rest", height=10.0), goal)
        seen.append(planner.tree().controls[0])
    return np.concatenate(seen)


def test_cpbp_draws_towards_the_pose_that_the_goal_names(scene, goal):
    """Eq. 22 from rest: a product of three Gaussians about 0 and one about the speed that takes it there."""
    plain, spread = drawn(scene, goal, 0.2), drawn(scene, goal + Goal(pose="t-pose"), 0.2)
    assert np.array_equal(plain, drawn(scene, goal + Goal(pose="rest"), 0.2))
    joints = list(scene.character.joints)
    way = np.array(scene.character.pose("t-pose")) - np.array(scene.character.pose("rest"))
    activity = np.array([joint.activity for joint in scene.character.joints.values()])
    pull, hold = (0.2 * activity / scene.dt) ** -2, 3 * (2.0 * activity) ** -2
    error = 5 * (pull + hold) ** -0.5 / 800**0.5  # five standard errors
    assert (np.abs(spread.mean(axis=0)[: len(joints)] - way / scene.dt * pull / (pull + hold)) < error).all()
    assert (np.abs(plain.mean(axis=0)[: len(joints)]) < error).all()
    for side in ("left", "right"):
        lift = joints.index(f"{side}_shoulder_side")
        assert spread[:, lift].mean() > plain[:, lift].mean() + 1.0  # rad/s
    alike = np.r_[way == 0, np.ones(scene.drive.size - len(joints), bool)]
    assert np.array_equal(spread[:, alike], plain[:, alike])


def test_cpbp_lets_loose_what_the_goal_has_a_use_for(scene, goal):
    plain, loose = drawn(scene, goal, 0.02), drawn(scene, goal + Goal(loose=["left_arm"]), 0.02)
    arm = np.array([joint.group == "left_arm" for joint in scene.character.joints.values()])
    arm = np.r_[arm, np.zeros(scene.drive.size - arm.size, bool)]
    assert (loose[:, arm].std(axis=0) > 1.5 * plain[:, arm].std(axis=0)).all()
    assert np.array_equal(loose[:, ~arm], plain[:, ~arm])


def test_cpbp_knows_no_pose_of_another_name(scene, goal, small):
    with pytest.raises(UserError, match=r"no pose 'tpose'; there are: .*rest, .*\(did you mean 't-pose'\?\)"):
        CPBP(scene, small, 0, 1).plan(scene.state(), goal + Goal(pose="tpose"))


@pytest.mark.parametrize(("pose", "rises"), [("t-pose", True), ("rest", False)])
def test_following_the_habit_takes_the_arms_there(scene, pose, rises):
    """Mean draws alone, in free fall, so that nothing else moves."""
    goal, world = balance(scene) + Goal(pose=pose), Sims(scene, 1, 1)
    world.load(scene.state("rest", height=10.0))
    planner = CPBP(scene, dataclasses.replace(habits(0.05), samples=64), 0, 1)
    act, seen = planner.sims.act, []
    planner.sims.act = lambda control, **some: (seen.append(control.copy()), act(control, **some))
    for _ in range(20):
        planner.reset()
        planner.plan(world.state[0].copy(), goal)
        world.act(seen[-1].mean(axis=0, keepdims=True))
    for hand in ("left_hand", "right_hand"):
        higher = world.view(f"{hand}.pos")[0, 2] - world.view("pelvis.pos")[0, 2]
        assert (higher > 0.2) == rises


# A planner as a controller --------------------------------------------------------------------------


def test_planned_does_the_first_step_of_its_plan(scene, goal, planned, small):
    world = Sims(scene, 1, 1)
    world.load(scene.state(*LYING))
    planned.start(world)
    assert planned.latest is None
    before = world.state.copy()
    control = planned.control(world)
    assert control.shape == (1, scene.drive.size)
    assert np.array_equal(control[0], planned.latest.controls[0])
    assert np.array_equal(world.state, before)
    assert same([planned.latest], [CPBP(scene, small, 0, 1).plan(scene.state(*LYING), goal)])


def test_start_begins_anew(scene, planned):
    world = Sims(scene, 1, 1)
    world.load(scene.state(*LYING))
    first = [planned.control(world).copy() for _ in range(3)]
    planned.start(world)
    assert all(np.array_equal(control, planned.control(world)) for control in first)


def test_planned_controls_one_world(scene, planned):
    with pytest.raises(UserError, match="a planner controls one simulation, got 2"):
        planned.start(Sims(scene, 2, 1))


def test_balance_is_planned_for_until_something_is_wanted(scene, goal, small):
    world = Sims(scene, 1, 1)
    world.load(scene.state(*LYING))
    told, silent = Planned(CPBP(scene, small, 0, 1), goal), Planned(CPBP(scene, small, 0, 1))
    assert np.array_equal(told.control(world), silent.control(world))
    assert silent.goal.terms == goal.terms and silent.goal.ways == goal.ways


@pytest.mark.parametrize(
    ("want", "meant"),
    [
        (Go(speed=1.0, heading=0.5), lambda scene: steer(scene, (math.cos(0.5), math.sin(0.5)))),
        (Reach((0.5, 0.2, 1.2), hand="right"), lambda scene: reach(scene, (0.5, 0.2, 1.2), "right")),
        (Meet("turbo", {"velocity": (1.0, 0.0)}), lambda scene: turbo(scene, (1.0, 0.0))),
    ],
)
def test_what_is_wanted_is_planned_for(scene, planned, small, want, meant):
    world = Sims(scene, 1, 1)
    world.load(scene.state())
    planned.start(world)
    assert planned.refuses(world, want) is None and planned.goal.terms == balance(scene).terms  # asking changes nothing
    planned.want(world, want)
    control, expected = planned.control(world), CPBP(scene, small, 0, 1).plan(scene.state(), meant(scene))
    assert np.array_equal(control, expected.controls[:1])
    assert planned.latest.cost == expected.cost
    report = planned.report()
    assert report.plan is planned.latest and report.names == planned.goal.names == meant(scene).names
    before = planned.goal
    planned.want(world, want)
    assert planned.goal is before  # the same again is nothing new


def test_mcts_judges_going_by_gait(scene):
    planned, world = Planned(make("mcts", scene)), Sims(scene, 1, 1)
    world.load(scene.state())
    planned.want(world, Go(speed=1.0))
    assert planned.goal.terms == gait(scene, velocity=(1.0, 0.0)).terms
    planned.want(world, Go(speed=1.0, style="steer"))
    assert planned.goal.terms == steer(scene, (1.0, 0.0)).terms


REFUSED = [
    (Do("wait 1 s"), "planners do no scripts"),
    (Go(speed=1.0, crouch=0.1, bend=0.2), "planners go as they find out, and take no bend, crouch"),
    (Go(speed=1.0, style="happy"), "planners know no style 'happy'; they judge going by: steer, turbo, gait"),
    (Go(speed=99.0), "velocity must be 2 numbers within 20 m/s, got (99.0, 0.0)"),
    (StayOn("bal"), "no ball 'bal' in the scene; it has none; build it with props=[Ball(...)]"),
    (Balance(pose="reddy"), "no pose 'reddy'; there are: ready, rest, t-pose, taiko (did you mean 'ready'?)"),
    (Reach((0.5, 0.0, float("nan"))), "target must be 3 numbers within 1e+06 m"),
    (Meet("stand"), "no goal 'stand'; there are: balance, ball,"),
    (Together((Balance(), Juggle())), "planners do not judge balance and juggle at once"),
]


@pytest.mark.parametrize(("want", "why"), REFUSED, ids=[why[:40] for _, why in REFUSED])
def test_wants_are_refused_with_a_sentence_and_change_nothing(scene, planned, want, why):
    world = Sims(scene, 1, 1)
    world.load(scene.state())
    before = planned.goal
    assert why in planned.refuses(world, want)
    with pytest.raises(UserError, match=re.escape(why)):
        planned.want(world, want)
    assert planned.goal is before
    assert planned.control(world).shape == (1, scene.drive.size)


# Another scene --------------------------------------------------------------------------------------


def carried_of(planner) -> dict[str, Any]:
    """What earlier frames left behind, as arrays."""
    return {name: getattr(planner, name) for name in planner.carried if hasattr(planner, name)}


def alike(one: Any, two: Any) -> bool:
    """Whether two of what planners carry are equal: arrays, numbers, or objects of them."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, two)
    if isinstance(one, np.random.Generator):
        return one.bit_generator.state == two.bit_generator.state
    if isinstance(one, Address):  # of arrays that are compared by themselves
        return type(one) is type(two)
    if hasattr(one, "__dict__"):
        return type(one) is type(two) and all(alike(part, vars(two)[name]) for name, part in vars(one).items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(alike, one, two))
    return one == two


ROUNDING = 1e-6  # relative; a ball that rests is another island of contacts, and sums are rounded in another order


@each_planner
@pytest.mark.parametrize("ball", [False, True], ids=["the same", "a ball more"])
def test_a_planner_goes_on_in_another_scene(name, ball, scene, ball_scene, goal):
    """Plan and random numbers go along: the next frame is that of the planner that stayed, but for rounding."""
    stays, goes = frozen(make(name, scene)), frozen(make(name, scene))
    state, there = scene.state(*LYING), ball_scene if ball else Scene(humanoid())
    for _ in range(3):
        stays.plan(state, goal), goes.plan(state, goal)
    moved = goes.in_scene(there)
    assert type(moved) is type(goes) and moved.scene is there and moved.sims.scene is there
    assert moved.settings == goes.settings and moved.steps == goes.steps
    assert set(carried_of(moved)) == set(carried_of(stays)) != set()
    for attribute, value in carried_of(stays).items():
        assert alike(value, getattr(moved, attribute)), attribute
    one, two = stays.plan(state, goal), moved.plan(there.carried(state, scene), balance(there))
    if ball:
        assert two.controls == pytest.approx(one.controls, rel=ROUNDING, abs=ROUNDING)
        assert two.path == pytest.approx(one.path, rel=ROUNDING, abs=ROUNDING)
        assert two.cost == pytest.approx(one.cost, rel=ROUNDING)
    else:
        assert same([one], [two])
        for attribute, value in carried_of(stays).items():
            assert alike(value, getattr(moved, attribute)), attribute
    fresh = make(name, there).plan(there.carried(state, scene), balance(there))
    assert np.abs(fresh.controls - two.controls).max() > 0.01


def test_who_forgot_nothing_of_it_goes_along(scene, ball_scene, goal, small):
    """What `_forget` drops is what is carried."""
    for name in PLANNERS:
        planner = make(name, scene)
        known = set(vars(planner))
        planner.plan(scene.state(*LYING), goal)
        before = dict(vars(planner))
        planner._forget()
        dropped = {key for key, value in vars(planner).items() if value is not before.get(key)}
        assert dropped & known <= set(planner.carried), name


@pytest.mark.parametrize(("name", "changes"), [("mcts", {}), ("cpbp", {"informed": 4})])
def test_learners_are_shared_with_the_planner_in_the_other_scene(name, changes, scene, ball_scene, goal):
    planner = make(name, scene, **changes)
    planner.plan(scene.state(), goal)
    moved = planner.in_scene(ball_scene)
    assert moved.learner is planner.learner is not None
    moved.plan(ball_scene.state(), balance(ball_scene))
    planner.close()


def test_experience_is_shared_with_the_planner_in_the_other_scene(scene, ball_scene):
    planner = make("smc", scene)
    planner.learn_with(Experience(*planner.memory))
    assert planner.in_scene(ball_scene).learner is planner.learner is not None


def test_planned_moves_with_its_planner_its_weights_and_what_is_wanted(scene, ball_scene, small):
    world = Sims(scene, 1, 1)
    world.load(scene.state())
    planned = Planned(CPBP(scene, small, 0, 1))
    planned.want(world, Reach((0.5, 0.2, 1.2)))
    planned.set_parameters({"weight.height": 2.0, "calm.speed": 0.25})
    planned.control(world)
    best = planned.planner._best
    planned.move(ball_scene)
    assert planned.scene is planned.planner.scene is ball_scene and planned.drive is ball_scene.drive
    assert planned.planner._best is best and planned.settings.calm.speed == 0.25
    assert planned.weights == {"height": 2.0}
    assert planned.goal.terms == reach(ball_scene, (0.5, 0.2, 1.2)).terms
    there = Sims(ball_scene, 1, 1)
    there.load(ball_scene.carried(world.state[0], scene))
    planned.want(there, StayOn())  # the new ball is there
    assert planned.control(there).shape == (1, 35)


# Playback -------------------------------------------------------------------------------------------


def recorded(scene, goal, small, frames=5) -> tuple[np.ndarray, np.ndarray]:
    """Controls (frames, size) and states (frames, nstate) of a planner's run."""
    world, planned = Sims(scene, 1, 1), Planned(CPBP(scene, small, 0, 1), goal)
    world.load(scene.state(*LYING))
    controls, states = [], []
    for _ in range(frames):
        controls.append(planned.control(world)[0].copy())
        world.act(controls[-1][None])
        states.append(world.state[0].copy())
    return np.array(controls), np.array(states)


def test_playback_does_again_what_was_done(scene, goal, small):
    controls, states = recorded(scene, goal, small)
    planner = CPBP(scene, small, 0, 1)
    again = Planned(Playback(planner, controls), goal)
    world = Sims(scene, 1, 1)
    world.load(scene.state(*LYING))
    for control, state in zip(controls, states, strict=True):
        done = again.control(world)
        world.act(done)
        assert np.array_equal(done[0], control) and np.array_equal(world.state[0], state)
        plan = again.latest
        assert (plan.sim_steps, plan.broken, plan.cost, plan.effort) == (0, 0, 0.0, 0.0)
        assert plan.values.shape == (1, len(goal.terms)) and plan.path.shape == plan.smoothed.shape == (0, 3)
    with pytest.raises(UserError, match="the recording has 5 controls, and one more was asked for"):
        again.control(world)


def test_playback_goes_on_whatever_planners_are_told(scene, ball_scene, goal, small):
    """Starting anew, settings and scenes did their work when it was recorded."""
    controls, _ = recorded(scene, goal, small)
    played = Playback(CPBP(scene, small, 0, 1), controls)
    planned, world = Planned(played, goal), Sims(scene, 1, 1)
    world.load(scene.state())
    seen = [planned.control(world)[0].copy()]
    planned.start(world)
    seen.append(planned.control(world)[0].copy())
    planned.set_parameters({"samples": 12, "calm.speed": 0.25})
    assert planned.planner is played and (planned.settings.samples, planned.settings.calm.speed) == (12, 0.25)
    seen.append(planned.control(world)[0].copy())
    planned.move(ball_scene)
    assert planned.planner is played and played.scene is ball_scene
    there = Sims(ball_scene, 1, 1)
    there.load(ball_scene.state())
    planned.want(there, Juggle())
    seen.append(planned.control(there)[0].copy())
    assert np.array_equal(seen, controls[:4])
    planned.close()


@pytest.mark.parametrize("name", ["mcts", "cpbp"])
def test_playback_judges_as_its_planner_did(name, scene):
    planner = make(name, scene)
    assert Playback(planner, np.empty((0, 35))).go_style == planner.go_style
    assert Playback(planner, np.empty((0, 35))).settings is planner.settings


@each_planner
def test_every_setting_can_be_set_by_name(name, scene, goal):
    planned = Planned(make(name, scene), goal)
    settings = planned.planner.settings
    for setting in names_of(settings):
        part, value = settings, None
        for field in setting.split("."):
            part = value = getattr(part, field)
        if not isinstance(value, (bool, int, float)):
            continue
        planned.set_parameters({setting: float(value)})
    assert planned.planner.settings == settings
    assert {"samples", "horizon"} <= set(names_of(settings))


def test_set_parameters(scene, planned):
    first = planned.planner
    planned.set_parameters({"calm.speed": 0.25})
    assert planned.planner is first
    assert first.settings.calm.speed == 0.25
    assert first.settings.tense.speed == CPBPSettings().tense.speed
    planned.set_parameters({"refine": 0})
    assert first.settings.refine is False
    planned.set_parameters({"samples": 12})
    assert planned.planner is not first
    assert planned.planner.sims.nsim == 12
    assert planned.planner.settings.calm.speed == 0.25
    planned.set_parameters({"horizon": 0.5})
    assert planned.planner.steps == 15
    world = Sims(scene, 1, 1)
    world.load(scene.state())
    assert planned.control(world).shape == (1, 35)


def test_weights_multiply_the_terms_of_this_goal_and_the_next(scene, goal, small):
    world = Sims(scene, 1, 1)
    world.load(scene.state("t-pose", lying="supine"))
    plain, weighted = (Planned(CPBP(scene, small, 0, 1), goal) for _ in range(2))
    weighted.set_parameters({"weight.height": 3.0, "weight.upright": 0.0, "spread": CPBPSettings().spread})
    place = goal.names.index("height")
    heavy = goal.weighted({"height": 3.0, "upright": 0.0})
    assert heavy.values(world)[0, place] == 3 * goal.values(world)[0, place] > 0
    assert heavy.values(world)[0, goal.names.index("upright")] == 0 < goal.values(world)[0, goal.names.index("upright")]
    expected = CPBP(scene, small, 0, 1).plan(world.state[0].copy(), heavy)
    assert np.array_equal(weighted.control(world), expected.controls[:1])
    plain.control(world)
    assert plain.latest.cost != weighted.latest.cost == expected.cost
    weighted.want(world, Go(speed=1.0))
    weighted.control(world)
    report = weighted.report()
    assert report.names == steer(scene, (1, 0)).names != goal.names
    assert (report.plan.values[:, report.names.index("upright")] == 0).all()
    assert report.plan.values[:, report.names.index("straight")].all()
    with pytest.raises(UserError, match=r"no term 'hight' in the goal; .*did you mean 'height'"):
        weighted.set_parameters({"weight.hight": 1.0})
    with pytest.raises(UserError, match="weight of term 'height' must be a number 0 or more"):
        weighted.set_parameters({"weight.height": -1.0})
    assert weighted.weights == {"height": 3.0, "upright": 0.0}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("samplse", r"no setting 'samplse'; there are: calm\.bend, .* \(did you mean 'samples'\?\)"),
        ("calm.sped", r"no setting 'sped'; there are: .*speed"),
        ("calm", "no setting 'calm'"),
        ("calm.", "no setting 'calm.'"),
        ("samples.x", "no setting 'samples.x'"),
        ("__class__", "no setting '__class__'"),
        ("", "no setting ''"),
    ],
)
def test_unknown_settings(planned, name, message):
    before = planned.planner.settings
    with pytest.raises(UserError, match=message):
        planned.set_parameters({name: 1.0})
    assert planned.planner.settings is before


def test_bad_values_leave_the_planner_as_it_was(planned):
    before = planned.planner
    with pytest.raises(UserError, match="samples must be a number 2 or more"):
        planned.set_parameters({"samples": 0})
    with pytest.raises(UserError, match="horizon must be a number"):
        planned.set_parameters({"horizon": -1})
    assert planned.planner is before


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_whole_numbers_are_checked(planned, value):
    try:
        planned.set_parameters({"samples": value})
    except UserError as error:
        assert "samples" in str(error)
    else:
        pytest.fail("took it")
