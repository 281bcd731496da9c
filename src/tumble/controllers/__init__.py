"""Controllers by name: planners, walkers, SIMBICON, crowds, and a relay of them.

kind = controller_kind("cpbp")
controller = kind.make(scene, kind.settings(), seed=1, threads=0)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tumble.control.controller import Controller
from tumble.controllers.relay import Relay, RelaySettings
from tumble.crowds.crowd import Crowd, DanceSettings
from tumble.errors import choose
from tumble.goals.wants import Want, parts
from tumble.planners import PLANNERS, Planned
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
    """

    make: Callable[[Scene, Any, int, int], Controller]
    controller: type[Controller]
    settings: type[Any]
    summary: str

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


CONTROLLERS: dict[str, ControllerKind] = {
    **{name: _planned(name) for name in PLANNERS},
    "walker": ControllerKind(_walker, Performer, WalkSettings, "generalized biped walking (coros2010 chapter 5)"),
    "crowd": ControllerKind(
        _crowd, Crowd, DanceSettings, "all characters of a scene dance (coros2010 section 5.5.4)"
    ),
    "simbicon": ControllerKind(
        _simbicon, Simbicon, SimbiconSettings,
        "SIMBICON: gaits with feedback on the swing hip (coros2010 section 2.4)",
    ),
    "relay": ControllerKind(
        _relay, Relay, RelaySettings, "a walker walks; who falls is got up by a planner (--rising), and walks on"
    ),
}  # fmt: skip


def controller_kind(name: str) -> ControllerKind:
    """The kind of controller of that name."""
    return choose("controller", name, CONTROLLERS)


def refusal(controller: Controller, sims: Sims, want: Want) -> str | None:
    """Why a controller cannot do what is wanted, and by their names who takes such wants; None where it can."""
    why = controller.refuses(sims, want)
    if why is None or all(isinstance(one, controller.takes) for one in parts(want)):
        return why
    able = [name for name, kind in CONTROLLERS.items() if kind.takes(want)]
    return f"{why}; controllers that take it: {', '.join(able) or 'none'}"
