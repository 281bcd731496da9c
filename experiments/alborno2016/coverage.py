"""Section 4.8: how much of a domain a tree covers, against alpha, V and nodes; the claim "alpha = 10 is covered".

    python experiments/alborno2016/coverage.py getup-1         # about 30 minutes on two cores
    python experiments/alborno2016/coverage.py getup-1 --quick # under a minute
    python experiments/alborno2016/coverage.py --plot          # results/coverage.png

States are drawn on seeds that no build has used. One should see that 90 of 100 states of alpha = 10 are inside, that
more of the nearest nodes (V) are needed the larger alpha is, and that coverage grows with the tree.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from tumble.attraction.asking import ask
from tumble.attraction.shipped import tree_named
from tumble.cli.experiment import Experiment

HERE = Experiment(Path(__file__).parent)
LEVELS, SEED, STATES, MOST = (2.0, 4.0, 6.0, 8.0, 10.0), 81_000, 10, 250
SIZES = (0.1, 0.25, 0.5, 1.0)  # of the tree's edges


def job(name: str, level: float, seed: int, share: float) -> dict[str, Any]:
    """How many of the nearest nodes each of some states asked until it was inside, 0 where none led to the goal."""
    tree = tree_named(name)
    heads = np.r_[0, tree.heads[: max(1, round(share * len(tree.heads)))]]
    states = tree.system.sample(level, STATES, np.random.default_rng(seed))
    answers = [ask(tree, state, MOST, heads) for state in states]
    ranks = [0 if a.node is None else 1 + int(np.flatnonzero(a.nodes == a.node)[0]) for a in answers]
    return {"ranks": ranks, "steps": [a.steps for a in answers], "nodes": len(heads)}


def plot() -> None:
    """Coverage against alpha for several V, and against the size of the tree."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = HERE.read("coverage")["rows"]
    names = sorted({row["job"][0] for row in rows})
    figure, panels = plt.subplots(len(names), 2, figsize=(9, 3.4 * len(names)), squeeze=False)
    for name, (left, right) in zip(names, panels, strict=True):
        mine = [row for row in rows if row["job"][0] == name]
        for most in (10, 50, 100, MOST):
            whole = [row for row in mine if row["job"][3] == 1.0]
            levels = sorted({row["job"][1] for row in whole})
            left.plot(levels, [_share(whole, level, most) for level in levels], "o-", label=f"V = {most}")
        for level in sorted({row["job"][1] for row in mine if row["job"][3] < 1.0}):
            some = [row for row in mine if row["job"][1] == level]
            sizes = sorted({row["nodes"] for row in some})
            shares = [_share([row for row in some if row["nodes"] == size], level, MOST) for size in sizes]
            right.plot(sizes, shares, "o-", label=f"alpha = {level:g}")
        left.set(xlabel="alpha", ylabel="share inside", ylim=(0, 1.03), title=name)
        right.set(xlabel="nodes that are asked (heads of edges)", xscale="log", ylim=(0, 1.03), title=f"V = {MOST}")
        left.legend(frameon=False)
        right.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(HERE.results / "coverage.png", dpi=110)


def _share(rows: list[dict[str, Any]], level: float, most: int) -> float:
    ranks = np.concatenate([row["ranks"] for row in rows if row["job"][1] == level])
    return float(np.mean((ranks > 0) & (ranks <= most)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--quick", action="store_true", help="few states, nothing kept")
    parser.add_argument("--plot", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    for name in chosen.names:
        if chosen.quick:
            print(job(name, 4.0, SEED, 1.0))
            continue
        whole = [(name, level, SEED + i, 1.0) for level in LEVELS for i in range(10 if level == 10.0 else 4)]
        parts = [(name, 8.0, SEED + 100 + i, share) for share in SIZES[:-1] for i in range(3)]
        others = [tuple(row["job"]) for row in HERE.read("coverage").get("rows", []) if row["job"][0] != name]
        rows = HERE.measured("coverage", job, [*others, *whole, *parts], chosen.jobs)
        for level in LEVELS:
            ranks = np.concatenate([r["ranks"] for r in rows if r["job"][:2] == [name, level] and r["job"][3] == 1.0])
            inside = {most: int(((ranks > 0) & (ranks <= most)).sum()) for most in (10, 50, 100, MOST)}
            print(f"{name} alpha {level:g}: of {len(ranks)} states inside with V {inside}")
    if chosen.plot:
        plot()


if __name__ == "__main__":
    main()
