"""Figure 4 of hamalainen2015: basic Particle Belief Propagation on the toy, with uniform proposals.

States and controls of every step are drawn uniformly and do not connect; each is drawn as the segment
that ends at its state, darker where its belief (eq. 11) is higher relative to the highest of its step.
The segment's beginning follows from the linear dynamics. One should see, in the middle, the ways past
the obstacles on either side (several modes); with too small a Q few segments connect and most beliefs
vanish; with too large a Q they blur.

About a minute on one core (6000 samples a step); --quick (1500) a few seconds.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from report import INK, main, rounded, segments, world

from tumble.scenarios import toy

STEPS, DT = 12, 0.125  # longer steps than in figure 2, so that one can see segments
HEIGHT, RISE, ACCELERATION = 1.0, 3.0, 20.0  # bounds of the uniform proposals: m, m/s, m/s^2
HABIT = 6.0  # m/s^2, sigma_0 of the control's potential
NOISE = {"too small": (0.003, 0.03), "right": (0.03, 0.3), "too large": (0.3, 3.0)}  # sqrt(Q): m, m/s
SEED, DIM, MOST = 0, 0.01, 7000  # drawn: segments with DIM of their step's highest belief, thinned out to MOST


def measure(quick: bool) -> dict[str, Any]:
    n = 1500 if quick else 6000
    rng = np.random.default_rng(SEED)
    height, rise = rng.uniform(-HEIGHT, HEIGHT, (STEPS, n)), rng.uniform(-RISE, RISE, (STEPS, n))
    acceleration = rng.uniform(-ACCELERATION, ACCELERATION, (STEPS, n))
    ahead = toy.SPEED * DT * np.arange(1, STEPS + 1)[:, None]
    before = np.stack([height - DT * rise, rise - DT * acceleration])  # where the segment began
    log_potential = -0.5 * (cost(ahead, height) + (acceleration / HABIT) ** 2)
    panels = {}
    for name, noise in NOISE.items():
        log_belief = beliefs(np.stack([height, rise]), before, log_potential, noise)
        belief = np.exp(log_belief - log_belief.max(axis=1, keepdims=True))
        k, i = np.nonzero(belief > DIM)
        thin = slice(None, None, 1 + len(k) // MOST)
        k, i = k[thin], i[thin]
        ends = np.stack([ahead[k, 0], height[k, i]], axis=1)
        starts = np.stack([ahead[k, 0] - toy.SPEED * DT, before[0, k, i]], axis=1)
        effective = 1 / ((belief / belief.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
        panels[name] = {
            "noise": noise,
            "segments": rounded(np.stack([starts, ends], axis=1), 3),
            "belief": rounded(belief[k, i], 3),
            "effective_samples": rounded(effective, 1),
        }
    return {"figure": 4, "seed": SEED, "samples": n, "steps": STEPS, "panels": panels}


def cost(ahead: np.ndarray, height: np.ndarray) -> np.ndarray:
    """(steps, n): what the toy's goal says of states at those places."""
    clear, target = toy.goal().terms
    x = np.broadcast_to(ahead, height.shape).reshape(-1)
    places = np.stack([x, np.zeros(x.size), height.reshape(-1)], axis=1)
    deep = toy.depths(places, np.array(toy.OBSTACLES)) / clear.sigma
    return (deep**2).sum(axis=1).reshape(height.shape) + (height / target.sigma) ** 2


def beliefs(
    states: np.ndarray, before: np.ndarray, log_potential: np.ndarray, noise: tuple[float, float]
) -> np.ndarray:
    """(steps, n): logarithms of eq. 11; the proposal is uniform and drops out.

    Args:
      states, before: (2, steps, n), height and rise at the end and at the beginning of every segment.
      log_potential: (steps, n).
      noise: sqrt(Q).
    """
    steps, n = log_potential.shape
    forward, backward = np.empty((steps, n)), np.zeros((steps, n))
    forward[0] = near(np.zeros((2, 1)), before[:, 0], noise)[0]  # all begin from rest at height 0
    for k in range(1, steps):
        links = near(states[:, k - 1], before[:, k], noise)
        forward[k] = log_sum(links + (log_potential[k - 1] + forward[k - 1])[:, None], axis=0)
    for k in range(steps - 2, -1, -1):
        links = near(states[:, k], before[:, k + 1], noise)
        backward[k] = log_sum(links + log_potential[k + 1] + backward[k + 1], axis=1)
    return log_potential + forward + backward


def near(states: np.ndarray, before: np.ndarray, noise: tuple[float, float]) -> np.ndarray:
    """(n, m): logarithm of N(x_k; f(x_k-1, u_k), Q) for all pairs of states (2, n) and segment beginnings (2, m)."""
    height, rise = states[:, :, None] - before[:, None, :]
    return -0.5 * (((height + DT * rise) / noise[0]) ** 2 + (rise / noise[1]) ** 2)  # carried to the segment's end


def log_sum(logs: np.ndarray, axis: int) -> np.ndarray:
    top = logs.max(axis=axis, keepdims=True)
    return np.squeeze(top, axis) + np.log(np.exp(logs - top).sum(axis=axis))


def draw(data: Any) -> Figure:
    figure, rows = plt.subplots(3, 1, figsize=(5.6, 9.4), sharex=True, layout="constrained")
    for axes, (name, panel) in zip(rows, data["panels"].items(), strict=True):
        world(axes)
        order = np.argsort(panel["belief"])
        belief = np.array(panel["belief"])[order]
        segments(axes, np.array(panel["segments"])[order], colors=INK, linewidths=1.0, alpha=0.85 * belief, zorder=3)
        place, speed = panel["noise"]
        count = np.median(panel["effective_samples"])
        axes.set_title(
            f"√Q = {place:g} m, {speed:g} m/s, {name}: {count:.0f} of {data['samples']} samples effective",
            loc="left",
            fontsize=10,
        )
    rows[2].set_xlabel("ahead, m (2 m/s)")
    return figure


if __name__ == "__main__":
    main("figure4", __doc__, measure, draw)
