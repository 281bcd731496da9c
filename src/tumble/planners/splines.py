"""Predictive sampling, CEM and MPPI: sample whole control splines, simulate them, keep what did well.

    from tumble.characters import humanoid
    from tumble.goals import balance
    from tumble.planners.splines import MPPI, MPPISettings
    from tumble.world.scene import Scene

    scene = Scene(humanoid())
    planner = MPPI(scene, MPPISettings(samples=32), seed=1)
    plan = planner.plan(scene.state("rest"), balance(scene))
    plan.controls[0]  # what to do now

These are the plain baselines for C-PBP. They differ in how they draw splines (`ask`) and in what
they make of the costs (`tell`), and in nothing else.

A spline is a row of knots at equal distances in time, straight lines between them; a knot is a
control: target velocities, then torque limits. Straight lines stay within the motors' bounds where
the knots do, and a cubic would not. There is no pose prior and no resampling.

The knots stay where they are in time while the horizon slides over them, so that the plan of one
frame is part of the next to the last bit, as hamalainen2014 asks of its splines. Sampling the
spline anew at every frame would blur it a little each time.

Trap: velocities do not remember a pose, so parts of the body that no term asks about wander: a
character that stands well by `balance` lets its arms and torso go.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tumble.errors import UserError, check_number
from tumble.goals import Goal
from tumble.maths.sampling import normalise
from tumble.planners.planner import Plan, Planner
from tumble.world.scene import Scene


@dataclass(frozen=True)
class SplineSettings:
    """What all samplers of splines have in common. Noise is in units of a joint's activity."""

    samples: int = 32  # splines a frame, the nominal one included; as C-PBP, hamalainen2015 section 4.3
    horizon: float = 1.2  # s; as C-PBP, hamalainen2015 section 4.3
    spacing: float = 0.4  # s from knot to knot; not given; ours
    calm_noise: float = 0.1  # standard deviation of a knot where the goal asks for no effort; not given; ours
    tense_noise: float = 2.5  # the same at full effort; not given; ours
    limit_spread: float = 0.3  # what an activity is to the torque limits; as C-PBP; ours
    control_weight: float = 0.5  # of the control's own cost; not given; ours

    def __post_init__(self) -> None:
        check_number("spacing", self.spacing, 0, 60.0, above=True)
        check_number("limit_spread", self.limit_spread, 0, above=True)
        for name in ("calm_noise", "tense_noise", "control_weight"):
            check_number(name, getattr(self, name), 0)


@dataclass(frozen=True)
class PredictiveSamplingSettings(SplineSettings):
    """Settings of predictive sampling: less noise than the others, whose means even it out."""

    calm_noise: float = 0.05  # standard deviation of a knot where the goal asks for no effort; not given; ours
    tense_noise: float = 1.5  # the same at full effort; not given; ours


@dataclass(frozen=True)
class CEMSettings(SplineSettings):
    """Settings of the cross-entropy method."""

    tense_noise: float = 3.0  # standard deviation of a knot at full effort; not given; ours
    elites: int = 4  # how many of the cheapest make the next distribution; not given; ours
    least_noise: float = 0.5  # floor of the standard deviation, as a share of the noise; not given; ours

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("least_noise", self.least_noise, 0)
        if not 1 <= self.elites <= self.samples:
            raise UserError(f"elites must be 1 to samples ({self.samples}), got {self.elites}")


@dataclass(frozen=True)
class MPPISettings(SplineSettings):
    """Settings of MPPI."""

    temperature: float = 0.1  # lambda over the median excess cost; not given; ours

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("temperature", self.temperature, 0, above=True)


class SplinePlanner(Planner):
    """Asks for splines, simulates them from now, tells their costs.

    The cost of a spline is the goal's along the way plus `control_weight` times the sum of
    ((control - neutral) / spread)^2 over steps and numbers, where neutral is zero velocity at full
    strength. The cheapest of all simulated splines is the plan.

    Noise goes from calm to tense with the effort that the goal asked for on the last plan, as the
    widths of C-PBP's priors do: no one width serves both standing still and getting up.

    Attributes:
      nominal: (knots, motors.size), what is sampled around; always simulated itself, in row 0.
      frame: plans made since `reset`; the horizon begins `frame` steps after the first one did.
      neutral: (motors.size,), the control of the first nominal spline.
    """

    figures: ClassVar[Mapping[str, str]] = {
        "best_slot": "number of the cheapest spline; 0 is the nominal one",
        "noise": "standard deviation of a knot at the present effort, in units of a joint's activity",
    }
    carried: ClassVar[tuple[str, ...]] = ("nominal", "frame", "_effort", "_spacing", "_every")

    def __init__(self, scene: Scene, settings: SplineSettings, seed: int = 0, nthread: int = 0) -> None:
        self.settings = settings
        motors, joints = scene.drive, scene.character.joints.values()
        self._activity = np.array([joint.activity for joint in joints])
        self.neutral = np.r_[np.zeros(motors.joints), np.ones(motors.size - motors.joints)]
        super().__init__(scene, settings.samples, settings.horizon, seed, nthread)

    def _forget(self) -> None:
        self._spacing = self.settings.spacing
        self._every = max(1, round(self._spacing / self.scene.dt))  # steps from knot to knot
        furthest = self._every - 1 + self.steps - 1  # the last step, where the horizon begins just before a knot
        self.nominal = np.tile(self.neutral, (1 + -(-furthest // self._every), 1))
        self.frame = 0
        self._effort = -1.0

    @abstractmethod
    def ask(self) -> np.ndarray:
        """Splines to simulate: (samples, knots, motors.size), a new array within the motors' bounds.

        Row 0 is then overwritten by the nominal spline.
        """

    @abstractmethod
    def tell(self, knots: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """The next nominal spline (knots, motors.size), from what was asked and what it cost.

        Args:
          knots: (samples, knots, motors.size).
          costs: (samples,), inf where a simulation broke; at least one is finite.
        """

    @property
    def spread(self) -> np.ndarray:
        """(motors.size,), the unit of noise: the joints' activities in rad/s, then `limit_spread`."""
        limits = self.scene.drive.size - self.scene.drive.joints
        return np.concatenate([self._activity, np.full(limits, self.settings.limit_spread)])

    @property
    def noise(self) -> float:
        """The standard deviation of a knot at the present effort, in units of `spread`."""
        calm, tense = self.settings.calm_noise, self.settings.tense_noise
        return float(calm + max(0.0, self._effort) * (tense - calm))

    @property
    def moved(self) -> bool:
        """True in a frame whose first knot is another than in the frame before."""
        return self.frame > 0 and self.frame % self._every == 0

    def around(self, deviation: np.ndarray) -> np.ndarray:
        """(samples, knots, motors.size): the nominal plus Gaussian noise, cut off at the motors' bounds."""
        knots = self.rng.standard_normal((self.settings.samples, *self.nominal.shape))
        knots *= deviation
        knots += self.nominal
        np.clip(knots, self.scene.drive.low, self.scene.drive.high, out=knots)
        return knots

    def plan(self, state: np.ndarray, goal: Goal) -> Plan:
        if self.settings.spacing != self._spacing:
            self._forget()
        sims = self.sims
        sims.load(state)
        if self._effort < 0:
            self._effort = float(goal.effort(goal.values(sims)[:1])[0])
        noise = self.noise
        if self.moved:
            self.nominal = later(self.nominal)
        knots = self.ask()
        knots[0] = self.nominal
        controls = interpolate(knots, self._every, self.frame % self._every, self.steps)
        values, roots = self._simulate(controls, goal)
        costs = self._costs(values, controls)
        best = int(np.argmin(costs))
        if np.isfinite(costs[best]):
            self.nominal = self.tell(knots, costs)
        self.frame += 1
        self._effort = float(goal.effort(values[:, best]).mean())
        return Plan(
            controls=controls[:, best].copy(),
            cost=float(costs[best]),
            values=values[:, best].copy(),
            path=roots[:, best].copy(),
            paths=roots.swapaxes(0, 1),
            smoothed=np.empty((0, 3)),
            effort=self._effort,
            sim_steps=controls.shape[0] * controls.shape[1],
            broken=int(sims.broken.sum()),
            statistics={"best_slot": best, "noise": noise},
        )

    def _simulate(self, controls: np.ndarray, goal: Goal) -> tuple[np.ndarray, np.ndarray]:
        """Act out controls (K, n, size) from where the simulations are: values (K, n, terms), roots (K, n, 3)."""
        sims, root = self.sims, self.sims.view("ends")[:, :3]
        values = np.empty((*controls.shape[:2], len(goal.terms)))
        roots = np.empty((*controls.shape[:2], 3))
        for k, control in enumerate(controls):
            sims.act(control)
            values[k] = goal.values(sims)
            roots[k] = root
        values[np.isnan(values)] = np.inf
        return values, roots

    def _costs(self, values: np.ndarray, controls: np.ndarray) -> np.ndarray:
        """(n,) of whole splines: the goal's values (K, n, terms), and the controls' (K, n, size) own."""
        scaled = (controls - self.neutral) / self.spread
        costs: np.ndarray = values.sum(axis=(0, 2))
        return costs + self.settings.control_weight * np.einsum("kij,kij->i", scaled, scaled)


class PredictiveSampling(SplinePlanner):
    """The cheapest spline is the next nominal one (Howell et al. 2022, "Predictive Sampling", MuJoCo MPC).

    **Departures.** The paper's knots move with the horizon, here they stay in time (see above); its noise
    is constant, here it follows effort (see `SplinePlanner`).
    """

    def __init__(
        self,
        scene: Scene,
        settings: PredictiveSamplingSettings = PredictiveSamplingSettings(),
        seed: int = 0,
        nthread: int = 0,
    ) -> None:
        super().__init__(scene, settings, seed, nthread)

    def ask(self) -> np.ndarray:
        return self.around(self.noise * self.spread)

    def tell(self, knots: np.ndarray, costs: np.ndarray) -> np.ndarray:
        best: np.ndarray = knots[np.argmin(costs)]
        return best.copy()


class CEM(SplinePlanner):
    """Mean and standard deviation of the cheapest splines are those of the next ones (Rubinstein 1999).

    Attributes:
      deviation: (knots, motors.size), of what is sampled.

    **Departures.** Rubinstein repeats draw and fit until the distribution has shrunk to a point; here
    one round a frame, the distribution is carried on to the next frame, and its width has a floor
    so that the character keeps on its guard.
    """

    carried = (*SplinePlanner.carried, "deviation")

    def __init__(self, scene: Scene, settings: CEMSettings = CEMSettings(), seed: int = 0, nthread: int = 0) -> None:
        super().__init__(scene, settings, seed, nthread)

    def ask(self) -> np.ndarray:
        if self.frame == 0:
            self.deviation = np.tile(self.noise * self.spread, (len(self.nominal), 1))
        elif self.moved:
            self.deviation = later(self.deviation)
        np.maximum(self.deviation, self.settings.least_noise * self.noise * self.spread, out=self.deviation)
        return self.around(self.deviation)

    def tell(self, knots: np.ndarray, costs: np.ndarray) -> np.ndarray:
        order = np.argsort(costs, kind="stable")[: self.settings.elites]
        elite = knots[order[np.isfinite(costs[order])]]
        self.deviation = elite.std(axis=0)
        mean: np.ndarray = elite.mean(axis=0)
        return mean


class MPPI(SplinePlanner):
    """The mean of all splines, weighted by exp(-cost / lambda), is the next nominal one (Williams et al. 2017).

    **Departures.** Williams et al. give lambda in units of cost; here it is relative to the costs
    at hand (see `softmin`), which go from 1 to 10^5. Their weights also hold the likelihood ratio of
    the noise, lambda u' Sigma^-1 noise, whose part the control cost plays here. The cheapest spline
    acts, as in the other planners; with them it is the mean, not simulated before.
    """

    def __init__(self, scene: Scene, settings: MPPISettings = MPPISettings(), seed: int = 0, nthread: int = 0) -> None:
        super().__init__(scene, settings, seed, nthread)

    def ask(self) -> np.ndarray:
        return self.around(self.noise * self.spread)

    def tell(self, knots: np.ndarray, costs: np.ndarray) -> np.ndarray:
        return np.tensordot(softmin(costs, self.settings.temperature), knots, axes=1)


def interpolate(knots: np.ndarray, every: int, phase: int, steps: int) -> np.ndarray:
    """(steps, n, size): splines (n, knots, size) with a knot `every` steps, from step `phase` on.

    Straight lines between knots; the last knot holds for ever. The same step of the same spline has
    the same bits whatever the phase.
    """
    left, share = np.divmod(np.arange(phase, phase + steps), every)
    last = knots.shape[1] - 1
    rows = knots.swapaxes(0, 1)
    start: np.ndarray = rows[np.minimum(left, last)]
    end: np.ndarray = rows[np.minimum(left + 1, last)]
    end -= start
    end *= (share / every)[:, None, None]
    end += start
    return end


def later(knots: np.ndarray) -> np.ndarray:
    """Knots (knots, size) without the first, the last one twice."""
    return np.concatenate([knots[1:], knots[-1:]])


def softmin(costs: np.ndarray, temperature: float) -> np.ndarray:
    """(n,) weights exp(-(cost - least) / lambda) that sum to 1; none where the cost is infinite.

    Lambda is `temperature` times the median excess over the least of the finite costs. Where that is
    0, the least costs share all weight; where no cost is finite, all rows do.
    """
    finite = costs[np.isfinite(costs)]
    if not finite.size:
        return np.full(costs.size, 1.0 / costs.size)
    excess = costs - finite.min()
    scale = temperature * np.median(finite - finite.min())
    logs = -excess / scale if scale > 0 else np.where(excess == 0, 0.0, -np.inf)
    return np.asarray(normalise(logs))
