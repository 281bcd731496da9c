"""Scenario: a scene, a goal, events, and a test of success. Its fields are its options.

    scenario = Push(force=600)
    trial = scenario.trial(scene, rng)   # start, duration and events of one seed

A scenario says nothing of who controls; `run_trial` brings the two together.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tumble.characters import Character
from tumble.controllers import CONTROLLERS, Wants
from tumble.live.commands import Command, SetGoal
from tumble.scenarios.history import History
from tumble.settings import replaced
from tumble.world.scene import Scene
from tumble.world.sims import Sims


@dataclass(frozen=True)
class Trial:
    """One go at a scenario.

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
      controller, character: names of those it is made for, unless others are chosen.
      settings: of that controller, by name, where its own defaults do not fit.
      strewn: whether every seed has a scene of its own.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    controller: ClassVar[str] = "cpbp"
    character: ClassVar[str] = "humanoid"
    settings: ClassVar[Mapping[str, float]] = {}
    strewn: ClassVar[bool] = False

    @classmethod
    def settings_for(cls, controller: str) -> Any:
        """The settings that a controller of that name begins with here."""
        usual = CONTROLLERS[controller].settings()
        return replaced(usual, cls.settings) if controller == cls.controller else usual

    def body(self, character: Character, seed: int) -> Character:
        """The body of a trial: the one that was chosen, unless the scenario is about bodies."""
        return character

    def scene(self, character: Character, seed: int = 0) -> Scene:
        """The world it happens in; the seed decides on what is in it, and where, if it is `strewn`."""
        return Scene(character)

    def wants(self) -> Wants:
        """What the character wants, until an event says otherwise."""
        return SetGoal("balance")

    @abstractmethod
    def trial(self, scene: Scene, rng: np.random.Generator) -> Trial:
        """Start, duration and events, drawn with rng."""

    def sights(self, scene: Scene) -> Mapping[str, Callable[[Sims], np.ndarray]]:
        """What the history is to look at beside the sensors; see `History`."""
        return {}

    def success(self, history: History) -> bool:
        """Whether the trial ended well."""
        return history.balanced()

    def metrics(self, history: History) -> dict[str, float]:
        """Figures of its own, by name, beside the history's."""
        return {}
