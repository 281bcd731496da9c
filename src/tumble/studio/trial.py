"""Take: one go at a scenario, live. Its scene can be rebuilt and its time turned back while it runs.

take = StudioTrial(Choice("push"), threads=0)
take.send(Explode((0.5, 0.0, 0.0)))
take.steer(1.0, 0.0)
frame = take.step()
"""

import math
from collections import deque
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, TypeGuard, cast

import msgspec
import mujoco
import numpy as np

from tumble.characters import Character, character, from_recipe
from tumble.control.controller import Controller
from tumble.controllers import CONTROLLERS, Wants
from tumble.errors import UserError, check_number
from tumble.goals import GOALS
from tumble.live.commands import Command, Do, Drag, Release, SetGoal, SetParameter, Throw, Vector, Walk
from tumble.live.session import Frame, Session
from tumble.planners import SMC
from tumble.planners.planned import WEIGHT, Planned
from tumble.scenarios import SCENARIOS, Scenario, gaits
from tumble.scenarios.locomotion import PACE
from tumble.settings import replaced
from tumble.skills.check import held_in
from tumble.skills.performer import Performer
from tumble.skills.pointing import script_for
from tumble.studio.responses import Responses
from tumble.world.props import Ball
from tumble.world.scene import Scene

THROWN = "thrown"  # name of the ball that people throw
DENSITY = 500.0  # kg/m^3 of it: 5 kg have a radius of 13 cm
WAITING = 256  # commands that may wait for the next frame
STEERED = ("steer", "turbo")
WAY = {"speed", "heading"}  # wishes that end a script
STROLL, HURRY = 0.8, 1.5  # m/s of a walker that is steered, and in a hurry
FRAME = 1 / 30  # s of what is shown, where a session's steps are smaller


@dataclass(frozen=True)
class Choice:
    """What is played; options of the scenario and proportions of the character are those not at their defaults.

    Pose and roll are of a goal of balance, where they are not to be the scenario's own: see `SetGoal`.
    """

    scenario: str = "stand"
    character: str = "humanoid"
    controller: str = "cpbp"
    seed: int = 0
    options: tuple[tuple[str, float], ...] = ()
    proportions: tuple[tuple[str, float], ...] = ()
    pose: str | None = None
    roll: bool | None = None

    def body(self) -> Character:
        """The character with its proportions."""
        plain = character(self.character)
        return from_recipe({**plain.recipe, **dict(self.proportions)}) if self.proportions else plain

    def built(self) -> Scenario:
        """The scenario with its options."""
        return cast(Scenario, replaced(SCENARIOS[self.scenario](), dict(self.options)))

    def wants(self) -> Wants:
        """What is wanted first."""
        wanted = self.built().wants()
        return stood(wanted, self.pose, self.roll) if balances(wanted) else wanted


class StudioTrial:
    """A session of a scenario with its events and responses, and what people do to it.

    Attributes:
      choice: what is played.
      scene, controller, session: as they are now; `enter` replaces them.
      wanted: the goal that was asked for last, or all wishes of a walk; a script decides on speed and heading.
      script: what a walker was asked to do last; None where it was told how to walk since.
      stance: the goal of balance with the pose that was asked for last, and whether to roll over first.
      told: how many commands have come from the scenario.
      stride: steps of the session a frame, where these are too small to look at each.
      drag: what is held, None where nothing is.
    """

    def __init__(self, choice: Choice, threads: int = 0, settings: Any = None) -> None:
        scenario = choice.built()
        check_number("seed", choice.seed, 0, 2**63 - 1)
        self.choice, self._threads = choice, threads
        self.scene = scenario.scene(scenario.body(choice.body(), choice.seed), choice.seed)
        trial = scenario.trial(self.scene, np.random.default_rng(choice.seed))
        wants = choice.wants()
        self.script = self._next = wants if isinstance(wants, Do) else None
        self.wanted: SetGoal | Walk = Walk() if isinstance(wants, Do) else wants
        self._rest = self.wanted
        self.stance = stood(SetGoal("balance"), choice.pose, choice.roll)
        self._note_stance(self.wanted)
        self.controller = self._make(self.scene, settings or live(scenario.settings_for(choice.controller)))
        self._events, self._responses = sorted(trial.events, key=lambda event: event[0]), Responses(trial.respond)
        self.drag: Drag | None = None
        self._steered, self._waiting = False, list[Command]()
        self.told = 0
        self._directed = False  # whether people have said what they want; the scenario then says no more
        self.enter(self.scene, trial.state, 0.0)

    def _make(self, scene: Scene, settings: Any) -> Controller:
        make = CONTROLLERS[self.choice.controller].make
        return make(scene, settings, self.choice.seed, self._threads, self.script or self.wanted)

    @property
    def dt(self) -> float:
        """Simulated seconds a frame."""
        return self.stride * self.scene.dt

    def enter(self, scene: Scene, state: np.ndarray, time: float) -> None:
        """Go on from a state of a scene, as of a time. The planner starts anew; what is held stays held.

        Of what waits for the next frame, goals and settings are taken at once and the rest is forgotten.
        """
        goal = self.wanted.build(scene) if isinstance(self.wanted, SetGoal) else None
        self.settle()
        old = self.controller
        if scene is not self.scene:
            controller = self._make(scene, self.controller.settings)
            inherit(controller, self.controller)
            self.scene, self.controller = scene, controller
        if goal is not None:
            self.controller.set_goal(goal)
        self.stride = max(1, round(FRAME / scene.dt))
        if self.drag and mujoco.mj_name2id(scene.model, mujoco.mjtObj.mjOBJ_BODY, self.drag.body) < 0:
            self.drag = None
        self.session = Session(scene, self.controller, state)
        if time > 0 and scene.model.nuserdata:
            self.session.world.load(state)  # with the controller's memory, which a start forgets
        self._began, self._waiting = time, []
        self._responses.follow(self.session, time)
        # an event between two frames comes with the later one, which is the next if it began in the last dt
        self._due = deque(event for event in self._events if event[0] > time - scene.dt + 1e-9)
        self._pulled: Drag | None = None  # the drag that the session knows of
        if self.script is not None and self._next is None:  # it cannot be gone on with from anywhere
            self._follow(Walk(speed=0.0))
        # what the next frame will ask for: a walker that is started has no wishes
        self._want: SetGoal | Walk | None = self.wanted if isinstance(self.wanted, Walk) else None
        if self.controller is not old:
            old.close()

    def settle(self) -> None:
        """Have settings and weights that wait for the next frame now; whoever leaves the session calls this."""
        if self._asked:
            self.controller.set_parameters(self._asked)

    @property
    def _asked(self) -> dict[str, float]:
        """Parameters that the next frame will set."""
        return {command.name: command.value for command in self._waiting if isinstance(command, SetParameter)}

    @property
    def settings(self) -> Any:
        """The planner's settings, with what the next frame will change."""
        asked = {name: value for name, value in self._asked.items() if not name.startswith(WEIGHT)}
        return replaced(self.controller.settings, asked)

    @property
    def weights(self) -> dict[str, float]:
        """Weights of the terms that the planner judges by, with what the next frame will change."""
        if isinstance(self.wanted, Walk):
            return {}
        known = {WEIGHT + name: weight for name, weight in self.controller.weights.items()} | self._asked
        goal = self.wanted.build(self.scene)
        terms = [term for way in goal.ways for term in way.terms] if self.judges_plans else goal.terms
        return {term.name: known.get(WEIGHT + term.name, 1.0) for term in terms}

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms that are wanted, which are charted."""
        return self.wanted.build(self.scene).names if isinstance(self.wanted, SetGoal) else ()

    @property
    def time(self) -> float:
        """Simulated seconds since the beginning."""
        return self._began + self.session.time

    def send(self, *commands: Command) -> None:
        """Have commands of people applied in the next frame, all or none.

        Of drags, of goals and of scripts the last one counts; with a goal, a wish or a script, the scenario's own no
        longer come.
        """
        self._take(*commands)
        self._directed |= any(isinstance(command, SetGoal | Walk | Do) for command in commands)

    def _take(self, *commands: Command) -> None:
        others = [command for command in commands if not isinstance(command, Drag | Release | SetGoal | Walk | Do)]
        if others and len(self._waiting) + len(others) > WAITING:
            raise UserError(f"{WAITING} commands wait for the next frame already")
        for command in commands:
            command.check(self.scene)
            if isinstance(command, SetGoal):
                self.controller.check_goal(command.build(self.scene))
            elif isinstance(command, Walk):
                self.controller.check_wishes(command.wishes)
            elif isinstance(command, Do):
                self.controller.check_script(self.session.world, command.acts(self.scene))
        self.session.send(*others)
        self._waiting += others
        for command in commands:
            if isinstance(command, Drag | Release):
                self.drag = command if isinstance(command, Drag) else None
            elif isinstance(command, SetGoal | Walk | Do):
                self._follow(command)

    def _follow(self, command: Wants) -> None:
        """Want something from the next frame on. A script leaves all wishes as they are but speed and heading."""
        self._steered = False
        wishes = self.wanted.wishes if isinstance(self.wanted, Walk) else {}
        if isinstance(command, Do):
            self.script = self._next = command
            self.wanted = Walk(**{name: wish for name, wish in wishes.items() if name not in WAY})
            return
        if isinstance(command, SetGoal) or WAY & set(command.wishes):
            self.script = self._next = None
        if isinstance(command, Walk):
            command = Walk(**{**wishes, **command.wishes})
        self.wanted = self._want = command
        self._note_stance(command)

    def _note_stance(self, wanted: Wants) -> None:
        if balances(wanted):
            self.stance = SetGoal("balance", pose=wanted.pose, roll=wanted.roll)

    @property
    def balances(self) -> bool:
        """Whether a goal of balance is wanted, or will be again when steering ends."""
        return balances(self._rest if self._steered else self.wanted)

    @property
    def judges_plans(self) -> bool:
        """Whether the planner judges whole plans, by the ways of a goal."""
        return isinstance(self.controller, Planned) and isinstance(self.controller.planner, SMC)

    def stand(self, pose: str | None = None, roll: bool | None = None) -> None:
        """Balance in another pose, or roll over first or not; while it is steered, from the end of that on."""
        goal = self._rest if self._steered else self.wanted
        if not balances(goal):
            raise UserError(f"only who balances has a stance, and this wants '{self.goal}'; choose the goal 'balance'")
        goal = stood(goal, pose, roll)
        if self._steered:
            self.controller.check_goal(goal.build(self.scene))
            self._rest = goal
            self._note_stance(goal)
        else:
            self.send(goal)

    def want(self, goal: str) -> None:
        """Want a goal by its name; what it needs is ahead of the character, or the first ball there is."""
        world, head = self.session.world, self.scene.character.head
        x, y, _ = world.view("com")[0]
        ahead = world.view(f"{head}.forward")[0, :2]
        ahead = ahead / max(float(np.hypot(*ahead)), 1e-9)
        balls = [prop.name for prop in self.scene.props if isinstance(prop, Ball)]
        offered: dict[str, Any] = {
            "target": (float(x + 0.45 * ahead[0]), float(y + 0.45 * ahead[1]), 1.3),
            "velocity": tuple(float(pace(goal) * x) for x in ahead),
            "ball": balls[0] if balls else "ball",
        }
        offered |= {"pose": self.stance.pose, "roll": self.stance.roll}
        takes = signature(GOALS[goal].make).parameters
        if "velocity" in takes:
            del offered["target"]  # one of both is enough
        self.send(SetGoal(goal, **{name: value for name, value in offered.items() if name in takes}))

    def steer(self, x: float, y: float, turbo: bool = False) -> None:
        """Go with a share 0 to 1 of the usual pace into a direction; 0, 0 wants again what was wanted before."""
        length = math.hypot(x, y)
        check_number("length of a steering direction", length, 0, 2)
        if length > 0.05:
            rest = self._rest if self._steered else self.wanted
            share = 1 / max(1.0, length)
            if isinstance(rest, Walk):
                self.send(Walk(speed=min(1.0, length) * (HURRY if turbo else STROLL), heading=math.atan2(y, x)))
                self._rest = Walk(speed=0.0)
            else:
                goal = "gait" if rest.goal == "gait" else "turbo" if turbo else "steer"
                self.send(SetGoal(goal, velocity=(pace(goal) * share * x, pace(goal) * share * y)))
                self._rest = self.stance if rest.goal in STEERED else rest
            self._steered = True
        elif self._steered:
            self.send(self._rest)

    def point(self, at: Vector, body: str | None) -> None:
        """Do what a hint at a place means, on a body or on the ground; see `script_for`."""
        held = held_in(self.scene, self.session.world.state[0])
        self.send(Do(script_for(self.scene, held, body, at)))

    @property
    def styles(self) -> tuple[str, ...]:
        """Names of the styles that a walker knows."""
        return tuple(style.name for style in getattr(self.controller, "styles", ()))

    @property
    def target(self) -> tuple[float, float, float] | None:
        """The place that is wanted, m; None where none is."""
        return self.wanted.target if isinstance(self.wanted, SetGoal) else None

    @property
    def goal(self) -> str:
        """The name of the goal that is wanted; 'walk' where it is wishes."""
        return self.wanted.goal if isinstance(self.wanted, SetGoal) else "walk"

    @property
    def velocity(self) -> tuple[float, float] | None:
        """The velocity that is wanted, m/s; None where none is."""
        if isinstance(self.wanted, SetGoal):
            return self.wanted.velocity
        speed, heading = self.wanted.speed or 0.0, self.wanted.heading or 0.0
        return (speed * math.cos(heading), speed * math.sin(heading)) if speed else None

    def reshape(self, choice: Choice) -> None:
        """Go on at once with other proportions, in the same pose, feet on the ground."""
        body = self.scene
        scene = Scene(choice.body(), body.props, body.physics, type(body.motors))
        self.enter(scene, scene.carried(self.session.world.state[0], body), self.time)
        self.choice = choice

    def hurl(self, position: Vector, velocity: Vector, mass: float) -> None:
        """Throw a ball. The first one, and one of another mass, rebuild the scene around it."""
        check_number("mass of a ball", mass, 0.1, 500)
        x, y, z = position
        ball = Ball(THROWN, radius=(3 * mass / (4 * math.pi * DENSITY)) ** (1 / 3), mass=mass)
        throw = Throw((x, y, max(z, ball.radius)), velocity, THROWN)  # none begins in the ground
        if ball not in self.scene.props:
            others = [prop for prop in self.scene.props if prop.name != THROWN]
            scene = Scene(self.scene.character, [*others, ball], self.scene.physics, type(self.scene.drive))
            throw.check(scene)
            waiting = [command for command in self._waiting if not isinstance(command, SetParameter)]
            self.enter(scene, scene.carried(self.session.world.state[0], self.scene), self.time)
            self.send(*waiting)
        self.send(throw)

    def step(self) -> Frame:
        """One frame, with the events that are due; its commands are those of all its steps."""
        commands: tuple[Command, ...] = ()
        for _ in range(self.stride):
            frame = self._step()
            commands += frame.commands
            if frame.broken:
                break
        return replace(frame, commands=commands)

    def _step(self) -> Frame:
        self._hear(*self._responses.next(self.session))
        while self._due and self._due[0][0] <= self.time + 1e-9:
            self._hear(self._due.popleft()[1])
        if self.drag is not self._pulled:
            self.session.send(self.drag or Release())
        if self._want is not None:
            self.session.send(self._want)
        if self._next is not None:
            self.session.send(self._next)
        self._pulled, self._want, self._next = self.drag, None, None
        try:
            return self.session.step()
        finally:
            self._waiting = []  # only now: panels look at the settings from another thread meanwhile

    def _hear(self, *commands: Command) -> None:
        """Take what comes from the scenario."""
        for command in commands:
            if not (self._directed and isinstance(command, SetGoal | Walk | Do)):  # people know better what they want
                self._take(command)
                self.told += 1


def live(settings: Any) -> Any:
    """Settings to begin with in the studio: who can learn in the background does, because time goes on meanwhile."""
    return replace(settings, background=True) if hasattr(settings, "background") else settings


def pace(goal: str) -> float:
    """Speed that is asked for by hand, m/s."""
    return gaits.PACE if goal == "gait" else PACE


def balances(wanted: Wants) -> TypeGuard[SetGoal]:
    """Whether it is a goal of balance, which has a stance."""
    return isinstance(wanted, SetGoal) and wanted.goal == "balance"


def stood(goal: SetGoal, pose: str | None, roll: bool | None) -> SetGoal:
    """A goal of balance with a stance; None leaves what it has."""
    given = {name: value for name, value in (("pose", pose), ("roll", roll)) if value is not None}
    return msgspec.structs.replace(goal, **given)


def inherit(controller: Controller, old: Controller) -> None:
    """Give a controller what one of its kind had before it: weights of terms, what was learned, styles of walking."""
    controller.weights = dict(old.weights)
    if isinstance(controller, Planned) and isinstance(old, Planned):
        controller.planner.learn_from(old.planner)
    if isinstance(controller, Performer) and isinstance(old, Performer):
        for style in old.styles:
            controller.restyle(style)
