"""Placer: a walker that goes from stone to stone, wherever they are in space, and over gaps (beyond coros2010 3.7).

    stones = [Stone("stone-0", (0.3, 0.1, 0.1), half=(0.15, 0.1), tilt=(0.1, 0.0), depth=0.4), ...]
    scene = Scene(biped(), [start, *stones, end], Ground(0.8, depth=0.4))
    session = Session(scene, Placer(scene), scene.state("rest"), Go())

At every strike it looks at the next three stones and tells the walker where its feet land, how the ground is tilted
there, and how long a step takes; when a foot lands and what the body does meanwhile is the walker's law
(`tumble.walking.footholds`). Where a scene has no stones, steps of a preferred length along x are moved off gaps as the
hybrid planner's are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tumble.control.controller import Controller, Report
from tumble.errors import check_number
from tumble.goals.wants import Go, Want, name_of, part, parts
from tumble.settings import replaced
from tumble.stepping.planning import Landings, footsteps
from tumble.stepping.terrain import HALF, Soles, footing_of
from tumble.walking import Walker
from tumble.walking.memory import LEFT, MEMORY
from tumble.world.props import Stone
from tumble.world.scene import Scene
from tumble.world.sims import Law, Sims

PLACES = "places"  # how its claim is called
PLACING = np.dtype([("strikes", "f8")])  # of the walker, when it last looked; -1 before
KNOWN = 3  # footholds that the walker is told of
STARTS = (0.2, 0.3)  # m of the first steps, over gaps; ours
SAFE = 0.02  # m that a shifted landing keeps from where half of a sole is off its stone; ours


@dataclass(frozen=True)
class PlaceSettings:
    """How feet are placed; all ours."""

    period: float = field(default=0.6, metadata={"ends": (0.4, 0.8)})
    """s a step."""
    step_width: float = field(default=0.2, metadata={"ends": (0.1, 0.3)})
    """m between the feet where nothing says it: behind the last stone, and over gaps."""
    room: float = field(default=0.04, metadata={"ends": (0.0, 0.1)})
    """m that a landing may be shifted on its stone to keep the balance."""
    preferred: float = field(default=0.4, metadata={"ends": (0.1, 0.8)})
    """m of steps that nothing hinders, over gaps."""

    def __post_init__(self) -> None:
        check_number("period", self.period, 0.3, 1.0)
        for name in ("step_width", "room", "preferred"):
            check_number(name, getattr(self, name), 0.0, 1e6)


class Placer(Controller):
    """Says at every strike where feet land, and has a walker land there.

    Attributes:
      walker: who walks.
    """

    takes = (Go,)

    def __init__(self, scene: Scene, settings: PlaceSettings = PlaceSettings()) -> None:
        """Go over the stones of a scene of a biped."""
        self.settings = settings
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

    def start(self, sims: Sims) -> None:
        """Stand; the first step is told before the first frame."""
        self.walker.start(sims)
        sims.memory(PLACES).strikes[:] = -1.0

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
        """Tell rows whose foot has struck; the law is the walker's."""
        memory, strikes = sims.memory(PLACES), sims.memory(MEMORY).footstrikes
        due = np.flatnonzero(strikes > memory.strikes)
        for row in due:
            self._step(sims, int(row), int(strikes[row]))
        memory.strikes[due] = strikes[due]
        return self.walker.control(sims)

    def _step(self, sims: Sims, row: int, strikes: int) -> None:
        """Tell a row's walker its next steps."""
        stance = int(sims.memory(MEMORY).stance[row])
        feet = self.soles.places(sims.view("xpos")[row : row + 1], sims.view("xquat")[row : row + 1])[0].mean(axis=1)
        step = max(strikes, 1)
        middles, tilts, windows = self._ahead(feet[stance], step, -1.0 if stance == LEFT else 1.0)
        if not len(middles):
            self.walker.step_onto(sims, row, step, middles, tilts, windows)
            self.walker.wish(sims, rows=[row], speed=0.0)
            return
        period = self.settings.period
        rooms = np.clip(windows - SAFE, 0.0, self.settings.room)
        self.walker.step_onto(sims, row, step, middles, tilts, rooms)
        speed = float((middles[-1, 0] - feet[stance, 0]) / (len(middles) * period))
        self.walker.wish(
            sims,
            rows=[row],
            speed=min(max(speed, 0.1), 2.0),
            heading=0.0,
            period=period,
            step_width=self.settings.step_width,
        )

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

    def report(self) -> Report:
        """It steps."""
        return Report(doing="stepping")

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        """Refuse what `set_parameters` would refuse; changes nothing."""
        replaced(self.settings, changes)

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name, all at once, from the next strike on."""
        self.settings = replaced(self.settings, changes)
