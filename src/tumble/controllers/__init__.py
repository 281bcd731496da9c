"""Controllers by name: planners, walkers, SIMBICON, crowds, and a relay of them.

kind = controller_kind("cpbp")
controller = kind.make(scene, kind.settings(), seed=1, threads=0)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tumble.characters import CHARACTERS, Character, character
from tumble.control.controller import Controller
from tumble.controllers.relay import Relay, RelaySettings
from tumble.crowds.crowd import Crowd, DanceSettings
from tumble.errors import choose
from tumble.goals.wants import Want, parts
from tumble.planners import PLANNERS, Planned
from tumble.planners.playback import Playback
from tumble.simbicon.gait import builtin_gaits
from tumble.simbicon.simbicon import Simbicon
from tumble.skills.performer import Performer
from tumble.walking import Walker, WalkSettings
from tumble.world.scene import Scene
from tumble.world.sims import Sims


@dataclass(frozen=True)
class ControllerKind:
    """A controller that people can choose by name.

    Attributes:
      make: called with scene, settings, seed and threads.
      controller: what it makes.
      settings: a dataclass.
      summary: a line for people.
      suits: whether a character's body has what it needs.
      needs: what that is, in words.
    """

    make: Callable[[Scene, Any, int, int], Controller]
    controller: type[Controller]
    settings: type[Any]
    summary: str
    suits: Callable[[Character], bool] = lambda character: True
    needs: str = "a body"

    def takes(self, want: Want) -> bool:
        """Whether it can do such things for some body."""
        return all(isinstance(one, self.controller.takes) for one in parts(want))


def _planned(name: str) -> ControllerKind:
    kind = PLANNERS[name]

    def make(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
        return Planned(kind.planner(scene, settings, seed, threads))

    return ControllerKind(make, Planned, kind.settings, kind.summary)


@dataclass(frozen=True)
class SimbiconSettings:
    """Simbicon has none: all is in its gaits."""


def _walker(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    return Performer(Walker(scene, settings))


def _crowd(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    return Crowd(scene, settings, seed)


def _simbicon(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    return Simbicon(scene)


def _relay(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    rising = PLANNERS[settings.rising]
    planner = rising.planner(scene, rising.settings(), seed, threads)
    return Relay(Performer(Walker(scene)), Planned(planner), settings)


def _has_toes_and_palms(character: Character) -> bool:
    return bool(character.toes and character.palms)


def _has_gaits(character: Character) -> bool:
    return bool(builtin_gaits(character))


BONES = "a biped with toes and palms"


CONTROLLERS: dict[str, ControllerKind] = {
    **{name: _planned(name) for name in PLANNERS},
    "walker": ControllerKind(
        _walker, Performer, WalkSettings, "generalized biped walking (coros2010 chapter 5)", _has_toes_and_palms, BONES
    ),
    "crowd": ControllerKind(
        _crowd, Crowd, DanceSettings, "all characters of a scene dance (coros2010 section 5.5.4)", _has_toes_and_palms,
        BONES,
    ),
    "simbicon": ControllerKind(
        _simbicon, Simbicon, SimbiconSettings,
        "SIMBICON: gaits with feedback on the swing hip (coros2010 section 2.4)", _has_gaits,
        "a body that there are gaits for",
    ),
    "relay": ControllerKind(
        _relay, Relay, RelaySettings, "a walker walks; who falls is got up by a planner (--rising), and walks on",
        _has_toes_and_palms, BONES,
    ),
}  # fmt: skip


def unsuited(controller: str, body: Character) -> str | None:
    """Why a body does not suit a controller, and which do; None where it does."""
    kind = controller_kind(controller)
    if kind.suits(body):
        return None
    others = ", ".join(name for name in CHARACTERS if kind.suits(character(name)))
    return f"controller '{controller}' needs {kind.needs}, and '{body.name}' is none; choose: {others}"


def controller_kind(name: str) -> ControllerKind:
    """The kind of controller of that name."""
    return choose("controller", name, CONTROLLERS)


def played_back(controller: Controller, controls: np.ndarray) -> Controller:
    """A controller that does again what was done: in the place of its planner are controls (frames, size).

    Laws do again what they did by themselves.
    """
    planned = controller.rising if isinstance(controller, Relay) else controller
    if isinstance(planned, Planned):
        planned.planner = Playback(planned.planner, controls)
    return controller


def refusal(controller: Controller, sims: Sims, want: Want) -> str | None:
    """Why a controller cannot do what is wanted, and by their names who takes such wants; None where it can."""
    why = controller.refuses(sims, want)
    if why is None or all(isinstance(one, controller.takes) for one in parts(want)):
        return why
    able = [name for name, kind in CONTROLLERS.items() if kind.takes(want)]
    return f"{why}; controllers that take it: {', '.join(able) or 'none'}"
