"""The toy of hamalainen2015 figure 2: a point that flies ahead at constant speed and steers up and down.

    from tumble import CPBP
    from tumble.scenarios import toy
    scene = toy.scene()
    plan = CPBP(scene, toy.settings()).plan(toy.start(scene), toy.goal())
    plan.path[:, [0, 2]]  # ahead and up, m

There is no gravity and nothing collides: obstacles are in the cost alone. Height and vertical speed
are the state, vertical acceleration is the control, so dynamics are linear and known:
rise' = rise + a dt, height' = height + rise' dt.

The paper gives no numbers for it; all of them are ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import mujoco
import numpy as np

from tumble.characters import Character, Joint
from tumble.goals import Goal, Term
from tumble.planners.cpbp.settings import CPBPSettings, Scales
from tumble.world.scene import Scene
from tumble.world.sims import Rows

SPEED = 2.0  # m/s, ahead
STRENGTH = 30.0  # N on 1 kg: the largest acceleration, m/s^2
ACTIVITY = 0.15  # of it, by habit: 4.5 m/s^2
OBSTACLES = ((0.95, 0.12, 0.33), (1.95, -0.42, 0.38), (2.0, 0.62, 0.36))  # discs: ahead, up, radius, m


def point() -> Character:
    """A point mass of 1 kg, called as one character: it is its own root, trunk and head."""
    return Character(
        name="point",
        build=_build,
        joints={"lift": Joint("point", STRENGTH, ACTIVITY)},
        root="point",
        trunk="point",
        head="point",
        feet=(),
        hands=(),
        arms=(),
        poses={"rest": {}},
    )


def _build() -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.option.gravity[:] = 0.0
    body = spec.worldbody.add_body(name="point")
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.03, 0, 0], mass=1.0, contype=0, conaffinity=0)
    for name, axis in (("ahead", [1, 0, 0]), ("lift", [0, 0, 1])):
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    kinds = mujoco.mjtSensor
    here: dict[str, Any] = {"objtype": mujoco.mjtObj.mjOBJ_BODY, "objname": "point"}
    found = [1 << mujoco.mjtConDataField.mjCONDATA_FOUND.value, 0, 1]
    spec.add_sensor(name="point.pos", type=kinds.mjSENS_FRAMEPOS, **here)
    spec.add_sensor(name="point.vel", type=kinds.mjSENS_FRAMELINVEL, **here)
    spec.add_sensor(name="point.ground", type=kinds.mjSENS_CONTACT, intprm=found, **here)
    return spec


def scene() -> Scene:
    """The point in empty space, steered every frame."""
    return Scene(point(), drives=["force"])


def start(scene: Scene, height: float = 0.0, rise: float = 0.0) -> np.ndarray:
    """The state at the left edge, at a height in m, rising at m/s."""
    data = mujoco.MjData(scene.model)
    data.qpos[:] = 0.0, height
    data.qvel[:] = SPEED, rise
    return scene.read(data)


@dataclass(frozen=True)
class Clear(Term):
    """How deep the point is in each of some discs (ahead, up, radius), m."""

    discs: tuple[tuple[float, float, float], ...]
    sigma: float = 0.02
    name: ClassVar[str] = "clear"

    def residual(self, sims: Rows) -> np.ndarray:
        return depths(sims.view("point.pos"), np.array(self.discs, float).reshape(-1, 3))


def depths(place: np.ndarray, discs: np.ndarray) -> np.ndarray:
    """(n, discs): how deep points (n, 3) are in discs (ahead, up, radius), m, 0 outside."""
    ahead, up, radius = discs.T
    return np.maximum(0.0, radius - np.hypot(place[:, :1] - ahead, place[:, 2:] - up))


@dataclass(frozen=True)
class Target(Term):
    """Vertical distance from a target that sways up and down in time, m."""

    height: float
    sway: float = 0.0  # m
    period: float = 2.0  # s
    sigma: float = 0.5
    name: ClassVar[str] = "target"

    def residual(self, sims: Rows) -> np.ndarray:
        time = sims.view("time").reshape(-1)
        return sims.view("point.pos")[:, 2] - self.height - self.sway * np.sin(2 * np.pi / self.period * time)


def goal(height: float = 0.0, obstacles: Sequence[tuple[float, float, float]] = OBSTACLES, sway: float = 0.0) -> Goal:
    """Fly clear of the obstacles near the target's height, which may sway by some m."""
    return Goal(Clear(tuple(obstacles)), Target(height, sway))


def settings(
    samples: int = 32, *, noise: bool = True, refine: bool = True, mutation: float = 0.25, horizon: float = 1.5
) -> CPBPSettings:
    """C-PBP for the toy: only accelerations cost, whatever the effort.

    Args:
      samples: N.
      noise: Q != 0.
      refine: local refinement.
      mutation: sigma_m; 0.25 in the authors' code, where sigma_0 is 1 as it is here.
      horizon: s.
    """
    scales = Scales(speed=1.0, change=1e3, bend=1e3, pose=1.0, mutation=mutation, limit=1.0, control_weight=1.0)
    place, speed = (0.05, 0.5) if noise else (0.0, 0.0)
    # mutations as in the paper, whose figures are made with this
    return CPBPSettings(
        samples, horizon, follow=False, spread=1.0, refine=refine, transition_place=place, transition_speed=speed,
        calm=scales, tense=scales,
    )  # fmt: skip
