"""Planners by name, and the types they share."""

from dataclasses import dataclass
from typing import Any

from tumble.errors import choose
from tumble.planners.cpbp.cpbp import CPBP
from tumble.planners.cpbp.settings import CPBPSettings, PFMPCSettings
from tumble.planners.mcts.mcts import MCTS
from tumble.planners.mcts.settings import MCTSSettings
from tumble.planners.planned import Planned
from tumble.planners.planner import Plan, Planner
from tumble.planners.smc.settings import SMCSettings
from tumble.planners.smc.smc import SMC
from tumble.planners.splines import CEM, MPPI, CEMSettings, MPPISettings, PredictiveSampling, PredictiveSamplingSettings

__all__ = [
    "CEM", "CPBP", "MCTS", "MPPI", "PLANNERS", "SMC", "CEMSettings", "CPBPSettings", "MCTSSettings", "MPPISettings",
    "PFMPCSettings", "Plan", "Planned", "Planner", "PlannerKind", "PredictiveSampling", "PredictiveSamplingSettings",
    "SMCSettings", "planner_kind",
]  # fmt: skip


@dataclass(frozen=True)
class PlannerKind:
    """A planner that people can choose by name."""

    planner: type[Any]
    settings: type[Any]
    summary: str


PLANNERS: dict[str, PlannerKind] = {
    "cpbp": PlannerKind(CPBP, CPBPSettings, "Control Particle Belief Propagation (hamalainen2015)"),
    "pf-mpc": PlannerKind(CPBP, PFMPCSettings, "C-PBP's forward pass alone: PF-MPC (Stahl and Hauth 2011)"),
    "smc": PlannerKind(SMC, SMCSettings, "sequential Monte Carlo over control splines with a kD-tree (hamalainen2014)"),
    "mcts": PlannerKind(MCTS, MCTSSettings, "tree search informed by a forest and a network that learn (rajamaki2017)"),
    "ps": PlannerKind(
        PredictiveSampling, PredictiveSamplingSettings, "predictive sampling over splines (Howell et al. 2022)"
    ),
    "cem": PlannerKind(CEM, CEMSettings, "the cross-entropy method over splines (Rubinstein 1999)"),
    "mppi": PlannerKind(
        MPPI, MPPISettings, "model predictive path integral control over splines (Williams et al. 2017)"
    ),
}


def planner_kind(name: str) -> PlannerKind:
    """The kind of planner of that name."""
    return choose("controller", name, PLANNERS)
