"""First controllers that ship: they come to their goals, from more states than their target, and do what they say."""

import math
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest

from tumble.attraction.first import first_points
from tumble.attraction.references import references
from tumble.attraction.skills import SKILLS, sides
from tumble.attraction.systems import system_named
from tumble.attraction.upright import UprightSystem
from tumble.maths.vectors import yaws

STORED = sorted(file.name.removesuffix(".json") for file in (resources.files("tumble.attraction") / "firsts").iterdir())
PUSHED = [name for name in STORED if SKILLS[name].domain == "push"]
SMALL = 25.0  # kappa, N: pushes of up to 2.5 N s
STATES = 8
# of them, at least; experiments/alborno2016/results/firsts.json has their shares of 64, by which a draw of 8 has fewer
# once in 200 times or less
ENOUGH = {"crouch-stand": 7, "stand-crouch": 7, "jump": 6, "twist": 1}


@pytest.mark.parametrize("name", STORED)
def test_it_reaches_its_goal_from_its_target(name):
    system, track = system_named(name), references(first_points(name))
    assert system.roll(system.target[None], [track]).reached.tolist() == [True]


@pytest.mark.parametrize("name", PUSHED)
def test_it_bears_small_pushes(name):
    system, track = system_named(name), references(first_points(name))
    states = system.sample(SMALL, STATES, np.random.default_rng(7))
    assert system.roll(states, [track] * STATES).reached.sum() >= ENOUGH[name]


@pytest.mark.parametrize("name", PUSHED)
def test_it_begins_where_the_body_is(name):
    """References that begin elsewhere than the skill would jerk a body that stands."""
    assert first_points(name)[0].tolist() == pytest.approx(sides(SKILLS[name].start, system_named(name).names))


def test_a_jump_leaves_the_ground():
    """As a rollout that must fly higher finds."""
    system, track = system_named("jump"), references(first_points("jump"))
    assert SKILLS["jump"].flight == 0.1
    assert system.roll(system.target[None], [track]).reached[0]
    too_high = UprightSystem(replace(SKILLS["jump"], flight=0.3))
    assert not too_high.roll(too_high.target[None], [track]).reached[0]


def test_a_twist_turns_by_its_angle_and_lands_within_half_a_metre():
    system, track = system_named("twist"), references(first_points("twist"))
    rolled = system.roll(system.target[None], [track], trace=len(track))
    facing = np.degrees(yaws(rolled.trace[0, :, 3:7]))
    assert facing[0] == pytest.approx(math.degrees(SKILLS["twist"].heading), abs=2.0)
    assert abs(facing[-1]) < 15.0
    assert np.linalg.norm(rolled.trace[0, -1, :2]) < 0.5  # m; its hop goes 0.35
