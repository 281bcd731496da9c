"""Trials as jobs: what `tumble run` does in other processes, on this machine or on a cluster.

    with workers(jobs=4) as pool:
        for index, ran in as_done(pool, do_trial, [(recipe, seed) for seed in range(10)]):
            ran_of(ran).result.success

A trial's recipe is the command line that asked for it, which a worker reads as this process did. Scene, controller and
what was compiled for them are made once in a process, and kept for the next seed.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from tumble.characters.own import own_robot
from tumble.cli.own_robots import own_place
from tumble.cli.run_options import Parsed, parse
from tumble.cli.runner import Ran, Runner
from tumble.errors import UserError
from tumble.offline.versions import versions
from tumble.scenarios import Result


@dataclass(frozen=True)
class Recipe:
    """All that a worker needs to know of trials, beside a seed.

    Attributes:
      arguments: of `tumble run`; files of the user's in them have their whole paths, which a cluster's machines must
        share.
      script: the text of --script, whose file a worker need not have.
      mark: of the user's file and of the own robot, or ''.
    """

    arguments: tuple[str, ...]
    script: str | None
    mark: str


def recipe_of(arguments: Sequence[str], parsed: Parsed) -> Recipe:
    """The recipe of what a command line asks for, whose script is a text."""
    words = tuple(arguments)
    if parsed.file is not None:
        words = (str(parsed.file), *words[1:])
    if (place := own_place(parsed.options.character)) is not None:
        words = (*words, "--character", str(place.absolute()))  # the last one counts
    if parsed.options.set_file is not None:
        words = (*words, "--set", str(parsed.options.set_file.absolute()))
    return Recipe(words, parsed.options.script, _marks(parsed))


def do_trial(recipe: Recipe, seed: int) -> dict[str, Any]:
    """Run one trial, in a worker; plain data, see `ran_of`."""
    return plain(_runner(recipe).trial(seed))


@lru_cache(maxsize=2)  # a cluster's worker may serve two people
def _runner(recipe: Recipe) -> Runner:
    """Warmed up, so that no trial pays for compiling."""
    parsed = parse(recipe.arguments)
    if _marks(parsed) != recipe.mark:
        own = (parsed.file, own_place(parsed.options.character), parsed.options.set_file)
        files = ", ".join(str(file) for file in own if file)
        raise UserError(f"{files} is another file for a worker than it is here; give it the same")
    options = replace(
        parsed.options, script=recipe.script, threads=1, jobs=1, cluster=None, store=None, record=None, learned=None
    )
    runner = Runner(options, parsed.scenario, parsed.settings)
    runner.warm_up()
    return runner


def _marks(parsed: Parsed) -> str:
    """Of a user's file, of a set, and of a robot of people's own with all that is said of it."""
    place = own_place(parsed.options.character)
    robot = "" if place is None else json.dumps(dict(own_robot(place)[0].recipe), sort_keys=True)
    own = hashlib.sha256(robot.encode()).hexdigest() if robot else ""
    return _mark(parsed.file) + own + _mark(parsed.options.set_file)


def _mark(file: Path | None) -> str:
    return "" if file is None else hashlib.sha256(file.read_bytes()).hexdigest()


def plain(ran: Ran) -> dict[str, Any]:
    """A trial that was run as JSON, floats to the last bit."""
    result = ran.result
    return {
        "success": bool(result.success),
        "finished": bool(result.finished),
        "seconds": float(result.seconds),
        "frames": int(result.frames),
        "plan_seconds": [float(seconds) for seconds in result.plan_seconds],
        "sim_steps": int(result.sim_steps),
        "broken_rows": int(result.broken_rows),
        "metrics": {name: float(value) for name, value in result.metrics.items()},
        "wall_seconds": ran.wall_seconds,
    }


def ran_of(data: Mapping[str, Any]) -> Ran:
    """The trial of which `plain` made that."""
    fields = dict(data)
    wall_seconds = fields.pop("wall_seconds")
    return Ran(Result(**fields), wall_seconds)


def about(parsed: Parsed, runner: Runner) -> dict[str, Any]:
    """What decides about trials beside their seed, as a flat JSON object: of what a store holds results."""
    options = parsed.options
    chosen = {
        "scenario": parsed.scenario.name, "controller": runner.controller, "character": runner.character,
        "seconds": options.seconds, "script": options.script, "file": _marks(parsed),
    }  # fmt: skip
    scenario: Any = parsed.scenario  # a dataclass, as all that are registered
    for name, value in (asdict(scenario) | asdict(parsed.settings)).items():
        chosen[f"--{name.replace('_', '-')}"] = value
    known: dict[str, Any] = json.loads(json.dumps(chosen | versions(), default=str))
    return known
