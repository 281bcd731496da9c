"""Section 5.5.4 of coros2010: reaching, crates, obstacles, stairs, the course and the crowd, each over ten seeds.

    python experiments/coros2010-ch5/skills.py                    about 20 minutes on two cores
    python experiments/coros2010-ch5/skills.py --only stairs      what has that in its name
    python experiments/coros2010-ch5/skills.py --quick            a seed each, a crowd of 5 s; nothing is kept
    python experiments/coros2010-ch5/skills.py --table            the table of what was measured, and no run

One should see most errands done and nobody stuck in the crowd. Every trial is stored as it ends, and the next run goes
on with what is missing; trials of other code than the present are told of, and --fresh forgets what is asked for. The
speed of the crowd is measured alone, after all trials: NOTHING ELSE MAY RUN then.
"""

import argparse
import hashlib
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import tumble
from tumble.characters import character
from tumble.cli.bench_crowd import measure as measure_crowd
from tumble.offline.jobs import as_done
from tumble.offline.workers import workers
from tumble.scenarios import Scenario, Trial, run_trial
from tumble.scenarios.crowd import CrowdDance
from tumble.scenarios.manipulation import CrateCarry, CratePull, CratePush, ObstacleCourse, PickUpCup
from tumble.scenarios.terrain import Duck, Stairs, StepOver

RESULTS = Path(__file__).parent / "results" / "skills.json"
SEED, TRIALS = 3000, 10  # the first one; of each case
QUICK = CrowdDance(until=5.0)
SHOWN: dict[str, tuple[str, str, Callable[[list[float]], float]]] = {  # name for people, unit, what of all trials
    "falls": ("falls", "", sum),
    "peak_torque": ("torque", "N m", max),
    "taken_seconds": ("taken after", "s", fmean),
    "way_seconds": ("there after", "s", fmean),
    "off_goal": ("off", "m", fmean),
    "aside": ("aside", "m", fmean),
    "bumps": ("bumps", "", fmean),
    "fallen": ("fallen dancers", "", fmean),
}


class Case(NamedTuple):
    """What is run, with which body, and what the thesis says of it."""

    scenario: Scenario
    body: str = "biped"
    theirs: str = "shown"


CASES = {
    "pick-up": Case(PickUpCup(), theirs="three characters, any height"),
    "pick-up, robot": Case(PickUpCup(), "robot", "the same"),
    "pick-up, beast1": Case(PickUpCup(), "beast1", "the same"),
    "crate-push": Case(CratePush(), theirs="80 kg, friction 0.2"),
    "crate-pull": Case(CratePull(), theirs="80 kg, friction 0.2"),
    "crate-carry": Case(CrateCarry(), theirs="5 to 25 kg"),
    "crate-carry, 15 kg, pushed with 200 N": Case(CrateCarry(mass=15.0, push=200.0), theirs="not tried"),
    "step-over": Case(StepOver(), theirs="obstacles of up to 45 cm"),
    "duck": Case(Duck(), theirs="obstacles and bars, any offset"),
    "stairs": Case(Stairs(), theirs="15 cm"),
    "course": Case(ObstacleCourse(), theirs="15 kg, steps of 15 cm, obstacles of 20 cm"),
    "crowd": Case(CrowdDance(), theirs="16 dancers"),
}


def trial(name: str, seed: int, quick: bool) -> dict[str, Any]:
    """One trial of a case, on one thread."""
    scenario, body, _ = CASES[name]
    if quick and name == "crowd":
        scenario = QUICK
    made = Trial(scenario, seed, body=character(body), threads=1)
    began = time.perf_counter()
    result = run_trial(made)
    figures = {key: None if math.isnan(value) else round(value, 4) for key, value in result.metrics.items()}
    about = {"success": result.success, "seconds": result.seconds, "wall_seconds": time.perf_counter() - began}
    return about | {"metrics": figures, "versions": versions()}


def versions() -> dict[str, str]:
    """Of what decides how a trial goes; 'code' is a mark of the package's sources."""
    sources = sorted(Path(tumble.__file__).parent.rglob("*.py"))
    code = hashlib.sha256(b"".join(path.read_bytes() for path in sources if "studio" not in path.parts))
    return {name: version(name) for name in ("tumble", "mujoco", "numpy", "numba")} | {"code": code.hexdigest()[:12]}


def run(wanted: list[tuple[str, int]], quick: bool, jobs: int) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Trials as they end."""
    with workers(jobs) as pool:
        for index, result in as_done(pool, trial, [(name, seed, quick) for name, seed in wanted]):
            yield *wanted[index], result


def figures(trials: Sequence[dict[str, Any]]) -> str:
    """The shown figures of some trials in words."""
    said = []
    for key, (name, unit, take) in SHOWN.items():
        values = [one["metrics"][key] for one in trials if one["metrics"].get(key) is not None]
        if values:
            said.append(f"{name} {take(values):.3g} {unit}".strip())
    return ", ".join(said)


def verdict(won: int, of: int) -> str:
    """The thesis shows what works and gives no rates; ours."""
    return "works" if won >= 0.9 * of else "mostly" if won >= 0.7 * of else "**falls short**"


def table(found: dict[str, Any]) -> str:
    """Theirs, ours, verdict."""
    rows = ["| what | theirs | ours | verdict |", "|---|---|---|---|"]
    for name, (_, _, theirs) in CASES.items():
        trials = list(found["trials"].get(name, {}).values())
        if trials:
            won = sum(one["success"] for one in trials)
            ours = f"{won} of {len(trials)}; {figures(trials)}"
            rows.append(f"| {name} | {theirs} | {ours} | {verdict(won, len(trials))} |")
    if speed := found.get("speed"):
        faster = speed["times_real_time"]
        ours = f"{faster:.2f} times real time on one core ({speed['dancers']} dancers)"
        rows.append(f"| speed of the crowd | a tenth of real time | {ours} | {faster / 0.1:.0f} times as fast |")
    return "\n".join(rows)


def store(found: dict[str, Any]) -> None:
    """Write the results, so that whoever stops this loses one trial at most."""
    beside = RESULTS.with_suffix(".part")
    beside.write_text(json.dumps(found, indent=1))
    beside.replace(RESULTS)


def main() -> None:
    """Run what is missing, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a seed each, nothing is kept")
    parser.add_argument("--only", default="", metavar="WORD", help="cases with that in their name")
    parser.add_argument("--jobs", type=int, default=2, metavar="J", help="processes, a thread each (default 2)")
    parser.add_argument("--fresh", action="store_true", help="forget what was stored of what is asked for")
    parser.add_argument("--table", action="store_true", help="only print what was measured")
    chosen = parser.parse_args()
    names = [name for name in CASES if chosen.only in name]
    if not names:
        parser.error(f"no case has '{chosen.only}' in its name; there are: {'; '.join(CASES)}")
    kept = RESULTS.exists() and not chosen.quick
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if kept else {"trials": {}}
    if chosen.table:
        print(table(found))
        return
    if chosen.fresh:
        found["trials"] = {name: stored for name, stored in found["trials"].items() if name not in names}
    seeds = range(SEED, SEED + (1 if chosen.quick else TRIALS))
    wanted = [(name, seed) for name in names for seed in seeds if str(seed) not in found["trials"].get(name, {})]
    for name, seed, result in run(wanted, chosen.quick, chosen.jobs):
        found["trials"].setdefault(name, {})[str(seed)] = result
        print(f"{name}, {seed}: {'yes' if result['success'] else 'no '} {figures([result])}", flush=True)
        if not chosen.quick:
            store(found)
    if "crowd" in names:
        found["speed"] = measure_crowd(1.0 if chosen.quick else 20.0, SEED) | {"versions": versions()}
        if not chosen.quick:
            store(found)
    marks = {one["versions"]["code"] for stored in found["trials"].values() for one in stored.values()}
    if marks - {versions()["code"]}:
        print("some trials were stored with other code than the present; --fresh runs them again")
    print(table(found))


if __name__ == "__main__":
    main()
