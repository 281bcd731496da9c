"""Compiling: who waits for it is told how far it is, can end it, hears why it fails, and keeps a sound cache."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from tumble.errors import UserError
from tumble.maths.compiled import as_entry, inner
from tumble.maths.compiling import CompileProgress, compiling

# a module of its own, so that it has a cache of its own
SOURCE = """
import os, signal
import numpy as np
from numba.core.caching import IndexDataCacheFile
from tumble.maths.compiled import entry, inner
from tumble.maths.compiling import compiling

if os.environ["KILLED"]:
    setattr(IndexDataCacheFile, os.environ["KILLED"], lambda *given: os.kill(os.getpid(), signal.SIGKILL))

@inner
def double(x):
    return GAIN * x

@inner
def spare(x):
    return x - 1.0

@inner
def maybe(x, hint):
    return spare(x) if hint is not None else x

@inner
def fourfold(x):
    return double(double(x))

@entry
def all_of(xs, hint):
    for i in range(xs.size):
        xs[i] = maybe(fourfold(xs[i]), hint)

if __name__ == "__main__":
    with compiling("the sum", lambda told: print(told, flush=True)):
        xs = np.ones(3)
        all_of(xs, None)
        print(xs.sum(), flush=True)
"""


def run(folder, *, gain: float = 2.0, killed: str = "") -> list[str]:
    """What a process prints that compiles the module, or loads it from the folder's cache.

    Args:
      killed: method of numba's cache at which it is.
    """
    source = SOURCE.replace("GAIN", str(gain))
    path = folder / "summed.py"
    if not path.exists() or path.read_text() != source:  # its date counts
        path.write_text(source)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache"), "KILLED": killed}
    command = [sys.executable, "summed.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.stdout.splitlines()


def test_it_is_told_function_by_function_and_nothing_once_all_is_on_disk(tmp_path):
    told = run(tmp_path)
    assert told[0] == "compiling the sum, first use: 0 of 5"  # the entry, and the four that it may need
    assert told[-2] == "compiling the sum, first use: 4 of 4"  # without a hint, nothing is spared
    assert told[-1] == "12.0"
    assert run(tmp_path) == ["12.0"]


def functions():
    """Two inner functions and who calls them, new ones every time."""

    @inner
    def leaf(x):
        return x + 1.0

    @inner
    def middle(x):
        return 2.0 * leaf(x)

    return as_entry(middle)


def test_progress_has_names_and_counts():
    told = []
    with compiling("it", told.append):
        assert functions()(1.0) == 4.0
    names = ["call", "middle", "leaf"]  # as they are begun: a function is done after those that it calls
    assert told == [*(CompileProgress("it", name, 0, 3) for name in names), CompileProgress("it", "leaf", 3, 3, True)]


def test_other_threads_and_what_comes_after_are_not_told():
    told = []
    with compiling("it", told.append):
        thread = threading.Thread(target=lambda: functions()(1.0))
        thread.start()
        thread.join()
    functions()(1.0)
    assert told == []


def test_the_innermost_is_told():
    outer, within = [], []
    with compiling("outer", outer.append):
        with compiling("within", within.append):
            functions()(1.0)
        assert not outer and {one.what for one in within} == {"within"}
        functions()(1.0)
    assert {one.what for one in outer} == {"outer"}


def test_whoever_is_told_may_end_it_and_it_can_be_compiled_later():
    function = functions()

    def told(progress):
        if progress.name == "leaf":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), compiling("it", told):
        function(1.0)
    assert function(1.0) == 4.0


def test_what_does_not_compile_is_one_sentence():
    @inner
    def wrong(x):
        return x + "one"

    message = "^the sum cannot be compiled, at 'wrong': No implementation of function .*add.* found for signature:$"
    with pytest.raises(UserError, match=message), compiling("the sum", lambda told: None):
        as_entry(wrong)(1.0)


def test_other_sources_are_compiled_again(tmp_path):
    assert run(tmp_path)[-1] == "12.0"
    assert run(tmp_path, gain=3.0)[-1] == "27.0"
    assert run(tmp_path, gain=3.0) == ["27.0"]


@pytest.mark.parametrize("when", ["_save_index", "_save_data"])
@pytest.mark.parametrize("older", [False, True], ids=["first", "over older code"])
def test_who_is_killed_while_writing_leaves_nothing_that_is_wrong(tmp_path, when, older):
    if older:
        assert run(tmp_path, gain=3.0)[-1] == "27.0"
    killed = run(tmp_path, killed=when)
    assert killed[-1].startswith("compiling the sum")  # it died before it had a result
    assert run(tmp_path)[-1] == "12.0"
    assert run(tmp_path) == ["12.0"]


@pytest.mark.slow
def test_a_walker_killed_at_any_time_is_compiled_anew(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "tumble", "run", "steer-walk", "--seconds", "0.5", "--json"]
    for seconds in np.linspace(2.0, 14.0, 5):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)
        process.kill()
        process.wait()
    outputs = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)]
    assert outputs[1].stderr == ""
