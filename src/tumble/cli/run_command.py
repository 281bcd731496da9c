"""`tumble run [FILE.py] SCENARIO`: run a scenario, one trial or many, and say how it went.

    main(["push", "--force", "600", "--trials", "10", "--json"])
    main(["push", "--trials", "1000", "--jobs", "8", "--store", "push.trials"])

Options are those of `RunOptions`, the fields of the scenario and the settings of its controller, all beside each
other: --force is the scenario's, --samples the planner's. All is checked before anything is simulated, also where files
are to be written.

Trials take seeds one after the other, each with a fresh controller; what is learned goes on from one to the next. With
--jobs or --cluster they run beside each other, and results are the same to the last bit. A rehearsal before the first
compiles what is needed, so that no trial pays for it; results are the same without. `--json` prints one object, the
contract of which is `Tally.summary`.
"""

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from tumble.cli.own_robots import introduce
from tumble.cli.progress import Interrupt, JobsProgress, Progress
from tumble.cli.run_options import Parsed, check, parse, script_text
from tumble.cli.runner import Ran, Runner
from tumble.cli.tally import Tally, report
from tumble.cli.trial_jobs import Recipe, about, do_trial, plain, ran_of, recipe_of
from tumble.maths.compiling import CompileProgress
from tumble.offline.jobs import as_done
from tumble.offline.store import JobStore
from tumble.offline.workers import cores, workers
from tumble.scenarios import SCENARIOS, Trial

USAGE = """\
usage: tumble run [FILE.py] SCENARIO [OPTIONS]

Run a scenario without a display and say how it went.

scenarios:
{scenarios}

examples:
  tumble run getup
  tumble run push --force 600 --trials 10 --seed 100 --json
  tumble run push --trials 1000 --jobs 8 --store push.trials
  tumble run push --trials 1000 --cluster 10.0.0.5:8786
  tumble run getup --controller cem --samples 64 --horizon 1.0
  tumble run getup --record getup.npz && tumble strip getup.npz getup.png
  tumble run dodge --controller smc --trials 100 --learned dodge.experience
  tumble run learn-walk --learned walk.learned
  tumble run learn-walk --learned walk.learned --samples 8
  tumble run steer-walk --script "go to 2 1; turn to 90, then wait 2 s"
  tumble run steer-walk --script script.txt --seconds 60
  tumble run steer-walk --set kitchen.json
  tumble run mine.py
  tumble run mine.py limbo --trials 10
  tumble run mine.py push --character tripod
  tumble run push --character my_robot.xml --force 100

'tumble run SCENARIO --help' lists all options of a scenario, and all settings of its --controller.
'tumble list' shows what scripts are written of.
FILE.py is a file of your own that registers scenarios, characters, goals or controllers, as examples/own_scenario.py
does; where it registers one scenario, that is the one."""

TIMED = "time decides how much is planned (--keep-time): the same seed goes another way each time; a recording is exact"


def main(arguments: list[str]) -> int:
    """Parse and run; the exit code."""
    if not arguments or (arguments[0] in ("-h", "--help")):
        rows = "\n".join(f"  {name:14} {kind.summary}" for name, kind in SCENARIOS.items())
        print(USAGE.format(scenarios=rows))
        return 0
    parsed = parse(arguments)
    check(parsed.options)
    if parsed.options.script is not None:
        parsed = replace(parsed, options=replace(parsed.options, script=script_text(parsed.options.script)))
    return run(arguments, parsed)


def run(arguments: Sequence[str], parsed: Parsed) -> int:
    """Run all trials, print the summary. Ctrl-C ends early, and keeps what was finished and recorded."""
    options, ended, interrupt = parsed.options, dict[int, Ran](), Interrupt()
    seeds = range(options.seed, options.seed + options.trials)
    introduce(options.character)
    with ExitStack() as stack:
        runner = stack.enter_context(Runner(options, parsed.scenario, parsed.settings))
        for sentence in parsed.scenario.notes(parsed.settings):
            print(f"tumble: {sentence}", file=sys.stderr)
        if options.keep_time:
            print(f"tumble: {TIMED}", file=sys.stderr)
        store = None
        if options.store is not None:
            store = stack.enter_context(JobStore(options.store, about(parsed, runner)))
            ended |= _kept(store, seeds)
        trials = _Trials(ended, store)
        left = [seed for seed in seeds if seed not in ended]
        if options.spread and left:
            _run_spread(runner, recipe_of(arguments, parsed), left, trials, interrupt)
        elif left:
            _run_in_turn(runner, left, trials, interrupt)
    tally = Tally()
    for seed in sorted(ended):
        tally.add(seed, ended[seed].result, ended[seed].wall_seconds)
    summary = tally.summary(parsed.scenario.name, runner.controller, runner.character)
    if runner.learned is not None:
        summary["learned"] = len(runner.learned)
    if runner.keeping is not None:
        summary["keeps_time"] = runner.keeping.text
    if options.as_json:
        print(json.dumps(summary))
    else:
        report(summary, runner.written, options.learned)
    return 130 if interrupt.seen else 0


def _kept(store: JobStore, seeds: Sequence[int]) -> dict[int, Ran]:
    """Trials of a store, by seed; tells what was wrong with it."""
    for sentence in store.mended:
        print(f"tumble: {sentence}", file=sys.stderr)
    found = store.results()
    return {seed: ran_of(found[str(seed)]) for seed in seeds if str(seed) in found}


@dataclass
class _Trials:
    """Trials that came to their end, by seed; also in a store, before they are here."""

    ended: dict[int, Ran]
    store: JobStore | None

    def add(self, seed: int, ran: Ran) -> None:
        if self.store is not None:
            self.store.put(str(seed), plain(ran))
        self.ended[seed] = ran


def _run_in_turn(runner: Runner, seeds: Sequence[int], trials: _Trials, interrupt: Interrupt) -> None:
    """Run trials in this process; Ctrl-C ends after the frame, or the compiler."""
    with Progress(len(seeds)) as progress:

        def told(compiled: CompileProgress) -> None:
            interrupt.compiles(compiled)
            progress.compiles(compiled)

        def begins(trial: Trial) -> None:
            progress.begin(trial.seed, trial.seconds)
            trial.session.listeners.append(progress)

        runner.warm_up(progress.compiles)
        with interrupt:
            for seed in seeds:
                ran = runner.trial(seed, begins, told, lambda: interrupt.seen)
                if ran.result.finished:
                    trials.add(seed, ran)
                    progress.end(ran.result.success)
                if interrupt.seen:
                    break


def _run_spread(runner: Runner, recipe: Recipe, seeds: Sequence[int], trials: _Trials, interrupt: Interrupt) -> None:
    """Run trials in workers; Ctrl-C ends at once, and what was under way is lost."""
    options = runner.options
    before = len(trials.ended), sum(ran.result.success for ran in trials.ended.values())
    try:
        with JobsProgress(len(seeds), *before) as progress:
            if options.cluster is None:
                runner.warm_up(progress.compiles)  # so that workers find on disk what they would all compile
            jobs = min(options.jobs or cores(), len(seeds))
            with workers(jobs, options.cluster) as pool:
                for index, data in as_done(pool, do_trial, [(recipe, seed) for seed in seeds]):
                    ran = ran_of(data)
                    trials.add(seeds[index], ran)
                    progress.end(ran.result.success)
    except KeyboardInterrupt:
        interrupt.seen = True
