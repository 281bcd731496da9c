"""Every example runs: at most 80 lines each, a few frames here, and says something."""

import runpy
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from doing import kept

from tumble.userfile import REGISTRIES

EXAMPLES = Path(__file__).parents[1] / "examples"
LONGEST = 80  # lines
NOT_HERE = {"glb_to_fbx": "Blender runs it"}
# what each is run with here, and words that it prints then
RUNS = {
    "compare": ("0.1", "mppi"),
    "embed": ("0.6", "pelvis at"),
    "export": ("0.4", "bones; they went"),
    "gait": ("1.2", "in-place"),
    "gaps": ("0.8", "next heels"),
    "hello": ("0.1", "it is judged by"),
    "own_goal": ("0.1", ""),
    "own_planner": ("0.1", "ms a plan"),
    "own_scenario": ("", ""),
    "own_task": ("", ""),  # they register; `tumble run FILE` and `tumble task train FILE` do the rest
    "push": ("0.1", "on its feet"),
    "reach": ("0.3", "left hand"),
    "record": ("0.2", "6 frames, bit for bit"),
    "relay": ("0.2", "struck"),
    "script": ("0.3", "refused: act 1, 'lift crat': no prop 'crat'"),
    "steer": ("0.5", "wanted"),
    "task": ("0.8", "decisions"),
    "throw": ("0.3", "a blast"),
    "tree": ("0.6", "pelvis at"),
    "walk": ("0.1", "happy"),
}


def test_no_example_is_left_out():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(RUNS) | set(NOT_HERE)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short_and_says_how_it_is_run(path):
    text = path.read_text()
    assert len(text.splitlines()) <= LONGEST
    assert text.startswith('"""') and f"examples/{path.name}" in text.split('"""')[1]


@pytest.mark.parametrize("name", RUNS)
def test_an_example_runs(capsys, monkeypatch, tmp_path, name):
    given, said = RUNS[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *filter(None, [given])])
    with ExitStack() as stack:
        for registry in REGISTRIES:
            stack.enter_context(kept(registry))
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert said in capsys.readouterr().out
