"""Surface nets: the surface where a function of space is 0, as triangles with points on it.

    points, triangles = surface(distance, low, high, step)     # distance((n, 3)) -> (n,), below 0 inside

A cell of a grid that the surface passes through has one point, and four such cells around an edge make a quad
(Gibson 1998). Points are then moved onto the surface along its slope, so that the grid is not seen.
"""

from collections.abc import Callable

import numpy as np

Distance = Callable[[np.ndarray], np.ndarray]
BLOCK = 4  # steps between points at which it is first asked how far the surface is
SLOPE = 1e-4  # m to each side of a point, to measure how the distance grows


def surface(distance: Distance, low: np.ndarray, high: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) and triangles (m, 3), counterclockwise from outside, of a surface within a box, m."""
    sizes = np.ceil((high - low) / step).astype(int) + 1
    axes = [low[i] + step * np.arange(sizes[i]) for i in range(3)]
    points, number = _points(values := _sampled(distance, axes), low, step)
    triangles = np.concatenate([_quads(values, number, axis) for axis in range(3)])
    for _ in range(2):
        away = slopes(distance, points)
        points = points - np.clip(distance(points), -step, step)[:, None] * away
    return points, triangles


def _sampled(distance: Distance, axes: list[np.ndarray]) -> np.ndarray:
    """The distance at the points of a grid, near the surface; of elsewhere only its sign is right."""
    coarse = [axis[::BLOCK] for axis in axes]
    corners = np.stack(np.meshgrid(*coarse, indexing="ij"), -1)
    rough = distance(corners.reshape(-1, 3)).reshape(corners.shape[:3])
    reach = 1.5 * BLOCK * (axes[0][1] - axes[0][0]) * 3**0.5  # half more than a block's diagonal: some distances err
    index = [np.minimum(np.round(np.arange(len(axis)) / BLOCK).astype(int), len(c) - 1)
             for axis, c in zip(axes, coarse, strict=True)]  # fmt: skip
    values = rough[np.ix_(*index)]
    near = np.argwhere(np.abs(values) < reach)
    values[tuple(near.T)] = distance(np.stack([axis[near[:, i]] for i, axis in enumerate(axes)], -1))
    return np.asarray(values)


def slopes(distance: Distance, points: np.ndarray) -> np.ndarray:
    """Unit vectors along which the distance grows, (n, 3)."""
    corners = np.array([[1, -1, -1], [-1, -1, 1], [-1, 1, -1], [1, 1, 1]], float)  # a tetrahedron: four calls, not six
    slope = np.zeros_like(points)
    for corner in corners:
        slope += corner * distance(points + SLOPE * corner)[:, None]
    return np.asarray(slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-12))


def _points(values: np.ndarray, low: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """A point in each cell that the surface passes through, in the middle of its crossings; and its number by cell."""
    cells = np.array(values.shape) - 1
    total, count = np.zeros((*cells, 3)), np.zeros(cells)
    for axis in range(3):
        near, far = np.take(values, range(cells[axis]), axis), np.take(values, range(1, cells[axis] + 1), axis)
        crossed = (near < 0) != (far < 0)
        share = np.where(crossed, near / np.where(crossed, near - far, 1.0), 0.0)
        others = [i for i in range(3) if i != axis]
        for a in (0, 1):
            for b in (0, 1):  # the four edges of a cell along this axis
                cut = [slice(None)] * 3
                cut[others[0]], cut[others[1]] = slice(a, a + cells[others[0]]), slice(b, b + cells[others[1]])
                here = crossed[tuple(cut)]
                at = np.zeros((*cells, 3))
                at[..., axis], at[..., others[0]], at[..., others[1]] = share[tuple(cut)], a, b
                total += here[..., None] * at
                count += here
    there = count > 0
    number = np.full(tuple(cells), -1)
    number[there] = np.arange(there.sum())
    where = np.argwhere(there)
    return low + step * (where + total[there] / count[there][:, None]), number


def _quads(values: np.ndarray, number: np.ndarray, axis: int) -> np.ndarray:
    """Two triangles for each edge along an axis that the surface crosses, (m, 3)."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    near, far = (
        np.take(values, range(values.shape[axis] - 1), axis),
        np.take(values, range(1, values.shape[axis]), axis),
    )
    crossed = (near < 0) != (far < 0)
    for other in (u, v):  # edges on the border of the box have no four cells
        border = [slice(None)] * 3
        for end in (0, -1):
            border[other] = slice(end, end + 1 or None)
            crossed[tuple(border)] = False
    at = np.argwhere(crossed)
    outwards = near[crossed] < 0
    du, dv = np.eye(3, dtype=int)[u], np.eye(3, dtype=int)[v]
    corners = [number[tuple((at - a * du - b * dv).T)] for a, b in ((1, 1), (0, 1), (0, 0), (1, 0))]
    quad = np.stack(corners, -1)
    quad = np.where(outwards[:, None], quad, quad[:, ::-1])
    return np.concatenate([quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]])
