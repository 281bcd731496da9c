"""`tumble stones build BASE [FILE]`: examples of steps, in minutes.

    main(["planar-walk", "mine.stones", "--examples", "200", "--jobs", "2"])

What was simulated is in a store beside the file, FILE.steps: after Ctrl-C, kill -9 or a power cut the same command goes
on, and comes to the same examples; asked for more of them, it solves only what is missing.
"""

import shlex
import sys
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Literal

import tyro

from tumble.cli.options import CONFIG, FLAT, with_own_name
from tumble.cli.progress import TimeLeft, bars_of
from tumble.cli.tree_options import WorkOptions
from tumble.errors import UserError
from tumble.files import check_place
from tumble.offline.store import JobStore
from tumble.offline.workers import workers
from tumble.stepping.base import BASES, Base
from tumble.stepping.examples import ENDING
from tumble.stepping.optimising import Optimising
from tumble.stepping.problems import STEPS
from tumble.stepping.synthesis import Synthesis, SynthesisProgress

PLANE, SPACE = 2000, 1000  # examples; section 3.6


def main(arguments: list[str]) -> int:
    """Parse and build; the exit code."""
    rest = with_own_name(arguments, "base")
    own = [word for word in arguments[:1] if word.endswith(".py")]

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BASE")],
        file: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = None,
        examples: int | None = None,
        steps: int = STEPS,
        seed: int = 0,
        optimiser: Literal["gauss-newton", "gradient"] = "gauss-newton",
        iterations: int = 1,
        uses: int = 1,
        store: Path | None = None,
        work: Annotated[WorkOptions, FLAT] = WorkOptions(),
    ) -> int:
        """Solve sequences of stepping stones by optimisation, three steps at a time, and keep every step.

        After Ctrl-C, kill -9 or a power cut the same command goes on. The examples do not depend on --jobs.

        Example, in minutes on two cores: tumble stones build planar-walk

        Example, quick: tumble stones build planar-walk mine.stones --examples 100

        Example, a base of your own: tumble stones build mine.py

        Example, the thesis's optimiser: tumble stones build planar-walk --optimiser gradient --iterations 15

        Args:
          name: of the base: planar-walk, planar-high-step, bird, humanoid, or one of your own file.
          file: to write, by default BASE.stones in the current folder.
          examples: how many; by default 2000 in the plane and 1000 in space, as in the thesis.
          steps: of a sequence.
          seed: of the stones and of how sequences begin.
          optimiser: of the three steps.
          iterations: of it, before the window moves on by a step.
          uses: of each Jacobian; 2 is a second, cheap step.
          store: of what was solved, by default FILE.steps.
        """
        base: Base = BASES[name]()
        path = Path(f"{name}{ENDING}") if file is None else file
        if path.suffix != ENDING:
            raise UserError(f"a file of examples ends in {ENDING}, got {path}")
        check_place(path)
        count = (SPACE if base.space else PLANE) if examples is None else examples
        synthesis = Synthesis(base, count, seed, steps, optimising=Optimising(optimiser, iterations, uses))
        command = _command(own, name, examples, synthesis)
        return built(synthesis, path, store or path.with_suffix(".steps"), work, arguments, command)

    return tyro.cli(go, prog="tumble stones build", args=rest, config=CONFIG)


def _command(own: list[str], name: str, examples: int | None, synthesis: Synthesis) -> str:
    """What makes the same examples, wherever they go and by however many workers."""
    problem, usual = synthesis.problem, Optimising()
    how = problem.optimising
    words = ["tumble", "stones", "build", *own, name]
    words += [] if examples is None else ["--examples", str(examples)]
    words += [] if problem.steps == STEPS else ["--steps", str(problem.steps)]
    words += [] if problem.seed == 0 else ["--seed", str(problem.seed)]
    words += [] if how.optimiser == usual.optimiser else ["--optimiser", how.optimiser]
    words += [] if how.iterations == usual.iterations else ["--iterations", str(how.iterations)]
    words += [] if how.uses == usual.uses else ["--uses", str(how.uses)]
    return shlex.join(words)


def built(
    synthesis: Synthesis, path: Path, store: Path, work: WorkOptions, arguments: list[str], command: str
) -> int:  # fmt: skip
    """Solve and write; the exit code."""
    try:
        with (
            JobStore(store, synthesis.about) as kept,
            workers(work.jobs, work.cluster) as pool,
            BuildingProgress(synthesis.wanted) as progress,
        ):
            for sentence in kept.mended:
                print(f"tumble: {sentence}", file=sys.stderr)
            for found in synthesis.run(kept, pool):
                progress.told(found)
    except KeyboardInterrupt:
        again = shlex.join(["tumble", "stones", "build", *arguments])
        print(f"tumble: interrupted; what was solved is in {store}, go on with: {again}", file=sys.stderr)
        return 130
    examples = synthesis.examples(command)
    examples.write(path)
    told = examples.header.figures
    print(
        f"{path}: {len(examples)} examples, missed by {100 * told['mean_error']:.1f} cm in the mean,"
        f" {100 * told['below_6_cm']:.0f} % below 6 cm, {100 * told['above_12_cm']:.0f} % above 12 cm;"
        f" {told['fallen']:.0f} of {told['sequences']:.0f} sequences fell;"
        f" {told['simulated_steps']:.0f} steps were simulated"
    )
    return 0


class BuildingProgress:
    """A bar while sequences are solved; on standard error, and gone when it is over."""

    def __init__(self, examples: int) -> None:
        self._wanted, self._bars = examples, bars_of(TimeLeft())
        self._task = self._bars.add_task("solving", total=examples, note="", share=0.0, at=0.0)

    def __enter__(self) -> "BuildingProgress":
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self._bars.stop()

    def told(self, progress: SynthesisProgress) -> None:
        """One more job is done."""
        done = min(progress.examples, self._wanted)
        note = f"{progress.examples} steps, missed by {100 * progress.error:.1f} cm, {progress.fallen} falls"
        at = self._bars.tasks[self._task].elapsed or 0.0
        self._bars.update(self._task, completed=done, note=note, share=done / self._wanted, at=at)
