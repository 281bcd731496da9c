"""Table II: optimisations that RRTFC and DFC need to cover alpha = 0.5 of Getting Up 2, by how hard each is tried.

    python experiments/alborno2016/table2.py            # about an hour on two cores
    python experiments/alborno2016/table2.py --alpha 2  # a larger domain, results/table2-alpha2.json
    python experiments/alborno2016/table2.py --alpha 2 --spread 0.05
    python experiments/alborno2016/table2.py --quick    # under a minute

The paper has 57, 32, 29, 24, 19 for RRTFC and 22, 18, 19, 19, 13 for DFC with 500, 1000, 2500, 5000 and 30 000 samples
an optimisation, mean of 3 runs. As there, an edge takes 0.2 s and is optimised alone (no full branches), towards the
nearest node. Covered means `INSIDE` consecutive samples inside, which the paper does not say; RRTFC extends the tree
by at most `STEP` of eq. 3, which it does not say either. One should see DFC below RRTFC in every column.

Trap: with CMA-ES' usual spread of 0.3 rad no rollout of the first 2500 or so beats the straight line that it begins
with (75 numbers, a generation of 20), so that columns differ by nothing; with 0.05 rad some do within 500.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from tumble.attraction.building import first_of
from tumble.attraction.connecting import Connecting
from tumble.attraction.growing import Aim, Growth, Method, Outcome, attempt, level_of, stage_of
from tumble.attraction.systems import system_named
from tumble.attraction.tree import Tree
from tumble.cli.experiment import Experiment

HERE = Experiment(Path(__file__).parent)
SAMPLES, RUNS, SEED = (500, 1000, 2500, 5000), 3, 83_000
SKILL, ALPHA, INSIDE, STEP, MOST = "getup-2", 0.5, 30, 20.0, 100
SPREAD = Connecting().spread  # sigma_0 of CMA-ES, rad


def job(
    method: str, samples: int, seed: int, most: int, alpha: float = ALPHA, spread: float = SPREAD
) -> dict[str, Any]:
    """One run: optimisations that failed and succeeded until the domain was covered, or `most` were spent.

    RRTFC draws from all of the domain, DFC from half of alpha first.
    """
    system = system_named(SKILL)
    tree, first = Tree(system), first_of(SKILL)
    assert first is not None
    tree.add(first.points, first.trace, 0, 0.0)
    connecting = Connecting(population=20, evaluations=samples, full=False, candidates=50, spread=spread)
    levels = (alpha,) if method == Method.RRTFC else (alpha / 2, alpha)
    growth = Growth(
        levels, Method(method), attempts=100_000, inside=INSIDE, share=1.0, aim=Aim.NEAREST,
        step=STEP, lag=1, seed=seed, connecting=connecting,
    )  # fmt: skip
    outcomes = list[Outcome]()
    while (stage := stage_of(growth, outcomes)) is not None and sum(o.optimised for o in outcomes) < most:
        level = level_of(growth, outcomes, stage, len(outcomes))
        outcome = attempt(tree, growth, len(outcomes), stage, level)
        if outcome.edge is not None:
            points, trace, parent, aim = outcome.edge
            tree.add(points, trace, parent, level, aim, outcome.evaluations)
        outcomes.append(outcome)
    tried = [o for o in outcomes if o.optimised]
    aimed = sum(o.edge is not None and o.edge[2] == o.edge[3] for o in tried)
    won = sum(o.edge is not None for o in tried)
    return {"failed": len(tried) - won, "succeeded": won, "reached_aim": aimed, "covered": stage is None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alpha", type=float, default=ALPHA)
    parser.add_argument("--spread", type=float, default=SPREAD)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.quick:
        print(job("dfc", 40, SEED, 2))
        return
    jobs: list[tuple[Any, ...]] = [
        (str(m), n, SEED + i, MOST) for n in SAMPLES for i in range(RUNS) for m in (Method.RRTFC, Method.DFC)
    ]
    name, more = "table2", tuple[float, ...]()  # what rows have beyond the usual
    if (chosen.alpha, chosen.spread) != (ALPHA, SPREAD):
        name, more = f"{name}-alpha{chosen.alpha:g}", (chosen.alpha,)
    if chosen.spread != SPREAD:
        name, more = f"{name}-spread{chosen.spread:g}", (*more, chosen.spread)
    jobs = [(*one, *more) for one in jobs]
    rows = HERE.measured(name, job, jobs, chosen.jobs)
    for samples in SAMPLES:
        means = {
            method: np.mean([r["failed"] + r["succeeded"] for r in rows if r["job"][:2] == [method, samples]])
            for method in ("rrtfc", "dfc")
        }
        print(f"{samples} samples: RRTFC {means['rrtfc']:.1f}, DFC {means['dfc']:.1f}")


if __name__ == "__main__":
    main()
