"""Pushing and pulling crates that are too heavy to carry (coros2010 section 5.5.4).

    done = push(actor, PushCrate("crate", 2.0))      # once a frame

It docks before the handles, takes them, straightens, and walks with a force through its arms of 1.1 times what
friction takes, mu m g. The way is the crate's own x axis as it lies when the act begins. Where a hand loses its grip,
it steps back and begins the act anew: the distance is counted from where the crate is then.
"""

import math

import numpy as np

from tumble.skills.actor import Actor
from tumble.skills.acts import PullCrate, PushCrate
from tumble.skills.approach import TAKE, dock, facing, turned
from tumble.skills.holding import AWAY, back_off, come_anew, reach_down
from tumble.walking import memory as mem

PUSH_PACE, PULL_PACE = 0.4, 0.25  # m/s; ours
STAND_OFF = 0.38  # m from the handles; ours
PUSH_REACH, PULL_REACH = 0.38, 0.46  # m ahead of the pelvis where hands push and pull; ours
GRAVITY = 9.81  # m/s^2
STUCK = 0.03  # m/s of a crate that does not come along
SHIFT = 0.6  # m that the hands go sideways for each m that a pulled crate is off its line
STEER = 0.8  # rad that it turns back for each rad that a pushed crate has turned
DRIFT, FASTEST_DRIFT = 0.6, 0.1  # m/s sideways for each m that crate and body are off the line, and at most
TUG, TUG_PERIOD = 0.25, 1.4  # rad of the trunk to and fro, s; section 5.5.4: sporadic tugging by the bend; ours

CLOSE, HAUL, STOP = TAKE + 1, TAKE + 2, AWAY + 1  # stages


def push(actor: Actor, act: PushCrate) -> bool:
    """Walk to a crate, take its handles, push it ahead."""
    return _haul(actor, act.name, act.distance, 1.0)


def pull(actor: Actor, act: PullCrate) -> bool:
    """Walk to a crate, take its handles, walk backwards with it."""
    return _haul(actor, act.name, act.distance, -1.0)


def _haul(actor: Actor, name: str, distance: float, way: float) -> bool:
    """One frame of a push (way 1) or a pull (-1) of `distance` m; whether it is done.

    The last is when the crate has moved so far along its way and the hands have let the force go.
    """
    notes = actor.notes
    if not notes.decided:
        notes.heading, notes.decided = actor.crate_turn(name), 1.0
    ahead = facing(notes.heading)
    handles = actor.handles(name)
    if actor.stage < TAKE:
        if dock(actor, handles.mean(axis=0)[:2] - actor.size * STAND_OFF * ahead, notes.heading):
            actor.stage = TAKE
    elif actor.stage == TAKE:
        if all(reach_down(actor, {0: handles[0], 1: handles[1]})):
            for hand in (0, 1):
                actor.hold(hand, name, hand)
            actor.stage = CLOSE
    elif actor.stage == CLOSE:  # straighten with the hands where they are
        if actor.firm(0) and actor.firm(1) and actor.lower(0.0, 2.0) == 0.0 and actor.clock > 1.0 and actor.stands:
            notes.start = actor.crate_place(name)[:2]
            for hand in (0, 1):
                _, notes.hand_left[hand], notes.hand_up = actor.from_pelvis(actor.palm(hand))
            actor.stage = HAUL
    elif actor.stage == AWAY:
        back_off(actor)
    elif actor.held(0) != name or actor.held(1) != name:
        come_anew(actor)
    elif actor.stage == HAUL:
        moved = way * float((actor.crate_place(name)[:2] - notes.start) @ ahead)
        pace = PUSH_PACE if way > 0 else PULL_PACE
        _lean_in(actor, name, way * min(pace, actor.pace, max(0.12, 0.8 * (distance - moved))))
        if moved > distance - 0.03:
            actor.wish(speed=0.0, drift=0.0, bend=0.0, haul=0.0)
            actor.stage = STOP
    elif actor.haul == 0.0:
        actor.let_go()
        return True
    return False


def _lean_in(actor: Actor, name: str, speed: float) -> None:
    """Walk with short steps, which lean the body, and steer the crate; tug where it stays where it is.

    Args:
      speed: m/s ahead; below 0 it pulls.
    """
    crate, notes = actor.crate(name), actor.notes
    slow = np.linalg.norm(actor.sims.view(f"{name}.vel")[actor.row]) < STUCK
    notes.stuck = notes.stuck + 1 if slow else 0
    tug = TUG * math.sin(2 * math.pi * actor.clock / TUG_PERIOD) if notes.stuck > 75 else 0.0
    steer, drift, shift = _back_to_line(actor, name, speed > 0)
    ahead = actor.size * (PUSH_REACH if speed > 0 else PULL_REACH)
    for hand in (0, 1):
        actor.reach(hand, (ahead, notes.hand_left[hand] + shift, notes.hand_up), mem.HandFrame.BODY)
    force = math.copysign(1.1 * GRAVITY * crate.friction * crate.mass, speed)
    heading = float(notes.heading) + steer
    actor.wish(speed=speed, heading=heading, drift=drift, bend=tug, haul=force)


def _back_to_line(actor: Actor, name: str, pushes: bool) -> tuple[float, float, float]:
    """What brings a crate back to its line: rad to turn, m/s to walk sideways, m to shift the hands, to the left."""
    notes = actor.notes
    left = facing(notes.heading + math.pi / 2)
    aside = float((actor.crate_place(name)[:2] - notes.start) @ left)
    off = 0.5 * (aside + float((actor.place - notes.start) @ left))
    drift = -_bounded(DRIFT * off, FASTEST_DRIFT)
    if not pushes:
        return 0.0, drift, -_bounded(SHIFT * aside, 0.2)
    return -_bounded(STEER * turned(actor.crate_turn(name), notes.heading), 0.4), drift, 0.0


def _bounded(value: float, most: float) -> float:
    """The value within -most and most."""
    return min(max(value, -most), most)
