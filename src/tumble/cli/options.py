"""What commands share in reading their options: the controller decides which settings there are."""

from typing import Any

import tyro

from tumble.scenarios import Scenario

FLAT = tyro.conf.arg(name="")  # --force, not --scenario.force
CONFIG = (tyro.conf.FlagCreatePairsOff,)


def usual_settings(arguments: list[str], scenario: type[Scenario]) -> Any:
    """What the controller that raw arguments name, or the scenario's own, begins with in a scenario."""
    for i, word in enumerate(arguments):
        if word == "--controller" and i + 1 < len(arguments):
            return scenario.settings_for(arguments[i + 1])
        if word.startswith("--controller="):
            return scenario.settings_for(word.partition("=")[2])
    return scenario.settings_for(scenario.controllers[0])
