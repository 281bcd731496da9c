"""How many times faster than real time walkers walk, one alone and many at once."""

import time
from typing import Any

import numpy as np

from tumble.characters import character
from tumble.scenarios.walking import walking_scene
from tumble.walking import Walker
from tumble.world.sims import Sims

PACE = 0.8  # m/s


def measure(rows: int, seconds: float, threads: int) -> dict[str, Any]:
    """Walk a while, then time control and physics of every step.

    Args:
      rows: walkers at once.
      seconds: of wall time that are measured.
      threads: for the physics; 0: one per core.
    """
    scene = walking_scene(character("biped"))
    sims, walker = Sims(scene, rows, threads), Walker(scene)
    sims.load(scene.state())
    walker.start(sims)
    walker.wish(sims, speed=PACE * np.linspace(0.5, 1.2, rows), heading=0.0)
    for _ in range(round(1.0 / scene.dt)):
        sims.act(walker.control(sims))
    control = physics = 0.0
    steps = 0
    while control + physics < seconds:
        began = time.perf_counter()
        chosen = walker.control(sims)
        between = time.perf_counter()
        sims.act(chosen)
        control, physics, steps = control + between - began, physics + time.perf_counter() - between, steps + 1
    return {
        "rows": rows,
        "times_real_time": rows * steps * scene.dt / (control + physics),
        "control_us": 1e6 * control / steps / rows,
        "physics_us": 1e6 * physics / steps / rows,
    }
