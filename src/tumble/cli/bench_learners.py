"""What the learners cost: queries of a full forest and of the network, and what they learn in a frame.

    measure()["forest, 3 neighbours"]                # us

The pairs are of a made-up gait: a cycle of 90 frames with noise, of the sizes of the humanoid walker, more of them than
a forest keeps. Medians of 300 calls each; the first, which may compile, is left out.
"""

import time
from collections.abc import Callable

import numpy as np

from tumble.learners import Learners
from tumble.learners.informed import VISITS
from tumble.planners import MCTSSettings

FEATURES, SIZE = 175, 24  # of the humanoid walker
PAIRS = 18_000  # more than a forest keeps
LENGTH = 90  # frames of a made-up gait
ROUNDS = 300  # timed calls of each


def measure() -> dict[str, float]:
    """Median microseconds of every call, with the pairs of a made-up gait."""
    rng = np.random.default_rng(0)
    cycle, actions = rng.normal(size=(LENGTH, FEATURES)), rng.normal(size=(LENGTH, SIZE))
    learners = Learners(FEATURES, SIZE, 0)
    for i in range(PAIRS):
        learners.add(cycle[i % LENGTH] + 0.1 * rng.normal(size=FEATURES), actions[i % LENGTH])
        learners.work(0)
    learners.work(1)
    settings = MCTSSettings()
    states = (cycle[: settings.plain + settings.noisy] + 0.1).astype(np.float32)
    calls: dict[str, Callable[[], object]] = {
        f"forest, {settings.neighbours} neighbours": lambda: learners.forest.recall(states[: settings.neighbours]),
        f"network, {len(states)} actions": lambda: learners.network.predict(states),
        "teach a pair": lambda: learners.add(states[0], actions[0]),
        f"forest, {VISITS} points of a tree that is built anew": lambda: learners.forest.work(VISITS),
        f"network, {settings.updates} updates": lambda: learners.network.train(settings.updates),
    }
    return {name: _median(call) for name, call in calls.items()}


def _median(call: Callable[[], object]) -> float:
    """us of a call, the median."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return 1e6 * float(np.median(times[1:]))  # the first compiles
