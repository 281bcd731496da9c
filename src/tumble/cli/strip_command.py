"""`tumble strip FILE.npz OUT.png`: a recording as a film strip."""

from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from tumble.cli.options import CONFIG, own_file
from tumble.errors import check_number
from tumble.film import save, strip
from tumble.live.recording import Recording


def draw(
    file: Annotated[Path, tyro.conf.Positional],
    out: Annotated[Path, tyro.conf.Positional],
    frames: int = 8,
    columns: int = 4,
) -> int:
    """Draw a recording as a film strip, without a display.

    Example: tumble strip getup.npz getup.png --frames 8

    Example, of a body of your own: tumble strip mine.py tripod.npz tripod.png

    Args:
      file: a recording made with 'tumble run --record'.
      out: the picture to write, .png.
      frames: how many moments, evenly spaced from first to last.
      columns: how many side by side; 0: all.
    """
    recording = Recording.load(file)
    scene, last = recording.scene(), recording.frames
    check_number("frames", frames, 1, last + 1)
    chosen = np.linspace(0, last, frames).round().astype(int)
    states = np.stack([recording.state(int(i)) for i in chosen])
    save(strip(scene, states, chosen * scene.dt, frames, columns=columns), out)
    print(f"drew {frames} moments of {last * scene.dt:.1f} s into {out}")
    return 0


def main(arguments: list[str]) -> int:
    """Parse and run."""
    _, others = own_file(arguments)
    return tyro.cli(draw, prog="tumble strip", args=others, config=CONFIG)
