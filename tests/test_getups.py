"""First controllers for getting up from the back: rolling over to the left, and rocking forwards onto the feet."""

import mujoco
import numpy as np
import pytest

from tumble.attraction.first import first_points
from tumble.attraction.fits import FITS
from tumble.attraction.references import references
from tumble.attraction.skills import SKILLS
from tumble.attraction.systems import system_named
from tumble.attraction.upright import UprightSystem
from tumble.world.placing import lowest

NAMES = ("getup-2", "getup-3")
LEVEL = 0.25  # alpha of the small domain
SAMPLES = 8
MOST = 4  # of them: more than so many succeed; of 64 it was 55 and more, on two seeds
STANDING = 30  # frames after the track that are looked at
SUNK = -0.05  # m; contacts are soft: a foot that lands is pressed in by up to 0.037 m for a frame, measured


def rolled(name):
    """The first controller of a strategy, from its target: the system, and what came of it."""
    system = system_named(name)
    track = references(first_points(name))
    return system, system.roll(system.target[None], [track], trace=len(track) + STANDING)


@pytest.mark.parametrize("name", NAMES)
def test_it_gets_up_from_its_target(name):
    assert rolled(name)[1].reached.all()


@pytest.mark.parametrize("name", NAMES)
def test_it_gets_up_from_most_states_nearby(name):
    system = system_named(name)
    states = system.sample(LEVEL, SAMPLES, np.random.default_rng(5))
    assert system.roll(states, [references(first_points(name))] * SAMPLES).reached.sum() > MOST


@pytest.mark.parametrize("name", NAMES)
def test_no_limb_sinks_into_the_ground(name):
    system, found = rolled(name)
    model = system.drive.model
    data = mujoco.MjData(model)
    for state in found.trace[0]:
        data.qpos[:] = state[: model.nq]
        mujoco.mj_kinematics(model, data)
        assert lowest(model, data, system.scene.root()) > SUNK


def test_one_rolls_over_and_the_other_does_not():
    """By how far the pelvis faces up, the z of its x axis: 1 on the back, -1 on the face."""
    up = {}
    for name in NAMES:
        w, x, y, z = rolled(name)[1].trace[0, :, 3:7].T
        up[name] = 2 * (x * z - w * y)
    assert all(facing[0] > 0.9 for facing in up.values())
    assert up["getup-2"].min() < -0.9
    assert up["getup-3"].min() > -0.7  # it leans ahead over its feet


def test_fits_are_of_skills_that_have_a_first_controller():
    assert set(NAMES) <= set(FITS)
    for name in FITS:
        assert isinstance(system_named(name), UprightSystem) and name in SKILLS
        assert len(first_points(name)) > len(first_points(SKILLS[name].then))
