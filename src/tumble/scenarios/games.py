"""Games of policies over steps: a slalom around lamp posts, and a field that balls roll across.

    tumble run lamp-posts --posts 5 --balls 5
    tumble run bird-mania --lanes 5 --speed 1.0
    tumble studio bird-mania                     # steer it yourself: W A S D, the joystick or a gamepad

Whoever says what they want plays the game themselves: what the scenario would want is not heard any more, and the
game is judged as before. A game ends as soon as it is settled, with a sentence (`Scenario.verdict`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.characters import Character
from tumble.errors import check_number
from tumble.goals.wants import Go, Want
from tumble.live.commands import Command, Throw
from tumble.scenarios.history import History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.scenarios.tasks import TaskScenario, begun, passed
from tumble.scenarios.walking import FRICTION
from tumble.world.props import Ball, Box
from tumble.world.scene import Ground, Scene

THICK, TALL = 0.05, 2.2  # m, half the width of a lamp post, its height
LAMP = (0.14, 0.14, 0.08)  # m, half sizes of the lamp on top
FIRST = 2.5  # m from the start to the first post
BESIDE = 0.9  # m from a post to the way-point beside it
HARD = 0.5  # of the own weight, by which a post is touched hard


def lamp_post(name: str, x: float, y: float) -> list[Box]:
    """A post that feels touches as NAME.force, with a lamp on top."""
    post = Box(name, (x, y, 0.5 * TALL), (THICK, THICK, 0.5 * TALL), felt=True)
    return [post, Box(f"{name}-lamp", (x, y, TALL + LAMP[2]), LAMP)]


@dataclass(frozen=True)
class LampPosts(TaskScenario):
    """Walk around lamp posts in a row, past each on the other side (coros2010 figure 4.5).

    Way-points lie beside the posts, and one behind them, each with a heading along the row: the next is wanted as soon
    as the bird is within 0.4 m of one and faces within 20 degrees of its heading. A post is touched hard where the
    character presses against it, at the end of some frame, with more than half of its weight.
    """

    posts: int = 4
    """How many."""
    spacing: float = 3.0
    """From one to the next, m."""
    until: float = 60.0
    """How long it may take, s."""

    name: ClassVar[str] = "lamp-posts"
    summary: ClassVar[str] = "walk around lamp posts (--posts N --spacing M): all way-points, no fall, no post hit hard"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("posts", self.posts, 1, 50)
        check_number("spacing", self.spacing, 1.5, 20.0)

    def furniture(self) -> list[Box]:
        return [part for i in range(self.posts) for part in lamp_post(f"post-{i}", FIRST + i * self.spacing, 0.0)]

    def way(self) -> list[Go]:
        """Way-points in their order: left of the first post, right of the second and so on."""
        places = [(FIRST + i * self.spacing, BESIDE * (1 - 2 * (i % 2))) for i in range(self.posts)]
        places.append((FIRST + self.posts * self.spacing, 0.0))
        return [Go(target=(x, y, 0.0), heading=0.0) for x, y in places]

    def wants(self) -> Want:
        return self.way()[0]

    def passes(self, history: History) -> list[int]:
        """Frames in which way-points were passed, one after the other."""
        found, since = list[int](), 0
        for goal in self.way():
            frame = passed(history, goal.target or (), goal.heading or 0.0, since)
            if frame is None:
                break
            found.append(frame)
            since = frame
        return found

    def answer(self, history: History) -> Sequence[Command]:
        """The next way-point, where the one that is wanted was passed."""
        way, count = self.way(), len(self.passes(history))
        return [way[count]] if count < len(way) and history.wants[-1][1] != way[count] else ()

    def hardest(self, history: History) -> float:
        """The largest force against a post so far, N."""
        forces = [there(history, f"post-{i}.force") for i in range(self.posts)]
        return max(float(np.linalg.norm(force, axis=1).max(initial=0.0)) for force in forces)

    def unhurt(self, history: History) -> bool:
        """Whether no post was touched hard."""
        return self.hardest(history) <= HARD * weight(history.scene)

    def verdict(self, history: History) -> str:
        passes, count = self.passes(history), self.posts + 1
        if history.falls():
            return f"fell after {len(passes)} of {count} way-points"
        if len(passes) < count:
            return ""
        touched = "" if self.unhurt(history) else f", but a post was hit with {self.hardest(history):.0f} N"
        return f"around {self.posts} posts in {passes[-1] * history.scene.dt:.1f} s{touched}"

    def well(self, history: History) -> bool:
        return len(self.passes(history)) == self.posts + 1 and self.unhurt(history)

    def metrics(self, history: History) -> dict[str, float]:
        """Way-points passed, s until the last of these, and the hardest touch of a post, N."""
        passes = self.passes(history)
        return {
            "way_points": float(len(passes)),
            "course_seconds": passes[-1] * history.scene.dt if passes else 0.0,
            "hardest_touch": self.hardest(history),
        }


def there(history: History, channel: str) -> np.ndarray:
    """(frames, d) of a channel; (0, 4) where people have taken the prop that it is of out of the set."""
    return history.of(channel) if channel in history.scene.channels else np.empty((0, 4))


def weight(scene: Scene) -> float:
    """Of the character, N."""
    model = scene.model
    return float(model.body_subtreemass[scene.root()] * -model.opt.gravity[2])


RADIUS, MASS = 0.22, 4.0  # m and kg of a ball that rolls
ROLLS = 7 / 5  # of the speed that a solid ball rolls with, at which it must be thrown without spin
LANE = 1.7  # m from one lane to the next
WIDE = 2.2  # m from the middle to either side of the field
VARIED = 0.3  # share by which speeds of balls vary

LOOK, AHEAD, LAG = 0.5, 2.4, 0.6  # s: between two decisions of the autopilot, that it looks ahead, that turning takes
CLEAR = 0.8  # m between the middles of a ball and of the bird that is enough
INSIDE = 1.4  # m from the middle, beyond which it does not go but to come back
MIDDLE = 0.3  # m/s of progress that a metre away from the middle is worth
TURNS = np.radians([0.0, 25.0, -25.0, 50.0, -50.0])
PACES = (0.75, 0.5)  # m/s; the bird's policy goes no faster


@dataclass(frozen=True)
class BirdMania(Scenario):
    """Get across a field whose lanes balls roll along, one a lane, over and over, each at a speed of its own.

    A lane is passed where the root crosses its middle within the field; a gate of two posts stands behind the last. Who
    is through, or falls, is done. Where nobody steers, a simple autopilot does: twice a second it looks 2.4 s ahead at
    some headings, two paces and stepping in place, with balls that roll on as they do now, and takes what leads ahead
    best of all that keeps it 0.8 m away from every ball and inside; where nothing does, what keeps it inside and
    farthest away.
    """

    lanes: int = 5
    """How many, a ball each."""
    speed: float = 0.8
    """Of the balls, m/s; each varies from it by up to 0.3 of it."""
    until: float = 60.0
    """How long it may take, s."""

    name: ClassVar[str] = "bird-mania"
    summary: ClassVar[str] = "steer across lanes of rolling balls (--lanes N --speed M/S): through all, no fall, 60 s"
    controllers: ClassVar[tuple[str, ...]] = ("task",)
    characters: ClassVar[tuple[str, ...]] = ("big-bird",)

    def __post_init__(self) -> None:
        check_number("lanes", self.lanes, 1, 6)
        check_number("speed", self.speed, 0.1, 5.0)
        check_number("until", self.until, 2.0, 3600.0)

    @property
    def end(self) -> float:
        """Where the gate is, m."""
        return FIRST + self.lanes * LANE

    def scene(self, character: Character, seed: int = 0) -> Scene:
        balls = [Ball(f"ball-{i}", RADIUS, MASS) for i in range(self.lanes)]
        gate = [part for i, y in enumerate((-WIDE, WIDE)) for part in lamp_post(f"gate-{i}", self.end, y)]
        return Scene(character, [*balls, *gate], Ground(FRICTION))

    def wants(self) -> Want:
        return Go(heading=0.0, speed=PACES[0])

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        """The start of the walk, disturbed, and balls that roll from either side, in mid-way at the beginning."""
        data = scene.show(begun(scene, "walk", rng))
        rolls = list[tuple[float, Command]]()
        for i in range(self.lanes):
            speed, phase = self.speed * rng.uniform(1 - VARIED, 1 + VARIED), rng.uniform()
            side = float(rng.choice((-1.0, 1.0)))
            found = rolled(f"ball-{i}", FIRST + i * LANE, speed, side, phase, self.until)
            data.joint(f"ball-{i}").qpos[:3] = found[0][1].position  # all balls wait in one place
            rolls += found
        rolls.sort(key=lambda roll: roll[0])
        return Setup(scene.read(data), self.until, rolls, self._steer)

    def _steer(self, history: History) -> Sequence[Command]:
        """What the autopilot wants, twice a second, where that is something else."""
        every = round(LOOK / history.scene.dt)
        if round(history.time / history.scene.dt) % every:
            return ()
        known = [f"ball-{i}" for i in range(self.lanes) if f"ball-{i}.pos" in history.scene.channels]
        rows = [[*history.of(f"{ball}.pos")[-1, :2], *history.of(f"{ball}.vel")[-1, :2]] for ball in known]
        balls = np.reshape(rows, (len(known), 4))
        here = np.concatenate([history.of("com")[-1, :2], history.of("com_velocity")[-1, :2]])
        go = steered(here, balls)
        return () if history.wants[-1][1] == go else [go]

    def passes(self, history: History) -> list[int]:
        """Frames in which lanes, and in the end the gate, were passed, one after the other."""
        places = history.of(f"{history.scene.character.root}.pos")[:, :2]
        found, since = list[int](), 0
        for x in (*(FIRST + i * LANE for i in range(self.lanes)), self.end):
            over = (places[since:-1, 0] < x) & (places[since + 1 :, 0] >= x) & (np.abs(places[since + 1 :, 1]) < WIDE)
            if not over.any():
                break
            since += 1 + int(over.argmax())
            found.append(since)
        return found

    def hits(self, history: History) -> int:
        """How often a ball touched the character; touches within half a second are one."""
        contacts = [there(history, f"ball-{i}.contact") for i in range(self.lanes)]
        return sum(touches(contact[:, 0] > 0, history.scene.dt) for contact in contacts)

    def verdict(self, history: History) -> str:
        passes, hits = self.passes(history), self.hits(history)
        told = f"{min(len(passes), self.lanes)} of {self.lanes} lanes, hit {hits} times"
        if history.falls():
            return f"fell: {told}"
        return f"through in {passes[-1] * history.scene.dt:.1f} s: {told}" if len(passes) > self.lanes else ""

    def success(self, history: History) -> bool:
        """Whether it is through and never fell."""
        return history.lasted(1.0) and history.falls() == 0 and len(self.passes(history)) > self.lanes

    def metrics(self, history: History) -> dict[str, float]:
        """Lanes passed, hits, metres made good inside the field, and s until it was through, or all."""
        passes = self.passes(history)
        place = history.of(f"{history.scene.character.root}.pos")
        inside = place[np.abs(place[:, 1]) < WIDE, 0]
        through = len(passes) > self.lanes
        return {
            "lanes_passed": float(min(len(passes), self.lanes)),
            "hits": float(self.hits(history)),
            "made_good": min(self.end, float(inside.max(initial=0.0))),
            "course_seconds": (passes[-1] if through else history.frames) * history.scene.dt,
        }


def rolled(ball: str, x: float, speed: float, side: float, phase: float, until: float) -> list[tuple[float, Throw]]:
    """(seconds, throw) of a ball that rolls across the field along a lane, and again as soon as it is across.

    Args:
      x: of the lane, m.
      side: 1.0 where it rolls to the left, along y, else -1.0.
      phase: share of the way that it has come at the beginning.
    """
    across = 2 * WIDE / speed  # s
    starts = [0.0, *np.arange((1 - phase) * across, until, across)]
    places = [phase, *[0.0] * (len(starts) - 1)]
    return [
        (float(when), Throw((x, side * WIDE * (2 * place - 1), RADIUS), (0.0, side * ROLLS * speed, 0.0), ball))
        for when, place in zip(starts, places, strict=True)
    ]


def touches(touched: np.ndarray, dt: float) -> int:
    """How often something began to touch, by frames (n,); those within half a second of one before are one."""
    frames = np.flatnonzero(touched)
    return int((np.diff(frames, prepend=-math.inf) * dt > 0.5).sum())


def steered(here: np.ndarray, balls: np.ndarray) -> Go:
    """What the autopilot wants.

    The velocity goes over to a wanted one as v(t) = w + (v - w) exp(-t / LAG); balls roll on.

    Args:
      here: (4,) place and velocity of the bird, x and y, m and m/s.
      balls: (n, 4) of the balls.
    """
    t = np.arange(0.0, AHEAD, 0.1)[:, None]
    options = [(turn, pace) for pace in PACES for turn in TURNS] + [(0.0, 0.0)]
    others = balls[:, None, :2] + t * balls[:, None, 2:]  # (n, times, 2)
    judged = []
    for turn, pace in options:
        wanted = pace * np.array([math.cos(turn), math.sin(turn)])
        way = here[:2] + t * wanted + LAG * (1 - np.exp(-t / LAG)) * (here[2:] - wanted)
        gap = float(np.linalg.norm(others - way, axis=2).min(initial=math.inf))
        gain = wanted[0] - MIDDLE * abs(way[-1, 1])
        inside, free = abs(way[-1, 1]) <= max(INSIDE, abs(here[1])), gap >= CLEAR
        judged.append((inside and free, inside, gain if free else gap))
    turn, pace = options[judged.index(max(judged))]
    return Go(heading=float(turn), speed=pace)
