"""Outside forces on one world: pushes and blasts that go on for a while, and a spring by which somebody drags.

    forces = Forces(scene)
    forces.begin(Push("torso", (400, 0, 0)), sims.view("xipos")[0])
    sims.view("xfrc_applied")[0] = forces.due(sims.state[0], drive)      # of this frame; pushes are counted down

They act on what they are put to alone: a planner sees their effect on the state, and does not foresee how they go on.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from tumble.live.commands import Drag, Explode, Push, Release
from tumble.world.drives import Drive, Servo
from tumble.world.scene import Scene

WHOLE = 1 - 1e-6  # of a frame that is one


@dataclass
class _Force:
    """A push that goes on for some frames; in the last one for a part of it, at that share of its force."""

    body: str
    force: np.ndarray
    frames: float


class Forces:
    """What pushes and drags a world now.

    Attributes:
      scene: of the world.
      drag: the spring, or None.
    """

    def __init__(self, scene: Scene) -> None:
        """Nothing yet."""
        self.scene = scene
        self.drag: Drag | None = None
        self._pushes: list[_Force] = []
        self._placed: mujoco.MjData | None = None  # of who drags

    @property
    def any(self) -> bool:
        """Whether something pushes or drags."""
        return bool(self._pushes) or self.drag is not None

    def begin(self, command: Push | Explode | Drag | Release, centres: np.ndarray) -> None:
        """Have a push, a blast or a drag begin, or a drag end.

        Args:
          centres: (nbody, 3) of the bodies' masses now, m.
        """
        match command:
            case Push():
                self._pushes.append(self._begun(command))
            case Explode():
                self._pushes += self._blast(command, centres)
            case Drag():
                self.drag = command
            case Release():
                self.drag = None

    def stop_pushes(self) -> None:
        """No push goes on; a drag does."""
        self._pushes = []

    def move(self, scene: Scene) -> None:
        """Go on in another scene; what pushes a body that it lacks ends."""
        self.scene, self._placed = scene, None
        bodies = {scene.model.body(i).name for i in range(scene.model.nbody)}
        self._pushes = [push for push in self._pushes if push.body in bodies]
        if self.drag is not None and self.drag.body not in bodies:
            self.drag = None

    def left(self) -> tuple[Push | Drag, ...]:
        """The commands that would have the rest of all this; it goes on rounded as they are."""
        pushes = [Push(one.body, tuple(one.force.tolist()), one.frames * self.scene.dt) for one in self._pushes]
        self._pushes = [self._begun(push) for push in pushes]
        return (*pushes, self.drag) if self.drag is not None else tuple(pushes)

    def due(self, state: np.ndarray, drive: Drive) -> np.ndarray:
        """(nbody, 6): forces and torques at the bodies' centres of mass in this frame; counts pushes down.

        Args:
          state: of the world now.
          drive: that acts.
        """
        total = np.zeros((self.scene.model.nbody, 6))
        for push in self._pushes:
            total[self.scene.body(push.body), :3] += push.force if push.frames > WHOLE else push.frames * push.force
            push.frames -= 1
        self._pushes = [push for push in self._pushes if push.frames > 1 - WHOLE]
        if self.drag is not None:
            total[self.scene.body(self.drag.body)] += self._spring(self.drag, state, drive)
        return total

    def _begun(self, push: Push) -> _Force:
        return _Force(push.body, np.array(push.force), push.seconds / self.scene.dt)

    def _spring(self, drag: Drag, state: np.ndarray, drive: Drive) -> np.ndarray:
        """Force and torque of a drag, at its body's centre of mass.

        It is the spring's force at the end of the step, where the point's speed is v' = v + dt mobility force:
        force = stiffness (reach - dt v') - damping v'. The force at its beginning would shake a hand, which
        is light for a spring that can lift a body. The mobility knows inertia and motors, no contacts.
        """
        model, dt = self.scene.model, self.scene.dt
        body = self.scene.body(drag.body)
        own = model.body_rootid[model.dof_bodyid] == model.body_rootid[body]  # no other joint moves the point
        data = self._place(state)
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ drag.point
        jacobian, inertia = np.zeros((3, model.nv)), np.zeros((model.nv, model.nv))
        mujoco.mj_jac(model, data, jacobian, None, point, body)
        mujoco.mj_fullM(model, data, inertia)
        inertia[np.diag_indices(model.nv)] += dt * model.dof_damping
        if isinstance(drive, Servo):  # whose gains resist as damping does
            inertia[drive.qvel, drive.qvel] += dt * drive.gains
        mobility = jacobian[:, own] @ np.linalg.solve(inertia[np.ix_(own, own)], jacobian[:, own].T)
        mass = model.body_subtreemass[self.scene.root(self.scene.whose(body) or "")]
        stiffness, damping = mass * drag.stiffness, mass * (drag.damping + dt * drag.stiffness)
        force = stiffness * np.subtract(drag.target, point) - damping * (jacobian @ data.qvel)
        force = np.linalg.solve(np.eye(3) + dt * damping * mobility, force)
        return np.concatenate([force, np.cross(point - data.xipos[body], force)])

    def _place(self, state: np.ndarray) -> mujoco.MjData:
        """A state with places and inertia computed, and no more: `Scene.show` takes ten times as long in a crowd."""
        model = self.scene.model
        data = self._placed = self._placed or mujoco.MjData(model)
        mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        return data

    def _blast(self, blast: Explode, centres: np.ndarray) -> list[_Force]:
        """An impulse on every bone of everybody, as a force in one frame."""
        bodies = [i for i in range(self.scene.model.nbody) if self.scene.whose(i) is not None]
        away = centres[bodies] - np.array(blast.at)
        distance = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 0.3)  # no bone gets more than 11-fold
        impulse = self.scene.model.body_mass[bodies, None] * blast.speed * away / distance**3
        names = [self.scene.model.body(body).name for body in bodies]
        return [_Force(name, force, 1) for name, force in zip(names, impulse / self.scene.dt, strict=True)]
