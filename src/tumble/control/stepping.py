"""Steps of whoever walks: rows run until their feet strike once more, each as long as its own step takes.

    done = step(walker, sims, longest=1.2, rows=[1, 3])

A walker that steps has a law for some of the rows, and counts its steps.
"""

from functools import partial
from typing import Any, Protocol

import numpy as np

from tumble.errors import check_number
from tumble.maths.rotations import wrapped_angles
from tumble.maths.vectors import yaws
from tumble.world.drives import Drive
from tumble.world.scene import Scene
from tumble.world.sims import Sims

LONGEST = 60.0  # s that somebody may wait for a step


class StepTaker(Protocol):
    """Who steps; `Simbicon` and `Walker` do."""

    scene: Scene
    drive: Drive

    def start(self, sims: Sims) -> None:
        """Begin anew, see `Controller`."""

    def move(self, scene: Scene) -> None:
        """Go on in another scene of the same character."""

    def law(self, sims: Sims, rows: Any = slice(None)) -> np.ndarray:
        """Controls (nsim, drive.size) of one physics step, for those rows."""

    def steps(self, sims: Sims) -> np.ndarray:
        """Steps done since `start`, (nsim,), live."""

    def fallen(self, sims: Sims) -> np.ndarray:
        """(nsim,) whether anything but the feet touches the ground, or the row is broken."""


def step(walker: StepTaker, sims: Sims, longest: float = 2.0, *, rows: Any = None, upright: bool = False) -> np.ndarray:
    """Run rows until their feet strike once more; a row rests from the end of the frame of its own strike on.

    Args:
      sims: any states, with the walker's memory in them.
      longest: s after which to stop at the latest.
      rows: which; None for all. Others rest.
      upright: whether who falls rests from then on, and its step is none.

    Returns (nsim,) whether a row made its step; False for those that rested. Rows are at most a frame past their
    strikes, and no physics is spent on who is done.
    """
    check_number("longest", longest, 0.0, LONGEST, above=True)
    goal, done = walker.steps(sims) + 1, np.zeros(sims.nsim, bool)
    stepping = np.unique(np.arange(sims.nsim)[slice(None) if rows is None else rows])
    for _ in range(int(np.ceil(longest / walker.scene.dt))):
        sims.act(partial(walker.law, rows=stepping), walker.drive, stepping)
        done[stepping] = walker.steps(sims)[stepping] >= goal[stepping]
        over = done[stepping]
        if upright:
            fell = walker.fallen(sims)[stepping]
            done[stepping[fell]] = False
            over |= fell
        stepping = stepping[~over]
        if not stepping.size:
            break
    return done


def frames(sims: Sims, wanted: np.ndarray, most: float) -> np.ndarray:
    """(nsim,) rad: the wanted headings, at most so far ahead of where the roots face."""
    nose = yaws(sims.view("xquat")[:, sims.scene.body(sims.scene.character.root)])
    ahead = wanted - nose
    return nose + np.clip(wrapped_angles(ahead), -most, most)
