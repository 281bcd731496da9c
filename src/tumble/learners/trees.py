"""Trees of a density forest as arrays, and what is done to them: compiled inner loops of `DensityForest`."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from tumble.maths.neighbours import l1, place_last

AIM, MOST = 10, 12  # pairs in a leaf: split until there are so many; an old leaf is split when it has more than MOST
PLANES = 25  # that are tried for a split; the authors' code
SUBSET = 64  # pairs of a node that planes are judged by; ours
RECENT = 100  # last pairs that are searched one by one, rajamaki2017 section 3.2
NUMBERS = 65_536  # normal ones that planes are taken from: to draw them anew took a third of the time
OVERHEAD = 8  # visits that a split takes besides


class Trees(NamedTuple):
    """All trees and the one that is being built, in arrays over (tree, node). Node 0 is the root.

    Attributes:
      normals, offsets: (trees + 1, nodes, features), (trees + 1, nodes): x with normal . x < offset go to the first
        child.
      first: (trees + 1, nodes), the first child; the second comes next to it. 0 in a leaf.
      leaves, counts: (trees + 1, nodes, MOST), (trees + 1, nodes): pairs in a leaf, and how many.
      used: (trees + 1, 2): nodes, pairs.
      numbers: (NUMBERS + features,), normal ones; a plane's normal is a stretch of them.
    """

    normals: np.ndarray
    offsets: np.ndarray
    first: np.ndarray
    leaves: np.ndarray
    counts: np.ndarray
    used: np.ndarray
    numbers: np.ndarray


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


def no_trees(trees: int, nodes: int, features: int, numbers: np.ndarray) -> Trees:
    """Trees of one empty leaf each, and room for so many nodes; pages of it that are never used take no memory."""
    normals, offsets = np.empty((trees, nodes, features), np.float32), np.empty((trees, nodes), np.float32)
    first, leaves = np.zeros((trees, nodes), np.int32), np.empty((trees, nodes, MOST), np.int32)
    counts, used = np.zeros((trees, nodes), np.int32), np.tile([1, 0], (trees, 1))
    return Trees(normals, offsets, first, leaves, counts, used, numbers)


def no_pairs(room: int, features: int, size: int) -> Pairs:
    """Room for so many pairs."""
    states, actions = np.empty((room, features), np.float32), np.empty((room, size), np.float32)
    free = np.arange(room, dtype=np.int32)[::-1].copy()
    recent = np.empty(RECENT, np.int32)
    return Pairs(states, actions, np.zeros(room, np.int32), np.zeros(room, np.int64), free, recent, np.array([room, 0]))


@njit(cache=True, nogil=True)
def _dot(a, b):  # type: ignore[no-untyped-def]
    """a . b in float32, in eight sums whose order is set: a pair must be found on the side where it was put."""
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = np.float32(0.0)
    whole = a.size & ~7
    for i in range(0, whole, 8):
        a0 += a[i] * b[i]
        a1 += a[i + 1] * b[i + 1]
        a2 += a[i + 2] * b[i + 2]
        a3 += a[i + 3] * b[i + 3]
        a4 += a[i + 4] * b[i + 4]
        a5 += a[i + 5] * b[i + 5]
        a6 += a[i + 6] * b[i + 6]
        a7 += a[i + 7] * b[i + 7]
    for i in range(whole, a.size):
        a0 += a[i] * b[i]
    return ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))


@njit(cache=True, nogil=True)
def leaf(trees, t, state):  # type: ignore[no-untyped-def]
    """The leaf of tree t that a state falls into."""
    node = 0
    while trees.first[t, node] > 0:
        node = trees.first[t, node] + (0 if _dot(trees.normals[t, node], state) < trees.offsets[t, node] else 1)
    return node


@njit(cache=True, nogil=True)
def nearest(trees, places, pairs, queries, k):  # type: ignore[no-untyped-def]
    """Slots (n, k) and distances (n, k) of the nearest pairs among the last and in the leaves of the queries."""
    found, best = np.full((len(queries), k), -1), np.full((len(queries), k), np.inf)
    added = pairs.totals[1]
    for q in range(len(queries) if k > 0 else 0):
        for number in range(added - 1, max(added - RECENT, 0) - 1, -1):
            _consider(found[q], best[q], pairs.recent[number % RECENT], pairs.states, queries[q])
        for t in places:
            node = leaf(trees, t, queries[q])
            for slot in trees.leaves[t, node, : trees.counts[t, node]]:
                _consider(found[q], best[q], slot, pairs.states, queries[q])
    return found, best


@njit(cache=True, nogil=True)
def _consider(found, best, slot, states, query):  # type: ignore[no-untyped-def]
    """Put a slot among the nearest so far if it is one; it may be there already, from another tree."""
    distance = l1(states[slot], query)
    if distance < best[-1]:
        for other in found:
            if other == slot:
                return
        place_last(found, best, slot, distance)


@njit(cache=True)
def _release(pairs, slot):  # type: ignore[no-untyped-def]
    """One holder less; the slot is free after the last."""
    pairs.holders[slot] -= 1
    if pairs.holders[slot] == 0:
        pairs.free[pairs.totals[0]] = slot
        pairs.totals[0] += 1


@njit(cache=True)
def add(trees, places, pairs, state, action, full, rng):  # type: ignore[no-untyped-def]
    """Put a pair in a slot, among the last, and into the trees."""
    number = pairs.totals[1]
    if number >= RECENT:
        _release(pairs, pairs.recent[number % RECENT])
    pairs.totals[0] -= 1
    slot = pairs.free[pairs.totals[0]]
    pairs.states[slot], pairs.actions[slot], pairs.numbers[slot] = state, action, number
    pairs.recent[number % RECENT], pairs.holders[slot] = slot, 1
    pairs.totals[1] += 1
    for t in places:
        _insert(trees, t, pairs, slot, full, rng)


@njit(cache=True)
def _insert(trees, t, pairs, slot, full, rng):  # type: ignore[no-untyped-def]
    """Put a pair into its leaf of tree t, which is split if it must be, or a random one leaves."""
    pairs.holders[slot] += 1
    node = leaf(trees, t, pairs.states[slot])
    count = trees.counts[t, node]
    if trees.used[t, 1] < full:
        if count < MOST:
            trees.leaves[t, node, count] = slot
            trees.counts[t, node] += 1
            trees.used[t, 1] += 1
            return
        order, stack = np.empty(MOST + 1, np.int32), np.empty((MOST + 1, 3), np.int64)
        order[:MOST], order[MOST] = trees.leaves[t, node], slot
        middle = _split(trees, t, node, pairs.states, order, rng)
        if middle > 0:
            trees.used[t, 1] -= MOST
            depth = _branch(trees, t, node, stack, 0, 0, middle, MOST + 1)
            grow(trees, t, pairs.states, order, stack, depth, 1 << 40, rng)
            return
    i = rng.integers(0, count)
    _release(pairs, trees.leaves[t, node, i])
    trees.leaves[t, node, i] = slot


@njit(cache=True, nogil=True)
def grow(trees, t, states, order, stack, depth, visits, rng):  # type: ignore[no-untyped-def]
    """Split the nodes on the stack, and what comes of them, until `visits` are spent; how many are left to split."""
    while depth > 0 and visits > 0:
        depth -= 1
        node, start, end = stack[depth]
        middle = 0
        if end - start > AIM:
            middle = _split(trees, t, node, states, order[start:end], rng)
            visits -= OVERHEAD + min(SUBSET, end - start) + (end - start) // PLANES
        if middle > 0:
            depth = _branch(trees, t, node, stack, depth, start, start + middle, end)
        else:
            count = min(MOST, end - start)  # fewer than there are if no plane separates them: the same states
            trees.leaves[t, node, :count] = order[start : start + count]
            trees.first[t, node], trees.counts[t, node] = 0, count
            trees.used[t, 1] += count
    return depth


@njit(cache=True, nogil=True)
def _branch(trees, t, node, stack, depth, start, middle, end):  # type: ignore[no-untyped-def]
    """Give a node children, and put them on the stack; its new depth."""
    child = trees.used[t, 0]
    trees.used[t, 0] += 2
    trees.first[t, node], trees.counts[t, node] = child, 0
    stack[depth, 0], stack[depth, 1], stack[depth, 2] = child + 1, middle, end
    stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = child, start, middle
    return depth + 2


@njit(cache=True, nogil=True)
def _split(trees, t, node, states, order, rng):  # type: ignore[no-untyped-def]
    """Choose a node's plane and sort its pairs by side: how many are on the first; 0 if no plane separates any."""
    few = min(SUBSET, order.size)
    for i in range(few):
        j = rng.integers(i, order.size)
        order[i], order[j] = order[j], order[i]
    scaled, side = _scaled(states, order[:few]), np.empty(few, np.float32)
    width, lowest = states.shape[1], np.inf
    for _ in range(PLANES):
        start = rng.integers(0, trees.numbers.size - width + 1)
        normal = trees.numbers[start : start + width]
        for i in range(few):
            side[i] = _dot(normal, states[order[i]])
        offset = between(side, rng.integers(0, few), rng.integers(0, few), rng.random())
        if np.isnan(offset):
            continue
        score = _entropy(scaled, side, offset)
        if score < lowest:
            lowest = score
            trees.normals[t, node], trees.offsets[t, node] = normal, offset
    if lowest == np.inf:
        return 0
    normal, offset, first = trees.normals[t, node], trees.offsets[t, node], 0
    for i in range(order.size):
        if _dot(normal, states[order[i]]) < offset:
            order[i], order[first] = order[first], order[i]
            first += 1
    return first


@njit(cache=True, nogil=True)
def between(side, i, j, u):  # type: ignore[no-untyped-def]
    """An offset that separates points i and j, or i and the next that can be, uniform by u; nan if all are equal."""
    for k in range(side.size):
        other = side[(j + k) % side.size]
        low, high = min(side[i], other), max(side[i], other)
        if low < high:
            offset = np.float32(low + u * (high - low))
            return offset if low < offset <= high else high
    return np.float32(np.nan)


@njit(cache=True, nogil=True)
def _scaled(states, order):  # type: ignore[no-untyped-def]
    """States less their mean in standard deviations, (points, features that are not the same in all)."""
    n, width = order.size, states.shape[1]
    apart, mean, square = np.empty((n, width), np.float32), np.zeros(width, np.float32), np.zeros(width, np.float32)
    for i in range(n):
        _subtract(apart[i], states[order[i]], states[order[0]])  # sums of differences keep their digits
        _add_up(mean, square, apart[i])
    mean /= np.float32(n)
    square = square / np.float32(n) - mean * mean
    used = np.flatnonzero(square > 0)
    scaled = np.empty((n, used.size), np.float32)
    for i in range(n):
        for j in range(used.size):
            scaled[i, j] = apart[i, used[j]] - mean[used[j]]
    scaled *= 1 / np.sqrt(square[used])
    return scaled


@njit(cache=True, nogil=True)
def _subtract(out, a, b):  # type: ignore[no-untyped-def]
    """a - b; like `_add_up`, a function of its own so that it becomes vector instructions."""
    for j in range(out.size):
        out[j] = a[j] - b[j]


@njit(cache=True, nogil=True)
def _entropy(scaled, side, offset):  # type: ignore[no-untyped-def]
    """Eq. 4 of a split, up to a constant: logs of mixed variances in units of the node's, weighted by points."""
    n, width = scaled.shape
    total, square, below = np.zeros(width, np.float32), np.zeros(width, np.float32), 0
    for i in range(n):
        if side[i] < offset:
            _add_up(total, square, scaled[i])
            below += 1
    above, result = n - below, 0.0
    for start in range(0, width, 16):
        one = other = 1.0  # products of 16 are within 1e+-60
        for j in range(start, min(start + 16, width)):
            mean_square = total[j] * total[j]
            one *= (square[j] - mean_square / below + 1.0) / (below + 1.0)
            other *= (max(n - square[j] - mean_square / above, 0.0) + 1.0) / (above + 1.0)
        result += below * math.log(one) + above * math.log(other)
    return result / n


@njit(cache=True, nogil=True)
def _add_up(total, square, row):  # type: ignore[no-untyped-def]
    """Sums of a row and its squares; a function of its own, so that it becomes vector instructions."""
    for j in range(row.size):
        total[j] += row[j]
        square[j] += row[j] * row[j]


@njit(cache=True)
def gathered(trees, t, since, pairs):  # type: ignore[no-untyped-def]
    """Slots of the pairs in tree t that have number `since` or a later one."""
    slots, count = np.empty(trees.used[t, 1], np.int32), 0
    for node in range(trees.used[t, 0]):
        for slot in trees.leaves[t, node, : trees.counts[t, node]]:
            if pairs.numbers[slot] >= since:
                slots[count] = slot
                count += 1
    return slots[:count]


@njit(cache=True)
def clear(trees, t):  # type: ignore[no-untyped-def]
    """Make tree t one empty leaf."""
    trees.first[t], trees.counts[t] = 0, 0
    trees.used[t, 0], trees.used[t, 1] = 1, 0


@njit(cache=True)
def catch_up(trees, old, new, pairs, order, since, full, rng):  # type: ignore[no-untyped-def]
    """Hold what is in the new tree, insert what only the old one has, and release what was gathered and the old one."""
    for slot in gathered(trees, new, 0, pairs):
        pairs.holders[slot] += 1
    for slot in gathered(trees, old, since, pairs):
        _insert(trees, new, pairs, slot, full, rng)
    for slot in order:
        _release(pairs, slot)
    for slot in gathered(trees, old, 0, pairs):
        _release(pairs, slot)
