"""BVH: a motion as text, in cm with y up unless told otherwise.

    write_bvh(file, motion)                       # Blender, Rokoko, motion capture tools
    write_bvh(file, motion, scale=1.0, up="z")    # metres, z up and x ahead, as in the simulation

The first bone has six channels, its offset is 0 and its place is told in every frame, since readers add the two. Angles
are those of moving axes z, y, x (as LAFAN1's), in degrees, without jumps at half turns. The format has no comments: a
file does not say where it came from.
"""

from typing import Any

import numpy as np

from tumble.export.clip import Clip
from tumble.maths.rotations import eulers

AXES = {"y": [0, 1, 2], "z": [2, 0, 1]}  # which of a file's axes (left, up, ahead) are x, y and z
ORDER = "zyx"
TURNS = " ".join(f"{letter.upper()}rotation" for letter in ORDER)
PLACES = "Xposition Yposition Zposition"


def write_bvh(file: Any, motion: Clip, scale: float = 100.0, up: str = "y") -> None:
    """Write a motion into an open binary file; lengths are multiplied by scale, `up` is y or z."""
    lines = ["HIERARCHY"]
    order = _hierarchy(motion, 0, 0, lines, scale, AXES[up])
    lines += ["MOTION", f"Frames: {motion.frames}", f"Frame Time: {1 / motion.fps:.9f}", ""]
    file.write("\n".join(lines).encode())
    axes = AXES[up]
    turns = motion.rotations[:, order][..., [0, *(1 + axis for axis in axes)]]
    angles = np.degrees(eulers(turns, ORDER))
    columns = []
    for i, bone in enumerate(order):
        moved = motion.roots if bone == 0 else motion.hips.get(bone)
        columns += [scale * moved[:, axes]] if moved is not None else []
        columns.append(angles[:, i])
    table = np.concatenate(columns, 1) + 0.0  # no -0.0
    row = " ".join(["%.6f"] * table.shape[1])
    file.write("\n".join(row % tuple(numbers) for numbers in table.tolist()).encode() + b"\n")


def _hierarchy(
    motion: Clip, bone: int, depth: int, lines: list[str], scale: float, axes: list[int]
) -> list[int]:  # fmt: skip
    """Add the lines of a bone and of all below it; returns the bones in the order of their channels."""
    pad, one = "  " * depth, motion.bones[bone]
    offset = motion.offset(bone) if bone else np.zeros(3)
    place = f"6 {PLACES} " if bone == 0 or bone in motion.hips else "3 "
    lines += [f"{pad}{'JOINT' if bone else 'ROOT'} {one.name}", f"{pad}{{"]
    lines += [f"{pad}  OFFSET {_row(offset, scale, axes)}", f"{pad}  CHANNELS {place}{TURNS}"]
    below = [i for i, other in enumerate(motion.bones) if other.parent == bone]
    order = [bone]
    for child in below:
        order += _hierarchy(motion, child, depth + 1, lines, scale, axes)
    if not below:
        end = _row(one.tip - one.place, scale, axes)
        lines += [f"{pad}  End Site", f"{pad}  {{", f"{pad}    OFFSET {end}", f"{pad}  }}"]
    lines.append(f"{pad}}}")
    return order


def _row(vector: np.ndarray, scale: float, axes: list[int]) -> str:
    """Three numbers of a file."""
    return " ".join(f"{x:.6f}" for x in scale * vector[axes] + 0.0)
