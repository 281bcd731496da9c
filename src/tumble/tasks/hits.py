"""Hits: where who goes by a policy comes to when balls hit it (coros2010 section 4.5.6).

    found = read(met(who, policy, mass=10.0, seed=0))       # a job
    found.states, found.stances, found.fell

The ball comes at any moment of the walk from any side, as in the scenario `very-robust-walk`.
"""

import io
import json
from functools import partial
from typing import NamedTuple

import numpy as np

from tumble.characters import from_recipe
from tumble.tasks.exploring import FRICTION, Who, sims_of, world_of
from tumble.tasks.metric import Metric, Stances, joined
from tumble.tasks.policy import Policy
from tumble.tasks.tasked import Tasked
from tumble.world.props import Ball
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

RADIUS, AWAY = 0.15, 2.5  # m: of a ball, and from where it is thrown; not given; ours
SPEED = 6.0  # m/s of a ball; not given; the plain walk falls by 5, 10, 15 kg in 1, 15, 20 of 20 (thesis: 30, 70, 100 %)
VARIED = 1.2  # s by which a throw is varied: two strides
DISTURBED = 0.1  # m/s and rad/s, standard deviation of all speeds of a start
WALKERS = 20  # of a mass
BEFORE, AFTER = 0.8, 4.0  # s of walking before the throw, and after it
BALL = "ball"


class Met(NamedTuple):
    """States at strikes from half a second before the hit on, n of them, in the order of time.

    Attributes:
      states: (n, nstate) of the body without the ball.
      stances: as the metric sees them.
      fell: how many walkers fell.
    """

    states: np.ndarray
    stances: Stances
    fell: int


def met(who: Who, policy: Policy, mass: float, seed: int) -> bytes:
    """Have walkers go by a policy and throw a ball of so many kg at each; a job. What is met, for `read`."""
    rng = np.random.default_rng((seed, round(1000 * mass)))
    scene = Scene(from_recipe(json.loads(who.recipe)), [Ball(BALL, RADIUS, mass)], Ground(FRICTION))
    controller = Tasked(scene, policies=[policy])
    sims = _begun(controller, policy, rng)
    states, stances, fell = _followed(who, controller, sims, rng)
    file = io.BytesIO()
    np.savez(file, states=states, features=stances.features, feet=stances.feet, angles=stances.angles, fell=fell)
    return file.getvalue()


def read(result: bytes) -> Met:
    """What a job returned."""
    arrays = np.load(io.BytesIO(result), allow_pickle=False)
    stances = Stances(arrays["features"], arrays["feet"], arrays["angles"])
    return Met(arrays["states"], stances, int(arrays["fell"]))


def _begun(controller: Tasked, policy: Policy, rng: np.random.Generator) -> Sims:
    """Walkers in what the first action begins from, disturbed."""
    sims = Sims(controller.scene, WALKERS, nthread=1)
    sims.use(controller.drive)
    sims.load(controller.stepper.opening(policy.actions[0].start))
    speeds, own = sims.view("qvel"), controller.scene.model.joint(BALL).dofadr[0]
    speeds[:, :own] += rng.normal(0.0, DISTURBED, (WALKERS, own))
    sims.load(sims.state.copy())
    controller.start(sims)
    controller.aim(sims, policy)
    return sims


def _followed(
    who: Who, controller: Tasked, sims: Sims, rng: np.random.Generator
) -> tuple[np.ndarray, Stances, int]:  # fmt: skip
    """Go on, throw, go on until seconds afterwards or a fall: states at strikes, how they look, and who fell."""
    walker, metric, dt = controller.stepper.walker, Metric(controller.stepper), sims.scene.dt
    due = np.ceil((BEFORE + rng.uniform(0.0, VARIED, sims.nsim)) / dt)
    angle, strikes = rng.uniform(0.0, 2 * np.pi, sims.nsim), np.full(sims.nsim, -1.0)
    states, stances, going = list[np.ndarray](), list[Stances](), np.arange(sims.nsim)
    for frame in range(round((BEFORE + VARIED + AFTER) / dt)):
        throw(sims, going[due[going] == frame], angle)
        struck = going[walker.steps(sims)[going] > strikes[going]]
        strikes[struck] = walker.steps(sims)[struck]
        struck = struck[frame > due[struck]]
        if struck.size:
            states.append(_alone(who, sims, struck))
            stances.append(metric.states(sims, struck))
        controller.control(sims)
        sims.act(partial(walker.law, rows=going), controller.drive, going)
        going = going[~walker.fallen(sims)[going]]
    return np.concatenate(states), joined(stances), sims.nsim - going.size


def throw(sims: Sims, rows: np.ndarray, angles: np.ndarray) -> None:
    """Throw the ball at the middle of those rows, from angles (nsim,), so that who goes on as now is met."""
    if not rows.size:
        return
    seconds, ball = AWAY / SPEED, sims.scene.model.joint(BALL)
    along = np.column_stack([np.cos(angles[rows]), np.sin(angles[rows])])
    middle, velocity = sims.view("com")[rows], sims.view("com_velocity")[rows]
    place, speed = np.zeros((len(rows), 7)), np.zeros((len(rows), 6))
    place[:, :2] = middle[:, :2] + seconds * velocity[:, :2] - AWAY * along
    place[:, 2], place[:, 3] = middle[:, 2], 1.0
    speed[:, :2], speed[:, 2] = SPEED * along, 0.5 * 9.81 * seconds
    sims.view("qpos")[rows, ball.qposadr[0] : ball.qposadr[0] + 7] = place
    sims.view("qvel")[rows, ball.dofadr[0] : ball.dofadr[0] + 6] = speed


def _alone(who: Who, sims: Sims, rows: np.ndarray) -> np.ndarray:
    """(len(rows), nstate) the same bodies with the same memory where there is no ball."""
    world, alone = world_of(who), sims_of(who, 1)
    model = world.scene.model
    used = sum(world.scene.memory.claims.values())  # the walker claims first, here and there
    alone.load(world.scene.state())
    found = []
    for row in rows:
        alone.view("qpos")[0] = sims.view("qpos")[row, : model.nq]
        alone.view("qvel")[0] = sims.view("qvel")[row, : model.nv]
        alone.view("userdata")[0, :used] = sims.view("userdata")[row, :used]
        found.append(alone.state[0].copy())
    return np.array(found)
