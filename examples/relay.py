"""Relay: a walker walks, is struck down, is got up by a planner, and walks on.

python examples/relay.py           # 12 s; a number says how many seconds instead
"""

import sys

from tumble import CPBP, Go, Performer, Planned, Push, Relay, Scene, Session, Walker, biped

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 12.0
scene = Scene(biped())
relay = Relay(Performer(Walker(scene)), Planned(CPBP(scene, seed=1)))
session = Session(scene, relay, scene.state("rest"), Go(speed=0.8, heading=0.0))

acting = ""
while session.time < seconds:
    if session.index == round(30 * min(3.0, seconds / 4)):
        session.send(Push("head", (0.0, 1000.0, 0.0), seconds=0.15))
        print(f"{session.time:4.1f} s  struck")
    frame = session.step()
    if frame.acting != acting:  # one state, two drives: handing over copies nothing
        acting = frame.acting
        print(f"{frame.time:4.1f} s  {acting}")
