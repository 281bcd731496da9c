"""Who may import whom, and what importing and asking for help may cost."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import tumble

SOURCE = Path(tumble.__file__).parent
LAYERS = [
    ("errors",),
    ("registry", "settings", "maths", "files"),
    ("characters",),
    ("world",),
    ("goals", "learners"),
    ("control",),
    ("planners", "walking", "simbicon"),
    ("crowds", "skills"),
    ("live",),
    ("controllers",),
    ("scenarios",),
    ("userfile",),
    ("film", "studio"),
    ("cli",),
]
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


@each_module
def test_arrows_point_down(path):
    here = unit_of(path)
    assert here in RANK, f"give '{here}' a place in LAYERS"
    for name in imports_of(parsed(path)):
        parts = name.split(".")
        if parts[0] != "tumble":
            continue
        assert len(parts) > 1, f"{path.name} imports the front door; import the module itself"
        unit = parts[1]
        assert unit == here or RANK[unit] < RANK[here], f"{here} imports {name}, which is not below it"


@each_module
def test_only_the_world_knows_the_engine(path):
    if unit_of(path) != "world":
        assert not {name for name in imports_of(parsed(path)) if name.startswith("mujoco.batch")}


@each_module
def test_below_live_nothing_reads_the_clock_or_talks(path):
    if RANK[unit_of(path)] >= RANK["live"]:
        return
    tree = parsed(path)
    assert not {name.split(".")[0] for name in imports_of(tree)} & {"time", "rich", "datetime", "logging"}
    assert not calls_of(tree) & {"print", "input"}


@each_module
def test_below_live_only_files_opens_files(path):
    if RANK[unit_of(path)] >= RANK["live"] or unit_of(path) == "files":
        return
    tree = parsed(path)
    assert "open" not in calls_of(tree)
    assert not methods_of(tree) & {"open", "read_text", "read_bytes", "write_text", "write_bytes"}


def test_the_rules_can_fail():
    tree = ast.parse(
        "import time\nfrom mujoco import batch\ndef f():\n    from tumble.cli import main\n    print(open('x'))"
    )
    assert imports_of(tree) == {"time", "mujoco", "mujoco.batch", "tumble.cli", "tumble.cli.main"}
    assert calls_of(tree) == {"print", "open"}
    assert methods_of(ast.parse("Path('x').read_text()")) == {"read_text"}


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
