"""Straight ways between boxes: what a body climbs, steps over, ducks under, or cannot.

    floor = check_way(scene, (0.0, 0.0), (3.0, 1.0))     # m of the ground at its end; raises where there is no way

A spot is (x, y) in m. Ways are lines without width, seen from above; boxes with `ground` are walked on, those that hang
higher than `lowest_duck` are walked under. Only boxes count: balls, crates and companions may have moved by then.
"""

import itertools
import math
from collections.abc import Collection
from typing import TypeAlias

import numpy as np

from tumble.errors import UserError
from tumble.walking import WalkSettings
from tumble.walking.body import body_of
from tumble.walking.terrain import highest_climb, highest_step, thickest_step
from tumble.world.props import Box, boxes_of
from tumble.world.scene import Scene

Spot: TypeAlias = tuple[float, float]


def lowest_duck(scene: Scene) -> float:
    """Height of what it can walk under, m: its hips stay that high."""
    return 1.1 * body_of(scene, WalkSettings()).leg


def depth_in(box: Box, spot: Spot) -> float:
    """How far a spot is inside a box seen from above, m to the nearest edge; negative outside."""
    x, y = _in_frame(box, spot)
    return min(box.half[0] - abs(x), box.half[1] - abs(y))


def box_at(scene: Scene, spot: Spot) -> Box | None:
    """A box that leaves no room to stand at a spot, if one does: it is no ground and too low to be under."""
    duck = lowest_duck(scene)
    for box in scene.props:
        if isinstance(box, Box) and not box.ground and _bottom(box) < duck and depth_in(box, spot) > 0:
            return box
    return None


def check_way(scene: Scene, start: Spot, end: Spot, beside: Collection[str] = ()) -> float:
    """Refuse a straight way with a step or an obstacle too high; returns the height of the ground at its end, m.

    Args:
      beside: names of boxes that are walked to, not over.
    """
    step, duck = highest_step(scene), lowest_duck(scene)
    boxes = [box for box in boxes_of(scene.props) if box.name not in beside]
    spans = [(box, span) for box in boxes if (span := _span(box, start, end))]
    cuts = sorted({0.0, 1.0, *(round(t, 9) for _, span in spans for t in span)})  # boxes that touch leave no gap
    floors = [_floor([box for box in boxes if depth_in(box, start) > 0], duck)]
    for before, after in itertools.pairwise(cuts):
        middle = (before + after) / 2
        here = [box for box, (t0, t1) in spans if t0 <= middle <= t1]
        floors.append(_floor(here, duck))
        for box in here:
            if not box.ground and _top(box) - floors[-1] > step + 1e-9 and _bottom(box) - floors[-1] < duck:
                raise UserError(
                    f"box '{box.name}' is on the straight way, {_top(box) - floors[-1]:.2f} m high; {_advice(step)}"
                )
    _check_floors(scene, floors, [t * math.dist(start, end) for t in cuts])
    return floors[-1]


def _check_floors(scene: Scene, floors: list[float], ends: list[float]) -> None:
    """Refuse ground that rises or drops by more than a leg climbs, but for what is thin and low enough to step over.

    floors[i], m, reaches up to ends[i] m along the way.
    """
    step, climb, thickest = (limit(scene) + 1e-9 for limit in (highest_step, highest_climb, thickest_step))
    stands, i = floors[0], 1
    while i < len(floors):
        beyond = next((j for j in range(i, len(floors)) if floors[j] - stands <= climb), len(floors))
        thin = beyond < len(floors) and ends[beyond - 1] - ends[i - 1] <= thickest
        if beyond > i and thin and max(floors[i:beyond]) - stands <= step:
            i = beyond
        change, limit = abs(floors[i] - stands), step if thin and beyond > i else climb
        if change > limit:
            raise UserError(f"on the straight way is a step of {change:.2f} m; {_advice(limit)}")
        stands, i = floors[i], i + 1


def _advice(step: float) -> str:
    """What to do where a step is higher than `step` m, for messages."""
    return f"this body steps {step:.2f} m high at most: go around it, by way of other places"


def _floor(boxes: list[Box], duck: float) -> float:
    """Height of the ground that some boxes make, of which those overhead are none."""
    return max((_top(box) for box in boxes if box.ground and _bottom(box) < duck), default=0.0)


def _top(box: Box) -> float:
    """Height of a box's top, m."""
    return box.middle[2] + box.half[2]


def _bottom(box: Box) -> float:
    """Height of a box's bottom, m."""
    return box.middle[2] - box.half[2]


def _in_frame(box: Box, spot: Spot) -> Spot:
    """A spot in a box's own axes, from its middle."""
    x, y = spot[0] - box.middle[0], spot[1] - box.middle[1]
    cos, sin = math.cos(box.turn), math.sin(box.turn)
    return cos * x + sin * y, cos * y - sin * x


def _span(box: Box, start: Spot, end: Spot) -> tuple[float, float] | None:
    """Shares of a way at which it enters and leaves a box seen from above; None where it misses it."""
    begin = np.array(_in_frame(box, start))
    along = np.array(_in_frame(box, end)) - begin
    enter, leave = 0.0, 1.0
    for at, speed, half in zip(begin, along, box.half, strict=False):
        if abs(speed) < 1e-12:
            if abs(at) >= half:
                return None
            continue
        near, far = sorted(((-half - at) / speed, (half - at) / speed))
        enter, leave = max(enter, near), min(leave, far)
    return (float(enter), float(leave)) if enter < leave else None
