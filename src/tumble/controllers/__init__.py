"""Controllers by name: planners, which want a goal, and walkers, which take wishes and scripts.

    kind = CONTROLLERS["cpbp"]
    controller = kind.make(scene, kind.settings(), seed=1, threads=0, wants=SetGoal("balance"))
    register("mine", mine, "what it does", settings=MineSettings)    # called likewise; returns a Controller

All planners are here, those of `tumble.planners.register` as well.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from tumble.control.controller import Controller
from tumble.crowds.crowd import Crowd, DanceSettings
from tumble.errors import UserError
from tumble.live.commands import Do, SetGoal, Walk
from tumble.planners import PLANNERS, Planned, PlannerEntry
from tumble.registry import Entry, Registry
from tumble.simbicon.simbicon import Simbicon
from tumble.skills.performer import Performer
from tumble.walking import Walker, WalkSettings
from tumble.world.scene import Scene

Wants: TypeAlias = SetGoal | Walk | Do


Make: TypeAlias = Callable[[Scene, Any, int, int, Wants], Controller]


@dataclass(frozen=True)
class ControllerEntry(Entry[Make]):
    """A controller that people can choose by name.

    Attributes:
      make: called with scene, settings, seed, threads and what is wanted at first.
      settings: a dataclass; an object of it is what `make` gets.
    """

    settings: type[Any]


CONTROLLERS: Registry[ControllerEntry] = Registry("controller", ControllerEntry)
register = CONTROLLERS.register


def _planned(planner: PlannerEntry) -> None:
    """Offer a planner as a controller."""

    def make(scene: Scene, settings: Any, seed: int, threads: int, wants: Wants) -> Controller:
        if not isinstance(wants, SetGoal):
            raise UserError(f"controller '{planner.name}' plans for goals, and this {_asks(wants)}; choose 'walker'")
        return Planned(planner.make(scene, settings, seed, threads), wants.build(scene))

    CONTROLLERS.add(ControllerEntry(planner.name, make, planner.summary, planner.where, planner.settings))


def _asks(wants: Wants) -> str:
    """What is wanted, in words."""
    match wants:
        case SetGoal():
            return "wants a goal"
        case Walk():
            return "is walked by wishes"
        case Do():
            return "wants a script"


def _walker(scene: Scene, settings: Any, seed: int, threads: int, wants: Wants) -> Controller:
    if isinstance(wants, SetGoal):
        raise UserError(f"controller 'walker' takes wishes, and this wants a goal; choose: {', '.join(PLANNERS)}")
    return Performer(Walker(scene, settings))


def _check_walk(name: str, wants: Wants) -> None:
    """Refuse what a controller that takes nothing but wishes cannot do."""
    if not isinstance(wants, Walk):
        others = ", ".join(PLANNERS) if isinstance(wants, SetGoal) else "walker"
        raise UserError(f"controller '{name}' takes wishes, and this {_asks(wants)}; choose: {others}")


def _crowd(scene: Scene, settings: Any, seed: int, threads: int, wants: Wants) -> Controller:
    _check_walk("crowd", wants)
    return Crowd(scene, settings, seed)


@dataclass(frozen=True)
class SimbiconSettings:
    """Simbicon has none: all is in its gaits."""


def _simbicon(scene: Scene, settings: Any, seed: int, threads: int, wants: Wants) -> Controller:
    _check_walk("simbicon", wants)
    return Simbicon(scene)


PLANNERS.follow(_planned)
register("walker", _walker, "generalized biped walking (coros2010 chapter 5)", settings=WalkSettings)
register("crowd", _crowd, "all characters of a scene dance (coros2010 section 5.5.4)", settings=DanceSettings)
register(
    "simbicon", _simbicon, "SIMBICON: gaits with feedback on the swing hip (coros2010 section 2.4)",
    settings=SimbiconSettings,
)  # fmt: skip
