"""Pushing and pulling crates that are too heavy to carry (coros2010 section 5.5.4)."""

import math

import numpy as np

from tumble.skills.acts import Pull, Push
from tumble.skills.actor import Actor
from tumble.skills.approach import dock, facing
from tumble.walking import memory as mem

ALPHA = 0.15  # s: 0.2 instead of 0.05, section 5.5.4
PACE = 0.4  # m/s
STAND_OFF = 0.45  # m from the handles; ours
TOUCH = 0.04  # m
STUCK = 0.03  # m/s of a crate that does not come along
TUG, TUG_PERIOD = 0.25, 1.4  # rad of the trunk to and fro, s; section 5.5.4: sporadic tugging by the bend; ours

TAKE, CLOSE, HAUL, STOP = 3, 4, 5, 6  # stages; `dock` has 0 to 2
HEADING, START_X, START_Y, STILL, DECIDED = 0, 1, 2, 3, 7  # notes


def push(actor: Actor, act: Push) -> bool:
    """Walk to a crate, take its handles, push it ahead."""
    return _haul(actor, act.name, act.distance, 1.0)


def pull(actor: Actor, act: Pull) -> bool:
    """Walk to a crate, take its handles, walk backwards with it."""
    return _haul(actor, act.name, act.distance, -1.0)


def _haul(actor: Actor, name: str, distance: float, way: float) -> bool:
    notes = actor.notes
    if not notes[DECIDED]:
        notes[HEADING], notes[DECIDED] = actor.crate_turn(name), 1.0
    ahead = facing(notes[HEADING])
    handles = actor.handles(name)
    if actor.stage < TAKE:
        if dock(actor, handles.mean(axis=0)[:2] - actor.size * STAND_OFF * ahead, notes[HEADING]):
            actor.stage = TAKE
    elif actor.stage == TAKE:
        for hand in (0, 1):
            actor.reach(hand, handles[hand])
        if all(math.dist(actor.palm(hand), handles[hand]) < TOUCH for hand in (0, 1)):
            for hand in (0, 1):
                actor.hold(hand, name, hand)
            actor.stage = CLOSE
        elif actor.clock > 5.0:
            actor.let_go()
            actor.stage, notes[DECIDED] = 0, 0.0
    elif actor.stage == CLOSE:
        if actor.firm(0) and actor.firm(1):
            notes[START_X : START_Y + 1] = actor.crate_place(name)[:2]
            for hand in (0, 1):
                actor.reach(hand, actor.from_pelvis(actor.palm(hand)), mem.BODY)
            actor.stage = HAUL
    elif actor.held(0) != name or actor.held(1) != name:  # a grip broke: take it again
        actor.let_go()
        actor.wish(speed=0.0, bend=0.0)
        actor.stage = 0
    elif actor.stage == HAUL:
        moved = way * float((actor.crate_place(name)[:2] - notes[START_X : START_Y + 1]) @ ahead)
        _lean_in(actor, name, way * min(PACE, actor.pace, max(0.12, 0.8 * (distance - moved))))
        if moved > distance - 0.03:
            actor.wish(speed=0.0, bend=0.0, alpha=0.0)
            actor.stage = STOP
    elif actor.stands or actor.clock > 3.0:
        actor.let_go()
        return True
    return False


def _lean_in(actor: Actor, name: str, speed: float) -> None:
    """Walk with short steps, which lean the body; tug where the crate stays where it is."""
    slow = np.linalg.norm(actor.sims.view(f"{name}.vel")[actor.row]) < STUCK
    actor.notes[STILL] = actor.notes[STILL] + 1 if slow else 0
    tug = TUG * math.sin(2 * math.pi * actor.clock / TUG_PERIOD) if actor.notes[STILL] > 50 else 0.0
    actor.wish(speed=speed, heading=float(actor.notes[HEADING]), alpha=ALPHA, bend=tug)
