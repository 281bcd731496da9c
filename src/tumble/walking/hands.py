"""Arms that reach for something: their wishes, and the pose they ask for (coros2010 section 5.3.5).

A target is reached by inverse kinematics of two bones; speeds of the joints are the difference to the pose `LATER` s
from now, divided by it. An arm without a target swings as its style does, and goes over within `reach_time`.
"""

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, clamp, dot, scale, shortened, sub, towards, turn_between, vec
from tumble.walking.body import ARMS, BACK, TORSO
from tumble.walking.holding import crate_velocity, held_by
from tumble.walking.legs import arm_pose
from tumble.walking.memory import HandFrame
from tumble.walking.torques import spin_of

ALPHA_RATE = 0.4  # s a s at which alpha is followed; ours
ELBOW_OUT, ELBOW_DOWN = 0.9, 0.45  # of the plane of an arm: elbows point down and out; ours
LONGEST = 0.99  # of an arm's length that a hand is put to at most
LATER = 0.005  # s ahead, for the speeds of joints by a difference; ours


@inner
def follow_hands(body, k, m):  # type: ignore[no-untyped-def]
    """Bring what arms do nearer to what is wished."""
    m.alpha = towards(m.alpha, m.wish_alpha, ALPHA_RATE * body.dt)
    m.haul = towards(m.haul, m.wish_haul, k.hands.haul_rate * body.dt)
    for side in range(2):
        reaches = 0.0 if m.hand_frame[side] == HandFrame.FREE else 1.0
        m.hand_blend[side] = towards(m.hand_blend[side], reaches, body.dt / k.hands.reach_time)


@inner
def busy(m):  # type: ignore[no-untyped-def]
    """Whether it crouches or an arm has something to do."""
    return m.crouch > 0.0 or m.hand_blend[0] > 0.0 or m.hand_blend[1] > 0.0


@inner
def _target(body, holds, m, look, f, i, side):  # type: ignore[no-untyped-def]
    """Where a hand is wanted in the world, and how fast that place moves, m and m/s."""
    place = (m.hand_target[side, 0], m.hand_target[side, 1], m.hand_target[side, 2])
    if m.hand_frame[side] != HandFrame.BODY:
        return place, (0.0, 0.0, 0.0)
    flat = add(scale(place[0], look.ahead), scale(place[1], look.left))
    target = add(vec(f.qpos[i]), (flat[0], flat[1], place[2]))
    crate = held_by(holds, m, side)
    if m.haul >= 0.0 or crate < 0:
        return target, vec(f.qvel[i])
    # a hand that pulls goes along with the crate, but sideways: an arm that is a spring between two bodies swings in
    # step with the walk, and its force is not the one that the feet count on
    palm = vec(f.site_xpos[i, body.arms.palm[side]])
    return add(palm, scale(dot(sub(target, palm), look.left), look.left)), crate_velocity(holds, f, i, crate)


@inner
def reach(body, holds, k, m, look, f, i, side, chest_spin):  # type: ignore[no-untyped-def]
    """Wanted rotation of an upper arm, its angular velocity against the chest, elbow and its speed (section 5.3.5).

    Args:
      side: 0 left, 1 right.
      chest_spin: rad/s of the torso in the world, see `chest_spin_of`.

    Returns a quaternion in the world, rad/s in the world's axes, rad, and rad/s of at most `swing_rate`.
    """
    arm = ARMS + 2 * side
    out = 1.0 if side == 0 else -1.0
    plane = add(scale(ELBOW_OUT, look.left), (0.0, 0.0, ELBOW_DOWN * out))
    shoulder = vec(f.xanchor[i, body.joint[arm]])
    target, moving = _target(body, holds, m, look, f, i, side)
    upper, fore, most = body.arms.upper[side], body.arms.fore[side], k.steps.swing_rate
    pose, elbow = arm_pose(shoulder, target, upper, fore, plane, LONGEST)
    shoulder = add(shoulder, scale(LATER, look.velocity))
    target = add(target, scale(LATER, moving))
    next_pose, next_elbow = arm_pose(shoulder, target, upper, fore, plane, LONGEST)
    rate = shortened(scale(1.0 / LATER, turn_between(pose, next_pose)), most)
    return pose, sub(rate, chest_spin), elbow, clamp((next_elbow - elbow) / LATER, -most, most)


@inner
def chest_spin_of(body, look, f, i):  # type: ignore[no-untyped-def]
    """Angular velocity of the torso in the world, rad/s."""
    back = spin_of(body, f.xaxis[i], f.qvel[i], BACK)
    return add(look.spin, add(back, spin_of(body, f.xaxis[i], f.qvel[i], TORSO)))
