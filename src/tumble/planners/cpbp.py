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

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_number(name, value, 0, above=name != "control_weight")

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
    cost_ceiling: float = 5.0  # T_gamma, eq. 20: 20; 10 in the authors' code; with 5 it gets up more often
    regularisation: float = 0.001  # lambda, eq. 19
    refine: bool = True  # local refinement, Algorithm 1
    # Scales are not given in the paper; ours, from measurements.
    calm: Scales = field(default_factory=lambda: Scales(0.5, 0.3, 0.5, 0.05, 0.1, 0.5, 1.0))
    tense: Scales = field(default_factory=lambda: Scales(4.0, 0.8, 8.0, 0.5, 0.25, 0.15, 0.01))

    def __post_init__(self) -> None:
        check_number("resample_below", self.resample_below, 0)
        check_number("no_prior", self.no_prior, 0, 1)
        check_number("cost_ceiling", self.cost_ceiling, 0, above=True)
        check_number("regularisation", self.regularisation, 0, above=True)


@dataclass
class _Walk:
    """What the forward pass leaves behind, beside the planner's own arrays.

    values: (K, N, terms); totals: (N,) cost of whole trajectories; log_belief: (N,) forward belief at
    the end; potential: (N,) logarithm of the last states' potentials; resampled: how often; broken:
    walkers that went unstable, those that were replaced included.
    """

    values: np.ndarray
    totals: np.ndarray
    log_belief: np.ndarray
    potential: np.ndarray
    resampled: int
    broken: int


class CPBP(Planner):
    """C-PBP: N guided random walkers that are resampled as they go, then a smoothing pass.

    Algorithm 2 of hamalainen2015 with Q = 0 ("Allowing Zero Transition Variance"). Every frame the
    walkers start from the current state. Two replay the previous best and the previous smoothed
    controls; the others draw from a product of Gaussians (eq. 22): small controls, small changes,
    the rest pose, and near a trajectory of the previous frame. Walkers that do badly are replaced by
    copies of ones that do well. The first control of the cheapest trajectory is the result.

    **Departures.**

    - Torque limits: paper 0 to 300 with a zero-mean prior; here 0.7 to 1 of each joint's strength, and
      the prior's mean is the effort, because a leg whose limit drops for one frame collapses.
    - Mutation and the weight of the control's cost: constant in the paper (0.25; 1); here they go from
      calm to tense as the other scales do, because one value is either restless or sedate.
    - sigma_p is a standard deviation: Cov(pose) = sigma_p^2 C_u (the paper prints sigma_p C_u).
    - Effort: the paper combines it at every step k; here one value serves a whole frame, half the mean
      and half the maximum along the previous frame's best path, so that a fall foreseen at the end of
      the horizon is met at once.
    - T_gamma is 5 (paper 20, authors' code 10): of 14 get-ups 14 succeeded, with 10 it was 11 of 15.
    - Resampling is systematic; the paper draws ancestors independently. It has less variance.
    - Refinement: Algorithm 1 pairs the control with the state it led to; here with the state it
      started from, as the text around it says ("simulating forward from x_k with controls u_k"), so that
      every step gets a smoothed control. The result is kept within the motors' bounds.
    - The backward pass of beliefs is left out: with Q = 0 it adds nothing (the paper says so).
    """

    def __init__(self, scene: Scene, settings: CPBPSettings = CPBPSettings(), seed: int = 0, nthread: int = 0) -> None:
        self.settings = settings
        motors = scene.motors
        self._limits = motors.size - motors.joints
        self._activity = np.array([joint.activity for joint in scene.character.joints.values()])
        self._rest = np.array(scene.character.pose("rest"))
        super().__init__(scene, settings.samples, settings.horizon, seed, nthread)
        n, k = settings.samples, self.steps
        self._controls = np.empty((k, n, motors.size))
        self._ends = np.empty((k + 1, n, self.sims.view("ends").shape[1]))
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
        walk = self._walk(state, goal)
        lineage, steps = path_of(self._ancestors), np.arange(self.steps)
        best = int(np.argmin(walk.totals))
        along = lineage[:, best]
        self._previous = np.ascontiguousarray(self._controls[steps[:, None], lineage].swapaxes(0, 1))
        self._best = self._controls[steps, along]
        self._belief = normalise(walk.log_belief)
        self._smooth, smoothed = self._refine(walk) if self.settings.refine else (self._best, np.empty((0, 3)))
        self._done = np.stack([self._best[0], self._done[0]])
        values = walk.values[steps, along]
        asked = goal.effort(values)
        self._effort = float(0.5 * (asked.mean() + asked.max()))
        return Plan(
            controls=self._best.copy(),
            cost=float(walk.totals[best]),
            values=values,
            path=self._ends[steps + 1, along, :3],
            paths=self._ends[1:][steps[:, None], lineage, :3].swapaxes(0, 1),
            smoothed=smoothed,
            effort=self._effort,
            sim_steps=self._controls.shape[0] * self._controls.shape[1],
            broken=walk.broken,
            statistics={"resampled": walk.resampled, "best_slot": best},
        )

    def _walk(self, state: np.ndarray, goal: Goal) -> _Walk:
        """The forward pass: draw, simulate, weigh, resample, step by step up to the horizon."""
        settings, sims, motors = self.settings, self.sims, self.scene.motors
        sims.load(state)
        if self._effort < 0:
            self._effort = float(goal.effort(goal.values(sims)[:1])[0])
        scales = settings.calm.towards(settings.tense, self._effort)
        precision, centre = self._precision(scales), self._centre()
        n, controls, identity = settings.samples, self._controls, np.arange(settings.samples)
        normal, uniform = self.rng.standard_normal(controls.shape), self.rng.random(controls.shape)
        chance = self.rng.random((self.steps, n))
        prior, warm = self._choose_priors(), min(2, len(self._previous))
        before, earlier = np.tile(self._done[0], (n, 1)), np.tile(self._done[1], (n, 1))
        qpos, ends = sims.view("qpos"), sims.view("ends")
        self._ends[0] = ends
        walk = _Walk(np.empty((self.steps, n, len(goal.terms))), np.zeros(n), np.zeros(n), np.zeros(n), 0, 0)
        for k in range(self.steps):
            weights, parents = normalise(walk.log_belief), identity
            if k > 0 and effective_count(weights) < settings.resample_below * n:
                parents = resample(weights, chance[k])
                parents[:warm] = identity[:warm]  # the warm starts keep their own lineage
                walk.broken += int(sims.broken.sum())
                sims.take(parents)
                walk.broken -= int(sims.broken.sum())
                prior, before, earlier = prior[parents], before[parents], earlier[parents]
                walk.totals, walk.log_belief = walk.totals[parents], np.zeros(n)
                weights = np.full(n, 1.0 / n)
                walk.resampled += 1
            self._ancestors[k], self._weights[k] = parents, weights
            expense = propose(
                controls[k], normal[k], uniform[k], before, earlier, qpos, motors.qpos, self._rest, self.scene.dt,
                self._previous, self._best, self._smooth, prior, k, warm,
                precision, centre, motors.low, motors.high,
            )  # fmt: skip
            sims.act(controls[k])
            self._ends[k + 1] = ends
            walk.values[k] = goal.values(sims)
            cost = walk.values[k].sum(axis=1)
            walk.totals = walk.totals + cost + scales.control_weight * expense
            walk.potential = -0.5 * cost * self._softening(cost)
            walk.log_belief = walk.log_belief + walk.potential
            before, earlier = controls[k], before
        walk.broken += int(sims.broken.sum())
        return walk

    def _softening(self, cost: np.ndarray) -> float:
        """gamma of eq. 20: keeps the best walker's potential from vanishing."""
        ceiling, least = self.settings.cost_ceiling, float(cost.min())
        return ceiling / max(ceiling, least) if np.isfinite(least) else 1.0

    def _refine(self, walk: _Walk) -> tuple[np.ndarray, np.ndarray]:
        """Smoothed controls (K, size) within the motors' bounds, and the root's path (K, 3)."""
        motors = self.scene.motors
        smooth, path = refine(
            self._controls,
            self._ends,
            self._ancestors,
            self._weights,
            normalise(walk.potential),
            self.settings.regularisation,
        )
        return np.clip(smooth, motors.low, motors.high), path[:, :3]

    def _precision(self, scales: Scales) -> np.ndarray:
        """(5, motors.size): 1 / width^2 of the priors on control, change, bend, pose and mutation."""
        of_joints = np.array([scales.speed, scales.change, scales.bend, scales.pose / self.scene.dt, scales.mutation])
        of_limits = np.array([1.0, 1.0, 1e3, 1e3, scales.mutation]) * scales.limit
        return np.hstack([np.outer(of_joints, self._activity), np.outer(of_limits, np.ones(self._limits))]) ** -2.0

    def _centre(self) -> np.ndarray:
        """(motors.size,): what controls are kept near: no speed, and limits that rise with effort."""
        return np.r_[np.zeros(self.scene.motors.joints), np.full(self._limits, self._effort)]

    def _choose_priors(self) -> np.ndarray:
        """(N,) which trajectory of the previous frame each walker stays near, -1 for none."""
        n = self.settings.samples
        if not len(self._previous):
            return np.full(n, -1)
        prior = self.rng.choice(n, size=n, p=self._belief)
        prior[2 : 2 + round(self.settings.no_prior * n)] = -1
        return prior
