"""The virtual force on the centre of mass, and how the legs share it (coros2010 sections 5.3.3 and 5.5.1).

In a walk F_V = k_V (V_d - V) ahead, a PD law aside; in a stand PD laws both ways. Here V_d is the speed at this moment
of a pendulum that walks at the wanted mean speed, and forces are mass times acceleration, so that one set of gains
suits all bodies.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, clamp, dot, scale, sub
from tumble.walking.capture import capture_shortfall, wanted_inside
from tumble.walking.hands import busy
from tumble.walking.memory import LEFT, Halt, Mode
from tumble.walking.pendulum import gait, pendulum_rate
from tumble.walking.steps import crosses, foot_place

# Lengths of a body of the humanoid's size; all ours.
LEAN_GAIN, MOST_LEAN = 20.0, 0.04  # 1/s^3 and m s, of the integral of how far a busy body that stands is off
PASSES = 0.03  # m beyond its foot that the capture point is aimed at between two steps
STEADIER = 2.0  # times the side stiffness of a step over something
STOOPS = 0.3  # rad of the trunk from which on a foot that bears little slides
SAME_PLACE = 1e-4  # m^2 between feet below which both bear half


@inner
def _idle(k, m):  # type: ignore[no-untyped-def]
    """Share of the way from the feet's middle to a foot to which the weight is shifted, -1 to 1 (section 5.5.1)."""
    if busy(m):
        return 0.0
    late = m.clock - k.stand.idle_after
    return k.stand.idle_shift * math.sin(2.0 * math.pi * late / k.stand.idle_period) if late > 0.0 else 0.0


@inner
def _walking_force(body, k, m, look, foot, inwards):  # type: ignore[no-untyped-def]
    """Accelerations ahead and to the left, m/s^2, that bring a walk to the pendulum's: k_v (v_d - v); PD aside."""
    rate = pendulum_rate(body, look, foot)
    speed, place, drift = gait(m, rate, min(m.phase, 1.0) * m.period)
    off = dot(sub(look.com, foot), look.left)
    if m.planned:
        speed = m.tuned_speed
    ahead = k.tuning.speed_gain * ((m.speed if k.placement.fixed_alpha else speed) - look.speed)
    side = k.tuning.side_stiffness * (place - off) + k.tuning.side_damping * (drift - look.drift)
    if m.placed:
        side = STEADIER * k.tuning.side_stiffness * (m.tuned_side - off - look.drift / rate)
    elif crosses(body, m):  # over its foot, until just before the other one lands
        rest = inwards * m.step_width * math.exp(-rate * m.time_left)
        side = STEADIER * k.tuning.side_stiffness * (rest - off - look.drift / rate)
    return ahead, side


@inner
def _standing_force(body, k, m, look, f, i, foot, inwards):  # type: ignore[no-untyped-def]
    """Accelerations ahead and to the left, m/s^2, that hold the body over both feet, or bring it over one."""
    other = foot_place(body, f, i, 1 - m.stance)
    share = 0.5 if m.mode == Mode.STAND else 1.0
    middle = add(scale(share, foot), scale(1.0 - share, other))
    off = sub(look.com, middle)
    legs, stance = body.legs, m.stance
    middle_of_sole = 0.5 * (legs.ball[stance] - legs.heel[stance]) - legs.sole_middle[stance]
    out = dot(off, look.ahead) + look.pushed - middle_of_sole
    m.lean_integral = clamp(m.lean_integral + body.dt * out, -MOST_LEAN, MOST_LEAN) if busy(m) else 0.0
    gain = k.stand.busy_gain if busy(m) or m.halt == Halt.STOOD else 1.0
    ahead = -gain * (
        k.stand.stiffness * out + k.stand.damping / math.sqrt(gain) * look.speed + LEAN_GAIN * m.lean_integral
    )
    if m.mode == Mode.DOUBLE_SUPPORT:
        rate = pendulum_rate(body, look, foot)
        ahead = k.tuning.speed_gain * rate * (capture_shortfall(body, k, m, look, f, i) + PASSES * body.size)
    aim = inwards * wanted_inside(body, k, m)
    if m.mode == Mode.STAND:
        aim = _idle(k, m) * 0.5 * dot(sub(foot, other), look.left)
    side = -k.stand.side_stiffness * (dot(off, look.left) - aim) - k.stand.side_damping * look.drift
    if m.mode == Mode.DOUBLE_SUPPORT and m.placed:
        rate = pendulum_rate(body, look, foot)
        ahead = k.tuning.speed_gain * rate * capture_shortfall(body, k, m, look, f, i)
        side = k.crossing.between_gain * (m.capture_wanted[1] - dot(off, look.left) - look.drift / rate)
    return ahead, side


@inner
def virtual_force(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Force, N ahead and to the left, that is wanted on the centre of mass: mass times acceleration, within limits.

    The mass is that of the body with its load, and limits grow with it. In a stand the memory's `lean_integral` moves
    on, so it is called once a step.
    """
    foot = foot_place(body, f, i, m.stance)
    inwards = -1.0 if m.stance == LEFT else 1.0  # from the stance foot towards the other one, along the left
    if m.mode == Mode.WALK:
        ahead, side = _walking_force(body, k, m, look, foot, inwards)
    else:
        ahead, side = _standing_force(body, k, m, look, f, i, foot, inwards)
    scale_up = body.scale * look.total / body.total
    most_ahead = (k.tuning.ahead_force if m.mode == Mode.WALK else k.stand.ahead_force) * scale_up
    most_side = (k.stand.side_force if m.mode == Mode.STAND else k.tuning.side_force) * scale_up
    if m.halt == Halt.STOOD and m.bend > STOOPS:
        if m.mode == Mode.STAND:
            most_side = k.crossing.stoop_force * scale_up
        elif m.mode == Mode.SHIFT and side * inwards < 0.0:
            most_side = k.crossing.poise_force * scale_up
    ahead = clamp(look.total * ahead, -most_ahead, most_ahead)
    side = clamp(look.total * side, -most_side, most_side)
    return ahead, side


@inner
def stance_share(body, m, look, f, i, push):  # type: ignore[no-untyped-def]
    """Share of the load that the leg of m.stance carries, by the lever rule between the feet.

    With the feet a and b it is (x - b) . (a - b) / |a - b|^2 of the centre of mass x; who shifts its weight by a
    force, `push` N to the left, stands on the foot that it pushes off from.
    """
    stance = m.stance
    if not look.touching[1 - stance]:
        return 1.0
    if not look.touching[stance]:
        return 0.0
    a, b = foot_place(body, f, i, stance), foot_place(body, f, i, 1 - stance)
    line = sub(a, b)
    if m.mode != Mode.WALK:  # ahead and back it is where in each sole the load is: only aside it goes from foot to foot
        line = scale(dot(line, look.left), look.left)
    length = line[0] * line[0] + line[1] * line[1]
    if length < SAME_PLACE:
        return 0.5
    off = sub(look.com, b)
    if m.halt == Halt.STOOD:
        off = sub(off, scale(push / look.total * off[2] / body.gravity, look.left))
    return clamp((off[0] * line[0] + off[1] * line[1]) / length, 0.0, 1.0)
