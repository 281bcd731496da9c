"""Undo: what people have done to set, settings and wants, to take back and do again.

    undo.note(before, after)          # around everything that people do
    undo.back(present)                # the moment before the last of it, to be restored; None where there is none
    undo.forth(present)

Of one slider that is moved, and of one want that is said again and again, what follows within a second is one thing.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tumble.goals.wants import Want
from tumble.world.props import Prop
from tumble.world.scene import Ground

MOST = 200  # things that can be taken back
TOGETHER = 1.0  # s


@dataclass(frozen=True)
class Snapshot:
    """What people can change of a trial, as it is in the next frame.

    Attributes:
      props, ground: the set.
      parameters: settings and weights of terms, by the names of their parameters.
      want: all that is wanted.
    """

    props: tuple[Prop, ...]
    ground: Ground
    parameters: dict[str, float]
    want: Want | None

    def differs(self, other: "Snapshot") -> tuple[str, ...]:
        """What is another: 'set', names of parameters, 'want' with its kind."""
        found = ["set"] if (self.props, self.ground) != (other.props, other.ground) else []
        names = {*self.parameters, *other.parameters}
        found += sorted(name for name in names if self.parameters.get(name) != other.parameters.get(name))
        if self.want != other.want:
            found.append(f"want {type(other.want).__name__}")
        return tuple(found)


class Undo:
    """Snapshots of before, and of after."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._past: deque[Snapshot] = deque(maxlen=MOST)
        self._future: list[Snapshot] = []
        self._clock = clock
        self._last: tuple[tuple[str, ...], float] = ((), 0.0)

    @property
    def can(self) -> tuple[bool, bool]:
        """Whether something can be taken back, and whether something can be done again."""
        return bool(self._past), bool(self._future)

    def note(self, before: Snapshot, after: Snapshot) -> None:
        """Something was done, if they differ."""
        changed, now = after.differs(before), self._clock()
        if not changed:
            return
        goes_on = changed == self._last[0] and now - self._last[1] < TOGETHER and "set" not in changed
        if not (goes_on and self._past):
            self._past.append(before)
        self._future.clear()
        self._last = changed, now

    def back(self, present: Snapshot) -> Snapshot | None:
        """What was before the last thing that was done."""
        return self._step(present, self._past, self._future)

    def forth(self, present: Snapshot) -> Snapshot | None:
        """What was after the thing that was taken back last."""
        return self._step(present, self._future, self._past)

    def _step(self, present: Snapshot, source: Any, other: Any) -> Snapshot | None:
        if not source:
            return None
        other.append(present)
        self._last = (), 0.0
        snapshot: Snapshot = source.pop()
        return snapshot

    def clear(self) -> None:
        """Forget all: something else is played."""
        self._past.clear()
        self._future.clear()
