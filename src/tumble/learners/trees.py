"""Trees of a density forest as arrays, and what is done to them: compiled inner loops of `DensityForest`.

    trees, pairs, tools = Address(no_trees(...)), Address(no_pairs(...)), Address(new_tools(rng, features))
    slot = add(pairs, state, action)
    tend(trees, places, pairs, np.array([slot]), full, 0, order, stack, 0, 0, tools)
    nearest(trees, places, pairs, queries, found, best)

All take bundles by their `Address` and change them in place; states and actions are float32 and contiguous. Whoever
grows trees while another thread adds has tools of its own.
"""

import math
from typing import NamedTuple

import numpy as np

from tumble.learners.pairs import RECENT
from tumble.maths.bundles import Dice, dice_of
from tumble.maths.compiled import entry, inner
from tumble.maths.neighbours import l1, place_last
from tumble.maths.sampling import below, share

AIM, MOST = 10, 12  # pairs in a leaf: split until there are so many; an old leaf is split when it has more than MOST
PLANES = 25  # that are tried for a split; the authors' code
SUBSET = 64  # pairs of a node that planes are judged by; ours
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


class Tools(NamedTuple):
    """What one thread splits nodes with: random numbers, and room that is written anew by every split.

    Attributes:
      dice: of a generator that must live as long.
      order, stack: (MOST + 1,), (MOST + 1, 3): pairs of a leaf that is split; see `grow`.
      side: (SUBSET,), where pairs are along a normal.
      apart, scaled: (SUBSET, features), states from the first, and in standard deviations.
      mean, square, some: (features,), moments of them; which features are not the same in all.
      total, squares: (features,), sums over one side of a plane.
    """

    dice: Dice
    order: np.ndarray
    stack: np.ndarray
    side: np.ndarray
    apart: np.ndarray
    scaled: np.ndarray
    mean: np.ndarray
    square: np.ndarray
    some: np.ndarray
    total: np.ndarray
    squares: np.ndarray


def new_tools(rng: np.random.Generator, features: int) -> Tools:
    """Tools that draw from a generator, for states of so many features."""
    order, stack = np.empty(MOST + 1, np.int32), np.empty((MOST + 1, 3), np.int64)
    side, some = np.empty(SUBSET, np.float32), np.empty(features, np.intp)
    apart, scaled = np.empty((2, SUBSET, features), np.float32)
    mean, square, total, squares = np.empty((4, features), np.float32)
    return Tools(dice_of(rng), order, stack, side, apart, scaled, mean, square, some, total, squares)


def no_trees(trees: int, nodes: int, features: int, numbers: np.ndarray) -> Trees:
    """Trees of one empty leaf each, and room for so many nodes; pages of it that are never used take no memory."""
    normals, offsets = np.empty((trees, nodes, features), np.float32), np.empty((trees, nodes), np.float32)
    first, leaves = np.zeros((trees, nodes), np.int32), np.empty((trees, nodes, MOST), np.int32)
    counts, used = np.zeros((trees, nodes), np.int32), np.tile([1, 0], (trees, 1))
    return Trees(normals, offsets, first, leaves, counts, used, numbers)


@inner
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


@inner
def leaf(trees, t, state):  # type: ignore[no-untyped-def]
    """The leaf of tree t that a state falls into."""
    node = 0
    while trees.first[t, node] > 0:
        node = trees.first[t, node] + (0 if _dot(trees.normals[t, node], state) < trees.offsets[t, node] else 1)
    return node


@entry(nogil=True)
def nearest(trees, places, pairs, queries, found, best):  # type: ignore[no-untyped-def]
    """Slots (n, k) and distances (n, k) of the nearest pairs among the last and in the leaves of the queries.

    Args:
      places: of the trees that are searched.
      queries: (n, features).
      found, best: out, -1 and inf where fewer are found; k may be 0.
    """
    found[:] = -1
    best[:] = np.inf
    added = pairs.totals[1]
    for q in range(len(queries) if found.shape[1] > 0 else 0):
        for number in range(added - 1, max(added - RECENT, 0) - 1, -1):
            _consider(found[q], best[q], pairs.recent[number % RECENT], pairs.states, queries[q])
        for p in range(places.size):
            node = leaf(trees, places[p], queries[q])
            for i in range(trees.counts[places[p], node]):
                _consider(found[q], best[q], trees.leaves[places[p], node, i], pairs.states, queries[q])


@inner
def _consider(found, best, slot, states, query):  # type: ignore[no-untyped-def]
    """Put a slot among the nearest so far if it is one; it may be there already, from another tree."""
    distance = l1(states[slot], query)
    if distance < best[-1]:
        for i in range(found.size):
            if found[i] == slot:
                return
        place_last(found, best, np.int64(slot), distance)


@inner
def _release(pairs, slot):  # type: ignore[no-untyped-def]
    """One holder less; the slot is free after the last."""
    pairs.holders[slot] -= 1
    if pairs.holders[slot] == 0:
        pairs.free[pairs.totals[0]] = slot
        pairs.totals[0] += 1


@entry(nogil=True)
def tend(trees, places, pairs, slots, full, t, order, stack, depth, visits, tools):  # type: ignore[no-untyped-def]
    """Insert pairs into trees, then go on building one; how many of its nodes are left to split.

    Args:
      places, slots: of the trees, and of the pairs that each of them gets.
      full: pairs of a tree from which on a new one takes another's place.
      t: place of the tree that is built.
      order: (n,) pairs in it; sorted so that those of a node are neighbours.
      stack: node, start and end in order of what is to be split; the first `depth` of it.
      visits: about how many points may be put to planes; 0 to build nothing.
    """
    for i in range(slots.size):
        for p in range(places.size):
            _insert(trees, places[p], pairs, slots[i], full, tools)
    return _grow(trees, t, pairs.states, order, stack, depth, visits, tools)


@inner
def _insert(trees, t, pairs, slot, full, tools):  # type: ignore[no-untyped-def]
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
        for i in range(MOST):
            tools.order[i] = trees.leaves[t, node, i]
        tools.order[MOST] = slot
        middle = _split(trees, t, node, pairs.states, tools.order, tools)
        if middle > 0:
            trees.used[t, 1] -= MOST
            depth = _branch(trees, t, node, tools.stack, 0, 0, middle, MOST + 1)
            _grow(trees, t, pairs.states, tools.order, tools.stack, depth, 1 << 40, tools)
            return
    i = below(tools.dice, np.int64(count))
    _release(pairs, trees.leaves[t, node, i])
    trees.leaves[t, node, i] = slot


@inner
def _grow(trees, t, states, order, stack, depth, visits, tools):  # type: ignore[no-untyped-def]
    """Split the nodes on the stack, and what comes of them, until `visits` are spent; how many are left to split."""
    while depth > 0 and visits > 0:
        depth -= 1
        node, start, end = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        middle = 0
        if end - start > AIM:
            middle = _split(trees, t, node, states, order[start:end], tools)
            visits -= OVERHEAD + min(SUBSET, end - start) + (end - start) // PLANES
        if middle > 0:
            depth = _branch(trees, t, node, stack, depth, start, start + middle, end)
        else:
            count = min(MOST, end - start)  # fewer than there are if no plane separates them: the same states
            for i in range(count):
                trees.leaves[t, node, i] = order[start + i]
            trees.first[t, node], trees.counts[t, node] = 0, count
            trees.used[t, 1] += count
    return depth


@inner
def _branch(trees, t, node, stack, depth, start, middle, end):  # type: ignore[no-untyped-def]
    """Give a node children, and put them on the stack; its new depth."""
    child = trees.used[t, 0]
    trees.used[t, 0] += 2
    trees.first[t, node], trees.counts[t, node] = child, 0
    stack[depth, 0], stack[depth, 1], stack[depth, 2] = child + 1, middle, end
    stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = child, start, middle
    return depth + 2


@inner
def _split(trees, t, node, states, order, tools):  # type: ignore[no-untyped-def]
    """Choose a node's plane and sort its pairs by side: how many are on the first; 0 if no plane separates any."""
    few = min(SUBSET, order.size)
    for i in range(few):
        j = i + below(tools.dice, order.size - i)
        order[i], order[j] = order[j], order[i]
    used, side = _scale(states, order[:few], tools), tools.side[:few]
    width, lowest = states.shape[1], np.inf
    for _ in range(PLANES):
        start = below(tools.dice, trees.numbers.size - width + 1)
        normal = trees.numbers[start : start + width]
        for i in range(few):
            side[i] = _dot(normal, states[order[i]])
        one = below(tools.dice, few)
        other = below(tools.dice, few)
        offset = between(side, one, other, share(tools.dice))
        if np.isnan(offset):
            continue
        score = _entropy(tools, side, used, offset)
        if score < lowest:
            lowest = score
            for i in range(width):
                trees.normals[t, node, i] = normal[i]
            trees.offsets[t, node] = offset
    if lowest == np.inf:
        return 0
    normal, offset, first = trees.normals[t, node], trees.offsets[t, node], 0
    for i in range(order.size):
        if _dot(normal, states[order[i]]) < offset:
            order[i], order[first] = order[first], order[i]
            first += 1
    return first


@inner
def between(side, i, j, u):  # type: ignore[no-untyped-def]
    """An offset that separates points i and j, or i and the next that can be, uniform by u; nan if all are equal."""
    for k in range(side.size):
        other = side[(j + k) % side.size]
        low, high = min(side[i], other), max(side[i], other)
        if low < high:
            offset = np.float32(low + u * (high - low))
            return offset if low < offset <= high else high
    return np.float32(np.nan)


@inner
def _scale(states, order, tools):  # type: ignore[no-untyped-def]
    """States less their mean in standard deviations into tools.scaled, of features that are not the same in all.

    How many such features there are.
    """
    n, apart, mean, square = np.float32(order.size), tools.apart, tools.mean, tools.square
    mean[:] = 0.0
    square[:] = 0.0
    for i in range(order.size):
        _subtract(apart[i], states[order[i]], states[order[0]])  # sums of differences keep their digits
        _add_up(mean, square, apart[i])
    used = 0
    for j in range(mean.size):
        mean[j] /= n
        square[j] = square[j] / n - mean[j] * mean[j]
        if square[j] > 0:
            tools.some[used] = j
            used += 1
    for j in range(used):
        feature = tools.some[j]
        factor = np.float32(1.0) / np.sqrt(square[feature])
        for i in range(order.size):
            tools.scaled[i, j] = (apart[i, feature] - mean[feature]) * factor
    return used


@inner
def _subtract(out, a, b):  # type: ignore[no-untyped-def]
    """a - b; like `_add_up`, a function of its own so that it becomes vector instructions."""
    for j in range(out.size):
        out[j] = a[j] - b[j]


@inner
def _entropy(tools, side, width, offset):  # type: ignore[no-untyped-def]
    """Eq. 4 of a split, up to a constant: logs of mixed variances in units of the node's, weighted by points.

    (n_1 sum_j log s_1j + n_2 sum_j log s_2j) / n, with s_ij = (n_i var_ij + 1) / (n_i + 1).
    """
    n, total, square, below_offset = side.size, tools.total[:width], tools.squares[:width], 0
    total[:] = 0.0
    square[:] = 0.0
    for i in range(n):
        if side[i] < offset:
            _add_up(total, square, tools.scaled[i, :width])
            below_offset += 1
    above, result = n - below_offset, 0.0
    for start in range(0, width, 16):
        one = other = 1.0  # products of 16 are within 1e+-60
        for j in range(start, min(start + 16, width)):
            mean_square = total[j] * total[j]
            one *= (square[j] - mean_square / below_offset + 1.0) / (below_offset + 1.0)
            other *= (max(n - square[j] - mean_square / above, 0.0) + 1.0) / (above + 1.0)
        result += below_offset * math.log(one) + above * math.log(other)
    return result / n


@inner
def _add_up(total, square, row):  # type: ignore[no-untyped-def]
    """Sums of a row and its squares; a function of its own, so that it becomes vector instructions."""
    for j in range(row.size):
        total[j] += row[j]
        square[j] += row[j] * row[j]


def gathered(trees: Trees, t: int) -> np.ndarray:
    """(n,) slots of the pairs in tree t, node by node; a new array."""
    nodes = trees.used[t, 0]
    held = np.arange(MOST) < trees.counts[t, :nodes, None]
    return trees.leaves[t, :nodes][held]


def clear(trees: Trees, t: int) -> None:
    """Make tree t one empty leaf."""
    trees.first[t], trees.counts[t], trees.used[t] = 0, 0, (1, 0)
