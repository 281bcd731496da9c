"""Record and replay: everything that happened, in one file, to the last bit.

python examples/record.py          # 3 s; a number says how many seconds instead
"""

import sys

from tumble import CPBP, Balance, Planned, Push, Recorder, Recording, Scene, Session, humanoid

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
scene = Scene(humanoid())
session = Session(scene, Planned(CPBP(scene, seed=1)), scene.state("rest"), Balance())
recorder = Recorder(session, scenario="record", controller="cpbp", seed=1)
session.send(Push("torso", (300.0, 0.0, 0.0)))
while session.time < seconds:
    session.step()
recorder.recording.save("record.npz")

recording = Recording.load("record.npz")  # nothing in a file is executed, every size is checked first
different = recording.first_difference()  # steps the physics again
print(f"{recording.frames} frames,", "bit for bit" if different is None else f"different from frame {different} on")
last = recording.scene().show(recording.state(recording.frames))  # MuJoCo's own data of any frame
print(f"the pelvis ended at {last.body('pelvis').xpos.round(2)}")
print("look at it: tumble strip record.npz record.png")
