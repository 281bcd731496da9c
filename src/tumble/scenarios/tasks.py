"""Tasks over steps, each with a goal of its own a seed: coros2010 section 4.5.

    tumble run heading --trials 10 --seed 100
    tumble run go-to-point --balls 5 --record point.npz
    tumble run very-robust-walk --balls 15 --controller simbicon

Goals are drawn from what the thesis's grids hold. With --balls one of that mass is thrown at the trunk every few
seconds, from any side. What is judged is measured on the body, and not by what a policy was rewarded for.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tumble.characters import Character
from tumble.errors import check_number
from tumble.goals.wants import Go, Want
from tumble.live.commands import Command, Throw
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.scenarios.walking import FRICTION
from tumble.tasks.hits import AWAY, RADIUS, SPEED
from tumble.tasks.kinds import stepper_for
from tumble.world.props import Ball, Box
from tumble.world.scene import Ground, Scene

FIRST, EVERY, VARIED = 3.0, 5.0, 1.2  # s: of the first throw, between two, by which each is varied
DISTURBED = 0.1  # m/s and rad/s, standard deviation of all speeds of the start
LAST = 1.0  # s over which it is judged
CLOSE = 0.2  # m, twice the thesis's 10 cm, as steps in place swing
SLOW = 0.25  # m/s
ALIGNED = math.radians(10.0)  # twice the thesis's, for the same reason
BRICK = (0.06, 0.06, 0.015)  # m, half sizes of what lies about


@dataclass(frozen=True)
class TaskScenario(Scenario):
    """What scenarios of tasks share: balls, bricks to step on, and the start."""

    balls: float = field(default=0.0, metadata={"ends": (0.0, 30.0)})
    """Mass of balls that are thrown at the trunk every 5 s or so, kg; 0: none."""
    speed_of_balls: float = SPEED
    """How fast they are, m/s."""
    bricks: int = 0
    """Flat bricks of 3 cm that lie about within 4 m, to step on and trip over."""
    until: float = 20.0
    """How long it takes, s; judged over the last second."""

    controllers: ClassVar[tuple[str, ...]] = ("task",)
    characters: ClassVar[tuple[str, ...]] = ("big-bird",)
    strewn: ClassVar[bool] = True
    start: ClassVar[str] = "walk"

    def __post_init__(self) -> None:
        check_number("balls", self.balls, 0.0, 100.0)
        check_number("speed_of_balls", self.speed_of_balls, 0.1, 30.0)
        check_number("bricks", self.bricks, 0, 200)
        check_number("until", self.until, 2.0, 3600.0)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        """Level ground, the ball, and bricks where the seed puts them, none under the start."""
        rng, props = np.random.default_rng((seed, 1)), list[Ball | Box]()
        if self.balls:
            props.append(Ball("ball", RADIUS, self.balls))
        for i in range(self.bricks):
            away, angle = rng.uniform(0.6, 4.0), rng.uniform(0, 2 * np.pi)
            place = (float(away * math.cos(angle)), float(away * math.sin(angle)), BRICK[2])
            props.append(Box(f"brick-{i}", place, BRICK, ground=True))
        return Scene(character, [*props, *self.furniture()], Ground(FRICTION))

    def furniture(self) -> list[Box]:
        """What stands there, whatever the seed."""
        return []

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        """The start of the walk, disturbed; the goal, wanted from the beginning on; and throws."""
        state, goals = begun(scene, self.start, rng), self.goals(rng)
        return Setup(state, self.until, goals, self._responses(int(rng.integers(2**62))))

    def goals(self, rng: np.random.Generator) -> list[tuple[float, Command]]:
        """(seconds, want) that the seed draws."""
        return []

    def answer(self, history: History) -> Sequence[Command]:
        """What it wants next because of what was done, if anything."""
        return ()

    def _responses(self, seed: int) -> Callable[[History], Sequence[Command]]:
        def respond(history: History) -> Sequence[Command]:
            return [*self.answer(history), *(self._throws(history, seed) if self.balls else ())]

        return respond

    def _throws(self, history: History, seed: int) -> Sequence[Command]:
        """The throw that is due, if one is."""
        count = math.floor((history.time - FIRST) / EVERY)
        if count < 0:
            return ()
        rng = np.random.default_rng((seed, count))
        when, angle = FIRST + count * EVERY + rng.uniform(0, VARIED), rng.uniform(0, 2 * np.pi)
        late = history.time - when
        return [thrown(history, angle, self.speed_of_balls)] if 0 <= late < history.scene.dt - 1e-9 else ()

    def well(self, history: History) -> bool:
        """Whether the goal is reached, by the last second."""
        return True

    def success(self, history: History) -> bool:
        """Whether it never fell and the goal was reached."""
        return bool(history.lasted(1.0) and history.falls() == 0 and self.well(history))


def begun(scene: Scene, start: str, rng: np.random.Generator) -> np.ndarray:
    """The state in which a gait begins, or a stand of who has none, with all speeds of the character disturbed."""
    data = scene.show(stepper_for(scene).opening(start))
    data.qvel[: scene.model.nv] += rng.normal(0, DISTURBED, scene.model.nv) * _own(scene)
    return scene.read(data)


def _own(scene: Scene) -> np.ndarray:
    """(nv,) 1 for speeds of the character, 0 for those of props."""
    model, root = scene.model, scene.root()
    return (model.body_rootid[model.dof_bodyid] == model.body_rootid[root]).astype(float)


def thrown(history: History, angle: float, speed: float) -> Throw:
    """A throw at the trunk from an angle, by which whoever goes on as now is met."""
    seconds = AWAY / speed
    middle, velocity = history.of("com")[-1], history.of("com_velocity")[-1]
    x, y = math.cos(angle), math.sin(angle)
    place = middle[:2] + seconds * velocity[:2] - AWAY * np.array([x, y])
    fall = 0.5 * 9.81 * seconds  # m/s upwards, so that it is as high again when it is there
    return Throw((float(place[0]), float(place[1]), float(middle[2])), (speed * x, speed * y, fall))


def facing(history: History) -> float:
    """Mean heading of the head over the last second, rad."""
    ahead = history.of(f"{history.scene.character.head}.forward")[history.last(LAST), :2].mean(axis=0)
    return math.atan2(ahead[1], ahead[0])


def apart(a: float, b: float) -> float:
    """Angle between two headings, rad, 0 to pi."""
    return abs((a - b + math.pi) % (2 * math.pi) - math.pi)


def _slow(history: History) -> bool:
    velocity = history.of("com_velocity")[history.last(LAST), :2].mean(axis=0)
    return bool(np.linalg.norm(velocity) < SLOW)


def _place(history: History) -> np.ndarray:
    """(2,) mean place of the root over the last second, m."""
    return np.array(history.of(f"{history.scene.character.root}.pos")[history.last(LAST), :2].mean(axis=0))


def _goal(history: History) -> Go:
    """What was wanted last."""
    return next(want for _, want in reversed(history.wants) if isinstance(want, Go))


@dataclass(frozen=True)
class GoToLineTask(TaskScenario):
    """Come to a line across one's way, up to 6 m ahead or 2.5 m behind, and step in place there."""

    name: ClassVar[str] = "go-to-line"
    summary: ClassVar[str] = "step in place at a line 2.5 m behind to 6 m ahead (--balls KG): there and slow at 20 s"
    characters: ClassVar[tuple[str, ...]] = ("big-bird", "biped34", "biped")

    def wants(self) -> Want:
        return Go(target=(2.0, 0.0, 0.0))

    def goals(self, rng: np.random.Generator) -> list[tuple[float, Command]]:
        return [(0.0, Go(target=(float(rng.uniform(-2.5, 6.0)), 0.0, 0.0)))]

    def well(self, history: History) -> bool:
        target = _goal(history).target
        return target is not None and abs(_place(history)[0] - target[0]) < CLOSE and _slow(history)


@dataclass(frozen=True)
class HeadingTask(TaskScenario):
    """Walk in a direction, and in another from half the time on."""

    name: ClassVar[str] = "heading"
    summary: ClassVar[str] = "walk in a direction, then in another (--balls KG): within 10 degrees of it at the end"
    characters: ClassVar[tuple[str, ...]] = ("big-bird", "raptor")
    until: float = 30.0

    def wants(self) -> Want:
        return Go(heading=0.0)

    def goals(self, rng: np.random.Generator) -> list[tuple[float, Command]]:
        first, second = rng.uniform(-math.pi, math.pi, 2)
        return [(0.0, Go(heading=float(first))), (0.5 * self.until, Go(heading=float(second)))]

    def well(self, history: History) -> bool:
        return apart(facing(history), _goal(history).heading or 0.0) < ALIGNED


@dataclass(frozen=True)
class GoToPointTask(TaskScenario):
    """Come to a point within 3 m ahead and aside, and step in place there."""

    name: ClassVar[str] = "go-to-point"
    summary: ClassVar[str] = "step in place at a point up to 3 m ahead and aside (--balls KG): there and slow at 25 s"
    until: float = 25.0

    def wants(self) -> Want:
        return Go(target=(1.0, 1.0, 0.0))

    def goals(self, rng: np.random.Generator) -> list[tuple[float, Command]]:
        x, y = rng.uniform(-3.0, 3.0, 2)
        return [(0.0, Go(target=(float(x), float(y), 0.0)))]

    def well(self, history: History) -> bool:
        target = _goal(history).target
        return target is not None and math.dist(_place(history), target[:2]) < CLOSE and _slow(history)


@dataclass(frozen=True)
class GoToPointHeadingTask(TaskScenario):
    """Walk through a point within 3 m, facing a direction."""

    name: ClassVar[str] = "go-to-point-heading"
    summary: ClassVar[str] = "walk through a point facing a direction (--balls KG): within 0.4 m and 20 degrees once"
    until: float = 30.0

    def wants(self) -> Want:
        return Go(target=(2.0, 0.0, 0.0), heading=0.0)

    def goals(self, rng: np.random.Generator) -> list[tuple[float, Command]]:
        (x, y), heading = rng.uniform(-3.0, 3.0, 2), rng.uniform(-math.pi, math.pi)
        return [(0.0, Go(target=(float(x), float(y), 0.0), heading=float(heading)))]

    def well(self, history: History) -> bool:
        goal = _goal(history)
        return goal.target is not None and passed(history, goal.target, goal.heading or 0.0, 0) is not None


THROUGH, TURNED = 0.4, math.radians(20.0)  # m and rad within which a point counts as passed


def passed(history: History, target: Sequence[float], heading: float, since: int) -> int | None:
    """The first frame from `since` on in which it was at a point, facing a direction; None where there is none."""
    places = history.of(f"{history.scene.character.root}.pos")[since:, :2]
    ahead = history.of(f"{history.scene.character.head}.forward")[since:, :2]
    near = np.linalg.norm(places - np.array(target[:2]), axis=1) < THROUGH
    turned = ahead @ (math.cos(heading), math.sin(heading)) > math.cos(TURNED) * np.linalg.norm(ahead, axis=1)
    found = np.flatnonzero(near & turned)
    return since + int(found[0]) if found.size else None


@dataclass(frozen=True)
class HeadingSpeedTask(TaskScenario):
    """Go in a direction at a speed, and in another at another from half the time on."""

    name: ClassVar[str] = "heading-speed"
    summary: ClassVar[str] = "go in a direction at a speed, then in another at another: 10 degrees, 0.25 m/s at the end"
    until: float = 30.0

    def wants(self) -> Want:
        return Go(heading=0.0, speed=0.5)

    def goals(self, rng: np.random.Generator) -> list[tuple[float, Command]]:
        turns, speeds = rng.uniform(-math.pi, math.pi, 2), rng.uniform(0.0, 1.0, 2)
        return [
            (when, Go(heading=float(turn), speed=float(speed)))
            for when, turn, speed in zip((0.0, 0.5 * self.until), turns, speeds, strict=True)
        ]

    def well(self, history: History) -> bool:
        goal = _goal(history)
        velocity = history.of("com_velocity")[history.last(2 * LAST), :2].mean(axis=0)
        along = float(velocity @ (math.cos(goal.heading or 0.0), math.sin(goal.heading or 0.0)))
        return apart(facing(history), goal.heading or 0.0) < ALIGNED and abs(along - (goal.speed or 0.0)) < SLOW


@dataclass(frozen=True)
class VeryRobustWalkTask(TaskScenario):
    """Walk on, hit by one ball from any side at any moment."""

    name: ClassVar[str] = "very-robust-walk"
    summary: ClassVar[str] = "walk on, hit by a ball (--balls KG, default 10) from any side: up 5 s later"
    controllers: ClassVar[tuple[str, ...]] = ("task", "simbicon")
    characters: ClassVar[tuple[str, ...]] = ("biped34",)
    balls: float = field(default=10.0, metadata={"ends": (0.0, 30.0)})
    until: float = FIRST + EVERY

    def wants(self) -> Want:
        return Go()
