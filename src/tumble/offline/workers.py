"""Workers: processes of this machine, or somebody's Dask cluster, as an `Executor` of concurrent.futures.

    if __name__ == "__main__":                              # processes are spawned: they import this file again
        with workers(jobs=4) as pool:                       # or workers(cluster="tcp://10.0.0.5:8786")
            pool.submit(math.factorial, 20).result()        # 2432902008176640000

A job is a module-level function and its arguments, all of which travel by pickle between processes that trust each
other. What is dear to build, a model for instance, a job builds once in its process: `functools.lru_cache` on a
function of its recipe. A job may be begun again, where its worker was killed: it has no side effects but its result.

A worker has one thread for linear algebra, so that as many workers as cores are no more threads than cores. With two,
OpenBLAS adds up vectors of more than 10 000 numbers in another order (np.dot, norm), and the last bits differ.

Ctrl-C is the parent's to hear: who leaves the block by it, or by any exception, kills the workers at once, and what was
under way is lost, as a job's result is nothing before it is there. Workers end with their parent, however that ends.
"""

import os
import pickle
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import connection, get_context, parent_process
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any

from tumble.errors import UserError, check_number

DEATHS = 3  # workers that one job may take with it; as many as Dask allows by default
ONE_THREAD = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMBA")  # *_NUM_THREADS, before numpy is imported
SHOWN = 80  # characters of a job in a sentence
JOIN_SECONDS = 5.0  # that a process may take to end after it was killed


class WorkerDied(UserError):
    """A job whose workers die, each time it is tried."""


def died(function: Callable[..., Any], arguments: tuple[Any, ...], how: str, times: int = DEATHS) -> WorkerDied:
    """The sentence for a job that so many workers did not survive; `how` the last one ended."""
    job = f"{getattr(function, '__name__', function)}({', '.join(map(repr, arguments))})"
    job = job if len(job) <= SHOWN else f"{job[: SHOWN - 4]}...)"
    return WorkerDied(
        f"{job} ended its worker {times} times ({how}); try it alone, in one process, or give it more memory"
    )


@contextmanager
def workers(jobs: int = 0, cluster: str | None = None) -> Iterator[Executor]:
    """Workers for as long as they are needed: left in peace, all that was submitted is done; else it is given up.

    Args:
      jobs: processes of this machine; 0: one per core. On a cluster its workers decide.
      cluster: address of a Dask scheduler that runs already; it and its workers go on afterwards.

    Raises:
      UserError: the cluster does not answer, or cannot do jobs of this version.
    """
    check_number("jobs", jobs, 0, 1024)
    pool: LocalWorkers | Any
    if cluster is None:
        pool = LocalWorkers(int(jobs) or cores())
    else:
        from tumble.offline.cluster import ClusterWorkers

        pool = ClusterWorkers(cluster)
    try:
        yield pool
        pool.shutdown()
    finally:
        pool.give_up()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(eq=False)
class _Job:
    """What is to be called, and how often that has ended a worker."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    named: dict[str, Any]
    future: Future[Any] = field(default_factory=Future)
    deaths: int = 0


class LocalWorkers(Executor):
    """Spawned processes, each with a thread here that feeds it one job at a time.

    So the death of a worker is that of one job, which another process does again, and all others go on; a
    ProcessPoolExecutor would lose every job and itself.
    """

    def __init__(self, jobs: int) -> None:
        self._waiting, self._changed, self._over = deque[_Job](), threading.Condition(), False
        self._processes, self._given_up = set[_Process](), False
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(jobs)]
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """See `Executor.submit`; a UserError as result where the job ends its workers."""
        job = _Job(function, arguments, named)
        with self._changed:
            if self._over:
                raise RuntimeError("these workers have been sent home")
            self._waiting.append(job)
            self._changed.notify()
        return job.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """See `Executor.shutdown`."""
        with self._changed:
            self._over = True
            dropped = list(self._waiting) if cancel_futures else []
            if cancel_futures:
                self._waiting.clear()
            self._changed.notify_all()
        for job in dropped:
            job.future.cancel()
        if wait:
            for thread in self._threads:
                thread.join()

    def give_up(self) -> None:
        """Kill what is under way and drop the rest; does nothing after all is done."""
        self._given_up = True
        self.shutdown(wait=False, cancel_futures=True)
        with self._changed:
            processes = list(self._processes)
        for process in processes:
            process.kill()
        self.shutdown()

    def _serve(self) -> None:
        """Do jobs until there are no more to come, in one process after another."""
        process: _Process | None = None
        while (job := self._next()) is not None:
            if job.future.set_running_or_notify_cancel():
                process = self._do(job, process)
        if process is not None:
            self._end(process)

    def _next(self) -> _Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._over)
            return self._waiting.popleft() if self._waiting else None

    def _do(self, job: _Job, process: "_Process | None") -> "_Process | None":
        """Do a job in a process, or in a new one; which is alive after it, if any."""
        how = ""
        try:
            call = bytes(ForkingPickler.dumps((job.function, job.arguments, job.named)))
            while job.deaths < DEATHS and not self._given_up:
                process = process or self._begin()
                try:
                    answer = process.answer(call)
                except (EOFError, OSError):
                    how, process, job.deaths = self._end(process), None, job.deaths + 1
                else:
                    _hand_over(answer, job.future)
                    return process
        except Exception as error:  # the job cannot be sent, or the system has no more processes
            job.future.set_exception(error)
            return process
        given_up = CancelledError("the workers were sent home before it was done")
        job.future.set_exception(given_up if self._given_up else died(job.function, job.arguments, how))
        return process

    def _begin(self) -> "_Process":
        process = _Process()
        with self._changed:
            self._processes.add(process)
        if self._given_up:  # meanwhile
            process.kill()
        return process

    def _end(self, process: "_Process") -> str:
        with self._changed:
            self._processes.discard(process)
        return process.end()


def _hand_over(answer: bytes, future: Future[Any]) -> None:
    """Give a worker's answer to whoever waits for it."""
    try:
        fine, result = pickle.loads(answer)
    except Exception as error:  # what one process can write the other need not be able to read
        fine, result = False, error
    if fine:
        future.set_result(result)
    else:
        future.set_exception(result)


class _Process:
    """A spawned process that answers calls; see `_work`."""

    _starting = threading.Lock()  # the environment is changed for a moment

    def __init__(self) -> None:
        context = get_context("spawn")
        self._here, there = context.Pipe()
        self._process: BaseProcess = context.Process(target=_work, args=(there,), daemon=True)
        with self._starting, _one_thread(), _deaf_to_interrupts():
            self._process.start()
        there.close()  # so that the end of the process is the end of the pipe

    def answer(self, call: bytes) -> bytes:
        """What it answers; EOFError or OSError where it dies instead."""
        self._here.send_bytes(call)
        return self._here.recv_bytes()

    def kill(self) -> None:
        """From any thread; who waits for an answer then has an EOFError."""
        self._process.kill()

    def end(self) -> str:
        """Have it end where it has not; how it did, in words."""
        self._here.close()
        self._process.join(JOIN_SECONDS)
        code = self._process.exitcode
        if code is None:
            self._process.kill()
            self._process.join(JOIN_SECONDS)
            return "it hung"
        with suppress(ValueError):
            return f"by {signal.Signals(-code).name}"
        return f"with exit code {code}"


@contextmanager
def _one_thread() -> Iterator[None]:
    """What is started meanwhile has one thread for linear algebra."""
    names = [f"{name}_{'THREADS' if name.endswith('MAXIMUM') else 'NUM_THREADS'}" for name in ONE_THREAD]
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """What is started meanwhile does not hear Ctrl-C, not even while it begins; it inherits the mask of this thread."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # else it is started with the first process, and unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(pipe: connection.Connection) -> None:
    """A worker's life: answer calls until the pipe or the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None
    threading.Thread(target=lambda: (connection.wait([parent.sentinel]), os._exit(1)), daemon=True).start()
    while True:
        try:
            call = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        pipe.send_bytes(_answer(call))


def _answer(call: bytes) -> bytes:
    """(True, result) or (False, error), as bytes; an error says where in the worker it came from."""
    try:
        function, arguments, named = pickle.loads(call)
        return bytes(ForkingPickler.dumps((True, function(*arguments, **named))))
    except Exception as error:
        error.add_note(f"in a worker:\n{traceback.format_exc()}")
        try:
            answer = bytes(ForkingPickler.dumps((False, error)))
            pickle.loads(answer)  # an error that needs more than its message to be made cannot be read again
            return answer
        except Exception:
            return bytes(ForkingPickler.dumps((False, RuntimeError(traceback.format_exc()))))
