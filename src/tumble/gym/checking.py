"""A checker of vector environments: Gymnasium has one for single ones alone.

check_vector_env(gymnasium.make_vec("tumble/Getup-v0", num_envs=3), steps=200)
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tumble.errors import UserError

Single = Callable[[], Env[Any, Any]]


def check_vector_env(
    many: VectorEnv[Any, Any, Any], steps: int = 100, seed: int = 0, single: Single | None = None
) -> int:
    """Step an environment at random and refuse what breaks the contract of `gymnasium.vector.VectorEnv`.

    Spaces of all rows are those of one, times the number of rows; what is returned has their shapes and types, belongs
    to the caller, and is the same again from the same seed; rows have seeds of their own; after the end of an episode
    comes what `metadata['autoreset_mode']` says. The environment is left reset.

    Args:
      steps: how many; an episode or more should end in them, else nothing is known of what comes after.
      seed: of row 0.
      single: makes one environment, as which every row must go; not looked at where it is None.

    Returns:
      How many episodes have ended.

    Raises:
      UserError: the first thing that is wrong.
    """
    mode = many.metadata.get("autoreset_mode")
    _must(isinstance(mode, AutoresetMode), f"metadata['autoreset_mode'] must be an AutoresetMode, is {mode!r}")
    assert isinstance(mode, AutoresetMode)  # for who checks types
    for word in ("observation", "action"):
        one, all_rows = getattr(many, f"single_{word}_space"), getattr(many, f"{word}_space")
        _must(all_rows == batch_space(one, many.num_envs), f"{word}_space is not single_{word}_space times num_envs")
    first, ended = _run(many, mode, steps, seed)
    again, _ = _run(many, mode, steps, seed)
    for t, (before, after) in enumerate(zip(first, again, strict=True)):
        _must(_same(before, after), f"step {t} is another from the same seed and actions")
    start, _ = many.reset(seed=seed + 1)
    here, _ = many.reset(seed=seed)
    _must(_same(start[: many.num_envs - 1], here[1:]), "row i of seed s + 1 must begin as row i + 1 of seed s")
    if single is not None:
        _compare(many, mode, first, single, seed)
    return ended


def _run(many: VectorEnv[Any, Any, Any], mode: AutoresetMode, steps: int, seed: int) -> tuple[list[Any], int]:
    """All that it returned, actions with it; and how many episodes ended."""
    many.action_space.seed(seed)
    observations, infos = many.reset(seed=seed)
    _must(many.observation_space.contains(observations), "reset gave what is no observation of the space")
    seen: list[Any] = [(observations, infos)]
    copies = [_copy((observations, infos))]
    over, ended = np.zeros(many.num_envs, bool), 0
    for t in range(steps):
        actions = many.action_space.sample()
        if mode is AutoresetMode.DISABLED and over.any():
            observations, infos = many.reset(options={"reset_mask": over})
            seen.append((observations, infos))
            copies.append(_copy((observations, infos)))
        told = many.step(actions)
        observations, rewards, terminated, truncated, infos = told
        _must(many.observation_space.contains(observations), f"step {t} gave what is no observation of the space")
        for name, column, kind in (("rewards", rewards, np.floating), ("terminated", terminated, np.bool_),
                                   ("truncated", truncated, np.bool_)):  # fmt: skip
            fine = isinstance(column, np.ndarray) and column.shape == (many.num_envs,)
            _must(
                fine and np.issubdtype(column.dtype, kind), f"step {t} gave {name} that are no such array: {column!r}"
            )
        _must(bool(np.isfinite(rewards).all()), f"step {t} gave rewards that are not finite")
        if mode is AutoresetMode.NEXT_STEP and over.any():
            _must(not rewards[over].any(), f"step {t} rewards rows that only began")
            _must(not (terminated | truncated)[over].any(), f"step {t} ended rows that only began")
        over = terminated | truncated
        ended += int(over.sum())
        if mode is AutoresetMode.SAME_STEP and over.any():
            has = "final_obs" in infos and bool((infos["_final_obs"] == over).all())
            _must(has, f"step {t} ended rows without their 'final_obs'")
        seen.append((actions, *told))
        copies.append(_copy((actions, *told)))
    _must(_same(seen, copies), "what was returned changed later: it must belong to the caller")
    return copies, ended


def _compare(
    many: VectorEnv[Any, Any, Any], mode: AutoresetMode, ran: list[Any], single: Single, seed: int
) -> None:  # fmt: skip
    """Refuse rows that do not go as single environments do; of NEXT_STEP alone, in which their steps are the same."""
    _must(mode is AutoresetMode.NEXT_STEP, "rows are compared with single environments in NEXT_STEP alone")
    for row in range(many.num_envs):
        one, over = single(), False
        observation, _ = one.reset(seed=seed + row)
        _must(_same(ran[0][0][row], observation), f"row {row} begins otherwise than a single environment")
        for t, (actions, observations, rewards, terminated, truncated, infos) in enumerate(ran[1:]):
            expected: tuple[Any, ...]
            if over:
                observation, info = one.reset()
                expected = (observation, 0.0, False, False)
            else:
                *expected_list, info = one.step(actions[row])
                expected = tuple(expected_list)
            over = bool(expected[2] or expected[3])
            got = (observations[row], float(rewards[row]), bool(terminated[row]), bool(truncated[row]))
            _must(_same(got, expected), f"row {row} goes otherwise than a single environment in step {t}")
            _must(_same(_of_row(infos, row), info), f"row {row} tells otherwise than a single environment in step {t}")
        one.close()


def _of_row(infos: dict[str, Any], row: int) -> dict[str, Any]:
    """What infos say of one row."""
    shown = [name for name in infos if not name.startswith("_") and infos[f"_{name}"][row]]
    return {name: _of_row(infos[name], row) if isinstance(infos[name], dict) else infos[name][row].item()
            for name in shown}  # fmt: skip


def _copy(thing: Any) -> Any:
    """Arrays in it copied."""
    if isinstance(thing, dict):
        return {name: _copy(value) for name, value in thing.items()}
    if isinstance(thing, tuple | list):
        return tuple(_copy(value) for value in thing)
    return thing.copy() if isinstance(thing, np.ndarray) else thing


def _same(a: Any, b: Any) -> bool:
    """Whether two things are equal to the last bit."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, np.ndarray) and a.dtype == object:
        return all(map(_same, a, b))
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    return bool(a == b or (a != a and b != b))  # nan is nan


def _must(fine: bool, wrong: str) -> None:
    if not fine:
        raise UserError(f"not a vector environment of Gymnasium: {wrong}")
