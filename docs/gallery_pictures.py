"""Draws the gallery: a strip of every scenario, by the commands that stand below the pictures on its page.

    python docs/gallery_pictures.py            # scenarios that have no picture yet; half an hour on two cores
    python docs/gallery_pictures.py push wall  # these, again

Needs the extra video and OpenGL. Pictures are made small: 960 pixels wide, 64 colours.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from tumble.scenarios import SCENARIOS

PICTURES = Path(__file__).parent / "gallery"
WIDTH, COLOURS, FRAMES = 960, 64, 6
SEED = 1
# seconds that are shown, from where to where: where something happens
SHOWN = {
    "bird-mania": (0, 16), "course": (0, 40), "crate-carry": (0, 26), "crate-pull": (0, 24), "crate-push": (0, 24),
    "crowd": (0, 6), "dodge": (0, 3), "dodge-heavy": (0, 3), "duck": (0, 26), "gaps": (0, 6), "gaps-3d": (0, 6),
    "gaps-push": (0, 6), "gaps-walker": (0, 12), "getup": (0, 3), "getup-prone": (0, 3), "getup-tree": (0, 4),
    "go-to-line": (0, 8), "go-to-point": (0, 8), "go-to-point-heading": (0, 8), "heading": (0, 12),
    "heading-speed": (0, 12), "impulse": (0, 3), "jump": (0, 2.5), "juggle": (0, 4), "lamp-posts": (0, 16),
    "learn-hop": (0, 6), "learn-trot": (0, 6), "learn-walk": (0, 6), "path-3d": (0, 10), "pick-up": (0, 12),
    "planar-net": (0, 6), "pole": (0, 6), "push": (0.5, 3), "sequence": (0, 12), "simbicon-bird": (0, 3),
    "simbicon-humanoid": (0, 4), "simbicon-planar": (0, 3), "simbicon-raptor": (0, 4), "stairs": (0, 12),
    "stand": (0, 2), "steer": (0, 8), "steer-walk": (0, 10), "step-over": (0, 14), "stepping-stones": (0, 10),
    "stones": (0, 6), "stones-3d": (0, 6), "stop": (0, 6), "turbo": (0, 5), "turn": (0, 6), "twist": (0, 2.5),
    "very-robust-walk": (2, 6), "walk-bodies": (0, 8), "walk-on": (9.8, 14), "walk-projectiles": (0, 7),
    "walk-push": (1, 6), "hop-projectiles": (0, 7),
}  # fmt: skip
USUAL = (0, 4)


def commands_of(name: str) -> tuple[list[str], list[str]]:
    """What makes the recording and the strip of a scenario, as words behind `tumble`."""
    begin, end = SHOWN.get(name, USUAL)
    record = ["run", name, "--seed", str(SEED), "--seconds", f"{end:g}", "--record", f"{name}.npz"]
    strip = ["strip", f"{name}.npz", f"{name}.png", "--frames", str(FRAMES), "--columns", str(FRAMES)]
    return record, strip + (["--from", f"{begin:g}"] if begin else [])


def draw(name: str) -> None:
    """Run, draw, and make it small."""
    with tempfile.TemporaryDirectory() as folder:
        for words in commands_of(name):
            subprocess.run([sys.executable, "-m", "tumble", *words], cwd=folder, check=True)
        picture = Image.open(Path(folder) / f"{name}.png").convert("RGB")
        size = WIDTH, round(picture.height * WIDTH / picture.width)
        small = picture.resize(size, Image.Resampling.LANCZOS).quantize(COLOURS, dither=Image.Dither.NONE)
        small.save(PICTURES / f"{name}.png", optimize=True)


def main(names: list[str]) -> None:
    """Draw those that are named, or those that are not there."""
    PICTURES.mkdir(exist_ok=True)
    for name in names or [name for name in SCENARIOS if not (PICTURES / f"{name}.png").exists()]:
        draw(name)


if __name__ == "__main__":
    main(sys.argv[1:])
