"""How compiled code is compiled. `tumble.maths.compiling` tells how far that is.

    @inner
    def _pull(rows, i):
        return rows.gain * rows.places[i]

    @entry
    def pull(rows, out):
        for i in range(out.size):
            out[i] = _pull(rows, i)

    pull(Address(Rows(places, 2.0)), out)    # see `tumble.maths.bundles`

    @entry
    def add_up(table: Given2, share: float, out: Made1) -> None:
        for i in range(table.shape[0]):
            out[i] = share * table[i].sum()

Python calls an `entry`, which is kept on disk; entries call `inner` functions, which have no wrappers for Python and
allocate nothing, so that they compile several times faster. What a scene lacks reaches them as None, and what is
behind `is not None` of an argument is then not compiled.

An entry whose parameters all have types is compiled once, for these, at its first call: arrays may have any strides
and may be read-only where they are given. One without types is compiled anew for arrays of another layout: for loops
that must become vector instructions, over arrays that are always contiguous.

Traps: an inner function that is called from Python ends the process; `as_entry` makes an entry of one, for tests. An
inner function may not return an array to an entry that allocates. Division by zero gives inf or nan. With types, a
float that is given for an int is cut off.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, overload

import numba
import numpy as np
from numba.core import types
from numba.core.caching import IndexDataCacheFile
from numba.core.types.misc import unliteral

PACKAGE = Path(__file__).parents[1]
ENTRY: dict[str, Any] = {"no_cfunc_wrapper": True, "error_model": "numpy"}
INNER: dict[str, Any] = {**ENTRY, "no_cpython_wrapper": True}

# Parameters of entries: arrays of so many axes, of any strides. Given ones are read, made ones are written.
Given1 = Annotated[np.ndarray, types.Array(types.float64, 1, "A", readonly=True)]
Given2 = Annotated[np.ndarray, types.Array(types.float64, 2, "A", readonly=True)]
Given3 = Annotated[np.ndarray, types.Array(types.float64, 3, "A", readonly=True)]
Made1 = Annotated[np.ndarray, types.Array(types.float64, 1, "A")]
Made2 = Annotated[np.ndarray, types.Array(types.float64, 2, "A")]
Made3 = Annotated[np.ndarray, types.Array(types.float64, 3, "A")]
MadeSingle2 = Annotated[np.ndarray, types.Array(types.float32, 2, "A")]
Places1 = Annotated[np.ndarray, types.Array(types.intp, 1, "A", readonly=True)]  # indices
MadePlaces1 = Annotated[np.ndarray, types.Array(types.intp, 1, "A")]
Places2 = Annotated[np.ndarray, types.Array(types.intp, 2, "A", readonly=True)]
Flags1 = Annotated[np.ndarray, types.Array(types.boolean, 1, "A", readonly=True)]
SCALARS = {float: types.float64, int: types.int64, bool: types.boolean}


class _Kept(IndexDataCacheFile):  # type: ignore[misc]
    """Compiled code on disk that says of itself what it is.

    Numba writes the index, which names a file by a number, before that file. Who is killed in between, and two
    processes that compile at once, leave an index that names other code: of older sources, or of other types. Such
    code is taken for none, and compiled again.
    """

    def save(self, key: Any, data: Any) -> None:
        with suppress(OSError):  # a full disk costs the next process a compilation, not this one what it compiled
            super().save(key, (self._source_stamp, key, data))

    def load(self, key: Any) -> Any:
        stamp, of, data = super().load(key) or (None, None, None)
        return data if (stamp, of) == (self._source_stamp, key) else None


@cache
def _sources() -> str:
    """The stamp of this package, taken once a process."""
    return stamp_of(PACKAGE)


def stamp_of(package: Path) -> str:
    """A digest of all sources' sizes and times: what a compiled entry came of, wherever its inner functions are."""
    digest = sha256()
    for path in sorted(package.rglob("*.py")):
        found = path.stat()
        digest.update(f"{path.relative_to(package)} {found.st_size} {found.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def inner(function: Callable | None = None, /, *, allocates: bool = False, **options: Any) -> Any:
    """Decorator of a function that only compiled code calls.

    Args:
      function: which.
      allocates: whether it makes arrays; it then counts references, as whoever calls it must.
      options: of numba.njit.
    """
    if function is None:
        return lambda given: inner(given, allocates=allocates, **options)
    return _plain(numba.njit(**INNER, _nrt=allocates, **options)(function))


def _plain(made: Any) -> Any:
    """Have a constant be a number like any other where it is handed on: else all is compiled for each value of it."""
    template = made.get_call_template
    made.get_call_template = lambda given, named: template(
        tuple(unliteral(kind) for kind in given), {name: unliteral(kind) for name, kind in named.items()}
    )
    return made


@overload
def entry(function: Callable, /, *, allocates: bool = False, **options: Any) -> Any: ...
@overload
def entry(*, allocates: bool = False, **options: Any) -> Callable[[Callable], Any]: ...
def entry(function: Callable | None = None, /, *, allocates: bool = False, **options: Any) -> Any:
    """Decorator of a function that Python calls; compiled code is kept on disk until any source changes.

    Sources are all of the package's that compile anything, and the entry's own file where it is a user's. Inner
    functions that a user's file imports from another one are not looked at.

    Args:
      function: which.
      allocates: whether it, or what it calls, makes arrays.
      options: of numba.njit.
    """
    if function is None:
        return lambda given: entry(given, allocates=allocates, **options)
    made = numba.njit(cache=True, **ENTRY, _nrt=allocates, **options)(function)
    kept = made._cache
    ours = Path(function.__code__.co_filename).is_relative_to(PACKAGE)
    # numba looks at the file of the entry alone, by its date: for a user's own that goes as well
    stamp = (_sources(), None if ours else kept._impl.locator.get_source_stamp())
    kept._cache_file = _Kept(kept.cache_path, kept._impl.filename_base, stamp)
    kinds = [_kind(parameter.annotation) for parameter in signature(function).parameters.values()]
    if all(kind is not None for kind in kinds):
        made._compile_for_args = lambda *given, **named: _compiled_once(made, tuple(kinds))
    return made


def _kind(annotation: Any) -> Any:
    """What compiled code takes a parameter for, by its type; None where it has none."""
    metadata = getattr(annotation, "__metadata__", None)
    return metadata[0] if metadata else SCALARS.get(annotation)


def _compiled_once(made: Any, kinds: tuple[Any, ...]) -> Any:
    """Compile an entry for its types, and never for others; what Python is to call."""
    compiled = made.compile(kinds)
    made.disable_compile()
    return compiled


@cache
def as_entry(function: Any) -> Any:
    """An inner function that Python may call: for tests. The same for the same one; it is not kept on disk."""

    def call(*given: Any) -> Any:
        return function(*given)

    return numba.njit(error_model="numpy")(call)
