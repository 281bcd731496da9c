"""Pace: when the next frame is due, and how fast frames really come."""

import time
from collections import deque
from collections.abc import Callable

WINDOW = 1.0  # s over which rates are counted


class Clock:
    """Keeps a loop at a speed, and counts what it achieves.

    Of time that is lost, at most one frame is made up for afterwards: who is slower than real time shows it in
    `realtime`, and does not hurry later.

    Attributes:
      speed: simulated seconds a wall second that are asked for.
    """

    def __init__(self, dt: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self.speed = 1.0
        self._dt, self._clock = dt, clock
        self._ticks: deque[float] = deque()
        self._due = clock()

    def restart(self, dt: float) -> None:
        """Begin anew, with frames of dt simulated seconds: the next one is due now."""
        self._dt = dt
        self._ticks.clear()
        self._due = self._clock()

    @property
    def wait(self) -> float:
        """Seconds until the next frame is due, 0 if it is."""
        return max(0.0, self._due - self._clock())

    def ticked(self) -> None:
        """A frame was made."""
        now, period = self._clock(), self._dt / self.speed
        self._ticks.append(now)
        while len(self._ticks) > 2 and now - self._ticks[0] > WINDOW:  # two at least: frames may take longer than that
            self._ticks.popleft()
        self._due = max(self._due + period, now - period)

    @property
    def rate(self) -> float:
        """Frames a wall second, over the last one."""
        if len(self._ticks) < 2:
            return 0.0
        return (len(self._ticks) - 1) / max(self._ticks[-1] - self._ticks[0], 1e-9)

    @property
    def realtime(self) -> float:
        """Simulated seconds a wall second, over the last one."""
        return self.rate * self._dt
