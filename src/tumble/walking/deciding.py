"""Stand, start, step or stop: the machine whose states are `Mode` (coros2010 sections 5.3.1 and 5.5.1).

STAND -> SHIFT            something is wished
SHIFT -> WALK             the weight is on the stance foot
STAND, SHIFT -> WALK      a push has moved the capture point beyond what both feet can hold
WALK -> WALK              the swing foot strikes: the legs swap roles
WALK -> STAND             it strikes, and the walk may end, or is to halt before something
WALK -> DOUBLE_SUPPORT    it strikes beyond something with the body behind it, or a load makes the start fall short
DOUBLE_SUPPORT -> WALK    the body has come over the front foot
"""

from tumble.maths.compiled import inner
from tumble.maths.vectors import along, dot, sub, wrapped
from tumble.walking.body import LEGS, SHIN, THIGH
from tumble.walking.capture import (
    capture_point,
    capture_shortfall,
    may_halt,
    may_stand,
    over_foot,
    poised,
    settled,
)
from tumble.walking.hands import busy
from tumble.walking.memory import LEFT, RIGHT, Halt, Mode
from tumble.walking.steps import (
    HIGHER,
    SLOWEST,
    ankle_of,
    crosses,
    far_enough,
    foot_place,
    loaded,
    step_time,
)

# Lengths of a body of the humanoid's size; all ours.
STARTS_TURN = 0.2  # rad still to turn above which it steps for that
CROUCHES = 0.1  # rad of the knees, from which on nobody turns
PUSHED_AFTER = 0.1  # s in a mode before a push is looked for
LONGEST_SHIFT = 0.6  # s after which it steps though its weight has not shifted
ALIGNED = 0.01  # m between the feet sideways below which there is nothing to shift
FALLS_SHORT_UNTIL = 0.1  # phase up to which a step may still be put off
LANDS_FROM = 0.2  # phase from which a foot that steps against a push may land at once
LANDS_BEFORE = 0.05  # m before where it may come down, at which a foot may land all the same
LANDS_BELOW = 2.0  # of the ankle's height above the sole: a foot that is not higher has landed


@inner
def decide(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Move the clock and the phase on, and change the mode where it is time to.

    Phase phi = t / T of the step; a step ends when its foot strikes from `earliest_strike` on, or at `latest_strike`.
    """
    m.clock += body.dt
    if m.mode == Mode.WALK:
        _walk_on(body, k, m, look, f, i)
    elif m.mode == Mode.DOUBLE_SUPPORT:
        over = m.clock > 0.0 and over_foot(body, k, m, look, f, i)
        if over or m.clock > k.crossing.longest_double_support:
            _begin_step(body, m, f, i, m.stance)
    else:
        _stand_on(body, k, m, look, f, i)


@inner
def _walk_on(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """On one foot: go on with the step until it ends."""
    if _falls_short(body, k, m, look, f, i):
        m.mode, m.clock = Mode.DOUBLE_SUPPORT, 0.0
        return
    rate = m.phase_rate if m.phase < 1.0 and crosses(body, m) else 1.0
    m.phase += rate * body.dt / step_time(body, k, m, look, f, i)
    under_way = not m.planned and m.phase > LANDS_FROM and m.phase < 1.0
    if under_way and far_enough(body, k, m, look, f, i):
        m.phase = 1.0
    if m.phase >= k.steps.latest_strike or (m.phase > k.steps.earliest_strike and _lands(body, m, look, f, i)):
        _strike(body, k, m, look, f, i)


@inner
def _strike(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """The swing foot has landed: stand, or go on over it."""
    swing = 1 - m.stance
    chosen = m.planned and look.touching[swing] and (m.halt != Halt.WANTED or crosses(body, m))
    if may_stand(body, k, m, look, f, i):
        m.mode, m.clock = Mode.STAND, 0.0
        return
    if may_halt(body, k, m, look, f, i):
        _stop(body, m, look, f, i)
        return
    leads = crosses(body, m) and m.halt == Halt.STOOD
    if crosses(body, m):
        m.halt = Halt.NONE
    m.stance = swing
    _note_hip(body, m, f, i)
    if chosen and (m.placed or leads or not over_foot(body, k, m, look, f, i)):
        m.mode, m.clock = Mode.DOUBLE_SUPPORT, -k.crossing.shortest_double_support if leads else 0.0
    else:
        _begin_step(body, m, f, i, swing)


@inner
def _stand_on(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """On both feet: step against a push, or shift the weight and begin to walk where that is wished."""
    lean, sway, half = capture_point(body, look, f, i)
    steady = k.stand.busy_steadiness if busy(m) or m.halt == Halt.STOOD else 1.0  # who steps while bent down falls
    pushed = abs(lean) > steady * k.stand.lean * body.size or abs(sway) > half + steady * k.stand.sway * body.size
    turn = wrapped(m.wish_heading - look.heading) if m.crouch < CROUCHES else 0.0
    if pushed and m.clock > PUSHED_AFTER:
        m.halt = Halt.NONE
        m.heading = look.heading
        _begin_step(body, m, f, i, LEFT if sway < 0.0 else RIGHT)
    elif m.mode == Mode.SHIFT:
        if _shifted(body, k, m, look, f, i):
            _begin_step(body, m, f, i, m.stance)
    elif m.halt == Halt.STOOD and not settled(body, k, m, look, f, i):
        return
    elif (abs(m.wish_speed) > SLOWEST and not m.blocked) or abs(turn) > STARTS_TURN:
        m.mode, m.clock = Mode.SHIFT, 0.0
        m.heading = look.heading
        if m.halt != Halt.STOOD:
            m.stance = RIGHT if turn > 0.0 else LEFT  # turn left: the left leg steps first


@inner
def _shifted(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether the weight is on the stance foot, so that the other may leave the ground."""
    if m.halt == Halt.STOOD:
        return poised(body, k, m, look, f, i) or m.clock > k.crossing.longest_double_support
    stance, other = foot_place(body, f, i, m.stance), foot_place(body, f, i, 1 - m.stance)
    whole = dot(sub(stance, other), look.left)
    moved = dot(sub(look.com, other), look.left) / whole if abs(whole) > ALIGNED else 1.0
    return moved > 0.5 + 0.5 * k.stand.shift_share or m.clock > LONGEST_SHIFT


@inner
def _note_hip(body, m, f, i):  # type: ignore[no-untyped-def]
    """Note how high the stance hip is, from where a placed step carries it on."""
    m.hip_height, m.hip_speed = f.xanchor[i, body.joint[LEGS + 4 * m.stance + THIGH], 2], f.qvel[i, 2]
    m.hip_from[0], m.hip_from[1] = m.hip_height, m.hip_speed


@inner
def _begin_step(body, m, f, i, stance):  # type: ignore[no-untyped-def]
    """The other foot than `stance` leaves the ground, from where it is."""
    ankle = ankle_of(body, f, i, 1 - stance)
    m.mode, m.stance, m.phase, m.clock = Mode.WALK, stance, 0.0, 0.0
    m.swing_start[0], m.swing_start[1], m.swing_start[2] = ankle
    _note_hip(body, m, f, i)
    m.footstrikes += 1
    m.phase_rate = 1.0


@inner
def _stop(body, m, look, f, i):  # type: ignore[no-untyped-def]
    """Stand; the foot that is further ahead will bear the weight when the other steps over something."""
    for leg in (LEGS, LEGS + 4):  # knees that are told to bend all at once would lift the feet
        m.crouch = min(m.crouch, max(f.qpos[i, body.angle[body.joint[leg + SHIN]]], 0.0))
    apart = sub(foot_place(body, f, i, LEFT), foot_place(body, f, i, RIGHT))
    m.mode, m.clock, m.halt = Mode.STAND, 0.0, Halt.STOOD
    m.stance = LEFT if dot(apart, look.ahead) > 0.0 else RIGHT


@inner
def _falls_short(body, k, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether a step up or over something has begun with a load not yet over the stance foot, and can still wait."""
    if not loaded(body, look) or not m.planned or m.level_step or m.trailing or m.phase > FALLS_SHORT_UNTIL:
        return False
    up = m.obstacle_top > m.ground + HIGHER * body.size
    return up and look.touching[1 - m.stance] and capture_shortfall(body, k, m, look, f, i) > 0.0


@inner
def _lands(body, m, look, f, i):  # type: ignore[no-untyped-def]
    """Whether the swing foot touches the ground, and not what it is still to pass."""
    swing = 1 - m.stance
    if not look.touching[swing] or not m.planned or m.level_step:
        return look.touching[swing]
    ankle = ankle_of(body, f, i, swing)
    past = along(m.heading, ankle) > m.clear_to - LANDS_BEFORE * body.size
    return past and ankle[2] - m.foothold[2] < LANDS_BELOW * body.legs.ankle[swing]
