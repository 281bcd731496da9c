"""What attraction trees do: getting up from anywhere, facing right, and skills that bear pushes (alborno2016).

    trial = Trial(GetUpTree(alpha=6.0, strategy=1), seed=3, controller="tree")
    run_trial(trial).success

All happen to `humanoid25`, whose joints have 150 N m whoever controls. Success is to stand, or crouch, in the end,
facing right.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from tumble.attraction.attracted import ACTS, acts_of
from tumble.attraction.inquiry import AttractionSettings
from tumble.attraction.shipped import beyond
from tumble.attraction.systems import system_named
from tumble.attraction.upright import BODY, FACING, PUSH, UprightSystem
from tumble.errors import UserError, check_number
from tumble.goals.wants import Balance, Do, Want
from tumble.live.commands import Push
from tumble.maths.vectors import yaws
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.world.scene import Scene
from tumble.world.sims import Sims

LATER = 3.0  # s after a skill, when it is judged: two of standing, and what asking takes


class _Facing(Scenario):
    """Scenarios in which it shall stand in the end, facing along x."""

    controllers: ClassVar[tuple[str, ...]] = ("tree",)
    characters: ClassVar[tuple[str, ...]] = ("humanoid25",)

    def sights(self, scene: Scene) -> Mapping[str, Callable[[Sims], np.ndarray]]:
        return {"facing": lambda sims: yaws(sims.view("qpos")[:1, 3:7])}

    def success(self, history: History) -> bool:
        """Balanced, and within 15 degrees of facing along x."""
        return history.balanced() and abs(_last_facing(history)) < FACING

    def metrics(self, history: History) -> dict[str, float]:
        """Degrees that it faces away from x in the end, and s until it stood first."""
        return {
            "facing_degrees": math.degrees(_last_facing(history)),
            "up_seconds": history.until(history.stands),
        }


def _last_facing(history: History) -> float:
    """rad that the root faced from x when it was last looked at; pi where nobody looked."""
    seen = history.seen("facing")
    return float(seen[-1, 0]) if seen.size else math.pi


@dataclass(frozen=True)
class GetUpTree(_Facing):
    """Lie in a pose drawn around that of a strategy; get up and face along x.

    alpha says how far around: joints by alpha over a mass, the root alpha / 10 of the way to a random orientation
    (section 4.3), dropped from 5 cm and left for a second.
    """

    alpha: float = 6.0
    """Size of the domain that the state is drawn from: at 10 it lies anyhow."""
    strategy: Literal[1, 2, 3] = 1
    """Around which first pose: 1 on the face, 2 on the back, 3 on the back with the knees drawn up."""
    until: float = 12.0
    """When it is judged, s."""

    name: ClassVar[str] = "getup-tree"
    summary: ClassVar[str] = "get up from states around a pose (--alpha A --strategy 1|2|3), facing along x"
    controllers: ClassVar[tuple[str, ...]] = ("tree", "smc", "cpbp")

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, 0.0, 20.0)
        check_number("until", self.until, 1.0, 600.0)

    def wants(self) -> Want:
        return Balance(facing=(1.0, 0.0))

    def notes(self, settings: Any) -> Sequence[str]:
        """Where no tree was grown for such an alpha."""
        return _notes(f"getup-{self.strategy}", self.alpha, settings, getattr(settings, "tree", ""))

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        return Setup(_placed(scene, _upright(f"getup-{self.strategy}").sample(self.alpha, 1, rng)[0]), self.until)


@dataclass(frozen=True)
class _Act(_Facing):
    """A push at the beginning, from any side, then an act by its tree at once."""

    impulse: float = 0.0
    """Of the push on the trunk, from any side over 0.1 s, N s."""

    act: ClassVar[str]
    seconds: ClassVar[float]

    def __post_init__(self) -> None:
        check_number("impulse", self.impulse, 0.0, 1000.0)

    def wants(self) -> Want:
        return Balance()

    def notes(self, settings: Any) -> Sequence[str]:
        """Where no tree was grown for such a push."""
        return _notes(ACTS[self.act], self.impulse / PUSH, settings)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        angle, force = rng.uniform(0.0, 2 * math.pi), self.impulse / PUSH
        push = Push(scene.character.trunk, (force * math.cos(angle), force * math.sin(angle), 0.0), seconds=PUSH)
        start = _placed(scene, _upright(ACTS[self.act]).target)
        return Setup(start, self.seconds + LATER, [(0.0, push), (PUSH, Do(self.act))])


@dataclass(frozen=True)
class Crouch(_Act):
    """In a deep crouch, pushed; rise to standing."""

    impulse: float = 7.5
    """Of the push on the trunk, from any side over 0.1 s, N s; alborno2016 section 7."""

    act: ClassVar[str] = "rise"
    seconds: ClassVar[float] = 3.0
    name: ClassVar[str] = "crouch"
    summary: ClassVar[str] = "rise from a crouch after a push (--impulse N s), facing along x"


@dataclass(frozen=True)
class Jump(_Act):
    """Standing, pushed; jump, land and stand."""

    impulse: float = 10.0
    """Of the push on the trunk, from any side over 0.1 s, N s; alborno2016 section 7."""

    act: ClassVar[str] = "jump"
    seconds: ClassVar[float] = 3.0
    name: ClassVar[str] = "jump"
    summary: ClassVar[str] = "jump on the spot after a push (--impulse N s), facing along x"

    def success(self, history: History) -> bool:
        """Also, both feet have left the ground."""
        return super().success(history) and bool((history.of("grounded") <= 0).all(1).any())


@dataclass(frozen=True)
class Twist(_Act):
    """Standing turned away, pushed; turn on the spot and stand facing along x."""

    impulse: float = 12.5
    """Of the push on the trunk, from any side over 0.1 s, N s; alborno2016 section 7."""

    act: ClassVar[str] = "twist"
    seconds: ClassVar[float] = 3.0
    name: ClassVar[str] = "twist"
    summary: ClassVar[str] = "turn on the spot after a push (--impulse N s), to face along x"


@dataclass(frozen=True)
class SkillSequence(_Facing):
    """Skills one after the other, by their trees (section 4.6): "rise; twist; jump", or "jump; crouch; rise; jump"."""

    acts: str = "rise; twist; jump"
    """What is done, in this order; it begins where the first act does."""

    name: ClassVar[str] = "sequence"
    summary: ClassVar[str] = "skills one after the other (--acts 'rise; twist; jump'), on its feet in the end"
    each: ClassVar[float] = 6.0  # s of an act

    def __post_init__(self) -> None:
        if not acts_of(Do(self.acts)):
            raise UserError(f"a sequence has one act or more; acts: {', '.join(ACTS)}")

    def wants(self) -> Want:
        return Do(self.acts)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        acts = acts_of(Do(self.acts))
        start = _placed(scene, _upright(ACTS[acts[0]]).target)
        return Setup(start, self.each * len(acts) + LATER)

    def success(self, history: History) -> bool:
        """Whether nothing but feet has touched the ground, it leapt as often as it should, and stands in the end."""
        acts = acts_of(Do(self.acts))
        air = (history.of("grounded") <= 0).all(1)
        leaps = int((np.diff(air.astype(int)) == 1).sum())
        ended = history.balanced() if acts[-1] != "crouch" else history.lasted(self.each * len(acts))
        return bool(ended and not history.broken and history.only_feet.all() and leaps >= acts.count("jump"))


def _notes(skill: str, level: float, settings: Any, tree: str = "") -> Sequence[str]:
    """Where no tree was grown for a level of a skill's domain; nothing for controllers without trees.

    Args:
      tree: the one that is asked, '' for all that ship.
    """
    if not isinstance(settings, AttractionSettings):
        return ()
    said = beyond(skill, level, tree)
    return () if said is None else (said,)


def _upright(skill: str) -> UprightSystem:
    """The system of a skill of a character."""
    system = system_named(skill)
    assert isinstance(system, UprightSystem)
    return system


def _placed(scene: Scene, state: np.ndarray) -> np.ndarray:
    """A state row of a scene whose character is so; refuses another body than the one it was drawn for."""
    if scene.character.name != BODY:
        raise UserError(f"its states are those of the body '{BODY}', here it is '{scene.character.name}'")
    row = scene.state("rest")
    row[1 : 1 + len(state)] = state
    return row
