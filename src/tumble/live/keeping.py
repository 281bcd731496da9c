"""KeepTime: a listener that fits a planner's work to the frame, by measured time, within limits.

    keeping = KeepTime(session)
    session.listeners.append(keeping)
    keeping.text                         # '16 futures, every 2nd frame'

It changes two settings: `samples`, how many futures are simulated, and `serves`, for how many frames a plan is carried
out. Where planning takes more than its share of a frame it takes the next rung down a ladder of less and less work;
where there is room for a while, the next one up. What a person sets is the top of the ladder. Every change is a command
of the session, so that a recording holds it and replays exactly.

Trap: time decides, so that the same seed goes another way each time, and on each machine.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tumble.errors import check_number
from tumble.live.commands import SetParameter
from tumble.live.session import Frame, Session

SHARE = 0.75  # of a frame that planning may take; the rest is the world's, the picture's and other people's
# of the samples that are asked for, and frames that a plan serves: less and less work; ours, not compared over seeds
LADDER = ((1.0, 1), (0.75, 1), (1.0, 2), (0.75, 2), (0.5, 2), (0.5, 3), (0.375, 3), (0.25, 3))
PLANS = 12  # whose times are looked at
PATIENCE = 90  # frames without a change before more is tried
ROOM = 0.85  # of the share that more work may be expected to take
ENDINGS = {2: "nd", 3: "rd"}
IDLE = 1e-4  # s below which a frame's control was no plan


@dataclass(frozen=True)
class WorkLimits:
    """What may be given up. The defaults are ours."""

    fewest: int = 12  # futures
    longest: int = 3  # frames that a plan serves

    def __post_init__(self) -> None:
        check_number("fewest", self.fewest, 2, 100_000)
        check_number("longest", self.longest, 1, 10)


class KeepTime:
    """Listens to a session.

    Attributes:
      limits: within which it chooses.
      planned: s that the last plan took; frames between two plans take none.
    """

    def __init__(self, session: Session, limits: WorkLimits = WorkLimits()) -> None:
        self.limits, self.planned = limits, 0.0
        self._times: deque[float] = deque(maxlen=PLANS)
        self._chosen: tuple[int, int] | None = None  # samples and frames, as they were set here
        self._most: tuple[int, int] = (0, 0)  # as a person set them
        self._since = 0
        self._look(session)

    def __call__(self, session: Session, frame: Frame) -> None:
        """Measure a frame, and choose another rung where need be."""
        self._since += 1
        if not self._look(session):
            return
        if frame.control_seconds > IDLE:
            self._times.append(frame.control_seconds)
            self.planned = frame.control_seconds
        if len(self._times) < PLANS:
            return
        rungs = ladder(*self._most, self.limits, session.controller.settings)
        now = self._now(session)
        each = float(np.median(self._times)) / now[0]  # s a future
        budget = SHARE * session.scene.dt
        if each * now[0] / now[1] > budget:
            self._take(session, next((rung for rung in rungs if each * rung[0] / rung[1] <= budget), rungs[-1]))
        elif self._since > PATIENCE and now in rungs and (place := rungs.index(now)) > 0:
            above = rungs[place - 1]
            if each * above[0] / above[1] <= ROOM * budget:
                self._take(session, above)

    @property
    def text(self) -> str:
        """What was chosen, in words; '' where nothing can be."""
        if self._chosen is None:
            return ""
        samples, serves = self._chosen
        which = "" if serves == 1 else f"{serves}{ENDINGS.get(serves, 'th')} "
        return f"{samples} futures, every {which}frame"

    def _look(self, session: Session) -> bool:
        """Whether there is a planner to be fitted; what a person has set since becomes the most it may do."""
        if not hasattr(session.controller.settings, "samples"):
            self._chosen = None
            return False
        now = self._now(session)
        if now != self._chosen:
            self._most = self._chosen = now
            self._times.clear()
            self._since = 0
        return True

    def _take(self, session: Session, rung: tuple[int, int]) -> None:
        """Have a rung from the next frame on, unless somebody sets them just now."""
        now, names = self._now(session), ("samples", "serves")
        waits = {command.name for command in session.waiting if isinstance(command, SetParameter)}
        if rung == now or waits & set(names):
            return
        changes = [SetParameter(name, new) for name, new, old in zip(names, rung, now, strict=True) if new != old]
        session.send(*changes)
        self._chosen = rung
        self._times.clear()
        self._since = -1  # the next frame is of the old one

    def _now(self, session: Session) -> tuple[int, int]:
        """Samples and frames, with those that wait for the next frame."""
        settings: Any = session.controller.settings
        found = {"samples": settings.samples, "serves": getattr(settings, "serves", 1)}
        found |= {c.name: c.value for c in session.waiting if isinstance(c, SetParameter) and c.name in found}
        return int(found["samples"]), int(found["serves"])


def ladder(samples: int, serves: int, limits: WorkLimits, settings: Any = None) -> Sequence[tuple[int, int]]:
    """Rungs from what a person has set down to the least work within limits: samples, and frames that a plan serves.

    A planner whose plans serve one frame alone has rungs of fewer futures only.
    """
    able = settings is None or hasattr(settings, "serves")
    rungs = [(samples, serves)]
    for share, frames in LADDER if able else ((share, 1) for share in (1.0, 0.75, 0.5, 0.375, 0.25)):
        rung = max(round(share * samples), min(samples, limits.fewest)), max(serves, min(frames, limits.longest))
        if rung[0] / rung[1] < rungs[-1][0] / rungs[-1][1]:
            rungs.append(rung)
    return rungs
