"""SIMBICON's gaits: 100 steps from disturbed starts, and what each gait bears: pushes, slopes, steps (section 2.4).

    python experiments/coros2010-ch2/gaits.py             # what is not there yet; about an hour on two busy cores
    python experiments/coros2010-ch2/gaits.py --steps     # only the 100 steps: about ten minutes
    python experiments/coros2010-ch2/gaits.py --quick     # the planar walk alone, kept nowhere: under a minute
    python experiments/coros2010-ch2/gaits.py --table     # print what is there

One should see every gait make 100 steps from at least 9 of 10 starts. What a gait bears is the largest rung of a ladder
at which, as at all rungs below, at least 9 of 10 starts walk 12 s without a fall. Starts have all speeds disturbed
(standard deviation 0.1 m/s and rad/s), by seeds that nothing was tuned on. Results are kept gait by gait in
results/gaits.json.
"""

import argparse
import json
import time
from importlib.metadata import version
from pathlib import Path
from subprocess import run
from typing import Any

import numpy as np
from rows import Rows

from tumble.files import replace_file
from tumble.simbicon.gait import BODIES, gait_names

RESULTS = Path(__file__).parent / "results" / "gaits.json"
STARTS, STEPS, SEED = 10, 100, 52000
SECONDS = 12.0  # of a rung; the push comes after 4 to 5.2
ENOUGH = 9  # of 10
LADDERS = {  # what: rungs
    "push": (50.0, 100.0, 200.0, 300.0, 400.0, 600.0),  # N for 0.1 s on the trunk, any side
    "up": (1.0, 2.0, 4.0, 6.0, 8.0),  # degrees
    "down": (1.0, 2.0, 4.0, 6.0, 8.0),
    "height": (0.01, 0.02, 0.03, 0.05, 0.08),  # m of slabs across the way
}


def steps_of(body: str, gait: str, starts: int = STARTS, steps: int = STEPS) -> dict[str, float]:
    """How many starts make the steps, with what speed along the heading (m/s) and how long a step (s)."""
    rows = Rows(body, gait, starts, SEED)
    stood = rows.go(enough=steps)
    seconds = float(rows.seconds.sum())
    return {"stood": int(stood.sum()), "speed": float(rows.path.sum()) / seconds, "step": seconds / rows.steps.sum()}


def stood(body: str, gait: str, what: str, size: float) -> int:
    """How many starts out of ten walk 12 s in spite of it."""
    slope = {"up": size, "down": -size}.get(what, 0.0)
    rows = Rows(body, gait, STARTS, SEED + 1, slope, size if what == "height" else 0.0)
    angle = rows.rng.uniform(0, 2 * np.pi, STARTS)
    if body == "planar":
        angle = np.pi * np.round(angle / np.pi)
    force = size * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1) if what == "push" else None
    return int(rows.go(seconds=SECONDS, force=force).sum())


def borne(body: str, gait: str, what: str) -> dict[str, Any]:
    """The largest rung that it bears, 0 where it bears none, and how many stood at each that was tried."""
    tried: dict[str, int] = {}
    best = 0.0
    for size in LADDERS[what]:
        tried[f"{size:g}"] = stood(body, gait, what, size)
        if tried[f"{size:g}"] < ENOUGH:
            break
        best = size
    return {"best": best, "stood": tried}


def measure(key: str, jobs: dict[str, Any], kept: dict[str, Any]) -> None:
    """Do what is not there yet of one gait, and keep it."""
    found = kept.setdefault(key, {})
    for name, job in jobs.items():
        if name not in found:
            began = time.time()
            found[name] = job()
            found[name]["wall"] = round(time.time() - began, 1)
            print(key, name, found[name], flush=True)
            text = json.dumps(kept, indent=1) + "\n"
            replace_file(RESULTS, lambda file, text=text: file.write(text.encode()))


def about() -> dict[str, Any]:
    """Where results come from."""
    commit = run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    return {"commit": commit, "seed": SEED, "starts": STARTS, "mujoco": version("mujoco"), "tumble": version("tumble")}


HEAD = "| gait | 100 steps | m/s | s a step | push, N | up, ° | down, ° | slabs, cm |"


def table(kept: dict[str, Any]) -> None:
    """Print it for the README."""
    print(HEAD, "|---" * HEAD.count(" | ") + "|---|", sep="\n")
    for body in BODIES:
        for gait in gait_names(body):
            row = kept.get(f"{body} {gait}", {})
            cells = [f"{body} {gait}", *_cells(row)]
            print(f"| {' | '.join(cells)} |")


def _cells(row: dict[str, Any]) -> list[str]:
    steps = row.get("steps")
    first = [f"{steps['stood']}", f"{steps['speed']:.2f}", f"{steps['step']:.2f}"] if steps else 3 * ["-"]
    units = {"height": 100}  # cm
    return first + [f"{units.get(what, 1) * row[what]['best']:g}" if what in row else "-" for what in LADDERS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for word in ("steps", "quick", "table"):
        parser.add_argument(f"--{word}", action="store_true")
    parser.add_argument("--only", default="", help="only gaits whose body and name hold this")
    options = parser.parse_args()
    if options.quick:
        print(
            steps_of("planar", "walk", 4, 20),
            {what: stood("planar", "walk", what, LADDERS[what][0]) for what in LADDERS},
        )
        return
    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    if options.table:
        table(kept)
        return
    kept.setdefault("about", about())
    todo = [(body, gait) for body in BODIES for gait in gait_names(body) if options.only in f"{body} {gait}"]
    for body, gait in todo:
        measure(f"{body} {gait}", {"steps": lambda b=body, g=gait: steps_of(b, g)}, kept)
    for body, gait in () if options.steps else todo:
        jobs = {what: lambda b=body, g=gait, w=what: borne(b, g, w) for what in LADDERS}
        measure(f"{body} {gait}", jobs, kept)


if __name__ == "__main__":
    main()
