"""Rollouts: what was kept is what live simulations showed, to the last bit, and goals judge it alike."""

import re

import numpy as np
import pytest

from tumble.errors import UserError
from tumble.goals import GOALS, Goal, Term
from tumble.world.rollouts import Rollouts
from tumble.world.sims import Sims

STEPS, NSIM = 6, 5
FIELDS = ("qpos", "qvel", "time", "xipos", "cvel", "xquat", "ctrl", "sensordata")
OPTIONS = {
    "balance": {"pose": "ready", "roll": True},
    "reach": {"target": (0.5, 0.2, 1.2)},
    "ball-reach": {"target": (0.5, 0.2, 1.2)},
    "steer": {"velocity": (1, 0)},
    "turbo": {"velocity": (1, 0)},
    "gait": {"velocity": (1, 0)},
}


def act(sims, rng, rows=slice(None)) -> None:
    """A step of random controls."""
    low, high = sims.scene.drive.low, sims.scene.drive.high
    sims.act(rng.uniform(low, high, (len(sims.broken[rows]), len(low))), rows=rows)


def rolled(scene, steps=STEPS, watch=lambda sims: None, breaks=None):
    """Rollouts of all rows from lying by random controls, and what was seen of the live simulations, step by step."""
    sims, rng, seen = Sims(scene, NSIM, 1), np.random.default_rng(0), []
    sims.load(scene.state("t-pose", "supine"))
    rollouts = Rollouts(sims, steps)
    for k in range(steps):
        if k == breaks:
            sims.view("qvel")[2] = np.nan
        act(sims, rng)
        rollouts.note(k, slice(NSIM))
        seen.append(watch(sims))
    return rollouts, seen


@pytest.mark.parametrize("rows", [slice(NSIM), slice(1, 4), slice(3, 4)], ids=str)
def test_views_are_what_live_simulations_showed(ball_scene, rows):
    names = [*ball_scene.channels, *FIELDS]
    rollouts, seen = rolled(ball_scene, watch=lambda sims: {name: sims.view(name).copy() for name in names})
    found = rollouts.of(rows)
    assert found.steps == STEPS
    assert found.nsim == STEPS * (rows.stop - (rows.start or 0))
    for name in names:
        live = np.stack([step[name][rows] for step in seen], axis=1)  # all steps of a row before those of the next
        assert np.array_equal(found.view(name), live.reshape(found.view(name).shape)), name
        assert len(found.view(name)) == found.nsim
    assert len(np.unique(found.view("qpos"), axis=0)) == found.nsim  # no row was kept twice


def test_rows_are_noted_a_batch_at_a_time(scene):
    """As planners do it: all steps of some rows, then those of others."""
    together, _ = rolled(scene)
    sims, rng = Sims(scene, NSIM, 1), np.random.default_rng(0)
    low, high = scene.drive.low, scene.drive.high
    controls = [rng.uniform(low, high, (NSIM, len(low))) for _ in range(STEPS)]
    sims.load(scene.state("t-pose", "supine"))
    batches = Rollouts(sims, STEPS)
    for rows in (slice(0, 2), slice(2, 3), slice(3, NSIM)):
        for k in range(STEPS):
            sims.act(controls[k][rows], rows=rows)
            batches.note(k, rows)
    for name in (*scene.channels, *FIELDS):
        assert np.array_equal(together.of(slice(NSIM)).view(name), batches.of(slice(NSIM)).view(name)), name


@pytest.mark.parametrize("name", GOALS)
def test_every_goal_judges_rollouts_as_it_judges_live_simulations(ball_scene, name):
    goal = GOALS[name](ball_scene, **OPTIONS.get(name, {}))
    rollouts, seen = rolled(ball_scene, watch=lambda sims: (goal.values(sims), goal.way_costs(sims), goal.cost(sims)))
    found = rollouts.of(slice(NSIM))
    stacked = (np.stack(parts, axis=1) for parts in zip(*seen, strict=True))
    values, ways, costs = (parts.reshape(NSIM * STEPS, *parts.shape[2:]) for parts in stacked)
    assert np.array_equal(goal.values(found), values)
    assert np.array_equal(goal.way_costs(found), ways)
    assert np.array_equal(goal.cost(found), costs)
    assert values.shape == (STEPS * NSIM, len(goal.terms))
    assert ways.shape == (STEPS * NSIM, len(goal.ways))
    assert np.array_equal(goal.values(rollouts.of(slice(1, 3))), values[STEPS : 3 * STEPS])


@pytest.mark.parametrize("breaks", [0, 3, STEPS - 1])
def test_a_row_that_broke_costs_infinity_from_its_first_step_on(scene, goal, breaks):
    rollouts, _ = rolled(scene, breaks=breaks)
    found = rollouts.of(slice(NSIM))
    costs = goal.cost(found).reshape(NSIM, STEPS)
    assert np.isinf(costs[2]).all()
    assert np.isfinite(np.delete(costs, 2, axis=0)).all()
    assert np.array_equal(np.isinf(goal.way_costs(found)).any(axis=1), found.broken)
    assert np.isfinite(goal.cost(rollouts.of(slice(3, 5)))).all()
    assert list(found.broken) == [i // STEPS == 2 for i in range(NSIM * STEPS)]


def test_kept_channels_and_rollouts_are_live(scene):
    rollouts, seen = rolled(scene, watch=lambda sims: sims.view("ends").copy())
    ends, found = rollouts.kept("ends"), rollouts.of(slice(NSIM))
    assert ends.shape == (NSIM, STEPS, seen[0].shape[1])
    assert np.array_equal(ends, np.stack(seen, axis=1))
    act(rollouts.sims, np.random.default_rng(1))
    rollouts.note(0, slice(NSIM))
    assert not np.array_equal(ends[:, 0], seen[0])
    assert np.array_equal(ends[:, 1:], np.stack(seen[1:], axis=1))
    assert np.array_equal(found.view("ends"), ends.reshape(NSIM * STEPS, -1))
    rollouts.sims.load(scene.state())
    assert np.array_equal(ends[:, 1:], np.stack(seen[1:], axis=1))


def test_unknown_view_lists_what_there_is(scene):
    found = rolled(scene, 1)[0].of(slice(NSIM))
    with pytest.raises(UserError, match=r"no view 'com_velosity'; there are: .*com, .*qpos.* \(did you mean 'com_vel"):
        found.view("com_velosity")
    with pytest.raises(UserError, match=re.escape("no view 'xmat'; there are: ")):
        found.view("xmat")  # a Sims has it, but it is not kept


class Once(Term):
    """Counts how often it is asked."""

    name, sigma, asked = "once", 1.0, 0

    def residual(self, sims):
        Once.asked += 1
        return np.zeros(sims.nsim)


def test_all_steps_are_judged_by_one_call(scene):
    rollouts, _ = rolled(scene)
    Once.asked = 0
    goal = Goal(Once())
    goal.way_costs(rollouts.of(slice(NSIM)))
    assert Once.asked == 1
