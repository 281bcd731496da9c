"""How far a tree is, on a terminal: a bar while it grows, and a line for every level that is done.

with GrowthProgress(file) as progress:
    for outcome in file.grow(pool):
        progress.made(outcome)

It is all on standard error. Where that is no terminal there is no bar, and the lines are there all the same. A level
may be done twice: attempts that were under way when it was count for it too, and if they are outside, it goes on.
"""

from types import TracebackType
from typing import Any

from tumble.attraction.facts import lately
from tumble.attraction.growing import Outcome, left_at_most, stage_of
from tumble.attraction.store import Stored
from tumble.cli.progress import TimeLeft, bars_of


class GrowthProgress:
    """A bar with level, share inside, nodes, edges and optimisations, and the time that is left.

    That is what the attempts to come take, at the pace of those since the beginning, if no level ends early: as most
    levels do, it is less in the end, and as attempts at large levels take longer, it is more.
    """

    def __init__(self, file: Stored) -> None:
        """Of a tree that is about to grow."""
        self._file, self._begun = file, len(file.outcomes)
        self._optimised = sum(one.optimised for one in file.outcomes)
        self._stage = stage_of(file.growth, file.outcomes)
        self._bars = bars_of(TimeLeft())
        self._task = self._bars.add_task("", total=1, note="", share=0.0, at=0.0)
        self._show()

    def __enter__(self) -> "GrowthProgress":
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self._bars.stop()

    def made(self, outcome: Outcome) -> None:
        """One more attempt is on the disk."""
        self._optimised += outcome.optimised
        before, self._stage = self._stage, stage_of(self._file.growth, self._file.outcomes)
        if before is not None and (self._stage is None or self._stage > before):
            level = self._file.growth.levels[before]
            self._bars.console.print(
                f"level {level:g} is done: {inside_at(self._file, level)}; {len(self._file.outcomes)} attempts,"
                f" {self._tally()}",
                highlight=False, soft_wrap=True,
            )  # fmt: skip
        self._show()

    def _show(self) -> None:
        growth, done = self._file.growth, len(self._file.outcomes)
        left = left_at_most(growth, self._file.outcomes)
        level = growth.levels[-1 if self._stage is None else self._stage]
        task = self._bars.tasks[self._task]
        self._bars.update(
            self._task,
            description=f"level {level:g} of {growth.levels[-1]:g}: {inside_at(self._file, level)}",
            completed=done,
            total=done + left,
            note=self._tally(),
            share=(done - self._begun) / max(1, done - self._begun + left),
            at=task.elapsed or 0.0,
        )

    def _tally(self) -> str:
        tree = self._file.tree
        return f"{len(tree)} nodes, {len(tree.edges)} edges, {self._optimised} optimisations"


def inside_at(file: Stored, level: float) -> str:
    """How many of the last samples of a domain were inside, in words."""
    late = [one.inside for one in file.outcomes if one.level == level][-lately(file.growth) :]
    return f"{sum(late)} of the last {len(late)} inside"
