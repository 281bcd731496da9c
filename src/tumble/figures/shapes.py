"""Shapes of bodies as triangles: spheres, capsules, boxes, cylinders, ellipsoids and meshes, each with normals.

mesh = tessellated("capsule", np.array([0.05, 0.2, 0]), rgba)      # about the z axis, as MuJoCo's
parts = rigid(figure)                                              # of all bodies, at rest, by body
"""

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from tumble.errors import UserError
from tumble.figures.figure import Figure, to_file, turns_to_file
from tumble.maths.rotations import turned

AROUND = 24  # sides of what is round
COLOUR = 3  # digits by which colours are told apart


@dataclass(frozen=True)
class Mesh:
    """Triangles of one colour.

    Attributes:
      points, normals: (n, 3).
      triangles: (m, 3), counterclockwise from outside.
      rgba: (4,), 0 to 1.
      joints, weights: of a skin, (n, 4): bodies and how much each moves a point; the weights of a point add up to 1.
    """

    points: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    rgba: np.ndarray
    joints: np.ndarray | None = None
    weights: np.ndarray | None = None

    def moved(self, place: np.ndarray, turn: np.ndarray) -> "Mesh":
        """Turned, then moved."""
        turns = np.broadcast_to(turn, (len(self.points), 4))
        return replace(self, points=place + turned(turns, self.points), normals=turned(turns, self.normals))


def tessellated(kind: str, size: np.ndarray, rgba: np.ndarray, fine: int = AROUND) -> Mesh:
    """A shape of MuJoCo's about its own z axis; size holds its half sizes or radius and half length."""
    if kind == "box":
        return _box(size, rgba)
    if kind not in ("sphere", "ellipsoid", "capsule", "cylinder"):
        raise UserError(f"cannot draw a '{kind}'; drawn are sphere, ellipsoid, capsule, cylinder, box and mesh")
    radii = {"ellipsoid": size}.get(kind, np.full(3, size[0]))
    half = size[1] if kind in ("capsule", "cylinder") else 0.0
    rings = max(fine // 2, 4)
    tilt = np.linspace(0, np.pi, rings + 1)
    if half:  # the middle ring twice: above and below the straight part
        tilt = np.concatenate([tilt[: rings // 2 + 1], tilt[rings // 2 :]])
    turn = np.linspace(0, 2 * np.pi, fine + 1)
    t, a = np.meshgrid(tilt, turn, indexing="ij")
    normal = np.stack([np.sin(t) * np.cos(a), np.sin(t) * np.sin(a), np.cos(t)], -1)
    points, normals = normal * radii, normal / radii
    if half:
        below = np.arange(len(tilt))[:, None] > rings // 2
        points[..., 2] += np.where(below, -half, half)
    if kind == "cylinder":
        return _cylinder(size[0], half, rgba, fine)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    rows, columns = len(tilt), fine + 1
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(fine), indexing="ij")
    a0, b0 = (i * columns + j).ravel(), ((i + 1) * columns + j).ravel()
    triangles = np.concatenate([np.stack([a0, b0, b0 + 1], -1), np.stack([a0, b0 + 1, a0 + 1], -1)])
    flat = points.reshape(-1, 3)
    sides = flat[triangles]
    area = np.linalg.norm(np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0]), axis=1)
    return Mesh(flat, normals.reshape(-1, 3), triangles[area > 1e-12], rgba)


def _cylinder(radius: float, half: float, rgba: np.ndarray, fine: int) -> Mesh:
    """A closed cylinder about the z axis."""
    a = np.linspace(0, 2 * np.pi, fine, endpoint=False)
    ring, zero = np.stack([np.cos(a), np.sin(a)], -1), np.zeros((fine, 1))
    top, low = np.full((fine, 1), half), np.full((fine, 1), -half)
    ends = np.tile([[0.0, 0.0, 1.0]], (fine, 1))
    points = np.concatenate([np.hstack([radius * ring, z]) for z in (top, low, top, low)])
    normals = np.concatenate([np.hstack([ring, zero]), np.hstack([ring, zero]), ends, -ends])
    i, n = np.arange(fine), (np.arange(fine) + 1) % fine
    side = [np.stack([i, fine + i, fine + n], -1), np.stack([i, fine + n, n], -1)]
    k = np.arange(1, fine - 1)
    caps = [np.stack([0 * k, k, k + 1], -1) + 2 * fine, np.stack([0 * k, k + 1, k], -1) + 3 * fine]
    return Mesh(points, normals, np.concatenate([*side, *caps]), rgba)


def _box(half: np.ndarray, rgba: np.ndarray) -> Mesh:
    """A box with sharp edges."""
    points, normals, triangles = list[np.ndarray](), list[np.ndarray](), list[list[int]]()
    for axis in range(3):
        for sign in (1.0, -1.0):
            u, v = np.roll(np.eye(3), 1, 0)[axis], np.roll(np.eye(3), 2, 0)[axis]
            n = sign * np.eye(3)[axis]
            if np.cross(u, v) @ n < 0:
                u, v = v, u
            start = 4 * len(points)
            points.append(np.array([n - u - v, n + u - v, n + u + v, n - u + v]) * half)
            normals.append(np.tile(n, (4, 1)))
            triangles += [[start, start + 1, start + 2], [start, start + 2, start + 3]]
    return Mesh(np.concatenate(points), np.concatenate(normals), np.array(triangles), rgba)


def merged(meshes: list[Mesh]) -> list[Mesh]:
    """One mesh a colour."""
    groups: dict[tuple[float, ...], list[Mesh]] = {}
    for mesh in meshes:
        groups.setdefault(tuple(np.round(mesh.rgba, COLOUR).tolist()), []).append(mesh)
    found = []
    for same in groups.values():
        starts = np.cumsum([0, *(len(mesh.points) for mesh in same)])
        rows = [(m.joints, m.weights) for m in same if m.joints is not None and m.weights is not None]
        found.append(Mesh(
            np.concatenate([mesh.points for mesh in same]), np.concatenate([mesh.normals for mesh in same]),
            np.concatenate([m.triangles + start for m, start in zip(same, starts[:-1], strict=True)]), same[0].rgba,
            np.concatenate([joints for joints, _ in rows]) if rows else None,
            np.concatenate([weights for _, weights in rows]) if rows else None,
        ))  # fmt: skip
    return found


def stiff(mesh: Mesh, body: int) -> Mesh:
    """A mesh that goes with one body."""
    count = len(mesh.points)
    joints, weights = np.zeros((count, 4), int), np.zeros((count, 4))
    joints[:, 0], weights[:, 0] = body, 1.0
    return Mesh(mesh.points, mesh.normals, mesh.triangles, mesh.rgba, joints, weights)


def drawn(model: mujoco.MjModel, geom: int) -> Mesh:
    """A geom in MuJoCo's frame of its body."""
    kind = mujoco.mjtGeom(model.geom_type[geom])
    rgba = colour_of(model, geom)
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = _of_file(model, int(model.geom_dataid[geom]), rgba)
    else:
        mesh = tessellated(kind.name.removeprefix("mjGEOM_").lower(), model.geom_size[geom].copy(), rgba)
    return mesh.moved(model.geom_pos[geom], model.geom_quat[geom])


def colour_of(model: mujoco.MjModel, geom: int) -> np.ndarray:
    """A geom's colour, or its material's, (4,)."""
    material = int(model.geom_matid[geom])
    return np.array(model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom], float)


def _of_file(model: mujoco.MjModel, mesh: int, rgba: np.ndarray) -> Mesh:
    """A mesh of a stranger's file, flat shaded: each triangle with points of its own."""
    start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    first, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    points = model.mesh_vert[start : start + count][model.mesh_face[first : first + faces]]
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    whole = lengths[:, 0] > 0
    points, normals = points[whole].astype(float), (normals[whole] / lengths[whole]).astype(float)
    return Mesh(points.reshape(-1, 3), np.repeat(normals, 3, 0), np.arange(3 * len(points)).reshape(-1, 3), rgba)


def visible(model: mujoco.MjModel, body: int) -> list[int]:
    """Geoms of a body that are drawn: groups 0 to 2, as MuJoCo does, and no planes."""
    geoms = range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
    plane = mujoco.mjtGeom.mjGEOM_PLANE.value
    return [g for g in geoms if model.geom_group[g] < 3 and model.geom_type[g] != plane and model.geom_rgba[g, 3] > 0]


def rigid(figure: Figure) -> dict[int, list[Mesh]]:
    """Meshes of all bodies as they are, at rest, in the axes of files, by the body's place in the figure."""
    found = {}
    for body in range(len(figure.names)):
        turn = turns_to_file(figure.upright[body])
        place = figure.own_place(body, np.zeros((1, 3)))[0]
        meshes = [in_file(drawn(figure.model, g)).moved(place, turn) for g in visible(figure.model, body + 1)]
        if meshes:
            found[body] = merged(meshes)
    return found


def in_file(mesh: Mesh) -> Mesh:
    """A mesh of MuJoCo's axes in those of files."""
    return replace(mesh, points=to_file(mesh.points), normals=to_file(mesh.normals))


def of_prop(shapes: tuple[tuple[str, np.ndarray, np.ndarray, np.ndarray, np.ndarray], ...]) -> list[Mesh]:
    """Meshes of a prop's shapes in its frame; see `PropTrack.shapes`."""
    found = []
    for kind, size, place, turn, rgba in shapes:
        mesh = tessellated(kind, size, rgba)
        found.append(in_file(mesh).moved(place, turn))
    return merged(found)
