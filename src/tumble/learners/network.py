"""A small neural network that learns, while the character acts, which action belongs to a state.

    network = Network(features=175, size=24, rng=np.random.default_rng(0))
    network.add(state, action)               # every frame
    network.train(1)                         # updates; every frame, or in a loop in a thread of its own
    if network.ready:
        actions = network.predict(states)    # (n, 24)

Traps: `train` does nothing below `settings.fewest` pairs. `add` and `predict` may run while another thread trains;
`predict` then has the weights of the last `train` that ended. Matrix products are kept so small that OpenBLAS
does them on the calling thread: they leave the other cores to physics and are the same bits at any thread count.
"""

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np

from tumble.errors import check_number
from tumble.learners.forest import checked
from tumble.maths.compiled import entry, inner

Layers = list[tuple[np.ndarray, np.ndarray]]  # weights and biases
ALONE = 500_000  # multiplications in a product; OpenBLAS takes a second thread from 2 * 4 * 65536 on


@dataclass(frozen=True)
class NetworkSettings:
    """Numbers of the network and its training (rajamaki2017 section 3.3 and Table 1)."""

    layers: int = 5  # hidden ones
    width: int = 100  # neurons in each
    weight: float = 0.2  # weights start uniform in +-this, the authors' code; not given in the paper
    rate: float = 1e-4  # Adam's learning rate
    beta1: float = 0.9  # Adam's smoothing of gradients
    beta2: float = 0.99  # and of their squares
    clip: float = 0.1  # largest gradient by an output, rad
    memory: int = 2000  # last pairs that are learned from
    fewest: int = 100  # pairs without which there is no training, the authors' code
    batch: float = 0.1  # share of the pairs in an update
    largest_batch: int = 50  # pairs in an update at most; paper: no bound, authors' code: 100; ours, for speed
    noise: float = 1e-3**0.5  # of states, in standard deviations: variance 1e-3 Sigma_s; the authors' code 1e-3

    def __post_init__(self) -> None:
        for field in fields(self):
            check_number(field.name, getattr(self, field.name), *BOUNDS.get(field.name, (1, math.inf)))


BOUNDS = {
    "weight": (0, math.inf), "rate": (0, math.inf), "beta1": (0, 0.999999), "beta2": (0, 0.999999),
    "clip": (0, math.inf), "batch": (0, 1), "noise": (0, math.inf),
}  # fmt: skip


class Network:
    """A multilayer perceptron with ELU that learns the last pairs of state and action (rajamaki2017 section 3.3).

    **Departures**: paper batches of a tenth of the pairs, here 50 at most, because an update takes a third of the
    time (`largest_batch` of 200 is the paper, 100 the authors' code). Paper the noise of the states there are, here of
    those there were up to 20 pairs ago. Authors' code five epochs a call and a tenth of the pairs held out, here
    as many updates as are asked for on all pairs. Not given: biases, which start at 0; and the loss, which is half
    the squared error, the mean over a batch: its gradient by an output is the error itself, clipped number by number.

    Attributes:
      features, size: numbers of a state and of an action.
      settings: NetworkSettings.
      updates: steps of Adam so far.
      ready: whether there was any.
    """

    def __init__(
        self, features: int, size: int, rng: np.random.Generator, settings: NetworkSettings = NetworkSettings()
    ) -> None:
        check_number("features", features, 1)
        check_number("size", size, 1)
        self.features, self.size, self.settings, self.updates, self.added = features, size, settings, 0, 0
        self._rng = np.random.default_rng(rng.integers(2**63))
        self._widths = np.array([features, *[settings.width] * settings.layers, size])
        count = sum((low + 1) * high for low, high in pairwise(self._widths))
        self._parameters, self._gradient, self._part = (np.zeros(count, np.float32) for _ in range(3))
        self._moment, self._square, self._step = (np.zeros(count, np.float32) for _ in range(3))
        for weights, _ in self._layers(self._parameters):
            weights[:] = self._rng.uniform(-settings.weight, settings.weight, weights.shape)
        self._publish()
        self._states = np.zeros((settings.memory, features), np.float32)
        self._actions = np.zeros((settings.memory, size), np.float32)
        self._noise, self._measured = np.zeros(features, np.float32), 0  # by what pairs, counted as in `added`
        self._rows = max(1, ALONE // max(low * high for low, high in pairwise(self._widths)))
        self._lock, self._turn = threading.Lock(), threading.Lock()  # of the pairs; of `train`

    def __len__(self) -> int:
        """Pairs that are learned from."""
        return min(self.added, self.settings.memory)

    @property
    def ready(self) -> bool:
        """Whether it was trained at all."""
        return self.updates > 0

    def add(self, state: np.ndarray, action: np.ndarray) -> None:
        """Keep a copy of a pair, (features,) and (size,); the oldest is overwritten when there are `memory`."""
        key, value = checked("a state", state, self.features), checked("an action", action, self.size)
        with self._lock:
            row = self.added % self.settings.memory
            self._states[row], self._actions[row] = key, value
            self.added += 1

    def kept(self) -> dict[str, np.ndarray]:
        """All that training goes on from, by name; copies."""
        with self._turn, self._lock:
            rows = np.arange(self.added - len(self), self.added) % self.settings.memory
            return {
                "updates": np.array(self.updates),
                "parameters": self._parameters.copy(),
                "moment": self._moment.copy(),
                "square": self._square.copy(),
                "states": self._states[rows],
                "actions": self._actions[rows],
            }

    def restore(self, kept: Mapping[str, np.ndarray]) -> None:
        """Go on from what `kept` gave; the shapes must be those of a network like this one."""
        with self._turn, self._lock:
            self._parameters[:], self._moment[:], self._square[:] = kept["parameters"], kept["moment"], kept["square"]
            self._publish()
            self.updates = int(kept["updates"])
            self.added = len(kept["states"])
            self._states[: self.added], self._actions[: self.added] = kept["states"], kept["actions"]
            self._measured = 0

    def predict(self, states: np.ndarray) -> np.ndarray:
        """Actions (n, size) for states (n, features), by the weights of the last `train` that ended."""
        values = checked("states", states, self.features, rows=True)
        layers = self._said
        for weights, biases in layers:
            rows, values = values, np.empty((len(values), len(biases)), np.float32)
            _apply_layer(rows, weights, biases, values, weights is not layers[-1][0])
        return values.astype(float)

    def train(self, updates: int) -> None:
        """Take so many steps of Adam on random batches, then let `predict` see what came of it."""
        check_number("updates", updates, 1)
        with self._turn:
            if len(self) < self.settings.fewest:
                return
            self._measure()
            for step in range(self.updates + 1, self.updates + updates + 1):
                self._differentiate(*self._batch())
                self._adam(step)
            self._publish()
            self.updates += updates

    def _publish(self) -> None:
        """Let `predict` see the parameters as they are now."""
        self._published = self._parameters.copy()
        self._said = self._layers(self._published)

    def _measure(self) -> None:
        """How much noise each state dimension gets; anew only every 20 pairs, because it takes a fifth of an update."""
        with self._lock:
            if not self._measured or self.added >= self._measured + 20:
                self._measured = self.added
                self._noise = self.settings.noise * self._states[: len(self)].std(axis=0)

    def _batch(self) -> tuple[np.ndarray, np.ndarray]:
        """Random pairs, no pair twice, with noise on their states."""
        settings = self.settings
        with self._lock:
            count = max(1, min(int(settings.batch * len(self)), settings.largest_batch))
            rows = self._rng.choice(len(self), count, replace=False)
            states, actions = self._states[rows], self._actions[rows]
        disturbance = self._rng.standard_normal(states.shape, np.float32)
        disturbance *= self._noise
        states += disturbance
        return states, actions

    def _differentiate(self, states: np.ndarray, actions: np.ndarray) -> None:
        """The gradient of a batch, a few rows at a time."""
        layers, parts = self._layers(self._parameters), self._layers(self._part)
        self._gradient[:] = 0.0
        for start in range(0, len(states), self._rows):
            rows = slice(start, start + self._rows)
            values, slopes = _forward(layers, states[rows])
            error = np.clip(values[-1] - actions[rows], -self.settings.clip, self.settings.clip)
            _backward(layers, values, slopes, error, parts)
            self._gradient += self._part
        self._gradient /= len(states)

    def _adam(self, step: int) -> None:
        """Move the parameters against the gradient (Kingma and Ba 2015, algorithm 1; with its epsilon, 1e-8)."""
        settings, change = self.settings, self._step
        self._moment *= settings.beta1
        self._moment += np.multiply(self._gradient, 1 - settings.beta1, out=change)
        np.multiply(self._gradient, self._gradient, out=change)
        self._square *= settings.beta2
        self._square += np.multiply(change, 1 - settings.beta2, out=change)
        np.divide(self._square, 1 - settings.beta2**step, out=change)
        np.sqrt(change, out=change)
        change += 1e-8
        np.divide(self._moment, change, out=change)
        self._parameters -= np.multiply(change, settings.rate / (1 - settings.beta1**step), out=change)

    def _layers(self, parameters: np.ndarray) -> Layers:
        """Weights (low, high) and biases (high,) of every layer: views of a parameter vector."""
        layers, start = [], 0
        for low, high in pairwise(self._widths):
            weights = parameters[start : start + low * high].reshape(low, high)
            start += low * high
            layers.append((weights, parameters[start : start + high]))
            start += high
        return layers


def _forward(layers: Layers, rows: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What goes into every layer and comes out of the last, and the slopes of ELU between them."""
    values, slopes = [rows], []
    for weights, biases in layers[:-1]:
        value = values[-1] @ weights
        value += biases
        slope = np.minimum(value, 0.0)
        np.exp(slope, out=slope)  # ELU is exp(x) - 1 below 0 and x above, and its slope exp(x) and 1
        np.maximum(value, 0.0, out=value)
        value += slope
        value -= 1.0
        values.append(value)
        slopes.append(slope)
    weights, biases = layers[-1]
    values.append(values[-1] @ weights + biases)
    return values, slopes


def _backward(
    layers: Layers, values: list[np.ndarray], slopes: list[np.ndarray], error: np.ndarray, out: Layers
) -> None:
    """The gradient, summed over rows, of a loss whose gradient by the outputs is `error`; into views like `layers`."""
    for i in range(len(layers) - 1, -1, -1):
        np.matmul(values[i].T, error, out=out[i][0])
        np.sum(error, axis=0, out=out[i][1])
        if i > 0:
            error = error @ layers[i][0].T
            error *= slopes[i - 1]


@entry(nogil=True)
def _apply_layer(rows, weights, biases, values, hidden):  # type: ignore[no-untyped-def]
    """Rows (n, low) times weights (low, high), plus biases (high,), into (n, high), float32; ELU of it if hidden.

    What `_forward` does, for a few rows quicker than BLAS.
    """
    for k in range(len(rows)):
        for j in range(biases.size):
            values[k, j] = biases[j]
    low, last = weights.shape[0], weights.shape[0] - weights.shape[0] % 4
    for i in range(0, last, 4):
        for k in range(len(rows)):
            _add_four(values[k], rows[k, i], rows[k, i + 1], rows[k, i + 2], rows[k, i + 3], weights, i)
    for i in range(last, low):
        for k in range(len(rows)):
            _add_one(values[k], rows[k, i], weights[i])
    if hidden:
        for k in range(len(rows)):
            _elu(values[k])


@inner
def _add_four(out, a, b, c, d, weights, i):  # type: ignore[no-untyped-def]
    """Add four inputs times their rows of weights, from row i on: `out` is read and written once for all four."""
    first, second, third, fourth = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
    for j in range(out.size):
        out[j] += (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])


@inner
def _add_one(out, a, row):  # type: ignore[no-untyped-def]
    """Add one input times its row of weights."""
    for j in range(out.size):
        out[j] += a * row[j]


@inner
def _elu(values):  # type: ignore[no-untyped-def]
    """ELU in place."""
    for i in range(values.size):
        if values[i] < 0.0:
            values[i] = math.exp(values[i]) - np.float32(1.0)
