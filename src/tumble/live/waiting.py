"""What commands that wait for the next frame come to."""

from collections.abc import Iterable

from tumble.goals.wants import WANTS, Want, kept
from tumble.live.commands import Carve, Command, Drag, Explode, Push, Release, Reset, Restyle, SetParameter, Throw


def parameters_in(commands: Iterable[Command]) -> dict[str, float]:
    """Parameters by name that commands set; the last one counts."""
    return {command.name: command.value for command in commands if isinstance(command, SetParameter)}


def without_idle(commands: tuple[Command, ...], wanted: Want | None) -> tuple[Command, ...]:
    """Commands without those that later ones make idle: drags, styles, and wants that change nothing in the end."""
    left: list[Command] = []
    for i, command in enumerate(commands):
        later = commands[i + 1 :]
        match command:
            case Drag() | Release():
                idle = any(isinstance(one, Drag | Release) for one in later)
            case Restyle():
                idle = any(isinstance(one, Restyle) and one.name == command.name for one in later)
            case Push() | Explode() | Throw() | Reset() | Carve() | SetParameter():
                idle = False
            case _:
                others = all_wanted(wanted, (*left, *later))
                idle = others == all_wanted(wanted, (*left, command, *later)) and _says_want(later)
        if not idle:
            left.append(command)
    return tuple(left)


def _says_want(commands: Iterable[Command]) -> bool:
    return any(isinstance(command, WANTS) for command in commands)


def all_wanted(wanted: Want | None, commands: Iterable[Command]) -> Want | None:
    """All that is wanted after commands."""
    for command in commands:
        if isinstance(command, WANTS):
            wanted = kept(wanted, command)
    return wanted
