"""Experiments: jobs on workers whose results are kept as they come, and how that is told.

    here = Experiment(Path(__file__).parent)
    found = here.measured("coverage", job, [(tree, level, seed), ...], count=2)

The file results/coverage.json holds {"rows": [{"job": [...], "commit", ...}], "versions", "minutes"}. Rows that are
there are left, so that a script can be stopped and goes on where it was; `again` measures all anew.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tumble.files import replace_file
from tumble.offline.jobs import as_done
from tumble.offline.workers import workers

Row = dict[str, Any]
PACKAGES = ("tumble", "mujoco", "numpy", "cma")  # whose versions a file of results tells


@dataclass(frozen=True)
class Experiment:
    """A folder of scripts, in a checkout, with their results.

    Attributes:
      folder: of the scripts; results are in its folder 'results'.
    """

    folder: Path

    @property
    def results(self) -> Path:
        """The folder of results."""
        return self.folder / "results"

    def commit(self) -> str:
        """The commit that is checked out, with a + where files of src differ from it."""
        changed = self._git("status", "--porcelain", "--", ":/src")
        return self._git("rev-parse", "HEAD") + ("+" if changed else "")

    def _git(self, *words: str) -> str:
        command = ["git", *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False).stdout.strip()

    def read(self, name: str) -> dict[str, Any]:
        """What is in results/NAME.json; nothing where there is no such file."""
        path = self.results / f"{name}.json"
        found: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
        return found

    def write(self, name: str, data: dict[str, Any]) -> None:
        """Put it into results/NAME.json, whole or not at all."""
        self.results.mkdir(exist_ok=True)
        text = json.dumps(data, indent=1) + "\n"
        replace_file(self.results / f"{name}.json", lambda file: file.write(text.encode()))

    def measured(
        self,
        name: str,
        function: Callable[..., Row],
        jobs: Sequence[tuple[Any, ...]],
        count: int = 1,
        again: bool = False,
    ) -> list[Row]:
        """Rows of all jobs, in their order; those that results/NAME.json lacks are done by `count` workers."""
        there = {} if again else self.read(name)
        kept = {json.dumps(row["job"]): row for row in there.get("rows", [])}
        keys = [json.dumps(list(job)) for job in jobs]
        missing = [job for job, key in zip(jobs, keys, strict=True) if key not in kept]
        began, minutes = time.perf_counter(), there.get("minutes", 0.0)
        if missing:
            with workers(jobs=count) as pool:
                for index, row in as_done(pool, function, missing):
                    job = list(missing[index])
                    kept[json.dumps(job)] = {"job": job, "commit": self.commit(), **row}
                    rows = [kept[key] for key in keys if key in kept]
                    spent = round(minutes + (time.perf_counter() - began) / 60, 2)
                    versions = {word: version(word) for word in PACKAGES}
                    self.write(name, {"rows": rows, "minutes": spent, "versions": versions})
                    print(f"{name}: {len(rows)} of {len(jobs)}", missing[index], file=sys.stderr, flush=True)
        return [kept[key] for key in keys]


def ran(*words: object, seed: int, trials: int) -> Row:
    """What `tumble run` says of so many trials, by one thread, and the command."""
    command = ["run", *map(str, words), "--trials", str(trials), "--seed", str(seed), "--threads", "1", "--json"]
    answer = subprocess.run([sys.executable, "-m", "tumble", *command], capture_output=True, text=True, check=True)
    kept = ("successes", "trials", "metrics", "realtime_factor", "plan_ms")
    return {"command": "tumble " + " ".join(command), **{key: json.loads(answer.stdout)[key] for key in kept}}
