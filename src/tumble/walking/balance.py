"""Balance: what the stance legs do for the pelvis, the trunk and the virtual force (coros2010 5.3.3, 5.3.4).

Three sums of torques: tau_i = J_i^T F_i with F_i = -m_i g for every link that hangs (gravity compensation), tau_V =
J_V^T F_V with F_V = k_V (V_d - V) through the stance legs (velocity tuning), and what the pelvis needs to stay upright,
given by the stance hips (eq. 2.3). Torques are N m in the world's axes, (bones, 3), added to what is there.

On both feet each leg gets its share of the last two, by how much of the load it bears; a foot that does not touch the
ground gets none of the virtual force.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, clamp, cross, dot, scale, shortened, sub, turn_between, turned, vec
from tumble.walking.body import BACK, FOOT, LEGS, PELVIS, SHIN, THIGH
from tumble.walking.force import stance_share, virtual_force
from tumble.walking.holding import use_hands
from tumble.walking.memory import Mode
from tumble.walking.pose import PELVIS_BEND, PELVIS_HINGE, hinge, rotation_of, trunk_pose
from tumble.walking.steps import crosses, foot_place, stand_width
from tumble.walking.torques import (
    add_gravity,
    bubble_up,
    firm_force,
    hip_damping,
    push_up,
    put,
    root_torque,
    spin_of,
    tune_velocity,
)  # fmt: skip

# All ours.
CREEP_CROUCH = 4.0  # times stiffer that feet are kept apart, for each rad of a crouch
STRAIGHT, BENT = 0.02, 0.1  # of the leg's length that a knee is beside the line of hip and ankle: no plane; all of it
LOWEST = 0.2  # of the leg's length: the least height of the body above an ankle that is reckoned with
LEVELS = 6.0  # how soon two loaded legs level the pelvis by themselves: 1 from shares of 0.21 to 0.79
LIFTS = 0.4  # of the weight above that is shifted from leg to leg to level the pelvis
BENDS = 5.0  # of its weight that a leg pushes up for each rad of a crouch, at most all
LONGER = 1e-3  # m that a leg is longer, rad that knees are bent, from which on it pushes up whatever the crouch
ROLLS, LANDED, LEAVES = 10.0, 1.0, 9.0  # a foot is planted as far as ROLLS phase - LANDED, and LEAVES - ROLLS phase
TIPS, FLAT = 10.0, 1.5  # and as far as FLAT - TIPS times what its nose is up or down, of its length


@inner
def _keep_apart(body, k, m, look, f, i, side):  # type: ignore[no-untyped-def]
    """Hip torque of a spring that keeps feet, which a light load lets slip, from creeping together in a stand."""
    mine, other = foot_place(body, f, i, side), foot_place(body, f, i, 1 - side)
    apart = dot(sub(mine, other), look.left) * (1.0 if side == 0 else -1.0)
    stiffness = k.stand.apart_stiffness * body.scale * (1.0 + CREEP_CROUCH * m.crouch)
    force = stiffness * (stand_width(body, k) - apart) * (1.0 if side == 0 else -1.0)
    hip = vec(f.xanchor[i, body.joint[LEGS + 4 * side + THIGH]])
    return cross(sub(mine, hip), scale(force, look.left))


@inner
def _point_knee(body, k, look, f, i, torque, leg):  # type: ignore[no-untyped-def]
    """Hip torque that has a bent stance knee point where both feet do: nothing else holds a leg's turn about itself."""
    hip = vec(f.xanchor[i, body.joint[leg + THIGH]])
    line = shortened(sub(vec(f.xanchor[i, body.joint[leg + FOOT]]), hip), 1e-9)
    line = scale(1e9, line)
    side = cross(line, sub(vec(f.xanchor[i, body.joint[leg + SHIN]]), hip))  # across the leg's plane
    size = math.sqrt(dot(side, side))
    if size < STRAIGHT * body.leg:
        return
    noses = add(
        turned(rotation_of(f, body, i, LEGS + FOOT), (1.0, 0.0, 0.0)),
        turned(rotation_of(f, body, i, LEGS + 4 + FOOT), (1.0, 0.0, 0.0)),
    )
    yaw = math.atan2(noses[1], noses[0]) + (k.joints.knee_out if leg == LEGS else -k.joints.knee_out)
    wanted = cross(line, (math.cos(yaw), math.sin(yaw), 0.0))
    turn = math.atan2(dot(cross(side, wanted), line), dot(side, wanted))
    spin = dot(add(look.spin, spin_of(body, f.xaxis[i], f.qvel[i], leg + THIGH)), line)
    gain = body.scale * min(size / (BENT * body.leg), 1.0)
    push = gain * (k.joints.knee_stiffness * turn - k.joints.knee_turn_damping * spin)
    put(torque, leg + THIGH, scale(push, line))


@inner
def _push(body, k, m, look, f, i, torque, leg, ahead, left, load):  # type: ignore[no-untyped-def]
    """Velocity tuning through one stance leg that carries `load` N: a force ahead and to the left, N."""
    planted = 1.0
    if m.mode == Mode.WALK:  # the foot rolls on after it landed and before it leaves
        planted = clamp(ROLLS * m.phase - LANDED, 0.0, 1.0) * clamp(LEAVES - ROLLS * m.phase, 0.0, 1.0)
    nose = turned(rotation_of(f, body, i, leg + FOOT), (1.0, 0.0, 0.0))
    up = nose[2] + math.sin(m.foot_tilts[(leg - LEGS) // 4, 0])
    planted *= clamp(FLAT - TIPS * abs(up), 0.0, 1.0)
    spin = look.spin
    for bone in range(leg, leg + FOOT + 1):
        spin = add(spin, spin_of(body, f.xaxis[i], f.qvel[i], bone))
    ankle = vec(f.xanchor[i, body.joint[leg + FOOT]])
    height = max(look.com[2] - ankle[2], LOWEST * body.leg)
    if m.mode != Mode.WALK:  # on both feet the hips shift the weight from one to the other
        put(torque, leg + THIGH, cross((0.0, 0.0, height), scale(left, look.left)))
        if m.mode != Mode.DOUBLE_SUPPORT:
            put(torque, leg + THIGH, _keep_apart(body, k, m, look, f, i, (leg - LEGS) // 4))
            left = 0.0
        elif (leg - LEGS) // 4 != m.stance:
            ahead = left = 0.0
    ahead, left = firm_force(
        body, (leg - LEGS) // 4, height, ahead, left, dot(spin, look.left), dot(spin, look.ahead), load, planted
    )
    tune_velocity(body, k, torque, f.xanchor[i], f.xipos[i], leg, add(scale(ahead, look.ahead), scale(left, look.left)))


@inner
def _compensate_gravity(body, m, f, i, torque):  # type: ignore[no-untyped-def]
    """Hold up the trunk, the arms and a swing leg (section 5.3.4)."""
    for bone in range(BACK, LEGS):
        add_gravity(body, torque, f.subtree_com[i], f.xanchor[i], bone)
    if m.mode == Mode.WALK:
        leg = LEGS + 4 * (1 - m.stance)
        for bone in range(leg, leg + 4):
            add_gravity(body, torque, f.subtree_com[i], f.xanchor[i], bone)


@inner
def _root_makeup(body, k, m, look, f, i, angles, torque):  # type: ignore[no-untyped-def]
    """What the stance hips must give so that the pelvis gets its torque: -tau_root - tau_back - tau_swing (eq. 2.3)."""
    walking = m.mode == Mode.WALK
    wanted = trunk_pose(m, angles, m.heading, 0, PELVIS_BEND + PELVIS_HINGE * hinge(m), 0.0)
    error = turn_between(rotation_of(f, body, i, PELVIS), wanted)
    makeup = scale(-1.0, root_torque(k, body, error, look.spin))
    carried = vec(torque[BACK])
    if walking:
        carried = add(carried, vec(torque[LEGS + 4 * (1 - m.stance) + THIGH]))
    makeup = sub(makeup, carried)
    if m.haul != 0.0 or (walking and crosses(body, m)):  # more would spin the foot on the ground
        most = k.steps.foot_twist * look.total * body.gravity
        makeup = (makeup[0], makeup[1], clamp(makeup[2], -most, most))
    return makeup


@inner
def _push_up(body, m, look, f, i, torque, side, part, level):  # type: ignore[no-untyped-def]
    """Have a bent stance leg carry its part of the weight; bent legs do not level the pelvis by themselves.

    Args:
      part: share of the load that the leg carries.
      level: N m about the way ahead that the pelvis lacks to be level.
    """
    walking, leg = m.mode == Mode.WALK, LEGS + 4 * side
    bent = clamp(BENDS * m.crouch, 0.0, 1.0)
    if m.placed or body.legs.extra_knee[side] > LONGER or (walking and m.crouch > LONGER):
        bent = 1.0
    if bent > 0.0 and (not walking or side == m.stance):
        above = body.gravity * (look.total - body.above[leg + THIGH])
        lift = clamp(level / body.hips, -LIFTS * above, LIFTS * above)
        push_up(body, torque, f.xanchor[i], leg, bent * (part * above + (-lift if side == 0 else lift)))


@inner
def balance(body, holds, k, m, look, f, i, angles, torque):  # type: ignore[no-untyped-def]
    """Hand torques up, carry the weight of what hangs, push the body, keep the pelvis upright.

    Args:
      body, holds, k, m, look, f, i: see `tumble.walking`.
      angles: (trajectories,) of the motion generator.
      torque: (bones, 3) N m, with the PD torques of all joints but the stance hips'; changed in place.
    """
    walking = m.mode == Mode.WALK
    bubble_up(body, torque, walking, m.stance)
    if k.parts.gravity_compensation:
        _compensate_gravity(body, m, f, i, torque)
    use_hands(body, holds, k, m, f, i, torque)
    force = virtual_force(body, k, m, look, f, i) if k.parts.velocity_tuning else (0.0, 0.0)
    share = stance_share(body, m, look, f, i, force[1])
    makeup = _root_makeup(body, k, m, look, f, i, angles, torque)
    level = 0.0
    if not walking:  # on two loaded legs the pelvis is level by itself, and a torque would make the body sway
        level = clamp(LEVELS * share * (1.0 - share), 0.0, 1.0) * dot(makeup, look.ahead)
        makeup = sub(makeup, scale(level, look.ahead))
    weight = k.tuning.edge_share * look.total * body.gravity
    grounded = look.touching[0] or look.touching[1]
    for side in range(2):
        part = share if side == m.stance else 1.0 - share
        if not grounded or part <= 0.0:
            continue
        leg = LEGS + 4 * side
        put(torque, leg + THIGH, scale(part, makeup))
        _push_up(body, m, look, f, i, torque, side, part, level)
        if m.crouch > 0.0 and not walking:
            _point_knee(body, k, look, f, i, torque, leg)
        if walking and side != m.stance:
            continue
        if look.touching[side]:
            part = 1.0 if walking else part
            _push(body, k, m, look, f, i, torque, leg, part * force[0], part * force[1], part * weight)
        if walking:
            spin = spin_of(body, f.xaxis[i], f.qvel[i], leg + THIGH)
            hip_damping(torque, leg, spin, k.joints.hip_damping * body.scale)
