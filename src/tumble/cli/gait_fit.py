"""`tumble gait fit`: a new gait by what it should do, in minutes.

    main(["big-bird", "walk", "in-place", "--speed", "0", "--generations", "30", "--jobs", "2"])

All is checked before anything is simulated. The best gait so far is on the disk after every generation, so that Ctrl-C
costs nothing but the rest of the search.
"""

import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import tyro

from tumble.cli.gait_files import gait_named, place_of, write_gait
from tumble.cli.options import CONFIG, FLAT
from tumble.cli.progress import TimeLeft, bars_of
from tumble.cli.tree_options import WorkOptions
from tumble.errors import check_number
from tumble.offline.store import JobStore
from tumble.offline.versions import versions
from tumble.offline.workers import workers
from tumble.simbicon.fitting import GaitAim, GaitFitting, GaitFound, chosen, fit, prepared
from tumble.simbicon.gait import Gait


@dataclass(frozen=True)
class FitOptions:
    """What is wanted of the gait, and how long it is sought."""

    speed: float | None = None
    """m/s ahead; without it any."""
    side: float = 0.0
    """m/s to the left; not 0: the gait has a state for each leg."""
    turn: float | None = None
    """rad/s to the left; without it as the gait turns that it begins from."""
    step_length: float | None = None
    """m; without it any."""
    lean: float | None = None
    """rad of the root ahead; without it any."""
    sided: bool = False
    """A state for each leg even without side steps."""
    until: Literal["strike", "time"] | None = None
    """What ends a step; without it as it was."""
    generations: int = 40
    """Of CMA-ES."""
    minutes: float | None = None
    """End after the generation in which so many are over."""
    population: int = 16
    """Candidates a generation."""
    starts: int = 3
    """Disturbed starts of each."""
    seconds: float = 8.0
    """That each walks."""
    spread: float = 0.6
    """How far CMA-ES looks at first; 1 are notable changes of all numbers."""
    seed: int = 0
    """Of all that is random."""
    about: str = ""
    """A line about the gait, kept in it."""
    out: Path | None = None
    """File to write; by default NEW.toml in the current folder."""
    store: Path | None = None
    """Keep what was simulated in this file, and go on from there."""


def main(arguments: Sequence[str]) -> int:
    """Parse and fit; the exit code."""

    def go(
        body: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BODY")],
        gait: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="FROM")],
        new: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NEW")],
        options: Annotated[FitOptions, FLAT] = FitOptions(),
        work: Annotated[WorkOptions, FLAT] = WorkOptions(),
    ) -> int:
        """Fit a gait: change the numbers of one until it goes as is wanted, by CMA-ES.

        Changed are offsets of trunk, hips, knees and ankles, the feedback, and how long a step takes. Candidates walk
        from disturbed starts; what is missed of the wish costs, falls and steps that end in the air most. The best so
        far is in the file all the time. The gait does not depend on --jobs.

        Example, stepping on the spot: tumble gait fit big-bird walk in-place --speed 0

        Example, side steps: tumble gait fit big-bird in-place side-left --speed 0 --side 0.3

        Example, a curve: tumble gait fit raptor turn-left turn-left-sharp --turn 0.8 --minutes 5

        Args:
          body: whose gait: see 'tumble list'.
          gait: to begin from: one of the body's, or a file that ends in .toml.
          new: name of the gait that is made.
        """
        return fitted(body, gait, new, options, work, ["fit", *arguments])

    return tyro.cli(go, prog="tumble gait fit", args=list(arguments), config=CONFIG)


def fitted(body: str, gait: str, new: str, options: FitOptions, work: WorkOptions, words: list[str]) -> int:
    """Check all, fit, choose, write and tell; `words` are the command."""
    old, path = gait_named(body, gait), place_of(options.out, new)
    turn = old.turn if options.turn is None else options.turn
    aim = GaitAim(options.speed, options.side, turn, options.step_length, options.lean)
    fitting = GaitFitting(
        options.generations, options.population, options.starts, options.seconds, options.spread, options.seed
    )
    if options.minutes is not None:
        check_number("minutes", options.minutes, 0.0, above=True)
    check_number("jobs", work.jobs, 0, 1024)
    start = prepared(old, new, aim, options.sided, options.until)
    about = {"work": "gait", "gait": msgspec.to_builtins(start), "aim": asdict(aim), "fitting": asdict(fitting)}
    interrupted, found = False, None
    with ExitStack() as stack:
        store = stack.enter_context(JobStore(options.store, about | versions())) if options.store else None
        pool = stack.enter_context(workers(work.jobs, work.cluster))
        try:
            for found in _searched(fit(pool, start, aim, fitting, store), fitting, options.minutes):
                write_gait(path, _told(found.best, options.about), _command(words, found))
            assert found is not None
            cost, best = chosen(pool, found, aim, fitting, store)
            write_gait(path, _told(best, options.about), _command(words, found))
            print(f"{path}: cost {cost:.2f} from fresh starts after {found.generation} generations")
        except KeyboardInterrupt:
            interrupted = True
            pool.give_up()  # type: ignore[attr-defined]
    if interrupted:
        kept = f"the best so far is in {path}" if found else "there is nothing yet"
        more = f"; go on with: {shlex.join(['tumble', 'gait', *words])}" if options.store else ""
        print(f"tumble: interrupted; {kept}{more}", file=sys.stderr)
    return 130 if interrupted else 0


def _told(gait: Gait, about: str) -> Gait:
    return msgspec.structs.replace(gait, about=about)


APART = ("--jobs", "--cluster", "--out", "--store", "--about", "--minutes", "--generations")


def _command(words: list[str], found: GaitFound) -> str:
    """What makes the gait again: without who does it and where it goes, for as many generations as there were."""
    kept, skip = list[str](), False
    for word in words:
        if not skip and word.partition("=")[0] not in APART:
            kept.append(word)
        skip = not skip and word in APART
    return shlex.join(["tumble", "gait", *kept, "--generations", str(found.generation)])


def _searched(search, fitting: GaitFitting, minutes: float | None):  # type: ignore[no-untyped-def]
    """A search with a bar, until it ends or the time is over."""
    began, bars = time.monotonic(), bars_of(TimeLeft())
    task = bars.add_task("", total=fitting.generations, note="", share=0.0, at=0.0)
    with bars, closing(search):
        for found in search:
            elapsed = time.monotonic() - began
            share = found.generation / fitting.generations
            share = share if minutes is None else max(share, min(1.0, elapsed / (60.0 * minutes)))
            bars.update(
                task, description=f"cost {found.cost:.2f}, mean {found.mean:.1f}", completed=found.generation,
                note=f"generation {found.generation} of {fitting.generations}", share=share, at=elapsed,
            )  # fmt: skip
            if bars.disable and (found.generation % 10 == 0 or found.generation == fitting.generations):
                _line(found, fitting, elapsed)
            yield found
            if minutes is not None and elapsed >= 60.0 * minutes:
                return


def _line(found: GaitFound, fitting: GaitFitting, elapsed: float) -> None:
    """Where there is no terminal: a line every ten generations."""
    print(
        f"generation {found.generation} of {fitting.generations}: cost {found.cost:.2f}, mean {found.mean:.1f},"
        f" {elapsed:.0f} s", file=sys.stderr, flush=True,
    )  # fmt: skip
