"""The rates of the README's tables, each by the command that stands beside it there.

    python experiments/rates/rates.py                  # all rows that are not there yet; about three hours on one core
    python experiments/rates/rates.py --only push      # those whose command holds a word
    python experiments/rates/rates.py --again          # also those that are there
    python experiments/rates/rates.py --jobs 8         # as many trials at once; default: one per core
    python experiments/rates/rates.py --table          # print what is there
    python experiments/rates/rates.py --write          # put it into README.md

A row is one `tumble run ... --json`, whose answer is kept in results/ with the commit, the versions and the wall time.
Rows that are there are left, so that it can be stopped and goes on where it was. A row's trials run beside each other,
--jobs at once with one thread each; rates do not depend on it.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
ROWS = [
    "stand --trials 5 --seed 400",
    "push --trials 10 --seed 400",
    "push --force 600 --trials 10 --seed 400",
    "wall --trials 10 --seed 400",
    "explosion --trials 10 --seed 400",
    "getup --trials 10 --seed 400",
    "getup-prone --trials 10 --seed 400",
    "reach --trials 10 --seed 400",
    "ball --rolling 0 --until 20 --trials 10 --seed 400",
    "ball-light --trials 10 --seed 400",
    "ball-reach --trials 10 --seed 400",
    "juggle --trials 10 --seed 400",
    "steer --trials 10 --seed 6400",
    "obstacles --trials 4 --seed 6400",
    "obstacles --trials 6 --seed 6404",
    "turbo --trials 10 --seed 400",
    "dodge --trials 10 --seed 400",
    "getup --controller smc --samples 50 --trials 10 --seed 400",
    *(
        f"{scenario} --controller {name} --trials 10 --seed 400"
        for scenario in ("stand", "push", "reach")
        for name in ("ps", "cem", "mppi")
    ),
    "learn-walk --trials 10 --seed 400",
    "learn-trot --trials 10 --seed 400",
    "learn-hop --trials 10 --seed 400",
]
WALKING = [
    "walk-on --trials 10 --seed 3000",
    "steer-walk --trials 10 --seed 700",
    "walk-push --trials 10 --seed 700",
    "walk-bodies --trials 10 --seed 800",
    *(
        f"{task} --controller walker --trials 10 --seed 400"
        for task in ("push", "push --force 600", "steer", "steer --pace 0.8", "reach", "obstacles", "turn")
    ),
    *(
        f"{task} --controller relay --trials 10 --seed 400"
        for task in ("push", "push --force 600", "reach", "obstacles", "turn", "steer")
    ),
    "walk-on --controller walker --trials 10 --seed 3000",
    *(f"{skill} --trials 10 --seed 3000" for skill in ("pick-up", "crate-push", "crate-pull", "crate-carry")),
    "pick-up --character robot --trials 10 --seed 3000",
    "pick-up --character beast1 --trials 10 --seed 3000",
    "crate-carry --mass 15 --push 200 --trials 10 --seed 3000",
    "step-over --trials 10 --seed 3000",
    "step-over --highest 0.2 --trials 10 --seed 3000",
    "duck --trials 10 --seed 3000",
    "duck --no-hurdles --trials 10 --seed 3000",
    "stairs --trials 10 --seed 3000",
    "course --trials 10 --seed 3000",
    *(f"{way} --trials 20 --seed 21000" for way in ("step-over", "duck", "stairs", "course", "simbicon-humanoid")),
    "crowd --trials 3 --seed 3000",
    "walk-on --rising smc --trials 10 --seed 3000",
    *(f"simbicon-{body} --trials 10 --seed 3000" for body in ("humanoid", "planar", "bird", "raptor")),
]


def place(row: str) -> Path:
    """Where a row's answer is kept."""
    return RESULTS / (re.sub(r"[^a-z0-9.]+", "-", row.lower()).strip("-") + ".json")


def measure(row: str, jobs: int) -> dict:
    """Run a row, so many trials at once; its answer with where it came from."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=RESULTS.parent)
    began = time.time()
    command = [sys.executable, "-m", "tumble", "run", *row.split(), "--jobs", str(jobs), "--json"]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {
        "command": f"tumble run {row}",
        "commit": commit.stdout.strip(),
        "versions": {name: version(name) for name in ("mujoco", "numpy", "numba")},
        "minutes": round((time.time() - began) / 60, 1),
        **json.loads(answer),
    }


FIGURES = {  # metrics that are told beside falls and calm: how
    "speed_along": "{:.2f} m/s along",
    "speed_error": "speed {:.0%} off",
    "downs": "{:.1f} downs a trial",
    "recovered": "{:.0%} recovered within 10 s",
    "on_feet": "{:.0%} of the time on feet",
    "rise_seconds": "up in {:.1f} s",
    "again_seconds": "walks {:.1f} s later",
    "peak_torque": "{:.0f} N m at most",
    "aside": "{:.2f} m aside",
    "off_goal": "{:.2f} m off",
    "taken_seconds": "taken in {:.0f} s",
    "hits": "{:.1f} hits",
    "stable_seconds": "stable after {:.0f} s",
}
MARKS = "<!-- rates -->", "<!-- /rates -->"


def table() -> str:
    """What is there, as a table of Markdown."""
    lines = ["| row: `tumble run ...` | success | falls | calm | more | commit |", "|---|---|---|---|---|---|"]
    for row in (*ROWS, *WALKING):
        if not place(row).exists():
            continue
        found = json.loads(place(row).read_text())
        metrics = found["metrics"]
        calm = f"{metrics['rms_joint_speed']:.2f}; {metrics['rms_jerk']:.0f}"
        more = ", ".join(text.format(metrics[name]) for name, text in FIGURES.items() if name in metrics)
        rate = f"{found['successes']} of {found['trials']}"
        lines.append(f"| `{row}` | {rate} | {metrics['falls']:.0f} | {calm} | {more} | {found['commit'][:7]} |")
    return "\n".join(lines)


def write() -> None:
    """Put the table into the README beside this script."""
    readme = RESULTS.parent / "README.md"
    head, _, rest = readme.read_text().partition(MARKS[0])
    readme.write_text(f"{head}{MARKS[0]}\n{table()}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only rows whose command holds this")
    parser.add_argument("--walking", action="store_true", help="only rows of those who walk by rules")
    parser.add_argument("--again", action="store_true", help="also rows that are there")
    parser.add_argument("--jobs", type=int, default=0, help="trials at once; 0: one per core")
    parser.add_argument("--table", action="store_true", help="print what is there, and run nothing")
    parser.add_argument("--write", action="store_true", help="put what is there into README.md, and run nothing")
    options = parser.parse_args()
    if options.write:
        write()
        return
    RESULTS.mkdir(exist_ok=True)
    for row in (*ROWS, *WALKING):
        if options.only not in row or (options.walking and row in ROWS):
            continue
        if not options.table and (options.again or not place(row).exists()):
            place(row).write_text(json.dumps(measure(row, options.jobs), indent=1) + "\n")
        if place(row).exists():
            found = json.loads(place(row).read_text())
            metrics = ", ".join(f"{name} {value:.3g}" for name, value in found["metrics"].items())
            rate = f"{found['successes']} of {found['trials']}"
            print(f"{rate:9} {found['command']:70} {metrics} ({found['commit'][:7]})", flush=True)


if __name__ == "__main__":
    main()
