"""A body, a goal and a scenario of one's own, all in one file.

tumble run examples/own_scenario.py --seconds 2
tumble run examples/own_scenario.py shout --loud 0.4 --trials 5
tumble run examples/own_scenario.py push --character long-arms      # and so list, studio, replay, strip
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble import Character, Goal, Meet, Push, Scene, Term, balance, characters, goals, humanoid, scenarios


def long_arms(arms: float = 1.3) -> Character:
    return humanoid(arms=arms, name="long-arms")  # `arms` is a slider in the studio, and in the recipe of a recording


@dataclass(frozen=True)
class HandsLow(Term):
    """How far the hands are below a height, m. A term is a residual in physical units and a tolerance sigma."""

    hands: tuple[str, ...]
    height: float
    sigma: float = 0.1
    name: ClassVar[str] = "hands_low"

    def residual(self, sims) -> np.ndarray:
        return np.stack([np.minimum(0.0, sims.view(f"{hand}.pos")[:, 2] - self.height) for hand in self.hands], axis=1)


def hands_up(scene: Scene) -> Goal:
    body, rest = scene.character, scene.show(scene.state())
    return balance(scene) + Goal(HandsLow(body.hands, rest.body(body.head).xipos[2]), alarmed=4000.0, loose=body.arms)


@dataclass(frozen=True)
class Shout(scenarios.Scenario):
    """Raise both hands, and stay up when a shout pushes the chest. Its fields are its options."""

    characters: ClassVar[tuple[str, ...]] = ("long-arms",)
    loud: float = 0.2  # as a share of the body's weight

    def wants(self) -> Meet:
        return Meet("hands-up")

    def setup(self, scene: Scene, rng: np.random.Generator) -> scenarios.Setup:
        weight = 9.81 * float(scene.model.body_subtreemass[0])
        push = Push(scene.character.trunk, (-self.loud * weight, 0.0, 0.0), seconds=0.2)
        return scenarios.Setup(scene.state(), 4.0, [(rng.uniform(1.0, 2.0), push)])


characters.register("long-arms", long_arms, "a humanoid whose arms are 30 % longer")
goals.register("hands-up", hands_up, "stay up with both hands as high as the head")
scenarios.register("shout", Shout, "raise both hands, and stay up when a shout pushes the chest")
