"""How many times faster than real time walkers walk, one alone and many at once."""

from typing import Any

import numpy as np

from tumble.characters import character
from tumble.cli.timing import timed
from tumble.scenarios.walking import walking_scene
from tumble.walking import Walker
from tumble.world.sims import Sims

PACE = 0.8  # m/s


def measure(rows: int, seconds: float, threads: int) -> dict[str, Any]:
    """Walk a while, then time control and physics; of a physics step of one walker, us.

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
    timing = timed(walker, sims, seconds)
    steps = timing.frames * walker.drive.steps
    return {
        "rows": rows,
        "times_real_time": rows * timing.frames * scene.dt / timing.total,
        "control_us": 1e6 * timing.control / steps / rows,
        "physics_us": 1e6 * timing.physics / steps / rows,
    }
