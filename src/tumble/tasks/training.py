"""Training: explore, judge, iterate, and keep the policy.

with JobStore(path, exploration.about) as store, workers(jobs=2) as pool:
    policy = train(task, store, pool, command="tumble task train heading")
"""

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from tumble.offline.store import JobStore, complete
from tumble.tasks.exploring import Exploration, Explored, Scout
from tumble.tasks.grid import points
from tumble.tasks.hits import met, read
from tumble.tasks.iterating import Iterated, Model, iterate
from tumble.tasks.metric import Stances, joined
from tumble.tasks.policy import Policy, header_for
from tumble.tasks.safety import safe
from tumble.tasks.task import Task, rewards_of


@dataclass(frozen=True)
class Told:
    """Whom training tells how far it is: after every round of exploration, and after every iteration."""

    explored: Callable[[Explored], None] = lambda progress: None
    iterated: Callable[[int, float], None] = lambda number, change: None


def train(
    task: Task, exploration: Exploration, store: JobStore, pool: Executor, command: str, told: Told = Told()
) -> Policy:
    """Train a task; what is in the store is not simulated again.

    A reward that is NaN, of a wrong shape or nowhere above 0 is refused as soon as there are trusted states to judge by
    it, before anything is explored from them.
    """
    exploration.begin()
    rewards_of(task, exploration.seen_first)
    scout = scout_for(task, store, pool) if task.balls else None
    for progress in exploration.run(store, pool, scout):
        told.explored(progress)
    found = solve(task, exploration, told)
    viable = np.bincount(exploration.steps.state, minlength=len(exploration.states))
    figures = {
        "states": len(exploration.states), "trusted": len(exploration.trusted), "found": progress.states,
        "steps": len(exploration.steps.state), "viable": float(viable.mean()), "iterations": len(found.changes),
        "value": float(found.value.mean()),
    }  # fmt: skip
    best = preferred(task, exploration) if task.prefers else found.best
    return Policy(header_for(task, exploration.cycles, command, figures), exploration.states, best)


def preferred(task: Task, exploration: Exploration) -> np.ndarray:
    """(states, points) the first of the actions that a task prefers that is safe there; the last where none is."""
    names = [str(action) for action in task.actions]
    fine = safe(exploration.states, exploration.steps, exploration.ends, len(names), task.safe)
    best = np.full(len(exploration.states), names.index(task.prefers[-1]), np.uint8)
    for name in reversed(task.prefers):
        best[fine[:, names.index(name)]] = names.index(name)
    return np.repeat(best[:, None], len(points(task.grid)), axis=1)


def scout_for(task: Task, store: JobStore, pool: Executor) -> Scout:
    """Where who goes by the policy of all that is explored comes to when the task's balls hit it; kept in the store."""

    def scout(exploration: Exploration, seed: int) -> tuple[str, np.ndarray, Stances]:
        found = solve(task, exploration)
        policy = Policy(header_for(task, exploration.cycles, "", {}), exploration.states, found.best)
        way = sha256(policy.states.features.tobytes() + policy.best.tobytes()).hexdigest()[:16]
        jobs = {f"{way} {mass:g} kg": (exploration.who, policy, mass, seed) for mass in task.balls}
        done = {key: result for key, result in store.results().items() if key in jobs}
        done.update(complete(store, pool, met, jobs))
        seen = [read(done[key]) for key in jobs]
        return f"{way} ", np.concatenate([one.states for one in seen]), joined([one.stances for one in seen])

    return scout


def solve(task: Task, exploration: Exploration, told: Told = Told(), threads: int = 0) -> Iterated:
    """What every state is worth for every goal, and which action is best, by what was explored."""
    reward = rewards_of(task, exploration.seen)
    model = Model.of(
        exploration.states, exploration.steps, exploration.ends, task.grid, task.discount, threads,
        task.novel if task.wary else math.inf,
    )  # fmt: skip
    toll, tolled = task.toll(exploration.steps), task.tolled(points(task.grid))
    return iterate(model, reward, toll, tolled, len(task.actions), threads, told.iterated)
