"""Reach: bring a hand to points in space, one after the other, and stay up.

python examples/reach.py           # 12 s; a number says how many seconds instead
"""

import sys

import numpy as np

from tumble import CPBP, Planned, Reach, Scene, Session, humanoid

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 12.0
scene = Scene(humanoid())
session = Session(scene, Planned(CPBP(scene, seed=1)), scene.state("rest"), Reach((0.5, 0.3, 1.5)))

for target, hand in (((0.5, 0.3, 1.5), "left"), ((0.4, -0.5, 1.0), "right"), ((0.3, 0.0, 1.9), "left")):
    session.send(Reach(target, hand=hand))  # a new want takes the place of the old one
    end = session.time + seconds / 3
    while session.time < end:
        session.step()
    palm = session.world.view(f"{hand}_hand.pos")[0]
    print(f"{session.time:4.1f} s  {hand} hand {100 * np.linalg.norm(palm - target):.0f} cm from {target}")
