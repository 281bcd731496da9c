"""Steer: walk at a speed along a heading, both of which change; the same lines drive a planner.

python examples/steer.py           # 20 s; a number says how many seconds instead
"""

import math
import sys

import numpy as np

from tumble import Go, Scene, Session, Walker, biped

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
scene = Scene(biped())
session = Session(scene, Walker(scene), scene.state("rest"), Go(speed=0.0, heading=0.0))

rng = np.random.default_rng(5)
while session.time < seconds:
    if session.index % 120 == 0:  # every 4 s; frames are 1/30 s
        speed, heading = rng.uniform(-0.3, 1.2), rng.uniform(-math.pi, math.pi)
        session.send(Go(speed=float(speed), heading=float(heading)))
        print(f"{session.time:4.1f} s  wanted {speed:+.2f} m/s along {math.degrees(heading):+.0f} degrees")
    session.step()
x, y, z = session.world.view("com")[0].tolist()
print(f"at ({x:.1f}, {y:.1f}), centre of mass {z:.2f} m high")
