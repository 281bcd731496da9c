"""Progress of long work on a terminal, and an end that is asked for.

    with Progress(trials=10) as progress, Interrupt() as interrupt, compiling("the walker", progress.compiles):
        progress.begin(seed=0, seconds=12.0)     # seed 0  ---------  3.1 of 12.0 s
        session.listeners.append(progress)

    with compile_line("the walker"):             # a line while something is compiled, else nothing
        ...

All of it is on standard error and vanishes when it is over; where that is no terminal there are no bars, and of the
compiler one plain line tells when it begins. What is printed on standard output is not touched.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType, TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.text import Text

from tumble.live.session import Frame, Session
from tumble.maths.compiling import CompileProgress, compiling
from tumble.planners import Plan


class CompileLine:
    """How far the compiler is, as a line of some bars that is there while it works.

    Called with every `CompileProgress`; where standard error is no terminal, the first one is printed as a line.
    """

    def __init__(self, bars: Bars) -> None:
        self._bars, self._told = bars, False
        self._task = bars.add_task("", visible=False, note="")

    def __call__(self, compiled: CompileProgress) -> None:
        first, self._told = not self._told, True
        if first and self._bars.disable:
            print(compiled, file=sys.stderr)
        about, _, counted = str(compiled).partition(": ")
        done, total = compiled.done, compiled.total
        self._bars.update(
            self._task, description=about, note=counted, completed=done, total=total, visible=not compiled.over
        )


@contextmanager
def compile_line(what: str) -> Iterator[None]:
    """Show how far the compiler is whenever it works meanwhile; nothing else is drawn, and nobody is kept waiting.

    Args:
      what: is compiled, in words: 'the walker'.
    """
    bars = bars_of()
    line = CompileLine(bars)

    def told(compiled: CompileProgress) -> None:
        line(compiled)
        if not compiled.over:
            bars.start()
        else:
            bars.stop()  # a thread that draws would be measured by whoever times what comes next

    try:
        with compiling(what, told):
            yield
    finally:
        bars.stop()


def bars_of(*more: ProgressColumn) -> Bars:
    """Bars that vanish; each has a text before it, a note after, and more columns."""
    note = TextColumn("{task.fields[note]}")
    columns = (TextColumn("{task.description}"), BarColumn(), note, TimeElapsedColumn(), *more)
    return Bars(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())


class Progress:
    """Bars on standard error for trials and for simulated time; nothing where that is no terminal.

    It is a listener of sessions; see `Session.listeners`.

    Attributes:
      compiles: told how far the compiler is; a line of its own.
    """

    def __init__(self, trials: int) -> None:
        self._bars = bars_of()
        self.compiles = CompileLine(self._bars)
        self._trials, self._done, self._won, self._seconds = trials, 0, 0, 0.0
        self._task = self._bars.add_task("", visible=False, note="")

    def __enter__(self) -> "Progress":
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self._bars.stop()

    def begin(self, seed: int, seconds: float) -> None:
        """A trial of so many simulated seconds begins."""
        self._seconds = seconds
        tally = f"{self._won} of {self._done} so far, " if self._done else ""
        what = f"trial {self._done + 1} of {self._trials}, seed {seed}" if self._trials > 1 else f"seed {seed}"
        self._bars.reset(self._task, description=tally + what, total=seconds, note="", visible=True)

    def __call__(self, session: Session, frame: Frame) -> None:
        plan = session.controller.report().plan
        note = f"{frame.time:.1f} of {self._seconds:.1f} s"
        if isinstance(plan, Plan):
            note += f" cost {plan.cost:9.0f}, {1 / frame.control_seconds:4.0f} plans/s"
        self._bars.update(self._task, completed=frame.time, note=note)

    def end(self, success: bool) -> None:
        """The trial is over."""
        self._done += 1
        self._won += success


class JobsProgress:
    """A bar on standard error for jobs that run beside each other, with the time that is left; see `Progress`.

    Attributes:
      compiles: told how far the compiler is; a line of its own.
    """

    def __init__(self, jobs: int, done: int = 0, won: int = 0, what: str = "trials") -> None:
        """Of jobs that are to be done, beside those that were done before; `what` they are is told."""
        self._bars = bars_of(TimeLeft())
        self.compiles = CompileLine(self._bars)
        self._what = what
        self._before, self._total, self._done, self._won = done, jobs + done, done, won
        self._task = self._bars.add_task("", total=self._total, completed=done, note="", share=0.0, at=0.0)
        self._show()

    def __enter__(self) -> "JobsProgress":
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self._bars.stop()

    def end(self, success: bool) -> None:
        """One more is done."""
        self._done += 1
        self._won += success
        self._show()

    def _show(self) -> None:
        task = self._bars.tasks[self._task]
        self._bars.update(
            self._task,
            description=f"{self._won} of {self._done} so far",
            completed=self._done,
            note=f"{self._done} of {self._total} {self._what}",
            share=(self._done - self._before) / (self._total - self._before),
            at=task.elapsed or 0.0,
        )


class TimeLeft(ProgressColumn):
    """The time that jobs will still take if they go on as they did: a task's fields are the share that is done of what
    there was to do, and the seconds that took (`at`)."""

    def render(self, task: Task) -> Text:
        share, at = task.fields.get("share", 0.0), task.fields.get("at", 0.0)
        return Text(time_left(share, at, task.elapsed or 0.0) if share else "")


def time_left(share: float, at: float, elapsed: float) -> str:
    """'1:02:03 left': what a rest takes whose first `share` was done after `at` s, `elapsed` s after the beginning."""
    return f"{timedelta(seconds=round(max(0.0, at / share - elapsed)))} left"


class Interrupt:
    """While entered, the first Ctrl-C only sets `seen`, so that work can end cleanly; the second raises.

    Attributes:
      seen: whether somebody has asked for the end.
    """

    def __init__(self) -> None:
        self.seen = False

    def __enter__(self) -> "Interrupt":
        self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        signal.signal(signal.SIGINT, self._before)

    def compiles(self, compiled: CompileProgress) -> None:
        """To be told how far the compiler is: nobody who wants to end waits for it.

        Raises:
          KeyboardInterrupt: somebody does.
        """
        if self.seen:
            raise KeyboardInterrupt

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        signal.signal(signal.SIGINT, self._before)
