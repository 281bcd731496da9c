"""Table 4.2: epsilons, trusted states, states and how long iteration takes, of the policies that ship.

    python experiments/coros2010-ch4/table42.py           # about 5 minutes on one core
    python experiments/coros2010-ch4/table42.py --quick   # under a minute, nothing kept

What a policy's file tells is read from it. Its steps are not in it: iteration is timed on as many steps between the
policy's own states, which lead near states drawn at random, in as many iterations as its training took; what an
iteration costs hangs on these numbers alone. CPU seconds, by one thread, so that others on the machine do not count;
as neighbours and iterations are found by threads that hardly wait, two idle cores take about half. Memory is the
largest of the process so far: tasks are done from the smallest grid up. One should see seconds for goals on a line and
minutes for goals on the plane, where the thesis has minutes and hours.
"""

import argparse
import resource
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tumble.cli.experiment import Experiment
from tumble.tasks.grid import points
from tumble.tasks.iterating import ENOUGH, Model, iterate
from tumble.tasks.library import TASKS
from tumble.tasks.policy import Policy, policy_named, shipped
from tumble.tasks.task import SampledSteps

HERE = Experiment(Path(__file__).parent)
SEED, ITERATIONS = 49_000, 3
THEIRS = {  # epsilon_T, epsilon_N, |T|, |s|, seconds of iteration
    "go-to-line": (3.75, 0.15, 7, 2494, 100), "go-to-line-humanoid": (2.0, 0.3, 24, 2253, 104),
    "heading": (1.5, 0.3, 16, 1915, 92), "heading-raptor": (2.0, 0.2, 60, 2177, 86),
    "go-to-point": (1.5, 0.4, 50, 4375, 18_000), "go-to-point-heading": (1.5, 0.3, 21, 1963, 34_200),
    "very-robust-walk": (6.0, 1.5, 30, 1710, 10),
}  # fmt: skip


class Enough(Exception):
    """So many iterations were timed."""


def model_of(policy: Policy, steps: int, rng: np.random.Generator) -> Model:
    """As many steps from the policy's states, each to a place near a state that is drawn."""
    states, count = len(policy.states), len(policy.actions)
    every = np.sort(rng.choice(states * count, min(steps, states * count), replace=False))
    moved = rng.normal(0, (0.2, 0.05, 0.2), (len(every), 3))
    made = SampledSteps(every // count, every % count, moved, np.full(len(every), 0.4))
    ends = policy.states.some(rng.integers(states, size=len(every)))
    ends.features[:] += rng.normal(0, 0.01, ends.features.shape)
    quats = ends.features[:, -4 * len(ends.angles) :].reshape(len(every), -1, 4)
    quats /= np.linalg.norm(quats, axis=2, keepdims=True)
    return Model.of(policy.states, made, ends, policy.header.grid, 0.9, threads=1)


def iterated(name: str) -> dict[str, Any]:
    """What the policy's file says, CPU seconds of finding neighbours and of an iteration, and the memory in MB."""
    policy, began = policy_named(name), time.process_time()
    figures, rng = policy.header.figures, np.random.default_rng(SEED)
    model = model_of(policy, int(figures["steps"]), rng)
    neighbours, told = time.process_time() - began, list[float]()
    w = points(policy.header.grid)
    reward = (rng.random((len(policy.states), len(w))) < ENOUGH).astype(float)

    def tell(number: int, change: float) -> None:
        told.append(time.process_time())
        if number > ITERATIONS:
            raise Enough

    with suppress(Enough):
        iterate(model, reward, np.zeros(len(model.steps.state)), np.zeros(len(w)), len(policy.actions), 1, tell)
    one = (told[-1] - told[0]) / (len(told) - 1)
    task = TASKS[policy.header.task].make
    return {
        "trust": task.trust, "novel": task.novel, "trusted": figures["trusted"], "states": len(policy.states),
        "points": len(w), "steps": figures["steps"], "viable": figures["viable"], "iterations": figures["iterations"],
        "neighbours_cpu": round(neighbours, 2), "iteration_cpu": round(one, 4),
        "cpu": round(neighbours + one * figures["iterations"], 1),
        "megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--again", action="store_true")
    chosen = parser.parse_args()
    if chosen.quick:
        print(iterated("heading"))
        return
    names = [name for name in (*THEIRS, "heading-speed") if name in shipped()]
    names.sort(key=lambda name: len(points(TASKS[name].make.grid)))
    rows = HERE.measured("table42", iterated, [(name,) for name in names], 1, chosen.again)
    print("| task | theirs: epsilon_T, epsilon_N, trusted, states, s | ours | CPU s | half | MB |")
    print("|---|---|---|---|---|---|")
    for name, row in zip(names, rows, strict=True):
        theirs = ", ".join(f"{x:g}" for x in THEIRS[name]) if name in THEIRS else "not told"
        ours = f"{row['trust']:g}, {row['novel']:g}, {row['trusted']:.0f}, {row['states']}"
        print(f"| {name} | {theirs} | {ours} | {row['cpu']:.1f} | {row['cpu'] / 2:.1f} | {row['megabytes']} |")


if __name__ == "__main__":
    main()
