"""First controllers of skills, fitted anew, and how many states they bear.

    python experiments/alborno2016/firsts.py jump --seed 1    # 3 to 8 minutes on one core: firsts/jump.json
    python experiments/alborno2016/firsts.py --check          # 1 minute: results/firsts.json

Fitting writes the file that ships with the package. Checked are all that ship: from their target, and from 64 states of
small levels on seeds that no fit has seen.

Known fault: the command does not make the jump that ships. That one was fitted when `StepReflex.near` was 0.132 m;
since it is 0.06 m, which is most likely why, the same settings come to a worse jump (28 of 64 states at kappa 25, not
64). Whether the twist is repeated was not tried. Fitting anew overwrites what ships: keep the old file until the new
one is better.
"""

import argparse
import json
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import tumble.attraction
from tumble.attraction.first import Fit, Fitting, first_points, fit_first
from tumble.attraction.references import references
from tumble.attraction.skills import SKILLS
from tumble.attraction.upright import UprightSystem

FOLDER = Path(tumble.attraction.__file__).parent / "firsts"
RESULTS = Path(__file__).parent / "results"
STATES = 64  # of each level
FRESH = 91_000  # seeds of checks begin here
LEVELS: Mapping[str, tuple[float, ...]] = {"push": (25.0, 50.0, 75.0, 100.0), "drop": (0.25, 0.5, 1.0)}  # kappa, alpha

# How the ones that ship were fitted. Straight lines where there are no generations.
FITS: Mapping[str, Fitting] = {
    "crouch-stand": Fitting(generations=0, levels=(25.0, 25.0)),
    "stand-crouch": Fitting(generations=0, levels=(25.0, 25.0)),
    "jump": Fitting(generations=60, samples=6, spread=0.1, levels=(5.0, 75.0), begin=False),
    "twist": Fitting(generations=100, population=20, samples=5, spread=0.1, levels=(5.0, 75.0), begin=False),
}
# rad: fitted as if it faced there at the beginning. Asked for 90 degrees it came to turn by 73: the skill is 75.
AIMED: Mapping[str, float] = {"twist": math.radians(-90.0)}


def fit(name: str, seed: int) -> None:
    """Fit a first controller and write it into the package."""
    began, settings, skill = time.perf_counter(), FITS[name], SKILLS[name]
    system = UprightSystem(replace(skill, heading=AIMED.get(name, skill.heading)))

    def say(now: Fit) -> None:
        """A line for every generation."""
        seconds = time.perf_counter() - began
        print(
            f"{now.generation:4d}  {seconds:5.0f} s  level {now.level:5.1f}  success {now.success:.2f}"
            f"  cost {now.cost:6.1f}",
            flush=True,
        )

    points = fit_first(system, np.random.default_rng(seed), settings, say)
    write(name, points, system.names, how(name, seed))
    found = borne(UprightSystem(skill), points)
    print(name, *(f"{level}: {won} of {runs}" for level, (won, runs) in found.items()), sep="  ")


def how(name: str, seed: int) -> str:
    """What a file says of how it was made."""
    settings = FITS[name]
    if settings.generations == 0:
        return "straight lines through the key poses, which need no fitting"
    low, high = settings.levels
    aimed = f" for {math.degrees(-AIMED[name]):g} degrees," if name in AIMED else ""
    where = f"knots every {settings.knots:g} s" if settings.knots else "the keys"
    begin = "" if settings.begin else " but the beginning"
    return (
        f"offsets of {where}{begin},{aimed} {settings.generations} generations of {settings.population} candidates on"
        f" {settings.samples} states, levels {low:g} to {high:g}, sigma {settings.spread:g} rad, seed {seed};"
        " experiments/alborno2016/firsts.py"
    )


def write(name: str, points: np.ndarray, joints: tuple[str, ...], fitted: str) -> None:
    """A first controller as `first_points` reads it, a point to a line."""
    rows = ",\n".join(f"  {json.dumps(point)}" for point in points.tolist())
    head = f' "skill": {json.dumps(name)},\n "fitted": {json.dumps(fitted)},\n "joints": {json.dumps(joints)},'
    (FOLDER / f"{name}.json").write_text(f'{{\n{head}\n "points": [\n{rows}\n ]\n}}\n')


def borne(system: UprightSystem, points: np.ndarray) -> dict[str, tuple[int, int]]:
    """Successes and trials from the target, and from states of small levels."""
    track = references(points)
    found = {"target": (int(system.roll(system.target[None], [track]).reached[0]), 1)}
    for number, level in enumerate(LEVELS[system.skill.domain]):
        states = system.sample(level, STATES, np.random.default_rng(FRESH + number))
        found[f"{level:g}"] = (int(system.roll(states, [track] * STATES).reached.sum()), STATES)
    return found


def check() -> None:
    """Successes of all first controllers that ship."""
    began, found = time.perf_counter(), dict[str, Any]()
    for name in sorted(file.stem for file in FOLDER.glob("*.json")):
        found[name] = borne(UprightSystem(SKILLS[name]), first_points(name))
        print(f"{name:13s}", *(f"{level}: {won} of {runs}" for level, (won, runs) in found[name].items()), sep="  ")
    RESULTS.mkdir(exist_ok=True)
    data = {
        "successes": found, "seeds_from": FRESH, "versions": {name: version(name) for name in ("mujoco", "numpy")},
        "wall_seconds": round(time.perf_counter() - began),
    }  # fmt: skip
    (RESULTS / "firsts.json").write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("skill", nargs="?", choices=sorted(FITS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="count successes of all that ship")
    chosen = parser.parse_args()
    if chosen.skill:
        fit(chosen.skill, chosen.seed)
    if chosen.check:
        check()
    if not chosen.skill and not chosen.check:
        parser.error("name a skill to fit, or --check")
