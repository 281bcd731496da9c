"""Reloading: a user's own file that is played in the studio is loaded again whenever it is saved.

with Reloading(Path("mine.py"), stage, hub.say):
    ...                                  # serve
"""

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from tumble.errors import UserError
from tumble.studio.stage import Stage
from tumble.userfile import reload

LOOKS = 0.5  # s from one look at the file to the next


class Reloading:
    """Begins the show again with a file that was saved; of one that fails the sentence is told, and the show goes on.

    Looking happens in a thread of its own, loading in the stage's, between two frames.
    """

    def __init__(self, path: Path, stage: Stage, say: Callable[[str], None], looks: float = LOOKS) -> None:
        self._path, self._stage, self._say, self._looks = path, stage, say, looks
        self._seen = self._stamp()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"watches {path.name}", daemon=True)

    def __enter__(self) -> "Reloading":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self._closing.set()
        self._thread.join()

    def _stamp(self) -> tuple[int, int] | None:
        """When the file was written and how long it is; None while an editor has it away."""
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    def _run(self) -> None:
        while not self._closing.wait(self._looks):
            stamp = self._stamp()
            if stamp is not None and stamp != self._seen:
                self._seen = stamp
                self._stage.post(self._load)

    def _load(self) -> None:
        try:
            reload(self._path)
            self._stage.choose(self._stage.choice)
        except UserError as error:
            self._say(f"{error}; the last good version goes on")
        else:
            self._say(f"{self._path.name} was loaded again")
