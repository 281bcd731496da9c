"""How far two states of a character are from each other, step for step (coros2010 section 4.4.1, Table 4.1).

    metric = Metric(stepper)
    states = metric.states(sims)                       # `Stances` of all rows, in the characters' own frames
    rows, distances = nearest(states, others, 6)       # of the same stance foot

d(a, b) = w_v |v_a - v_b| + sum_i w_omega,i |omega_i,a - omega_i,b| + sum_i w_q,i angle(q_i,a^-1 q_i,b): v is the root's
velocity in the character's frame, omega_i and q_i are angular velocity and rotation of joint i against its parent.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tumble.errors import UserError
from tumble.maths.compiled import entry, inner
from tumble.simbicon.body import bones_of
from tumble.simbicon.gait import joint_of, plain
from tumble.tasks.actions import StepKind
from tumble.world.sims import Sims

VELOCITY = 1.0  # w_v; not given; ours
TILT = (0.1, 1.0)  # w_omega and w_q of the root against the character's frame; q_0 is not in the thesis's sum
LEGS = {"hip": (0.1, 1.5), "knee": (0.05, 1.0)}  # w_omega, w_q; Table 4.1, bird and raptor
BEAST = {"neck": (1.0, 1.5), "head": (0.05, 1.5), **LEGS}
WEIGHTS: dict[str, dict[str, tuple[float, float]]] = {  # Table 4.1; all other joints are 0
    "biped34": {"waist": (1.0, 1.5), "hip": (0.5, 1.5), "knee": (0.2, 1.0)},
    "big-bird": BEAST,
    "raptor": {**BEAST, "tail_1": (0.05, 1.0)},
    # two joints share the bend that is the waist's of biped34
    "biped": {"back": (0.5, 0.75), "chest": (0.5, 0.75), "hip": (0.5, 1.5), "knee": (0.2, 1.0)},
}
OTHERS = {"waist": (1.0, 1.5), "hip": (0.5, 1.5), "knee": (0.2, 1.0)}  # of bodies that the table does not name
FAR = math.inf  # distance of states on different feet
ROUNDING = 4e-3  # rad, twice what an angle near 0 may be off: the acos of a float32 by 8e-4, which is half of it


@dataclass(frozen=True, eq=False)
class Stances:
    """States at the beginning of a step, n of them, as the metric sees them.

    Attributes:
      features: (n, m) float32: vectors of three times their weights, then quaternions.
      feet: (n,) uint8: the stance foot, 0 left, 1 right.
      angles: (quaternions,) w_q of each.
    """

    features: np.ndarray
    feet: np.ndarray
    angles: np.ndarray

    def __len__(self) -> int:
        return len(self.feet)

    @property
    def velocity(self) -> np.ndarray:
        """(n, 3) m/s of the root: ahead, left, up."""
        return self.features[:, :3] / VELOCITY

    def some(self, rows: np.ndarray | slice) -> "Stances":
        """Those rows."""
        return Stances(self.features[rows], self.feet[rows], self.angles)


def joined(parts: Sequence[Stances]) -> Stances:
    """All states of several, in their order."""
    return Stances(
        np.concatenate([part.features for part in parts]), np.concatenate([part.feet for part in parts]),
        parts[0].angles,
    )  # fmt: skip


class Metric:
    """Sees the states of who steps.

    Attributes:
      width: numbers of a state.
      angles: w_q of its quaternions.

    **Departures**
      Thesis: w_v and the root's w_omega are not given; here 1 and 0.1. Thesis: the root's rotation does not count;
      here its tilt and turn against the character's frame do, by 1 (a trunk that falls over is another state).
      Thesis: nothing is said of the feet; here states on different feet are infinitely far.
    """

    def __init__(self, stepper: StepKind) -> None:
        self._stepper, scene = stepper, stepper.walker.scene
        bones, body = bones_of(scene), scene.character
        weights = WEIGHTS.get(body.name, OTHERS)
        held = [plain(joint_of(scene.model.joint(bones.joint[b]).name)) for b in range(1, len(bones.ids))]
        chosen = [(b + 1, weights[name]) for b, name in enumerate(held) if name in weights]
        if not chosen:
            raise UserError(f"no joint of '{body.name}' counts in the distance of states; it has: {', '.join(held)}")
        self._bones, self._joints = bones, [b for b, _ in chosen]
        self.width = 3 * (2 + len(chosen)) + 4 * (1 + len(chosen))
        self._spins = np.array([VELOCITY, TILT[0], *(weight[0] for _, weight in chosen)])
        self.angles = np.array([TILT[1], *(weight[1] for _, weight in chosen)])

    def states(self, sims: Sims, rows: np.ndarray | slice = slice(None)) -> Stances:
        """What rows look like; copies."""
        bones, root = self._bones, self._bones.ids[0]
        xquat, heading = sims.view("xquat")[rows], self._stepper.headings(sims)[rows]
        frame = np.stack([np.cos(heading / 2), 0 * heading, 0 * heading, np.sin(heading / 2)], axis=1)
        spin = sims.view(f"{sims.scene.character.root}.spin")[rows]
        vectors = [_unturned(frame, sims.view("qvel")[rows, :3]), _unturned(frame, spin)]
        quats = [_between(frame, xquat[:, root])]
        axes, rates = sims.view("xaxis")[rows], sims.view("qvel")[rows]
        for b in self._joints:
            parent = xquat[:, bones.ids[bones.parent[b]]]
            hinges = slice(bones.joint[b], bones.joint[b] + bones.hinges[b])
            turning = (axes[:, hinges] * rates[:, bones.dof[hinges], None]).sum(axis=1)
            vectors.append(_unturned(parent, turning))
            quats.append(_between(parent, xquat[:, bones.ids[b]]))
        weighed = np.stack(vectors, axis=1) * self._spins[:, None]
        features = np.concatenate([weighed.reshape(len(heading), -1), *quats], axis=1)
        feet = self._stepper.stance(sims)[rows].astype(np.uint8)
        return Stances(features.astype(np.float32), feet, self.angles)

    def places(self, sims: Sims, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """(n, 3) where rows are: x and y of the root in m, the heading of the character's frame in rad."""
        return np.column_stack([sims.view("xpos")[rows, self._bones.ids[0], :2], self._stepper.headings(sims)[rows]])


def _unturned(quat: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Vectors (n, 3) of the world in frames (n, 4)."""
    w, q = quat[:, :1], -quat[:, 1:]
    t = 2.0 * np.cross(q, vector)
    return vector + w * t + np.cross(q, t)


def _between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a^-1 b of quaternions (n, 4)."""
    w, v = a[:, :1], -a[:, 1:]
    return np.concatenate(
        [w * b[:, :1] - (v * b[:, 1:]).sum(axis=1, keepdims=True), w * b[:, 1:] + b[:, :1] * v + np.cross(v, b[:, 1:])],
        axis=1,
    )


def nearest(states: Stances, queries: Stances, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers (m, k) and distances (m, k) of the states nearest to queries, of the same foot, the nearest first.

    Where there are fewer, the number is -1 and the distance inf. Of equally near ones the first comes first.
    """
    rows = np.full((len(queries), k), -1, np.intp)
    distances = np.full((len(queries), k), np.inf)
    if len(queries) and len(states):
        search(
            states.features, states.feet, queries.features, queries.feet, states.angles, rows, distances
        )  # fmt: skip
    return rows, distances


@entry(nogil=True)
def search(kept, feet, wanted, stances, angles, rows, distances):  # type: ignore[no-untyped-def]
    """See `nearest`; a state is left as soon as it is farther than the last of the k that were found."""
    for q in range(wanted.shape[0]):
        for s in range(kept.shape[0]):
            if feet[s] == stances[q]:
                _enter(kept[s], wanted[q], angles, rows[q], distances[q], s)


@inner
def _enter(one, wanted, angles, rows, distances, s):  # type: ignore[no-untyped-def]
    """Put state s among the k nearest, where it is one."""
    place = distances.size - 1
    d = _distance(one, wanted, angles, distances[place])
    if d >= distances[place]:
        return
    while place > 0 and distances[place - 1] > d:
        distances[place], rows[place] = distances[place - 1], rows[place - 1]
        place -= 1
    distances[place], rows[place] = d, s


def all_nearest(
    states: Stances, queries: Stances, k: int, map_parts: Callable[[Callable[[slice], None], int], None]
) -> tuple[np.ndarray, np.ndarray]:
    """What `nearest` finds, to the last bit, several times sooner where there are many queries.

    A state whose distance is above the last of the k by a bound of it is passed by: as cos(x) >= 1 - x^2 / 2,
    dq(a, b) = 2 acos(c) >= 2 sqrt(2 - 2 c), which takes no acos and goes by vector instructions over all states.

    Args:
      map_parts: calls a function with slices that make up so many queries, in any order, by several threads.
    """
    rows = np.full((len(queries), k), -1, np.intp)
    distances = np.full((len(queries), k), np.inf)
    if not (len(states) and len(queries)):
        return rows, distances
    order = np.argsort(states.feet, kind="stable")
    columns = np.ascontiguousarray(states.features[order].T)
    first = np.searchsorted(states.feet[order], np.arange(3))
    weights, slack = (2.0 * states.angles).astype(np.float32), ROUNDING * float(states.angles.sum())

    def part(piece: slice) -> None:
        search_all(
            states.features, columns, order, first, queries.features[piece], queries.feet[piece], states.angles,
            weights, slack, np.empty(len(states), np.float32), rows[piece], distances[piece],
        )  # fmt: skip

    map_parts(part, len(queries))
    return rows, distances


@entry(nogil=True)
def search_all(  # type: ignore[no-untyped-def]
    kept, columns, order, first, wanted, stances, angles, weights, slack, bound, rows, distances
):
    """See `all_nearest`; columns (m, states) are states by `order`, of foot f from first[f] to first[f + 1]."""
    k = rows.shape[1]
    for q in range(wanted.shape[0]):
        begin, end = first[stances[q]], first[stances[q] + 1]
        _bounds(columns[:, begin:end], wanted[q], weights, bound)
        for i in range(end - begin):
            if bound[i] <= distances[q, k - 1] + slack:
                s = order[begin + i]
                _enter(kept[s], wanted[q], angles, rows[q], distances[q], s)


@inner
def _bounds(columns, wanted, weights, bound):  # type: ignore[no-untyped-def]
    """What the distances of states (m, count) are at least, but for rounding."""
    count = columns.shape[1]
    for i in range(count):
        bound[i] = 0.0
    last = wanted.size - 4 * weights.size
    for v in range(0, last, 3):
        a, b, c = columns[v], columns[v + 1], columns[v + 2]
        x, y, z = wanted[v], wanted[v + 1], wanted[v + 2]
        for i in range(count):
            bound[i] += math.sqrt((a[i] - x) * (a[i] - x) + (b[i] - y) * (b[i] - y) + (c[i] - z) * (c[i] - z))
    for n in range(weights.size):
        v, weight = last + 4 * n, weights[n]
        a, b, c, d = columns[v], columns[v + 1], columns[v + 2], columns[v + 3]
        w, x, y, z = wanted[v], wanted[v + 1], wanted[v + 2], wanted[v + 3]
        none, two = np.float32(0.0), np.float32(2.0)
        for i in range(count):
            apart = two - two * abs(a[i] * w + b[i] * x + c[i] * y + d[i] * z)
            bound[i] += weight * math.sqrt(apart if apart > none else none)


@inner
def _distance(a, b, angles, enough):  # type: ignore[no-untyped-def]
    """d(a, b), or some number above `enough` where it is more than that."""
    d = 0.0
    quats = angles.size
    first = a.size - 4 * quats
    for i in range(0, first, 3):
        x, y, z = a[i] - b[i], a[i + 1] - b[i + 1], a[i + 2] - b[i + 2]
        d += math.sqrt(x * x + y * y + z * z)
        if d > enough:
            return d
    for n in range(quats):
        i = first + 4 * n
        c = abs(a[i] * b[i] + a[i + 1] * b[i + 1] + a[i + 2] * b[i + 2] + a[i + 3] * b[i + 3])
        d += angles[n] * 2.0 * math.acos(min(c, 1.0))
        if d > enough:
            return d
    return d


def plane(states: Stances) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 2) of states on the plane over which they are spread most, and the share (2,) of variance along it.

    Principal axes of the states' numbers: states that differ by a single vector of the plane are as far from each other
    there as by the metric, by a single small rotation about so, all others closer.
    """
    first = states.features.shape[1] - 4 * len(states.angles)
    quats = states.features[:, first:].reshape(len(states), -1, 4).astype(float)
    quats *= np.where((quats * quats[:1]).sum(axis=2, keepdims=True) < 0, -1.0, 1.0)  # q and -q are one rotation
    quats *= 2.0 * states.angles[:, None]
    numbers = np.concatenate([states.features[:, :first], quats.reshape(len(states), -1)], axis=1)
    numbers -= numbers.mean(axis=0)
    _, sizes, axes = np.linalg.svd(numbers, full_matrices=False)
    axes *= np.where(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
    places, shares = np.zeros((len(states), 2)), np.zeros(2)
    count = min(2, len(sizes))
    places[:, :count] = numbers @ axes[:count].T
    shares[:count] = sizes[:count] ** 2 / max(float((sizes**2).sum()), 1e-12)
    return places, shares
