"""A skin: one smooth surface over the bodies of a character, made from its capsules and ellipsoids alone.

    for mesh in skin(Figure.of(biped(legs=1.2))):     # of one colour each: shirt, trousers, shoes, skin, hair
        mesh.points, mesh.triangles, mesh.joints, mesh.weights

What is drawn of a body is a signed distance; geoms of one body melt into each other, bodies melt into those that they
hang on, and nothing else does, so legs and arms stay apart. Colours are surfaces of their own, as clothes are, with
sharp hems. A point goes with the bodies that it is near to, of the nearest and its neighbours. Small drawings (eyes,
brows, lips) are put on top. Whatever proportions a body has, its skin follows.

Trap: meshes of files have no distance: a body that has any is drawn rigid.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from tumble.figures.figure import Figure, to_file, turns_to_file
from tumble.figures.shapes import Mesh, colour_of, drawn, in_file, merged, rigid, stiff, visible
from tumble.figures.surface import Distance, slopes, surface
from tumble.maths.rotations import matrices, multiply

MELT = 0.024  # m over which geoms and bodies of a body of usual height melt together; ours
STEP, FINE = 0.015, 0.010  # m between points; of what is small: head, hands, feet
SMALL = 0.03  # m^3 of a box around what is small
THIN = 0.0095  # m: what is thinner is a drawing on the skin
DEEP = 0.009  # m under another surface, where nothing is drawn: less and bent ankles gape, more and arms poke out; ours
SOFT = 0.055  # m over which a joint's neighbours share a point; ours
USUAL = 1.75  # m, the size of a body that these lengths are for
SOLIDS = {mujoco.mjtGeom.mjGEOM_SPHERE.value, mujoco.mjtGeom.mjGEOM_CAPSULE.value, mujoco.mjtGeom.mjGEOM_BOX.value,
          mujoco.mjtGeom.mjGEOM_ELLIPSOID.value, mujoco.mjtGeom.mjGEOM_CYLINDER.value}  # fmt: skip


def can_be_skinned(figure: Figure) -> bool:
    """Whether all that is drawn of a figure has a distance."""
    geoms = [g for body in range(len(figure.names)) for g in visible(figure.model, body + 1)]
    return bool(geoms) and all(int(figure.model.geom_type[g]) in SOLIDS for g in geoms)


def skin(figure: Figure, coarse: float = 1.0) -> list[Mesh]:
    """The skin of a figure at rest, in the axes of files: a mesh a colour, with weights of the figure's bodies.

    A figure that cannot have one is given rigid bodies in the same form. Where it is coarse, points are so many times
    farther from each other.
    """
    if not can_be_skinned(figure):
        return [stiff(mesh, body) for body, meshes in rigid(figure).items() for mesh in meshes]
    scale = max(float(np.ptp(figure.tips, axis=0).max()), 0.2) / USUAL
    colours: dict[tuple[float, ...], dict[int, list[Distance]]] = {}
    bounds: dict[tuple[float, ...], dict[int, list[np.ndarray]]] = {}
    drawings, pieces = list[Mesh](), list[tuple[Mesh, Piece]]()
    for body in range(len(figure.names)):
        for g in visible(figure.model, body + 1):
            rgba = tuple(np.round(colour_of(figure.model, g), 3).tolist())
            if _thickness(figure.model, g) < THIN * scale:
                drawings.append(stiff(_placed(figure, body, g), body))
                continue
            colours.setdefault(rgba, {}).setdefault(body, []).append(_distance(figure, body, g))
            bounds.setdefault(rgba, {}).setdefault(body, []).append(_placed(figure, body, g).points)
    for rgba, bodies in colours.items():
        for together in _hanging_together(figure, set(bodies)):
            distances = {body: _melted(bodies[body], MELT * scale) for body in together}
            points = np.concatenate([p for body in together for p in bounds[rgba][body]])
            pieces.append(_covered(figure, distances, points, np.array(rgba), scale, coarse))
    seen = [_uncovered(mesh, [whole for other, whole in pieces if other is not mesh], scale) for mesh, _ in pieces]
    return merged(seen + drawings)


@dataclass(frozen=True)
class Piece:
    """The distance from bodies of one colour that hang together: each melts into the one that it hangs on.

    Melting swells; what would be below the ground at rest is cut off, so soles are flat.

    Attributes:
      distances: of each body alone.
      pairs: who hangs on whom.
      melt: m.
      low, high: corners of a box around it, (3,), m.
    """

    distances: Mapping[int, Distance]
    pairs: Sequence[tuple[int, int]]
    melt: float
    low: np.ndarray
    high: np.ndarray

    def __call__(self, at: np.ndarray) -> np.ndarray:
        """The signed distance (n,) of points (n, 3), m."""
        return np.asarray(np.maximum(self.uncut(at), -at[:, 1]))

    def uncut(self, at: np.ndarray) -> np.ndarray:
        """The distance from what is also below the ground."""
        alone = {body: distance(at) for body, distance in self.distances.items()}
        rows = [_smooth(alone[a], alone[b], self.melt) for a, b in self.pairs] or [next(iter(alone.values()))]
        return np.asarray(np.minimum.reduce(rows))


def _covered(
    figure: Figure, distances: dict[int, Distance], points: np.ndarray, rgba: np.ndarray, scale: float, coarse: float
) -> tuple[Mesh, Piece]:
    """The surface of bodies of one colour that hang together, with weights, and the distance from it."""
    pairs = [(figure.parents[body], body) for body in distances if figure.parents[body] in distances]
    melt = MELT * scale
    room = 0.5 * melt + 0.01  # m: melting swells by a quarter of it
    piece = Piece(distances, pairs, melt, points.min(0) - room, points.max(0) + room)
    step = coarse * scale * (FINE if np.prod(piece.high - piece.low) < SMALL * scale**3 else STEP)
    found, triangles = surface(piece, piece.low, piece.high, step)
    joints, weights = _weights(figure, distances, found, scale)
    return Mesh(found, slopes(piece, found), triangles, rgba, joints, weights), piece


def _uncovered(mesh: Mesh, others: Sequence[Piece], scale: float) -> Mesh:
    """A mesh without what lies deep under others, as an arm in its sleeve: it would only show where it pokes out."""
    hidden = np.zeros(len(mesh.points), bool)
    for piece in others:
        near = np.flatnonzero(((mesh.points > piece.low) & (mesh.points < piece.high)).all(1) & ~hidden)
        hidden[near[piece.uncut(mesh.points[near]) < -DEEP * scale]] = True
    triangles = mesh.triangles[~hidden[mesh.triangles].all(1)]
    kept, numbers = np.unique(triangles, return_inverse=True)
    assert mesh.joints is not None and mesh.weights is not None
    return Mesh(mesh.points[kept], mesh.normals[kept], numbers.reshape(-1, 3), mesh.rgba, mesh.joints[kept],
                mesh.weights[kept])  # fmt: skip


def _smooth(a: np.ndarray, b: np.ndarray, melt: float) -> np.ndarray:
    """The smaller of two distances, rounded where they differ by less than `melt`, m (quadratic smooth minimum)."""
    h = np.maximum(melt - np.abs(a - b), 0.0) / melt
    return np.asarray(np.minimum(a, b) - 0.25 * melt * h**2)


def _melted(distances: list[Distance], melt: float) -> Distance:
    """The distance from several that melt into each other."""

    def all_of(at: np.ndarray) -> np.ndarray:
        total = distances[0](at)
        for distance in distances[1:]:
            total = _smooth(total, distance(at), melt)
        return total

    return all_of


def _weights(
    figure: Figure, distances: dict[int, Distance], points: np.ndarray, scale: float
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Bodies (n, 4) and weights (n, 4): w = max(0, 1 - (d - d_nearest) / soft)^2 of the nearest and its neighbours."""
    bodies = list(distances)
    away = np.stack([distances[body](points) for body in bodies], -1)
    near = away.argmin(1)
    kin = np.array([[a == b or figure.parents[a] == b or figure.parents[b] == a for b in bodies] for a in bodies])
    weights = np.maximum(0.0, 1 - (away - away.min(1, keepdims=True)) / (SOFT * scale)) ** 2 * kin[near]
    if len(bodies) < 4:
        weights = np.pad(weights, ((0, 0), (0, 4 - len(bodies))))
        bodies = bodies + bodies[:1] * (4 - len(bodies))
    best = np.argsort(-weights, axis=1, kind="stable")[:, :4]
    taken = np.take_along_axis(weights, best, 1)
    joints = np.where(taken > 0, np.array(bodies)[best], 0)
    return joints, taken / taken.sum(1, keepdims=True)


def _hanging_together(figure: Figure, bodies: set[int]) -> list[list[int]]:
    """Bodies in groups of which each hangs on another of its group."""
    groups: dict[int, list[int]] = {}
    top: dict[int, int] = {}
    for body in sorted(bodies):
        top[body] = top.get(figure.parents[body], body)
        groups.setdefault(top[body], []).append(body)
    return list(groups.values())


def _placed(figure: Figure, body: int, geom: int) -> Mesh:
    """A geom at rest, in the axes of files."""
    place = figure.own_place(body, np.zeros((1, 3)))[0]
    return in_file(drawn(figure.model, geom)).moved(place, turns_to_file(figure.upright[body]))


def _thickness(model: mujoco.MjModel, geom: int) -> float:
    """The smallest radius or half size of a geom, m."""
    kind, size = mujoco.mjtGeom(model.geom_type[geom]), model.geom_size[geom]
    return float(size.min() if kind in (mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_ELLIPSOID) else size[0])


def _distance(figure: Figure, body: int, geom: int) -> Distance:
    """The signed distance (n,) of points (n, 3) in the axes of files from a geom at rest, m."""
    model = figure.model
    kind, size = mujoco.mjtGeom(model.geom_type[geom]), model.geom_size[geom].copy()
    place = figure.own_place(body, model.geom_pos[geom][None])[0]
    axes = matrices(turns_to_file(multiply(figure.upright[body], model.geom_quat[geom])))
    sized = to_file(size)  # of boxes and ellipsoids; round ones are about the axis that z becomes
    shape = _SHAPES[kind]

    def distance(at: np.ndarray) -> np.ndarray:
        return shape(np.einsum("ni,ij->nj", at - place, axes), size, sized)  # small: no threads wanted

    return distance


def _capsule(p: np.ndarray, size: np.ndarray, _: np.ndarray) -> np.ndarray:
    along = np.clip(p[:, 1], -size[1], size[1])
    return np.sqrt(p[:, 0] ** 2 + (p[:, 1] - along) ** 2 + p[:, 2] ** 2) - size[0]


def _sphere(p: np.ndarray, size: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(p, axis=1) - size[0])


def _ellipsoid(p: np.ndarray, _: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """k (k - 1) / |p / r^2| with k = |p / r|: exact on the surface, and nearly so around it."""
    k, slope = np.linalg.norm(p / radii, axis=1), np.linalg.norm(p / radii**2, axis=1)
    return np.asarray(np.where(slope > 0, k * (k - 1) / np.maximum(slope, 1e-12), -radii.min()))


def _box(p: np.ndarray, _: np.ndarray, half: np.ndarray) -> np.ndarray:
    q = np.abs(p) - half
    return np.asarray(np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(1), 0))


def _cylinder(p: np.ndarray, size: np.ndarray, _: np.ndarray) -> np.ndarray:
    q = np.stack([np.hypot(p[:, 0], p[:, 2]) - size[0], np.abs(p[:, 1]) - size[1]], -1)
    return np.asarray(np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(1), 0))


_SHAPES: dict[mujoco.mjtGeom, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    mujoco.mjtGeom.mjGEOM_CAPSULE: _capsule, mujoco.mjtGeom.mjGEOM_SPHERE: _sphere,
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: _ellipsoid, mujoco.mjtGeom.mjGEOM_BOX: _box,
    mujoco.mjtGeom.mjGEOM_CYLINDER: _cylinder,
}  # fmt: skip
