"""Memory: records in a state row, claimed by name, that travel with it."""

import re

import numpy as np
import pytest

from tumble.characters import biped, humanoid
from tumble.errors import UserError
from tumble.world.memory import Memory
from tumble.world.props import Ball, Companion
from tumble.world.scene import ROOM, Scene
from tumble.world.sims import Sims

WALK = np.dtype([("phase", "f8"), ("stance", "i8"), ("place", "f8", 3)])
TINY = np.dtype([("count", "f8")])


@pytest.fixture
def sims() -> Sims:
    """Three simulations of a scene with two claims."""
    scene = Scene(humanoid())
    scene.claim("walker", WALK)
    scene.claim("relay", TINY)
    found = Sims(scene, 3, 1)
    found.load(scene.state())
    return found


def test_claims_have_places_of_their_own_in_order():
    memory = Memory(20)
    for name, dtype in (("a", WALK), ("b", TINY), ("c", WALK)):
        memory.claim(name, dtype)
    assert memory.claims == {"a": 5, "b": 1, "c": 5}
    assert [memory.place(name) for name in "abc"] == [slice(0, 5), slice(5, 6), slice(6, 11)]
    memory.claim("b", TINY)
    assert memory.place("c") == slice(6, 11)


def test_records_are_live_and_a_part_of_the_state(sims):
    walk, relay = sims.memory("walker"), sims.memory("relay")
    assert walk.shape == relay.shape == (3,) and not walk.phase.any()
    walk.phase[:], walk.stance[1], walk.place[2] = [0.25, 0.5, 0.75], -1, (1, 2, 3)
    relay.count[:] = 7
    userdata = sims.view("userdata")
    assert userdata[:, 0].tolist() == [0.25, 0.5, 0.75] and userdata[2, 2:5].tolist() == [1, 2, 3]
    assert userdata[:, 5].tolist() == [7, 7, 7] and not userdata[:, 6:].any()
    assert sims.memory("walker").stance.tolist() == [0, -1, 0]
    for i in range(3):
        # by bits: as a float, the integer -1 is not a number
        assert sims.scene.show(sims.state[i]).userdata.tobytes() == userdata[i].tobytes()


def test_memory_is_forked_and_acts_on_nothing(sims):
    sims.memory("walker").phase[:] = [0.25, 0.5, 0.75]
    other = Sims(sims.scene, 3, 1)
    other.load(sims.scene.state())
    for drive in sims.scene.drives.values():
        control = np.zeros((3, drive.size))
        sims.act(control, drive)
        other.act(control, drive)
    assert sims.memory("walker").phase.tolist() == [0.25, 0.5, 0.75]
    assert np.array_equal(sims.view("qpos"), other.view("qpos"))
    sims.take(np.array([2, 2, 0]))
    assert sims.memory("walker").phase.tolist() == [0.75, 0.75, 0.25]


def test_memory_is_carried_to_another_scene_by_name(sims):
    sims.memory("walker").phase[:] = 0.5
    sims.memory("relay").count[:] = 3
    scene = Scene(humanoid(legs=1.1), [Ball("new")])
    scene.claim("relay", TINY)  # in another order
    carried = Sims(scene, 1, 1)
    carried.load(scene.carried(sims.state[0], sims.scene))
    scene.claim("walker", WALK)
    assert carried.memory("walker").phase.tolist() == [0.5]
    assert carried.memory("relay").count.tolist() == [3]
    assert scene.memory.claims == {"relay": 1, "walker": 5}


def test_a_recipe_keeps_places_for_who_claims_later(sims):
    again = Scene.from_recipe(sims.scene.recipe)
    assert again.memory.claims == sims.scene.memory.claims
    with pytest.raises(UserError, match="no memory 'walker'"):
        Sims(again, 1, 1).memory("walker")  # whose meaning nobody has told
    again.claim("relay", TINY)
    sims.memory("relay").count[:] = 3
    found = Sims(again, 1, 1)
    found.load(sims.state[0])
    assert found.memory("relay").count.tolist() == [3]


def test_every_character_brings_room():
    assert Scene(biped()).model.nuserdata == ROOM
    assert Scene(biped(), [Companion("ana", biped().recipe), Ball()]).model.nuserdata == 2 * ROOM


BAD = [
    (lambda m: m.claim("b", np.dtype([("x", "f4")])), "a record of memory has whole numbers of 8 bytes, 'b' has 4"),
    (lambda m: m.claim("a", WALK), "memory 'a' has 1 numbers already, and 5 were claimed"),
    (lambda m: m.reserve("b", 5), "no room for 5 numbers of 'b': the scene has 5, 4 of them free; 'a' 1"),
    (lambda m: Memory(2).reserve("b", 5), "no room for 5 numbers of 'b': the scene has 2, 2 of them free; nobody any"),
    (lambda m: m.reserve("b", 0), "numbers of memory 'b' must be a number 1 or more, got 0"),
    (lambda m: m.place("b"), "no memory 'b'; there are: a"),
    (lambda m: m.view("b", np.zeros((2, 5))), "no memory 'b'; there are: a"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_claims(call, message):
    memory = Memory(5)
    memory.claim("a", TINY)
    with pytest.raises(UserError, match=re.escape(message)):
        call(memory)
    assert memory.claims == {"a": 1}


def test_what_nobody_claimed_is_the_end_of_a_row():
    scene = Scene(biped())
    scene.claim("mine", np.dtype([("a", "f8"), ("b", "f8")]))
    data = scene.show(scene.state())
    data.userdata[:] = np.arange(1, len(data.userdata) + 1)
    row = scene.read(data)
    assert row[: scene.used][-2:].tolist() == [1.0, 2.0]
    assert row[scene.used :].tolist() == list(range(3, len(data.userdata) + 1))
