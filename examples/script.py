"""Script: lift a crate and carry it somewhere, in words.

python examples/script.py          # 40 s; a number says how many seconds instead
"""

import sys

from tumble import Crate, Do, Ground, Performer, Scene, Session, UserError, Walker, biped

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 40.0
handles = ((0.0, 0.2, 0.0), (0.0, -0.2, 0.0))
crate = Crate("crate", (2.0, 0.5, 0.15), half=(0.15, 0.2, 0.15), mass=8.0, handles=handles)
scene = Scene(biped(), [crate], Ground(friction=0.8))
session = Session(scene, Performer(Walker(scene)), scene.state("rest"))

try:
    session.send(Do("lift crat"))  # a script is checked before anything moves
except UserError as error:
    print(f"refused: {error}")
session.send(Do("lift crate; carry it to 3 2; turn to 180"))

doing = ""
while session.time < seconds:
    session.step()
    if session.controller.report().doing != doing:
        doing = session.controller.report().doing
        print(f"{session.time:5.1f} s  {doing or 'done'}")
    if session.time > 1 and not doing:
        break
x, y, _ = session.world.view("crate.pos")[0].tolist()
print(f"the crate is at ({x:.2f}, {y:.2f})")
