"""Base: a gait whose steps are varied, and the numbers that an action of it has (coros2010 section 3.3.1).

    base = BASES["planar-walk"]()
    base.parameters              # ('root 1', 'root 2', 'swing_hip 1', 'swing_hip 2', 'stance_ankle 1', 'T_hold')
    base.action                  # A_base (6,): rad, and s at last
    register("stroll", lambda: replace(base, name="stroll", file="stroll.toml", lengths=(0.2, 0.6)), "of my own")

An action A is a vector of p numbers, absolute values: control points of target angles about the axis to the left, rad,
role by role, then the dwell time T_hold, s. The gait is one state, mirrored from stance to stance.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

import msgspec
import numpy as np

from tumble.characters import character
from tumble.errors import UserError
from tumble.registry import Entry, Registry
from tumble.simbicon.gait import Gait, load_gait
from tumble.simbicon.varied import Variation

GAITS = Path(__file__).parent / "gaits"
PLANAR = (("root", 2), ("swing_hip", 2), ("stance_ankle", 1))  # section 3.3.1
BIRD = (("root", 2), ("swing_hip", 2), ("stance_knee", 1))
SPACE = (("root", 3), ("swing_hip", 3), ("stance_ankle", 2))  # section 3.3.3
CARRIED = 0.1  # m; ours
METRIC = (2.0, 1.0, 0.5, 0.5, 0.5)  # diagonal of X, section 3.4: per m^2, s^2/m^2, rad^2
ASIDE = (4.0, 1.0, 0.5, 0.5)  # of the numbers that a state in space has more; ours
IN_PLANE = (1.0, 1.0, 1.0, 1.0, 0.05, 4.0)  # diagonal of W, section 3.3.2


@dataclass(frozen=True)
class Base:
    """A gait, which numbers of it are an action, and which steps are wanted of it.

    Attributes:
      name: of the base.
      character: name of the body.
      points: roles of the gait, each with its number of control points.
      weights: (p,) diagonal of W: what it costs to be away from the gait, per rad^2, at last per s^2.
      lengths: m, shortest and longest step of the problems that it learns from; heel to heel.
      preferred: m, of its own steps.
      space: whether the body moves in space, and not in a plane.
      carried: m, of a miss, that the next step has to make up for; by what is more the stones ahead are moved.
      file: of the gait; '' for NAME.toml in `GAITS`. With lengths and weights it is what a user has influence by.
    """

    name: str
    character: str
    points: tuple[tuple[str, int], ...]
    weights: tuple[float, ...]
    lengths: tuple[float, float] = (0.1, 0.9)  # section 3.3
    preferred: float = 0.36  # section 3.3.1
    space: bool = False
    carried: float = math.inf  # thesis: all of it
    file: str = ""

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.parameters):
            raise UserError(f"base '{self.name}' needs {len(self.parameters)} weights, got {len(self.weights)}")
        if not 0.0 <= self.lengths[0] < self.lengths[1]:
            raise UserError(f"base '{self.name}' needs lengths from the shortest to the longest, got {self.lengths}")

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of an action's numbers."""
        return (*(f"{role} {i + 1}" for role, count in self.points for i in range(count)), "T_hold")

    @property
    def metric(self) -> np.ndarray:
        """(q,) diagonal of X: d(s, s')^2 = sum_i X_i (s_i - s'_i)^2 of reduced states (`Strider.reduced`)."""
        return np.array(METRIC + ASIDE if self.space else METRIC)

    @property
    def gait(self) -> Gait:
        """The gait, as its file has it."""
        return _gait(Path(self.file) if self.file else GAITS / f"{self.name}.toml", self.character)

    @property
    def action(self) -> np.ndarray:
        """A_base (p,): the gait's own numbers."""
        return self.variation.own(self.gait)

    @property
    def variation(self) -> Variation:
        """What of the gait an action sets."""
        return Variation(tuple(role for role, _ in self.points), tuple(count for _, count in self.points))

    @property
    def digest(self) -> str:
        """Of the gait and of what an action is: steps of another gait are other steps."""
        return sha256(msgspec.json.encode((self.gait, self.points))).hexdigest()[:16]


@cache
def _gait(file: Path, body: str) -> Gait:
    return load_gait(file, character(body))


BaseEntry: TypeAlias = Entry[Callable[[], Base]]
BASES: Registry[BaseEntry] = Registry("base")
register = BASES.register


def _ours(*given: object, **named: object) -> Callable[[], Base]:
    return lambda: Base(*given, **named)  # type: ignore[arg-type]


register("planar-walk", _ours("planar-walk", "planar", PLANAR, IN_PLANE), "the planar biped's walk, 36 cm steps")
register(
    "planar-high-step", _ours("planar-high-step", "planar", PLANAR, IN_PLANE), "the planar biped with its knees high"
)
register(
    "bird",
    _ours("bird", "planar-bird", BIRD, IN_PLANE, (0.1, 1.0), 0.66, carried=CARRIED),
    "the big bird in the plane, 66 cm steps",
)
register(
    "humanoid",
    _ours("humanoid", "biped34", SPACE, (1.0,) * 9, space=True, carried=CARRIED),
    "the humanoid in space, 36 cm steps",
)
