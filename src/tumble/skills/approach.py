"""Getting there: walking to a place, and standing at one facing somewhere (coros2010 section 5.5.4).

    if walk_to(actor, np.array([2.0, 1.0])):     # once a frame, until it is True
        actor.stage = TAKE

All functions wish for speeds and headings and return whether they are done; whoever calls them no more leaves the
last wish standing. Trap: `come_before` and `dock` use the stages below `TAKE` for themselves, so that an act which
approaches begins its own stages there.
"""

import math

import numpy as np

from tumble.skills.actor import Actor
from tumble.skills.acts import GoTo, Place

NEAR = 0.12  # m from a place where it has come; ours
SLOWEST = 0.15  # m/s of an approach; ours
BRAKE = 0.7  # m/s for each m that is left
AROUND = 0.95  # m from what it walks around, sideways
RUN_UP = 1.1  # m of the last, straight part of the way to where it stands facing something
HALT_BEFORE = 0.07  # m before a place where it stops, because it needs another step to come to rest
STRAIGHT = 0.8  # m of that at least
ASIDE = 0.18  # m off the line at which it tries again
ROUND, LINE, HALT, BACK = 0, 1, 2, 3  # stages of `dock`
TAKE = 4  # the first stage after it


def facing(heading: float) -> np.ndarray:
    """(2,): the direction of a heading."""
    return np.array([math.cos(heading), math.sin(heading)])


def spot(actor: Actor, place: Place) -> np.ndarray:
    """(2,): where a place is by now; live where it is that of a prop that moves."""
    return actor.prop_place(place) if isinstance(place, str) else np.array(place)


def go(actor: Actor, act: GoTo) -> bool:
    """Walk to a place, or to where one stands before a prop."""
    goal = spot(actor, act.place)
    if isinstance(act.place, str):
        way = actor.place - goal
        goal = goal + way * (actor.room(act.place) / max(float(np.hypot(*way)), 1e-6))
    return walk_to(actor, goal)


def walk_to(actor: Actor, place: np.ndarray, stop: bool = True) -> bool:
    """Head for a place, slower as it comes near where it is to stop; whether it is there, and stands."""
    way = np.subtract(place, actor.place)
    left = float(np.hypot(*way))
    if stop and (left < NEAR or (left < 0.5 and _passed(actor, way))):
        actor.wish(speed=0.0)
        return actor.stands
    if left > 0.25:
        actor.wish(heading=math.atan2(way[1], way[0]))
    speed = min(actor.pace, max(SLOWEST, BRAKE * left)) if stop else actor.pace
    actor.wish(speed=speed)
    return False


def _passed(actor: Actor, way: np.ndarray) -> bool:
    """Whether a place lies behind."""
    return bool(math.cos(actor.heading) * way[0] + math.sin(actor.heading) * way[1] < 0.0)


def turn_to(actor: Actor, heading: float) -> bool:
    """Turn on the spot; whether it faces that way and stands."""
    actor.wish(speed=0.0, heading=heading)
    return actor.stands and abs(turned(heading, actor.heading)) < 0.15


def come_before(actor: Actor, place: np.ndarray, distance: float) -> bool:
    """Walk until a place is so many m ahead of its feet, from wherever it comes; whether it stands there.

    Feet are where the centre of mass is, load included. The heavier the load, over `HEAVY`, the slower it comes.
    """
    way = np.subtract(place, actor.weight_place)
    left = float(np.hypot(*way)) - distance
    if left > 0.15:
        actor.wish(heading=math.atan2(way[1], way[0]))
    if actor.stage != HALT and left < HALT_BEFORE:
        actor.stage = HALT
    if actor.stage != HALT:
        light = 1.0 / (1.0 + actor.burden)
        about_turn = abs(turned(math.atan2(way[1], way[0]), actor.heading)) > 0.5
        pace = SLOWEST if about_turn and light < 1.0 else light * actor.pace  # or it would walk in circles
        actor.wish(speed=min(pace, max(SLOWEST, light * light * BRAKE * left)))
        return False
    actor.wish(speed=0.0)
    stood = actor.still and actor.clock > 0.8
    if stood and left > 0.12:
        actor.stage = ROUND
    return stood and actor.stage == HALT


def dock(actor: Actor, place: np.ndarray, heading: float, wide: float = AROUND) -> bool:
    """Walk to a place so that it stands there facing `heading`; whether it does. Stages `ROUND` to `BACK` are its.

    It comes round what stands there, `wide` m from it, goes the last part straight, and goes back for another try
    where it has come too far aside.
    """
    ahead = facing(heading)
    left = np.array([-ahead[1], ahead[0]])
    off = actor.place - place
    along, side = float(off @ ahead), float(off @ left)
    astray = abs(side) > ASIDE or abs(turned(heading, actor.heading)) > 0.4
    if actor.stage == ROUND:
        if along < -STRAIGHT and abs(side) < 0.2 * -along:
            actor.stage = LINE
        else:
            _go_round(actor, place, ahead, left, along, side, wide)
    elif actor.stage == LINE:
        actor.wish(heading=heading + min(max(math.atan2(-side, 0.5), -0.6), 0.6) if along < -0.25 else heading)
        about_turn = abs(turned(heading, actor.heading)) > 0.6
        actor.wish(speed=0.1 if about_turn else min(actor.pace, max(SLOWEST, BRAKE * -along)))
        if along > -0.4 and (abs(side) > 0.08 or abs(turned(heading, actor.heading)) > 0.3):
            actor.stage = BACK
        elif along > -HALT_BEFORE:
            actor.stage = HALT
    elif actor.stage == BACK:
        actor.wish(speed=-0.35, heading=heading + min(max(0.8 * side, -0.4), 0.4))
        if along < -RUN_UP:
            actor.stage = ROUND
    else:
        actor.wish(speed=0.0, heading=heading)
        stood = actor.still and actor.clock > 0.8
        if stood and along < -0.1:
            actor.stage = LINE  # another step
        elif stood and astray:
            actor.stage = BACK
        return stood and actor.stage == HALT
    return False


def _go_round(
    actor: Actor, place: np.ndarray, ahead: np.ndarray, left: np.ndarray, along: float, side: float, wide: float
) -> None:
    """Towards the start of the straight part, sideways first where what stands there is in between."""
    sign = 1.0 if side >= 0 else -1.0
    if along > -0.6 * RUN_UP and abs(side) < wide - 0.25:
        walk_to(actor, place + ahead * min(along, 1.5) + left * sign * wide, stop=False)
    elif along > -RUN_UP:
        walk_to(actor, place - ahead * 1.3 * RUN_UP + left * sign * 0.4 * wide, stop=False)
    else:
        walk_to(actor, place - ahead * RUN_UP, stop=False)
        actor.wish(speed=min(actor.pace, max(0.3, math.hypot(along + RUN_UP, side))))


def turned(a: float, b: float) -> float:
    """The angle from b to a, within half a turn."""
    return (a - b + math.pi) % (2 * math.pi) - math.pi
