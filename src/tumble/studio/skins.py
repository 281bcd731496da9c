"""Skins for browsers: shapes in numbers of few bits, and who wears which.

    skins_of(scene)     # {"shapes": [...], "wearers": [...]}, JSON-able

A shape is told once, whoever wears it. Its `rest` has a row for each of its n bodies: place and turn (w, x, y, z) of
its frame at rest; `hinges` are the places of the joints to its `parents`. Bones are the bodies, then the hinges, see
`tumble.figures.worn`. What is told of points and triangles is in Base64: `points` int16 of `size` m, `normals` int8,
`joints` four uint8 and `weights` four uint8 of 1/255 a point, `triangles` uint16; these are a colour's after the
other's, `counts` of each.
"""

import base64
from functools import lru_cache
from typing import Any

import numpy as np

from tumble.characters.looks import SHIRT
from tumble.figures import Worn, worn_by
from tumble.figures.worn import text_of
from tumble.world.props import Companion
from tumble.world.scene import Scene

COARSE = 1.6  # how much farther points are from each other than in files
SHAPES = 3  # bodies of a scene that are not alike; where there are more, all are drawn in parts
POINTS, BONES = 2**16, 2**8  # that a browser can count here


def skins_of(scene: Scene) -> dict[str, Any]:
    """The skins of a scene's characters; body i of a wearer is a body of the packets."""
    shapes, wearers = list[dict[str, Any]](), list[dict[str, Any]]()
    if len({text_of(character) for character in scene.cast.values()}) > SHAPES:
        return {"shapes": shapes, "wearers": wearers}
    told: dict[int, int] = {}  # shapes by their skins, which are one where recipes are
    for prefix, character in scene.cast.items():
        skin = worn_by(character, COARSE)
        shape = None if skin is None else shape_of(skin)
        if skin is None or shape is None:
            continue
        if id(skin) not in told:
            told[id(skin)] = len(shapes)
            shapes.append(shape)
        shirt = scene.prop(prefix.removesuffix("/"), Companion).shirt if prefix else SHIRT[:3]
        bodies = [scene.body(prefix + name) for name in skin.names]
        wearers.append({"shape": told[id(skin)], "bodies": bodies, "colors": colours_of(skin, shirt)})
    return {"shapes": shapes, "wearers": wearers}


@lru_cache(maxsize=8)
def shape_of(skin: Worn) -> dict[str, Any] | None:
    """A skin without its colours; None where it has more points or bones than can be counted."""
    starts = np.cumsum([0, *(len(mesh.points) for mesh in skin.meshes)])
    if starts[-1] > POINTS or 2 * len(skin.names) > BONES:
        return None
    points, normals, joints, weights = (
        np.concatenate([np.asarray(getattr(mesh, name)) for mesh in skin.meshes])
        for name in ("points", "normals", "joints", "weights")
    )
    triangles = [mesh.triangles + start for mesh, start in zip(skin.meshes, starts[:-1], strict=True)]
    size = float(np.abs(points).max()) / 32767
    return {
        "parents": list(skin.parents),
        "rest": np.round(np.hstack([skin.places, skin.turns]), 6).tolist(),
        "hinges": np.round(skin.hinges, 6).tolist(),
        "size": size,
        "points": _text(points / size, "<i2"),
        "normals": _text(127 * normals, "i1"),
        "joints": _text(joints, "u1"),
        "weights": _text(_whole(weights), "u1"),
        "triangles": _text(np.concatenate(triangles), "<u2"),
        "counts": [len(some) for some in triangles],
    }


def colours_of(skin: Worn, shirt: tuple[float, ...]) -> list[str]:
    """The colours of a skin's meshes, as pages write them, with such a shirt."""
    colours = [shirt if np.allclose(mesh.rgba, SHIRT, atol=1e-3) else mesh.rgba[:3] for mesh in skin.meshes]
    return ["#" + "".join(f"{round(255 * float(part)):02x}" for part in colour) for colour in colours]


def _whole(weights: np.ndarray) -> np.ndarray:
    """Weights (n, 4) in 255ths, of which those of a point add up to 255: the largest, the first, has what is left."""
    parts = np.floor(255 * weights)
    parts[:, 0] += 255 - parts.sum(1)
    return np.asarray(parts)


def _text(numbers: np.ndarray, kind: str) -> str:
    """Numbers, rounded, in Base64."""
    return base64.b64encode(np.round(numbers).astype(kind).tobytes()).decode()
