"""How much is compiled at a first use and how often, that edits are seen, and what bundles hold."""

import copy
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from tumble.maths.bundles import Address, dice_of, strided
from tumble.maths.compiled import Given1, Given2, Made1, as_entry, entry, inner, stamp_of
from tumble.maths.compiling import compilations
from tumble.maths.sampling import below, share

FIRST_USES = """
import json
from dataclasses import replace
from tumble.maths.compiling import compilations
from tumble.scenarios import SCENARIOS, Trial, run_trial

def used(name, **changes):
    scenario = SCENARIOS[name]()
    settings = replace(scenario.settings_for(scenario.controllers[0]), **changes)
    with compilations() as names:
        run_trial(Trial(scenario, 0, seconds=2 / 30, settings=settings))
    return names

print(json.dumps({
    "stand": used("stand"), "stand again": used("stand", samples=5, horizon=0.3),
    "steer-walk": used("steer-walk"), "steer-walk again": used("steer-walk"),
}))
"""


@pytest.fixture(scope="module")
def first_uses(tmp_path_factory) -> dict[str, list[str]]:
    """Names of what is compiled when scenarios are first run, one after the other, in a process without a cache."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
    command = [sys.executable, "-c", FIRST_USES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("scenario", "most"), [("stand", 18), ("steer-walk", 130)])
def test_a_first_use_compiles_little(first_uses, scenario, most):
    """Were 102 and 175: a bound that a new kernel may raise with a reason, and a wrapper may not."""
    assert 0 < len(first_uses[scenario]) <= most


def test_nothing_of_c_pbp_is_compiled_twice(first_uses):
    ours = [name for name in first_uses["stand"] if name.startswith("tumble.")]
    assert len(set(ours)) == len(ours)


def test_another_number_of_rows_compiles_nothing(first_uses):
    assert first_uses["stand again"] == first_uses["steer-walk again"] == []


# Entries ------------------------------------------------------------------------------------------------


@inner
def _scaled(value, share):  # type: ignore[no-untyped-def]
    return share * value


@entry
def add_up(table: Given2, share: float, out: Made1) -> None:
    for i in range(table.shape[0]):
        out[i] = 0.0
        for j in range(table.shape[1]):
            out[i] += _scaled(table[i, j], share)


def test_an_entry_with_types_is_compiled_once_whatever_the_layout():
    table, out = np.arange(12.0).reshape(3, 4), np.empty(3)
    fixed = table.copy()
    fixed.flags.writeable = False
    with compilations() as names:
        for given in (table, table[:, ::2], table[:1], np.asfortranarray(table), fixed, table[:0]):
            made = out[: len(given)]
            add_up(given, 2.0, made)
            assert made == pytest.approx(2 * given.sum(axis=1))
        add_up(table, 3, out)  # an int for a float
    assert out == pytest.approx(3 * table.sum(axis=1))
    assert names.count(f"{__name__}.add_up") <= 1  # 0 where it was found on disk
    assert len(add_up.signatures) == 1


def test_an_entry_with_types_refuses_others():
    with pytest.raises(TypeError, match="float32"):
        add_up(np.zeros((2, 2), np.float32), 1.0, np.empty(2))


def test_numbers_that_are_known_get_no_version_of_their_own():
    @inner
    def later(n):  # type: ignore[no-untyped-def]
        return n + 1

    @inner
    def counted(steps):  # type: ignore[no-untyped-def]
        n = 0
        for _ in range(steps):
            n = later(n)
        return later(n) + later(7)

    with compilations() as names:
        assert as_entry(counted)(5) == 14
    assert sum("later" in name for name in names) == 1


def test_entries_without_all_types_are_compiled_as_they_are_called():
    @entry
    def doubled(x: Given1, out):  # type: ignore[no-untyped-def]
        for i in range(out.size):
            out[i] = 2.0 * x[i]

    out = np.empty(2, np.float32)
    doubled(np.ones(2), out)
    assert out.tolist() == [2, 2]


# Sources ------------------------------------------------------------------------------------------------


def test_an_edit_of_an_inner_functions_file_is_seen(tmp_path):
    kernel = tmp_path / "deep" / "kernel.py"
    kernel.parent.mkdir()
    kernel.write_text("def one(x):\n    return x\n")
    before = stamp_of(tmp_path)
    assert stamp_of(tmp_path) == before
    (tmp_path / "notes.txt").write_text("no source\n")
    assert stamp_of(tmp_path) == before
    kernel.write_text("def one(x):\n    return 2 * x\n")
    assert stamp_of(tmp_path) != before


# Bundles ------------------------------------------------------------------------------------------------


class Inside(NamedTuple):
    numbers: np.ndarray
    factor: float


@dataclass(frozen=True)
class Settings:
    gain: float
    steps: int


class Outside(NamedTuple):
    inside: Any
    count: int
    on: bool
    missing: Any


@strided
class Rows(NamedTuple):
    places: np.ndarray


@inner
def _total(b):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(b.count):
        total += b.inside.factor * b.inside.numbers[i]
        b.inside.numbers[i] = 0.0
    if b.missing is not None:
        total += 1000.0
    return total if b.on else -total


@inner
def _first(rows):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(rows.places.shape[0]):
        total += rows.places[i, 0]
    return total


total, first = as_entry(_total), as_entry(_first)


def test_arrays_are_live_and_numbers_are_copies():
    numbers = np.array([1.0, 2.0, 4.0])
    address = Address(Outside(Inside(numbers, 10.0), 3, True, None))
    assert total(address) == 70
    assert numbers.tolist() == [0, 0, 0]
    numbers[:] = 1.0
    assert total(address) == 30


@pytest.mark.parametrize(("on", "missing", "wanted"), [(True, None, 3), (False, None, -3), (True, 1.5, 1003)])
def test_bools_and_what_is_missing(on, missing, wanted):
    assert total(Address(Outside(Inside(np.ones(3), 1.0), 3, on, missing))) == wanted


def test_an_address_within_a_bundle_is_that_of_a_bundle():
    inside = Inside(np.ones(2), 2.0)
    one = Address(Outside(inside, 2, True, None))
    other = Address(Outside(Address(inside), 2, True, None))
    assert one._numba_type_ == other._numba_type_
    assert total(one) == 4


def test_a_dataclass_has_one_type_whatever_numbers_are_given():
    assert Address(Settings(2, 3))._numba_type_ == Address(Settings(2.5, 4))._numba_type_


def test_an_address_keeps_its_arrays():
    address = Address(Outside(Inside(np.full(1000, 0.5), 1.0), 1000, True, None))
    _ = [np.zeros(1000) for _ in range(100)]  # would take the memory
    assert total(address) == 500


def test_an_address_is_not_copied():
    """It would still be of the arrays of the first."""
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="copy the bundle"):
            copied(Address(Inside(np.ones(1), 1.0)))


def test_strided_rows_of_any_number_are_one_type():
    table = np.arange(60.0).reshape(6, 10)
    kinds = {Address(Rows(table[:n, 2:5]))._numba_type_ for n in (1, 2, 6)}
    assert len(kinds) == 1
    assert [first(Address(Rows(table[:n, 2:5]))) for n in (1, 2)] == [2, 14]
    assert len({Address(Inside(array, 1.0))._numba_type_ for array in (table[0], table[:, 0])}) == 2  # not marked


@pytest.mark.parametrize(
    ("bundle", "message"),
    [
        (Inside("no", 1.0), "Inside.numbers is an str: compiled code takes arrays of numbers"),
        (Inside(np.array(["a"]), 1.0), "Inside.numbers is an array of <U1"),
        (Inside(np.array([None]), 1.0), "Inside.numbers is an array of object"),
        (Inside(np.ones(1), [1.0]), "Inside.factor is an list"),
        (Inside(np.ones(1), 1j), "Inside.factor is an complex"),
        ([1.0], "an address is of a named tuple or a dataclass, got list"),
    ],
)
def test_what_cannot_be_laid_down_is_refused(bundle, message):
    with pytest.raises(TypeError, match=message):
        Address(bundle)


# Dice ---------------------------------------------------------------------------------------------------


def test_dice_show_what_their_generator_would_draw():
    one, other, sizes = (np.random.default_rng(seed) for seed in (3, 3, 0))
    dice, draw, part = Address(dice_of(one)), as_entry(below), as_entry(share)
    for i in range(2000):
        n = int(sizes.integers(1, 2 ** sizes.integers(1, 31)))
        assert draw(dice, n) == other.integers(n)
        if i % 3 == 0:
            assert part(dice) == other.random()
    assert one.integers(1000) == other.integers(1000)
