"""Pairs of a state and an action in slots, which are used again when nobody holds them.

    pairs = no_pairs(room=40_000, features=175, size=24)
    slot = add(pairs, state, action)          # held once, as one of the last
    pairs.holders[slot] += 1                  # by a tree that has it
    release(pairs, np.array([slot]))          # and no more

A slot is a row of `states` and `actions`. Trees name pairs by their slots, so that a pair is kept once however many
trees have it.
"""

from typing import NamedTuple

import numpy as np

RECENT = 100  # last pairs that are searched one by one, rajamaki2017 section 3.2


class Pairs(NamedTuple):
    """Pairs in slots that are used again when nobody holds them.

    Attributes:
      states, actions: (room, features), (room, size).
      holders: (room,), trees that have the pair, one more if it is among the last, one more if gathered.
      numbers: (room,), how many were added before.
      free: (room,), a stack of free slots.
      recent: (RECENT,), slots of the last pairs; pair number i at i % RECENT.
      totals: (2,): free slots, pairs ever added.
    """

    states: np.ndarray
    actions: np.ndarray
    holders: np.ndarray
    numbers: np.ndarray
    free: np.ndarray
    recent: np.ndarray
    totals: np.ndarray


def no_pairs(room: int, features: int, size: int) -> Pairs:
    """Room for so many pairs."""
    states, actions = np.empty((room, features), np.float32), np.empty((room, size), np.float32)
    free = np.arange(room, dtype=np.int32)[::-1].copy()
    recent = np.empty(RECENT, np.int32)
    return Pairs(states, actions, np.zeros(room, np.int32), np.zeros(room, np.int64), free, recent, np.array([room, 0]))


def add(pairs: Pairs, state: np.ndarray, action: np.ndarray) -> int:
    """Put a pair in a slot and among the last; which slot. It is in no tree yet."""
    free, number = pairs.totals
    if number >= RECENT:
        release(pairs, pairs.recent[number % RECENT, None])
        free = pairs.totals[0]
    slot = int(pairs.free[free - 1])
    pairs.states[slot], pairs.actions[slot], pairs.numbers[slot] = state, action, number
    pairs.recent[number % RECENT], pairs.holders[slot] = slot, 1
    pairs.totals[:] = free - 1, number + 1
    return slot


def release(pairs: Pairs, slots: np.ndarray) -> None:
    """One holder less of each of some different slots; those without any are free, in that order."""
    pairs.holders[slots] -= 1
    freed = slots[pairs.holders[slots] == 0]
    free = pairs.totals[0]
    pairs.free[free : free + freed.size] = freed
    pairs.totals[0] += freed.size
