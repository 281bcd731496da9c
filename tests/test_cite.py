"""`tumble cite`: what a scenario uses, as BibTeX."""

import re

import pytest
from doing import kept

from tumble.cli import cite_command, dispatch
from tumble.cli.cite_command import ALWAYS, cited, references
from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.planners import PLANNERS, CEMSettings
from tumble.scenarios import SCENARIOS


def test_it_prints_papers_then_the_engine_then_this(capsys):
    assert dispatch(["cite", "walk-on"]) == 0  # by a relay: a walker, and C-PBP who gets it up
    keys = re.findall(r"^@\w+\{(\w+),$", capsys.readouterr().out, re.MULTILINE)
    assert keys == ["coros2010", "coros2010walking", "hamalainen2015", *ALWAYS]
    assert dispatch(["cite", "push", "--controller", "smc"]) == 0
    assert "@article{hamalainen2014," in capsys.readouterr().out


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_has_papers_that_are_there(name):
    keys = cited(name)
    assert len(keys) > len(ALWAYS) and set(keys) <= set(references())


def test_every_reference_is_whole_and_used():
    entries = references()
    used = {key for entry in CONTROLLERS.values() for key in entry.cites} | set(ALWAYS)
    assert used == set(entries)
    for entry in entries.values():
        assert entry.count("{") == entry.count("}")
        assert {"author", "title", "year"} <= set(re.findall(r"^  (\w+) = ", entry, re.MULTILINE))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pussh"], "no scenario 'pussh'; there are: ball, .* (did you mean 'push'?)"),
        (["push", "--controller", "walkr"], "no controller 'walkr'; there are: .* (did you mean 'walker'?)"),
    ],
)
def test_what_is_not_there_is_said(capsys, words, message):
    assert dispatch(["cite", *words]) == 2
    beginning, end = message.split(".*")
    said = capsys.readouterr().err
    assert said.startswith(f"tumble: {beginning}") and said.endswith(f"{end.strip()}\n")


def test_a_controller_of_ones_own_cites_by_key_or_by_an_entry(capsys):
    own = "@misc{mine,\n  title = {My own}\n}"
    with kept(PLANNERS), kept(CONTROLLERS):
        PLANNERS.register("mine", PLANNERS["cem"].make, "my own cem", settings=CEMSettings, cites=("coros2008", own))
        assert dispatch(["cite", "push", "--controller", "mine"]) == 0
        said = capsys.readouterr().out
        assert "@article{coros2008," in said and own in said
        PLANNERS.register("other", PLANNERS["cem"].make, "another cem", settings=CEMSettings, cites=("nobody1999",))
        with pytest.raises(UserError, match=r"no reference 'nobody1999'; give one that ships or a whole BibTeX entry"):
            cite_command.main(["push", "--controller", "other"])
