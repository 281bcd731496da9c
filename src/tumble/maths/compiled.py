"""How compiled code is compiled.

    @inner
    def _pull(rows, i):
        return rows.gain * rows.places[i]

    @entry
    def pull(rows, out):
        for i in range(out.size):
            out[i] = _pull(rows, i)

    pull(Address(Rows(places, 2.0)), out)    # see `tumble.maths.bundles`

Python calls an `entry`, which is kept on disk; entries call `inner` functions, which have no wrappers for Python and
allocate nothing, so that they compile several times faster. What a scene lacks reaches them as None, and what is
behind `is not None` of an argument is then not compiled.

Traps: an inner function that is called from Python ends the process; `as_entry` makes an entry of one, for tests. An
inner function may not return an array to an entry that allocates. Division by zero gives inf or nan.
"""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile
from numba.core.types.misc import unliteral

PACKAGE = Path(__file__).parents[1]
ENTRY: dict[str, Any] = {"no_cfunc_wrapper": True, "error_model": "numpy"}
INNER: dict[str, Any] = {**ENTRY, "no_cpython_wrapper": True}


@cache
def _sources() -> str:
    """A digest of all sources' sizes and times: what a compiled entry came of, wherever its inner functions are."""
    digest = sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        found = path.stat()
        digest.update(f"{path.relative_to(PACKAGE)} {found.st_size} {found.st_mtime_ns}\n".encode())
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


def entry(function: Callable | None = None, /, *, allocates: bool = False, **options: Any) -> Any:
    """Decorator of a function that Python calls; compiled code is kept on disk until any source changes.

    Args:
      function: which.
      allocates: whether it, or what it calls, makes arrays.
      options: of numba.njit.
    """
    if function is None:
        return lambda given: entry(given, allocates=allocates, **options)
    made = numba.njit(cache=True, **ENTRY, _nrt=allocates, **options)(function)
    kept = made._cache
    # numba looks at the file of the entry alone
    kept._cache_file = IndexDataCacheFile(kept.cache_path, kept._impl.filename_base, _sources())
    return made


@cache
def as_entry(function: Any) -> Any:
    """An inner function that Python may call: for tests. The same for the same one; it is not kept on disk."""

    def call(*given: Any) -> Any:
        return function(*given)

    return numba.njit(error_model="numpy")(call)
