"""What commands share in reading their options: the controller decides which settings there are."""

from typing import Any

import tyro

from tumble.controllers import controller_kind

FLAT = tyro.conf.arg(name="")  # --force, not --scenario.force
CONFIG = (tyro.conf.FlagCreatePairsOff,)


def settings_type(arguments: list[str], usual: str) -> type[Any]:
    """The settings of the controller that raw arguments name, or of the usual one."""
    for i, word in enumerate(arguments):
        if word == "--controller" and i + 1 < len(arguments):
            return controller_kind(arguments[i + 1]).settings
        if word.startswith("--controller="):
            return controller_kind(word.partition("=")[2]).settings
    return controller_kind(usual).settings
