"""Figure 7 of hamalainen2015: a pruned trajectory regains belief through backward messages.

One forward pass of few samples on the toy; every segment is a sample, darker where its belief (eq.
13) is higher, relative to the highest of its step; pruned branches end before the horizon. Left: the
beliefs of these samples where Q is next to nothing: pruned branches have none. Right: the same
samples where Q is that of figures 2 and 6: branches that were pruned, but ran beside others that did
well, have belief, and so the next iteration draws near them.

The pass that is drawn is the one of 50 with the cheapest trajectory; the JSON and the titles have the
mean of all 50. A few seconds on two cores; --quick does 10.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from report import BLUE, RED, main, rounded, segments, world

from tumble.planners import CPBP
from tumble.planners.cpbp.beliefs import backward, density, drifted, forward, widths
from tumble.planners.cpbp.cpbp import WalkerTree
from tumble.planners.cpbp.kernels import path_of
from tumble.scenarios import toy

SAMPLES = 12


def measure(quick: bool) -> dict[str, Any]:
    seeds = range(10 if quick else 50)
    scene, goal = toy.scene(), toy.goal()
    settings = toy.settings(SAMPLES)
    noise = widths(6, settings.transition_place, settings.transition_speed)
    passes = []
    for seed in seeds:
        planner = CPBP(scene, settings, seed, nthread=1)
        cost = planner.plan(toy.start(scene), goal, again=True).cost
        tree = planner.tree()
        dead = pruned(tree)
        beliefs = {"none": believed(tree, scene.dt, 1e-6 * noise), "some": believed(tree, scene.dt, noise)}
        share = {key: float((belief * dead).sum() / belief.sum()) for key, belief in beliefs.items()}
        passes.append((cost, share, tree, dead, beliefs))
    shown = min(range(len(passes)), key=lambda i: passes[i][0])
    _, share, tree, dead, beliefs = passes[shown]
    ends = tree.states[1:, :, [0, 2]]
    starts = tree.states[np.arange(len(ends))[:, None], tree.ancestors][:, :, [0, 2]]
    return {
        "figure": 7,
        "seeds": list(seeds),
        "samples": SAMPLES,
        "pruned_share_mean": {key: np.mean([one[1][key] for one in passes]) for key in share},
        "shown": {
            "seed": shown,
            "pruned_share": share,
            "segments": rounded(np.stack([starts, ends], axis=2).reshape(-1, 2, 2)),
            "pruned": dead.reshape(-1).astype(int).tolist(),
            "beliefs": {key: rounded(belief.reshape(-1)) for key, belief in beliefs.items()},
            "resampled": rounded(toy.SPEED * scene.dt * np.flatnonzero(tree.resampled)),
        },
    }


def pruned(tree: WalkerTree) -> np.ndarray:
    """(K, N) bool: samples from which no trajectory reaches the horizon."""
    dead = np.ones(tree.ancestors.shape, bool)
    dead[np.arange(len(dead))[:, None], path_of(tree.ancestors)] = False
    return dead


def believed(tree: WalkerTree, dt: float, unit: np.ndarray) -> np.ndarray:
    """(K, N) beliefs (eq. 13) of the samples, for any sqrt(Q), relative to each step's highest."""
    starts = drifted(tree.states[:-1], dt) / unit
    crowd = np.array([density(starts[k], tree.ancestors[k]) for k in range(len(starts))])
    ahead = tree.potential.copy()
    for k in range(1, len(ahead)):
        if not tree.resampled[k]:
            ahead[k] += forward(starts[k], tree.ancestors[k], ahead[k - 1]) - crowd[k]
    log_belief = ahead + backward(starts, tree.ancestors, tree.potential - crowd)
    return np.exp(log_belief - log_belief.max(axis=1, keepdims=True))


def draw(data: Any) -> Figure:
    figure, row = plt.subplots(1, 2, figsize=(9.6, 3.9), sharey=True, layout="constrained")
    shown = data["shown"]
    titles = {"none": "Q → 0", "some": "Q ≠ 0"}
    dead = np.array(shown["pruned"], bool)
    lines = np.array(shown["segments"])
    for axes, (key, title) in zip(row, titles.items(), strict=True):
        world(axes)
        for x in shown["resampled"]:
            axes.axvline(x, color=BLUE, lw=0.8, alpha=0.5, zorder=1)
        belief = np.array(shown["beliefs"][key])
        segments(axes, lines, colors="#e4e4e4", linewidths=0.8, zorder=2)
        for part, colour in ((~dead, (0.1, 0.1, 0.1)), (dead, RED)):
            segments(axes, lines[part], colors=colour, linewidths=1.8, alpha=belief[part], zorder=3)
        share, mean = shown["pruned_share"][key], data["pruned_share_mean"][key]
        axes.set_title(
            f"{title}: pruned samples (red) hold {100 * share:.0f} % of the belief\n"
            f"mean of {len(data['seeds'])} passes {100 * mean:.0f} %",
            loc="left",
            fontsize=10,
        )
        axes.set_xlabel("ahead, m")
    row[1].set_ylabel("")
    return figure


if __name__ == "__main__":
    main("figure7", __doc__, measure, draw)
