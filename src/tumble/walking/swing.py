"""The swing leg: where to step and how to get there (coros2010 5.3.2).

The ankle goes from where the step began to the landing, (1 - t) landing + t start with t = (1 - phase)^2, at the height
of the style; beside the stance foot it is kept to its own side, and over things it follows `Terrain.path`. Inverse
kinematics make hip and knee angles of it, twice, `LATER` s apart, for the wanted speeds.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, along, clamp, cross, dot, scale, shortened, spline, sub, turn_between, turned, vec
from tumble.walking.body import LEGS, SHIN, THIGH
from tumble.walking.legs import leg_pose
from tumble.walking.memory import LEFT
from tumble.walking.pose import rotation_of, track_hinge, trajectory
from tumble.walking.steps import ankle_of, crosses, foot_place, step_offset
from tumble.walking.style import FOOT_AHEAD, FOOT_HEIGHT, FOOT_OUT
from tumble.walking.terrain import CLEAR, OVER
from tumble.walking.torques import put, spin_of

# Lengths of a body of the humanoid's size; all ours.
BESIDE = 2.0  # how soon a swing foot beside the stance foot is moved to its own side: all of it half way there
CALM = 2.0  # times `clear_calm` off the usual step, where legs may cross
DOWN_BEFORE = 0.02  # m before where it may come down, that a foot comes down from
LOW = 0.3  # of the room over something, below which a foot is not high enough to go on
LAGS, LAG, SLOWEST = 1.5, 0.12, 0.3  # its phase goes on at LAGS - m that it lags behind / LAG, from SLOWEST to 1
KNEE_TURNS, KNEE_TURN = 7, 0.17  # how often, and by how many rad, a trailing knee is turned out until it is clear
DRAWN_BACK, DRAW_BACK = 9, 0.03  # how often, and by how many m, its foot is drawn back for that
LONGEST = 0.993  # of a leg's length that a foot is put to at most; authors' code
LATER = 0.005  # s ahead, for the speeds of joints by a difference; ours


@inner
def _clear_of(body, k, look, stance_foot, out, calm, x, y):  # type: ignore[no-untyped-def]
    """The place (x, y) of a swing foot, moved to its own side where it would cross the stance leg (section 5.3.5)."""
    ahead = (x - stance_foot[0]) * look.ahead[0] + (y - stance_foot[1]) * look.ahead[1]
    side = out * ((x - stance_foot[0]) * look.left[0] + (y - stance_foot[1]) * look.left[1])
    near = 1.0 - abs(ahead) / (k.steps.clear_ahead * body.size)
    lacks = k.steps.clear_side * body.size - side
    if near <= 0.0 or lacks <= 0.0:
        return x, y
    move = calm * out * lacks * min(1.0, BESIDE * near)
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
    at, swing = along(m.heading, ankle), 1 - m.stance
    s, z = spline(terrain.path[0], 5, phase), spline(terrain.path[1], 5, phase)
    if phase > terrain.path[0, 1, 0] and at < m.clear_to - DOWN_BEFORE * body.size:
        z = max(z, terrain.path[1, 1, 1])
    sole = ankle[2] - body.legs.ankle[swing]
    low = sole < m.obstacle_top + LOW * CLEAR * body.size and at < m.clear_from + DOWN_BEFORE * body.size
    m.phase_rate = clamp(LAGS - (s - at) / (LAG * body.size), SLOWEST, 1.0)
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
    out = 1.0 if swing == LEFT else -1.0
    room = k.crossing.knee_room * body.size
    backs = DRAWN_BACK if target[2] - body.legs.ankle[swing] < m.obstacle_top else 1  # one that is up already goes on
    for turn in range(KNEE_TURNS):
        angle = KNEE_TURN * turn
        across = add(scale(math.cos(angle), side), (0.0, 0.0, out * math.sin(angle)))
        for back in range(backs):
            place = sub(target, scale(DRAW_BACK * back * body.size, ahead))
            pose, _ = leg_pose(hip, place, body.legs.thigh[swing], body.legs.shin[swing], across, LONGEST)
            knee = add(hip, scale(body.legs.thigh[swing], turned(pose, (0.0, 0.0, -1.0))))
            if knee[2] > m.obstacle_top + room or dot(knee, ahead) < m.obstacle_front - room:
                return across, place
    return side, target


@inner
def _ankle_target(body, terrain, k, m, look, stance_foot, angles, offset, ankle, phase, later):  # type: ignore[no-untyped-def]
    """Wanted place of the swing ankle, `later` s from now, on its way from the step's start to the landing."""
    swing = 1 - m.stance
    out = 1.0 if swing == LEFT else -1.0
    com = add(look.com, scale(later, look.velocity))
    ahead = offset[0] - body.legs.sole[swing]
    t = (1.0 - phase) * (1.0 - phase)
    ahead_style, out_style = body.size * angles[FOOT_AHEAD], body.size * out * angles[FOOT_OUT]
    x = com[0] + ahead * look.ahead[0] + offset[1] * look.left[0]
    y = com[1] + ahead * look.ahead[1] + offset[1] * look.left[1]
    if m.placed:
        x, y = m.foothold[0], m.foothold[1]
    elif m.planned:
        x, y = _moved_to(m, m.clear_to, x, y)
    x, y = (1.0 - t) * x + t * m.swing_start[0], (1.0 - t) * y + t * m.swing_start[1]
    strayed = abs(offset[1] - 0.5 * m.step_width * out) / (k.steps.clear_calm * body.size)
    x, y = _clear_of(body, k, look, stance_foot, out, clamp(CALM - strayed, 0.0, 1.0), x, y)
    x += ahead_style * look.ahead[0] + out_style * look.left[0]
    y += ahead_style * look.ahead[1] + out_style * look.left[1]
    if terrain is not None and m.planned and not m.level_step:
        return _over(body, terrain, k, m, x, y, ankle, phase)
    lift = angles[FOOT_HEIGHT] + m.step_height * 4.0 * phase * (1.0 - phase)
    lift -= k.steps.feel_down * max(m.phase - 1.0, 0.0)  # no ground yet: feel for it
    return (x, y, m.ground + body.legs.ankle[swing] + body.size * lift)


@inner
def _toe_out(styles, m):  # type: ignore[no-untyped-def]
    """Twist of the swing leg's plane, of a style or between two."""
    old, wished = styles.numbers[m.style, 2], styles.numbers[m.wish_style, 2]
    return old + m.blend * (wished - old)


@inner
def swing(body, terrain, k, styles, m, look, f, i, angles, torque):  # type: ignore[no-untyped-def]
    """PD torques of the swing hip and knee towards the pose that brings the foot to its place."""
    swing = 1 - m.stance
    leg = LEGS + 4 * swing
    stance_foot = foot_place(body, f, i, 1 - swing)
    offset = step_offset(body, k, m, look, stance_foot)
    phase = min(m.phase, 1.0)
    toe_out = _toe_out(styles, m) * (1.0 if swing == LEFT else -1.0)
    yaw = look.heading + toe_out + k.follow.foot_anticipation * m.twist
    if m.planned and m.trailing:
        high = clamp((m.obstacle_top - m.ground) / (OVER * body.leg), 0.0, 1.0)
        yaw += k.crossing.turn_out * high * math.sin(math.pi * phase) * (1.0 if swing == LEFT else -1.0)
    side = (-math.sin(yaw), math.cos(yaw), 0.0)
    hip = vec(f.xanchor[i, body.joint[leg + THIGH]])
    ankle = ankle_of(body, f, i, swing)
    target = _ankle_target(body, terrain, k, m, look, stance_foot, angles, offset, ankle, phase, 0.0)
    across = side
    trails = crosses(body, m) and m.trailing and dot(ankle, look.ahead) < m.obstacle_front
    if trails:
        across, target = _clear_knee(body, k, m, hip, target, side, swing)
    pose, knee = leg_pose(hip, target, body.legs.thigh[swing], body.legs.shin[swing], across, LONGEST)
    # the same a moment later, for the wanted speeds
    soon = min(phase + LATER / m.period, 1.0)
    kept = angles[FOOT_HEIGHT]
    angles[FOOT_HEIGHT] = trajectory(styles, m, FOOT_HEIGHT, soon)
    place = vec(f.qpos[i])
    moving = add(vec(f.qvel[i]), cross(look.spin, sub(hip, place)))
    target = _ankle_target(body, terrain, k, m, look, stance_foot, angles, offset, ankle, soon, LATER)
    angles[FOOT_HEIGHT] = kept
    hip = add(hip, scale(LATER, moving))
    if trails:
        across, target = _clear_knee(body, k, m, hip, target, side, swing)
    next_pose, next_knee = leg_pose(hip, target, body.legs.thigh[swing], body.legs.shin[swing], across, LONGEST)
    most = k.crossing.swing_rate if m.planned else k.steps.swing_rate
    rate = shortened(scale(1.0 / LATER, turn_between(pose, next_pose)), most)
    knee_rate = clamp((next_knee - knee) / LATER, -most, most)
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
