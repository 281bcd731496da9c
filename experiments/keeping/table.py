"""What keeping time costs: success of a scenario against futures, and frames that a plan serves.

    python experiments/keeping/table.py push --trials 12
    python experiments/keeping/table.py push --quick

One should see that success falls with futures / frames, which is the work of a frame: the ladder of
`tumble.live.keeping` goes along it. About 15 s a trial on one busy core; --quick takes one trial of two settings.
"""

import argparse
import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

SETTINGS = [(32, 1), (16, 1), (16, 2), (12, 3)]  # futures, frames
RESULTS = Path(__file__).parent / "results"


def rate(scenario: str, samples: int, serves: int, trials: int, seed: int) -> dict[str, object]:
    """One row, by `tumble run`."""
    words = ["--samples", samples, "--serves", serves, "--trials", trials, "--seed", seed, "--threads", 1, "--json"]
    command = [sys.executable, "-m", "tumble", "run", scenario, *map(str, words)]
    ran = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    kept = {name: ran[name] for name in ("successes", "trials", "seeds", "wall_seconds", "plan_ms")}
    return {"samples": samples, "serves": serves, **kept}


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario")
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7000)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    settings, trials = (SETTINGS[::3], 1) if options.quick else (SETTINGS, options.trials)
    rows = []
    for samples, serves in settings:
        rows.append(rate(options.scenario, samples, serves, trials, options.seed))
        print(f"{samples} futures, a plan serves {serves}: {rows[-1]['successes']} of {trials}", flush=True)
    if not options.quick:
        about = {"scenario": options.scenario, "versions": {"tumble": version("tumble"), "mujoco": version("mujoco")}}
        path = RESULTS / f"{options.scenario}.json"
        path.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
