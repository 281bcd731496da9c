"""Session: the live loop. Take commands, choose a control, act, publish a Frame.

    session = Session(scene, Planned(CPBP(scene), balance(scene)), scene.state("rest"))
    session.listeners.append(lambda session, frame: print(frame.time))
    session.send(Push("torso", (400, 0, 0)))
    while session.time < 5:
        session.step()

Studio, recorder and benchmark are listeners of this loop. It runs as fast as it can: whoever wants
real time paces it from outside.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import mujoco
import numpy as np

from tumble.control.controller import Controller
from tumble.live.commands import Command, Do, Drag, Explode, Push, Release, Reset, SetGoal, SetParameter, Throw, Walk
from tumble.world.scene import Scene
from tumble.world.sims import Sims


@dataclass(frozen=True)
class Frame:
    """What happened in one control step. Arrays are copies.

    Attributes:
      index: from 0.
      time: simulated seconds after the step.
      commands: applied before it.
      control: (motors.size,) what was done.
      state: (nstate,) after it.
      broken: whether the live world went unstable.
      control_seconds: wall time that choosing the control took.
    """

    index: int
    time: float
    commands: tuple[Command, ...]
    control: np.ndarray
    state: np.ndarray
    broken: bool
    control_seconds: float


Listener = Callable[["Session", Frame], None]


@dataclass
class _Force:
    """A push that goes on for some frames."""

    body: int
    force: np.ndarray
    frames: int


class Session:
    """One live world under one controller.

    Outside forces act on the live world only: a planner sees their effect on the state, and does not
    foresee how they go on.

    Attributes:
      world: the live `Sims`, one row.
      controller: who chooses.
      listeners: called with (session, frame) after every step.
      start: the state it began in, a copy.
    """

    def __init__(self, scene: Scene, controller: Controller, state: np.ndarray) -> None:
        self.scene, self.controller = scene, controller
        self.world = Sims(scene, nsim=1, nthread=1)
        self.world.load(state)
        self.start = state.copy()
        self.listeners: list[Listener] = []
        self.index = 0
        self._inbox: deque[Command] = deque()
        self._pushes: list[_Force] = []
        self._drag: Drag | None = None
        self._placed = mujoco.MjData(scene.model)
        self._resistance = scene.model.dof_damping.copy()  # (nv,), N m s/rad, of joints and servos to a drag
        self._resistance[scene.motors.qvel] += scene.model.actuator_gainprm[: scene.motors.joints, 0]
        controller.start(self.world)

    @property
    def time(self) -> float:
        """Simulated seconds since the start."""
        return self.index * self.scene.dt

    @property
    def forced(self) -> bool:
        """Whether a push or a drag goes on."""
        return bool(self._pushes) or self._drag is not None

    def send(self, *commands: Command) -> None:
        """Have commands applied before the next step; refuses them now if scene or controller cannot do them.

        Parameters that only make sense together are sent together.
        """
        for command in commands:
            command.check(self.scene)
            if isinstance(command, SetGoal):
                self.controller.check_goal(command.build(self.scene))
            elif isinstance(command, Walk):
                self.controller.check_wishes(command.wishes)
            elif isinstance(command, Do):
                self.controller.check_script(self.world, command.acts(self.scene))
        if any(isinstance(command, SetParameter) for command in commands):
            self.controller.check_parameters(_changes((*self._inbox, *commands)))
        self._inbox += commands

    def step(self) -> Frame:
        """One control step: commands, control, act, publish."""
        commands = tuple(self._inbox.popleft() for _ in range(len(self._inbox)))
        for command in commands:
            self._apply(command)
        if changes := _changes(commands):
            self.controller.set_parameters(changes)
        self.controller.attend(self._pull())
        began = time.perf_counter()
        control = self.controller.control(self.world)
        seconds = time.perf_counter() - began
        forces = self.world.view("xfrc_applied")
        forces[0] = self._outside_forces()
        self.world.act(control)
        forces[0] = 0
        self.index += 1
        frame = Frame(
            index=self.index - 1,
            time=self.time,
            commands=commands,
            control=control[0].copy(),
            state=self.world.state[0].copy(),
            broken=bool(self.world.broken[0]),
            control_seconds=seconds,
        )
        for listener in self.listeners:
            listener(self, frame)
        return frame

    def _apply(self, command: Command) -> None:
        match command:
            case Push():
                frames = max(1, round(command.seconds / self.scene.dt))
                self._pushes.append(_Force(self.scene.body(command.body), np.array(command.force), frames))
            case Explode():
                self._pushes += self._blast(command)
            case Drag():
                self._drag = command
            case Release():
                self._drag = None
            case Throw() | Reset():
                command.apply(self.world)
            case SetGoal():
                self.controller.set_goal(command.build(self.scene))
            case Walk():
                self.controller.set_wishes(self.world, command.wishes)
            case Do():
                self.controller.set_script(self.world, command.acts(self.scene))

    def _pull(self) -> tuple[float, float] | None:
        """Horizontal direction in which somebody drags the character; None where nobody does."""
        if self._drag is None or self._drag.body not in self.scene.bones:
            return None
        body = self.scene.body(self._drag.body)
        place, turn = self.world.view("xpos")[0, body], self.world.view("xmat")[0, body]
        x, y, _ = np.subtract(self._drag.target, place + turn.reshape(3, 3) @ self._drag.point)
        length = math.hypot(x, y)
        return (x / length, y / length) if length > 0.01 else None

    def _outside_forces(self) -> np.ndarray:
        """(nbody, 6): forces and torques at the bodies' centres of mass in this step; counts pushes down."""
        total = np.zeros((self.scene.model.nbody, 6))
        for push in self._pushes:
            total[push.body, :3] += push.force
            push.frames -= 1
        self._pushes = [push for push in self._pushes if push.frames > 0]
        if self._drag is not None:
            total[self.scene.body(self._drag.body)] += self._spring(self._drag)
        return total

    def _spring(self, drag: Drag) -> np.ndarray:
        """Force and torque of a drag, at its body's centre of mass.

        It is the spring's force at the end of the step, where the point's speed is v' = v + dt mobility force:
        force = stiffness (reach - dt v') - damping v'. The force at its beginning would shake a hand, which
        is light for a spring that can lift a body. The mobility knows inertia and motors, no contacts.
        """
        model, dt = self.scene.model, self.scene.dt
        body = self.scene.body(drag.body)
        own = model.body_rootid[model.dof_bodyid] == model.body_rootid[body]  # no other joint moves the point
        data = self._place(self.world.state[0])
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ drag.point
        jacobian, inertia = np.zeros((3, model.nv)), np.zeros((model.nv, model.nv))
        mujoco.mj_jac(model, data, jacobian, None, point, body)
        mujoco.mj_fullM(model, data, inertia)
        inertia[np.diag_indices(model.nv)] += dt * self._resistance
        mobility = jacobian[:, own] @ np.linalg.solve(inertia[np.ix_(own, own)], jacobian[:, own].T)
        mass = model.body_subtreemass[self.scene.root(self.scene.whose(body) or "")]
        stiffness, damping = mass * drag.stiffness, mass * (drag.damping + dt * drag.stiffness)
        force = stiffness * np.subtract(drag.target, point) - damping * (jacobian @ data.qvel)
        force = np.linalg.solve(np.eye(3) + dt * damping * mobility, force)
        return np.concatenate([force, np.cross(point - data.xipos[body], force)])

    def _place(self, state: np.ndarray) -> mujoco.MjData:
        """A state with places and inertia computed, and no more: `Scene.show` takes ten times as long in a crowd."""
        model, data = self.scene.model, self._placed
        mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        return data

    def _blast(self, blast: Explode) -> list[_Force]:
        """An impulse on every bone of everybody, as a force in one frame."""
        centres = self.world.view("xipos")[0]
        bodies = [i for i in range(self.scene.model.nbody) if self.scene.whose(i) is not None]
        away = centres[bodies] - np.array(blast.at)
        distance = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 0.3)  # no bone gets more than 11-fold
        impulse = self.scene.model.body_mass[bodies, None] * blast.speed * away / distance**3
        return [_Force(body, force, 1) for body, force in zip(bodies, impulse / self.scene.dt, strict=True)]


def _changes(commands: Iterable[Command]) -> dict[str, float]:
    """Parameters by name that commands set; the last one counts."""
    return {command.name: command.value for command in commands if isinstance(command, SetParameter)}
