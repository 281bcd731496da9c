"""What a hint at a place or a thing means."""

import pytest

from tumble.characters import biped
from tumble.errors import UserError
from tumble.skills.check import check_acts
from tumble.skills.pointing import script_for
from tumble.skills.script import parse
from tumble.world.props import Ball, Box, Companion, Crate
from tumble.world.scene import Scene

ONE = ((0.0, 0.0, 0.0),)
AT = (1.23456, -2.0, 0.3)


@pytest.fixture(scope="module")
def room():
    props = [
        Crate("crate", (2.0, 0.0, 0.2), mass=15.0),
        Crate("cup", (1.0, 1.0, 0.05), (0.05, 0.05, 0.05), 0.3, handles=ONE),
        Crate("mug", (1.0, -1.0, 0.05), (0.05, 0.05, 0.05), 0.3, handles=ONE),
        Crate("anvil", (0.0, 2.0, 0.2), mass=60.0, friction=0.2), Ball(), Box("wall", (6.0, 0.0, 0.5), (0.1, 2.0, 0.5)),
        Companion("ana", biped(legs=1.1).recipe, (-2.0, 0.0)),
    ]  # fmt: skip
    return Scene(biped(), props)


@pytest.mark.parametrize(
    ("held", "body", "script"),
    [
        ((), None, "go to 1.23 -2"),
        ((), "cup", "pick up cup"),
        ((), "crate", "lift crate"),
        ((), "anvil", "push anvil 1 m"),
        ((), "wall", "go to wall"),
        ((), "ball", "go to ball"),
        ((), "ana/left_forearm", "go to ana"),
        (("cup",), None, "carry it to 1.23 -2"),
        (("cup",), "mug", "pick up mug"),
        (("cup",), "crate", "carry it to crate"),
        (("cup",), "cup", "put it down"),
        (("crate",), "cup", "carry it to cup"),
        (("crate",), "wall", "carry it to wall"),
        (("cup", "mug"), None, "carry it to 1.23 -2"),
    ],
)
def test_what_is_meant(room, held, body, script):
    assert script_for(room, held, body, AT) == script
    if body != "ball":  # which waits far away
        check_acts(room, parse(script), held)


def test_what_is_not_meant(room):
    with pytest.raises(UserError, match="'left_shin' is a part of the character; point at the ground or at a thing"):
        script_for(room, (), "left_shin", AT)
    with pytest.raises(UserError, match="no body 'crat'"):
        script_for(room, (), "crat", AT)
