"""Rotations against closed forms, scipy and axioms."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tumble.maths import rotations


def random(*shape: int) -> np.ndarray:
    q = np.random.default_rng(0).normal(size=(*shape, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def theirs(q: np.ndarray) -> Rotation:
    return Rotation.from_quat(q[:, [1, 2, 3, 0]])


def test_products_turns_and_matrices_are_scipys():
    p, q = random(2, 50)
    v = np.random.default_rng(1).normal(size=(50, 3))
    assert np.allclose(rotations.turned(rotations.multiply(p, q), v), (theirs(p) * theirs(q)).apply(v))
    assert np.allclose(rotations.matrices(q), theirs(q).as_matrix())
    assert np.allclose(rotations.turned(rotations.conjugate(q), rotations.turned(q, v)), v)


@pytest.mark.parametrize("order", ["zyx", "zxy", "xyz", "yxz"])
def test_angles_make_the_rotations_again(order: str):
    q = random(200)
    angles = rotations.eulers(q[:, None], order)[:, 0]
    again = Rotation.from_euler(order.upper(), angles)
    assert (again * theirs(q).inv()).magnitude().max() < 1e-7


def test_angles_do_not_jump_where_the_middle_one_passes_the_quarter_turn():
    swing = np.linspace(0, 2 * np.pi, 100)
    q = rotations.multiply(rotations.about(np.eye(3)[1], swing), rotations.about(np.eye(3)[0], np.full(100, 0.05)))
    assert np.abs(np.diff(rotations.eulers(q[:, None], "zyx")[:, 0], axis=0)).max() < 0.4


def test_halfway_is_half_the_angle_whatever_the_sign():
    p, q = rotations.about(np.eye(3)[0], np.array([0.2])), rotations.about(np.eye(3)[0], np.array([1.0]))
    for sign in (1, -1):
        assert np.allclose(rotations.slerp(p, sign * q, np.array([0.25])), rotations.about(np.eye(3)[0], 0.4))
    assert np.allclose(rotations.slerp(p, p, np.array([0.3])), p)


def test_signs_are_continuous_and_rotations_stay():
    q = rotations.about(np.eye(3)[2], np.linspace(0, 9, 40))[:, None]
    flipped = q * np.where(np.arange(40) % 3, 1.0, -1.0)[:, None, None]
    whole = rotations.continuous(flipped)
    assert ((whole[1:] * whole[:-1]).sum(-1) > 0.9).all()
    assert np.allclose(np.abs((whole * q).sum(-1)), 1)


def test_between_and_twist():
    a, b = np.array([0.0, 0.0, -2.0]), np.array([0.0, 3.0, 0.0])
    assert np.allclose(rotations.turned(rotations.between(a, b), a), [0, 2, 0])
    both = rotations.multiply(rotations.about(np.eye(3)[1], 0.7), rotations.about(np.eye(3)[0], 0.4))
    assert np.isclose(rotations.twist(both, 1), 0.7)
