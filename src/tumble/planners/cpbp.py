"""Control Particle Belief Propagation (hamalainen2015), with zero transition noise (Q = 0)."""

from dataclasses import dataclass, field

import numpy as np

from tumble.errors import check_number
from tumble.goals import Goal
from tumble.planners.kernels import path_of, propose, refine
from tumble.planners.planner import Plan, Planner
from tumble.sampling import effective_count, normalise, resample
from tumble.scene import Scene


@dataclass(frozen=True)
class Scales:
    """Widths of the control priors at one level of effort, as multiples of a joint's activity."""

    speed: float  # sigma_0, eq. 22
    change: float  # sigma_1, eq. 22: control from one step to the next
    bend: float  # sigma_2, eq. 22: second difference of the control
    pose: float  # sigma_p, section 4.2: angles from the rest pose, rad
    mutation: float  # sigma_m, eq. 29
    limit: float  # of the torque limits, as sigma_0 and sigma_1 of theirs; fraction of strength
    control_weight: float  # of the control's own cost when the best path is chosen

    def towards(self, other: "Scales", share: float) -> "Scales":
        """Linear interpolation: self at share 0, other at 1."""
        mix = {k: a + share * (vars(other)[k] - a) for k, a in vars(self).items()}
        return Scales(**mix)


@dataclass(frozen=True)
class CPBPSettings:
    """Settings of C-PBP."""

    samples: int = 32  # N, section 4.3
    horizon: float = 1.2  # K, s, section 4.3
    resample_below: float = 0.5  # T_eff, section 4.3
    no_prior: float = 0.25  # N_n / N, section 4.3
    cost_ceiling: float = 20.0  # T_gamma, eq. 20
    regularisation: float = 0.001  # lambda, eq. 19
    refine: bool = True  # local refinement, Algorithm 1
    # Scales are not given in the paper; ours, from measurements.
    calm: Scales = field(default_factory=lambda: Scales(0.5, 0.3, 0.5, 0.05, 0.1, 0.5, 1.0))
    tense: Scales = field(default_factory=lambda: Scales(6.0, 3.0, 4.0, 0.5, 0.5, 1.0, 0.01))


class CPBP(Planner):
    """C-PBP: N guided random walkers that are resampled as they go, then a smoothing pass.

    Algorithm 2 of hamalainen2015 with Q = 0 ("Allowing Zero Transition Variance"). Every frame the
    walkers start from the current state. Two replay the previous best and the previous smoothed
    controls; the others draw from a product of Gaussians (eq. 22): small controls, small changes,
    the rest pose, and near a trajectory of the previous frame. Walkers that do badly are replaced by
    copies of ones that do well. The first control of the cheapest trajectory is the result.

    **Departures.**
    """

    def __init__(self, scene: Scene, settings: CPBPSettings = CPBPSettings(), seed: int = 0, nthread: int = 0):
        self.settings = settings
        motors = scene.motors
        self._activity = np.array([joint.activity for joint in scene.character.joints.values()])
        self._rest = np.array(scene.character.pose("rest"))
        super().__init__(scene, settings.samples, settings.horizon, seed, nthread)
        n, k = settings.samples, self.steps
        ends = self.sims.view("ends")
        self._controls = np.empty((k, n, motors.size))
        self._ends = np.empty((k + 1, n, ends.shape[1]))
        self._ancestors = np.empty((k, n), np.intp)
        self._weights = np.empty((k, n))

    def _forget(self) -> None:
        size = self.scene.motors.size
        self._best = self._smooth = np.empty((0, size))
        self._previous = np.empty((0, 0, size))
        self._belief = np.empty(0)
        self._done = np.zeros((2, size))  # the last two controls that were deployed, newest first
        self._effort = -1.0

    def plan(self, state: np.ndarray, goal: Goal) -> Plan:
        settings, sims, k_steps, n = self.settings, self.sims, self.steps, self.settings.samples
        sims.load(state)
        if self._effort < 0:
            self._effort = float(goal.effort(goal.values(sims)[:1])[0])
        scales = settings.calm.towards(settings.tense, self._effort)
        precision = self._precision(scales)
        motors, qpos, ends = self.scene.motors, sims.view("qpos"), sims.view("ends")
        controls, ancestors = self._controls, self._ancestors
        normal = self.rng.standard_normal(controls.shape)
        uniform = self.rng.random(controls.shape)
        resampling = self.rng.random((k_steps, n))
        prior = self._choose_priors()
        warm = min(2, len(self._previous))
        before, earlier = np.tile(self._done[0], (n, 1)), np.tile(self._done[1], (n, 1))
        identity = np.arange(n)
        self._ends[0] = ends
        totals, log_belief = np.zeros(n), np.zeros(n)
        values = np.empty((k_steps, n, len(goal.terms)))
        resampled = 0
        for k in range(k_steps):
            weights = normalise(log_belief)
            ancestors[k] = identity
            if k > 0 and effective_count(weights) < settings.resample_below * n:
                parents = resample(weights, resampling[k])
                parents[:warm] = identity[:warm]
                ancestors[k] = parents
                sims.take(parents)
                prior, totals = prior[parents], totals[parents]
                before, earlier = before[parents], earlier[parents]
                weights = np.full(n, 1.0 / n)
                log_belief[:] = 0
                resampled += 1
            self._weights[k] = weights
            expense = propose(
                controls[k], normal[k], uniform[k], before, earlier, qpos, motors.qpos, self._rest, self.scene.dt,
                self._previous, self._best, self._smooth, prior, k, warm,
                precision, motors.low, motors.high,
            )  # fmt: skip
            sims.act(controls[k])
            values[k] = goal.values(sims)
            self._ends[k + 1] = ends
            cost = values[k].sum(axis=1)
            totals = totals + cost + scales.control_weight * expense
            gamma = settings.cost_ceiling / max(settings.cost_ceiling, min(cost.min(), 1e300))
            log_belief = log_belief - 0.5 * gamma * cost
            before, earlier = controls[k], before
        best = int(np.argmin(totals))
        lineage = path_of(ancestors)
        steps = np.arange(k_steps)
        along = lineage[:, best]
        self._previous = np.ascontiguousarray(controls[steps[:, None], lineage].swapaxes(0, 1))
        self._best = controls[steps, along]
        self._belief = normalise(log_belief)
        smooth_ends = np.empty((0, 3))
        if settings.refine:
            self._smooth, smooth_ends = refine(
                controls, self._ends, ancestors, self._weights, normalise(-0.5 * gamma * cost), settings.regularisation
            )
            np.clip(self._smooth, motors.low, motors.high, out=self._smooth)
        else:
            self._smooth = self._best
        self._done = np.stack([self._best[0], self._done[0]])
        best_values = values[steps, along]
        self._effort = float(goal.effort(best_values).mean())
        return Plan(
            controls=self._best.copy(),
            cost=float(totals[best]),
            values=best_values,
            path=self._ends[steps + 1, along, :3].copy(),
            paths=self._ends[1:][steps[:, None], lineage, :3].swapaxes(0, 1),
            smoothed=smooth_ends[:, :3],
            effort=self._effort,
            sim_steps=n * k_steps,
            broken=int(sims.broken.sum()),
            statistics={"resampled": resampled, "best_slot": best},
        )

    def _precision(self, scales: Scales) -> np.ndarray:
        """(5, motors.size): 1 / width^2 of the priors on control, change, bend, pose and mutation."""
        of_joints = np.array([scales.speed, scales.change, scales.bend, scales.pose / self.scene.dt, scales.mutation])
        of_limits = np.array([1.0, 1.0, 1e3, 1e3, scales.mutation]) * scales.limit
        limits = self.scene.motors.size - self.scene.motors.joints
        return np.hstack([np.outer(of_joints, self._activity), np.outer(of_limits, np.ones(limits))]) ** -2.0

    def _choose_priors(self) -> np.ndarray:
        """(N,) which trajectory of the previous frame each walker stays near, -1 for none."""
        n = self.settings.samples
        if not len(self._previous):
            return np.full(n, -1)
        prior = self.rng.choice(n, size=n, p=self._belief)
        prior[2 : 2 + round(self.settings.no_prior * n)] = -1
        return prior
