"""A pool of workers that needs no processes."""

from concurrent.futures import Executor, Future


class Here(Executor):
    """Does jobs at once, in this process, and counts them."""

    def __init__(self) -> None:
        self.done = 0

    def submit(self, function, /, *arguments, **named):
        self.done += 1
        future = Future()
        future.set_result(function(*arguments, **named))
        return future
