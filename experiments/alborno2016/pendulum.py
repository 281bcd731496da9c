"""Section 5: optimisations that RRTFC and DFC need to cover the domain of the pendulum and of the double pendulum.

    python experiments/alborno2016/pendulum.py                    # the pendulum; about 15 minutes on two cores
    python experiments/alborno2016/pendulum.py --double --runs 3  # the double pendulum; RRTFC takes long
    python experiments/alborno2016/pendulum.py --quick            # under a minute, nothing kept

The paper, means of 10 runs: pendulum RRTFC 38 failed + 13 succeeded, DFC 13 + 16 (ratio 0.57, "similar results" with 8
or 16 subsets); double pendulum 950 + 25 and 132 + 25 (0.16). Done is `INSIDE` consecutive samples of the whole domain
inside. CMA has 20 x 12 and 50 x 25 samples as there. Both algorithms are treated alike; what the paper leaves open:
edges of 0.2 s; RRTFC steers the sample itself where it is nearer than `STEP`, else a state that far from the tree; V =
50; a level of DFC ends after 30 samples in a row that were inside, the last after `INSIDE`. A run is given up after
`MOST` optimisations.
"""

import argparse
from typing import Any

import numpy as np
from common import measured

from tumble.attraction.connecting import Connecting
from tumble.attraction.growing import Aim, Growth, Method, Outcome, attempt, stage_of
from tumble.attraction.systems import system_named
from tumble.attraction.tree import Tree

SEED, INSIDE, STEP, MOST = 87_000, 200, 3.1 * np.pi / 4, 300  # STEP: kg rad, an eighth of a turn
SAMPLES = {"pendulum": (12, 20), "double-pendulum": (25, 50)}  # a generation, generations: section 5


def job(name: str, method: str, subsets: int, seed: int) -> dict[str, Any]:
    """One run: how many optimisations failed and succeeded."""
    system = system_named(name)
    tree, (population, generations) = Tree(system), SAMPLES[name]
    connecting = Connecting(population=population, evaluations=population * generations, full=False, candidates=50)
    levels = tuple((np.arange(subsets) + 1) / subsets) if method == "dfc" else (1.0,)
    growth = Growth(
        levels, Method(method), attempts=100_000, inside=30, share=1.0, aim=Aim.NEAREST, step=STEP, first=1, lag=1,
        seed=seed, connecting=connecting,
    )  # fmt: skip
    outcomes, row = list[Outcome](), 0
    last = len(levels) - 1
    while row < INSIDE and sum(o.optimised for o in outcomes) < MOST:
        stage = stage_of(growth, outcomes)
        stage = last if stage is None else stage
        outcome = attempt(tree, growth, len(outcomes), stage, levels[stage])
        row = row + 1 if outcome.inside and stage == last else 0
        if outcome.edge is not None:
            points, trace, parent, aim = outcome.edge
            tree.add(points, trace, parent, levels[stage], aim, outcome.evaluations)
        outcomes.append(outcome)
    won = sum(o.edge is not None for o in outcomes)
    return {"failed": sum(o.optimised for o in outcomes) - won, "succeeded": won, "covered": row >= INSIDE}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--double", action="store_true")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    name = "double-pendulum" if chosen.double else "pendulum"
    if chosen.quick:
        print(job("pendulum", "dfc", 4, SEED))
        return
    kinds = [("rrtfc", 1), ("dfc", 4), *([] if chosen.double else [("dfc", 8), ("dfc", 16)])]
    jobs = [(name, method, subsets, SEED + i) for i in range(chosen.runs) for method, subsets in kinds]
    rows = measured(name, job, jobs, chosen.jobs)
    for method, subsets in kinds:
        mine = [row for row in rows if row["job"][1:3] == [method, subsets]]
        failed, won = (np.mean([row[key] for row in mine]) for key in ("failed", "succeeded"))
        covered = sum(row["covered"] for row in mine)
        print(
            f"{name} {method} {subsets}: {failed:.1f} + {won:.1f} = {failed + won:.1f}; {covered} of {len(mine)} done"
        )


if __name__ == "__main__":
    main()
