"""The skin: a closed surface around what is drawn of a body, which goes with its bones."""

from functools import cache

import numpy as np
import pytest

from tumble.characters import character
from tumble.figures.figure import Figure
from tumble.figures.shapes import Mesh, rigid, tessellated
from tumble.figures.skin import skin
from tumble.figures.surface import slopes, surface


def volume(mesh: Mesh) -> float:
    """Of what closed triangles enclose, m^3; above 0 where they are counterclockwise from outside."""
    a, b, c = (mesh.points[mesh.triangles[:, i]] for i in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


@cache
def skinned(body: str) -> tuple[Figure, list[Mesh]]:
    figure = Figure.of(character(body))
    return figure, skin(figure)


# --- surfaces


def test_a_ball_is_a_closed_surface_of_its_area():
    points, triangles = surface(lambda p: np.linalg.norm(p, axis=1) - 0.1, np.full(3, -0.13), np.full(3, 0.13), 0.01)
    assert np.abs(np.linalg.norm(points, axis=1) - 0.1).max() < 1e-4
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), 1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()  # closed
    ball = Mesh(points, points, triangles, np.ones(4))
    assert volume(ball) == pytest.approx(4 / 3 * np.pi * 0.1**3, rel=0.01)


def test_slopes_are_gradients():
    points = np.random.default_rng(0).normal(size=(20, 3))
    found = slopes(lambda p: np.linalg.norm(p, axis=1) - 1, points)
    assert np.allclose(found, points / np.linalg.norm(points, axis=1, keepdims=True), atol=1e-3)


@pytest.mark.parametrize(
    "kind, size, wanted",
    [
        ("sphere", (0.2, 0, 0), 4 / 3 * np.pi * 0.2**3),
        ("ellipsoid", (0.1, 0.2, 0.3), 4 / 3 * np.pi * 0.006),
        ("capsule", (0.1, 0.3, 0), 4 / 3 * np.pi * 0.1**3 + np.pi * 0.01 * 0.6),
        ("cylinder", (0.1, 0.3, 0), np.pi * 0.01 * 0.6),
        ("box", (0.1, 0.2, 0.3), 0.048),
    ],
)
def test_shapes_have_their_volume_and_normals_outwards(kind: str, size: tuple[float, ...], wanted: float):
    mesh = tessellated(kind, np.array(size), np.ones(4), fine=96)
    assert volume(mesh) == pytest.approx(wanted, rel=0.01)
    a, b, c = (mesh.points[mesh.triangles[:, i]] for i in range(3))
    assert ((np.cross(b - a, c - a) * mesh.normals[mesh.triangles].mean(1)).sum(1) > 0).all()


# --- bodies


@pytest.mark.parametrize("body", ["humanoid", "biped", "big-bird"])
def test_weights_add_up_and_are_of_neighbours(body: str):
    figure, meshes = skinned(body)
    for mesh in meshes:
        assert mesh.joints is not None and mesh.weights is not None
        assert np.allclose(mesh.weights.sum(1), 1) and mesh.weights.min() >= 0
        assert np.isfinite(mesh.points).all() and np.allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-3)
        for joints, weights in zip(mesh.joints[::97], mesh.weights[::97], strict=True):
            main, others = joints[weights.argmax()], set(joints[weights > 0].tolist())
            kin = {main, figure.parents[main], *(i for i, p in enumerate(figure.parents) if p == main)}
            assert len(others - kin) == 0 or all(
                figure.parents[i] in others or figure.parents[figure.parents[i]] in others for i in others - kin
            )


def test_the_middle_of_a_bone_goes_with_it_alone():
    figure, meshes = skinned("humanoid")
    thigh, shin = figure.parts["left_thigh"], figure.parts["left_shin"]
    middle = 0.5 * (figure.places[thigh] + figure.places[shin])
    away = np.concatenate([np.linalg.norm(mesh.points - middle, axis=1) for mesh in meshes])
    weights = np.concatenate([(mesh.weights * (mesh.joints == thigh)).sum(1) for mesh in meshes])
    assert weights[away.argmin()] > 0.99
    knee = np.concatenate([np.linalg.norm(mesh.points - figure.places[shin], axis=1) for mesh in meshes])
    around = weights[knee < 0.09]
    assert around.max() > 0.6 and around.min() < 0.4  # they share the knee


def test_the_skin_is_where_the_bodies_are():
    """It swells by no more than melting does, and shrinks nowhere that can be seen."""
    for body in ("humanoid", "biped"):
        figure, meshes = skinned(body)
        points = np.concatenate([mesh.points for mesh in meshes])
        solid = np.concatenate([mesh.points for meshes in rigid(figure).values() for mesh in meshes])
        assert np.abs(points.min(0) - solid.min(0)).max() < 0.016 and np.abs(points.max(0) - solid.max(0)).max() < 0.016
        assert abs(points[:, 1].min()) < 1e-3  # soles on the ground


def test_legs_stay_apart():
    figure, meshes = skinned("humanoid")
    low = figure.places[figure.parts["left_shin"]][1]
    shins = np.concatenate([mesh.points for mesh in meshes])
    assert not ((np.abs(shins[:, 0]) < 0.01) & (np.abs(shins[:, 1] - low) < 0.15)).any()


def test_a_skin_follows_the_proportions():
    tall, meshes = Figure.of(character("biped", legs=1.3)), skin(Figure.of(character("biped", legs=1.3)))
    assert tall.places[0][1] > 1.15
    assert max(mesh.points[:, 1].max() for mesh in meshes) > 1.95


def test_a_skin_is_small_enough_for_a_page():
    for body in ("humanoid", "biped"):
        assert sum(len(mesh.points) for mesh in skinned(body)[1]) < 30_000
