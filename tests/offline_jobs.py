"""Jobs for tests of workers: functions that processes of another interpreter can import by name."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np


def double(x: float) -> float:
    return 2 * x


def slowly(x: float, seconds: float) -> float:
    time.sleep(seconds)
    return 2 * x


def here(seconds: float = 0.0) -> int:
    time.sleep(seconds)
    return os.getpid()


def at_once(folder: str, count: int) -> int:
    """How many of `count` jobs were seen under way together, by the marks they leave in a folder; waits for all."""
    (Path(folder) / str(os.getpid())).touch()
    until = time.monotonic() + 20
    while len(seen := os.listdir(folder)) < count and time.monotonic() < until:
        time.sleep(0.01)
    return len(seen)


def noise(seed: int, blas: bool = False) -> list[float]:
    """Sums of many numbers; with blas also one whose bits depend on the number of BLAS's threads."""
    matrix = np.random.default_rng(seed).normal(size=(200, 200))
    return [float(matrix.sum()), float(np.exp(matrix).mean()), *([float(np.linalg.norm(matrix))] if blas else [])]


def die_once(x: int, mark: str) -> int:
    """Kill the worker where nobody has yet."""
    if not os.path.exists(mark):
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def die_for(x: int, which: int, words: str = "") -> int:
    if x == which:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


class Odd(Exception):
    """Can be written by pickle, but not read."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def fail(x: int) -> int:
    if x == 2:
        raise KeyError("hum")
    if x == 3:
        raise Odd("ho", "hum")
    return x


def unreturnable() -> object:
    return threading.Lock()


def surroundings() -> dict[str, object]:
    return {
        "threads": {os.environ.get(f"{name}_NUM_THREADS") for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")},
        "interrupt": signal.getsignal(signal.SIGINT),
        "modules": "numba" in sys.modules or "mujoco" in sys.modules,
    }


def write_pid_and_wait(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(600)


def alone(folder: str) -> int:
    """How many are in here at the same time, in this process."""
    mark = Path(folder) / f"{os.getpid()}-{threading.get_ident()}"
    mark.touch()
    time.sleep(0.05)
    count = len([name for name in os.listdir(folder) if name.startswith(f"{os.getpid()}-")])
    mark.unlink()
    return count
