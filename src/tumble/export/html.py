"""HTML: one page that plays a motion with a timeline, without a server and without a network.

    write_html(file, motion, skins)          # 1 to 2 MB for a minute

The page holds everything: a player in WebGL of our own (`web/player.js`), the mesh, and every frame's rotations as 16
bits a number (a hundred-thousandth of a turn). Drawn are the character, props and feet on the ground; a person turns
the camera, plays slowly, steps by frames. What a recording says of itself is shown as text and never as markup.
"""

import base64
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from tumble.export.clip import Clip
from tumble.export.gltf import Skins, bones_of_bodies, spans
from tumble.figures.shapes import Mesh, of_prop

VERTEX = np.dtype([("place", "<u2", 4), ("normal", "i1", 4), ("colour", "u1", 4), ("bones", "u1", 4),
                   ("weights", "u1", 4)])  # fmt: skip
MOST = 255  # bones and props of a page


def page(motion: Clip, skins: Skins) -> str:
    """The page, as text."""
    data, arrays = _data(motion, skins)
    web = files("tumble.export") / "web"
    text = (web / "player.html").read_text(encoding="utf-8")
    parts = {
        "/*DATA*/": json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "/*ARRAYS*/": base64.b64encode(arrays).decode(),
        "/*PLAYER*/": (web / "player.js").read_text(encoding="utf-8"),
    }
    for place, what in parts.items():
        before, _, after = text.partition(place)
        text = before + what + after
    return text


def write_html(file: Any, motion: Clip, skins: Skins) -> None:
    """Write the page into an open binary file."""
    file.write(page(motion, skins).encode())


def _data(motion: Clip, skins: Skins) -> tuple[dict[str, Any], bytes]:
    """What the player reads: names, places at rest and lengths; and its arrays in one row."""
    bones, props = motion.bones, motion.props[: MOST - len(motion.bones)]
    points, triangles, box = _mesh(motion, skins)
    arrays = {
        "vertices": points,
        "triangles": triangles.astype("<u4" if len(points) > 65535 else "<u2"),
        "turns": np.round(32767 * motion.rotations).astype("<i2"),
        "roots": motion.roots.astype("<f4"),
        "hips": np.stack([motion.hips[i] for i in motion.hips], 1).astype("<f4") if motion.hips else np.zeros(0, "<f4"),
        "props": np.stack([np.concatenate([p.places, p.turns, p.there[:, None]], 1) for p in props], 1).astype("<f4")
        if props
        else np.zeros(0, "<f4"),
    }
    about = motion.about
    title = f"{about.get('scenario', 'motion')}, {about.get('character', '')}"
    data = {
        "title": title,
        "about": f"{about.get('controller', '')}, seed {about.get('seed', 0)}, {about.get('generator', 'tumble')}",
        "command": str(about.get("command", "")),
        "fps": motion.fps,
        "frames": motion.frames,
        "closed": motion.closed,
        "names": [bone.name for bone in bones],
        "parents": [bone.parent for bone in bones],
        "places": [np.round(bone.place, 6).tolist() for bone in bones],
        "moved": list(motion.hips),
        "props": [prop.name for prop in props],
        "contacts": {name: spans(down, motion.fps) for name, down in motion.contacts.items()},
        "box": box,
        "arrays": {name: [len(array.tobytes()), array.dtype.str] for name, array in arrays.items()},
    }
    return data, b"".join(array.tobytes() + b"\0" * (-array.nbytes % 4) for array in arrays.values())


def _mesh(motion: Clip, skins: Skins) -> tuple[np.ndarray, np.ndarray, list[list[float]]]:
    """All that is drawn as one mesh: vertices, triangles (m, 3), and the box that places are told in."""
    bone_of = bones_of_bodies(motion.bones)
    rows: list[tuple[Mesh, np.ndarray, np.ndarray]] = []
    for mesh in skins.skin:
        assert mesh.joints is not None and mesh.weights is not None
        bones = np.array([bone_of.get(body, 0) for body in range(max(bone_of) + 1)])
        rows.append((mesh, bones[mesh.joints], mesh.weights))
    solid = [(mesh, bone_of[body]) for body, meshes in skins.rigid.items() for mesh in meshes]
    start = len(motion.bones)
    solid += [(mesh, start + i) for i, prop in enumerate(motion.props[: MOST - start]) for mesh in of_prop(prop.shapes)]
    for mesh, bone in solid:
        rows.append((mesh, np.full((len(mesh.points), 4), bone), np.tile([1.0, 0, 0, 0], (len(mesh.points), 1))))
    return _packed(rows)


def _packed(
    rows: Sequence[tuple[Mesh, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, list[list[float]]]:
    """Meshes with bones and weights as vertices, triangles and the box around them."""
    if not rows:
        return np.zeros(0, VERTEX), np.zeros((0, 3), int), [[0.0] * 3, [1.0] * 3]
    points = np.concatenate([mesh.points for mesh, _, _ in rows])
    low = points.min(0)
    size = np.maximum(np.ptp(points, axis=0), 1e-6)
    vertices = np.zeros(len(points), VERTEX)
    vertices["place"][:, :3] = np.round(65535 * (points - low) / size)
    vertices["normal"][:, :3] = np.round(127 * np.concatenate([mesh.normals for mesh, _, _ in rows]))
    vertices["colour"] = np.concatenate(
        [np.tile(np.round(255 * np.clip(mesh.rgba, 0, 1)), (len(mesh.points), 1)) for mesh, _, _ in rows]
    )
    vertices["bones"] = np.concatenate([bones for _, bones, _ in rows])
    vertices["weights"] = np.round(255 * np.concatenate([weights for _, _, weights in rows]))
    starts = np.cumsum([0, *(len(mesh.points) for mesh, _, _ in rows)])
    triangles = np.concatenate([mesh.triangles + start for (mesh, _, _), start in zip(rows, starts, strict=False)])
    return vertices, triangles, [low.tolist(), size.tolist()]
