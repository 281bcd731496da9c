"""A walker that only pretends to do scripts, and a scenario with crates for it: the studio's side of scripts is tested
without the skills themselves.

    python tests/doing.py crates --no-browser     # `tumble studio` with both
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tumble.characters import Character
from tumble.cli import dispatch
from tumble.control.controller import Report
from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.goals.wants import Balance, Do, Go, Want, part, parts
from tumble.registry import Registry
from tumble.scenarios import Scenario, register
from tumble.scenarios.scenario import Setup
from tumble.skills.acts import Act
from tumble.skills.check import check_acts, held_in
from tumble.skills.script import line_of, parse
from tumble.walking import Walker, WalkSettings
from tumble.world.props import Crate
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims


class Doer(Walker):
    """Notes scripts and says that it does their first act, until it is told where to go."""

    takes = (Balance, Go, Do)

    def __init__(self, scene: Scene, settings: WalkSettings = WalkSettings()) -> None:
        super().__init__(scene, settings)
        self.given: list[tuple[Act, ...]] = []
        self._asked: Do | None = None
        self._doing = ""

    def _acts(self, do: Do) -> tuple[Act, ...]:
        return parse(do.script, [prop.name for prop in self.scene.props])

    def refuses(self, sims: Sims, want: Want) -> str | None:
        try:
            for do in parts(want):
                if isinstance(do, Do):
                    check_acts(self.scene, self._acts(do), held_in(self.scene, sims.state[0]), sims.state[0])
        except UserError as error:
            return str(error)
        walked = [one for one in parts(want) if not isinstance(one, Do)]
        return next((why for one in walked if (why := super(Doer, self).refuses(sims, one)) is not None), None)

    def want(self, sims: Sims, want: Want) -> None:
        super().want(sims, want)
        do = part(want, Do)
        if do is not None and do is not self._asked:
            self.given.append(self._acts(do))
            self._doing = line_of(self.given[-1][0])
        elif do is None:
            self._doing = ""
        self._asked = do

    def report(self) -> Report:
        return Report(doing=self._doing)


def doer(scene: Scene, settings: Any, *_: Any) -> Doer:
    """Makes one, as an entry of CONTROLLERS does."""
    return Doer(scene, settings)


def pretend(make: Callable[..., Doer]) -> None:
    """Let the controller 'walker' be made so, from now on."""
    CONTROLLERS.restore({name: entry for name, entry in CONTROLLERS.items() if name != "walker"})
    CONTROLLERS.register("walker", make, "pretends to do scripts", settings=WalkSettings, controller=Doer)


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

    controllers: ClassVar[tuple[str, ...]] = ("walker",)
    characters: ClassVar[tuple[str, ...]] = ("biped",)

    def scene(self, character: Character, seed: int = 0) -> Scene:
        props = [
            Crate("crate", (1.2, 0.6, 0.2), mass=15.0),
            Crate("block", (0.2, -1.4, 0.2), mass=80.0, friction=0.2),
            Crate("cup", (0.6, -0.6, 0.06), (0.06, 0.06, 0.06), 0.5, handles=((0.0, 0.0, 0.0),)),
        ]  # fmt: skip
        return Scene(character, props, Ground(friction=0.8))

    def wants(self) -> Do:
        return Do("go to 0.5 0\nwait 1 s")

    def setup(self, scene: Scene, rng: np.random.Generator) -> Setup:
        return Setup(scene.state("rest"), 10.0)


if __name__ == "__main__":
    register("crates", Crates, "a crate to lift, one to push and a cup")
    pretend(doer)
    sys.exit(dispatch(["studio", *sys.argv[1:]]))
