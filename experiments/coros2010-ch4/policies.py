"""The policies that ship: random starts of each by its own reward, and the scenarios by what is measured on the body.

    python experiments/coros2010-ch4/policies.py           # about 30 minutes on one core
    python experiments/coros2010-ch4/policies.py --quick   # under a minute, nothing kept

Wanted: 95 of 100 random starts reach their goal and do not fall, 20 times real time or more on one core (theirs: 2.5
times for the bird, 1.5 for the humanoid, 1.1 for the raptor). A start of `tumble task run` is done at the first strike
that the task's reward is for, within 30 s; a trial of `tumble run` is judged over its last second. How many times real
time is told of 100 starts at once, by CPU seconds. One should see fewest where the reward asks for most at one strike:
a point that is walked through, within 0.3 m and 5 degrees, in the walk's limit cycle.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from tumble.cli.experiment import Experiment, Row, ran
from tumble.tasks.policy import shipped

HERE = Experiment(Path(__file__).parent)
COUNT, SEED = 100, 9001
TRIALS, TRIALS_SEED, PART = 50, 9200, 10  # trials are done in parts
SCENARIOS = (
    ("go-to-point-heading", "big-bird"), ("go-to-line", "big-bird"), ("go-to-line", "biped34"),
    ("heading", "big-bird"), ("heading", "raptor"), ("go-to-point", "big-bird"), ("heading-speed", "big-bird"),
)  # fmt: skip


def started(name: str, count: int) -> Row:
    """What `tumble task run` says of so many starts, and the command."""
    command = ["task", "run", name, "--count", str(count), "--seed", str(SEED), "--json"]
    answer = subprocess.run([sys.executable, "-m", "tumble", *command], capture_output=True, text=True, check=True)
    return {"command": "tumble " + " ".join(command), **json.loads(answer.stdout)}


def job(what: str, name: str, body: str, seed: int, count: int) -> Row:
    """A policy, or a scenario with a body."""
    if what == "policy":
        return started(name, count)
    return ran(name, "--character", body, seed=seed, trials=count)


def table(rows: list[Row]) -> None:
    """All in one, parts of a scenario's trials together."""
    print("| policy or scenario | well done | fell | s, mean and longest | times real time |\n|---|---|---|---|---|")
    for row in rows:
        if row["job"][0] == "policy":
            done, seconds = f"{row['reached']} of {row['count']}", f"{row['seconds']:.1f}, {row['slowest']:.1f}"
            print(f"| {row['task']} | {done} | {row['fell']} | {seconds} | {row['times_real_time']:.0f} |")
    for name, body in SCENARIOS:
        parts = [row for row in rows if row["job"][:3] == ["scenario", name, body]]
        done, count = (sum(row[key] for row in parts) for key in ("successes", "trials"))
        fell = sum(row["metrics"]["falls"] for row in parts)
        print(f"| {name} of {body} | {done} of {count} | {fell} | | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    chosen = parser.parse_args()
    if chosen.quick:
        print(started("heading", 10), ran("heading", seed=TRIALS_SEED, trials=1))
        return
    jobs = [("policy", name, "", SEED, COUNT) for name in shipped()]
    for seed in range(TRIALS_SEED, TRIALS_SEED + TRIALS, PART):
        jobs += [("scenario", name, body, seed, PART) for name, body in SCENARIOS]
    table(HERE.measured("policies", job, jobs, chosen.jobs, chosen.again))


if __name__ == "__main__":
    main()
