"""Demonstrations: episodes in which an expert succeeded, and the Minari dataset of them.

    shown = demonstrate(env, expert, seed=3)                 # None where it did not succeed
    write_dataset(Path("getup"), env, {3: shown}, {"algorithm_name": "cpbp"})
    minari.MinariDataset("getup/data")[0].actions            # what Minari reads

A dataset is a folder as Minari lays it out, written beside and renamed: it is whole or not there. Needs no network.
"""

import contextlib
import io
import os
import secrets
import shutil
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import gymnasium
import msgspec
import numpy as np

from tumble.errors import UserError
from tumble.files import read_arrays, write_arrays
from tumble.gym.expert import Expert

LARGEST = 1 << 28  # bytes of an episode
FORMAT = "tumble demonstration 1"


class Header(msgspec.Struct):
    """What a packed demonstration says of itself."""

    format: str


@dataclass(frozen=True)
class Demonstration:
    """An episode of T steps.

    Attributes:
      observations: (T + 1, n).
      actions: (T, m).
      rewards: (T,).
      terminations, truncations: (T,) bools, of which the last one or other is true.
    """

    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    terminations: np.ndarray
    truncations: np.ndarray

    @property
    def packed(self) -> bytes:
        """As bytes, from which `unpacked` makes it again."""
        file = io.BytesIO()
        write_arrays(file, Header(FORMAT), asdict(self), compressed=False)
        return file.getvalue()

    @classmethod
    def unpacked(cls, data: bytes) -> "Demonstration":
        """The demonstration in bytes."""
        _, arrays = read_arrays(io.BytesIO(data), Header, [field.name for field in fields(cls)], LARGEST)
        return cls(**arrays)


def demonstrate(
    env: gymnasium.Env[Any, Any], expert: Expert, seed: int, told: Callable[[], object] = lambda: None
) -> Demonstration | None:  # fmt: skip
    """What an expert does in the episode of a seed; None where that is no success.

    Args:
      told: called after every step.
    """
    observation, _ = env.reset(seed=seed)
    observations, actions, rewards, ends = [observation], list[np.ndarray](), list[float](), list[tuple[bool, bool]]()
    while not ends or not any(ends[-1]):
        actions.append(expert(observation))
        observation, reward, terminated, truncated, info = env.step(actions[-1])
        observations.append(observation)
        rewards.append(float(reward))
        ends.append((terminated, truncated))
        told()
    if not info["success"]:
        return None
    terminations, truncations = np.array(ends).T.copy()
    return Demonstration(np.array(observations), np.array(actions), np.array(rewards), terminations, truncations)


def check_folder(path: Path) -> None:
    """Refuse a place that cannot become a dataset, and a machine without Minari."""
    try:
        import h5py  # noqa: F401
        import minari  # noqa: F401
    except ImportError:
        raise UserError("datasets need Minari: pip install 'tumble[rl]'") from None
    if os.path.lexists(path):
        raise UserError(f"{path} is there already; a dataset is a new folder: choose another name")
    if not path.resolve().parent.is_dir():
        raise UserError(f"no folder {path.parent} to write {path.name} into")


def write_dataset(
    path: Path, env: gymnasium.Env[Any, Any], shown: Mapping[int, Demonstration], about: Mapping[str, Any]
) -> int:  # fmt: skip
    """Write demonstrations by their seeds, in that order, as a Minari dataset; returns how many bytes.

    Args:
      path: of a new folder; its 'data' is what Minari reads.
      env: in which they were; Minari can make it again.
      about: of the dataset, for people: 'dataset_id' and 'algorithm_name' among it.
    """
    check_folder(path)
    from minari import __version__
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage

    beside = path.resolve().with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        beside.mkdir()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            storage = MinariStorage.new(
                beside / "data", env.observation_space, env.action_space, env.spec, "hdf5", jpeg_encoding=False
            )
            storage.update_metadata({"minari_version": __version__, **about})
            storage.update_episodes(
                EpisodeBuffer(id=i, seed=seed, **asdict(one)) for i, (seed, one) in enumerate(sorted(shown.items()))
            )
        size = sum(file.stat().st_size for file in beside.rglob("*") if file.is_file())
        os.rename(beside, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            shutil.rmtree(beside)
        if isinstance(error, OSError):
            raise UserError(f"cannot write {path}: {error.strerror or error}") from None
        raise
    return size
