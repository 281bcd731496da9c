"""What the first frame of a scenario costs where nothing was compiled yet, and where all was.

    rows = [measure(name) for name in COLD]          # each in fresh processes, with a cache folder of its own
    table(rows)                                      # a line each

CPU seconds of a process, all its threads, from its start until the first frame is done: importing, building the
scene, compiling, one frame. They depend less on what else the machine does than seconds of the clock.
"""

import json
import os
import subprocess
import sys
import time
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from tumble.errors import UserError
from tumble.live.session import Frame, Session
from tumble.maths.compiling import compilations
from tumble.scenarios import SCENARIOS, Trial, run_trial

FIRST = "stand"  # what others are compared with
COLD = (FIRST, "ball", "dodge", "learn-walk", "steer-walk", "stairs", "crowd", "simbicon-humanoid", "walk-on")
CHILD = "import sys; from tumble.cli.bench_cold import tell; tell(sys.argv[1])"


def measure_all(names: list[str]) -> list[dict[str, Any]]:
    """Rows of scenarios, FIRST before the others; a line on a terminal says which is at hand.

    Returns:
      scenario, controller, CPU seconds `cold` and `warm`, `compilations` of the cold run, `ratio` of cold to FIRST's.
    """
    names = list(dict.fromkeys((FIRST, *names)))
    for name in names:
        SCENARIOS[name]  # refuses one that there is not, before any time is spent
    rows: list[dict[str, Any]] = []
    with Console(stderr=True).status("") as status:
        for i, name in enumerate(names):
            status.update(f"{i + 1} of {len(names)}: {name}")
            row = measure(name)
            rows.append(row | {"ratio": row["cold"] / rows[0]["cold"] if rows else 1.0})
    return rows


def measure(name: str) -> dict[str, Any]:
    """Run a scenario's first frame in two fresh processes, one after the other, in one cache folder, empty at first."""
    with TemporaryDirectory(prefix="tumble-cold-") as folder:
        cold, warm = _told(name, folder), _told(name, folder)
    return {
        "scenario": name,
        "controller": cold["controller"],
        "cold": cold["seconds"],
        "warm": warm["seconds"],
        "compilations": cold["compilations"],
    }


def _told(name: str, folder: str) -> dict[str, Any]:
    """What a fresh process tells of a scenario; it ends with this one, also when that is interrupted."""
    command = [sys.executable, "-c", CHILD, name]
    done = subprocess.run(command, env=os.environ | {"NUMBA_CACHE_DIR": folder}, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(f"the first frame of '{name}' failed in a process of its own: {reason}")
    return json.loads(done.stdout.splitlines()[-1])


def tell(name: str) -> None:
    """Print, as JSON, what this process took until the first frame of a scenario was done. For a fresh process."""
    seconds: list[float] = []

    def hear(session: Session, frame: Frame) -> None:
        seconds.append(time.process_time())

    with compilations() as names:
        trial = Trial(SCENARIOS[name](), 0, seconds=1 / 30)
        run_trial(trial, lambda session: session.listeners.append(hear))
    print(json.dumps({"controller": trial.name, "seconds": seconds[0], "compilations": len(names)}))


def table(rows: list[dict[str, Any]]) -> str:
    """Rows for people."""
    head = f"{'scenario':20} {'controller':10} {'cold':>7} {'warm':>7} {'compiled':>9} {'x ' + FIRST:>8}"
    lines = [
        f"{row['scenario']:20} {row['controller']:10} {row['cold']:5.1f} s {row['warm']:5.1f} s"
        f" {row['compilations']:9} {row['ratio']:8.2f}"
        for row in rows
    ]
    return "\n".join((head, *lines))
