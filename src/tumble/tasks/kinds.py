"""Kinds of actions, by their names in files: steps of gaits and strides of the walker.

kind = kind_of(task.actions)
stepper = kind(scene)
KINDS["gaits"].digest("big-bird")
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from tumble.errors import UserError
from tumble.tasks.actions import Action, StepKind
from tumble.tasks.gaits import GaitStepper
from tumble.tasks.strides import StrideStepper
from tumble.world.scene import Scene

KINDS: dict[str, type[StepKind]] = {kind.kind: kind for kind in (GaitStepper, StrideStepper)}


def kind_of(actions: Sequence[Any]) -> type[StepKind]:
    """Who takes such actions; refuses some of one kind and some of another."""
    for kind in KINDS.values():
        if all(isinstance(action, kind.action) for action in actions):
            return kind
    named = " or ".join(kind.action.__name__ for kind in KINDS.values())
    got = ", ".join(sorted({type(action).__name__ for action in actions}))
    raise UserError(f"actions of a task are all of one class, {named}, got: {got}")


def stepper_for(scene: Scene) -> StepKind:
    """A stepper that suits the scene's character; the first of the kinds that do."""
    for kind in KINDS.values():
        if set(kind.needs) <= scene.character.capabilities:
            return kind(scene)
    needs = "; or ".join(", ".join(kind.needs) for kind in KINDS.values())
    raise UserError(f"'{scene.character.name}' takes no steps that tasks choose among: they need {needs}")


def plain(actions: Sequence[Any]) -> tuple[dict[str, str | float], ...]:
    """Actions as files have them."""
    return tuple(msgspec.to_builtins(action) for action in actions)


def read_actions(kind: str, actions: Sequence[dict[str, str | float]]) -> tuple[Action, ...]:
    """Actions of a kind, of a file; ValueError or msgspec's where they are none."""
    if kind not in KINDS:
        raise ValueError(f"its actions are '{kind}', known are: {', '.join(KINDS)}")
    return tuple(msgspec.convert(action, KINDS[kind].action) for action in actions)
