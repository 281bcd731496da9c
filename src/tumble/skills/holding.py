"""Taking things up and putting them down (coros2010 section 5.5.4: reaching; lifting and moving a crate).

    done = lift(actor, Lift("crate"))       # once a frame

Stages of an act: below `TAKE` it comes near (`approach`), then hands reach, close, take the weight, and the body rises.
Where a hand that is to take something does not get there within `PATIENCE` s, or loses it, it goes `AWAY` and begins
anew, as often as it takes. Trap: lengths here are the humanoid's; `actor.size` makes them the body's.
"""

import math

import numpy as np

from tumble.goals.wants import SIDES
from tumble.skills.actor import CARRIED, SQUAT, STOOP, Actor
from tumble.skills.acts import LetGo, Lift, PickUp, PutDown, ReachFor
from tumble.skills.approach import TAKE, come_before, dock, facing, spot, turned, walk_to
from tumble.walking import memory as mem

TOUCH = 0.035  # m between palm and handle at which a hand closes; ours
GRAB = 0.07  # the same where it walks by
STAND_OFF = 0.42  # m ahead of the pelvis where things are when it bends for them
SET_OFF = 0.45  # m ahead of the feet where things are set down, off the toes
HALT_OFF = 0.53  # m ahead of the feet where that place is when it halts: nobody steps on what marks it
BESIDE = 0.38  # m to the side of the way where things are taken in passing
DOWN, UP = 2.2, 2.0  # s for the whole way down and up
NUDGE = 0.08  # m/s that hands go up until they have the weight
SLOWER = 0.08  # s more for each kg of a load on the way up
REACHED = 0.9  # of an arm's length to which it is stretched for a point; ours
SHOULDER_OUT = 0.18  # m of a shoulder from the middle, of the humanoid
ASKANCE = 0.6  # rad off a point's direction above which it turns before it reaches; ours
TURN_ROOM = 0.4  # m further than the arm comes within which it turns on the spot; ours
CLOSEST = 0.25  # m ahead of the feet where a point is at least: nearer ones are in the body; ours
PATIENCE = 7.0  # s of trying to reach, after which it comes anew

CLOSE, RAISE, AWAY, PASS = TAKE + 1, TAKE + 2, TAKE + 3, TAKE + 4  # stages


def _eased(x: float) -> float:
    """3 x^2 - 2 x^3 of x within 0 and 1: it begins and ends without a speed."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3 - 2 * x)


def _near(actor: Actor, hand: int, target: np.ndarray, within: float = TOUCH) -> bool:
    """Whether a palm is within so many m of a place."""
    return math.dist(actor.palm(hand), target) < within


# Lifting with both hands


def lift(actor: Actor, act: Lift) -> bool:
    """Walk to a crate, bend, take its handles, take its weight, straighten."""
    notes, name = actor.notes, act.name
    if not notes.decided:
        notes.heading, notes.behind = _nearer_side(actor, name)
        notes.decided = 1.0
    handles = actor.handles(name)
    if notes.behind:  # seen from the other side
        handles = handles[::-1]
    if actor.stage < TAKE:
        place = actor.crate_place(name)[:2] - actor.size * STAND_OFF * facing(notes.heading)
        if dock(actor, place, notes.heading):
            actor.stage = TAKE
    elif actor.stage == TAKE:
        near = reach_down(actor, {0: handles[0], 1: handles[1]})
        if all(near):
            for hand in (0, 1):
                actor.hold(hand, name, int(notes.behind) ^ hand)
            actor.stage = CLOSE
    elif actor.stage == CLOSE:
        _take_weight(actor, (0, 1))
    elif actor.stage == RAISE:
        width = 0.5 * math.dist(handles[0], handles[1])
        done = _raise(actor, {0: (CARRIED[0], width, CARRIED[1]), 1: (CARRIED[0], -width, CARRIED[1])})
        if actor.held(0) == actor.held(1) == name:
            return done and actor.stands
    elif actor.stage == AWAY:
        back_off(actor)
    if actor.stage in (CLOSE, RAISE) and (actor.held(0) != name or actor.held(1) != name):
        come_anew(actor)
    return False


def _nearer_side(actor: Actor, name: str) -> tuple[float, float]:
    """Heading to stand with before a crate, and 1 where that is from its other side."""
    turn = actor.crate_turn(name)
    way = actor.crate_place(name)[:2] - actor.place
    first, second = actor.crate(name).handles
    same = abs(first[0] + second[0]) < 0.02 and abs(first[1] + second[1]) < 0.02  # as good from behind
    return (turn + math.pi, 1.0) if same and way @ facing(turn) < 0 else (turn, 0.0)


def reach_down(actor: Actor, targets: dict[int, np.ndarray]) -> list[bool]:
    """Bring hands to places, bending as far as it takes; which are there.

    For 0.8 s it only reaches, then it bends: stooping for two hands, squatting for one.

    Args:
      targets: places (3,) in the world, m, by hand.
    """
    actor.wish(speed=0.0)
    for hand, target in targets.items():
        actor.reach(hand, target)
    near = [_near(actor, hand, target) for hand, target in targets.items()]
    if not all(near) and actor.clock > 0.8:
        actor.lower(1.0, DOWN, STOOP if len(targets) > 1 else SQUAT)
    if actor.clock > PATIENCE:
        come_anew(actor)
    return near


def come_anew(actor: Actor) -> None:
    """Let go, straighten, step back, try again."""
    actor.let_go()
    actor.stage = AWAY


def back_off(actor: Actor) -> None:
    """After `come_anew`: up, then back, then from the start."""
    if actor.lower(0.0, UP) > 0.0:
        actor.wish(speed=0.0)
    elif actor.clock < UP + 3.0:
        actor.wish(speed=-0.25)
    else:
        actor.wish(speed=0.0)
        actor.begin_anew()


def _take_weight(actor: Actor, hands: tuple[int, ...]) -> None:
    """Wait until the hands hold firmly, then take the weight; notes where they are."""
    if not all(actor.firm(hand) for hand in hands):
        return
    actor.wish(load=1.0)
    if actor.load >= 1.0:
        actor.raise_hands(hands, NUDGE)
    if actor.load >= 1.0 and (actor.carried > 0.9 or actor.clock > PATIENCE):
        for i, hand in enumerate(hands):
            place = actor.from_pelvis(actor.palm(hand))
            actor.notes.grasp[i] = place[0], place[2]
        actor.stage = RAISE


def _raise(actor: Actor, carried: dict[int, tuple[float, float, float]]) -> bool:
    """Bring hands from where they took hold to where they carry, and straighten; whether it is done.

    Args:
      carried: (ahead, left, up) of the pelvis by hand, m; ahead and up are the humanoid's.
    """
    seconds = UP + SLOWER * sum(actor.load_mass(hand) for hand in carried)
    share = _eased(actor.clock / seconds)
    for i, (hand, (ahead, left, up)) in enumerate(carried.items()):
        x, z = actor.notes.grasp[i]
        ahead, up = actor.size * ahead, actor.size * up
        actor.reach(hand, (x + share * (ahead - x), left, z + share * (up - z)), mem.HandFrame.BODY)
    return actor.lower(0.0, seconds) == 0.0 and share == 1.0


# Picking up with one hand


def pick_up(actor: Actor, act: PickUp) -> bool:
    """Walk to a thing and take it: in passing where it is high enough, else it stops and bends for it."""
    notes, name = actor.notes, act.name
    thing = actor.crate_place(name)
    if not notes.decided:
        _decide(actor, thing)
    hand = int(notes.hand)
    side = 1.0 if hand == 0 else -1.0
    ahead = facing(notes.heading)
    left = np.array([-ahead[1], ahead[0]])
    if actor.stage < TAKE:
        place = thing[:2] - actor.size * (STAND_OFF * ahead + 0.18 * side * left)
        if dock(actor, place, notes.heading):
            actor.stage = TAKE
    elif actor.stage == PASS:
        _pass_by(actor, thing, hand, ahead, thing[:2] - actor.size * BESIDE * side * left)
        if actor.stage == CLOSE:
            actor.hold(hand, name, 0)
    elif actor.stage == TAKE:
        if all(reach_down(actor, {hand: thing})):
            actor.hold(hand, name, 0)
            actor.stage = CLOSE
    elif actor.stage == CLOSE:
        _take_weight(actor, (hand,))
    elif actor.stage == RAISE:
        done = _raise(actor, {hand: (0.30, side * 0.22 * actor.size, 0.12)})
        if actor.held(hand) == name:
            return done
    elif actor.stage == AWAY:
        back_off(actor)
    if actor.stage in (CLOSE, RAISE) and actor.held(hand) != name:
        come_anew(actor)
    return False


def _decide(actor: Actor, thing: np.ndarray) -> None:
    """Which hand, which way, and whether in passing."""
    way = thing[:2] - actor.place
    heading = math.atan2(way[1], way[0])
    turn = turned(heading, actor.heading)
    free = [hand for hand in (0, 1) if actor.held(hand) is None]
    wanted = 0 if turn > 0 else 1
    actor.notes.heading, actor.notes.hand = heading, wanted if wanted in free else free[0]
    actor.notes.decided = 1.0
    if thing[2] - actor.ground > actor.shoulder - 0.75 * actor.arm and np.hypot(*way) > 1.2:
        actor.stage = PASS


def _pass_by(actor: Actor, thing: np.ndarray, hand: int, ahead: np.ndarray, place: np.ndarray) -> None:
    """Walk past a thing and take it on the way."""
    off = float((place - actor.place) @ ahead)
    walk_to(actor, place + 1.2 * ahead, stop=False)
    actor.wish(speed=min(actor.pace, 0.5, max(0.3, 0.4 * off)))
    if off < 0.9 * actor.size:
        actor.reach(hand, thing)
    if _near(actor, hand, thing, GRAB):
        actor.stage = CLOSE
    elif off < -0.3:
        come_anew(actor)


# Reaching


def reach_for(actor: Actor, act: ReachFor) -> bool:
    """Face a point, walk until it is within a hand's reach, bring the hand there, bending if need be, and keep it."""
    point, hand = np.array(act.target), SIDES.index(act.hand)
    way = point[:2] - actor.place
    away = float(np.hypot(*way))
    aside = SHOULDER_OUT * actor.size * (1.0 if hand == 0 else -1.0)  # m to the left
    heading = math.atan2(way[1], way[0]) - math.asin(min(max(aside / max(away, 0.3), -0.9), 0.9))
    off = abs(turned(heading, actor.heading))
    up = min(abs(point[2] - actor.ground - actor.shoulder), REACHED * actor.arm)
    out = max(math.sqrt((REACHED * actor.arm) ** 2 - up * up), CLOSEST * actor.size)  # m ahead that the arm comes to
    if actor.stage < TAKE:
        if off > ASKANCE and away < out + TURN_ROOM:
            actor.wish(speed=0.0, heading=heading)
        elif come_before(actor, point[:2], out):
            actor.stage = TAKE
    elif off > ASKANCE:
        actor.stage = 0
    elif actor.clock < PATIENCE:
        reach_down(actor, {hand: point})
    if actor.stage < TAKE and off < ASKANCE and away < out + TURN_ROOM:
        actor.reach(hand, point)
    return False


# Putting down


def put_down(actor: Actor, act: PutDown) -> bool:
    """Bring what is held to a place, bend, set it down, let go, straighten."""
    held = {hand: name for hand in (0, 1) if (name := actor.held(hand)) is not None}
    hands, name = tuple(held), next(iter(held.values()), "")
    notes = actor.notes
    if not hands and actor.stage < RAISE:
        return True
    if not notes.decided:
        place = actor.crate_place(name)[:2] if act.place is None else spot(actor, act.place)
        notes.place, notes.decided = place, 1.0
        if act.place is None:
            actor.stage = TAKE
    place = notes.place
    if actor.stage < TAKE:
        if come_before(actor, place, actor.size * HALT_OFF):
            actor.stage = TAKE
    elif actor.stage == TAKE:
        if _set_down(actor, name, hands, place):
            actor.wish(load=0.0)
            for hand in hands:
                actor.reach(hand, actor.palm(hand))
            actor.stage = CLOSE
    elif actor.stage == CLOSE:
        if actor.clock > 0.3 and actor.load <= 0.0:
            actor.let_go()
            actor.stage = RAISE
    elif actor.stage == RAISE:
        return actor.lower(0.0, UP) == 0.0 and actor.stands
    return False


def _set_down(actor: Actor, name: str, hands: tuple[int, ...], place: np.ndarray) -> bool:
    """Lower what is held towards a place on the ground; whether it stands there."""
    actor.wish(speed=0.0)
    if not actor.stands and actor.clock < 1.0:
        return False
    crate, middle, notes = actor.crate(name), actor.crate_place(name), actor.notes
    if not notes.begun:
        notes.begin, notes.begun = middle, 1.0
        if len(hands) > 1:  # straight ahead: what swings aside or far out pulls a body that bends off its feet
            ahead, feet = facing(actor.heading), actor.weight_place
            far = min(max(float((place - feet) @ ahead) / actor.size, SET_OFF - 0.03), SET_OFF + 0.05)
            place[:] = feet + actor.size * far * ahead
    low = actor.lower(1.0, DOWN + SLOWER * crate.mass, STOOP if len(hands) > 1 else SQUAT)
    ground = actor.ground + crate.half[2]
    begin = notes.begin
    to = begin + _eased(1.3 * low) * (np.array([*place, ground - 0.03]) - begin)
    for hand in hands:
        actor.reach(hand, to + (actor.palm(hand) - middle))
    low_enough = middle[2] < ground + 0.02  # on a plate that is not the ground, too
    touches = middle[2] < ground + 0.08 and actor.sims.view(f"{name}.ground")[actor.row, 0] > 0
    return bool(low_enough or touches) or actor.clock > PATIENCE


def let_go(actor: Actor, act: LetGo) -> bool:
    """Open the hands."""
    actor.let_go()
    return True
