"""Pendulum: one link, or two, that shall stand on end (alborno2016 section 5). The systems that count connections.

    system = Pendulum(PENDULUMS["pendulum"])
    states = system.sample(0.25, 8, rng)          # at rest in pi (1 -+ 0.25)
    system.roll(states, tracks).reached           # who ended in Omega_0

A state is [theta, theta'], or [theta_1, theta_2, theta_1', theta_2']. theta_1 is the angle from hanging down, theta_2
the joint's own, both pi where the links stand on end, one above the other. Angles do not wrap: from 0 one turns one way
to pi, from 2 pi the other. Omega_0 is the ball ||x - x_goal||_2 < `RADIUS`, asked where a track ends.

There is no first controller: x_target is x_goal, T_0 = 0, and the domain of attraction that trees begin with is
Omega_0, that of the root.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import mujoco
import numpy as np

from tumble.attraction.bodies import Bodies, side_by_side
from tumble.attraction.system import Followed, System
from tumble.characters import Character, Joint
from tumble.world.drives import Pd
from tumble.world.scene import Scene

VERSION = 1  # of what rollouts mean
UP = math.pi  # rad, of every joint where it stands
RADIUS = 0.01  # of Omega_0, alborno2016 section 5
SPEEDS = 0.1  # weight of speeds over that of angles, s, alborno2016 section 4.4
EFFORT = 1e-7  # w2 over w1 of eq. 2, kg rad / (N m)^2: hardly any; not given; ours
THIN = 1e-3  # of a link's inertia about its own axis, over that across; nothing turns about it
REFERENCES = (UP - 2 * math.pi, UP + 2 * math.pi)  # rad, bounds; not given; ours


@dataclass(frozen=True)
class Links:
    """What swings.

    Attributes:
      name: how it is called.
      links: how many, alike.
      reach: of the domain of level 1 to either side of standing, rad.
      effort: w2 over w1 of eq. 2, kg rad / (N m)^2.
    """

    name: str
    links: int
    reach: float
    mass: float = 3.10  # kg each, alborno2016 section 5
    strength: float = 200.0  # N m, alborno2016 section 5
    length: float = 0.5  # m; not given; ours
    damping: float = 0.0  # N m s/rad of the joints beside k_d; not given; ours
    effort: float = EFFORT

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, from the pivot on."""
        return tuple(f"theta_{i + 1}" for i in range(self.links))


PENDULUMS: Mapping[str, Links] = {
    links.name: links for links in (Links("pendulum", 1, math.pi), Links("double-pendulum", 2, 0.2))
}


class Pendulum(System):
    """Links that shall stand on end; see `System`.

    Omega_alpha = {[theta, 0]: |theta_j - pi| <= alpha reach}: alpha_k = k / N for N subsets.

    Departures: the paper gives neither the links' length nor where their mass is, neither damping nor how theta_2 is
    measured. Here a link is a thin uniform rod of `Links.length`, the joints have no damping of their own but k_d of
    eq. 1, gravity is 9.81 m/s^2, and theta_2 is the angle of the joint, which PD control drives. The integrator of the
    PD drive damps such stiff springs more than k_d does: a rod of 0.5 m comes to rest at 10.5 / s, not at k_d / 2 I =
    1.9 / s. With k_d alone hundreds of edges do not cover a quarter of the domain. The paper divides the double
    pendulum's domain in subsets without saying how; here they are squares that grow alike. w1 and w2 are not given.
    """

    def __init__(self, links: Links, threads: int = 1) -> None:
        self.links = links
        self.scene = Scene(_character(links), drives=[Pd.name])
        self._bodies = Bodies(self.scene, self.scene.read(mujoco.MjData(self.scene.model)), threads)
        self._drive = self._bodies.drive
        self.joints = links.links
        self.low, self.high = self._drive.low[: self.joints], self._drive.high[: self.joints]
        self.effort = links.effort
        self.recipe = {
            "body": links.name,
            "drive": Pd.name,
            "step": self._drive.timestep,
            "version": VERSION,
            **asdict(links),
        }
        self.goal = np.r_[np.full(self.joints, UP), np.zeros(self.joints)]
        self.target = self.goal
        self._weights = links.mass * np.r_[np.ones(self.joints), np.full(self.joints, SPEEDS)]

    def sample(self, level: float, count: int, rng: np.random.Generator) -> np.ndarray:
        """At rest, uniform in the domain alpha = level."""
        reach = level * self.links.reach
        angles = rng.uniform(UP - reach, UP + reach, (count, self.joints))
        return np.hstack([angles, np.zeros_like(angles)])

    def features(self, states: np.ndarray) -> np.ndarray:
        return states * self._weights

    def angles(self, states: np.ndarray) -> np.ndarray:
        return states[:, : self.joints]

    def between(self, near: np.ndarray, far: np.ndarray, share: float) -> np.ndarray:
        """Angles and speeds in a straight line."""
        return near + share * (far - near)

    def roll(
        self, states: np.ndarray, tracks: Sequence[np.ndarray], trace: int = 0, first: bool = False, hold: bool = True,
        ways: np.ndarray | None = None,
    ) -> Followed:  # fmt: skip
        """See `System.roll`. Nothing acts after a track: who holds is judged where it ended."""
        count = len(states)
        controls, lengths = side_by_side(tracks, 2 * self.joints)
        sims = self._bodies.loaded(self._bodies.rows(states))
        state, force = self._bodies.motion(sims.state), sims.view("actuator_force")
        efforts, ends, steps = np.zeros(count), np.array(state[:count]), 0
        seen = np.zeros((count, trace + 1, 2 * self.joints))
        seen[:, 0] = ends
        reached, misses = np.zeros(count, bool), np.full(count, np.inf)
        for frame in range(len(controls) + 1):
            ended = np.flatnonzero(lengths == frame)
            ends[ended] = state[ended]
            misses[ended] = self.distances(ends[ended], self.goal) + self.effort * efforts[ended]
            reached[ended] = hold & self.arrived(ends[ended])
            alive = np.flatnonzero(lengths > frame)
            if not alive.size or (first and reached.any()):
                break
            sims.act(controls[frame, alive], self._drive, alive)
            steps += len(alive) * self._drive.steps
            efforts[alive] += np.square(force[alive, self._drive.columns]).sum(1)
            if frame < trace:
                seen[:, frame + 1] = state[:count]
        broken = sims.broken[:count]
        misses[broken], reached[broken] = np.inf, False
        return Followed(reached, misses, efforts, ends, seen, steps)

    def arrived(self, states: np.ndarray) -> np.ndarray:
        """(n,): which of states (n, nstate) are in Omega_0."""
        return np.linalg.norm(states - self.goal, axis=1) < RADIUS


def _character(links: Links) -> Character:
    """Links as a character: the first is its root, trunk and head."""
    return Character(
        name=links.name,
        build=lambda: _build(links),
        joints={name: Joint("links", links.strength, 1.0) for name in links.joints},
        root="link_1",
        trunk="link_1",
        head="link_1",
        feet=(),
        hands=(),
        arms=(),
        poses={"rest": dict.fromkeys(links.joints, UP)},
        drives=(Pd.name,),
    )


def _build(links: Links) -> mujoco.MjSpec:
    """Rods on hinges about y, hanging down at theta_1 = 0, theta_2 = pi; nothing touches anything."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    half, across = links.length / 2, links.mass * links.length**2 / 12
    parent, kinds = spec.worldbody, mujoco.mjtSensor
    for i, name in enumerate(links.joints):
        body = parent.add_body(name=f"link_{i + 1}", pos=[0, 0, -links.length if i else 1 + links.links * links.length])
        body.explicitinertial, body.mass = True, links.mass
        body.ipos[:], body.inertia[:] = (0, 0, -half), (across, across, THIN * across)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=[0.02, half, 0], pos=[0, 0, -half], mass=0.0,
            contype=0, conaffinity=0,
        )  # fmt: skip
        joint = body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0], range=REFERENCES)
        joint.limited, joint.ref = mujoco.mjtLimited.mjLIMITED_FALSE, UP if i else 0.0
        joint.damping[0] = links.damping
        parent = body
    found = [1 << mujoco.mjtConDataField.mjCONDATA_FOUND.value, 0, 1]
    here: dict[str, Any] = {"objtype": mujoco.mjtObj.mjOBJ_BODY, "objname": "link_1"}
    spec.add_sensor(name="link_1.pos", type=kinds.mjSENS_FRAMEPOS, **here)
    spec.add_sensor(name="link_1.vel", type=kinds.mjSENS_FRAMELINVEL, **here)
    spec.add_sensor(name="link_1.ground", type=kinds.mjSENS_CONTACT, intprm=found, **here)
    return spec
