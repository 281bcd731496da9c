"""`tumble list`: what there is."""

import json
from typing import Annotated, Any

import tyro

from tumble.characters import CHARACTERS, LEGGED, STEPPERS
from tumble.cli.options import CONFIG
from tumble.controllers import CONTROLLERS
from tumble.goals import GOALS
from tumble.scenarios import SCENARIOS
from tumble.skills.script import FORMS


def listing() -> dict[str, dict[str, Any]]:
    """Names and a line each, by kind; of scenarios also the controllers that suit, the usual one first."""
    return {
        "scenarios": {
            name: {"summary": kind.summary, "controllers": list(kind.controllers)} for name, kind in SCENARIOS.items()
        },
        "characters": {name: summary for name, (_, summary) in {**CHARACTERS, **STEPPERS, **LEGGED}.items()},
        "controllers": {name: kind.summary for name, kind in CONTROLLERS.items()},
        "goals": {name: (make.__doc__ or "").partition("\n")[0] for name, make in GOALS.items()},
        "scripts": {form.shape: f"{form.summary}, such as '{form.example}'" for form in FORMS},
    }


def show(as_json: Annotated[bool, tyro.conf.arg(name="json")] = False) -> int:
    """List scenarios, characters, controllers, goals, and what scripts are written of.

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
    return tyro.cli(show, prog="tumble list", args=arguments, config=CONFIG)
