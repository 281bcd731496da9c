"""Planners by name, and the types they share."""

from dataclasses import dataclass
from typing import Any

from tumble.errors import choose
from tumble.planners.cpbp import CPBP, CPBPSettings
from tumble.planners.planned import Planned
from tumble.planners.planner import Plan, Planner

__all__ = ["CPBP", "PLANNERS", "CPBPSettings", "Kind", "Plan", "Planned", "Planner", "planner_kind"]


@dataclass(frozen=True)
class Kind:
    """A planner that people can choose by name."""

    planner: type[Any]
    settings: type[Any]
    summary: str


PLANNERS: dict[str, Kind] = {
    "cpbp": Kind(CPBP, CPBPSettings, "Control Particle Belief Propagation (hamalainen2015)"),
}


def planner_kind(name: str) -> Kind:
    """The kind of planner of that name."""
    return choose("controller", name, PLANNERS)
