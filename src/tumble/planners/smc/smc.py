"""Sequential Monte Carlo over control splines with a kD-tree (hamalainen2014)."""

import numpy as np

from tumble.goals import Goal
from tumble.goals.stance import headings
from tumble.learners import Experience
from tumble.maths.tree_sampler import TreeSampler
from tumble.planners.planner import Plan, Planner
from tumble.planners.smc.curves import CurveStart, follow, shifted
from tumble.planners.smc.plan_space import POINTS, PlanSpace
from tumble.planners.smc.quality import MotionQuality, damage
from tumble.planners.smc.settings import SMCSettings
from tumble.world.props import Ball
from tumble.world.rollouts import Rollouts
from tumble.world.scene import Scene
from tumble.world.sims import Sims

FAR = 10.0  # m, from where on a ball is no projectile to dodge


class SMC(Planner):
    """kD-tree sequential Monte Carlo: many whole plans side by side, the best of which acts.

    Algorithm 2 of hamalainen2014. A plan is a spline of target angles and torque limits with times that are
    optimised too (`curves`): 4 points of 30 angles, 3 limits and a time, 136 numbers for the humanoid. Every frame
    the best of the last samples are put into a new kD-tree, guesses join them (the last best plan a step later, the
    pose held, what served in similar situations, and some drawn anywhere), and the rest of the budget goes where
    plans are good and few (`spatial`). Fitness is of whole plans: smooth, without hard falls, and at some moment good
    by one of the goal's ways.

    Attributes:
      sampler: the kD-tree; its log fitness is -cost / 2.

    **Departures.**

    - Widths: sigma is 0.5 and sigma_g 0.005 in the paper; here sigma is 0.15, and the greedy draws of a batch go from
      0.005 to 0.1. In 136 dimensions half of a leaf's sides is nearly anywhere, and between that and 0.005 nothing
      would be tried. Of 16 spheres 11 were survived with one greedy width, 15 with many (`dodge`, N = 25, N_g = 25 %);
      of 24 others 22 so, 23 with N_g = 50 % and 24 with sigma = 0.15 as well.
    - Smoothness: eqs. 5 and 6 with the frame as the unit of time, sums over bones. In seconds a step of the foot
      would cost thousands of nats beside the tens of everything else.
    - f_g is 0 where anything but the feet touches the ground; here it is exp(-20000) for every such bone, so that falls
      can be told from each other.
    - Impacts (eq. 4): the worst decides, by the speed of head or root before they touch the ground, or by how much the
      head's velocity changes where it touches something else; contacts themselves cannot be read.
    - Torque limits: 50 to 150 N m in the paper; here 0.7 to 1 of each joint's strength, and target velocities of at
      most 1.3 pi rad/s, as all planners have here.
    - Samples that are kept from the last frame are carried on by a step, as the best is; in the paper they stay.
    - The budget counts simulations: N a frame, evaluating kept samples again included.
    - Batches: `batch` plans are drawn together and told together, so that results are the same for any number of
      threads; `TreeSampler` says what that changes. The paper's 12 threads draw from a tree that misses
      what the other 11 simulate.
    - Roll (eq. 11): the forward vector of the root, not of the torso.
    - Neighbours are the exact ones; the paper's FLANN approximates. Velocities and balls are turned by the heading.
      Where samples are few they give way to uniform and greedy draws: at N = 10 there is room for one. With three
      in their stead 26 of 50 spheres were survived, without learning 35 (20 000 situations learned).
    """

    figures = {  # noqa: RUF012 - never changed
        "best_slot": "number of the best plan",
        "clipped": "guesses so far that were outside the box of plans, and were moved to its edge",
    }
    carried = ("sampler", "_start", "_best", "_past")
    learns = True
    learner_kind = Experience
    learner: Experience | None

    def __init__(self, scene: Scene, settings: SMCSettings = SMCSettings(), seed: int = 0, nthread: int = 0) -> None:
        self.settings = settings
        self._space = PlanSpace(scene, settings.horizon)
        self._care = MotionQuality(scene)
        self.memory = (scene.drive.joints + 15, len(self._space.low))
        self.about = {"character": scene.character.name, "horizon": settings.horizon, "points": POINTS}
        super().__init__(scene, settings.samples, settings.horizon, seed, nthread)
        self._rollouts = Rollouts(self.sims, self.steps)
        self._controls = np.empty((self.steps, settings.samples, scene.drive.size))

    def _forget(self) -> None:
        self.sampler = TreeSampler(self._space.low, self._space.high, self.rng)
        self._start = CurveStart.at_rest(self._space.values(None))
        self._best = np.empty((0, self.sampler.size))
        self._past = np.empty((0, 0))  # (2, 3 bones), velocities a frame ago and now

    def plan(self, state: np.ndarray, goal: Goal) -> Plan:
        self.sims.load(state)
        self._begin()
        now = None if self.learner is None else situation(self.sims)
        samples = self.settings.samples
        guesses = self._guesses(goal, now)
        plans, costs, ways = np.empty((samples, self.sampler.size)), np.empty(samples), np.empty(samples, np.intp)
        done = 0
        while done < samples:
            plan = self._next(done, guesses)
            rows = slice(done, done + len(plan))
            plans[rows], (costs[rows], ways[rows]) = plan, self._judge(plan, rows, goal)
            self.sampler.tell(-0.5 * costs[rows])
            done = rows.stop
        best = int(np.argmin(costs))
        self._best = plans[best : best + 1]
        if self.learner is not None and now is not None and -0.5 * costs[best] > self.settings.memorable:
            self.learner.add(now, self._best[0])
        return self._found(goal, costs, best, goal.ways[ways[best]].name)

    def _begin(self) -> None:
        """Carry on by a step: the start of curves, the kept samples, the last velocities."""
        settings, sampler = self.settings, self.sampler
        sampler.width, sampler.greedy_width = settings.width, settings.greedy_width
        if len(self._best):
            self._start = self._start.moved(self._best[0], POINTS, self.scene.dt)
            sampler.begin(round(settings.keep * settings.samples), self._later)
        else:
            self._start = CurveStart.at_rest(self._space.present(self.sims.view("qpos")[0]))
        now = np.nan_to_num(self._care.velocities(self.sims)[0])
        self._past = np.stack([self._past[1] if len(self._past) else now, now])

    def _later(self, plans: np.ndarray) -> np.ndarray:
        return shifted(plans, POINTS, self.scene.dt, self._space.spacing)

    def _guesses(self, goal: Goal, now: np.ndarray | None) -> np.ndarray:
        """(k, size): the last best plan carried on, the pose held, some anywhere, neighbours in experience.

        The last are left out where there are more than the greedy draws leave room for.
        """
        settings, space = self.settings, self._space
        anywhere = self.rng.random((round(settings.uniform * settings.samples), self.sampler.size))
        guesses = [self._later(self._best), space.held(goal.pose or "rest")]
        guesses.append(space.low + anywhere * (space.high - space.low))
        if self.learner is not None and now is not None:
            guesses.append(self.learner.recall(now, settings.neighbours))
        return np.concatenate(guesses)[: max(2, self._refined)]

    @property
    def _refined(self) -> int:
        """How many plans of a frame come before the greedy ones."""
        return self.settings.samples - round(self.settings.greedy * self.settings.samples)

    def _next(self, done: int, guesses: np.ndarray) -> np.ndarray:
        """A batch of plans to simulate: first the guesses, last the greedy ones."""
        settings = self.settings
        if done < len(guesses):
            return self.sampler.guess(guesses[done : done + settings.batch])
        if done < self._refined:
            return self.sampler.ask(min(settings.batch, self._refined - done))
        return self.sampler.ask(min(settings.batch, settings.samples - done), True, settings.greedy_spread)

    def _judge(self, plans: np.ndarray, rows: slice, goal: Goal) -> tuple[np.ndarray, np.ndarray]:
        """Simulate plans on rows: their costs (n,), -2 log of eq. 3, and the ways (n,) that they do best by."""
        settings, sims, steps = self.settings, self.sims, self.steps
        values = follow(self._start, plans, POINTS, self.scene.dt, steps)
        qpos = sims.view("qpos")[rows]
        for k in range(steps):
            control = self._controls[k, rows]
            self._space.steer(values[k], qpos, control)
            sims.act(control, rows=rows)
            self._rollouts.note(k, rows)
        rolled = self._rollouts.of(rows)
        soonest = min(max(1, round(settings.soonest / self.scene.dt)), steps) - 1  # step k ends at (k + 1) dt
        moments = goal.way_costs(rolled).reshape(len(plans), steps, -1)[:, soonest:]
        by_way = moments.min(axis=1) - 2.0 * np.array([way.priority for way in goal.ways])
        acceleration, jerk = self._care.roughness(rolled, self._past)
        costs = by_way.min(axis=1) + acceleration / settings.acceleration + jerk / settings.jerk
        costs += damage(self._care.impacts(rolled), settings.impact, settings.impact_slope)
        costs[np.isnan(costs) | sims.broken[rows]] = np.inf
        return costs, by_way.argmin(axis=1)

    def _found(self, goal: Goal, costs: np.ndarray, best: int, way: str) -> Plan:
        values = goal.values(self._rollouts.of(slice(best, best + 1)))
        values[np.isnan(values)] = np.inf
        paths = self._rollouts.kept("ends")[:, :, :3].copy()
        return Plan(
            controls=self._controls[:, best].copy(),
            cost=float(costs[best]),
            values=values,
            path=paths[best].copy(),
            paths=paths,
            smoothed=np.empty((0, 3)),
            effort=float(goal.effort(values).mean()),
            sim_steps=self._controls.shape[0] * self._controls.shape[1],
            broken=int(self.sims.broken.sum()),
            statistics={"best_slot": best, "clipped": self.sampler.clipped},
            way=way,
        )


def situation(sims: Sims) -> np.ndarray:
    """(joints + 15,): what decides which plan is good in row 0, as the root sees it (section 4.5).

    Angles of the joints; the root's up vector, velocity and spin, and the way to the nearest ball and its velocity
    against the root's, all turned by the root's heading. Without a ball within 10 m these last six are 0.
    """
    scene, qpos = sims.scene, sims.view("qpos")[0]
    up, velocity, spin, place = (
        sims.view(f"{scene.character.root}.{name}")[0] for name in ("up", "vel", "spin", "pos")
    )
    vectors = np.zeros((5, 3))
    vectors[:3] = up, velocity, spin
    balls = [prop.name for prop in scene.props if isinstance(prop, Ball)]
    ways = [sims.view(f"{ball}.pos")[0] - place for ball in balls]
    distances = [float(np.linalg.norm(way)) for way in ways]
    if balls and min(distances) < FAR:
        nearest = distances.index(min(distances))
        vectors[3:] = ways[nearest], sims.view(f"{balls[nearest]}.vel")[0] - velocity
    (c,), (s,) = headings(qpos[None])
    turned = vectors @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return np.concatenate([qpos[scene.drive.qpos], turned.ravel()])
