"""Dresser: a person's hand on the set of a stage, and on what can be taken back.

    stage.dresser.put(Box("step", (2, 0, 0.1), (0.3, 1, 0.1), ground=True))
    stage.dresser.move("step", (0.5, 0.0), grid=0.25)
    stage.dresser.undo()

Methods belong into the stage's thread, as those of a stage do. The set changes in the present alone: who looks at the
past goes on from there first. What is placed or removed stays so when the scenario begins again, until another one is
chosen.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from tumble.errors import UserError, check_number
from tumble.live.commands import SetParameter
from tumble.planners.planned import WEIGHT
from tumble.settings import names_of
from tumble.studio.choice import Choice
from tumble.studio.undo import Snapshot, Undo
from tumble.world.dressing import Piece, check_pieces, pieces_of, put
from tumble.world.props import Ball, Crate

if TYPE_CHECKING:
    from tumble.studio.stage import Stage

TIMED = ("samples", "serves")  # settings that keep time
PAST = "the set changes in the present alone; press 'live', or go on from here"


class Dresser:
    """Places and removes things, and takes back what was done."""

    def __init__(self, stage: "Stage") -> None:
        self._stage, self._undo = stage, Undo()
        self._edited = {piece.name for piece in stage.choice.placed} | set(stage.choice.removed)

    # What people do -------------------------------------------------------------------------------------

    def put(self, *pieces: Piece, without: str = "") -> None:
        """Put things into the set, each instead of one of its name; `without` names one that goes."""
        self._present()
        scene = self._stage.trial.scene
        kept = [prop for prop in scene.props if prop.name != without]
        names = {piece.name for piece in pieces}
        check_pieces([*(piece for piece in pieces_of(kept) if piece.name in self._edited - names), *pieces])
        self._stage.trial.dress(put(kept, *pieces))
        self._edited |= names | ({without} if without else set())
        self._stage.redraw()

    def remove(self, name: str) -> None:
        """Take a thing out of the set."""
        self._present()
        self._stage.trial.remove(name)
        self._edited.add(name)
        self._stage.redraw()

    def move(self, name: str, by: tuple[float, float], grid: float = 0.0) -> None:
        """Put a thing elsewhere on the ground, m from where it is now, at a place that is a multiple of the grid's."""
        check_number("grid", grid, 0.0, 10.0)
        x, y, z = self.place(name)
        check_number("way", float(np.hypot(*by)), 0.0, 1e3)
        at = (snapped(x + by[0], grid), snapped(y + by[1], grid), z)
        piece = self.piece(name)
        self.put(replace(piece, place=at) if isinstance(piece, Ball) else replace(piece, middle=at))

    def undo(self) -> None:
        """Take back the last thing that was done to set, settings or wants."""
        self._restore(self._undo.back)

    def redo(self) -> None:
        """Do again what was taken back last."""
        self._restore(self._undo.forth)

    def remembered(self, job: Callable[[], Any]) -> Any:
        """Do something that people ask for, so that it can be taken back."""
        trial, before = self._stage.trial, self._snapshot()
        result = job()
        if self._stage.trial is trial:
            self._undo.note(before, self._snapshot())
        return result

    # What panels show -----------------------------------------------------------------------------------

    @property
    def pieces(self) -> list[Piece]:
        """What can be placed and removed."""
        return pieces_of(self._stage.trial.scene.props)

    @property
    def can(self) -> tuple[bool, bool]:
        """Whether something can be taken back, and done again."""
        return self._undo.can

    def piece(self, name: str) -> Piece:
        """The thing of that name."""
        found = next((piece for piece in self.pieces if piece.name == name), None)
        if found is None:
            known = ", ".join(piece.name for piece in self.pieces) or "nothing"
            raise UserError(f"no thing '{name}' in the set; there is: {known}")
        return found

    def place(self, name: str) -> tuple[float, float, float]:
        """Where a thing's middle is now, m."""
        piece = self.piece(name)
        if isinstance(piece, Ball | Crate):
            x, y, z = self._stage.trial.session.world.view(f"{name}.pos")[0]
            return float(x), float(y), float(z)
        return piece.middle

    # For the stage --------------------------------------------------------------------------------------

    def kept(self, choice: Choice, before: Choice) -> Choice:
        """A choice with the set as people want it, where the scenario stays."""
        if choice.scenario != before.scenario:
            return replace(choice, placed=(), removed=())
        placed = tuple(piece for piece in self.pieces if piece.name in self._edited)
        gone = self._edited - {piece.name for piece in placed}
        return replace(choice, placed=placed, removed=tuple(sorted(gone)))

    def began(self, choice: Choice) -> None:
        """Another trial begins."""
        self._undo.clear()
        self._edited = {piece.name for piece in choice.placed} | set(choice.removed)

    def _present(self) -> None:
        if self._stage.past is not None or self._stage.screening.take is not None:
            raise UserError(PAST)

    def _snapshot(self) -> Snapshot:
        stage = self._stage
        director, scene = stage.director, stage.trial.scene
        kept = TIMED if stage.keeping else ()  # what is fitted to the time is nobody's doing
        settings = {name: reduce(getattr, name.split("."), director.settings) for name in names_of(director.settings)}
        numbers = {name: value for name, value in settings.items() if isinstance(value, int | float)}
        values = {name: float(value) for name, value in numbers.items() if name not in kept}
        weights = {WEIGHT + name: value for name, value in director.weights.items()}
        return Snapshot(scene.props, scene.ground, values | weights, stage.trial.session.asked)

    def _restore(self, step: Callable[[Snapshot], Snapshot | None]) -> None:
        """Have what a step gives; nothing where it gives nothing."""
        self._present()
        stage, present = self._stage, self._snapshot()
        wanted = step(present)
        if wanted is None:
            return
        if (wanted.props, wanted.ground) != (present.props, present.ground):
            stage.trial.dress(wanted.props, wanted.ground)
        changed = {name: value for name, value in wanted.parameters.items() if present.parameters.get(name) != value}
        if changed:
            stage.trial.session.send(*(SetParameter(name, value) for name, value in changed.items()))
        if wanted.want is not None and wanted.want != present.want:
            stage.trial.session.want_again(wanted.want)
        stage.redraw()


def snapped(value: float, grid: float) -> float:
    """The nearest multiple of a grid's width; the value itself where there is no grid."""
    return round(value / grid) * grid if grid else value
