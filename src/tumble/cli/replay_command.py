"""`tumble replay FILE.npz`: tell about a recording, or prove it."""

from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np
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
    header, frames, scene = recording.header, recording.frames, recording.scene()
    made = ", ".join(f"{name} {number}" for name, number in header.versions.items())
    commands = sum(len(part.about.commands) for part in recording.parts)
    print(f"{file}: {header.scenario} with {header.controller}, seed {header.seed}, {frames} frames")
    print(f"  {frames * scene.dt:.1f} s, {commands} commands, made with {made}")
    for part in recording.parts:
        if len(recording.parts) > 1:
            props = ", ".join(prop.name for prop in part.scene.props) or "no props"
            print(f"  {part.about.index * scene.dt:6.2f} s  {part.about.frames} frames with {props}")
        for timed in part.about.commands:
            print(f"  {(part.about.index + timed.frame) * scene.dt:6.2f} s  {timed.command}")
    for who, span in _turns(recording):
        print(f"  {span[0] * scene.dt:6.2f} to {span[1] * scene.dt:.2f} s  {who}")
    if not check:
        return 0
    different = recording.first_difference()
    if different is None:
        print(f"identical: all {frames} states, bit for bit")
        return 0
    print(f"different: first at frame {different} ({(different + 1) * scene.dt:.2f} s)")
    return 1


def _turns(recording: Recording) -> list[tuple[str, tuple[int, int]]]:
    """Who acted from which frame to which, where several did."""
    acting = np.concatenate([part.acting for part in recording.parts])
    names = recording.header.acting
    starts = [0, *(1 + np.flatnonzero(np.diff(acting))).tolist(), len(acting)]
    if len(names) < 2:
        return []
    return [(names[acting[start]], (start, end)) for start, end in pairwise(starts)]


def main(arguments: list[str]) -> int:
    """Parse and run."""
    _, others = own_file(arguments)
    return tyro.cli(replay, prog="tumble replay", args=others, config=CONFIG)
