"""Export: a walk as a GLB for Blender, Godot and three.js, and as a BVH with Mixamo's bones for retargeters.

python examples/export.py          # 4 s; a number says how many seconds instead
"""

import sys
from pathlib import Path

import numpy as np

from tumble import Go, Recorder, Scene, Session, Walker, biped
from tumble.export import Options, clip_of, export

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
scene = Scene(biped())
session = Session(scene, Walker(scene), scene.state("rest"), Go(speed=0.8, heading=0.0, style="happy"))
recorder = Recorder(session, scenario="export", controller="walker", seed=0)
while session.time < seconds:
    session.step()

for place, options in (
    ("walk.glb", Options(fps=60)),
    ("walk.bvh", Options(skeleton="mixamo")),
    ("unreal.glb", Options(skeleton="ue5", root="bone")),
):
    print(f"{place}: {export(recorder.recording, Path(place), options) / 1e3:.0f} kB")

motion = clip_of(recorder.recording)  # the same as arrays
places, _ = motion.world()  # of all bones in all frames, m
print(f"{places.shape[1]} bones; they went {np.linalg.norm(places[-1, 0] - places[0, 0]):.1f} m")
