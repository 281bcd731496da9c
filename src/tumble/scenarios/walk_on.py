"""Walking on whatever happens: who is knocked down gets up and goes where it was going.

    trial = Trial(WalkOn(force=1000.0), seed=3000, controller="relay")
    run_trial(trial).metrics["recovered"]       # share of falls after which it stood tall within 10 s

Blows and turns come by the clock, whatever the character does meanwhile: who is slow to rise is struck again on the
ground. 1000 N for 0.15 s are 150 N s, which change the speed of 70 kg by 2 m/s: they are meant to fell a walker.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.controllers.relay import RISING
from tumble.errors import check_number
from tumble.goals.wants import Go, Want
from tumble.live.commands import Push
from tumble.scenarios.history import TALL, History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.world.scene import Scene

EVERY = 10.0  # s from one blow to the next
TURNS = 6.0  # s from one heading to the next
SHARPEST = 1.0  # rad, largest change of heading
BLOW = 0.15  # s
IN_TIME = 10.0  # s within which a fall counts as recovered
UNDER_WAY = 0.5  # of the pace at which it walks again
SMOOTH = 0.5  # s over which that is averaged: a step


@dataclass(frozen=True)
class WalkOn(Scenario):
    """Walk along a course of headings and be struck every 10 s hard enough to fall; get up and walk on, for 60 s.

    A heading changes by up to 1 rad every 6 s. A blow comes from any side, on trunk, head or a thigh, alike. Well done:
    it lasted, and after every fall it stood tall again before the end.
    """

    force: float = 1000.0
    """Of a blow of 0.15 s on trunk, head or a thigh from any side, N."""
    pace: float = 0.8
    """Speed that is asked for, m/s."""
    until: float = 60.0
    """How long, s."""

    name: ClassVar[str] = "walk-on"
    summary: ClassVar[str] = "walk a course of headings, struck down every 10 s (--force N): gets up and walks on"
    controllers: ClassVar[tuple[str, ...]] = ("relay", "cpbp", "smc", "mcts", "walker")
    characters: ClassVar[tuple[str, ...]] = ("biped",)

    def __post_init__(self) -> None:
        check_number("force", self.force, 0, 1e5)
        check_number("pace", self.pace, 0.1, 2)
        check_number("until", self.until, 1, 3600)

    def wants(self) -> Want:
        return Go(speed=self.pace, heading=0.0)

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        character = scene.character
        thighs = [name for name in scene.bones if name.endswith("thigh")]
        parts = [character.trunk, character.head, str(rng.choice(thighs)) if thighs else character.root]
        headings = np.cumsum(rng.uniform(-SHARPEST, SHARPEST, math.ceil(self.until / TURNS)))
        events: list[tuple[float, Push | Go]] = [
            (TURNS * (i + 1), Go(heading=float(heading))) for i, heading in enumerate(headings)
        ]
        for i in range(1, math.ceil(self.until / EVERY)):
            angle, part = rng.uniform(-np.pi, np.pi), str(rng.choice(parts))
            force = (self.force * math.cos(angle), self.force * math.sin(angle), 0.0)
            events.append((EVERY * i, Push(part, force, seconds=BLOW)))
        due = sorted((event for event in events if event[0] < self.until), key=lambda event: event[0])
        return Setup(scene.state("rest"), self.until, due)

    def success(self, history: History) -> bool:
        """Whether it lasted, got up after every fall, and is on its feet in the end."""
        return history.lasted(self.until) and all(up is not None for _, up in _falls(history))

    def metrics(self, history: History) -> dict[str, float]:
        """Falls, the share of them recovered in time, of time on its feet, and of getting up; s to rise, to walk.

        `rise_seconds` are from the fall until it stands tall, `again_seconds` from then until it walks at half its
        pace; both are means over those falls in which that happened, with the slowest beside them. Where nobody fell,
        `recovered` is 1.
        """
        falls, dt = _falls(history), history.scene.dt
        rises = [(up - down) * dt for down, up in falls if up is not None]
        ups = [up for _, up in falls if up is not None]
        again = [seconds for up in ups if (seconds := _walks(history, up, self.pace)) is not None]
        in_time = [up is not None and (up - down) * dt <= IN_TIME for down, up in falls]
        return {
            "downs": float(len(falls)),
            "recovered": float(np.mean(in_time or [True])),
            "on_feet": float(history.only_feet.mean()) if history.frames else 0.0,
            "rise_seconds": float(np.mean(rises or [0.0])),
            "slowest_rise": float(max(rises, default=0.0)),
            "again_seconds": float(np.mean(again or [0.0])),
            "slowest_again": float(max(again, default=0.0)),
            "rising": float((history.acting == RISING).mean()) if history.frames else 0.0,
            "speed_along": float(history.along.mean()) if history.frames else 0.0,
        }


def _falls(history: History) -> list[tuple[int, int | None]]:
    """Frames in which its body touched the ground after it had stood, and in which it stood tall again, or None.

    Tall: only feet touch, the root is at 85 % or more of its standing height, and it stays so for half a second.
    """
    stays = round(SMOOTH / history.scene.dt)
    stands = history.only_feet & (history.height >= TALL)
    falls: list[tuple[int, int | None]] = []
    up, run = True, 0
    for frame, (touches, stood) in enumerate(zip(~history.only_feet, stands, strict=True)):
        run = run + 1 if stood else 0
        if up and touches:
            falls.append((frame, None))
            up = False
        elif not up and run >= stays:
            falls[-1] = falls[-1][0], frame - stays + 1
            up = True
    return falls


def _walks(history: History, up: int, pace: float) -> float | None:
    """s from a frame on until it walks at half its pace, over half a second; None where it was struck down before."""
    n = round(SMOOTH / history.scene.dt)
    nexts = [down for down, _ in _falls(history) if down > up]
    end = nexts[0] if nexts else history.frames
    speeds = np.linalg.norm(history.of("com_velocity")[up:end, :2], axis=1)
    if len(speeds) < n:
        return None
    means = np.convolve(speeds, np.ones(n) / n, "valid")
    first = np.flatnonzero(means >= UNDER_WAY * pace)
    return float(first[0]) * history.scene.dt if first.size else float(len(speeds)) * history.scene.dt
