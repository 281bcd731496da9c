"""Placer: a walker that goes from stone to stone, wherever they are in space, and over gaps (beyond coros2010 3.7).

    stones = [Stone("stone-0", (0.3, 0.1, 0.1), half=(0.15, 0.1), tilt=(0.1, 0.0), depth=0.4), ...]
    scene = Scene(biped(), [start, *stones, end], Ground(0.8, depth=0.4))
    session = Session(scene, Placer(scene), scene.state("rest"), Go())

At every strike it looks at the next three stones, plans as `tumble.stepping.placing` does with what it has learned of
its steps, and tells the walker where its feet land, how the ground is tilted there, and how long the step takes. Where
a scene has no stones, steps of a preferred length along x are moved off gaps as the hybrid planner's are.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tumble.control.controller import Controller, Report
from tumble.goals.wants import Go, Want, name_of, part, parts
from tumble.settings import replaced
from tumble.stepping.placing import (
    LandingModel,
    PlacePlan,
    PlaceSettings,
    placed,
    query_of,
    read_steps,
    shipped_steps,
)  # fmt: skip
from tumble.stepping.planning import Landings, footsteps
from tumble.stepping.terrain import HALF, Soles, footing_of
from tumble.walking import Walker
from tumble.walking.memory import LEFT, MEMORY
from tumble.world.props import Stone
from tumble.world.scene import Scene
from tumble.world.sims import Law, Sims

PLACES = "places"  # how its claim is called
PLACING = np.dtype([("strikes", "f8")])  # of the walker, when it last planned; -1 before
KNOWN = 3  # footholds that the walker is told of
STARTS = (0.2, 0.3)  # m of the first steps, over gaps; ours
SAFE = 0.02  # m that a shifted landing keeps from where half of a sole is off its stone; ours


class Placer(Controller):
    """Plans where feet land at every strike, and has a walker land there.

    Attributes:
      walker: who walks.
      model: what it knows of its steps; None where it plans nothing.
      plan: what the first row planned last; None before.
      seen: of the first row, queries and outcomes of its steps so far, to learn from.
    """

    takes = (Go,)

    def __init__(
        self, scene: Scene, settings: PlaceSettings = PlaceSettings(), seed: int = 0, model: LandingModel | None = None
    ) -> None:
        """Go over the stones of a scene of a biped; without a model by the steps that ship for the biped."""
        self.settings, self.seed = settings, seed
        if model is None and settings.horizon:
            model = LandingModel(read_steps(shipped_steps("biped")))
        self.model = model
        self.walker = Walker(scene)
        self.move(scene)

    def move(self, scene: Scene) -> None:
        """Go on in another scene; stones are those of its order from the first that is still to come."""
        self.walker.move(scene)
        self.scene, self.drive = scene, self.walker.drive
        scene.claim(PLACES, PLACING)
        self.stones = [prop for prop in scene.props if isinstance(prop, Stone)]
        self.soles = Soles(scene)
        self._footing = None if self.stones else footing_of(scene)
        self.plan: PlacePlan | None = None
        self.seen: list[tuple[np.ndarray, np.ndarray]] = []
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self._marks: np.ndarray | None = None

    def start(self, sims: Sims) -> None:
        """Stand; the first step is planned before the first frame."""
        self.walker.start(sims)
        sims.memory(PLACES).strikes[:] = -1.0
        self.seen, self._last = [], None

    def refuses(self, sims: Sims, want: Want) -> str | None:
        """All but one `Go` without a manner of its own: where it goes is where the stones are."""
        go = part(want, Go)
        if go is None or len(parts(want)) > 1:
            return f"who steps from stone to stone does not {name_of(want)}"
        wrong = [name for name, value in go.given.items() if value != 0]
        return f"who steps from stone to stone takes no {', '.join(wrong)}" if wrong else None

    def want(self, sims: Sims, want: Want) -> None:
        """It goes where the stones are, whatever is wanted."""

    def control(self, sims: Sims) -> Law:
        """Plan for rows whose foot has struck; the law is the walker's."""
        memory, strikes = sims.memory(PLACES), sims.memory(MEMORY).footstrikes
        due = np.flatnonzero(strikes > memory.strikes)
        for row in due:
            self._step(sims, int(row), int(strikes[row]))
        memory.strikes[due] = strikes[due]
        return self.walker.control(sims)

    def _step(self, sims: Sims, row: int, strikes: int) -> None:
        """Plan a row's next steps, and tell its walker."""
        stance = int(sims.memory(MEMORY).stance[row])
        feet = self.soles.places(sims.view("xpos")[row : row + 1], sims.view("xquat")[row : row + 1])[0].mean(axis=1)
        step = max(strikes, 1)
        middles, tilts, windows = self._ahead(feet[stance], step, -1.0 if stance == LEFT else 1.0)
        if not len(middles):
            self.walker.step_onto(sims, row, step, middles, tilts, windows)
            self.walker.wish(sims, rows=[row], speed=0.0)
            return
        period, aims, rooms = self.settings.period, middles.copy(), np.full((len(middles), 2), self.settings.room)
        state, out = self._state(sims, row, feet[stance], stance), -1.0 if stance == LEFT else 1.0
        if row == 0:
            self._learn(feet[stance], state, out)
        if self.model is not None and strikes and len(middles) > self.settings.horizon:
            steps = np.diff(np.concatenate([feet[stance][None], middles]), axis=0)[: self.settings.horizon + 1]
            plan = placed(self.model, state, steps, windows[: self.settings.horizon], out, self.settings)
            aims[: len(plan.aims), :2] += plan.aims
            period = plan.period
            if row == 0:
                self.plan, self._marks = plan, self._mark(middles, plan)
        aims, period = self.chosen(aims, period)
        off = np.abs(aims[:, :2] - middles[:, :2])
        rooms = np.clip(windows - off - SAFE, 0.0, self.settings.room)
        self.walker.step_onto(sims, row, step, aims, tilts, rooms)
        speed = float((aims[-1, 0] - feet[stance, 0]) / (len(aims) * period))
        self.walker.wish(
            sims,
            rows=[row],
            speed=min(max(speed, 0.1), 2.0),
            heading=0.0,
            period=period,
            step_width=self.settings.step_width,
        )
        if row == 0 and strikes:
            after = aims[1] - aims[0] if len(aims) > 1 else np.zeros(3)
            self._last = (query_of(state, aims[0] - feet[stance], after, period, out), aims[0])

    def chosen(self, aims: np.ndarray, period: float) -> tuple[np.ndarray, float]:
        """What is done of what was planned: all of it."""
        return aims, period

    def _state(self, sims: Sims, row: int, foot: np.ndarray, stance: int) -> np.ndarray:
        """(4,) of the centre of mass, see `tumble.stepping.placing`."""
        off, speed = sims.view("com")[row] - foot, sims.view("com_velocity")[row]
        inside = -1.0 if stance == LEFT else 1.0
        return np.array([off[0], speed[0], inside * off[1], inside * speed[1]])

    def _learn(self, foot: np.ndarray, state: np.ndarray, out: float) -> None:
        """Note what the step of the first row that ends here led to; it landed on the side that is now outside."""
        if self._last is not None:
            query, aim = self._last
            error = (foot - aim)[:2] * (1.0, -out)
            self.seen.append((query, np.concatenate([error, state])))
        self._last = None

    def _ahead(self, foot: np.ndarray, step: int, out: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Middles (n, 3), tilts (n, 2) and windows (n, 2) of the places for the next steps, as many as there are."""
        if self._footing is not None:
            return self._over_gaps(foot, step, out)
        stones = self.stones[step - 1 : step - 1 + KNOWN]
        middles = np.reshape([stone.place for stone in stones], (-1, 3))
        tilts = np.reshape([stone.tilt for stone in stones], (-1, 2))
        return middles, tilts, np.reshape([stone.half for stone in stones], (-1, 2))

    def _over_gaps(self, foot: np.ndarray, step: int, out: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places along x, of steps of the preferred length that are moved off gaps."""
        assert self._footing is not None
        sole, width = self.soles.foot, self.settings.step_width
        heel = foot[:2] - (0.5 * sole.length, 0.0)
        windows = self._footing.windows(heel, 0.0, [0.0] * KNOWN, sole, SAFE)
        lengths = [STARTS[k] if (k := step - 1 + j) < len(STARTS) else self.settings.preferred for j in range(KNOWN)]
        at, places = 0.0, []
        for j, length in enumerate(lengths):
            found = footsteps(Landings(windows[j : j + 1] - at, np.full(1, np.nan)), length)[0]
            at += float(found)
            places.append(at)
        side = 0.5 * width * out * (1 - 2 * (np.arange(KNOWN) % 2))
        middles = np.column_stack([foot[0] + np.array(places), side, np.zeros(KNOWN)])
        return middles, np.zeros((KNOWN, 2)), np.tile([HALF * sole.length, 1.0], (KNOWN, 1))

    def _mark(self, middles: np.ndarray, plan: PlacePlan) -> np.ndarray:
        """(n, 5) marks of the plan's landings."""
        n = len(plan.landings)
        return np.column_stack(
            [middles[:n, :2] + plan.landings, middles[:n, 2], np.zeros(n), np.full(n, plan.uncertainty)]
        )

    def report(self) -> Report:
        """The first row's plan: in words, and as marks on the ground."""
        if self.plan is None:
            return Report(doing="stepping")
        fit = "" if self.plan.well else ", as well as it can"
        return Report(
            doing=f"a step of {self.plan.period:g} s, uncertainty {self.plan.uncertainty:.2f}{fit}", marks=self._marks
        )

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        """Refuse what `set_parameters` would refuse; changes nothing."""
        replaced(self.settings, changes)

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name, all at once, from the next plan on."""
        self.settings = replaced(self.settings, changes)
        if self.settings.horizon and self.model is None:
            self.model = LandingModel(read_steps(Path(shipped_steps("biped"))))
