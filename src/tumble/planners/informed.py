"""Adviser: what was learned in earlier frames, as guides for some walkers of C-PBP.

adviser = Adviser(scene, samples=32)
adviser.begin(sims, goal)                      # of a frame
for rows, advice in adviser.advise(learners, slots, parents):
    ...                                        # some slots, and a control for each
adviser.look(sims, goal)                       # after every step
adviser.teach(learners, control)               # what was done in that frame
"""

import numpy as np

from tumble.goals import Goal
from tumble.learners import Learners
from tumble.planners.features import Features
from tumble.world.scene import Scene
from tumble.world.sims import Sims

UPDATES = 8  # of the network in every frame; not in hamalainen2015; ours


class Adviser:
    """Tells walkers what was done in states like theirs (rajamaki2017 section 3, hamalainen2015 section 6).

    Attributes:
      features: numbers of a state as learners see it.
    """

    def __init__(self, scene: Scene, samples: int) -> None:
        self._features, self._motors = Features(scene), scene.drive
        self.features = self._features.size
        self._seen = np.empty((samples, self.features), np.float32)
        self._first = np.empty(self.features, np.float32)

    def begin(self, sims: Sims, goal: Goal) -> None:
        """Look at the rows, all of them in the state that the frame begins in, and keep it to be taught."""
        self.look(sims, goal)
        self._first[:] = self._seen[0]

    def look(self, sims: Sims, goal: Goal) -> None:
        """Look at the rows as they are now: after `take` sensors are out of order until the next `act`."""
        self._features.of(sims, goal, False, self._seen)

    def advise(self, learners: Learners, slots: slice, parents: np.ndarray) -> list[tuple[slice, np.ndarray]]:
        """Advice for slots whose walkers go on from parents (N,): rows and controls (rows, size), where there is any.

        The first half of the slots, the larger one, is told what the network says, once it was trained, as far as
        motors can do it; the second what was done in the nearest state that the forest knows.
        """
        middle, advice = (slots.start + slots.stop + 1) // 2, []
        one, other = slice(slots.start, middle), slice(middle, slots.stop)
        if one.start < one.stop and learners.network.ready:
            said = learners.network.predict(self._seen[parents[one]])
            advice.append((one, np.clip(said, self._motors.low, self._motors.high)))
        if other.start < other.stop:
            controls, distances = learners.forest.recall(self._seen[parents[other]])
            if np.isfinite(distances).all():  # none of them is while the forest knows nothing
                advice.append((other, controls))
        return advice

    def teach(self, learners: Learners, control: np.ndarray) -> None:
        """Teach what was done in the state that the frame began in."""
        learners.add(self._first, control)
        learners.work(UPDATES)
