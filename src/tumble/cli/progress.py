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
from types import FrameType, TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

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
    bars = _bars()
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


def _bars() -> Bars:
    """Bars that vanish; each has a text before it and a note after."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"), TimeElapsedColumn())
    return Bars(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())


class Progress:
    """Bars on standard error for trials and for simulated time; nothing where that is no terminal.

    It is a listener of sessions; see `Session.listeners`.

    Attributes:
      compiles: told how far the compiler is; a line of its own.
    """

    def __init__(self, trials: int) -> None:
        self._bars = _bars()
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
