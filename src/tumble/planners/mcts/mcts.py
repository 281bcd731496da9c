"""Fixed-depth informed Monte Carlo tree search (rajamaki2017)."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tumble.goals import Goal
from tumble.learners import Learners
from tumble.maths.neighbours import Table
from tumble.planners.cpbp.kernels import path_of
from tumble.planners.features import Features
from tumble.planners.mcts.kernels import ADVICE, GUIDE, draw, fork
from tumble.planners.mcts.settings import MCTSSettings
from tumble.planners.planner import Plan, Planner
from tumble.world.scene import Scene


@dataclass(frozen=True)
class Roles:
    """Which slots are informed by what in a frame. The old best is slot 0; those in no slice are free.

    Attributes:
      plain, noisy: by the network, as it is and with noise.
      neighbours: by the nearest state that the forest knows or the last frame had, the first of them without noise.
      previous: by the last frame alone.
    """

    plain: slice
    noisy: slice
    neighbours: slice
    previous: slice

    @staticmethod
    def of(settings: MCTSSettings, advised: bool, recalled: bool, guided: bool) -> "Roles":
        """Those of a frame; whether the network was trained, the forest knows anything, there was a last frame.

        Where slots are few, each of the learners' roles has a quarter of them at most, the plain one an eighth because
        those do nearly the same, and the free ones half of the rest.
        """
        n = settings.samples
        most = max(1, n // 4)
        plain, noisy = (min(settings.plain, max(1, n // 8)), min(settings.noisy, most)) if advised else (0, 0)
        neighbours = min(settings.neighbours, most) if recalled else 0
        rest = max(0, n - 1 - plain - noisy - neighbours)
        previous = rest - min(round(settings.free * n), rest // 2) if guided else 0
        ends = np.minimum(1 + np.cumsum([plain, noisy, neighbours, previous]), n).tolist()
        return Roles(*(slice(start, end) for start, end in pairwise([1, *ends])))


class MCTS(Planner):
    """FDI-MCTS: trajectories that grow side by side, pruned and forked as they go, informed by what was learned.

    Algorithm 1 of rajamaki2017. A control is a reference angle for every joint; motors turn towards it at K_P times
    what is missing. Every slot has a role for the whole frame: one repeats the old best; some do what the network says
    or are drawn near it; some are drawn near what was done in the nearest state that is known, of the last frame's best
    trajectories or of the forest's; and some are free. Whoever falls behind the best by more than a threshold goes
    on from one who does not. The first control of the cheapest trajectory is done, and taught to both learners.

    Who is down, or would be at the end of the last plan, is in recovery mode: stronger, stiffer and bolder.

    **Departures.**

    - sqrt(Sigma_variation) is 2.5 degrees for every joint, as in the authors' code (Table 2: 0.1 / r_dof).
    - Recovery mode: torque limits twice as high, as in the authors' code (paper: five times).
    - a_init is the goal's pose, not 0: other characters stand with bent knees.
    - The threshold counts all terms of the last step's cost; the authors' leaves torques out.
    - The first of the forest's slots does what the neighbour did as it is, and the forest informs from the first frame
      on. So a start that is known is repeated; with N = 8 nearly all starts failed without (docs/decisions.md).
    - Where slots are few, roles give way to each other (`Roles.of`); free slots are the last, not before the forest's.
    - In recovery mode the widths of pose and variation grow, as in the authors' code, not all widths.
    - A trajectory that breaks, or whose cost is not a number, costs infinity; the authors' restores it and adds 1e6.
    - Motors are MuJoCo's servos with a limit on the set-point (see `motors`), not constraints of the solver.
    - Learning goes in step with the frames unless `background` is on; the paper's threads run freely.

    Attributes:
      learner: forest and network.
      recovering: whether it is in recovery mode.
    """

    fixed = ("samples", "horizon", "gain")  # actions mean something else with another gain
    figures = {  # noqa: RUF012 - never changed
        "best_slot": "number of the cheapest trajectory; of none where the network alone acts",
        "pruned": "trajectories that were given up for copies of better ones, over all steps",
        "recovering": "1 in recovery mode, else 0",
    }
    carried = ("_best", "_known", "_done", "_threshold", "_falling", "recovering")
    go_style = "gait"
    learns = True
    learner_kind = Learners
    learner: Learners

    def __init__(self, scene: Scene, settings: MCTSSettings = MCTSSettings(), seed: int = 0, nthread: int = 0) -> None:
        self.settings = settings
        motors, model, character = scene.drive, scene.model, scene.character
        self._features = Features(scene)
        joints = motors.joints
        self._low, self._high = model.jnt_range[[model.joint(name).id for name in character.joints]].T.copy()
        feet = (*character.feet, *character.toes)
        self._others = np.array([bone not in feet for bone in scene.bones])
        self.memory = (self._features.size, joints)
        self.about = {"character": character.name, "planner": "mcts", "gain": settings.gain}
        self.learner = Learners(*self.memory, seed)
        super().__init__(scene, settings.samples, settings.horizon, seed, nthread)
        n, k = settings.samples, self.steps
        self._starts = np.empty((k + 1, n, self._features.size), np.float32)
        self._actions, self._normal, self._uniform = np.empty((3, k, n, joints))
        self._controls = np.empty((k, n, motors.size))
        self._places = np.empty((k, n, 3))
        self._ancestors = np.empty((k, n), np.intp)
        self._advice, self._guides = np.zeros((2, n, joints))
        self._distances = np.zeros(n)

    def _forget(self) -> None:
        joints = self.scene.drive.joints
        self._best = np.empty((0, joints))
        self._known = np.empty((0, 0, self._features.size), np.float32)  # (K, kept, F), states of the best trajectories
        self._done = np.empty((0, 0, joints))  # (K, kept, J), and what was done in them
        self._threshold, self._falling, self.recovering = math.inf, False, False

    def plan(self, state: np.ndarray, goal: Goal) -> Plan:
        self._share_work()
        self.sims.load(state)
        self.recovering = self._falling or self._down(0)
        self._features.of(self.sims, goal, self.recovering, self._starts[0])
        if self.settings.search or not self.learner.network.ready:
            plan = self._search(goal)
            self._learn()
        else:
            plan = self._follow(goal)
        return plan

    def _share_work(self) -> None:
        """Have a thread learn, or not, as the settings of this frame say."""
        if self.settings.background and self.learner.growing:
            self.learner.start()
        else:
            self.learner.stop()

    def _search(self, goal: Goal) -> Plan:
        """Grow all trajectories to the horizon."""
        settings, sims, motors, n = self.settings, self.sims, self.scene.drive, self.settings.samples
        qpos, qvel, ends = sims.view("qpos"), sims.view("qvel"), sims.view("ends")
        precision, (gain, strength) = self._precision(), self._motion()
        rest = np.array(self.scene.character.pose(goal.pose or "rest"))
        trained, knowing = settings.network and self.learner.network.ready, settings.forest and len(self.learner) > 0
        roles = Roles.of(settings, trained, knowing, len(self._best) > 0)
        self.rng.standard_normal(out=self._normal)
        self.rng.random(out=self._uniform)
        chance = self.rng.random((self.steps, n))
        before = np.tile(self._best[0], (n, 1)) if len(self._best) else qpos[:, motors.qpos]
        totals, values = np.zeros(n), np.empty((self.steps, n, len(goal.terms)))
        broken = pruned = 0
        for k in range(self.steps):
            parents = self._ancestors[k]
            behind = fork(totals, self._threshold, 1, chance[k], parents)
            if behind:
                pruned, broken = pruned + behind, broken + int(sims.broken.sum())
                sims.take(parents)
                broken -= int(sims.broken.sum())
                totals, before = totals[parents], before[parents]
                self._starts[k] = self._starts[k, parents]
            guided, advised, given = self._inform(k, roles)
            draw(
                self._actions[k], self._controls[k], self._normal[k], self._uniform[k], before, qpos, qvel,
                motors.qpos, motors.qvel, rest, precision, self._low, self._high,
                self._guides, guided, self._advice, advised, given, gain, strength,
            )  # fmt: skip
            sims.act(self._controls[k])
            values[k] = goal.values(sims)
            totals += values[k].sum(axis=1)
            totals[np.isnan(totals)] = np.inf
            self._places[k] = ends[:, :3]
            self._features.of(sims, goal, self.recovering, self._starts[k + 1])
            before = self._actions[k]
        return self._found(totals, values, broken + int(sims.broken.sum()), pruned)

    def _inform(self, k: int, roles: Roles) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Fill guides and advice for step k; (n,) each: who is guided, who is advised, and what is done as it is."""
        starts, n, later = self._starts[k], self.settings.samples, k + 1 < len(self._best)
        guided, advised, given = np.zeros(n, bool), np.zeros(n, bool), np.zeros(n, np.intp)
        if roles.noisy.stop > 1:
            rows = slice(1, roles.noisy.stop)
            self._advice[rows] = self.learner.network.predict(starts[rows])
            given[roles.plain], advised[roles.noisy] = ADVICE, True
        if later:  # the last frame's next step is this frame's
            self._guides[0], given[0] = self._best[k + 1], GUIDE
            rows = slice(roles.noisy.start, roles.previous.stop)
            found, distances = Table(self._known[k + 1]).nearest(starts[rows], 1)
            self._guides[rows] = self._done[k + 1, np.maximum(found[:, 0], 0)]  # a broken row has no nearest
            self._distances[rows] = distances[:, 0]
            guided[rows] = True
        if roles.neighbours.stop > roles.neighbours.start:
            rows = roles.neighbours
            actions, distances = self.learner.forest.recall(starts[rows])
            nearer = distances < self._distances[rows] if later else np.isfinite(distances)
            self._guides[rows][nearer] = actions[nearer]
            guided[rows] |= nearer
            if guided[rows.start]:
                given[rows.start] = GUIDE
        return guided, advised, given

    def _learn(self) -> None:
        """Teach what is done now."""
        self.learner.add(self._starts[0, 0], self._best[0])
        self.learner.work(self.settings.updates if self.settings.network else 0)

    def _down(self, row: int) -> bool:
        """Whether any bone but the feet touches the ground."""
        return bool((self.sims.view("grounded")[row, self._others] > 0).any())

    def _motion(self) -> tuple[float, float]:
        """K_P and the share of the motors' strength."""
        settings = self.settings
        if self.recovering:
            return settings.recovery_gain * settings.gain, settings.recovery_strength
        return settings.gain, settings.strength

    def _precision(self) -> np.ndarray:
        """(4,): 1 / width^2, in rad, of pose, change, acceleration and variation."""
        settings = self.settings
        factor = settings.recovery_width if self.recovering else 1.0
        widths = (factor * settings.pose_width, settings.change_width, settings.acceleration_width)
        return np.radians([*widths, factor * settings.variation]) ** -2

    def _found(self, totals: np.ndarray, values: np.ndarray, broken: int, pruned: int) -> Plan:
        """The best trajectory; keeps the best ones for the next frame."""
        lineage, steps = path_of(self._ancestors), np.arange(self.steps)
        order = np.argsort(totals, kind="stable")
        best, kept = int(order[0]), order[: max(1, round(self.settings.kept * len(order)))]
        along = lineage[:, best]
        self._best = self._actions[steps, along]
        self._known = self._starts[steps[:, None], lineage[:, kept]]
        self._done = self._actions[steps[:, None], lineage[:, kept]]
        found = values[steps, along]
        self._threshold = self.settings.threshold * float(found[-1].sum())
        self._falling = self._down(best)
        return Plan(
            controls=self._controls[steps, along],
            cost=float(totals[best]),
            values=found,
            path=self._places[steps, along],
            paths=self._places[steps[:, None], lineage].swapaxes(0, 1),
            smoothed=np.empty((0, 3)),
            effort=self._motion()[1],
            sim_steps=totals.size * self.steps,
            broken=broken,
            statistics={"best_slot": best, "pruned": pruned, "recovering": float(self.recovering)},
        )

    def _follow(self, goal: Goal) -> Plan:
        """Do what the network says, without a look ahead."""
        sims, motors = self.sims, self.scene.drive
        action = np.clip(self.learner.network.predict(self._starts[0, :1])[0], self._low, self._high)
        gain, strength = self._motion()
        control = np.full((1, motors.size), strength)
        control[0, : motors.joints] = gain * (action - sims.view("qpos")[0, motors.qpos])
        values, place = goal.values(sims)[:1], sims.view("ends")[:1, :3].copy()
        self._best, self._falling = action[None], False
        return Plan(
            controls=control,
            cost=float(values.sum()),
            values=values,
            path=place,
            paths=place[None],
            smoothed=np.empty((0, 3)),
            effort=strength,
            sim_steps=0,
            broken=0,
            statistics={"recovering": float(self.recovering)},
        )
