"""Section 4.6, scalability: time of exploring and iterating against states, actions and points of the grid.

    python experiments/coros2010-ch4/scaling.py           # about 10 minutes on one core
    python experiments/coros2010-ch4/scaling.py --quick   # under a minute, nothing kept

Theirs: exploration "between 2.5 and 4 hours", iteration 10 s to 9.5 hours (Table 4.2). How fast policies act is in
policies.py, how much memory iteration takes in table42.py. Here in CPU seconds of one thread, so that others on the
machine do not count: two idle cores take about half. One should see all grow in proportion: exploration with states
times actions, an iteration with steps times points. Steps of iteration are random ones between states of policies that
ship, as in table42.py. Draws results/scaling.png.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from table42 import model_of

from tumble.cli.experiment import Experiment
from tumble.files import replace_file
from tumble.offline.store import JobStore
from tumble.tasks.exploring import Exploration
from tumble.tasks.grid import Axis, spread
from tumble.tasks.iterating import Model, iterate
from tumble.tasks.library import TASKS
from tumble.tasks.policy import Policy, policy_named
from tumble.tasks.task import SampledSteps

HERE = Experiment(Path(__file__).parent)
SEED = 51_000
EXPLORED = (("heading", 8), ("heading", 32), ("go-to-line-humanoid", 13))
STATES = 128  # that are explored
SIZES, SHARES = (500, 1000, 1500, 2000, 2500), (0.25, 0.5, 0.75, 1.0)
SIDES = (5, 9, 17, 27, 45)  # points along either axis of a plane
ITERATIONS = 2


class Here(Executor):
    """Does jobs in this process, so that its CPU seconds are all there are."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future = Future[Any]()
        future.set_result(function(*arguments, **named))
        return future


def explored(name: str, actions: int, states: int) -> dict[str, Any]:
    """CPU seconds of exploring so many states with a task's first actions, after every round."""
    kind = TASKS[name].make
    some = type("Some", (kind,), {"actions": kind.actions[:actions], "name": name})
    found, tried, cpu = Exploration(some(), states=states), list[int](), list[float]()
    with tempfile.TemporaryDirectory() as folder, JobStore(Path(folder) / "a.steps", found.about) as store:
        found.begin()
        began = time.process_time()
        for progress in found.run(store, Here()):
            tried.append(progress.tried)
            cpu.append(round(time.process_time() - began, 2))
    return {"tried": tried, "cpu": cpu, "actions": len(some.actions)}


def iteration(what: str, states: int, share: float, side: int) -> dict[str, Any]:
    """CPU seconds of an iteration over the plane, with some of the bird's states, actions and points."""
    whole = policy_named("go-to-point")
    grid = tuple(Axis(name, spread(-3.0, 3.0, side, 0.2)) for name in ("ahead", "left"))
    header, rng = whole.header, np.random.default_rng(SEED)
    policy = Policy(header, whole.states.some(slice(0, states)), whole.best[:states])
    full = model_of(policy, round(states * header.figures["viable"]), rng)
    kept = full.steps.action < round(share * len(policy.actions))
    every = (full.steps.state, full.steps.action, full.steps.moved, full.steps.seconds)
    steps = SampledSteps(*(one[kept] for one in every))
    model = Model(full.states, steps, grid, full.fade[kept], full.near[kept], full.share[kept], full.sure[kept])
    ends, count = list[float](), side * side
    reward = (rng.random((states, count)) < 0.01).astype(float)

    class Enough(Exception):
        pass

    def tell(number: int, change: float) -> None:
        ends.append(time.process_time())
        if number > ITERATIONS:
            raise Enough

    try:
        iterate(model, reward, np.zeros(len(steps.state)), np.zeros(count), len(policy.actions), 1, tell)
    except Enough:
        return {"steps": len(steps.state), "points": count, "cpu": (ends[-1] - ends[0]) / (len(ends) - 1)}
    raise SystemExit(f"fewer than {ITERATIONS} iterations were needed: nothing to time")


def draw(explorations: list[dict[str, Any]], iterations: list[dict[str, Any]], path: Path) -> None:
    """Exploration over states, and an iteration over states, actions and points."""
    figure = Figure(figsize=(11.0, 3.2), dpi=130)
    axes = figure.subplots(1, 4)
    for row in explorations:
        label = f"{row['job'][0]}, {row['actions']} actions"
        axes[0].plot([0, *row["tried"]], [0, *row["cpu"]], lw=1.3, label=label)
    axes[0].legend(fontsize=6, frameon=False)
    axes[0].set(xlabel="states", ylabel="CPU s", title="exploration")
    labels = {"states": ("states", 1), "actions": ("share of 36 actions", 2), "points": ("points", None)}
    for one, (what, (label, place)) in zip(axes[1:], labels.items(), strict=True):
        mine = [row for row in iterations if row["job"][0] == what]
        x = [row["points"] if place is None else row["job"][place] for row in mine]
        one.plot(x, [row["cpu"] for row in mine], "o-", ms=3, lw=1.3, color="#3b6fd4")
        one.set(xlabel=label, title="an iteration")
        one.set_ylim(bottom=0)
        one.set_xlim(left=0)
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.tick_params(labelsize=7)
    figure.tight_layout()
    replace_file(path, lambda file: figure.savefig(file, format="png"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--again", action="store_true")
    chosen = parser.parse_args()
    if chosen.quick:
        print(iteration("states", 500, 1.0, 9), explored("heading", 8, 16))
        return
    jobs = [("states", size, 1.0, 27) for size in SIZES] + [("actions", 2500, share, 27) for share in SHARES]
    iterations = HERE.measured(
        "scaling-iterations", iteration, [*jobs, *(("points", 2500, 1.0, n) for n in SIDES)], 1, chosen.again
    )
    for row in iterations:
        print(row["job"], f"{row['cpu']:.2f} CPU s an iteration of {row['steps']} steps at {row['points']} points")
    explorations = HERE.measured("scaling-exploring", explored, [(*one, STATES) for one in EXPLORED], 1, chosen.again)
    for row in explorations:
        each = row["cpu"][-1] / row["tried"][-1]
        print(f"{row['job'][0]}, {row['actions']} actions: {2000 * each / 60:.1f} CPU minutes for 2000 states")
    draw(explorations, iterations, HERE.results / "scaling.png")


if __name__ == "__main__":
    main()
