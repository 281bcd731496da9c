"""One trial of a scenario under a controller, from seed to verdict."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tumble.control.controller import Controller, closing
from tumble.controllers import Wants
from tumble.errors import check_number
from tumble.live.commands import Command, Do, SetGoal, Walk
from tumble.live.session import Frame, Session
from tumble.planners import Plan
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario
from tumble.world.scene import Scene


@dataclass(frozen=True)
class Result:
    """How a trial went.

    Attributes:
      success: by the scenario's own test; False where the live world broke or the run was stopped.
      finished: whether it ran to its end.
      seconds, frames: simulated.
      plan_seconds: wall time of every frame's control; the first of a process compiles.
      sim_steps: simulation steps that the planner spent.
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
        plan = session.controller.latest
        if isinstance(plan, Plan):
            self.sim_steps += plan.sim_steps
            self.broken += plan.broken


def run_trial(
    scenario: Scenario,
    scene: Scene,
    controller: Controller,
    seed: int,
    seconds: float | None = None,
    watch: Callable[[Session], None] = lambda session: None,
    stop: Callable[[], bool] = lambda: False,
    wants: Wants | None = None,
) -> Result:
    """Run one trial to its end, or until the live world breaks or it is stopped; closes the controller.

    Args:
      seed: of the trial's start and events; the controller has its own.
      seconds: instead of the scenario's own duration.
      watch: called with the session before its first step, to add listeners.
      stop: asked before every frame.
      wants: what the character wants instead of what the scenario does, which then asks for nothing else either.
    """
    trial = scenario.trial(scene, np.random.default_rng(seed))
    duration = trial.seconds if seconds is None else seconds
    check_number("seconds", duration, scene.dt, 86400)
    session = Session(scene, controller, trial.state)
    wanted = wants or scenario.wants()
    if not isinstance(wanted, SetGoal):
        session.send(wanted)
    history, count = History(scene, wanted, sights=scenario.sights(scene)), _Count()
    session.listeners += [history, count]
    watch(session)
    due = deque(sorted(trial.events, key=lambda event: event[0]))
    frames = round(duration / scene.dt)
    with closing(controller):
        while session.index < frames and not history.broken and not stop():
            if trial.respond is not None and history.frames:
                session.send(*_kept(trial.respond(history), wants))
            while due and due[0][0] <= session.time + 1e-9:
                session.send(*_kept([due.popleft()[1]], wants))
            session.step()
    finished = session.index == frames or history.broken
    return Result(
        success=finished and scenario.success(history),
        finished=finished,
        seconds=session.time,
        frames=session.index,
        plan_seconds=count.seconds,
        sim_steps=count.sim_steps,
        broken_rows=count.broken,
        metrics=history.metrics() | scenario.metrics(history),
    )


def _kept(commands: Iterable[Command], wants: Wants | None) -> list[Command]:
    """Of a scenario's commands those that still come where something else is wanted than by the scenario."""
    return [command for command in commands if wants is None or not isinstance(command, SetGoal | Walk | Do)]
