"""`tumble list [FILE.py]`: what there is."""

import json
from typing import Annotated, Any

import tyro

from tumble.characters import CAPABILITIES, CHARACTERS, character
from tumble.cli.options import CONFIG, own_file
from tumble.controllers import CONTROLLERS
from tumble.goals import GOALS
from tumble.scenarios import SCENARIOS
from tumble.simbicon.gait import BODIES, gait_names
from tumble.skills.script import FORMS


def listing() -> dict[str, dict[str, Any]]:
    """Names and a line each, by kind; of scenarios also the controllers that suit, the usual one first."""
    return {
        "scenarios": {
            name: {"summary": entry.summary, "controllers": list(entry.make.controllers)}
            for name, entry in SCENARIOS.items()
        },
        "characters": {name: f"{entry.summary} [{_abilities(name)}]" for name, entry in CHARACTERS.items()},
        "capabilities": dict(CAPABILITIES),
        "gaits": {body: ", ".join(gait_names(body)) for body in BODIES},
        "controllers": {name: entry.summary for name, entry in CONTROLLERS.items()},
        "goals": {name: entry.summary for name, entry in GOALS.items()},
        "scripts": {form.shape: f"{form.summary}, such as '{form.example}'" for form in FORMS},
    }


def _abilities(name: str) -> str:
    return ", ".join(sorted(character(name).capabilities))


def show(as_json: Annotated[bool, tyro.conf.arg(name="json")] = False) -> int:
    """List scenarios, characters with what they can do and their gaits, controllers, goals, and words of scripts.

    Usage: tumble list [FILE.py] [--json]; with a file of your own, what it registers is there too.

    Example: tumble list mine.py

    Args:
      as_json: print one JSON object instead.
    """
    kinds = listing()
    if as_json:
        print(json.dumps(kinds, indent=2))
        return 0
    for kind, entries in kinds.items():
        print(kind)
        for name, entry in entries.items():
            line = f"{entry['summary']} ({', '.join(entry['controllers'])})" if kind == "scenarios" else entry
            print(f"  {name:20} {line}")
    return 0


def main(arguments: list[str]) -> int:
    """Parse and run."""
    _, others = own_file(arguments)
    return tyro.cli(show, prog="tumble list", args=others, config=CONFIG)
