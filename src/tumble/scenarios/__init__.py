"""Scenarios by name, and the types they are made of."""

from tumble.scenarios.balancing import Explosion, GetUp, GetUpProne, Push, Stand
from tumble.scenarios.run import Result, run_trial
from tumble.scenarios.scenario import Scenario, Trial
from tumble.scenarios.track import Track

__all__ = ["SCENARIOS", "Result", "Scenario", "Track", "Trial", "run_trial"]

SCENARIOS: dict[str, type[Scenario]] = {kind.name: kind for kind in (Stand, Push, GetUp, GetUpProne, Explosion)}
