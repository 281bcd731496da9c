"""What the characters can do, measured over seeds against stated rates. Slow: an hour."""

import numpy as np
import pytest

from tumble.planners import CPBPSettings
from tumble.scenarios import SCENARIOS, Result, Trial, run_trial

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


def trials(name: str, count: int, **options) -> list[Result]:
    """C-PBP with 32 walkers, a fresh planner for every seed from 0 on."""
    scenario, settings = SCENARIOS[name](**options), CPBPSettings(samples=32)
    return [run_trial(Trial(scenario, seed, "cpbp", settings=settings)) for seed in range(count)]


def successes(results: list[Result]) -> int:
    return sum(result.success for result in results)


def test_stands_ten_of_ten_and_quietly():
    results = trials("stand", 10)
    assert successes(results) == 10
    assert np.mean([result.metrics["rms_joint_speed"] for result in results]) < 0.15
    assert sum(result.metrics["falls"] for result in results) == 0


@pytest.mark.parametrize(
    ("name", "options", "least"),
    [
        ("push", {"force": 400.0}, 9),
        ("push", {"force": 600.0}, 7),
        ("wall", {}, 7),
        ("getup", {}, 8),
        ("getup-prone", {}, 8),
        ("reach", {}, 7),
        ("ball", {}, 5),
        ("ball", {"rolling": 0.0, "until": 20.0}, 8),
        ("juggle", {}, 4),
        ("turbo", {}, 6),
    ],
    ids=str,
)
def test_succeeds_so_many_times_of_ten(name, options, least):
    assert successes(trials(name, 10, **options)) >= least


def test_walks_where_it_is_steered():
    results = trials("steer", 3)
    assert np.mean([result.metrics["speed_along"] for result in results]) > 0.5


def test_no_simulation_breaks():
    results = trials("getup", 2) + trials("push", 2) + trials("turbo", 1) + trials("juggle", 1)
    assert sum(result.broken_rows for result in results) == 0
