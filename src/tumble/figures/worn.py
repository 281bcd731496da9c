"""A skin as it is worn: where its points are while the bodies move.

    worn = worn_by(humanoid(), coarse=1.6)             # None where a body has no skin
    points, normals = worn.posed(places, turns)        # by MuJoCo's places and turns of the bodies

Bones are the bodies and, between two that hang together, a *hinge bone* that turns by half as much: a point that goes
with both alike goes with it. Blended between the bodies alone, an elbow that is bent by an angle keeps cos(angle / 2)
of its thickness, at 140 degrees a third; so it keeps cos(angle / 4) at least.
"""

import json
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from tumble.characters import Character
from tumble.figures.figure import Figure
from tumble.figures.shapes import Mesh
from tumble.figures.skin import can_be_skinned, skin
from tumble.maths.rotations import conjugate, matrices, multiply, turned

MOST = 4  # bones of a point
KEPT = 32  # skins that are kept, as scenes are made again and again of the same bodies; of a crowd all 30


def to_world(vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) of the axes of files in the world's."""
    return np.asarray(vectors)[..., [2, 0, 1]]


@dataclass(frozen=True, eq=False)
class Worn:
    """A skin in the world's axes, at rest, with the bones that it goes with: n bodies, then the n hinges above them.

    Attributes:
      names, parents: of the bodies, as of `Figure`.
      places: of MuJoCo's frames of the bodies at rest, (n, 3), m.
      turns: of these frames, (n, 4).
      hinges: of the joints at rest, (n, 3), m.
      meshes: of one colour each; their joints are bones, 0 to 2 n - 1.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    places: np.ndarray
    turns: np.ndarray
    hinges: np.ndarray
    meshes: tuple[Mesh, ...]

    def posed(self, places: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points and normals (all points, 3) of all meshes, one after the other, m.

        x' = sum_b w_b (R_b x + t_b) over the bones b, R_b and t_b being how far each is moved away from rest.

        Args:
          places, turns: of MuJoCo's frames of the bodies, (n, 3), m, and (n, 4).
        """
        away = multiply(turns, conjugate(self.turns))
        joints = places + turned(away, self.hinges - self.places)
        above = away[[max(parent, 0) for parent in self.parents]]
        half = above + np.where((above * away).sum(1, keepdims=True) < 0, -1, 1) * away
        half /= np.linalg.norm(half, axis=1, keepdims=True)
        rotations = matrices(np.concatenate([away, half]))
        rests, now = np.concatenate([self.places, self.hinges]), np.concatenate([places, joints])
        moves = now - np.einsum("nij,nj->ni", rotations, rests)
        bones = np.concatenate([rotations, moves[:, :, None]], 2).reshape(-1, 12)
        blended = (self._weights @ bones.astype(np.float32)).reshape(-1, 3, 4)
        points = np.einsum("nij,nj->ni", blended[:, :, :3], self._points) + blended[:, :, 3]
        normals = np.einsum("nij,nj->ni", blended[:, :, :3], self._normals)
        return points, normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)

    @cached_property
    def _points(self) -> np.ndarray:
        return np.concatenate([mesh.points for mesh in self.meshes]).astype(np.float32)

    @cached_property
    def _normals(self) -> np.ndarray:
        return np.concatenate([mesh.normals for mesh in self.meshes]).astype(np.float32)

    @cached_property
    def _weights(self) -> np.ndarray:
        """Of all bones, (points, 2 n)."""
        return np.concatenate([spread(mesh, 2 * len(self.names)) for mesh in self.meshes]).astype(np.float32)


def worn_by(character: Character, coarse: float = 1.0) -> Worn | None:
    """A character's skin as it is worn; None where it has none. The same skin is made once.

    Args:
      character: with shirts in their usual colour.
      coarse: how much farther points are from each other than in files.
    """
    return _made(_Wearer(text_of(character), character), coarse)


def text_of(character: Character) -> str:
    """A character's recipe as a text: who has the same wears the same skin."""
    return json.dumps(dict(character.recipe), sort_keys=True)


@dataclass(frozen=True)
class _Wearer:
    """Whose skin is asked for; who is made by the same recipe has the same."""

    recipe: str
    character: Character = field(compare=False)


@lru_cache(maxsize=KEPT)
def _made(asked: _Wearer, coarse: float) -> Worn | None:
    figure = Figure.of(asked.character)
    if not can_be_skinned(figure):
        return None
    places = [figure.own_place(body, np.zeros((1, 3)))[0] for body in range(len(figure.names))]
    meshes = tuple(hinged(mesh, figure.parents) for mesh in skin(figure, coarse))
    return Worn(
        figure.names, figure.parents, to_world(np.stack(places)), figure.upright, to_world(figure.places), meshes
    )


def hinged(mesh: Mesh, parents: tuple[int, ...]) -> Mesh:
    """A mesh in the world's axes that goes with hinges, too.

    A body and its parent, of weights a and b, give m = min(a, b) each to the hinge between them, which has 2 m.
    """
    count = len(parents)
    alone = spread(mesh, count)
    weights = np.concatenate([alone, np.zeros_like(alone)], 1)
    for body, parent in enumerate(parents):
        if parent >= 0:
            both = np.minimum(alone[:, body], alone[:, parent])
            weights[:, [body, parent]] -= both[:, None]
            weights[:, count + body] = 2 * both
    weights = np.maximum(weights, 0)  # of a parent that gave to several
    best = np.argsort(-weights, axis=1, kind="stable")[:, :MOST]
    taken = np.take_along_axis(weights, best, 1)
    bones = np.where(taken > 0, best, 0)
    points, normals = to_world(mesh.points), to_world(mesh.normals)
    return Mesh(points, normals, mesh.triangles, mesh.rgba, bones, taken / taken.sum(1, keepdims=True))


def spread(mesh: Mesh, count: int) -> np.ndarray:
    """The weights of a mesh for each of so many bones, (points, count)."""
    assert mesh.joints is not None and mesh.weights is not None
    weights = np.zeros((len(mesh.points), count))
    np.add.at(weights, (np.arange(len(mesh.points))[:, None], mesh.joints), mesh.weights)
    return weights
