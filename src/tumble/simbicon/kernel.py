"""The compiled control of Simbicon, row by row: machine, targets, torques, root, hinges (coros2010 section 2.4).

    control_rows(Address(SimbiconRows(bones, gaits, live, ..., out)))    # see `Simbicon.law`

Before every physics step and for every row: the machine moves on (`_advance`), d and v are read (`_look`), every joint
gets a target (`_target`, eq. 2.1) and a torque (`pd_torque`, eq. 2.2), the hips give the root its own (`_hold_root`,
eq. 2.3), and torques on bones become controls of hinges (`_project`).

Arguments that all share: `bones`, `gaits` and `live` are addresses of `Bones`, `Gaits` and `Live`; i is a row, m its
memory (a live record of SIMBICON), b a bone, g a gait, k a state. Rotations are quaternions (w, x, y, z); torques and
spins are in the world's axes. Traps: the memory moves on by being read here, once a step; nothing allocates.
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
from tumble.simbicon.gait import BEND, Gaits
from tumble.simbicon.varied import Varied

HIGH, LOW = 0.4, 0.2  # of the root's height over the lower foot at rest, where torques fade out; the authors' code
ANYWHERE = -1e9  # m ahead: wherever a foot touches
TURN = 0.5  # rad that the character's frame may be ahead of the root; ours


class Posture(NamedTuple):
    """What a row looks like now."""

    frame: tuple[float, float, float, float]  # the character's: upright, turned to the wanted heading
    away: tuple[float, float]  # d: from the stance foot to the centre of mass, ahead and left, m
    velocity: tuple[float, float]  # v: of the centre of mass, ahead and left, m/s


class SimbiconRows(NamedTuple):
    """All that `control_rows` reads and writes; arrays are live, scratch is overwritten by every row."""

    bones: Bones
    gaits: Gaits
    live: Live
    varied: Varied | None  # numbers of the first gait that each row has for itself
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
        _adopt(rows.varied, gaits, i)
        memory = live.memory[i]
        _advance(bones, gaits, memory, live, i, _reach(rows.varied, i))
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


@inner
def _adopt(varied, gaits, i):  # type: ignore[no-untyped-def]
    """Write a row's own numbers, if any, into the table of gaits, whose first they are of: knots, then the duration."""
    if varied is not None:
        count = varied.role.size
        for n in range(count):
            gaits.knots[0, 0, varied.role[n], BEND, varied.knot[n], 1] = varied.values[i, n]
        gaits.duration[0, 0] = varied.values[i, count]


@inner
def _reach(varied, i):  # type: ignore[no-untyped-def]
    """m that a swing foot must be ahead of the other one for its touch to be a strike."""
    if varied is not None:
        return varied.reach[i]
    return ANYWHERE


# ---- the machine


@inner
def _state(gaits, g, m):  # type: ignore[no-untyped-def]
    """Which state of a gait is read: the machine's, or in a sided gait that of the stance leg."""
    return int(m.stance) if gaits.sided[g] else int(m.state)


@inner
def touches(bones, live, i, side):  # type: ignore[no-untyped-def]
    """Whether a foot, left 0 or right 1, touches the ground: the foot's bone, or any that hangs on it, as toes do."""
    down = 0.0
    for b in range(bones.ids.size):
        if bones.sole[side, b]:
            down += live.grounded[i, bones.ground[b]]
    return down > 0.0


@inner
def _advance(bones, gaits, m, live, i, reach):  # type: ignore[no-untyped-def]
    """Move the phase on; change state when it is over or the swing foot strikes. A mix keeps one machine.

    The phase grows by dt ((1 - w) / T_gait + w / T_other), T the durations of the state that each is in (`_state`); the
    wanted heading by the gaits' turns, mixed alike. A strike counts from the phase `earliest` on, and only in states
    that wait for one; in those that nothing else ends, the phase stays at 1 until then. Which do, and whether the legs
    swap roles, the heavier gait says. A foot that is not `reach` m ahead of the one that stands scuffs, and has not
    struck. Writes state, phase, stance, footstrikes and heading of the memory.
    """
    a, b, w = int(m.gait), int(m.other), clamp(m.weight, 0.0, 1.0)
    speed = (1.0 - w) / gaits.duration[a, _state(gaits, a, m)] + w / gaits.duration[b, _state(gaits, b, m)]
    m.phase += bones.dt * speed
    m.heading += bones.dt * ((1.0 - w) * gaits.turn[a] + w * gaits.turn[b])
    lead = b if w > 0.5 else a
    k = _state(gaits, lead, m)
    down = touches(bones, live, i, 1 - int(m.stance)) and _ahead(bones, m, live, i) >= reach
    struck = gaits.strikes[lead, k] and m.phase >= gaits.earliest[lead, k] and down
    if not struck and gaits.waits[lead, k]:
        m.phase = min(m.phase, 1.0)
        return
    if not (struck or m.phase >= 1.0):
        return
    m.phase = 0.0
    m.state = (int(m.state) + 1) % gaits.states[lead]
    if gaits.swap[lead, k]:
        m.stance = 1.0 - m.stance
        m.footstrikes += 1.0


@inner
def _ahead(bones, m, live, i):  # type: ignore[no-untyped-def]
    """m that the swing foot is ahead of the stance foot, along the wanted heading."""
    stance, swing = bones.ids[bones.feet[int(m.stance)]], bones.ids[bones.feet[1 - int(m.stance)]]
    x = live.xipos[i, swing, 0] - live.xipos[i, stance, 0]
    y = live.xipos[i, swing, 1] - live.xipos[i, stance, 1]
    return math.cos(m.heading) * x + math.sin(m.heading) * y


@inner
def _look(bones, m, live, i):  # type: ignore[no-untyped-def]
    """d and v of eq. 2.1 in the character's frame, which stands upright and has the wanted heading.

    That frame is at most TURN ahead of where the root faces: who was turned round does not twist the hips off.
    d is from the stance foot's centre of mass to the body's, v the velocity of the latter, each ahead and to the left.
    """
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
    """Angular velocities (bones, 3) of all bones into `spin`, rad/s: the root's, and down the tree each hinge's.

    w_b = w_parent(b) + sum over the hinges j of b of axis_j dq_j.
    """
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
    """theta_d0 of eq. 2.1, rad: the Catmull-Rom spline through a motion's knots at a phase; 0 where it has none.

    Of the way STRENGTH it is the factor on both gains, 1 where a gait does not tell.
    """
    count = gaits.counts[g, k, role, way]
    return spline(gaits.knots[g, k, role, way], count, phase) if count > 0 else gaits.knots[g, k, role, way, 0, 1]


@inner
def _target(gaits, g, m, role, look):  # type: ignore[no-untyped-def]
    """The rotation that a joint should have, R_x(side) R_y(bend) R_z(twist), mirrored on the right foot.

    Bend and side are theta_d = theta_d0 + c_d d + c_v v (eq. 2.1) in the sagittal and in the coronal plane. What is
    mirrored is theta_d0: d and v change their signs by themselves. On top of the parent's rotation, or of the
    character's frame, see `_torques`.
    """
    k, phase = _state(gaits, g, m), m.phase
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
    """The rotation of MuJoCo's body, as a tuple."""
    q = live.xquat[i, body]
    return (q[0], q[1], q[2], q[3])


@inner
def _role(bones, m, b):  # type: ignore[no-untyped-def]
    """Which motion of a gait moves a bone now: that of its stance, or the next one, of its swing (`roles_of`)."""
    swings = bones.side[b] >= 0 and bones.side[b] != int(m.stance)
    return bones.role[b] + (1 if swings else 0)


@inner
def _torques(bones, gaits, g, m, look, live, i, spin, torque):  # type: ignore[no-untyped-def]
    """Torques (bones, 3) on every bone from its parent into `torque`, N m: eq. 2.2, then eq. 2.3 at the hips.

    A joint that a gait moves in the character's frame (`worldly`) is held against that, target and speed, and not
    against its parent; so is the swing hip of all gaits, as in the paper.
    """
    k, phase = _state(gaits, g, m), m.phase
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
    """Let the hips give the root its torque: tau_A = -tau_root - tau_B (eq. 2.3) once the stance leg bears all.

    tau_A is at the stance hip, tau_B at the swing hip. What the two lack of -tau_root, times the root's strength, goes
    to the stance hip by its share of `_bearing` and to the other by the rest. The stance hip's twist is damped on top
    by c |w| w, c the gait's `hip_damping` and w the root's spin against the stance leg, linear from `hip_speed` on.
    """
    stance, swing = bones.hips[int(m.stance)], bones.hips[1 - int(m.stance)]
    root = root_torque(bones, gaits, g, m, look, live, i, spin)
    share = clamp(_angle(gaits, g, _state(gaits, g, m), 0, 3, m.phase), 0.0, 1.0)
    missing = scale(-share, add(root, add(vec(torque[swing]), vec(torque[stance]))))
    bears = _bearing(bones, gaits, g, m, live, i)
    tau, other = add(vec(torque[stance]), scale(bears, missing)), add(vec(torque[swing]), scale(1.0 - bears, missing))
    turning = spin[0, 2] - spin[stance, 2]  # of the root on the stance leg, about the vertical
    damped = gaits.hip_damping[g] * min(abs(turning), gaits.hip_speed[g]) * turning
    torque[stance, 0], torque[stance, 1], torque[stance, 2] = tau[0], tau[1], tau[2] + damped
    torque[swing, 0], torque[swing, 1], torque[swing, 2] = other


@inner
def _bearing(bones, gaits, g, m, live, i):  # type: ignore[no-untyped-def]
    """Share of the weight that the stance leg is taken to bear: grows to 1 while the other foot is still down."""
    since, shift = m.phase * gaits.duration[g, _state(gaits, g, m)], gaits.shift[g]
    if since >= shift or not touches(bones, live, i, 1 - int(m.stance)):
        return 1.0
    return since / shift


@inner
def root_torque(bones, gaits, g, m, look, live, i, spin):  # type: ignore[no-untyped-def]
    """tau_root of eq. 2.3, N m: the PD law of eq. 2.2 to the root's target in the character's frame."""
    target = multiply(look.frame, _target(gaits, g, m, 0, look))
    return pd_torque(gaits.stiffness[g, 0], gaits.damping[g, 0], _quat(live, i, bones.ids[0]), target, vec(spin[0]))


@inner
def _project(bones, live, i, torque, out):  # type: ignore[no-untyped-def]
    """Torques (bones, 3) to controls in `out[i]`, fractions of the motors' strength in [-1, 1].

    A hinge gets axis . tau of its bone, plus its damping times its speed: the engine takes that off again,
    implicitly. All fade out while the root sinks from HIGH to LOW: who lies does not kick.
    """
    left, right = live.xpos[i, bones.ids[bones.feet[0]], 2], live.xpos[i, bones.ids[bones.feet[1]], 2]
    height = live.xpos[i, bones.ids[0], 2] - min(left, right)  # on slopes and steps too
    fade = clamp((height / bones.height - LOW) / (HIGH - LOW), 0.0, 1.0)
    for b in range(1, bones.ids.size):
        tau = vec(torque[b])
        for j in range(bones.joint[b], bones.joint[b] + bones.hinges[b]):
            force = fade * dot(vec(live.xaxis[i, j]), tau) + bones.damping[j] * live.qvel[i, bones.dof[j]]
            out[i, bones.motor[j]] = clamp(force / bones.strength[j], -1.0, 1.0)
