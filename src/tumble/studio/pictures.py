"""Pictures: what browsers are sent of a trial, with numbers for what they learn once.

    pictures = Pictures(trial.scene)
    shown = pictures.make(trial, director, trial.session.world.state[0], status)
    pictures.enter(other_scene)                 # from now on pictures are of that one

A browser is told the shapes of a scene, and the names of terms, when it first gets a picture with their numbers. So
both are numbered for as long as a studio runs: a scene that comes again after another has a new number, a list of terms
keeps the one that it had. Ghosts are numbered, too, and told whenever they are others than in the frame before.
"""

import numpy as np

from tumble.scenarios import Trial
from tumble.studio.audience import Shown
from tumble.studio.director import Director
from tumble.studio.ghosts import NOBODY, Ghosts, ghosts_of
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
        self._scenes = self._scenes % MOST + 1
        self.packer = Packer(scene, self._scenes)

    def make(self, trial: Trial, director: Director, state: np.ndarray, status: Status) -> Shown:
        """A state of the present scene as browsers draw it, with what is wanted and thought now.

        Args:
          trial: whose controller reports; before its first frame it has no plan and no terms.
          director: who knows what is wanted.
          state: (nstate,), a row; it is copied into data of the packer's own.
          status: of the loop.
        """
        report = trial.controller.report()
        terms = self._terms.setdefault(report.names, len(self._terms) + 1)
        wanted = (director.target, director.velocity, trial.session.drag)
        message = self.packer.pack(state, report, status, terms, *wanted)
        return Shown(message, self.packer, terms, report.names, self._see(report.ghosts))

    def _see(self, places: np.ndarray | None) -> Ghosts:
        """What a controller goes by, as figures; computed where it is another array than a frame ago."""
        if places is not self._goes_by:
            self._goes_by, self._ghosts = places, NOBODY
            if places is not None:
                self._figures += 1
                self._ghosts = ghosts_of(self.packer.scene, places, self._figures)
        return self._ghosts
