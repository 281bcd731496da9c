"""A .glb of ours as .fbx, by Blender: for Unity's humanoids and for whatever reads FBX alone.

    tumble export walk.npz walk.glb --skeleton unity
    blender --background --python examples/glb_to_fbx.py -- walk.glb walk.fbx

Or with Blender as a module, pip install "bpy==4.5.*" (Python 3.11): python examples/glb_to_fbx.py walk.glb walk.fbx

In Unity choose Rig > Animation Type > Humanoid: names and the T-pose are what it looks for. In Unreal import the .glb
itself, made with --skeleton ue5.
"""

import json
import struct
import sys
from pathlib import Path

import bpy


def rate(path: str) -> float:
    """Frames a second of a .glb of ours, which stand in the extras of its animation."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    return float(json.loads(data[20 : 20 + length])["animations"][0]["extras"]["fps"])


def convert(source: str, target: str) -> None:
    """Read a .glb, write an .fbx with every frame of every bone."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = round(rate(source))  # before the import: Blender counts time in frames
    bpy.ops.import_scene.gltf(filepath=source)
    (body,) = [thing for thing in scene.objects if thing.type == "ARMATURE"]
    scene.frame_start, scene.frame_end = (round(end) for end in body.animation_data.action.frame_range)
    bpy.ops.export_scene.fbx(
        filepath=target,
        object_types={"ARMATURE", "MESH", "EMPTY"},
        add_leaf_bones=False,
        bake_anim_use_all_actions=False,
        bake_anim_use_nla_strips=False,
        bake_anim_simplify_factor=0.0,  # else frames are left out, and feet slide
        apply_scale_options="FBX_SCALE_ALL",  # metres stay metres in Unity
    )


if __name__ == "__main__":
    words = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    if len(words) != 2:
        sys.exit("say which .glb and which .fbx: glb_to_fbx.py -- walk.glb walk.fbx")
    convert(*words)
