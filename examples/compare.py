"""Compare planners on the same push, at equal simulation steps, and measure where the cost goes.

python examples/compare.py         # the whole scenario each; a number says how many seconds instead
"""

import sys
from dataclasses import replace

import numpy as np

from tumble import CONTROLLERS, SCENARIOS, Trial, run_trial

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else None
BUDGET = {"samples": 32, "horizon": 1.2}  # 32 futures of 36 steps a frame

print("planner   success  ms a plan  steps  costliest terms")
for name in ("cpbp", "ps", "cem", "mppi"):
    settings = replace(CONTROLLERS[name].settings(), **BUDGET)
    trial = Trial(SCENARIOS["push"](force=400.0), seed=7, controller=name, settings=settings, seconds=seconds)
    values = []

    def watch(session, values=values) -> None:
        """Keep every term's value on the best path."""
        session.listeners.append(lambda session, frame: values.append(session.controller.report().plan.values.mean(0)))

    result = run_trial(trial, watch)
    names, means = trial.controller.report().names, np.mean(values, axis=0)
    costly = ", ".join(f"{names[i]} {means[i]:.1f}" for i in np.argsort(means)[::-1][:3])
    plan = 1000 * np.median(result.plan_seconds)
    print(f"{name:9} {'yes' if result.success else 'no':7} {plan:9.0f} {result.sim_steps:8} {costly}")
