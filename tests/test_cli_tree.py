"""`tumble tree`: trees are built, extended, told of, asked and drawn; the same bits at any number of jobs."""

import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binomtest
from test_cli import call, plain
from test_tree_file import SMALL, change, dump, grow

from tumble.attraction.building import usual_growth
from tumble.attraction.connecting import Connecting
from tumble.attraction.growing import Aim, Growth, Method
from tumble.attraction.shipped import shipped
from tumble.attraction.store import read_file
from tumble.attraction.systems import SYSTEMS
from tumble.cli.tree_command import GROUP
from tumble.cli.tree_info import commands_of
from tumble.cli.tree_options import BuildOptions, GrowthOptions, counted_up, words_of
from tumble.cli.tree_query import interval
from tumble.scenarios import SCENARIOS

OPTIONS = [  # those of SMALL
    "--to", "0.25", "--by", "0.125", "--attempts", "14", "--inside", "6", "--window", "6", "--share", "0.9",
    "--lag", "3", "--seed", "5",
]  # fmt: skip
LONG = replace(SMALL, attempts=40, inside=40, share=1.0)
BUILD = ["tree", "build", "pendulum"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small tree, grown in one go."""
    return grow(tmp_path_factory.mktemp("trees") / "whole.tree")


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """One that takes longer."""
    return grow(tmp_path_factory.mktemp("trees") / "long.tree", LONG)


@pytest.fixture
def copy(whole, tmp_path, monkeypatch):
    """The same in the current folder."""
    monkeypatch.chdir(tmp_path)
    return Path(shutil.copyfile(whole, "copy.tree"))


@pytest.fixture
def here(monkeypatch):
    """Jobs in a thread of this process, which begins sooner."""

    @contextmanager
    def workers(jobs, cluster):
        with ThreadPoolExecutor(1) as pool:
            yield pool

    for module in ("tree_build", "tree_query"):
        monkeypatch.setattr(f"tumble.cli.{module}.workers", workers)


# build and extend -----------------------------------------------------------------------------------


def test_jobs_do_not_matter(whole, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert call(*BUILD, *OPTIONS, "--jobs", "1") == 0
    found = read_file(Path("pendulum.tree"))
    counts = f"{len(found.tree)} nodes, {len(found.tree.edges)} edges after {len(found.outcomes)} attempts"
    captured = capsys.readouterr()
    assert captured.out.startswith("pendulum.tree: all levels are done; level 0.25, ")
    assert captured.out.endswith(f" inside; {counts}\n") and len(captured.out.splitlines()) == 1
    assert "level 0.125 is done: " in captured.err and " optimisations" in captured.err
    assert call(*BUILD, "two.tree", *OPTIONS, "--jobs", "2") == 0
    assert dump("pendulum.tree") == dump("two.tree") == dump(whole)
    capsys.readouterr()
    assert call(*BUILD, "two.tree", *OPTIONS) == 0
    assert capsys.readouterr() == (captured.out.replace("pendulum.tree", "two.tree"), "")  # nothing is left to do
    assert sorted(file.name for file in tmp_path.iterdir()) == ["pendulum.tree", "two.tree"]


def attempts_in(path) -> int:
    """Of a file that another process writes."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as sql:
            return sql.execute("SELECT count(*) FROM attempts").fetchone()[0]
    except sqlite3.OperationalError:  # not yet
        return 0


@pytest.mark.parametrize(("end", "jobs"), [(signal.SIGKILL, "2"), (signal.SIGINT, "1")])
def test_a_build_that_is_ended_goes_on_to_the_same_tree(long, tmp_path, monkeypatch, capsys, end, jobs):
    monkeypatch.chdir(tmp_path)
    more = ["--attempts", "40", "--inside", "40", "--share", "1"]  # those of LONG
    words = [*BUILD, "a.tree", *OPTIONS, *more]
    process = subprocess.Popen(
        [sys.executable, "-m", "tumble", *words, "--jobs", jobs],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 300
    while (before := attempts_in("a.tree")) < 10 and time.monotonic() < until:
        time.sleep(0.02)
    assert call(*words) == 2  # two builders
    assert "a.tree is being written by another process; wait for its end, or choose another" in capsys.readouterr().err
    os.killpg(process.pid, end) if end == signal.SIGINT else process.kill()
    out, said = process.communicate(timeout=60)
    assert 10 <= before <= attempts_in("a.tree") < 60 and "Traceback" not in said
    if end == signal.SIGINT:
        again = shlex.join(["tumble", *words, "--jobs", jobs])
        assert process.returncode == 130 and out.startswith("a.tree: not done yet; level ")
        assert f"tumble: interrupted; what was done is in a.tree, go on with: {again}\n" in said
        assert [file.name for file in tmp_path.iterdir()] == ["a.tree"]
    assert dump(grow(Path("a.tree"), LONG)) == dump(long)


def test_a_tree_is_extended_and_the_commands_that_info_prints_build_it_again(copy, here, capsys):
    begun = len(read_file(copy).outcomes)
    words = ["tree", "extend", "copy.tree", "--to", "0.375", "--inside", "4", "--jobs", "1"]
    assert call(*words, "--stop", begun + 3) == 0
    assert capsys.readouterr().out.startswith("copy.tree: not done yet; level ")
    assert len(read_file(copy).outcomes) == begun + 3
    assert call("tree", "extend", "copy.tree", "--attempts", "4", "--candidates", "9", "--jobs", "1") == 0
    capsys.readouterr()
    commands = commands_of(copy, read_file(copy))
    usual = "--to 0.25 --by 0.125 --attempts 14 --inside 6 --share 0.9 --window 6 --seed 5 --lag 3"
    assert commands == [
        f"tumble tree build pendulum copy.tree {usual}",
        f"tumble tree extend copy.tree --to 0.375 --inside 4 --stop {begun + 3}",
        "tumble tree extend copy.tree --attempts 4 --candidates 9",
    ]
    before = dump(copy)
    copy.unlink()
    for command in commands:
        assert call(*shlex.split(command)[1:], "--jobs", "1") == 0
    assert dump(copy) == before


def test_what_was_damaged_is_said_and_built_again(copy, whole, here, capsys):
    change(copy, "UPDATE edges SET points = x'' WHERE id = 3")
    assert call("tree", "info", "copy.tree", "--json") == 0
    captured = capsys.readouterr()
    assert "tumble: edge 3 of copy.tree is damaged: it and the " in captured.err
    assert json.loads(captured.out)["edges"] == 3
    assert call(*BUILD, "copy.tree", *OPTIONS, "--jobs", "1") == 0
    assert "tumble: edge 3 of copy.tree is damaged: it and the " in capsys.readouterr().err
    assert dump(copy) == dump(whole)


def test_more_jobs_than_attempts_under_way_are_told(copy, capsys):
    assert call(*BUILD, "copy.tree", *OPTIONS, "--jobs", "5") == 0
    assert capsys.readouterr().err == "tumble: 5 jobs, but --lag 3: 2 of them have nothing to do\n"


# options --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"levels": (0.5, 1.0, 1.5)},
        {"levels": (0.1, 0.2, 0.3)},
        {"levels": (1.0, 2.0, 4.0)},
        {"levels": (0.3,), "attempts": 7, "seed": 2**62 + 1, "share": 1 / 3},
        {"method": Method.RRTFC, "step": 0.1, "lag": 1, "first": 1, "after": "my jump.tree"},
        {"aim": Aim.NEAREST, "neighbours": 4, "connecting": Connecting(full=False, candidates=250, spread=0.1)},
    ],
)
def test_growths_are_written_as_options_and_read_again(name, changes):
    usual = usual_growth(name)
    growth = replace(usual, **changes)
    words = words_of(growth, usual)
    given = dict(zip([word.removeprefix("--") for word in words[::2]], words[1::2], strict=True))
    kinds = {"to": float, "by": float, "share": float, "step": float, "spread": float, "seconds": float}
    texts = ("levels", "aim", "full", "method", "after")
    options = BuildOptions(**{word: kinds.get(word, str if word in texts else int)(one) for word, one in given.items()})
    assert options.changed(usual) == growth
    assert bool(words) == bool(growth != usual)


def test_levels_are_counted_up():
    assert counted_up(0.0, 0.3, 0.1) == (0.1, 0.2, 0.3)
    assert counted_up(0.0, 1.0, 0.4) == (0.4, 0.8, 1.0)
    assert counted_up(10.0, 12.0, 1.0) == (11.0, 12.0) and counted_up(2.0, 2.0, 1.0) == ()
    growth = Growth(levels=(1.0, 2.0))
    assert GrowthOptions(to=4.0).changed(growth, further=True).levels == (1.0, 2.0, 3.0, 4.0)
    assert GrowthOptions(to=2.0).changed(growth, further=True) == growth  # the same command again
    assert GrowthOptions(levels="2,2.5").changed(growth, further=True).levels == (1.0, 2.0, 2.5)
    assert GrowthOptions(to=0.5).changed(growth).levels == (0.5,)


BAD = [
    (["tree", "grow"], "no action 'grow' of 'tumble tree'; there are: build, extend, info, plot, query"),
    (["tree", "biuld"], "(did you mean 'build'?)"),
    (["tree", "build"], "NAME"),
    (["tree", "build", "getup"], "no system 'getup'; there are: "),
    (["tree", "build", "pendlum"], "(did you mean 'pendulum'?)"),
    ([*BUILD, "a.txt"], "a tree's name ends in .tree, got a.txt"),
    ([*BUILD, "nowhere/a.tree"], "no folder nowhere to write a.tree into"),
    ([*BUILD, "--levels", "2,1"], "levels must rise from above 0, got 2, 1"),
    ([*BUILD, "--levels", "1,b"], "levels are numbers with commas between them, such as 1,2,3.5; got '1,b'"),
    ([*BUILD, "--levels", "1", "--to", "3"], "--levels names the domains one by one; leave out --to and --by"),
    ([*BUILD, "--to", "0"], "to must be a number above 0 and at most 1e+06, got 0"),
    ([*BUILD, "--to", "nan"], "to must be a number above 0 and at most 1e+06, got nan"),
    ([*BUILD, "--by", "-1"], "by must be a number above 0 and at most 1e+06, got -1"),
    ([*BUILD, "--by", "1e-9"], "levels from --to and --by must be a number 0 or more and at most 10000, got 1e+09"),
    ([*BUILD, "--attempts", "0"], "attempts must be a number 1 or more, got 0"),
    ([*BUILD, "--seed", "-1"], "seed must be a number 0 or more and at most 9.22337e+18, got -1"),
    ([*BUILD, "--share", "2"], "share must be a number 0 or more and at most 1, got 2"),
    ([*BUILD, "--candidates", "0"], "candidates must be a number 1 or more, got 0"),
    ([*BUILD, "--neighbours", "0"], "neighbours must be a number 1 or more, got 0"),
    ([*BUILD, "--jobs", "-1"], "jobs must be a number 0 or more and at most 1024, got -1"),
    ([*BUILD, "--stop", "0"], "stop must be a number 1 or more, got 0"),
    ([*BUILD, "--method", "rrt"], "rrtfc"),
    (["tree", "extend", "a.tree"], "no file a.tree; 'tumble tree build' makes one"),
    (["tree", "extend", "getup-1"], "'getup-1' ships and stays as it is; copy its file, or build one of your own"),
    (["tree", "extend", "a.txt"], "a tree's name ends in .tree, got a.txt"),
    (["tree", "info", "getup"], "no tree 'getup'; there are: "),
    (["tree", "info", "a.tree"], "no file a.tree; a tree is wanted"),
    (["tree", "query", "a.tree"], "no file a.tree; a tree is wanted"),
    (["tree", "query", "getup-1", "--count", "0"], "count must be a number 1 or more and at most 1e+06, got 0"),
    (["tree", "query", "getup-1", "--level", "0"], "level must be a number above 0 and at most 1e+06, got 0"),
    (["tree", "query", "getup-1", "--candidates", "0"], "candidates must be a number 1 or more, got 0"),
    (["tree", "query", "getup-1", "--seed", "-1"], "seed must be a number 0 or more"),
    (["tree", "plot", "getup-1", "a.jpg"], "a picture is written as .png, got 'a.jpg'"),
    (["tree", "plot", "getup-1", "nowhere/a.png"], "no folder nowhere to write a.png into"),
    (["tree", "plot", "a.tree", "a.png"], "no file a.tree; a tree is wanted"),
    (["run", "getup-tree", "--tree", "a.tree"], "no file a.tree; a tree is wanted"),
]


@pytest.mark.parametrize(("words", "message"), BAD, ids=[" ".join(words)[5:45] for words, _ in BAD])
def test_mistakes_exit_with_2_and_a_sentence(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    assert call(*words) == 2
    captured = capsys.readouterr()
    assert message in " ".join((captured.out + captured.err).split()) and "Traceback" not in captured.err
    assert not any(tmp_path.iterdir())


OTHERS = [
    ([*BUILD, "copy.tree"], "copy.tree is grown with levels 0.125, 0.25, not 0.25, 0.5, 0.75, 1; 'tumble tree extend"),
    ([*BUILD, "copy.tree", *OPTIONS, "--seed", "6"], "copy.tree is grown with seed 5, not 6; 'tumble tree extend copy"),
    (["tree", "build", "double-pendulum", "copy.tree"], "copy.tree is a tree of 'pendulum', not of 'double-pendulum'"),
    (["tree", "extend", "copy.tree", "--to", "0.1"], "it has levels up to 0.25 already; further ones are above that"),
    (["tree", "extend", "copy.tree", "--levels", "0.2"], "levels must rise from above 0, got 0.125, 0.25, 0.2"),
    (["tree", "extend", "copy.tree", "--by", "0.2"], "--by is the step to further levels; say how far: --to LEVEL"),
    (["run", "getup-tree", "--tree", "copy.tree"], "copy.tree is a tree of a pendulum and leads no character; choose"),
]


@pytest.mark.parametrize(("words", "message"), OTHERS, ids=[" ".join(words)[5:45] for words, _ in OTHERS])
def test_a_file_that_does_not_fit_is_let_alone(copy, capsys, words, message):
    before = dump(copy)
    assert call(*words) == 2
    assert message in capsys.readouterr().err
    assert dump(copy) == before


# info, query, plot ----------------------------------------------------------------------------------

CONTRACT = {
    "file", "system", "body", "drive", "step", "skill", "version", "method", "done", "nodes", "edges", "height",
    "depth", "seconds", "longest", "largest", "attempts", "optimised", "evaluations", "bytes", "levels", "commands",
}  # fmt: skip


def test_info(copy, capsys):
    assert call("tree", "info", "copy.tree", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == CONTRACT
    assert (found["body"], found["drive"], found["skill"], found["done"]) == ("pendulum", "pd", None, True)
    assert found["bytes"] == copy.stat().st_size and [one["level"] for one in found["levels"]] == [0.125, 0.25]
    assert call("tree", "info", "copy.tree") == 0
    out = capsys.readouterr().out
    for words in (
        "copy.tree: a tree of pendulum, all levels are done",
        "body pendulum, drive pd, step 11.1 ms",
        f"{found['nodes']} nodes, {found['edges']} edges, height {found['height']}, mean depth {found['depth']:.1f}",
        f"{found['attempts']} attempts, {found['optimised']} optimisations, {found['evaluations']} rollouts of them",
        "% of the last ",
        f"built by\n  {found['commands'][0]}\n",
    ):
        assert words in out


def test_info_of_one_that_ships(capsys):
    assert call("tree", "info", "getup-1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["body"], found["skill"]) == ("humanoid25", "getup-1")
    assert found["commands"][0].startswith("tumble tree build getup-1 getup-1.tree")


def test_a_level_that_was_not_begun_has_no_share(tmp_path, capsys):
    path = grow(tmp_path / "a.tree", most=2)
    assert call("tree", "info", path, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["done"] is False and [one["inside"] is None for one in found["levels"]] == [False, True]
    assert call("tree", "info", path) == 0
    assert "a tree of pendulum, not done yet" in capsys.readouterr().out


def test_query(copy, capsys, request):
    words = ["tree", "query", "copy.tree", "--level", "0.2", "--count", "12", "--seed", "3", "--json"]
    answers = []
    for jobs in ("2", "1"):
        assert call(*words, "--jobs", jobs) == 0
        request.getfixturevalue("here")
        captured = capsys.readouterr()
        found = json.loads(captured.out)
        assert captured.err == "" and found.pop("milliseconds") > 0
        answers.append(found)
    assert answers[0] == answers[1]
    assert (found["level"], found["count"], found["candidates"]) == (0.2, 12, 50)
    assert 0 < found["inside"] == round(12 * found["share"]) and found["low"] <= found["share"] <= found["high"]
    assert found["nodes_asked"] > 0 and found["steps"] > 0
    assert call("tree", "query", "copy.tree", "--level", "0.9", "--count", "3", "--candidates", "2", "--jobs", "1") == 0
    captured = capsys.readouterr()
    assert captured.err == "tumble: copy.tree was grown up to level 0.25; 0.9 is beyond\n"
    assert " of 3 states of level 0.9 are inside copy.tree: " in captured.out
    assert "with 95 % certainty " in captured.out and " nodes of at most 2, " in captured.out


@pytest.mark.parametrize(("won", "count"), [(0, 1), (1, 1), (0, 40), (7, 40), (40, 40), (999, 1000)])
def test_the_interval_is_wilsons(won, count):
    theirs = binomtest(won, count).proportion_ci(0.95, method="wilson")
    assert interval(won, count) == pytest.approx((theirs.low, theirs.high), abs=1e-4)


def test_plot_of_a_character(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    path = tmp_path / "a.png"
    assert call("tree", "plot", "getup-1", path) == 0
    assert f"into {path}" in capsys.readouterr().out
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and len(path.read_bytes()) > 10_000


def test_plot_of_a_pendulum(copy, capsys):
    pytest.importorskip("matplotlib")
    assert call("tree", "plot", "copy.tree", "a.png") == 0
    assert Path("a.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_without_matplotlib_a_plot_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert call("tree", "plot", "getup-1", tmp_path / "a.png") == 2
    assert "a plot needs matplotlib: pip install 'tumble[experiments]'" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


# help, and where trees are used ---------------------------------------------------------------------


def test_help(capsys):
    for words in (["tree"], ["tree", "--help"]):
        assert call(*words) == 0
        out = capsys.readouterr().out
        assert all(f"  {name} " in out for name in GROUP.actions) and "examples:" in out
    for name in GROUP.actions:
        assert call("tree", name, "--help") == 0
        assert f"tumble tree {name} " in plain(capsys.readouterr().out).partition("Example")[2]


def test_the_list_has_systems_and_trees(capsys):
    assert call("list", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found["systems"]) == list(SYSTEMS) and list(found["trees"]) == list(shipped())
    for name, file in shipped().items():
        stored = read_file(file)
        told = f"skill {stored.name}, grown up to level {stored.largest:g}, {len(stored.tree)} nodes"
        assert found["trees"][name] == told


def test_a_level_beyond_all_trees_is_said_before_a_run(capsys):
    largest = read_file(shipped()["getup-1"]).largest
    words = ["run", "getup-tree", "--seconds", "0.04", "--json"]
    said = (
        f"tumble: the trees that ship were grown up to level {largest:g} of 'getup-1'; at 12 it may come to nothing\n"
    )
    assert call(*words, "--alpha", "12") == 0
    assert capsys.readouterr().err.endswith(said) or largest >= 12
    assert call(*words, "--alpha", "1") == 0
    assert "tumble:" not in capsys.readouterr().err
    scenario = SCENARIOS["getup-tree"](alpha=12.0)
    assert scenario.notes(scenario.settings_for("cpbp")) == ()
