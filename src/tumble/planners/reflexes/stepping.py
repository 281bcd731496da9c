"""Stepping: a reflex that walks along a course, or catches a fall with a step. See `stepping_law` for how."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import mujoco
import numpy as np

from tumble.goals import Goal
from tumble.maths.bundles import Address
from tumble.planners.reflexes.reflex import Reflex
from tumble.planners.reflexes.stepping_law import step
from tumble.world.scene import Scene
from tumble.world.sims import Sims

GRAVITY = 9.81  # m/s^2
SLOWEST, FASTEST = 0.8, 1.5  # of the speed that is wanted, asked of a walker
HARDEST = 0.5  # most of beta, see the law


@dataclass(frozen=True)
class SteppingLaw:
    """Numbers of the law, ours; lengths and times in units of the body at hand: see `TwoLegs`."""

    tau: float = 0.925  # of the velocity, where a foot lands; the capture point's is 1
    kappa: float = 0.0581  # of the velocity that is wanted, how much nearer
    wide: float = 0.541  # to the side of the capture point
    least: float = 0.301  # to the side of the pelvis
    due: float = 0.0579  # of the front foot before the centre of mass, below which the other steps
    air: float = 0.024  # of one foot over the other, above which it swings
    low: float = 0.0232  # of the pelvis below its place in the rest pose
    lift: float = 0.867  # of the swinging foot, for the way that it has to go
    highest: float = 0.097
    fastest_foot: float = 3.6  # m/s
    push: float = 1.02  # m/s, most by which the pelvis is told to go faster or slower than it does
    turn: float = 4.24  # 1/s, of the pelvis to the course
    fastest_turn: float = 2.71  # rad/s
    toe: float = 0.627  # of the way to the course, that a swinging foot turns out
    most_toe: float = 0.337  # rad
    look: float = 0.0783  # s, in which all that is to come about
    rho: float = 0.152  # m/rad, how much turns of a foot count
    damping: float = 0.1  # lambda, m


class TwoLegs(NamedTuple):
    """The legs of a body for compiled code.

    Attributes:
      root, feet: bodies; root_rest, feet_rest: their orientations in the rest pose, (4,) and (2, 4).
      joints: hinges from the root to the left foot, then to the right one; columns: of theirs in a control.
      ends: (2,) of each leg's joints in these lists.
      stand: (2,) height of the root above each foot in the rest pose, m.
      spacing: half of the feet's distance from side to side in the rest pose, m.
      length: height of the centre of mass above the ground in the rest pose, m.
      time: sqrt(length / g), s.
    """

    root: int
    feet: np.ndarray
    root_rest: np.ndarray
    feet_rest: np.ndarray
    joints: np.ndarray
    columns: np.ndarray
    ends: np.ndarray
    stand: np.ndarray
    spacing: float
    length: float
    time: float


def legs_of(scene: Scene) -> TwoLegs:
    """The legs of a scene's character, as they are in its rest pose, facing x."""
    model, character = scene.model, scene.character
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, scene.state("rest"), mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_forward(model, data)
    root, feet = scene.body(character.root), np.array([scene.body(foot) for foot in character.feet], np.intp)
    chains = [_chain(model, root, int(foot)) for foot in feet]
    names = list(character.joints)
    joints = [joint for chain in chains for joint in chain if model.joint(joint).name in names]
    own = [sum(model.joint(joint).name in names for joint in chain) for chain in chains]
    places = data.xpos[feet]
    length = float(data.subtree_com[root, 2])
    return TwoLegs(
        root=root,
        feet=feet,
        root_rest=data.xquat[root].copy(),
        feet_rest=data.xquat[feet].copy(),
        joints=np.array(joints, np.intp),
        columns=np.array([names.index(model.joint(joint).name) for joint in joints], np.intp),
        ends=np.cumsum(own).astype(np.intp),
        stand=data.xpos[root, 2] - places[:, 2],
        spacing=float(0.5 * abs(places[0, 1] - places[1, 1])),
        length=length,
        time=math.sqrt(length / GRAVITY),
    )


def _chain(model: mujoco.MjModel, root: int, foot: int) -> list[int]:
    """Joints between the root and a foot, from above."""
    bodies, body = [], foot
    while body not in (root, 0):
        bodies.append(body)
        body = int(model.body_parentid[body])
    return [int(model.body_jntadr[b]) + j for b in reversed(bodies) for j in range(int(model.body_jntnum[b]))]


class Stepping(Reflex):
    """Steps along a goal's course, or where the body falls; the spine and all else go back to the rest pose.

    Each walker is asked for its own share of the speed, and brakes in its own way, so that there is a choice.
    """

    needs: ClassVar[tuple[str, ...]] = ("biped",)
    width: ClassVar[float] = 0.5  # rad/s

    def __init__(self, scene: Scene, law: SteppingLaw = SteppingLaw()) -> None:
        """Find the legs of a scene's character."""
        legs = legs_of(scene)
        self.columns = legs.columns
        self._legs, self._law = Address(legs), Address(law)
        self._views = ("xpos", "xquat", "xanchor", "xaxis", "com", "com_velocity", f"{scene.character.root}.spin")
        most = int(np.diff(legs.ends, prepend=0).max())
        self._work = np.empty((7 + most, most))

    def advise(self, sims: Sims, parents: np.ndarray, goal: Goal, moods: np.ndarray, advice: np.ndarray) -> None:
        """Steps along the goal's course, some faster, some braking harder; without a course, where the body falls."""
        wanted = np.zeros((len(parents), 2))
        if goal.course is not None:
            wanted = goal.course.directions(sims.view("com")[parents])
            wanted *= goal.course.speed * (SLOWEST + (FASTEST - SLOWEST) * moods[:, :1])
        self.steps(sims, parents, wanted, advice, HARDEST * moods[:, 1])

    def steps(
        self, sims: Sims, parents: np.ndarray, wanted: np.ndarray, advice: np.ndarray, brakes: np.ndarray | None = None
    ) -> None:
        """The law itself for wanted velocities (n, 2); `advice` holds the speeds back to the pose, as in `advise`."""
        views = [sims.view(name)[parents] for name in self._views]
        brakes = np.zeros(len(parents)) if brakes is None else brakes
        step(self._legs, self._law, *views, wanted, brakes, advice.copy(), self._work, advice)
