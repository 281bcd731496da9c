"""What commands share in reading their options: a user's own file; the controller decides which settings there are.

    file, arguments = own_file(["mine.py", "limbo", "--controller", "cem"])       # mine.py is executed
    settings = usual_settings(arguments, SCENARIOS["limbo"].make)                 # those of cem in limbo

Raw arguments are looked at before a parser is made, because they decide what it is made of.
"""

from typing import Any

import tyro

from tumble.errors import UserError
from tumble.scenarios import Scenario
from tumble.userfile import UserFile, load

FLAT = tyro.conf.arg(name="")  # --force, not --scenario.force
CONFIG = (tyro.conf.FlagCreatePairsOff,)


def own_file(arguments: list[str]) -> tuple[UserFile | None, list[str]]:
    """Load the user's file that raw arguments begin with, if they do; returns it and the others."""
    if arguments and arguments[0].endswith(".py"):
        return load(arguments[0]), arguments[1:]
    return None, arguments


def with_own_name(arguments: list[str], kind: str) -> list[str]:
    """Arguments without the user's file that they begin with, with the name of the one thing of a kind in it.

    A name of several has to be there; names in the file come first.
    """
    own, rest = own_file(arguments)
    if own is None or (rest and rest[0] in own.names[kind]):
        return rest
    names = own.names[kind]
    if len(names) != 1:
        raise UserError(f"{own.path.name} registers {len(names)} {kind}s: {', '.join(names) or 'none'}; name one")
    return [names[0], *rest]


def only_scenario(file: UserFile, command: str) -> str:
    """The scenario of a user's file where no name was given."""
    own = file.names["scenario"]
    if len(own) == 1:
        return own[0]
    what = f"{len(own)} scenarios: {', '.join(own)}" if own else "no scenario"
    name = file.path.name
    raise UserError(f"{name} registers {what}; name one: tumble {command} {name} {own[0] if own else 'stand'}")


def usual_settings(arguments: list[str], scenario: type[Scenario]) -> Any:
    """What the controller that raw arguments name, or the scenario's own, begins with in a scenario."""
    for i, word in enumerate(arguments):
        if word == "--controller" and i + 1 < len(arguments):
            return scenario.settings_for(arguments[i + 1])
        if word.startswith("--controller="):
            return scenario.settings_for(word.partition("=")[2])
    return scenario.settings_for(scenario.controllers[0])
