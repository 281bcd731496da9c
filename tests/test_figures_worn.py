"""Skins as they are worn: where points are while the bodies move, in pictures and in browsers."""

import base64

import mujoco
import numpy as np
import pytest

from tumble.characters import biped, character, humanoid
from tumble.figures import Worn, worn_by
from tumble.figures.figure import to_file
from tumble.figures.worn import to_world
from tumble.film.skins import worn_in
from tumble.maths.rotations import about, multiply, turned
from tumble.scenarios import SCENARIOS
from tumble.studio import skins as studio_skins
from tumble.studio.skins import shape_of, skins_of
from tumble.world.props import Companion
from tumble.world.scene import Scene

ROBOT = """<mujoco><asset><mesh name="m" vertex="0 0 0  .1 0 0  0 .1 0  0 0 .1"/></asset><worldbody>
<body name="hips" pos="0 0 1"><freejoint/><geom type="mesh" mesh="m" mass="1"/>
<body name="left_foot" pos="0 .1 -.5"><joint name="a"/><geom type="box" size=".1 .05 .02" mass="1"/></body>
<body name="right_foot" pos="0 -.1 -.5"><joint name="b"/><geom type="box" size=".1 .05 .02" mass="1"/></body>
</body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def worn() -> Worn:
    found = worn_by(humanoid())
    assert found is not None
    return found


def points_of(worn: Worn) -> np.ndarray:
    return np.concatenate([mesh.points for mesh in worn.meshes])


def test_axes_of_files_and_back():
    vectors = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(to_world(to_file(vectors)), vectors)


def test_at_rest_points_are_where_they_were_made(worn):
    points, normals = worn.posed(worn.places, worn.turns)
    assert np.abs(points - points_of(worn)).max() < 1e-5
    assert np.abs(normals - np.concatenate([mesh.normals for mesh in worn.meshes])).max() < 1e-5


def test_a_body_that_moves_as_a_whole_takes_all_points_along(worn):
    turn, way = about(np.array([0.0, 0.6, 0.8]), 2.5), np.array([3.0, -1.0, 0.5])
    places, turns = way + turned(turn, worn.places), multiply(turn, worn.turns)
    points, _ = worn.posed(places, turns)
    assert np.abs(points - way - turned(turn, points_of(worn))).max() < 1e-5


@pytest.mark.parametrize("body", ["humanoid", "biped", "raptor", "quadruped"])
def test_every_point_has_up_to_four_bones(body):
    worn = worn_by(character(body))
    assert worn is not None
    for mesh in worn.meshes:
        assert mesh.weights.sum(1) == pytest.approx(np.ones(len(mesh.points)))
        assert mesh.weights.shape[1] == 4 and mesh.weights.min() >= 0
        assert mesh.joints.min() >= 0 and mesh.joints.max() < 2 * len(worn.names)
        assert (np.diff(mesh.weights, axis=1) <= 1e-12).all()  # the largest first


def test_a_bent_elbow_stays_round(worn):
    """Bent by 140 degrees, the outside of the elbow is as far from the joint as at rest, within a sixth."""
    fore = worn.names.index("left_forearm")
    upper, hinge = worn.parents[fore], worn.hinges[fore]
    outward = worn.hinges[fore] - worn.hinges[upper]
    axis = np.cross(outward / np.linalg.norm(outward), [1.0, 0.0, 0.0])
    turn = about(axis / np.linalg.norm(axis), np.radians(140))
    places, turns = worn.places.copy(), worn.turns.copy()
    for body in range(len(worn.names)):
        above = body
        while above > fore:
            above = worn.parents[above]
        if above == fore:
            places[body] = hinge + turned(turn, places[body] - hinge)
            turns[body] = multiply(turn, turns[body])
    rest = points_of(worn)
    ring = np.linalg.norm(rest - hinge, axis=1) < 0.06
    ring &= np.abs((rest - hinge) @ outward / np.linalg.norm(outward)) < 0.012
    before = np.linalg.norm(rest[ring] - hinge, axis=1)
    after = np.linalg.norm(worn.posed(places, turns)[0][ring] - hinge, axis=1)
    assert ring.sum() > 20 and (after / before).min() > 5 / 6


def test_the_same_recipe_has_the_same_skin(worn):
    assert worn_by(humanoid()) is worn
    assert worn_by(biped()) is not worn
    assert len(points_of(worn_by(humanoid(), 1.6))) < 0.5 * len(points_of(worn))


# --- scenes


def cast() -> Scene:
    """A character, one of the same recipe in another shirt, and a taller one."""
    body = biped()
    same = Companion("same", body.recipe, (1.0, 0.0), 0.0, (1.0, 0.0, 0.0))
    tall = Companion("tall", biped(legs=1.2).recipe, (2.0, 0.0), 0.0, (0.0, 1.0, 0.0))
    return Scene(body, [same, tall])


def test_physics_and_states_know_of_no_skin():
    scene = Scene(humanoid())
    assert worn_in(scene, quick=True).keys() == {""}
    assert scene.model.nskin == 0 and scene.spec.copy().compile().nskin == 0


def test_browsers_are_told_shapes_once_and_who_wears_them():
    scene = cast()
    told = skins_of(scene)
    assert [wearer["shape"] for wearer in told["wearers"]] == [0, 0, 1]
    mine, same, tall = told["wearers"]
    assert all(scene.model.body(body).name.startswith("same/") for body in same["bodies"])
    differ = [(a, b) for a, b in zip(mine["colors"], same["colors"], strict=True) if a != b]
    assert differ == [("#2973a8", "#ff0000")]
    assert "#00ff00" in tall["colors"]


def test_what_browsers_are_told_is_the_skin():
    worn = worn_by(humanoid(), studio_skins.COARSE)
    told = shape_of(worn)

    def numbers(name: str, kind: str, width: int) -> np.ndarray:
        return np.frombuffer(base64.b64decode(told[name]), kind).reshape(-1, width).astype(float)

    points = numbers("points", "<i2", 3) * told["size"]
    assert np.abs(points - points_of(worn)).max() < 1e-4
    assert np.abs(numbers("normals", "i1", 3) / 127 - np.concatenate([m.normals for m in worn.meshes])).max() < 0.005
    weights = numbers("weights", "u1", 4)
    assert (weights.sum(1) == 255).all()
    assert np.abs(weights / 255 - np.concatenate([m.weights for m in worn.meshes])).max() < 4 / 255
    assert numbers("joints", "u1", 4).max() < 2 * len(worn.names)
    triangles = numbers("triangles", "<u2", 3)
    assert len(triangles) == sum(told["counts"]) and triangles.max() == len(points) - 1
    places = np.array(told["rest"])
    assert np.abs(places - np.hstack([worn.places, worn.turns])).max() < 1e-6


def test_a_shape_is_small():
    """So that the page, of 2.3 MB without, is within 3 MB."""
    told = shape_of(worn_by(biped(), studio_skins.COARSE))
    assert told is not None and sum(len(part) for part in told.values() if isinstance(part, str)) < 400_000


def test_many_different_bodies_are_drawn_in_parts(monkeypatch):
    monkeypatch.setattr(studio_skins, "SHAPES", 1)
    assert skins_of(cast()) == {"shapes": [], "wearers": []}
    scenario = SCENARIOS["crowd"]()
    scene = scenario.scene(scenario.body(None, 0), 0)
    monkeypatch.undo()
    assert skins_of(scene)["wearers"] == [] and len(scene.cast) > studio_skins.SHAPES


def test_a_robot_of_meshes_keeps_its_parts(tmp_path):
    from tumble.characters.mjcf import from_file

    place = tmp_path / "robot.xml"
    place.write_text(ROBOT)
    robot, _ = from_file(place, {"head": "hips", "trunk": "hips"})
    assert worn_by(robot) is None
    assert skins_of(Scene(robot)) == {"shapes": [], "wearers": []}
    assert mujoco.mjtGeom.mjGEOM_MESH.value in robot.build().compile().geom_type
