"""`tumble replay FILE.npz`: tell about a recording, or prove it."""

from pathlib import Path
from typing import Annotated

import tyro

from tumble.cli.options import CONFIG, own_file
from tumble.live.recording import Recording


def replay(file: Annotated[Path, tyro.conf.Positional], check: bool = False) -> int:
    """Tell what a recording holds.

    Example: tumble replay getup.npz --check

    Example, of a body of your own: tumble replay mine.py tripod.npz

    Args:
      file: a recording made with 'tumble run --record'.
      check: step the physics again and say whether every state is bit-identical (exit code 0) or where
        it first differs (exit code 1).
    """
    recording = Recording.load(file)
    header, frames = recording.header, len(recording.controls)
    scene = recording.scene()
    made = ", ".join(f"{name} {number}" for name, number in header.versions.items())
    print(f"{file}: {header.scenario} with {header.controller}, seed {header.seed}, {frames} frames")
    print(f"  {frames * scene.dt:.1f} s, {len(header.commands)} commands, made with {made}")
    for timed in header.commands:
        print(f"  {timed.frame * scene.dt:6.2f} s  {timed.command}")
    if not check:
        return 0
    different = recording.first_difference()
    if different is None:
        print(f"identical: all {frames} states, bit for bit")
        return 0
    print(f"different: first at frame {different} ({(different + 1) * scene.dt:.2f} s)")
    return 1


def main(arguments: list[str]) -> int:
    """Parse and run."""
    _, others = own_file(arguments)
    return tyro.cli(replay, prog="tumble replay", args=others, config=CONFIG)
