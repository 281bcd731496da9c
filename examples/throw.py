"""Throw: balls are thrown at somebody who wants to stand; the set changes while it runs.

python examples/throw.py           # 12 s; a number says how many seconds instead
"""

import math
import sys

from tumble import SCENARIOS, Explode, Trial

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 12.0
trial = Trial(SCENARIOS["stand"](), seed=1, controller="cpbp", seconds=seconds)

mass = 1.0
while not trial.over:
    x, y, _ = trial.session.world.view("pelvis.pos")[0].tolist()
    if trial.session.index % 60 == 30:  # every 2 s a heavier one, from another side
        side = 0.9 * mass
        away = 3 * math.cos(side), 3 * math.sin(side)
        trial.throw((x + away[0], y + away[1], 1.2), (-2.5 * away[0], -2.5 * away[1], 1.0), mass=mass)
        print(f"{trial.time:4.1f} s  {mass:.0f} kg at 7.5 m/s")
        mass += 1.0
    if trial.session.index == round(30 * 0.8 * seconds):
        trial.send(Explode((x + 0.5, y, 0.0), speed=3.0))
        print(f"{trial.time:4.1f} s  a blast beside the feet")
    trial.step()
print("balanced" if trial.result().success else "not balanced", "in the end")
