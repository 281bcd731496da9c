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
    start: Annotated[float, tyro.conf.arg(name="from")] = 0.0,
    end: Annotated[float | None, tyro.conf.arg(name="to")] = None,
    rigid: bool = False,
) -> int:
    """Draw a recording as a film strip, without a display.

    Example: tumble strip getup.npz getup.png --frames 8 --from 1 --to 4

    Example, of a body of your own: tumble strip mine.py tripod.npz tripod.png

    Args:
      file: a recording made with 'tumble run --record'.
      out: the picture to write, .png.
      frames: how many moments, evenly spaced from first to last.
      columns: how many side by side; 0: all.
      start: s, the first moment.
      end: s, the last; by default the recording's end.
      rigid: bodies as they are instead of a skin.
    """
    recording = Recording.load(file)
    scene, dt = recording.scene(), recording.scene().dt
    check_number("from", start, 0, recording.frames * dt)
    check_number("to", recording.frames * dt if end is None else end, start, recording.frames * dt + 0.5 * dt)
    first, last = round(start / dt), recording.frames if end is None else round(end / dt)
    check_number("frames", frames, 1, last - first + 1)
    chosen = np.linspace(first, last, frames).round().astype(int)
    states = np.stack([recording.state(int(i)) for i in chosen])
    save(strip(scene, states, chosen * dt, frames, columns=columns, rigid=rigid), out)
    print(f"drew {frames} moments of {(last - first) * dt:.1f} s into {out}")
    return 0


def main(arguments: list[str]) -> int:
    """Parse and run."""
    _, others = own_file(arguments)
    return tyro.cli(draw, prog="tumble strip", args=others, config=CONFIG)
