"""GLB and VRMA: glTF 2.0 in one binary file, in metres, y up, facing +z.

    write_glb(file, motion, meshes(recording, options))        # Blender, Godot, Unreal, three.js
    write_vrma(file, motion)                                   # VRM apps; carries its own map of bones

Nodes are the bones, at rest in the pose that was asked for; the animation turns them, moves the first (and hips under a
bone on the ground), and moves props. Where the motion came from stands in asset.extras, feet on the ground in the
extras of the animation, as spans of seconds. A VRMA holds the bones alone: an app puts them on its own characters.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tumble.errors import UserError
from tumble.export.clip import Bone, Clip, PropTrack
from tumble.figures.shapes import Mesh, of_prop, stiff

TYPES = {np.dtype("f4"): 5126, np.dtype("u4"): 5125, np.dtype("u2"): 5123, np.dtype("u1"): 5121}
ARRAYS, ELEMENTS = 34962, 34963  # targets of buffer views: of vertices, of triangles
KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
STILL = 1e-6  # a track that changes less is not written


@dataclass(frozen=True)
class Skins:
    """What is drawn of a character: meshes with weights of bodies, or rigid ones by body.

    Attributes:
      skin: see `tumble.figures.skin.skin`.
      rigid: see `tumble.figures.shapes.rigid`.
    """

    skin: Sequence[Mesh] = ()
    rigid: Mapping[int, list[Mesh]] = field(default_factory=dict)


class _Document:
    """A glTF document that grows: lists of JSON objects, and one buffer."""

    def __init__(self) -> None:
        self.lists: dict[str, list[Any]] = {}
        self.buffer = bytearray()

    def add(self, kind: str, **entry: Any) -> int:
        """Add to one of the lists; returns its place in it."""
        self.lists.setdefault(kind, []).append(entry)
        return len(self.lists[kind]) - 1

    def array(self, values: np.ndarray, target: int = 0, bounds: bool = False) -> int:
        """An accessor of rows of numbers."""
        values = np.ascontiguousarray(values)
        self.buffer += b"\0" * (-len(self.buffer) % 4)
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.buffer), "byteLength": values.nbytes}
        self.buffer += values.tobytes()
        entry: dict[str, Any] = {
            "bufferView": self.add("bufferViews", **view, **({"target": target} if target else {})),
            "componentType": TYPES[values.dtype],
            "count": len(values),
            "type": KINDS[1 if values.ndim == 1 else int(np.prod(values.shape[1:]))],
        }
        if bounds:
            rows = values.reshape(len(values), -1)
            entry |= {"min": rows.min(0).tolist(), "max": rows.max(0).tolist()}
        return self.add("accessors", **entry)

    def written(self, extra: Mapping[str, Any]) -> bytes:
        """The whole file."""
        self.buffer += b"\0" * (-len(self.buffer) % 4)
        top = {**extra, **self.lists, "buffers": [{"byteLength": len(self.buffer)}]}
        text = json.dumps(top, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        size = 12 + 8 + len(text) + 8 + len(self.buffer)
        return b"".join((
            struct.pack("<4sII", b"glTF", 2, size), struct.pack("<I4s", len(text), b"JSON"), text,
            struct.pack("<I4s", len(self.buffer), b"BIN\0"), bytes(self.buffer),
        ))  # fmt: skip


def write_glb(file: Any, motion: Clip, skins: Skins = Skins()) -> None:
    """Write a motion, what is drawn of the character, and the props into an open binary file."""
    document = _Document()
    bones = _bones(document, motion)
    roots = [bones[0], *_figure(document, motion, skins)]
    animation = _animation(document, motion)
    for prop in motion.props:
        roots.append(_prop(document, prop, motion, animation))
    file.write(_closed(document, motion, roots, animation))


def write_vrma(file: Any, motion: Clip) -> None:
    """Write the bones of a humanoid and their motion, with the map of VRM's names.

    Raises:
      UserError: the body is no humanoid, or its way is carried by a bone on the ground.
    """
    if not motion.human:
        raise UserError(
            f"VRMA is for humanoids; '{motion.about.get('character', 'the body')}' has not two arms and two legs of"
            " thigh, shin and foot: write a .glb"
        )
    hips = motion.human["hips"]
    above = np.concatenate([motion.roots, motion.rotations[:, :hips].reshape(motion.frames, -1)], 1)
    if hips and np.ptp(above, axis=0).max() > STILL:
        raise UserError("the way of a VRMA is carried by its hips: leave --root bone away")
    document = _Document()
    bones = _bones(document, motion)
    animation = _animation(document, motion, moved=hips)
    human = {name: {"node": bones[i]} for name, i in motion.human.items()}
    extension = {"VRMC_vrm_animation": {"specVersion": "1.0", "humanoid": {"humanBones": human}}}
    extra = {"extensionsUsed": list(extension), "extensions": extension}
    file.write(_closed(document, motion, [bones[0]], animation, extra))


def _closed(
    document: _Document, motion: Clip, roots: list[int], animation: dict[str, Any], extra: Mapping[str, Any] = {}
) -> bytes:  # fmt: skip
    """The file of a document with its scene and animation."""
    document.add("scenes", nodes=roots)
    animation = {key: value for key, value in animation.items() if key != "_times"}
    contacts = {name: spans(down, motion.fps) for name, down in motion.contacts.items()}
    document.add("animations", **animation, extras={"contacts": contacts, "fps": motion.fps, "loop": motion.closed})
    about = dict(motion.about)
    generator = about.pop("generator", "tumble")
    return document.written({"asset": {"version": "2.0", "generator": generator, "extras": about}, "scene": 0, **extra})


def spans(down: np.ndarray, fps: float) -> list[list[float]]:
    """From when to when something was so, s, of (frames,) of bools."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], down.astype(int), [0]])))
    return [[round(a / fps, 4), round(min(b, len(down) - 1) / fps, 4)] for a, b in edges.reshape(-1, 2).tolist()]


def _bones(document: _Document, motion: Clip) -> list[int]:
    """A node for each bone, at rest; returns their places in the list of nodes, which are those of the bones."""
    below: dict[int, list[int]] = {}
    for i, bone in enumerate(motion.bones):
        below.setdefault(bone.parent, []).append(i)
    for i, bone in enumerate(motion.bones):
        children = {"children": below[i]} if i in below else {}
        document.add("nodes", name=bone.name, translation=_numbers(motion.offset(i)), **children)
    return list(range(len(motion.bones)))


def _numbers(values: np.ndarray) -> list[float]:
    """Plain numbers of seven digits after the point: a tenth of a micrometre."""
    return [round(float(x), 7) + 0.0 for x in values]


def _animation(document: _Document, motion: Clip, moved: int = 0) -> dict[str, Any]:
    """Samplers and channels of all bones that move; `moved` is the bone that carries the way, beside the hips."""
    animation: dict[str, Any] = {"name": str(motion.about.get("scenario", "motion")), "samplers": [], "channels": []}
    animation["_times"] = document.array(motion.times.astype("f4"), bounds=True)
    if moved == 0 and np.ptp(motion.roots, axis=0).max() > STILL:
        _track(document, animation, 0, "translation", motion.roots)
    for i, places in motion.hips.items():
        _track(document, animation, i, "translation", places)
    human = set(motion.human.values())
    for i in range(len(motion.bones)):
        turns = motion.rotations[:, i]
        if i in human or np.abs(turns - [1, 0, 0, 0]).max() > STILL:
            _track(document, animation, i, "rotation", turns[:, [1, 2, 3, 0]])
    return animation


def _track(
    document: _Document, animation: dict[str, Any], node: int, path: str, values: np.ndarray, how: str = "LINEAR"
) -> None:  # fmt: skip
    """Add a channel of a node to an animation."""
    values = values.astype("f4")
    if path == "rotation":
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    sampler = {"input": animation["_times"], "output": document.array(values), "interpolation": how}
    animation["samplers"].append(sampler)
    target = {"node": node, "path": path}
    animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})


def _figure(document: _Document, motion: Clip, skins: Skins) -> list[int]:
    """Nodes of what is drawn of the character; rigid bodies have a skin, too, by which readers know bones as bones."""
    bone_of = bones_of_bodies(motion.bones)
    inverse = np.tile(np.eye(4, dtype="f4"), (len(motion.bones), 1, 1))
    inverse[:, 3, :3] = [-bone.place for bone in motion.bones]  # columns first
    drawn = {str(motion.about.get("character", "body")): list(skins.skin)} if skins.skin else {}
    for body, meshes in skins.rigid.items():
        drawn[f"{motion.bones[bone_of[body]].name}_mesh"] = [stiff(mesh, body) for mesh in meshes]
    if not drawn:
        return []
    skin = document.add("skins", joints=list(range(len(motion.bones))), skeleton=0,
                        inverseBindMatrices=document.array(inverse))  # fmt: skip
    return [
        document.add("nodes", name=name, mesh=_mesh(document, meshes, name, bone_of), skin=skin)
        for name, meshes in drawn.items()
    ]


def bones_of_bodies(bones: Sequence[Bone]) -> dict[int, int]:
    """By body the bone that moves with it and is the first to do so: those after it are rigid."""
    found: dict[int, int] = {}
    for i, bone in enumerate(bones):
        if bone.body >= 0:
            found.setdefault(bone.body, i)
    return found


def _mesh(
    document: _Document, meshes: Sequence[Mesh], name: str, bone_of: Mapping[int, int] | None = None
) -> int:  # fmt: skip
    """A mesh of one primitive a colour."""
    primitives = []
    for mesh in meshes:
        attributes = {
            "POSITION": document.array(mesh.points.astype("f4"), ARRAYS, bounds=True),
            "NORMAL": document.array(_unit(mesh.normals).astype("f4"), ARRAYS),
        }
        if bone_of is not None and mesh.joints is not None and mesh.weights is not None:
            bones = np.array([bone_of.get(body, 0) for body in range(max(bone_of) + 1)])
            weights = mesh.weights.astype("f4")
            joints = np.where(weights > 0, bones[mesh.joints], 0)
            attributes["JOINTS_0"] = document.array(joints.astype("u2"), ARRAYS)
            attributes["WEIGHTS_0"] = document.array(weights / weights.sum(1, keepdims=True), ARRAYS)
        kind = "u2" if len(mesh.points) < 65535 else "u4"
        indices = document.array(mesh.triangles.ravel().astype(kind), ELEMENTS)
        primitives.append(
            {"attributes": attributes, "indices": indices, "material": _material(document, mesh.rgba), "mode": 4}
        )
    return document.add("meshes", name=name, primitives=primitives)


def _unit(normals: np.ndarray) -> np.ndarray:
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12))


def _material(document: _Document, rgba: np.ndarray) -> int:
    """A matte material of a colour, one for each."""
    factor = [round(float(x), 4) for x in (*linear(rgba[:3]), rgba[3])]
    for i, material in enumerate(document.lists.get("materials", [])):
        if material["pbrMetallicRoughness"]["baseColorFactor"] == factor:
            return i
    matte = {"baseColorFactor": factor, "metallicFactor": 0.0, "roughnessFactor": 0.8}
    through = {"alphaMode": "BLEND"} if factor[3] < 1 else {}
    name = "colour_" + "".join(f"{round(255 * min(max(float(x), 0), 1)):02x}" for x in rgba[:3])
    return document.add("materials", name=name, pbrMetallicRoughness=matte, **through)


def linear(rgb: np.ndarray) -> np.ndarray:
    """Shares of light (3,) of a screen's colours: glTF's factors are linear."""
    rgb = np.clip(np.asarray(rgb, float), 0, 1)
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def _prop(document: _Document, prop: PropTrack, motion: Clip, animation: dict[str, Any]) -> int:
    """A node of a prop with its track: while it waits far away it has no size."""
    mesh = _mesh(document, of_prop(prop.shapes), prop.name)
    turn = _numbers(prop.turns[0][[1, 2, 3, 0]] / np.linalg.norm(prop.turns[0]))
    node = document.add("nodes", name=prop.name, mesh=mesh, translation=_numbers(prop.places[0]), rotation=turn)
    if prop.moves:
        _track(document, animation, node, "translation", prop.places)
        _track(document, animation, node, "rotation", prop.turns[:, [1, 2, 3, 0]])
    if not prop.there.all():
        _track(document, animation, node, "scale", np.repeat(prop.there[:, None], 3, 1).astype(float), "STEP")
    return node
