"""The network: finite differences, Adam by hand, what it learns and forgets, bits, threads, bad calls."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from tumble.errors import UserError
from tumble.learners import Network, NetworkSettings
from tumble.learners.network import _backward, _forward

FEATURES, SIZE = 4, 3
SMALL = NetworkSettings(layers=2, width=20)


def network(settings: NetworkSettings = SMALL, seed: int = 0) -> Network:
    return Network(FEATURES, SIZE, np.random.default_rng(seed), settings)


def pairs(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """States, and actions that are a smooth function of them."""
    states = np.random.default_rng(seed).normal(size=(count, FEATURES))
    return states, np.stack([np.sin(states[:, 0]), 0.5 * states[:, 1], np.tanh(states[:, 2] - states[:, 3])], axis=1)


def filled(count: int, settings: NetworkSettings = SMALL, seed: int = 0) -> Network:
    made = network(settings, seed)
    for state, action in zip(*pairs(count), strict=True):
        made.add(state, action)
    return made


def error(made: Network) -> float:
    """Root mean square over new states."""
    states, actions = pairs(500, 77)
    return float(np.sqrt(np.square(made.predict(states) - actions).mean()))


# Derivatives and steps ------------------------------------------------------------------------------


def test_gradient_by_finite_differences():
    """In float64, where central differences with a step of 1e-6 are good to about 1e-9."""
    made = network(NetworkSettings(layers=3, width=7))
    rng = np.random.default_rng(1)
    parameters = rng.uniform(-0.5, 0.5, made._parameters.size)
    states, actions = rng.normal(size=(5, FEATURES)), rng.normal(size=(5, SIZE))

    def loss(vector: np.ndarray) -> float:
        return 0.5 * float(np.square(_forward(made._layers(vector), states)[0][-1] - actions).sum())

    gradient = np.empty_like(parameters)
    values, slopes = _forward(made._layers(parameters), states)
    _backward(made._layers(parameters), values, slopes, values[-1] - actions, made._layers(gradient))
    steps = 1e-6 * np.eye(parameters.size)
    expected = [(loss(parameters + step) - loss(parameters - step)) / 2e-6 for step in steps]
    assert gradient == pytest.approx(np.array(expected), abs=1e-8)
    assert (gradient != 0).all()


def test_forward_by_hand():
    made = network(NetworkSettings(layers=1, width=2))
    made._published[:] = np.arange(made._published.size) / 10 - 0.7
    weights, biases, last, offsets = np.split(made._published.astype(float), np.cumsum([8, 2, 6]))
    state = np.array([1.0, -2.0, 0.5, 3.0])
    hidden = state @ weights.reshape(4, 2) + biases
    assert hidden.min() < 0 < hidden.max()  # both sides of ELU
    expected = np.where(hidden > 0, hidden, np.expm1(hidden)) @ last.reshape(2, 3) + offsets
    assert made.predict(state[None])[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("features", [1, 3, 4, 6, 175])
def test_what_is_trained_is_what_predicts(features):
    """The same network in BLAS and compiled, but for rounding: some 100 sums of 1e-7 each."""
    made = Network(features, SIZE, np.random.default_rng(3))
    states = np.random.default_rng(4).normal(size=(40, features)).astype(np.float32)
    expected = _forward(made._layers(made._published), states)[0][-1]
    assert made.predict(states) == pytest.approx(expected, abs=1e-5)


def test_adam_by_hand():
    """The formulas of the paper in float64, for given gradients; float32 rounds steps of 1e-4 to 1e-7 of weights."""
    made, settings = network(), SMALL
    parameters = made._parameters.astype(float)
    moment, square = np.zeros_like(parameters), np.zeros_like(parameters)
    rng = np.random.default_rng(2)
    for step in range(1, 6):
        gradient = rng.normal(size=parameters.size).astype(np.float32)
        made._gradient[:] = gradient
        made._adam(step)
        moment = settings.beta1 * moment + (1 - settings.beta1) * gradient
        square = settings.beta2 * square + (1 - settings.beta2) * gradient.astype(float) ** 2
        corrected = moment / (1 - settings.beta1**step), square / (1 - settings.beta2**step)
        parameters -= settings.rate * corrected[0] / (np.sqrt(corrected[1]) + 1e-8)
    assert made._parameters == pytest.approx(parameters, abs=2e-7)
    assert np.abs(parameters - network()._parameters).max() > 2e-4


@pytest.mark.parametrize("count", [1, 25, 100, 900])
def test_the_gradient_of_a_batch_in_parts(count):
    """The mean over all rows of gradients by outputs within +-clip, however many rows are done at a time."""
    made, (states, actions) = network(), pairs(count)
    actions[::3] += 5.0
    states, actions = states.astype(np.float32), actions.astype(np.float32)
    made._rows = 40
    made._differentiate(states, actions)
    layers, expected = made._layers(made._parameters.astype(float)), np.empty(made._parameters.size)
    values, slopes = _forward(layers, states.astype(float))
    assert np.abs(values[-1] - actions).max() > 1
    _backward(layers, values, slopes, np.clip(values[-1] - actions, -0.1, 0.1) / count, made._layers(expected))
    assert made._gradient == pytest.approx(expected, abs=1e-6)
    assert np.abs(made._gradient[-SIZE:]).max() <= 0.1 + 1e-7  # of the last biases: means of what was clipped


def test_starting_weights():
    settings = NetworkSettings()
    made = Network(175, 24, np.random.default_rng(0), settings)
    assert made._parameters.size == 176 * 100 + 4 * 101 * 100 + 101 * 24
    for weights, biases in made._layers(made._parameters):
        assert np.abs(weights).max() <= 0.2 and not biases.any()
        assert weights.std() == pytest.approx(0.4 / 12**0.5, rel=4 / weights.size**0.5)


# Learning -------------------------------------------------------------------------------------------


def test_learns_a_smooth_function():
    """Actions have an rms of about 0.6; a tenth of it is left. Seeds 0 to 7 end at 0.020 to 0.038."""
    made = filled(2000, NetworkSettings(layers=2, width=40, rate=3e-3))
    before = error(made)
    made.train(1000)
    assert error(made) < 0.06 < 0.3 < before


def test_the_network_of_the_paper_learns():
    """With its own numbers, in 10 s of one update a frame: seeds 0 to 7 go from 0.59..0.84 to 0.10..0.13."""
    made = filled(1000, NetworkSettings(noise=0.0))
    before = error(made)
    made.train(300)
    assert error(made) < before / 2


def test_few_pairs_teach_nothing():
    made = filled(99)
    made.train(10)
    assert not made.ready and made.updates == 0
    made.add(*[array[0] for array in pairs(1)])
    made.train(10)
    assert made.ready and made.updates == 10


def test_the_oldest_are_dropped():
    made = filled(130, NetworkSettings(layers=1, width=2, memory=100))
    states, actions = pairs(130)
    assert len(made) == 100 and made.added == 130
    kept = np.concatenate([made._states, made._actions], axis=1)
    expected = np.concatenate([states[30:], actions[30:]], axis=1).astype(np.float32)
    assert np.array_equal(kept[np.lexsort(kept.T)], expected[np.lexsort(expected.T)])


@pytest.mark.parametrize(
    ("count", "largest", "expected"), [(100, 100, 10), (999, 100, 99), (2500, 100, 100), (2500, 500, 200)]
)
def test_batches(count, largest, expected):
    """A tenth of the pairs, no pair twice."""
    made = filled(count, NetworkSettings(layers=1, width=2, largest_batch=largest))
    states, actions = made._batch()
    assert len(states) == len(actions) == len(np.unique(states, axis=0)) == expected
    stored = {row.tobytes() for row in np.concatenate([made._states, made._actions], axis=1)}
    assert {row.tobytes() for row in np.concatenate([states, actions], axis=1)} <= stored


def test_noise_of_the_states():
    """Variance 1e-3 of that of the states: an estimate from n has a relative standard error of sqrt(2 / n)."""
    made = filled(2000)
    made._states[:] = np.arange(FEATURES)  # all the same, so that what differs is noise
    made._noise = np.array([0.03, 0.06, 0, 0.3], np.float32)
    drawn = np.concatenate([made._batch()[0] for _ in range(50)])
    assert drawn.std(axis=0) ** 2 == pytest.approx(made._noise**2, rel=5 * (2 / len(drawn)) ** 0.5, abs=1e-12)
    assert drawn.mean(axis=0) == pytest.approx(np.arange(FEATURES), abs=5 * 0.32 / len(drawn) ** 0.5)


def test_noise_follows_the_states():
    made, states = filled(2000), pairs(2000)[0]
    made.train(1)
    assert made._noise**2 == pytest.approx(1e-3 * states.var(axis=0), rel=1e-4)
    for state, action in zip(*pairs(20, 1), strict=True):
        made.add(10 * state, action)
    made.train(1)
    assert made._noise**2 == pytest.approx(1e-3 * made._states.var(axis=0), rel=1e-4)
    assert (made._noise**2 > 1.1e-3 * states.var(axis=0)).all()


# Bits and threads -----------------------------------------------------------------------------------

STORY = """
import hashlib
import numpy as np
from tumble.learners import Network
rng = np.random.default_rng(0)
network = Network(175, 24, rng)
for _ in range(1100):
    network.add(rng.normal(size=175), rng.normal(size=24))
network.train(5)
print(hashlib.sha256(network.predict(rng.normal(size=(200, 175))).tobytes()).hexdigest())
"""


def test_the_same_bits_at_any_number_of_threads():
    def told(threads: str) -> str:
        environment = os.environ | {"OPENBLAS_NUM_THREADS": threads}
        return subprocess.run(
            [sys.executable, "-c", STORY], env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert told("1") == told("2") == told("2")


def test_products_stay_on_the_calling_thread():
    """Below twice 4 * 65536 multiplications OpenBLAS takes one thread (its interface/gemm.c)."""
    for features, size in ((175, 24), (4, 3), (1000, 60)):
        made = Network(features, size, np.random.default_rng(0))
        largest = max(weights.size for weights, _ in made._layers(made._published))
        assert made._rows * largest < 2 * 4 * 65536


def test_same_calls_same_bits():
    one, other = filled(300), filled(300)
    for made in (one, other):
        made.train(7)
    assert one._parameters.tobytes() == other._parameters.tobytes()
    one.predict(pairs(5)[0])
    for made in (one, other):
        made.train(7)
    assert one._parameters.tobytes() == other._parameters.tobytes()
    assert one._parameters.tobytes() != filled(300, seed=1)._parameters.tobytes()


def test_updates_may_come_in_parts():
    one, other = filled(300), filled(300)
    one.train(6)
    for _ in range(3):
        other.train(2)
    assert one._parameters.tobytes() == other._parameters.tobytes() and one.updates == other.updates == 6


def test_many_rows_are_predicted_as_few_are():
    made = filled(300)
    made.train(5)
    states = pairs(3000)[0]
    single = np.concatenate([made.predict(states[i : i + 1]) for i in range(0, 3000, 100)])
    assert made.predict(states)[::100] == pytest.approx(single, abs=1e-6)
    assert made.predict(np.zeros((0, FEATURES))).shape == (0, SIZE)


def test_predictions_while_a_thread_trains():
    """Every prediction is one of those that a network in the same steps gives: never of weights half updated."""
    made, twin, states, errors = filled(300), filled(300), pairs(2, 5)[0], []
    allowed = {twin.predict(states).tobytes()}
    for _ in range(200):
        twin.train(1)
        allowed.add(twin.predict(states).tobytes())

    def run() -> None:
        try:
            for _ in range(200):
                made.train(1)
        except BaseException as error:
            errors.append(error)

    worker = threading.Thread(target=run)
    worker.start()
    seen = []
    while worker.is_alive():
        seen.append(made.predict(states).tobytes())
    worker.join()
    assert not errors and made.updates == 200
    assert set(seen) <= allowed
    assert made._parameters.tobytes() == twin._parameters.tobytes()


# Mistakes -------------------------------------------------------------------------------------------

WRONG = [
    (lambda n: Network(0, 1, np.random.default_rng(0)), "features must be a number 1 or more, got 0"),
    (lambda n: Network(1, -1, np.random.default_rng(0)), "size must be a number 1 or more, got -1"),
    (lambda n: n.add(np.zeros(5), np.zeros(3)), r"a state must have shape \(4,\), got \(5,\)"),
    (lambda n: n.add(np.zeros(4), np.zeros((1, 3))), r"an action must have shape \(3,\), got \(1, 3\)"),
    (lambda n: n.add(np.full(4, np.nan), np.zeros(3)), r"a state must be of numbers within \+-1e\+15, got nan"),
    (lambda n: n.predict(np.zeros(4)), r"states must have shape \(n, 4\), got \(4,\)"),
    (lambda n: n.train(0), "updates must be a number 1 or more, got 0"),
    (lambda n: NetworkSettings(width=0), "width must be a number 1 or more, got 0"),
    (lambda n: NetworkSettings(layers=0), "layers must be a number 1 or more, got 0"),
    (lambda n: NetworkSettings(rate=-1), "rate must be a number 0 or more, got -1"),
    (lambda n: NetworkSettings(beta2=1), "beta2 must be a number 0 or more and at most 0.999999, got 1"),
    (lambda n: NetworkSettings(batch=2), "batch must be a number 0 or more and at most 1, got 2"),
    (lambda n: NetworkSettings(noise=float("nan")), "noise must be a number 0 or more, got nan"),
]


@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_mistakes_are_told_and_change_nothing(call, message):
    made = filled(3)
    before = made.predict(pairs(3)[0])
    with pytest.raises(UserError, match=message):
        call(made)
    assert (made.added, made.updates) == (3, 0)
    assert np.array_equal(made.predict(pairs(3)[0]), before)
