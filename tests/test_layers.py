"""Who may import whom, and what importing and asking for help may cost."""

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import pytest

import tumble

SOURCE = Path(tumble.__file__).parent
PICTURE = Path(__file__).parents[1] / "docs" / "architecture.md"


def layers_in(text: str) -> list[tuple[str, ...]]:
    """The floors of the first picture in a text, from below: names, then three spaces or more, then words."""
    picture = text.split("```")[1]
    rows = [re.split(r"\s{3,}", line.strip())[:-1] for line in picture.splitlines() if line.strip() not in ("", "|")]
    return [tuple(row) for row in reversed(rows) if not row[0].endswith("/")]


LAYERS = layers_in(PICTURE.read_text())
RANK = {unit: rank for rank, units in enumerate(LAYERS) for unit in units}
MODULES = sorted(SOURCE.rglob("*.py"))
TOP = {"__init__.py", "__main__.py"}  # the lazy front door and `python -m tumble`


def unit_of(path: Path) -> str:
    """'planners' for planners/cpbp.py, 'scene' for scene.py."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(tree: ast.AST) -> set[str]:
    """Dotted names of everything that is imported anywhere in a module."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the layers"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def calls_of(tree: ast.AST) -> set[str]:
    """Names of the plain functions that a module calls."""
    return {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def methods_of(tree: ast.AST) -> set[str]:
    """Names of the attributes that a module calls."""
    return {
        node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }


@cache
def parsed(path: Path) -> ast.AST:
    return ast.parse(path.read_text())


def offenders(paths: Sequence[Path], wrong: Callable[[Path], object]) -> dict[str, object]:
    """What is wrong with modules, by their place; those with nothing wrong are left out."""
    found = {str(path.relative_to(SOURCE)): wrong(path) for path in paths}
    return {place: what for place, what in found.items() if what}


LAYERED = [path for path in MODULES if str(path.relative_to(SOURCE)) not in TOP]


def test_the_picture_is_of_this_house():
    assert 10 <= len(LAYERS) <= 14  # about a dozen
    assert len(RANK) == sum(len(units) for units in LAYERS)  # nobody lives on two floors
    there = {unit_of(path) for path in LAYERED}
    assert there - set(RANK) == set(), "write them into the picture of docs/architecture.md"
    assert set(RANK) == there, "take them out of the picture of docs/architecture.md"


def test_every_floor_is_told_of_in_about_five_lines():
    told = PICTURE.read_text().split("## The floors, from below")[1].strip().split("\n\n")
    assert [paragraph.partition("**. ")[0].removeprefix("**").split(", ") for paragraph in told] == [
        list(units) for units in LAYERS
    ]
    assert {len(paragraph.splitlines()) for paragraph in told} <= {4, 5, 6}


def wrong_imports(here: str, names: set[str]) -> list[str]:
    """What a unit imports that is not below it."""
    ours = [name.split(".") for name in names if name.split(".")[0] == "tumble"]
    front = ["tumble"] if ["tumble"] in ours else []  # the front door: import the module itself
    units = {parts[1] for parts in ours if len(parts) > 1} - {here}
    return front + sorted(unit for unit in units if RANK.get(unit, len(LAYERS)) >= RANK[here])


def test_arrows_point_down():
    """No module imports what is not below it."""
    assert offenders(LAYERED, lambda path: wrong_imports(unit_of(path), imports_of(parsed(path)))) == {}


def test_arrows_that_point_elsewhere_are_seen():
    assert wrong_imports("world", {"numpy", "tumble.characters.biped", "tumble.errors", "tumble.world.sims"}) == []
    assert wrong_imports("world", {"tumble.goals", "tumble.live.session"}) == ["goals", "live"]
    assert wrong_imports("walking", {"tumble.planners.cpbp", "tumble.simbicon", "tumble.control"}) == [
        "planners",
        "simbicon",
    ]
    assert wrong_imports("cli", {"tumble", "tumble.nobody"}) == ["tumble", "nobody"]


def test_no_class_name_is_defined_twice():
    homes = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def engines_in(path: Path) -> set[str]:
    return {name for name in imports_of(parsed(path)) if name.startswith("mujoco.batch")}


def test_only_the_world_knows_the_engine():
    assert {unit_of(SOURCE / place) for place in offenders(LAYERED, engines_in)} == {"world"}


COMPILERS = {"maths/compiled.py", "maths/bundles.py", "maths/compiling.py"}


def compilers_in(path: Path) -> set[str]:
    return {name for name in imports_of(parsed(path)) if name.split(".")[0] in ("numba", "llvmlite")}


def test_only_maths_knows_the_compiler():
    """All else is compiled by its decorators, so that nothing has wrappers or versions that nobody needs."""
    assert set(offenders(LAYERED, compilers_in)) == COMPILERS
    assert not [path.name for path in Path(__file__).parent.glob("*.py") if compilers_in(path)]


CLOCKS = {"time", "datetime", "sched"}
TALKERS = {"rich", "logging"}
OPENERS = {"open", "read_text", "read_bytes", "write_text", "write_bytes"}
below_live = [path for path in LAYERED if RANK.get(unit_of(path), 0) < RANK["live"]]


def talk_of(tree: ast.AST) -> set[str]:
    """Clocks, waits and words in a module."""
    imported = {name.split(".")[0] for name in imports_of(tree)} & (CLOCKS | TALKERS)
    return imported | calls_of(tree) & {"print", "input"} | methods_of(tree) & {"sleep", "perf_counter", "monotonic"}


def openings_of(tree: ast.AST) -> set[str]:
    """Files opened in a module."""
    return calls_of(tree) & {"open"} | methods_of(tree) & OPENERS


def test_below_live_nothing_reads_the_clock_sleeps_or_talks():
    assert offenders(below_live, lambda path: talk_of(parsed(path))) == {}


def test_below_live_only_files_opens_files():
    others = [path for path in below_live if unit_of(path) != "files"]
    assert offenders(others, lambda path: openings_of(parsed(path))) == {}


def test_the_rules_can_fail():
    tree = ast.parse(
        "import time\nfrom mujoco import batch\ndef f():\n    from tumble.cli import main\n    print(open('x'))"
    )
    assert imports_of(tree) == {"time", "mujoco", "mujoco.batch", "tumble.cli", "tumble.cli.main"}
    assert calls_of(tree) == {"print", "open"}
    assert methods_of(ast.parse("Path('x').read_text()\ntime.sleep(1)")) == {"read_text", "sleep"}
    assert talk_of(tree) == {"time", "print"} and openings_of(tree) == {"open"}
    assert openings_of(ast.parse("Path('x').read_text()")) == {"read_text"}
    found = offenders(LAYERED, lambda path: unit_of(path) == "cli" and "cli")
    assert found and {place.split("/")[0] for place in found} == {"cli"}
    assert layers_in("a\n```\n x/   y/   top\n  |\n a   b   two of them\n  |\n c   one\n```") == [("c",), ("a", "b")]


def modules_after(code: str) -> set[str]:
    """Names in sys.modules of a fresh interpreter that ran some code."""
    code += "\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


HEAVY = {"mujoco", "numba", "numpy", "scipy", "tyro", "rich", "msgspec"}


@pytest.mark.parametrize(
    "code",
    [
        "import tumble",
        "from tumble import UserError",
        "from tumble.cli import dispatch; assert dispatch(['--help']) == 0",
        "from tumble.cli import dispatch; assert dispatch(['--version']) == 0",
    ],
)
def test_import_and_help_do_little(code):
    assert not modules_after(code) & HEAVY


def test_front_door_names_exist():
    assert sorted(tumble.__all__) == sorted(tumble._HOME)
    for name in tumble.__all__:
        assert getattr(tumble, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'humanoit'"):
        tumble.humanoit  # noqa: B018
