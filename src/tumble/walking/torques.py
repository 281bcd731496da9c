"""Torques of single joints: velocity tuning, gravity compensation, the pelvis (coros2010 5.3.3, 5.3.4, 2.4).

Torques are vectors in the world's axes, one for each bone: on the bone, and against its parent.
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, clamp, cross, dot, scale, shortened, sub, vec
from tumble.walking.body import BACK, LEGS, PELVIS, SHIN, THIGH, TOE, TORSO

PITCHES, ROLLS = 2.0, 1.5  # rad/s of a foot that tips, at which it gives no force; 1 rad/s less, all of it; ours
FASTEST_SPIN = 4.0  # rad/s of a stance hip that is damped with all of it; authors' code


@inner
def put(torque, bone, value):  # type: ignore[no-untyped-def]
    """Add a torque (x, y, z), N m, to a bone's, in place."""
    torque[bone, 0] += value[0]
    torque[bone, 1] += value[1]
    torque[bone, 2] += value[2]


@inner
def spin_of(body, axes, speeds, bone):  # type: ignore[no-untyped-def]
    """Angular velocity of a bone against its parent, rad/s: the sum of its hinges' axes times their speeds."""
    spin = (0.0, 0.0, 0.0)
    for j in range(body.joint[bone], body.joint[bone] + body.joints[bone]):
        spin = add(spin, scale(speeds[body.dof[j]], vec(axes[j])))
    return spin


@inner
def add_gravity(body, torque, com, anchors, bone):  # type: ignore[no-untyped-def]
    """Hold up a bone and all that hangs on it: (c - p) x (0, 0, M g) (section 5.3.4).

    That is the sum of J^T F with F = m g upwards at every link, whose masses M have their centre at c; p is the joint.
    """
    arm = sub(vec(com[body.ids[bone]]), vec(anchors[body.joint[bone]]))
    put(torque, bone, cross(arm, (0.0, 0.0, body.above[bone] * body.gravity)))


@inner
def push_up(body, torque, anchors, leg, force):  # type: ignore[no-untyped-def]
    """Knee torque by which a bent stance leg pushes the hip up with a force, N: -(hip - knee) x (0, 0, F)."""
    arm = sub(vec(anchors[body.joint[leg + THIGH]]), vec(anchors[body.joint[leg + SHIN]]))
    put(torque, leg + SHIN, scale(-1.0, cross(arm, (0.0, 0.0, force))))


@inner
def bubble_up(body, torque, walking, side):  # type: ignore[no-untyped-def]
    """Let every parent's joint carry what its children push off from, so that each bone gets its own torque.

    The pelvis gets its torque through the stance hips, so nothing is handed to it. A stance leg stands on its
    foot and hands nothing up (authors' code: the ankle hands its torque to the knee, which takes from the push-off).
    """
    for bone in range(TOE + LEGS + 4, BACK, -1):
        parent = body.parent[bone]
        if parent == PELVIS:
            continue
        stands = bone >= LEGS and (not walking or (bone - LEGS) // 4 == side)
        if stands and (bone - LEGS) % 4 != TOE:
            continue
        put(torque, parent, vec(torque[bone]))


@inner
def firm_force(body, side, height, ahead, left, pitching, rolling, load, planted):  # type: ignore[no-untyped-def]
    """What of a force ahead and to the left on a body `height` m above the ankle a foot can give and stay flat, N.

    A foot under `load` N tips over its edge where the ankle's torque is larger than load times lever; one that
    tips already (pitching and rolling, rad/s) gets less. Without the ankle's torque those of knee and hip
    would drive the body the other way, so all are cut alike (section 5.3.3 cuts the ankle's).
    """
    most = planted * load / height * (body.legs.heel[side] if ahead > 0.0 else body.legs.ball[side])
    ahead = clamp(ahead, -most, most)
    if pitching * ahead < 0.0:
        ahead *= clamp(PITCHES - abs(pitching), 0.0, 1.0)
    most = load / height * body.legs.edge[side]
    left = clamp(left, -most, most)
    if rolling * left > 0.0:
        left *= clamp(ROLLS - abs(rolling), 0.0, 1.0)
    return ahead, left


@inner
def tune_velocity(body, k, torque, anchors, centres, leg, force):  # type: ignore[no-untyped-def]
    """Torques J^T F of a virtual force, N, on the centre of mass of the chain from a stance foot to the torso (5.3.3).

    leg is the number of the stance leg's first bone.
    """
    mass, moment = 0.0, (0.0, 0.0, 0.0)
    chain = body.mass[TORSO] + body.mass[BACK] + body.mass[PELVIS] + body.mass[leg + THIGH] + body.mass[leg + SHIN]
    for bone in (TORSO, BACK, PELVIS, leg + THIGH, leg + SHIN):
        mass += body.mass[bone]
        moment = add(moment, scale(body.mass[bone], vec(centres[body.ids[bone]])))
        # the joint below the bone, seen from the foot: its own in the trunk, its child's in the leg
        joint = bone if bone in (TORSO, BACK) else (leg + THIGH if bone == PELVIS else bone + 1)
        pivot = vec(anchors[body.joint[joint]])
        push = cross(scale(1.0 / chain, sub(moment, scale(mass, pivot))), force)
        if joint == TORSO:
            put(torque, joint, scale(k.tuning.chest_share, push))
        elif joint == BACK:
            put(torque, joint, scale(k.tuning.back_share, push))
        else:
            put(torque, joint, scale(-1.0, push))


@inner
def root_torque(k, body, error, spin):  # type: ignore[no-untyped-def]
    """The torque wanted on the pelvis, N m: k_p e - k_d w, each part within limits; e is a rotation vector, w rad/s."""
    wanted = sub(scale(body.stiffness[PELVIS], error), scale(body.resist[PELVIS], spin))
    most = k.joints.root_torque * body.scale
    return (clamp(wanted[0], -most, most), clamp(wanted[1], -most, most), clamp(wanted[2], -most, most))


@inner
def hip_damping(torque, leg, spin, amount):  # type: ignore[no-untyped-def]
    """Keep a stance hip from spinning: authors' code, 25 |w| w."""
    speed = min(math.sqrt(dot(spin, spin)), FASTEST_SPIN)
    put(torque, leg + THIGH, scale(-amount * speed, shortened(spin, FASTEST_SPIN)))
