"""Examples of placed steps of the biped, for `tumble.stepping.placing`: random stones, random aims and periods.

    python experiments/coros2010-ch3/walker_steps.py src/tumble/stepping/databases/biped.placed

60 trials of up to 20 stones, four minutes; what is there is written after each. A trial that falls keeps the steps up
to three before the fall.
"""

import sys
from pathlib import Path

import numpy as np

from tumble.characters import character
from tumble.scenarios import Trial
from tumble.scenarios.stones_walker import SteppingStones
from tumble.stepping.placer import Placer
from tumble.stepping.placing import FORMAT, VERSION, PlacedSteps, PlaceSettings, StepsHeader
from tumble.world.scene import Scene

TRIALS, SEED = 60, 10_000  # seeds from here on, which nothing is measured on
SHAKEN, QUICKER = 0.04, 0.1  # m off the middles, s off the period
LOST = 3  # steps before a fall that are left out


class Exploring(Placer):
    """Aims at random places of stones, with random periods."""

    def __init__(self, scene: Scene, seed: int) -> None:
        super().__init__(scene, PlaceSettings(horizon=0), seed)
        self._rng = np.random.default_rng((seed, 7))

    def chosen(self, aims: np.ndarray, period: float) -> tuple[np.ndarray, float]:
        aims = aims.copy()
        aims[0, :2] += self._rng.uniform(-SHAKEN, SHAKEN, 2)
        return aims, float(period + self._rng.uniform(-QUICKER, QUICKER))


def main(path: Path) -> None:
    """Walk, note, write."""
    header = StepsHeader(FORMAT, VERSION, "biped", f"walker_steps.py {path.name}")
    queries, outcomes = list[np.ndarray](), list[np.ndarray]()
    for seed in range(SEED, SEED + TRIALS):
        rng = np.random.default_rng((seed, 9))
        lateral, height, tilt, spacing = rng.uniform((0, 0, 0, 0.32), (0.15, 0.1, 8.0, 0.45))
        scenario = SteppingStones(
            lateral=float(lateral),
            height=float(height * (seed % 2)),
            tilt=float(tilt),
            spacing=float(spacing),
            spread=0.04,
        )
        scene = scenario.scene(character("biped"), seed)
        made = Exploring(scene, seed)
        trial = Trial(scenario, seed, "placer", scene=scene, made=made)
        while not trial.over:
            trial.step()
        seen = made.seen[: -LOST or None] if trial.history.falls() else made.seen
        queries += [query for query, _ in seen]
        outcomes += [outcome for _, outcome in seen]
        print(seed, trial.verdict, len(queries), flush=True)
        PlacedSteps(header, np.array(queries, np.float32), np.array(outcomes, np.float32)).write(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
