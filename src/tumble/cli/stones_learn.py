"""`tumble stones learn BASE [FILE]`: step networks of a base in space, in minutes.

main(["humanoid", "mine.nets", "--rounds", "12"])
"""

import shlex
from pathlib import Path
from typing import Annotated

import tyro

from tumble.cli.options import CONFIG, with_own_name
from tumble.cli.progress import TimeLeft, bars_of
from tumble.errors import UserError, check_number
from tumble.files import check_place
from tumble.stepping.base import BASES, Base
from tumble.stepping.examples import ENDING as STEPS_ENDING
from tumble.stepping.nets import ENDING
from tumble.stepping.wandering import Wandering

ROUNDS = 4


def main(arguments: list[str]) -> int:
    """Parse and learn; the exit code."""
    rest = with_own_name(arguments, "base")
    own = [word for word in arguments[:1] if word.endswith(".py")]

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BASE")],
        file: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = None,
        rounds: int = ROUNDS,
        seed: int = 0,
    ) -> int:
        """Walk over random gaps and stones, and learn from every step what the next ones lead to.

        Writes FILE.nets, by which the Gauss-Newton planner plans, and beside it the last 2000 steps as examples, for
        the planners that go by neighbours: FILE.stones. It is one process on one core; nothing is kept when it is
        interrupted.

        Example, some 3 minutes on a core: tumble stones learn humanoid

        Example, quick: tumble stones learn humanoid mine.nets --rounds 2

        Args:
          name: of the base: humanoid, or one in space of your own file.
          file: to write, by default BASE.nets in the current folder.
          rounds: of 1152 steps, each planned by what was learned before it.
          seed: of all that is random.
        """
        base: Base = BASES[name]()
        if not base.space:
            raise UserError(f"base '{name}' is of the plane, and plans by examples: tumble stones build {name}")
        path = Path(f"{name}{ENDING}") if file is None else file
        if path.suffix != ENDING:
            raise UserError(f"a file of step networks ends in {ENDING}, got {path}")
        check_place(path)
        check_number("rounds", rounds, 1, 1000)
        words = ["tumble", "stones", "learn", *own, name]
        words += [] if rounds == ROUNDS else ["--rounds", str(rounds)]
        words += [] if seed == 0 else ["--seed", str(seed)]
        return learned(Wandering(base, seed), rounds, path, shlex.join(words))

    return tyro.cli(go, prog="tumble stones learn", args=rest, config=CONFIG)


def learned(wandering: Wandering, rounds: int, path: Path, command: str) -> int:
    """Walk, learn and write; the exit code."""
    bars = bars_of(TimeLeft())
    task = bars.add_task("walking", total=rounds + 1, note="", share=0.0, at=0.0)
    with bars:
        for i, found in enumerate(wandering.run(rounds), start=1):
            note = f"{found.steps} steps, mistaken by {100 * found.error:.1f} cm, {found.falls} falls"
            at = bars.tasks[task].elapsed or 0.0
            bars.update(task, completed=i, note=note, share=i / (rounds + 1), at=at)
    wandering.nets(command).write(path)
    wandering.examples(command).write(path.with_suffix(STEPS_ENDING))
    print(f"{path}, {path.with_suffix(STEPS_ENDING)}: {note}")
    return 0
