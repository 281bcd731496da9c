"""Relay: a Controller of controllers. A walker walks; who is about to fall is got up by a planner, and walks on.

    relay = Relay(Performer(Walker(scene)), Planned(CPBP(scene)))
    session = Session(scene, relay, scene.state("rest"), Go(speed=0.8, heading=0.0))
    session.send(Push("torso", (1000, 0, 0), seconds=0.15))

Both act on the same state row through their own drives: handing over is choosing another drive.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tumble.control.controller import Controller, Report
from tumble.errors import check_number
from tumble.goals.wants import Balance, Want
from tumble.settings import replaced
from tumble.skills.performer import Performer
from tumble.walking.memory import MEMORY as WALKER
from tumble.walking.style import Style
from tumble.world.drives import Drive
from tumble.world.scene import Scene
from tumble.world.sims import Control, Sims

MEMORY = "relay"  # how its claim is called
RECORD = np.dtype(
    [
        ("rising", "f8"),  # 1 while the planner acts
        ("seconds", "f8"),  # since the last handover
        ("settled", "f8"),  # s that it has been up and calm
    ]
)
WALKING, RISING = "walking", "rising"  # who acts, as reports tell it


@dataclass(frozen=True)
class RelaySettings:
    """When a relay hands over. All is ours."""

    rising: Literal["cpbp", "smc", "tree"] = "cpbp"  # who gets it up; trees are for bodies that have one
    tilt: float = 0.35  # rad of the trunk from the vertical above which a fall is looked for
    speed: float = 0.6  # m/s of the centre of mass above what the walker means to, where it is looked for too
    foresight: float = 0.7  # s of walking on that are looked at then
    every: int = 3  # frames from one look to the next
    down: float = 0.6  # of the root's standing height below which it is down
    bent: float = 0.1  # rad that the walker bends knees or trunk, above which it means to be low
    tall: float = 0.85  # of it, above which it is up
    upright: float = 0.44  # rad of the trunk from the vertical within which it is up
    calm: float = 0.5  # m/s of the centre of mass below which it is calm
    settle: float = 0.3  # s that it must be up and calm before it walks

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "rising":
                check_number(name, value, 0, 100)


class Judge:
    """Sees whether a body is up or down, and whether it will be down soon if it walks on."""

    def __init__(self, scene: Scene, settings: RelaySettings) -> None:
        self.settings, self._scene = settings, scene
        character = scene.character
        self._height, self._up = f"{character.root}.pos", f"{character.trunk}.up"
        self._standing = float(scene.show(scene.state("rest")).body(character.root).xipos[2])
        feet = (*character.feet, *character.toes)
        self._others = np.array([bone not in feet for bone in scene.bones])
        self._ahead: Sims | None = None

    def height(self, sims: Sims) -> float:
        """Of the root over its standing height."""
        return float(sims.view(self._height)[0, 2]) / self._standing

    def tilt(self, sims: Sims) -> float:
        """rad of the trunk from the vertical."""
        return float(np.arccos(np.clip(sims.view(self._up)[0, 2], -1.0, 1.0)))

    def touches(self, sims: Sims) -> bool:
        """Whether anything but feet is on the ground."""
        return bool((sims.view("grounded")[0, self._others] > 0).any())

    def down(self, sims: Sims) -> bool:
        """Whether it has fallen: something else than feet is on the ground, or it is low without meaning to be."""
        meant = sims.memory(WALKER)[0]
        bent = meant.crouch > self.settings.bent or meant.bend > self.settings.bent
        return self.touches(sims) or (self.height(sims) < self.settings.down and not bent)

    def calm(self, sims: Sims) -> bool:
        """Whether it is up on its feet and hardly moves."""
        settings = self.settings
        speed = float(np.linalg.norm(sims.view("com_velocity")[0]))
        fine = self.height(sims) >= settings.tall and self.tilt(sims) < settings.upright and speed < settings.calm
        return fine and not self.touches(sims)

    def suspects(self, sims: Sims) -> bool:
        """Whether a fall is worth looking for: it leans, is low, or goes much faster than its walker means to."""
        settings, meant = self.settings, abs(float(sims.memory(WALKER).speed[0]))
        fast = float(np.linalg.norm(sims.view("com_velocity")[0, :2])) > meant + settings.speed
        return fast or self.tilt(sims) > settings.tilt or self.height(sims) < settings.tall

    def falls(self, sims: Sims, walking: Performer, seconds: float) -> bool:
        """Whether the body will be down within some seconds if it walks on: a copy of it does so."""
        if self._ahead is None:
            self._ahead = Sims(self._scene, nsim=1, nthread=1)
        ahead = self._ahead
        ahead.use(walking.drive)
        ahead.load(sims.state)
        for _ in range(round(seconds / self._scene.dt)):
            ahead.act(walking.walker.law, walking.drive)
            if ahead.broken[0] or self.down(ahead):
                return True
        return False


class Relay(Controller):
    """One want, kept; a walker follows it, and a planner gets the body up whenever the judge foresees that it falls.

    The planner takes over before the body is down, so that it can break the fall. The walker takes over again where
    the body has been up and calm for a moment, and a copy of it that walks on does not fall.

    Attributes:
      walking, rising: who acts in turn.
      judge: who decides.
    """

    takes = Performer.takes

    def __init__(self, walking: Performer, rising: Controller, settings: RelaySettings = RelaySettings()) -> None:
        self.walking, self.rising, self.settings = walking, rising, settings
        self._wanted: Want | None = None
        self._acting: Controller = walking
        self.move(walking.scene)

    def move(self, scene: Scene) -> None:
        if scene is not self.walking.scene:
            self.walking.move(scene)
            self.rising.move(scene)
        scene.claim(MEMORY, RECORD)
        self.scene, self.judge = scene, Judge(scene, self.settings)

    @property
    def drive(self) -> Drive:  # type: ignore[override]
        """Of who acts."""
        return self._acting.drive

    def start(self, sims: Sims) -> None:
        """The walker begins, if the body is up; else the planner does."""
        self.walking.start(sims)
        self.rising.start(sims)
        sims.memory(MEMORY)[0] = (1.0 if self.judge.down(sims) else 0.0, 0.0, 0.0)
        self._follow(sims)

    def _follow(self, sims: Sims) -> None:
        """Have who acts be who the memory says, with sensors and contacts as its drive has them."""
        acting = self.rising if sims.memory(MEMORY).rising[0] else self.walking
        if acting is not self._acting:
            self._acting = acting
            sims.refresh(acting.drive)

    def refuses(self, sims: Sims, want: Want) -> str | None:
        return self.walking.refuses(sims, want)

    def want(self, sims: Sims, want: Want) -> None:
        """Kept for when it walks, if it does not."""
        self._wanted = want
        self._follow(sims)
        if self._acting is self.walking:
            self.walking.want(sims, want)

    def control(self, sims: Sims) -> Control:
        self._follow(sims)
        memory, settings = sims.memory(MEMORY)[0], self.settings
        memory.seconds += self.scene.dt
        frame = round(memory.seconds / self.scene.dt)
        if self._acting is self.walking:
            if self.judge.down(sims) or (
                frame % settings.every == 0
                and self.judge.suspects(sims)
                and self.judge.falls(sims, self.walking, settings.foresight)
            ):
                self._hand_over(sims, 1.0)
        else:
            memory.settled = memory.settled + self.scene.dt if self.judge.calm(sims) else 0.0
            if memory.settled >= settings.settle and frame % settings.every == 0:
                self._try_walking(sims)
        return self._acting.control(sims)

    def _try_walking(self, sims: Sims) -> None:
        """Have the walker stand there; it stays if it would not fall."""
        before = sims.state.copy()
        self.walking.resume(sims)
        if self.judge.falls(sims, self.walking, self.settings.foresight):
            sims.state[:] = before
            return
        self._hand_over(sims, 0.0)

    def _hand_over(self, sims: Sims, rising: float) -> None:
        sims.memory(MEMORY)[0] = (rising, 0.0, 0.0)
        self._follow(sims)
        if rising:
            self.rising.start(sims)
            self.rising.want(sims, Balance())
        elif self._wanted is not None:
            self.walking.want(sims, self._wanted)

    def attend(self, direction: tuple[float, float] | None) -> None:
        self._acting.attend(direction)

    def report(self) -> Report:
        inner = self._acting.report()
        if self._acting is self.walking:
            return Report(WALKING, inner.doing)
        return Report(RISING, "getting up", inner.plan, inner.names)

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        replaced(self.settings, changes)

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name; who gets it up stays."""
        self.settings = replaced(self.settings, changes)
        self.judge = Judge(self.scene, self.settings)

    def close(self) -> None:
        self.rising.close()

    @property
    def styles(self) -> list[Style]:
        """See `Walker`."""
        return self.walking.styles

    @property
    def own_styles(self) -> Mapping[str, Style]:
        """See `Walker`."""
        return self.walking.own_styles

    def style_in(self, data: bytes, where: str) -> Style:
        """See `Walker`."""
        return self.walking.style_in(data, where)

    def restyle(self, style: Style) -> None:
        """See `Walker`."""
        self.walking.restyle(style)
