"""Grips, loads and hauling: what the hands hold, and the forces they ask for (coros2010 section 5.5.4).

A hand holds by a spring between palm and handle (`tumble.world.grips`), whose stretch tells what it carries and what
pulls it. What hangs on the hands counts as the body's own mass, m.carried of it; a force F at a palm becomes J^T F,
(palm - joint) x F, of every joint from elbow to lower back.

Where a scene has nothing to hold, `holds` is None and none of this is compiled.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, clamp, cross, dot, scale, sub, towards, vec
from tumble.walking.body import ARMS, BACK, TORSO
from tumble.walking.memory import HandFrame
from tumble.walking.torques import put
from tumble.world.grips import PARTS

MOST_CARRIED = 1.2  # of a weight that hangs on the hands, which a swinging crate is felt as; ours


@inner
def feel_hands(body, holds, k, m, f, i):  # type: ignore[no-untyped-def]
    """Close the hands, feel what they hold by the stretch of the grips, let go of what pulls too hard.

    Writes hand_firm, hand_grip (0 where it lets go), load, and smoothed over `carry_time` pulled and carried of the
    memory; without anything held, load, carried and haul are 0.
    """
    if holds is None:
        m.load = m.carried = m.haul = 0.0
        return
    held, pull = 0.0, (0.0, 0.0, 0.0)
    for side in range(2):
        if m.hand_grip[side] == 0:
            m.hand_firm[side] = 0.0
            continue
        m.hand_firm[side] = towards(m.hand_firm[side], 1.0, body.dt / k.hands.grip_time)
        grip = m.hand_grip[side] - 1
        stretch = sub(vec(f.site_xpos[i, body.arms.palm[side]]), vec(f.site_xpos[i, holds.handle[grip]]))
        force = m.hand_firm[side] * holds.grip_stiffness * math.sqrt(dot(stretch, stretch))
        if force > k.hands.grip_breaks * body.scale:
            m.hand_grip[side] = 0
        pull = sub(pull, scale(m.hand_firm[side] * holds.grip_stiffness, stretch))
        held = max(held, holds.crate_mass[holds.grip_crate[grip]])
    share = min(body.dt / k.hands.carry_time, 1.0)
    ahead = math.cos(m.heading) * pull[0] + math.sin(m.heading) * pull[1]
    m.pulled += share * (ahead - m.pulled)
    if held == 0.0:
        m.load = m.carried = m.haul = 0.0
        return
    m.load = towards(m.load, m.wish_load, k.hands.load_rate / held * body.dt)
    m.carried += share * (clamp(-pull[2] / (held * body.gravity), 0.0, MOST_CARRIED) - m.carried)


@inner
def held_by(holds, m, side):  # type: ignore[no-untyped-def]
    """Number of the crate that a hand holds, or -1."""
    if holds is None:
        return -1
    grip = m.hand_grip[side]
    return holds.grip_crate[grip - 1] if grip > 0 else -1


@inner
def mass_of(holds, m, side):  # type: ignore[no-untyped-def]
    """kg that a hand holds: half of a crate that both hold (section 5.5.4)."""
    if holds is None:
        return 0.0
    crate = held_by(holds, m, side)
    if crate < 0:
        return 0.0
    return (0.5 if held_by(holds, m, 1 - side) == crate else 1.0) * holds.crate_mass[crate]


@inner
def crate_velocity(holds, f, i, crate):  # type: ignore[no-untyped-def]
    """Of its centre, m/s."""
    if holds is None:
        return (0.0, 0.0, 0.0)
    dof = holds.crate_dof[crate]
    return (f.qvel[i, dof], f.qvel[i, dof + 1], f.qvel[i, dof + 2])


@inner
def with_load(body, holds, m, f, i, com, velocity):  # type: ignore[no-untyped-def]
    """Mass, centre of mass and its velocity of the body with what hangs on its hands.

    Each hand's mass m_h joins the rest M at x: x + m_h / (M + m_h) (x_h - x), and velocities alike.
    """
    total = body.total
    if holds is None:
        return total, com, velocity
    for side in range(2):
        mass = m.carried * mass_of(holds, m, side)
        if mass <= 0.0:
            continue
        crate = held_by(holds, m, side)
        share = mass / (total + mass)
        place = vec(f.xipos[i, holds.crate_body[crate]])
        moving = crate_velocity(holds, f, i, crate)
        com = add(com, scale(share, sub(place, com)))
        velocity = add(velocity, scale(share, sub(moving, velocity)))
        total += mass
    return total, com, velocity


@inner
def pull_moment(body, holds, k, m, f, i):  # type: ignore[no-untyped-def]
    """Moment, N m, by which what is held pulls the body over ahead: as wished in pushing, in pulling also as felt.

    Its lever is the height of the hands above the ground. Feet that follow the push that is felt never lean the body
    into a crate that does not move yet. Those that follow the pull that is wished lean it back before there is anything
    to hold it.
    """
    if holds is None:
        return 0.0
    pull = -m.haul
    if m.haul < 0.0:
        pull += k.hands.pull_felt * (clamp(m.pulled, 0.0, k.hands.pull_most * pull) - pull)
    left, right = f.site_xpos[i, body.arms.palm[0], 2], f.site_xpos[i, body.arms.palm[1], 2]
    return max(0.5 * (left + right) - m.ground, 0.0) * pull


@inner
def hand_force(body, holds, k, m, f, i, side):  # type: ignore[no-untyped-def]
    """N along the way with which a hand that holds something pushes; below 0 it pulls.

    A push is half of what is wished. A pull is that where the hand is as far out as its target; less the nearer it is,
    so that the body is never drawn to a crate that it does not lean away from; and whatever brings the crate to the
    speed of the walk, without which it would come in jerks.
    """
    if m.haul >= 0.0:
        return 0.5 * m.haul
    way = (math.cos(m.heading), math.sin(m.heading), 0.0)
    out = dot(sub(vec(f.site_xpos[i, body.arms.palm[side]]), vec(f.qpos[i])), way) - m.hand_target[side, 0]
    share = 1.0
    if m.hand_frame[side] == HandFrame.BODY:
        share = clamp(1.0 + out / (k.hands.pull_slack * body.size), 0.0, k.hands.pull_most)
    off = m.speed - dot(crate_velocity(holds, f, i, held_by(holds, m, side)), way)
    force = 0.5 * share * m.haul + min(share, 1.0) * k.hands.pull_damping * mass_of(holds, m, side) * off
    return clamp(force, 0.5 * k.hands.pull_most * m.haul, 0.0)


@inner
def use_hands(body, holds, k, m, f, i, torque):  # type: ignore[no-untyped-def]
    """Lift, push or pull what the hands hold: J^T F of a force at each palm, through arms and back (section 5.5.4)."""
    if holds is None:
        return
    # along the way, not where a swaying pelvis faces: a crate would be pushed to and fro
    way = (math.cos(m.heading), math.sin(m.heading), 0.0)
    for side in range(2):
        mass = mass_of(holds, m, side)
        if mass <= 0.0:
            continue
        force = add(scale(hand_force(body, holds, k, m, f, i, side), way), (0.0, 0.0, m.load * mass * body.gravity))
        arm, palm = ARMS + 2 * side, vec(f.site_xpos[i, body.arms.palm[side]])
        for bone in (arm + 1, arm, TORSO, BACK):
            lever = sub(palm, vec(f.xanchor[i, body.joint[bone]]))
            put(torque, bone, cross(lever, force))


@inner
def close_grips(holds, m, i, out):  # type: ignore[no-untyped-def]
    """Controls of all grips: those that hands hold by are closed."""
    if holds is None:
        return
    for grip in range(holds.handle.size):
        for part in range(PARTS):
            out[i, holds.grip + PARTS * grip + part] = 0.0
    for side in range(2):
        grip = m.hand_grip[side] - 1
        if grip >= 0:
            for part in range(PARTS):
                out[i, holds.grip + PARTS * grip + part] = m.hand_firm[side]
