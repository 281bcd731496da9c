"""`tumble bench`: what planners, the studio, walkers, crowds, learners, trees, environments, files and first uses cost.

    bench("planner", controller="cem", samples=64, as_json=True)

What is compiled is compiled before anything is timed, with a line that says so. A planner is timed live, and between
its frames the bare `Batch.step` calls of the same simulations, from the same states: their ratio is its overhead, which
does not depend on who else uses the machine as times do.
"""

import json
import time
from dataclasses import replace
from importlib.util import find_spec
from typing import Annotated, Any, Literal

import numpy as np
import tyro

from tumble.characters import character
from tumble.cli.bench_cold import COLD, measure_all, table
from tumble.cli.bench_crowd import measure as measure_crowd
from tumble.cli.bench_learners import measure as measure_learners
from tumble.cli.bench_tree import measure as measure_tree
from tumble.cli.bench_walker import measure as measure_walkers
from tumble.cli.options import CONFIG
from tumble.cli.progress import compile_line
from tumble.errors import UserError, check_number
from tumble.goals.judging import goal_of
from tumble.live.rehearsal import called, rehearse
from tumble.planners import PLANNERS, Planner
from tumble.scenarios import SCENARIOS, Scenario, Trial
from tumble.world.sims import Sims

Measured = Literal["planner", "studio", "walker", "crowd", "learners", "tree", "rl", "export", "cold"]
LIVE = ("stand", "getup")  # a quiet scenario and a busy one


def bench(
    what: Annotated[
        Literal["planner", "studio", "walker", "crowd", "learners", "tree", "rl", "export", "cold"],
        tyro.conf.Positional,
    ],
    controller: str = "cpbp",
    scenario: str | None = None,
    samples: int = 32,
    horizon: float = 1.2,
    frames: int = 60,
    seconds: float = 10.0,
    clients: int = 1,
    tree: str = "getup-1",
    alpha: float = 8.0,
    rows: int = 256,
    threads: int = 0,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> int:
    """Measure what things cost.

    planner: a planner live, and between its frames the bare Batch.step calls of the same simulations.
    studio: frames a second with a browser watching and without; the share of a core that serving takes where nobody
    plans, at 60 frames a second; how soon a drag shows; memory.
    walker: times real time of one walker on one thread, and of 256 at once on --threads.
    crowd: times real time of a crowd of 16 dancers in one world, from its start.
    learners: what the forest and the network of mcts take for queries and for learning.
    tree: how long an attraction tree takes to be read, and frames in which bodies that lie anyhow ask it.
    rl: steps of a Gymnasium vector environment beside the bare physics of the same rows.
    export: files of a recorded walk of --seconds, and a film of its first ten.
    cold: CPU seconds until a first frame with nothing compiled; has options of its own, 'tumble bench cold --help'.

    Example: tumble bench planner --controller cpbp --samples 32 --json

    Example: tumble bench planner --controller mcts --scenario learn-walk --samples 64

    Example: tumble bench studio --clients 8 --seconds 600

    Args:
      what: 'planner', 'studio', 'walker', 'crowd', 'learners', 'tree', 'rl', 'export' or 'cold'.
      controller: which planner: see 'tumble list'.
      scenario: to plan in, with its own character; by default stand and getup; planner, rl (getup).
      samples: futures a frame.
      horizon: seconds ahead.
      frames: timed frames of each scenario; planner.
      seconds: that serving, walking or dancing is measured for, or simulated; studio, walker, crowd, tree, rl, export.
      clients: that watch while serving is measured; studio.
      tree: which, by its name or file; tree.
      alpha: of the domain that bodies lie in; tree.
      rows: environments at once; rl.
      threads: for the physics; 0: one per core.
      as_json: print one JSON object on standard output.
    """
    if what == "cold":  # where compiling is what is measured
        return cold(as_json=as_json)
    named = {"rl": "the environment", "export": "the walker"}.get(what, f"the {what}")
    with compile_line(called(controller) if what in ("planner", "studio") else named):
        if what == "studio":
            return _studio(samples, seconds, clients, threads, as_json)
        if what == "walker":
            return _walker(seconds, threads, as_json)
        if what == "crowd":
            return _crowd(seconds, as_json)
        if what == "learners":
            return _learners(as_json)
        if what == "tree":
            return _tree(tree, alpha, seconds, threads, as_json)
        if what == "export":
            return _export(seconds, as_json)
        if what == "rl":
            return _rl(scenario or "getup", rows, seconds, threads, as_json)
        return _planner(controller, scenario, samples, horizon, frames, threads, as_json)


def cold(
    scenarios: Annotated[tuple[str, ...], tyro.conf.Positional] = (),
    every: Annotated[bool, tyro.conf.arg(name="all")] = False,
    as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
) -> int:
    """Measure first frames: CPU seconds of fresh processes with nothing compiled (cold) and with all of it (warm).

    'stand' comes first, and others are compared with it. Every scenario has a temporary cache folder, which is removed,
    also after Ctrl-C.

    Example: tumble bench cold

    Example: tumble bench cold steer-walk learn-walk --json

    Args:
      scenarios: which; by default a handful of different controllers.
      every: all scenarios there are; takes about ten minutes.
      as_json: print one JSON object on standard output.
    """
    rows = measure_all(list(SCENARIOS) if every else list(scenarios or COLD))
    print(json.dumps({"rows": rows}) if as_json else table(rows))
    return 0


def _planner(
    controller: str, scenario: str | None, samples: int, horizon: float, frames: int, threads: int, as_json: bool
) -> int:
    """Compare planning with its physics alone."""
    check_number("frames", frames, 1, 1e6)
    kind = PLANNERS[controller]
    settings = replace(kind.settings(), samples=samples, horizon=horizon)
    kinds = [SCENARIOS[name] for name in (LIVE if scenario is None else [scenario])]
    rows = {each.name: _measure(each(), kind.make, settings, frames, threads) for each in kinds}
    plan, raw = (float(np.mean([row[key] for row in rows.values()])) for key in ("plan_ms", "raw_ms"))
    about = {"controller": controller, "samples": samples, "horizon": horizon, "frames": frames}
    summary: dict[str, Any] = {**about, "plan_ms": plan, "raw_ms": raw, "overhead": plan / raw, "scenarios": rows}
    if as_json:
        print(json.dumps(summary))
        return 0
    for name, row in (*rows.items(), ("in all", summary)):
        print(
            f"{name:10} plan {row['plan_ms']:6.2f} ms, physics alone {row['raw_ms']:6.2f} ms, x {row['overhead']:.3f}"
        )
    return 0


def _learners(as_json: bool) -> int:
    """Print what calls of the learners take, us."""
    times = measure_learners()
    if as_json:
        print(json.dumps(times))
        return 0
    for name, microseconds in times.items():
        print(f"{microseconds:8.0f} us  {name}")
    return 0


def _walker(seconds: float, threads: int, as_json: bool) -> int:
    check_number("seconds", seconds, 0.1, 3600)
    rows = [measure_walkers(1, seconds, 1), measure_walkers(256, seconds, threads)]
    if as_json:
        print(json.dumps(rows))
        return 0
    for row in rows:
        print(
            f"{row['rows']:4} at once: {row['times_real_time']:6.1f} x real time in all; a step of one takes"
            f" {row['control_us']:.1f} us of control and {row['physics_us']:.1f} us of physics"
        )
    return 0


def _crowd(seconds: float, as_json: bool) -> int:
    check_number("seconds", seconds, 0.1, 3600)
    row = measure_crowd(seconds)
    if as_json:
        print(json.dumps(row))
        return 0
    print(
        f"{row['dancers']} dancers: {row['times_real_time']:.2f} x real time; a simulated second takes"
        f" {row['physics_ms']:.0f} ms of physics and {row['control_ms']:.0f} ms of control,"
        f" {row['process_ms']:.0f} ms of a core's time"
    )
    return 0


def _tree(name: str, level: float, seconds: float, threads: int, as_json: bool) -> int:
    check_number("seconds", seconds, 0.1, 3600)
    check_number("alpha", level, 0, 20)
    row = measure_tree(name, level, seconds, threads)
    if as_json:
        print(json.dumps(row))
        return 0
    asking = row["asking_ms"]
    print(
        f"{name}: {row['nodes']} nodes are read in {row['load_ms']:.0f} ms\n"
        f"frames that ask: {asking['p50']:.1f} ms, 95 % below {asking['p95']:.1f}, at most {asking['most']:.1f};"
        f" {100 * row['in_time']:.0f} % of {row['asking_frames']} in time; others {row['other_ms']:.2f} ms"
    )
    return 0


def _rl(scenario: str, rows: int, seconds: float, threads: int, as_json: bool) -> int:
    check_number("seconds", seconds, 0.1, 3600)
    from tumble.cli.bench_rl import measure as measure_rl

    row = measure_rl(scenario, rows, seconds, threads)
    if as_json:
        print(json.dumps(row))
        return 0
    print(
        f"{row['rows']} rows of {scenario}: a step takes {row['step_ms']:.1f} ms of cores, its physics alone"
        f" {row['bare_ms']:.1f} ms: {100 * row['kept']:.0f} % of the bare batch, {row['rows_a_second']:.0f} rows/s"
    )
    return 0


def _export(seconds: float, as_json: bool) -> int:
    from tumble.cli.bench_export import measure as measure_export

    found = measure_export(seconds)
    if as_json:
        print(json.dumps(found))
        return 0
    for ending, row in found["files"].items():
        rate = f", {row['pictures_a_second']:.1f} pictures/s" if "pictures_a_second" in row else ""
        print(f"{ending:13} {row['seconds']:6.2f} s, {row['core_seconds']:6.2f} s of cores, {row['mb']:6.2f} MB{rate}")
    return 0


def _studio(samples: int, seconds: float, clients: int, threads: int, as_json: bool) -> int:
    check_number("seconds", seconds, 4, 86400)
    check_number("clients", clients, 1, 60)
    if find_spec("nicegui") is None:
        raise UserError("the studio needs NiceGUI: pip install 'tumble[studio]'")
    from tumble.studio.measure import measure

    rehearse(Trial(SCENARIOS["stand"].make(), controller="cpbp", threads=threads).session)  # else nobody here is told
    figures = measure(samples, seconds, clients, threads)
    if as_json:
        print(json.dumps(figures))
        return 0
    frames, late = figures["reaction_frames"], figures["reaction_ms"]
    print(
        f"C-PBP, {samples} futures: {figures['headless_rate']:.1f} frames/s alone, {figures['live_rate']:.1f} watched"
        f" ({100 * figures['kept']:.0f} %)\n"
        f"serving at {figures['idle_rate']:.1f} frames/s without a planner, {clients} watching:"
        f" {100 * figures['core_share']:.1f} % of a core, {figures['missed']} frames missed,"
        f" memory {figures['grown_mb']:+.1f} MB\n"
        f"a frame: {figures['bytes_a_frame']:.0f} bytes, at most {figures['largest_frame']}\n"
        f"a drag shows after {frames['median']:g} frames (at most {frames['most']}),"
        f" {late['median']:.0f} ms (at most {late['most']:.0f})"
    )
    return 0


def _measure(scenario: Scenario, kind: Any, settings: Any, frames: int, threads: int) -> dict[str, float]:
    """Median milliseconds of a plan and of its physics alone, and their ratio."""
    scene = scenario.scene(character(scenario.characters[0]))
    goal = goal_of(scene, scenario.wants(), kind.go_style)
    planner, shadow = kind(scene, settings, 0, threads), kind(scene, settings, 0, threads)
    seen = _spy(shadow)
    world, bare = Sims(scene, 1, 1), Sims(scene, settings.samples, threads)
    world.load(scenario.setup(scene, np.random.default_rng(0)).state)
    plans, raws = [], []
    for _ in range(frames + 1):
        state = world.state[0].copy()
        began = time.perf_counter()
        plan = planner.plan(state, goal)
        plans.append(time.perf_counter() - began)
        shadow.plan(state, goal)
        raws.append(_physics(bare, seen))
        world.act(plan.controls[:1])
    plan_ms, raw_ms = (1000 * float(np.median(times[1:])) for times in (plans, raws))  # the first compiles
    return {"plan_ms": plan_ms, "raw_ms": raw_ms, "overhead": plan_ms / raw_ms}


def _spy(planner: Planner) -> list[tuple[np.ndarray, dict[str, Any]]]:
    """The state rows before every physics step that the planner takes from now on, and the step's arguments."""
    seen: list[tuple[np.ndarray, dict[str, Any]]] = []
    batch = planner.sims.batch
    step = batch.step

    def spied(**arguments: Any) -> None:
        seen.append((batch.state.copy(), arguments))
        step(**arguments)

    batch.step = spied  # type: ignore[assignment, method-assign]
    return seen


def _physics(bare: Sims, seen: list[tuple[np.ndarray, dict[str, Any]]]) -> float:
    """Seconds that Batch.step takes from all those states; empties the list."""
    total = 0.0
    for rows, arguments in seen:
        bare.state[:] = rows
        began = time.perf_counter()
        bare.batch.step(**arguments)
        total += time.perf_counter() - began
    seen.clear()
    return total


def main(arguments: list[str]) -> int:
    """Parse and run."""
    if arguments[:1] == ["cold"]:
        return tyro.cli(cold, prog="tumble bench cold", args=arguments[1:], config=CONFIG)
    return tyro.cli(bench, prog="tumble bench", args=arguments, config=CONFIG)
