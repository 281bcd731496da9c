"""`tumble list [FILE.py]`: what there is."""

import json
from pathlib import Path
from typing import Annotated, Any

import tyro

from tumble.attraction.shipped import shipped
from tumble.attraction.store import outline_of
from tumble.attraction.systems import SYSTEMS, summary_of
from tumble.characters import CAPABILITIES, CHARACTERS, character
from tumble.cli.options import CONFIG, own_file
from tumble.controllers import CONTROLLERS
from tumble.goals import GOALS
from tumble.planners.reflexes import REFLEXES
from tumble.scenarios import SCENARIOS
from tumble.scenarios.environments import environments
from tumble.simbicon.gait import BODIES, gait_names
from tumble.skills.script import FORMS
from tumble.stepping.base import BASES
from tumble.stepping.examples import shipped as databases
from tumble.tasks.library import TASKS
from tumble.tasks.policy import shipped as policies
from tumble.world.drives import DRIVES


def listing() -> dict[str, dict[str, Any]]:
    """Names and a line each, by kind; of scenarios also the controllers that suit, the usual one first."""
    return {
        "scenarios": {
            name: {"summary": entry.summary, "controllers": list(entry().suited())} for name, entry in SCENARIOS.items()
        },
        "environments": {id_of: f"Gymnasium: '{name}'" for id_of, name in environments().items()},
        "characters": {name: f"{entry.summary} [{_abilities(name)}]" for name, entry in CHARACTERS.items()},
        "capabilities": dict(CAPABILITIES),
        "gaits": {body: ", ".join(gait_names(body)) for body in BODIES},
        "controllers": {name: entry.summary for name, entry in CONTROLLERS.items()},
        "drives": {name: entry.summary for name, entry in DRIVES.items()},
        "goals": {name: entry.summary for name, entry in GOALS.items()},
        "reflexes": {name: entry.summary for name, entry in REFLEXES.items()},
        "systems": {name: summary_of(name) for name in SYSTEMS},
        "trees": {name: _tree(file) for name, file in shipped().items()},
        "tasks": {name: _task(name) for name in TASKS},
        "bases": {name: _base(name) for name in BASES},
        "scripts": {form.shape: f"{form.summary}, such as '{form.example}'" for form in FORMS},
    }


def _abilities(name: str) -> str:
    return ", ".join(sorted(character(name).capabilities))


def _tree(file: Path) -> str:
    about = outline_of(file)
    return f"skill {about.name}, grown up to level {about.largest:g}, {about.nodes} nodes"


def _task(name: str) -> str:
    entry = TASKS[name]
    return f"{entry.summary} [{entry.make.character}]{', a policy ships' if name in policies() else ''}"


def _base(name: str) -> str:
    return f"{BASES[name].summary}{' [examples ship]' if name in databases() else ''}"


def show(as_json: Annotated[bool, tyro.conf.arg(name="json")] = False) -> int:
    """List scenarios, characters with what they can do and their gaits, controllers, drives, goals, words of scripts.

    Also ids of Gymnasium environments, reflexes of C-PBP, systems that attraction trees can be grown for, trees that
    ship, tasks over steps, bases of constrained walks.

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
            line = f"{entry['summary']} ({', '.join(entry['controllers']) or 'none'})" if kind == "scenarios" else entry
            print(f"  {name:20} {line}")
    return 0


def main(arguments: list[str]) -> int:
    """Parse and run."""
    _, others = own_file(arguments)
    return tyro.cli(show, prog="tumble list", args=others, config=CONFIG)
