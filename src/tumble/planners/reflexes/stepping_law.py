"""The stepping reflex, compiled: where feet go, and the joint speeds that take them there.

    step(Address(legs), Address(law), places, ..., work, advice)    # see `tumble.planners.reflexes.stepping`

A leg that swings is the one in the air; where both feet are down, the one behind steps once the other is nearly below
the centre of mass. It lands about the capture point,

    c + tau c' - kappa v + beta (c' - v) + s y,

with c the centre of mass, v the velocity that is wanted, s y to the leg's own side; beta is each row's own. The leg
that stands carries the pelvis along v, levels it and turns it to the course. Both say where a foot should be seen from
the pelvis, and how it should be turned, a moment later; the joints' speeds are the damped least squares

    min |J w - e|^2 + lambda^2 |w - w_rest|^2,

with w_rest back to the rest pose, J of the hinges between pelvis and foot, so that legs may have any joints.
"""

import math

from tumble.maths.compiled import entry, inner
from tumble.maths.vectors import about, clamp, cross, multiply, sub, turn_between, turned, vec, wrapped, yaw

SLOW = 0.1  # m/s, below which a velocity has no direction
SOON = 0.4  # s of turning on, by which a way round is preferred


@inner
def _rotation(quat, rest):  # type: ignore[no-untyped-def]
    """How a body (4,) is turned from how it is in the rest pose facing x, whose orientation is `rest` (4,)."""
    return multiply((quat[0], quat[1], quat[2], quat[3]), (rest[0], -rest[1], -rest[2], -rest[3]))


@inner
def _landing(body, law, root, com, velocity, want, brake, psi, sign):  # type: ignore[no-untyped-def]
    """Where a foot should come down, horizontal, m: about the capture point, on its own side of the pelvis."""
    lx, ly = -math.sin(psi) * sign, math.cos(psi) * sign  # to the leg's side
    wide = law.wide * body.spacing
    tau, kappa = (law.tau + brake) * body.time, (law.kappa + brake) * body.time
    x = com[0] + tau * velocity[0] - kappa * want[0] + wide * lx
    y = com[1] + tau * velocity[1] - kappa * want[1] + wide * ly
    missing = max(0.0, law.least * body.spacing - (x - root[0]) * lx - (y - root[1]) * ly)
    return x + missing * lx, y + missing * ly


@inner
def _solve(body, leg, law, foot, at, twist, anchors, axes, rest, work, advice):  # type: ignore[no-untyped-def]
    """Joint speeds of a leg by damped least squares (J^T W J + lambda^2) w = J^T W e + lambda^2 w_rest, into advice.

    Args:
      foot: its place; at: of the leg's first joint in the bundle's lists.
      twist: velocity and, times the length law.rho, angular velocity of the foot seen from the pelvis.
      rest: (joints,) speeds back to the rest pose.
      work: (7 + n, n) room, n joints of the leg with more of them.
    """
    n = body.ends[leg] - at
    jacobian, normal, right = work[:6], work[6 : 6 + n], work[6 + n]
    for j in range(n):
        joint = body.joints[at + j]
        axis = vec(axes[joint])
        line = cross(axis, sub(foot, vec(anchors[joint])))
        for d in range(3):
            jacobian[d, j], jacobian[3 + d, j] = line[d], law.rho * axis[d]
    damping = law.damping**2
    for j in range(n):
        right[j] = damping * rest[body.columns[at + j]]
        for d in range(6):
            right[j] += jacobian[d, j] * twist[d]
        for m in range(j + 1):
            total = damping if m == j else 0.0
            for d in range(6):
                total += jacobian[d, j] * jacobian[d, m]
            normal[j, m] = total
    for j in range(n):  # Cholesky, then both triangles
        for m in range(j + 1):
            total = normal[j, m]
            for d in range(m):
                total -= normal[j, d] * normal[m, d]
            normal[j, m] = math.sqrt(total) if m == j else total / normal[m, m]
        for d in range(j):
            right[j] -= normal[j, d] * right[d]
        right[j] /= normal[j, j]
    for j in range(n - 1, -1, -1):
        for d in range(j + 1, n):
            right[j] -= normal[d, j] * right[d]
        right[j] /= normal[j, j]
        advice[body.columns[at + j]] = right[j]


@inner
def _swings(body, law, feet, com, ahead):  # type: ignore[no-untyped-def]
    """The leg that swings or is behind, 0 or 1, and whether it is to step.

    Args:
      feet: two places; ahead: horizontal unit vector of the way that the body moves.
    """
    left, right = feet
    one = (left[0] - com[0]) * ahead[0] + (left[1] - com[1]) * ahead[1]
    other = (right[0] - com[0]) * ahead[0] + (right[1] - com[1]) * ahead[1]
    higher = left[2] - right[2]
    if abs(higher) > law.air * body.length:
        return (0 if higher > 0.0 else 1), True
    return (0 if one < other else 1), max(one, other) < law.due * body.length


@entry
def step(  # type: ignore[no-untyped-def]
    body, law, places, quats, anchors, axes, com, velocity, spins, wanted, brakes, rest, work, advice
):
    """Write speeds of the legs' joints into advice (n, size); other columns stay.

    Args:
      body, law: addresses of a `TwoLegs` and a `SteppingLaw`.
      places, quats, anchors, axes: (n, ., 3 or 4), MuJoCo's xpos, xquat, xanchor and xaxis.
      com, velocity: (n, 3) of the centre of mass.
      spins: (n, 3) of the root, rad/s.
      wanted: (n, 2) velocity.
      brakes: (n,) how much farther a foot lands the more the velocity is off, beta.
      rest: (n, joints) speeds back to the rest pose.
      work: room.
    """
    for i in range(advice.shape[0]):
        root = vec(places[i, body.root])
        turn = _rotation(quats[i, body.root], body.root_rest)
        psi = yaw(turn)
        tilt = multiply(turn, about(2, -psi))
        feet = (vec(places[i, body.feet[0]]), vec(places[i, body.feet[1]]))
        want, v = (wanted[i, 0], wanted[i, 1]), velocity[i]
        goes_on = math.hypot(want[0], want[1]) > SLOW
        goes = want if goes_on else (v[0], v[1])  # who is to stand steps where he falls
        speed = max(math.hypot(goes[0], goes[1]), SLOW)
        ahead = (goes[0] / speed, goes[1] / speed)
        turns = SOON * spins[i, 2]  # who turns already goes on that way
        astray = turns + wrapped(math.atan2(want[1], want[0]) - psi - turns) if goes_on else 0.0
        swing, stepping = _swings(body, law, feet, com[i], ahead)
        spin = clamp(law.turn * astray, -law.fastest_turn, law.fastest_turn)
        # where the pelvis will be a moment later
        dx, dy = want[0] - v[0], want[1] - v[1]
        less = min(1.0, law.push / max(math.hypot(dx, dy), 1e-6))
        look = law.look
        moved = (look * (v[0] + less * dx), look * (v[1] + less * dy))
        for leg in range(2):
            foot, sign = feet[leg], 1.0 - 2.0 * leg
            stand = body.stand[leg] - law.low * body.length  # of the pelvis above the foot
            now = sub(foot, root)
            feels = _rotation(quats[i, body.feet[leg]], body.feet_rest[leg])
            if stepping and leg == swing:
                x, y = _landing(body, law, root, com[i], v, want, brakes[i], psi, sign)
                x, y = x - foot[0], y - foot[1]
                far = math.hypot(x, y)
                part = min(1.0, law.fastest_foot * look / max(far, 1e-6))
                lift = clamp(law.lift * (far - 0.03 * body.length), -0.01 * body.length, law.highest * body.length)
                then = (now[0] + part * x - moved[0], now[1] + part * y - moved[1], lift - stand)
                toe = sign * max(0.0, sign * clamp(law.toe * astray, -law.most_toe, law.most_toe))
                flat = about(2, psi + spin * look + toe)
            else:
                then = turned(tilt, (now[0] - moved[0], now[1] - moved[1], -stand))
                flat = multiply(tilt, about(2, yaw(feels) - spin * look))
            way, bend = sub(then, now), turn_between(feels, flat)
            twist = (
                way[0] / look, way[1] / look, way[2] / look,
                law.rho * bend[0] / look, law.rho * bend[1] / look, law.rho * bend[2] / look,
            )  # fmt: skip
            at = 0 if leg == 0 else body.ends[0]
            _solve(body, leg, law, foot, at, twist, anchors[i], axes[i], rest[i], work, advice[i])
