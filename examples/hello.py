"""A character gets up from the floor, is pushed, stays up, and reaches out: the whole of tumble on one screen.

python examples/hello.py           # 12 s; a number says how many seconds instead
"""

import sys

from tumble import CPBP, Balance, Planned, Push, Reach, Recorder, Scene, Session, humanoid

# A body on the ground. Proportions are arguments: try humanoid(legs=1.2) or humanoid(mass=90).
scene = Scene(humanoid())

# Who controls it: a planner that tries 32 futures of 1.2 s in every frame of 1/30 s.
controller = Planned(CPBP(scene, seed=1))

# The live loop. It starts lying on its back, and wants to be up and at rest.
session = Session(scene, controller, scene.state("t-pose", lying="supine"), Balance())
recorder = Recorder(session, scenario="hello", controller="cpbp", seed=1)
print("it is judged by:", ", ".join(controller.goal.names))

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 12.0
while session.time < seconds:
    if session.index == 150:  # after 5 s: 300 N from behind for 0.1 s
        session.send(Push("torso", (300.0, 0.0, 0.0), seconds=0.1))
    if session.index == 240:  # after 8 s something else is wanted: the left hand at a place ahead of it
        x, y, _ = session.world.view("pelvis.pos")[0].tolist()
        session.send(Reach((x + 0.4, y + 0.3, 1.4), hand="left"))
    session.step()
    if session.index % 15 == 0:
        height = session.world.view("pelvis.pos")[0, 2]
        print(f"{session.time:4.1f} s  pelvis at {height:.2f} m  effort {controller.latest.effort:.2f}")

recorder.recording.save("hello.npz")
print("look at it: tumble strip hello.npz hello.png")
