"""A kD-tree of samples in a box: each owns a cell, and all cells together tile it (hamalainen2014 section 3).

    tree = make(np.array([[0.0, 0.0], [1.0, 1.0]]), room=64)
    address = Address(tree)
    n = absorb(address, 0, points, np.full(len(points), -1), log_fitness, True)
    leaves = select(tree.log_fitness[:n] + tree.log_volumes[:n], rng.random(4))

What is done with it is `TreeSampler`. A leaf's weight is fitness times volume, in logarithms. Compiled code takes the
tree by its `Address` and changes it in place; it must be given room.
"""

import math
from typing import NamedTuple

import numpy as np

from tumble.maths.compiled import entry, inner
from tumble.maths.sampling import normalise, truncated_normal


class KDTree(NamedTuple):
    """A kD-tree in arrays that have room for more samples than there are. Sample i is the leaf ~i.

    Sample i > 0 was inserted by making node i, which split the cell of an older one. Node 0 splits nothing:
    its first child is the root. Children are nodes where they are positive, else leaves.

    Attributes:
      box: (2, d), low and high.
      points: (room, d); log_fitness, log_volumes: (room,), volumes as shares of the box.
      fresh: (room,), whether the fitness is of this frame.
      cells: (room, 2, d), low and high of each sample's cell.
      axes, at, children: (room,), (room,), (room, 2): x with x[axes] < at go to the first child.
    """

    box: np.ndarray
    points: np.ndarray
    log_fitness: np.ndarray
    log_volumes: np.ndarray
    fresh: np.ndarray
    cells: np.ndarray
    axes: np.ndarray
    at: np.ndarray
    children: np.ndarray


def make(box: np.ndarray, room: int) -> KDTree:
    """A tree without samples, and room for so many."""
    points, cells = np.zeros((room, box.shape[1])), np.zeros((room, *box.shape))
    fitness, volumes, fresh = np.zeros(room), np.zeros(room), np.zeros(room, np.bool_)
    axes, at, children = np.zeros(room, np.intp), np.zeros(room), np.zeros((room, 2), np.intp)
    return KDTree(box, points, fitness, volumes, fresh, cells, axes, at, children)


@inner
def find(tree, x):  # type: ignore[no-untyped-def]
    """The sample whose cell x is in, and the way there: nodes above it and above that, and the sides taken."""
    grandparent, parent, uncle, side = 0, 0, 0, 0
    node = tree.children[0, 0]
    while node > 0:
        grandparent, uncle, parent = parent, side, node
        side = 0 if x[tree.axes[node]] < tree.at[node] else 1
        node = tree.children[node, side]
    return ~node, parent, side, grandparent, uncle


@inner
def split_axis(tree, i, x):  # type: ignore[no-untyped-def]
    """The axis on which to cut sample i's cell between the sample and x; -1 for none: they are the same.

    The longest side; among equals, the one with the samples farthest apart. Lengths are in sides of the box.
    """
    axis, longest, farthest = -1, 0.0, 0.0
    for j in range(x.size):
        one, other = tree.points[i, j], x[j]
        middle = one + 0.5 * (other - one)
        if not min(one, other) < middle < max(one, other):  # equal, or no number fits between them
            continue
        whole = tree.box[1, j] - tree.box[0, j]
        side, apart = (tree.cells[i, 1, j] - tree.cells[i, 0, j]) / whole, abs(other - one) / whole
        if axis < 0 or side > longest or (side == longest and apart > farthest):
            axis, longest, farthest = j, side, apart
    return axis


@inner
def insert(tree, n, x):  # type: ignore[no-untyped-def]
    """Put x in a tree of n samples: the index it gets, n unless it is a duplicate. Fitness is left to the caller."""
    if n == 0:
        _put(tree.points[0], x)
        _put(tree.cells[0, 0], tree.box[0])
        _put(tree.cells[0, 1], tree.box[1])
        tree.log_volumes[0], tree.children[0, 0] = 0.0, ~0
        return 0
    i, parent, side, _, _ = find(tree, x)
    axis = split_axis(tree, i, x)
    if axis < 0:
        _put(tree.points[i], x)  # a last digit may differ, and fitness is to belong to exactly its point
        return i
    at = tree.points[i, axis] + 0.5 * (x[axis] - tree.points[i, axis])
    new = 0 if x[axis] < at else 1
    tree.axes[n], tree.at[n] = axis, at
    tree.children[n, new], tree.children[n, 1 - new] = ~n, ~i
    tree.children[parent, side] = n
    share = tree.log_volumes[i] - math.log(tree.cells[i, 1, axis] - tree.cells[i, 0, axis])
    _put(tree.points[n], x)
    _put(tree.cells[n, 0], tree.cells[i, 0])
    _put(tree.cells[n, 1], tree.cells[i, 1])
    tree.cells[n, 1 - new, axis] = tree.cells[i, new, axis] = at
    for leaf in (i, n):  # by the ratio of one side: products of 136 sides leave the range of numbers
        tree.log_volumes[leaf] = share + math.log(tree.cells[leaf, 1, axis] - tree.cells[leaf, 0, axis])
    return n


@inner
def _put(out, x):  # type: ignore[no-untyped-def]
    for j in range(out.size):
        out[j] = x[j]


@inner
def remove(tree, i, todo):  # type: ignore[no-untyped-def]
    """Take sample i, not the only one, out of the tree: those on the other side of its split grow into its cell.

    Args:
      todo: room for as many nodes as there are samples.
    """
    _, parent, side, grandparent, uncle = find(tree, tree.points[i])
    axis = tree.axes[parent]
    tree.children[grandparent, uncle] = tree.children[parent, 1 - side]
    count = 1
    todo[0] = tree.children[parent, 1 - side]
    while count > 0:
        count -= 1
        node = todo[count]
        if node > 0:
            for child in range(2):
                if tree.axes[node] != axis or child == side:  # else it does not touch the cell of i
                    todo[count] = tree.children[node, child]
                    count += 1
        else:
            leaf = ~node
            before = tree.cells[leaf, 1, axis] - tree.cells[leaf, 0, axis]
            tree.cells[leaf, side, axis] = tree.cells[i, side, axis]
            after = tree.cells[leaf, 1, axis] - tree.cells[leaf, 0, axis]
            tree.log_volumes[leaf] += math.log(after) - math.log(before)


@entry
def prune(tree, keep, alive, todo):  # type: ignore[no-untyped-def]
    """Remove the lightest sample, by weights as they then are, the first among equals, until `keep` are left.

    The last one stays in the tree, to be cleared.

    Args:
      alive: (n,) bool, all True; those that are removed become False.
      todo: (n,) room for `remove`.
    """
    for _ in range(alive.size - max(keep, 1)):
        least, lightest = -1, 0.0
        for i in range(alive.size):
            if alive[i]:
                weight = tree.log_fitness[i] + tree.log_volumes[i]
                if least < 0 or weight < lightest:
                    least, lightest = i, weight
        remove(tree, least, todo)
        alive[least] = False


@entry
def absorb(tree, n, points, known, log_fitness, fresh):  # type: ignore[no-untyped-def]
    """Insert points in order into a tree of n samples; the new n. With n = 0 the tree is cleared.

    Args:
      points, log_fitness: (k, d), (k,).
      known: (k,) the samples that they are, whose fitness alone is new; -1 for others.
      fresh: whether they were evaluated in this frame; else the fitter of duplicates counts.
    """
    for k in range(len(points)):
        i = known[k] if known[k] >= 0 else insert(tree, n, points[k])
        tree.log_fitness[i] = log_fitness[k] if fresh or i == n else max(log_fitness[k], tree.log_fitness[i])
        tree.fresh[i] = fresh
        n = max(n, i + 1)
    return n


def select(log_weights: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Independent choices in proportion to weights, one for each uniform number in [0, 1); uniform if all are -inf."""
    cumulative = normalise(log_weights).cumsum()
    # the product is below the total, as (1 - 2^-53) x < x in doubles: none is chosen that has no weight
    return np.searchsorted(cumulative, u * cumulative[-1], side="right")


@entry
def propose(tree, leaves, widths, z, u, points, known, taken):  # type: ignore[no-untyped-def]
    """What to evaluate for selected leaves: (k, d) points, and (k,) which stale samples they are.

    x ~ N(x_i, (width s_i)^2) truncated to the box, s_i the sides of the leaf's cell (section 3.3).

    Args:
      leaves: (k,) samples; a stale one is itself evaluated the first time that it is here.
      widths: (k,) standard deviations of draws, in sides of the leaf's cell.
      z, u: (k, d) normal and uniform random numbers.
      points, known: out; known is -1 before, and stays so for draws.
      taken: (n,) bool, all False; changed.
    """
    for k in range(leaves.size):
        i = leaves[k]
        if not (tree.fresh[i] or taken[i]):
            taken[i], known[k] = True, i
            _put(points[k], tree.points[i])
            continue
        for j in range(z.shape[1]):
            sd = widths[k] * (tree.cells[i, 1, j] - tree.cells[i, 0, j])
            points[k, j] = truncated_normal(tree.points[i, j], sd, tree.box[0, j], tree.box[1, j], z[k, j], u[k, j])
