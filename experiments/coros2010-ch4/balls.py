"""Section 4.6, robustness: who goes on with a task while balls hit, by a policy and by a single controller.

    python experiments/coros2010-ch4/balls.py           # about 10 minutes on one core
    python experiments/coros2010-ch4/balls.py --quick   # under a minute, nothing kept

Theirs: balls of 7 to 15 kg are thrown at all characters; no rates but those of the very robust walk (`robust.py`). Here
balls at 6 m/s every 5 s or so, from any side; well done is who has reached the goal at the end and did not fall. A
single controller is SIMBICON's walk, which turns by its own rule to where it is wanted and does not stop at a line.
One should see fewer falls by policies.
"""

import argparse
from pathlib import Path

from tumble.cli.experiment import Experiment, Row, ran

HERE = Experiment(Path(__file__).parent)
TRIALS, SEED = 10, 54_000
CASES = [
    ("heading", "big-bird", "task", 10.0), ("heading", "big-bird", "simbicon", 10.0),
    ("heading", "raptor", "task", 10.0), ("heading", "raptor", "simbicon", 10.0),
    ("go-to-line", "biped34", "task", 10.0), ("go-to-line", "big-bird", "task", 10.0),
    ("heading-speed", "big-bird", "task", 10.0), ("heading", "big-bird", "task", 5.0),
    ("heading", "big-bird", "simbicon", 5.0),
]  # fmt: skip


def job(scenario: str, body: str, controller: str, mass: float, trials: int) -> Row:
    """Trials in which the goal was reached without a fall."""
    words = ("--character", body, "--controller", controller, "--balls", mass)
    return ran(scenario, *words, seed=SEED, trials=trials)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    chosen = parser.parse_args()
    if chosen.quick:
        print(job(*CASES[0], 1))
        return
    for row in HERE.measured("balls", job, [(*case, TRIALS) for case in CASES], chosen.jobs, chosen.again):
        name, body, controller, mass, trials = row["job"]
        fell = row["metrics"]["falls"]
        print(f"{name} of {body} by {controller}, {mass:g} kg: {row['successes']} of {trials}, {fell} falls")


if __name__ == "__main__":
    main()
