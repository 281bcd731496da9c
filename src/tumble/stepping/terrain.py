"""Terrain of constrained walking: gaps across the way and stones on it, and which of it a foot stands on.

    props, ground = gapped([(1.5, 0.3), (2.3, 0.5)], depth=0.4)     # gaps (from, width), m along x
    scene = Scene(character("planar"), props, ground)
    footing = footing_of(scene)
    footing.share(np.array([1.4]), np.array([1.6]))                 # 0.5 of the foot is on the ground
    footing.windows(place, heading, offsets, foot)                  # where heels may land, see `planning.Landings`

Gaps are real: the plane lies `Ground.depth` below the slabs. All run across the way, along y; a way that does not go
along x crosses them at an angle. Stones are `props.Stone`, one footfall each, in the order of the scene.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from tumble.errors import UserError, check_number
from tumble.stepping.planning import FAR
from tumble.world.props import Box, Prop, Stone
from tumble.world.scene import Ground, Scene

DEPTH = 0.4  # m of gaps; not given; ours: who steps in is down to the knee
FRICTION = 0.8  # coros2010 section 5.4, as elsewhere
BEHIND, AFTER, WIDE = 8.0, 12.0, 30.0  # m of ground before the first gap, behind the last one, to either side
REACH = (-0.3, 4.0)  # m along the way within which windows count: three steps; ours
STEEP = (
    0.2  # of the cosine between the way and the x axis, below which gaps are no longer crossed but walked along; ours
)
STUMBLED, PASSED = 0.25, 0.05  # m; ours
HALF = 0.5  # of a foot, at least on ground: section 3.6


@dataclass(frozen=True)
class Foot:
    """A sole in its own frame, m: lengths from heel to toe, width."""

    length: float
    width: float


@dataclass(frozen=True, eq=False)
class Footing:
    """Where there is ground, and where feet should stand.

    Attributes:
      ground: (n, 2) from where to where along x there is ground, m; in order, none touches the next.
      stones: (m, 3) middles of footfalls in their order, m.
    """

    ground: np.ndarray
    stones: np.ndarray

    @property
    def gaps(self) -> np.ndarray:
        """(n - 1, 2) from where to where along x there is none."""
        return np.column_stack([self.ground[:-1, 1], self.ground[1:, 0]])

    def share(self, heels: np.ndarray, toes: np.ndarray) -> np.ndarray:
        """(n,) how much of the feet is above ground, of lines from x of heels to x of toes (n,); 0 to 1."""
        low, high = np.minimum(heels, toes)[:, None], np.maximum(heels, toes)[:, None]
        over = np.minimum(high, self.ground[:, 1]) - np.maximum(low, self.ground[:, 0])
        whole = np.maximum(high - low, 1e-6)
        found: np.ndarray = (np.clip(over, 0.0, None) / whole).sum(axis=1)
        return found

    def windows(
        self, place: np.ndarray, heading: float, offsets: Sequence[float], foot: Foot, margin: float = 0.0
    ) -> np.ndarray:
        """(steps, m, 2) from where to where heels may land, m along a heading from a place; see `planning.Landings`.

        A foot is whole on the ground there; where ground is shorter than a foot, but not than half of it, there is one
        place in its middle. A margin makes windows narrower on both sides, as far as there is room.

        Args:
          place: (2,) of the heel that stands.
          offsets: (steps,) m to the left of that heel, of the heels that will land.
        """
        c, s = math.cos(heading), math.sin(heading)
        if abs(c) < STEEP:
            inside = bool(((self.ground[:, 0] <= place[0]) & (place[0] <= self.ground[:, 1])).any())
            return np.tile([-FAR, FAR] if inside else [1.0, 0.0], (len(offsets), 1, 1))
        rows = [self._along(place[0] - s * offset, c, abs(s) * foot.width, foot.length, margin) for offset in offsets]
        most = max(1, *map(len, rows))
        out = np.tile([1.0, 0.0], (len(offsets), most, 1))
        for row, found in zip(out, rows, strict=True):
            row[: len(found)] = found
        return out

    def _along(self, x: float, c: float, across: float, length: float, margin: float) -> np.ndarray:
        """(m, 2) windows within reach, in order, on a line through x that goes along the x axis by c per m."""
        edges = np.column_stack([self.ground[:, 0] + 0.5 * across, self.ground[:, 1] - 0.5 * across])
        ends = np.sort((edges - x) / c, axis=1)[:: 1 if c > 0 else -1]
        room = ends[:, 1] - ends[:, 0]
        narrow = np.maximum(0.5 * np.maximum(room - length, 0.0) - margin, 0.0)
        middles = 0.5 * (ends[:, 0] + ends[:, 1] - length)
        infinite = room > FAR  # whose middle is nowhere
        low = np.where(infinite, ends[:, 0] + margin, middles - narrow)
        high = np.where(infinite, ends[:, 1] - length - margin, middles + narrow)
        near = (room >= HALF * length) & (high >= REACH[0]) & (low <= REACH[1])
        return np.column_stack([low, high])[near]

    def ahead(self, x: float, heading: float) -> float:
        """m along a heading from x to the next gap; FAR where there is none."""
        c = math.cos(heading)
        if abs(c) < STEEP:
            return FAR
        gaps = np.sort((self.gaps - x) / c, axis=1)
        gaps = gaps[gaps[:, 1] > 0.0]
        return float(np.maximum(gaps[:, 0], 0.0).min(initial=FAR))


def footing_of(scene: Scene) -> Footing:
    """The terrain of a scene: its slabs where its plane is deep, else ground everywhere; and its stones."""
    return footing_in(scene.props, scene.ground)


def footing_in(props: Sequence[Prop], ground: Ground) -> Footing:
    """That of a scene with these props on this ground."""
    stones = np.reshape([prop.place for prop in props if isinstance(prop, Stone)], (-1, 3))
    if not ground.depth:
        return Footing(np.array([[-2 * FAR, 2 * FAR]]), stones)
    slabs = sorted(
        (box.middle[0] - box.half[0], box.middle[0] + box.half[0])
        for box in props
        if isinstance(box, Box) and box.ground
    )
    if not slabs:
        raise UserError("the ground is deep and nothing lies on it: give the scene boxes with ground=True, or no depth")
    joined = [slabs[0]]
    for low, high in slabs[1:]:
        if low <= joined[-1][1] + 1e-6:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return Footing(np.array(joined), stones)


def gapped(
    gaps: Sequence[tuple[float, float]], depth: float = DEPTH, tops: Sequence[float] = ()
) -> tuple[list[Box], Ground]:
    """Slabs, and the deep plane below them, for gaps (from, width) along x, m, in order.

    Args:
      tops: m that the slabs behind each gap rise above 0; 0 where there are none.
    """
    check_number("depth", depth, 0.01, 10.0)
    if not gaps:
        return [], Ground(FRICTION)
    edges = [gaps[0][0] - BEHIND]
    for (start, width), before in zip(gaps, (edges[0], *(a + b for a, b in gaps)), strict=False):
        check_number("width of a gap", width, 0.01, 5.0)
        if start <= before:
            raise UserError(f"gaps must follow one another with ground between, got one at {start:g} m from {before:g}")
        edges += [start, start + width]
    edges.append(edges[-1] + AFTER)
    heights = [0.0, *tops, *[0.0] * (len(gaps) - len(tops))]
    return [
        Box(
            f"slab-{i}", (0.5 * (low + high), 0.0, 0.5 * (top - depth)),
            (0.5 * (high - low), WIDE, 0.5 * (top + depth)), ground=True,
        )
        for i, (low, high, top) in enumerate(zip(edges[::2], edges[1::2], heights, strict=True))
    ], Ground(FRICTION, depth=depth)  # fmt: skip


def next_stone(ahead: np.ndarray, number: int) -> int:
    """Which stone the next step is for, after one for the stone of that number has landed.

    It stays the same where the foot has stumbled, `STUMBLED` before it; stones `PASSED` behind the foot are left out.

    Args:
      ahead: (stones,) m along the way from the foot that landed to each.
    """
    if number >= len(ahead) or ahead[number] > STUMBLED:
        return number
    number += 1
    while number < len(ahead) and ahead[number] < -PASSED:
        number += 1
    return number


class Soles:
    """Where heels and toes of a scene's character are.

    Attributes:
      foot: sizes of a sole.
    """

    def __init__(self, scene: Scene) -> None:
        model, data = scene.model, scene.show(scene.state())
        self._feet = np.array([scene.body(foot) for foot in scene.character.feet])
        boxes = [_box(model, data, int(body)) for body in self._feet]
        middle = [0.5 * (low + high) for low, high in boxes]
        self._heels = np.array([(low[0], m[1], low[2]) for (low, _), m in zip(boxes, middle, strict=True)])
        self._toes = np.array([(high[0], m[1], low[2]) for (low, high), m in zip(boxes, middle, strict=True)])
        low, high = boxes[0]
        self.foot = Foot(float(high[0] - low[0]), float(high[1] - low[1]))

    def places(self, xpos: np.ndarray, xquat: np.ndarray) -> np.ndarray:
        """(n, 2 feet, 2 ends, 3) m, heel and toe, of places (n, bodies, 3) and rotations (n, bodies, 4)."""
        at, quat = xpos[:, self._feet], xquat[:, self._feet]
        ends = [at + _rotated(quat, point) for point in (self._heels, self._toes)]
        return np.stack(ends, axis=2)


def _box(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> tuple[np.ndarray, np.ndarray]:
    """Low and high (3,) of all that is solid on a foot and what hangs on it, in its frame, as the body rests."""
    found = []
    back = np.array(data.xmat[body]).reshape(3, 3).T
    for geom in range(model.ngeom):
        part = model.geom_bodyid[geom]
        if body not in (part, model.body_parentid[part]) or not model.geom_conaffinity[geom]:
            continue  # not of the foot, nor of toes on it
        turn = back @ np.array(data.geom_xmat[geom]).reshape(3, 3)
        middle, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        at = back @ (data.geom_xpos[geom] - data.xpos[body]) + turn @ middle
        found += [at - np.abs(turn) @ half, at + np.abs(turn) @ half]
    return np.min(found, axis=0), np.max(found, axis=0)


def _rotated(quat: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors (feet, 3) by rotations (n, feet, 4)."""
    w, q = quat[..., :1], quat[..., 1:]
    t = 2.0 * np.cross(q, vectors)
    found: np.ndarray = vectors + w * t + np.cross(q, t)
    return found
