"""Motion generator and the joints that track it (coros2010 5.3.1).

A style's trajectories are read at the phase phi, and joints follow by PD laws, k_p e - k_d w: trunk, head and feet
against the character's frame, arms, stance knees and toes against their parents. A style tells of a step on the left
foot; on the right one, `side` and `twist` of the trunk change their sign.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import about, add, clamp, dot, multiply, scale, spline, sub, turn_between, turned, vec
from tumble.walking.body import ARMS, BACK, FOOT, HEAD, LEGS, SHIN, THIGH, TOE, TORSO
from tumble.walking.capture import BENT, capture_shortfall
from tumble.walking.hands import chest_spin_of, reach
from tumble.walking.holding import mass_of
from tumble.walking.legs import knee_for, leg_reach
from tumble.walking.memory import LEFT, Halt, Mode
from tumble.walking.steps import ankle_of, crosses, loaded
from tumble.walking.style import (
    ANKLE_SPEED,
    ARM_SPEED,
    STANCE_ANKLE,
    STANCE_ARM,
    STANCE_KNEE,
    STANCE_TOE,
    SWING_ANKLE,
    SWING_ARM,
    SWING_TOE,
    TRUNK,
)  # fmt: skip
from tumble.walking.torques import put, spin_of

# Lengths of a body of the humanoid's size; all ours.
PELVIS_BEND, PELVIS_HINGE = 0.3, 0.5  # share of a bend that the pelvis has, and more of it the further it bends
BACK_BEND, BACK_HINGE = 0.6, 0.3  # the same of the lower back; torso and head have all of it
BACK_TWIST, CHEST_TWIST, HEAD_TWIST = 0.3, 0.6, 1.2  # shares of the twist ahead of a turn
HINGES = 0.6  # rad of a bend from which on the hips take more of it
STANDS = 0.5  # phase of a style that a stand is held in
TOES_UP = -0.1  # rad of a foot that goes over something
LONGER = 1e-3  # m that a leg is longer, from which on its knee bends for it
STRAIGHTENS, PRESSES = 10.0, 14.0  # 1/m: how fast a hind leg straightens, and presses, as the capture point falls short
PLACED_PRESSES = 7.0  # 1/m, the same between two placed steps
STRAIGHTEST, LEAST_SINE, FASTEST_KNEE = 0.995, 0.3, 6.0  # of the leg; of sin(knee); rad/s, of a knee that carries a hip
FIRM_CROUCH = 0.3  # rad of the knees, from which on they are stiffest
PUSHES = 0.5, 0.65  # m, steps over something from which and up to which it presses its hind foot down ever more
ROOM = 0.4, 0.6  # m before something for each m of its height, the same


@inner
def trajectory(styles, m, j, x):  # type: ignore[no-untyped-def]
    """Value of a trajectory at a phase or speed, of a style or between two."""
    a, b = m.style, m.wish_style
    value = spline(styles.knots[a, j], styles.counts[a, j], x)
    if a != b:
        value += m.blend * (spline(styles.knots[b, j], styles.counts[b, j], x) - value)
    return value


@inner
def generate(styles, m, angles):  # type: ignore[no-untyped-def]
    """Values of all trajectories at the phase, of a style or between two."""
    phase = m.phase if m.mode == Mode.WALK else (0.0 if m.mode == Mode.DOUBLE_SUPPORT else STANDS)
    for j in range(angles.size):
        angles[j] = trajectory(styles, m, j, m.speed if j >= ANKLE_SPEED else phase)
    if m.mode != Mode.WALK:
        for j in (SWING_ANKLE, STANCE_ANKLE, SWING_TOE, STANCE_TOE):
            angles[j] = 0.0


@inner
def hinge(m):  # type: ignore[no-untyped-def]
    """How much of a bend is in the hips, 0 to 1: the further it bends, the more."""
    return clamp(m.bend - HINGES, 0.0, 1.0)


@inner
def trunk_pose(m, angles, heading, n, share, twist):  # type: ignore[no-untyped-def]
    """Wanted rotation in the world of the n-th bone of the trunk.

    R_z(heading + twist) R_x(side) R_y(bend), by the trajectories of the style.

    Args:
      n: 0 pelvis, 1 lower back, 2 torso, 3 head.
      share: of the wished bend that this bone has.
      twist: share of the twist ahead of a turn.
    """
    mirror = 1.0 if m.stance == LEFT else -1.0
    j = TRUNK + 3 * n
    q = multiply(about(2, heading + mirror * angles[j + 2] + twist * m.twist), about(0, mirror * angles[j + 1]))
    return multiply(q, about(1, angles[j] + share * m.bend))


@inner
def rotation_of(f, body, i, bone):  # type: ignore[no-untyped-def]
    """A bone's rotation in the world, (w, x, y, z), a copy."""
    q = f.xquat[i, body.ids[bone]]
    return (q[0], q[1], q[2], q[3])


@inner
def _track(body, f, i, torque, bone, wanted):  # type: ignore[no-untyped-def]
    """PD torque of a ball joint towards a rotation in the world."""
    error = turn_between(rotation_of(f, body, i, bone), wanted)
    spin = spin_of(body, f.xaxis[i], f.qvel[i], bone)
    put(torque, bone, sub(scale(body.stiffness[bone], error), scale(body.resist[bone], spin)))


@inner
def track_hinge(body, f, i, torque, bone, wanted, speed, gain):  # type: ignore[no-untyped-def]
    """PD torque of a hinge towards an angle and its speed; gain is a factor on its stiffness."""
    j = body.joint[bone]
    error = wanted - f.qpos[i, body.angle[j]]
    damping = math.sqrt(gain) * body.resist[bone]
    push = gain * body.stiffness[bone] * error + damping * (speed - f.qvel[i, body.dof[j]])
    put(torque, bone, scale(push, vec(f.xaxis[i, j])))


@inner
def _track_foot(body, k, look, f, i, torque, foot, pitch, roll, flat):  # type: ignore[no-untyped-def]
    """PD torque of an ankle towards a pitch of the foot, toes down positive, and a roll, right side down positive.

    Where it must be flat when it lands, what is damped is its turning against the ground: else it turns with the shin.
    """
    q = rotation_of(f, body, i, foot)
    nose = turned(q, (1.0, 0.0, 0.0))
    yaw = math.atan2(nose[1], nose[0])
    error = turn_between(q, multiply(multiply(about(2, yaw), about(1, pitch)), about(0, roll)))
    spin = spin_of(body, f.xaxis[i], f.qvel[i], foot)
    if flat:
        for bone in range(foot - FOOT, foot):
            spin = add(spin, spin_of(body, f.xaxis[i], f.qvel[i], bone))
        spin = add(spin, look.spin)
    side = (-math.sin(yaw), math.cos(yaw), 0.0)
    push = sub(scale(body.stiffness[foot], error), scale(body.resist[foot], spin))
    along = dot(push, side)
    weak = k.joints.ankle_side_stiffness / k.joints.ankle_stiffness
    put(torque, foot, add(scale(along, side), scale(weak, sub(push, scale(along, side)))))


@inner
def _track_hand(body, holds, k, m, look, f, i, torque, side, swung, bent):  # type: ignore[no-untyped-def]
    """PD torques of an arm towards its target, or between that and the style's pose while it leaves or comes back."""
    arm, blend = ARMS + 2 * side, m.hand_blend[side]
    spin = spin_of(body, f.xaxis[i], f.qvel[i], arm)
    now = rotation_of(f, body, i, arm)
    pose, rate, elbow, speed = reach(body, holds, k, m, look, f, i, side, chest_spin_of(body, look, f, i))
    error = add(scale(blend, turn_between(now, pose)), scale(1.0 - blend, turn_between(now, swung)))
    loaded = 1.0 + m.carried * mass_of(holds, m, side) / (k.hands.firm_load * body.scale)
    gain = 1.0 + blend * (k.hands.reach_gain * loaded - 1.0)
    off = scale(math.sqrt(gain) * body.resist[arm], sub(scale(blend, rate), spin))
    put(torque, arm, add(scale(gain * body.stiffness[arm], error), off))
    track_hinge(body, f, i, torque, arm + 1, blend * elbow + (1.0 - blend) * bent, blend * speed, gain)


@inner
def _placed_knee(body, m, f, i, side):  # type: ignore[no-untyped-def]
    """Angle and speed, rad and rad/s, of a stance knee that carries its hip as high as a placed step wants it.

    With hip and ankle c apart, c^2 = a^2 + b^2 + 2 a b cos(knee): knee' = -c c' / (a b sin(knee)).
    """
    line = sub(vec(f.xanchor[i, body.joint[LEGS + 4 * side + THIGH]]), ankle_of(body, f, i, side))
    high = line[2] + m.hip_height - f.xanchor[i, body.joint[LEGS + 4 * side + THIGH], 2]
    thigh, shin = body.legs.thigh[side], body.legs.shin[side]
    far = math.sqrt(line[0] * line[0] + line[1] * line[1] + high * high)
    knee = knee_for(thigh, shin, min(far, STRAIGHTEST * (thigh + shin)))
    way = line[0] * f.qvel[i, 0] + line[1] * f.qvel[i, 1] + high * m.hip_speed
    rate = -way / (thigh * shin * max(math.sin(knee), LEAST_SINE))
    return knee, clamp(rate, -FASTEST_KNEE, FASTEST_KNEE)


@inner
def _stance_knee(body, k, m, look, f, i, angles, side):  # type: ignore[no-untyped-def]
    """Wanted angle of a stance knee: the style's, a crouch's, and more in a leg that is longer than the other."""
    knee = max(angles[STANCE_KNEE], 0.0) + m.crouch
    if m.mode == Mode.DOUBLE_SUPPORT and side != m.stance:
        knee = m.crouch * clamp(
            1.0 - STRAIGHTENS * capture_shortfall(body, k, m, look, f, i) / body.size, 0.0, 1.0
        )  # it pushes off
    elif crosses(body, m):
        knee = m.crouch  # straight before what it would hit
    if body.legs.extra_knee[side] < LONGER:
        return knee
    reach = leg_reach(body.legs.thigh[side], body.legs.shin[side], knee) - body.legs.extra_knee[side]
    return knee_for(body.legs.thigh[side], body.legs.shin[side], reach)


@inner
def _push_off(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """rad that the hind foot is pressed down: on both feet, and before the other one lands far beyond something.

    The hips stay high then: the landing takes less of the speed. Close before something the shin would touch it.
    """
    upright = m.bend < BENT and not loaded(body, look)
    if m.mode == Mode.DOUBLE_SUPPORT:
        presses = PLACED_PRESSES if m.placed else PRESSES
        push = k.crossing.push_off * clamp(presses * capture_shortfall(body, k, m, look, f, i) / body.size, 0.0, 1.0)
        return max(push, k.crossing.strike_push) if m.clock < 0.0 and upright else push
    if not crosses(body, m) or m.trailing or not upright:
        return 0.0
    ankle = ankle_of(body, f, i, m.stance)
    length = (m.foothold[0] - ankle[0]) * math.cos(m.heading) + (m.foothold[1] - ankle[1]) * math.sin(m.heading)
    before = m.clear_from - ankle[0] * math.cos(m.heading) - ankle[1] * math.sin(m.heading)
    room = before / (m.obstacle_top - m.ground)
    late = clamp((m.phase - k.crossing.push_from) / (1.0 - k.crossing.push_from), 0.0, 1.0)
    far = clamp((length / body.size - PUSHES[0]) / (PUSHES[1] - PUSHES[0]), 0.0, 1.0)
    return k.crossing.push_off * late * far * clamp((room - ROOM[0]) / (ROOM[1] - ROOM[0]), 0.0, 1.0)


@inner
def _lands_flat(body, k, m, look):  # type: ignore[no-untyped-def]
    """Whether the swing foot must land flat: on a stone, and on its way to a stop, where a heel would speed it up."""
    if m.placed and m.planned:
        return True
    if loaded(body, look) or m.halt != Halt.WANTED or not m.planned:
        return False
    return m.level_step or (m.trailing and crosses(body, m) and m.phase > k.crossing.flat_from)


@inner
def hold(body, holds, k, m, look, f, i, angles, torque):  # type: ignore[no-untyped-def]
    """PD torques of trunk, arms, stance knees, feet and toes."""
    back = BACK_BEND + BACK_HINGE * hinge(m)
    _track(body, f, i, torque, BACK, trunk_pose(m, angles, look.heading, 1, back, BACK_TWIST))
    _track(body, f, i, torque, TORSO, trunk_pose(m, angles, look.heading, 2, 1.0, CHEST_TWIST))
    _track(body, f, i, torque, HEAD, trunk_pose(m, angles, look.heading, 3, 1.0, HEAD_TWIST))
    for side in range(2):
        _hold_arm(body, holds, k, m, look, f, i, angles, torque, side)
    for side in range(2):
        _hold_leg(body, k, m, look, f, i, angles, torque, side)


@inner
def _hold_arm(body, holds, k, m, look, f, i, angles, torque, side):  # type: ignore[no-untyped-def]
    """Swing an arm as the style does, or bring it to its target."""
    j = STANCE_ARM if side == m.stance else SWING_ARM
    mirror = 1.0 if side == LEFT else -1.0
    arm = ARMS + 2 * side
    pose = multiply(about(1, -angles[j] * angles[ARM_SPEED]), about(0, mirror * angles[j + 1]))
    pose = multiply(rotation_of(f, body, i, TORSO), multiply(pose, about(2, mirror * angles[j + 2])))
    if m.hand_blend[side] > 0.0:
        _track_hand(body, holds, k, m, look, f, i, torque, side, pose, angles[j + 3])
    else:
        _track(body, f, i, torque, arm, pose)
        track_hinge(body, f, i, torque, arm + 1, angles[j + 3], 0.0, 1.0)


@inner
def _hold_leg(body, k, m, look, f, i, angles, torque, side):  # type: ignore[no-untyped-def]
    """Pitch of a foot, toe, and the knee of a leg that stands."""
    leg, stance = LEGS + 4 * side, m.stance
    stands = side == stance or m.mode != Mode.WALK
    pitch = angles[STANCE_ANKLE if stands else SWING_ANKLE] * angles[ANKLE_SPEED]
    if not stands and crosses(body, m):
        pitch = TOES_UP
    flat = not stands and _lands_flat(body, k, m, look)
    if flat:
        pitch = 0.0
    if m.mode == Mode.DOUBLE_SUPPORT and side != stance:
        pitch = _push_off(body, k, m, look, f, i)
    elif m.mode == Mode.WALK and side == stance:
        pitch += _push_off(body, k, m, look, f, i)
    pitch += m.foot_tilts[side, 0]
    _track_foot(body, k, look, f, i, torque, leg + FOOT, pitch, m.foot_tilts[side, 1], flat)
    track_hinge(body, f, i, torque, leg + TOE, angles[STANCE_TOE if stands else SWING_TOE], 0.0, 1.0)
    if stands:
        steps = m.mode == Mode.WALK or (m.mode == Mode.DOUBLE_SUPPORT and m.duck_crouch > 0.0)
        bent = 0.0 if steps else m.crouch
        # on two bent legs that are springs it rolls over
        firm = 1.0 + (k.joints.crouch_gain - 1.0) * min(bent / FIRM_CROUCH, 1.0)
        if m.placed and side == stance and (m.mode == Mode.WALK or m.mode == Mode.DOUBLE_SUPPORT):
            knee, speed = _placed_knee(body, m, f, i, side)
            track_hinge(body, f, i, torque, leg + SHIN, knee, speed, k.crossing.placed_firmness)
            return
        track_hinge(body, f, i, torque, leg + SHIN, _stance_knee(body, k, m, look, f, i, angles, side), 0.0, firm)
