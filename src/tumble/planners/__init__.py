"""Planners by name, and the types they share.

    register("mine", Mine, "what it does", settings=MineSettings)    # called with scene, settings, seed and threads

Every planner is a controller by the same name, too (`tumble.controllers`).
"""

from dataclasses import dataclass
from typing import Any

from tumble.planners.cpbp.cpbp import CPBP
from tumble.planners.cpbp.settings import CPBPSettings, PFMPCSettings
from tumble.planners.mcts.mcts import MCTS
from tumble.planners.mcts.settings import MCTSSettings
from tumble.planners.planned import Planned
from tumble.planners.planner import Plan, Planner
from tumble.planners.smc.settings import SMCSettings
from tumble.planners.smc.smc import SMC
from tumble.planners.splines import CEM, MPPI, CEMSettings, MPPISettings, PredictiveSampling, PredictiveSamplingSettings
from tumble.registry import Entry, Registry

__all__ = [
    "CEM", "CPBP", "MCTS", "MPPI", "PLANNERS", "SMC", "CEMSettings", "CPBPSettings", "MCTSSettings",
    "MPPISettings", "PFMPCSettings", "Plan", "Planned", "Planner", "PredictiveSampling", "PredictiveSamplingSettings",
    "SMCSettings", "register",
]  # fmt: skip


@dataclass(frozen=True)
class PlannerEntry(Entry[type[Any]]):
    """A planner that people can choose by name; `make` is its class, `settings` a dataclass; `cites` as controllers."""

    settings: type[Any]
    cites: tuple[str, ...] = ()


PLANNERS: Registry[PlannerEntry] = Registry("planner", PlannerEntry)
register = PLANNERS.register
register(
    "cpbp", CPBP, "Control Particle Belief Propagation (hamalainen2015)",
    settings=CPBPSettings, cites=("hamalainen2015",),
)  # fmt: skip
register(
    "pf-mpc", CPBP, "C-PBP's forward pass alone: PF-MPC (Stahl and Hauth 2011)",
    settings=PFMPCSettings, cites=("stahl2011", "hamalainen2015"),
)  # fmt: skip
register(
    "smc", SMC, "sequential Monte Carlo over control splines with a kD-tree (hamalainen2014)",
    settings=SMCSettings, cites=("hamalainen2014",),
)  # fmt: skip
register(
    "mcts", MCTS, "tree search informed by a forest and a network that learn (rajamaki2017)",
    settings=MCTSSettings, cites=("rajamaki2017",),
)  # fmt: skip
register(
    "ps", PredictiveSampling, "predictive sampling over splines (Howell et al. 2022)",
    settings=PredictiveSamplingSettings, cites=("howell2022",),
)  # fmt: skip
register(
    "cem", CEM, "the cross-entropy method over splines (Rubinstein 1999)",
    settings=CEMSettings, cites=("rubinstein1999",),
)  # fmt: skip
register(
    "mppi", MPPI, "model predictive path integral control over splines (Williams et al. 2017)",
    settings=MPPISettings, cites=("williams2017",),
)  # fmt: skip
