"""Choosing gaits for many rows at once, steps in which rows rest that are done, mixes, slopes and pushes."""

import re
from functools import partial

import numpy as np
import pytest
from msgspec.structs import replace

from tumble.characters import character
from tumble.control.stepping import step
from tumble.errors import UserError
from tumble.goals.wants import Go
from tumble.scenarios.stepping import SLAB, SimbiconHumanoid, SimbiconPlanar, slabs
from tumble.simbicon.body import MEMORY
from tumble.simbicon.gait import BODIES, Gait, builtin_gaits, check_gait, gait_names, mirrored
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


def test_who_falls_takes_no_step_where_it_is_to_stay_upright(walker):
    sims, same = started(walker), started(walker)
    for both in (sims, same):
        both.view("qvel")[1, 1] += 6.0  # m/s to the left
        both.load(both.state.copy())
    done, seconds = step(walker, sims, 1.2, upright=True), sims.view("time").ravel()
    step(walker, same, 1.2)
    assert done.tolist() == [True, False, True, True] and walker.fallen(sims).tolist() == [False, True, False, False]
    assert seconds[1] < same.view("time").ravel()[1]
    assert (sims.state[[0, 2, 3]] == same.state[[0, 2, 3]]).all()


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
    (np.array([0, 99]), None, 0.0, "numbers of gaits go from 0 to 11, got 99"),
    (-1, None, 0.0, "numbers of gaits go from 0 to 11, got -1"),
    (0.5, None, 0.0, "a gait is chosen by its name or by whole numbers, got 0.5"),
    ("walk", "sad", np.array([0.0, 0.2, 1.2, 0.0]), "weight must be a number 0 or more and at most 1, got 1.2"),
    ("lope", None, 0.0, "no gait 'lope' of 'biped34', but of big-bird; there are: backwards, in-place, in-place-ahead"),
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
    assert sum(len(gait_names(body)) for body in BODIES) == 37
    assert gait_names("humanoid") == []


# Sided gaits ----------------------------------------------------------------------------------------


def sided(gait: Gait, name: str = "sided", lift: float = 0.1) -> Gait:
    """A gait of a state a leg: on the left foot as it was, on the right one for longer and with a higher hip."""
    (state,) = gait.states
    hip = state.joints["swing_hip"]
    raised = replace(hip, bend=tuple((x, y + lift) for x, y in hip.bend))
    other = replace(state, duration=1.25 * state.duration, joints={**state.joints, "swing_hip": raised})
    return replace(gait, name=name, sided=True, states=(state, other))


@pytest.fixture(scope="module")
def bird() -> Simbicon:
    """With its walk, one that is sided but the same on both legs, and one that is not."""
    body = character("big-bird")
    walk = builtin_gaits(body)["walk"]
    same = replace(walk, name="same", sided=True, states=walk.states * 2)
    right = replace(walk, name="right", states=sided(walk).states[1:])
    return Simbicon(Scene(body, ground=Ground(friction=0.8)), [walk, same, sided(walk), right])


def frames(walker: Simbicon, gait: str, other: str | None = None, weight: float = 0.0, many: int = 45) -> Sims:
    sims = started(walker, 2)
    walker.choose(sims, gait, other, weight)
    for _ in range(many):
        sims.act(walker.control(sims), walker.drive)
    return sims


def memory_but_gaits(sims: Sims) -> np.ndarray:
    memory = sims.memory(MEMORY)
    return np.stack([memory[name] for name in ("state", "phase", "stance", "footstrikes", "heading")])


def test_two_equal_sides_are_a_gait_of_one_state(bird):
    """To the last bit: which of two equal states is read does not matter."""
    one, two = frames(bird, "walk"), frames(bird, "same")
    np.testing.assert_array_equal(one.view("qpos"), two.view("qpos"))
    np.testing.assert_array_equal(memory_but_gaits(one), memory_but_gaits(two))
    assert (two.memory(MEMORY).footstrikes >= 3).all() and (two.memory(MEMORY).state == 0).all()


def test_the_stance_leg_says_which_state_is_read(bird):
    """A step on the left foot is the walk's, one on the right foot that of the gait of the other state."""
    for stance, plain in enumerate(("walk", "right")):
        pair = []
        for gait in ("sided", plain):
            sims = started(bird, 2)
            bird.choose(sims, gait)
            sims.memory(MEMORY).stance[:] = stance
            sims.act(bird.control(sims), bird.drive)
            pair.append(sims)
        np.testing.assert_array_equal(pair[0].view("qpos"), pair[1].view("qpos"))
        np.testing.assert_array_equal(memory_but_gaits(pair[0]), memory_but_gaits(pair[1]))


def test_sided_gaits_mix_with_gaits_of_one_state(bird):
    """On the left foot a mix with the walk is the walk, its duration too; on the right one it is in between."""
    mixed, plain = frames(bird, "walk", "sided", 0.4, many=3), frames(bird, "walk", many=3)
    np.testing.assert_allclose(mixed.view("qpos"), plain.view("qpos"), atol=1e-9)
    sims = started(bird, 1)
    bird.choose(sims, "walk", "sided", 0.4)
    sims.memory(MEMORY).stance[:] = 1
    sims.act(bird.control(sims), bird.drive)
    duration = bird.gaits[0].states[0].duration
    speed = 0.6 / duration + 0.4 / (1.25 * duration)
    assert sims.memory(MEMORY).phase[0] == pytest.approx(speed * bird.scene.dt)


def test_a_mirror_exchanges_sides_and_turns():
    walk = replace(builtin_gaits(character("big-bird"))["walk"], turn=0.3)
    there = mirrored(sided(walk), "there")
    assert (there.name, there.turn, there.states) == ("there", -0.3, sided(walk).states[::-1])
    assert mirrored(there, "sided") == sided(walk)
    assert mirrored(walk, "walk") == replace(walk, turn=-0.3)


def test_the_mirror_goes_the_other_way():
    """From rest with the other leg as stance: what goes to the left goes to the right."""
    body = character("big-bird")
    gait = sided(builtin_gaits(body)["walk"])
    walker = Simbicon(Scene(body, ground=Ground(friction=0.8)), [gait, mirrored(gait, "mirror")])
    found = []
    for name, stance in (("sided", 0), ("mirror", 1)):
        sims = Sims(walker.scene, 1, 1)
        sims.use(walker.drive)
        sims.load(walker.scene.state())  # rest is the same on both sides
        walker.start(sims)
        walker.choose(sims, name)
        sims.memory(MEMORY).stance[:] = stance
        for _ in range(8):
            sims.act(walker.control(sims), walker.drive)
        found.append(sims.view("com")[0].copy())
    np.testing.assert_allclose(found[0] * [1, -1, 1], found[1], atol=1e-6)


def test_a_sided_gait_has_two_states_that_swap():
    body = character("big-bird")
    walk = builtin_gaits(body)["walk"]
    with pytest.raises(UserError, match=r"sided gait must have 2 states that swap legs, .* got 1, 1 of them"):
        check_gait(replace(walk, sided=True), body)
    stuck = replace(walk.states[0], swap=False)
    with pytest.raises(UserError, match="got 2, 1 of them with swap = true, of gait 'walk'"):
        check_gait(replace(walk, sided=True, states=(stuck, walk.states[0])), body)
