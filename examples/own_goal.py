"""A goal of one's own: squat, as a term in physical units, added to balance, and wanted by its name.

python examples/own_goal.py        # 6 s; a number says how many seconds instead
"""

import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble import CPBP, Balance, Goal, Meet, Planned, Scene, Session, Term, balance, goals, humanoid


@dataclass(frozen=True)
class RootHeight(Term):
    """How far the root is above or below a height, m; its value is (residual / sigma)^2."""

    root: str
    height: float
    sigma: float = 0.02  # with 0.05 it is too little worth beside the other terms, and it stays up
    name: ClassVar[str] = "root_height"

    def residual(self, sims) -> np.ndarray:
        """(rows, 1): row i of what `view` gives is simulation i."""
        return sims.view(f"{self.root}.pos")[:, 2:3] - self.height


def squat(scene: Scene, depth: float = 0.2) -> Goal:
    """Balance with the root lower by a depth, m: without the term that wants it high, with one that wants it low."""
    body, standing = scene.character, scene.show(scene.state())
    low = RootHeight(body.root, standing.body(body.root).xpos[2] - depth)
    # Effort says how widely a planner searches; legs that are loose need not look as they do at rest.
    return balance(scene).without("height") + Goal(low, least_effort=0.3, loose=["left leg", "right leg"])


goals.register("squat", squat, "stay up with the root lower by a depth")

if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 6.0
    scene = Scene(humanoid())
    session = Session(scene, Planned(CPBP(scene, seed=1)), scene.state("rest"), Balance())
    session.send(Meet("squat", {"depth": 0.2}))
    while session.time < seconds:
        session.step()
        if session.index % 30 == 0:
            print(f"{session.time:4.1f} s  pelvis at {session.world.view('pelvis.pos')[0, 2]:.2f} m")
