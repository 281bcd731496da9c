"""What the characters can do, measured over seeds against stated rates. Slow: minutes."""

import numpy as np
import pytest

from tumble.goals import balance
from tumble.planners import CPBP, CPBPSettings, Planned
from tumble.scenarios import SCENARIOS, Result, run_trial

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def trials(scene, name: str, seeds: range, **options) -> list[Result]:
    """C-PBP with 32 walkers, a fresh planner for every seed."""
    results = []
    for seed in seeds:
        planned = Planned(CPBP(scene, CPBPSettings(samples=32), seed), balance(scene))
        results.append(run_trial(SCENARIOS[name](**options), scene, planned, seed))
    return results


def successes(results: list[Result]) -> int:
    return sum(result.success for result in results)


def test_stands_ten_of_ten_and_quietly(scene):
    results = trials(scene, "stand", range(10))
    assert successes(results) == 10
    assert np.mean([result.metrics["rms_joint_speed"] for result in results]) < 0.15
    assert sum(result.metrics["falls"] for result in results) == 0


def test_withstands_a_push_of_400_newtons_nine_times_of_ten(scene):
    assert successes(trials(scene, "push", range(10), force=400.0)) >= 9


def test_withstands_or_recovers_from_600_newtons_seven_times_of_ten(scene):
    assert successes(trials(scene, "push", range(10), force=600.0)) >= 7


def test_gets_up_eight_times_of_ten(scene):
    assert successes(trials(scene, "getup", range(10))) >= 8


def test_gets_up_from_its_face_eight_times_of_ten(scene):
    assert successes(trials(scene, "getup-prone", range(10))) >= 8


def test_no_simulation_breaks(scene):
    results = trials(scene, "getup", range(2)) + trials(scene, "push", range(2))
    assert sum(result.broken_rows for result in results) == 0
