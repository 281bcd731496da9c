"""Section 6.2: getting up to face anywhere, by a small tree and by "go to the pose, then play".

    python experiments/alborno2016/facing.py           # about 10 minutes on two cores
    python experiments/alborno2016/facing.py --quick   # under a minute, nothing kept

The paper: going to the pose of the first controller and playing it "does not work with our controllers", a tree of
"e.g., 80 nodes" suffices. Here states lie anyhow (alpha = 10); the naive way holds the first pose for 2 s and plays the
first controller; the tree `rise` has at most 80 of its nodes at the beginning of an edge asked, from where it lies.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from tumble.attraction.asking import ask
from tumble.attraction.shipped import tree_named
from tumble.attraction.upright import UprightSystem
from tumble.cli.experiment import Experiment

HERE = Experiment(Path(__file__).parent)
SEED, STATES, NODES, POSE = 85_000, 10, 80, 60  # frames of going to the pose


def job(alpha: float, seed: int) -> dict[str, Any]:
    """Successes of some states by the naive way, by the tree, and by the tree after going to the pose."""
    tree = tree_named("rise")
    system = tree.system
    assert isinstance(system, UprightSystem)
    states = system.sample(alpha, STATES, np.random.default_rng(seed))
    pose = system.angles(system.target[None])[0]
    hold = np.tile(np.r_[pose, pose], (POSE, 1))
    naive = system.roll(states, [np.concatenate([hold, tree.track(tree.heads[0])])] * STATES).reached
    heads = np.r_[0, tree.heads[: NODES - 1]]
    inside = [ask(tree, state, NODES, heads).node is not None for state in states]
    posed = system.roll(states, [hold] * STATES, hold=False).ends
    turned = [system.turned(state, -system.heading(state)) for state in posed]
    both = [ask(tree, state, NODES, heads).node is not None for state in turned]
    return {"states": STATES, "naive": int(naive.sum()), "tree": int(sum(inside)), "pose_then_tree": int(sum(both))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    chosen = parser.parse_args()
    if chosen.quick:
        print(job(2.0, SEED))
        return
    rows = HERE.measured("facing", job, [(10.0, SEED + i) for i in range(3)], chosen.jobs, chosen.again)
    for key in ("naive", "tree", "pose_then_tree"):
        print(key, sum(row[key] for row in rows), "of", sum(row["states"] for row in rows))


if __name__ == "__main__":
    main()
