"""Getting over, onto and under things: sets speed, period, foot path, bend and crouch of the walk (coros2010 5.5.4).

All is decided anew all the time from where things are along the heading. Before what must be stepped over it stops,
and where that is near a bar it stops before the bar, to bend.

What is decided is in the memory: planned, foothold, clear_from and clear_to for the swing foot; tuned_speed, time_left
and least_period for when it lands; speed_limit, halt, down_crouch and blocked for the body. Without terrain nothing of
it is compiled, and the memory keeps what `begin` wrote: no plan, no limit.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import clamp, dot
from tumble.walking.bars import duck_under
from tumble.walking.body import LEGS, SHIN
from tumble.walking.capture import BENT, capture_shortfall
from tumble.walking.footholds import aim_between, place_step, wished_foothold
from tumble.walking.landing import NEAR, approach, choose, lean_of, limit_speed, same_level, want_halt
from tumble.walking.memory import LEFT, RIGHT, UNLIMITED, Halt, Mode
from tumble.walking.pendulum import deviation, pendulum_rate
from tumble.walking.steps import DROPS, HIGHER, ankle_of, crosses, foot_place, let_down, loaded, step_offset
from tumble.walking.terrain import (
    CLEAR,
    CLIMB,
    GAP,
    HURDLE_REACH,
    OVER,
    REACH,
    SAME,
    STEP,
    gather,
    ground_at,
    highest,
    holds,
    is_hurdle,
    lay_path,
    level,
    next_edge,
    passage,
    wall,
)  # fmt: skip

# Lengths of a body of the humanoid's size; all ours.
DECIDED = 0.3  # phase after which a foot keeps to the level that it was to land on
HELD = 0.03  # m beyond what lets it walk on over a foot, up to where feet side by side hold the capture point
REST = 0.015  # m behind the middle of a foot, where the body comes to rest there
STOOP_SPEED = 0.35  # m/s, fastest of who goes with trunk and knees bent
AHEAD = 2.0  # m that are looked ahead
BLOCKS = 0.6  # m before the toes within which it stands before a wall
BEHIND = 0.3  # m that are looked back from where the swing foot was
KNEE = 0.3  # rad that a stance knee is bent on level ground
LOAD_BENDS = 5.0  # of the crouch under a load, for each time of its own mass that it carries; at most all
USUAL_SHORT, USUAL_LONG = 0.2, 0.5  # of the leg's length: steps that the next landings are counted in
STRIDES = 0.8  # of the longest step that a foot is put ahead or behind at most
UNPLANNED = 0.005  # m that a landing may be off the pendulum's and need no plan
LONGEST_PERIOD = 1.3  # s of a step over something
MOST_TRIM = 0.05  # of the leg's length that what keeps the mean speed adds
LONG = 0.6  # m, from which on a step over something loses speed
LEAST_GOAL = 0.02  # m beyond the stance foot that the capture point is to get to at least
SLOW_START = 0.1  # of that goal, where the capture point is taken to be at least
QUICKEST, QUICKEST_DOWN = 0.7, 0.45  # of the time that is left, in which a foot gets to its place; to lower ground
SPARE = 0.02  # s more
HIGHER_LEADING, HIGHER_TRAILING = 0.03, 0.09  # m more between a sole and what it is lifted over


@inner
def cross_terrain(body, terrain, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Look at what is ahead and above, and write down what it asks for; nothing where there is no terrain."""
    if terrain is not None:
        _cross(body, terrain, k, m, look, f, i)


@inner
def _cross(body, terrain, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Look up, take stock where a step begins, and plan the step that is under way."""
    ahead = (math.cos(m.heading), math.sin(m.heading), 0.0)
    left = (-ahead[1], ahead[0], 0.0)
    duck_under(body, terrain, m, look, ahead, left)
    foot = foot_place(body, f, i, m.stance)
    if m.mode != Mode.WALK or m.phase == 0.0:
        m.obstacle_top, m.trailing = 0.0, False
        was, m.ground = m.ground, m.foothold[2] if m.placed else ground_at(terrain, foot)
        m.planned, m.speed_limit, m.least_period = False, UNLIMITED, 0.0
        steps = m.mode == Mode.WALK or m.mode == Mode.DOUBLE_SUPPORT
        m.down_crouch = min(m.down_crouch, _bent(body, k, look)) if steps else 0.0
        if steps and abs(m.ground - was) > SAME:
            _take_weight(body, m, f, i)
    if m.mode == Mode.DOUBLE_SUPPORT and m.placed:
        aim_between(body, k, m, look, ahead, left, foot)
    m.blocked = m.mode == Mode.STAND and m.wish_speed > 0.0 and _before_wall(body, terrain, m, f, i)
    if m.mode == Mode.WALK:
        n = wished_foothold(m)
        m.placed = n >= 0
        if m.placed:
            place_step(body, terrain, k, m, look, f, i, n, ahead, left, foot)
            return
        _plan_step(body, terrain, k, m, look, f, i, ahead, left, foot)
        if m.duck_crouch > BENT:
            m.speed_limit = min(m.speed_limit, STOOP_SPEED * math.sqrt(body.size))
        if m.stoop_distance < UNLIMITED:
            m.speed_limit = min(m.speed_limit, approach(body, m.stoop_distance))
            if m.stoop_distance <= 0.0 and m.halt == Halt.NONE:
                m.halt = Halt.WANTED


@inner
def _before_wall(body, terrain, m, f, i):  # type: ignore[no-untyped-def]
    """Whether what is near on the way that is wished can neither be stepped over nor onto."""
    ahead = (math.cos(m.wish_heading), math.sin(m.wish_heading), 0.0)
    left = (-ahead[1], ahead[0], 0.0)
    one, other = ankle_of(body, f, i, LEFT), ankle_of(body, f, i, RIGHT)
    at, (a, b) = max(dot(one, ahead), dot(other, ahead)), (dot(one, left), dot(other, left))
    wide, toe = max(terrain.half[0], terrain.half[1]), max(terrain.toe[0], terrain.toe[1])
    far = at + toe + BLOCKS * body.size
    count = gather(terrain.boxes, terrain.spans, ahead, left, min(a, b) - wide, max(a, b) + wide, at, far)
    return _wall_ahead(body, terrain, count, at, LEFT) < far


@inner
def _wall_ahead(body, terrain, count, at, swing):  # type: ignore[no-untyped-def]
    """Where the first of the spans begins, m ahead of an ankle, that a foot gets neither over nor onto; see `wall`."""
    length = terrain.heel[swing] + terrain.toe[swing] + 2.0 * GAP * body.size
    return wall(terrain.spans, count, at, length, OVER * body.leg, CLIMB * body.leg, HURDLE_REACH * body.leg)


@inner
def _take_weight(body, m, f, i):  # type: ignore[no-untyped-def]
    """Begin a stance with the knee as it is: one that is bent, because its foot is higher, rises slowly."""
    knee = f.qpos[i, body.angle[body.joint[LEGS + 4 * m.stance + SHIN]]]
    m.crouch = max(knee - KNEE, m.wish_crouch, m.duck_crouch, m.down_crouch)


@inner
def _bent(body, k, look):  # type: ignore[no-untyped-def]
    """Crouch, rad, in which a load is carried over what is not level.

    The foot of a straight leg comes down late, with the body too far ahead to stop before an edge.
    """
    return k.hands.load_crouch * min(LOAD_BENDS * (look.total / body.total - 1.0), 1.0)


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
    leads = not m.trailing and m.obstacle_top > max(m.ground, ground) + HIGHER * body.size
    return leads or (heavy and ground > m.ground + STEP * body.size)


@inner
def _plan_step(body, terrain, k, m, look, f, i, ahead, left, stance_foot):  # type: ignore[no-untyped-def]
    """Choose where the swing foot lands, and its way there, if there is anything near."""
    swing = 1 - m.stance
    gap = GAP * body.size
    heel, toe = terrain.heel[swing] + gap, terrain.toe[swing] + gap
    at = dot(ankle_of(body, f, i, m.stance), ahead)
    start = m.swing_start[0] * ahead[0] + m.swing_start[1] * ahead[1]
    natural, side = _landing(body, k, m, look, stance_foot, ahead)
    natural -= body.legs.sole[swing]
    began = m.swing_start[0] * left[0] + m.swing_start[1] * left[1]
    wide = terrain.half[swing] + 0.5 * gap
    count = gather(
        terrain.boxes, terrain.spans, ahead, left, min(began, side) - wide, max(began, side) + wide,
        start - heel - BEHIND, at + AHEAD * body.size,
    )  # fmt: skip
    if count == 0:
        m.planned, m.speed_limit, m.down_crouch, m.halt = False, UNLIMITED, 0.0, Halt.NONE
        return
    spans = terrain.spans
    bent = _bent(body, k, look) if highest(spans, count) > STEP * body.size else 0.0
    heavy = loaded(body, look)
    if heavy:
        m.down_crouch = bent
    reach, barrier = REACH * body.leg, _wall_ahead(body, terrain, count, at, swing)
    want_halt(body, k, m, look, f, i, spans, count, at, heel, toe, barrier, heavy)
    if m.planned and m.phase > DECIDED:
        land = m.foothold[0] * ahead[0] + m.foothold[1] * ahead[1]
    else:
        usual = clamp(m.pendulum_speed * m.period, USUAL_SHORT * body.leg, USUAL_LONG * body.leg)
        near = NEAR * body.size
        held = capture_shortfall(body, k, m, look, f, i) > -HELD * body.size
        land = choose(k, m, spans, count, start, at, natural, usual, heel, toe, near, barrier, reach, heavy, held)
    limit_speed(body, m, spans, count, at, heel, toe, barrier, heavy)
    pivot = dot(stance_foot, ahead) - body.legs.sole[swing]
    careful = _must_hold(body, m, look, spans, count, land, toe)
    wanted = pivot + _time_step(body, k, m, look, land - pivot, level(spans, count, land), careful, stance_foot, ahead)
    wanted = clamp(wanted, at - STRIDES * reach, max(at + STRIDES * reach, land))
    chosen, land = land, same_level(spans, count, land, wanted, heel, toe)
    top, front, back = passage(spans, count, start, land, heel, toe, gap)
    m.foothold[2] = level(spans, count, land)
    plain = top - min(m.foothold[2], level(spans, count, start)) < SAME
    if not m.planned and (m.phase > DECIDED or (plain and abs(chosen - natural) < UNPLANNED)):
        return
    off, _, _, _ = deviation(body, m, look, stance_foot, 0.0)
    if plain and abs(off) > k.steps.hurry_from * body.size and holds(spans, count, natural, heel, toe):
        m.planned = False  # who stumbles steps where the pendulum wants
        return
    m.planned = True
    m.foothold[0], m.foothold[1] = chosen * ahead[0] + side * left[0], chosen * ahead[1] + side * left[1]
    m.level_step = plain
    _lay_step(body, terrain, k, m, start, at, land, top, front, back, count, bent)


@inner
def _lay_step(body, terrain, k, m, start, at, land, top, front, back, count, bent):  # type: ignore[no-untyped-def]
    """Lay the swing ankle's way, and say how long it takes and how low the stance leg must be for it.

    Args:
      start, at, land: places of the swing ankle, of the stance ankle and of the landing, m.
      top, front, back: see `passage`.
      bent: rad, least crouch.
    """
    swing = 1 - m.stance
    toe = terrain.toe[swing] + GAP * body.size
    m.trailing = front < at - toe and back < at + toe
    m.obstacle_front = front + toe
    if m.trailing:  # back and up, so that the shin clears the edge that the knee is above already
        front = min(front, start) - k.crossing.pull_back * (top - level(terrain.spans, count, start))
    m.obstacle_top, m.clear_from, m.clear_to = top, front, back
    drop = m.ground - m.foothold[2]
    down = let_down(body, m, drop, land - at) if drop > DROPS * body.size else 0.0
    m.down_crouch = max(down, bent)
    ankle = body.legs.ankle[swing]
    needs = lay_path(
        terrain.path, start, front, back, land, m.swing_start[2], _height(body, m) + ankle, m.foothold[2] + ankle,
        k.crossing.foot_pace * math.sqrt(body.size),
    )  # fmt: skip
    m.least_period = min(needs + max(drop, 0.0), LONGEST_PERIOD * math.sqrt(body.size))


@inner
def _time_step(body, k, m, look, length, height, careful, stance_foot, ahead):  # type: ignore[no-untyped-def]
    """When to land a foot `length` m ahead of the other, and the speed that gets the body there in a period.

    Returns the length for which there is time: the foot cannot be much quicker or slower than usual.

    Where a pendulum would come to rest, ahead of its foot, grows as exp(rate t). When it is beyond the next foot as
    far as it is at the footstrikes of a steady walk, the walk goes on over that foot.
    """
    rate = pendulum_rate(body, look, stance_foot)
    shrink = math.exp(-rate * m.period)
    beyond = m.pendulum_speed * m.period * shrink / (1.0 - shrink) + clamp(m.step_trim, 0.0, MOST_TRIM * body.leg)
    lead = k.crossing.load_lead if loaded(body, look) else k.crossing.lead
    if m.halt == Halt.WANTED and m.trailing and not loaded(body, look):  # it is about to stop
        lead = 0.0
    beyond += lead * body.size + k.crossing.climb_lead * (height - m.ground)
    if careful:  # the other foot has a long way then: no faster than the ankle can hold
        beyond = k.crossing.capture_lead * body.size + k.crossing.long_lead * max(length - LONG * body.size, 0.0)
    goal = max(length + beyond, LEAST_GOAL * body.size)
    place = dot(look.com, ahead) - dot(stance_foot, ahead)
    speed = dot(look.velocity, ahead)
    rest = max(place + speed / rate, SLOW_START * goal)
    usual = (1.0 - min(m.phase, 1.0)) * m.period
    quickest = QUICKEST_DOWN if height < m.ground - DROPS * body.size else QUICKEST
    least, most = quickest * usual + SPARE, usual + k.crossing.wait * math.sqrt(body.size)
    if m.halt == Halt.WANTED and m.speed_limit == 0.0:
        m.time_left, m.tuned_speed = usual + SPARE, rate * (-REST * body.size - place)
        return length
    m.time_left = clamp(math.log(max(goal / rest, 1.0)) / rate, least, most)
    m.tuned_speed = rate * (goal * math.exp(-rate * usual) - place)
    return clamp(length, rest * math.exp(rate * least) - beyond, rest * math.exp(rate * most) - beyond)


@inner
def _height(body, m):  # type: ignore[no-untyped-def]
    """m at which a sole passes over what is below."""
    higher = (HIGHER_TRAILING if m.trailing else HIGHER_LEADING) if crosses(body, m) else 0.0
    return m.obstacle_top + (CLEAR + higher) * body.size
