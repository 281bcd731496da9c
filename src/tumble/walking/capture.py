"""The capture point: where the body, left alone, would come to rest, and whether its feet can hold it there.

Of a linear inverted pendulum that is x m from its foot with a speed v it is x + v / w, w = sqrt(g / h).
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, dot, scale, sub, wrapped
from tumble.walking.memory import LEFT, RIGHT, UNLIMITED, Halt, Mode
from tumble.walking.pendulum import pendulum_rate
from tumble.walking.steps import SLOWEST, foot_place, loaded, stand_width

# Lengths of a body of the humanoid's size; all ours.
LOWEST = 0.1  # m, the least height of the pendulum over both feet
STANDS_SPEED, STANDS_TURN = 0.1, 0.15  # m/s that is followed, rad still to turn, below which a walk may end
STANDS_APART = 0.12  # m that one foot may be ahead of the other in a stand
STANDS_WIDE = 0.6  # of the width of a stand that feet are apart at least
STANDS_BACK, STANDS_AHEAD = 0.7, 0.3  # of `stand.lean`: ankles hold less ahead than back
STANDS_ASIDE = 0.8  # of the way to a foot
HALTS_APART, HALTS_NARROW, HALTS_WIDE = 0.06, 0.5, 2.0  # m, and of the width of a stand, the same before a hurdle
HALTS_BACK, HALTS_AHEAD, HALTS_LOADED, HALTS_ASIDE = 0.6, 0.25, -0.4, 0.75
POISED = 0.055  # m that the capture point may be short of a foot on which it stands to step over something
SETTLES, SETTLES_BENT = 0.2, 0.6  # s of a stand before it steps over something, upright and bent
RESTS = 0.06  # m/s below which it rests
CREEPS = 0.02  # m that the capture point may be short while it still creeps ahead
BENT = 0.1  # rad of the trunk, from which on it counts as bent
NEARLY = 0.02  # rad short of the bend that is wanted
AIRBORNE, AIRBORNE_LATE, LATE = 0.07, 0.09, 0.2  # m, m, s: what is enough where the hind foot left the ground already
HOPS = 0.05  # s after which it goes on over a stone though the hind foot left the ground too early
BESIDE, RUNS = 0.03, 0.05  # m off aside with which a placed step may begin; m beyond its beginning where it must
TOO_FAST, FAST = -0.1, -0.03  # m beyond the foot, with a load: it brakes on both feet; it steps though it is off aside


@inner
def capture_point(body, look, f, i):  # type: ignore[no-untyped-def]
    """The capture point ahead and left of the middle between the feet; and half their distance to the side, m."""
    a, b = foot_place(body, f, i, 0), foot_place(body, f, i, 1)
    middle = scale(0.5, add(a, b))
    off = sub(look.com, middle)
    time = math.sqrt(max(off[2], LOWEST) / body.gravity)
    half = 0.5 * abs(dot(sub(a, b), look.left))
    return dot(off, look.ahead) + time * look.speed, dot(off, look.left) + time * look.drift, half


@inner
def capture_shortfall(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """m that the capture point is short of where it must be to walk on over the stance foot; below 0 beyond it.

    Between two placed steps that is where the next one begins well.
    """
    foot = foot_place(body, f, i, m.stance)
    off = sub(look.com, foot)
    wanted = k.crossing.capture_lead * body.size
    if m.mode == Mode.DOUBLE_SUPPORT and m.placed:
        wanted = m.capture_wanted[0]
    return wanted - dot(off, look.ahead) - look.speed / pendulum_rate(body, look, foot)


@inner
def capture_inside(body, m, look, f, i):  # type: ignore[no-untyped-def]
    """m that the capture point is to the inside of the stance foot."""
    foot = foot_place(body, f, i, m.stance)
    left = dot(sub(look.com, foot), look.left) + look.drift / pendulum_rate(body, look, foot)
    return -left if m.stance == LEFT else left


@inner
def wanted_inside(body, k, m):  # type: ignore[no-untyped-def]
    """m to the inside of the stance foot where the body should be when the other one leaves the ground.

    From there a pendulum falls to where the other one lands. Who shifts its weight comes from the inside anyway.
    """
    return 0.0 if m.mode == Mode.SHIFT else k.crossing.capture_inside * body.size


@inner
def may_stand(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether a walk that is to end may: nothing more is wished, and both feet can hold the capture point."""
    turn = abs(wrapped(m.wish_heading - look.heading))
    if abs(m.wish_speed) > SLOWEST or abs(m.speed) > STANDS_SPEED or turn > STANDS_TURN:
        return False
    if not (look.touching[0] and look.touching[1]):
        return False
    apart = sub(foot_place(body, f, i, 0), foot_place(body, f, i, 1))
    lean, sway, half = capture_point(body, look, f, i)
    return (
        abs(dot(apart, look.ahead)) < STANDS_APART * body.size
        and dot(apart, look.left) > STANDS_WIDE * stand_width(body, k)
        and -STANDS_BACK * k.stand.lean * body.size < lean < STANDS_AHEAD * k.stand.lean * body.size
        and abs(sway) < STANDS_ASIDE * half
    )


@inner
def may_halt(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether it can come to rest before what it will step over, on both feet as they are."""
    if m.halt != Halt.WANTED or m.speed_limit > 0.0 or not (look.touching[0] and look.touching[1]):
        return False
    apart = sub(foot_place(body, f, i, 0), foot_place(body, f, i, 1))
    lean, sway, half = capture_point(body, look, f, i)
    room = 0.5 * abs(dot(apart, look.ahead))
    wide = dot(apart, look.left) / stand_width(body, k)
    beside = room < HALTS_APART * body.size and HALTS_NARROW < wide < HALTS_WIDE
    most = k.stand.lean * body.size
    ahead = HALTS_LOADED if loaded(body, look) else HALTS_AHEAD
    return beside and -HALTS_BACK * most - room < lean < ahead * most + room and abs(sway) < HALTS_ASIDE * half


@inner
def over_foot(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether the body is so far over the stance foot that the other may leave the ground for long."""
    short = capture_shortfall(body, k, m, look, f, i)
    if m.mode == Mode.DOUBLE_SUPPORT and m.placed:
        if not look.touching[1 - m.stance]:
            return short < 0.0 or m.clock > HOPS
        side = m.capture_wanted[1] if m.stance == RIGHT else -m.capture_wanted[1]
        off = abs(capture_inside(body, m, look, f, i) - side)
        return short < 0.0 and (off < BESIDE * body.size or short < -RUNS * body.size)
    if not look.touching[1 - m.stance]:  # nothing to push off from
        return short < (AIRBORNE_LATE if m.clock > LATE else AIRBORNE) * body.size
    if loaded(body, look):
        if short < TOO_FAST * body.size:
            return False
        off = abs(capture_inside(body, m, look, f, i) - wanted_inside(body, k, m))
        if off > k.crossing.capture_aside * body.size:
            return short < FAST * body.size
    return short < 0.0  # who waits until it is over it sideways as well is too fast then


@inner
def poised(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether the weight is so far on the stance foot that the other may step over something."""
    off = abs(capture_inside(body, m, look, f, i) - wanted_inside(body, k, m))
    near = off < k.crossing.capture_aside * body.size
    return near and capture_shortfall(body, k, m, look, f, i) < POISED * body.size


@inner
def settled(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether it stands as it will go on: at rest, and bent as far as it must."""
    if m.clock < (SETTLES_BENT if m.stoop_distance < UNLIMITED or m.bend > BENT else SETTLES):
        return False
    slow = RESTS * math.sqrt(body.size)
    creeps = abs(look.speed) < slow or capture_shortfall(body, k, m, look, f, i) < CREEPS * body.size
    rests = creeps and abs(look.drift) < slow and abs(look.velocity[2]) < slow
    return rests and m.bend > m.duck_bend - NEARLY and m.crouch > m.duck_crouch - NEARLY
