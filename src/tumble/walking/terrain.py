"""What feet step over and onto, and what heads duck under: boxes as a walker sees them along its way (coros2010 5.5.4).

    scene = Scene(biped(), [Box("hurdle", (2, 0, 0.2), (0.05, 1, 0.2), ground=True)], ...)
    highest_step(scene), thickest_step(scene), highest_climb(scene)

Along the heading a box is a span: where it begins and ends, m on an axis through the world's origin, and its top.
Stairs are made of boxes that reach the ground. A box whose bottom is above the highest step is a bar.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from tumble.maths.compiled import inner
from tumble.maths.vectors import clamp
from tumble.world.props import Box, boxes_of
from tumble.world.scene import Scene

OVER = 0.55  # of the leg's length: the highest that is stepped over
CLIMB = 0.3  # of the leg's length: the highest single step up or down
REACH = 0.8  # of the leg's length: the longest step across something, ankle to ankle
HURDLE_REACH = 1.05  # of it: the longest step over something, from a stand
STEEP = 1.6  # m that this is less for each m up or down
GAP = 0.03  # m between a foot and an edge, of a body of the humanoid's size
CLEAR = 0.05  # m between a sole and what it passes over
ROOM = 0.06  # m between the crown and what it ducks under
BENDS = np.linspace(0.0, 1.3, 14)  # rad, of the table of crowns
FIRST, LAST, TOP, FIRM = 0, 1, 2, 3  # of a span; FIRM: 1 where one may stand on it
THICK = 0.5  # m, of the thickest that is stepped over and not onto
EDGE = 1e-4  # m beside an edge, where levels are compared
SAME = 0.01  # m between heights that count as one level
FLAT = 0.005  # m between heights under one foot
STEP = 0.02  # m from which on the ground goes up or down
RISES = 0.05  # m from which on something is a hurdle
UPWARDS = 1.2  # times as long as ahead that a foot's way up or down takes
SHORTEST = 0.05  # m, of a part of its way
SLOW_END, SOFT = 1.15, 0.05  # times the way down, whose last bit is slow; m of that bit
NOWHERE = 1e9  # m, a place that there is not
FAR = 1e8  # m, beyond which a place is none


class Terrain(NamedTuple):
    """The boxes of a scene, and what of a body decides how it gets past them; lengths in m."""

    boxes: np.ndarray  # (n, 9) for feet: middle x and y, cos and sin of the turn, half sizes x and y, bottom, top, firm
    bars: np.ndarray  # (n, 9) to duck under
    heel: np.ndarray  # (2,) from the ankle to the end of the shoe behind
    toe: np.ndarray  # (2,) ahead
    half: np.ndarray  # (2,) half the width of a shoe
    crown: np.ndarray  # (bends,) of the highest point above the hips
    front: np.ndarray  # (bends,) of the foremost point of head and trunk ahead of the hips
    behind: float  # of the hindmost point of the trunk
    shoulder: float  # half the width of what goes under a bar
    spans: np.ndarray  # (n, 4) scratch
    path: np.ndarray  # (2, 5, 2) scratch: knots of the swing ankle's way ahead and of its height


def terrain_of(scene: Scene) -> Terrain | None:
    """The table of a scene of a biped; None where nothing is to be stepped over or ducked under."""
    limit = highest_step(scene)
    boxes = boxes_of(scene.props)
    low = [_row(box) for box in boxes if box.ground and box.middle[2] - box.half[2] <= limit]
    high = [_row(box) for box in boxes if box.middle[2] - box.half[2] > limit]
    if not low and not high:
        return None
    feet = _feet(scene)
    crown, front, behind, shoulder = _trunk(scene)
    return Terrain(
        _table(low), _table(high), feet[:, 0].copy(), feet[:, 1].copy(), feet[:, 2].copy(), crown, front, behind,
        shoulder, np.zeros((len(low) + len(high), 4)), np.zeros((2, 5, 2)),
    )  # fmt: skip


def highest_step(scene: Scene) -> float:
    """Height in m of the highest obstacle that the scene's biped steps over."""
    return OVER * _leg(scene)


def highest_climb(scene: Scene) -> float:
    """Height in m of the highest step that the scene's biped goes up or down."""
    return CLIMB * _leg(scene)


def thickest_step(scene: Scene) -> float:
    """Thickness in m of the thickest obstacle that the scene's biped steps over."""
    (heel, toe, _), leg = _feet(scene).max(axis=0), _leg(scene)
    return float(HURDLE_REACH * leg - heel - toe - 2.0 * GAP * leg / 0.86)


def _leg(scene: Scene) -> float:
    """Length of the shorter leg from hip to ankle, m."""
    model = scene.model
    lengths = [
        -sum(model.body_pos[scene.body(f"{side}_{bone}"), 2] for bone in ("shin", "foot")) for side in ("left", "right")
    ]
    return float(min(lengths))


def _row(box: Box) -> list[float]:
    """A box as a row of `Terrain.boxes`."""
    (x, y, z), (a, b, c) = box.middle, box.half
    return [x, y, math.cos(box.turn), math.sin(box.turn), a, b, z - c, z + c, float(box.ground)]


def _table(rows: Sequence[Sequence[float]]) -> np.ndarray:
    """(n, 9) of rows, also where there are none."""
    return np.array(rows, float).reshape(len(rows), 9)


def _feet(scene: Scene) -> np.ndarray:
    """(2, 3): how far each shoe goes behind, ahead and to the sides of the ankle, m."""
    data = mujoco.MjData(scene.model)
    mujoco.mj_kinematics(scene.model, data)  # straight, facing ahead
    rows = []
    for side in ("left", "right"):
        ankle = data.body(f"{side}_foot").xpos
        low, high = _extent(scene, data, [f"{side}_foot", f"{side}_toe"])
        rows.append([ankle[0] - low[0], high[0] - ankle[0], max(high[1] - ankle[1], ankle[1] - low[1])])
    return np.array(rows)


def _trunk(scene: Scene) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Crown, front, behind and shoulder of a `Terrain`: a walker's trunk in the bends of the table."""
    model, data = scene.model, mujoco.MjData(scene.model)
    bones = ["pelvis", "lower_back", "torso", "head", "left_upper_arm", "right_upper_arm"]
    crown, front, behind, shoulder = [], [], 0.0, 0.0
    for bend in BENDS:
        data.qpos[:] = 0.0
        # shares of the bend: pelvis 0.3, lower back 0.6, torso and head 1, see `hold`
        data.qpos[3:7] = math.cos(0.15 * bend), 0.0, math.sin(0.15 * bend), 0.0
        for joint, share in (("back_bend", 0.3), ("chest_bend", 0.4)):
            data.joint(joint).qpos = share * bend
        mujoco.mj_kinematics(model, data)
        hip = data.body("left_thigh").xpos
        low, high = _extent(scene, data, bones)
        crown.append(high[2] - hip[2])
        front.append(high[0] - hip[0])
        behind, shoulder = max(behind, hip[0] - low[0]), max(shoulder, high[1])
    return np.array(crown), np.array(front), behind, shoulder


def _extent(scene: Scene, data: mujoco.MjData, bones: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest x, y, z of the solid capsules of some bones."""
    model, ids = scene.model, [scene.body(bone) for bone in bones]
    ends = []
    for i in range(model.ngeom):
        if model.geom_bodyid[i] in ids and model.geom_conaffinity[i]:
            along, radius = np.abs(data.geom_xmat[i].reshape(3, 3)[:, 2]) * model.geom_size[i, 1], model.geom_size[i, 0]
            ends.append((data.geom_xpos[i] - along - radius, data.geom_xpos[i] + along + radius))
    return np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)


@inner
def _widen(low, high, s):  # type: ignore[no-untyped-def]
    """A stretch that has s in it as well."""
    return min(low, s), max(high, s)


@inner
def stretch(box, ahead, left, right_edge, left_edge):  # type: ignore[no-untyped-def]
    """Where a box begins and ends along a direction, within a band of the other; begins after its end where it is not.

    Args:
      box: a row of a table.
      ahead, left: the directions, unit vectors.
      right_edge, left_edge: the band, m along `left` from the world's origin.
    """
    first, last = NOWHERE, -NOWHERE
    for i in range(4):
        s, c = _corner(box, ahead, left, i)
        t, d = _corner(box, ahead, left, (i + 1) % 4)
        if right_edge <= c <= left_edge:
            first, last = _widen(first, last, s)
        for edge in (right_edge, left_edge):
            if (c - edge) * (d - edge) < 0.0:
                first, last = _widen(first, last, s + (edge - c) / (d - c) * (t - s))
    return first, last


@inner
def _corner(box, ahead, left, i):  # type: ignore[no-untyped-def]
    """Place of a corner along two directions, m."""
    a = box[4] if i == 0 or i == 3 else -box[4]
    b = box[5] if i < 2 else -box[5]
    x, y = box[0] + a * box[2] - b * box[3], box[1] + a * box[3] + b * box[2]
    return x * ahead[0] + y * ahead[1], x * left[0] + y * left[1]


@inner
def gather(boxes, spans, ahead, left, right_edge, left_edge, near, far):  # type: ignore[no-untyped-def]
    """Put the spans of the boxes that are between near and far within a band into `spans`; returns how many."""
    count = 0
    for j in range(boxes.shape[0]):
        first, last = stretch(boxes[j], ahead, left, right_edge, left_edge)
        if first < last and last > near and first < far:
            spans[count, FIRST], spans[count, LAST] = first, last
            spans[count, TOP], spans[count, FIRM] = boxes[j, 7], boxes[j, 8]
            count += 1
    return count


@inner
def level(spans, count, s):  # type: ignore[no-untyped-def]
    """Height of the ground at a place, m: the highest top there."""
    height = 0.0
    for j in range(count):
        if spans[j, FIRST] <= s < spans[j, LAST]:
            height = max(height, spans[j, TOP])
    return height


@inner
def highest(spans, count):  # type: ignore[no-untyped-def]
    """Height of the highest top, m; 0 where there is none."""
    top = 0.0
    for j in range(count):
        top = max(top, spans[j, TOP])
    return top


@inner
def ground_at(terrain, place):  # type: ignore[no-untyped-def]
    """Height of the ground below a place, m."""
    height = 0.0
    for j in range(terrain.boxes.shape[0]):
        box = terrain.boxes[j]
        x, y = place[0] - box[0], place[1] - box[1]
        if abs(box[2] * x + box[3] * y) <= box[4] and abs(box[2] * y - box[3] * x) <= box[5]:
            height = max(height, box[7])
    return height


@inner
def holds(spans, count, s, heel, toe):  # type: ignore[no-untyped-def]
    """Whether a foot with its ankle there is wholly on one level that one may stand on."""
    for j in range(count):
        if spans[j, FIRM] == 0.0 and spans[j, FIRST] < s + toe and spans[j, LAST] > s - heel:
            return False
        for edge in (spans[j, FIRST], spans[j, LAST]):
            under = s - heel + EDGE < edge < s + toe - EDGE
            if under and abs(level(spans, count, edge - EDGE) - level(spans, count, edge + EDGE)) > FLAT:
                return False
    return True


@inner
def footing(spans, count, s, heel, toe, way):  # type: ignore[no-untyped-def]
    """The place nearest to s, ahead (way 1) or behind (-1), where a foot is wholly on one level; s +- 1e9 if none."""
    if holds(spans, count, s, heel, toe):
        return s
    best = NOWHERE
    for j in range(count):
        for edge in (spans[j, FIRST], spans[j, LAST]):
            for place in (edge + heel, edge - toe):
                far = way * (place - s)
                if 0.0 < far < best and holds(spans, count, place, heel, toe):
                    best = far
    return s + way * best


@inner
def next_edge(spans, count, s):  # type: ignore[no-untyped-def]
    """Where the ground goes up or down next, ahead of s, m; 1e9 where it does not."""
    first = NOWHERE
    for j in range(count):
        for edge in (spans[j, FIRST], spans[j, LAST]):
            if s < edge < first and abs(level(spans, count, edge - EDGE) - level(spans, count, edge + EDGE)) > STEP:
                first = edge
    return first


@inner
def far_side(spans, count, edge):  # type: ignore[no-untyped-def]
    """Where that ends which rises at an edge, m; the edge itself where the ground drops there."""
    last, before = edge, level(spans, count, edge - EDGE)
    for j in range(count):
        if spans[j, TOP] > before and spans[j, FIRST] <= edge + EDGE < spans[j, LAST]:
            last = max(last, spans[j, LAST])
    return last


@inner
def is_hurdle(spans, count, edge):  # type: ignore[no-untyped-def]
    """Whether what begins at an edge rises, is no platform, and ends on the level before it."""
    before, far = level(spans, count, edge - EDGE), far_side(spans, count, edge)
    if far - edge > THICK or level(spans, count, edge + EDGE) < before + RISES:
        return False
    return abs(level(spans, count, far + EDGE) - before) < STEP


@inner
def wall(spans, count, s, length, over, climb, reach):  # type: ignore[no-untyped-def]
    """Where the first thing ahead of s begins that a foot cannot get over nor onto; 1e9 where there is none.

    Args:
      length: of the foot with its gaps, m.
      over, climb, reach: highest obstacle, highest step and longest step across, m.
    """
    first = NOWHERE
    for j in range(count):
        begin = spans[j, FIRST]
        if begin <= s:
            continue
        rise = spans[j, TOP] - level(spans, count, begin - EDGE)
        thin = spans[j, LAST] - begin + length <= reach
        if rise > (over if thin else climb):
            first = min(first, begin)
    return first


@inner
def passage(spans, count, start, land, heel, toe, gap):  # type: ignore[no-untyped-def]
    """What a foot passes on its way between two places: highest top, where it must be up, from where it may come down.

    Places of the ankle, m; `start` and `land` where nothing is higher than the ground there. Heel and toe with a gap,
    which a foot that landed somewhere else than wanted may have used up at the start.
    """
    low, high = min(start, land), max(start, land)
    before, after = level(spans, count, start), level(spans, count, land)
    top, front, back = max(before, after), NOWHERE, -NOWHERE
    for j in range(count):
        if spans[j, LAST] <= low - heel + 2.0 * gap or spans[j, FIRST] >= high + toe - 2.0 * gap:
            continue
        top = max(top, spans[j, TOP])
        if spans[j, TOP] > before + SAME and spans[j, FIRST] >= start:
            front = min(front, spans[j, FIRST] - toe)
        if spans[j, TOP] > after + SAME:
            back = max(back, spans[j, LAST] + heel)
    return top, (start if front > FAR else front), (land if back < -FAR else back)


@inner
def lay_path(path, start, front, back, land, low, high, last, pace):  # type: ignore[no-untyped-def]
    """Knots over the phase of a swing ankle's way and height, four Catmull-Rom segments; returns s that it needs.

    Up to `high` before it is beyond `front`, down from `back` on; the last bit of the way down is slow.

    Args:
      path: (2, 5, 2), written.
      start, front, back, land: places along the way, m.
      low, high, last: heights of the ankle at the start, over what is passed, at the landing, m.
      pace: m/s of a foot.
    """
    rise = max(abs(front - start), UPWARDS * (high - low), SHORTEST) / pace
    over = max(back - front, SHORTEST) / pace
    fall = max(0.5 * (land - back), UPWARDS * (high - last), SHORTEST) / pace
    whole = rise + over + SLOW_END * fall
    near = last + min(SOFT, 0.5 * (high - last))
    for j, (when, s, z) in enumerate((
        (0.0, start, low), (rise, front, high), (rise + over, back, high), (rise + over + fall, land, near),
        (whole, land, last),
    )):  # fmt: skip
        path[0, j, 0] = path[1, j, 0] = when / whole
        path[0, j, 1], path[1, j, 1] = s, z
    return whole


@inner
def duck(terrain, gap):  # type: ignore[no-untyped-def]
    """Number of the smallest bend of the table with the crown at most `gap` m above the hips; the last if none."""
    for j in range(terrain.crown.size):
        if terrain.crown[j] <= gap:
            return j
    return terrain.crown.size - 1


@inner
def ramp(x, near, far):  # type: ignore[no-untyped-def]
    """1 up to near, 0 from far on, a line between."""
    return clamp((far - x) / (far - near), 0.0, 1.0)
