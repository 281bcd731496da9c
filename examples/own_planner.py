"""A planner of one's own: random shooting around the last plan, in 20 lines; chosen by its name like ours.

python examples/own_planner.py     # 2 s; a number says how many seconds instead
tumble run examples/own_planner.py stand --controller shooting --seconds 2
tumble run examples/own_planner.py push --controller shooting --wildness 0.5 --trials 3
"""

import sys
from dataclasses import dataclass

import numpy as np

from tumble import SCENARIOS, Trial, planners, run_trial
from tumble.planners.splines import SplinePlanner, SplineSettings
from tumble.world.scene import Scene


@dataclass(frozen=True)
class ShootingSettings(SplineSettings):
    """Fields are options of the terminal and sliders of the studio; the comment beside one explains it."""

    wildness: float = 0.2  # standard deviation of a knot, in units of a joint's activity


class Shooting(SplinePlanner):
    """Draws splines around the best one of the last frame, and takes the cheapest."""

    def __init__(
        self, scene: Scene, settings: ShootingSettings = ShootingSettings(), seed: int = 0, nthread: int = 0
    ) -> None:
        super().__init__(scene, settings, seed, nthread)

    def ask(self) -> np.ndarray:
        """(samples, knots, size): what is simulated; row 0 becomes the last plan itself."""
        return self.around(self.settings.wildness * self.spread)

    def tell(self, knots: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """(knots, size): what the next frame draws around."""
        return knots[np.argmin(costs)].copy()


planners.register("shooting", Shooting, "random shooting around the last plan", settings=ShootingSettings)

if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    trial = Trial(SCENARIOS["stand"](), seed=1, controller="shooting", seconds=seconds)
    result = run_trial(trial)
    print(f"{result.sim_steps} simulation steps, {1000 * np.median(result.plan_seconds):.0f} ms a plan")
