"""Jobs: one function for many arguments, on any `Executor`, with the same results as a loop.

    with workers(jobs=4) as pool:
        run(pool, pow, [(2, 10), (3, 4)])                        # [1024, 81]
        for index, result in as_done(pool, pow, [(2, 10), (3, 4)]):
            ...                                                  # as they are finished, in whatever order

A job is a tuple of a module-level function's arguments: plain data such as recipes, seeds, arrays. As a job knows
nothing but these, what it returns depends neither on the number of workers nor on their order.
"""

import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor, Future
from typing import Any, TypeVar

WAIT = 1.0  # s between two chances for Ctrl-C, where the system does not interrupt a wait by itself

T = TypeVar("T")


def as_done(pool: Executor, function: Callable[..., T], jobs: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, T]]:
    """(index, function(*jobs[index])) of every job, once, as soon as it is finished.

    The first job that raises ends it, with what it raised. Whoever stops asking drops the jobs that were not begun.
    """
    ended = queue.SimpleQueue[Future[T]]()
    index_of: dict[Future[T], int] = {}
    try:
        for index, arguments in enumerate(jobs):
            index_of[pool.submit(function, *arguments)] = index
        for future in index_of:
            future.add_done_callback(ended.put)
        left = len(jobs)
        while left:
            try:
                future = ended.get(timeout=WAIT)
            except queue.Empty:
                continue
            if future.cancelled():
                raise CancelledError("the workers were sent home before all was done")
            left -= 1
            yield index_of.pop(future), future.result()
    finally:
        for future in index_of:
            future.cancel()


def run(
    pool: Executor,
    function: Callable[..., T],
    jobs: Sequence[tuple[Any, ...]],
    told: Callable[[int, T], None] = lambda index, result: None,
) -> list[T]:
    """[function(*arguments) for arguments in jobs], by all workers of a pool.

    Args:
      told: called here with index and result of each as soon as it is finished.
    """
    results: dict[int, T] = {}
    for index, result in as_done(pool, function, jobs):
        results[index] = result
        told(index, result)
    return [results[index] for index in range(len(jobs))]
