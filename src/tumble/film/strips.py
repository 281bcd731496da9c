"""Strips: moments of a motion side by side, and how pictures are saved."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.errors import UserError, check_number
from tumble.files import replace_file
from tumble.film.camera import Camera
from tumble.film.canvas import Canvas
from tumble.world.scene import Scene

if TYPE_CHECKING:
    from PIL import Image

PAPER, INK = (255, 255, 255), (70, 78, 92)
FINER = 2  # pixels drawn per pixel kept, along each side


def strip(
    scene: Scene,
    states: np.ndarray,
    times: np.ndarray | Sequence[float],
    frames: int = 8,
    *,
    camera: Camera = Camera(),
    width: int = 240,
    height: int = 288,
    columns: int = 0,
    rigid: bool = False,
) -> "Image.Image":
    """Evenly spaced states side by side, each labelled with its time; the first and last are in.

    Args:
      scene: whose states they are.
      states: (n, nstate).
      times: s, (n,).
      frames: how many, 1 to n; one frame is the first state.
      camera: where to look from.
      width, height: of one picture, pixels.
      columns: pictures in a row of the strip; 0 puts all in one row.
      rigid: bodies as they are instead of skins.
    """
    pillow = _pillow()
    for name, value, low in (("width", width, 16), ("height", height, 16), ("columns", columns, 0)):
        check_number(f"{name} of a strip", value, low, 2000)
    rows, seconds = _pick(scene, np.asarray(states), np.asarray(times), frames)
    with Canvas(scene, FINER * width, FINER * height, camera.fovy, rigid=rigid) as canvas:
        views = camera.frame([canvas.outline(row) for row in rows], width / height)
        drawn = [canvas.draw(row, view) for row, view in zip(rows, views, strict=True)]
    fine = [pillow.fromarray(pixels).resize((width, height), pillow.Resampling.LANCZOS) for pixels in drawn]
    places = 1 if frames == 1 or np.diff(seconds).min() > 0.095 else 2
    return _compose(fine, [f"{time:.{places}f} s" for time in seconds], columns or frames)


def _pick(scene: Scene, states: np.ndarray, times: np.ndarray, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """The chosen states and their times, or the error that says what is wrong with them."""
    width = scene.state().size
    if states.ndim != 2 or states.shape[1] != width:
        raise UserError(
            f"a state of this scene has {width} numbers, got states of shape {states.shape}; "
            "were they recorded in another scene?"
        )
    if times.shape != states.shape[:1]:
        raise UserError(f"need one time for each of {len(states)} states, got times of shape {times.shape}")
    if frames != int(frames) or not 1 <= frames <= len(states):
        raise UserError(f"frames must be a whole number from 1 to {len(states)}, the number of states, got {frames}")
    chosen = np.linspace(0, len(states) - 1, int(frames)).round().astype(int)
    for i in chosen:
        if not (np.isfinite(states[i]).all() and np.isfinite(times[i])):
            raise UserError(f"state {i} of 0 to {len(states) - 1} is not finite: draw only the states before it")
    return states[chosen], times[chosen]


def _compose(pictures: Sequence["Image.Image"], labels: Sequence[str], columns: int) -> "Image.Image":
    """Pictures in rows with thin gaps, a label in the corner of each."""
    from PIL import Image, ImageDraw, ImageFont

    width, height = pictures[0].size
    gap, size = max(2, width // 80), max(10, min(width, height) // 15)
    columns = min(columns, len(pictures))
    rows = math.ceil(len(pictures) / columns)
    sheet = Image.new("RGB", (columns * (width + gap) - gap, rows * (height + gap) - gap), PAPER)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size)
    for i, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
        x, y = i % columns * (width + gap), i // columns * (height + gap)
        sheet.paste(picture, (x, y))
        pen.text((x + size // 2, y + size // 3), label, INK, font)
    return sheet


def _pillow() -> Any:
    """Pillow's Image module, or the sentence that says how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise UserError('drawing needs Pillow: pip install "tumble[video]"') from None
    return Image


def save(image: "Image.Image", path: str | os.PathLike[str]) -> None:
    """Write a picture as a .png file that is whole or not there; an older file stays until then."""
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise UserError(f"a picture is written as .png, got '{path.name}'")
    replace_file(path, lambda file: image.save(file, "PNG"))
