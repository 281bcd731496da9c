"""Files of attraction trees: the same bits however they were built, and what is damaged, foreign or in use is said."""

import json
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, replace

import numpy as np
import pytest

from tumble.attraction import building
from tumble.attraction.building import build, first_of, usual_growth
from tumble.attraction.growing import Growth, Method, stage_of
from tumble.attraction.shipped import shipped
from tumble.attraction.store import Earlier, NotBegun, TreeFile, outline_of, read_file, read_tree
from tumble.attraction.systems import SYSTEMS, joints_of, system_named
from tumble.errors import UserError

SMALL = Growth(levels=(0.125, 0.25), attempts=14, inside=6, window=6, lag=3, seed=5)


def grow(path, growth=SMALL, most=10**9, name="pendulum"):
    """Build in this process, until so many attempts are made."""
    with build(path, name, growth) as file, ThreadPoolExecutor(1) as pool, closing(file.grow(pool)) as outcomes:
        for _ in outcomes:
            if len(file.outcomes) >= most:
                break
    return path


def dump(path) -> list:
    """All that is in a file."""
    with closing(sqlite3.connect(path)) as sql:
        sql.text_factory = bytes
        tables = [
            table for (table,) in sql.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        ]
        return [sql.execute(f"SELECT * FROM {table.decode()}").fetchall() for table in tables]


def change(path, *statements) -> None:
    """As another program would."""
    with closing(sqlite3.connect(path)) as sql, sql:
        for statement in statements:
            sql.execute(statement)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small tree, grown in one go."""
    return grow(tmp_path_factory.mktemp("trees") / "whole.tree")


@pytest.fixture
def copy(whole, tmp_path):
    path = tmp_path / "copy.tree"
    shutil.copyfile(whole, path)
    return path


# The same bits --------------------------------------------------------------------------------------


def test_a_tree_that_was_broken_off_is_the_same_in_the_end(whole, tmp_path):
    path = tmp_path / "a.tree"
    for most in (1, 2, 9):
        grow(path, most=most)
        assert len(read_file(path).outcomes) == most
    assert dump(grow(path)) == dump(whole)
    assert dump(grow(path)) == dump(whole)  # nothing is left to do


def test_a_level_that_the_last_attempts_open_again_is_finished(tmp_path):
    growth = replace(SMALL, seed=1, inside=2, attempts=40)
    path = grow(tmp_path / "a.tree", growth)
    found = read_file(path)
    assert stage_of(growth, found.outcomes) is None
    assert stage_of(growth, found.outcomes[:-3]) is not None  # it was opened again, or went on to its end
    halves = grow(tmp_path / "b.tree", growth, most=29)  # where it was thought to be done before
    assert dump(grow(halves, growth)) == dump(path)


def test_what_is_read_is_what_was_grown(whole):
    found = read_file(whole)
    assert (found.name, found.growth, found.earlier, found.mended) == ("pendulum", SMALL, [], [])
    assert stage_of(SMALL, found.outcomes) is None and len(found.tree) == len(read_tree(whole))
    made = [one for one in found.outcomes if one.edge is not None]
    assert [one.edge for one in made] == list(range(len(found.tree.edges)))
    assert [one.level for one in made] == [edge.level for edge in found.tree.edges]
    for edge in found.tree.edges:  # each leads to the goal
        start, track = found.tree.states[edge.first], found.tree.track(edge.first)
        assert found.tree.system.roll(start[None], [track]).misses[0] < 0.1


def test_a_file_can_be_read_while_it_grows_and_has_one_writer(tmp_path):
    path = tmp_path / "a.tree"
    with build(path, "pendulum", SMALL) as file, ThreadPoolExecutor(1) as pool, closing(file.grow(pool)) as outcomes:
        for _ in range(9):
            next(outcomes)
        assert len(read_file(path).outcomes) == 9 and outline_of(path).nodes == len(file.tree)
        for again in (lambda: build(path, "pendulum", SMALL), lambda: TreeFile.resume(path)):
            with pytest.raises(UserError, match=r"a\.tree is being written by another process; wait for its end"):
                again()


# Extensions -----------------------------------------------------------------------------------------


def extended(path, growth, most=10**9):
    with TreeFile.resume(path) as file, ThreadPoolExecutor(1) as pool:
        file.extend(growth)
        with closing(file.grow(pool)) as outcomes:
            for _ in outcomes:
                if len(file.outcomes) >= most:
                    break
    return read_file(path)


def test_an_extension_goes_on_and_is_the_same_after_an_interruption(whole, tmp_path):
    further = replace(SMALL, levels=(*SMALL.levels, 0.375))
    one, two = (shutil.copyfile(whole, tmp_path / name) for name in ("one.tree", "two.tree"))
    before, after = read_file(one), extended(one, further)
    assert (after.growth, after.earlier) == (further, [Earlier(SMALL, len(before.outcomes))])
    assert after.outcomes[: len(before.outcomes)] == before.outcomes
    assert {outcome.stage for outcome in after.outcomes} == {0, 1, 2} and after.largest == 0.375
    extended(two, further, most=len(before.outcomes) + 4)
    assert extended(two, further).earlier == after.earlier
    assert dump(one) == dump(two)


def test_stages_of_other_levels_are_on_the_disk(copy):
    """Attempts count for the level that they were made for, also for whoever opens the file next."""
    before = read_file(copy).outcomes
    extended(copy, replace(SMALL, levels=(0.0625, 0.125, 0.375)), most=0)
    after = read_file(copy).outcomes
    assert [one.stage for one in after[: len(before)]] == [{0: 1, 1: -1}[one.stage] for one in before]


def test_extensions_without_attempts_leave_no_trace(tmp_path):
    path = tmp_path / "a.tree"
    with build(path, "pendulum", SMALL) as file:
        file.extend(SMALL)
        file.extend(replace(SMALL, attempts=7))
        file.extend(replace(SMALL, attempts=9))
    found = read_file(path)
    assert (found.growth.attempts, found.earlier) == (9, [])


# Damage ---------------------------------------------------------------------------------------------

DAMAGES = {
    "half a number": "UPDATE edges SET states = substr(states, 1, 7) WHERE id = {last}",
    "too few states": "UPDATE edges SET states = substr(states, 1, 8) WHERE id = {last}",
    "no points": "UPDATE edges SET points = x'' WHERE id = {last}",
    "not a number": "UPDATE edges SET points = CAST(x'0000c07f' || substr(points, 5) AS BLOB) WHERE id = {last}",
    "its own parent": "UPDATE edges SET parent = 100000 WHERE id = {last}",
    "before the root": "UPDATE edges SET aim = -1 WHERE id = {last}",
    "an endless level": "UPDATE edges SET level = 9e999 WHERE id = {last}",
    "in the middle": "UPDATE edges SET states = x'' WHERE id = 3",
    "a stage beyond all": "UPDATE attempts SET stage = 9 WHERE number = 7",
    "inside twice": "UPDATE attempts SET inside = 2 WHERE number = 0",
    "an attempt that is gone": "DELETE FROM attempts WHERE number = 10",
    "attempts at the end that are gone": "DELETE FROM attempts WHERE number >= 9",
    "edges in disorder": "UPDATE attempts SET edge = 0 WHERE edge = 4",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_left_out_with_a_sentence_and_made_again(whole, copy, damage):
    last = len(read_tree(whole).edges) - 1
    change(copy, "PRAGMA foreign_keys = OFF", DAMAGES[damage].format(last=last))
    found, before = read_file(copy), read_file(whole)
    (sentence,) = found.mended
    what = "edge" if "edges SET" in DAMAGES[damage] or ">=" in DAMAGES[damage] else "attempt"
    assert sentence.startswith(f"{what} ") and f" of {copy} is damaged: it" in sentence
    assert sentence.endswith(" left out, all before is there")
    kept, edges = len(found.outcomes), len(found.tree.edges)
    assert kept < len(before.outcomes) and edges <= last + 1
    assert found.outcomes == before.outcomes[:kept]
    assert np.array_equal(found.tree.states, before.tree.states[: len(found.tree)])
    assert edges == sum(one.edge is not None for one in found.outcomes)
    with TreeFile.resume(copy) as file:
        assert file.mended == [sentence]
    assert read_file(copy).mended == []
    assert dump(grow(copy)) == dump(whole)


def test_the_last_edge_alone(whole, copy):
    last = len(read_tree(whole).edges) - 1
    change(copy, f"UPDATE edges SET points = x'' WHERE id = {last}")
    assert read_file(copy).mended == [f"edge {last} of {copy} is damaged: it is left out, all before is there"]
    change(copy, "UPDATE edges SET points = x'' WHERE id = 2")
    after = f"it and the {last - 2} after it are left out, all before is there"
    assert read_file(copy).mended == [f"edge 2 of {copy} is damaged: {after}"]


def test_pages_that_are_damaged_are_refused(copy):
    data = bytearray(copy.read_bytes())
    data[4096 : 4096 + 64] = b"\xff" * 64
    copy.write_bytes(data)
    with pytest.raises(
        UserError, match=r"copy\.tree is damaged \(.*\); rescue what is left with 'sqlite3 .* \.recover'"
    ):
        read_tree(copy)


# What is refused ------------------------------------------------------------------------------------

HERE = system_named("pendulum").recipe
FOREIGN = [
    ("UPDATE about SET system = 'pendlum'", "is a tree of the system 'pendlum', which is not here; there are: getup-1"),
    ("UPDATE about SET system = 'a\x1b[2J'", r"is a tree of the system 'a\\x1b\[2J', which is not here"),
    (
        "UPDATE about SET system = 'double-pendulum'",
        "is a tree of body 'pendulum', here it is 'double-pendulum'; build",
    ),
    ("UPDATE about SET recipe = json_set(recipe, '$.drive', 'torque')", "is a tree of drive 'torque', here it is 'pd'"),
    (
        "UPDATE about SET recipe = json_set(recipe, '$.step', 0.5)",
        f"is a tree of step 0.5, here it is {HERE['step']}; build it again with 'tumble tree build'",
    ),
    ("UPDATE about SET recipe = json_set(recipe, '$.version', 0)", "is a tree of version 0, here it is 1; build it"),
    (
        "UPDATE about SET recipe = json_remove(recipe, '$.mass')",
        "is a tree of mass None, here it is 3.1; build it again",
    ),
    ("UPDATE about SET recipe = '{'", "does not say what its tree was grown for; build it again"),
    ("UPDATE about SET recipe = cast(x'ff' AS TEXT)", "does not say what its tree was grown for; build it again"),
    ("UPDATE about SET growth = '[]'", "does not say how its tree was grown; build it again"),
    ("""UPDATE about SET growth = replace(growth, ': 14', ': "many"')""", "does not say how its tree was grown"),
    ("UPDATE about SET growth = replace(growth, '[0.125, 0.25]', '[2, 1]')", "does not say how its tree was grown"),
    ("UPDATE about SET growth = replace(growth, ': 5,', ': -5,')", "does not say how its tree was grown"),
    (
        """UPDATE about SET growth = replace(growth, ': 5,', ': 5, "earlier": 3,')""",
        "does not say how its tree was grown",
    ),
    ("PRAGMA user_version = 2", "is a tree of version 2, this tumble knows 1; update tumble to read it"),
    ("PRAGMA user_version = 0", "is a tree of version 0, this tumble knows 1; move it away and build it again"),
    ("PRAGMA application_id = 7", "is not a tree but some other database; choose another file"),
    ("DROP TABLE attempts", "has other tables than a tree of version 1; choose another file"),
    ("DELETE FROM about", "has no tree yet: whoever made it was broken off; build it again"),
]


@pytest.mark.parametrize(("statement", "sentence"), FOREIGN, ids=[sentence[:40] for _, sentence in FOREIGN])
def test_files_of_something_else_are_refused_with_both_names(copy, statement, sentence):
    change(copy, "PRAGMA foreign_keys = OFF", statement)
    before = dump(copy)
    for reading in (read_tree, TreeFile.resume):
        with pytest.raises(UserError, match=sentence):
            reading(copy)
    assert dump(copy) == before  # and is let alone


def test_a_tree_of_another_body_is_refused_with_both_names(tmp_path):
    path = shutil.copyfile(shipped()["getup-1"], tmp_path / "a.tree")
    for word, there in (("skill", "getup-9"), ("body", "humanoid24")):
        change(path, f"UPDATE about SET recipe = json_set(recipe, '$.{word}', '{there}')")
        here = system_named("getup-1").recipe[word]
        with pytest.raises(UserError, match=rf"a\.tree is a tree of {word} '{there}', here it is '{here}'; build it"):
            read_tree(path)


def test_what_is_no_tree(tmp_path):
    path = tmp_path / "a.tree"
    with pytest.raises(UserError, match=r"no file .*a\.tree; a tree is wanted"):
        read_tree(path)
    with pytest.raises(UserError, match=r"no file .*a\.tree; 'tumble tree build' makes one"):
        TreeFile.resume(path)
    path.write_text("hum " * 999)
    for reading in (read_tree, TreeFile.resume, lambda path: build(path, "pendulum", SMALL)):
        with pytest.raises(UserError, match=r"a\.tree is not a tree; choose another file"):
            reading(path)
    with pytest.raises(UserError, match=r"no folder .*nowhere to write a\.tree into"):
        build(tmp_path / "nowhere" / "a.tree", "pendulum", SMALL)
    with pytest.raises(UserError, match=r"cannot write .*: it is a folder"):
        build(tmp_path, "pendulum", SMALL)
    with pytest.raises(UserError, match=r"no system 'pendlum'; there are: .*did you mean 'pendulum'"):
        build(tmp_path / "b.tree", "pendlum", SMALL)
    assert [file.name for file in tmp_path.iterdir()] == ["a.tree"]


@pytest.mark.parametrize("left", ["", "tables"])
def test_who_was_killed_before_there_was_a_tree_begins_again(whole, copy, left):
    if left:
        change(copy, "PRAGMA foreign_keys = OFF", "DELETE FROM about", "DELETE FROM edges", "DELETE FROM attempts")
    else:
        copy.write_bytes(b"")
    with pytest.raises(NotBegun, match="has no tree yet"):
        TreeFile.resume(copy)
    assert dump(grow(copy)) == dump(whole)


OTHERS = [
    (replace(SMALL, attempts=9), "is grown with attempts 14, not 9; 'tumble tree extend .*' goes on with it"),
    (replace(SMALL, levels=(1.0,)), "is grown with levels 0.125, 0.25, not 1; 'tumble tree extend"),
    (replace(SMALL, connecting=replace(SMALL.connecting, candidates=7)), "is grown with candidates 50, not 7; "),
    (replace(SMALL, method=Method.RRTFC), "is grown with method dfc, not rrtfc; "),
]


@pytest.mark.parametrize(("growth", "sentence"), OTHERS)
def test_another_growth_is_refused_with_the_way_to_extend(copy, growth, sentence):
    before = dump(copy)
    with pytest.raises(UserError, match=sentence):
        build(copy, "pendulum", growth)
    with pytest.raises(
        UserError, match=r"copy\.tree is a tree of 'pendulum', not of 'double-pendulum'; choose another"
    ):
        build(copy, "double-pendulum", SMALL)
    with pytest.raises(UserError, match="is there already; 'tumble tree extend' grows it further, or choose another"):
        TreeFile.create(copy, "pendulum", growth)
    assert dump(copy) == before
    TreeFile.resume(copy).__exit__(None, None, None)  # nobody holds it


@pytest.mark.parametrize(
    ("levels", "got"),
    [((), "none"), ((2.0, 1.0), "2, 1"), ((0.0,), "0"), ((np.nan,), "nan"), ((1.0, np.inf), "1, inf")],
)
def test_levels_rise(levels, got):
    with pytest.raises(UserError, match=f"levels must rise from above 0, got {got}$"):
        Growth(levels=levels)


# First controllers ----------------------------------------------------------------------------------


def test_a_tree_of_a_character_begins_with_its_first_controller(tmp_path):
    path, growth = tmp_path / "a.tree", replace(usual_growth("getup-1"), levels=(0.1,))
    build(path, "getup-1", growth).__exit__(None, None, None)
    found = read_file(path)
    (edge,) = found.tree.edges
    assert (edge.parent, edge.level, found.outcomes) == (0, 0.0, [])
    system, track = found.tree.system, found.tree.track(edge.first)
    assert np.allclose(found.tree.states[edge.first], system.target, atol=1e-5)
    assert system.roll(system.target[None], [track]).reached[0]
    with build(path, "getup-1", growth) as file:  # once
        assert len(file.tree.edges) == 1


def test_a_first_controller_that_fails_begins_nothing(tmp_path, monkeypatch):
    still = np.tile(system_named("getup-1").angles(system_named("getup-1").target[None]), (3, 1))
    monkeypatch.setattr(building, "first_points", lambda name: still)
    with pytest.raises(UserError, match="controller of 'getup-1' does not come from its target to its goal: it ends"):
        build(tmp_path / "a.tree", "getup-1", SMALL)
    assert not list(tmp_path.iterdir())


def test_pendulums_have_no_first_controller():
    assert first_of("pendulum") is None


def test_every_system_has_a_usual_growth():
    for name in SYSTEMS:
        assert isinstance(usual_growth(name), Growth) and joints_of(name) == system_named(name).joints
    assert usual_growth("getup-1").levels == tuple(range(1, 11))
    assert usual_growth("crouch-stand").levels == (25, 50, 75, 100, 125, 150)
    with pytest.raises(UserError, match="no system 'getup'; there are: "):
        usual_growth("getup")


def test_growths_are_plain_json(whole):
    with closing(sqlite3.connect(whole)) as sql:
        ((text,),) = sql.execute("SELECT growth FROM about").fetchall()
    assert json.loads(text) == json.loads(json.dumps(asdict(SMALL)))  # as files of older versions have it
