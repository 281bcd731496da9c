"""C-PBP with walkers that are guided by what was learned: whom, by what, how widely; what is taught; and when off."""

import dataclasses
import json
import re

import numpy as np
import pytest
from test_planners import LYING, least_cost, live, replayed, sabotage, same

from tumble.characters import character
from tumble.cli import dispatch
from tumble.errors import UserError
from tumble.goals import gait
from tumble.learners.experience import Experience
from tumble.planners import CPBP, CPBPSettings, PFMPCSettings, Planned
from tumble.planners.cpbp.cpbp import Scales
from tumble.planners.cpbp.kernels import propose
from tumble.planners.features import Features
from tumble.settings import replaced
from tumble.world.scene import Scene
from tumble.world.sims import Sims

NOISE = {"Q = 0": {}, "Q != 0": {"transition_place": 0.05, "transition_speed": 0.5}}
each_noise = pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)


def make(scene, informed=3, seed=0, nthread=1, **changes) -> CPBP:
    """A planner of twelve futures of 0.2 s. Slots 2 to 4 go without a prior; 5 is the first to be informed."""
    return CPBP(scene, CPBPSettings(**{"samples": 12, "horizon": 0.2, "informed": informed, **changes}), seed, nthread)


def features_of(scene, goal, states) -> np.ndarray:
    """(n, features) of states (n, nstate), in simulations of their own."""
    sims, features = Sims(scene, len(states), 1), Features(scene)
    sims.load(states)
    out = np.empty((len(states), features.size), np.float32)
    features.of(sims, goal, False, out)
    return out


def teach(planner, control, pairs=1) -> None:
    """Have the learners know one control for some random states; the network from 100 pairs on."""
    rng = np.random.default_rng(1)
    for state in rng.standard_normal((pairs, planner.memory[0])):
        planner.learner.add(state, control)
    planner.learner.work(1)


# Off ------------------------------------------------------------------------------------------------


BEFORE = {  # costs of six plans in a row, of the code before there was `informed`
    "Q = 0": (
        CPBPSettings(samples=8, horizon=0.2),
        [18720.6853, 18481.6743, 18274.3235, 17955.2987, 17754.4086, 16654.2045],
    ),
    "Q != 0": (
        CPBPSettings(samples=8, horizon=0.2, wrist_rule=True, **NOISE["Q != 0"]),
        [18720.6853, 18582.512, 18395.3197, 18218.2005, 18059.4988, 17876.2359],
    ),
    "PF-MPC": (
        PFMPCSettings(samples=8, horizon=0.2),
        [18720.6853, 18481.6743, 18274.3235, 17955.2987, 17731.7057, 16654.2045],
    ),
}


@pytest.mark.parametrize(("settings", "costs"), BEFORE.values(), ids=BEFORE)
def test_off_it_is_what_it_was(scene, goal, settings, costs):
    plans = live(CPBP(scene, settings, 3, 1), goal, 6)
    assert [plan.cost for plan in plans] == pytest.approx(costs, rel=1e-6)  # other processors round otherwise


def test_off_it_walks_as_it_did():
    scene = Scene(character("humanoid-walker"))
    plans = live(CPBP(scene, CPBPSettings(), 3, 1), gait(scene, velocity=(1, 0)), 6, ("rest",))
    costs = [10592.073, 9886.608, 9483.37057, 8818.91283, 8745.40156, 8548.51869]
    assert [plan.cost for plan in plans] == pytest.approx(costs, rel=1e-6)


@each_noise
def test_who_knows_nothing_plans_as_ever(scene, goal, noise):
    plain, informed = live(make(scene, 0, **noise), goal), live(make(scene, **noise), goal)
    assert same(plain[:1], informed[:1])
    assert not same(plain[1:2], informed[1:2])  # the forest knows a state


def test_nothing_is_learned_by_default(scene, goal, small):
    for planner in (CPBP(scene, small, 0, 1), CPBP(scene, PFMPCSettings(samples=8, horizon=0.2), 0, 1)):
        live(planner, goal, 2)
        assert (planner.learns, planner.memory, planner.about, planner.learner) == (False, None, {}, None)
        with pytest.raises(UserError, match="CPBP does not learn from experience; choose: smc"):
            planner.learn_with(Experience(1, 1))
    assert CPBP.learns is False


# Who is guided, and by what -------------------------------------------------------------------------


def told(scene, goal, pairs, noise, informed) -> list[int]:
    """Slots whose first control depends on what the learners know."""
    controls = []
    for value in (0.2, -0.2):
        planner = make(scene, informed, **noise)
        if informed:
            teach(planner, np.full(scene.drive.size, value), pairs)
        planner.plan(scene.state(), goal)
        controls.append(planner.tree().controls[0])
    return np.flatnonzero((controls[0] != controls[1]).any(axis=1)).tolist()


@each_noise
@pytest.mark.parametrize(
    ("pairs", "informed", "slots"),
    [
        (1, 4, [7, 8]),  # the forest's half; the network was not trained
        (100, 4, [5, 6, 7, 8]),
        (100, 1, [5]),
        (1, 1, []),
        (1, 3, [7]),
        (100, 10_000, [5, 6, 7, 8, 9, 10, 11]),
        (100, 0, []),
    ],
)
def test_slots(scene, goal, noise, pairs, informed, slots):
    assert told(scene, goal, pairs, noise, informed) == slots


def test_where_all_go_without_a_prior_nobody_is_informed(scene, goal):
    assert same(live(make(scene, 0, no_prior=1.0), goal), live(make(scene, 3, no_prior=1.0), goal))


@each_noise
def test_learners_are_asked_about_the_walkers_own_states(scene, goal, noise):
    """In every step, after resampling: roles belong to slots, and a walker that comes to one is asked about."""
    planner = make(scene, 4, resample_below=1.0, **noise)
    teach(planner, np.zeros(scene.drive.size), 100)
    network, forest, states = [], [], []
    predict, nearest, act = planner.learner.network.predict, planner.learner.forest.recall, planner.sims.act
    planner.learner.network.predict = lambda rows: (network.append(rows.copy()), predict(rows))[1]
    planner.learner.forest.recall = lambda rows: (forest.append(rows.copy()), nearest(rows))[1]
    planner.sims.act = lambda control: (states.append(planner.sims.state.copy()), act(control))
    plans = live(planner, goal, 2)
    assert [plan.statistics["resampled"] for plan in plans] == [5, 5]
    assert (planner.tree().ancestors[1:, 5:9] != [5, 6, 7, 8]).any()
    assert len(network) == len(forest) == len(states) == 12
    for one, other, rows in zip(network, forest, states, strict=True):
        seen = features_of(scene, goal, rows)
        assert one == pytest.approx(seen[5:7], abs=1e-4)
        assert other == pytest.approx(seen[7:9], abs=1e-4)


WIDTHS = Scales(speed=2.0, change=1.0, bend=1.5, pose=0.1, mutation=0.3, limit=0.5, control_weight=1.0)


def joint_precision(scene) -> tuple[np.ndarray, np.ndarray]:
    """(joints,) each: 1 / width^2 of all Gaussians but the guide's in eq. 22, and of the guide's."""
    activity = np.array([joint.activity for joint in scene.character.joints.values()])
    others = sum(1 / (width * activity) ** 2 for width in (2.0, 1.0, 1.5, 0.1 / scene.dt))
    return others, 1 / (0.3 * activity) ** 2


@each_noise
@pytest.mark.parametrize("spread", [1.0, 4.0])
def test_advice_is_a_guide_of_the_mutation_width(scene, goal, noise, spread):
    """From rest, nothing done before: all other Gaussians are about 0. Three planners draw, for 300 of a kind."""
    wanted = 0.3 * np.random.default_rng(0).standard_normal(scene.drive.size)
    state, joints = scene.state("rest", height=10.0), scene.drive.joints
    others, own = joint_precision(scene)
    widths = [1 / np.sqrt(spread ** (2 * i / 3) * (others + own)) for i in range(4)]  # degrees of boldness
    off, inside = {}, np.ones(joints, bool)  # standard deviations; inside where bounds cut off nothing
    for seed in range(3):
        planner = make(
            scene, 800, seed, samples=802, horizon=1 / 30, no_prior=0.0, spread=spread, calm=WIDTHS, tense=WIDTHS,
            **noise,
        )  # fmt: skip
        teach(planner, wanted, 100)
        planner.plan(state, goal)
        said = planner.learner.network.predict(features_of(scene, goal, state[None]))[0]
        said = np.clip(said, scene.drive.low, scene.drive.high)  # it has learned next to nothing
        drawn = planner.tree().controls[0][:, :joints]
        for guide, rows in ((said, np.arange(2, 402)), (wanted, np.arange(402, 802))):
            mean = own / (others + own) * guide[:joints]
            inside &= np.abs(mean) + 5 * widths[0] < scene.drive.high[:joints]
            for i, width in enumerate(widths):
                off.setdefault((guide is said, i), []).append((drawn[rows[rows % 4 == i]] - mean) / width)
    assert len(off) == 8 and inside.sum() > 10
    for x in (np.concatenate(parts)[:, inside] for parts in off.values()):
        assert len(x) == 300
        assert (np.abs(x.mean(axis=0)) < 5 / np.sqrt(300)).all()
        assert (np.abs(x.var(axis=0) - 1) < 5 * np.sqrt(2 / 300)).all()


def test_the_kernel_takes_advice_as_a_previous_frame_of_one_step():
    """As C-PBP calls it for informed rows: each row has a guide of its own."""
    rng, n = np.random.default_rng(0), 20_000
    advice, before = np.tile([[0.5, -1.0], [2.0, 0.0]], (n // 2, 1)), np.tile([0.4, -0.3], (n, 1))
    precision = np.array([[1.0, 2.0], [3.0, 0.5], [0.2, 1.0], [0.0, 0.0], [5.0, 2.0]])
    out, expense, none, far = np.empty((n, 2)), np.empty(n), np.empty((0, 2)), np.full(2, 50.0)
    propose(
        out, expense, rng.standard_normal((n, 2)), rng.random((n, 2)), before, before, np.empty((n, 0)),
        np.empty(0, np.intp), np.empty(0), 1 / 30, advice[None], none, none, np.arange(n), 0, 0,
        precision, np.zeros(2), -far, far, False, np.ones(n),
    )  # fmt: skip
    total = precision.sum(axis=0)
    for i in range(2):
        x = out[i::2]
        mean = ((precision[1] + precision[2]) * before[0] + precision[4] * advice[i]) / total
        assert (np.abs(x.mean(axis=0) - mean) < 5 * np.sqrt(1 / total / len(x))).all()
        assert (np.abs(x.var(axis=0) - 1 / total) < 5 / total * np.sqrt(2 / len(x))).all()
    straight = precision[0] * out**2 + (precision[1] + precision[2]) * (out - before) ** 2
    assert expense == pytest.approx(straight.sum(axis=1))


# What is taught -------------------------------------------------------------------------------------


@each_noise
def test_a_pair_a_frame_of_what_was_done(scene, goal, noise):
    """And learned a little: eight updates a frame once there are a hundred."""
    planner, world = make(scene, seed=2, **noise), Sims(scene, 1, 1)
    pairs = taught(planner)
    world.load(scene.state(*LYING))
    states, controls = [], []
    for frame in range(103):
        states.append(world.state[0].copy())
        controls.append(planner.plan(states[-1], goal).controls[0])
        world.act(controls[-1][None])
        assert len(pairs) == len(planner.learner) == planner.learner.network.added == frame  # the last comes later
        assert planner.learner.network.updates == 8 * max(0, frame - 99)
    seen, done = (np.array(column) for column in zip(*pairs, strict=True))
    assert seen == pytest.approx(features_of(scene, goal, np.array(states[:-1])), abs=1e-4)
    assert np.array_equal(done, controls[:-1])
    recalled, distances = planner.learner.forest.recall(seen[-5:])
    assert np.array_equal(recalled, done[-5:].astype(np.float32))
    assert (distances == 0).all()


def taught(planner) -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs that the learners are taught, as it goes on."""
    pairs, add = [], planner.learner.add
    planner.learner.add = lambda *pair: (pairs.append(tuple(each.copy() for each in pair)), add(*pair))
    return pairs


def test_a_plan_that_was_not_carried_out_is_not_taught(scene, goal):
    planner = make(scene)
    pairs = taught(planner)
    planner.plan(scene.state(), goal)
    done = planner.plan(scene.state(), goal, again=True).controls[0]
    assert len(pairs) == 0
    planner.plan(scene.state(), goal)
    assert [control.tolist() for _, control in pairs] == [done.tolist()]


def test_what_is_frozen_is_used_and_not_added_to(scene, goal):
    planner, other = make(scene), make(scene)
    live(planner, goal, 5)
    other.learner = planner.learner
    other.learner.growing = False
    assert not same(live(other, goal, 1), live(make(scene), goal, 1))
    live(other, goal, 3)
    assert len(other.learner) == other.learner.network.added == 4


def test_it_learns_by_learners_and_not_from_experience(scene):
    planner = make(scene)
    with pytest.raises(UserError, match="CPBP does not learn from experience; choose: smc"):
        planner.learn_with(Experience(*planner.memory))


def test_what_was_learned_outlives_reset(scene, goal):
    planner = make(scene)
    first = live(planner, goal)
    assert same(first, live(make(scene), goal))
    planner.reset()
    assert not same(first[:1], live(planner, goal, 1))
    assert planner.learner.network.added == 3


def test_it_can_be_switched_while_it_plans(scene, goal):
    planned = Planned(make(scene, 0), goal)
    planner = planned.planner
    live(planner, goal, 2)
    planned.set_parameters({"informed": 4})
    live(planner, goal, 3)
    learners = planner.learner
    assert (planner.learns, learners.network.added) == (True, 2)
    planned.set_parameters({"informed": 0})
    live(planner, goal, 3)
    assert (planner.learns, planner.memory, planner.about, learners.network.added) == (False, None, {}, 3)
    planned.set_parameters({"informed": 2})
    live(planner, goal, 3)
    assert planner.learner is learners
    assert learners.network.added == 5
    planned.set_parameters({"samples": 10})
    assert planned.planner is not planner
    assert planned.planner.learner is learners
    live(planned.planner, goal, 3)
    assert learners.network.added == 8  # it goes on: what was done before is taught too


def test_what_it_says_of_itself(scene):
    planner = make(scene)
    assert planner.learns
    assert planner.memory == (Features(scene).size, scene.drive.size)
    assert planner.about == {"character": "humanoid", "planner": "cpbp"}


def call(*words: object) -> int:
    """The exit code of a command, whether it returns or exits."""
    try:
        return dispatch([str(word) for word in words])
    except SystemExit as end:
        return int(end.code or 0)


TINY = ["--seconds", "0.2", "--samples", "8", "--horizon", "0.1", "--threads", "1"]


def test_a_file_of_what_was_learned(tmp_path, capsys):
    path = tmp_path / "a.experience"
    run = ["run", "stand", "--controller", "cpbp", *TINY, "--learned", path, "--json"]
    for trials, learned in ((1, 5), (2, 15)):  # six frames each
        assert call(*run, "--informed", 2, "--trials", trials) == 0
        assert json.loads(capsys.readouterr().out)["learned"] == learned
    before = path.read_bytes()
    assert call(*run, "--informed", 2, "--frozen") == 0
    assert path.read_bytes() == before
    capsys.readouterr()
    assert call(*run) == 2
    assert capsys.readouterr().err == "tumble: controller 'cpbp' does not learn; choose: smc, mcts\n"


# The contract of planners ---------------------------------------------------------------------------


@each_noise
def test_same_seed_same_plans_at_any_number_of_threads(scene, goal, noise):
    def plans(seed: int, nthread: int) -> list:
        planner = make(scene, 6, seed=seed, nthread=nthread, **noise)
        teach(planner, np.full(scene.drive.size, 0.3), 99)  # the network speaks from the second frame on
        return live(planner, goal, 12)

    one = plans(5, 1)
    assert same(one, plans(5, 2))
    assert not same(one[:1], plans(6, 1)[:1])


@each_noise
def test_values_and_path_are_those_of_doing_it(scene, goal, noise):
    planner, world = make(scene, 6, horizon=0.4, **noise), Sims(scene, 1, 1)
    teach(planner, np.full(scene.drive.size, 0.8), 100)
    world.load(scene.state(*LYING))
    for _ in range(4):
        state = world.state[0].copy()
        plan = planner.plan(state, goal)
        values, path = replayed(scene, goal, state, plan.controls)
        assert np.array_equal(plan.values, values)
        assert np.array_equal(plan.path, path)
        assert plan.cost >= least_cost(scene, goal, state, plan) * (1 - 1e-12)
        controls = planner.tree().controls
        assert (scene.drive.low <= controls).all() and (controls <= scene.drive.high).all()
        world.act(plan.controls[:1])


@each_noise
def test_advice_beyond_the_bounds(scene, goal, noise):
    planner = make(scene, 6, **noise)
    teach(planner, np.full(scene.drive.size, 1e6), 100)
    planner.plan(scene.state(), goal)
    controls = planner.tree().controls
    assert (scene.drive.low <= controls).all() and (controls <= scene.drive.high).all()


@each_noise
@pytest.mark.parametrize("rows", [[0, 1, 2], [5, 6, 7, 8], list(range(1, 12))], ids=str)
def test_a_broken_row_never_wins(scene, goal, noise, rows):
    planner, state = make(scene, 4, **noise), scene.state(*LYING)
    teach(planner, np.zeros(scene.drive.size), 100)
    sabotage(planner, rows, step=2)
    for _ in range(3):
        plan = planner.plan(state, goal)
        values, _ = replayed(scene, goal, state, plan.controls)
        assert plan.broken == len(rows)
        assert np.array_equal(plan.values, values)
        assert least_cost(scene, goal, state, plan) * (1 - 1e-12) <= plan.cost < np.inf


@each_noise
def test_where_all_break_planning_goes_on(scene, goal, noise):
    planner = make(scene, 4, **noise)
    teach(planner, np.zeros(scene.drive.size), 100)
    sabotage(planner, slice(None), step=3)
    for _ in range(3):
        assert planner.plan(scene.state(*LYING), goal).cost == np.inf
    del planner.sims.act
    state = scene.state()
    state[3] = np.nan
    for _ in range(2):
        assert planner.plan(state, goal).cost == np.inf
    assert np.isfinite(planner.plan(scene.state(), goal).cost)


def test_a_goal_with_a_course(scene):
    plans = live(make(scene, 6), gait(scene, velocity=(1, 0)), 3, ("rest",))
    assert np.isfinite([plan.cost for plan in plans]).all()


# Bad settings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, "informed must be a number 0 or more and at most 10000, got -1"),
        (10_001, "informed must be a number 0 or more and at most 10000, got 10001"),
        (float("nan"), "informed must be a whole number, got nan"),
        (float("inf"), "informed must be a whole number, got inf"),
        (2.5, "informed must be a whole number, got 2.5"),
    ],
)
def test_bad_numbers_of_walkers(value, message):
    with pytest.raises(UserError, match=re.escape(message)):
        replaced(CPBPSettings(), {"informed": value})


def test_pf_mpc_is_not_informed():
    assert PFMPCSettings.informed == 0
    assert "informed" not in [field.name for field in dataclasses.fields(PFMPCSettings)]
    with pytest.raises(UserError, match="no setting 'informed'"):
        replaced(PFMPCSettings(), {"informed": 1})
