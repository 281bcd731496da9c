"""Somebody's Dask cluster as workers: `pip install tumble[cluster]`, on all its machines.

    dask scheduler --host 10.0.0.5                                        # on one machine
    dask worker tcp://10.0.0.5:8786 --nworkers 8 --nthreads 1             # on each
    with workers(cluster="tcp://10.0.0.5:8786") as pool: ...              # anywhere

The cluster is not ours: it is never shut down, and of its work only our own is given up. It does a job again whose
worker died, and so do we count on it. One job at a time is done in a process, whatever the number of its threads, as
what is simulated there is for one thread. Whoever can reach a Dask scheduler can have anything executed by it and its
workers: keep it in a network that you trust.
"""

import re
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from functools import partial
from typing import Any, TypeVar

from tumble.errors import UserError
from tumble.offline.versions import versions
from tumble.offline.workers import died

ANSWER_SECONDS = 10.0  # that a scheduler may take to answer, or to have a worker
ADDRESS = re.compile(r"((tcp|tls|ws|wss)://)?([^\s/:\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}")
QUIET = ("distributed", "distributed.client", "distributed.core", "tornado", "tornado.application", "asyncio")

T = TypeVar("T")
_alone = threading.Lock()  # of a worker process


class ClusterWorkers(Executor):
    """The workers of a Dask scheduler.

    Raises:
      UserError: it does not answer within `ANSWER_SECONDS`, has no workers, or they have other versions of what decides
        about results.
    """

    def __init__(self, address: str) -> None:
        if not ADDRESS.fullmatch(address):
            raise UserError(f"a cluster's address is HOST:PORT or tcp://HOST:PORT, got '{address}'")
        self.address, self._under_way = address, set[Future[Any]]()
        distributed = _distributed()
        self._killed_worker = distributed.KilledWorker
        try:
            connect = partial(distributed.Client, address, timeout=ANSWER_SECONDS, set_as_default=False)
            self._client = _within(ANSWER_SECONDS + 1.0, connect)
        except (OSError, ValueError):  # ValueError: something answers, but otherwise than Dask does
            raise UserError(
                f"no Dask scheduler answers at {address} within {ANSWER_SECONDS:g} s;"
                f" start one with 'dask scheduler', and workers with 'dask worker {address} --nthreads 1'"
            ) from None
        try:
            self._check()
        except BaseException:
            self._client.close()
            raise

    def _check(self) -> None:
        """Refuse a cluster without workers, and workers who would come to other results."""
        try:
            self._client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        except TimeoutError:
            raise UserError(
                f"the Dask scheduler at {self.address} has no workers;"
                f" start some: dask worker {self.address} --nworkers 2 --nthreads 1"
            ) from None
        try:
            found = _within(ANSWER_SECONDS, partial(self._client.run, versions))
        except TimeoutError:
            raise UserError(
                f"workers of the cluster at {self.address} do not answer within {ANSWER_SECONDS:g} s"
            ) from None
        except ModuleNotFoundError as error:
            raise UserError(
                f"workers of the cluster at {self.address} lack {error.name}; install the same tumble there as here"
            ) from None
        for worker, there in found.items():
            for name, ours in versions().items():
                if there.get(name) != ours:
                    raise UserError(
                        f"the worker {worker} has {name} {there.get(name)}, here it is {ours};"
                        " results would differ: install the same there, and start it again"
                    )

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """See `Executor.submit`; a UserError as result where the job ends its workers, or the scheduler is gone."""
        theirs = self._client.submit(do_alone, function, arguments, named, pure=False)
        ours = Future[Any]()
        self._under_way.add(ours)

        def given_up(ours: Future[Any]) -> None:
            self._under_way.discard(ours)
            if ours.cancelled():
                theirs.cancel()

        def ended(theirs: Any) -> None:
            if not ours.set_running_or_notify_cancel():
                return
            try:
                ours.set_result(theirs.result())
            except self._killed_worker as error:
                last, times = error.last_worker.address, error.allowed_failures + 1
                ours.set_exception(died(function, arguments, f"the last one at {last}", times))
            except CancelledError:
                ours.set_exception(UserError(f"the Dask scheduler at {self.address} went away before all was done"))
            except BaseException as error:
                ours.set_exception(error)

        ours.add_done_callback(given_up)
        theirs.add_done_callback(ended)
        return ours

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for our jobs, or give them up, and let go of the cluster, which goes on."""
        if not wait or cancel_futures:
            return self.give_up()
        for future in list(self._under_way):
            future.exception()
        self._client.close()

    def give_up(self) -> None:
        """Drop our jobs that are not done and let go of the cluster, which goes on; does nothing after all is done."""
        for future in list(self._under_way):
            future.cancel()
        self._client.close()


def _within(seconds: float, call: Callable[[], T]) -> T:
    """What a call returns, or TimeoutError: Dask waits for ever for what takes its connection and says nothing.

    The call then goes on in a thread that ends with the process.
    """
    future = Future[T]()

    def wait() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=wait, daemon=True).start()
    return future.result(seconds)


def _distributed() -> Any:
    """Dask's module, as quiet as one can have it: workers that come and go are no news here."""
    try:
        import dask.config

        with dask.config.set(logging=dict.fromkeys(QUIET, "critical")):
            import distributed
    except ImportError:
        raise UserError("a cluster needs Dask: pip install 'tumble[cluster]'") from None
    return distributed


def do_alone(function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Call a function in a worker, one at a time in a process."""
    with _alone:
        return function(*arguments, **named)
