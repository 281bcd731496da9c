"""Compiling: whoever may have to wait for the compiler is told what is compiled, and how far that is.

    with compiling("the walker", told=print):          # compiling the walker, first use: 37 of 112
        control_rows(rows)                             # an entry, see `tumble.maths.compiled`

Where all is compiled already, or kept on disk, nothing is told and nothing is looked at. A thread is told of what it
compiles itself; compilers of other threads keep it waiting all the same, as numba has one lock.

How many functions there will be is seen from the code: which compiled functions a function names, and which entries
the modules name that are calling. That is too many rather than too few, and becomes exact on the way.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, FrameType

from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.event import Event, Listener, install_listener, register

from tumble.errors import UserError


@dataclass(frozen=True)
class CompileProgress:
    """How far the compiler is; as text, one line for whoever waits.

    Attributes:
      what: is compiled, as whoever waits calls it: 'the walker'.
      name: of the function that was begun last.
      done: functions that are compiled by now, each counted once whatever the number of its signatures.
      total: all that may have to be, as far as can be seen: those that call each other from the present entry on, and
        from others that the modules of its callers name. It shrinks where a scene turns out to lack what some are for,
        and where entries are found on disk; it grows where a caller comes that was not seen before.
      over: whether the outermost function is done; another may follow.
    """

    what: str
    name: str
    done: int
    total: int
    over: bool = False

    def __str__(self) -> str:
        return f"compiling {self.what}, first use: {self.done} of {self.total}"


@dataclass
class _Listening:
    """What one `compiling` knows of its thread: functions under way, the outermost first, done and expected ones."""

    what: str
    told: Callable[[CompileProgress], None]
    at: str = ""  # the function that was begun last
    under_way: list[Dispatcher] = field(default_factory=list)
    done: set[Dispatcher] = field(default_factory=set)
    expected: set[Dispatcher] = field(default_factory=set)

    def begin(self, function: Dispatcher) -> None:
        if not self.under_way:
            self.expected |= _entries_of_callers()
        self.under_way.append(function)
        if not _of_numba(function):
            self.at = function.py_func.__name__
        self._tell()

    def end(self) -> None:
        function = self.under_way.pop()
        if not _of_numba(function):
            self.done.add(function)
        if not self.under_way:
            self._tell()

    def _tell(self) -> None:
        ahead = [*self.under_way, *(entry for entry in self.expected if not entry.overloads)]
        total = len(self.done) + len(_to_do(ahead, self.done))
        self.told(CompileProgress(self.what, self.at, len(self.done), total, not self.under_way))


_THREAD = threading.local()  # its `listening` is what the thread's innermost `compiling` knows


class _Ear(Listener):  # type: ignore[misc]
    """Hears of all compilations of the process, in the thread that compiles; it is never taken off numba's list, which
    others walk through meanwhile."""

    def on_start(self, event: Event) -> None:
        if (listening := getattr(_THREAD, "listening", None)) is not None:
            listening.begin(event.data["dispatcher"])

    def on_end(self, event: Event) -> None:
        if (listening := getattr(_THREAD, "listening", None)) is not None:
            listening.end()


register("numba:compile", _Ear())


@contextmanager
def compiling(what: str, told: Callable[[CompileProgress], None]) -> Iterator[None]:
    """Tell of everything that this thread compiles meanwhile.

    Args:
      what: is compiled, in words.
      told: called in this thread before every function, also numba's own, and when an entry is done. It may end the
        compilation: what it raises comes out of the call that compiles. That must be no Exception, which numba takes
        for types that do not fit; KeyboardInterrupt is one that passes.

    Raises:
      UserError: something does not compile; what, and numba's reason.
    """
    before = getattr(_THREAD, "listening", None)
    _THREAD.listening = listening = _Listening(what, told)
    try:
        yield
    except NumbaError as error:
        raise UserError(f"{what} cannot be compiled, at '{listening.at}': {_reason(error)}") from error
    finally:
        _THREAD.listening = before


@contextmanager
def compilations() -> Iterator[list[str]]:
    """While entered: dotted names of all that any thread compiles and does not find on disk, one after the other.

    A function is there once for every signature, and numba's own are too: for whoever counts, while one thread runs.
    """
    names: list[str] = []

    class Counter(Listener):  # type: ignore[misc]
        def on_start(self, event: Event) -> None:
            """Nothing: what a function needs is compiled before it."""

        def on_end(self, event: Event) -> None:
            function = event.data["dispatcher"].py_func
            names.append(f"{function.__module__}.{function.__name__}")

    with install_listener("numba:compile", Counter()):
        yield names


def _reason(error: NumbaError) -> str:
    """Its first line that says more than that it failed."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith("Failed in ")), lines[0] if lines else repr(error))


def _of_numba(function: Dispatcher) -> bool:
    """Whether it is numba's own: nobody knows beforehand how many of those there will be."""
    return str(function.py_func.__module__).startswith("numba.")


def _entries_of_callers() -> set[Dispatcher]:
    """Functions that Python may call next: all that the modules of who is calling now name, but for inner ones."""
    found: set[Dispatcher] = set()
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        found.update(_entries_in(frame.f_globals.get("__name__", "")))
        frame = frame.f_back
    return found


@cache
def _entries_in(module: str) -> tuple[Dispatcher, ...]:
    known = vars(sys.modules[module]).values() if module in sys.modules and module.partition(".")[0] != "numba" else ()
    functions = [one for one in known if isinstance(one, Dispatcher)]
    return tuple(one for one in functions if not one.targetoptions.get("no_cpython_wrapper"))


def _to_do(first: list[Dispatcher], done: set[Dispatcher]) -> set[Dispatcher]:
    """Some functions, those that they call and those these call, up to those that are done."""
    ahead: set[Dispatcher] = set()
    stack = [function for function in first if not _of_numba(function)]
    while stack:
        function = stack.pop()
        if function not in done and function not in ahead:
            ahead.add(function)
            stack += _called(function)
    return ahead


@cache
def _called(function: Dispatcher) -> tuple[Dispatcher, ...]:
    """Compiled functions that one names: of its module and of what it is defined in, also in what is defined in it."""
    python = function.py_func
    known = [python.__globals__.get(name) for name in _names(python.__code__)]
    known += [cell.cell_contents for cell in python.__closure__ or ()]
    return tuple(one for one in known if isinstance(one, Dispatcher) and not _of_numba(one))


def _names(code: CodeType) -> set[str]:
    within = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*within)
