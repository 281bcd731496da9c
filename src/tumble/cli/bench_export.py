"""What files of a recording cost: seconds of a core and of the wall, and bytes, by their endings."""

import os
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tumble.errors import check_number
from tumble.export import Options, export
from tumble.live.recording import Recorder, Recording
from tumble.scenarios import SCENARIOS, Trial, run_trial

FILES = (".bvh", ".glb", ".vrma", ".html", ".npz", ".csv")
FILM = 10.0  # s of the recording that are drawn


def walk(seconds: float) -> Recording:
    """A walk of so many seconds."""
    recorders = list[Recorder]()
    trial = Trial(SCENARIOS["steer-walk"](), controller="walker", seconds=seconds)
    run_trial(trial, lambda session: recorders.append(Recorder(session, trial.scenario.name, trial.name, trial.seed)))
    return recorders[0].recording


def measure(seconds: float) -> dict[str, Any]:
    """Walk, and write the recording in each format; of films the first `FILM` s.

    Args:
      seconds: of simulated time that are recorded.
    """
    check_number("seconds", seconds, 0.1, 3600)
    recording, rows = walk(seconds), dict[str, dict[str, float]]()
    with tempfile.TemporaryDirectory() as folder:
        export(recording, Path(folder) / "first.glb", Options(end=0.1))  # what is read once is read here
        for ending in FILES:
            rows[ending] = _timed(recording, Path(folder) / f"walk{ending}", Options())
        if find_spec("imageio_ffmpeg") is not None:
            end = min(FILM, seconds)
            for name, rigid in ((".mp4", False), (".mp4 --rigid", True)):
                row = _timed(recording, Path(folder) / "walk.mp4", Options(end=end, rigid=rigid))
                rows[name] = row | {"pictures_a_second": (round(30 * end) + 1) / row["seconds"]}
    return {"seconds": seconds, "files": rows}


def _timed(recording: Recording, path: Path, options: Options) -> dict[str, float]:
    """Write a file; cores are those of the encoder, too."""
    cores, wall = sum(os.times()[:4]), time.perf_counter()
    size = export(recording, path, options)
    return {"seconds": time.perf_counter() - wall, "core_seconds": sum(os.times()[:4]) - cores, "mb": size / 1e6}
