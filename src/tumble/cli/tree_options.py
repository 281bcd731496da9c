"""Options of `tumble tree`: how a tree is grown, read from a command line and written as one again.

    growth = GrowthOptions(to=5.0, by=0.5).changed(usual_growth("getup-1"))
    " ".join(words_of(growth, usual_growth("getup-1")))           # '--to 5 --by 0.5'

What is not given stays as it was: in a new tree as is usual for its system, in an old one as it is grown.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

from tumble.attraction.growing import Aim, Growth, Method
from tumble.attraction.shipped import ENDING
from tumble.errors import UserError, check_number

DECIMALS = 9  # of levels that are counted up
YES = {"yes": True, "no": False}


@dataclass(frozen=True)
class GrowthOptions:
    """How a tree grows; what is left out is as it was, or as is usual for its system."""

    to: float | None = None
    """The largest domain: alpha of poses, kappa of pushes in N, or a share of a pendulum's."""
    by: float | None = None
    """Steps from domain to domain."""
    levels: str | None = None
    """The domains one by one instead: 1,2,3.5"""
    attempts: int | None = None
    """States to draw of the largest domain at most; of smaller ones as much less as they are smaller."""
    inside: int | None = None
    """So many states in a row that are inside already end a level."""
    share: float | None = None
    """So much of the last --window states inside ends a level, too; 1: never."""
    window: int | None = None
    """States over which --share is counted."""
    neighbours: int | None = None
    """N of section 4.5: connections that are tried for a state; the quickest branch is kept."""
    aim: Literal["nearest", "best"] | None = None
    """Steer states to the nearest node (the paper's), or to the one whose branch ended nearest to the goal."""
    candidates: int | None = None
    """V: nodes that are asked whether a state is inside."""
    evaluations: int | None = None
    """Rollouts of an optimisation at most."""
    population: int | None = None
    """Rollouts of a generation of CMA-ES."""
    spread: float | None = None
    """How far CMA-ES looks at first, rad."""
    seconds: float | None = None
    """Of a new edge."""
    full: Literal["yes", "no"] | None = None
    """Whether optimisations roll out whole branches (section 6.1), or the new edge alone."""
    after: str | None = None
    """A tree at whose branches' ends this one shall go on (section 4.6); levels are then those of its domain."""

    def changed(self, growth: Growth, further: bool = False) -> Growth:
        """A growth in which what was given is otherwise; `further` levels come after those that there are."""
        given = {name: value for name, value in self._given() if value is not None}
        given |= {name: kind(given[name]) for name, kind in KINDS.items() if name in given}
        ours = {field.name for field in fields(growth.connecting)}
        connecting = replace(growth.connecting, **{name: value for name, value in given.items() if name in ours})
        rest = {name: value for name, value in given.items() if name not in ours}
        return replace(growth, levels=self._levels(growth, further), connecting=connecting, **rest)

    def _given(self) -> Iterator[tuple[str, Any]]:
        """Names and values of all options that are fields of a growth as they are."""
        for field in fields(self):
            if field.name not in ("to", "by", "levels"):
                yield field.name, getattr(self, field.name)

    def _levels(self, growth: Growth, further: bool) -> tuple[float, ...]:
        """The levels that are wanted."""
        if self.levels is not None and (self.to is not None or self.by is not None):
            raise UserError("--levels names the domains one by one; leave out --to and --by, or --levels")
        before = growth.levels if further else ()
        if self.levels is not None:
            return before + tuple(level for level in _numbers(self.levels) if level not in before)
        if self.to is None and (self.by is None or further):
            if self.by is not None:
                raise UserError("--by is the step to further levels; say how far: --to LEVEL")
            return growth.levels
        to = growth.levels[-1] if self.to is None else self.to
        check_number("to", to, 0, 1e6, above=True)
        if before and to < before[-1]:
            raise UserError(f"it has levels up to {before[-1]:g} already; further ones are above that, got --to {to:g}")
        by = usual_step(growth) if self.by is None else self.by
        check_number("by", by, 0, 1e6, above=True)
        check_number("levels from --to and --by", math.ceil((to - (before[-1] if before else 0)) / by), 0, 10_000)
        return before + counted_up(before[-1] if before else 0.0, to, by)


KINDS: dict[str, Any] = {"method": Method, "aim": Aim, "full": YES.__getitem__}  # what words stand for


@dataclass(frozen=True)
class BuildOptions(GrowthOptions):
    """How a new tree grows."""

    method: Literal["dfc", "rrtfc"] | None = None
    """Through nested domains, each from the one before, or towards the largest at once (Algorithms 2 and 1)."""
    seed: int | None = None
    """Of all that is random."""
    lag: int | None = None
    """Attempts that are under way at a time, at most: more workers than that wait. The tree depends on it."""
    first: int | None = None
    """Levels that are grown by rrtfc before dfc begins."""
    step: float | None = None
    """By which rrtfc extends the tree, kg rad; inf connects each state itself."""


@dataclass(frozen=True)
class WorkOptions:
    """Who does the work."""

    jobs: int = 0
    """Processes, each with one thread; 0: one per core. Results do not depend on it."""
    cluster: str | None = None
    """Have it done by the workers of this Dask scheduler, HOST:PORT; see the README, 'Many trials'."""


def counted_up(start: float, to: float, by: float) -> tuple[float, ...]:
    """Levels after `start`, `by` apart, the last one `to`; none where they are the same."""
    count = math.ceil(round((to - start) / by, DECIMALS))
    return tuple(min(round(start + (i + 1) * by, DECIMALS), to) for i in range(count))


def usual_step(growth: Growth) -> float:
    """From the last level but one to the last."""
    return round(growth.levels[-1] - (growth.levels[-2] if len(growth.levels) > 1 else 0.0), DECIMALS)


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise UserError(f"levels are numbers with commas between them, such as 1,2,3.5; got '{text}'") from None


def words_of(growth: Growth, usual: Growth, further: bool = False) -> list[str]:
    """The options that make the one growth of the other; those of `extend` where levels come `further`."""
    found = _level_words(growth, usual, further)
    words = {value: word for word, value in YES.items()}
    for field in fields(BuildOptions):
        name = field.name
        if name in ("to", "by", "levels"):
            continue
        ours, others = ((of if hasattr(of, name) else of.connecting) for of in (growth, usual))
        if (value := getattr(ours, name)) != getattr(others, name):
            word = words[value] if isinstance(value, bool) else f"{value}" if isinstance(value, str) else _plain(value)
            found += [f"--{name}", word]
    return found


def _level_words(growth: Growth, usual: Growth, further: bool) -> list[str]:
    """--to and --by, where these say it, else --levels."""
    if growth.levels == usual.levels:
        return []
    to, by = growth.levels[-1], usual_step(growth)
    for given in (GrowthOptions(to=to), GrowthOptions(to=to, by=by)):
        if (not further or to > usual.levels[-1]) and given.changed(usual, further).levels == growth.levels:
            return ["--to", _plain(to), *([] if given.by is None else ["--by", _plain(by)])]
    levels = [level for level in growth.levels if not further or level not in usual.levels]
    return ["--levels", ",".join(map(_plain, levels))]


def _plain(value: float) -> str:
    """A number as short as it can be read again."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(float(value))


def check_file(file: Path) -> None:
    """Refuse a name that no tree has."""
    if file.suffix != ENDING:
        raise UserError(f"a tree's name ends in {ENDING}, got {file}")
