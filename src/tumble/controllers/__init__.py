"""Controllers by name: planners, walkers, SIMBICON, crowds, trees, policies, planned steps, and a relay of them.

kind = CONTROLLERS["cpbp"]
controller = kind.make(scene, kind.settings(), seed=1, threads=0)
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tumble.attraction.attracted import ACTS, Attracted
from tumble.attraction.inquiry import AttractionSettings
from tumble.characters import CHARACTERS, Character, character
from tumble.control.controller import Controller
from tumble.controllers.relay import Relay, RelaySettings
from tumble.crowds.crowd import Crowd, DanceSettings
from tumble.goals.wants import Do, Want, lines_of, part, parts
from tumble.planners import PLANNERS, Planned, PlannerEntry
from tumble.planners.playback import Playback
from tumble.registry import Entry, Registry
from tumble.simbicon.simbicon import Simbicon, SimbiconSettings
from tumble.skills.performer import Performer
from tumble.stepping.placer import Placer, PlaceSettings
from tumble.stepping.stepper import Stepper, StepperSettings
from tumble.tasks.tasked import Tasked, TaskSettings
from tumble.walking import Walker, WalkSettings
from tumble.walking.body import NEEDS
from tumble.world.scene import Scene
from tumble.world.sims import Sims

Make: TypeAlias = Callable[[Scene, Any, int, int], Controller]


@dataclass(frozen=True)
class ControllerEntry(Entry[Make]):
    """A controller that people can choose by name.

    Attributes:
      make: called with scene, settings, seed and threads.
      settings: a dataclass; an object of it is what `make` gets.
      controller: what it makes, whose `takes` says what it can do.
      needs: capabilities that a body must have.
      other: capabilities that do as well.
      acts: all that its scripts can say, where that is a list of words.
      cites: what 'tumble cite' prints: keys of references that ship, or whole BibTeX entries.
    """

    settings: type[Any]
    controller: type[Controller]
    needs: tuple[str, ...] = ()
    other: tuple[str, ...] | None = None
    acts: Collection[str] = ()
    cites: tuple[str, ...] = ()

    def suits(self, body: Character) -> bool:
        """Whether a body has what it needs."""
        return any(set(needs) <= body.capabilities for needs in self.ways)

    @property
    def ways(self) -> list[tuple[str, ...]]:
        """Sets of capabilities, of which a body must have one."""
        return [self.needs] if self.other is None else [self.needs, self.other]

    def takes(self, want: Want) -> bool:
        """Whether it can do such things for some body."""
        do = part(want, Do)
        spoken = not self.acts or do is None or {act.lower() for _, act in lines_of(do.script)} <= set(self.acts)
        return spoken and all(isinstance(one, self.controller.takes) for one in parts(want))


CONTROLLERS: Registry[ControllerEntry] = Registry("controller", ControllerEntry)
register = CONTROLLERS.register


def _planned(planner: PlannerEntry) -> None:
    """Offer a planner as a controller."""

    def make(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
        return Planned(planner.make(scene, settings, seed, threads))

    who = planner.name, make, planner.summary, planner.where
    CONTROLLERS.add(ControllerEntry(*who, settings=planner.settings, controller=Planned, cites=planner.cites))


def _walker(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    return Performer(Walker(scene, settings))


def _crowd(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    return Crowd(scene, settings, seed)


def _simbicon(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    return Simbicon(scene)


def _tree(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    return Attracted(scene, settings, seed, threads)


def _task(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    return Tasked(scene, settings)


def _stones(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    return Stepper(scene, settings, seed)


def _placer(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    return Placer(scene, settings)


def _relay(scene: Scene, settings: Any, seed: int, threads: int) -> Controller:
    rising = CONTROLLERS[settings.rising]
    return Relay(Performer(Walker(scene)), rising.make(scene, rising.settings(), seed, threads), settings)


WALKING = ("coros2010", "coros2010walking")  # what those who walk cite
PLANNERS.follow(_planned)
register(
    "walker", _walker, "generalized biped walking (coros2010 chapter 5)",
    settings=WalkSettings, controller=Performer, needs=NEEDS, cites=WALKING,
)  # fmt: skip
register(
    "crowd", _crowd, "all characters of a scene dance (coros2010 section 5.5.4)",
    settings=DanceSettings, controller=Crowd, needs=NEEDS, cites=WALKING,
)  # fmt: skip
register(
    "simbicon", _simbicon, "SIMBICON: gaits with feedback on the swing hip (coros2010 section 2.4)",
    settings=SimbiconSettings, controller=Simbicon, needs=("steps",), cites=("yin2007", "coros2010"),
)  # fmt: skip
register(
    "tree", _tree, "attraction trees: gets up from almost anywhere, skills grown offline (alborno2016)",
    settings=AttractionSettings, controller=Attracted, needs=("biped", "pd"), acts=ACTS,
    cites=("alborno2016",),
)  # fmt: skip
register(
    "task", _task, "policies over steps: to lines, points and headings, one decision a step (coros2010 chapter 4)",
    settings=TaskSettings, controller=Tasked, needs=("steps",), other=NEEDS,
    cites=("coros2010", "coros2009"),
)  # fmt: skip
register(
    "stones", _stones, "plans its steps across gaps and onto stones, at every strike (coros2010 chapter 3)",
    settings=StepperSettings, controller=Stepper, needs=("steps",), cites=("coros2010", "coros2008"),
)  # fmt: skip
register(
    "placer", _placer, "a walker from stone to stone, anywhere in space (beyond coros2010 3.7)",
    settings=PlaceSettings, controller=Placer, needs=NEEDS, cites=WALKING,
)  # fmt: skip
register(
    "relay", _relay, "a walker walks; who falls is got up by another (--rising), and walks on",
    settings=RelaySettings, controller=Relay, needs=NEEDS, cites=WALKING,
)  # fmt: skip


def unsuited(controller: str, body: Character) -> str | None:
    """Why a body does not suit a controller, and which do; None where it does."""
    entry = CONTROLLERS[controller]
    if entry.suits(body):
        return None
    lacks = ", or ".join(", ".join(word for word in way if word not in body.capabilities) for way in entry.ways)
    others = ", ".join(name for name in CHARACTERS if entry.suits(character(name)))
    return f"controller '{controller}' needs a body with: {lacks}; '{body.name}' has none, choose: {others}"


def played_back(controller: Controller, controls: np.ndarray) -> Controller:
    """A controller that does again what was done: in the place of its planner are controls (frames, size).

    Laws do again what they did by themselves.
    """
    planned = controller.rising if isinstance(controller, Relay) else controller
    if isinstance(planned, Attracted):
        planned.play(controls)
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
