"""Who may import whom, and what importing and asking for help may cost."""

import ast
import json
import re
import subprocess
import sys
from collections import defaultdict
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


def parsed(path: Path) -> ast.AST:
    return ast.parse(path.read_text())


LAYERED = [path for path in MODULES if str(path.relative_to(SOURCE)) not in TOP]
each_module = pytest.mark.parametrize("path", LAYERED, ids=lambda path: str(path.relative_to(SOURCE)))


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


@each_module
def test_arrows_point_down(path):
    here = unit_of(path)
    assert wrong_imports(here, imports_of(parsed(path))) == [], f"{here} imports what is not below it"


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


@each_module
def test_only_the_world_knows_the_engine(path):
    if unit_of(path) != "world":
        assert not {name for name in imports_of(parsed(path)) if name.startswith("mujoco.batch")}


COMPILERS = {"maths/compiled.py", "maths/bundles.py"}


@each_module
def test_only_two_modules_know_the_compiler(path):
    """All else is compiled by their decorators, so that nothing has wrappers or versions that nobody needs."""
    if str(path.relative_to(SOURCE)) not in COMPILERS:
        assert not {name for name in imports_of(parsed(path)) if name.split(".")[0] in ("numba", "llvmlite")}


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("*.py")), ids=lambda path: path.name)
def test_tests_compile_as_the_package_does(path):
    assert not {name for name in imports_of(parsed(path)) if name.split(".")[0] == "numba"}


CLOCKS = {"time", "datetime", "sched"}
TALKERS = {"rich", "logging"}
OPENERS = {"open", "read_text", "read_bytes", "write_text", "write_bytes"}
below_live = [path for path in LAYERED if RANK.get(unit_of(path), 0) < RANK["live"]]
each_below_live = pytest.mark.parametrize("path", below_live, ids=lambda path: str(path.relative_to(SOURCE)))


@each_below_live
def test_below_live_nothing_reads_the_clock_sleeps_or_talks(path):
    tree = parsed(path)
    assert not {name.split(".")[0] for name in imports_of(tree)} & (CLOCKS | TALKERS)
    assert not calls_of(tree) & {"print", "input"}
    assert not methods_of(tree) & {"sleep", "perf_counter", "monotonic"}


@each_below_live
def test_below_live_only_files_opens_files(path):
    if unit_of(path) == "files" or path.name == "compiled.py":  # which reads this package's own source
        return
    tree = parsed(path)
    assert "open" not in calls_of(tree)
    if (SOURCE / "files.py").exists():  # until then styles and gaits read their own
        assert not methods_of(tree) & OPENERS


def test_the_rules_can_fail():
    tree = ast.parse(
        "import time\nfrom mujoco import batch\ndef f():\n    from tumble.cli import main\n    print(open('x'))"
    )
    assert imports_of(tree) == {"time", "mujoco", "mujoco.batch", "tumble.cli", "tumble.cli.main"}
    assert calls_of(tree) == {"print", "open"}
    assert methods_of(ast.parse("Path('x').read_text()\ntime.sleep(1)")) == {"read_text", "sleep"}
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
