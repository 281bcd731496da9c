"""`tumble dataset SCENARIO OUT`: successful episodes of a planner, as a Minari dataset.

    main(["getup", "getup-demonstrations", "--episodes", "100", "--jobs", "2"])

Seeds are tried one after the other until so many episodes have succeeded. Every finished episode is kept in a store
beside OUT until the dataset is there: after Ctrl-C or kill -9 the same command goes on. What comes of it depends on the
number of jobs as little as on where it was interrupted.
"""

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import gymnasium
import tyro

from tumble.cli.options import CONFIG, FLAT, own_file
from tumble.cli.progress import CompileLine, bars_of
from tumble.errors import UserError, check_number
from tumble.gym import Expert, env_id, environments
from tumble.gym.dataset import Demonstration, check_folder, demonstrate, write_dataset
from tumble.gym.expert import usual_expert
from tumble.maths.compiling import compiling
from tumble.offline.jobs import as_done
from tumble.offline.store import JobStore
from tumble.offline.versions import versions
from tumble.offline.workers import cores, workers
from tumble.scenarios import SCENARIOS

USAGE = """\
usage: tumble dataset [FILE.py] SCENARIO OUT [OPTIONS]

Write successful episodes of a planner as a Minari dataset, a new folder OUT.

examples:
  tumble dataset getup getup-demonstrations --episodes 100
  tumble dataset push shoves --force 500 --controller smc --jobs 2
  tumble dataset mine.py limbo limbo-demonstrations

'tumble dataset SCENARIO --help' lists all options. Minari reads it: minari.MinariDataset("OUT/data")."""
Tries: TypeAlias = Callable[[Sequence[int]], Iterator[tuple[int, bytes]]]  # seeds -> each with its episode
TRIES = 4  # seeds for each episode that is wanted, where nobody says


@dataclass(frozen=True)
class DatasetOptions:
    """What `tumble dataset` takes for every scenario."""

    episodes: int = 10
    """How many successful ones."""
    seed: int = 0
    """The first that is tried; the next tries take the next seeds."""
    attempts: int = 0
    """Seeds that are tried at most; 0: four for each episode."""
    controller: str | None = None
    """Which planner: see 'tumble list'; by default the first that suits."""
    character: str | None = None
    """Which body: see 'tumble list'; by default the one that the scenario is made for."""
    jobs: int = 1
    """Episodes at once, each in a process of its own; 0: one per core. The dataset does not depend on it."""
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print exactly one JSON object on standard output."""


@dataclass(frozen=True)
class _Asked:
    """What a command line asks for."""

    out: Path
    options: DatasetOptions
    scenario: Any
    settings: Any

    @property
    def controller(self) -> str:
        """Name of the expert's."""
        return self.options.controller or usual_expert(self.scenario)


def main(arguments: list[str]) -> int:
    """Parse and run; the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE)
        return 0
    asked = _parse(arguments)
    options = asked.options
    check_number("episodes", options.episodes, 1, 1e6)
    check_number("seed", options.seed, 0, 2**31)
    check_number("attempts", options.attempts, 0, 1e7)
    check_number("jobs", options.jobs, 0, 1024)
    check_folder(asked.out)
    _stage(tuple(arguments))  # refused before anything is simulated
    shown, tried = _collected(arguments, asked)
    if len(shown) < options.episodes:
        print(
            f"tumble: {len(shown)} of {options.episodes} episodes after {tried} tries; more tries: --attempts",
            file=sys.stderr,
        )
        return 1
    env, _ = _stage(tuple(arguments))
    size = write_dataset(asked.out, env, shown, _about(arguments, asked))
    _place(asked).unlink(missing_ok=True)
    steps = sum(len(one.actions) for one in shown.values())
    summary = {
        "out": str(asked.out), "environment": env_id(asked.scenario.name), "controller": asked.controller,
        "episodes": len(shown), "tried": tried, "steps": steps, "seeds": sorted(shown), "bytes": size,
    }  # fmt: skip
    if options.as_json:
        print(json.dumps(summary))
    else:
        print(
            f"wrote {asked.out}: {len(shown)} successes of {tried} tries, {steps} steps, {size / 1e6:.1f} MB\n"
            f'  read it: minari.MinariDataset("{asked.out}/data")'
        )
    return 0


def _parse(arguments: Sequence[str]) -> _Asked:
    """All options, of a raw command line."""
    _, rest = own_file(list(arguments))
    known = {name: SCENARIOS[name].make for name in environments().values()}
    if not rest or rest[0].startswith("-"):
        raise UserError(f"name the scenario first: tumble dataset SCENARIO OUT; there are: {', '.join(known)}")
    if SCENARIOS[rest[0]].name not in known:
        raise UserError(f"'{rest[0]}' has no environment; scenarios that have one: {', '.join(known)}")
    kind = known[rest[0]]
    named = [rest[i + 1] for i, word in enumerate(rest[:-1]) if word == "--controller"]
    named += [word.partition("=")[2] for word in rest if word.startswith("--controller=")]
    usual = kind.settings_for(named[0] if named else usual_expert(kind()))

    def go(
        out: Annotated[Path, tyro.conf.Positional],
        options: Annotated[DatasetOptions, FLAT],
        scenario: Annotated[kind, FLAT],  # type: ignore[valid-type]
        settings: Annotated[type(usual), FLAT] = usual,  # type: ignore[valid-type]
    ) -> _Asked:
        return _Asked(out, options, scenario, settings)

    go.__doc__ = f"{kind.__doc__}\n\nArgs:\n  out: the new folder."
    return tyro.cli(go, prog=f"tumble dataset {kind.name}", args=rest[1:], config=CONFIG)


@lru_cache(maxsize=1)
def _stage(arguments: tuple[str, ...]) -> tuple[gymnasium.Env[Any, Any], Expert]:
    """Environment and expert of a command line; made once in a process."""
    asked = _parse(arguments)
    given = {field.name: getattr(asked.scenario, field.name) for field in fields(asked.scenario)}
    env = gymnasium.make(env_id(asked.scenario.name), character=asked.options.character, **given)
    return env, Expert(env, asked.controller, asked.settings, threads=1)


def _episode(arguments: tuple[str, ...], seed: int) -> bytes:
    """One try, packed; nothing where it did not succeed."""
    env, expert = _stage(arguments)
    shown = demonstrate(env, expert, seed)
    expert.close()
    return b"" if shown is None else shown.packed


def _collected(arguments: Sequence[str], asked: _Asked) -> tuple[dict[int, Demonstration], int]:
    """Demonstrations by seed, and how many seeds were tried for them."""
    options = asked.options
    seeds = range(options.seed, options.seed + (options.attempts or TRIES * options.episodes))
    with ExitStack() as stack:
        store = stack.enter_context(JobStore(_place(asked), _marks(asked)))
        for sentence in store.mended:
            print(f"tumble: {sentence}", file=sys.stderr)
        done = {int(key): data for key, data in store.results().items()}
        bars = stack.enter_context(bars_of())
        task, line = bars.add_task("episodes", total=options.episodes, note=""), CompileLine(bars)
        stack.enter_context(compiling("the planner", line))
        tries = _tries(stack, tuple(arguments), options.jobs)
        while True:
            taken = [seed for seed in seeds if done.get(seed)][: options.episodes]
            left = [seed for seed in seeds if seed not in done][: options.episodes - len(taken)]
            bars.update(task, completed=len(taken), note=f"{len(taken)} of {options.episodes}, {len(done)} tried")
            if not left:
                tried = len(seeds) if len(taken) < options.episodes else taken[-1] - options.seed + 1
                return {seed: Demonstration.unpacked(done[seed]) for seed in taken}, tried
            for seed, data in tries(left):
                store.put(str(seed), data)
                done[seed] = data
                won = sum(map(bool, done.values()))
                bars.update(task, completed=won, note=f"{won} of {options.episodes}, {len(done)} tried")


def _tries(stack: ExitStack, arguments: tuple[str, ...], jobs: int) -> Tries:
    """What runs episodes of seeds: this process, or others."""
    if jobs == 1:
        return lambda seeds: ((seed, _episode(arguments, seed)) for seed in seeds)
    pool = stack.enter_context(workers(jobs or cores()))

    def spread(seeds: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        for index, data in as_done(pool, _episode, [(arguments, seed) for seed in seeds]):
            yield seeds[index], data

    return spread


def _place(asked: _Asked) -> Path:
    """Where episodes are kept until all are there."""
    return asked.out.with_name(f"{asked.out.name}.episodes")


def _marks(asked: _Asked) -> dict[str, Any]:
    """What decides about an episode beside its seed."""
    chosen = {"scenario": asked.scenario.name, "controller": asked.controller, "character": asked.options.character}
    for name, value in (asdict(asked.scenario) | asdict(asked.settings)).items():
        chosen[f"--{name.replace('_', '-')}"] = value
    known: dict[str, Any] = json.loads(json.dumps(chosen | versions(), default=str))
    return known


def _about(arguments: Sequence[str], asked: _Asked) -> dict[str, Any]:
    """What the dataset says of itself."""
    name = asked.scenario.name
    return {
        "dataset_id": f"tumble/{name}/{asked.controller}-v0",
        "algorithm_name": asked.controller,
        "description": f"Successful episodes: {type(asked.scenario).summary}. Planned by {asked.controller}.",
        "requirements": [f"tumble=={version('tumble')}", f"mujoco=={version('mujoco')}"],
        "command": f"tumble dataset {shlex.join(arguments)}",
        "settings": {key: value for key, value in _marks(asked).items() if key.startswith("--")},
    }
