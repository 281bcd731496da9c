"""Gaps: a biped in the plane plans at every strike where its next steps land, and crosses gaps.

python examples/gaps.py            # until it is across; a number says how many seconds at most
"""

import sys

from tumble import Go, Scene, Session, character
from tumble.stepping.stepper import Stepper, opening_of
from tumble.stepping.terrain import gapped

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 15.0
props, ground = gapped([(1.5, 0.3), (2.6, 0.4), (3.6, 0.5)])  # where each begins along x, how wide it is, m
scene = Scene(character("planar"), props, ground)
stepper = Stepper(scene, seed=1)
session = Session(scene, stepper, opening_of(scene), Go())

planned = None
while session.time < seconds and session.world.view("com")[0, 0] < 5.0:
    session.step()
    if stepper.plan is not planned and stepper.plan is not None:
        planned = stepper.plan
        steps = ", ".join(f"{place:.2f}" for place in planned.places)
        print(f"{session.time:4.1f} s  next heels {steps} m ahead")
x, _, z = session.world.view("com")[0].tolist()
print(f"{x:.1f} m, {'on its feet' if z > 0.6 else 'fallen'}")
