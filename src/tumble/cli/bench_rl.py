"""What Gymnasium costs: steps of a vector environment beside the bare physics of the same rows."""

import time
from typing import Any

import gymnasium
import numpy as np

from tumble.errors import check_number
from tumble.gym import env_id
from tumble.world.sims import Sims


def measure(scenario: str, rows: int, seconds: float, threads: int) -> dict[str, Any]:
    """Step an environment, resets of what is over included, and after each step the bare physics of the same states.

    Args:
      scenario: whose environment.
      rows: of it.
      seconds: of wall time that are measured.
      threads: for the physics; 0: one per core.
    """
    check_number("rows", rows, 1, 1e5)
    many: Any = gymnasium.make_vec(env_id(scenario), num_envs=rows, threads=threads)
    bare = Sims(many.stage.scene, rows, threads)
    many.reset(seed=0)
    many.action_space.seed(0)
    actions = [many.action_space.sample() for _ in range(32)]
    many.step(actions[0])  # which compiles
    stepped, raw, frames, ended = np.zeros(2), np.zeros(2), 0, 0
    while stepped[1] + raw[1] < seconds:
        action = actions[frames % len(actions)]
        bare.state[:] = many.sims.state
        bare.refresh(many.stage.actions.drive)
        controls = many.stage.actions.controls(action)
        before = _clocks()
        _, _, terminated, truncated, _ = many.step(action)
        between = _clocks()
        bare.act(controls, many.stage.actions.drive)
        stepped, raw = stepped + between - before, raw + _clocks() - between
        frames, ended = frames + 1, ended + int((terminated | truncated).sum())
    many.close()
    process, wall = raw / stepped
    return {
        "scenario": scenario, "rows": rows, "frames": frames, "episodes": ended,
        "step_ms": 1000 * float(stepped[0]) / frames, "bare_ms": 1000 * float(raw[0]) / frames,
        "kept": float(process), "kept_wall": float(wall), "rows_a_second": rows * frames / float(stepped[1]),
    }  # fmt: skip


def _clocks() -> np.ndarray:
    """s of this process on all cores, and of the wall."""
    return np.array([time.process_time(), time.perf_counter()])
