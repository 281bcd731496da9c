"""Choosing gaits for many rows at once, steps in which rows rest that are done, mixes, slopes and pushes."""

import re
from functools import partial

import numpy as np
import pytest

from tumble.characters import character
from tumble.errors import UserError
from tumble.goals.wants import Go
from tumble.scenarios.stepping import SLAB, SimbiconHumanoid, SimbiconPlanar, slabs
from tumble.simbicon.body import MEMORY
from tumble.simbicon.gait import BODIES, gait_names
from tumble.simbicon.simbicon import Simbicon
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

AWAY = 0.2  # m/s and rad/s, standard deviation of starts


@pytest.fixture(scope="module")
def walker() -> Simbicon:
    return Simbicon(Scene(character("biped34"), ground=Ground(friction=0.8)))


def started(walker: Simbicon, n: int = 4, nthread: int = 1) -> Sims:
    sims = Sims(walker.scene, n, nthread)
    sims.use(walker.drive)
    sims.load(walker.opening("walk"))
    sims.view("qvel")[:] += AWAY * np.random.default_rng(3).standard_normal(sims.view("qvel").shape)
    sims.load(sims.state.copy())
    walker.start(sims)
    return sims


# Rows -----------------------------------------------------------------------------------------------


def test_rows_that_rest_do_not_change(walker):
    sims = started(walker)
    before = sims.state.copy()
    rows = np.array([1, 3])
    sims.act(partial(walker.law, rows=rows), walker.drive, rows)
    np.testing.assert_array_equal(sims.state[[0, 2]], before[[0, 2]])
    assert (sims.state[rows] != before[rows]).any(axis=1).all()
    others = started(walker)
    others.act(walker.law, walker.drive)
    np.testing.assert_array_equal(sims.state[rows], others.state[rows])


def test_held_controls_act_on_chosen_rows(walker):
    sims, all_rows = started(walker), started(walker)
    control = np.random.default_rng(0).uniform(-0.1, 0.1, (4, walker.drive.size))
    sims.act(control[[0, 2]], walker.drive, np.array([0, 2]))
    all_rows.act(control, walker.drive)
    np.testing.assert_array_equal(sims.state[[0, 2]], all_rows.state[[0, 2]])


@pytest.mark.parametrize("drive", ["servo", "torque"])
def test_loose_rows_are_the_same_as_neighbours(walker, drive):
    """Rows by numbers and by a slice are the same rows, for drives that look at speeds too."""
    chosen = walker.scene.drives[drive]
    one, other = started(walker), started(walker)
    control = np.random.default_rng(1).uniform(0.1, 0.9, (2, chosen.size))
    one.act(control, chosen, np.array([1, 2]))
    other.act(control, chosen, slice(1, 3))
    np.testing.assert_array_equal(one.state, other.state)


@pytest.mark.parametrize("rows", [[2, 1], [1, 1]])
def test_rows_out_of_order_are_refused(walker, rows):
    sims = started(walker)
    with pytest.raises(UserError, match="numbers of rows must rise and none come twice, got"):
        sims.act(np.zeros((2, walker.drive.size)), walker.drive, np.array(rows))


def frames_of(walker: Simbicon, sims: Sims) -> list[int]:
    """How many rows acted in each frame of a step."""
    acted, act = [], sims.act

    def counted(control, drive, rows):
        acted.append(len(rows))
        act(control, drive, rows)

    sims.act = counted
    walker.step(sims)
    del sims.act
    return acted


def test_a_step_of_many_is_the_step_of_each(walker):
    """Every row is where it would be alone, at its own strike, and none acts after its own."""
    sims = started(walker)
    states = sims.state.copy()
    acted = frames_of(walker, sims)
    assert acted[0] == 4 and acted == sorted(acted, reverse=True) and acted[-1] < 4
    for row in range(4):
        alone = Sims(walker.scene, 1, 1)
        alone.use(walker.drive)
        alone.load(states[row])
        assert walker.step(alone).all()
        np.testing.assert_array_equal(alone.state[0], sims.state[row])


def test_some_rows_step_and_others_rest(walker):
    sims = started(walker)
    before = sims.state.copy()
    done = walker.step(sims, rows=[2, 0])
    assert done.tolist() == [True, False, True, False]
    np.testing.assert_array_equal(sims.state[[1, 3]], before[[1, 3]])
    np.testing.assert_array_equal(walker.steps(sims), [1, 0, 1, 0])


# Choices --------------------------------------------------------------------------------------------


def test_every_row_has_its_own_gait(walker):
    """Numbers by row are what names one by one are."""
    names = ["walk", "sad", "proud", "in-place"]
    one, other = started(walker), started(walker)
    walker.choose(one, np.array([walker.index(name) for name in names]), 0, np.array([0.0, 0.3, 0.0, 1.0]))
    for row, name in enumerate(names):
        walker.choose(other, name, "walk", [0.0, 0.3, 0.0, 1.0][row], rows=[row])
    np.testing.assert_array_equal(one.state, other.state)
    walker.step(one)
    walker.step(other)
    np.testing.assert_array_equal(one.state, other.state)


def test_choices_and_headings_are_all_in_the_memory(walker):
    """A row that is copied goes on with its own gait, mix and heading."""
    sims = started(walker)
    walker.choose(sims, np.array([0, 1, 2, 3]), 4, 0.5)
    walker.turn_to(sims, np.array([0.0, 0.1, 0.2, 0.3]))
    sims.take(np.array([3, 3, 0, 1]))
    memory = sims.memory(MEMORY)
    assert memory.gait.tolist() == [3, 3, 0, 1] and memory.heading.tolist() == [0.3, 0.3, 0.0, 0.1]
    sims.state[1] = sims.state[0]
    sims.load(sims.state.copy())
    walker.step(sims)
    np.testing.assert_array_equal(sims.state[0], sims.state[1])


BAD = [
    (np.array([0, 99]), None, 0.0, "numbers of gaits go from 0 to 8, got 99"),
    (-1, None, 0.0, "numbers of gaits go from 0 to 8, got -1"),
    (0.5, None, 0.0, "a gait is chosen by its name or by whole numbers, got 0.5"),
    ("walk", "sad", np.array([0.0, 0.2, 1.2, 0.0]), "weight must be a number 0 or more and at most 1, got 1.2"),
    ("lope", None, 0.0, "no gait 'lope' of 'biped34', but of big-bird; there are: backwards, in-place, jog"),
    ("sda", None, 0.0, "(did you mean 'sad'?)"),
]


@pytest.mark.parametrize(("gait", "other", "weight", "message"), BAD, ids=[row[-1][:30] for row in BAD])
def test_bad_choices_say_why_and_change_nothing(walker, gait, other, weight, message):
    sims = started(walker)
    before = sims.state.copy()
    with pytest.raises(UserError, match=re.escape(message)):
        walker.choose(sims, gait, other, weight)
    np.testing.assert_array_equal(sims.state, before)


def test_unequal_states_of_one_row_are_refused():
    planar = Simbicon(Scene(character("planar"), ground=Ground(friction=0.8)))
    sims = Sims(planar.scene, 2, 1)
    planar.start(sims)
    numbers = np.array([planar.index("walk"), planar.index("run")])
    planar.choose(sims, numbers)
    with pytest.raises(UserError, match="gaits to mix need equally many states, 'run' has 1, 'walk' 2"):
        planar.choose(sims, numbers, "walk", 0.5)


# Wants ----------------------------------------------------------------------------------------------


def test_wants_say_gait_mix_and_heading(walker):
    sims = started(walker, 1)
    walker.want(sims, Go(style="sad", other="proud", mix=0.25, heading=0.4))
    (memory,) = sims.memory(MEMORY)
    assert (memory.gait, memory.other) == (walker.index("sad"), walker.index("proud"))
    assert (memory.weight, memory.heading) == (0.25, 0.4)
    walker.want(sims, Go(style="turn-left", heading=0.9))  # moves its heading by itself
    assert memory.weight == 0.0 and memory.heading == 0.4


REFUSED = [
    (Go(speed=1.0), "Simbicon walks as its gaits do and takes no speed; choose a style or a heading"),
    (Go(style="lope"), "no gait 'lope' of 'biped34', but of big-bird"),
    (Go(other="lope"), "no gait 'lope' of 'biped34', but of big-bird"),
    (Go(mix=0.5), "a mix of 0.5 needs another style beside 'walk'"),
    (Go(other="sad", mix=1.5), "mix must be a number 0 or more and at most 1, got 1.5"),
]


@pytest.mark.parametrize(("want", "message"), REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_wants_that_it_cannot_do(walker, want, message):
    assert message in str(walker.refuses(started(walker, 1), want))


# Slopes, slabs, pushes ------------------------------------------------------------------------------


@pytest.mark.parametrize("slope", [-0.1, 0.0, 0.2])
def test_openings_stand_on_a_slope(slope):
    """The lowest point is a millimetre deep along the slope's normal, and the trunk is upright as on the level."""
    scene = Scene(character("biped34"), ground=Ground(0.8, slope=slope))
    data = scene.show(Simbicon(scene).opening("walk"))
    assert data.ncon and min(data.contact.dist) == pytest.approx(-1e-3, abs=2e-4)
    assert scene.ground.height(np.array(2.0)) == pytest.approx(2 * np.tan(slope))
    assert Scene.from_recipe(scene.recipe).fingerprint == scene.fingerprint


def test_slabs_lie_across_the_way():
    assert slabs(0.0) == []
    boxes = [box for box in slabs(0.1) if box.middle[0] > 0]
    edges = [(box.middle[0] - box.half[0], box.middle[0] + box.half[0]) for box in boxes[:2]]
    assert edges == [(1.0, 1.0 + SLAB), (1.0 + 2 * SLAB, 1.0 + 3 * SLAB)]
    assert all(box.ground and box.middle[2] + box.half[2] == pytest.approx(0.1) for box in boxes)


@pytest.mark.parametrize("kind", [SimbiconHumanoid, SimbiconPlanar])
def test_a_push_comes_from_a_side_that_the_body_has(kind):
    scenario = kind(push=80.0)
    scene = scenario.scene(character(kind.characters[0]))
    for seed in range(5):
        ((when, push),) = scenario.setup(scene, np.random.default_rng(seed)).events
        assert 4.0 <= when <= 5.2 and np.hypot(*push.force[:2]) == pytest.approx(80.0)
        assert kind is SimbiconHumanoid or abs(push.force[0]) == pytest.approx(80.0)
    assert not kind().setup(scene, np.random.default_rng(0)).events


def test_options_do_not_change_the_start():
    plain, pushed = SimbiconHumanoid(), SimbiconHumanoid(push=80.0)
    scene = plain.scene(character("biped34"))
    states = [one.setup(scene, np.random.default_rng(7)).state for one in (plain, pushed)]
    np.testing.assert_array_equal(*states)


@pytest.mark.parametrize(
    ("option", "message"),
    [({"push": -1.0}, "push must be"), ({"slope": 40.0}, "slope must be"), ({"step_height": 2.0}, "step_height must")],
)
def test_bad_options_are_refused(option, message):
    with pytest.raises(UserError, match=message):
        SimbiconHumanoid(**option)


def test_all_gaits_are_known_by_name():
    assert sum(len(gait_names(body)) for body in BODIES) == 26
    assert gait_names("humanoid") == []
