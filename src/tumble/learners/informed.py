"""Learners: the forest and the network together, taught in step with the frames or in a thread of their own.

learners = Learners(features=175, size=24, seed=1)
learners.add(state, action)          # every frame
learners.work(updates=8)             # every frame: the same calls give the same bits; or
learners.start()                     # free-running: as fast as a thread can, until `stop`
"""

import threading
from collections.abc import Mapping

import numpy as np

from tumble.errors import check_number
from tumble.learners.forest import DensityForest
from tumble.learners.network import Network

VISITS = 300  # points of the forest's trees that are put to planes for every frame


class Learners:
    """What informs a search: quick but imprecise recall, slow but smooth fitting (rajamaki2017 section 3).

    Attributes:
      forest, network: the two of them.
      growing: whether `add` and `work` do anything.
    """

    def __init__(self, features: int, size: int, seed: int) -> None:
        rng = np.random.default_rng([seed, 2017])
        self.forest, self.network = DensityForest(features, size, rng), Network(features, size, rng)
        self.growing = True
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._error: Exception | None = None

    def add(self, state: np.ndarray, action: np.ndarray) -> None:
        """Teach both a pair; raises what went wrong in the thread."""
        if self._error is not None:
            self.stop()
        if self.growing:
            self.forest.add(state, action)
            self.network.add(state, action)

    def __len__(self) -> int:
        """Pairs that are known."""
        return len(self.forest)

    def work(self, updates: int) -> None:
        """Learn a little, unless a thread does."""
        check_number("updates", updates, 0, 100_000)
        if self.growing and self._thread is None:
            self.forest.work(VISITS)
            if updates:
                self.network.train(updates)

    def kept(self) -> dict[str, np.ndarray]:
        """What was learned, by name, for a file; copies."""
        states, actions = self.forest.pairs()
        network = {f"network.{name}": array for name, array in self.network.kept().items()}
        return {"states": states, "actions": actions, **network}

    def restore(self, kept: Mapping[str, np.ndarray]) -> None:
        """Go on from what `kept` gave: the network as it was, trees of the same pairs built anew."""
        self.network.restore(
            {name.removeprefix("network."): kept[name] for name in kept if name.startswith("network.")}
        )
        for state, action in zip(kept["states"], kept["actions"], strict=True):
            self.forest.add(state, action)
        while len(self.forest) and self.forest.rebuilt < self.forest.trees:
            self.forest.work(len(self.forest))

    @property
    def running(self) -> bool:
        """Whether a thread learns."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Learn in a thread until `stop`; it ends with the process in any case."""
        if self.growing and self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, name="tumble learners", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread, if there is one, and raise what went wrong in it."""
        if self._thread is not None:
            self._stopping.set()
            self._thread.join()
            self._thread = None
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                self.forest.work(VISITS)
                self.network.train(1)
                if not self.network.ready:
                    self._stopping.wait(0.01)  # nothing to do yet
        except Exception as error:  # for the session's thread to raise
            self._error = error
