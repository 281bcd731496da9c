"""The swing leg: where to step and how to get there (coros2010 5.3.2)."""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, clamp, cross, dot, scale, shortened, spline, sub, turn_between, turned, vec
from tumble.walking.balance import put, spin_of
from tumble.walking.body import FOOT, LEGS, SHIN, THIGH
from tumble.walking.legs import leg_pose
from tumble.walking.pose import rotation_of, track_hinge, trajectory
from tumble.walking.steps import crosses, foot_place, step_offset
from tumble.walking.style import FOOT_AHEAD, FOOT_HEIGHT, FOOT_OUT
from tumble.walking.terrain import CLEAR, OVER


@inner
def _clear_of(body, k, look, stance_foot, out, calm, x, y):  # type: ignore[no-untyped-def]
    """The place (x, y) of a swing foot, moved to its own side where it would cross the stance leg (section 5.3.5)."""
    ahead = (x - stance_foot[0]) * look.ahead[0] + (y - stance_foot[1]) * look.ahead[1]
    side = out * ((x - stance_foot[0]) * look.left[0] + (y - stance_foot[1]) * look.left[1])
    near = 1.0 - abs(ahead) / (k.steps.clear_ahead * body.size)
    lacks = k.steps.clear_side * body.size - side
    if near <= 0.0 or lacks <= 0.0:
        return x, y
    move = calm * out * lacks * min(1.0, 2.0 * near)
    return x + move * look.left[0], y + move * look.left[1]


@inner
def _moved_to(m, s, x, y):  # type: ignore[no-untyped-def]
    """The place (x, y), moved along the heading to where it is s m from the origin."""
    ahead = (math.cos(m.heading), math.sin(m.heading))
    move = s - x * ahead[0] - y * ahead[1]
    return x + move * ahead[0], y + move * ahead[1]


@inner
def _over(body, terrain, k, m, x, y, ankle, phase):  # type: ignore[no-untyped-def]
    """The swing ankle's target on its way over something: (x, y) moved along the heading, and its height.

    Its phase waits while the foot lags behind, or is not high enough to go on; it does not come down upon what it is
    not past.
    """
    ahead = (math.cos(m.heading), math.sin(m.heading))
    at = ankle[0] * ahead[0] + ankle[1] * ahead[1]
    swing = 1 - int(m.stance)
    s, z = spline(terrain.path[0], 5, phase), spline(terrain.path[1], 5, phase)
    if phase > terrain.path[0, 1, 0] and at < m.clear_to - 0.02 * body.size:
        z = max(z, terrain.path[1, 1, 1])
    low = (
        ankle[2] - body.ankle[swing] < m.obstacle_top + 0.3 * CLEAR * body.size and at < m.clear_from + 0.02 * body.size
    )
    m.phase_rate = clamp(1.5 - (s - at) / (0.12 * body.size), 0.3, 1.0)
    if low and crosses(body, m) and phase >= terrain.path[0, 1, 0]:
        m.phase_rate = 0.0
    elif low and not crosses(body, m):
        s = min(s, m.clear_from)
    z -= body.size * k.steps.feel_down * max(m.phase - 1.0, 0.0)
    x, y = _moved_to(m, s, x, y)
    return (x, y, z)


@inner
def _clear_knee(body, k, m, hip, target, side, swing):  # type: ignore[no-untyped-def]
    """Left of the plane of a trailing leg, turned so far that the knee points over what the foot is still to pass.

    And the ankle's target, drawn back where that is not enough.
    """
    ahead = (math.cos(m.heading), math.sin(m.heading), 0.0)
    out = 1.0 if swing == 0 else -1.0
    room = k.crossing.knee_room * body.size
    backs = 9 if target[2] - body.ankle[swing] < m.obstacle_top else 1  # one that is up already goes on
    for turn in range(7):
        angle = 0.17 * turn
        across = add(scale(math.cos(angle), side), (0.0, 0.0, out * math.sin(angle)))
        for back in range(backs):
            place = sub(target, scale(0.03 * back * body.size, ahead))
            pose, _ = leg_pose(hip, place, body.thigh[swing], body.shin[swing], across, 0.993)
            knee = add(hip, scale(body.thigh[swing], turned(pose, (0.0, 0.0, -1.0))))
            if knee[2] > m.obstacle_top + room or dot(knee, ahead) < m.obstacle_front - room:
                return across, place
    return side, target


@inner
def _ankle_target(body, terrain, k, m, look, stance_foot, angles, offset, ankle, phase, later):  # type: ignore[no-untyped-def]
    """Wanted place of the swing ankle, `later` s from now, on its way from the step's start to the landing."""
    swing = 1 - int(m.stance)
    out = 1.0 if swing == 0 else -1.0
    com = add(look.com, scale(later, look.velocity))
    ahead = offset[0] - body.sole[swing]
    t = (1.0 - phase) * (1.0 - phase)
    ahead_style, out_style = body.size * angles[FOOT_AHEAD], body.size * out * angles[FOOT_OUT]
    x = com[0] + ahead * look.ahead[0] + offset[1] * look.left[0]
    y = com[1] + ahead * look.ahead[1] + offset[1] * look.left[1]
    if m.planned == 1.0:
        x, y = _moved_to(m, m.clear_to, x, y)
    x, y = (1.0 - t) * x + t * m.swing_start[0], (1.0 - t) * y + t * m.swing_start[1]
    strayed = abs(offset[1] - 0.5 * m.step_width * out) / (k.steps.clear_calm * body.size)
    x, y = _clear_of(body, k, look, stance_foot, out, clamp(2.0 - strayed, 0.0, 1.0), x, y)
    x += ahead_style * look.ahead[0] + out_style * look.left[0]
    y += ahead_style * look.ahead[1] + out_style * look.left[1]
    if terrain is not None and m.planned == 1.0 and m.level_step == 0.0:
        return _over(body, terrain, k, m, x, y, ankle, phase)
    lift = angles[FOOT_HEIGHT] + m.step_height * 4.0 * phase * (1.0 - phase)
    lift -= k.steps.feel_down * max(m.phase - 1.0, 0.0)  # no ground yet: feel for it
    return (x, y, m.ground + body.ankle[swing] + body.size * lift)


@inner
def _toe_out(styles, m):  # type: ignore[no-untyped-def]
    """Twist of the swing leg's plane, of a style or between two."""
    old, wished = styles.numbers[int(m.style), 2], styles.numbers[int(m.wish_style), 2]
    return old + m.blend * (wished - old)


@inner
def swing(body, terrain, k, styles, m, look, f, i, angles, torque):  # type: ignore[no-untyped-def]
    """PD torques of the swing hip and knee towards the pose that brings the foot to its place."""
    swing = 1 - int(m.stance)
    leg = LEGS + 4 * swing
    stance_foot = foot_place(body, f, i, 1 - swing)
    offset = step_offset(body, k, m, look, stance_foot)
    phase = min(m.phase, 1.0)
    toe_out = _toe_out(styles, m) * (1.0 if swing == 0 else -1.0)
    yaw = look.heading + toe_out + k.follow.foot_anticipation * m.twist
    if m.planned == 1.0 and m.trailing == 1.0:
        high = clamp((m.obstacle_top - m.ground) / (OVER * body.leg), 0.0, 1.0)
        yaw += k.crossing.turn_out * high * math.sin(math.pi * phase) * (1.0 if swing == 0 else -1.0)
    side = (-math.sin(yaw), math.cos(yaw), 0.0)
    hip = vec(f.xanchor[i, body.joint[leg + THIGH]])
    ankle = vec(f.xanchor[i, body.joint[leg + FOOT]])
    target = _ankle_target(body, terrain, k, m, look, stance_foot, angles, offset, ankle, phase, 0.0)
    across = side
    trails = crosses(body, m) and m.trailing == 1.0 and dot(ankle, look.ahead) < m.obstacle_front
    if trails:
        across, target = _clear_knee(body, k, m, hip, target, side, swing)
    pose, knee = leg_pose(hip, target, body.thigh[swing], body.shin[swing], across, 0.993)
    # the same a moment later, for the wanted speeds
    later = 0.005
    soon = min(phase + later / m.period, 1.0)
    kept = angles[FOOT_HEIGHT]
    angles[FOOT_HEIGHT] = trajectory(styles, m, FOOT_HEIGHT, soon)
    place = vec(f.qpos[i])
    moving = add(vec(f.qvel[i]), cross(look.spin, sub(hip, place)))
    target = _ankle_target(body, terrain, k, m, look, stance_foot, angles, offset, ankle, soon, later)
    angles[FOOT_HEIGHT] = kept
    hip = add(hip, scale(later, moving))
    if trails:
        across, target = _clear_knee(body, k, m, hip, target, side, swing)
    next_pose, next_knee = leg_pose(hip, target, body.thigh[swing], body.shin[swing], across, 0.993)
    most = k.crossing.swing_rate if m.planned == 1.0 else k.steps.swing_rate
    rate = shortened(scale(1.0 / later, turn_between(pose, next_pose)), most)
    knee_rate = clamp((next_knee - knee) / later, -most, most)
    spin = sub(sub(rate, look.spin), spin_of(body, f.xaxis[i], f.qvel[i], leg + THIGH))
    error = turn_between(rotation_of(f, body, i, leg + THIGH), pose)
    firm = 1.0 + k.hands.load_firmness * (look.total / body.total - 1.0)
    if crosses(body, m):
        firm *= k.crossing.firmness
    put(
        torque,
        leg + THIGH,
        add(scale(firm * body.stiffness[leg], error), scale(math.sqrt(firm) * body.resist[leg], spin)),
    )
    track_hinge(body, f, i, torque, leg + SHIN, knee, knee_rate, firm)
