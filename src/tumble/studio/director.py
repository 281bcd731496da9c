"""Director: what a person asks of a trial by hand, and what of it panels show.

director = Director(trial)
director.steer(1.0, 0.0)        # and director.steer(0.0, 0.0): what was wanted before
director.want("reach")
director.stand(pose="taiko")
director.point((2.0, 1.0, 0.0), None)                  # and, where it can be, facing somewhere there: heading=1.57

What is wanted is kept in one place, the session. A director only knows what steering interrupts.
"""

import math
from inspect import signature
from typing import Any

import numpy as np

from tumble.controllers import refusal
from tumble.errors import UserError, check_number
from tumble.goals import GOALS
from tumble.goals.judging import GO_STYLES, goal_of, style_of
from tumble.goals.wants import (
    WANTS,
    WAY,
    Balance,
    Do,
    Go,
    Juggle,
    Meet,
    Reach,
    StayOn,
    Together,
    Want,
    kept,
    name_of,
    part,
    parts,
)
from tumble.live.commands import Command, Drag, Release, Restyle, SetParameter, Vector
from tumble.live.session import read_style, styles_of
from tumble.planners import SMC, Planned
from tumble.planners.planned import WEIGHT
from tumble.scenarios import Trial, gaits
from tumble.scenarios.locomotion import PACE
from tumble.settings import replaced
from tumble.simbicon.simbicon import Simbicon
from tumble.skills.check import held_in
from tumble.skills.pointing import place_for, script_for
from tumble.studio.choice import stood
from tumble.world.props import Ball

WAITING = 256  # commands that may wait for the next frame
STROLL, HURRY = 0.8, 1.5  # m/s of a walker that is steered, and in a hurry
LET_GO = 0.05  # length of a steering direction that is as good as none
TURNS = 100.0  # rad, beyond which no heading is pointed at
FAR, HIGH = 0.45, 1.3  # m ahead and up, where something to reach for is put
WALKED = {"balance": Balance, "go": Go, "reach": Reach}  # what those who do not plan are asked for by name
CALLED = {StayOn: "ball", Juggle: "juggle"}  # goals that are not called as their wants


class Director:
    """A person's hand on a trial.

    Attributes:
      trial: what is directed.
    """

    def __init__(self, trial: Trial, stance: Balance | None = None) -> None:
        """Direct a trial, with a stance for when balance is wanted."""
        self.trial = trial
        self._stance = stance or Balance()
        self._before: Want | None = None  # what is wanted again when steering ends; None where nobody steers

    # What people do

    def send(self, *commands: Command) -> None:
        """Have commands applied in the next frame, all or none; another want than a manner ends steering."""
        if not all(map(_always, commands)):
            self._check_room(len(commands))
        stance = self.stance
        self.trial.send(*commands)
        self._stance = stance
        if any(isinstance(command, WANTS) and not _manner_only(command) for command in commands):
            self._before = None

    def throw(self, position: Vector, velocity: Vector, mass: float) -> None:
        """Throw a ball; see `Trial.throw`."""
        self._check_room(1)
        self.trial.throw(position, velocity, mass)

    def _check_room(self, many: int) -> None:
        """Refuse more commands than may wait for a frame: a browser may send faster than frames take."""
        if len(self.trial.session.waiting) + many > WAITING:
            raise UserError(f"{WAITING} commands wait for the next frame already")

    def steer(self, x: float, y: float, turbo: bool = False) -> None:
        """Go with a share 0 to 1 of the usual pace into a direction; 0, 0 wants again what was wanted before."""
        length = math.hypot(x, y)
        check_number("length of a steering direction", length, 0, 2)
        if length > LET_GO:
            before = self._resting if self._before is None else self._before
            self.send(self._going(min(1.0, length), math.atan2(y, x), turbo))
            self._before = before
        elif self._before is not None:
            self.send(self._before)

    def _going(self, share: float, heading: float, turbo: bool) -> Go:
        """A share of the usual pace; the heading alone where one goes at a speed of one's own, as gaits do."""
        style = self._style
        if style is None:
            return self._able(Go(speed=share * (HURRY if turbo else STROLL), heading=heading), Go(heading=heading))
        if style != "gait":
            style = "turbo" if turbo else "steer"
        return Go(speed=share * pace(style), heading=heading, style=style)

    def _able(self, *wants: Go) -> Go:
        """The first of some wants that is not refused; the first of all, with its reason, where all are."""
        session = self.trial.session
        able = (want for want in wants if not session.controller.refuses(session.world, kept(session.asked, want)))
        return next(able, wants[0])

    def _takes(self, want: Want) -> bool:
        """Whether the controller would do this alone."""
        return self.trial.controller.refuses(self.trial.session.world, want) is None

    @property
    def _style(self) -> str | None:
        """How a planner judges going; None where nobody plans."""
        controller, go = self.trial.controller, part(self.trial.session.asked, Go)
        if not isinstance(controller, Planned):
            return None
        return style_of(go or Go(), self.trial.scene, controller.planner.go_style)

    @property
    def _resting(self) -> Want:
        """What is wanted when steering ends that begins now: standing, where one went, else what was wanted.

        Who cannot be told to stand wants what was wanted; gaits go on the way that they were steered.
        """
        wanted = self.trial.session.asked
        if self._style is None:
            stops = self.mixes or self._takes(Go(speed=STROLL, heading=0.0))
            return Go(speed=0.0) if stops or wanted is None else wanted
        goes = part(wanted, Go) is not None and self._style != "gait"
        return self.stance if wanted is None or goes else wanted

    def want(self, goal: str) -> None:
        """Want something by its name; what it needs is ahead of the character, or the first ball there is."""
        scene, world = self.trial.scene, self.trial.session.world
        x, y, _ = world.view("com")[0]
        ahead = world.view(f"{scene.character.head}.forward")[0, :2]
        heading = math.atan2(ahead[1], ahead[0])
        target = (float(x) + FAR * math.cos(heading), float(y) + FAR * math.sin(heading), HIGH)
        ball = next((prop.name for prop in scene.props if isinstance(prop, Ball)), "ball")
        offered: dict[str, Want] = {
            "balance": self.stance,
            "reach": Reach(target),
            "go": self._able(Go(speed=STROLL, heading=heading), Go(heading=heading)),
            "ball": StayOn(ball),
            "juggle": Juggle(ball),
            "ball-reach": Together((StayOn(ball), Reach(target))),
            **{style: Go(speed=pace(style), heading=heading, style=style) for style in GO_STYLES},
        }
        if goal in offered:
            self.send(offered[goal])
            return
        options = {"target": target, "velocity": Go(speed=PACE, heading=heading).velocity, "ball": ball}
        takes = signature(GOALS[goal].make).parameters
        self.send(Meet(goal, {name: value for name, value in options.items() if name in takes}))

    def stand(self, pose: str | None = None, roll: bool | None = None) -> None:
        """Balance in another pose, or roll over first or not; while it is steered, from the end of that on."""
        balance = self.trial.session.asked if self._before is None else self._before
        if not isinstance(balance, Balance):
            raise UserError(f"only who balances has a stance, and this wants '{self.goal}'; choose the goal 'balance'")
        stance = stood(balance, pose, roll)
        if self._before is None:
            self.send(stance)
        elif why := refusal(self.trial.controller, self.trial.session.world, stance):
            raise UserError(why)
        else:
            self._before = stance

    def point(self, at: Vector, body: str | None, heading: float | None = None) -> None:
        """Do what a hint at a place means, on a body or on the ground; see `script_for`.

        Who does nothing but go goes there, to face a heading (rad) where one is given and it can, else as it comes; or,
        where it goes to no places, towards there.
        """
        scene, world = self.trial.scene, self.trial.session.world
        if heading is not None:
            check_number("heading", heading, -TURNS, TURNS)
        if self.trial.controller.takes != (Go,):
            self.send(Do(script_for(scene, held_in(scene, world.state[0]), body, at)))
            return
        target = place_for(scene, body, at)
        x, y = target[:2] - world.view("com")[0, :2]
        towards = math.atan2(y, x)
        facing = [] if heading is None else [Go(target=target, heading=heading)]
        there = Go(target=target), Go(target=target, heading=towards)
        self.send(self._able(*facing, *there, Go(heading=towards), Go(speed=STROLL, heading=towards)))

    def let_go(self) -> None:
        """Hold and steer no more."""
        if self.trial.session.drag is not None:
            self.send(Release())
        self.steer(0.0, 0.0)

    # What panels show, with what waits for the next frame

    @property
    def stance(self) -> Balance:
        """How to balance: pose, and whether to roll over first, as they were wanted last."""
        for want in (self.trial.session.asked, self._before):
            if isinstance(want, Balance):
                return Balance(pose=want.pose, roll=want.roll)
        return self._stance

    @property
    def balances(self) -> bool:
        """Whether balance is wanted, or will be again when steering ends."""
        return isinstance(self.trial.session.asked if self._before is None else self._before, Balance)

    @property
    def judges_plans(self) -> bool:
        """Whether the planner judges whole plans, by the ways of a goal."""
        controller = self.trial.controller
        return isinstance(controller, Planned) and isinstance(controller.planner, SMC)

    @property
    def goals(self) -> list[str]:
        """Names that `want` takes with this controller, and that of what is wanted."""
        controller = self.trial.controller
        walked = [name for name, kind in WALKED.items() if kind in controller.takes]
        known = list(GOALS) if isinstance(controller, Planned) else walked
        return known if self.goal in known else [*known, self.goal]

    @property
    def goal(self) -> str:
        """The name of what is wanted: as planners call their goals, or as `name_of` does."""
        wanted = self.trial.session.asked
        if wanted is None:
            return "nothing"
        if isinstance(wanted, Meet):
            return wanted.goal
        if isinstance(wanted, Go) and self._style is not None:
            return self._style
        if isinstance(wanted, Together) and {type(one) for one in parts(wanted)} == {StayOn, Reach}:
            return "ball-reach"
        return CALLED.get(type(wanted), name_of(part(wanted, Do) or wanted))

    @property
    def steered(self) -> bool:
        """Whether somebody steers."""
        return self._before is not None

    @property
    def settings(self) -> Any:
        """The controller's settings."""
        asked = {name: value for name, value in self._asked.items() if not name.startswith(WEIGHT)}
        return replaced(self.trial.controller.settings, asked)

    @property
    def weights(self) -> dict[str, float]:
        """Weights of the terms that a planner judges by."""
        controller, wanted = self.trial.controller, self.trial.session.asked
        if not isinstance(controller, Planned) or wanted is None:
            return {}
        known = {WEIGHT + name: weight for name, weight in controller.weights.items()} | self._asked
        goal = goal_of(self.trial.scene, wanted, controller.planner.go_style)
        terms = [term for way in goal.ways for term in way.terms] if self.judges_plans else goal.terms
        return {term.name: known.get(WEIGHT + term.name, 1.0) for term in terms}

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms that are charted: those of what is wanted, or of who plans for others."""
        controller, wanted = self.trial.controller, self.trial.session.asked
        if not isinstance(controller, Planned) or wanted is None:
            return controller.report().names
        return goal_of(self.trial.scene, wanted, controller.planner.go_style).names

    @property
    def _asked(self) -> dict[str, float]:
        """Parameters that the next frame will set."""
        waiting = self.trial.session.waiting
        return {command.name: command.value for command in waiting if isinstance(command, SetParameter)}

    def settle(self) -> None:
        """Have settings, weights and styles that wait now; whoever leaves the session calls this."""
        if self._asked:
            self.trial.controller.set_parameters(self._asked)
        for style in self.styles.values():
            self.trial.controller.restyle(style)  # type: ignore[attr-defined]

    @property
    def styles(self) -> dict[str, Any]:
        """Styles of walking, or gaits, by name; none where they cannot be changed."""
        controller = self.trial.controller
        edited = [read_style(controller, one) for one in self.trial.session.waiting if isinstance(one, Restyle)]
        return {style.name: style for style in [*styles_of(controller), *edited]}

    @property
    def style(self) -> Any:
        """The style that is wanted, else the first one; None where there are none."""
        go = part(self.trial.session.asked, Go)
        return self.styles.get((go and go.style) or "", next(iter(self.styles.values()), None))

    @property
    def mixes(self) -> bool:
        """Whether two styles can be mixed: gaits can."""
        return isinstance(self.trial.controller, Simbicon)

    @property
    def target(self) -> Vector | None:
        """The place that is wanted, m; None where none is."""
        wanted = self.trial.session.asked
        reach, go = part(wanted, Reach), part(wanted, Go)
        return reach.target if reach is not None else None if go is None else go.target

    @property
    def heading(self) -> float | None:
        """The heading that is wanted at a place, or without a speed, rad; None where none is."""
        go = part(self.trial.session.asked, Go)
        return None if go is None or go.speed is not None else go.heading

    @property
    def faces(self) -> bool:
        """Whether it can be wanted to face somewhere at a place."""
        return self._takes(Go(target=(1.0, 0.0, 0.0), heading=1.0))

    @property
    def velocity(self) -> tuple[float, float] | None:
        """The velocity that is wanted, m/s; None where none is."""
        go = part(self.trial.session.asked, Go)
        return go.velocity if go is not None and np.any(go.velocity) else None


def pace(style: str) -> float:
    """Speed that is asked for by hand, m/s."""
    return gaits.PACE if style == "gait" else PACE


def _always(command: Command) -> bool:
    """Whether it takes the place of one of its kind, so that any number may come."""
    return isinstance(command, (Drag, Release, Restyle, *WANTS))


def _manner_only(want: Any) -> bool:
    """Whether a want only says how to go, and not where: steering goes on then."""
    return isinstance(want, Go) and not any(name in WAY for name in want.given)
