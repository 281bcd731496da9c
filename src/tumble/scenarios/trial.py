"""Trial: one go at a scenario, from seed to verdict: the same object headless, in the studio and in experiments.

trial = Trial(Pushed(), seed=3, controller="walker")
while not trial.over:
    trial.step()
trial.result().success

trial.send(Explode((0.5, 0.0, 0.0)))                   # what people do
trial.throw((3, 0, 1.5), (-8, 0, 0), mass=5.0)         # the set changes while it runs
trial.rewind(trial.scene, state, time=4.0)
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tumble.characters import Character, character
from tumble.control.controller import Controller, closing
from tumble.controllers import CONTROLLERS, unsuited
from tumble.errors import UserError, check_number
from tumble.goals.wants import WANTS, Want
from tumble.live.commands import Command, Throw, Vector
from tumble.live.session import Frame, Session
from tumble.planners import Plan
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario
from tumble.world.dressing import check_room, dressed, moved_into, put
from tumble.world.props import Ball, Prop
from tumble.world.scene import Ground, Scene

THROWN = "thrown"  # name of the ball that people throw
DENSITY = 500.0  # kg/m^3 of it: 5 kg have a radius of 13 cm
RECALL = 120.0  # s of history that an endless trial keeps
SOON = 1e-9  # s, rounding of times


@dataclass(frozen=True)
class Result:
    """How a trial went.

    Attributes:
      success: by the scenario's own test; False where the live world broke or the run was stopped.
      finished: whether it ran to its end.
      seconds, frames: simulated.
      plan_seconds: wall time of every frame's control; the first of a process compiles.
      sim_steps: simulation steps that planning took.
      broken_rows: simulations that went unstable while planning, and the live world if it did.
      metrics: by name.
    """

    success: bool
    finished: bool
    seconds: float
    frames: int
    plan_seconds: Sequence[float]
    sim_steps: int
    broken_rows: int
    metrics: dict[str, float]


class _Count:
    """A listener that adds up what planning cost."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.sim_steps = self.broken = 0

    def __call__(self, session: Session, frame: Frame) -> None:
        self.seconds.append(frame.control_seconds)
        self.broken += frame.broken
        plan = session.controller.report().plan
        if isinstance(plan, Plan):
            self.sim_steps += plan.sim_steps
            self.broken += plan.broken


class Trial:
    """A session of a scenario with its events and responses, and what people do to it.

    Attributes:
      scenario, seed: what is played.
      name: of the controller.
      session: as it is now; `scene` and `controller` are the session's.
      history: what it is judged by.
      seconds: how long it takes.
      directed: whether people have said what they want; the scenario then says no more.
      told: how many commands have come from the scenario.
    """

    def __init__(
        self, scenario: Scenario, seed: int = 0, controller: str | None = None, body: Character | None = None,
        settings: Any = None, threads: int = 0, want: Want | None = None, seconds: float | None = None,
        scene: Scene | None = None, made: Controller | None = None,
    ) -> None:  # fmt: skip
        """Get ready to begin.

        Args:
          seed: of the trial's start and events, and of the controller.
          controller, body: instead of those that the scenario suggests.
          settings: of the controller, instead of those that it has in this scenario.
          threads: for planning; 0: one per core. Results do not depend on it.
          want: instead of what the scenario wants, which then asks for nothing else either.
          seconds: instead of the scenario's own duration.
          scene: of this scenario, body and seed, where it was built before.
          made: a controller that was made before, for that scene.
        """
        check_number("seed", seed, 0, 2**63 - 1)
        self.scenario, self.seed, self.name = scenario, seed, controller or scenario.controllers[0]
        kind = CONTROLLERS[self.name]
        if scene is None:
            chosen = body or character(scenario.body_for(self.name))
            scene = scenario.scene(scenario.body(chosen, seed), seed)
        if made is None:
            if why := unsuited(self.name, scene.character):
                raise UserError(why)
            made = kind.make(scene, settings or scenario.settings_for(self.name), seed, threads)
        self.setup = scenario.setup(scene, np.random.default_rng(seed))
        self.seconds = self.setup.seconds if seconds is None else seconds
        check_number("seconds", self.seconds, scene.dt, 86400)
        wanted = want or scenario.wants()
        self.directed, self.told = want is not None, 0
        self.session = Session(scene, made, self.setup.state, wanted)
        self.history, self._count = History(scene, wanted, sights=scenario.sights(scene)), _Count()
        self.session.listeners += [self.history, self._count]
        self._events = deque(sorted(self.setup.events, key=lambda event: event[0]))

    @property
    def scene(self) -> Scene:
        """Where it happens now."""
        return self.session.scene

    @property
    def controller(self) -> Controller:
        """Who controls."""
        return self.session.controller

    @property
    def time(self) -> float:
        """Simulated seconds since the beginning."""
        return self.session.time

    @property
    def over(self) -> bool:
        """Whether its time is up, the live world broke, or it is settled how it went."""
        late = self.session.index >= round(self.seconds / self.scene.dt)
        return late or self.history.broken or bool(self.verdict)

    @property
    def verdict(self) -> str:
        """How it went, in a sentence, where that is settled before its time is up; see `Scenario.verdict`."""
        return self.scenario.verdict(self.history)

    def send(self, *commands: Command) -> None:
        """Have commands of people applied in the next frame, all or none; who says what is wanted directs then."""
        self.session.send(*commands)
        self.directed |= any(isinstance(command, WANTS) for command in commands)

    def step(self) -> Frame:
        """One frame, with the events that are due and what the scenario does about what it sees."""
        if self.setup.respond is not None and self.history.frames:
            self._hear(self.setup.respond(self.history))
        while self._events and self._events[0][0] <= self.time + SOON:
            self._hear([self._events.popleft()[1]])
        return self.session.step()

    def _hear(self, commands: Sequence[Command]) -> None:
        """Take what comes from the scenario; people know better what they want."""
        heard = [command for command in commands if not (self.directed and isinstance(command, WANTS))]
        self.session.send(*heard)
        self.told += len(heard)

    def enter(self, scene: Scene) -> None:
        """Go on with another set, or another body; see `Session.enter`."""
        self.session.enter(scene)

    def place(self, prop: Prop) -> None:
        """Put a prop into the set, in the place of one of its name; everything goes on."""
        self.dress(put(self.scene.props, prop))

    def dress(self, props: Sequence[Prop], ground: Ground | None = None) -> None:
        """Go on with these props instead of those there are; refuses those that are new and in somebody.

        Balls and crates that are put elsewhere are there, at rest; all others stay where they are.
        """
        old = self.scene
        scene = dressed(old, props, ground)
        state = moved_into(scene, self.session.world.state[0], old)
        check_room(scene, state, {prop.name for prop in props if prop not in old.props})
        self.session.enter(scene, state)

    def remove(self, name: str) -> None:
        """Take a prop out of the set; everything goes on."""
        known = {prop.name: prop for prop in self.scene.props}
        if name not in known:
            raise UserError(f"no prop '{name}' in the scene; there are: {', '.join(known) or 'none'}")
        self.dress([prop for prop in self.scene.props if prop.name != name])

    def reshape(self, body: Character) -> None:
        """Go on with another body, say of other proportions, in the same pose, feet on the ground."""
        self.enter(Scene(body, self.scene.props, self.scene.ground, list(self.scene.drives)))

    def throw(self, position: Vector, velocity: Vector, mass: float) -> None:
        """Throw a ball, kg; the first one, and one of another mass, changes the set."""
        check_number("mass of a ball", mass, 0.1, 500)
        x, y, z = position
        ball = Ball(THROWN, radius=(3 * mass / (4 * math.pi * DENSITY)) ** (1 / 3), mass=mass)
        throw = Throw((x, y, max(z, ball.radius)), velocity, THROWN)  # none begins in the ground
        if ball not in self.scene.props:
            scene = dressed(self.scene, put(self.scene.props, ball))
            throw.check(scene)
            self.enter(scene)
        self.send(throw)

    def rewind(self, scene: Scene, state: np.ndarray, time: float) -> None:
        """Go on from a moment of the past, in a state of then: the end of a frame.

        What people want now stays wanted; where nobody has said anything, it is what the scenario wanted then.
        """
        index, then = round(time / scene.dt), self.history.wanted(time)
        if not self.directed:
            self.session.wanted = then
        self.session.rewind(scene, state, index, then)
        self.history.cut(index - round(self.history.began / scene.dt), self.session.wanted)
        due = sorted(self.setup.events, key=lambda event: event[0])
        self._events = deque(event for event in due if event[0] > time - scene.dt + SOON)  # none that is in that state

    def recall(self) -> None:
        """Keep no more history than an endless trial needs; to be called now and then."""
        if self.history.frames * self.scene.dt > 2 * RECALL:
            self.history.forget(RECALL)
            del self._count.seconds[: -self.history.frames]

    def result(self) -> Result:
        """How it went so far, judged by the scenario."""
        return Result(
            success=self.over and self.scenario.success(self.history),
            finished=self.over,
            seconds=self.time,
            frames=self.session.index,
            plan_seconds=self._count.seconds,
            sim_steps=self._count.sim_steps,
            broken_rows=self._count.broken,
            metrics=self.history.metrics() | self.scenario.metrics(self.history),
        )


def run_trial(
    trial: Trial, watch: Callable[[Session], None] = lambda session: None, stop: Callable[[], bool] = lambda: False
) -> Result:
    """Run a trial to its end, or until the live world breaks or it is stopped; closes the controller.

    Args:
      watch: called with the session before its first step, to add listeners.
      stop: asked before every frame.
    """
    watch(trial.session)
    with closing(trial.controller):
        while not trial.over and not stop():
            trial.step()
    return trial.result()
