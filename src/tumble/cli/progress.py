"""Progress of long work on a terminal, and an end that is asked for."""

import signal
import sys
from types import FrameType, TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from tumble.live.session import Frame, Session
from tumble.planners import Plan


class Progress:
    """Bars on standard error for trials and for simulated time; nothing where that is no terminal."""

    def __init__(self, trials: int) -> None:
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.1f} of {task.total:.1f} s {task.fields[note]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._trials, self._done, self._won = trials, 0, 0
        self._task = self._bars.add_task("", total=0.1, note="")

    def __enter__(self) -> "Progress":
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self._bars.stop()

    def say(self, what: str) -> None:
        """Show a line instead of a trial."""
        self._bars.update(self._task, description=what, completed=0)

    def begin(self, seed: int, seconds: float) -> None:
        """A trial of so many simulated seconds begins."""
        tally = f"{self._won} of {self._done} so far, " if self._done else ""
        what = f"trial {self._done + 1} of {self._trials}, seed {seed}" if self._trials > 1 else f"seed {seed}"
        self._bars.update(self._task, description=tally + what, total=seconds, completed=0, note="")

    def __call__(self, session: Session, frame: Frame) -> None:
        plan = session.controller.report().plan
        note = f"cost {plan.cost:9.0f}, {1 / frame.control_seconds:4.0f} plans/s" if isinstance(plan, Plan) else ""
        self._bars.update(self._task, completed=frame.time, note=note)

    def end(self, success: bool) -> None:
        """The trial is over."""
        self._done += 1
        self._won += success


class Interrupt:
    """While entered, the first Ctrl-C only sets `seen`, so that work can end cleanly; the second raises."""

    def __init__(self) -> None:
        self.seen = False

    def __enter__(self) -> "Interrupt":
        self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        signal.signal(signal.SIGINT, self._before)

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        signal.signal(signal.SIGINT, self._before)
