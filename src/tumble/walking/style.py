"""Styles: how a walk looks, as knots over the phase of a step, read from TOML files.

    style = load_style(Path("mine.toml"))
    walker = Walker(scene, styles=[*builtin_styles().values(), style])

Angles are rad. A step goes from phase 0, when the stance foot has just landed, to 1. Trajectories of the trunk and
of the feet are against the character's frame (ahead, left, up); those of arms, stance knee and toes against the
parent bone. `side` leans to the swing leg's side, `twist` turns to the stance leg's side; a positive ankle points
the toes down. What a file does not name is 0, but for the height of the foot, the arms and the stance knee.
"""

import math
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np

from tumble.errors import UserError, check_number
from tumble.files import read_text

Knots: TypeAlias = tuple[tuple[float, float], ...]
ZERO: Knots = ((0.0, 0.0),)

# Trajectories by number.
TRUNK = 0  # pelvis, lower back, torso, head: bend, side and twist of each
SWING_ARM, STANCE_ARM = 12, 16  # shoulder's bend, side, twist, and the elbow
STANCE_KNEE, SWING_ANKLE, STANCE_ANKLE, SWING_TOE, STANCE_TOE = 20, 21, 22, 23, 24
FOOT_HEIGHT, FOOT_AHEAD, FOOT_OUT, ANKLE_SPEED, ARM_SPEED = 25, 26, 27, 28, 29
TRAJECTORIES = (
    *(f"{bone}_{way}" for bone in ("pelvis", "back", "chest", "neck") for way in ("bend", "side", "twist")),
    *(f"{leg}_{joint}" for leg in ("swing", "stance")
      for joint in ("shoulder_bend", "shoulder_side", "shoulder_twist", "elbow")),
    "stance_knee", "swing_ankle", "stance_ankle", "swing_toe", "stance_toe",
    "foot_height", "foot_ahead", "foot_out", "ankle_speed", "arm_speed",
)  # fmt: skip
NUMBERS = ("period", "step_width", "toe_out")
KNOTS = 12  # the most of one trajectory


class Style(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One style. Knots are [phase, value]; those of ankle_speed and arm_speed [speed in m/s, factor]."""

    name: str
    about: str = ""
    period: float = 0.6  # s a step
    step_width: float = 0.1  # m between the feet; W, coros2010 section 5.3.3
    toe_out: float = 0.1  # rad, the twist of the swing leg's plane, section 5.3.2
    pelvis_bend: Knots = ZERO
    pelvis_side: Knots = ZERO
    pelvis_twist: Knots = ZERO
    back_bend: Knots = ZERO
    back_side: Knots = ZERO
    back_twist: Knots = ZERO
    chest_bend: Knots = ZERO
    chest_side: Knots = ZERO
    chest_twist: Knots = ZERO
    neck_bend: Knots = ZERO
    neck_side: Knots = ZERO
    neck_twist: Knots = ZERO
    swing_shoulder_bend: Knots = ((0.0, 0.25), (1.0, -0.25))
    swing_shoulder_side: Knots = ((0.0, 0.12),)
    swing_shoulder_twist: Knots = ZERO
    swing_elbow: Knots = ((0.0, 0.4), (1.0, 0.2))
    stance_shoulder_bend: Knots = ((0.0, -0.25), (1.0, 0.25))
    stance_shoulder_side: Knots = ((0.0, 0.12),)
    stance_shoulder_twist: Knots = ZERO
    stance_elbow: Knots = ((0.0, 0.2), (1.0, 0.4))
    stance_knee: Knots = ((0.0, 0.2), (1.0, 0.07))
    swing_ankle: Knots = ZERO
    stance_ankle: Knots = ZERO
    swing_toe: Knots = ZERO
    stance_toe: Knots = ZERO
    foot_height: Knots = ((0.0, -0.02), (0.5, 0.09), (1.0, -0.01))  # m of the ankle above where it stands
    foot_ahead: Knots = ZERO  # m that the swing foot is ahead of its straight path
    foot_out: Knots = ZERO  # m that it is off to its side
    ankle_speed: Knots = ((0.0, 1.0),)  # factor on swing_ankle and stance_ankle by speed
    arm_speed: Knots = ((0.0, 1.0),)  # factor on the shoulders' bend by speed


def check_style(style: Style) -> Style:
    """The style, or the error that says which number is wrong."""
    check_number(f"period of style '{style.name}'", style.period, 0.15, 2.0)
    check_number(f"step_width of style '{style.name}'", style.step_width, 0.0, 0.6)
    check_number(f"toe_out of style '{style.name}'", style.toe_out, -1.0, 1.0)
    for name in TRAJECTORIES:
        _check_knots(f"{name} of style '{style.name}'", getattr(style, name), name.endswith("_speed"))
    return style


def _check_knots(label: str, knots: Knots, over_speed: bool) -> None:
    """Refuse too few or many knots, ones that are not finite or not rising, values beyond 3.2, phases outside 0 to 1.

    Knots over the speed may be anywhere.
    """
    if not 1 <= len(knots) <= KNOTS:
        raise UserError(f"{label} must have 1 to {KNOTS} knots, got {len(knots)}")
    for x, y in knots:
        if not (math.isfinite(x) and math.isfinite(y)):
            raise UserError(f"{label} must have finite knots, got [{x}, {y}]")
        if abs(y) > 3.2:
            raise UserError(f"{label} must stay within 3.2, got {y:g} at {x:g}")
        if not over_speed and not 0 <= x <= 1:
            raise UserError(f"{label} must have phases from 0 to 1, got {x:g}")
    for (a, _), (b, _) in pairwise(knots):
        if b - a < 1e-3:
            raise UserError(f"{label} must have knots in rising order, got {a:g} before {b:g}")


def load_style(path: Path) -> Style:
    """The style in a TOML file."""
    return read_style(read_text(path, f"the style '{path.name}'"), path.name)


def read_style(text: str, where: str = "text") -> Style:
    """The style in a text of TOML."""
    try:
        return check_style(msgspec.toml.decode(text, type=Style))
    except msgspec.MsgspecError as error:
        raise UserError(f"not a style ({where}): {error}") from None


@cache
def builtin_styles() -> dict[str, Style]:
    """The styles that come with tumble, by name, 'normal' first."""
    files = sorted((Path(__file__).parent / "styles").glob("*.toml"), key=lambda f: (f.stem != "normal", f.stem))
    return {style.name: style for style in map(load_style, files)}


class Styles(NamedTuple):
    """Styles for compiled code."""

    knots: np.ndarray  # (styles, trajectories, KNOTS, 2)
    counts: np.ndarray  # (styles, trajectories)
    numbers: np.ndarray  # (styles, numbers): period, step width, toe out


def table_of(styles: list[Style]) -> Styles:
    """The arrays of some styles, in their order; copies, so that a style that is changed needs another table."""
    knots = np.zeros((len(styles), len(TRAJECTORIES), KNOTS, 2))
    counts = np.zeros((len(styles), len(TRAJECTORIES)), np.intp)
    for i, style in enumerate(styles):
        for j, name in enumerate(TRAJECTORIES):
            given = getattr(style, name)
            knots[i, j, : len(given)] = given
            counts[i, j] = len(given)
    return Styles(knots, counts, np.array([[getattr(style, name) for name in NUMBERS] for style in styles]))
