"""A user's own file: what it adds, what is said where it fails, and that a failing one leaves things as they were."""

import json
import re
import sys
from pathlib import Path

import pytest

from tumble.characters import CHARACTERS, character
from tumble.cli import dispatch
from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.goals import GOALS
from tumble.live.recording import Recording
from tumble.scenarios import SCENARIOS
from tumble.studio.choice import Choice
from tumble.userfile import REGISTRIES, load, reload

pytestmark = pytest.mark.usefixtures("registries")
EXAMPLE = Path(__file__).parents[1] / "examples" / "own_scenario.py"
SMALL = ["--samples", "4", "--horizon", "0.1", "--threads", "1"]
SCENARIO = """
from dataclasses import dataclass
from tumble import Scenario
from tumble.scenarios import Setup, register

@dataclass(frozen=True)
class {kind}(Scenario):
    "It stands."
    force: float = 1.0

    def setup(self, scene, rng):
        return Setup(scene.state(), 0.1)

register("{name}", {kind}, "{summary}")
"""
ONE = SCENARIO.format(kind="One", name="one", summary="one all the time")
OTHER = SCENARIO.format(kind="Other", name="other", summary="the other one")
BODY = """
from tumble import humanoid
from tumble.characters import register

def giant(height: float = 2.5):
    return humanoid(height=height, name="giant")

register("giant", giant, "a tall one")
"""


def everything() -> list[dict]:
    return [dict(registry) for registry in REGISTRIES]


@pytest.fixture
def written(tmp_path):
    """Writes a file and returns its path."""

    def write(text: str, name: str = "mine.py") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def call(*words: object) -> int:
    try:
        return dispatch([str(word) for word in words])
    except SystemExit as leaving:
        return int(leaving.code or 0)


# Loading --------------------------------------------------------------------------------------------


def test_a_file_says_what_it_registered(written):
    mine = load(written(ONE + BODY))
    nothing = dict.fromkeys(("goal", "planner", "controller", "drive", "task", "base", "reflex"), ())
    assert mine.names == {"scenario": ("one",), "character": ("giant",), **nothing}
    assert SCENARIOS["one"].summary == "one all the time" and CHARACTERS["giant"].where.file == str(mine.path)
    assert character("giant", height=3.0).recipe == {"kind": "giant", "file": "mine.py", "height": 3.0}


def test_a_saved_file_is_loaded_again_in_place_of_the_old(written):
    path = written(ONE + BODY)
    load(path)
    written(ONE.replace("1.0", "7.0"))
    for again in (load, reload):
        mine = again(path)
        assert mine.names["scenario"] == ("one",) and mine.names["character"] == ()
        assert SCENARIOS["one"]().force == 7.0 and "giant" not in CHARACTERS


@pytest.mark.parametrize("broken", ["1/0", "def f(:", "", ONE + ONE, "raise SystemExit(3)"])
def test_a_broken_file_leaves_the_last_good_version(written, broken):
    path = written(ONE + BODY)
    load(path)
    before, modules = everything(), {name: module for name, module in sys.modules.items() if "_tumble_user" in name}
    written(broken)
    with pytest.raises(UserError, match=re.escape(str(path))):
        reload(path)
    assert everything() == before
    assert {name: module for name, module in sys.modules.items() if "_tumble_user" in name} == modules
    written(OTHER)
    assert reload(path).names["scenario"] == ("other",) and "one" not in SCENARIOS


def test_a_broken_file_leaves_nothing_behind(written):
    before = everything()
    with pytest.raises(UserError):
        load(written(ONE + "\n1/0"))
    assert everything() == before


FAILS = [
    ("x = 1\n1 / 0", "FILE, line 2: ZeroDivisionError: division by zero"),
    ("x = 1\ny = (", "FILE, line 2: '(' was never closed"),
    ("import nothing_of_the_kind", "FILE, line 1: ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
    ("import json\n\njson.loads('{')", "FILE, line 3: JSONDecodeError: Expecting property name"),
    ("raise SystemExit(3)", "FILE, line 1: SystemExit: 3"),
    ("raise RuntimeError", "FILE, line 1: RuntimeError"),
    ("x = 1", "FILE: it registers nothing; call register of tumble.scenarios, characters, goals or controllers"),
    (ONE + ONE, f"scenario 'one' is registered twice: first in FILE, line {ONE.count(chr(10))}, again in FILE, line"),
    (ONE.replace('"one"', '"push"'), "FILE, line 14: scenario 'push' is registered twice: first in "),
    (BODY.replace("height=height", "height=99"), "FILE, line 6: height must be a number 0.5 or more"),
    (
        BODY.replace("return humanoid", "humanoid"),
        "FILE: character 'giant' of FILE, line 8 must be made as a Character",
    ),
    (BODY.replace("height: float = 2.5", "height"), "FILE: cannot make character 'giant': missing a required argument"),
]


@pytest.mark.parametrize(("text", "message"), FAILS, ids=[message[:50] for _, message in FAILS])
def test_failures_are_one_sentence_with_file_and_line(written, text, message):
    path = written(text)
    with pytest.raises(UserError) as caught:
        load(path)
    assert message.replace("FILE", str(path)) in str(caught.value) and "\n" not in str(caught.value)


def test_what_is_no_file_is_refused(written, tmp_path):
    (tmp_path / "folder.py").mkdir()
    for path, message in (
        (tmp_path / "none.py", f"no file {tmp_path / 'none.py'}"),
        (tmp_path / "folder.py", f"{tmp_path / 'folder.py'} is no file"),
        (written("1", "mine.txt"), "a file of your own ends in .py, got "),
    ):
        with pytest.raises(UserError, match=re.escape(message)):
            load(path)


# The command line -----------------------------------------------------------------------------------


def test_the_only_scenario_of_a_file_is_run(written, capsys):
    assert call("run", written(ONE), "--force", "3", "--json", *SMALL) == 0
    assert json.loads(capsys.readouterr().out)["scenario"] == "one"


def test_one_of_several_is_named(written, capsys):
    path = written(ONE + OTHER)
    assert call("run", path, "other", "--json", *SMALL) == 0
    assert json.loads(capsys.readouterr().out)["scenario"] == "other"
    assert call("run", path, *SMALL) == 2
    assert capsys.readouterr().err == (
        "tumble: mine.py registers 2 scenarios: one, other; name one: tumble run mine.py one\n"
    )


def test_a_file_of_bodies_goes_with_a_scenario_of_ours(written, capsys, tmp_path):
    path, tape = written(BODY), tmp_path / "a.npz"
    assert call("run", path, "--seconds", "0.1") == 2
    assert "mine.py registers no scenario; name one: tumble run mine.py stand" in capsys.readouterr().err
    words = ["stand", "--character", "giant", "--seconds", "0.1", "--record", tape, "--json", *SMALL]
    assert call("run", path, *words) == 0
    assert json.loads(capsys.readouterr().out)["character"] == "giant"
    assert call("replay", path, tape, "--check") == 0
    assert "identical" in capsys.readouterr().out
    CHARACTERS.restore({name: entry for name, entry in CHARACTERS.items() if name != "giant"})
    assert call("replay", tape) == 2
    assert "character 'giant' is not known here, it comes from mine.py" in capsys.readouterr().err


def test_list_shows_what_a_file_adds(written, capsys):
    assert call("list", written(ONE + BODY), "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["scenarios"]["one"]["summary"] == "one all the time"
    assert listed["characters"]["giant"] == "a tall one [biped, hands, legs-2, t-pose]"


@pytest.mark.parametrize("command", ["run", "list", "studio", "replay", "strip"])
def test_every_command_says_what_is_wrong_with_a_file(written, capsys, command):
    path = written("1 / 0")
    assert call(command, path) == 2
    assert capsys.readouterr().err == f"tumble: {path}, line 1: ZeroDivisionError: division by zero\n"


def test_the_studio_starts_with_the_scenario_of_a_file(written, monkeypatch):
    from tumble.cli import studio_command

    began = []
    monkeypatch.setattr(studio_command, "studio", lambda options, scenario, *_: began.append(scenario.name) or 0)
    for words in ([written(ONE)], [written(BODY, "body.py")], [written(BODY, "body.py"), "push"]):
        assert call("studio", *words) == 0
    assert began == ["one", "stand", "push"]


def test_help_of_a_file(written, capsys):
    assert call("run", written(ONE), "--help") == 0
    assert "--force" in capsys.readouterr().out


OWN_DRIVE = """
from dataclasses import dataclass

from tumble import Scene, scenarios
from tumble.world import drives

class Fine(drives.Servo):
    "Servos in two steps a frame."
    steps = 2

@dataclass(frozen=True)
class Finely(scenarios.Scenario):
    "It stands."

    def scene(self, character, seed=0):
        return Scene(character, drives=["fine"])

    def setup(self, scene, rng):
        return scenarios.Setup(scene.state(), 0.1)

drives.register("fine", Fine, "servos in two steps of 1/60 s")
scenarios.register("finely", Finely, "it stands by servos in two steps")
"""


def test_a_drive_of_a_file_is_simulated_recorded_and_listed(written, capsys, tmp_path):
    file, tape = written(OWN_DRIVE), tmp_path / "fine.npz"
    assert call("run", file, "--record", tape, "--json", *SMALL) == 0
    part = Recording.load(tape).parts[0]
    assert list(part.scene.drives) == ["fine"]
    assert (part.scene.drive.steps, part.scene.drive.timestep) == (2, 1 / 60)
    assert call("replay", file, tape, "--check") == 0
    capsys.readouterr()
    assert call("list", file, "--json") == 0
    assert json.loads(capsys.readouterr().out)["drives"]["fine"] == "servos in two steps of 1/60 s"
    assert call("run", written(OWN_DRIVE + "drives.register('torque', Fine, 'another one')")) == 2
    assert "drive 'torque' is registered twice: first in " in capsys.readouterr().err


def test_list_says_who_takes_what_a_scenario_of_a_file_wants(capsys):
    """The example wants a goal of its own, of a body that does not suit walkers."""
    assert call("list", EXAMPLE, "--json") == 0
    listed = json.loads(capsys.readouterr().out)["scenarios"]
    assert listed["shout"]["controllers"] == ["cpbp", "pf-mpc", "smc", "mcts", "ps", "cem", "mppi"]


def test_the_studio_goes_to_a_scenario_of_a_file_with_who_can_play_it():
    load(EXAMPLE)
    chosen = Choice("push", "biped", "walker").with_scenario("shout")
    assert (chosen.controller, chosen.character) == ("cpbp", "long-arms")


# The example ----------------------------------------------------------------------------------------


def test_the_example_runs_and_is_short(capsys):
    assert len(EXAMPLE.read_text().splitlines()) < 60
    assert call("run", EXAMPLE, "--seconds", "0.3", "--json", *SMALL) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["scenario"], summary["character"]) == ("shout", "long-arms")
    assert "hands-up" in GOALS and "cpbp" in CONTROLLERS
