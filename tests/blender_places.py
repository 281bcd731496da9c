"""Where Blender has the bones of .bvh and .glb files in every frame; run by a Python that has `bpy`, not ours.

python blender_places.py a.bvh b.glb        # prints JSON: file, bone, [[x, y, z], ...] in the axes of files, m
"""

import json
import sys

import bpy


def places(path: str) -> dict[str, list[list[float]]]:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = 30
    if path.endswith(".bvh"):
        bpy.ops.import_anim.bvh(filepath=path, global_scale=0.01, frame_start=0, use_fps_scale=False,
                                update_scene_duration=True, rotate_mode="NATIVE")  # fmt: skip
    elif path.endswith(".fbx"):
        bpy.ops.import_scene.fbx(filepath=path)
    else:
        bpy.ops.import_scene.gltf(filepath=path)
    (body,) = [thing for thing in scene.objects if thing.type == "ARMATURE"]
    start, end = body.animation_data.action.frame_range
    found: dict[str, list[list[float]]] = {}
    for frame in range(round(start), round(end) + 1):
        scene.frame_set(frame)
        for bone in body.pose.bones:
            x, y, z = body.matrix_world @ bone.head
            found.setdefault(bone.name, []).append([x, z, -y])
    return found


print("PLACES" + json.dumps({path: places(path) for path in sys.argv[1:]}))
