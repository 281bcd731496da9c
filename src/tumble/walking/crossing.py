"""Getting over, onto and under things: sets speed, period, foot path, bend and crouch of the walk (coros2010 5.5.4).

All is decided anew all the time from where things are along the heading. Before what must be stepped over it stops,
and where that is near a bar it stops before the bar, to bend.
"""

import math

from numba import njit

from tumble.walking.body import FOOT, LEGS, SHIN
from tumble.walking.legs import knee_for
from tumble.walking.memory import (
    BACK,
    BEND,
    BUSY,
    CLOCK,
    CROUCH,
    DUCK_BEND,
    DUCK_CROUCH,
    FRONT,
    GROUND,
    HALT,
    HEADING,
    HURDLE,
    LAND_X,
    LAND_Y,
    LAND_Z,
    LEAST_PERIOD,
    LEFT_TIME,
    LIMIT,
    LOWER,
    MODE,
    PACE,
    PASS,
    PERIOD,
    PHASE,
    PLAIN,
    SIDE,
    STAND,
    STOOP,
    SWING_X,
    SWING_Y,
    SWING_Z,
    TOP,
    TRAILS,
    TRIM,
    TUNED,
    UNLIMITED,
    WALK,
    WISH_CROUCH,
)  # fmt: skip
from tumble.walking.steps import crosses, deviation, foot_place, loaded, pendulum_rate, step_offset
from tumble.walking.terrain import (
    BENDS,
    CLEAR,
    CLIMB,
    EDGE,
    GAP,
    OVER,
    REACH,
    ROOM,
    STEEP,
    duck,
    far_side,
    footing,
    gather,
    ground_at,
    highest,
    holds,
    is_hurdle,
    lay_path,
    level,
    next_edge,
    passage,
    ramp,
    stretch,
    wall,
)  # fmt: skip
from tumble.walking.vectors import clamp, dot, vec

DECIDED = 0.3  # phase after which a foot keeps to the level that it was to land on
NEAR = 0.08  # m from an edge from where one steps over it, of a body of the humanoid's size
LEAN, HURDLE_LEAN, HIGH_LEAN = 0.25, 0.45, 0.65  # m further from an edge for each m that it is high: shins lean
THICK_LEAN = 0.5  # m that this is less for each m that a hurdle is thicker than 0.2 m: the step is long enough
LEAN_BACK = 0.06  # m further beyond it, for the leg that comes down leaning back
HURDLE_REACH = 1.05  # of the leg's length: the longest step over something
EASY = 0.78  # of it: one that may begin a little further away
SLOW = 0.15  # m/s, right before a place to stop, of a body of the humanoid's size
REST = 0.015  # m behind the middle of a foot, where the body comes to rest there
STOOPS = 0.3  # m before a bar, where it stops to bend if there is something to step over as well
STOOP_CROUCH = 0.8  # rad that its knees bend then for each rad that the trunk does
STOOP_LEAN = 0.3  # m further beyond something for each m of its height and rad of the bend: the hips are behind
STOOP_SPEED = 0.35  # m/s, fastest of who goes bent like that
AHEAD = 2.0  # m that are looked ahead, of a body of the humanoid's size


@njit(cache=True)
def heed(body, terrain, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Look at what is ahead and above, and write down what it asks for."""
    if terrain.boxes.shape[0] == 0 and terrain.bars.shape[0] == 0:
        return
    ahead = (math.cos(m[HEADING]), math.sin(m[HEADING]), 0.0)
    left = (-ahead[1], ahead[0], 0.0)
    _heed_bars(body, terrain, m, look, ahead, left)
    stance = int(m[SIDE])
    foot = foot_place(body, f, i, stance)
    if m[MODE] != WALK or m[PHASE] == 0.0:
        m[TOP], m[TRAILS] = 0.0, 0.0
        was, m[GROUND] = m[GROUND], ground_at(terrain, foot)
        m[BUSY], m[LIMIT], m[LEAST_PERIOD] = 0.0, UNLIMITED, 0.0
        m[LOWER] = min(m[LOWER], _bent(body, k, look)) if m[MODE] == WALK or m[MODE] == PASS else 0.0
        if (m[MODE] == WALK or m[MODE] == PASS) and abs(m[GROUND] - was) > 0.01:
            _take_weight(body, m, f, i)
    if m[MODE] == WALK:
        _heed_ground(body, terrain, k, m, look, f, i, ahead, left, foot)
        if m[DUCK_CROUCH] > 0.1:
            m[LIMIT] = min(m[LIMIT], STOOP_SPEED * math.sqrt(body.size))
        if m[STOOP] < UNLIMITED:
            m[LIMIT] = min(m[LIMIT], _approach(body, m[STOOP]))
            m[HALT] = max(m[HALT], 1.0) if m[STOOP] <= 0.0 else m[HALT]


@njit(cache=True)
def _take_weight(body, m, f, i):  # type: ignore[no-untyped-def]
    """Begin a stance with the knee as it is: one that is bent, because its foot is higher, rises slowly."""
    knee = f.qpos[i, body.angle[body.joint[LEGS + 4 * int(m[SIDE]) + SHIN]]]
    m[CROUCH] = max(knee - 0.3, m[WISH_CROUCH], m[DUCK_CROUCH], m[LOWER])


@njit(cache=True)
def _bent(body, k, look):  # type: ignore[no-untyped-def]
    """Crouch, rad, in which a load is carried over what is not level.

    The foot of a straight leg comes down late, with the body too far ahead to stop before an edge.
    """
    return k.load_crouch * min(5.0 * (look.total / body.total - 1.0), 1.0)


@njit(cache=True)
def _let_down(body, m, drop, length):  # type: ignore[no-untyped-def]
    """Crouch, rad, in which the other foot comes down `drop` m lower and `length` m ahead."""
    ahead = 0.6 * length
    high = math.sqrt(max((0.98 * body.leg) ** 2 - (length - ahead) ** 2, 0.1 * body.leg**2)) - drop
    return ramp(-m[PHASE], -0.75, -0.15) * knee_for(body.thigh[0], body.shin[0], math.sqrt(high * high + ahead * ahead))


@njit(cache=True)
def _heed_bars(body, terrain, m, look, ahead, left):  # type: ignore[no-untyped-def]
    """Bend, and crouch where that is not enough, as linear functions of the distance to a bar."""
    bend = crouch = 0.0
    m[STOOP] = UNLIMITED
    s, c = dot(look.com, ahead), dot(look.com, left)
    tall = m[GROUND] + body.leg + max(body.ankle[0], body.ankle[1])
    room = ROOM * body.size
    for j in range(terrain.bars.shape[0]):
        bar = terrain.bars[j]
        first, last = stretch(bar, ahead, left, c - terrain.shoulder, c + terrain.shoulder)
        if first > last:
            continue
        n = duck(terrain, bar[6] - room - tall)
        away = max(first - terrain.front[n] - room - s, s - last - terrain.behind - room)
        near = ramp(away, 0.0, (0.3 + BENDS[n]) * 0.6 * body.size)
        stoops = m[BEND] > 0.1 and m[CROUCH] > 0.1 and terrain.boxes.shape[0] > 0
        if s < last and (stoops or _among_hurdles(terrain, ahead, left, c, s, first, last, body.size)):
            bent = m[BEND] > BENDS[n] - 0.05
            near = 1.0 if away < (STOOPS + 0.3) * body.size and (m[MODE] == STAND or bent) else 0.0
            stoops = near > 0.0
            if not bent:
                m[STOOP] = min(m[STOOP], away - STOOPS * body.size)
        if stoops:  # else a foot does not reach the ground ahead
            crouch = max(crouch, near * STOOP_CROUCH * BENDS[n])
        bend = max(bend, near * BENDS[n])
        lacks = clamp(terrain.crown[n] + tall + room - bar[6], 0.0, 0.4 * body.leg)
        crouch = max(crouch, near * knee_for(body.thigh[0], body.shin[0], body.leg - lacks))
    if m[MODE] == PASS or crosses(body, m):  # who changes its bend on one leg loses its balance
        bend = max(bend, m[BEND])
        crouch = max(crouch, m[DUCK_CROUCH])
    if m[MODE] == STAND and m[HALT] == 2.0 and m[CLOCK] < 0.5:  # nor before it bears on both feet
        bend, crouch = m[BEND], m[CROUCH]
    m[DUCK_BEND], m[DUCK_CROUCH] = bend, crouch


@njit(cache=True)
def _among_hurdles(terrain, ahead, left, c, s, first, last, size):  # type: ignore[no-untyped-def]
    """Whether something is still to be stepped over near a bar that begins and ends there."""
    for j in range(terrain.boxes.shape[0]):
        begin, end = stretch(terrain.boxes[j], ahead, left, c - 0.2 * size, c + 0.2 * size)
        if begin < end and end > s - 0.3 * size and begin < last + 1.2 * size and end > first - 1.4 * size:
            return True
    return False


@njit(cache=True)
def _approach(body, away):  # type: ignore[no-untyped-def]
    """m/s at which it comes near a place to stop that is `away` m ahead."""
    if away <= 0.0:
        return 0.0
    return math.sqrt(body.size) * (SLOW + 0.6 * max(away / body.size - 0.1, 0.0))


@njit(cache=True)
def _landing(body, k, m, look, stance_foot, ahead):  # type: ignore[no-untyped-def]
    """Where the pendulum would have the swing foot land, ahead and left, m along the heading and across it."""
    offset = step_offset(body, k, m, look, stance_foot)
    half = 0.5 * pendulum_rate(body, look, stance_foot) * m[PERIOD]
    gone = math.sinh((2.0 * min(m[PHASE], 1.0) - 1.0) * half) / math.sinh(half)
    still = 0.5 * m[PACE] * m[PERIOD] * (1.0 - gone)
    side = look.com[1] * ahead[0] - look.com[0] * ahead[1] + offset[1]
    return dot(look.com, ahead) + still + offset[0], side


@njit(cache=True)
def _must_hold(body, m, look, spans, count, land, toe):  # type: ignore[no-untyped-def]
    """Whether a step to a place must end with the body held over its foot: the next one is long, or goes up loaded."""
    heavy, ground = loaded(body, look), level(spans, count, land)
    rises = next_edge(spans, count, land + toe - NEAR * body.size)
    close = rises - toe - _lean(spans, count, rises) - land < NEAR * body.size
    if close and (heavy or is_hurdle(spans, count, rises)):
        return True
    leads = m[TRAILS] == 0.0 and m[TOP] > max(m[GROUND], ground) + 0.05 * body.size
    return leads or (heavy and ground > m[GROUND] + 0.02 * body.size)


@njit(cache=True)
def _heed_ground(body, terrain, k, m, look, f, i, ahead, left, stance_foot):  # type: ignore[no-untyped-def]
    """Choose where the swing foot lands, and its way there, if there is anything near."""
    swing = 1 - int(m[SIDE])
    gap = GAP * body.size
    heel, toe = terrain.heel[swing] + gap, terrain.toe[swing] + gap
    at = dot(vec(f.xanchor[i, body.joint[LEGS + 4 * (1 - swing) + FOOT]]), ahead)
    start = m[SWING_X] * ahead[0] + m[SWING_Y] * ahead[1]
    natural, side = _landing(body, k, m, look, stance_foot, ahead)
    natural -= body.sole[swing]
    began = m[SWING_X] * left[0] + m[SWING_Y] * left[1]
    wide = terrain.half[swing] + 0.5 * gap
    count = gather(
        terrain.boxes, terrain.spans, ahead, left, min(began, side) - wide, max(began, side) + wide,
        start - heel - 0.3, at + AHEAD * body.size,
    )  # fmt: skip
    if count == 0:
        m[BUSY], m[LIMIT], m[LOWER], m[HALT] = 0.0, UNLIMITED, 0.0, 0.0
        return
    spans = terrain.spans
    bent = _bent(body, k, look) if highest(spans, count) > 0.02 * body.size else 0.0
    if loaded(body, look):
        m[LOWER] = bent
    over, climb, reach = OVER * body.leg, CLIMB * body.leg, REACH * body.leg
    barrier = wall(spans, count, at, heel + toe, over, climb, HURDLE_REACH * body.leg)
    _halt(body, m, spans, count, at, heel, toe)
    if m[BUSY] == 1.0 and m[PHASE] > DECIDED:
        land = m[LAND_X] * ahead[0] + m[LAND_Y] * ahead[1]
    else:
        usual = clamp(m[PACE] * m[PERIOD], 0.2 * body.leg, 0.5 * body.leg)
        near, heavy = NEAR * body.size, loaded(body, look)
        land = _choose(k, m, spans, count, start, at, natural, usual, heel, toe, near, barrier, reach, heavy)
    _limit_speed(body, m, spans, count, at, heel, toe, barrier)
    pivot = dot(stance_foot, ahead) - body.sole[swing]
    careful = _must_hold(body, m, look, spans, count, land, toe)
    wanted = pivot + _time_step(body, k, m, look, land - pivot, level(spans, count, land), careful, stance_foot, ahead)
    wanted = clamp(wanted, at - 0.8 * reach, max(at + 0.8 * reach, land))
    chosen, land = land, _same_level(spans, count, land, wanted, heel, toe)
    top, front, back = passage(spans, count, start, land, heel, toe, gap)
    m[LAND_Z] = level(spans, count, land)
    plain = top - min(m[LAND_Z], level(spans, count, start)) < 0.01
    if m[BUSY] == 0.0 and (m[PHASE] > DECIDED or (plain and abs(chosen - natural) < 0.005)):
        return
    off, _, _, _ = deviation(body, m, look, stance_foot, 0.0)
    if plain and abs(off) > k.hurry_from * body.size and holds(spans, count, natural, heel, toe):
        m[BUSY] = 0.0  # who stumbles steps where the pendulum wants
        return
    m[BUSY] = 1.0
    m[LAND_X], m[LAND_Y] = chosen * ahead[0] + side * left[0], chosen * ahead[1] + side * left[1]
    m[PLAIN] = 1.0 if plain else 0.0
    _lay_step(body, terrain, k, m, start, at, land, top, front, back, count, bent)


@njit(cache=True)
def _lay_step(body, terrain, k, m, start, at, land, top, front, back, count, bent):  # type: ignore[no-untyped-def]
    """Lay the swing ankle's way, and say how long it takes and how low the stance leg must be for it.

    Args:
      start, at, land: places of the swing ankle, of the stance ankle and of the landing, m.
      top, front, back: see `passage`.
      bent: rad, least crouch.
    """
    swing = 1 - int(m[SIDE])
    toe = terrain.toe[swing] + GAP * body.size
    m[TRAILS] = 1.0 if front < at - toe and back < at + toe else 0.0
    m[HURDLE] = front + toe
    if m[TRAILS] == 1.0:  # back and up, so that the shin clears the edge that the knee is above already
        front = min(front, start) - k.pull_back * (top - level(terrain.spans, count, start))
    m[TOP], m[FRONT], m[BACK] = top, front, back
    drop = m[GROUND] - m[LAND_Z]
    down = _let_down(body, m, drop, land - at) if drop > 0.02 * body.size else 0.0
    m[LOWER] = max(down, bent)
    ankle = body.ankle[swing]
    needs = lay_path(
        terrain.path, start, front, back, land, m[SWING_Z], _height(body, m) + ankle, m[LAND_Z] + ankle,
        k.foot_pace * math.sqrt(body.size),
    )  # fmt: skip
    m[LEAST_PERIOD] = min(needs + max(drop, 0.0), 1.3 * math.sqrt(body.size))


@njit(cache=True)
def _time_step(body, k, m, look, length, height, careful, stance_foot, ahead):  # type: ignore[no-untyped-def]
    """When to land a foot `length` m ahead of the other, and the speed that gets the body there in a period.

    Returns the length for which there is time: the foot cannot be much quicker or slower than usual.

    Where a pendulum would come to rest, ahead of its foot, grows as exp(rate t). When it is beyond the next foot as
    far as it is at the footstrikes of a steady walk, the walk goes on over that foot.
    """
    rate = pendulum_rate(body, look, stance_foot)
    shrink = math.exp(-rate * m[PERIOD])
    beyond = m[PACE] * m[PERIOD] * shrink / (1.0 - shrink) + clamp(m[TRIM], 0.0, 0.05 * body.leg)
    lead = k.load_cross_lead if loaded(body, look) else k.cross_lead
    if m[HALT] == 1.0 and m[TRAILS] == 1.0 and not loaded(body, look):  # it is about to stop
        lead = 0.0
    beyond += lead * body.size + k.climb_lead * (height - m[GROUND])
    if careful:  # the other foot has a long way then: no faster than the ankle can hold
        beyond = k.pass_lead * body.size + k.long_lead * max(length - 0.6 * body.size, 0.0)
    goal = max(length + beyond, 0.02 * body.size)
    place = dot(look.com, ahead) - dot(stance_foot, ahead)
    speed = dot(look.velocity, ahead)
    rest = max(place + speed / rate, 0.1 * goal)
    usual = (1.0 - min(m[PHASE], 1.0)) * m[PERIOD]
    least, most = 0.7 * usual + 0.02, usual + k.cross_wait * math.sqrt(body.size)
    if m[HALT] == 1.0 and m[LIMIT] == 0.0:
        m[LEFT_TIME], m[TUNED] = usual + 0.02, rate * (-REST * body.size - place)
        return length
    m[LEFT_TIME] = clamp(math.log(max(goal / rest, 1.0)) / rate, least, most)
    m[TUNED] = rate * (goal * math.exp(-rate * usual) - place)
    return clamp(length, rest * math.exp(rate * least) - beyond, rest * math.exp(rate * most) - beyond)


@njit(cache=True)
def _height(body, m):  # type: ignore[no-untyped-def]
    """m at which a sole passes over what is below."""
    higher = (0.09 if m[TRAILS] == 1.0 else 0.03) if crosses(body, m) else 0.0
    return m[TOP] + (CLEAR + higher) * body.size


@njit(cache=True)
def _lean(spans, count, edge):  # type: ignore[no-untyped-def]
    """m that a foot keeps further from an edge that rises, for the shin that leans over it."""
    rise = max(level(spans, count, edge + EDGE) - level(spans, count, edge - EDGE), 0.0)
    if not is_hurdle(spans, count, edge):
        return LEAN * rise
    thick = far_side(spans, count, edge) - edge
    lean = HURDLE_LEAN + (HIGH_LEAN - HURDLE_LEAN) * (1.0 - ramp(rise, 0.25, 0.35))
    return max(lean * rise - THICK_LEAN * clamp(thick - 0.2, 0.0, 0.1), 0.0)


@njit(cache=True)
def _same_level(spans, count, land, natural, heel, toe):  # type: ignore[no-untyped-def]
    """The place nearest to where the pendulum wants it, on the level around `land`."""
    way = 1.0 if natural > land else -1.0
    far = abs(natural - land)
    for j in range(count):
        for edge in (spans[j, 0], spans[j, 1]):
            if way > 0.0 and edge - heel > land:
                far = min(far, max(edge - toe - _lean(spans, count, edge) - land, 0.0))
            elif way < 0.0 and edge < land:
                far = min(far, max(land - edge - heel, 0.0))
    return land + way * far


@njit(cache=True)
def _in_reach(spans, count, at, land, reach):  # type: ignore[no-untyped-def]
    """Whether a step to a place is short enough: the more it goes up or down, the shorter."""
    return abs(land - at) <= reach - STEEP * abs(level(spans, count, land) - level(spans, count, at))


@njit(cache=True)
def _choose(k, m, spans, count, start, at, natural, usual, heel, toe, near, barrier, reach, heavy):  # type: ignore
    """Where to land: as the pendulum wants on level ground, close before the next edge, or beyond it from there.

    Args:
      start: place of the swing ankle when the step began, m.
      at, natural: places of the stance ankle, and of the swing ankle if it landed as the pendulum wants, m.
      usual: length of a step, m.
      near: how far from an edge a foot may be that one steps over it with the other, m.
      heel, toe, barrier, reach: see `footing` and `wall`.
      heavy: whether it carries something.
    """
    natural = min(natural, at + 1.2 * usual)
    behind = next_edge(spans, count, start)
    if not heavy and behind < at and is_hurdle(spans, count, behind):  # a trailing leg in a long step turns the foot
        natural = min(natural, at + k.trail_step)
    edge = next_edge(spans, count, at + toe - near)
    if edge > 1e8:
        return natural
    before = edge - toe - _lean(spans, count, edge)
    left = before - at
    if m[HALT] == 1.0:
        if not heavy and m[BEND] < 0.1 and m[STOOP] == UNLIMITED:
            natural = _together(k, m, spans, count, start, at, natural)
        return min(natural, max(before, start, start if heavy else at))
    if left > near and m[HALT] != 2.0:
        steps = math.ceil(left / (1.2 * usual))
        return at + left / steps if steps <= 2 else natural
    far = far_side(spans, count, edge) + heel
    if is_hurdle(spans, count, edge):
        room = _lean_back(m) * (level(spans, count, edge + EDGE) - level(spans, count, edge - EDGE))
        if far + room - at <= HURDLE_REACH / REACH * reach and holds(spans, count, far + room, heel, toe):
            return max(far + room, min(natural, far + 2.0 * room))
    for wanted in (max(natural, edge + heel), edge + heel, far):
        beyond = footing(spans, count, wanted, heel, toe, 1.0)
        if beyond < barrier and _in_reach(spans, count, at, beyond, reach):
            return beyond
    return before


@njit(cache=True)
def _together(k, m, spans, count, start, at, natural):  # type: ignore[no-untyped-def]
    """Where to land on the way to a stop: beside the other foot there, near it where it comes from beyond something."""
    if next_edge(spans, count, start) < at:
        return clamp(natural, at, at + k.beside)
    if m[LIMIT] == 0.0 and abs(natural - at) < 0.3:
        return clamp(natural, at - 0.02, at + 0.02)
    return natural


@njit(cache=True)
def _halt(body, m, spans, count, at, heel, toe):  # type: ignore[no-untyped-def]
    """Decide whether to stop before what comes next: before all that must be stepped over.

    A long step that begins in a stand begins alike every time.
    """
    edge = next_edge(spans, count, at + toe - NEAR * body.size)
    hurdle = edge < at + toe + 1.5 * body.size and is_hurdle(spans, count, edge)
    there = hurdle and _way_left(body, m, spans, count, at, edge, heel, toe) < 0.0
    if m[HALT] != 2.0 or (m[PHASE] == 0.0 and not there):
        m[HALT] = 1.0 if hurdle else 0.0


@njit(cache=True)
def _lean_back(m):  # type: ignore[no-untyped-def]
    """m that a foot lands further beyond something for each m of its height: the more the trunk bends, the more."""
    return LEAN_BACK + STOOP_LEAN * m[BEND]


@njit(cache=True)
def _way_left(body, m, spans, count, at, edge, heel, toe):  # type: ignore[no-untyped-def]
    """m from the stance ankle to where it may stop before a hurdle: so near that the other foot gets over easily."""
    before = toe + _lean(spans, count, edge)
    rise = level(spans, count, edge + EDGE) - level(spans, count, edge - EDGE)
    needs = before + far_side(spans, count, edge) - edge + heel + _lean_back(m) * rise
    slack = clamp(EASY * body.leg - needs, 0.04 * body.size, 0.2 * body.size)
    return edge - before - at - slack


@njit(cache=True)
def _limit_speed(body, m, spans, count, at, heel, toe, barrier):  # type: ignore[no-untyped-def]
    """Slow down near the next rise or drop, linearly in the distance; to nothing before a wall."""
    quick = math.sqrt(body.size)
    m[LIMIT] = UNLIMITED
    for j in range(count):
        for edge in (spans[j, 0], spans[j, 1]):
            away = edge - toe - at
            if away > -0.1 * body.size:
                m[LIMIT] = min(m[LIMIT], quick * (0.45 + 0.5 * max(away, 0.0) / body.size))
    if m[HALT] == 1.0:
        edge = next_edge(spans, count, at + toe - NEAR * body.size)
        m[LIMIT] = min(m[LIMIT], _approach(body, _way_left(body, m, spans, count, at, edge, heel, toe)))
    if barrier < 1e8:
        m[LIMIT] = min(m[LIMIT], quick * max(barrier - toe - at, 0.0) / body.size)
