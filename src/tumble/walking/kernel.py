"""The compiled control of all rows: look, follow the wishes, decide, swing, hold, balance (coros2010 figure 5.1)."""

import math
from typing import NamedTuple

import numpy as np

from tumble.maths.bundles import on_stack
from tumble.maths.compiled import entry, inner
from tumble.maths.vectors import add, clamp, cross, dot, scale, shortened, sub, turn_between, turned, vec
from tumble.walking.balance import (
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
from tumble.walking.body import BACK, BONES, FOOT, LEGS, PELVIS, SHIN, THIGH, Body, Fields
from tumble.walking.crossing import heed
from tumble.walking.hands import busy, close_grips, follow_hands, use_hands
from tumble.walking.memory import PASS, SHIFT, STAND, WALK
from tumble.walking.pose import generate, hinge, hold, rotation_of, trunk_pose
from tumble.walking.settings import WalkSettings
from tumble.walking.steps import crosses, decide, foot_place, gait, inside, lack, pendulum_rate
from tumble.walking.style import TRAJECTORIES, Styles
from tumble.walking.swing import swing
from tumble.walking.terrain import Terrain
from tumble.walking.wishes import follow, look_at, stand_width


class Rows(NamedTuple):
    """All that `control_rows` reads and writes."""

    body: Body
    terrain: Terrain | None
    k: WalkSettings
    styles: Styles
    fields: Fields
    torque: np.ndarray  # scratch, (bones, 3) N m
    angles: np.ndarray  # scratch, (trajectories,)
    out: np.ndarray  # (rows, motors)


def rows_of(
    body: Body, terrain: Terrain | None, k: WalkSettings, styles: Styles, fields: Fields, out: np.ndarray
) -> Rows:
    """With scratch of its own."""
    return Rows(body, terrain, k, styles, fields, np.zeros((len(BONES), 3)), np.zeros(len(TRAJECTORIES)), out)


@inner
def _idle(k, m):  # type: ignore[no-untyped-def]
    """Share of the way from the feet's middle to a foot to which the weight is shifted, -1 to 1 (section 5.5.1)."""
    if busy(m):
        return 0.0
    late = m.clock - k.stand.idle_after
    return k.stand.idle_shift * math.sin(2.0 * math.pi * late / k.stand.idle_period) if late > 0.0 else 0.0


@inner
def _virtual_force(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Force, N ahead and to the left, that is wanted on the centre of mass (sections 5.3.3 and 5.5.1)."""
    stance = int(m.stance)
    foot = foot_place(body, f, i, stance)
    inwards = -1.0 if stance == 0 else 1.0  # from the stance foot towards the other one, along the left
    if m.mode == WALK:
        speed, place, drift = gait(m, pendulum_rate(body, look, foot), min(m.phase, 1.0) * m.period)
        off = dot(sub(look.com, foot), look.left)
        if m.planned == 1.0:
            speed = m.tuned_speed
        rate = pendulum_rate(body, look, foot)
        ahead = k.tuning.speed_gain * ((m.speed if k.placement.fixed_alpha else speed) - look.speed)
        side = k.tuning.side_stiffness * (place - off) + k.tuning.side_damping * (drift - look.drift)
        if crosses(body, m):  # over its foot, until just before the other one lands
            rest = inwards * m.step_width * math.exp(-rate * m.time_left)
            side = 2.0 * k.tuning.side_stiffness * (rest - off - look.drift / rate)
    else:
        other = foot_place(body, f, i, 1 - stance)
        share = 0.5 if m.mode == STAND else 1.0
        middle = add(scale(share, foot), scale(1.0 - share, other))
        off = sub(look.com, middle)
        middle_of_sole = 0.5 * (body.ball[stance] - body.heel[stance]) - body.sole_middle[stance]
        out = dot(off, look.ahead) + look.pushed - middle_of_sole
        m.lean_integral = clamp(m.lean_integral + body.dt * out, -0.04, 0.04) if busy(m) else 0.0
        gain = k.stand.busy_gain if busy(m) or m.halt == 2.0 else 1.0
        ahead = -gain * (
            k.stand.stiffness * out + k.stand.damping / math.sqrt(gain) * look.speed + 20.0 * m.lean_integral
        )
        if m.mode == PASS:
            rate = pendulum_rate(body, look, foot)
            ahead = k.tuning.speed_gain * rate * (lack(body, k, m, look, f, i) + 0.03 * body.size)
        aim = inwards * inside(body, k, m)
        if m.mode == STAND:
            aim = _idle(k, m) * 0.5 * dot(sub(foot, other), look.left)
        side = -k.stand.side_stiffness * (dot(off, look.left) - aim) - k.stand.side_damping * look.drift
    scale_up = body.scale * look.total / body.total
    most_ahead = (k.tuning.ahead_force if m.mode == WALK else k.stand.ahead_force) * scale_up
    most_side = (k.stand.side_force if m.mode == STAND else k.tuning.side_force) * scale_up
    if m.halt == 2.0 and m.bend > 0.3:  # a foot that bears little slides under a bent trunk
        if m.mode == STAND:
            most_side = k.crossing.stoop_force * scale_up
        elif m.mode == SHIFT and side * inwards < 0.0:
            most_side = k.crossing.poise_force * scale_up
    ahead = clamp(look.total * ahead, -most_ahead, most_ahead)
    side = clamp(look.total * side, -most_side, most_side)
    return ahead, side


@inner
def _stance_share(body, m, look, f, i, push):  # type: ignore[no-untyped-def]
    """Share of the load that the leg of m.stance carries, by the lever rule between the feet."""
    stance = int(m.stance)
    if not look.touching[1 - stance]:
        return 1.0
    if not look.touching[stance]:
        return 0.0
    a, b = foot_place(body, f, i, stance), foot_place(body, f, i, 1 - stance)
    line = sub(a, b)
    if m.mode != WALK:  # ahead and back it is where in each sole the load is: only aside it goes from foot to foot
        line = scale(dot(line, look.left), look.left)
    length = line[0] * line[0] + line[1] * line[1]
    if length < 1e-4:
        return 0.5
    off = sub(look.com, b)
    if m.halt == 2.0:  # who shifts its weight stands on the foot that it pushes off from
        off = sub(off, scale(push / look.total * off[2] / body.gravity, look.left))
    return clamp((off[0] * line[0] + off[1] * line[1]) / length, 0.0, 1.0)


@inner
def _keep_apart(body, k, m, look, f, i, side):  # type: ignore[no-untyped-def]
    """Hip torque of a spring that keeps feet, which a light load lets slip, from creeping together in a stand."""
    mine, other = foot_place(body, f, i, side), foot_place(body, f, i, 1 - side)
    apart = dot(sub(mine, other), look.left) * (1.0 if side == 0 else -1.0)
    stiffness = k.stand.apart_stiffness * body.scale * (1.0 + 4.0 * m.crouch)
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
    if size < 0.02 * body.leg:
        return
    noses = add(
        turned(rotation_of(f, body, i, LEGS + FOOT), (1.0, 0.0, 0.0)),
        turned(rotation_of(f, body, i, LEGS + 4 + FOOT), (1.0, 0.0, 0.0)),
    )
    yaw = math.atan2(noses[1], noses[0]) + (k.joints.knee_out if leg == LEGS else -k.joints.knee_out)
    wanted = cross(line, (math.cos(yaw), math.sin(yaw), 0.0))
    turn = math.atan2(dot(cross(side, wanted), line), dot(side, wanted))
    spin = dot(add(look.spin, spin_of(body, f.xaxis[i], f.qvel[i], leg + THIGH)), line)
    gain = body.scale * min(size / (0.1 * body.leg), 1.0)
    put(torque, leg + THIGH, scale(gain * (k.joints.knee_stiffness * turn - k.joints.knee_turn_damping * spin), line))


@inner
def _push(body, k, m, look, f, i, torque, leg, ahead, left, load):  # type: ignore[no-untyped-def]
    """Velocity tuning through one stance leg that carries `load` N: a force ahead and to the left, N."""
    planted = 1.0
    if m.mode == WALK:  # the foot rolls on after it landed and before it leaves
        planted = clamp(10.0 * m.phase - 1.0, 0.0, 1.0) * clamp(9.0 - 10.0 * m.phase, 0.0, 1.0)
    nose = turned(rotation_of(f, body, i, leg + FOOT), (1.0, 0.0, 0.0))
    planted *= clamp(1.5 - 10.0 * abs(nose[2]), 0.0, 1.0)
    spin = look.spin
    for bone in range(leg, leg + FOOT + 1):
        spin = add(spin, spin_of(body, f.xaxis[i], f.qvel[i], bone))
    ankle = vec(f.xanchor[i, body.joint[leg + FOOT]])
    height = max(look.com[2] - ankle[2], 0.2 * body.leg)
    if m.mode != WALK:  # on both feet the hips shift the weight from one to the other
        put(torque, leg + THIGH, cross((0.0, 0.0, height), scale(left, look.left)))
        if m.mode != PASS:
            put(torque, leg + THIGH, _keep_apart(body, k, m, look, f, i, (leg - LEGS) // 4))
            left = 0.0
        elif (leg - LEGS) // 4 != int(m.stance):
            ahead = left = 0.0
    ahead, left = firm_force(
        body, (leg - LEGS) // 4, height, ahead, left, dot(spin, look.left), dot(spin, look.ahead), load, planted
    )
    tune_velocity(body, k, torque, f.xanchor[i], f.xipos[i], leg, add(scale(ahead, look.ahead), scale(left, look.left)))


@inner
def _balance(body, k, m, look, f, i, angles, torque):  # type: ignore[no-untyped-def]
    """Hand torques up, carry the weight of what hangs, push the body, keep the pelvis upright."""
    stance = int(m.stance)
    walking = m.mode == WALK
    bubble_up(body, torque, walking, stance)
    if k.parts.gravity_compensation:
        for bone in range(BACK, LEGS):
            add_gravity(body, torque, f.subtree_com[i], f.xanchor[i], bone)
        if walking:
            for bone in range(LEGS + 4 * (1 - stance), LEGS + 4 * (1 - stance) + 4):
                add_gravity(body, torque, f.subtree_com[i], f.xanchor[i], bone)
    use_hands(body, k, m, f, i, torque)
    swing_leg = LEGS + 4 * (1 - stance)
    force = _virtual_force(body, k, m, look, f, i) if k.parts.velocity_tuning else (0.0, 0.0)
    share = _stance_share(body, m, look, f, i, force[1])
    grounded = look.touching[0] or look.touching[1]
    wanted = trunk_pose(m, angles, m.heading, 0, 0.3 + 0.5 * hinge(m), 0.0)
    error = turn_between(rotation_of(f, body, i, PELVIS), wanted)
    makeup = scale(-1.0, root_torque(k, body, error, look.spin))
    carried = vec(torque[BACK])
    if walking:
        carried = add(carried, vec(torque[swing_leg + THIGH]))
    makeup = sub(makeup, carried)
    if m.haul != 0.0 or (walking and crosses(body, m)):  # more would spin the foot on the ground
        most = k.steps.foot_twist * look.total * body.gravity
        makeup = (makeup[0], makeup[1], clamp(makeup[2], -most, most))
    level = 0.0
    if not walking:  # on two loaded legs the pelvis is level by itself, and a torque would make the body sway
        level = clamp(6.0 * share * (1.0 - share), 0.0, 1.0) * dot(makeup, look.ahead)
        makeup = sub(makeup, scale(level, look.ahead))
    weight = k.tuning.edge_share * look.total * body.gravity
    for side in range(2):
        part = share if side == stance else 1.0 - share
        if not grounded or part <= 0.0:
            continue
        leg = LEGS + 4 * side
        put(torque, leg + THIGH, scale(part, makeup))
        bent = clamp(5.0 * m.crouch, 0.0, 1.0)
        if body.extra_knee[side] > 1e-3 or (walking and m.crouch > 1e-3):
            bent = 1.0
        if bent > 0.0 and (not walking or side == stance):
            weight_above = body.gravity * (look.total - body.above[leg + THIGH])
            # bent legs do not level the pelvis by themselves
            lift = clamp(level / body.hips, -0.4 * weight_above, 0.4 * weight_above)
            push_up(body, torque, f.xanchor[i], leg, bent * (part * weight_above + (-lift if side == 0 else lift)))
        if m.crouch > 0.0 and not walking:
            _point_knee(body, k, look, f, i, torque, leg)
        if walking and side != stance:
            continue
        if look.touching[side]:
            part = 1.0 if walking else part
            _push(body, k, m, look, f, i, torque, leg, part * force[0], part * force[1], part * weight)
        if walking:
            hip_damping(
                torque, leg, spin_of(body, f.xaxis[i], f.qvel[i], leg + THIGH), k.joints.hip_damping * body.scale
            )


@inner
def _project(body, m, f, i, torque, out):  # type: ignore[no-untyped-def]
    """Torque vectors to fractions of the motors' strengths; the engine's damping is given back.

    The engine integrates the joints' damping implicitly, which keeps light feet stable at large steps; what
    it takes, -D w, is in the control already, so that the law is the thesis's, k_p e - k_d w.
    """
    height = f.qpos[i, 2] - m.ground
    fade = clamp((height - 0.25 * body.leg) / (0.2 * body.leg), 0.0, 1.0)
    for bone in range(BACK, LEGS + 8):
        for j in range(body.joint[bone], body.joint[bone] + body.joints[bone]):
            push = dot(vec(torque[bone]), vec(f.xaxis[i, j])) + body.damping[j] * f.qvel[i, body.dof[j]]
            out[i, body.motor[j]] = clamp(fade * push / body.strength[j], -1.0, 1.0)


@entry
def control_rows(rows):  # type: ignore[no-untyped-def]
    """Controls of all rows into `rows.out`, see `Rows`; the rows' memory moves on by a step."""
    body, terrain, k, styles, fields = rows.body, rows.terrain, rows.k, rows.styles, rows.fields
    torque, angles, out = rows.torque, rows.angles, rows.out
    for i in range(out.shape[0]):
        memory = fields.memory[i]
        follow_hands(body, k, memory, fields, i)
        look = on_stack(look_at(body, k, memory, fields, i))
        follow(body, k, styles, memory, look)
        decide(body, k, memory, look, fields, i)
        heed(body, terrain, k, memory, look, fields, i)
        generate(styles, memory, angles)
        torque[:] = 0.0
        hold(body, k, memory, look, fields, i, angles, torque)
        if memory.mode == WALK:
            swing(body, terrain, k, styles, memory, look, fields, i, angles, torque)
        _balance(body, k, memory, look, fields, i, angles, torque)
        _project(body, memory, fields, i, torque, out)
        close_grips(body, memory, i, out)
