"""Compiles what most tests need, before they begin: `python tests/warming.py walkers`.

Each of two workers would compile it by itself: 85 CPU s on a slow machine. Two processes that share the work and
leave it on disk take half of that once, and nothing if it is there already.
"""

import sys
from dataclasses import replace

from tumble.planners import PLANNERS
from tumble.scenarios import SCENARIOS, Trial

NOISE = {"transition_place": 0.05, "transition_speed": 0.5}  # with which C-PBP has beliefs
WORK: dict[str, list[tuple[str, str, dict]]] = {  # scenario, controller, settings that are not as usual
    "walkers": [
        ("steer-walk", "walker", {}),
        ("stairs", "walker", {}),
        ("crate-carry", "walker", {}),
        ("pick-up", "walker", {}),
        ("crowd", "crowd", {}),
    ],
    "planners": [
        ("simbicon-humanoid", "simbicon", {}),
        ("stand", "cpbp", {}),
        ("stand", "cpbp", {"wrist_rule": True, **NOISE}),
        ("learn-walk", "mcts", {}),
        ("learn-walk", "cpbp", {"informed": 4, **NOISE}),
        ("dodge", "smc", {}),
        ("steer", "smc", {}),
        ("juggle", "cpbp", {}),
        ("steer", "cpbp", {}),
    ],
}


def warm(which: str) -> None:
    """Three frames of each trial, with few and short plans."""
    for name, controller, changes in WORK[which]:
        settings = SCENARIOS[name].make.settings_for(controller)
        if controller in PLANNERS:
            settings = replace(settings, samples=8, horizon=0.2, **changes)
        trial = Trial(SCENARIOS[name](), 1, controller, settings=settings, threads=1)
        for _ in range(3):
            trial.step()
        trial.controller.close()


if __name__ == "__main__":
    warm(sys.argv[1])
