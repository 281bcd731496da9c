"""Episodes: trials of one scenario in the rows of one Sims, in which the caller acts instead of a controller.

    episodes = Episodes(Pushed(), scene, scene.drive, nsim=256)
    episodes.begin(np.arange(256), seeds=range(256))
    episodes.act(controls)
    episodes.rewards, episodes.terminated, episodes.truncated
    episodes.outcome(3).success                       # of a row that is over

A row goes as `Trial` with that seed does, to the last bit, if the same is done in it: events and responses come from
the scenario, success and metrics from its test on a `History`. What happens in few rows (a push, a response) is done
row by row; all else for all rows at once, so that many rows cost little more than their physics.

Departure from `Trial`: events and responses that are due are applied as soon as the frame before is over, so that who
acts has seen them. Settings of controllers that a scenario changes mean nothing here.
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import Any, cast

import msgspec
import numpy as np

from tumble.errors import UserError
from tumble.goals import Goal
from tumble.goals.judging import goal_of
from tumble.goals.wants import WANTS, Want, kept
from tumble.gym.rows import Selected
from tumble.live.commands import Command, Drag, Explode, Push, Release, Reset, SetParameter, Throw
from tumble.live.forces import Forces
from tumble.planners import PLANNERS
from tumble.scenarios import History, Scenario, Setup
from tumble.scenarios.history import torques_of
from tumble.scenarios.trial import SOON
from tumble.world.drives import Drive
from tumble.world.scene import Scene
from tumble.world.sims import Sims

HALF = 100.0  # cost at which a reward is one half: that of `balance` is about 10 in quiet standing, 1000 lying; ours
KEPT = 64  # frames that are kept for all rows before the histories get them


@dataclass(frozen=True)
class EpisodeOutcome:
    """How an episode went, as `Result` has it, without figures of wall time: nothing else differs from run to run."""

    success: bool
    metrics: dict[str, float]


@dataclass
class Episode:
    """One trial in a row.

    Attributes:
      seed: of its start and events.
      want: all that is wanted now.
      watched: whether somebody looks at its history in every frame.
    """

    seed: int
    setup: Setup
    history: History
    forces: Forces
    events: deque[tuple[float, Command]]
    want: Want
    watched: bool


class Episodes:
    """Rows of trials of a scenario; a row has none before `begin`.

    Attributes:
      sims: of all rows.
      frames: (nsim,) of the episodes so far.
      costs: (nsim,) of the goal in the last frame; nan where no goal judges what is wanted.
      rewards: (nsim,): 1 / (1 + cost / 100); where no goal judges, 1 in the last frame of a success, else 0.
      terminated: (nsim,): broken, or it is settled how it went.
      truncated: (nsim,): its time is up.
    """

    def __init__(self, scenario: Scenario, scene: Scene, drive: Drive, nsim: int, nthread: int = 0) -> None:
        """Take memory and threads.

        Args:
          drive: of the scene, by which the caller acts.
        """
        self.scenario, self.scene, self.drive = scenario, scene, drive
        self.sims = Sims(scene, nsim, nthread)
        self.frames = np.zeros(nsim, np.intp)
        self.costs, self.rewards = np.full(nsim, np.nan), np.zeros(nsim)
        self.terminated, self.truncated = np.zeros(nsim, bool), np.zeros(nsim, bool)
        self.wants: list[Want] = [scenario.wants()] * nsim
        self._sights = scenario.sights(scene)
        self.sims.load(scene.state())
        for look in self._sights.values():  # at memory that nobody has, perhaps
            look(cast(Any, Selected(self.sims, slice(0, 1))))
        self._judged = type(scenario).verdict is not Scenario.verdict
        self._episodes: list[Episode | None] = [None] * nsim
        self._ends, self._due = np.zeros(nsim, np.intp), np.full(nsim, math.inf)
        self._forced, self._watched = np.zeros(nsim, bool), np.zeros(nsim, bool)
        planner = PLANNERS.get(scenario.controllers[0])
        self._go_style: str = "steer" if planner is None else planner.make.go_style
        self._known: dict[bytes, tuple[Want, Goal | None]] = {}
        self._goals: list[Goal | None] = [None] * nsim
        sensors, joints = scene.model.nsensordata, scene.drive.joints
        self._sensors, self._controls = np.empty((KEPT, nsim, sensors)), np.empty((KEPT, nsim, drive.size))
        self._angles, self._speeds = np.empty((KEPT, nsim, joints)), np.empty((KEPT, nsim, joints))
        self._now, self._since = 0, np.zeros(nsim, np.intp)  # frames that are kept; from which a row's are its own

    def episode(self, row: int) -> Episode:
        """What goes on in a row."""
        found = self._episodes[row]
        if found is None:
            raise UserError("nothing has begun yet: reset first")
        return found

    def begin(self, rows: np.ndarray, seeds: list[int]) -> None:
        """Begin trials of seeds in rows, whose numbers rise; others stay as they are."""
        setups = [self.scenario.setup(self.scene, np.random.default_rng(seed)) for seed in seeds]
        self.sims.use(self.drive)
        self.sims.load(np.array([setup.state for setup in setups]), rows)
        for row, seed, setup in zip(rows.tolist(), seeds, setups, strict=True):
            want, self._goals[row] = self._goal(self.scenario.wants())
            watched = self._judged or bool(self._sights) or setup.respond is not None
            events = deque(sorted(setup.events, key=lambda event: event[0]))
            history, forces = History(self.scene, want, sights=self._sights), Forces(self.scene)
            self._episodes[row] = Episode(seed, setup, history, forces, events, want, watched)
            self.wants[row] = want
            self._ends[row], self._watched[row] = round(setup.seconds / self.scene.dt), watched
            self._due[row] = events[0][0] if events else math.inf
        self.frames[rows], self._since[rows], self._forced[rows] = 0, self._now, False
        self.costs[rows], self.rewards[rows] = np.nan, 0.0
        self.terminated[rows] = self.truncated[rows] = False
        self._hear(rows)

    def act(self, controls: np.ndarray, rows: slice | np.ndarray = slice(None)) -> None:
        """A frame with controls (rows, drive.size) in all or some rows, then what the scenario does about it.

        Args:
          rows: which; others stay as they are, and theirs is no frame.
        """
        if self._now == KEPT:
            self._pass_on()
        acting = np.arange(self.sims.nsim)[rows]
        forced = acting[self._forced[acting]]
        if forced.size:
            self._push(forced)
        self.sims.act(controls, self.drive, rows)
        if forced.size:
            self.sims.view("xfrc_applied")[forced] = 0.0
        self.frames[rows] += 1
        self._keep(controls, rows)
        for row in acting[self._watched[acting]].tolist():
            self._note(row, look=True)
        self._judge(rows)
        going = acting[~(self.terminated | self.truncated)[acting]]
        self._hear(going)

    def history(self, row: int) -> History:
        """What a row is judged by, up to now."""
        return self._note(row)

    def outcome(self, row: int) -> EpisodeOutcome:
        """How the episode of a row went, which is over."""
        history = self._note(row)
        over = bool(self.terminated[row] or self.truncated[row])
        success = over and bool(self.scenario.success(history))
        metrics = history.metrics() | self.scenario.metrics(history)
        return EpisodeOutcome(success, {name: value for name, value in metrics.items() if "wall" not in name})

    def _push(self, rows: np.ndarray) -> None:
        """Have what pushes in rows push in the next frame."""
        forces = self.sims.view("xfrc_applied")
        for row in rows.tolist():
            own = self.episode(row).forces
            forces[row] = own.due(self.sims.state[row], self.drive)
            self._forced[row] = own.any

    def _keep(self, controls: np.ndarray, rows: slice | np.ndarray) -> None:
        """Keep what histories need of the last frame."""
        motors, now = self.scene.drive, self._now
        self._sensors[now] = self.sims.view("sensordata")
        np.take(self.sims.view("qpos"), motors.qpos, axis=1, out=self._angles[now])
        np.take(self.sims.view("qvel"), motors.qvel, axis=1, out=self._speeds[now])
        self._controls[now, rows] = controls
        if not isinstance(rows, slice):  # a frame for some: what others had stays in a run
            others = np.setdiff1d(np.arange(self.sims.nsim), rows)
            for row in others.tolist():
                self._note(row, until=now)
                self._since[row] = now + 1
        self._now += 1

    def _note(self, row: int, until: int | None = None, look: bool = False) -> History:
        """Give the history of a row what is kept of it."""
        episode, end = self.episode(row), self._now if until is None else until
        history, kept_ones = episode.history, slice(int(self._since[row]), end)
        if look:
            history.look(cast(Any, Selected(self.sims, slice(row, row + 1))))
        if kept_ones.start < end:
            torques = torques_of(self.drive, self._controls[kept_ones, row])
            angles, speeds = self._angles[kept_ones, row].copy(), self._speeds[kept_ones, row].copy()
            history.extend(self._sensors[kept_ones, row], angles, speeds, torques, bool(self.sims.broken[row]))
            self._since[row] = end
        return history

    def _pass_on(self) -> None:
        """Give all histories what is kept of them, and begin keeping anew."""
        for row, episode in enumerate(self._episodes):
            if episode is not None:
                self._note(row)
        self._now = 0
        self._since[:] = 0

    def _judge(self, rows: slice | np.ndarray) -> None:
        """Costs, rewards, and what is over."""
        self.costs[rows] = self._costs()[rows]
        self.terminated[rows] = self.sims.broken[rows]
        if self._judged:
            for row in np.arange(self.sims.nsim)[rows].tolist():
                self.terminated[row] |= bool(self.scenario.verdict(self.episode(row).history))
        self.truncated[rows] = (self.frames >= self._ends)[rows] & ~self.terminated[rows]
        self.rewards[rows] = 1.0 / (1.0 + self.costs[rows] / HALF)
        for row in np.flatnonzero(np.isnan(self.rewards)).tolist():
            over = self.terminated[row] or self.truncated[row]
            self.rewards[row] = float(over and self.outcome(row).success)  # 0 while it goes on

    def _costs(self) -> np.ndarray:
        """(nsim,): what each row's goal says of it; nan without one."""
        first = self._goals[0]
        if all(goal is first for goal in self._goals):
            return np.full(self.sims.nsim, np.nan) if first is None else first.cost(self.sims)
        costs, alike = np.full(self.sims.nsim, np.nan), dict[int, list[int]]()
        for row, goal in enumerate(self._goals):
            alike.setdefault(id(goal), []).append(row)
        for rows in alike.values():
            goal = self._goals[rows[0]]
            if goal is not None:
                costs[rows] = goal.cost(Selected(self.sims, np.array(rows)))
        return costs

    def _hear(self, rows: np.ndarray) -> None:
        """Apply what the scenario does before the next frame of rows."""
        due = self._due[rows] <= self.frames[rows] * self.scene.dt + SOON
        for row in rows[due | self._watched[rows]].tolist():
            episode = self.episode(row)
            commands = list[Command]()
            if episode.setup.respond is not None and self.frames[row]:
                commands += episode.setup.respond(episode.history)
            while episode.events and episode.events[0][0] <= self.frames[row] * self.scene.dt + SOON:
                commands.append(episode.events.popleft()[1])
            self._due[row] = episode.events[0][0] if episode.events else math.inf
            if commands:
                self._note(row).hear(commands)
            for command in commands:
                self._apply(row, episode, command)

    def _apply(self, row: int, episode: Episode, command: Command) -> None:
        """Have a command of the scenario done to a row."""
        if isinstance(command, WANTS):
            wanted, self._goals[row] = self._goal(kept(episode.want, cast(Want, command)))
            episode.want = self.wants[row] = wanted
            return
        match command:
            case Push() | Explode() | Drag() | Release():
                episode.forces.begin(command, self.sims.view("xipos")[row])
                self._forced[row] = episode.forces.any
            case Throw() | Reset():
                command.apply(cast(Any, Selected(self.sims, slice(row, row + 1))))
            case SetParameter():
                pass  # of a controller, and there is none
            case _:
                raise UserError(f"an environment cannot do '{type(command).__name__.lower()}'")

    def _goal(self, want: Want) -> tuple[Want, Goal | None]:
        """A want that equals this one, always the same object, and the goal that judges it."""
        key = msgspec.json.encode(want)
        if key not in self._known:
            if len(self._known) > 2 * self.sims.nsim + KEPT:  # headings that nobody wants any more
                self._known.clear()
            try:
                self._known[key] = want, goal_of(self.scene, want, self._go_style)
            except UserError:
                self._known[key] = want, None
        return self._known[key]
