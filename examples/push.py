"""Stay up: a character stands and is pushed, harder and harder, until it falls.

python examples/push.py            # up to 30 s; a number says how many seconds instead
"""

import math
import sys

from tumble import CPBP, Balance, Planned, Push, Scene, Session, humanoid

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
scene = Scene(humanoid())
session = Session(scene, Planned(CPBP(scene, seed=1)), scene.state("rest"), Balance())
standing = session.world.view("pelvis.pos")[0, 2]

force, side = 200.0, 0.0
while session.time < seconds:
    if session.index % 90 == 30:  # every 3 s, from another side, a tenth of a second
        session.send(Push("torso", (force * math.cos(side), force * math.sin(side), 0.0)))
        print(f"{session.time:4.1f} s  {force:.0f} N from {math.degrees(side):.0f} degrees")
        force, side = force + 100.0, side + 2.0
    session.step()
    if session.world.view("pelvis.pos")[0, 2] < 0.5 * standing:
        print(f"{session.time:4.1f} s  down; leave it running, and it gets up again")
        break
print("on its feet" if session.world.view("pelvis.pos")[0, 2] > 0.85 * standing else "not on its feet")
