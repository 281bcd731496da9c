"""How many times faster than real time a crowd dances in one world."""

import time
from typing import Any

import numpy as np

from tumble.characters import character
from tumble.cli.timing import timed
from tumble.crowds.crowd import Crowd as Dancing
from tumble.scenarios.crowd import CrowdDance
from tumble.world.sims import Sims


def measure(seconds: float, seed: int = 0) -> dict[str, Any]:
    """Dance a second, then time control and physics.

    Args:
      seconds: of wall time that are measured.
      seed: of the dancers.
    """
    scenario = CrowdDance()
    scene = scenario.scene(scenario.body(character(scenario.characters[0]), seed), seed)
    sims, crowd = Sims(scene, 1, 1), Dancing(scene, seed=seed)
    sims.load(scenario.setup(scene, np.random.default_rng(seed)).state)
    crowd.start(sims)
    busy = time.process_time()
    timing = timed(crowd, sims, seconds)
    simulated = timing.frames * scene.dt
    return {
        "dancers": scenario.dancers,
        "seconds": simulated,
        "times_real_time": simulated / timing.total,
        "control_ms": 1e3 * timing.control / simulated,
        "physics_ms": 1e3 * timing.physics / simulated,
        "process_ms": 1e3 * (time.process_time() - busy) / (simulated + 1.0),  # with the second before
    }
