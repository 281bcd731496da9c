"""Learners: the forest and the network together, taught in step with the frames or in a thread of their own.

learners = Learners(features=175, size=24, seed=1)
learners.add(state, action)          # every frame
learners.work(updates=8)             # every frame: the same calls give the same bits; or
learners.start()                     # free-running: as fast as a thread can, until `stop`
"""

import threading
from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from tumble.errors import UserError, check_number
from tumble.learners.forest import DensityForest, checked
from tumble.learners.learner import Learner
from tumble.learners.network import Network

VISITS = 300  # points of the forest's trees that are put to planes for every frame


class Learners(Learner):
    """What informs a search: quick but imprecise recall, slow but smooth fitting (rajamaki2017 section 3).

    Attributes:
      features, size, capacity: numbers of a state and of an action, and pairs at most.
      forest, network: the two of them.
      growing: whether `add` and `work` do anything.
    """

    kind: ClassVar[str] = "learners"
    appends: ClassVar[bool] = False

    def __init__(self, features: int, size: int, seed: int) -> None:
        rng = np.random.default_rng([seed, 2017])
        self.forest, self.network = DensityForest(features, size, rng), Network(features, size, rng)
        self.features, self.size, self.capacity, self.growing = features, size, self.forest.room, True
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._error: Exception | None = None

    @classmethod
    def new(cls, features: int, size: int, seed: int) -> Self:
        return cls(features, size, seed)

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

    @property
    def progress(self) -> int:
        return self.network.added + self.network.updates

    def kept(self, since: int = 0) -> dict[str, np.ndarray]:
        """All that was learned, by name; copies."""
        states, actions = self.forest.pairs()
        network = {f"network.{name}": array for name, array in self.network.kept().items()}
        return {"states": states, "actions": actions, **network}

    def restore(self, kept: Mapping[str, np.ndarray]) -> None:
        """Go on from what `kept` gave: the network as it was, trees of the same pairs built anew."""
        self._check(kept)
        self.network.restore(
            {name.removeprefix("network."): kept[name] for name in kept if name.startswith("network.")}
        )
        for state, action in zip(kept["states"], kept["actions"], strict=True):
            self.forest.add(state, action)
        while len(self.forest) and self.forest.rebuilt < self.forest.trees:
            self.forest.work(len(self.forest))

    def _check(self, kept: Mapping[str, np.ndarray]) -> None:
        """Refuse arrays unlike our own, numbers of pairs that do not fit, and what no training leaves behind."""
        for name, own in self.kept().items():
            _check_array(name, kept[name], own)
        for prefix in ("", "network."):
            states, actions = len(kept[f"{prefix}states"]), len(kept[f"{prefix}actions"])
            if states != actions:
                raise UserError(f"it has {states} {prefix}states for {actions} actions")
        most = self.network.settings.memory
        if len(kept["network.states"]) > most:
            raise UserError(f"its network has {len(kept['network.states'])} pairs, {most} at most")
        for name in ("network.updates", "network.square"):
            if kept[name].min() < 0:
                raise UserError(f"its {name} is {kept[name].min()}")

    def warm_up(self) -> None:
        other, state = Learners(self.features, self.size, 0), np.zeros(self.features)
        for i in range(other.network.settings.fewest):
            other.add(state + i, np.zeros(self.size))
        other.work(1)
        other.network.predict(state[None])
        other.forest.recall(state[None])

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


def _check_array(name: str, array: np.ndarray, own: np.ndarray) -> None:
    """Refuse an array unlike our own, but for the number of rows of a table, and numbers that learners do not take."""
    fixed = 1 if own.ndim == 2 else 0
    if array.dtype != own.dtype or array.ndim != own.ndim or array.shape[fixed:] != own.shape[fixed:]:
        wanted = f"({f'n, {own.shape[1]}' if fixed else ', '.join(map(str, own.shape))})"
        raise UserError(f"its {name} are {array.shape} of type {array.dtype}, not {wanted} of type {own.dtype}")
    if own.ndim:
        checked(f"its {name}", array, own.shape[-1], rows=bool(fixed))
