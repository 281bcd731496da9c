"""Walk: a body of one's own proportions walks in every style there is, without planning.

python examples/walk.py            # 3 s a style; a number says how many seconds instead
"""

import sys

from tumble import Go, Scene, Session, Walker, biped

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
scene = Scene(biped(legs=1.1, left_arm=1.2))  # the left arm is longer; the walker does not mind
walker = Walker(scene)
session = Session(scene, walker, scene.state("rest"), Go(speed=0.7, heading=0.0))

for style in walker.own_styles:
    session.send(Go(style=style))  # what a want does not say stays as it was: speed and heading
    began, before = session.time, session.world.view("com")[0, 0]
    while session.time < began + seconds:
        session.step()
    speed = (session.world.view("com")[0, 0] - before) / (session.time - began)
    print(f"{style:10} {speed:.2f} m/s")
