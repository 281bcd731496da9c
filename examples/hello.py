"""A character gets up from the floor, is pushed, and stays up: the whole of tumble on one screen.

python examples/hello.py
"""

from tumble import CPBP, Balance, Planned, Push, Recorder, Scene, Session, humanoid

# A body on the ground. Proportions are arguments: try humanoid(legs=1.2) or humanoid(mass=90).
scene = Scene(humanoid())

# Who controls it: a planner that tries 32 futures of 1.2 s in every frame.
controller = Planned(CPBP(scene, seed=1))

# The live loop: a body that lies on its back and wants to be up and at rest.
session = Session(scene, controller, scene.state("t-pose", lying="supine"), Balance())
print("it is judged by:", ", ".join(controller.goal.names))
recorder = Recorder(session, scenario="hello", controller="cpbp", seed=1)

while session.time < 8:
    if session.index == 150:  # after 5 s: 300 N from behind for 0.1 s
        session.send(Push("torso", (300.0, 0.0, 0.0), seconds=0.1))
    session.step()
    if session.index % 15 == 0:
        height = session.world.view("pelvis.pos")[0, 2]
        print(f"{session.time:4.1f} s  pelvis at {height:.2f} m  effort {controller.latest.effort:.2f}")

recorder.recording.save("hello.npz")
print("look at it: tumble strip hello.npz hello.png")
