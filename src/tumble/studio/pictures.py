"""Pictures: what browsers are sent of a trial, with numbers for what they learn once.

    pictures = Pictures(trial.scene)
    shown = pictures.make(trial, director, trial.session.world.state[0], status)
    pictures.enter(other_scene)                 # from now on pictures are of that one; `make` does so by itself

A browser is told the shapes of a scene, and the names of terms, when it first gets a picture with their numbers. So
both are numbered for as long as a studio runs: a scene that comes again after another has a new number, a list of terms
keeps the one that it had. Ghosts are numbered, too, and told whenever they are others than in the frame before.
"""

import numpy as np

from tumble.scenarios import Trial
from tumble.studio.audience import Shown
from tumble.studio.director import Director
from tumble.studio.ghosts import NOBODY, Ghosts, footprints_of, ghosts_of
from tumble.studio.packet import Packer, Status
from tumble.world.scene import Scene

MOST = 65535  # scenes that the 16 bits of a packet can number; then it begins again


class Pictures:
    """Makes pictures of one trial after the other.

    Attributes:
      packer: of the present scene; one of before is set where time is turned back to it.
    """

    def __init__(self, scene: Scene) -> None:
        self._scenes = 1
        self._terms: dict[tuple[str, ...], int] = {}
        self._goes_by: np.ndarray | None = None  # what the present ghosts are of
        self._ghosts, self._figures = NOBODY, 0
        self.packer = Packer(scene, self._scenes)

    def enter(self, scene: Scene) -> None:
        """Go on with another scene, which browsers must learn."""
        self.packer = self.packer_of(scene)

    def packer_of(self, scene: Scene) -> Packer:
        """A packer of another scene, with a number of its own."""
        self._scenes = self._scenes % MOST + 1
        return Packer(scene, self._scenes)

    def terms(self, names: tuple[str, ...]) -> int:
        """The number of a list of terms."""
        return self._terms.setdefault(names, len(self._terms) + 1)

    def make(self, trial: Trial, director: Director, state: np.ndarray, status: Status) -> Shown:
        """A state of the trial's scene as browsers draw it, with what is wanted and thought now.

        Args:
          trial: whose controller reports; before its first frame it has no plan and no terms. Where its scene is
            another one by now, pictures are of that one from here on.
          director: who knows what is wanted.
          state: (nstate,), a row; it is copied into data of the packer's own.
          status: of the loop.
        """
        if trial.scene is not self.packer.scene:
            self.enter(trial.scene)
        report = trial.controller.report()
        terms = self.terms(report.names)
        wanted = (director.target, director.velocity, trial.session.drag, director.heading)
        message = self.packer.pack(state, report, status, terms, *wanted)
        return Shown(message, self.packer, terms, report.names, self._see(report.ghosts, report.marks))

    def _see(self, places: np.ndarray | None, marks: np.ndarray | None) -> Ghosts:
        """What a controller goes by, as figures, else where it will step; computed where that is another array."""
        goes_by = marks if places is None else places
        if goes_by is not self._goes_by:
            self._goes_by, self._ghosts = goes_by, NOBODY
            if goes_by is not None:
                self._figures += 1
                if places is None:
                    self._ghosts = footprints_of(goes_by, self._figures)
                else:
                    self._ghosts = ghosts_of(self.packer.scene, goes_by, self._figures)
        return self._ghosts
