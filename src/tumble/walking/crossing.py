"""Getting over, onto and under things: sets speed, period, foot path, bend and crouch of the walk (coros2010 5.5.4).

All is decided anew all the time from where things are along the heading. Before what must be stepped over it stops,
and where that is near a bar it stops before the bar, to bend.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import clamp, dot, vec
from tumble.walking.bars import heed_bars
from tumble.walking.body import FOOT, LEGS, SHIN
from tumble.walking.landing import NEAR, approach, choose, halt, lean_of, limit_speed, same_level
from tumble.walking.legs import knee_for
from tumble.walking.memory import PASS, UNLIMITED, WALK
from tumble.walking.steps import crosses, deviation, foot_place, loaded, pendulum_rate, step_offset
from tumble.walking.terrain import (
    CLEAR,
    CLIMB,
    GAP,
    HURDLE_REACH,
    OVER,
    REACH,
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
    wall,
)  # fmt: skip

DECIDED = 0.3  # phase after which a foot keeps to the level that it was to land on
REST = 0.015  # m behind the middle of a foot, where the body comes to rest there
STOOP_SPEED = 0.35  # m/s, fastest of who goes with trunk and knees bent
AHEAD = 2.0  # m that are looked ahead, of a body of the humanoid's size


@inner
def heed(body, terrain, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Look at what is ahead and above, and write down what it asks for."""
    if terrain is not None:
        _heed(body, terrain, k, m, look, f, i)


@inner
def _heed(body, terrain, k, m, look, f, i):  # type: ignore[no-untyped-def]
    ahead = (math.cos(m.heading), math.sin(m.heading), 0.0)
    left = (-ahead[1], ahead[0], 0.0)
    heed_bars(body, terrain, m, look, ahead, left)
    stance = int(m.stance)
    foot = foot_place(body, f, i, stance)
    if m.mode != WALK or m.phase == 0.0:
        m.obstacle_top, m.trailing = 0.0, 0.0
        was, m.ground = m.ground, ground_at(terrain, foot)
        m.planned, m.speed_limit, m.least_period = 0.0, UNLIMITED, 0.0
        m.down_crouch = min(m.down_crouch, _bent(body, k, look)) if m.mode == WALK or m.mode == PASS else 0.0
        if (m.mode == WALK or m.mode == PASS) and abs(m.ground - was) > 0.01:
            _take_weight(body, m, f, i)
    if m.mode == WALK:
        _heed_ground(body, terrain, k, m, look, f, i, ahead, left, foot)
        if m.duck_crouch > 0.1:
            m.speed_limit = min(m.speed_limit, STOOP_SPEED * math.sqrt(body.size))
        if m.stoop_distance < UNLIMITED:
            m.speed_limit = min(m.speed_limit, approach(body, m.stoop_distance))
            m.halt = max(m.halt, 1.0) if m.stoop_distance <= 0.0 else m.halt


@inner
def _take_weight(body, m, f, i):  # type: ignore[no-untyped-def]
    """Begin a stance with the knee as it is: one that is bent, because its foot is higher, rises slowly."""
    knee = f.qpos[i, body.angle[body.joint[LEGS + 4 * int(m.stance) + SHIN]]]
    m.crouch = max(knee - 0.3, m.wish_crouch, m.duck_crouch, m.down_crouch)


@inner
def _bent(body, k, look):  # type: ignore[no-untyped-def]
    """Crouch, rad, in which a load is carried over what is not level.

    The foot of a straight leg comes down late, with the body too far ahead to stop before an edge.
    """
    return k.hands.load_crouch * min(5.0 * (look.total / body.total - 1.0), 1.0)


@inner
def _let_down(body, m, drop, length):  # type: ignore[no-untyped-def]
    """Crouch, rad, in which the other foot comes down `drop` m lower and `length` m ahead."""
    ahead = 0.6 * length
    high = math.sqrt(max((0.98 * body.leg) ** 2 - (length - ahead) ** 2, 0.1 * body.leg**2)) - drop
    return ramp(-m.phase, -0.75, -0.15) * knee_for(body.thigh[0], body.shin[0], math.sqrt(high * high + ahead * ahead))


@inner
def _landing(body, k, m, look, stance_foot, ahead):  # type: ignore[no-untyped-def]
    """Where the pendulum would have the swing foot land, ahead and left, m along the heading and across it."""
    offset = step_offset(body, k, m, look, stance_foot)
    half = 0.5 * pendulum_rate(body, look, stance_foot) * m.period
    gone = math.sinh((2.0 * min(m.phase, 1.0) - 1.0) * half) / math.sinh(half)
    still = 0.5 * m.pendulum_speed * m.period * (1.0 - gone)
    side = look.com[1] * ahead[0] - look.com[0] * ahead[1] + offset[1]
    return dot(look.com, ahead) + still + offset[0], side


@inner
def _must_hold(body, m, look, spans, count, land, toe):  # type: ignore[no-untyped-def]
    """Whether a step to a place must end with the body held over its foot: the next one is long, or goes up loaded."""
    heavy, ground = loaded(body, look), level(spans, count, land)
    rises = next_edge(spans, count, land + toe - NEAR * body.size)
    close = rises - toe - lean_of(spans, count, rises) - land < NEAR * body.size
    if close and (heavy or is_hurdle(spans, count, rises)):
        return True
    leads = m.trailing == 0.0 and m.obstacle_top > max(m.ground, ground) + 0.05 * body.size
    return leads or (heavy and ground > m.ground + 0.02 * body.size)


@inner
def _heed_ground(body, terrain, k, m, look, f, i, ahead, left, stance_foot):  # type: ignore[no-untyped-def]
    """Choose where the swing foot lands, and its way there, if there is anything near."""
    swing = 1 - int(m.stance)
    gap = GAP * body.size
    heel, toe = terrain.heel[swing] + gap, terrain.toe[swing] + gap
    at = dot(vec(f.xanchor[i, body.joint[LEGS + 4 * (1 - swing) + FOOT]]), ahead)
    start = m.swing_start[0] * ahead[0] + m.swing_start[1] * ahead[1]
    natural, side = _landing(body, k, m, look, stance_foot, ahead)
    natural -= body.sole[swing]
    began = m.swing_start[0] * left[0] + m.swing_start[1] * left[1]
    wide = terrain.half[swing] + 0.5 * gap
    count = gather(
        terrain.boxes, terrain.spans, ahead, left, min(began, side) - wide, max(began, side) + wide,
        start - heel - 0.3, at + AHEAD * body.size,
    )  # fmt: skip
    if count == 0:
        m.planned, m.speed_limit, m.down_crouch, m.halt = 0.0, UNLIMITED, 0.0, 0.0
        return
    spans = terrain.spans
    bent = _bent(body, k, look) if highest(spans, count) > 0.02 * body.size else 0.0
    heavy = loaded(body, look)
    if heavy:
        m.down_crouch = bent
    over, climb, reach = OVER * body.leg, CLIMB * body.leg, REACH * body.leg
    barrier = wall(spans, count, at, heel + toe, over, climb, HURDLE_REACH * body.leg)
    halt(body, k, m, look, f, i, spans, count, at, heel, toe, heavy)
    if m.planned == 1.0 and m.phase > DECIDED:
        land = m.foothold[0] * ahead[0] + m.foothold[1] * ahead[1]
    else:
        usual = clamp(m.pendulum_speed * m.period, 0.2 * body.leg, 0.5 * body.leg)
        near = NEAR * body.size
        land = choose(k, m, spans, count, start, at, natural, usual, heel, toe, near, barrier, reach, heavy)
    limit_speed(body, m, spans, count, at, heel, toe, barrier, heavy)
    pivot = dot(stance_foot, ahead) - body.sole[swing]
    careful = _must_hold(body, m, look, spans, count, land, toe)
    wanted = pivot + _time_step(body, k, m, look, land - pivot, level(spans, count, land), careful, stance_foot, ahead)
    wanted = clamp(wanted, at - 0.8 * reach, max(at + 0.8 * reach, land))
    chosen, land = land, same_level(spans, count, land, wanted, heel, toe)
    top, front, back = passage(spans, count, start, land, heel, toe, gap)
    m.foothold[2] = level(spans, count, land)
    plain = top - min(m.foothold[2], level(spans, count, start)) < 0.01
    if m.planned == 0.0 and (m.phase > DECIDED or (plain and abs(chosen - natural) < 0.005)):
        return
    off, _, _, _ = deviation(body, m, look, stance_foot, 0.0)
    if plain and abs(off) > k.steps.hurry_from * body.size and holds(spans, count, natural, heel, toe):
        m.planned = 0.0  # who stumbles steps where the pendulum wants
        return
    m.planned = 1.0
    m.foothold[0], m.foothold[1] = chosen * ahead[0] + side * left[0], chosen * ahead[1] + side * left[1]
    m.level_step = 1.0 if plain else 0.0
    _lay_step(body, terrain, k, m, start, at, land, top, front, back, count, bent)


@inner
def _lay_step(body, terrain, k, m, start, at, land, top, front, back, count, bent):  # type: ignore[no-untyped-def]
    """Lay the swing ankle's way, and say how long it takes and how low the stance leg must be for it.

    Args:
      start, at, land: places of the swing ankle, of the stance ankle and of the landing, m.
      top, front, back: see `passage`.
      bent: rad, least crouch.
    """
    swing = 1 - int(m.stance)
    toe = terrain.toe[swing] + GAP * body.size
    m.trailing = 1.0 if front < at - toe and back < at + toe else 0.0
    m.obstacle_front = front + toe
    if m.trailing == 1.0:  # back and up, so that the shin clears the edge that the knee is above already
        front = min(front, start) - k.crossing.pull_back * (top - level(terrain.spans, count, start))
    m.obstacle_top, m.clear_from, m.clear_to = top, front, back
    drop = m.ground - m.foothold[2]
    down = _let_down(body, m, drop, land - at) if drop > 0.02 * body.size else 0.0
    m.down_crouch = max(down, bent)
    ankle = body.ankle[swing]
    needs = lay_path(
        terrain.path, start, front, back, land, m.swing_start[2], _height(body, m) + ankle, m.foothold[2] + ankle,
        k.crossing.foot_pace * math.sqrt(body.size),
    )  # fmt: skip
    m.least_period = min(needs + max(drop, 0.0), 1.3 * math.sqrt(body.size))


@inner
def _time_step(body, k, m, look, length, height, careful, stance_foot, ahead):  # type: ignore[no-untyped-def]
    """When to land a foot `length` m ahead of the other, and the speed that gets the body there in a period.

    Returns the length for which there is time: the foot cannot be much quicker or slower than usual.

    Where a pendulum would come to rest, ahead of its foot, grows as exp(rate t). When it is beyond the next foot as
    far as it is at the footstrikes of a steady walk, the walk goes on over that foot.
    """
    rate = pendulum_rate(body, look, stance_foot)
    shrink = math.exp(-rate * m.period)
    beyond = m.pendulum_speed * m.period * shrink / (1.0 - shrink) + clamp(m.step_trim, 0.0, 0.05 * body.leg)
    lead = k.crossing.load_lead if loaded(body, look) else k.crossing.lead
    if m.halt == 1.0 and m.trailing == 1.0 and not loaded(body, look):  # it is about to stop
        lead = 0.0
    beyond += lead * body.size + k.crossing.climb_lead * (height - m.ground)
    if careful:  # the other foot has a long way then: no faster than the ankle can hold
        beyond = k.crossing.capture_lead * body.size + k.crossing.long_lead * max(length - 0.6 * body.size, 0.0)
    goal = max(length + beyond, 0.02 * body.size)
    place = dot(look.com, ahead) - dot(stance_foot, ahead)
    speed = dot(look.velocity, ahead)
    rest = max(place + speed / rate, 0.1 * goal)
    usual = (1.0 - min(m.phase, 1.0)) * m.period
    least, most = 0.7 * usual + 0.02, usual + k.crossing.wait * math.sqrt(body.size)
    if m.halt == 1.0 and m.speed_limit == 0.0:
        m.time_left, m.tuned_speed = usual + 0.02, rate * (-REST * body.size - place)
        return length
    m.time_left = clamp(math.log(max(goal / rest, 1.0)) / rate, least, most)
    m.tuned_speed = rate * (goal * math.exp(-rate * usual) - place)
    return clamp(length, rest * math.exp(rate * least) - beyond, rest * math.exp(rate * most) - beyond)


@inner
def _height(body, m):  # type: ignore[no-untyped-def]
    """m at which a sole passes over what is below."""
    higher = (0.09 if m.trailing == 1.0 else 0.03) if crosses(body, m) else 0.0
    return m.obstacle_top + (CLEAR + higher) * body.size
