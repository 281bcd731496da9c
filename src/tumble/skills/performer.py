"""Performer: a walker that does what a script says, act by act, by setting its wishes (coros2010 section 5.5.4).

    performer = Performer(Walker(scene))
    performer.start(sims)
    performer.want(sims, Do("lift crate, then carry it to 3 1"))
    while True:
        sims.act(performer.control(sims), performer.drive)

Which act it is at, and how far, is in the state (`tumble.skills.memory`): copying a row forks the performance; the
script itself is the performer's. Acts are looked at once a frame. A way to go ends a script, a manner goes along.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tumble.control.controller import Controller, Report
from tumble.errors import UserError
from tumble.goals.wants import Balance, Do, Go, Reach, Single, Want, name_of, part, parts
from tumble.skills import memory as own
from tumble.skills.actor import Actor
from tumble.skills.acts import (
    Act,
    GoTo,
    LetGo,
    Lift,
    PickUp,
    PullCrate,
    PushCrate,
    PutDown,
    ReachFor,
    SetPace,
    Turn,
    Wait,
)
from tumble.skills.approach import go, turn_to
from tumble.skills.check import check_acts, held_in
from tumble.skills.hauling import pull, push
from tumble.skills.holding import let_go, lift, pick_up, put_down, reach_for
from tumble.skills.script import line_of, parse
from tumble.walking import Walker
from tumble.walking.style import Style
from tumble.world.drives import Drive
from tumble.world.scene import Scene
from tumble.world.sims import Law, Sims

USUAL_PACE = 0.6  # m/s


class Performer(Controller):
    """Performs scripts with a walker.

    Attributes:
      walker: who walks.
      script: what it does, or did last.
    """

    takes = (Balance, Reach, Go, Do)

    def __init__(self, walker: Walker) -> None:
        """Perform with a walker; claims room for `SKILLS` in the walker's scene."""
        self.walker = walker
        self.script: tuple[Act, ...] = ()
        self._asked: Single | None = None  # what the script is made of
        self._doing = ""
        self._actors: list[Actor] = []
        self._sims: Sims | None = None
        self.scene.claim(own.MEMORY, own.SKILLS)

    @property
    def scene(self) -> Scene:  # type: ignore[override]
        """The walker's."""
        return self.walker.scene

    @property
    def drive(self) -> Drive:  # type: ignore[override]
        """The walker's."""
        return self.walker.drive

    @property
    def settings(self) -> Any:
        """The walker's."""
        return self.walker.settings

    def start(self, sims: Sims) -> None:
        """Stand as it is; every wish and the script are forgotten."""
        self.walker.start(sims)
        self.script, self._asked, self._doing = (), None, ""
        memory = sims.memory(own.MEMORY)
        memory[:] = 0.0
        memory.pace[:] = USUAL_PACE

    def resume(self, sims: Sims) -> None:
        """Stand as it is, as `start` does, and go on with the act of the script that it was at, from its beginning."""
        act = sims.memory(own.MEMORY).act.copy()
        script, asked = self.script, self._asked
        self.start(sims)
        self.script, self._asked = script, asked
        sims.memory(own.MEMORY).act[:] = act

    def move(self, scene: Scene) -> None:
        """Go on in another scene, with the walker; a script stays as it is."""
        self.walker.move(scene)
        scene.claim(own.MEMORY, own.SKILLS)
        self._sims = None

    def _attach(self, sims: Sims) -> None:
        """Have an actor for every row of some simulations; nothing where they are the same as before."""
        if sims is not self._sims:
            self._sims = sims
            self._actors = [Actor(self.walker, sims, row) for row in range(sims.nsim)]

    def control(self, sims: Sims) -> Law:
        """The walker's law, after a look at how far the script has come."""
        if self.script:
            self._attach(sims)
            memory = sims.memory(own.MEMORY)
            for actor in self._actors:
                if memory.act[actor.row] < len(self.script):
                    self._perform(actor, memory[actor.row])
        return self.walker.control(sims)

    def _perform(self, actor: Actor, memory: np.record) -> None:
        """One frame of the act that a row is at: its record moves on, and goes to the next act where this is done."""
        act = self.script[int(memory.act)]
        if actor.row == 0:
            self._doing = line_of(act)
        memory.clock += self.scene.dt
        if SKILL_OF[type(act)](actor, act):
            own.begin_act(memory, memory.act + 1)
            if memory.act == len(self.script):
                actor.wish(speed=0.0)
                self._doing = "" if actor.row == 0 else self._doing

    def report(self) -> Report:
        """What row 0 is doing, as a line of the script; empty where it is done."""
        return Report(doing=self._doing)

    def done(self, sims: Sims, row: int = 0) -> bool:
        """Whether the script has come to its end."""
        return bool(sims.memory(own.MEMORY).act[row] >= len(self.script))

    @property
    def styles(self) -> list[Style]:
        """See `Walker`."""
        return self.walker.styles

    @property
    def own_styles(self) -> Mapping[str, Style]:
        """See `Walker`."""
        return self.walker.own_styles

    def style_in(self, data: bytes, where: str) -> Style:
        """See `Walker`."""
        return self.walker.style_in(data, where)

    def restyle(self, style: Style) -> None:
        """See `Walker`."""
        self.walker.restyle(style)

    def refuses(self, sims: Sims, want: Want) -> str | None:
        """Also what the body cannot do from where it stands now, before it sets out."""
        scripted, others = _split(want)
        if len(scripted) > 1:
            return f"a walker does not {name_of(want)} at once"
        go = part(want, Go)
        if go is not None and go.target is not None and go.heading is not None:
            return "a walker goes to a place facing as it comes; then it turns by a script: 'go to 2 1; turn to 90'"
        try:
            for one in scripted:
                one.check()
                acts, state = self._acts(one), sims.state[0]
                check_acts(self.scene, acts, held_in(self.scene, state), state)
        except UserError as error:
            return str(error)
        whys = [why for one in others if (why := self.walker.refuses(sims, one)) is not None]
        return whys[0] if whys else None

    def _acts(self, want: Single) -> tuple[Act, ...]:
        """The script that a want asks for."""
        match want:
            case Do():
                return parse(want.script, [prop.name for prop in self.scene.props])
            case Reach():
                return (ReachFor(want.target, want.hand),)
            case Go(target=(x, y, _)):
                return (GoTo((x, y)),)
        raise TypeError(f"{want} asks for no script")

    def want(self, sims: Sims, want: Want) -> None:
        """Do a script from its beginning, unless it is under way; walk as `Walker.want`, which ends a script."""
        scripted, others = _split(want)
        if scripted and scripted[0] is not self._asked:
            self._begin(sims, scripted[0])
        if not scripted:
            self._interrupt(sims)
        for one in others:
            self.walker.want(sims, one)

    def _begin(self, sims: Sims, want: Single) -> None:
        """In all rows; what is held stays held."""
        self.script, self._asked = self._acts(want), want
        own.begin_act(sims.memory(own.MEMORY), 0.0)

    def _interrupt(self, sims: Sims) -> None:
        """End a script: it straightens up, and holds what it holds."""
        self._attach(sims)
        if self.script:
            self.script, self._asked, self._doing = (), None, ""
            for actor in self._actors:
                actor.rise()

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        """As the walker does: its settings are the only ones."""
        self.walker.check_parameters(changes)

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """As the walker does; a script goes on."""
        self.walker.set_parameters(changes)


def _split(want: Want) -> tuple[list[Single], list[Single]]:
    """What is done by a script, and what is walked; of going to a place, the place and the manner."""
    scripted: list[Single] = [one for one in parts(want) if isinstance(one, Do | Reach)]
    others = [one for one in parts(want) if one not in scripted]
    go = part(want, Go)
    if go is not None and go.target is not None:
        scripted.append(go)
        others[others.index(go)] = Go(**{name: value for name, value in go.given.items() if name != "target"})
    return scripted, others


def _turn(actor: Actor, act: Turn) -> bool:
    """Done when it faces that way and stands."""
    return turn_to(actor, act.heading)


def _pace(actor: Actor, act: SetPace) -> bool:
    """Done at once; the pace stays in the row for the acts that follow."""
    actor.pace = act.speed
    return True


def _wait(actor: Actor, act: Wait) -> bool:
    """Stand, from the beginning of the act for so many s, the time to come to a stand included."""
    actor.wish(speed=0.0)
    return actor.clock >= act.seconds


SKILL_OF: dict[type[Any], Callable[[Actor, Any], bool]] = {
    GoTo: go, Turn: _turn, SetPace: _pace, Wait: _wait, PickUp: pick_up, Lift: lift, PutDown: put_down, LetGo: let_go,
    PushCrate: push, PullCrate: pull, ReachFor: reach_for,
}  # fmt: skip
