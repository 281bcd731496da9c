"""`tumble cite SCENARIO`: the BibTeX of what a scenario uses: its controller's papers, MuJoCo, tumble itself.

    main(["push", "--controller", "relay"])            # the walker's papers, and those of who gets it up

What a controller cites stands where it is registered, `register(..., cites=("coros2010",))`: keys of entries that ship
in references.bib, or whole entries of BibTeX.
"""

import re
from importlib.metadata import version
from importlib.resources import files
from typing import Annotated

import tyro

from tumble.cli.options import CONFIG, only_scenario, own_file
from tumble.controllers import CONTROLLERS
from tumble.errors import unknown
from tumble.scenarios import SCENARIOS

ALWAYS = ("todorov2012", "tumble")  # the engine and this
ENTRY = re.compile(r"^@\w+\{([^,\s]+),.*?^\}$", re.MULTILINE | re.DOTALL)


def references() -> dict[str, str]:
    """All BibTeX entries that ship, by key."""
    text = files("tumble.cli").joinpath("references.bib").read_text(encoding="utf-8")
    return {found[1]: found[0].replace("VERSION", version("tumble")) for found in ENTRY.finditer(text)}


def cited(scenario: str, controller: str | None = None) -> list[str]:
    """Keys of what a scenario uses by a controller, or by the one that it is made for; each once, its papers first."""
    kind = SCENARIOS[scenario].make
    name = kind.controllers[0] if controller is None else controller
    names = [name, *filter(None, [getattr(kind.settings_for(name), "rising", None)])]  # who gets it up, of a relay
    return list(dict.fromkeys([key for one in names for key in CONTROLLERS[one].cites] + [*ALWAYS]))


def cite(scenario: Annotated[str, tyro.conf.Positional], controller: str | None = None) -> int:
    """Print the BibTeX of what a scenario uses: its controller's papers, MuJoCo and tumble.

    Example: tumble cite push

    Example, of another controller: tumble cite push --controller walker >> paper.bib

    Example, of a file of your own: tumble cite mine.py

    Args:
      scenario: see 'tumble list'.
      controller: who controls; by default the one that the scenario is made for.
    """
    entries = references()
    for key in cited(scenario, controller):
        if key not in entries and not key.startswith("@"):
            raise unknown("reference", key, entries, "; give one that ships or a whole BibTeX entry")
        print(entries.get(key, key), end="\n\n")
    return 0


def main(arguments: list[str]) -> int:
    """Parse and run."""
    file, others = own_file(arguments)
    if file is not None and (not others or (others[0].startswith("-") and others[0] not in ("-h", "--help"))):
        others = [only_scenario(file, "cite"), *others]
    return tyro.cli(cite, prog="tumble cite", args=others, config=CONFIG)
