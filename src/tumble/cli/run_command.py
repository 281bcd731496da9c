"""`tumble run [FILE.py] SCENARIO`: run a scenario, one trial or many, and say how it went.

    main(["push", "--force", "600", "--trials", "10", "--json"])

Options are those of `RunOptions`, the fields of the scenario and the settings of its controller, all beside each
other: --force is the scenario's, --samples the planner's. So scenario and controller are found in the raw arguments
before tyro makes a parser. All is checked before anything is simulated, also where files are to be written.

Trials run one after the other with seeds one after the other, each with a fresh controller; what is learned goes on
from one to the next. A rehearsal before the first compiles what is needed, so that no trial pays for it; results are
the same without. `--json` prints one object, the contract of which is `Tally.summary`.
"""

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console

from tumble.characters import character
from tumble.cli.learning import check_frozen, load_learning
from tumble.cli.options import CONFIG, FLAT, only_scenario, own_file, usual_settings
from tumble.cli.progress import Interrupt, Progress
from tumble.control.controller import Controller
from tumble.controllers import CONTROLLERS, unsuited
from tumble.errors import UserError, check_number
from tumble.files import check_place, read_text
from tumble.goals.wants import Do
from tumble.live.learning import Learning
from tumble.live.recording import Recorder
from tumble.live.rehearsal import called, rehearse
from tumble.live.session import Session
from tumble.maths.compiling import CompileProgress, compiling
from tumble.scenarios import SCENARIOS, Result, Scenario, Trial, run_trial
from tumble.skills.script import LONGEST
from tumble.world.scene import Scene

USAGE = """\
usage: tumble run [FILE.py] SCENARIO [OPTIONS]

Run a scenario without a display and say how it went.

scenarios:
{scenarios}

examples:
  tumble run getup
  tumble run push --force 600 --trials 10 --seed 100 --json
  tumble run getup --controller cem --samples 64 --horizon 1.0
  tumble run getup --record getup.npz && tumble strip getup.npz getup.png
  tumble run dodge --controller smc --trials 100 --learned dodge.experience
  tumble run learn-walk --learned walk.learned
  tumble run learn-walk --learned walk.learned --samples 8
  tumble run steer-walk --script "go to 2 1; turn to 90, then wait 2 s"
  tumble run steer-walk --script errand.txt --seconds 60
  tumble run mine.py
  tumble run mine.py limbo --trials 10
  tumble run mine.py push --character tripod

'tumble run SCENARIO --help' lists all options of a scenario, and all settings of its --controller.
'tumble list' shows what scripts are written of.
FILE.py is a file of your own that registers scenarios, characters, goals or controllers, as examples/own_scenario.py
does; where it registers one scenario, that is the one."""


@dataclass(frozen=True)
class RunOptions:
    """What `tumble run` takes for every scenario."""

    controller: str | None = None
    """Who controls: see 'tumble list'; by default the one that the scenario is made for."""
    character: str | None = None
    """Which body: see 'tumble list'; by default the one that the scenario is made for."""
    seconds: float | None = None
    """Simulated time, instead of the scenario's own."""
    seed: int = 0
    """Of the first trial; the next trials take the next seeds."""
    trials: int = 1
    """How many, one after the other."""
    threads: int = 0
    """For the physics; 0: one per core. Results do not depend on it."""
    record: Path | None = None
    """Write a recording (.npz); with several trials one each, its seed in the name."""
    script: str | None = None
    """What a walker does instead of what the scenario wants: acts with ';' between them, or a file with one a line."""
    learned: Path | None = None
    """Go on from what was learned: load this file if it is there, and add to it (planners that learn: smc, mcts)."""
    frozen: bool = False
    """Use what was learned without adding to it."""
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print exactly one JSON object on standard output."""


def main(arguments: list[str]) -> int:
    """Parse and run. The scenario and the controller decide which other options there are."""
    if not arguments or (arguments[0] in ("-h", "--help")):
        rows = "\n".join(f"  {name:14} {kind.summary}" for name, kind in SCENARIOS.items())
        print(USAGE.format(scenarios=rows))
        return 0
    file, arguments = own_file(arguments)
    if file is not None and (not arguments or arguments[0].startswith("-")):
        arguments = [only_scenario(file, "run"), *arguments]
    if arguments[0].startswith("-"):
        raise UserError(f"name the scenario first: tumble run SCENARIO ...; there are: {', '.join(SCENARIOS)}")
    kind = SCENARIOS[arguments[0]].make
    usual = usual_settings(arguments, kind)

    def go(
        options: Annotated[RunOptions, FLAT],
        scenario: Annotated[kind, FLAT],  # type: ignore[valid-type]
        settings: Annotated[type(usual), FLAT] = usual,  # type: ignore[valid-type]
    ) -> int:
        return run(options, scenario, settings)

    go.__doc__ = f"{kind.__doc__}\n\nExample: tumble run {kind.name} --trials 10 --seed 100"
    return tyro.cli(go, prog=f"tumble run {kind.name}", args=arguments[1:], config=CONFIG)


@dataclass
class Tally:
    """Results of the trials so far."""

    seeds: list[int] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    wall_seconds: float = 0.0

    def add(self, seed: int, result: Result, wall_seconds: float) -> None:
        """Count a finished trial.

        Args:
          wall_seconds: that it took, without compiling before it.
        """
        self.seeds.append(seed)
        self.results.append(result)
        self.wall_seconds += wall_seconds

    def summary(self, scenario: str, controller: str, body: str) -> dict[str, Any]:
        """The contract of `tumble run --json`.

        Of all trials that came to their end: seeds, successes and their rate, simulated and wall seconds and their
        ratio, percentiles of a frame's control in ms, simulation steps of planning, simulations that went unstable, and
        means of the metrics by name; falls are added up. Lists are in the order of the trials.

        Args:
          scenario, controller, body: names of what was run.
        """
        plans = 1000 * np.concatenate([result.plan_seconds for result in self.results] or [[0.0]])
        seconds = sum(result.seconds for result in self.results)
        successes = sum(result.success for result in self.results)
        names = self.results[0].metrics if self.results else {}
        metrics = {name: float(np.mean([result.metrics[name] for result in self.results])) for name in names}
        if "falls" in metrics:
            metrics["falls"] = int(sum(result.metrics["falls"] for result in self.results))
        return {
            "scenario": scenario,
            "controller": controller,
            "character": body,
            "seeds": self.seeds,
            "trials": len(self.results),
            "successes": successes,
            "success_rate": successes / max(1, len(self.results)),
            "seconds": seconds,
            "frames": sum(result.frames for result in self.results),
            "wall_seconds": self.wall_seconds,
            "realtime_factor": seconds / self.wall_seconds if self.wall_seconds else 0.0,
            "plan_ms": {"p50": float(np.percentile(plans, 50)), "p95": float(np.percentile(plans, 95))},
            "sim_steps": sum(result.sim_steps for result in self.results),
            "broken_rows": sum(result.broken_rows for result in self.results),
            "metrics": metrics,
        }


def run(options: RunOptions, scenario: Scenario, settings: Any) -> int:
    """Run all trials, print the summary. Ctrl-C ends after the frame, or the compiler, and keeps what was recorded."""
    check_number("trials", options.trials, 1, 1e6)
    check_number("seed", options.seed, 0, 2**63 - 1)
    check_number("threads", options.threads, 0, 1024)
    if options.record is not None:
        if options.record.suffix != ".npz":
            raise UserError(f"a recording's name ends in .npz, got {options.record}")
        check_place(options.record)
    check_frozen(options.learned, options.frozen)
    runner = _Runner(options, scenario, settings)
    with runner, Progress(options.trials) as progress:
        runner.warm_up(progress)
        with Interrupt() as interrupt:
            for seed in range(options.seed, options.seed + options.trials):
                runner.trial(seed, progress, interrupt)
                if interrupt.seen:
                    break
    summary = runner.tally.summary(scenario.name, runner.controller, runner.character)
    if runner.learned is not None:
        summary["learned"] = len(runner.learned)
    if options.as_json:
        print(json.dumps(summary))
    else:
        report(summary, runner.written, options.learned)
    return 130 if interrupt.seen else 0


class _Runner:
    """Makes a fresh controller for every trial, and a scene for every body and, where it is strewn, every seed.

    Leaving it writes what was learned.

    Attributes:
      controller, character: names of what was chosen, or of what the scenario is made for.
      learned: what the trials learn from, or None.
    """

    def __init__(self, options: RunOptions, scenario: Scenario, settings: Any) -> None:
        self.options, self.scenario, self.settings = options, scenario, settings
        self.controller = options.controller or scenario.controllers[0]
        self.character = options.character or scenario.body_for(self.controller)
        self._body = character(self.character)
        if why := unsuited(self.controller, self._body):
            raise UserError(why)
        self._scene = scenario.scene(self._body)
        self._script = None if options.script is None else Do(script_text(options.script))
        self.tally, self.written = Tally(), list[Path]()
        self.learned: Learning | None = None
        if options.learned is not None:
            first = self.make(self._scene, options.seed)
            self.learned = load_learning(options.learned, options.frozen, self.controller, first)

    def __enter__(self) -> "_Runner":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        if self.learned is not None:
            self.learned.close()

    def scene(self, seed: int) -> Scene:
        """The scene of a trial: the same object for all seeds, where neither body nor props depend on them."""
        body = self.scenario.body(self._body, seed)
        usual = body is self._body and not self.scenario.strewn
        return self._scene if usual else self.scenario.scene(body, seed)

    def make(self, scene: Scene, seed: int) -> Controller:
        """A controller for a trial: a fresh one, whose draws follow from the seed."""
        return CONTROLLERS[self.controller].make(scene, self.settings, seed, self.options.threads)

    def warm_up(self, progress: Progress) -> None:
        """Compile what a frame needs, so that no trial pays for it; Ctrl-C ends it at once."""
        want = self._script or self.scenario.wants()
        with compiling(called(self.controller), progress.compiles):
            rehearse(Session(self._scene, self.make(self._scene, 0), self._scene.state(), want))
            if self.learned is not None:
                self.learned.learner.warm_up()

    def trial(self, seed: int, progress: Progress, interrupt: Interrupt) -> None:
        """Run one, with what is compiled on the way shown; it counts where it came to its end."""
        recorders: list[Recorder] = []

        def told(compiled: CompileProgress) -> None:
            interrupt.compiles(compiled)
            progress.compiles(compiled)

        def watch(session: Session) -> None:
            session.listeners.append(progress)
            if self.learned is not None:
                self.learned.teach(session.controller)
                session.listeners.append(self.learned.file)
            if self.options.record is not None:
                about = (self.scenario.name, self.controller, seed, asdict(self.settings))
                recorders.append(Recorder(session, *about))

        scene = self.scene(seed)
        trial = Trial(
            self.scenario, seed, self.controller, want=self._script, seconds=self.options.seconds, scene=scene,
            made=self.make(scene, seed),
        )  # fmt: skip
        progress.begin(seed, trial.seconds)
        began = time.perf_counter()
        try:
            with compiling(called(self.controller), told):
                result = run_trial(trial, watch, lambda: interrupt.seen)
        finally:
            for recorder in recorders:
                self._save(recorder, seed)
        if result.finished:
            self.tally.add(seed, result, time.perf_counter() - began)
            progress.end(result.success)

    def _save(self, recorder: Recorder, seed: int) -> None:
        """Write a recording, also of a trial that was interrupted; with several trials its name has the seed."""
        path = self.options.record
        assert path is not None
        if self.options.trials > 1:
            path = path.with_stem(f"{path.stem}-{seed}")
        recorder.recording.save(path)
        self.written.append(path)


def script_text(given: str) -> str:
    """A script as it was given, or that of the file it names: one that ends in .txt, or that is there."""
    path = Path(given)
    if path.suffix == ".txt" or (len(given) < 256 and path.is_file()):
        return read_text(path, f"the script {path}", LONGEST + 1)
    return given


def report(summary: dict[str, Any], written: list[Path], learned: Path | None = None) -> None:
    """Tell people how it went, what was recorded, and which file of what was learned was used.

    Args:
      summary: of `Tally.summary`, and 'learned', how many situations, where something was.
      written: recordings.
      learned: file of what was learned.
    """
    console = Console(highlight=False)
    won, trials, metrics = summary["successes"], summary["trials"], summary["metrics"]
    colour = "green" if won == trials else "yellow" if won else "red"
    console.print(
        f"[bold {colour}]{won} of {trials}[/] {summary['scenario']} with {summary['controller']}"
        f" ({summary['character']}), seeds {_span(summary['seeds'])}"
    )
    if trials:
        console.print(
            f"  {summary['seconds']:.1f} s simulated in {summary['wall_seconds']:.1f} s"
            f" ({summary['realtime_factor']:.2f} x real time), plan {summary['plan_ms']['p50']:.1f} ms"
            f" (95 %: {summary['plan_ms']['p95']:.1f}), {summary['broken_rows']} unstable simulations"
        )
        shown = ", ".join(f"{name} {value:.3g}" for name, value in metrics.items())
        console.print(f"  {shown}")
    if learned is not None:
        console.print(f"  learned from {summary['learned']} situations in {learned}")
    for path in written:
        console.print(f"  recorded {path}; look at it: tumble strip {path} {path.with_suffix('.png')}")


def _span(seeds: list[int]) -> str:
    """Seeds in words: '3', '3..12', '-' where no trial came to its end."""
    return "-" if not seeds else str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]}..{seeds[-1]}"
