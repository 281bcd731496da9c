"""Performer: a walker that does what a script says, act by act, by setting its wishes (coros2010 section 5.5.4).

    performer = Performer(Walker(scene))
    performer.start(sims)
    performer.set_script(sims, parse("lift crate, then carry it to 3 1"))
    while True:
        sims.act(performer.control(sims))

Which act it is at, and how far, is in the state (`tumble.skills.memory`): copying a row forks the performance; the
script itself is the performer's. Wishes of speed or heading end it, others go along.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tumble.control.controller import Controller
from tumble.skills import memory as own
from tumble.skills.actor import TICK, Actor
from tumble.skills.acts import Act, Go, LetGo, Lift, PickUp, PullCrate, PushCrate, PutDown, SetPace, Turn, Wait
from tumble.skills.approach import go, turn_to
from tumble.skills.check import check_acts, held_in
from tumble.skills.hauling import pull, push
from tumble.skills.holding import let_go, lift, pick_up, put_down
from tumble.skills.script import line_of
from tumble.walking import Walker
from tumble.walking.style import Style
from tumble.world.sims import Sims

USUAL_PACE = 0.6  # m/s


class Performer(Controller):
    """Performs scripts with a walker.

    Attributes:
      walker: who walks.
      script: what it does, or did last.
    """

    scripts = True

    def __init__(self, walker: Walker) -> None:
        self.walker, self.scene = walker, walker.scene
        self.script: tuple[Act, ...] = ()
        self._actors: list[Actor] = []
        self._sims: Sims | None = None

    @property
    def settings(self) -> Any:
        return self.walker.settings

    def start(self, sims: Sims) -> None:
        """Stand as it is; every wish and the script are forgotten."""
        self.walker.start(sims)
        self.script = ()
        sims.view("userdata")[:, own.PACE] = USUAL_PACE

    def _attach(self, sims: Sims) -> None:
        if sims is not self._sims:
            self._sims = sims
            self._actors = [Actor(self.walker, sims, row) for row in range(sims.nsim)]

    def control(self, sims: Sims) -> np.ndarray:
        """Controls (nsim, motors.size); see `Walker.control`."""
        if self.script:
            self._attach(sims)
            memory = sims.view("userdata")
            for actor in self._actors:
                if memory[actor.row, own.TICKS] % TICK == 0 and memory[actor.row, own.ACT] < len(self.script):
                    self._perform(actor, memory[actor.row])
            memory[:, own.TICKS] += 1
        return self.walker.control(sims)

    def _perform(self, actor: Actor, memory: np.ndarray) -> None:
        act = self.script[int(memory[own.ACT])]
        if actor.row == 0:
            self.doing = line_of(act)
        memory[own.CLOCK] += TICK * self.scene.dt
        if SKILLS[type(act)](actor, act):
            memory[own.ACT] += 1
            memory[[own.STAGE, own.CLOCK]] = 0.0
            memory[own.NOTES : own.NOTES + own.NOTE_COUNT] = 0.0
            if memory[own.ACT] == len(self.script):
                actor.wish(speed=0.0)
                self.doing = "" if actor.row == 0 else self.doing

    def done(self, sims: Sims, row: int = 0) -> bool:
        """Whether the script has come to its end."""
        return bool(sims.view("userdata")[row, own.ACT] >= len(self.script))

    @property
    def styles(self) -> list[Style]:
        """See `Walker`."""
        return self.walker.styles

    def restyle(self, style: Style) -> None:
        """See `Walker`."""
        self.walker.restyle(style)

    def check_script(self, sims: Sims, acts: Sequence[Act]) -> None:
        """Refuse what the body cannot do from where it stands now, before it sets out."""
        state = sims.state[0]
        check_acts(self.scene, acts, held_in(self.scene, state), state)

    def set_script(self, sims: Sims, acts: Sequence[Act]) -> None:
        """Do these acts from the next control on, in all rows; what is held stays held."""
        self.script = tuple(acts)
        memory = sims.view("userdata")
        memory[:, [own.ACT, own.STAGE, own.CLOCK, own.TICKS]] = 0.0
        memory[:, own.NOTES : own.NOTES + own.NOTE_COUNT] = 0.0

    def check_wishes(self, wishes: Mapping[str, Any]) -> None:
        self.walker.check_wishes(wishes)

    def set_wishes(self, sims: Sims, wishes: Mapping[str, Any]) -> None:
        """See `Walker.wish`. A speed or a heading ends the script; it straightens up, and holds what it holds."""
        if "speed" in wishes or "heading" in wishes:
            self._interrupt(sims)
        self.walker.set_wishes(sims, wishes)

    def _interrupt(self, sims: Sims) -> None:
        self._attach(sims)
        if not self.script:
            return
        self.script, self.doing = (), ""
        for actor in self._actors:
            actor.rise()

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        self.walker.check_parameters(changes)

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        self.walker.set_parameters(changes)


def _turn(actor: Actor, act: Turn) -> bool:
    return turn_to(actor, act.heading)


def _pace(actor: Actor, act: SetPace) -> bool:
    actor.pace = act.speed
    return True


def _wait(actor: Actor, act: Wait) -> bool:
    actor.wish(speed=0.0)
    return actor.clock >= act.seconds


SKILLS: dict[type[Any], Callable[[Actor, Any], bool]] = {
    Go: go, Turn: _turn, SetPace: _pace, Wait: _wait, PickUp: pick_up, Lift: lift, PutDown: put_down, LetGo: let_go,
    PushCrate: push, PullCrate: pull,
}  # fmt: skip
