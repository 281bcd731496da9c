"""Registries: order, messages, places; and that everything we offer by name is in one."""

import inspect
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from doing import kept

from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.goals import GOALS, balance
from tumble.planners import PLANNERS, CEMSettings
from tumble.registry import Entry, Registry
from tumble.scenarios import SCENARIOS, Scenario, register
from tumble.userfile import REGISTRIES
from tumble.world.drives import DRIVES, Drive, MotorDrive, Servo


@dataclass(frozen=True)
class Sized(Entry):
    size: int


def line() -> int:
    """Of the call."""
    return inspect.currentframe().f_back.f_lineno


def test_a_registry_is_a_mapping_in_order():
    letters = Registry("letter")
    letters.register("b", str.upper, "the second")
    here = line() - 1
    letters.register("a", str.lower, "the first")
    assert list(letters) == ["b", "a"] and len(letters) == 2 and "b" in letters and "c" not in letters
    assert letters.get("c") is None and [entry.summary for entry in letters.values()] == ["the second", "the first"]
    entry = letters["b"]
    assert (entry.name, entry.make, entry.summary) == ("b", str.upper, "the second")
    assert entry.where == (__file__, here) and str(entry.where) == f"{__file__}, line {here}"
    assert entry("x") == "X"
    with pytest.raises(AttributeError):
        entry.name = "c"


def test_a_kind_may_need_more():
    boxes = Registry("box", Sized)
    boxes.register("big", dict, "a big one", size=3)
    assert boxes["big"].size == 3


def test_a_name_belongs_to_who_came_first():
    letters = Registry("letter")
    letters.register("a", str, "the first")
    first = line() - 1
    again = line() + 2
    with pytest.raises(UserError) as caught:
        letters.register("a", str, "another")
    assert str(caught.value) == (
        f"letter 'a' is registered twice: first in {__file__}, line {first}, again in {__file__}, line {again};"
        f" give one of them another name"
    )
    assert letters["a"].summary == "the first"


def test_restore_and_follow():
    letters, heard = Registry("letter"), []
    letters.register("a", str, "the first")
    letters.follow(lambda entry: heard.append(entry.name))
    before = dict(letters)
    letters.register("b", str, "the second")
    assert heard == ["a", "b"]
    letters.restore(before)
    assert list(letters) == ["a"]
    letters.register("b", str, "again")


@dataclass(frozen=True)
class Halfway(SCENARIOS["push"].make):
    """A scenario with a field that nobody knows."""

    far: float = field(kw_only=True)


class Far(MotorDrive):
    """A drive whose actuators MuJoCo cannot switch off."""

    group = 31


LETTERS = Registry("letter")
LETTERS.register("alpha", str, "the first")
BOXES = Registry("box", Sized)
BAD = [
    (lambda: LETTERS["alfa"], "no letter 'alfa'; there are: alpha (did you mean 'alpha'?)"),
    (
        lambda: LETTERS.register("", str, "x"),
        "the name of a letter is a word without blanks, '-' before or '.py' behind",
    ),
    (lambda: LETTERS.register("a b", str, "x"), "behind, got 'a b'"),
    (lambda: LETTERS.register("-a", str, "x"), "behind, got '-a'"),
    (lambda: LETTERS.register("a.py", str, "x"), "behind, got 'a.py'"),
    (lambda: LETTERS.register(3, str, "x"), "behind, got 3"),
    (lambda: LETTERS.register("a", 3, "x"), "letter 'a' needs something to call that makes it, got 3"),
    (lambda: LETTERS.register("a", str, " "), "letter 'a' needs a summary of one line, got ' '"),
    (lambda: LETTERS.register("a", str, "x\ny"), "letter 'a' needs a summary of one line, got 'x\\ny'"),
    (
        lambda: LETTERS.register("a", str, "x", size=3),
        "letter 'a' takes name, make, summary and nothing more, got size",
    ),
    (lambda: BOXES.register("a", str, "x"), "box 'a' takes name, make, summary and size=..., got less"),
    (lambda: register("a", balance, "x"), "scenario 'a' must be a dataclass that derives from Scenario, got <function"),
    (lambda: register("a", Scenario, "x"), "scenario 'a' must be a dataclass that derives from Scenario, got <class"),
    (lambda: register("a", SCENARIOS["push"].make, "x"), "scenario 'a' is a class whose name is 'push'"),
    (lambda: register("a", Halfway, "x"), "scenario 'a' needs a default of its field 'far'"),
    (lambda: DRIVES.register("a", str, "x"), "drive 'a' must be a class that derives from Drive and is whole, got <cl"),
    (lambda: DRIVES.register("a", MotorDrive.add, "x"), "drive 'a' must be a class that derives from Drive and is wh"),
    (lambda: DRIVES.register("a", Drive, "x"), "drive 'a' must be a class that derives from Drive and is whole, got"),
    (lambda: DRIVES.register("a", Servo, "x"), "drive 'a' is a class whose name is 'servo': leave one of them out"),
    (lambda: DRIVES.register("a", Far, "x"), "drive 'a' needs a group of actuators, 0 to 30"),
    (
        lambda: CONTROLLERS.register("a", str, "x"),
        "controller 'a' takes name, make, summary and settings=..., controller=..., needs=..., other=..., acts=...,"
        " cites=..., got less",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_calls(call, message):
    with pytest.raises(UserError, match=re.escape(message)) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_entry_is_told_in_a_line_and_was_registered_in_the_package(registry):
    source = Path(inspect.getfile(Registry)).parent
    assert registry
    for name, entry in registry.items():
        assert entry.name == name and 10 < len(entry.summary) < 110
        assert Path(entry.where.file).is_relative_to(source) and entry.where.line > 0


def test_a_scenario_learns_its_name_and_summary(registries):
    @dataclass(frozen=True)
    class Mine(SCENARIOS["push"].make):
        """A push by another name."""

    register("mine", Mine, "my own push")
    assert (Mine.name, Mine.summary) == ("mine", "my own push")
    assert SCENARIOS["push"].make.name == "push" and SCENARIOS["mine"](force=3.0).force == 3.0


def test_a_planner_is_a_controller_too(scene):
    with kept(PLANNERS), kept(CONTROLLERS):
        PLANNERS.register("mine", PLANNERS["cem"].make, "my own cem", settings=CEMSettings)
        entry = CONTROLLERS["mine"]
        assert (entry.summary, entry.settings, entry.where) == ("my own cem", CEMSettings, PLANNERS["mine"].where)
        with pytest.raises(UserError, match="planner 'mine' is registered twice"):
            PLANNERS.register("mine", PLANNERS["cem"].make, "again", settings=CEMSettings)
        with pytest.raises(UserError, match="controller 'walker' is registered twice"):
            PLANNERS.register("walker", PLANNERS["cem"].make, "again", settings=CEMSettings)
        assert "walker" not in PLANNERS
    assert "mine" not in CONTROLLERS


def test_a_goal_is_called_with_a_scene(scene):
    assert GOALS["balance"](scene, pose="t-pose").pose == "t-pose"
