"""Tree: get up from the face by an attraction tree, then crouch, rise and jump by others.

python examples/tree.py            # 15 s; a number says how many seconds instead
"""

import sys

from tumble import Balance, Do, Scene, Session, character
from tumble.attraction.attracted import Attracted

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 15.0
scene = Scene(character("humanoid25"), drives=["pd"])
controller = Attracted(scene, seed=1)
session = Session(scene, controller, scene.state(lying="prone"), Balance())

doing, told = "", False
while session.time < seconds:
    if session.time > 0.4 * seconds and not told:
        session.send(Do("crouch; rise; jump"))
        told = True
    session.step()
    if controller.report().doing.partition(":")[0] != doing:
        doing = controller.report().doing.partition(":")[0]  # behind it stand the node and the time to the goal
        print(f"{session.time:4.1f} s  {doing}")
print(f"pelvis at {session.world.view('pelvis.pos')[0, 2]:.2f} m")
