"""Steps onto places that are wished, one after the other, whatever lies between them: stepping stones.

    walker.step_onto(sims, 0, middles, tilts, rooms)     # the next three feet, (n, 3), (n, 2), (n, 2)

A linear inverted pendulum runs away from its foot p as xi - p = (xi_0 - p) e^(w t), xi the capture point. To go on over
feet p_0, p_1, ... it must be, as the foot lands on p_0, at

    xi = p_0 + sum_j e^(-j w T) (p_j - p_(j-1)),    j = 1, 2, ...

Of these feet up to two are known; from then on they are those of the walk that is followed. The foot lands when the
capture point comes closest to that: of e^(w t) (xi_0 - p) against xi - p the least squares. What it is off then shifts
the landing, as far as there is room.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import clamp, dot, sub, vec
from tumble.walking.memory import LEFT, UNLIMITED, Halt
from tumble.walking.pendulum import pendulum_rate
from tumble.walking.steps import DROPS, ankle_of, let_down
from tumble.walking.terrain import CLEAR, SAME, lay_path

# Lengths of a body of the humanoid's size; all ours.
EDGE_BEFORE = 0.3  # m before the middle of a stone that is higher: an ankle must be up there
EDGE_BEYOND = 0.25  # m beyond the middle of one: it may come down there
RISES = 0.02  # m up or down from which on a foot's way is not the style's
LEAST_GOAL = 0.02  # m beyond the stance foot that the capture point is to get to at least
SLOW_START = 0.1  # of that goal, where the capture point is taken to be at least
QUICKEST, SPARE = 0.6, 0.02  # of the time that is left, in which a foot gets to its place, and s more
NOTHING = 1e-6  # m^2


@inner
def wished_foothold(m):  # type: ignore[no-untyped-def]
    """Number of the wished foothold that the step under way goes to; -1 where there is none."""
    n = m.footstrikes - m.foothold_step
    return n if 0 <= n < m.foothold_count else -1


@inner
def _onward(m, rate, n, ahead, left):  # type: ignore[no-untyped-def]
    """m ahead and left of the n-th foothold where the capture point must be as the foot lands there."""
    shrink = math.exp(-rate * m.period)
    weight, along, across, side = shrink, 0.0, 0.0, 1.0 if m.stance == LEFT else -1.0
    for j in range(n + 1, m.foothold_count):
        step = sub(vec(m.footholds[j]), vec(m.footholds[j - 1]))
        along, across = along + weight * dot(step, ahead), across + weight * dot(step, left)
        weight, side = weight * shrink, -side
    along += weight / (1.0 - shrink) * m.speed * m.period
    across += weight / (1.0 + shrink) * side * m.step_width
    return along, across


@inner
def _time(m, k, body, rest, goal, usual, rate):  # type: ignore[no-untyped-def]
    """s until a capture point at `rest` from the stance foot, ahead and left, is nearest to where it must be."""
    away = rest[0] * rest[0] + rest[1] * rest[1]
    grown = (rest[0] * goal[0] + rest[1] * goal[1]) / max(away, NOTHING)
    quickest = QUICKEST * usual + SPARE
    return clamp(math.log(max(grown, 1.0)) / rate, quickest, usual + k.crossing.wait * math.sqrt(body.size))


@inner
def place_step(body, terrain, k, m, look, f, i, n, ahead, left, stance_foot):  # type: ignore[no-untyped-def]
    """Say where the swing foot lands, when, and where the capture point should be on the way.

    Args:
      n: number of the wished foothold.
      ahead, left: along the heading and across it.
    """
    swing = 1 - m.stance
    rate = pendulum_rate(body, look, stance_foot)
    place = vec(m.footholds[n])
    off, com = sub(place, stance_foot), sub(look.com, stance_foot)
    shift = body.legs.sole[swing] - body.legs.sole_middle[swing]  # between what is placed and a foot's centre of mass
    away = (dot(off, ahead) - shift, dot(off, left))
    on = _onward(m, rate, n, ahead, left)
    rise = place[2] - m.ground
    lead = k.crossing.placed_lead * body.size + k.crossing.climb_lead * max(rise, 0.0)
    goal = (away[0] + on[0] + lead, away[1] + on[1])
    slow = SLOW_START * max(goal[0], LEAST_GOAL * body.size)
    rest = (max(dot(com, ahead) + look.speed / rate, slow), dot(com, left) + look.drift / rate)
    usual = (1.0 - min(m.phase, 1.0)) * m.period
    m.time_left = _time(m, k, body, rest, goal, usual, rate)
    m.tuned_speed = rate * (goal[0] * math.exp(-rate * usual) - dot(com, ahead))
    m.tuned_side = goal[1] * math.exp(-rate * m.time_left)
    grown = math.exp(rate * m.time_left)
    x = clamp(grown * rest[0] - goal[0], -m.foothold_rooms[n, 0], m.foothold_rooms[n, 0])
    y = clamp(grown * rest[1] - goal[1], -m.foothold_rooms[n, 1], m.foothold_rooms[n, 1])
    x -= body.legs.sole[swing]
    m.foothold[0] = place[0] + x * ahead[0] + y * left[0]
    m.foothold[1] = place[1] + x * ahead[1] + y * left[1]
    m.foothold[2] = place[2]
    m.foot_tilts[swing, 0], m.foot_tilts[swing, 1] = m.foothold_tilts[n, 0], m.foothold_tilts[n, 1]
    m.planned, m.speed_limit, m.halt = True, UNLIMITED, Halt.NONE
    _lay_way(body, terrain, k, m, f, i, ahead, rise)


@inner
def _lay_way(body, terrain, k, m, f, i, ahead, rise):  # type: ignore[no-untyped-def]
    """Lay the swing ankle's way to the foothold, which is `rise` m higher than the other foot."""
    swing = 1 - m.stance
    ankle = body.legs.ankle[swing]
    start, at = dot(vec(m.swing_start), ahead), dot(ankle_of(body, f, i, m.stance), ahead)
    land = m.foothold[0] * ahead[0] + m.foothold[1] * ahead[1]
    before = m.swing_start[2] - ankle
    m.obstacle_top = max(m.ground, m.foothold[2])
    m.level_step = max(abs(rise), abs(m.ground - before)) < RISES * body.size
    m.trailing, m.obstacle_front = False, land
    front = start if m.ground > before + SAME else land - EDGE_BEFORE * body.size
    back = at + EDGE_BEYOND * body.size if rise < -SAME else land
    m.clear_from, m.clear_to = clamp(front, min(start, land), land), clamp(back, min(start, land), land)
    drop = max(-rise, 0.0)
    m.down_crouch = let_down(body, m, drop, land - at) if drop > DROPS * body.size else 0.0
    high = m.obstacle_top + CLEAR * body.size + ankle
    lay_path(
        terrain.path, start, m.clear_from, m.clear_to, land, m.swing_start[2], high, m.foothold[2] + ankle,
        k.crossing.foot_pace * math.sqrt(body.size),
    )  # fmt: skip
