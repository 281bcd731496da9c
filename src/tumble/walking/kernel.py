"""The compiled control of a row: look, follow the wishes, decide, swing, hold, balance (coros2010 figure 5.1)."""

import math
from typing import NamedTuple

from numba import njit

from tumble.walking.balance import (
    add_gravity,
    bubble_up,
    firm_force,
    hip_damping,
    put,
    root_torque,
    spin_of,
    tune_velocity,
)  # fmt: skip
from tumble.walking.body import ARMS, BACK, FOOT, HEAD, LEGS, PELVIS, SHIN, THIGH, TOE, TORSO
from tumble.walking.legs import gait_ahead, gait_side, knee_for, leg_pose, leg_reach, pendulum_later, pendulum_step
from tumble.walking.memory import (
    BEND,
    BLEND,
    CLOCK,
    GROUND,
    HEADING,
    MEAN,
    MODE,
    PACE,
    PERIOD,
    PHASE,
    SHIFT,
    SIDE,
    SPEED,
    STAND,
    STEP_HEIGHT,
    STEP_WIDTH,
    STEPS,
    STYLE,
    SWING_X,
    SWING_Y,
    SWING_Z,
    TRIM,
    TWIST,
    WALK,
    WISH_BEND,
    WISH_HEADING,
    WISH_PERIOD,
    WISH_SPEED,
    WISH_STEP_HEIGHT,
    WISH_STEP_WIDTH,
    WISH_STYLE,
)  # fmt: skip
from tumble.walking.style import (
    ANKLE_SPEED,
    ARM_SPEED,
    FOOT_AHEAD,
    FOOT_HEIGHT,
    FOOT_OUT,
    STANCE_ANKLE,
    STANCE_ARM,
    STANCE_KNEE,
    STANCE_TOE,
    SWING_ANKLE,
    SWING_ARM,
    SWING_TOE,
    TRUNK,
)  # fmt: skip
from tumble.walking.vectors import (
    about,
    add,
    clamp,
    cross,
    dot,
    multiply,
    scale,
    shortened,
    spline,
    sub,
    turn_between,
    turned,
    vec,
    wrapped,
)  # fmt: skip


class Look(NamedTuple):
    """What a row looks like now, in the world's axes and in the character's (ahead, left)."""

    com: tuple[float, float, float]
    velocity: tuple[float, float, float]
    heading: float  # rad
    ahead: tuple[float, float, float]
    left: tuple[float, float, float]
    spin: tuple[float, float, float]  # rad/s of the pelvis
    speed: float  # m/s ahead
    drift: float  # m/s to the left
    touching: tuple[bool, bool]  # left foot, right foot


@njit(cache=True)
def control_rows(body, k, styles, fields, torque, angles, out):  # type: ignore[no-untyped-def]
    """Controls (rows, motors) of all rows into `out`; the rows' memory moves on by a step.

    Args:
      body, k, styles, fields: see `Body`, `WalkSettings`, `Styles`, `Fields`.
      torque, angles: scratch, (bones, 3) and (trajectories,).
    """
    for i in range(out.shape[0]):
        memory = fields.memory[i]
        look = _look(body, fields, i)
        _follow(body, k, styles, memory, look)
        _decide(body, k, memory, look, fields, i)
        _generate(styles, memory, angles)
        torque[:] = 0.0
        _hold(body, k, memory, look, fields, i, angles, torque)
        if memory[MODE] == WALK:
            _swing(body, k, styles, memory, look, fields, i, angles, torque)
        _balance(body, k, memory, look, fields, i, angles, torque)
        _project(body, fields, i, torque, out)


@njit(cache=True)
def _look(body, f, i):  # type: ignore[no-untyped-def]
    pelvis = f.xquat[i, body.ids[PELVIS]]
    q = (pelvis[0], pelvis[1], pelvis[2], pelvis[3])
    nose = turned(q, (1.0, 0.0, 0.0))
    heading = math.atan2(nose[1], nose[0])
    c, s = math.cos(heading), math.sin(heading)
    velocity = vec(f.com_velocity[i])
    spin = turned(q, (f.qvel[i, 3], f.qvel[i, 4], f.qvel[i, 5]))
    return Look(
        vec(f.com[i]), velocity, heading, (c, s, 0.0), (-s, c, 0.0), spin,
        c * velocity[0] + s * velocity[1], c * velocity[1] - s * velocity[0],
        (_touches(body, f, i, 0), _touches(body, f, i, 1)),
    )  # fmt: skip


@njit(cache=True)
def _touches(body, f, i, side):  # type: ignore[no-untyped-def]
    leg = LEGS + 4 * side
    return f.grounded[i, body.ground[leg + FOOT]] > 0.0 or f.grounded[i, body.ground[leg + TOE]] > 0.0


# ---- wishes


@njit(cache=True)
def _towards(value, wish, step):  # type: ignore[no-untyped-def]
    return value + clamp(wish - value, -step, step)


@njit(cache=True)
def _follow(body, k, styles, m, look):  # type: ignore[no-untyped-def]
    """Bring what is followed nearer to what is wished, at the rates of the settings."""
    share = body.dt / k.blend_time
    if m[BLEND] >= 1.0 and m[STYLE] != m[WISH_STYLE]:
        if m[BLEND] < 2.0:
            m[BLEND] = 0.0
    if m[STYLE] != m[WISH_STYLE]:
        m[BLEND] += share
        if m[BLEND] >= 1.0:
            m[STYLE], m[BLEND] = m[WISH_STYLE], 0.0
    numbers = styles.numbers[int(m[WISH_STYLE])]
    period = m[WISH_PERIOD] if m[WISH_PERIOD] > 0.0 else numbers[0]
    width = m[WISH_STEP_WIDTH] if m[WISH_STEP_WIDTH] >= 0.0 else numbers[1]
    m[PERIOD] = _towards(m[PERIOD], period, share)
    if m[WISH_SPEED] == 0.0:
        width = max(width, k.stand_width * body.size)
    m[STEP_WIDTH] = _towards(m[STEP_WIDTH], width, 0.2 * share)
    m[STEP_HEIGHT] = _towards(m[STEP_HEIGHT], m[WISH_STEP_HEIGHT], 0.2 * share)
    m[BEND] = _towards(m[BEND], m[WISH_BEND], share)
    still = m[MODE] != WALK
    wish = 0.0 if still else m[WISH_SPEED]
    if abs(wrapped(m[WISH_HEADING] - look.heading)) > k.slow_turn:  # V_d within a turn, section 5.3.5
        wish = clamp(wish, -k.turn_speed, k.turn_speed)
    m[SPEED] = _towards(m[SPEED], wish, k.speed_rate * body.dt)
    # integral action: what the body loses at footstrikes is made up by shorter steps
    m[TRIM] = 0.0 if still or k.fixed_alpha else clamp(
        m[TRIM] + k.trim_rate * body.dt * (m[SPEED] - look.speed), -k.longest_trim * body.leg, k.longest_trim * body.leg
    )
    m[MEAN] += (look.speed - m[MEAN]) * body.dt / k.mean_time
    m[PACE] = clamp(m[SPEED], m[MEAN] - k.speed_lead, m[MEAN] + k.speed_lead)
    if not still:
        m[HEADING] += clamp(wrapped(m[WISH_HEADING] - m[HEADING]), -k.turn_rate * body.dt, k.turn_rate * body.dt)
    twist = clamp(wrapped(m[WISH_HEADING] - look.heading), -k.longest_twist, k.longest_twist)
    m[TWIST] = _towards(m[TWIST], 0.0 if m[MODE] == STAND else twist, k.twist_rate * body.dt)


# ---- which leg stands


@njit(cache=True)
def _foot_place(body, f, i, side):  # type: ignore[no-untyped-def]
    """Middle of a foot: its centre of mass."""
    return vec(f.xipos[i, body.ids[LEGS + 4 * side + FOOT]])


@njit(cache=True)
def _begin_step(body, m, f, i, stance):  # type: ignore[no-untyped-def]
    ankle = f.xanchor[i, body.joint[LEGS + 4 * (1 - stance) + FOOT]]
    m[MODE], m[SIDE], m[PHASE], m[CLOCK] = WALK, stance, 0.0, 0.0
    m[SWING_X], m[SWING_Y], m[SWING_Z] = ankle[0], ankle[1], ankle[2]
    m[STEPS] += 1.0


@njit(cache=True)
def _decide(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Stand, start, step or stop (sections 5.3.1 and 5.5.1)."""
    m[CLOCK] += body.dt
    if m[MODE] == WALK:
        swing = 1 - int(m[SIDE])
        m[PHASE] += body.dt / _step_time(body, k, m, look, f, i)
        if m[PHASE] > 0.2 and m[PHASE] < 1.0 and _far_enough(body, k, m, look, f, i):
            m[PHASE] = 1.0
        if m[PHASE] >= k.latest_strike or (m[PHASE] > k.earliest_strike and look.touching[swing]):
            if _may_stand(body, k, m, look, f, i):
                m[MODE], m[CLOCK] = STAND, 0.0
            else:
                _begin_step(body, m, f, i, swing)
        return
    lean, sway, half = _capture(body, look, f, i)
    pushed = abs(lean) > k.stand_lean * body.size or abs(sway) > half + k.stand_sway * body.size
    turn = wrapped(m[WISH_HEADING] - look.heading)
    if pushed and m[CLOCK] > 0.1:
        m[HEADING] = look.heading
        _begin_step(body, m, f, i, 0 if sway < 0.0 else 1)
    elif m[MODE] == STAND and (abs(m[WISH_SPEED]) > 0.05 or abs(turn) > 0.2):
        m[MODE], m[CLOCK] = SHIFT, 0.0
        m[HEADING] = look.heading
        m[SIDE] = 1.0 if turn > 0.0 else 0.0  # turn left: the left leg steps first
    elif m[MODE] == SHIFT:
        stance = _foot_place(body, f, i, int(m[SIDE]))
        other = _foot_place(body, f, i, 1 - int(m[SIDE]))
        whole = dot(sub(stance, other), look.left)
        moved = dot(sub(look.com, other), look.left) / whole if abs(whole) > 0.01 else 1.0
        if moved > 0.5 + 0.5 * k.shift_share or m[CLOCK] > 0.6:
            _begin_step(body, m, f, i, int(m[SIDE]))


@njit(cache=True)
def _step_time(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """s for this step: the period, or less where a push has brought the body far off its walk."""
    ahead, side, _, _ = _deviation(body, m, look, _foot_place(body, f, i, int(m[SIDE])), 0.0)
    off = math.sqrt(ahead * ahead + side * side) / body.size
    hurry = clamp((off - k.hurry_from) / (k.hurry_to - k.hurry_from), 0.0, 1.0)
    quick = min(m[PERIOD], k.hurry_period * math.sqrt(body.size))
    return m[PERIOD] + hurry * (quick - m[PERIOD])


@njit(cache=True)
def _far_enough(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether a foot that steps against a push is so far out that it had better come down: a longer step is a split."""
    ahead, side, _, _ = _deviation(body, m, look, _foot_place(body, f, i, int(m[SIDE])), 0.0)
    size = math.sqrt(ahead * ahead + side * side)
    if size < k.hurry_from * body.size:
        return False
    out = sub(_foot_place(body, f, i, 1 - int(m[SIDE])), look.com)
    return (dot(out, look.ahead) * ahead + dot(out, look.left) * side) / size > k.land_at * body.leg


@njit(cache=True)
def _capture(body, look, f, i):  # type: ignore[no-untyped-def]
    """Where the body would come to rest, ahead and left of the middle between the feet; half their distance, m."""
    a, b = _foot_place(body, f, i, 0), _foot_place(body, f, i, 1)
    middle = scale(0.5, add(a, b))
    off = sub(look.com, middle)
    time = math.sqrt(max(off[2], 0.1) / body.gravity)
    half = 0.5 * abs(dot(sub(a, b), look.left))
    return dot(off, look.ahead) + time * look.speed, dot(off, look.left) + time * look.drift, half


@njit(cache=True)
def _may_stand(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    if abs(m[WISH_SPEED]) > 0.05 or abs(m[SPEED]) > 0.1 or abs(wrapped(m[WISH_HEADING] - look.heading)) > 0.15:
        return False
    if not (look.touching[0] and look.touching[1]):
        return False
    a, b = _foot_place(body, f, i, 0), _foot_place(body, f, i, 1)
    apart = sub(a, b)
    lean, sway, half = _capture(body, look, f, i)
    return (
        abs(dot(apart, look.ahead)) < 0.12 * body.size
        and dot(apart, look.left) > 0.6 * k.stand_width * body.size
        and abs(lean) < 0.7 * k.stand_lean * body.size
        and abs(sway) < 0.8 * half
    )


# ---- motion generator (section 5.3.1)


@njit(cache=True)
def _generate(styles, m, angles):  # type: ignore[no-untyped-def]
    """Values of all trajectories at the phase, of a style or between two."""
    phase = m[PHASE] if m[MODE] == WALK else 0.5
    a, b = int(m[STYLE]), int(m[WISH_STYLE])
    for j in range(angles.size):
        x = m[SPEED] if j >= ANKLE_SPEED else phase
        value = spline(styles.knots[a, j], styles.counts[a, j], x)
        if a != b:
            value += m[BLEND] * (spline(styles.knots[b, j], styles.counts[b, j], x) - value)
        angles[j] = value
    if m[MODE] != WALK:
        for j in (SWING_ANKLE, STANCE_ANKLE, SWING_TOE, STANCE_TOE):
            angles[j] = 0.0


@njit(cache=True)
def _trunk_pose(m, angles, heading, n, share, twist):  # type: ignore[no-untyped-def]
    """Wanted rotation in the world of the n-th bone of the trunk."""
    mirror = 1.0 if m[SIDE] == 0.0 else -1.0
    j = TRUNK + 3 * n
    q = multiply(about(2, heading + mirror * angles[j + 2] + twist * m[TWIST]), about(0, mirror * angles[j + 1]))
    return multiply(q, about(1, angles[j] + share * m[BEND]))


@njit(cache=True)
def _quat(f, body, i, bone):  # type: ignore[no-untyped-def]
    q = f.xquat[i, body.ids[bone]]
    return (q[0], q[1], q[2], q[3])


@njit(cache=True)
def _track(body, f, i, torque, bone, wanted):  # type: ignore[no-untyped-def]
    """PD torque of a ball joint towards a rotation in the world."""
    error = turn_between(_quat(f, body, i, bone), wanted)
    spin = spin_of(body, f.xaxis[i], f.qvel[i], bone)
    put(torque, bone, sub(scale(body.stiffness[bone], error), scale(body.resist[bone], spin)))


@njit(cache=True)
def _track_hinge(body, f, i, torque, bone, wanted, speed):  # type: ignore[no-untyped-def]
    """PD torque of a hinge towards an angle and its speed."""
    j = body.joint[bone]
    error = wanted - f.qpos[i, body.angle[j]]
    push = body.stiffness[bone] * error + body.resist[bone] * (speed - f.qvel[i, body.dof[j]])
    put(torque, bone, scale(push, vec(f.xaxis[i, j])))


@njit(cache=True)
def _track_foot(body, k, look, f, i, torque, foot, pitch):  # type: ignore[no-untyped-def]
    """PD torque of an ankle towards a pitch of the foot against the ground, toes down positive, and no roll."""
    q = _quat(f, body, i, foot)
    nose = turned(q, (1.0, 0.0, 0.0))
    yaw = math.atan2(nose[1], nose[0])
    error = turn_between(q, multiply(about(2, yaw), about(1, pitch)))
    spin = spin_of(body, f.xaxis[i], f.qvel[i], foot)
    side = (-math.sin(yaw), math.cos(yaw), 0.0)
    push = sub(scale(body.stiffness[foot], error), scale(body.resist[foot], spin))
    along = dot(push, side)
    weak = k.ankle_side_stiffness / k.ankle_stiffness
    put(torque, foot, add(scale(along, side), scale(weak, sub(push, scale(along, side)))))


@njit(cache=True)
def _hold(body, k, m, look, f, i, angles, torque):  # type: ignore[no-untyped-def]
    """PD torques of trunk, arms, stance knees, feet and toes."""
    _track(body, f, i, torque, BACK, _trunk_pose(m, angles, look.heading, 1, 0.6, 0.3))
    _track(body, f, i, torque, TORSO, _trunk_pose(m, angles, look.heading, 2, 1.0, 0.6))
    _track(body, f, i, torque, HEAD, _trunk_pose(m, angles, look.heading, 3, 1.0, 1.2))
    stance = int(m[SIDE])
    chest = _quat(f, body, i, TORSO)
    for side in range(2):
        j = STANCE_ARM if side == stance else SWING_ARM
        mirror = 1.0 if side == 0 else -1.0
        arm = ARMS + 2 * side
        pose = multiply(about(1, -angles[j] * angles[ARM_SPEED]), about(0, mirror * angles[j + 1]))
        _track(body, f, i, torque, arm, multiply(chest, multiply(pose, about(2, mirror * angles[j + 2]))))
        _track_hinge(body, f, i, torque, arm + 1, angles[j + 3], 0.0)
    for side in range(2):
        leg = LEGS + 4 * side
        stands = side == stance or m[MODE] != WALK
        pitch = angles[STANCE_ANKLE if stands else SWING_ANKLE] * angles[ANKLE_SPEED]
        _track_foot(body, k, look, f, i, torque, leg + FOOT, pitch)
        _track_hinge(body, f, i, torque, leg + TOE, angles[STANCE_TOE if stands else SWING_TOE], 0.0)
        if stands:
            _track_hinge(body, f, i, torque, leg + SHIN, _stance_knee(body, angles, side), 0.0)


@njit(cache=True)
def _stance_knee(body, angles, side):  # type: ignore[no-untyped-def]
    """Wanted angle of a stance knee: the style's, and more in a leg that is longer than the other."""
    knee = max(angles[STANCE_KNEE], 0.0)
    if body.extra_knee[side] < 1e-3:
        return knee
    reach = leg_reach(body.thigh[side], body.shin[side], knee) - body.extra_knee[side]
    return knee_for(body.thigh[side], body.shin[side], reach)


# ---- swing leg (section 5.3.2)


@njit(cache=True)
def _rate(body, look, stance_foot):  # type: ignore[no-untyped-def]
    """sqrt(g / h) of the pendulum, 1/s."""
    return math.sqrt(body.gravity / max(look.com[2] - stance_foot[2], 0.2 * body.leg))


@njit(cache=True)
def _gait(m, rate, time):  # type: ignore[no-untyped-def]
    """The pendulum's own walk, `time` s after the footstrike: speed ahead; place from the stance foot and speed to the
    left. m, m/s."""
    half = 0.5 * m[STEP_WIDTH] * (-1.0 if m[SIDE] == 0.0 else 1.0)
    place, drift = gait_side(half, time, m[PERIOD], rate)
    return gait_ahead(m[PACE], time, m[PERIOD], rate), place, drift


@njit(cache=True)
def _deviation(body, m, look, stance_foot, later):  # type: ignore[no-untyped-def]
    """How much further ahead and left a pendulum would step at the body's speed than at its own walk's, m, `later` s
    from now; and how far ahead and left the body will have come."""
    rate = _rate(body, look, stance_foot)
    time = min(m[PHASE], 1.0) * m[PERIOD]
    later = min(later, m[PERIOD] - time)
    want_speed, _, want_drift = _gait(m, rate, time + later)
    off = sub(look.com, stance_foot)
    x, y = dot(off, look.ahead), dot(off, look.left)
    next_x, speed = pendulum_later(x, look.speed, later, rate)
    next_y, drift = pendulum_later(y, look.drift, later, rate)
    height, g = body.gravity / (rate * rate), body.gravity
    ahead = pendulum_step(speed, height, g) - pendulum_step(want_speed, height, g)
    left = pendulum_step(drift, height, g) - pendulum_step(want_drift, height, g)
    return ahead, left, next_x - x, next_y - y


@njit(cache=True)
def _step_offset(body, k, m, look, stance_foot):  # type: ignore[no-untyped-def]
    """Where the swing foot should land, ahead and left of the centre of mass, m (section 5.3.2)."""
    most = k.longest_step * body.leg
    half = 0.5 * m[STEP_WIDTH] * (-1.0 if m[SIDE] == 0.0 else 1.0)
    ahead, side, on, over = _deviation(body, m, look, stance_foot, k.lookahead)
    ahead = 0.5 * m[PACE] * m[PERIOD] - m[TRIM] + k.foot_placement * k.sagittal_gain * ahead
    side = half + k.foot_placement * k.coronal_gain * side
    if k.fixed_alpha:
        ahead = k.sagittal_gain * pendulum_step(look.speed, look.com[2] - stance_foot[2], body.gravity)
        ahead -= k.alpha * m[SPEED]
        on = 0.0
    return clamp(ahead, -most, most) + on, clamp(side, -most, most) + over


@njit(cache=True)
def _ankle_target(body, k, m, look, angles, offset, phase, later):  # type: ignore[no-untyped-def]
    """Wanted place of the swing ankle, `later` s from now, on its way from the step's start to the landing."""
    swing = 1 - int(m[SIDE])
    out = 1.0 if swing == 0 else -1.0
    com = add(look.com, scale(later, look.velocity))
    ahead = offset[0] - body.sole[swing]
    t = (1.0 - phase) * (1.0 - phase)
    ahead_style, out_style = body.size * angles[FOOT_AHEAD], body.size * out * angles[FOOT_OUT]
    x = com[0] + ahead * look.ahead[0] + offset[1] * look.left[0]
    y = com[1] + ahead * look.ahead[1] + offset[1] * look.left[1]
    x, y = (1.0 - t) * x + t * m[SWING_X], (1.0 - t) * y + t * m[SWING_Y]
    x += ahead_style * look.ahead[0] + out_style * look.left[0]
    y += ahead_style * look.ahead[1] + out_style * look.left[1]
    lift = angles[FOOT_HEIGHT] + m[STEP_HEIGHT] * 4.0 * phase * (1.0 - phase)
    lift -= k.feel_down * max(m[PHASE] - 1.0, 0.0)  # no ground yet: feel for it
    return (x, y, m[GROUND] + body.ankle[swing] + body.size * lift)


@njit(cache=True)
def _swing(body, k, styles, m, look, f, i, angles, torque):  # type: ignore[no-untyped-def]
    """PD torques of the swing hip and knee towards the pose that brings the foot to its place."""
    swing = 1 - int(m[SIDE])
    leg = LEGS + 4 * swing
    stance_foot = _foot_place(body, f, i, 1 - swing)
    offset = _step_offset(body, k, m, look, stance_foot)
    phase = min(m[PHASE], 1.0)
    toe_out = styles.numbers[int(m[WISH_STYLE]), 2] * (1.0 if swing == 0 else -1.0)
    yaw = look.heading + toe_out + k.foot_anticipation * m[TWIST]
    side = (-math.sin(yaw), math.cos(yaw), 0.0)
    hip = vec(f.xanchor[i, body.joint[leg + THIGH]])
    target = _ankle_target(body, k, m, look, angles, offset, phase, 0.0)
    pose, knee = leg_pose(hip, target, body.thigh[swing], body.shin[swing], side, 0.993)
    # the same a moment later, for the wanted speeds
    later = 0.005
    soon = min(phase + later / m[PERIOD], 1.0)
    kept = angles[FOOT_HEIGHT]
    angles[FOOT_HEIGHT] = spline(
        styles.knots[int(m[WISH_STYLE]), FOOT_HEIGHT], styles.counts[int(m[WISH_STYLE]), FOOT_HEIGHT], soon
    )
    place = vec(f.qpos[i])
    moving = add(vec(f.qvel[i]), cross(look.spin, sub(hip, place)))
    target = _ankle_target(body, k, m, look, angles, offset, soon, later)
    angles[FOOT_HEIGHT] = kept
    next_pose, next_knee = leg_pose(
        add(hip, scale(later, moving)), target, body.thigh[swing], body.shin[swing], side, 0.993
    )
    rate = shortened(scale(1.0 / later, turn_between(pose, next_pose)), k.swing_rate)
    knee_rate = clamp((next_knee - knee) / later, -k.swing_rate, k.swing_rate)
    spin = sub(sub(rate, look.spin), spin_of(body, f.xaxis[i], f.qvel[i], leg + THIGH))
    error = turn_between(_quat(f, body, i, leg + THIGH), pose)
    put(torque, leg + THIGH, add(scale(body.stiffness[leg], error), scale(body.resist[leg], spin)))
    _track_hinge(body, f, i, torque, leg + SHIN, knee, knee_rate)


# ---- balance


@njit(cache=True)
def _virtual_force(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Force, N ahead and to the left, that is wanted on the centre of mass (sections 5.3.3 and 5.5.1)."""
    stance = int(m[SIDE])
    foot = _foot_place(body, f, i, stance)
    if m[MODE] == WALK:
        speed, place, drift = _gait(m, _rate(body, look, foot), min(m[PHASE], 1.0) * m[PERIOD])
        off = dot(sub(look.com, foot), look.left)
        ahead = k.speed_gain * ((m[SPEED] if k.fixed_alpha else speed) - look.speed)
        side = k.side_stiffness * (place - off) + k.side_damping * (drift - look.drift)
    else:
        other = _foot_place(body, f, i, 1 - stance)
        share = 1.0 if m[MODE] == SHIFT else 0.5
        middle = add(scale(share, foot), scale(1.0 - share, other))
        off = sub(look.com, middle)
        ahead = -k.stand_stiffness * dot(off, look.ahead) - k.stand_damping * look.speed
        side = -k.stand_side_stiffness * dot(off, look.left) - k.stand_side_damping * look.drift
    most_ahead = k.ahead_force * body.scale
    most_side = (k.side_force if m[MODE] == WALK else k.stand_force) * body.scale
    ahead = clamp(body.total * ahead, -most_ahead, most_ahead)
    side = clamp(body.total * side, -most_side, most_side)
    return ahead, side


@njit(cache=True)
def _stance_share(body, m, look, f, i):  # type: ignore[no-untyped-def]
    """Share of the load that the leg of m[SIDE] carries, by the lever rule between the feet."""
    stance = int(m[SIDE])
    if not look.touching[1 - stance]:
        return 1.0
    if not look.touching[stance]:
        return 0.0
    a, b = _foot_place(body, f, i, stance), _foot_place(body, f, i, 1 - stance)
    line = sub(a, b)
    length = line[0] * line[0] + line[1] * line[1]
    if length < 1e-4:
        return 0.5
    return clamp(((look.com[0] - b[0]) * line[0] + (look.com[1] - b[1]) * line[1]) / length, 0.0, 1.0)


@njit(cache=True)
def _balance(body, k, m, look, f, i, angles, torque):  # type: ignore[no-untyped-def]
    """Hand torques up, carry the weight of what hangs, push the body, keep the pelvis upright."""
    stance = int(m[SIDE])
    walking = m[MODE] == WALK
    bubble_up(body, torque, walking, stance)
    if k.gravity_compensation:
        for bone in range(BACK, LEGS):
            add_gravity(body, torque, f.subtree_com[i], f.xanchor[i], bone)
        if walking:
            for bone in range(LEGS + 4 * (1 - stance), LEGS + 4 * (1 - stance) + 4):
                add_gravity(body, torque, f.subtree_com[i], f.xanchor[i], bone)
    swing_leg = LEGS + 4 * (1 - stance)
    share = _stance_share(body, m, look, f, i)
    grounded = look.touching[0] or look.touching[1]
    wanted = _trunk_pose(m, angles, m[HEADING], 0, 0.3, 0.0)
    error = turn_between(_quat(f, body, i, PELVIS), wanted)
    makeup = scale(-1.0, root_torque(k, body, error, look.spin))
    carried = vec(torque[BACK])
    if walking:
        carried = add(carried, vec(torque[swing_leg + THIGH]))
    makeup = sub(makeup, carried)
    force = _virtual_force(body, k, m, look, f, i) if k.velocity_tuning else (0.0, 0.0)
    weight = k.edge_share * body.total * body.gravity
    for side in range(2):
        part = share if side == stance else 1.0 - share
        if not grounded or part <= 0.0:
            continue
        leg = LEGS + 4 * side
        put(torque, leg + THIGH, scale(part, makeup))
        if walking and side != stance:
            continue
        if look.touching[side]:
            part = 1.0 if walking else part
            _push(body, k, m, look, f, i, torque, leg, part * force[0], part * force[1], part * weight)
        if walking:
            hip_damping(torque, leg, spin_of(body, f.xaxis[i], f.qvel[i], leg + THIGH), k.hip_damping * body.scale)


@njit(cache=True)
def _keep_apart(body, k, look, f, i, side):  # type: ignore[no-untyped-def]
    """Hip torque of a spring that keeps feet, which a light load lets slip, from creeping together in a stand."""
    mine, other = _foot_place(body, f, i, side), _foot_place(body, f, i, 1 - side)
    apart = dot(sub(mine, other), look.left) * (1.0 if side == 0 else -1.0)
    force = k.apart_stiffness * body.scale * (k.stand_width * body.size - apart) * (1.0 if side == 0 else -1.0)
    hip = vec(f.xanchor[i, body.joint[LEGS + 4 * side + THIGH]])
    return cross(sub(mine, hip), scale(force, look.left))


@njit(cache=True)
def _push(body, k, m, look, f, i, torque, leg, ahead, left, load):  # type: ignore[no-untyped-def]
    """Velocity tuning through one stance leg that carries `load` N: a force ahead and to the left, N."""
    planted = 1.0
    if m[MODE] == WALK:  # the foot rolls on after it landed and before it leaves
        planted = clamp(10.0 * m[PHASE] - 1.0, 0.0, 1.0) * clamp(9.0 - 10.0 * m[PHASE], 0.0, 1.0)
    nose = turned(_quat(f, body, i, leg + FOOT), (1.0, 0.0, 0.0))
    planted *= clamp(1.5 - 10.0 * abs(nose[2]), 0.0, 1.0)
    spin = look.spin
    for bone in range(leg, leg + FOOT + 1):
        spin = add(spin, spin_of(body, f.xaxis[i], f.qvel[i], bone))
    ankle = vec(f.xanchor[i, body.joint[leg + FOOT]])
    height = max(look.com[2] - ankle[2], 0.2 * body.leg)
    if m[MODE] != WALK:  # on both feet the hips shift the weight from one to the other
        put(torque, leg + THIGH, cross((0.0, 0.0, height), scale(left, look.left)))
        put(torque, leg + THIGH, _keep_apart(body, k, look, f, i, (leg - LEGS) // 4))
        left = 0.0
    ahead, left = firm_force(
        body, (leg - LEGS) // 4, height, ahead, left, dot(spin, look.left), dot(spin, look.ahead), load, planted
    )
    tune_velocity(
        body, k, torque, f.xanchor[i], f.xipos[i], leg, add(scale(ahead, look.ahead), scale(left, look.left))
    )


@njit(cache=True)
def _project(body, f, i, torque, out):  # type: ignore[no-untyped-def]
    """Torque vectors to fractions of the motors' strengths; the engine's damping is given back.

    The engine integrates the joints' damping implicitly, which keeps light feet stable at large steps; what
    it takes, -D w, is in the control already, so that the law is the thesis's, k_p e - k_d w.
    """
    height = f.qpos[i, 2]
    fade = clamp((height - 0.25 * body.leg) / (0.2 * body.leg), 0.0, 1.0)
    for bone in range(BACK, LEGS + 8):
        for j in range(body.joint[bone], body.joint[bone] + body.joints[bone]):
            push = dot(vec(torque[bone]), vec(f.xaxis[i, j])) + body.damping[j] * f.qvel[i, body.dof[j]]
            out[i, body.motor[j]] = clamp(fade * push / body.strength[j], -1.0, 1.0)
