"""Session: the live loop. Take commands, choose a control, act, publish a Frame.

    session = Session(scene, Planned(CPBP(scene)), scene.state("rest"), Balance())
    session.listeners.append(lambda session, frame: print(frame.time))
    session.send(Push("torso", (400, 0, 0)))
    while session.time < 5:
        session.step()

Studio, recorder and benchmark are listeners of this loop. It runs as fast as it can: whoever wants
real time paces it from outside. Headless and live are the same loop.
"""

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

import numpy as np

from tumble.control.controller import Controller, Styled
from tumble.controllers import refusal
from tumble.errors import UserError
from tumble.goals.wants import WANTS, Want, kept
from tumble.live.carving import carves_in, ground_after
from tumble.live.commands import Carve, Command, Drag, Explode, Push, Release, Reset, Restyle, SetParameter, Throw
from tumble.live.forces import Forces
from tumble.live.timed import TimedLaw
from tumble.live.waiting import all_wanted, parameters_in, without_idle
from tumble.toml import toml_of
from tumble.world.scene import Scene
from tumble.world.sims import Sims


@dataclass(frozen=True)
class Frame:
    """What happened in one frame of 1/30 s. Arrays are copies.

    Attributes:
      index: counts from 0.
      time: simulated seconds at its end.
      commands: applied before it.
      control: that was held, or the mean over the steps of a law.
      law: whether it was a law.
      drive: name of the drive that acted.
      acting: who of several controllers acted; '' where there is one.
      state: after it.
      broken: the simulation went unstable, so that the state is the default pose.
      control_seconds: wall time of all control in it: that of a law, asked before every step, included.
    """

    index: int
    time: float
    commands: tuple[Command, ...]
    control: np.ndarray
    law: bool
    drive: str
    acting: str
    state: np.ndarray
    broken: bool
    control_seconds: float


Listener = Callable[["Session", Frame], None]


@dataclass(frozen=True)
class Entered:
    """Where a session goes on from: its beginning, another scene or another time; enough to do the same again.

    Attributes:
      index: of the next frame.
      state: with the memory of controllers; a copy.
      want: all that is wanted.
      forces: pushes and a drag that go on, with what is left of them.
      settings: the controller's, by name.
      styles: that were edited, as texts; see `Restyle`.
    """

    index: int
    state: np.ndarray
    want: Want | None
    forces: tuple[Push | Drag, ...]
    settings: dict[str, Any]
    styles: tuple[str, ...]


class Session:
    """One live world under one controller.

    Outside forces (`tumble.live.forces`) act on the live world only.

    Attributes:
      scene, world: where it happens; the world is a `Sims` of one row. `enter` changes both.
      controller: who chooses.
      wanted: all that is wanted by now; None where nobody has said anything.
      listeners: called with (session, frame) after every step.
      index: of the next frame.
      waiting: commands that are applied before the next frame, without those that later ones make idle: of drags the
        last one counts, of wants what they come to.
      entered: where the present scene was entered, or time turned back to.
    """

    def __init__(self, scene: Scene, controller: Controller, state: np.ndarray, want: Want | None = None) -> None:
        self.controller = controller
        self.wanted: Want | None = None
        self.listeners: list[Listener] = []
        self.waiting: tuple[Command, ...] = ()
        self._forces = Forces(scene)
        self._build(scene, state, 0)
        controller.start(self.world)
        if want is not None:
            self._check(want, None)
            self._want(want)
        self.mark()

    def _build(self, scene: Scene, state: np.ndarray, index: int) -> None:
        self.scene, self.index = scene, index
        self.world = Sims(scene, nsim=1, nthread=1)
        self.world.use(self.controller.drive)
        self.world.load(state)
        self._forces.move(scene)

    def mark(self) -> None:
        """Note where it goes on from now, as a recording that begins here needs it."""
        settings = self.controller.settings
        known = asdict(settings) if is_dataclass(settings) and not isinstance(settings, type) else {}
        styles = [toml_of(style) for style in edited_styles(self.controller)]
        state, forces = self.world.state[0].copy(), self._forces.left()
        self.entered = Entered(self.index, state, self.wanted, forces, known, tuple(styles))

    def enter(self, scene: Scene, state: np.ndarray | None = None) -> None:
        """Go on in another scene of the same cast: with a prop more, another mass, other proportions.

        Plan, memory, learning, pushes and what is wanted go on. The state is carried over where none is given.
        """
        if state is None:
            state = scene.carried(self.world.state[0], self.scene)
        self.controller.move(scene)
        self._build(scene, state, self.index)
        self._go_on()

    def rewind(self, scene: Scene, state: np.ndarray, index: int, then: Want | None = None) -> None:
        """Go on from a moment of the past, with what is wanted now; the controller begins anew, with that memory.

        Args:
          then: all that was wanted at that moment: a script that is wanted still goes on where it was.
        """
        if scene is not self.scene:
            self.controller.move(scene)
        self._forces.stop_pushes()
        self._build(scene, state, index)
        self.controller.start(self.world)
        if then is not None:
            self.controller.want(self.world, then)
        self.world.load(state)  # with the memory, which a start clears
        self._go_on()

    def _go_on(self) -> None:
        """Want here what is wanted; of what waits, what this scene cannot do is forgotten."""
        if self.wanted is not None:
            self.controller.want(self.world, self.wanted)
        waiting, self.waiting = self.waiting, ()
        for command in waiting:
            with contextlib.suppress(UserError):
                self.send(command)
        self.mark()

    def want_again(self, want: Want) -> None:
        """Want exactly this from now on, whatever was wanted since: what it does not speak of, too, is as it was then.

        Nothing else that is asked for waits any more. A recording begins a part here, which says it.
        """
        want.check()
        if why := refusal(self.controller, self.world, want):
            raise UserError(why)
        self.waiting = tuple(command for command in self.waiting if not isinstance(command, WANTS))
        self.wanted = want
        self.controller.want(self.world, want)
        self.mark()

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return self.index * self.scene.dt

    @property
    def forced(self) -> bool:
        """Whether a push or a drag goes on."""
        return self._forces.any

    def send(self, *commands: Command) -> None:
        """Have commands applied before the next step; refuses them now if scene or controller cannot do them.

        Parameters that only make sense together are sent together.
        """
        wanted = self.asked
        for command in commands:
            if isinstance(command, Restyle):
                read_style(self.controller, command)
            elif isinstance(command, Push | Drag | Release | Explode | Throw | Reset | SetParameter):
                command.check(self.scene)
            elif not isinstance(command, Carve):
                wanted = self._check(command, wanted)
        if carves_in(commands):
            ground_after(self.controller, self.world, carves_in((*self.waiting, *commands)))
        if any(isinstance(command, SetParameter) for command in commands):
            self.controller.check_parameters(parameters_in((*self.waiting, *commands)))
        self.waiting = without_idle((*self.waiting, *commands), self.wanted)

    @property
    def asked(self) -> Want | None:
        """All that will be wanted in the next frame."""
        return all_wanted(self.wanted, self.waiting)

    @property
    def drag(self) -> Drag | None:
        """What will be dragged in the next frame."""
        drags = [command for command in self.waiting if isinstance(command, Drag | Release)]
        last = drags[-1] if drags else self._forces.drag
        return last if isinstance(last, Drag) else None

    def _check(self, want: Want, wanted: Want | None) -> Want:
        """All that is wanted after one more want; refuses what the controller does."""
        want.check()
        wanted = kept(wanted, want)
        why = refusal(self.controller, self.world, wanted)
        if why is not None:
            raise UserError(why)
        return wanted

    def step(self) -> Frame:
        """One frame: commands, control, act, publish."""
        carves, commands = self._carve(), self.waiting
        try:
            for command in commands:
                self._apply(command)
            if changes := parameters_in(commands):
                self.controller.set_parameters(changes)
        finally:
            self.waiting = self.waiting[len(commands) :]  # only now: others look at them from other threads meanwhile
        self.controller.attend(self._pull())
        began = time.perf_counter()
        control = self.controller.control(self.world)
        seconds = time.perf_counter() - began
        drive = self.controller.drive
        law = TimedLaw(control) if callable(control) else None
        forces = self.world.view("xfrc_applied")
        forces[0] = self._forces.due(self.world.state[0], drive)
        self.world.act(law or control, drive)
        forces[0] = 0
        self.index += 1
        frame = Frame(
            index=self.index - 1,
            time=self.time,
            commands=(*carves, *commands),
            control=law.mean[0] if law else np.array(control)[0],
            law=law is not None,
            drive=drive.name,
            acting=self.controller.report().acting,
            state=self.world.state[0].copy(),
            broken=bool(self.world.broken[0]),
            control_seconds=seconds + (law.seconds if law else 0.0),
        )
        for listener in self.listeners:
            listener(self, frame)
        return frame

    def _carve(self) -> tuple[Carve, ...]:
        """Enter the ground that people want, before all else that waits; the commands that did it."""
        if carves := carves_in(self.waiting):
            self.waiting = tuple(command for command in self.waiting if not isinstance(command, Carve))
            props, ground = ground_after(self.controller, self.world, carves)
            self.enter(Scene(self.scene.character, props, ground, list(self.scene.drives)))
        return carves

    def _apply(self, command: Command) -> None:
        match command:
            case Push() | Explode() | Drag() | Release():
                self._forces.begin(command, self.world.view("xipos")[0])
            case Throw() | Reset():
                command.apply(self.world)
            case Restyle():
                restyled(self.controller, command)
            case SetParameter() | Carve():
                pass  # all at once, after the others; before them
            case _:
                self._want(command)

    def _want(self, want: Want) -> None:
        self.wanted = wanted = kept(self.wanted, want)
        self.controller.want(self.world, wanted)

    def _pull(self) -> tuple[float, float] | None:
        """Horizontal direction in which somebody drags the character; None where nobody does."""
        drag = self._forces.drag
        if drag is None or drag.body not in self.scene.bones:
            return None
        body = self.scene.body(drag.body)
        place, turn = self.world.view("xpos")[0, body], self.world.view("xmat")[0, body]
        x, y, _ = np.subtract(drag.target, place + turn.reshape(3, 3) @ drag.point)
        length = math.hypot(x, y)
        return (x / length, y / length) if length > 0.01 else None


def styles_of(controller: Controller) -> list[Any]:
    """Styles that can be changed, of a walker or gaits; none where nobody goes so."""
    return list(controller.styles) if isinstance(controller, Styled) else []


def edited_styles(controller: Controller) -> list[Any]:
    """Those of them that are not as the controller came with them."""
    own = controller.own_styles if isinstance(controller, Styled) else {}
    return [style for style in styles_of(controller) if style != own.get(style.name)]


def read_style(controller: Controller, command: Restyle) -> Any:
    """The style of a command; refuses what the controller could not go in."""
    if not isinstance(controller, Styled):
        raise UserError("nobody here walks in a style; choose the controller 'walker' or 'simbicon'")
    return controller.style_in(command.data, "restyle")


def restyled(controller: Controller, command: Restyle) -> None:
    """Have a controller go in a style from now on."""
    style = read_style(controller, command)
    controller.restyle(style)  # type: ignore[attr-defined]  # who reads one is Styled
