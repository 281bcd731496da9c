"""Getting there: walking to a place, and standing at one facing somewhere (coros2010 section 5.5.4)."""

import math

import numpy as np

from tumble.skills.actor import Actor
from tumble.skills.acts import Go, Place

NEAR = 0.12  # m from a place where it has come; ours
SLOWEST = 0.15  # m/s of an approach; ours
BRAKE = 0.8  # m/s for each m that is left
AROUND = 0.95  # m from what it walks around, sideways
RUN_UP = 0.9  # m of the last, straight part of the way to where it stands facing something


def facing(heading: float) -> np.ndarray:
    """(2,): the direction of a heading."""
    return np.array([math.cos(heading), math.sin(heading)])


def spot(actor: Actor, place: Place) -> np.ndarray:
    """(2,): where a place is by now."""
    return actor.prop_place(place) if isinstance(place, str) else np.array(place)


def go(actor: Actor, act: Go) -> bool:
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
    if left < NEAR or (left < 0.5 and _passed(actor, way)):
        actor.wish(speed=0.0)
        return actor.stands or not stop
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
    off = (heading - actor.heading + math.pi) % (2 * math.pi) - math.pi
    return actor.stands and abs(off) < 0.15


def dock(actor: Actor, place: np.ndarray, heading: float, wide: float = AROUND) -> bool:
    """Walk to a place so that it stands there facing `heading`; whether it does.

    It comes round what stands there, `wide` m from it, and goes the last part straight.
    """
    ahead = facing(heading)
    left = np.array([-ahead[1], ahead[0]])
    off = actor.place - place
    along, side = float(off @ ahead), float(off @ left)
    turn = (heading - actor.heading + math.pi) % (2 * math.pi) - math.pi
    if actor.stage == 0:  # round it
        sign = 1.0 if side >= 0 else -1.0
        if along < -0.5 and abs(side) < 0.5 * -along:
            actor.stage = 1
        elif along > -0.6 * RUN_UP and abs(side) < wide - 0.1:
            walk_to(actor, place + ahead * min(along, 1.5) + left * sign * wide, stop=False)
        elif along > -RUN_UP:
            walk_to(actor, place - ahead * 1.3 * RUN_UP + left * sign * 0.5 * wide, stop=False)
        else:
            walk_to(actor, place - ahead * RUN_UP, stop=False)
        return False
    if actor.stage == 1:  # along the line
        steer = math.atan2(-side, 0.5)
        actor.wish(heading=heading + min(max(steer, -0.6), 0.6) if along < -0.25 else heading)
        actor.wish(speed=min(actor.pace, max(SLOWEST, BRAKE * -along)))
        if along > -0.06:
            actor.stage = 2
        return False
    actor.wish(speed=0.0, heading=heading)
    return actor.stands and abs(turn) < 0.2 and actor.clock > 0.4
