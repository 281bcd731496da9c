"""The step-to-step dynamics model: what a step leads to, from examples (coros2010 section 3.4).

    model = StepModel(examples)                          # Examples of synthesis
    rows, _ = model.nearest(states)                      # the K examples whose states are most alike
    predicted = model.step(states, reduced)              # where actions of two numbers lead
    actions = model.actions(states, reduced)             # what to do for that, (n, p)

A reduced state is (d, v, torso, stance hip, swing hip) at the beginning of a step; a reduced action is the first two
principal components of an action. What is predicted is a mean over k of the K examples, never an extrapolation:
w_i = 1 / (d(s_i, s) + alpha |A_i - A|), v = sum_i w_i v_i / sum_i w_i. `ModelSettings(regression="line")` goes on from
each example along a line (`tumble.stepping.lines`) to the state and the whole action: v_i + B_i (x - x_i) for v_i.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tumble.errors import UserError, check_number, choose
from tumble.maths.bundles import Address
from tumble.maths.compiled import entry, inner
from tumble.maths.neighbours import place_last
from tumble.stepping.examples import Examples
from tumble.stepping.lines import local_lines

REGRESSIONS = ("nearest", "line")
STEP = 2  # numbers of a step that is predicted, beside the scaled state at its end: length, lateral
PLANE = 2  # dimensions of the reduced action space, section 3.4
TINY = 1e-9  # distance below which an example is taken to be this far, so that its weight is finite; ours


@dataclass(frozen=True)
class ModelSettings:
    """Of the regression."""

    near: int = 25
    """K, section 3.4: examples whose states are most alike."""
    mixed: int = 3
    """k, section 3.4: of these, the ones whose actions are most alike."""
    alpha: float = 1.0
    """alpha, section 3.4: weight of the distance of actions beside that of states."""
    beta: float = 1.0
    """beta, section 3.4: weight of the error of lengths in the uncertainty."""
    regression: str = "nearest"
    """nearest, section 3.4: a mean over examples; or line, which follows a line from each; ours."""

    def __post_init__(self) -> None:
        check_number("near", self.near, 1, MOST)
        check_number("mixed", self.mixed, 1, self.near)
        check_number("alpha", self.alpha, 0.0, 1e6)
        check_number("beta", self.beta, 0.0, 1e6)
        choose("regression", self.regression, dict.fromkeys(REGRESSIONS))


MOST = 64  # K at most: compiled code keeps so much room on its stack


class KnownSteps(NamedTuple):
    """Examples for compiled code, n of them; states and ends times the square roots of X."""

    states: np.ndarray  # (n, q)
    reduced: np.ndarray  # (n, 2)
    ends: np.ndarray  # (n, q)
    lengths: np.ndarray  # (n,) m
    lateral: np.ndarray  # (n,) m
    uncertainty: np.ndarray  # (n,)
    actions: np.ndarray  # (n, p)
    slopes: np.ndarray  # (n, q + p, STEP + q) of lines, in the units of what is here; none for means
    near: int  # K
    mixed: int  # k
    alpha: float


class Predicted(NamedTuple):
    """Of n steps.

    Attributes:
      ends: (n, q) reduced states.
      lengths, lateral: (n,) m, heel to heel, along and across the sagittal plane.
      uncertainty: (n,) U.
    """

    ends: np.ndarray
    lengths: np.ndarray
    lateral: np.ndarray
    uncertainty: np.ndarray


class StepModel:
    """Knows steps by examples of them.

    Attributes:
      examples: whose.
      known: them, as compiled code reads them, by their address.
      axes: (p, 2) the first two principal axes of actions, from `middle` (p,).
      explained: (p,) shares of the actions' variance by axis.
      uncertainty: (n,) U_i of every example, by leaving it out.

    **Departures**
      Thesis: U_i = d(s_i, s~_i) + beta |l_i - l~_i|; here d(s'_i, s~'_i), the error of what is predicted, as its text
      says. Thesis: left and right hip; here stance and swing hip, so that steps on both feet are examples of each
      other. Thesis: a kD-tree; here all examples are looked at by compiled code, and most are left after a number or
      two: 2000 take less than 10 us. Thesis: nothing of weights of 1/0; here a distance is 1e-9 at least. Thesis:
      means over examples; here, where it is asked for, lines from them, and U_i is what the line at s_i, A_i misses: of
      2000 planar examples, each left out, means miss lengths by 6.2 cm in the mean, as they are drawn to the middle,
      and lines by 2.0 cm.
    """

    def __init__(self, examples: Examples, settings: ModelSettings = ModelSettings()) -> None:
        """Learn from examples; refuses fewer than K + 1."""
        if len(examples) <= settings.near:
            raise UserError(
                f"a model of steps needs more than {settings.near} examples, got {len(examples)}; make some:"
                f" tumble stones build {examples.header.base} FILE.stones"
            )
        self.examples, self.settings = examples, settings
        actions = np.asarray(examples.actions, float)
        self.middle = actions.mean(axis=0)
        self.axes, self.explained = principal(actions - self.middle)
        self._root = np.sqrt(examples.base.metric)
        self._actions = np.ascontiguousarray(actions)
        n, q, p = len(examples), len(self._root), actions.shape[1]
        slopes = np.zeros((n if settings.regression == "line" else 0, q + p, STEP + q))
        bundle = KnownSteps(
            states=np.ascontiguousarray(np.asarray(examples.states, float) * self._root), reduced=self.reduced(actions),
            ends=np.ascontiguousarray(np.asarray(examples.ends, float) * self._root),
            lengths=np.array(examples.lengths, float), lateral=np.array(examples.lateral, float),
            uncertainty=np.zeros(n), actions=self._actions, slopes=slopes, near=settings.near, mixed=settings.mixed,
            alpha=float(settings.alpha),
        )  # fmt: skip
        self._bundle, self.known = bundle, Address(bundle)
        if settings.regression == "line":
            self._draw_lines(bundle)
        else:
            _leave_out(self.known, float(settings.beta), bundle.uncertainty)

    def _draw_lines(self, known: KnownSteps) -> None:
        """Fill in slopes, and U_i by what lines without the example miss."""
        values = np.column_stack([known.lengths, known.lateral, known.ends])
        known.slopes[:], missed = local_lines(np.concatenate([known.states, known.actions], axis=1), values)
        ends, lengths = np.sqrt((missed[:, STEP:] ** 2).sum(axis=1)), np.abs(missed[:, 0])
        known.uncertainty[:] = ends + self.settings.beta * lengths

    @property
    def uncertainty(self) -> np.ndarray:
        """(n,) U_i of the examples."""
        return self._bundle.uncertainty

    @property
    def spacing(self) -> float:
        """Mean m between the feet across the way; 0 in the plane."""
        return float(self._bundle.lateral.mean())

    def reduced(self, actions: np.ndarray) -> np.ndarray:
        """(n, 2) of actions (n, p): their first two principal components."""
        return np.ascontiguousarray((np.asarray(actions, float) - self.middle) @ self.axes)

    def scaled(self, states: np.ndarray) -> np.ndarray:
        """(n, q) states times the square roots of X: d(a, b) is their Euclidean distance."""
        return np.ascontiguousarray(np.asarray(states, float) * self._root)

    def nearest(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The K examples (n, K) nearest to states (n, q), the nearest first, and their distances d (n, K)."""
        queries = self.scaled(states)
        rows = np.zeros((len(queries), self.settings.near), np.intp)
        distances = np.zeros(rows.shape)
        _find_all(self.known, queries, rows, distances)
        return rows, distances

    def capabilities(self, states: np.ndarray) -> np.ndarray:
        """(n, 2, 2) low and high of the box around the reduced actions of the K nearest examples."""
        actions = self._bundle.reduced[self.nearest(states)[0]]
        return np.stack([actions.min(axis=1), actions.max(axis=1)], axis=1)

    def weights(self, states: np.ndarray, reduced: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The k examples (n, k) that states (n, q) and actions (n, 2) are mixed of, and their weights (n, k)."""
        queries, wanted = self.scaled(states), np.ascontiguousarray(np.asarray(reduced, float))
        chosen = np.zeros((len(queries), self.settings.mixed), np.intp)
        weights = np.zeros(chosen.shape)
        _weigh_all(self.known, queries, wanted, chosen, weights)
        return chosen, weights

    def step(self, states: np.ndarray, reduced: np.ndarray) -> Predicted:
        """Where reduced actions (n, 2) lead from states (n, q)."""
        queries, wanted = self.scaled(states), np.ascontiguousarray(np.asarray(reduced, float))
        steps, uncertainty = np.zeros((len(queries), STEP + queries.shape[1])), np.zeros(len(queries))
        _step_all(self.known, queries, wanted, steps, uncertainty)
        return Predicted(steps[:, STEP:] / self._root, steps[:, 0], steps[:, 1], uncertainty)

    def actions(self, states: np.ndarray, reduced: np.ndarray) -> np.ndarray:
        """(n, p) whole actions for reduced ones, each a mean of k examples."""
        chosen, weights = self.weights(states, reduced)
        mean: np.ndarray = np.einsum("ij,ijp->ip", weights, self._actions[chosen])
        return mean


def principal(centred: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal axes (p, 2) of centred rows (n, p), each with its largest number positive, and shares (p,) of all axes.

    Fewer than two numbers leave axes of zeros.
    """
    _, sizes, turned = np.linalg.svd(centred, full_matrices=False)
    axes = np.zeros((centred.shape[1], PLANE))
    found = turned[:PLANE].T
    axes[:, : found.shape[1]] = found * np.sign(found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])])
    square = sizes**2
    return axes, square / max(float(square.sum()), TINY)


# ---- compiled


@inner
def find_near(known, state, left_out, rows, distances):  # type: ignore[no-untyped-def]
    """The K examples nearest to a scaled state (q,), the nearest first, into rows (K,) and distances (K,).

    Of equally near ones the first comes first. `left_out` is not looked at; -1 for none.
    """
    for j in range(distances.size):
        distances[j] = np.inf
        rows[j] = -1
    last = distances.size - 1
    for i in range(known.lengths.size):
        if i == left_out:
            continue
        bound, square = distances[last], 0.0
        for j in range(state.size):
            difference = known.states[i, j] - state[j]
            square += difference * difference
            if square >= bound:
                break
        if square < bound:
            place_last(rows, distances, i, square)
    for j in range(distances.size):
        distances[j] = np.sqrt(distances[j])


@inner
def weigh(known, rows, distances, x, y, chosen, weights):  # type: ignore[no-untyped-def]
    """The k of the K examples whose actions are nearest to (x, y), and their weights, which add up to 1.

    Args:
      rows, distances: (K,) of `find_near`.
      chosen, weights: (k,) out.
    """
    k = chosen.size
    for j in range(k):
        weights[j] = np.inf
        chosen[j] = -1
    for j in range(rows.size):
        i = rows[j]
        a, b = known.reduced[i, 0] - x, known.reduced[i, 1] - y
        away = a * a + b * b
        if away < weights[k - 1]:
            place_last(chosen, weights, j, away)
    total = 0.0
    for j in range(k):
        away = max(distances[chosen[j]] + known.alpha * np.sqrt(weights[j]), TINY)
        chosen[j] = rows[chosen[j]]
        weights[j] = 1.0 / away
        total += weights[j]
    for j in range(k):
        weights[j] /= total


@inner
def mixed_of(values, chosen, weights):  # type: ignore[no-untyped-def]
    """sum_i w_i v_i."""
    total = 0.0
    for j in range(chosen.size):
        total += weights[j] * values[chosen[j]]
    return total


@inner
def end_of(known, chosen, weights, state):  # type: ignore[no-untyped-def]
    """The scaled state (q,) at the end of the step, into `state`."""
    for n in range(state.size):
        state[n] = 0.0
        for j in range(chosen.size):
            state[n] += weights[j] * known.ends[chosen[j], n]


@inner
def step_of(known, chosen, weights, state, action, step):  # type: ignore[no-untyped-def]
    """The step from a scaled state (q,) into `step` (STEP + q,): length, lateral, scaled end; `action` (p,) is room."""
    step[0], step[1] = mixed_of(known.lengths, chosen, weights), mixed_of(known.lateral, chosen, weights)
    end_of(known, chosen, weights, step[STEP:])
    if known.slopes.shape[0] == 0:
        return
    for n in range(action.size):
        action[n] = mixed_of(known.actions[:, n], chosen, weights)
    for j in range(chosen.size):
        i = chosen[j]
        for m in range(known.slopes.shape[1]):
            n = m - state.size
            away = state[m] - known.states[i, m] if n < 0 else action[n] - known.actions[i, n]
            for v in range(step.size):
                step[v] += weights[j] * away * known.slopes[i, m, v]


@entry
def _find_all(known, states, rows, distances):  # type: ignore[no-untyped-def]
    for i in range(len(states)):
        find_near(known, states[i], -1, rows[i], distances[i])


@entry(allocates=True)
def _weigh_all(known, states, reduced, chosen, weights):  # type: ignore[no-untyped-def]
    rows, distances = np.empty(known.near, np.intp), np.empty(known.near)
    for i in range(len(states)):
        find_near(known, states[i], -1, rows, distances)
        weigh(known, rows, distances, reduced[i, 0], reduced[i, 1], chosen[i], weights[i])


@entry(allocates=True)
def _step_all(known, states, reduced, steps, uncertainty):  # type: ignore[no-untyped-def]
    rows, distances = np.empty(known.near, np.intp), np.empty(known.near)
    chosen, weights = np.empty(known.mixed, np.intp), np.empty(known.mixed)
    action = np.empty(known.actions.shape[1])
    for i in range(len(states)):
        find_near(known, states[i], -1, rows, distances)
        weigh(known, rows, distances, reduced[i, 0], reduced[i, 1], chosen, weights)
        step_of(known, chosen, weights, states[i], action, steps[i])
        uncertainty[i] = mixed_of(known.uncertainty, chosen, weights)


@entry(allocates=True)
def _leave_out(known, beta, uncertainty):  # type: ignore[no-untyped-def]
    """U_i = d(s'_i, s~'_i) + beta |l_i - l~_i|, predicted by all other examples."""
    rows, distances = np.empty(known.near, np.intp), np.empty(known.near)
    chosen, weights = np.empty(known.mixed, np.intp), np.empty(known.mixed)
    end = np.empty(known.ends.shape[1])
    for i in range(known.lengths.size):
        find_near(known, known.states[i], i, rows, distances)
        weigh(known, rows, distances, known.reduced[i, 0], known.reduced[i, 1], chosen, weights)
        end_of(known, chosen, weights, end)
        square = 0.0
        for n in range(end.size):
            square += (end[n] - known.ends[i, n]) ** 2
        missed = abs(known.lengths[i] - mixed_of(known.lengths, chosen, weights))
        uncertainty[i] = np.sqrt(square) + beta * missed
