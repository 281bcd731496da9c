"""How well a policy does its task: many starts at once, each with a goal of its own.

verdict = judged(task, policy, count=100, seed=1)
verdict.reached.mean(), verdict.seconds
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from tumble.characters import character
from tumble.tasks.exploring import FRICTION
from tumble.tasks.grid import MOVED
from tumble.tasks.metric import Metric, Stances
from tumble.tasks.policy import Policy
from tumble.tasks.task import JudgedStates, Task
from tumble.tasks.tasked import Tasked
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

DISTURBED = 0.1  # m/s and rad/s, standard deviation of all speeds of a start
AFTERWARDS = 2.0  # s that it must stay up after it has reached the goal


@dataclass(frozen=True)
class Verdict:
    """Of n starts.

    Attributes:
      reached: (n,) whether the goal was reached and nobody fell until 2 s later.
      fell: (n,).
      seconds: (n,) until the goal was reached; nan where it was not.
      simulated: s of all starts together.
    """

    reached: np.ndarray
    fell: np.ndarray
    seconds: np.ndarray
    simulated: float


def drawn(task: Task, count: int, rng: np.random.Generator) -> np.ndarray:
    """(count, axes) task states from all over the grid."""
    w = [rng.uniform(min(axis.points), max(axis.points), count) for axis in task.grid]
    return np.column_stack(w) if w else np.zeros((count, 0))


def judged(
    task: Task,
    policy: Policy,
    count: int,
    seed: int,
    longest: float = 30.0,
    goals: np.ndarray | None = None,
    disturbed: float = DISTURBED,
) -> Verdict:
    """Do the task from random starts of its actions, for goals (count, axes), by default random ones.

    A goal is reached at the first strike at which the task rewards state and goal.

    Args:
      disturbed: m/s and rad/s, standard deviation of all speeds of a start.
    """
    rng = np.random.default_rng(seed)
    scene = Scene(character(task.character), ground=Ground(FRICTION))
    controller = Tasked(scene, policies=[policy])
    sims = Sims(scene, count, nthread=1)
    sims.use(controller.drive)
    starts = sorted({action.start for action in policy.actions})
    openings = np.array([controller.stepper.opening(start) for start in starts])
    sims.load(openings[rng.integers(len(starts), size=count)])
    speeds = sims.view("qvel")
    speeds[:] = speeds + disturbed * rng.standard_normal(speeds.shape)
    sims.load(sims.state.copy())
    controller.start(sims)
    w = drawn(task, count, rng) if goals is None else goals
    controller.aim(sims, policy, **_goals(task, w))
    return _followed(task, policy, controller, sims, longest)


def _goals(task: Task, w: np.ndarray) -> dict[str, np.ndarray]:
    """Goals in the world of who starts at the origin along x; a line's y is 0."""
    columns = {axis.name: w[:, i] for i, axis in enumerate(task.grid)}
    words = {"ahead": "x", "left": "y"}
    return {words.get(name, name): values for name, values in columns.items() if name in (*MOVED, "speed")}


def _followed(task: Task, policy: Policy, controller: Tasked, sims: Sims, longest: float) -> Verdict:
    metric, walker = Metric(controller.stepper), controller.stepper.walker
    count, dt = sims.nsim, sims.scene.dt
    reached, fell = np.full(count, np.nan), np.zeros(count, bool)
    strikes, going, simulated = np.full(count, -1.0), np.arange(count), 0.0
    frame = 0
    while going.size and frame * dt < longest:
        controller.control(sims)
        struck = going[walker.steps(sims)[going] > strikes[going]]
        strikes[struck] = walker.steps(sims)[struck]
        fresh = struck[np.isnan(reached[struck])]
        if fresh.size and frame:
            seen, w = metric.states(sims, fresh), controller.task_states(sims)[fresh]
            there = [_rewarded(task, policy, seen.some(slice(i, i + 1)), w[i : i + 1]) for i in range(len(fresh))]
            reached[fresh[np.array(there)]] = frame * dt
        sims.act(partial(walker.law, rows=going), controller.drive, going)
        frame += 1
        simulated += going.size * dt
        fell[going] = walker.fallen(sims)[going]
        done = fell[going] | (frame * dt - reached[going] > AFTERWARDS)
        going = going[~done]
    return Verdict(~np.isnan(reached) & ~fell, fell, reached, simulated)


def _rewarded(task: Task, policy: Policy, state: Stances, w: np.ndarray) -> bool:
    """Whether one state (1) with one task state (1, axes) is worth something."""
    return bool(np.max(task.reward(JudgedStates(state, policy.cycles), w)) > 0)
