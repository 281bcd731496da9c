"""Where feet land before and beyond things, where one stops before them, and how fast one comes there.

Places are m along the heading from the world's origin, those of feet their ankles'; `spans` and `count` are what
`gather` found on the way. `heel` and `toe` are how far a shoe reaches behind and ahead of its ankle, with a gap.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import clamp
from tumble.walking.capture import BENT, capture_inside, capture_shortfall
from tumble.walking.memory import UNLIMITED, Halt
from tumble.walking.terrain import (
    EDGE,
    FAR,
    HURDLE_REACH,
    REACH,
    STEEP,
    far_side,
    footing,
    holds,
    is_hurdle,
    level,
    next_edge,
    ramp,
)  # fmt: skip

NEAR = 0.08  # m from an edge from where one steps over it, of a body of the humanoid's size
LEAN, HURDLE_LEAN, HIGH_LEAN = 0.25, 0.45, 0.65  # m further from an edge for each m that it is high: shins lean
THICK_LEAN = 0.5  # m that this is less for each m that a hurdle is thicker than 0.2 m: the step is long enough
LEAN_BACK, LOAD_LEAN_BACK = 0.06, 0.12  # m further beyond it, for the leg that comes down leaning back
EASY = 0.78  # of the leg's length: a step over something that may begin a little further away
SLOW = 0.15  # m/s, right before a place to stop, of a body of the humanoid's size
FASTER = 0.6  # 1/s, more for each m that it is further away than SLOW_WITHIN
SLOW_WITHIN = 0.1  # m
EDGE_SPEED, EDGE_SLOWS = 0.45, 0.5  # m/s beside an edge, and 1/s, more for each m that it is away
EDGE_BEHIND = 0.1  # m behind an edge up to where it slows down
HURDLE_SEEN = 1.5  # m ahead of the toes within which it wants to stop before a hurdle
WALL_GAP = 0.2  # m between the toes and a wall that it stands before
SLACK_LEAST, SLACK_MOST = 0.04, 0.2  # m before the last place to step over something from, where it may stop
LEAN_FROM, LEAN_TO = 0.25, 0.35  # m of height over which the lean over a hurdle grows to HIGH_LEAN
THICK_FROM, THICK_MOST = 0.2, 0.1  # m of thickness from which on THICK_LEAN counts, and up to how much more
LONGER = 1.2  # times the usual step that one may be longer
TOGETHER, NEARLY_TOGETHER = 0.02, 0.3  # m off the other foot: where feet stop beside each other; from where they do
ON_TIME = (-0.01, 0.1)  # m that the capture point is beyond its foot, of one who comes as one who stood would
ON_LINE = (-0.01, 0.04)  # m that it is inside of it
STOOP_LEAN = 0.3  # m further beyond something for each m of its height and rad of the bend: the hips are behind


@inner
def lean_of(spans, count, edge):  # type: ignore[no-untyped-def]
    """m that a foot keeps further from an edge that rises, for the shin that leans over it."""
    rise = max(level(spans, count, edge + EDGE) - level(spans, count, edge - EDGE), 0.0)
    if not is_hurdle(spans, count, edge):
        return LEAN * rise
    thick = far_side(spans, count, edge) - edge
    lean = HURDLE_LEAN + (HIGH_LEAN - HURDLE_LEAN) * (1.0 - ramp(rise, LEAN_FROM, LEAN_TO))
    return max(lean * rise - THICK_LEAN * clamp(thick - THICK_FROM, 0.0, THICK_MOST), 0.0)


@inner
def _lean_back(m, heavy):  # type: ignore[no-untyped-def]
    """m that a foot lands further beyond something for each m of its height: the more the trunk bends, the more."""
    return (LOAD_LEAN_BACK if heavy else LEAN_BACK) + STOOP_LEAN * m.bend


@inner
def same_level(spans, count, land, natural, heel, toe):  # type: ignore[no-untyped-def]
    """The place nearest to where the pendulum wants it, on the level around `land`."""
    way = 1.0 if natural > land else -1.0
    far = abs(natural - land)
    for j in range(count):
        for edge in (spans[j, 0], spans[j, 1]):
            if way > 0.0 and edge - heel > land:
                far = min(far, max(edge - toe - lean_of(spans, count, edge) - land, 0.0))
            elif way < 0.0 and edge < land:
                far = min(far, max(land - edge - heel, 0.0))
    return land + way * far


@inner
def _in_reach(spans, count, at, land, reach):  # type: ignore[no-untyped-def]
    """Whether a step to a place is short enough: the more it goes up or down, the shorter."""
    return abs(land - at) <= reach - STEEP * abs(level(spans, count, land) - level(spans, count, at))


@inner
def choose(k, m, spans, count, start, at, natural, usual, heel, toe, near, barrier, reach, heavy, held):  # type: ignore
    """Where to land: as the pendulum wants on level ground, close before the next edge, or beyond it from there.

    Args:
      start: place of the swing ankle when the step began, m.
      at, natural: places of the stance ankle, and of the swing ankle if it landed as the pendulum wants, m.
      usual: length of a step, m.
      near: how far from an edge a foot may be that one steps over it with the other, m.
      heel, toe, barrier, reach: see `footing` and `wall`.
      heavy: whether it carries something.
      held: whether a foot beside the stance foot would hold the capture point.
    """
    natural = min(natural, at + LONGER * usual)
    behind = next_edge(spans, count, start)
    if not heavy and behind < at and is_hurdle(spans, count, behind):  # in a long step the standing foot slides aside
        natural = min(natural, at + k.crossing.trail_step)
    edge = next_edge(spans, count, at + toe - near)
    if edge > FAR:
        return natural
    before = edge - toe - lean_of(spans, count, edge)
    left = before - at
    if m.halt == Halt.WANTED:
        if held and not heavy and m.bend < BENT and m.stoop_distance == UNLIMITED:
            natural = _together(k, m, spans, count, start, at, natural)
        return min(natural, max(before, start, start if heavy else at))
    if left > near and m.halt != Halt.STOOD:
        steps = math.ceil(left / (LONGER * usual))
        return at + left / steps if steps <= 2 else natural
    far = far_side(spans, count, edge) + heel
    if is_hurdle(spans, count, edge):
        room = _lean_back(m, heavy) * (level(spans, count, edge + EDGE) - level(spans, count, edge - EDGE))
        if far + room - at <= HURDLE_REACH / REACH * reach and holds(spans, count, far + room, heel, toe):
            return max(far + room, min(natural, far + 2.0 * room))
    for wanted in (max(natural, edge + heel), edge + heel, far):
        beyond = footing(spans, count, wanted, heel, toe, 1.0)
        if beyond < barrier and _in_reach(spans, count, at, beyond, reach):
            return beyond
    return before


@inner
def _together(k, m, spans, count, start, at, natural):  # type: ignore[no-untyped-def]
    """Where to land on the way to a stop: beside the other foot there, near it where it comes from beyond something."""
    if next_edge(spans, count, start) < at:
        return clamp(natural, at, at + k.crossing.beside)
    if m.speed_limit == 0.0 and abs(natural - at) < NEARLY_TOGETHER:
        return clamp(natural, at - TOGETHER, at + TOGETHER)
    return natural


@inner
def want_halt(body, k, m, look, f, i, spans, count, at, heel, toe, barrier, heavy):  # type: ignore
    """Decide whether to stop before what comes next: before all that must be stepped over, and before a wall.

    A long step that begins in a stand begins alike every time. Who carries something or is bent does not stop as
    surely, and goes on where it comes there as one who stood would.
    """
    edge = next_edge(spans, count, at + toe - NEAR * body.size)
    seen = at + toe + HURDLE_SEEN * body.size
    hurdle = edge < seen and edge < barrier and is_hurdle(spans, count, edge)
    there = hurdle and _way_left(body, m, spans, count, at, edge, heel, toe, barrier, heavy) < 0.0
    if m.halt == Halt.STOOD and (m.phase > 0.0 or there):
        return
    m.halt = Halt.WANTED if hurdle or (edge < seen and edge >= barrier) else Halt.NONE
    if there and m.phase == 0.0 and (heavy or m.bend > BENT):
        fast = -capture_shortfall(body, k, m, look, f, i) / body.size
        off = capture_inside(body, m, look, f, i) / body.size
        if ON_TIME[0] < fast < ON_TIME[1] and ON_LINE[0] < off < ON_LINE[1]:
            m.halt = Halt.STOOD


@inner
def _way_left(body, m, spans, count, at, edge, heel, toe, barrier, heavy):  # type: ignore[no-untyped-def]
    """m from the stance ankle to where it may stop before a hurdle: so near that the other foot gets over easily.

    Before a wall it is where the toes keep their distance.
    """
    if edge >= barrier:
        return barrier - toe - WALL_GAP * body.size - at
    before = toe + lean_of(spans, count, edge)
    rise = level(spans, count, edge + EDGE) - level(spans, count, edge - EDGE)
    needs = before + far_side(spans, count, edge) - edge + heel + _lean_back(m, heavy) * rise
    slack = clamp(EASY * body.leg - needs, SLACK_LEAST * body.size, SLACK_MOST * body.size)
    return edge - before - at - slack


@inner
def approach(body, away):  # type: ignore[no-untyped-def]
    """m/s at which it comes near a place to stop that is `away` m ahead."""
    if away <= 0.0:
        return 0.0
    return math.sqrt(body.size) * (SLOW + FASTER * max(away / body.size - SLOW_WITHIN, 0.0))


@inner
def limit_speed(body, m, spans, count, at, heel, toe, barrier, heavy):  # type: ignore[no-untyped-def]
    """Slow down near the next rise or drop, linearly in the distance; to nothing before a wall."""
    quick = math.sqrt(body.size)
    m.speed_limit = UNLIMITED
    for j in range(count):
        for edge in (spans[j, 0], spans[j, 1]):
            away = edge - toe - at
            if away > -EDGE_BEHIND * body.size:
                m.speed_limit = min(m.speed_limit, quick * (EDGE_SPEED + EDGE_SLOWS * max(away, 0.0) / body.size))
    if m.halt == Halt.WANTED:
        edge = next_edge(spans, count, at + toe - NEAR * body.size)
        left = _way_left(body, m, spans, count, at, edge, heel, toe, barrier, heavy)
        m.speed_limit = min(m.speed_limit, approach(body, left))
    if barrier < FAR:
        m.speed_limit = min(m.speed_limit, quick * max(barrier - toe - at, 0.0) / body.size)
