"""A crowd of dancers that bump into each other: coros2010 section 5.5.4, figure 5.13.

    trial = Trial(CrowdDance(dancers=16), seed=0)
    run_trial(trial).metrics["fallen"]

All dancers are in one world: the first is the scene's character, the others are companions, and one controller moves
all of them. Proportions and headings follow from the seed and a dancer's number, not from how many there are: dancer 3
of a seed has the same body among 4 and among 30.

Contacts between bodies push; bones that overlap by more than 5 cm for longer than a second count as stuck, and two
of sixteen may fall. Traps: no more than 30, which is what a scene takes; no body is chosen, all are drawn.
"""

import colorsys
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import mujoco
import numpy as np

from tumble.characters import Character, biped
from tumble.errors import check_number
from tumble.goals.wants import Go, Want
from tumble.scenarios.history import FALLEN, History
from tumble.scenarios.scenario import Scenario, Setup
from tumble.scenarios.walking import walking_scene
from tumble.world.props import Companion
from tumble.world.scene import Scene
from tumble.world.sims import Sims

APART = 1.35  # m between neighbours at the start
THROUGH = 0.05  # m by which bones of two dancers overlap who go through each other
STUCK = 1.0  # s of that after which they are stuck
LEFT_DOWN = 2  # dancers of sixteen that may fall
# Proportions are drawn from these.
BUILDS = {
    "size": (0.85, 1.12), "legs": (0.8, 1.25), "arms": (0.75, 1.25), "trunk": (0.8, 1.25), "girth": (0.85, 1.2),
    "width": (0.9, 1.15), "head": (0.9, 1.2),
}  # fmt: skip
ASKEW = (0.9, 1.1)  # left over right


@dataclass(frozen=True)
class CrowdDance(Scenario):
    """Dancers of random proportions, each with a dance of its own, close to each other for a minute.

    They begin on a square grid, 1.35 m apart, each facing anywhere. Metrics: `fallen` dancers, `stuck` pairs, the
    `deepest` overlap in m, and `bumps`, how often a pair began to touch.
    """

    dancers: int = 16
    """How many."""
    until: float = 60.0
    """How long, s."""

    name: ClassVar[str] = "crowd"
    summary: ClassVar[str] = "16 dancers (--dancers N) of random proportions, 60 s: at most 2 fall, nobody is stuck"
    controllers: ClassVar[tuple[str, ...]] = ("crowd",)
    characters: ClassVar[tuple[str, ...]] = ("biped",)
    strewn: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number("dancers", self.dancers, 2, 30)
        check_number("until", self.until, 1, 3600)

    def body(self, character: Character, seed: int) -> Character:
        return dancer("dancer_0", np.random.default_rng([seed, 0]))

    def scene(self, character: Character, seed: int = 0) -> Scene:
        companions = []
        for i in range(1, self.dancers):
            rng = np.random.default_rng([seed, i])
            body = dancer(f"dancer_{i}", rng)
            shirt = colorsys.hsv_to_rgb(0.57 + i / self.dancers, 0.55, 0.8)
            companions.append(Companion(body.name, body.recipe, self._place(i), float(rng.uniform(-3.1, 3.1)), shirt))
        return walking_scene(character, companions)

    def _place(self, i: int) -> tuple[float, float]:
        """Where the i-th begins: on a square grid around the origin."""
        side = math.ceil(math.sqrt(self.dancers))
        return APART * (i // side - (side - 1) / 2), APART * (i % side - (side - 1) / 2)

    def wants(self) -> Want:
        return Go()

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        data = scene.show(scene.state())
        heading = rng.uniform(-math.pi, math.pi)
        data.qpos[:2] = self._place(0)
        data.qpos[3:7] = math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2)
        return Setup(scene.read(data), self.until)

    def sights(self, scene: Scene) -> Mapping[str, Callable[[Sims], np.ndarray]]:
        return {"overlap": Overlap(scene)}

    def success(self, history: History) -> bool:
        allowed = LEFT_DOWN * self.dancers // 16
        return history.lasted(1.0) and len(fallen(history)) <= allowed and stuck(history) == 0

    def metrics(self, history: History) -> dict[str, float]:
        overlap = history.seen("overlap")
        touching = overlap > 0
        return {
            "fallen": float(len(fallen(history))),
            "stuck": float(stuck(history)),
            "deepest": float(overlap.max(initial=0.0)),
            "bumps": float(np.count_nonzero(touching[1:] & ~touching[:-1])),
        }


def dancer(name: str, rng: np.random.Generator) -> Character:
    """A body of random size, limbs and build, arms and legs up to 10 % askew.

    Factors of `BUILDS` multiply the biped's own measures. Left over right is drawn from `ASKEW` and shared between the
    sides by its root, so that the mean of both stays.
    """
    legs, arms = rng.uniform(*ASKEW, 2) ** 0.5
    askew = {"left_leg": legs, "right_leg": 1 / legs, "left_arm": arms, "right_arm": 1 / arms}
    proportions = {part: rng.uniform(*span) for part, span in BUILDS.items()} | askew
    return biped(name, **{part: float(value) for part, value in proportions.items()})


class Overlap:
    """How deep the bones of two characters are in each other, m, for all pairs: 0 where they do not touch.

    A sight of the history: it has data of its own, and leaves the world that it looks at as it is. Pairs are in the
    order of `np.triu_indices` over `scene.cast`; what touches the ground or a prop is no pair.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene, self._data = scene, mujoco.MjData(scene.model)
        roots = {scene.root(prefix): i for i, prefix in enumerate(scene.cast)}
        whose = scene.model.body_rootid[scene.model.geom_bodyid]
        self._whose = np.array([roots.get(int(root), -1) for root in whose])
        self._pairs = np.triu_indices(len(roots), 1)

    def __call__(self, sims: Sims) -> np.ndarray:
        """(pairs,) of the first row."""
        model, data = self._scene.model, self._data
        mujoco.mj_setState(model, data, sims.state[0], mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        one, other = np.sort(self._whose[data.contact.geom], axis=1).T
        people = len(self._scene.cast)
        deep = np.zeros((people, people))
        np.maximum.at(deep, (one, other), np.where(one >= 0, -data.contact.dist, 0.0))
        return deep[self._pairs]


def stuck(history: History) -> int:
    """How many pairs of dancers went through each other, by more than 5 cm, for longer than a second on end."""
    through = history.seen("overlap") > THROUGH
    longest, run = np.zeros(through.shape[1]), np.zeros(through.shape[1])
    for now in through:
        run = (run + history.SIGHT) * now
        longest = np.maximum(longest, run)
    return int((longest > STUCK).sum())


def fallen(history: History) -> list[str]:
    """Prefixes of those whose root came below half its height at the start."""
    down = []
    for prefix, character in history.scene.cast.items():
        height = history.of(f"{prefix}{character.root}.pos")[:, 2]
        if len(height) and height.min() < FALLEN * height[0]:
            down.append(prefix)
    return down
