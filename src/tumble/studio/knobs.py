"""Knobs: a settings dataclass as a panel. The class alone says what there is, what it means and what it allows.

for knob in knobs(CPBPSettings()):
    print(knob.name, knob.low, knob.high, knob.about)
"""

import dataclasses
import functools
import inspect
import math
import re
from typing import Any

from tumble.errors import UserError
from tumble.settings import names_of, replaced

ENDS = "ends"  # of a slider, in a field's metadata, where the default does not tell them
FACTORS = (10.0, 5.0, 2.0, 1.0)  # of the default, tried as ends of a range, the widest first
FIELDS = re.compile(r"^\s+(\w+): [^#=\n]+(?:=[^#\n]*)?#\s*(.+)$", re.MULTILINE)
DESCRIBED = re.compile(r'^\s+(\w+): [^#=\n]+(?:=[^#\n]*)?\n\s+"""(.+?)"""$', re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Knob:
    """One setting.

    Attributes:
      name: 'field' or 'field.field'.
      about: what the comment beside the field, or the text below it, says.
      kind: bool, int or float.
      value, low, high: now, and the ends of the slider, which the class accepts.
    """

    name: str
    about: str
    kind: type
    value: float
    low: float
    high: float

    @property
    def even(self) -> bool:
        """Whether a slider goes in equal steps; else in equal ratios."""
        return self.low <= 0

    def at(self, share: float) -> float:
        """The value at a share of the slider's way."""
        if self.even:
            value = self.low + share * (self.high - self.low)
        else:
            value = self.low * (self.high / self.low) ** share
        return float(round(value)) if self.kind is int else float(f"{value:.3g}")

    def share(self, value: float) -> float:
        """Where on the slider's way a value is, 0 to 1."""
        value = min(max(value, self.low), self.high)
        if self.even:
            return (value - self.low) / (self.high - self.low)
        return math.log(value / self.low) / math.log(self.high / self.low)


def knobs(settings: Any) -> list[Knob]:
    """All numbers and switches of a settings dataclass and of those inside it, in order."""
    return [knob for name in names_of(settings) if (knob := _knob(settings, name)) is not None]


def _knob(settings: Any, name: str) -> Knob | None:
    owner = value = settings
    for part in name.split("."):
        owner, value = value, getattr(value, part)
    if not isinstance(value, int | float):
        return None
    field = {one.name: one for one in dataclasses.fields(owner)}[name.rpartition(".")[2]]
    ends = (0.0, 1.0) if isinstance(value, bool) else _range(settings, name, value)
    low, high = field.metadata.get(ENDS, ends)
    about = comments_of(owner.__class__).get(name.rpartition(".")[2], "")
    return Knob(name, about, type(value), float(value), low, high)


def _range(settings: Any, name: str, value: float) -> tuple[float, float]:
    """The widest ends around a value that the class takes."""
    if value == 0:
        return 0.0, 1.0
    floor = -math.inf if value < 0 else 1.0 if isinstance(value, int) else 0.0
    near = next(end for factor in FACTORS if _takes(settings, name, end := max(floor, round_to(value, value / factor))))
    far = next(end for factor in FACTORS if _takes(settings, name, end := round_to(value, value * factor)))
    low, high = sorted((float(near), float(far)))  # a negative value's ends change places
    return (low, high) if low < high else (min(0.0, low), max(0.0, high))


def round_to(value: float, end: float) -> float:
    """An end of the range of a value: whole where the value is."""
    return round(end) if isinstance(value, int) else end


def _takes(settings: Any, name: str, value: float) -> bool:
    try:
        replaced(settings, {name: value})
    except UserError:
        return False
    return True


@functools.cache
def comments_of(kind: type) -> dict[str, str]:
    """What is written beside or below the fields of a dataclass and of those it derives from."""
    found: dict[str, str] = {}
    for ancestor in reversed([one for one in kind.__mro__ if dataclasses.is_dataclass(one)]):
        source = inspect.getsource(ancestor)
        found |= {**dict(FIELDS.findall(source)), **dict(DESCRIBED.findall(source))}
    return found
