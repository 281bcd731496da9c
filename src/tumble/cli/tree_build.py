"""`tumble tree build` and `tumble tree extend`: grow a tree, for minutes or for days.

    build(["pendulum", "mine.tree", "--to", "0.5", "--by", "0.25", "--jobs", "2"])
    extend(["mine.tree", "--to", "1"])

All is checked before anything is simulated. Every attempt is on the disk before the next is counted: after Ctrl-C, kill
-9 or a power cut the same command goes on, and comes to the same tree as if nothing had happened.
"""

import shlex
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import tyro

from tumble.attraction.building import build as built
from tumble.attraction.building import usual_growth
from tumble.attraction.growing import Growth, stage_of
from tumble.attraction.shipped import ENDING, shipped
from tumble.attraction.store import TreeFile
from tumble.cli.options import CONFIG, FLAT
from tumble.cli.tree_options import BuildOptions, GrowthOptions, WorkOptions, check_file, words_of
from tumble.cli.tree_progress import GrowthProgress, inside_at
from tumble.errors import UserError, check_number
from tumble.offline.workers import cores, workers


def build(arguments: Sequence[str]) -> int:
    """Parse and build; the exit code."""

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")],
        file: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = None,
        options: Annotated[BuildOptions, FLAT] = BuildOptions(),
        work: Annotated[WorkOptions, FLAT] = WorkOptions(),
        stop: int | None = None,
    ) -> int:
        """Build the tree of a system, or go on building it.

        States are drawn from domains that grow; one that is not inside is steered into the tree by an optimisation.
        After Ctrl-C, kill -9 or a power cut the same command goes on. The tree does not depend on --jobs.

        Usual are USUAL.

        Example, in an hour or so on two cores: tumble tree build getup-1

        Example, in seconds: tumble tree build pendulum --inside 30 --jobs 2

        Example, pushes of up to 75 N: tumble tree build crouch-stand mine.tree --to 75 --by 25 --seed 3

        Example, on several machines: tumble tree build getup-2 --cluster 10.0.0.5:8786 --lag 32

        Args:
          name: of the system: see 'tumble list'.
          file: to build, by default NAME.tree in the current folder.
          stop: end when so many attempts have been made in all; without it, the same command goes on.
        """
        growth = options.changed(usual_growth(name))
        path = Path(f"{name}{ENDING}") if file is None else file
        check_file(path)
        _check(work, stop)
        with built(path, name, growth) as tree:
            return grown(path, tree, work, stop, ["build", *arguments])

    go.__doc__ = str(go.__doc__).replace("USUAL", _usual())
    return tyro.cli(go, prog="tumble tree build", args=list(arguments), config=CONFIG)


def _usual() -> str:
    """How trees are grown where nobody says otherwise, in options."""
    kinds = {"getting up": "getup-1", "skills that bear pushes": "crouch-stand", "pendulums": "pendulum"}
    plain = Growth(levels=(1.0,))
    return "; ".join(f"for {kind} {' '.join(words_of(usual_growth(name), plain))}" for kind, name in kinds.items())


def extend(arguments: Sequence[str]) -> int:
    """Parse and extend; the exit code."""

    def go(
        file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")],
        options: Annotated[GrowthOptions, FLAT] = GrowthOptions(),
        work: Annotated[WorkOptions, FLAT] = WorkOptions(),
        stop: int | None = None,
    ) -> int:
        """Grow a tree further: by larger domains, or by more attempts at those it has.

        What is not given stays as it was; with nothing given it goes on where it was.

        Example: tumble tree extend getup-1.tree --to 12

        Example, twice as many states of every domain: tumble tree extend mine.tree --attempts 1200 --jobs 8

        Args:
          file: a tree of 'tumble tree build'.
          stop: end when so many attempts have been made in all; without it, the same command goes on.
        """
        if str(file) in shipped():
            raise UserError(f"'{file}' ships and stays as it is; copy its file, or build one of your own")
        check_file(file)
        _check(work, stop)
        with TreeFile.resume(file) as tree:
            tree.extend(options.changed(tree.growth, further=True))
            return grown(file, tree, work, stop, ["extend", *arguments])

    return tyro.cli(go, prog="tumble tree extend", args=list(arguments), config=CONFIG)


def _check(work: WorkOptions, stop: int | None) -> None:
    check_number("jobs", work.jobs, 0, 1024)
    if stop is not None:
        check_number("stop", stop, 1)


def grown(path: Path, file: TreeFile, work: WorkOptions, stop: int | None, words: Sequence[str]) -> int:
    """Grow a tree until all its levels are done, or so many attempts are made; the exit code.

    Args:
      words: the command, which is told to whoever interrupts it.
    """
    for sentence in file.mended:
        say(sentence)
    jobs = work.jobs or cores()
    if work.cluster is None and jobs > file.growth.lag:
        say(f"{jobs} jobs, but --lag {file.growth.lag}: {jobs - file.growth.lag} of them have nothing to do")
    most = sys.maxsize if stop is None else stop
    interrupted = False
    try:
        if len(file.outcomes) < most and stage_of(file.growth, file.outcomes) is not None:
            _grow(file, work, min(jobs, file.growth.lag), most)
    except KeyboardInterrupt:
        interrupted = True
        say(f"interrupted; what was done is in {path}, go on with: {shlex.join(['tumble', 'tree', *words])}")
    done = stage_of(file.growth, file.outcomes) is None
    level = file.growth.levels[-1] if done or not file.outcomes else file.outcomes[-1].level
    print(
        f"{path}: {'all levels are done' if done else 'not done yet'}; level {level:g}, {inside_at(file, level)};"
        f" {len(file.tree)} nodes, {len(file.tree.edges)} edges after {len(file.outcomes)} attempts"
    )
    return 130 if interrupted else 0


def _grow(file: TreeFile, work: WorkOptions, jobs: int, most: int) -> None:
    """Grow with workers until all is done, or so many attempts are made; what is under way then is dropped."""
    with GrowthProgress(file) as progress, workers(jobs, work.cluster) as pool, closing(file.grow(pool)) as outcomes:
        for outcome in outcomes:
            progress.made(outcome)
            if len(file.outcomes) >= most:
                break


def say(sentence: str) -> None:
    """Tell people what is no result."""
    print(f"tumble: {sentence}", file=sys.stderr)
