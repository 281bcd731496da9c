"""Wandering: steps over random gaps and stones, planned by what was learned from the steps before them.

    wandering = Wandering(BASES["humanoid"](), seed=0)
    for progress in wandering.run(rounds=8):
        print(progress.steps, progress.error)
    wandering.nets("tumble stones learn humanoid").write(Path("humanoid.nets"))
    wandering.examples("tumble stones learn humanoid").write(Path("humanoid.stones"))

Rows walk on level ground, where gaps and stones are thought: what lies under a foot does not change its step. In the
first round actions are drawn around the base's. In each one after it networks are trained with all steps so far, and
plans of these (`tumble.stepping.refining`) are taken, many with some noise: so the steps that are learned from are more
and more those that will be asked for. Headings turn, and rows are pushed, now and then.

**Departures** coros2010 section 3.3: actions of examples are optimised by simulating each many times; here by a model
that is learned on the way, which takes one simulation for an example instead of some 90.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tumble.characters import character
from tumble.simbicon.body import MEMORY
from tumble.simbicon.varied import VARIED
from tumble.stepping.base import Base
from tumble.stepping.examples import ARRAYS, Examples, header_for
from tumble.stepping.nets import StepNets, learned
from tumble.stepping.planning import FAR, Landings, anywhere
from tumble.stepping.problems import WINDOW
from tumble.stepping.refining import freedom, refined
from tumble.stepping.strider import SCUFFED, SHORT, Strider
from tumble.stepping.terrain import FRICTION, Footing, Soles
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

ROWS, SETTLING = 64, 8  # rows that walk, steps of the base before they begin; all numbers here are ours
FIRST, ROUND = 40, 18  # steps of every row in the first round, and in another
DRAWN = 1 / 3.75  # of `freedom`: deviations of actions in the first round
NOISE, NOISY = 0.25, 0.5  # of these in other rounds, and share of the steps that have it
DISTURBED, PUSHED, PUSHES = 0.1, 0.15, 0.05  # m/s and rad/s of starts; m/s of a push, share of steps with one
TURN, TURNS = 0.4, 0.2  # rad by which a heading turns with a step at most, share of steps with a turn
WIDTHS, SPACINGS, GAPS = (0.1, 0.55), (0.25, 1.2), 60  # m, of thought gaps, and how many
STRAY = 0.3, 0.5  # rad of yaw before and after a step: who is farther off the way is no example
STONY = 0.3  # share of rows on stones
KEPT = 2000  # last steps that are examples


@dataclass(frozen=True)
class WanderingProgress:
    """How far it is: steps so far; of the last round m by which lengths were mistaken, in the median, and falls."""

    steps: int
    error: float
    falls: int


class Wandering:
    """Rows that walk, and what they did."""

    def __init__(self, base: Base, seed: int = 0) -> None:
        """On level ground, from disturbed starts."""
        self.base = base
        self.strider = Strider(Scene(character(base.character), ground=Ground(FRICTION)), base)
        self._sims, self._rng = Sims(self.strider.scene, ROWS, nthread=1), np.random.default_rng(seed)
        self._sims.use(self.strider.walker.drive)
        self._foot = Soles(self.strider.scene).foot
        self._made: list[dict[str, np.ndarray]] = []
        self._stony = np.arange(ROWS) < STONY * ROWS
        self._settle()
        self._x, self._ground, self._stones = np.zeros(ROWS), [self._gaps() for _ in range(ROWS)], [np.zeros(0)] * ROWS

    def _settle(self) -> None:
        """Disturbed starts after some steps of the base, and what its own walk is in the end."""
        sims, strider, rows = self._sims, self.strider, np.arange(ROWS)
        own = np.tile(self.base.action, (ROWS, 1))
        for disturbed in (0.0, DISTURBED):
            strider.begin(sims)
            sims.view("qvel")[:] += disturbed * self._rng.standard_normal(sims.view("qvel").shape)
            sims.load(sims.state.copy())
            for _ in range(2 * SETTLING if not disturbed else SETTLING):
                strider.apply(sims, rows, own)
                stood = strider.step(sims, rows)
                if not disturbed:
                    before = strider.reduced(sims, rows), *strider.measured(sims, rows)
                    self._usual = np.concatenate([[before[1].mean(), before[2].mean()], before[0].mean(axis=0)])
        self._pool = sims.state[stood].copy()
        self._load(np.flatnonzero(~stood))

    def _load(self, rows: np.ndarray) -> None:
        """Begin some rows again."""
        if rows.size:
            state = self._sims.state.copy()
            state[rows] = self._pool[self._rng.integers(0, len(self._pool), rows.size)]
            self._sims.load(state)

    def _gaps(self) -> Footing:
        """Ground along x with gaps, and stones that are not on it but in the place of it."""
        widths, spacings = self._rng.uniform(*WIDTHS, GAPS), self._rng.uniform(*SPACINGS, GAPS)
        ends = np.cumsum(widths + spacings) + 0.5
        ground = np.column_stack([np.append(-FAR, ends), np.append(ends - widths, 2 * FAR)])
        stones = np.cumsum(self._rng.uniform(*self.base.lengths, 2 * GAPS))
        return Footing(ground, np.column_stack([stones, 0.0 * stones, 0.0 * stones]))

    def run(self, rounds: int) -> Iterator[WanderingProgress]:
        """The first round and so many others; how far it is, after each."""
        for i in range(rounds + 1):
            nets = self.nets("") if i else None
            for _ in range(ROUND if i else FIRST):
                self._step(nets)
            yield self._progress(ROUND if i else FIRST)

    def _step(self, nets: StepNets | None) -> None:
        """One step of every row."""
        sims, strider, rng, rows = self._sims, self.strider, self._rng, np.arange(ROWS)
        self._disturb()
        states = strider.reduced(sims, rows)
        free = DRAWN * freedom(self.base)
        drawn = free * rng.standard_normal((ROWS, len(free)))
        if nets is None:
            actions, aims = self.base.action + drawn, np.full(ROWS, SCUFFED + SHORT)
        else:
            plans = [refined(nets, self.base, states[i], self._landings(i)) for i in range(ROWS)]
            noise = NOISE * drawn * (rng.random((ROWS, 1)) < NOISY)
            actions, aims = np.array([plan.action for plan in plans]) + noise, np.array([p.places[0] for p in plans])
        strider.apply(sims, rows, actions)
        sims.memory(VARIED).reach[:] = np.maximum(SCUFFED, aims - SHORT)
        stood = strider.step(sims, rows)
        lengths, lateral = strider.measured(sims, rows)
        self._made.append(
            {
                "states": states, "actions": strider.walker.varied(sims).copy(), "ends": strider.reduced(sims, rows),
                "lengths": lengths, "lateral": lateral, "wanted": aims, "sequence": rows, "stood": stood,
            }
        )  # fmt: skip
        self._x += lengths
        self._load(np.flatnonzero(~stood))
        for i in np.flatnonzero(~stood):
            self._x[i], self._ground[i] = 0.0, self._gaps()

    def _disturb(self) -> None:
        """Push some rows and turn the wanted headings of some."""
        sims, rng = self._sims, self._rng
        memory = sims.memory(MEMORY)
        pushed = np.flatnonzero(rng.random(ROWS) < PUSHES)
        sims.view("qvel")[pushed, :2] += PUSHED * rng.standard_normal((len(pushed), 2))
        sims.load(sims.state.copy())
        memory.heading[:] += rng.uniform(-TURN, TURN, ROWS) * (rng.random(ROWS) < TURNS)

    def _landings(self, i: int) -> Landings:
        """Where the next feet of a row may land."""
        x, footing = self._x[i], self._ground[i]
        if self._stony[i]:
            ahead = footing.stones[:, 0] - x
            return anywhere(ahead[ahead > 0.5 * self.base.lengths[0]][:WINDOW])
        windows = footing.windows(np.array([x, 0.0]), 0.0, [0.0] * WINDOW, self._foot)
        return Landings(windows, np.full(WINDOW, np.nan))

    def _progress(self, steps: int) -> WanderingProgress:
        made = {name: np.concatenate([step[name] for step in self._made[-steps:]]) for name in self._made[0]}
        missed = np.abs(made["lengths"] - made["wanted"])[made["stood"]]
        return WanderingProgress(ROWS * len(self._made), float(np.median(missed)), int((~made["stood"]).sum()))

    def _fine(self) -> dict[str, np.ndarray]:
        """All steps after which somebody stood who went along the way."""
        made = {name: np.concatenate([step[name] for step in self._made]) for name in self._made[0]}
        yaw, after = np.abs(made["states"][:, -1]), np.abs(made["ends"][:, -1])
        fine = made["stood"] & (yaw < STRAY[0]) & (after < STRAY[1]) & (made["lengths"] > SCUFFED)
        return {name: array[fine] for name, array in made.items()}

    def nets(self, command: str) -> StepNets:
        """Networks that have learned from all steps so far."""
        made = self._fine()
        values = np.column_stack([made["lengths"], made["lateral"], made["ends"]])
        rng = np.random.default_rng(len(self._made))
        return learned(self.base, made["states"], made["actions"], values, self._usual, command, rng)

    def examples(self, command: str) -> Examples:
        """The last of the steps, for planners that go by neighbours."""
        made = {name: array[-KEPT:] for name, array in self._fine().items()}
        order = np.argsort(made["sequence"], kind="stable")
        kinds = {name: np.int32 if name == "sequence" else np.float32 for name in ARRAYS}
        arrays = {name: made[name][order].astype(kinds[name]) for name in ARRAYS}
        missed = np.abs(arrays["wanted"] - arrays["lengths"])
        figures = {
            "mean_error": float(missed.mean()), "below_6_cm": float((missed < 0.06).mean()),
            "above_12_cm": float((missed > 0.12).mean()), "sequences": float(ROWS),
            "simulated_steps": float(ROWS * len(self._made)),
        }  # fmt: skip
        return Examples(header_for(self.base, command, figures), **arrays)
