"""`tumble tree query NAME|FILE`: how much of a domain a tree covers, by fresh states of it (alborno2016 section 4.8).

    main(["getup-1", "--level", "6", "--count", "200", "--jobs", "2"])

State i follows from seed and i alone: which are inside does not depend on the number of jobs. It is none of those that
the tree was grown with, whatever the seed.
"""

import json
import math
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import tyro

from tumble.attraction.asking import ask
from tumble.attraction.growing import Growth, drawn
from tumble.attraction.systems import system_named
from tumble.attraction.tree import Tree
from tumble.cli.options import CONFIG, FLAT
from tumble.cli.progress import JobsProgress
from tumble.cli.tree_build import say
from tumble.cli.tree_info import told
from tumble.cli.tree_options import WorkOptions
from tumble.errors import check_number
from tumble.offline.jobs import as_done
from tumble.offline.workers import cores, workers

TOGETHER = 2  # states of a job
FRESH = 2  # beside seed and number, which are those of an attempt, too; 1 is `tumble.attraction.growing`'s
SURE = 1.96  # standard deviations: 95 %


@dataclass(frozen=True)
class Survey:
    """Which states a tree is asked about, and how.

    Attributes:
      system: its name.
      growth: of the tree, which says where states come from.
      level: of the domain.
      candidates: V, nodes to ask at most.
      seed: of the states.
    """

    system: str
    growth: Growth
    level: float
    candidates: int
    seed: int


class Asked(NamedTuple):
    """What a query came to: whether the state is inside, nodes asked, physics steps, CPU seconds."""

    inside: bool
    nodes: int
    steps: int
    seconds: float


def do_states(survey: Survey, plain: Mapping[str, Any], first: int, count: int) -> list[Asked]:
    """Ask a tree, of plain data, about states `first` and after."""
    tree, found = Tree.from_plain(system_named(survey.system), plain), list[Asked]()
    for number in range(first, first + count):
        rng = np.random.default_rng([survey.seed, number, FRESH])
        state = drawn(tree, survey.growth, survey.level, rng)
        began = time.process_time()
        said = ask(tree, state, survey.candidates)
        found.append(Asked(said.node is not None, len(said.nodes), said.steps, time.process_time() - began))
    return found


def interval(won: int, count: int) -> tuple[float, float]:
    """Wilson's interval of a probability (1927), 95 %: z = 1.96,

    (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n), p = won / n.
    """
    share, z = won / count, SURE
    middle = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, (middle - half) / (1 + z * z / count)), min(1.0, (middle + half) / (1 + z * z / count))


def surveyed(survey: Survey, tree: Tree, count: int, work: WorkOptions) -> list[Asked]:
    """Ask a tree about so many states, by workers, with a bar; answers in the order of the states."""
    plain, found = tree.plain(len(tree.edges)), dict[int, list[Asked]]()
    jobs = [(survey, plain, first, min(TOGETHER, count - first)) for first in range(0, count, TOGETHER)]
    processes = min(work.jobs or cores(), len(jobs))
    with JobsProgress(count, what="states") as progress, workers(processes, work.cluster) as pool:
        for index, answers in as_done(pool, do_states, jobs):
            found[index] = answers
            for answer in answers:
                progress.end(answer.inside)
    return [answer for index in range(len(jobs)) for answer in found[index]]


def query(
    name: str, level: float | None, count: int, seed: int, candidates: int | None, work: WorkOptions
) -> dict[str, Any]:
    """The contract of `tumble tree query --json`.

    What was asked, how many states are inside, their share with its 95 % interval, mean nodes and physics steps of a
    query, and the median of its time on one core that does nothing else (CPU).
    """
    check_number("count", count, 1, 1e6)
    check_number("seed", seed, 0, 2**63 - 1)
    check_number("jobs", work.jobs, 0, 1024)
    check_number("level", 1.0 if level is None else level, 0, 1e6, above=True)
    check_number("candidates", 1 if candidates is None else candidates, 1)
    path, stored = told(name)
    growth, largest = stored.growth, stored.largest
    level = growth.levels[-1] if level is None else level
    candidates = growth.connecting.candidates if candidates is None else candidates
    if level > largest:
        say(f"{path} was grown up to level {largest:g}; {level:g} is beyond")
    answers = surveyed(Survey(stored.name, growth, level, candidates, seed), stored.tree, count, work)
    won = sum(answer.inside for answer in answers)
    low, high = interval(won, count)
    return {
        "file": str(path),
        "system": stored.name,
        "level": level,
        "seed": seed,
        "candidates": candidates,
        "count": count,
        "inside": won,
        "share": won / count,
        "low": low,
        "high": high,
        "nodes_asked": statistics.fmean(answer.nodes for answer in answers),
        "steps": statistics.fmean(answer.steps for answer in answers),
        "milliseconds": 1000 * statistics.median(answer.seconds for answer in answers),
    }


def _report(found: dict[str, Any]) -> None:
    """Tell people."""
    print(
        f"{found['inside']} of {found['count']} states of level {found['level']:g} are inside {found['file']}:"
        f" {100 * found['share']:.0f} %, with 95 % certainty {100 * found['low']:.0f} to {100 * found['high']:.0f}\n"
        f"  a query: {found['nodes_asked']:.1f} nodes of at most {found['candidates']}, {found['steps']:.0f} physics"
        f" steps, {found['milliseconds']:.0f} ms of a core"
    )


def main(arguments: list[str]) -> int:
    """Parse and ask; the exit code."""

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")],
        level: float | None = None,
        count: int = 100,
        seed: int = 0,
        candidates: int | None = None,
        work: Annotated[WorkOptions, FLAT] = WorkOptions(),
        as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
    ) -> int:
        """Estimate how much of a domain a tree covers: the share of fresh states that it leads to the goal.

        Example: tumble tree query getup-1 --level 6 --count 100

        Example: tumble tree query mine.tree --level 8 --count 1000 --candidates 250 --jobs 8 --json

        Args:
          name: of a tree that ships, see 'tumble list', or a file that ends in .tree.
          level: of the domain; by default the last one it is grown for.
          count: states to draw.
          seed: of the states, which are none of those that the tree was grown with.
          candidates: V, nodes to ask at most; by default as it was grown.
          as_json: print one JSON object on standard output.
        """
        found = query(name, level, count, seed, candidates, work)
        if as_json:
            print(json.dumps(found))
        else:
            _report(found)
        return 0

    return tyro.cli(go, prog="tumble tree query", args=arguments, config=CONFIG)
