"""The compiled control of Simbicon, row by row: machine, targets, torques, root, hinges (coros2010 section 2.4).

    control_rows(Address(SimbiconRows(...)))      # once a physics step

For each row: phase and state move on, every joint gets a target theta_d = theta_d0 + c_d d + c_v v (eq. 2.1), a torque
k_p vq(q_d, q) - k_d w (eq. 2.2), and the stance hip what the root lacks (eq. 2.3). Torques are vectors in the world's
axes on a bone from its parent, until `_project` takes them along the hinges.
"""

import math
from typing import NamedTuple

import numpy as np

from tumble.maths.bundles import on_stack
from tumble.maths.compiled import entry, inner
from tumble.maths.vectors import (
    about,
    add,
    clamp,
    dot,
    multiply,
    scale,
    spline,
    sub,
    turn_between,
    turned,
    vec,
    wrapped,
    yaw,
)  # fmt: skip
from tumble.simbicon.body import Bones, Live
from tumble.simbicon.gait import Gaits

HIGH, LOW = 0.4, 0.2  # of the root's height over the lower foot at rest, where torques fade out; the authors' code
TURN = 0.5  # rad that the character's frame may be ahead of the root; ours


class Posture(NamedTuple):
    """What a row looks like now."""

    frame: tuple[float, float, float, float]  # the character's: upright, turned to the wanted heading
    away: tuple[float, float]  # d: from the stance foot to the centre of mass, ahead and left, m
    velocity: tuple[float, float]  # v: of the centre of mass, ahead and left, m/s


class SimbiconRows(NamedTuple):
    """All that `control_rows` reads and writes."""

    bones: Bones
    gaits: Gaits
    live: Live
    spin: np.ndarray  # scratch, (bones, 3), as the next two
    torque: np.ndarray
    other: np.ndarray
    ids: np.ndarray  # (nsim,) numbers of rows, of which the first `many[0]` are controlled
    many: np.ndarray  # (1,)
    out: np.ndarray  # (nsim, motors)


@entry
def control_rows(rows):  # type: ignore[no-untyped-def]
    """Controls of the rows `rows.ids` into `rows.out`; their memory moves on by a step, that of others stays.

    Two gaits are mixed by their torques: tau = (1 - w) tau_gait + w tau_other, w the row's weight.
    """
    bones, gaits, live, out = rows.bones, rows.gaits, rows.live, rows.out
    spin, torque, other = rows.spin, rows.torque, rows.other
    for n in range(rows.many[0]):
        i = rows.ids[n]
        memory = live.memory[i]
        _advance(bones, gaits, memory, live, i)
        look = on_stack(_look(bones, memory, live, i))
        _spins(bones, live, i, spin)
        w = memory.weight
        _torques(bones, gaits, int(memory.other if w >= 1.0 else memory.gait), memory, look, live, i, spin, torque)
        if 0.0 < w < 1.0:
            _torques(bones, gaits, int(memory.other), memory, look, live, i, spin, other)
            for b in range(1, bones.ids.size):
                for axis in range(3):
                    torque[b, axis] = (1.0 - w) * torque[b, axis] + w * other[b, axis]
        _project(bones, live, i, torque, out)


# ---- the machine


@inner
def touches(bones, live, i, side):  # type: ignore[no-untyped-def]
    """Whether a foot, left 0 or right 1, touches the ground."""
    down = 0.0
    for b in range(bones.ids.size):
        if bones.sole[side, b]:
            down += live.grounded[i, bones.ground[b]]
    return down > 0.0


@inner
def _advance(bones, gaits, m, live, i):  # type: ignore[no-untyped-def]
    """Move the phase on; change state when it is over or the swing foot strikes. A mix keeps one machine."""
    a, b, k, w = int(m.gait), int(m.other), int(m.state), clamp(m.weight, 0.0, 1.0)
    m.phase += bones.dt * ((1.0 - w) / gaits.duration[a, k] + w / gaits.duration[b, k])
    m.heading += bones.dt * ((1.0 - w) * gaits.turn[a] + w * gaits.turn[b])
    lead = b if w > 0.5 else a
    down = touches(bones, live, i, 1 - int(m.stance))
    struck = gaits.strikes[lead, k] and m.phase >= gaits.earliest[lead, k] and down
    if not (struck or m.phase >= 1.0):
        return
    m.phase = 0.0
    m.state = (k + 1) % gaits.states[lead]
    if gaits.swap[lead, k]:
        m.stance = 1.0 - m.stance
        m.footstrikes += 1.0


@inner
def _look(bones, m, live, i):  # type: ignore[no-untyped-def]
    """The `Posture` of a row; the frame's heading is the wanted one, at most `TURN` rad off the root's own."""
    q = live.xquat[i, bones.ids[0]]
    nose = yaw(q)
    heading = nose + clamp(wrapped(m.heading - nose), -TURN, TURN)
    c, s = math.cos(heading), math.sin(heading)
    away = sub(vec(live.com[i]), vec(live.xipos[i, bones.ids[bones.feet[int(m.stance)]]]))
    v = vec(live.com_velocity[i])
    return Posture(
        about(2, heading),
        (c * away[0] + s * away[1], c * away[1] - s * away[0]), (c * v[0] + s * v[1], c * v[1] - s * v[0]),
    )  # fmt: skip


@inner
def _spins(bones, live, i, spin):  # type: ignore[no-untyped-def]
    """Angular velocities of all bones, rad/s in the world's axes."""
    for n in range(3):
        spin[0, n] = live.spin[i, n]
    for b in range(1, bones.ids.size):
        for n in range(3):
            spin[b, n] = spin[bones.parent[b], n]
            for j in range(bones.joint[b], bones.joint[b] + bones.hinges[b]):
                spin[b, n] += live.xaxis[i, j, n] * live.qvel[i, bones.dof[j]]


# ---- targets


@inner
def feedback(c_d, c_v, d, v):  # type: ignore[no-untyped-def]
    """What eq. 2.1 adds to a target angle, rad: c_d d + c_v v."""
    return c_d * d + c_v * v


@inner
def _angle(gaits, g, k, role, way, phase):  # type: ignore[no-untyped-def]
    """A trajectory at a phase, rad or a factor; a constant, 0 or for strengths 1, where the gait has no knots."""
    count = gaits.counts[g, k, role, way]
    return spline(gaits.knots[g, k, role, way], count, phase) if count > 0 else gaits.knots[g, k, role, way, 0, 1]


@inner
def _target(gaits, g, m, role, look):  # type: ignore[no-untyped-def]
    """The rotation that a joint should have, R_x(side) R_y(bend) R_z(twist), mirrored on the right foot."""
    k, phase = int(m.state), m.phase
    mirror = 1.0 if m.stance == 0.0 else -1.0
    c = gaits.feedback[g, k, role]
    side = mirror * _angle(gaits, g, k, role, 0, phase) + feedback(c[0, 0], c[0, 1], look.away[1], look.velocity[1])
    bend = _angle(gaits, g, k, role, 1, phase) + feedback(c[1, 0], c[1, 1], look.away[0], look.velocity[0])
    twist = mirror * _angle(gaits, g, k, role, 2, phase)
    return multiply(about(0, side), multiply(about(1, bend), about(2, twist)))


# ---- torques


@inner
def pd_torque(stiffness, damping, now, target, spin):  # type: ignore[no-untyped-def]
    """k_p vq(q_d, q) - k_d w of eq. 2.2, gains about the axes of the bone.

    Args:
      stiffness, damping: (3,) N m/rad, N m s/rad.
      now, target: rotations of the bone, in the world's axes.
      spin: rad/s that should be 0, in the world's axes.

    Returns the torque in the world's axes, N m.
    """
    back = (now[0], -now[1], -now[2], -now[3])
    error, w = turned(back, turn_between(now, target)), turned(back, spin)
    return turned(
        now,
        (
            stiffness[0] * error[0] - damping[0] * w[0],
            stiffness[1] * error[1] - damping[1] * w[1],
            stiffness[2] * error[2] - damping[2] * w[2],
        ),
    )


@inner
def _quat(live, i, body):  # type: ignore[no-untyped-def]
    """A body's rotation in the world, (w, x, y, z), a copy."""
    q = live.xquat[i, body]
    return (q[0], q[1], q[2], q[3])


@inner
def _role(bones, m, b):  # type: ignore[no-untyped-def]
    """Number of what a bone's joint is in this step: a swing role comes right after its stance role."""
    swings = bones.side[b] >= 0 and bones.side[b] != int(m.stance)
    return bones.role[b] + (1 if swings else 0)


@inner
def _torques(bones, gaits, g, m, look, live, i, spin, torque):  # type: ignore[no-untyped-def]
    """Torque on every bone from its parent, N m in the world's axes."""
    k, phase = int(m.state), m.phase
    for b in range(1, bones.ids.size):
        role, p = _role(bones, m, b), bones.parent[b]
        worldly = gaits.worldly[g, k, role]
        base = look.frame if worldly else _quat(live, i, bones.ids[p])
        target = multiply(base, _target(gaits, g, m, role, look))
        w = vec(spin[b]) if worldly else sub(vec(spin[b]), vec(spin[p]))
        strength = _angle(gaits, g, k, role, 3, phase)
        tau = scale(
            strength,
            pd_torque(gaits.stiffness[g, role], gaits.damping[g, role], _quat(live, i, bones.ids[b]), target, w),
        )
        torque[b, 0], torque[b, 1], torque[b, 2] = tau
    _hold_root(bones, gaits, g, m, look, live, i, spin, torque)


@inner
def _hold_root(bones, gaits, g, m, look, live, i, spin, torque):  # type: ignore[no-untyped-def]
    """Let the hips give the root its torque: tau_A = -tau_root - tau_B (eq. 2.3) once the stance leg bears all."""
    stance, swing = bones.hips[int(m.stance)], bones.hips[1 - int(m.stance)]
    root = root_torque(bones, gaits, g, m, look, live, i, spin)
    share = clamp(_angle(gaits, g, int(m.state), 0, 3, m.phase), 0.0, 1.0)
    lack = scale(-share, add(root, add(vec(torque[swing]), vec(torque[stance]))))
    bears = _bearing(bones, gaits, g, m, live, i)
    tau, other = add(vec(torque[stance]), scale(bears, lack)), add(vec(torque[swing]), scale(1.0 - bears, lack))
    turning = spin[0, 2] - spin[stance, 2]  # of the root on the stance leg, about the vertical
    damped = gaits.hip_damping[g] * min(abs(turning), gaits.hip_speed[g]) * turning
    torque[stance, 0], torque[stance, 1], torque[stance, 2] = tau[0], tau[1], tau[2] + damped
    torque[swing, 0], torque[swing, 1], torque[swing, 2] = other


@inner
def _bearing(bones, gaits, g, m, live, i):  # type: ignore[no-untyped-def]
    """Share of the weight that the stance leg is taken to bear: grows to 1 while the other foot is still down."""
    since, shift = m.phase * gaits.duration[g, int(m.state)], gaits.shift[g]
    if since >= shift or not touches(bones, live, i, 1 - int(m.stance)):
        return 1.0
    return since / shift


@inner
def root_torque(bones, gaits, g, m, look, live, i, spin):  # type: ignore[no-untyped-def]
    """tau_root, N m in the world's axes: a PD law to the root's target in the character's frame."""
    target = multiply(look.frame, _target(gaits, g, m, 0, look))
    return pd_torque(gaits.stiffness[g, 0], gaits.damping[g, 0], _quat(live, i, bones.ids[0]), target, vec(spin[0]))


@inner
def _project(bones, live, i, torque, out):  # type: ignore[no-untyped-def]
    """Torques on bones to fractions of the motors' strength; the engine itself adds the hinges' damping."""
    left, right = live.xpos[i, bones.ids[bones.feet[0]], 2], live.xpos[i, bones.ids[bones.feet[1]], 2]
    height = live.xpos[i, bones.ids[0], 2] - min(left, right)  # on slopes and steps too
    fade = clamp((height / bones.height - LOW) / (HIGH - LOW), 0.0, 1.0)
    for b in range(1, bones.ids.size):
        tau = vec(torque[b])
        for j in range(bones.joint[b], bones.joint[b] + bones.hinges[b]):
            force = fade * dot(vec(live.xaxis[i, j]), tau) + bones.damping[j] * live.qvel[i, bones.dof[j]]
            out[i, bones.motor[j]] = clamp(force / bones.strength[j], -1.0, 1.0)
