"""Hands that reach and hold: wishes of arms, grips and loads, and the torques they ask for (coros2010 5.3.5, 5.5.4)."""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, clamp, cross, dot, scale, shortened, sub, turn_between, vec
from tumble.walking.balance import put, spin_of
from tumble.walking.body import ARMS, BACK, TORSO
from tumble.walking.legs import arm_pose
from tumble.walking.memory import BODY, FREE
from tumble.world.grips import PARTS


@inner
def _towards(value, wish, step):  # type: ignore[no-untyped-def]
    return value + clamp(wish - value, -step, step)


@inner
def follow_hands(body, k, m, f, i):  # type: ignore[no-untyped-def]
    """Bring crouch, load and arms nearer to what is wished; feel what is held; let go of what pulls too hard."""
    m.alpha = _towards(m.alpha, m.wish_alpha, 0.4 * body.dt)
    m.haul = _towards(m.haul, m.wish_haul, k.hands.haul_rate * body.dt)
    held, pull = 0.0, (0.0, 0.0, 0.0)
    for side in range(2):
        m.hand_blend[side] = _towards(
            m.hand_blend[side], 0.0 if m.hand_frame[side] == FREE else 1.0, body.dt / k.hands.reach_time
        )
        if m.hand_grip[side] == 0.0:
            m.hand_firm[side] = 0.0
            continue
        m.hand_firm[side] = _towards(m.hand_firm[side], 1.0, body.dt / k.hands.grip_time)
        grip = int(m.hand_grip[side]) - 1
        stretch = sub(vec(f.site_xpos[i, body.palm[side]]), vec(f.site_xpos[i, body.handle[grip]]))
        if (
            m.hand_firm[side] * body.grip_stiffness * math.sqrt(dot(stretch, stretch))
            > k.hands.grip_breaks * body.scale
        ):
            m.hand_grip[side] = 0.0
        pull = sub(pull, scale(m.hand_firm[side] * body.grip_stiffness, stretch))
        held = max(held, body.crate_mass[body.grip_crate[grip]])
    share = min(body.dt / k.hands.carry_time, 1.0)
    along = math.cos(m.heading) * pull[0] + math.sin(m.heading) * pull[1]
    m.pulled += share * (along - m.pulled)
    if held == 0.0:
        m.load = m.carried = m.haul = 0.0
        return
    m.load = _towards(m.load, m.wish_load, k.hands.load_rate / held * body.dt)
    m.carried += share * (clamp(-pull[2] / (held * body.gravity), 0.0, 1.2) - m.carried)


@inner
def busy(m):  # type: ignore[no-untyped-def]
    """Whether it crouches or an arm has something to do."""
    return m.crouch > 0.0 or m.hand_blend[0] > 0.0 or m.hand_blend[1] > 0.0


@inner
def held_by(body, m, side):  # type: ignore[no-untyped-def]
    """Number of the crate that a hand holds, or -1."""
    grip = int(m.hand_grip[side])
    return body.grip_crate[grip - 1] if grip > 0 else -1


@inner
def mass_of(body, m, side):  # type: ignore[no-untyped-def]
    """kg that a hand holds: half of a crate that both hold (section 5.5.4)."""
    crate = held_by(body, m, side)
    if crate < 0:
        return 0.0
    return (0.5 if held_by(body, m, 1 - side) == crate else 1.0) * body.crate_mass[crate]


@inner
def _crate_velocity(body, f, i, crate):  # type: ignore[no-untyped-def]
    dof = body.crate_dof[crate]
    return (f.qvel[i, dof], f.qvel[i, dof + 1], f.qvel[i, dof + 2])


@inner
def with_load(body, m, f, i, com, velocity):  # type: ignore[no-untyped-def]
    """Mass, centre of mass and its velocity of the body with what hangs on its hands."""
    total = body.total
    for side in range(2):
        mass = m.carried * mass_of(body, m, side)
        if mass <= 0.0:
            continue
        crate = held_by(body, m, side)
        share = mass / (total + mass)
        place = vec(f.xipos[i, body.crate_body[crate]])
        moving = _crate_velocity(body, f, i, crate)
        com = add(com, scale(share, sub(place, com)))
        velocity = add(velocity, scale(share, sub(moving, velocity)))
        total += mass
    return total, com, velocity


@inner
def pull_lever(body, m, f, i):  # type: ignore[no-untyped-def]
    """Height of the hands above the ground that is stepped on, m."""
    left, right = f.site_xpos[i, body.palm[0], 2], f.site_xpos[i, body.palm[1], 2]
    return max(0.5 * (left + right) - m.ground, 0.0)


@inner
def _target(body, m, look, f, i, side):  # type: ignore[no-untyped-def]
    """Where a hand is wanted in the world, and how fast that place moves, m and m/s."""
    place = (m.hand_target[side, 0], m.hand_target[side, 1], m.hand_target[side, 2])
    if m.hand_frame[side] != BODY:
        return place, (0.0, 0.0, 0.0)
    flat = add(scale(place[0], look.ahead), scale(place[1], look.left))
    target = add(vec(f.qpos[i]), (flat[0], flat[1], place[2]))
    crate = held_by(body, m, side)
    if m.haul >= 0.0 or crate < 0:
        return target, vec(f.qvel[i])
    # a hand that pulls goes along with the crate, but sideways: an arm that is a spring between two bodies swings in
    # step with the walk, and its force is not the one that the feet count on
    palm = vec(f.site_xpos[i, body.palm[side]])
    return add(palm, scale(dot(sub(target, palm), look.left), look.left)), _crate_velocity(body, f, i, crate)


@inner
def hand_force(body, k, m, f, i, side):  # type: ignore[no-untyped-def]
    """N along the way with which a hand that holds something pushes; below 0 it pulls.

    A push is half of what is wished. A pull is that where the hand is as far out as its target; less the nearer it is,
    so that the body is never drawn to a crate that it does not lean away from; and whatever brings the crate to the
    speed of the walk, without which it would come in jerks.
    """
    if m.haul >= 0.0:
        return 0.5 * m.haul
    way = (math.cos(m.heading), math.sin(m.heading), 0.0)
    out = dot(sub(vec(f.site_xpos[i, body.palm[side]]), vec(f.qpos[i])), way) - m.hand_target[side, 0]
    share = (
        clamp(1.0 + out / (k.hands.pull_slack * body.size), 0.0, k.hands.pull_most)
        if m.hand_frame[side] == BODY
        else 1.0
    )
    off = m.speed - dot(_crate_velocity(body, f, i, held_by(body, m, side)), way)
    force = 0.5 * share * m.haul + min(share, 1.0) * k.hands.pull_damping * mass_of(body, m, side) * off
    return clamp(force, 0.5 * k.hands.pull_most * m.haul, 0.0)


@inner
def reach(body, k, m, look, f, i, side, chest_spin):  # type: ignore[no-untyped-def]
    """Wanted rotation of an upper arm, its angular velocity against the chest, elbow and its speed (section 5.3.5)."""
    arm = ARMS + 2 * side
    out = 1.0 if side == 0 else -1.0
    plane = add(scale(0.9, look.left), (0.0, 0.0, 0.45 * out))  # elbows point down and out
    shoulder = vec(f.xanchor[i, body.joint[arm]])
    target, moving = _target(body, m, look, f, i, side)
    pose, elbow = arm_pose(shoulder, target, body.upper[side], body.fore[side], plane, 0.99)
    later = 0.005  # the same a moment later, for the wanted speeds
    shoulder = add(shoulder, scale(later, look.velocity))
    target = add(target, scale(later, moving))
    next_pose, next_elbow = arm_pose(shoulder, target, body.upper[side], body.fore[side], plane, 0.99)
    rate = shortened(scale(1.0 / later, turn_between(pose, next_pose)), k.steps.swing_rate)
    return (
        pose,
        sub(rate, chest_spin),
        elbow,
        clamp((next_elbow - elbow) / later, -k.steps.swing_rate, k.steps.swing_rate),
    )


@inner
def use_hands(body, k, m, f, i, torque):  # type: ignore[no-untyped-def]
    """Lift, push or pull what the hands hold: a force at each palm, through arms and back (section 5.5.4)."""
    # along the way, not where a swaying pelvis faces: a crate would be pushed to and fro
    way = (math.cos(m.heading), math.sin(m.heading), 0.0)
    for side in range(2):
        mass = mass_of(body, m, side)
        if mass <= 0.0:
            continue
        force = add(scale(hand_force(body, k, m, f, i, side), way), (0.0, 0.0, m.load * mass * body.gravity))
        arm, palm = ARMS + 2 * side, vec(f.site_xpos[i, body.palm[side]])
        for bone in (arm + 1, arm, TORSO, BACK):
            lever = sub(palm, vec(f.xanchor[i, body.joint[bone]]))
            put(torque, bone, cross(lever, force))


@inner
def close_grips(body, m, i, out):  # type: ignore[no-untyped-def]
    """Controls of all grips: those that hands hold by are closed."""
    for grip in range(body.handle.size):
        for part in range(PARTS):
            out[i, body.grip + PARTS * grip + part] = 0.0
    for side in range(2):
        grip = int(m.hand_grip[side]) - 1
        if grip >= 0:
            for part in range(PARTS):
                out[i, body.grip + PARTS * grip + part] = m.hand_firm[side]


@inner
def chest_spin_of(body, look, f, i):  # type: ignore[no-untyped-def]
    """Angular velocity of the torso in the world, rad/s."""
    back = spin_of(body, f.xaxis[i], f.qvel[i], BACK)
    return add(look.spin, add(back, spin_of(body, f.xaxis[i], f.qvel[i], TORSO)))
