"""Steps onto places that are wished, one after the other, whatever lies between them: stepping stones.

    walker.step_onto(sims, 0, middles, tilts, rooms)     # the next three feet, (n, 3), (n, 2), (n, 2)

A linear inverted pendulum runs away from its foot p as xi - p = (xi_0 - p) e^(w t), xi the capture point. To go on over
feet p_0, p_1, ... it must be, as the foot lands on p_0, at

    xi = p_0 + sum_j e^(-j w T) (p_j - p_(j-1)),    j = 1, 2, ...

Of these feet up to two are known; from then on they are those of the walk that is followed. The foot lands when the
capture point comes closest to that: of e^(w t) (xi_0 - p) against xi - p the least squares. What it is off then shifts
the landing, as far as there is room. Both feet then stay on the ground until the capture point is where the next step
begins well, and the hind foot pushes off for it.

A pendulum keeps w on a line that is as high above every foot, so the hips are carried from stone to stone as high as
the legs reach: stance knees follow that, and not the style.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import clamp, dot, sub, towards, vec
from tumble.walking.memory import LEFT, UNLIMITED, Halt
from tumble.walking.pendulum import pendulum_rate
from tumble.walking.steps import ankle_of
from tumble.walking.terrain import SAME

# Lengths of a body of the humanoid's size; all ours.
EDGE_BEFORE = 0.3  # m before the middle of a stone that is higher: an ankle must be up there
EDGE_BEYOND = 0.25  # m beyond the middle of one: it may come down there
RISES = 0.02  # m up or down from which on a foot's way is not the style's
LEAST_GOAL = 0.02  # m beyond the stance foot that the capture point is to get to at least
SLOW_START = 0.1  # of that goal, where the capture point is taken to be at least
QUICKEST, SPARE = 0.6, 0.02  # of the time that is left, in which a foot gets to its place, and s more
NOTHING = 1e-6  # m^2
WAY = ((0.0, 0.0), (0.25, 0.15), (0.6, 0.79), (0.85, 1.0), (1.0, 1.0))  # phases of an ankle's way, shares of it ahead
LIFT, SOFT = 0.09, 0.05  # m of the sole above the highest of its stones; of the last bit of the way down, which is slow
DOWN_BEFORE = 0.12  # m before the landing on what is as high or higher, from where on a foot may come down
HIP_AHEAD = 0.55  # of a step's length that the hip is ahead of the stance foot when the other lands
HIND_LEG, LOWEST_HIP, LEAST_SQUARE = 1.03, 0.55, 0.01  # of the leg, with its heel up; of the leg; m^2
FALLS = 0.4  # m/s up or down, with which a hip is carried on at most
FALL, FALL_FROM, FALL_OVER = (
    0.2,
    0.37,
    0.2,
)  # m/s down at the end of a long step; m of its length; m over which it grows
TOP, RISE_RATE, RISE_SPEED, RISE_SOFT = 0.95, 3.0, 0.3, 6.0  # on both feet: of the leg, 1/s, m/s, m/s^2


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
    m.tuned_speed = rate * (goal[0] * math.exp(-rate * m.time_left) - dot(com, ahead))
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
    _lay_way(body, terrain, m, f, i, ahead, rise)


@inner
def aim_between(body, k, m, look, ahead, left, foot):  # type: ignore[no-untyped-def]
    """On both feet: where the capture point must be as the hind foot leaves, and how high the hip is carried.

    It must be e^(-w T) of the way from the front foot to where it must be as the next foot lands, T s later.
    """
    n = m.footstrikes - m.foothold_step + 1
    m.capture_wanted[0], m.capture_wanted[1] = k.crossing.capture_lead * body.size, 0.0
    if n < m.foothold_count:
        rate = pendulum_rate(body, look, foot)
        off, on = sub(vec(m.footholds[n]), foot), _onward(m, rate, n, ahead, left)
        shrink = math.exp(-rate * m.period)
        m.capture_wanted[0] = shrink * (dot(off, ahead) + on[0])
        m.capture_wanted[1] = shrink * (dot(off, left) + on[1])
    legs, stance = body.legs, m.stance
    top = m.ground + legs.ankle[stance] + TOP * (legs.thigh[stance] + legs.shin[stance])
    wanted = clamp(RISE_RATE * (top - m.hip_height), -RISE_SPEED, RISE_SPEED)
    m.hip_speed = towards(clamp(m.hip_speed, -FALLS, FALLS), wanted, RISE_SOFT * body.dt)
    m.hip_height += m.hip_speed * body.dt


@inner
def _lay_way(body, terrain, m, f, i, ahead, rise):  # type: ignore[no-untyped-def]
    """Lay the swing ankle's way to the foothold, which is `rise` m higher than the other foot, and the hip's."""
    swing = 1 - m.stance
    ankle = body.legs.ankle[swing]
    start, at = dot(vec(m.swing_start), ahead), dot(ankle_of(body, f, i, m.stance), ahead)
    land = m.foothold[0] * ahead[0] + m.foothold[1] * ahead[1]
    before = m.swing_start[2] - ankle
    m.obstacle_top = max(m.ground, m.foothold[2])
    m.level_step = max(abs(rise), abs(m.ground - before)) < RISES * body.size
    m.trailing, m.obstacle_front = False, land
    front = start if m.ground > before + SAME else land - EDGE_BEFORE * body.size
    back = at + EDGE_BEYOND * body.size if rise < -SAME else land - DOWN_BEFORE * body.size
    m.clear_from, m.clear_to = clamp(front, min(start, land), land), clamp(back, min(start, land), land)
    m.down_crouch = 0.0
    high = max(m.obstacle_top, before) + LIFT * body.size + ankle
    last = m.foothold[2] + ankle
    near = last + min(SOFT * body.size, 0.5 * (high - last))
    for j in range(len(WAY)):
        terrain.path[0, j, 0] = terrain.path[1, j, 0] = WAY[j][0]
        terrain.path[0, j, 1] = start + WAY[j][1] * (land - start)
    terrain.path[1, 0, 1], terrain.path[1, 1, 1], terrain.path[1, 2, 1] = m.swing_start[2], high, high
    terrain.path[1, 3, 1], terrain.path[1, 4, 1] = near, last
    _carry_hip(body, m, rise, land - at)


@inner
def _carry_hip(body, m, rise, length):  # type: ignore[no-untyped-def]
    """Where the stance hip should be now, and how fast it should rise, on a cubic from the step's start to its end.

    It ends as high as both legs allow, the hip HIP_AHEAD of the way to the foothold: the stance leg of a length a is
    sqrt(a^2 - x^2) high there. A long step ends falling, as a pendulum does.

    Args:
      rise: m that the foothold is higher than the foot that stands.
      length: m that it is ahead of it.
    """
    legs, stance, swing = body.legs, m.stance, 1 - m.stance
    one, other = legs.thigh[stance] + legs.shin[stance], legs.thigh[swing] + legs.shin[swing]
    gone = HIP_AHEAD * length
    hind = legs.ankle[stance] + math.sqrt(max((HIND_LEG * one) ** 2 - gone * gone, LEAST_SQUARE))
    front = legs.ankle[swing] + math.sqrt(max(other * other - (length - gone) ** 2, LEAST_SQUARE))
    goal = m.ground + max(min(hind, rise + front), LOWEST_HIP * one)
    whole = m.clock + m.time_left
    x, start = clamp(m.clock / whole, 0.0, 1.0), m.hip_from[0]
    v = clamp(m.hip_from[1], -FALLS, FALLS) * whole
    e = -FALL * clamp((length / body.size - FALL_FROM) / FALL_OVER, 0.0, 1.0) * whole
    up = goal - start
    m.hip_height = start + x * (v + x * (3.0 * up - 2.0 * v - e + x * (v + e - 2.0 * up)))
    m.hip_speed = (v + x * (6.0 * up - 4.0 * v - 2.0 * e + 3.0 * x * (v + e - 2.0 * up))) / whole
