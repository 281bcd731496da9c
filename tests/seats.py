"""An audience of the studio's stage that is nobody: it notes what it is shown and told."""

import numpy as np

from tumble.studio.audience import Shown
from tumble.studio.packet import HEADER


class Seats:
    def __init__(self) -> None:
        self.shown: list[Shown] = []
        self.said: list[str] = []

    def show(self, shown: Shown) -> None:
        self.shown.append(shown)

    def say(self, text: str) -> None:
        self.said.append(text)

    def compiling(self, text: str) -> None: ...

    def changed(self) -> None: ...

    def head(self) -> tuple[int, int, int, int]:
        """Flags, tick, oldest, newest of what is shown."""
        _, flags, _, tick, oldest, newest, *_ = HEADER.unpack_from(self.shown[-1].message)
        return flags, tick, oldest, newest

    def poses(self, shown: Shown | None = None) -> np.ndarray:
        """Of all bodies in it."""
        message = (shown or self.shown[-1]).message
        return np.frombuffer(message, "<f4", 7 * HEADER.unpack_from(message)[16], HEADER.size).copy()
