"""Stepper: the controller that plans where its next steps land, at every strike (coros2010 section 3.5).

    props, ground = gapped([(1.5, 0.3), (2.3, 0.5)])
    scene = Scene(character("planar"), props, ground)
    session = Session(scene, Stepper(scene), opening_of(scene), Go())

It goes over gaps that lie across its way and onto stones, one footfall each (`tumble.stepping.terrain`). In space it
turns towards a target, or to a heading, a little with every step. What it knows of steps are examples of its base.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from tumble.control.controller import Controller, Report
from tumble.errors import UserError, choose
from tumble.goals.wants import Go, Want, name_of, part, parts
from tumble.maths.rotations import wrapped_angles
from tumble.settings import replaced
from tumble.simbicon.body import MEMORY
from tumble.simbicon.simbicon import Simbicon
from tumble.simbicon.varied import VARIED
from tumble.stepping.base import BASES, Base
from tumble.stepping.examples import Examples, examples_named
from tumble.stepping.model import REGRESSIONS, ModelSettings, StepModel
from tumble.stepping.nets import StepNets, nets_named
from tumble.stepping.planning import FAR, PLANNERS, Landings, PlanSettings, StepPlan, anywhere, planned
from tumble.stepping.problems import WINDOW
from tumble.stepping.refining import refined
from tumble.stepping.steering import steered
from tumble.stepping.strider import SCUFFED, SHORT, Strider
from tumble.stepping.terrain import Footing, Soles, footing_of, next_stone
from tumble.world.scene import Scene
from tumble.world.sims import Law, Sims

STEPS = "stones"  # how its claim is called
STEPPING = np.dtype(
    [
        ("strikes", "f8"),  # of the walker, when it last planned
        ("stone", "f8"), ("stone_at", "f8"),  # number of the next stone, and where along x it is, m
        ("lands", "f8"),  # x of the heel that is to land, m
        ("x", "f8"), ("y", "f8"),  # of the target, m
        ("heading", "f8"),  # wanted where there is no target, rad
        ("targeted", "f8"),  # whether there is a target: 1 or 0
        ("from_x", "f8"), ("from_y", "f8"),  # where the centre of mass was at the last strike but this, m
        ("seed", "f8"),  # of the row's samples
    ]
)  # fmt: skip
CLOSE = 0.05  # m ahead of the heel that stands, from which on a stone is still to come; ours
SHARES = (1.0, 0.5)  # of a turn that are tried, until a plan is well; ours
FOLLOWED = ("target", "heading")  # of `Go`
AUTO, NEWTON = "auto", "gauss-newton"


@dataclass(frozen=True)
class StepperSettings(PlanSettings):
    """Of the planners, and what they plan with."""

    base: str = ""
    """Name of a base, or a file of examples that ends in .stones; '' for the body's first."""
    planner: str = AUTO
    """hybrid, random, regular, observed, gauss-newton where networks ship for the base, or auto: that in space, else
    regular where there are stones, else hybrid."""
    near: int = 25
    """K, section 3.4: examples that are like the present state."""
    regression: str = AUTO
    """nearest (section 3.4), line, or auto: line where there are stones in the plane, else nearest."""
    margin: float = 0.0
    """m from edges that feet keep where there is room; not given; ours."""
    far: float = 1.0
    """m, section 3.5: where the next gap in space is farther ahead, the base walks by itself; not by gauss-newton."""
    turn: float = field(default=0.4, metadata={"ends": (0.0, 0.5)})
    """rad by which the heading turns with a step at most; not given; ours."""

    def __post_init__(self) -> None:
        super().__post_init__()
        choose("planner", self.planner, dict.fromkeys((AUTO, NEWTON, *PLANNERS)))
        choose("regression", self.regression, dict.fromkeys((AUTO, *REGRESSIONS)))


class Stepper(Controller):
    """Plans its steps at every strike, and takes the first.

    Attributes:
      strider: whose steps these are.
      model: of what they lead to.
      plan: what the first row planned last; None before.

    **Departures**
      Thesis: nothing is said of turning but that the stance hip does it; here the wanted heading of the gait turns by
      at most `turn` a step (`tumble.stepping.steering`), and the plan is for that heading. Thesis: the same planners in
      space, where the base walks by itself if no gap is near; here in space networks foretell steps, and plans are
      refined on them (`tumble.stepping.nets`, `refining`), always: feet that leave an edge need one as well. Thesis:
      regular sampling for stones, which is not real time; here it is, in compiled code. Thesis: steps are predicted by
      means over examples; here, where there are stones in the plane, by lines from them, which lands nearer to stones.
      Thesis: foot-strike begins the next step; here the end of its frame.
    """

    takes = (Go,)

    def __init__(
        self, scene: Scene, settings: StepperSettings = StepperSettings(), seed: int = 0,
        examples: Examples | None = None,
    ) -> None:  # fmt: skip
        """Step by examples; by default by those that ship for the base, or the body, of the settings."""
        self.settings, self.seed = settings, seed
        if examples is None:
            name = settings.base or base_for(scene.character.name).name
            self._models: Callable[[str], StepModel] = partial(_model_named, name, settings.near)
        else:
            self._models = cache(partial(_model_of, examples, settings.near))
        self.model = self._models("nearest" if settings.regression == AUTO else settings.regression)
        self.strider = Strider(scene, self.model.examples.base)
        self._nets = self._networks()
        self._marks: np.ndarray | None = None
        self.move(scene)

    def _networks(self) -> StepNets | None:
        """What the Gauss-Newton planner plans with; None where another one plans."""
        found = nets_named(self.base.name)
        if self.settings.planner == NEWTON and found is None:
            raise UserError(f"no step networks of '{self.base.name}' ship; choose a planner of {', '.join(PLANNERS)}")
        return found if self.settings.planner == NEWTON or (self.settings.planner == AUTO and self.base.space) else None

    def move(self, scene: Scene) -> None:
        """Go on in another scene of the same character; where the stone of a step is gone, the first ahead is next."""
        self.strider.move(scene)
        self.scene, self.drive = scene, self.strider.walker.drive
        scene.claim(STEPS, STEPPING)
        self.footing: Footing = footing_of(scene)
        if self.settings.regression == AUTO:
            lines = len(self.footing.stones) > 0 and not self.base.space
            self.model = self._models("line" if lines else "nearest")
        self.soles = Soles(scene)
        self.plan: StepPlan | None = None
        self._marks = None if self._marks is None else self._marks[:1]  # the foot in the air still goes there
        self._due = True

    @property
    def base(self) -> Base:
        """Whose gait it is."""
        return self.strider.base

    def start(self, sims: Sims) -> None:
        """Begin with the base's gait; it is planned before the first frame."""
        self.strider.walker.start(sims)
        memory = sims.memory(STEPS)
        memory[:] = 0.0
        memory.strikes[:] = memory.stone[:] = -1.0
        memory.seed[:] = np.arange(sims.nsim)
        self.plan, self._marks, self._due = None, None, True

    def refuses(self, sims: Sims, want: Want) -> str | None:
        """All but one `Go` to a target or along a heading; who lives in a plane turns nowhere."""
        go = part(want, Go)
        if go is None or len(parts(want)) > 1:
            return f"who plans steps goes where it is wanted, and does not {name_of(want)}"
        wrong = [name for name, value in go.given.items() if name not in FOLLOWED and value != 0]
        if wrong:
            return f"who plans steps takes no {', '.join(wrong)}; choose a target or a heading"
        if not self.base.space and (go.heading or go.target is not None):
            return (
                f"'{self.base.character}' lives in a plane and turns nowhere: want it to go, without target or heading"
            )
        try:
            go.check()
        except UserError as error:
            return str(error)
        return None

    def want(self, sims: Sims, want: Want) -> None:
        """Heed it at the next strike."""
        go, memory = part(want, Go), sims.memory(STEPS)
        memory.x[:], memory.y[:] = (go.target or (0.0, 0.0, 0.0))[:2]
        memory.heading[:], memory.targeted[:] = go.heading or 0.0, float(go.target is not None)

    def control(self, sims: Sims) -> Law:
        """Plan for rows whose foot has struck; the law is the walker's."""
        memory, steps = sims.memory(STEPS), self.strider.walker.steps(sims)
        due = np.flatnonzero(steps > memory.strikes)
        if due.size:
            self._step(sims, due)
            memory.strikes[due] = steps[due]
        return self.strider.walker.law

    def _step(self, sims: Sims, due: np.ndarray) -> None:
        """Plan for some rows, and begin what was planned."""
        memory, heels = sims.memory(STEPS), self.strider.heels(sims, due)
        stance, turns = sims.memory(MEMORY).stance[due], self._turns(sims, due)
        actions, reach = np.empty((due.size, len(self.base.action))), np.full(due.size, SCUFFED)
        for n, row in enumerate(due):
            sign = -1.0 if stance[n] == 0.0 else 1.0  # the next foot is right of the left one
            plan, heading, stone = self._turned(sims, row, heels[n], sign, turns[n])
            memory.stone[row], memory.stone_at[row] = stone, self.footing.stones[stone : stone + 1, 0].min(initial=FAR)
            actions[n] = self.base.action if plan is None else plan.action
            ahead = self.base.preferred if plan is None else plan.places[0]
            memory.lands[row] = heels[n, 0] + np.cos(heading) * ahead
            if plan is not None:
                reach[n] = max(SCUFFED, plan.places[0] - SHORT)
            if row == 0:
                self.plan, self._due = plan, False
                self._mark(heels[n], heading, sign)
        self.strider.apply(sims, due, actions)
        sims.memory(VARIED).reach[due] = reach

    def _turned(
        self, sims: Sims, row: int, heel: np.ndarray, sign: float, turn: float
    ) -> tuple[StepPlan | None, float, int]:
        """The plan of a row after it has turned, the heading, and the stone; it turns less where no plan is well."""
        memory, some = sims.memory(STEPS), np.array([row])
        before = float(sims.memory(MEMORY).heading[row])
        for share in (*SHARES, SHARES[0]) if turn else (0.0,):  # at last the whole turn, where no plan is well
            if turn:
                self.strider.walker.turn_to(sims, before + share * turn, rows=some)
            heading = float(self.strider.walker.headings(sims)[row])
            stone = self._next_stone(int(memory.stone[row]), memory.stone_at[row], heel, heading)
            rng = np.random.default_rng((self.seed, int(memory.seed[row]), int(memory.strikes[row]) + 1))
            landings = self.landings(heel, heading, sign, stone)
            plan = self._planned(self.strider.reduced(sims, some)[0], landings, heel, heading, rng)
            if plan is None or plan.well:
                break
        return plan, heading, stone

    def _turns(self, sims: Sims, due: np.ndarray) -> np.ndarray:
        """(len(due),) rad to where `steering` wants headings, or by a step's share at most; 0 in the plane."""
        if not self.base.space:
            return np.zeros(due.size)
        memory, here = sims.memory(STEPS), sims.view("com")[due, :2].copy()
        some, now = memory[due], sims.memory(MEMORY).heading[due]
        before = np.where(some.strikes[:, None] > 0, np.column_stack([some.from_x, some.from_y]), here)
        memory.from_x[due], memory.from_y[due] = here.T
        aim = steered(now, here, before, np.column_stack([some.x, some.y]), self.footing.gaps)
        turn = wrapped_angles(np.where(some.targeted > 0, aim, some.heading) - now)
        found: np.ndarray = np.clip(turn, -self.settings.turn, self.settings.turn)
        return found

    def _next_stone(self, stone: int, x: float, heel: np.ndarray, heading: float) -> int:
        """Number of the stone for the next step: see `next_stone`; the first ahead where none was known, or it is gone.

        Args:
          stone, x: number of the last step's, and where along x it was, m.
        """
        ahead = self._stones_ahead(heel, heading)
        if stone >= 0 and np.array_equal(self.footing.stones[stone : stone + 1, 0], [x]):
            return next_stone(ahead, stone)
        found = np.flatnonzero(ahead > CLOSE)
        return int(found[0]) if found.size else len(ahead)

    def _stones_ahead(self, heel: np.ndarray, heading: float) -> np.ndarray:
        """(stones,) m along a heading from a heel to those that would stand in the middle of the stones."""
        away = self.footing.stones[:, :2] - heel
        found: np.ndarray = away @ (np.cos(heading), np.sin(heading)) - 0.5 * self.soles.foot.length
        return found

    def landings(self, heel: np.ndarray, heading: float, sign: float, stone: int) -> Landings:
        """Where the next heels may and should land.

        Args:
          heel: (2,) m, of the foot that stands.
          sign: 1 where the next foot is the left one, else -1.
          stone: number of the next one.
        """
        steps = self.settings.horizon if self._nets is None else WINDOW
        spacing = self.model.spacing if self.base.space else 0.0
        offsets = [sign * spacing * (1 - j % 2) for j in range(steps)]
        windows = self.footing.windows(heel, heading, offsets, self.soles.foot, self.settings.margin)
        targets = np.full(steps, np.nan)
        ahead = self._stones_ahead(heel, heading)[stone : stone + steps]
        targets[: len(ahead)] = ahead
        return Landings(windows, targets)

    def _planned(
        self, state: np.ndarray, landings: Landings, heel: np.ndarray, heading: float, rng: np.random.Generator
    ) -> StepPlan | None:
        """The plan; None where the base may walk by itself."""
        settings, stones = self.settings, not np.isnan(landings.targets).all()
        if self.base.space and not stones and self._nets is None:
            front = heel[0] + np.cos(heading) * self.soles.foot.length
            if self.footing.ahead(float(front), heading) > settings.far:
                return None
        if stones:  # what is after the last stone is anywhere
            landings = Landings(anywhere(landings.targets).windows, landings.targets)
        if self._nets is not None:
            return refined(self._nets, self.base, state, landings, settings.missed)
        planner = settings.planner
        if planner == AUTO:
            planner = "regular" if stones else "hybrid"
        return planned(self.model, state, landings, planner, settings, rng, self.base.preferred)

    def _mark(self, heel: np.ndarray, heading: float, sign: float) -> None:
        """Note where the feet of the first row's plan will stand."""
        if self.plan is None:
            self._marks = None
            return
        along, left = np.array([np.cos(heading), np.sin(heading)]), np.array([-np.sin(heading), np.cos(heading)])
        if not self.base.space:
            heel = heel * (1.0, 0.0)  # stones lie in the middle, legs beside it
        middles, offset = [], 0.0
        for j, place in enumerate(self.plan.places):
            offset += sign * (1 - 2 * (j % 2)) * self.plan.lateral[j]
            middles.append(heel + (place + 0.5 * self.soles.foot.length) * along + offset * left)
        n = len(middles)
        self._marks = np.column_stack([middles, np.zeros(n), np.full(n, heading), self.plan.uncertainty])

    @property
    def widest(self) -> float:
        """m of a gap that a step as long as the longest example crosses, with the whole foot on ground."""
        return max(0.0, float(np.max(self.model.examples.lengths)) - self.soles.foot.length)

    def taken(self, sims: Sims) -> tuple[float, float]:
        """m from where to where along x the first row's feet stand, or land by the next strike."""
        ends = self.soles.places(sims.view("xpos")[:1], sims.view("xquat")[:1])[0, :, :, 0]
        memory, heading = sims.memory(STEPS), self.strider.walker.headings(sims)[0]
        if memory.strikes[0] >= 0:  # else it has not planned yet
            toe = memory.lands[0] + np.cos(heading) * self.soles.foot.length
            ends = np.append(ends, [memory.lands[0], toe])
        return float(ends.min()), float(ends.max())

    def report(self) -> Report:
        """The first row's plan: in words, and as marks on the ground."""
        plan = self.plan
        if self._due:
            return Report(doing="plans anew at the next strike", marks=self._marks)
        if plan is None:
            return Report(doing=self.base.name)
        fit = "" if plan.well else ", as well as it can"
        doing = f"{plan.how}: {plan.places[0]:.2f} m, uncertainty {plan.uncertainty[0]:.2f}{fit}"
        return Report(doing=doing, marks=self._marks)

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        """Refuse what `set_parameters` would refuse; changes nothing."""
        replaced(self.settings, changes)

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name, all at once, from the next plan on."""
        self.settings = replaced(self.settings, changes)


def base_for(name: str) -> Base:
    """The first base of a character of that name."""
    found = [base for entry in BASES.values() if (base := entry.make()).character == name]
    if not found:
        bodies = dict.fromkeys(entry.make().character for entry in BASES.values())
        raise UserError(f"no base of constrained walking for '{name}', but for {', '.join(bodies)}")
    return found[0]


def opening_of(scene: Scene) -> np.ndarray:
    """A state of a scene to begin from: the opening of its character's first base."""
    base = base_for(scene.character.name)
    return Simbicon(scene, [base.gait]).opening(base.name)


def _model_of(examples: Examples, near: int, regression: str) -> StepModel:
    """The model of examples by what `StepperSettings` say of it."""
    return StepModel(examples, ModelSettings(near, regression=regression))


@cache
def _model_named(name: str, near: int, regression: str) -> StepModel:
    """The model of the examples of that name, or file, made once a process."""
    return _model_of(examples_named(name), near, regression)
