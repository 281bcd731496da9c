"""Section 8: getting up from states around a pose, by the tree and by planners, on the same states.

    python experiments/alborno2016/comparison.py                  # 30 states each; hours for the planners
    python experiments/alborno2016/comparison.py --only tree      # some minutes
    python experiments/alborno2016/comparison.py --quick          # under a minute: three states, nothing kept

Rows are `tumble run getup-tree --strategy 1 --alpha A --controller C --trials 10 --seed S --json`. The paper's tree
gets up from 10, 10 and 9 of 10 states at alpha 2, 6 and 8, its SMC from 9, 4 and 2. One should see the tree ahead at
every alpha.
"""

import argparse
from pathlib import Path
from typing import Any

from tumble.cli.experiment import Experiment, ran

HERE = Experiment(Path(__file__).parent)
LEVELS, SEED, TRIALS = (2, 6, 8), 82_000, 10


def job(controller: str, alpha: int, seed: int, trials: int) -> dict[str, Any]:
    """What `tumble run` says of so many states."""
    return ran("getup-tree", "--strategy", 1, "--alpha", alpha, "--controller", controller, seed=seed, trials=trials)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=["tree", "smc", "cpbp"])
    parser.add_argument("--blocks", type=int, default=3, help=f"of {TRIALS} states each")
    parser.add_argument("--seed", type=int, default=SEED, help="of the first state")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    chosen = parser.parse_args()
    if chosen.quick:
        print(job("tree", 6, SEED, 3))
        return
    for controller in chosen.only:
        jobs = [(controller, a, chosen.seed + TRIALS * i, TRIALS) for a in LEVELS for i in range(chosen.blocks)]
        name = f"comparison-{controller}" + (f"-{chosen.seed}" if chosen.seed != SEED else "")
        rows = HERE.measured(name, job, jobs, chosen.jobs, chosen.again)
        for alpha in LEVELS:
            mine = [row for row in rows if row["job"][1] == alpha]
            won, all_of = (sum(row[key] for row in mine) for key in ("successes", "trials"))
            print(f"{controller} alpha {alpha}: {won} of {all_of}")


if __name__ == "__main__":
    main()
