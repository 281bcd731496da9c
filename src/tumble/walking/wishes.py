"""What a row looks like, and what its wishes have become by now (coros2010 5.3.5, 5.5.1).

What is wished is `m.wish_NAME`, what is followed `m.NAME`, which comes nearer to it by at most a rate times dt a step.
Trap: `follow` runs before `decide`, so that it sees the mode of the last step.
"""

import math
from typing import NamedTuple

from tumble.maths.compiled import inner
from tumble.maths.vectors import clamp, towards, turned, vec, wrapped
from tumble.walking.body import FOOT, HUMANOID_HIPS, LEGS, PELVIS, TOE
from tumble.walking.holding import pull_moment, with_load
from tumble.walking.memory import Mode
from tumble.walking.steps import goes_down, stand_width

BENT_DOWN = 0.6  # of its length that the pelvis's nose is up or down: its side then tells where it faces; ours
WIDTH_RATE = 0.2  # m in `blend_time` that width and height of steps change; ours
BACKWARDS = 2.0  # times the speed that counts in trimming backward steps; ours


class Look(NamedTuple):
    """What a row looks like now, in the world's axes and in the character's (ahead, left).

    The centre of mass is that of the body with what it carries.
    """

    com: tuple[float, float, float]
    velocity: tuple[float, float, float]
    heading: float  # rad
    ahead: tuple[float, float, float]
    left: tuple[float, float, float]
    spin: tuple[float, float, float]  # rad/s of the pelvis
    speed: float  # m/s ahead
    drift: float  # m/s to the left
    touching: tuple[bool, bool]  # left foot, right foot
    total: float  # kg, with what is carried
    shifted: float  # m that what is carried shifts the centre of mass ahead
    pushed: float  # m that feet must be further ahead, because what is held pulls the body ahead


@inner
def _touches(body, f, i, side):  # type: ignore[no-untyped-def]
    """Whether a foot or its toes touch the ground, as the sensors told it at the end of the last step."""
    leg = LEGS + 4 * side
    return f.grounded[i, body.ground[leg + FOOT]] > 0.0 or f.grounded[i, body.ground[leg + TOE]] > 0.0


@inner
def look_at(body, holds, k, m, f, i):  # type: ignore[no-untyped-def]
    """The `Look` of a row."""
    pelvis = f.xquat[i, body.ids[PELVIS]]
    q = (pelvis[0], pelvis[1], pelvis[2], pelvis[3])
    nose = turned(q, (1.0, 0.0, 0.0))
    heading = math.atan2(nose[1], nose[0])
    if abs(nose[2]) > BENT_DOWN:
        flank = turned(q, (0.0, 1.0, 0.0))
        heading = math.atan2(-flank[0], flank[1])
    c, s = math.cos(heading), math.sin(heading)
    own = vec(f.com[i])
    total, com, velocity = with_load(body, holds, m, f, i, own, vec(f.com_velocity[i]))
    spin = turned(q, (f.qvel[i, 3], f.qvel[i, 4], f.qvel[i, 5]))
    return Look(
        com, velocity, heading, (c, s, 0.0), (-s, c, 0.0), spin,
        c * velocity[0] + s * velocity[1], c * velocity[1] - s * velocity[0],
        (_touches(body, f, i, 0), _touches(body, f, i, 1)), total,
        c * (com[0] - own[0]) + s * (com[1] - own[1]),
        pull_moment(body, holds, k, m, f, i) / (total * body.gravity),
    )  # fmt: skip


@inner
def follow(body, k, styles, m, look):  # type: ignore[no-untyped-def]
    """Bring what is followed nearer to what is wished, at the rates of the settings."""
    share = body.dt / k.follow.blend_time
    if m.style != m.wish_style:
        m.blend += share
        if m.blend >= 1.0:
            m.style, m.blend = m.wish_style, 0.0
    numbers = styles.numbers[m.wish_style]
    period = m.wish_period if m.wish_period > 0.0 else numbers[0]
    width = m.wish_step_width if m.wish_step_width >= 0.0 else numbers[1] * body.hips / HUMANOID_HIPS
    if m.haul < 0.0:
        period = min(period, k.hands.pull_period * math.sqrt(body.size))
    m.period = towards(m.period, max(period, m.least_period), share)
    if m.wish_speed == 0.0 or m.speed_limit == 0.0:
        width = max(width, stand_width(body, k))
    m.step_width = towards(m.step_width, width, WIDTH_RATE * share)
    m.step_height = towards(m.step_height, m.wish_step_height, WIDTH_RATE * share)
    bend = max(m.wish_bend, m.duck_bend) if m.duck_bend > 0.0 else m.wish_bend
    m.bend = towards(m.bend, bend, share)
    crouch = max(m.wish_crouch, m.duck_crouch, m.down_crouch)
    rate = k.crossing.down_rate if goes_down(body, m) and crouch > m.crouch else k.joints.crouch_rate
    m.crouch = towards(m.crouch, crouch, rate * body.dt)
    still = m.mode == Mode.STAND or m.mode == Mode.SHIFT
    wish = 0.0 if still else m.wish_speed
    if abs(wrapped(m.wish_heading - look.heading)) > k.follow.slow_turn:  # V_d within a turn, section 5.3.5
        wish = clamp(wish, -k.follow.turn_speed, k.follow.turn_speed)
    wish = min(wish, m.speed_limit)
    m.speed = towards(m.speed, wish, k.follow.speed_rate * body.dt)
    m.drift = towards(m.drift, 0.0 if still else m.wish_drift, k.follow.speed_rate * body.dt)
    # integral action: what the body loses at footstrikes is made up by shorter steps
    # the slower it walks the less: what a turn or a start has left there would make it stumble where it stops
    quick = m.speed if m.speed > 0.0 else BACKWARDS * m.speed
    most = 0.0 if still or k.placement.fixed_alpha else k.placement.longest_trim * body.leg * min(quick * quick, 1.0)
    m.step_trim = clamp(m.step_trim + k.placement.trim_rate * body.dt * (m.speed - look.speed), -most, most)
    m.mean_speed += (look.speed - m.mean_speed) * body.dt / k.placement.mean_time
    m.pendulum_speed = clamp(m.speed, m.mean_speed - k.placement.speed_lead, m.mean_speed + k.placement.speed_lead)
    if not still:
        # a load that is held out ahead is slow to turn
        turn = k.follow.turn_rate * body.dt / (1.0 + (look.total / body.total - 1.0) * k.hands.load_turning)
        m.heading += clamp(wrapped(m.wish_heading - m.heading), -turn, turn)
    twist = clamp(wrapped(m.wish_heading - look.heading), -k.follow.longest_twist, k.follow.longest_twist)
    m.twist = towards(m.twist, 0.0 if m.mode == Mode.STAND else twist, k.follow.twist_rate * body.dt)
