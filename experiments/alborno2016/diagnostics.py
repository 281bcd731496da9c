"""Sections 4.5, 8 and 9: how often an optimisation succeeds in a small and in a larger tree; N = 1 against N = 10.

    python experiments/alborno2016/diagnostics.py           # about 20 minutes on two cores
    python experiments/alborno2016/diagnostics.py --quick   # under a minute, nothing kept

The paper: 1 of 10 optimisations succeed with 2 nodes in the tree, 7 of 10 with 80 (section 9); 5 of 40 that succeed
reach the node they aimed at (section 8); with N = 10 motions are better than with N = 1 (section 4.5, a video). Edges
are optimised alone towards the nearest node here, as there (500 samples); states are those of alpha = 2 around Getting
Up 1 that are outside the first controller's domain. For N, edges with full branches, seconds to the goal are told.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from tumble.attraction.asking import ask
from tumble.attraction.connecting import Connecting, connect
from tumble.attraction.shipped import tree_named
from tumble.attraction.tree import Tree
from tumble.cli.experiment import Experiment
from tumble.world.drives import FRAME

HERE = Experiment(Path(__file__).parent)
SKILL, ALPHA, SEED = "getup-1", 4.0, 86_000
ALONE = Connecting(population=20, evaluations=500, full=False, candidates=50)


def outside(tree: Tree, rng: np.random.Generator) -> np.ndarray:
    """A state that the first edge alone does not lead to the goal."""
    while True:
        state = tree.system.sample(ALPHA, 1, rng)[0]
        if ask(tree, state, 1, tree.heads[:1]).node is None:
            return state


def size_job(edges: int, seed: int) -> dict[str, Any]:
    """Whether an optimisation succeeds in the first so many edges of the tree, and reaches its aim."""
    whole, rng = tree_named(SKILL), np.random.default_rng(seed)
    tree, state = Tree.from_plain(whole.system, whole.plain(edges)), outside(whole, rng)
    aim = int(tree.nearest(state, 1)[0][0])
    found, _ = connect(tree, state, aim, rng, ALONE)
    return {"succeeded": found is not None, "reached_aim": found is not None and found.parent == found.aim}


def neighbours_job(most: int, seed: int) -> dict[str, Any]:
    """Seconds to the goal of the quickest of `most` connections to the nearest nodes; None where none succeeds."""
    tree, rng = tree_named(SKILL), np.random.default_rng(seed)
    state, seconds = outside(tree, rng), list[float]()
    for aim in tree.nearest(state, most, tree.heads)[0]:
        found, _ = connect(tree, state, int(aim), np.random.default_rng([seed, int(aim)]), Connecting())
        if found is not None:
            seconds.append(FRAME * (len(found.trace) + tree.duration(found.parent)))
    return {"seconds": min(seconds, default=None)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.quick:
        print(size_job(2, SEED))
        return
    sizes = HERE.measured(
        "diagnostics-size", size_job, [(k, SEED + i) for k in (1, 80) for i in range(20)], chosen.jobs
    )
    for edges in (1, 80):
        mine = [row for row in sizes if row["job"][0] == edges]
        won, aimed = (sum(row[key] for row in mine) for key in ("succeeded", "reached_aim"))
        print(f"{edges} edges: {won} of {len(mine)} succeed, {aimed} of these reach their aim")
    ways = HERE.measured(
        "diagnostics-n", neighbours_job, [(n, SEED + i) for n in (1, 10) for i in range(10)], chosen.jobs
    )
    for most in (1, 10):
        found = [row["seconds"] for row in ways if row["job"][0] == most and row["seconds"] is not None]
        print(f"N = {most}: {len(found)} of 10 connect, {np.mean(found):.2f} s to the goal")


if __name__ == "__main__":
    main()
