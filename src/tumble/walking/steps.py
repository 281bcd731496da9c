"""Stand, start, step or stop: the inverted pendulum's walk and what is off it (coros2010 5.3.1, 5.3.2, 5.5.1)."""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, clamp, dot, scale, sub, vec, wrapped
from tumble.walking.body import FOOT, LEGS, SHIN
from tumble.walking.hands import busy
from tumble.walking.legs import gait_ahead, gait_place, gait_side, pendulum_later, pendulum_step
from tumble.walking.memory import PASS, SHIFT, STAND, UNLIMITED, WALK
from tumble.walking.wishes import stand_width


@inner
def foot_place(body, f, i, side):  # type: ignore[no-untyped-def]
    """Middle of a foot: its centre of mass."""
    return vec(f.xipos[i, body.ids[LEGS + 4 * side + FOOT]])


@inner
def crosses(body, m):  # type: ignore[no-untyped-def]
    """Whether the swing foot goes over something, not up or down."""
    return m.planned == 1.0 and m.obstacle_top > max(m.ground, m.foothold[2]) + 0.05 * body.size


@inner
def loaded(body, look):  # type: ignore[no-untyped-def]
    """Whether it carries so much that it must be careful where the ground is not level."""
    return look.total > 1.03 * body.total


@inner
def pendulum_rate(body, look, stance_foot):  # type: ignore[no-untyped-def]
    """sqrt(g / h) of the pendulum, 1/s."""
    return math.sqrt(body.gravity / max(look.com[2] - stance_foot[2], 0.2 * body.leg))


@inner
def gait(m, rate, time):  # type: ignore[no-untyped-def]
    """The pendulum's own walk, `time` s after the footstrike: speed ahead; place from the stance foot and speed to the
    left. m, m/s."""
    half = 0.5 * m.step_width * (-1.0 if m.stance == 0.0 else 1.0)
    place, drift = gait_side(half, time, m.period, rate)
    place += gait_place(m.drift, time, m.period, rate)
    drift += gait_ahead(m.drift, time, m.period, rate)
    return gait_ahead(m.pendulum_speed, time, m.period, rate), place, drift


@inner
def deviation(body, m, look, stance_foot, later):  # type: ignore[no-untyped-def]
    """How much further ahead and left a pendulum would step at the body's speed than at its own walk's, m, `later` s
    from now; and how far ahead and left the body will have come."""
    rate = pendulum_rate(body, look, stance_foot)
    time = min(m.phase, 1.0) * m.period
    later = min(later, m.period - time)
    want_speed, _, want_drift = gait(m, rate, time + later)
    off = sub(look.com, stance_foot)
    x, y = dot(off, look.ahead), dot(off, look.left)
    next_x, speed = pendulum_later(x, look.speed, later, rate)
    next_y, drift = pendulum_later(y, look.drift, later, rate)
    height, g = body.gravity / (rate * rate), body.gravity
    ahead = pendulum_step(speed, height, g) - pendulum_step(want_speed, height, g)
    left = pendulum_step(drift, height, g) - pendulum_step(want_drift, height, g)
    return ahead, left, next_x - x, next_y - y


@inner
def step_offset(body, k, m, look, stance_foot):  # type: ignore[no-untyped-def]
    """Where the swing foot should land, ahead and left of the centre of mass, m (section 5.3.2)."""
    most = k.placement.longest_step * body.leg
    half = 0.5 * m.step_width * (-1.0 if m.stance == 0.0 else 1.0)
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
def _step_time(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """s for this step: the period, or less where a push has brought the body far off its walk."""
    if m.planned == 1.0:  # the foot lands when the body comes to where it should
        return m.time_left / max(1.0 - m.phase, 0.05)
    ahead, side, _, _ = deviation(body, m, look, foot_place(body, f, i, int(m.stance)), 0.0)
    off = math.sqrt(ahead * ahead + side * side) / body.size
    hurry = clamp((off - k.steps.hurry_from) / (k.steps.hurry_to - k.steps.hurry_from), 0.0, 1.0)
    quick = min(m.period, k.steps.hurry_period * math.sqrt(body.size))
    return m.period + hurry * (quick - m.period)


@inner
def _far_enough(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether a foot that steps against a push is so far out that it had better come down: a longer step is a split."""
    ahead, side, _, _ = deviation(body, m, look, foot_place(body, f, i, int(m.stance)), 0.0)
    size = math.sqrt(ahead * ahead + side * side)
    if size < k.steps.hurry_from * body.size:
        return False
    out = sub(foot_place(body, f, i, 1 - int(m.stance)), look.com)
    if look.speed * ahead + look.drift * side <= 0.0:  # slower than its walk, but not falling that way
        return False
    usual = max(0.5 * m.pendulum_speed * m.period * ahead, 0.0)
    return (dot(out, look.ahead) * ahead + dot(out, look.left) * side - usual) / size > k.steps.land_at * body.leg


@inner
def _capture(body, look, f, i):  # type: ignore[no-untyped-def]
    """Where the body would come to rest, ahead and left of the middle between the feet; half their distance, m."""
    a, b = foot_place(body, f, i, 0), foot_place(body, f, i, 1)
    middle = scale(0.5, add(a, b))
    off = sub(look.com, middle)
    time = math.sqrt(max(off[2], 0.1) / body.gravity)
    half = 0.5 * abs(dot(sub(a, b), look.left))
    return dot(off, look.ahead) + time * look.speed, dot(off, look.left) + time * look.drift, half


@inner
def _may_stand(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    if abs(m.wish_speed) > 0.05 or abs(m.speed) > 0.1 or abs(wrapped(m.wish_heading - look.heading)) > 0.15:
        return False
    if not (look.touching[0] and look.touching[1]):
        return False
    a, b = foot_place(body, f, i, 0), foot_place(body, f, i, 1)
    apart = sub(a, b)
    lean, sway, half = _capture(body, look, f, i)
    return (
        abs(dot(apart, look.ahead)) < 0.12 * body.size
        and dot(apart, look.left) > 0.6 * stand_width(body, k)
        and -0.7 * k.stand.lean * body.size < lean < 0.3 * k.stand.lean * body.size  # ankles hold less ahead than back
        and abs(sway) < 0.8 * half
    )


@inner
def _begin_step(body, m, f, i, stance):  # type: ignore[no-untyped-def]
    ankle = f.xanchor[i, body.joint[LEGS + 4 * (1 - stance) + FOOT]]
    m.mode, m.stance, m.phase, m.clock = WALK, stance, 0.0, 0.0
    m.swing_start[0], m.swing_start[1], m.swing_start[2] = ankle[0], ankle[1], ankle[2]
    m.footstrikes += 1.0
    m.phase_rate = 1.0


@inner
def lack(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """m that the body, left alone, would come to rest short of where it must to walk on over the stance foot."""
    foot = foot_place(body, f, i, int(m.stance))
    off = sub(look.com, foot)
    return k.crossing.capture_lead * body.size - dot(off, look.ahead) - look.speed / pendulum_rate(body, look, foot)


@inner
def inside(body, k, m):  # type: ignore[no-untyped-def]
    """m to the inside of the stance foot where the body should be when the other one leaves the ground.

    From there a pendulum falls to where the other one lands. Who shifts its weight comes from the inside anyway.
    """
    return 0.0 if m.mode == SHIFT else k.crossing.capture_inside * body.size


@inner
def aside(body, m, look, f, i):  # type: ignore[no-untyped-def]
    """m to the inside of the stance foot where the body, left alone, would come to rest sideways."""
    foot = foot_place(body, f, i, int(m.stance))
    left = dot(sub(look.com, foot), look.left) + look.drift / pendulum_rate(body, look, foot)
    return -left if m.stance == 0.0 else left


@inner
def _over_foot(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether the body is so far over the stance foot that the other may leave the ground for long."""
    lacks = lack(body, k, m, look, f, i)
    if not look.touching[1 - int(m.stance)]:  # nothing to push off from
        return lacks < (0.09 if m.clock > 0.2 else 0.07) * body.size
    if loaded(body, look) and lacks < -0.1 * body.size:  # too fast: it brakes on both feet
        return False
    if (
        loaded(body, look)
        and abs(aside(body, m, look, f, i) - inside(body, k, m)) > k.crossing.capture_aside * body.size
    ):
        return lacks < -0.03 * body.size
    return lacks < 0.0  # who waits until it is over it sideways as well is too fast then


@inner
def _poised(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether the weight is so far on the stance foot that the other may step over something."""
    off = abs(aside(body, m, look, f, i) - inside(body, k, m))
    return off < k.crossing.capture_aside * body.size and lack(body, k, m, look, f, i) < 0.055 * body.size


@inner
def _may_halt(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether it can come to rest before what it will step over, on both feet as they are."""
    if m.halt != 1.0 or m.speed_limit > 0.0 or not (look.touching[0] and look.touching[1]):
        return False
    apart = sub(foot_place(body, f, i, 0), foot_place(body, f, i, 1))
    lean, sway, half = _capture(body, look, f, i)
    room = 0.5 * abs(dot(apart, look.ahead))
    beside = room < 0.06 * body.size and 0.5 < dot(apart, look.left) / stand_width(body, k) < 2.0
    most = k.stand.lean * body.size
    return beside and -0.6 * most - room < lean < 0.25 * most + room and abs(sway) < 0.75 * half


@inner
def _stop(body, m, look, f, i):  # type: ignore[no-untyped-def]
    """Stand; the foot that is further ahead will bear the weight when the other steps over something."""
    for leg in (LEGS, LEGS + 4):  # knees that are told to bend all at once would lift the feet
        m.crouch = min(m.crouch, max(f.qpos[i, body.angle[body.joint[leg + SHIN]]], 0.0))
    apart = sub(foot_place(body, f, i, 0), foot_place(body, f, i, 1))
    m.mode, m.clock, m.halt = STAND, 0.0, 2.0
    m.stance = 0.0 if dot(apart, look.ahead) > 0.0 else 1.0


@inner
def _settled(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether it stands as it will go on: at rest, and bent as far as it must."""
    if m.clock < (0.6 if m.stoop_distance < UNLIMITED or m.bend > 0.1 else 0.2):
        return False
    slow = 0.06 * math.sqrt(body.size)
    creeps = abs(look.speed) < slow or lack(body, k, m, look, f, i) < 0.02 * body.size
    rests = creeps and abs(look.drift) < slow and abs(look.velocity[2]) < slow
    return rests and m.bend > m.duck_bend - 0.02 and m.crouch > m.duck_crouch - 0.02


@inner
def _falls_short(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether a step up or over something has begun with a load not yet over the stance foot, and can still wait."""
    if not loaded(body, look) or m.planned == 0.0 or m.level_step == 1.0 or m.trailing == 1.0 or m.phase > 0.1:
        return False
    up = m.obstacle_top > m.ground + 0.05 * body.size
    return up and look.touching[1 - int(m.stance)] and lack(body, k, m, look, f, i) > 0.0


@inner
def _lands(body, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether the swing foot touches the ground, and not what it is still to pass."""
    swing = 1 - int(m.stance)
    if not look.touching[swing] or m.planned == 0.0 or m.level_step == 1.0:
        return look.touching[swing]
    ankle = f.xanchor[i, body.joint[LEGS + 4 * swing + FOOT]]
    at = ankle[0] * math.cos(m.heading) + ankle[1] * math.sin(m.heading)
    return at > m.clear_to - 0.05 * body.size and ankle[2] - m.foothold[2] < 2.0 * body.ankle[swing]


@inner
def decide(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Stand, start, step or stop (sections 5.3.1 and 5.5.1)."""
    m.clock += body.dt
    if m.mode == WALK:
        swing = 1 - int(m.stance)
        if _falls_short(body, k, m, look, f, i):
            m.mode, m.clock = PASS, 0.0
            return
        going = m.phase_rate if m.phase < 1.0 and crosses(body, m) else 1.0
        m.phase += going * body.dt / _step_time(body, k, m, look, f, i)
        if m.planned == 0.0 and m.phase > 0.2 and m.phase < 1.0 and _far_enough(body, k, m, look, f, i):
            m.phase = 1.0
        if m.phase >= k.steps.latest_strike or (m.phase > k.steps.earliest_strike and _lands(body, m, look, f, i)):
            forced = m.planned == 1.0 and look.touching[swing] and (m.halt != 1.0 or crosses(body, m))
            if _may_stand(body, k, m, look, f, i):
                m.mode, m.clock = STAND, 0.0
                return
            if _may_halt(body, k, m, look, f, i):
                _stop(body, m, look, f, i)
                return
            leads = crosses(body, m) and m.halt == 2.0
            if crosses(body, m):
                m.halt = 0.0
            m.stance = swing
            if forced and (leads or not _over_foot(body, k, m, look, f, i)):
                m.mode, m.clock = PASS, -k.crossing.shortest_double_support if leads else 0.0
            else:
                _begin_step(body, m, f, i, swing)
        return
    if m.mode == PASS:
        if (m.clock > 0.0 and _over_foot(body, k, m, look, f, i)) or m.clock > k.crossing.longest_double_support:
            _begin_step(body, m, f, i, int(m.stance))
        return
    lean, sway, half = _capture(body, look, f, i)
    steady = k.stand.busy_steadiness if busy(m) or m.halt == 2.0 else 1.0  # who steps while bent down falls
    pushed = abs(lean) > steady * k.stand.lean * body.size or abs(sway) > half + steady * k.stand.sway * body.size
    turn = wrapped(m.wish_heading - look.heading) if m.crouch < 0.1 else 0.0  # nobody turns while crouching
    if pushed and m.clock > 0.1:
        m.halt = 0.0
        m.heading = look.heading
        _begin_step(body, m, f, i, 0 if sway < 0.0 else 1)
    elif m.mode == STAND and m.halt == 2.0 and not _settled(body, k, m, look, f, i):
        return
    elif m.mode == STAND and (abs(m.wish_speed) > 0.05 or abs(turn) > 0.2):
        m.mode, m.clock = SHIFT, 0.0
        m.heading = look.heading
        if m.halt != 2.0:
            m.stance = 1.0 if turn > 0.0 else 0.0  # turn left: the left leg steps first
    elif m.mode == SHIFT:
        stance = foot_place(body, f, i, int(m.stance))
        other = foot_place(body, f, i, 1 - int(m.stance))
        whole = dot(sub(stance, other), look.left)
        moved = dot(sub(look.com, other), look.left) / whole if abs(whole) > 0.01 else 1.0
        if m.halt == 2.0:
            ready = _poised(body, k, m, look, f, i) or m.clock > k.crossing.longest_double_support
        else:
            ready = moved > 0.5 + 0.5 * k.stand.shift_share or m.clock > 0.6
        if ready:
            _begin_step(body, m, f, i, int(m.stance))
