"""A walker that only pretends to do scripts, and a scenario with crates for it: the studio's side of scripts is tested
without the skills themselves.

    python tests/doing.py crates --no-browser     # `tumble studio` with both
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tumble.characters import Character
from tumble.cli import dispatch
from tumble.controllers import CONTROLLERS
from tumble.live.commands import Do
from tumble.registry import Registry
from tumble.scenarios import Scenario, register
from tumble.scenarios.scenario import Trial
from tumble.skills.acts import Act
from tumble.skills.check import check_acts, held_in
from tumble.skills.script import line_of
from tumble.walking import Walker, WalkSettings
from tumble.world.motors import ForceMotors
from tumble.world.props import Crate
from tumble.world.scene import Physics, Scene
from tumble.world.sims import Sims


class Doer(Walker):
    """Notes scripts and says that it does their first act, until it is told how to walk."""

    scripts = True

    def __init__(self, scene: Scene, settings: WalkSettings = WalkSettings()) -> None:
        super().__init__(scene, settings)
        self.given: list[tuple[Act, ...]] = []

    def check_script(self, sims: Sims, acts: Sequence[Act]) -> None:
        check_acts(self.scene, acts, held_in(self.scene, sims.state[0]), sims.state[0])

    def set_script(self, sims: Sims, acts: Sequence[Act]) -> None:
        self.given.append(tuple(acts))
        self.doing = line_of(acts[0])

    def set_wishes(self, sims: Sims, wishes: Mapping[str, Any]) -> None:
        super().set_wishes(sims, wishes)
        if "speed" in wishes or "heading" in wishes:
            self.doing = ""


def doer(scene: Scene, settings: Any, *_: Any) -> Doer:
    """Makes one, as an entry of CONTROLLERS does."""
    return Doer(scene, settings)


def pretend(make: Callable[..., Doer]) -> None:
    """Let the controller 'walker' be made so, from now on."""
    CONTROLLERS.restore({name: entry for name, entry in CONTROLLERS.items() if name != "walker"})
    CONTROLLERS.register("walker", make, "pretends to do scripts", settings=WalkSettings)


@contextmanager
def kept(registry: Registry) -> Iterator[None]:
    """A registry is afterwards what it was."""
    before = dict(registry)
    try:
        yield
    finally:
        registry.restore(before)


@dataclass(frozen=True)
class Crates(Scenario):
    """A crate to lift, one to push and a cup."""

    controller: ClassVar[str] = "walker"
    character: ClassVar[str] = "biped"

    def scene(self, character: Character, seed: int = 0) -> Scene:
        props = [
            Crate("crate", (1.2, 0.6, 0.2), mass=15.0),
            Crate("block", (0.2, -1.4, 0.2), mass=80.0, friction=0.2),
            Crate("cup", (0.6, -0.6, 0.06), (0.06, 0.06, 0.06), 0.5, handles=((0.0, 0.0, 0.0),)),
        ]  # fmt: skip
        return Scene(character, props, Physics(1 / 500, speculative=False, friction=0.8), ForceMotors)

    def wants(self) -> Do:
        return Do("go to 0.5 0\nwait 1 s")

    def trial(self, scene: Scene, rng: np.random.Generator) -> Trial:
        return Trial(scene.state("rest"), 10.0)


if __name__ == "__main__":
    register("crates", Crates, "a crate to lift, one to push and a cup")
    pretend(doer)
    sys.exit(dispatch(["studio", *sys.argv[1:]]))
