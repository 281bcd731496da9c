"""The numbers of a gait that are fitted: offsets of its curves, gains of its feedback, the duration of its states.

    numbers = numbers_of(gait)
    changed(gait, numbers, np.zeros(len(numbers)))   # the same gait
    changed(gait, numbers, x)                        # x in units of each number's scale: about 1 is a notable change

Splines keep their shapes: they are shifted, or tilted over the phase. In a sided gait, what makes the two sides differ
has a number for each state; all else is shared.
"""

from typing import Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np

from tumble.simbicon.gait import Gait, Knots, Motion, Pair, State

Way: TypeAlias = Literal["bend", "side", "twist"]
replace = msgspec.structs.replace

STRONGEST = 10.0  # of feedback, as `check_gait` allows
SHORTEST, LONGEST = 0.1, 2.0  # s of a state


class CurveOffset(NamedTuple):
    """Added to the knots of a curve; of a tilt, by -1 to 1 times as much from phase 0 to 1."""

    role: str
    way: Way
    scale: float  # rad
    tilt: bool = False
    sides: bool = False  # one a state in a sided gait
    only_sided: bool = False  # of sided gaits alone


class FeedbackGain(NamedTuple):
    """Added to c_d (0) or c_v (1) of a plane."""

    role: str
    way: Way
    which: int
    scale: float  # rad/m or rad s/m


class StateDuration(NamedTuple):
    """Factor exp(scale x) on the duration of all states."""

    scale: float


class GaitNumber(NamedTuple):
    """What one number changes, and in which state; None: in all."""

    what: CurveOffset | FeedbackGain | StateDuration
    state: int | None


WHAT: tuple[CurveOffset | FeedbackGain | StateDuration, ...] = (  # scales: ours, by how much gaits that ship differ
    CurveOffset("root", "bend", 0.04),
    CurveOffset("root", "side", 0.03, sides=True, only_sided=True),
    CurveOffset("swing_hip", "bend", 0.08, sides=True),
    CurveOffset("swing_hip", "bend", 0.08, tilt=True),
    CurveOffset("swing_hip", "side", 0.05, sides=True),
    CurveOffset("swing_hip", "twist", 0.05, sides=True, only_sided=True),
    CurveOffset("stance_knee", "bend", 0.04),
    CurveOffset("stance_ankle", "bend", 0.06),
    CurveOffset("stance_ankle", "bend", 0.06, tilt=True),
    CurveOffset("stance_ankle", "side", 0.03, sides=True),
    CurveOffset("swing_ankle", "bend", 0.06),
    FeedbackGain("swing_hip", "bend", 0, 0.08),
    FeedbackGain("swing_hip", "bend", 1, 0.08),
    FeedbackGain("swing_hip", "side", 0, 0.08),
    FeedbackGain("swing_hip", "side", 1, 0.08),
    FeedbackGain("stance_ankle", "bend", 0, 0.2),
    FeedbackGain("stance_ankle", "bend", 1, 0.1),
    StateDuration(0.06),
)


def numbers_of(gait: Gait, planar: bool = False) -> list[GaitNumber]:
    """The numbers of a gait, in order; of a body in a plane, none of the others."""
    found = list[GaitNumber]()
    for what in WHAT:
        if isinstance(what, CurveOffset) and what.only_sided and not gait.sided:
            continue
        if planar and not isinstance(what, StateDuration) and what.way != "bend":
            continue
        apart = isinstance(what, CurveOffset) and what.sides and gait.sided
        found += [GaitNumber(what, state) for state in range(len(gait.states))] if apart else [GaitNumber(what, None)]
    return found


def changed(gait: Gait, numbers: list[GaitNumber], x: np.ndarray) -> Gait:
    """The gait with its numbers changed by x, in units of their scales."""
    states = list(gait.states)
    for number, value in zip(numbers, x, strict=True):
        for k in range(len(states)) if number.state is None else (number.state,):
            states[k] = _with(states[k], number.what, float(value) * number.what.scale)
    return replace(gait, states=tuple(states))


def _with(state: State, what: CurveOffset | FeedbackGain | StateDuration, amount: float) -> State:
    """A state with one thing changed."""
    if isinstance(what, StateDuration):
        duration = float(np.clip(state.duration * np.exp(amount), SHORTEST, LONGEST))
        return replace(state, duration=round(duration, 5))
    motion = state.joints.get(what.role, Motion())
    if isinstance(what, CurveOffset):
        motion = replace(motion, **{what.way: _shifted(getattr(motion, what.way), amount, what.tilt)})
    else:
        field = f"{what.way}_feedback"
        motion = replace(motion, **{field: _strengthened(getattr(motion, field), what.which, amount)})
    return replace(state, joints={**state.joints, what.role: motion})


def _shifted(knots: Knots, amount: float, tilt: bool) -> Knots:
    """Knots with an amount added, of a tilt from -amount to amount over the phase; none are one at 0."""
    if not amount:
        return knots
    if not knots:
        knots = ((0.0, 0.0), (1.0, 0.0)) if tilt else ((0.0, 0.0),)
    elif tilt and len(knots) == 1:
        knots = ((0.0, knots[0][1]), (1.0, knots[0][1]))
    return tuple((x, round(y + amount * (2 * x - 1 if tilt else 1.0), 5)) for x, y in knots)


def _strengthened(pair: Pair, which: int, amount: float) -> Pair:
    """c_d and c_v, one of them changed."""
    values = list(pair)
    values[which] = round(float(np.clip(values[which] + amount, -STRONGEST, STRONGEST)), 5)
    return values[0], values[1]
