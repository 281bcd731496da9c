"""Sheets: what of a style can be edited, as curves and numbers by name. This one is for walkers' styles.

sheet = StyleSheet()
for key, label in sheet.curves(style).items(): ...
style = sheet.bent(style, key, ((0.0, 0.2), (1.0, 0.4)))
style = sheet.changed(style, key, "period", 0.5)

The panel shows a sheet and knows no kind of style. `tumble.studio.gait_sheet` is the one for gaits.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from msgspec.structs import replace

from tumble.walking.style import TRAJECTORIES, Knots, Style


class Line(NamedTuple):
    """A curve as it is drawn: knots [x, y]; y shows `low` to `high` at least, x goes from `start` to `end`."""

    knots: Knots
    label: str
    low: float
    high: float
    start: float = 0.0
    end: float = 1.0


class Number(NamedTuple):
    """A number beside the curve, with the ends of its slider."""

    label: str
    value: float
    low: float
    high: float


class Sheet(Protocol):
    """Curves and numbers of a kind of style. Styles are plain structs: who changes one gets another."""

    def curves(self, style: Any) -> Mapping[str, str]:
        """What people call each curve, by its key; the first is shown at first."""

    def line(self, style: Any, key: str) -> Line:
        """A curve."""

    def numbers(self, style: Any, key: str) -> Mapping[str, Number]:
        """Numbers that are shown beside a curve, by name."""

    def bent(self, style: Any, key: str, knots: Knots) -> Any:
        """The style with other knots of a curve."""

    def changed(self, style: Any, key: str, name: str, value: float) -> Any:
        """The style with another number, of those beside a curve."""


# group: how its trajectories begin, their unit, the values that are shown at least
GROUPS = {
    "leg": (("stance_knee", "swing_ankle", "stance_ankle", "swing_toe", "stance_toe"), "rad", -0.5, 0.5),
    "foot": (("foot",), "m", -0.2, 0.2),
    "trunk": (("pelvis", "back", "chest", "neck"), "rad", -0.5, 0.5),
    "arm": (("swing_shoulder", "swing_elbow", "stance_shoulder", "stance_elbow"), "rad", -0.5, 0.5),
    "by speed": (("ankle_speed", "arm_speed"), "factor", 0.0, 1.5),
}
SPEEDS = (-1.0, 2.0)  # m/s, along which the last are drawn; all others over the phase 0 to 1
# number of the style: label, low, high
NUMBERS = {
    "period": ("own period, s", 0.2, 1.0),
    "step_width": ("own width, m", 0.0, 0.4),
    "toe_out": ("toes out, rad", -0.3, 0.6),
}


class StyleSheet:
    """Of a walker's style: its trajectories, group by group, and three numbers (coros2010 figure 5.6)."""

    def curves(self, style: Style) -> dict[str, str]:
        """All trajectories in the words of people, the legs' first."""
        ordered = sorted(TRAJECTORIES, key=lambda name: (list(GROUPS).index(group_of(name)), name != "stance_knee"))
        return {name: f"{group_of(name)}: {_plain(name)}" for name in ordered}

    def line(self, style: Style, key: str) -> Line:
        """A trajectory over the phase, or over the speed."""
        _, unit, low, high = GROUPS[group_of(key)]
        start, end = SPEEDS if key.endswith("_speed") else (0.0, 1.0)
        return Line(getattr(style, key), f"{_plain(key)}, {unit}", low, high, start, end)

    def numbers(self, style: Style, key: str) -> dict[str, Number]:
        """The same beside all curves."""
        return {name: Number(label, getattr(style, name), low, high) for name, (label, low, high) in NUMBERS.items()}

    def bent(self, style: Style, key: str, knots: Knots) -> Style:
        """With other knots of a trajectory."""
        return replace(style, **{key: knots})

    def changed(self, style: Style, key: str, name: str, value: float) -> Style:
        """With another number."""
        return replace(style, **{name: value})


def group_of(trajectory: str) -> str:
    """The group that a trajectory belongs to."""
    return next(group for group, (heads, *_) in GROUPS.items() if trajectory.startswith(heads))


def _plain(name: str) -> str:
    return name.removeprefix("foot_").removesuffix("_speed").replace("_", " ")
