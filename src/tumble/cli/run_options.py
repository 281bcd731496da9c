"""Options of `tumble run`: what it takes for every scenario, beside the scenario's fields and a controller's settings.

    parsed = parse(["push", "--force", "600", "--trials", "10"])
    parsed.scenario.force                                            # 600.0

Scenario and controller are found in the raw arguments, as they decide which other options there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from tumble.cli.learning import check_frozen
from tumble.cli.options import CONFIG, FLAT, only_scenario, own_file, usual_settings
from tumble.errors import UserError, check_number
from tumble.files import check_place, read_text
from tumble.scenarios import SCENARIOS, Scenario
from tumble.skills.script import LONGEST


@dataclass(frozen=True)
class RunOptions:
    """What `tumble run` takes for every scenario."""

    controller: str | None = None
    """Who controls: see 'tumble list'; by default the one that the scenario is made for."""
    character: str | None = None
    """Which body: see 'tumble list', or the MJCF of your own robot; by default the one that the scenario is for."""
    seconds: float | None = None
    """Simulated time, instead of the scenario's own."""
    seed: int = 0
    """Of the first trial; the next trials take the next seeds."""
    trials: int = 1
    """How many."""
    threads: int = 0
    """For the physics; 0: one per core. Results do not depend on it."""
    jobs: int = 1
    """Trials at once, each in a process of its own with one thread; 0: one per core. Results do not depend on it."""
    cluster: str | None = None
    """Have trials run by the workers of this Dask scheduler, HOST:PORT; see the README, 'Many trials'."""
    store: Path | None = None
    """Keep every finished trial in this file; the same command goes on where it was, also after kill -9."""
    record: Path | None = None
    """Write a recording (.npz); with several trials one each, its seed in the name."""
    script: str | None = None
    """What a walker does instead of what the scenario wants: acts with ';' between them, or a file with one a line."""
    keep_time: bool = False
    """Fit the planner's work to the frame, by measured time: another machine, or another time, goes another way."""
    set_file: Annotated[Path | None, tyro.conf.arg(name="set")] = None
    """Put what this file of a set (.json) holds into the scene, each thing in the place of one of its name."""
    learned: Path | None = None
    """Go on from what was learned: load this file if it is there, and add to it (planners that learn: smc, mcts)."""
    frozen: bool = False
    """Use what was learned without adding to it."""
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print exactly one JSON object on standard output."""

    @property
    def spread(self) -> bool:
        """Whether trials run in other processes."""
        return self.jobs != 1 or self.cluster is not None


@dataclass(frozen=True)
class Parsed:
    """What a command line asks for.

    Attributes:
      options: for every scenario.
      scenario: with its fields.
      settings: of the controller.
      file: the user's own that was loaded, or None.
    """

    options: RunOptions
    scenario: Scenario
    settings: Any
    file: Path | None


def parse(arguments: Sequence[str]) -> Parsed:
    """Load the user's file, if one is named, and read all options; tyro exits where it does not know one."""
    file, rest = own_file(list(arguments))
    if file is not None and (not rest or rest[0].startswith("-")):
        rest = [only_scenario(file, "run"), *rest]
    if rest[0].startswith("-"):
        raise UserError(f"name the scenario first: tumble run SCENARIO ...; there are: {', '.join(SCENARIOS)}")
    kind = SCENARIOS[rest[0]].make
    usual = usual_settings(rest, kind)

    def go(
        options: Annotated[RunOptions, FLAT],
        scenario: Annotated[kind, FLAT],  # type: ignore[valid-type]
        settings: Annotated[type(usual), FLAT] = usual,  # type: ignore[valid-type]
    ) -> Parsed:
        return Parsed(options, scenario, settings, None if file is None else file.path)

    go.__doc__ = f"{kind.__doc__}\n\nExample: tumble run {kind.name} --trials 10 --seed 100"
    return tyro.cli(go, prog=f"tumble run {kind.name}", args=rest[1:], config=CONFIG)


def check(options: RunOptions) -> None:
    """Refuse, before anything is simulated, what cannot be done or does not go together."""
    check_number("trials", options.trials, 1, 1e6)
    check_number("seed", options.seed, 0, 2**63 - 1)
    check_number("threads", options.threads, 0, 1024)
    check_number("jobs", options.jobs, 0, 1024)
    if options.record is not None:
        if options.record.suffix != ".npz":
            raise UserError(f"a recording's name ends in .npz, got {options.record}")
        check_place(options.record)
    check_frozen(options.learned, options.frozen)
    if options.keep_time and options.spread:
        raise UserError(
            "--keep-time measures time, which trials beside each other spoil; leave out --jobs and --cluster"
        )
    for name, given, why in (
        ("learned", options.learned, "each trial learns from those before it"),
        ("record", options.record, "recordings are written by the process that runs a trial"),
    ):
        if given is not None and options.spread:
            raise UserError(f"--{name} is for trials one after the other: {why}; leave out --jobs and --cluster")
        if given is not None and options.store is not None:
            raise UserError(f"--{name} and --store do not go together: a trial that is in the store does not run again")
    if options.spread and options.threads > 1:
        raise UserError("with --jobs or --cluster every trial has one thread; leave out --threads")


def script_text(given: str) -> str:
    """A script as it was given, or that of the file it names: one that ends in .txt, or that is there."""
    path = Path(given)
    if path.suffix == ".txt" or (len(given) < 256 and path.is_file()):
        return read_text(path, f"the script {path}", LONGEST + 1)
    return given
