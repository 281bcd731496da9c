"""Commands of several actions: `tumble tree build`, `tumble task train`.

    GROUP = Group("task", "Policies over gaits.", {"info": "tell what a policy is"}, ("tumble task info heading",))
    main = GROUP.main

A module `GROUP_ACTION` with a function `main(arguments)` does each, unless `places` names another.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module

from tumble.errors import unknown


@dataclass(frozen=True)
class Group:
    """A command and its actions.

    Attributes:
      name: of the command.
      about: what it is about, for its help.
      actions: by name, what each does.
      examples: commands.
      trailer: what its arguments may be, for its help.
      places: module and function of actions that are elsewhere.
    """

    name: str
    about: str
    actions: Mapping[str, str]
    examples: tuple[str, ...]
    trailer: str
    places: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def usage(self) -> str:
        """Its help."""
        actions = "\n".join(f"  {name:8} {what}" for name, what in self.actions.items())
        examples = "\n".join(f"  {example}" for example in self.examples)
        return (
            f"usage: tumble {self.name} ACTION ...\n\n{self.about}\n\nactions:\n{actions}\n\nexamples:\n{examples}\n\n"
            f"{self.trailer}\n'tumble {self.name} ACTION --help' lists all options."
        )

    def main(self, arguments: list[str]) -> int:
        """Find the action and do it; the exit code."""
        if not arguments or arguments[0] in ("-h", "--help"):
            print(self.usage)
            return 0
        if arguments[0] not in self.actions:
            raise unknown("action", arguments[0], self.actions, f" of 'tumble {self.name}'")
        module, function = self.places.get(arguments[0], (f"{self.name}_{arguments[0]}", "main"))
        return int(getattr(import_module(f"tumble.cli.{module}"), function)(arguments[1:]))
