"""How many times faster than real time a crowd dances in one world."""

import time
from typing import Any

import numpy as np

from tumble.characters import character
from tumble.crowds.crowd import Crowd as Dancing
from tumble.scenarios.crowd import CrowdDance
from tumble.world.sims import Sims


def measure(seconds: float, seed: int = 0) -> dict[str, Any]:
    """Dance a second, then time control and physics of every step.

    Args:
      seconds: of wall time that are measured.
      seed: of the dancers.
    """
    scenario = CrowdDance()
    scene = scenario.scene(scenario.body(character(scenario.character), seed), seed)
    sims, crowd = Sims(scene, 1, 1), Dancing(scene, seed=seed)
    sims.load(scenario.trial(scene, np.random.default_rng(seed)).state)
    crowd.start(sims)
    for _ in range(round(1.0 / scene.dt)):
        sims.act(crowd.control(sims))
    control = physics = 0.0
    steps, busy = 0, time.process_time()
    while control + physics < seconds:
        began = time.perf_counter()
        chosen = crowd.control(sims)
        between = time.perf_counter()
        sims.act(chosen)
        control, physics, steps = control + between - began, physics + time.perf_counter() - between, steps + 1
    simulated = steps * scene.dt
    return {
        "dancers": scenario.dancers,
        "seconds": simulated,
        "times_real_time": simulated / (control + physics),
        "control_ms": 1e3 * control / simulated,
        "physics_ms": 1e3 * physics / simulated,
        "process_ms": 1e3 * (time.process_time() - busy) / simulated,
    }
