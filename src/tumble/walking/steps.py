"""Foot placement: where the swing foot should land, and when (coros2010 section 5.3.2).

The thesis steps to (x_d, z_d) of an inverted pendulum that comes to rest, shortened by alpha V_d to go on at V_d; here
the pendulum's own walk is the step and what is off it is answered (`Walker`, Departures). Offsets are m ahead and left
of the centre of mass, for the middle of the foot.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import clamp, dot, sub, vec
from tumble.walking.body import FOOT, LEGS
from tumble.walking.legs import knee_for
from tumble.walking.memory import LEFT
from tumble.walking.pendulum import deviation, pendulum_step
from tumble.walking.terrain import ramp

# Of a body of the humanoid's size; ours.
HIGHER = 0.05  # m by which something is higher than the ground on both sides of it, so that it is stepped over
HEAVY = 1.03  # times its own mass, with what it carries: above it must be careful where the ground is not level
DROPS = 0.02  # m down from which on the stance knee bends for a step
SLOWEST = 0.05  # m/s that is wished, below which it stands
DOWN_AHEAD = 0.6  # of the length of a step down that the hip is ahead of the stance foot when the other lands
DOWN_LEG, DOWN_LEAST = 0.98, 0.1  # of the leg's length then, and the least square of the hip's height over it
DOWN_FROM, DOWN_TO = -0.75, -0.15  # minus the phase, over which the knee bends for a step down
LAST_PHASE = 0.05  # of a planned step, in which the time that is left is taken to be


@inner
def foot_place(body, f, i, side):  # type: ignore[no-untyped-def]
    """Middle of a foot: its centre of mass, m."""
    return vec(f.xipos[i, body.ids[LEGS + 4 * side + FOOT]])


@inner
def ankle_of(body, f, i, side):  # type: ignore[no-untyped-def]
    """Place of an ankle, m."""
    return vec(f.xanchor[i, body.joint[LEGS + 4 * side + FOOT]])


@inner
def crosses(body, m):  # type: ignore[no-untyped-def]
    """Whether the swing foot goes over something, not up or down."""
    return m.planned and m.obstacle_top > max(m.ground, m.foothold[2]) + HIGHER * body.size


@inner
def goes_down(body, m):  # type: ignore[no-untyped-def]
    """Whether the swing foot goes to lower ground."""
    return m.planned and m.foothold[2] < m.ground - DROPS * body.size


@inner
def let_down(body, m, drop, length):  # type: ignore[no-untyped-def]
    """Crouch, rad, in which the other foot comes down `drop` m lower and `length` m ahead."""
    ahead = DOWN_AHEAD * length
    high = math.sqrt(max((DOWN_LEG * body.leg) ** 2 - (length - ahead) ** 2, DOWN_LEAST * body.leg**2)) - drop
    legs, reach = body.legs, math.sqrt(high * high + ahead * ahead)
    return ramp(-m.phase, DOWN_FROM, DOWN_TO) * knee_for(legs.thigh[0], legs.shin[0], reach)


@inner
def loaded(body, look):  # type: ignore[no-untyped-def]
    """Whether it carries so much that it must be careful where the ground is not level."""
    return look.total > HEAVY * body.total


@inner
def stand_width(body, k):  # type: ignore[no-untyped-def]
    """m between the feet of a body that stands."""
    return max(k.stand.width * body.size, body.hips)


@inner
def step_offset(body, k, m, look, stance_foot):  # type: ignore[no-untyped-def]
    """Where the swing foot should land, ahead and left of the centre of mass, m (section 5.3.2).

    V T / 2 of the pendulum's own walk, plus a gain times its `deviation`, less what keeps the mean speed and what
    loads and pulls ask for, at most `longest_step`. With `fixed_alpha` the thesis's: gain d - alpha V.
    """
    most = k.placement.longest_step * body.leg
    half = 0.5 * m.step_width * (-1.0 if m.stance == LEFT else 1.0)
    ahead, side, on, over = deviation(body, m, look, stance_foot, k.placement.lookahead)
    ahead = 0.5 * m.pendulum_speed * m.period - m.step_trim + k.parts.foot_placement * k.placement.sagittal_gain * ahead
    ahead += k.hands.load_lead * look.shifted + look.pushed - m.alpha * m.speed
    side = half + 0.5 * m.drift * m.period + k.parts.foot_placement * k.placement.coronal_gain * side
    if k.placement.fixed_alpha:
        ahead = k.placement.sagittal_gain * pendulum_step(look.speed, look.com[2] - stance_foot[2], body.gravity)
        ahead -= k.placement.alpha * m.speed
        on = 0.0
    return clamp(ahead, -most, most) + on, clamp(side, -most, most) + over


@inner
def step_time(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """s for this step: the period, or less where a push has brought the body far off its walk."""
    if m.planned:  # the foot lands when the body comes to where it should
        return m.time_left / max(1.0 - m.phase, LAST_PHASE)
    ahead, side, _, _ = deviation(body, m, look, foot_place(body, f, i, m.stance), 0.0)
    off = math.sqrt(ahead * ahead + side * side) / body.size
    hurry = clamp((off - k.steps.hurry_from) / (k.steps.hurry_to - k.steps.hurry_from), 0.0, 1.0)
    quick = min(m.period, k.steps.hurry_period * math.sqrt(body.size))
    return m.period + hurry * (quick - m.period)


@inner
def far_enough(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether a foot that steps against a push is so far out that it had better come down: a longer step is a split."""
    ahead, side, _, _ = deviation(body, m, look, foot_place(body, f, i, m.stance), 0.0)
    size = math.sqrt(ahead * ahead + side * side)
    if size < k.steps.hurry_from * body.size:
        return False
    out = sub(foot_place(body, f, i, 1 - m.stance), look.com)
    if look.speed * ahead + look.drift * side <= 0.0:  # slower than its walk, but not falling that way
        return False
    usual = max(0.5 * m.pendulum_speed * m.period * ahead, 0.0)
    return (dot(out, look.ahead) * ahead + dot(out, look.left) * side - usual) / size > k.steps.land_at * body.leg
