"""Audience: what a stage tells those who watch it.

`Hub` is the one that serves browsers; tests have one that notes everything.
"""

from dataclasses import dataclass
from typing import Protocol

from tumble.studio.ghosts import NOBODY, Ghosts
from tumble.studio.packet import Packer


@dataclass(frozen=True)
class Shown:
    """A message for browsers, and what they need to read it.

    Attributes:
      message: a packet, see `tumble.studio.packet`.
      packer: who made it; its number and description are those of the scene.
      terms, names: number of the list of charted terms, and that list.
      ghosts: that are drawn beside it.
      beside: a second picture, which is drawn next to it; None where there is none.
    """

    message: bytes
    packer: Packer
    terms: int
    names: tuple[str, ...]
    ghosts: Ghosts = NOBODY
    beside: "Shown | None" = None


class Audience(Protocol):
    """Who watches a stage. Called in the stage's thread: hand over and return.

    `compiling` and `say` are called in the thread that compiles beside the show as well.
    """

    def show(self, shown: Shown) -> None:
        """A frame to draw."""

    def say(self, text: str) -> None:
        """Something worth telling people."""

    def compiling(self, text: str) -> None:
        """What is compiled and how far that is, '37 of 112'; '' when it is done."""

    def changed(self) -> None:
        """Something that panels show is no longer what it was."""
