"""Step networks: what a step in space leads to, learned from many (in the place of section 3.4's neighbours).

    nets = learned(base, states, actions, values, usual, command, np.random.default_rng(0))
    found = nets.step(states, actions)               # (m, q) and (m, p)
    found.values, found.slopes                       # (m, 2 + q), (m, 2 + q, q + p)
    nets.write(path), read_nets(path)                # a file that is safe to load, ends in .nets

Values are (length, lateral, next state), of x = (state, action) scaled to deviations of 1: `NETWORKS` times
y = W_3 tanh(W_2 tanh(W_1 x + b_1) + b_2) + b_3 + W_4 x, each trained from other beginnings. Their mean is the
prediction; by how much their lengths differ from it is the doubt: it grows away from what was tried.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from tumble.errors import UserError
from tumble.files import read_checked, replace_file, write_arrays
from tumble.stepping.base import BASES, Base

ENDING = ".nets"
FORMAT, VERSION, LARGEST = "tumble step networks", 1, 8 << 20
NETWORKS, WIDTH = 3, 32  # ours
EPOCHS, BATCH, RATE = 80, 128, 3e-3  # of Adam; ours
LONG = 3.0  # weight of errors of lengths beside those of all else; ours
ROBUST = 0.6  # standard deviations beyond which an error counts by its size and not by its square; ours
SEEN = (1.0, 99.0)  # percentiles of states that were seen, within which states are taken to be; ours
STEPS = np.array([0.1, 0.25, 0.4, 0.55, 0.7])  # m, lengths of steps whose mean actions plans begin with; ours
WEIGHTS = ("w1", "b1", "w2", "b2", "w3", "b3", "w4")
ARRAYS = (*WEIGHTS, "inputs", "outputs", "seen", "usual", "typical")


class NetsHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says of itself: base, digest of its gait, steps that were learned from, the command that makes it."""

    format: str
    version: int
    base: str
    gait: str
    steps: int
    command: str


class Foretold(NamedTuple):
    """Of m steps.

    Attributes:
      values: (m, 2 + q) length and lateral, m, and the next state.
      slopes: (m, 2 + q, q + p) of these by state and action.
      doubt: (m, NETWORKS) m by which lengths of each network differ from the mean.
      doubt_slopes: (m, NETWORKS, q + p).
    """

    values: np.ndarray
    slopes: np.ndarray
    doubt: np.ndarray
    doubt_slopes: np.ndarray


@dataclass(frozen=True, eq=False)
class StepNets:
    """Networks and what plans with them need beside.

    Attributes:
      inputs, outputs: (2, q + p), (2, 2 + q) means and deviations.
      seen: (2, q) low and high of states.
      usual: (2 + q,) length, lateral and state of the base's own walk.
      typical: (len(STEPS), p) mean actions of steps of these lengths.
    """

    header: NetsHeader
    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray
    w3: np.ndarray
    b3: np.ndarray
    w4: np.ndarray
    inputs: np.ndarray
    outputs: np.ndarray
    seen: np.ndarray
    usual: np.ndarray
    typical: np.ndarray

    @cached_property
    def _mean(self) -> tuple[np.ndarray, np.ndarray]:
        """w3 and w4 of all networks as one: their mean is linear in the last layer."""
        return self.w3.reshape(-1, self.w3.shape[2]) / len(self.w3), self.w4.mean(axis=0)

    def step(self, states: np.ndarray, actions: np.ndarray) -> Foretold:
        """Where actions (m, p) lead from states (m, q), which are taken to be within what was seen."""
        x = np.concatenate([np.clip(states, *self.seen), actions], axis=1)
        x = (x - self.inputs[0]) / self.inputs[1]
        first = np.tanh(x @ self.w1 + self.b1[:, None])
        second = np.tanh(first @ self.w2 + self.b2[:, None])
        y = (second @ self.w3 + self.b3[:, None] + x @ self.w4) * self.outputs[1] + self.outputs[0]
        inner = (self.w1[:, None] * (1.0 - first**2)[:, :, None]) @ self.w2[:, None] * (1.0 - second**2)[:, :, None]
        lengths = (inner @ self.w3[:, None, :, :1])[..., 0] + self.w4[:, None, :, 0]  # slopes, (NETWORKS, m, q + p)
        slopes = (inner.transpose(1, 2, 0, 3).reshape(*x.shape, -1) @ self._mean[0] + self._mean[1]).swapaxes(1, 2)
        values = y.mean(axis=0)
        scale = self.outputs[1][0] / self.inputs[1]
        return Foretold(
            values, slopes * (self.outputs[1][:, None] / self.inputs[1]), (y[:, :, 0] - values[:, 0]).T,
            (lengths - lengths.mean(axis=0)).swapaxes(0, 1) * scale,
        )  # fmt: skip

    def action_for(self, lengths: np.ndarray) -> np.ndarray:
        """(m, p) what steps of lengths (m,) did in the mean."""
        found: np.ndarray = np.stack([np.interp(lengths, STEPS, column) for column in self.typical.T], axis=1)
        return found

    def write(self, path: Path) -> None:
        """Write them beside, then in the place of what was there."""
        arrays = {name: getattr(self, name).astype(np.float32) for name in ARRAYS}
        replace_file(path, lambda file: write_arrays(file, self.header, arrays, compressed=True))


def learned(
    base: Base, states: np.ndarray, actions: np.ndarray, values: np.ndarray, usual: np.ndarray, command: str,
    rng: np.random.Generator,
) -> StepNets:  # fmt: skip
    """Networks that have learned from n steps: states (n, q), actions (n, p), values (n, 2 + q) that they led to."""
    x = np.concatenate([states, actions], axis=1)
    inputs, outputs = (np.stack([rows.mean(axis=0), rows.std(axis=0) + 1e-6]) for rows in (x, values))
    scaled, wanted = (x - inputs[0]) / inputs[1], (values - outputs[0]) / outputs[1]
    trained = zip(*(_trained(scaled, wanted, rng) for _ in range(NETWORKS)), strict=True)
    weights = {name: np.stack(one) for name, one in zip(WEIGHTS, trained, strict=True)}
    # each typical action is a mean over the steps of about that length
    away = np.abs(values[:, 0] - STEPS[:, None])
    near = np.argsort(away, axis=1, kind="stable")[:, : max(10, len(x) // 50)]
    header = NetsHeader(FORMAT, VERSION, base.name, base.digest, len(x), command)
    return StepNets(
        header, inputs=inputs, outputs=outputs, seen=np.percentile(states, SEEN, axis=0), usual=usual,
        typical=actions[near].mean(axis=1), **weights,
    )  # fmt: skip


def _trained(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Weights of one network, by Adam with a rate that falls as a cosine; errors count as Huber has them."""
    n, k, m = len(x), x.shape[1], y.shape[1]
    sizes = ((k, WIDTH, k), (WIDTH, WIDTH, WIDTH), (WIDTH, m, 10 * WIDTH))
    weights = list[np.ndarray]()
    for rows, columns, inverse in sizes:
        weights += [rng.normal(0.0, inverse**-0.5, (rows, columns)), np.zeros(columns)]
    weights.append(np.linalg.lstsq(x, y, rcond=None)[0])
    first, second = ([np.zeros_like(one) for one in weights] for _ in range(2))
    batches, share = max(n // BATCH, 1), np.ones(m)
    share[0] = LONG
    for t in range(1, EPOCHS * batches + 1):
        if t % batches == 1 or batches == 1:
            order = rng.permutation(n)
        some = order[(t - 1) % batches * BATCH :][:BATCH]
        rate = 0.5 * RATE * (1.0 + np.cos(np.pi * t / (EPOCHS * batches)))
        for one, slope, mean, square in zip(
            weights, _slopes(weights, x[some], y[some], share), first, second, strict=True
        ):
            mean += 0.1 * (slope - mean)
            square += 0.01 * (slope**2 - square)
            one -= rate * (mean / (1.0 - 0.9**t)) / (np.sqrt(square / (1.0 - 0.99**t)) + 1e-8)
    return weights


def _slopes(weights: list[np.ndarray], x: np.ndarray, y: np.ndarray, share: np.ndarray) -> list[np.ndarray]:
    """Of the mean error of a batch, by every weight."""
    w1, b1, w2, b2, w3, b3, w4 = weights
    first = np.tanh(x @ w1 + b1)
    second = np.tanh(first @ w2 + b2)
    error = share * np.clip(second @ w3 + b3 + x @ w4 - y, -ROBUST, ROBUST) / len(x)
    back = (error @ w3.T) * (1.0 - second**2)
    front = (back @ w2.T) * (1.0 - first**2)
    return [x.T @ front, front.sum(0), first.T @ back, back.sum(0), second.T @ error, error.sum(0), x.T @ error]


def shipped_nets() -> dict[str, Path]:
    """Files of the networks that ship, by name of their base."""
    folder = Path(str(resources.files("tumble.stepping"))) / "databases"
    return {file.stem: file for file in sorted(folder.glob(f"*{ENDING}"))}


@cache
def nets_named(name: str) -> StepNets | None:
    """Those that ship for a base, read once a process; None where there are none."""
    path = shipped_nets().get(name)
    return None if path is None else read_nets(path)


def read_nets(path: Path) -> StepNets:
    """The networks in a file; refuses what is none, damaged, of another version or of another gait."""
    advice = f"; make some: tumble stones learn BASE {path.name}"
    return read_checked(path, NetsHeader, ARRAYS, LARGEST, _checked, "holds no step networks", advice)


def _checked(header: NetsHeader, arrays: dict[str, np.ndarray]) -> StepNets:
    """The networks of a header and arrays that fit each other; ValueError or UserError where they do not."""
    if (header.format, header.version) != (FORMAT, VERSION):
        raise ValueError(f"its format is {header.format!r} {header.version}, this is '{FORMAT}' {VERSION}")
    base = BASES[header.base]()
    q, p = len(base.metric), len(base.action)
    k, m = q + p, 2 + q
    shapes = {
        "w1": (NETWORKS, k, WIDTH), "b1": (NETWORKS, WIDTH), "w2": (NETWORKS, WIDTH, WIDTH), "b2": (NETWORKS, WIDTH),
        "w3": (NETWORKS, WIDTH, m), "b3": (NETWORKS, m), "w4": (NETWORKS, k, m), "inputs": (2, k), "outputs": (2, m),
        "seen": (2, q), "usual": (m,), "typical": (len(STEPS), p),
    }  # fmt: skip
    wrong = {name: array.shape for name, array in arrays.items() if array.shape != shapes[name]}
    if wrong or any(array.dtype != np.float32 or not np.isfinite(array).all() for array in arrays.values()):
        raise ValueError(f"its arrays do not fit each other: {wrong or 'not finite, or of other types'}")
    if header.gait != base.digest:
        raise UserError(
            f"the networks were made with another gait than '{base.name}' has now; make them again: {header.command}"
        )
    return StepNets(header, **{name: array.astype(float) for name, array in arrays.items()})
