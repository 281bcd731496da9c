"""Gather experience for ST+ML of figure 12 of hamalainen2014: 100 000 situations and the plans that did well.

SMC plays `dodge` again and again, guesses from what it has stored so far and stores more: in every frame whose best
plan has a log fitness above `memorable` (1e-10, section 4.5). The paper does not say how its 100k training vectors
were made. Seeds are 10000 and up, so that no figure's throw is among them.

A file of experience is for one process; W workers gather into FILE.0, FILE.1, ..., each a share of the count and
guessing from its own, and at the end these are merged into FILE, beside and then renamed. What they did is told in
results/gather.json. Ctrl-C stops and keeps what was stored; the next run goes on with the next seed. The parts stay,
and may be deleted once there is a FILE.

A trial is about 170 frames, so 100 000 are 590 trials if every frame is memorable: at 70 ms a frame an hour on two
cores, more if fewer frames are. --quick (100 situations, N = 10) under a minute.

    python gather.py                                  # results/dodge.experience
    python figure12.py --curves ST+ML --learned results/dodge.experience
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from report import RESULTS, parser, place, spread, store, versions
from trials import Point, code, script, warm_up

from tumble.errors import UserError, check_number
from tumble.learners.experience import Experience
from tumble.live.learned_file import LearnedFile
from tumble.live.session import Session
from tumble.planners import Planned
from tumble.scenarios import run_trial

FIRST = 10_000  # seed
WAIT = 10.0  # s from one line of progress to the next


class Part(NamedTuple):
    """What one worker gathers."""

    file: Path
    index: int
    workers: int
    count: int
    samples: int

    @property
    def path(self) -> Path:
        return self.file.with_name(f"{self.file.name}.{self.index}")

    @property
    def notes(self) -> Path:
        """What was done so far, and the seed to go on with."""
        return self.file.with_name(f"{self.file.name}.{self.index}.json")

    @property
    def point(self) -> Point:
        return Point("dodge", "humanoid-light", "smc", (("samples", self.samples), ("horizon", 2.0)))


def main() -> None:
    chosen = arguments()
    shares = [chosen.count // chosen.workers + (i < chosen.count % chosen.workers) for i in range(chosen.workers)]
    parts = [Part(chosen.file, i, chosen.workers, share, chosen.samples) for i, share in enumerate(shares)]
    for part in parts:
        noted(part)
    print(f"compiling; then {chosen.workers} workers gather {chosen.count} situations", flush=True)
    warm_up([parts[0].point], None)
    began = time.perf_counter()
    if not spread(gather, parts, chosen.workers, lambda part, _: print(f"{part.path} is full", flush=True)):
        print(f"stopped after {elapsed(began)}; run it again to go on", flush=True)
        sys.exit(130)
    merge(chosen.file, parts)
    conclude(place("gather", chosen.quick), parts)


def arguments() -> argparse.Namespace:
    """The command line's options, checked."""
    known = parser(__doc__)
    known.add_argument("file", nargs="?", type=Path, metavar="FILE", help="default: results/dodge.experience")
    known.add_argument("--samples", type=int, metavar="N", help="a frame (default 25)")
    known.add_argument("--count", type=int, metavar="C", help="situations (default 100000)")
    known.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="W", help="default: one per core")
    chosen = known.parse_args()
    if chosen.draw:
        raise UserError("there is nothing to draw")
    samples, count, name = (10, 100, "dodge-quick") if chosen.quick else (25, 100_000, "dodge")
    chosen.samples, chosen.count = chosen.samples or samples, chosen.count or count
    chosen.file = chosen.file or RESULTS / f"{name}.experience"
    for name, least, most in (("samples", 2, 100_000), ("count", 1, 10_000_000), ("workers", 1, 1024)):
        check_number(name, getattr(chosen, name), least, most)
    return chosen


def noted(part: Part) -> dict[str, Any]:
    """A part's notes, at first empty; refuses those of another kind."""
    kind = {"samples": part.samples, "workers": part.workers}
    if not part.notes.is_file():
        if part.path.exists():
            raise UserError(f"{part.path} is there without {part.notes.name}; delete it, or choose another FILE")
        counts = {"trials": 0, "successes": 0, "frames": 0, "wall_seconds": 0.0}
        return kind | counts | {"next_seed": FIRST + part.index, "code": []}
    notes = json.loads(part.notes.read_text())
    if {key: notes[key] for key in kind} != kind:
        raise UserError(
            f"{part.path} was gathered with N = {notes['samples']} by {notes['workers']} workers: go on with"
            f" --samples {notes['samples']} --workers {notes['workers']}, or choose another FILE"
        )
    return notes


def gather(part: Part, stop: Callable[[], bool]) -> int | None:
    """In a worker: trials until the part is full; None if it was stopped before."""
    notes = noted(part)
    notes["code"] = sorted({*notes["code"], code()})
    memory, about = need(part)
    experience = Experience(*memory, capacity=part.count)
    with LearnedFile(part.path, experience, about) as file:
        if file.warning is not None:
            print(file.warning, file=sys.stderr, flush=True)
        watch = _Progress(part, experience, file)
        while len(experience) < part.count and not stop():
            seed = notes["next_seed"]
            notes["next_seed"] += part.workers
            store(part.notes, notes)  # at once: a trial that is interrupted is not played again
            began = time.perf_counter()
            trial = part.point.trial(seed, None)
            trial.controller.planner.learn_with(experience)
            full = lambda: stop() or len(experience) >= part.count  # noqa: E731
            result = run_trial(trial, watch, full)
            notes["frames"] += result.frames
            notes["wall_seconds"] = round(notes["wall_seconds"] + time.perf_counter() - began, 1)
            if result.finished:
                notes["trials"] += 1
                notes["successes"] += result.success
            store(part.notes, notes)
    return len(experience) if len(experience) >= part.count else None


def need(part: Part) -> tuple[tuple[int, int], dict[str, Any]]:
    """Sizes of a situation and a plan, and what a file is about."""
    planner = part.point.make(0, None).planner
    assert planner.memory is not None
    return planner.memory, planner.about


class _Progress:
    """Watches trials: a line now and then, and the file hears of what was added."""

    def __init__(self, part: Part, experience: Experience, file: LearnedFile) -> None:
        self._part, self._experience, self._file = part, experience, file
        self._had, self._began, self._told = len(experience), time.perf_counter(), time.perf_counter()

    def __call__(self, session: Session) -> None:
        assert isinstance(session.controller, Planned)
        session.listeners += [self._file, self._tell]

    def _tell(self, session: Session, frame: Any) -> None:
        now, there = time.perf_counter(), len(self._experience)
        if now < self._told + WAIT and there < self._part.count:
            return
        self._told, new = now, there - self._had
        left = (now - self._began) * (self._part.count - there) / new if new else 0.0
        rest = f"about {timedelta(seconds=round(left))} to go" if new else "none yet"
        print(f"{self._part.path.name}: {there} of {self._part.count}, {rest}", flush=True)


def merge(file: Path, parts: list[Part]) -> None:
    """Write all parts, one after the other, beside the file, and rename that to it."""
    memory, about = need(parts[0])
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    together = Experience(*memory, capacity=sum(part.count for part in parts))
    try:
        with LearnedFile(beside, together, about):
            for part in parts:
                one = Experience(*memory, capacity=part.count)
                LearnedFile(part.path, one, about, frozen=True)
                together.extend(*one.since(0))
        os.replace(beside, file)
    finally:
        beside.unlink(missing_ok=True)
    print(f"wrote {len(together)} situations to {file}", flush=True)


def conclude(path: Path, parts: list[Part]) -> None:
    """Note how the file was made."""
    notes = [noted(part) for part in parts]
    sums = {key: round(sum(one[key] for one in notes), 1) for key in ("trials", "successes", "frames")}
    seeds = [[FIRST + i, one["next_seed"] - one["workers"]] for i, one in enumerate(notes)]
    about = {
        "file": parts[0].file.name,
        "situations": sum(part.count for part in parts),
        "samples": parts[0].samples,
        "workers": len(parts),
        "first and last seed of each": seeds,
        "code": sorted({mark for one in notes for mark in one["code"]}),
        "versions": versions(),
        "wall_seconds": max(one["wall_seconds"] for one in notes),
    }
    store(path, about | sums)
    print(f"{sums['successes']} of {sums['trials']} trials succeeded; wrote {path}", flush=True)


def elapsed(began: float) -> timedelta:
    return timedelta(seconds=round(time.perf_counter() - began))


if __name__ == "__main__":
    script(main)
