"""Memory that controllers claim: no two have the same place, nobody clears another's, and it is a part of the state."""

import itertools

import numpy as np
import pytest

from tumble.characters import biped, character
from tumble.crowds.crowd import Crowd
from tumble.crowds.kernel import DANCER, crowd_record
from tumble.errors import UserError
from tumble.simbicon.body import SIMBICON
from tumble.simbicon.simbicon import Simbicon
from tumble.skills.memory import NOTES, SKILLS
from tumble.skills.performer import Performer
from tumble.walking import Walker
from tumble.walking.memory import UNLIMITED, WALKER, Mode
from tumble.world.memory import Memory
from tumble.world.props import Companion
from tumble.world.scene import ROOM, Scene
from tumble.world.sims import Sims

OTHERS = np.dtype([("one", "f8"), ("two", "f8", (2, 3))])
EACH = [
    ("biped", ["walker"], Walker),
    ("biped", ["walker", "skills"], lambda scene: Performer(Walker(scene))),
    ("biped34", ["simbicon"], Simbicon),
    ("biped", ["crowd"], Crowd),
]
each = pytest.mark.parametrize(("body", "names", "make"), EACH, ids=[names[-1] for _, names, _ in EACH])


@each
def test_a_start_clears_its_own_and_leaves_what_others_remember(body, names, make):
    scene = Scene(character(body))
    scene.claim("before", OTHERS)
    controller = make(scene)
    scene.claim("after", OTHERS)
    assert list(scene.memory.claims) == ["before", *names, "after"]
    sims = Sims(scene, 3, nthread=1)
    sims.use(controller.drive)
    sims.load(scene.state())
    userdata = sims.view("userdata")
    controller.start(sims)
    first = userdata.copy()
    userdata[:] = 7.0
    controller.start(sims)
    own = np.zeros(ROOM, bool)
    for name in names:
        own[scene.memory.place(name)] = True
    assert (userdata[:, ~own] == 7.0).all() and (userdata[:, own] == first[:, own]).all()


@each
def test_a_frame_leaves_what_others_remember(body, names, make):
    scene = Scene(character(body))
    scene.claim("before", OTHERS)
    controller = make(scene)
    sims = Sims(scene, 2, nthread=1)
    sims.use(controller.drive)
    sims.load(scene.state())
    controller.start(sims)
    own = np.zeros(ROOM, bool)
    for name in names:
        own[scene.memory.place(name)] = True
    userdata = sims.view("userdata")
    userdata[:, ~own] = 7.0
    before = userdata.copy()
    sims.act(controller.control(sims), controller.drive)
    assert (userdata[:, ~own] == 7.0).all() and not np.array_equal(userdata, before)


def test_claims_do_not_overlap_and_fill_what_is_claimed():
    scene = Scene(biped(), [Companion("ana", biped().recipe, (0.0, 3.0))])
    Performer(Walker(scene)), Crowd(scene), scene.claim("others", OTHERS)
    places = [scene.memory.place(name) for name in scene.memory.claims]
    assert [place.stop for place in places[:-1]] == [place.start for place in places[1:]]
    assert places[0].start == 0 and places[-1].stop <= scene.memory.room == scene.model.nuserdata == 2 * ROOM


@pytest.mark.parametrize("dtype", [WALKER, SKILLS, NOTES, SIMBICON, DANCER, crowd_record(3)])
def test_a_record_has_no_gaps_and_no_two_fields_in_one_place(dtype):
    ends = [(offset, offset + kind.itemsize) for kind, offset, *_ in dtype.fields.values()]
    assert all(a[1] == b[0] for a, b in itertools.pairwise(sorted(ends)))
    assert sum(stop - start for start, stop in ends) == dtype.itemsize
    assert not set(dtype.names) & set(dir(np.recarray)), "a field that a record array hides"


def test_what_is_remembered_is_live_and_travels_with_the_row():
    scene = Scene(biped())
    Walker(scene)
    sims = Sims(scene, 3, nthread=1)
    sims.load(scene.state())
    memory = sims.memory("walker")
    memory.phase[:] = 0.1, 0.2, 0.3
    memory.hand_target[2, 1] = 1.0, 2.0, 3.0
    memory[1].mode = Mode.WALK
    sims.take(np.array([2, 2, 1]))
    assert memory.phase.tolist() == [0.3, 0.3, 0.2] and memory.mode.tolist() == [0, 0, Mode.WALK]
    assert memory.hand_target[:2, 1].tolist() == [[1.0, 2.0, 3.0]] * 2
    other = Sims(scene, 1, nthread=1)
    other.load(sims.state[0])
    assert other.memory("walker").phase[0] == 0.3


def test_a_row_that_starts_walks_nowhere_and_holds_nothing():
    scene = Scene(biped())
    walker, sims = Walker(scene), Sims(scene, 1, nthread=1)
    sims.load(scene.place(scene.state(), heading=0.4))
    walker.start(sims)
    memory = sims.memory("walker")[0]
    assert memory.heading == memory.wish_heading == pytest.approx(0.4)
    assert memory.speed_limit == UNLIMITED and memory.wish_period == memory.wish_step_width == -1.0
    assert not memory.hand_grip.any() and not memory.hand_frame.any() and memory.wish_speed == 0.0


def test_memory_goes_along_to_another_scene_of_the_same_cast():
    one, two = Scene(biped()), Scene(biped(legs=1.1))
    performer = Performer(Walker(one))
    sims = Sims(one, 1, nthread=1)
    sims.load(one.state())
    performer.start(sims)
    sims.memory("walker").footstrikes[:], sims.memory("skills").pace[:] = 5.0, 0.3
    two.claim("others", OTHERS)  # so that places differ
    performer.move(two)
    after = Sims(two, 1, nthread=1)
    after.load(two.carried(sims.state[0], one))
    assert after.memory("walker").footstrikes[0] == 5.0 and after.memory("skills").pace[0] == 0.3


BAD = [  # claims, the last of which is refused; why
    (
        [("a", [("x", "f8", 6)]), ("b", [("x", "f8", 5)])],
        "no room for 5 numbers of 'b': the scene has 10, 4 of them free; 'a' 6",
    ),
    ([("a", [("x", "f8", 11)])], "no room for 11 numbers of 'a': the scene has 10, 10 of them free; nobody any"),
    ([("a", [("x", "f8", 2)]), ("a", [("x", "f8", 3)])], "memory 'a' has 2 numbers already, and 3 were claimed"),
    ([("a", [("x", "f4")])], "a record of memory has whole numbers of 8 bytes, 'a' has 4"),
]


@pytest.mark.parametrize(("claims", "message"), BAD, ids=[message[:30] for _, message in BAD])
def test_bad_claims_are_refused(claims, message):
    memory = Memory(10)
    for name, fields in claims[:-1]:
        memory.claim(name, np.dtype(fields))
    before = dict(memory.claims)
    with pytest.raises(UserError) as caught:
        memory.claim(claims[-1][0], np.dtype(claims[-1][1]))
    assert str(caught.value) == message and memory.claims == before


def test_the_same_claim_again_is_the_same_place():
    scene = Scene(biped())
    for _ in range(2):
        Performer(Walker(scene))
    assert list(scene.memory.claims) == ["walker", "skills"]


def test_what_nobody_claimed_is_not_there():
    scene = Scene(biped())
    Walker(scene)
    with pytest.raises(UserError, match="no memory 'walkr'; there are: walker"):
        Sims(scene, 1).memory("walkr")
