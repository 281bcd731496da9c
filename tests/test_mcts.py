"""FDI-MCTS, rajamaki2017 section 3.1: who is informed by what, its frames, recovery, and what it learns."""

import inspect
import re
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tumble.characters import character
from tumble.errors import UserError
from tumble.goals import Goal, Term, gait
from tumble.learners import informed
from tumble.learners.experience import Experience
from tumble.planners import MCTS, MCTSSettings, Plan, Planned
from tumble.planners.mcts import mcts
from tumble.planners.mcts.mcts import Roles
from tumble.world.scene import Scene
from tumble.world.sims import Sims

SMALL = MCTSSettings(samples=8, horizon=0.2)
DRAW = list(inspect.signature(mcts.draw.py_func).parameters)  # names of what it is told
FEWEST = 100  # pairs without which the network is not trained


@pytest.fixture(scope="module")
def hopper() -> Scene:
    return Scene(character("monoped"))


@pytest.fixture(scope="module")
def stroll(hopper) -> Goal:
    return gait(hopper, velocity=(0.5, 0.0))


@pytest.fixture(scope="module")
def pairs(hopper) -> tuple[np.ndarray, np.ndarray]:
    """States and actions of a monoped that was at it for 120 frames."""
    planner = make(hopper, updates=0)
    live(planner, gait(hopper, velocity=(0.5, 0.0)), 120)
    kept = planner.learner.kept()
    return kept["states"], kept["actions"]


def make(scene: Scene, seed: int = 0, nthread: int = 1, **changes: Any) -> MCTS:
    return MCTS(scene, replace(SMALL, **changes), seed, nthread)


def taught(scene: Scene, pairs: tuple[np.ndarray, np.ndarray], updates: int = 20, **changes: Any) -> MCTS:
    """A planner whose forest and network know the pairs."""
    planner = make(scene, **changes)
    for state, action in zip(*pairs, strict=True):
        planner.learner.add(state, action)
    planner.learner.work(updates)
    return planner


def start(scene: Scene, state: np.ndarray | None = None) -> Sims:
    world = Sims(scene, 1, 1)
    world.load(scene.state() if state is None else state)
    return world


def live(planner: MCTS, goal: Goal, frames: int, state: np.ndarray | None = None) -> list[Plan]:
    """Plans of frames in which the first control of each is carried out."""
    world, plans = start(planner.scene, state), []
    for _ in range(frames):
        plans.append(planner.plan(world.state[0].copy(), goal))
        world.act(plans[-1].controls[:1])
    return plans


def told(plans: list[Plan]) -> bytes:
    """All that plans say, to the last bit."""
    arrays = (getattr(plan, name) for plan in plans for name in ("controls", "values", "path", "paths"))
    return b"".join(array.tobytes() for array in arrays) + repr([(p.cost, p.statistics) for p in plans]).encode()


def learned(planner: MCTS, pairs: tuple[np.ndarray, np.ndarray]) -> bytes:
    """All that the learners say, to the last bit."""
    forest, network = planner.learner.forest, planner.learner.network
    return b"".join(array.tobytes() for array in (*forest.recall(pairs[0]), network.predict(pairs[0])))


def spied(monkeypatch, name: str) -> list[tuple]:
    """Arguments of an inner loop of the planner as it is called, arrays copied."""
    calls, inner = [], getattr(mcts, name)

    def spy(*arguments):
        result = inner(*arguments)
        calls.append(tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments))
        return result

    monkeypatch.setattr(mcts, name, spy)
    return calls


def alive() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "tumble learners"]


@pytest.fixture(autouse=True)
def no_thread_is_left(monkeypatch):
    """Ends what a failing test leaves behind, so that no other fails with it."""
    begun, begin = [], informed.Learners.start
    monkeypatch.setattr(informed.Learners, "start", lambda learners: (begun.append(learners), begin(learners))[1])
    yield
    left = alive()
    for learners in begun:
        learners._error = None
        learners.stop()
    assert left == []


# Roles ----------------------------------------------------------------------------------------------

PAPER = MCTSSettings(samples=64, free=0.25, plain=3, noisy=3, neighbours=3)  # section 4.2


def slots(roles: Roles) -> dict[str, list[int]]:
    return {name: list(range(64))[part] for name, part in vars(roles).items()}


def test_roles_are_as_many_as_in_the_paper():
    """Slot 0 is the old best; 16 that are in no slice are free; the rest goes by the last frame."""
    found = slots(Roles.of(PAPER, advised=True, recalled=True, guided=True))
    informed = [slot for part in found.values() for slot in part]
    assert {name: len(part) for name, part in found.items()} == {
        "plain": 3, "noisy": 3, "neighbours": 3, "previous": 64 - 1 - 3 - 3 - 16 - 3,
    }  # fmt: skip
    assert len({*informed}) == len(informed) == 64 - 1 - 16 and 0 not in informed


@pytest.mark.parametrize("advised", [False, True])
@pytest.mark.parametrize("recalled", [False, True])
def test_without_a_learner_its_slots_fall_to_the_last_frame(advised, recalled):
    found = slots(Roles.of(PAPER, advised=advised, recalled=recalled, guided=True))
    assert (found["plain"] == found["noisy"] == []) == (not advised)
    assert (found["neighbours"] == []) == (not recalled)
    assert sum(map(len, found.values())) == 64 - 1 - 16


@pytest.mark.parametrize("advised", [False, True])
@pytest.mark.parametrize("recalled", [False, True])
def test_in_the_first_frame_all_but_the_learners_are_free(advised, recalled):
    found = slots(Roles.of(PAPER, advised=advised, recalled=recalled, guided=False))
    assert found["previous"] == []
    assert len(found["plain"] + found["noisy"]) == (6 if advised else 0)
    assert len(found["neighbours"]) == (3 if recalled else 0)


@pytest.mark.parametrize("advised", [False, True])
@pytest.mark.parametrize("recalled", [False, True])
@pytest.mark.parametrize("guided", [False, True])
@pytest.mark.parametrize("free", [0.0, 0.25, 1.0])
def test_roles_fit_any_number_of_slots(advised, recalled, guided, free):
    """In order, one after the other, from slot 1 on."""
    for n in range(2, 70):
        roles = Roles.of(replace(PAPER, samples=n, free=free), advised, recalled, guided)
        assert list(vars(roles)) == ["plain", "noisy", "neighbours", "previous"]
        end = 1
        for part in vars(roles).values():
            assert part.step is None and end == part.start <= part.stop <= n
            end = part.stop


def told_to_draw(hopper, pairs, monkeypatch, **changes: Any) -> list[SimpleNamespace]:
    """What the second frame of a taught planner has drawn, step by step."""
    planner, goal = taught(hopper, pairs, samples=16, **changes), gait(hopper, velocity=(0.5, 0.0))
    planner.learner.growing = False
    planner.plan(hopper.state(), goal)
    calls = spied(monkeypatch, "draw")
    planner.plan(hopper.state(), goal)
    return [SimpleNamespace(**dict(zip(DRAW, call, strict=True)), planner=planner) for call in calls]


def test_a_frame_draws_by_the_roles(hopper, pairs, monkeypatch):
    steps = told_to_draw(hopper, pairs, monkeypatch)
    roles = Roles.of(steps[0].planner.settings, True, True, True)
    assert len(steps) == 6
    for k, step in enumerate(steps):
        last = k == 5  # of which the last frame has nothing to say
        kind = np.array(["free"] * 16, dtype=object)
        for role, rows in vars(roles).items():
            kind[rows] = role
        kind[0], kind[roles.neighbours.start] = "best", "nearest"
        assert np.array_equal(step.given == 1, kind == "plain")
        assert np.array_equal(step.given == 2, ((kind == "best") & (not last)) | (kind == "nearest"))
        assert np.array_equal(step.advised, kind == "noisy")
        by_frame, by_forest = np.isin(kind, ["noisy", "previous"]), np.isin(kind, ["nearest", "neighbours"])
        assert np.array_equal(step.guided, (by_frame & (not last)) | by_forest)
        assert len({*kind}) == 7
        assert np.array_equal(step.actions[step.given == 2], step.guides[step.given == 2])


def test_advice_is_the_networks(hopper, pairs, monkeypatch):
    steps = told_to_draw(hopper, pairs, monkeypatch)
    planner = steps[0].planner
    rows = slice(1, Roles.of(planner.settings, True, True, True).noisy.stop)
    for k, step in enumerate(steps):
        assert np.array_equal(step.advice[rows], planner.learner.network.predict(planner._starts[k, rows]))
    assert not np.array_equal(steps[3].advice[rows], steps[0].advice[rows])


@pytest.mark.parametrize("kept", [0.0, 0.25, 1.0])
def test_the_last_frames_best_trajectories_guide(hopper, stroll, monkeypatch, kept):
    """By the states and actions of the same moment, one step on; the best of all comes first."""
    planner, state = make(hopper, samples=16, kept=kept), hopper.state()
    first = planner.plan(state, stroll)
    tables, draws, done = spied(monkeypatch, "Table"), spied(monkeypatch, "draw"), planner._done
    planner.plan(state, stroll)
    assert (len(tables), len(draws)) == (5, 6)  # of the last step there is nothing to say
    world, features = start(hopper, state), np.empty((1, planner.memory[0]), np.float32)
    rows = Roles.of(planner.settings, False, True, True).previous
    assert rows.start < rows.stop
    for k, (known,) in enumerate(tables):
        actions, guides = done[k + 1], draws[k][DRAW.index("guides")][rows]
        assert (guides[:, None] == actions).all(axis=2).any(axis=1).all()
        world.act(first.controls[k : k + 1])
        planner._features.of(world, stroll, False, features)
        angles = world.view("qpos")[0, hopper.drive.qpos]
        assert len(known) == len(actions) == max(1, 16 * kept)
        assert np.array_equal(known[0], features[0])
        assert actions[0] == pytest.approx(angles + first.controls[k + 1, :6] / planner.settings.gain)


def test_in_the_first_frame_the_forest_guides_already(hopper, stroll, pairs, monkeypatch):
    calls, planner = spied(monkeypatch, "draw"), taught(hopper, pairs, samples=16)
    planner.plan(hopper.state(), stroll)
    rows, wanted = Roles.of(planner.settings, True, True, False).neighbours, np.zeros(16, bool)
    wanted[rows] = True
    assert wanted.any()
    for call in calls:
        assert np.array_equal(call[DRAW.index("guided")], wanted)


def test_switches_turn_network_and_forest_off(hopper, pairs, monkeypatch):
    asked = []
    planner = taught(hopper, pairs, network=False, forest=False)
    monkeypatch.setattr(planner.learner.network, "predict", lambda states: asked.append("network"))
    monkeypatch.setattr(planner.learner.forest, "nearest", lambda states: asked.append("forest"))
    live(planner, gait(hopper, velocity=(0.5, 0.0)), 3)
    assert asked == []


def test_the_forest_guides_where_it_knows_a_nearer_state(hopper, pairs, monkeypatch):
    """Two neighbours' slots; what the forest says is done with is told from what the last frame did by its number."""
    goal = gait(hopper, velocity=(0.5, 0.0))
    for far, expected in ((0.0, True), (np.inf, False)):
        planner = make(hopper, samples=16)
        planner.plan(hopper.state(), goal)
        monkeypatch.setattr(
            planner.learner.forest,
            "recall",
            lambda states, far=far: (np.full((len(states), 6), 0.123), np.full(len(states), far - 1.0)),
        )
        with monkeypatch.context() as patch:
            calls = spied(patch, "draw")
            planner.plan(hopper.state(), goal)
        rows = Roles.of(planner.settings, False, True, True).neighbours
        guides, guided = (np.array([call[DRAW.index(name)] for call in calls]) for name in ("guides", "guided"))
        by_forest = (guides == 0.123).all(axis=2) & guided
        assert by_forest[:, rows].all() if expected else not by_forest.any()
        assert not np.delete(by_forest, range(16)[rows], axis=1).any()
        assert guided[-1, rows].all() == expected  # of the last step the last frame has nothing to say


# Frames ---------------------------------------------------------------------------------------------


def test_same_seed_same_plans_at_any_number_of_threads(hopper, stroll):
    plans = told(live(make(hopper, 3), stroll, 12))
    assert plans == told(live(make(hopper, 3), stroll, 12))
    assert plans == told(live(make(hopper, 3, nthread=2), stroll, 12))
    assert plans != told(live(make(hopper, 4), stroll, 12))


def test_with_ready_learners_too(hopper, stroll, pairs):
    plans = [told(live(taught(hopper, pairs, nthread=threads), stroll, 6)) for threads in (1, 1, 2)]
    assert plans[0] == plans[1] == plans[2]
    assert plans[0] != told(live(make(hopper), stroll, 6))


def test_planning_leaves_the_state_alone(hopper, stroll, pairs):
    planner, state = taught(hopper, pairs), hopper.state()
    before = state.copy()
    for _ in range(3):
        planner.plan(state, stroll)
        assert np.array_equal(state, before)


@pytest.mark.parametrize("lying", ["upright", "supine"])
def test_values_path_and_cost_are_those_of_doing_it(hopper, stroll, pairs, lying):
    planner, world = taught(hopper, pairs, threshold=0.2), start(hopper, hopper.state(lying=lying))
    pruned = 0
    for _ in range(8):
        state = world.state[0].copy()
        plan = planner.plan(state, stroll)
        replay = start(hopper, state)
        for control, values, place in zip(plan.controls, plan.values, plan.path, strict=True):
            replay.act(control[None])
            assert np.array_equal(stroll.values(replay)[0], values)
            assert np.array_equal(replay.view("ends")[0, :3], place)
        assert plan.cost == pytest.approx(plan.values.sum())
        assert plan.sim_steps == 8 * 6
        assert any(np.array_equal(plan.path, path) for path in plan.paths)
        pruned += plan.statistics["pruned"]
        world.act(plan.controls[:1])
    assert pruned > 0  # lineages were followed through forks


def test_the_cheapest_trajectory_is_done(hopper, stroll):
    planner = make(hopper, threshold=1e12)  # nobody is pruned
    planner.plan(hopper.state(), stroll)
    act, costs, controls = planner.sims.act, [], []

    def spy(control, *some):
        act(control, *some)
        costs.append(stroll.cost(planner.sims))
        controls.append(control.copy())

    planner.sims.act = spy  # type: ignore[method-assign]
    plan = planner.plan(hopper.state(), stroll)
    totals = np.sum(costs, axis=0)
    assert plan.statistics["pruned"] == 0
    assert plan.statistics["best_slot"] == totals.argmin()
    assert plan.cost == pytest.approx(totals.min())
    assert np.array_equal(plan.controls, np.array(controls)[:, totals.argmin()])
    assert len(np.unique(totals)) == 8


@pytest.mark.parametrize("lying", ["upright", "supine"])
def test_the_old_best_is_repeated_to_the_last_bit(hopper, stroll, pairs, lying):
    """Where the world did what was planned, slot 0 does as predicted, all but the last step, frame after frame."""
    planner, world, last = taught(hopper, pairs), start(hopper, hopper.state(lying=lying)), None
    act, seen = planner.sims.act, []

    def spy(control, *some):
        act(control, *some)
        seen.append((control[0].copy(), stroll.values(planner.sims)[0]))

    planner.sims.act = spy  # type: ignore[method-assign]
    repeated = 0
    for _ in range(10):
        seen.clear()
        plan = planner.plan(world.state[0].copy(), stroll)
        controls, values = (np.array(part) for part in zip(*seen, strict=True))
        if last is not None and plan.statistics["recovering"] == last.statistics["recovering"]:
            assert np.array_equal(controls[:-1], last.controls[1:])
            assert np.array_equal(values[:-1], last.values[1:])
            assert np.array_equal(plan.paths[0, :-1], last.path[1:])
            assert plan.cost <= last.values[1:].sum() + values[-1].sum() + 1e-9  # it is one of those to choose from
            repeated += 1
        world.act(plan.controls[:1])
        last = plan
    assert repeated >= 3


def test_the_threshold_comes_from_the_last_step_of_the_previous_best(hopper, stroll, monkeypatch):
    """The erratum; without a previous one nobody is pruned."""
    calls = spied(monkeypatch, "fork")
    planner = make(hopper, threshold=2.0)
    first, second, _ = live(planner, stroll, 3)
    thresholds = np.array([call[1] for call in calls]).reshape(3, 6)
    assert (thresholds[0] == np.inf).all() and first.statistics["pruned"] == 0
    assert thresholds[1] == pytest.approx(2 * first.values[-1].sum())
    assert thresholds[2] == pytest.approx(2 * second.values[-1].sum())
    assert all(call[2] == 1 for call in calls)  # slot 0 alone is fixed
    planner.reset()
    calls.clear()
    planner.plan(hopper.state(), stroll)
    assert {call[1] for call in calls} == {np.inf}


def test_who_was_pruned_goes_on_as_a_copy(hopper, stroll):
    """Fully greedy: after every step all but slot 0 go on from the best, with its state and cost."""
    planner = make(hopper, threshold=0.0)
    planner.plan(hopper.state(), stroll)
    take, taken = planner.sims.take, []
    planner.sims.take = lambda parents: (taken.append(parents.copy()), take(parents))  # type: ignore[method-assign]
    plan = planner.plan(hopper.state(), stroll)
    assert len(taken) == 5 and all(parents[0] == 0 and len({*parents[1:]}) == 1 for parents in taken)
    assert plan.statistics["pruned"] >= 5 * 6
    assert len(np.unique(plan.paths[1:, :-1], axis=0)) == 1  # they part at the last step


@pytest.mark.parametrize("lying", ["upright", "supine"])
@pytest.mark.parametrize("threshold", [0.0, 0.2])
def test_who_was_pruned_is_seen_where_it_goes_on(hopper, stroll, pairs, monkeypatch, lying, threshold):
    """At every draw, states that learners are asked about and actions before it are those of what is simulated."""
    planner = taught(hopper, pairs, threshold=threshold)
    planner.plan(hopper.state(lying=lying), stroll)
    other, seen, inner = Sims(hopper, 8, 1), [], mcts.draw

    def spy(actions, control, normal, uniform, before, *rest):
        features = np.empty((8, planner.memory[0]), np.float32)
        other.load(planner.sims.state)
        planner._features.of(other, stroll, planner.recovering, features)
        inner(actions, control, normal, uniform, before, *rest)
        seen.append((features, before.copy(), actions.copy()))

    monkeypatch.setattr(mcts, "draw", spy)
    first = planner._best[0].copy()
    plan = planner.plan(hopper.state(lying=lying), stroll)
    assert plan.statistics["pruned"] > 0 or threshold > 0
    for k, (features, before, _) in enumerate(seen):
        assert planner._starts[k] == pytest.approx(features, abs=1e-4)
        assert np.array_equal(before, seen[k - 1][2][planner._ancestors[k]] if k else np.tile(first, (8, 1)))


def test_draws_are_towards_the_pose_that_the_goal_names(monkeypatch):
    scene = Scene(character("humanoid-walker"))
    for pose in (None, "rest", "t-pose"):
        calls = spied(monkeypatch, "draw")
        make(scene, samples=2, horizon=0.1).plan(scene.state(), gait(scene, velocity=(1, 0)) + Goal(pose=pose))
        assert all(np.array_equal(call[DRAW.index("rest")], scene.character.pose(pose or "rest")) for call in calls)
        assert len(calls) == 3
        monkeypatch.undo()


def test_the_first_frame_goes_on_from_the_angles_there_are(hopper, stroll, monkeypatch):
    calls, state = spied(monkeypatch, "draw"), hopper.state(lying="prone")
    make(hopper).plan(state, stroll)
    assert np.array_equal(calls[0][DRAW.index("before")], np.tile(hopper.show(state).qpos[hopper.drive.qpos], (8, 1)))


def test_reset_forgets_frames_and_not_what_was_learned(hopper, stroll):
    planner = make(hopper)
    live(planner, stroll, 5)
    planner.reset()
    assert planner.learner.network.added == 5 and not planner.recovering
    with_none = make(hopper, forest=False, network=False)
    plans = told(live(with_none, stroll, 5))
    with_none.reset()
    assert told(live(with_none, stroll, 5)) == plans


@pytest.mark.parametrize("rows", [[0, 1, 2], [1, 3, 5, 7], [1, 2, 3, 4, 5, 6, 7]], ids=str)
@pytest.mark.parametrize("step", [0, 3, 5])
def test_broken_rows_never_win_and_are_pruned(hopper, stroll, rows, step):
    planner, state = make(hopper), hopper.state(lying="supine")
    planner.plan(state, stroll)
    act, count = planner.sims.act, 0

    def spoiled(control, *some):
        nonlocal count
        if count % 6 == step:
            planner.sims.view("qvel")[rows] = np.nan
        count += 1
        act(control, *some)

    planner.sims.act = spoiled  # type: ignore[method-assign]
    for _ in range(3):
        plan = planner.plan(state, stroll)
        assert plan.broken == len(rows)
        assert np.isfinite(plan.cost) and plan.cost == pytest.approx(plan.values.sum())
        world = start(hopper, state)
        for control, values in zip(plan.controls, plan.values, strict=True):
            world.act(control[None])
            assert np.array_equal(stroll.values(world)[0], values)


class NoNumber(Term):
    """No number in some rows."""

    name, sigma = "no_number", 1.0

    def residual(self, sims):
        return np.where(np.arange(sims.nsim) % 2, np.nan, 0.0)


def test_a_cost_that_is_no_number_is_infinite(hopper, stroll):
    planner = make(hopper)
    for _ in range(3):
        plan = planner.plan(hopper.state(), stroll + Goal(NoNumber()))
        assert np.isfinite(plan.cost) and plan.statistics["best_slot"] % 2 == 0
    assert plan.statistics["pruned"] >= 5 * 4  # those of no number, as soon as they are


@pytest.mark.parametrize("search", [True, False])
@pytest.mark.parametrize("number", [np.nan, 1e30])
@pytest.mark.parametrize("place", ["qpos", "qvel"])
def test_a_state_that_is_no_number_is_survived_by_a_trained_planner(hopper, stroll, pairs, search, number, place):
    planner, state = taught(hopper, pairs, search=search), hopper.state()
    planner.plan(state, stroll)
    state[3 if place == "qpos" else 3 + hopper.model.nq] = number
    assert np.isfinite(planner.plan(state, stroll).controls).all()
    assert np.isfinite(planner.plan(hopper.state(), stroll).cost)


@pytest.mark.parametrize("name", ["planar-walker", "quadruped", "humanoid-walker", "humanoid"])
def test_any_character_with_few_samples(name):
    scene = Scene(character(name))
    goal = gait(scene, velocity=(1, 0))
    for plan in live(make(scene, samples=2, horizon=0.1), goal, 3):
        assert plan.controls.shape == (3, scene.drive.size)
        assert np.isfinite(plan.cost)


# Recovery -------------------------------------------------------------------------------------------


def motion(calls: list[tuple]) -> tuple[np.ndarray, float, float]:
    """Widths in degrees of pose, change, acceleration and variation; gain; strength."""
    (values,) = {
        (tuple(np.degrees(call[DRAW.index("precision")] ** -0.5).round(9)), call[-2], call[-1]) for call in calls
    }
    return np.array(values[0]), values[1], values[2]


CUSTOM = {
    "pose_width": 20.0, "change_width": 30.0, "acceleration_width": 12.0, "variation": 2.0, "gain": 8.0,
    "strength": 0.4, "recovery_gain": 3.0, "recovery_strength": 0.9, "recovery_width": 4.0,
}  # fmt: skip


def test_who_stands_moves_as_the_settings_say(hopper, stroll, monkeypatch):
    calls, planner = spied(monkeypatch, "draw"), make(hopper, **CUSTOM)
    plan = planner.plan(hopper.state(), stroll)
    widths, gain, strength = motion(calls)
    assert widths == pytest.approx([20, 30, 12, 2]) and (gain, strength) == (8.0, 0.4)
    assert not planner.recovering and plan.statistics["recovering"] == 0
    assert (plan.controls[:, hopper.drive.joints :] == 0.4).all()


@pytest.mark.parametrize("lying", ["supine", "prone"])
def test_who_is_down_is_stronger_stiffer_and_bolder(hopper, stroll, monkeypatch, lying):
    calls, planner = spied(monkeypatch, "draw"), make(hopper, **CUSTOM)
    plan = planner.plan(hopper.state(lying=lying), stroll)
    widths, gain, strength = motion(calls)
    assert widths[[0, 3]] == pytest.approx([4 * 20, 4 * 2])
    assert widths[2] == pytest.approx(12)  # facts 5.2
    assert (gain, strength) == (3 * 8.0, 0.9)
    assert planner.recovering and plan.statistics["recovering"] == 1
    assert (plan.controls[:, hopper.drive.joints :] == 0.9).all()


def test_who_is_going_to_be_down_recovers_from_the_next_frame_on(hopper, stroll):
    """Level, 10 cm up and all but limp, it lands within 0.15 s whatever it does; a metre up, it does not."""
    planner = make(hopper, horizon=0.3, strength=0.01, recovery_strength=0.01)
    falling, high = (hopper.state(lying="supine", height=height) for height in (0.1, 1.0))
    for state, recovering in ((falling, False), (falling, True), (high, True), (high, False), (falling, False)):
        planner.plan(state, stroll)
        assert planner.recovering == recovering
    planner.reset()
    planner.plan(high, stroll)
    assert not planner.recovering


@pytest.mark.parametrize("name", ["monoped", "humanoid-walker"])
def test_standing_on_the_feet_is_not_being_down(name):
    scene = Scene(character(name))
    planner = make(scene)
    planner.plan(scene.state(), gait(scene, velocity=(0, 0)))
    assert not planner.recovering


def test_recovery_is_told_to_the_learners(hopper, stroll):
    planner = make(hopper)
    for lying in ("upright", "supine"):
        planner.reset()
        planner.plan(hopper.state(lying=lying), stroll)
    assert sorted(planner.learner.kept()["states"][:, 1]) == [0, 10]


# Without search -------------------------------------------------------------------------------------


@pytest.mark.parametrize("lying", ["upright", "supine"])
def test_without_search_the_network_is_followed(hopper, stroll, pairs, lying):
    planner = taught(hopper, pairs, search=False)
    act = planner.sims.act
    planner.sims.act = None  # type: ignore[assignment]
    state = hopper.state(lying=lying)
    before, plan = learned(planner, pairs), planner.plan(state, stroll)
    planner.sims.act = act  # type: ignore[method-assign]
    assert plan.sim_steps == 0 and plan.broken == 0
    assert plan.controls.shape == (1, hopper.drive.size)
    data, down = hopper.show(state), lying == "supine"
    features = np.empty((8, planner.memory[0]), np.float32)
    planner.sims.load(state)
    planner._features.of(planner.sims, stroll, down, features)
    low, high = np.array([hopper.model.joint(joint).range for joint in hopper.character.joints]).T
    angles = np.clip(planner.learner.network.predict(features[:1])[0], low, high)
    settings = planner.settings
    gain = settings.gain * (settings.recovery_gain if down else 1)
    strength = settings.recovery_strength if down else settings.strength
    assert plan.controls[0, :6] == pytest.approx(gain * (angles - data.qpos[hopper.drive.qpos]), abs=1e-5)
    assert (plan.controls[0, 6:] == strength).all()
    assert plan.values == pytest.approx(stroll.values(start(hopper, state))) and plan.cost == plan.values.sum()
    assert len(planner.learner) == len(pairs[0]) and learned(planner, pairs) == before


def test_without_search_and_without_a_trained_network_there_is_search(hopper, stroll):
    planner = make(hopper, search=False)
    assert [plan.sim_steps for plan in live(planner, stroll, 3)] == [48, 48, 48]


def test_search_can_be_switched_on_and_off(hopper, stroll, pairs):
    planner, world = taught(hopper, pairs), start(hopper)
    for search in (True, False, False, True, True, False, True):
        assert planner.configured(replace(planner.settings, search=search)) is planner
        plan = planner.plan(world.state[0].copy(), stroll)
        assert (plan.sim_steps > 0) == search
        assert np.isfinite(plan.cost)
        world.act(plan.controls[:1])


# Learning -------------------------------------------------------------------------------------------


def test_what_is_done_is_taught_to_both(hopper, stroll, monkeypatch):
    planner, world, pairs = make(hopper), start(hopper), []
    add = planner.learner.add
    monkeypatch.setattr(
        planner.learner, "add", lambda *pair: (pairs.append([array.copy() for array in pair]), add(*pair))
    )
    features = np.empty((8, planner.memory[0]), np.float32)
    for frame in range(4):
        state = world.state[0].copy()
        plan = planner.plan(state, stroll)
        planner.sims.load(state)
        planner._features.of(planner.sims, stroll, planner.recovering, features)
        angles = hopper.show(state).qpos[hopper.drive.qpos]
        assert np.array_equal(pairs[frame][0], features[0])
        assert pairs[frame][1] == pytest.approx(angles + plan.controls[0, :6] / planner.settings.gain)
        world.act(plan.controls[:1])
    assert planner.learner.network.added == len(planner.learner) == len(pairs) == 4
    found, distances = planner.learner.forest.recall(np.array([state for state, _ in pairs]))
    assert found == pytest.approx(np.array([action for _, action in pairs]), abs=1e-6)
    assert distances == pytest.approx(0)


def test_the_network_is_trained_so_much_every_frame(hopper, stroll):
    planner = make(hopper, updates=2)
    live(planner, stroll, FEWEST + 5)
    assert planner.learner.network.updates == 2 * 6  # from the frame with the hundredth pair on
    other = make(hopper, updates=2, network=False)
    live(other, stroll, FEWEST + 5)
    assert other.learner.network.updates == 0 and other.learner.network.added == FEWEST + 5


def test_learning_in_step_gives_the_same_bits(hopper, stroll, pairs):
    bits = set()
    for threads in (1, 1, 2):
        planner = taught(hopper, pairs, nthread=threads, updates=3)
        plans = live(planner, stroll, 8)
        bits.add(learned(planner, pairs) + told(plans))
    assert len(bits) == 1


@pytest.mark.parametrize("background", [False, True])
def test_frozen_learners_are_taught_nothing(hopper, stroll, pairs, background):
    planner = taught(hopper, pairs, background=background)
    planner.learner.growing = False
    before, updates = learned(planner, pairs), planner.learner.network.updates
    live(planner, stroll, 4)
    planner.close()
    assert planner.learner.network.added == len(planner.learner) == len(pairs[0])
    assert planner.learner.network.updates == updates
    assert learned(planner, pairs) == before


def test_learners_that_are_frozen_as_they_learn_stop_at_the_next_frame(hopper, stroll, pairs):
    planner = taught(hopper, pairs, background=True)
    planner.plan(hopper.state(), stroll)
    planner.learner.growing = False
    planner.plan(hopper.state(), stroll)
    running = alive()
    planner.close()
    assert running == []


def test_learners_that_were_restored_are_as_good_as_those_that_were_kept(hopper, stroll, pairs):
    """What is kept is the network to the last bit; trees are others, so without the forest plans are the same."""
    planner, other = taught(hopper, pairs, forest=False), make(hopper, forest=False)
    other.learner.restore(planner.learner.kept())
    assert other.learner.network.ready
    for made in (planner, other):
        made.learner.growing = False
    assert told(live(other, stroll, 3)) == told(live(planner, stroll, 3))


def test_it_has_learners_of_its_own_and_takes_no_experience(hopper):
    planner = make(hopper)
    assert planner.learns and planner.memory == (43, 6)
    with pytest.raises(UserError, match="MCTS does not learn from experience; choose: smc"):
        planner.learn_with(Experience(*planner.memory))


def test_other_sizes_keep_what_was_learned(hopper, stroll, pairs):
    planner = taught(hopper, pairs)
    for change in ({"samples": 12}, {"horizon": 0.4}, {"samples": 5, "horizon": 0.1}):
        other = planner.configured(replace(planner.settings, **change))
        assert other is not planner
        assert other.learner is planner.learner
        plan = other.plan(hopper.state(), stroll)
        assert plan.sim_steps == other.settings.samples * other.steps
    assert planner.configured(replace(planner.settings, variation=1.0)) is planner


@pytest.mark.parametrize("change", [{"gain": 20.0}, {"gain": 20.0, "samples": 12}], ids=str)
def test_what_experience_must_have_in_common_is_what_it_is_now(hopper, change):
    """An action is a reference angle, which means nothing without K_P."""
    planner = make(hopper)
    assert planner.configured(replace(planner.settings, **change)).about["gain"] == 20.0


def test_of_another_gain_nothing_that_was_learned_is_of_use(hopper, pairs):
    planner = taught(hopper, pairs)
    other = planner.configured(replace(planner.settings, gain=20.0, samples=12))
    assert other.learner is not planner.learner and not other.learner.network.ready


# In the background ----------------------------------------------------------------------------------


def test_in_the_background_a_thread_learns_until_it_is_closed(hopper, stroll, pairs):
    planner = taught(hopper, pairs, background=True)
    assert alive() == []
    live(planner, stroll, 2)
    assert len(alive()) == 1 and planner.learner.running
    before = planner.learner.network.updates
    for _ in range(1000):
        if planner.learner.network.updates > before:
            break
        threading.Event().wait(0.01)
    live(planner, stroll, 2)
    running, after = alive(), planner.learner.network.updates
    planner.close()
    assert len(running) == 1 and after > before
    assert alive() == [] and not planner.learner.running
    planner.close()


def test_switching_it_off_ends_the_thread_at_the_next_frame(hopper, stroll):
    planned = Planned(make(hopper, background=True), stroll)
    world = start(hopper)
    planned.control(world)
    assert len(alive()) == 1
    planned.set_parameters({"background": 0.0})
    planned.control(world)
    assert alive() == []


def test_other_sizes_keep_the_thread(hopper, stroll):
    planner = make(hopper, background=True)
    planner.plan(hopper.state(), stroll)
    other = planner.configured(replace(planner.settings, samples=12))
    other.plan(hopper.state(), stroll)
    assert len(alive()) == 1
    other.close()
    assert alive() == []


def test_who_leaves_learners_behind_ends_their_thread(hopper, stroll):
    planned, world = Planned(make(hopper, background=True), stroll), start(hopper)
    planned.control(world)
    planned.set_parameters({"samples": 12, "gain": 20.0})
    planned.control(world)
    assert len(alive()) == 1
    planned.close()
    assert alive() == []


class Odd(Exception):
    pass


@pytest.mark.parametrize("where", ["plan", "close"])
def test_what_goes_wrong_in_the_thread_reaches_the_caller(hopper, stroll, monkeypatch, where):
    planner = make(hopper, background=True)

    def train(updates):
        raise Odd("out of order")

    monkeypatch.setattr(planner.learner.network, "train", train)
    planner.learner.start()
    planner.learner._thread.join(10)
    with pytest.raises(Odd, match="out of order"):
        planner.plan(hopper.state(), stroll) if where == "plan" else planner.close()
    planner.close()
    assert alive() == []


# Settings -------------------------------------------------------------------------------------------

NAN = float("nan")
BAD = [
    ({"kept": 1.5}, "kept must be a number 0 or more and at most 1, got 1.5"),
    ({"free": -0.1}, "free must be a number 0 or more and at most 1, got -0.1"),
    ({"plain": -1}, "plain must be a number 0 or more and at most 10000, got -1"),
    ({"noisy": NAN}, "noisy must be a number 0 or more and at most 10000, got nan"),
    ({"neighbours": -3}, "neighbours must be a number 0 or more and at most 10000, got -3"),
    ({"threshold": -1.0}, "threshold must be a number 0 or more, got -1"),
    ({"pose_width": 0.0}, "pose_width must be a number above 0, got 0"),
    ({"variation": NAN}, "variation must be a number above 0, got nan"),
    ({"gain": 0.0}, "gain must be a number above 0, got 0"),
    ({"strength": 1.1}, "strength must be a number above 0 and at most 1, got 1.1"),
    ({"recovery_strength": 0.0}, "recovery_strength must be a number above 0 and at most 1, got 0"),
    ({"recovery_width": 0.0}, "recovery_width must be a number above 0, got 0"),
    ({"updates": -1}, "updates must be a number 0 or more and at most 10000, got -1"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=[str(change) for change, _ in BAD])
def test_bad_settings(change, message):
    with pytest.raises(UserError, match=re.escape(message)):
        MCTSSettings(**change)


@pytest.mark.parametrize("change", [{"kept": 0.0}, {"kept": 1.0}, {"free": 1.0}, {"free": 0.0}, {"plain": 50}], ids=str)
def test_the_ends_of_the_shares_are_taken(hopper, stroll, pairs, change):
    for plan in live(taught(hopper, pairs, **change), stroll, 3):
        assert np.isfinite(plan.cost)


def test_settings_of_the_paper():
    """Sections 3.1, 4.1, 4.2 and Table 2, where the authors' code does not say otherwise."""
    paper = {
        "plain": 3, "noisy": 3, "neighbours": 3, "free": 16 / 64, "threshold": 2.0, "pose_width": 25.0, "gain": 10.0,
        "recovery_width": 5.0,
    }  # fmt: skip
    assert {name: getattr(MCTSSettings(), name) for name in paper} == paper
