"""Scenario: a world, a want, events, and a test of success. Its fields are its options.

    scenario = Pushed(force=600)
    setup = scenario.setup(scene, rng)   # start, duration and events of one seed

A scenario does not say who controls, it suggests some: the same push is put to a planner and to a walker. `Trial`
brings the two together.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tumble.characters import Character, character
from tumble.controllers import CONTROLLERS
from tumble.goals.wants import Balance, Want
from tumble.live.commands import Command
from tumble.scenarios.history import History
from tumble.settings import replaced
from tumble.world.scene import Scene
from tumble.world.sims import Sims

PLANNING = ("cpbp", "pf-mpc", "smc", "mcts", "ps", "cem", "mppi")  # controllers that plan, the usual one first


@dataclass(frozen=True)
class Setup:
    """How one trial of a scenario goes.

    Attributes:
      state: where it starts.
      seconds: how long it takes; judged at the end.
      events: (seconds, command), in order of time.
      respond: asked with the history between all frames; what it returns is applied before the next. It sees the
        history and nothing else, so that whoever goes on from another moment gets the right answers: what is left to
        chance is drawn before, or from a seed that is. A replay does not ask: the commands are in the recording.
    """

    state: np.ndarray
    seconds: float
    events: Sequence[tuple[float, Command]] = ()
    respond: Callable[[History], Sequence[Command]] | None = None


class Scenario(ABC):
    """What happens to a character, what it wants, and when it has done well.

    Attributes:
      controllers: names of those it suggests; the first is taken where nobody says otherwise.
      characters: names of bodies it suggests; the first that suits the controller is taken.
      settings: by the name of a controller, settings where its own defaults do not fit.
      strewn: whether every seed has a scene of its own.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    controllers: ClassVar[tuple[str, ...]] = (*PLANNING, "walker", "relay")
    characters: ClassVar[tuple[str, ...]] = ("humanoid", "biped")
    settings: ClassVar[Mapping[str, Mapping[str, float]]] = {}
    strewn: ClassVar[bool] = False

    @classmethod
    def settings_for(cls, controller: str) -> Any:
        """The settings that a controller of that name begins with here."""
        return replaced(CONTROLLERS[controller].settings(), cls.settings.get(controller, {}))

    @classmethod
    def body_for(cls, controller: str) -> str:
        """Name of the first suggested character that suits a controller; the first, where none does."""
        suits = CONTROLLERS[controller].suits
        return next((name for name in cls.characters if suits(character(name))), cls.characters[0])

    def suited(self) -> tuple[str, ...]:
        """Names of the controllers it suggests that take what it wants and suit a body it suggests, in their order."""
        bodies, want = [character(name) for name in self.characters], self.wants()
        kinds = [(name, CONTROLLERS[name]) for name in self.controllers]
        return tuple(name for name, kind in kinds if kind.takes(want) and any(map(kind.suits, bodies)))

    def body(self, character: Character, seed: int) -> Character:
        """The body of a trial: the one that was chosen, unless the scenario is about bodies."""
        return character

    def scene(self, character: Character, seed: int = 0) -> Scene:
        """The world it happens in; the seed decides on what is in it, and where, if it is `strewn`."""
        return Scene(character)

    def wants(self) -> Want:
        """What the character wants, until an event says otherwise."""
        return Balance()

    def notes(self, settings: Any) -> Sequence[str]:
        """Sentences for people before a trial: what a controller with these settings was not made for, but may try."""
        return ()

    @abstractmethod
    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        """Start, duration and events, drawn with rng."""

    def sights(self, scene: Scene) -> Mapping[str, Callable[[Sims], np.ndarray]]:
        """What the history is to look at beside the sensors; see `History`."""
        return {}

    def success(self, history: History) -> bool:
        """Whether the trial ended well."""
        return history.balanced()

    def verdict(self, history: History) -> str:
        """How it went, in a sentence, once that is settled; '' before. A trial ends then, and the studio says it."""
        return ""

    def metrics(self, history: History) -> dict[str, float]:
        """Figures of its own, by name, beside the history's."""
        return {}
