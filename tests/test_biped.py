"""Bipeds of any proportions: masses, lengths, feet on the ground, and what is refused."""

import mujoco
import numpy as np
import pytest

from tumble.characters import character, from_recipe
from tumble.characters.biped import MASS, biped, knee_for
from tumble.errors import UserError
from tumble.world.scene import ROOM, Ground, Scene

NAMES = ["biped", "robot", "beast1", "beast2"]


def scene_of(made) -> Scene:
    return Scene(made, ground=Ground(friction=0.8))


def test_the_humanoid_is_that_of_the_thesis():
    model = scene_of(biped()).model
    assert model.nv == 37
    assert model.body_subtreemass[0] == pytest.approx(MASS, abs=1e-6)
    assert model.nuserdata == ROOM


@pytest.mark.parametrize("name", NAMES)
def test_named_bipeds_stand_with_both_feet_flat(name):
    scene = scene_of(character(name))
    data = scene.show(scene.state())
    for side in ("left", "right"):
        foot = data.xmat[scene.body(f"{side}_foot")].reshape(3, 3)
        assert foot[2, 2] == pytest.approx(1, abs=1e-6)
    soles = [
        data.geom_xpos[i, 2] - scene.model.geom_size[i, 0]
        for i in range(scene.model.ngeom)
        if "foot" in scene.model.body(scene.model.geom_bodyid[i]).name
    ]
    assert np.ptp(soles) < 1e-6 and abs(min(soles)) < 1e-6


def test_the_robot_has_a_longer_heavier_arm_and_a_higher_knee():
    model = scene_of(character("robot")).model
    left, right = (model.body(f"{side}_forearm") for side in ("left", "right"))
    assert left.mass[0] / right.mass[0] == pytest.approx(1.4)
    assert left.pos[2] / right.pos[2] == pytest.approx(1.4)
    assert model.body("right_shin").pos[2] - model.body("left_shin").pos[2] == pytest.approx(-0.2)
    assert model.body("left_foot").pos[2] + model.body("left_shin").pos[2] == pytest.approx(
        model.body("right_foot").pos[2] + model.body("right_shin").pos[2]
    )


@pytest.mark.parametrize("name", ["beast1", "beast2"])
def test_beasts_have_much_of_their_mass_in_the_pelvis(name):
    model = scene_of(character(name)).model
    assert model.body("pelvis").mass[0] == max(model.body_mass)
    assert model.body("pelvis").mass[0] > 0.3 * model.body_subtreemass[0]


def test_masses_go_with_volume():
    small, large = (scene_of(biped(size=size)).model for size in (1.0, 1.2))
    assert large.body_mass[1:] == pytest.approx(1.2**3 * small.body_mass[1:])
    longer = scene_of(biped(arms=1.3)).model
    assert longer.body("left_forearm").mass[0] == pytest.approx(1.3 * small.body("left_forearm").mass[0])


def test_knee_for_inverts_the_law_of_cosines():
    for knee in (0.1, 0.7, 1.8):
        reach = np.hypot(0.4 + 0.46 * np.cos(knee), 0.46 * np.sin(knee))
        assert knee_for(0.4, 0.46, reach) == pytest.approx(knee, abs=1e-6)


def test_recipes_make_the_same_body_again():
    made = biped("odd", legs=1.2, left_arm=1.3, right_knee=0.1)
    assert scene_of(from_recipe(made.recipe)).fingerprint == scene_of(made).fingerprint


def test_hinges_of_a_ball_joint_meet_in_one_point():
    scene = scene_of(biped())
    data = mujoco.MjData(scene.model)
    data.qpos[:] = scene.show(scene.state()).qpos
    mujoco.mj_kinematics(scene.model, data)
    ids = [scene.model.joint(f"left_hip_{way}").id for way in ("bend", "side", "turn")]
    assert np.ptp(data.xanchor[ids], axis=0).max() < 1e-12


@pytest.mark.parametrize(
    ("proportions", "message"),
    [
        ({"legs": 0.1}, "legs must be a number 0.4 or more and at most 2.5, got 0.1"),
        ({"legs": float("nan")}, "legs must be a number 0.4 or more and at most 2.5, got nan"),
        ({"left_knee": 0.5}, "left_knee must be a number -0.3 or more and at most 0.3, got 0.5"),
        ({"left_knee": 0.3, "legs": 0.7}, "left_knee must leave thigh and shin 15 % of the leg each, got 0.3"),
        ({"left_leg": 0.6}, "legs must differ by at most 30 % in length, got 0.55 m and 0.92 m"),
        ({"wings": 2.0}, "no proportion 'wings' of a biped; there are: size, legs, arms"),
    ],
)
def test_bad_proportions_are_refused(proportions, message):
    with pytest.raises(UserError) as caught:
        biped(**proportions)
    assert message in str(caught.value)
