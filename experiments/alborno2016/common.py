"""What the scripts of this folder share: jobs on workers whose results are kept as they come, and how that is told.

    found = measured("coverage", job, [(tree, level, seed), ...], jobs=2)

The file results/coverage.json holds {"rows": [{"job": [...], ...}], "commit", "versions", "minutes"}. Rows that are
there are left, so that a script can be stopped and goes on where it was; `again` measures all anew.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tumble.files import replace_file
from tumble.offline.jobs import as_done
from tumble.offline.workers import workers

RESULTS = Path(__file__).parent / "results"
Row = dict[str, Any]


def commit() -> str:
    """The commit that is checked out, with a + where files differ from it."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=here, capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "HEAD") + ("+" if git("status", "--porcelain", "--", "../../src") else "")


def read(name: str) -> dict[str, Any]:
    """What is in results/NAME.json; nothing where there is no such file."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else {}


def write(name: str, data: dict[str, Any]) -> None:
    """Put it into results/NAME.json, whole or not at all."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(data, indent=1) + "\n"
    replace_file(RESULTS / f"{name}.json", lambda file: file.write(text.encode()))


def measured(
    name: str, function: Callable[..., Row], jobs: Sequence[tuple[Any, ...]], count: int = 1, again: bool = False
) -> list[Row]:
    """Rows of all jobs, in their order; those that results/NAME.json lacks are done by `count` workers."""
    kept = {} if again else {json.dumps(row["job"]): row for row in read(name).get("rows", [])}
    minutes = 0.0 if again else read(name).get("minutes", 0.0)
    missing = [job for job in jobs if json.dumps(list(job)) not in kept]
    began, keys = time.perf_counter(), [json.dumps(list(job)) for job in jobs]
    if missing:
        with workers(jobs=count) as pool:
            for index, row in as_done(pool, function, missing):
                kept[json.dumps(list(missing[index]))] = {"job": list(missing[index]), "commit": commit(), **row}
                told = {"rows": [kept[key] for key in keys if key in kept]}
                told["minutes"] = round(minutes + (time.perf_counter() - began) / 60, 2)
                told["versions"] = {word: version(word) for word in ("tumble", "mujoco", "numpy", "cma")}
                write(name, told)
                print(f"{name}: {len(told['rows'])} of {len(jobs)}", missing[index], file=sys.stderr, flush=True)
    return [kept[key] for key in keys]


def ran(*words: object, seed: int, trials: int) -> Row:
    """What `tumble run` says of so many trials, by one thread, and the command."""
    command = ["run", *map(str, words), "--trials", str(trials), "--seed", str(seed), "--threads", "1", "--json"]
    answer = subprocess.run([sys.executable, "-m", "tumble", *command], capture_output=True, text=True, check=True)
    kept = ("successes", "trials", "metrics", "realtime_factor", "plan_ms")
    return {"command": "tumble " + " ".join(command), **{key: json.loads(answer.stdout)[key] for key in kept}}
