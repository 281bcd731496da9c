"""Table 4.3 and section 4.6: how the humanoid's line depends on states, task points and actions.

    python experiments/coros2010-ch4/table43.py STORE                 # 2 minutes on two cores where all is in the store
    python experiments/coros2010-ch4/table43.py STORE --states 4806   # the thesis's number, where it is not 2253
    python experiments/coros2010-ch4/table43.py STORE --quick         # under a minute, nothing kept

The store is that of `tumble task train go-to-line-humanoid --states N --store STORE`, 10 minutes on two cores; what it
lacks is simulated. The thesis tells two things of this task: 13 actions and 2253 states (section 4.5, Table 4.2), and
16 actions and 4806 states (section 4.6). Here are its 13 actions and 2253 states, and where Table 4.3 has 4000, 3000,
2000 and 1000 of 4806 states, the same shares of ours, those that were found first. An error is the mean of
|V - V_most| over the states and task points of the densest case, V of others between their samples as in iteration.
One should see errors that grow, and a share of unchanged actions that falls, with fewer states and points; and errors
that grow with fewer actions. Values are in our units, which are not theirs, as gamma is not told: errors are also given
as shares of the mean |V_most|.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tumble.cli.experiment import Experiment, Row
from tumble.offline.store import JobStore
from tumble.offline.workers import workers
from tumble.tasks.exploring import Exploration
from tumble.tasks.grid import Axis, closest, points, spread
from tumble.tasks.iterating import NEIGHBOURS, Model, iterate
from tumble.tasks.library import HumanoidGoToLine
from tumble.tasks.metric import Stances, nearest
from tumble.tasks.task import JudgedStates, SampledSteps, rewards_of

HERE = Experiment(Path(__file__).parent)
SEED = 50_000
STATES, THEIRS = 2253, (4806, 4000, 3000, 2000, 1000)
POINTS = (81, 57, 32, 25, 17)
THEIR_ERRORS = (
    (0, 0.22, 0.22, 0.23, 0.34), (0.18, 0.35, 0.28, 0.25, 0.35), (0.45, 0.58, 0.54, 0.42, 0.40),
    (0.69, 0.86, 0.80, 0.65, 0.50), (0.79, 0.99, 0.87, 0.75, 0.60),
)  # fmt: skip
GAITS = ("walk", "in-place", "run", "backwards")
FEWER = {  # which are left out is not told: first what helps transitions between walk and run, then mixes
    10: (*GAITS, "in-place+walk 0.33", "in-place+walk 0.67", "walk+run 0.25", "walk+run 0.75",
         "in-place+backwards 0.33", "in-place+backwards 0.67"),
    7: (*GAITS, "in-place+walk 0.67", "walk+run 0.25", "in-place+backwards 0.33"),
    4: GAITS,
}  # fmt: skip
THEIR_FEWER = {10: 1.58, 7: 3.31, 4: 5.46}
WALKS = 2000  # random sequences of actions


class Case:
    """The task solved on the first of the explored states, with so many points and some of the actions.

    Attributes:
      value, best: (states, points) as `iterate` found them.
    """

    def __init__(self, found: Exploration, states: int, count: int, actions: Sequence[str] | None = None) -> None:
        class Line(HumanoidGoToLine):
            grid = (Axis("ahead", spread(-2.5, 6.0, count, 0.25)),)

        task, every = Line(), found.steps
        task.name = "go-to-line-humanoid"
        kept = every.state < states
        if actions is not None:
            kept &= np.isin(every.action, [i for i, action in enumerate(task.actions) if str(action) in actions])
        steps = SampledSteps(every.state[kept], every.action[kept], every.moved[kept], every.seconds[kept])
        self.states, self.grid = found.states.some(slice(0, states)), task.grid
        reward = rewards_of(task, JudgedStates(self.states, found.seen.cycles))
        model = Model.of(self.states, steps, found.ends.some(kept), task.grid, task.discount)
        solved = iterate(model, reward, np.zeros(len(steps.state)), np.zeros(count), len(task.actions))
        self.value, self.best = solved.value, solved.best

    def worth(self, states: Stances, w: np.ndarray) -> np.ndarray:
        """(states, w) V by the k nearest states and linear between points; of a known state its own."""
        rows, away = nearest(self.states, states, NEIGHBOURS)
        share = np.where(rows >= 0, 1.0 / np.maximum(away, 1e-6) ** 2, 0.0)
        share /= share.sum(axis=1, keepdims=True)
        between = np.stack([np.interp(w, self.grid[0].points, row) for row in self.value])
        return np.einsum("sk,skw->sw", share, between[np.maximum(rows, 0)])

    def choice(self, states: Stances, w: np.ndarray) -> np.ndarray:
        """(states, w) actions, as the policy chooses: of the nearest state and point."""
        rows = nearest(self.states, states, 1)[0][:, 0]
        return self.best[np.ix_(rows, [closest(self.grid, (x,)) for x in w])]


def sequences(found: Exploration, repeats: bool, rng: np.random.Generator) -> float:
    """Mean number of random actions from a trusted state until one is not trusted, or a state comes again.

    What follows a step is the state nearest to its end; a state that is there already is one that comes again. With
    `repeats` only trusted actions are drawn, so that it ends where a state comes again, or no action is left.
    """
    steps, lengths = found.steps, []
    after = nearest(found.states, found.ends, 1)[0][:, 0]
    first = np.searchsorted(steps.state, np.arange(len(found.states) + 1))
    for _ in range(WALKS):
        state, seen = int(rng.integers(len(found.trusted))), set[int]()
        while state not in seen:
            seen.add(state)
            viable = np.arange(first[state], first[state + 1])
            drawn = int(rng.integers(len(found.task.actions)))
            if repeats and viable.size:
                step = viable[drawn % viable.size]
            else:
                matching = viable[steps.action[viable] == drawn]
                if not matching.size:
                    break
                step = matching[0]
            state = int(after[step])
        lengths.append(len(seen))
    return float(np.mean(lengths))


def explored(store: Path, states: int, jobs: int) -> Exploration:
    """The exploration in a store."""
    task = HumanoidGoToLine()
    found = Exploration(task, states=states)
    with JobStore(store, found.about) as kept, workers(jobs=jobs) as pool:
        for progress in found.run(kept, pool):
            if progress.tried % 512 == 0:
                print(f"{progress.tried} states tried", flush=True)
    return found


def measure(found: Exploration, sizes: Sequence[int], counts: Sequence[int]) -> Row:
    """All that is told of the task, as JSON."""
    most = Case(found, sizes[0], counts[0])
    w = points(most.grid)[:, 0]
    truth, chosen = most.worth(most.states, w), most.choice(most.states, w)
    scale, table, same = float(np.abs(truth).mean()), [], []
    for states in sizes:
        cases = [Case(found, states, count) for count in counts]
        table.append([float(np.abs(case.worth(most.states, w) - truth).mean()) for case in cases])
        same.append([float((case.choice(most.states, w) == chosen).mean()) for case in cases])
        print(states, np.round(table[-1], 3), np.round(same[-1], 3), flush=True)
    fewer = {
        str(count): float(np.abs(Case(found, sizes[0], counts[0], names).worth(most.states, w) - truth).mean())
        for count, names in FEWER.items()
    }
    viable = np.bincount(found.steps.state, minlength=len(found.states))
    rng = np.random.default_rng(SEED)
    return {
        "states": list(sizes), "points": list(counts), "error": table, "unchanged": same, "mean_value": scale,
        "fewer": fewer, "viable": [int(viable.min()), float(viable.mean()), int(viable.max())],
        "trusted": len(found.trusted), "any_actions": sequences(found, False, rng),
        "trusted_actions": sequences(found, True, rng),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--states", type=int, default=STATES)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    began = time.perf_counter()
    most = 200 if chosen.quick else chosen.states
    sizes = [round(most * states / THEIRS[0]) for states in THEIRS]
    found = explored(chosen.store, most, chosen.jobs)
    result: dict[str, Any] = measure(
        found, sizes[:2] if chosen.quick else sizes, POINTS[3:] if chosen.quick else POINTS
    )
    if not chosen.quick:
        minutes = round((time.perf_counter() - began) / 60, 2)
        HERE.write("table43", {**result, "theirs": THEIR_ERRORS, "commit": HERE.commit(), "minutes": minutes})
    print({key: result[key] for key in ("mean_value", "fewer", "viable", "any_actions", "trusted_actions")})


if __name__ == "__main__":
    main()
