"""The wish of coros2010 chapter 6: actions of the generalized walker under chapter 4's iteration, for go to line.

    python experiments/coros2010-ch4/walker_actions.py            # 10 minutes on two cores
    python experiments/coros2010-ch4/walker_actions.py --quick    # under a minute when compiled; keeps nothing
    python experiments/coros2010-ch4/walker_actions.py --table    # what was measured

Three go to the same lines, 2.5 m behind to 6 m ahead: the humanoid by steps of SIMBICON's gaits (`go-to-line-humanoid`,
13 actions), the biped by the walker's strides (`go-to-line-walker`, 13), and the biped by the walker's own rules, given
the same want, which need no policy. The grid, reward and iteration of both policies are the same; the bodies are not,
as gaits are one body's. They begin in what is nearest to a stand: the gait in place, and a stand.

It is judged by the body, alike for all: the root has come to the line when it stays within 20 cm (10 cm) of it for a
second, and who falls until 2 s later has failed. One should see: nobody fall, and which of them is there first.
"""

import argparse
import json
import math
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path
from subprocess import run
from typing import Any

import numpy as np

from tumble.characters import character
from tumble.control.controller import Controller
from tumble.control.stepping import StepTaker
from tumble.files import replace_file
from tumble.goals.wants import Go
from tumble.skills.performer import Performer
from tumble.tasks.exploring import FRICTION
from tumble.tasks.library import LINE
from tumble.tasks.policy import policy_named
from tumble.tasks.tasked import Tasked
from tumble.walking import Walker
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

RESULTS = Path(__file__).parent / "results" / "walker_actions.json"
SEED, COUNT = 9001, 100
DISTURBED = (0.0, 0.3)  # m/s and rad/s, standard deviation of all speeds of a start
WITHIN = (0.2, 0.1)  # m of the line: twice the thesis's 10 cm, as steps in place swing, and the thesis's
STAYS, AFTERWARDS, LONGEST = 1.0, 2.0, 25.0  # s
CASES = ("gaits", "strides", "rules")
POLICIES = {"gaits": "go-to-line-humanoid", "strides": "go-to-line-walker"}


def goer(case: str) -> tuple[Controller, StepTaker, np.ndarray]:
    """Who goes, the walker of it, and the state in which it begins, at the origin along x."""
    if case == "rules":
        scene = Scene(character("biped"), ground=Ground(FRICTION))
        performer = Performer(Walker(scene))
        return performer, performer.walker, scene.state()
    policy = policy_named(POLICIES[case])
    scene = Scene(character(policy.header.character), ground=Ground(FRICTION))
    tasked = Tasked(scene, policies=[policy])
    return tasked, tasked.stepper.walker, tasked.stepper.opening("in-place")


def begun(controller: Controller, opening: np.ndarray, goals: np.ndarray, amount: float) -> Sims:
    """Rows that begin so far before the line across the origin, all speeds disturbed, and want to go there."""
    sims = Sims(controller.scene, len(goals), nthread=1)
    sims.use(controller.drive)
    sims.load(opening)
    speeds = sims.view("qvel")
    speeds[:] = speeds + amount * np.random.default_rng((SEED, 1)).standard_normal(speeds.shape)
    sims.view("qpos")[:, 0] -= goals
    sims.load(sims.state.copy())
    controller.start(sims)
    controller.want(sims, Go(target=(0.0, 0.0, 0.0)))
    return sims


def measured(case: str, amount: float, count: int) -> dict[str, Any]:
    """Seconds until each row is at its line (None where it never is), by `WITHIN`, and whether it fell."""
    goals = np.random.default_rng(SEED).uniform(min(LINE.points), max(LINE.points), count)
    controller, walker, opening = goer(case)
    sims, rows = begun(controller, opening, goals, amount), np.arange(count)
    since = np.full((len(WITHIN), count), np.nan)  # s since when it is that near
    there, fell = np.full(since.shape, np.nan), np.zeros(count, bool)
    root, dt = sims.scene.root(), sims.scene.dt
    for frame in range(math.ceil(LONGEST / dt)):
        controller.control(sims)
        sims.act(partial(walker.law, rows=rows), walker.drive, rows)
        now = (frame + 1) * dt
        away = np.abs(sims.view("xpos")[:, root, 0])
        fell[rows] |= walker.fallen(sims)[rows]
        for i, within in enumerate(WITHIN):
            since[i, rows] = np.where(away[rows] > within, np.nan, np.fmin(since[i, rows], now))
            fresh = rows[(now - since[i, rows] >= STAYS) & np.isnan(there[i, rows])]
            there[i, fresh] = since[i, fresh]
        rows = rows[~fell[rows] & ~(now - there[-1, rows] > STAYS + AFTERWARDS)]
        if not rows.size:
            break
    there[:, fell] = np.nan
    seconds = [[None if np.isnan(x) else round(float(x), 3) for x in row] for row in there]
    found = {f"{within:g}": row for within, row in zip(WITHIN, seconds, strict=True)}
    return {**found, "fell": fell.tolist(), "goals": [round(float(goal), 3) for goal in goals]}


# ---- what is told


def line_of(name: str, row: dict[str, Any]) -> str:
    """A row of the table."""
    ahead = np.array(row["goals"]) > 0
    near = np.array(row["0.2"], float)
    exact = sum(x is not None for x in row["0.1"])
    times = [f"{np.nanmean(near[way]):.1f} s" if np.isfinite(near[way]).any() else "-" for way in (ahead, ~ahead)]
    found = (sum(row["fell"]), int(np.isfinite(near).sum()), exact)
    return f"| {name} | {' | '.join(f'{x} of {len(near)}' for x in found)} | {' | '.join(times)} |"


def difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Seconds that one takes less than the other, over the lines to which both came: mean and 95 % of its own error."""
    less = np.array(other["0.2"], float) - np.array(one["0.2"], float)
    less = less[np.isfinite(less)]
    error = 1.96 * less.std(ddof=1) / math.sqrt(len(less))
    return f"{less.mean():.2f} s, 95 % {less.mean() - error:.2f} to {less.mean() + error:.2f} s (n = {len(less)})"


def told(kept: dict[str, Any]) -> None:
    """Print the table, and how much sooner strides are there."""
    print("| case | fell | within 20 cm | within 10 cm | seconds, ahead | seconds, behind |")
    print("|---|---|---|---|---|---|")
    for name, row in kept.items():
        if name != "about":
            print(line_of(name, row))
    for amount in DISTURBED:
        rows = {case: kept.get(f"{case}, disturbed by {amount:g}") for case in CASES}
        for case in ("gaits", "rules"):
            if rows[case] and rows["strides"]:
                print(f"disturbed by {amount:g}, strides sooner than {case}: {difference(rows['strides'], rows[case])}")


def about() -> dict[str, Any]:
    """Where results come from."""
    commit = run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    return {"commit": commit, "seed": SEED, "count": COUNT, "mujoco": version("mujoco"), "tumble": version("tumble")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for word in ("quick", "table"):
        parser.add_argument(f"--{word}", action="store_true")
    parser.add_argument("--only", default="", help=f"one of {', '.join(CASES)}")
    options = parser.parse_args()
    if options.quick:
        told({f"{case}, disturbed by 0": measured(case, 0.0, 4) for case in CASES})
        return
    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {"about": about()}
    for amount in () if options.table else DISTURBED:
        for case in CASES:
            name = f"{case}, disturbed by {amount:g}"
            if name not in kept and options.only in case:
                began = time.perf_counter()
                kept[name] = measured(case, amount, COUNT) | {"wall": round(time.perf_counter() - began, 1)}
                text = json.dumps(kept, indent=None).replace('}, "', '},\n"') + "\n"
                replace_file(RESULTS, lambda file, text=text: file.write(text.encode()))
                print(line_of(name, kept[name]), flush=True)
    told(kept)


if __name__ == "__main__":
    main()
