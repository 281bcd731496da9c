"""Gait: the big bird of SIMBICON walks, steps in place, mixes gaits, and takes a push.

python examples/gait.py            # 12 s; a number says how many seconds instead
"""

import sys

from tumble import Go, Push, Scene, Session, character
from tumble.simbicon.simbicon import Simbicon

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 12.0
scene = Scene(character("big-bird"))
walker = Simbicon(scene)
session = Session(scene, walker, walker.opening("walk"), Go(style="walk", heading=0.0))
print("its gaits:", ", ".join(walker.own_styles))

plan = [
    (0.25, Go(style="in-place")),
    (0.5, Go(style="walk", other="turn-left", mix=0.5)),  # half of each torque
    (0.75, Push(scene.character.trunk, (0.0, 300.0, 0.0))),
]
while session.time < seconds:
    while plan and session.time >= plan[0][0] * seconds:
        command = plan.pop(0)[1]
        print(f"{session.time:4.1f} s  {type(command).__name__.lower()}", *getattr(command, "given", {}).values())
        session.send(command)
    session.step()
x, y, z = session.world.view("com")[0].tolist()
print(f"{walker.steps(session.world)[0]:.0f} steps, at ({x:.1f}, {y:.1f}), centre of mass {z:.2f} m high")
