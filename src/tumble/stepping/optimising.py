"""Optimisers of windows: which actions have the next three steps land on their stones (coros2010 section 3.3.2).

    plans, run = improved(world, starts, targets, plans, run, Optimising())

All windows are improved side by side; `targets` (n, w) are m from the heel that stands first to the stones.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tumble.errors import UserError, check_number
from tumble.stepping.problems import GAMMA, residuals
from tumble.stepping.windows import StepWorld, Walked

OPTIMISERS = ("gauss-newton", "gradient")
DAMPINGS = (0.003, 0.03, 0.3, 1.0)  # lambda of the plans that are tried, in means of diag(J^T J); ours
HALVINGS = 8  # bisections of a gradient step; ours
FARTHEST = 0.5  # rad by which a gradient step may change a number at most; ours
ENOUGH = 1e-5  # m^2 by which an iteration must improve a window to be followed by another; ours
THESIS_ITERATIONS = 15  # of gradient descent, at most; section 3.3.2
RESCUES = 32  # plans that are tried for a window in which somebody falls; ours
RESCUE_ANGLE, RESCUE_DWELL = 0.15, 0.06  # rad and s, standard deviations by which they differ; ours


@dataclass(frozen=True)
class Optimising:
    """How a window is optimised.

    Attributes:
      optimiser: "gradient" is the thesis's.
      iterations: at each place of the window; an action is in three of them.
      uses: steps by one Jacobian; a second one is cheap, as it simulates no differences.
    """

    optimiser: Literal["gauss-newton", "gradient"] = "gauss-newton"
    iterations: int = 1  # thesis: at most 15 of gradient descent
    uses: int = 1

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            raise UserError(f"no optimiser '{self.optimiser}'; there are: {', '.join(OPTIMISERS)}")
        check_number("iterations", self.iterations, 1, 100)
        check_number("uses", self.uses, 1, 10)

    @property
    def centred(self) -> bool:
        """Whether differences are centred, in the plane, as the thesis has them."""
        return self.optimiser == "gradient"


def costs(world: StepWorld, targets: np.ndarray, plans: np.ndarray, run: Walked) -> np.ndarray:
    """(n,) f of windows that were simulated."""
    found: np.ndarray = (_residuals(world, targets, plans, run) ** 2).sum(axis=1)
    return found


def _residuals(world: StepWorld, targets: np.ndarray, plans: np.ndarray, run: Walked) -> np.ndarray:
    fell = ~np.logical_and.accumulate(run.stood, axis=1)
    return residuals(world.base, run.lengths.cumsum(axis=1) - targets, run.lateral, plans, fell)


def improved(
    world: StepWorld, starts: np.ndarray, targets: np.ndarray, plans: np.ndarray, run: Walked, how: Optimising
) -> tuple[np.ndarray, Walked]:
    """Better plans (n, w, p) for windows from states (n, nstate), and what comes of them; never worse ones.

    Args:
      run: what comes of the plans as they are.
    """
    plans, going = plans.copy(), np.arange(len(plans))
    run = Walked(*(one.copy() for one in run))
    for _ in range(how.iterations):
        old = costs(world, targets[going], plans[going], run.some(going))
        jacobian = jacobian_of(
            world, starts[going], plans[going], run.some(going), how.centred and not world.base.space
        )
        for _ in range(how.uses):
            _step(world, starts, targets, plans, run, going, jacobian, how)
        going = going[costs(world, targets[going], plans[going], run.some(going)) < old - ENOUGH]
        if not going.size:
            break
    return plans, run


def _step(
    world: StepWorld, starts: np.ndarray, targets: np.ndarray, plans: np.ndarray, run: Walked, going: np.ndarray,
    jacobian: np.ndarray, how: Optimising,
) -> None:  # fmt: skip
    """Have plans of the windows `going`, and what comes of them, be better by a step, where one of some is."""
    now, r = plans[going], _residuals(world, targets[going], plans[going], run.some(going))
    steps = (_descent if how.optimiser == "gradient" else _gauss_newton)(jacobian, r)
    asked = now[:, None] + steps.reshape(len(now), -1, *now.shape[1:])
    best, found, cost = _cheapest(world, starts[going], targets[going], asked)
    better = cost < (r**2).sum(axis=1)
    for whole, part in zip(run, found, strict=True):
        whole[going[better]] = part[better]
    plans[going[better]] = best[better]


def rescued(
    world: StepWorld, starts: np.ndarray, targets: np.ndarray, plans: np.ndarray, run: Walked, rng: np.random.Generator
) -> tuple[np.ndarray, Walked]:
    """The same, with cheaper plans for windows in which somebody falls, where a few drawn around theirs have any."""
    down = np.flatnonzero(~run.stood.all(axis=1))
    if not down.size:
        return plans, run
    n, (w, p) = len(down), plans.shape[1:]
    spread = np.append(np.full(p - 1, RESCUE_ANGLE), RESCUE_DWELL)
    asked = plans[down, None] + spread * rng.standard_normal((n, RESCUES, w, p))
    asked[:, 0] = plans[down]
    asked[:, 1] = world.base.action
    best, found, _ = _cheapest(world, starts[down], targets[down], asked)
    plans, run = plans.copy(), Walked(*(one.copy() for one in run))
    plans[down] = best
    for whole, part in zip(run, found, strict=True):
        whole[down] = part
    return plans, run


def jacobian_of(world: StepWorld, starts: np.ndarray, plans: np.ndarray, run: Walked, both: bool = False) -> np.ndarray:
    """(n, r, w p) of the residuals by the numbers of plans, by differences; that of the actions' own cost is exact."""
    slopes, (n, w, _) = world.slopes(starts, plans, run, both), plans.shape
    up = np.logical_and.accumulate(run.stood, axis=1)[:, None]
    ahead = np.where(up, slopes.lengths.cumsum(axis=2), 0.0)
    weights = np.tile(np.sqrt(GAMMA * np.array(world.base.weights)), w)
    parts = [ahead, np.repeat(np.diag(weights)[None], n, axis=0)]
    if world.base.space:
        parts.append(np.where(up, slopes.lateral, 0.0))
    return np.concatenate(parts, axis=2).transpose(0, 2, 1)


def _gauss_newton(jacobian: np.ndarray, r: np.ndarray) -> np.ndarray:
    """(n, c, w p) steps -(J^T J + lambda I)^-1 J^T r for some lambda."""
    square = np.einsum("nra,nrb->nab", jacobian, jacobian)
    slope = np.einsum("nra,nr->na", jacobian, r)
    size = np.trace(square, axis1=1, axis2=2)[:, None, None] / square.shape[1]
    eye = np.eye(square.shape[1])
    steps = [-np.linalg.solve(square + damping * size * eye, slope[..., None])[..., 0] for damping in DAMPINGS]
    return np.stack(steps, axis=1)


def _descent(jacobian: np.ndarray, r: np.ndarray) -> np.ndarray:
    """(n, c, w p) steps against the gradient 2 J^T r: the largest changes a number by `FARTHEST`, each halves it."""
    slope = np.einsum("nra,nr->na", jacobian, r)
    largest = np.maximum(np.abs(slope).max(axis=1), 1e-12)[:, None]
    halves = 0.5 ** np.arange(HALVINGS)
    found: np.ndarray = -FARTHEST * halves[None, :, None] * (slope / largest)[:, None]
    return found


def _cheapest(
    world: StepWorld, starts: np.ndarray, targets: np.ndarray, asked: np.ndarray
) -> tuple[np.ndarray, Walked, np.ndarray]:
    """Of plans (n, c, w, p) the cheapest of each window, what comes of it, and what it costs."""
    n, c, w, p = asked.shape
    run = world.rolled(np.repeat(starts, c, axis=0), asked.reshape(n * c, w, p))
    cost = costs(world, np.repeat(targets, c, axis=0), asked.reshape(n * c, w, p), run).reshape(n, c)
    best = np.arange(n) * c + cost.argmin(axis=1)
    return asked.reshape(n * c, w, p)[best], run.some(best), cost.min(axis=1)
