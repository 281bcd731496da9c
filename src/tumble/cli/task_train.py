"""`tumble task train TASK|FILE.py`: explore and iterate, for minutes.

    main(["heading", "mine.policy", "--states", "200", "--jobs", "2"])

What was simulated is in a store beside the policy, FILE.steps: after Ctrl-C, kill -9 or a power cut the same command
goes on, and comes to the same policy. Other rewards for the same steps simulate nothing again.
"""

import shlex
import sys
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import tyro

from tumble.cli.options import CONFIG, FLAT, with_own_name
from tumble.cli.progress import TimeLeft, bars_of, compile_line
from tumble.cli.tree_options import WorkOptions
from tumble.errors import UserError, check_number
from tumble.files import check_place
from tumble.offline.store import JobStore
from tumble.offline.workers import workers
from tumble.tasks.exploring import Exploration, Explored
from tumble.tasks.library import TASKS
from tumble.tasks.policy import ENDING
from tumble.tasks.task import Task
from tumble.tasks.training import Told, train


def main(arguments: list[str]) -> int:
    """Parse and train; the exit code."""
    rest = with_own_name(arguments, "task")

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")],
        file: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")] = None,
        states: int | None = None,
        seed: int = 0,
        store: Path | None = None,
        work: Annotated[WorkOptions, FLAT] = WorkOptions(),
    ) -> int:
        """Train the policy of a task: explore all actions from all states, then find the best for every goal.

        After Ctrl-C, kill -9 or a power cut the same command goes on. The policy does not depend on --jobs.

        Example, in minutes on two cores: tumble task train heading

        Example, quick and coarse: tumble task train heading mine.policy --states 200

        Example, a task of your own: tumble task train examples/own_task.py

        Args:
          name: of the task: see 'tumble list'.
          file: to write, by default TASK.policy in the current folder.
          states: to try at most; by default as the task says.
          seed: of the sequences of actions whose states are trusted.
          store: of what was simulated, by default FILE.steps; tasks with the same actions may share one.
        """
        path = Path(f"{name}{ENDING}") if file is None else file
        if path.suffix != ENDING:
            raise UserError(f"a policy's name ends in {ENDING}, got {path}")
        check_place(path)
        check_number("seed", seed, 0)
        if states is not None:
            check_number("states", states, 16, 100_000)
        task: Task = TASKS[name].make()
        with compile_line("the steps"):
            exploration = Exploration(task, seed, states)
        return trained(exploration, path, store or path.with_suffix(".steps"), work, shlex.join(arguments))

    return tyro.cli(go, prog="tumble task train", args=rest, config=CONFIG)


def trained(exploration: Exploration, path: Path, store: Path, work: WorkOptions, words: str) -> int:
    """Train and write; the exit code. The words are the command's, after 'tumble task train'."""
    task, command = exploration.task, f"tumble task train {words}"
    try:
        with (
            JobStore(store, exploration.about) as kept,
            workers(work.jobs, work.cluster) as pool,
            TrainingProgress(exploration.most) as progress,
        ):
            for sentence in kept.mended:
                print(f"tumble: {sentence}", file=sys.stderr)
            policy = train(task, exploration, kept, pool, command, Told(progress.explored, progress.iterated))
    except KeyboardInterrupt:
        print(f"tumble: interrupted; what was simulated is in {store}, go on with: {command}", file=sys.stderr)
        return 130
    policy.write(path)
    told = policy.header.figures
    print(
        f"{path}: {told['states']:.0f} states ({told['trusted']:.0f} trusted), {told['steps']:.0f} steps,"
        f" {told['viable']:.1f} of {len(task.actions)} actions viable, {told['iterations']:.0f} iterations,"
        f" {path.stat().st_size / 1e6:.2f} MB"
    )
    return 0


class TrainingProgress:
    """A bar while states are explored, then one of iterations; on standard error, and gone when it is over."""

    def __init__(self, states: int) -> None:
        self._states, self._bars = states, bars_of(TimeLeft())
        self._task = self._bars.add_task("exploring", total=states, note="", share=0.0, at=0.0)

    def __enter__(self) -> "TrainingProgress":
        self._bars.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self._bars.stop()

    def explored(self, progress: Explored) -> None:
        """One more round."""
        total = min(self._states, progress.states)
        note = f"{progress.states} states found, {100 * progress.share:.0f} % of steps trusted"
        at = self._bars.tasks[self._task].elapsed or 0.0
        self._bars.update(
            self._task, completed=progress.tried, total=total, note=note, share=progress.tried / total, at=at
        )

    def iterated(self, number: int, change: float) -> None:
        """One more iteration."""
        self._bars.update(self._task, description="iterating", note=f"iteration {number}, largest change {change:.3f}")
