"""Scripts of experiments find all that they import, and files of results go on where they were."""

import ast
import importlib.util
import json
from pathlib import Path

import pytest

from tumble.cli.experiment import Experiment

FOLDER = Path(__file__).parents[1] / "experiments"
SCRIPTS = sorted(FOLDER.glob("**/*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: str(script.relative_to(FOLDER)))
def test_what_a_script_imports_is_there(script):
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "tumble":
            module = importlib.import_module(node.module)
            for name in node.names:
                there = hasattr(module, name.name) or importlib.util.find_spec(f"{node.module}.{name.name}")
                assert there, f"{node.module} has no {name.name}"


def doubled(number: int) -> dict[str, int]:
    return {"twice": 2 * number}


def test_results_are_kept_and_gone_on_with(tmp_path):
    here = Experiment(tmp_path)
    assert [row["twice"] for row in here.measured("numbers", doubled, [(1,), (2,)])] == [2, 4]
    file = tmp_path / "results" / "numbers.json"
    kept = json.loads(file.read_text())
    kept["rows"][0]["twice"] = 20
    file.write_text(json.dumps(kept))
    assert [row["twice"] for row in here.measured("numbers", doubled, [(3,), (1,)])] == [6, 20]
    assert [row["twice"] for row in here.measured("numbers", doubled, [(1,)], again=True)] == [2]
    assert set(json.loads(file.read_text())) == {"rows", "minutes", "versions"}
