"""Predictive sampling, CEM and MPPI: sample whole control splines, simulate them, keep what did well.

    from tumble.characters import humanoid
    from tumble.goals import balance
    from tumble.planners.splines import MPPI, MPPISettings
    from tumble.scene import Scene

    scene = Scene(humanoid())
    planner = MPPI(scene, MPPISettings(samples=32), seed=1)
    plan = planner.plan(scene.state("rest"), balance(scene))
    plan.controls[0]  # what to do now

The plain baselines that C-PBP is measured against. A spline is a few knots at equal distances over
the horizon; a knot is a control: target velocities, then torque limits. No pose prior and no
resampling. The three differ in how they draw splines (`ask`) and in what they make of the costs
(`tell`), and in nothing else.

Trap: velocities have no memory of the pose, so a character that stands does so by replanning
every frame; replaying one plan open-loop drifts.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from tumble.errors import check_number
from tumble.goals import Goal
from tumble.planners.planner import Plan, Planner
from tumble.sampling import effective_count, normalise
from tumble.scene import Scene


@dataclass(frozen=True)
class SplineSettings:
    """What all samplers of splines have in common."""

    samples: int = 32  # simulated splines a frame; not given; ours
    horizon: float = 1.2  # s; hamalainen2015 section 4.3, so that all planners look equally far
    spacing: float = 0.2  # s between knots; not given; ours
    noise: float = 1.0  # standard deviation of a knot, in units of a joint's activity; ours
    least: float = 1.0
    limit_spread: float = 0.3  # what an activity is to the torque limits; ours
    control_weight: float = 0.01  # of the control's own cost; ours


@dataclass(frozen=True)
class PredictiveSamplingSettings(SplineSettings):
    """Settings of predictive sampling."""


@dataclass(frozen=True)
class CEMSettings(SplineSettings):
    """Settings of the cross-entropy method."""

    elites: int = 8  # how many of the best make the next distribution; ours
    least_noise: float = 0.5  # the standard deviation never falls below this, as `noise`; ours


@dataclass(frozen=True)
class MPPISettings(SplineSettings):
    """Settings of MPPI."""

    temperature: float = 0.1  # lambda; ours


class SplinePlanner(Planner):
    def __init__(self, scene: Scene, settings: SplineSettings, seed: int = 0, nthread: int = 0) -> None:
        self.settings = settings
        motors, joints = scene.motors, scene.character.joints.values()
        limits = motors.size - motors.joints
        self.spread = np.r_[[joint.activity for joint in joints], np.full(limits, settings.limit_spread)]
        self.neutral = np.r_[np.zeros(motors.joints), np.ones(limits)]
        steps=max(1, round(settings.horizon / scene.dt))
        self._every = max(1, round(settings.spacing / scene.dt))
        self._knots = 1 + -(-(steps - 1 + self._every - 1) // self._every)
        times = np.arange(self._knots) * self._every
        self._weights = np.stack([hats(np.arange(steps) + p, times) for p in range(self._every)])
        super().__init__(scene, settings.samples, settings.horizon, seed, nthread)

    def _forget(self) -> None:
        self.frame = 0
        self.nominal = np.tile(self.neutral, (self._knots, 1))

    @abstractmethod
    def ask(self) -> np.ndarray:
        ...

    @abstractmethod
    def tell(self, knots: np.ndarray, costs: np.ndarray) -> np.ndarray:
        ...

    def around(self, deviation):
        z = self.rng.standard_normal((self.settings.samples, *self.nominal.shape))
        z *= deviation * np.geomspace(self.settings.least, 1, self.settings.samples)[:, None, None]
        z += self.nominal
        return np.clip(z, self.scene.motors.low, self.scene.motors.high, out=z)

    def plan(self, state: np.ndarray, goal: Goal) -> Plan:
        phase = self.frame % self._every
        if self.frame and phase == 0:
            self.nominal = later(self.nominal)
        knots = self.ask()
        knots[0] = self.nominal
        n, k, size = knots.shape
        controls = (self._weights[phase] @ knots.swapaxes(0, 1).reshape(k, -1)).reshape(self.steps, n, size)
        values, roots = self._simulate(state, controls, goal)
        costs = values.sum(axis=(0, 2)) + self._expense(controls)
        best = int(np.argmin(costs))
        if np.isfinite(costs[best]):
            self.nominal = self.tell(knots, costs)
        self.frame += 1
        return Plan(
            controls=controls[:, best].copy(),
            cost=float(costs[best]),
            values=values[:, best].copy(),
            path=roots[:, best].copy(),
            paths=roots.swapaxes(0, 1),
            smoothed=np.empty((0, 3)),
            effort=float(goal.effort(values[:, best]).mean()),
            sim_steps=n * self.steps,
            broken=int(self.sims.broken.sum()),
            statistics={"best_slot": best},
        )

    def _simulate(self, state, controls, goal):
        sims, roots = self.sims, self.sims.view("ends")[:, :3]
        values = np.empty((*controls.shape[:2], len(goal.terms)))
        paths = np.empty((*controls.shape[:2], 3))
        sims.load(state)
        for k in range(self.steps):
            sims.act(controls[k])
            values[k] = goal.values(sims)
            paths[k] = roots
        return values, paths

    def _expense(self, controls):
        scaled = (controls - self.neutral) / self.spread
        return self.settings.control_weight * np.einsum("kij,kij->i", scaled, scaled)


class PredictiveSampling(SplinePlanner):
    def ask(self):
        return self.around(self.settings.noise * self.spread)

    def tell(self, knots, costs):
        return knots[np.argmin(costs)]


class CEM(SplinePlanner):
    def ask(self):
        if self.frame == 0:
            self.deviation = np.tile(self.settings.noise * self.spread, (self._knots, 1))
        elif self.frame % self._every == 0:
            self.deviation = later(self.deviation)
        return self.around(self.deviation)

    def tell(self, knots, costs):
        e = knots[np.argsort(costs, kind="stable")[: self.settings.elites]]
        self.deviation = np.maximum(e.std(axis=0), self.settings.least_noise * self.spread)
        return e.mean(axis=0)


class MPPI(SplinePlanner):
    def ask(self):
        return self.around(self.settings.noise * self.spread)

    def tell(self, knots, costs):
        finite = costs[np.isfinite(costs)]
        scale = self.settings.temperature * (finite.mean() - finite.min()) + 1e-9
        return np.tensordot(normalise(-costs / scale), knots, 1)


def hats(times: np.ndarray, knots: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(times, knots, row) for row in np.eye(len(knots))], axis=1)


def later(knots):
    return np.concatenate([knots[1:], knots[-1:]])
