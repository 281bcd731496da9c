"""What a body cannot do is said before anything moves."""

import math

import numpy as np
import pytest

from tumble.characters import biped, humanoid
from tumble.errors import UserError
from tumble.skills.acts import GoTo, PickUp, SetPace, Turn, Wait
from tumble.skills.check import check_acts, held_in
from tumble.skills.limits import limits_of
from tumble.skills.script import MOST, parse
from tumble.skills.ways import check_way, depth_in, highest_step, lowest_duck
from tumble.walking import Walker
from tumble.world.props import Ball, Box, Crate
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

HANDLE = ((0.0, 0.0, 0.0),)
FACE = ((-0.4, 0.25, 0.3), (-0.4, -0.25, 0.3))  # on the near face of a crate 0.8 m deep


def scene_of(*props, **body):
    return Scene(biped(**body), props, Ground(friction=0.8))


def cup(name="cup", middle=(1.0, 0.5, 0.05), mass=0.3):
    return Crate(name, middle, (0.05, 0.05, 0.05), mass, handles=HANDLE)


def block(name="block", mass=80.0, friction=0.2, middle=(3.0, 0.0, 0.4)):
    return Crate(name, middle, (0.4, 0.4, 0.4), mass, friction, handles=FACE)


@pytest.fixture(scope="module")
def room():
    """A crate, a cup, another cup on a table, a block, a ball and a wall."""
    return scene_of(
        Crate("crate", (2.0, 0.0, 0.2)), cup(), Box("table", (-1.0, 2.0, 0.4), (0.5, 0.5, 0.4)),
        cup("mug", (-1.0, 1.7, 0.85)), block(middle=(0.0, -3.0, 0.4)), Ball(),
        Box("wall", (6.0, 0.0, 0.5), (0.1, 2.0, 0.5)),
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "go to crate; lift it; carry it to 3 1; go to 0 0; turn to -90; walk at 1.2; wait 600",
        "lift crate; put it down; pick up cup; pick up mug; let go; lift crate",
        "pick up mug; carry it to table",
        "push block 2 m; pull block 1.5 m; push crate 1 m",
        "go to 5 0; go to 5 3; go to 7 3; go to 7 0",  # around the wall
        "let go",
    ],
)
def test_what_can_be_done(room, text):
    check_acts(room, parse(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("go to 1 0; lift crat", r"^act 2, 'lift crat': no prop 'crat' in the scene; .* \(did you mean 'crate'"),
        ("lift table", "'table' is a box and has no handles; crates here: block, crate, cup, mug"),
        ("push ball 1 m", "'ball' is a ball and has no handles"),
        ("go to ball", r"\(0, -100\) is too far; places are within 100 m"),
        ("go to 80 80", r"\(80, 80\) is too far"),
        ("go to 6 1", r"\(6, 1\) is inside box 'wall'; choose a place beside it"),
        ("lift crate; carry it to -1 2.2", "inside box 'table'"),
        ("go to 8 0", r"box 'wall' is on the straight way, 1.00 m high; this body steps 0.47 m high at most: go"),
        ("pick up crate", "'crate' has two handles; write 'lift crate'"),
        ("lift cup", "'cup' has one handle; write 'pick up cup'"),
        ("lift block", "'block' weighs 80 kg; a body of 70 kg lifts 25.0 kg at most with both hands"),
        ("pick up cup; lift crate", "the hands are full: they hold 'cup'; put it down first"),
        ("lift crate; pick up cup", "^act 2, .*the hands are full: they hold 'crate'"),
        ("lift crate; push block 1 m", "the hands are full"),
        ("lift crate; lift crate", "'crate' is in the hands already"),
        ("lift crate; carry it to crate", "'crate' is in the hands; put it down first"),
        ("put it down", "nothing is held; lift or pick up something first"),
        ("lift crate; let go; put it down", "^act 3, 'put it down': nothing is held"),
        ("push block 0", "distance in m must be a number above 0 and at most 50, got 0"),
        ("push block 51", "distance in m must be"),
        ("wait 601", "seconds must be a number 0 or more and at most 600, got 601"),
        ("wait -1", "seconds must be"),
        ("walk at 1.3", r"speed in m/s must be a number 0.1 or more and at most 1.2, got 1.3"),
        ("walk at 0", "speed in m/s must be"),
        ("turn to 720", "heading in degrees must be"),
    ],
)  # fmt: skip
def test_what_cannot_be_done(room, text, message):
    with pytest.raises(UserError, match=message):
        check_acts(room, parse(text))


@pytest.mark.parametrize(
    "act", [GoTo((math.nan, 0.0)), GoTo((0.0, math.inf)), SetPace(math.nan), Turn(math.nan), Wait(math.inf)]
)
def test_what_is_no_number(room, act):
    with pytest.raises(UserError, match="act 1"):
        check_acts(room, [act])


def test_scenes_without_props_and_bodies_that_do_not_walk():
    with pytest.raises(UserError, match="no 'crate' in the scene, which has no props"):
        check_acts(scene_of(), parse("lift crate"))
    with pytest.raises(UserError, match="a walker needs a biped"):
        check_acts(Scene(humanoid()), parse("go to 1 1"))
    with pytest.raises(UserError, match=f"at most {MOST} acts, got {MOST + 1}"):
        check_acts(scene_of(), [Wait(1.0)] * (MOST + 1))


def refusal(scene, text):
    """Why a script is refused; '' where it is not."""
    try:
        check_acts(scene, parse(text))
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("size", "mass"), [(1.0, 25.0), (0.8, 25.0 * 0.8**3), (1.3, 25.0 * 1.3**3)])
def test_what_is_lifted_goes_with_the_body(size, mass):
    light, heavy = Crate("light", (1.0, 0.0, 0.2), mass=mass), Crate("heavy", (1.0, 1.0, 0.2), mass=mass * 1.01)
    scene = scene_of(light, heavy, cup("can", mass=mass / 5), cup("pot", (0.0, 1.0, 0.05), mass / 4.9), size=size)
    assert refusal(scene, "lift light; put it down; pick up can") == ""
    assert "lifts" in refusal(scene, "lift heavy")
    assert "with one hand" in refusal(scene, "pick up pot")


@pytest.mark.parametrize(
    ("mass", "friction", "slides"), [(80, 0.2, True), (300, 0.8, False), (300, 0.1, True), (150, 0.3, False)]
)
def test_what_is_pushed_goes_with_weight_and_friction(mass, friction, slides):
    scene = scene_of(block(mass=mass, friction=friction))
    for text in ("push block 1 m", "pull block 1 m"):
        assert ("slides at" not in refusal(scene, text)) == slides


def test_slippery_ground_gives_less_force():
    slippery = Scene(biped(), [block()], Ground(friction=0.1))
    assert "with 69 N at most here" in refusal(slippery, "push block 1 m")


def test_height():
    top = limits_of(scene_of()).shoulder + limits_of(scene_of()).long_arm
    for height, reached in ((top - 0.1, True), (top + 0.02, False)):
        shelf = Box("shelf", (1.0, 0.0, (height - 0.05) / 2), (0.01, 0.5, (height - 0.05) / 2))
        scene = scene_of(shelf, cup(middle=(1.0, 0.0, height)))
        why = refusal(scene, "pick up cup")
        assert (why == "") == reached
    assert "the handles of 'cup' are 1.99 m high; this body reaches 1.97 m" in why
    assert "reaches" in refusal(scene_of(cup(middle=(1.0, 0.0, 1.5)), size=0.5), "pick up cup")


def test_depth_on_a_table():
    for depth, reached in ((0.3, True), (0.9, False)):
        table = Box("table", (3.0, 0.0, 0.4), (1.0, 1.0, 0.4))
        why = refusal(scene_of(table, cup(middle=(2.0 + depth, 0.0, 0.85))), "pick up cup")
        assert (why == "") == reached
    assert "handles of 'cup' are 0.90 m from where one can stand, 0.85 m high; this body reaches 0.61 m ahead" in why


def test_width_and_depth_of_a_crate():
    def crate(half, y):
        return scene_of(Crate("crate", (3.0, 0.0, 0.2), half, handles=((0.0, y, 0.1), (0.0, -y, 0.1))))

    assert refusal(crate((0.2, 0.5, 0.2), 0.5), "lift crate") == ""
    assert "handles of 'crate' are 1.60 m apart; this body reaches 1.46 m" in refusal(
        crate((0.2, 0.8, 0.2), 0.8), "lift crate"
    )
    assert "0.80 m from where one can stand" in refusal(crate((0.8, 0.2, 0.2), 0.2), "lift crate")


def stairs(rise, n=3):
    """Steps that begin 1 m ahead, 0.4 m deep, and a landing."""
    boxes = [
        Box(f"step{i}", (1.2 + 0.4 * i, 0.0, rise * (i + 1) / 2), (0.2, 1.0, rise * (i + 1) / 2), ground=True)
        for i in range(n)
    ]
    top = rise * (n + 1)
    return [*boxes, Box("landing", (2.0 + 0.4 * n, 0.0, top / 2), (1.0, 1.0, top / 2), ground=True)]


def test_stairs():
    scene = scene_of(*stairs(0.15), Crate("crate", (3.0, 0.0, 0.8)))
    assert check_way(scene, (0.0, 0.0), (3.0, 0.0)) == pytest.approx(0.6)
    assert check_way(scene, (3.0, 0.0), (0.0, 0.0)) == 0.0
    assert refusal(scene, "go to 3 0; lift crate; carry it to 0 0; go to 3 0") == ""
    assert refusal(scene_of(*stairs(0.15), size=0.35 / 0.55), "go to 3 0") == ""
    assert "a step of 0.60 m; this body steps 0.26 m" in refusal(
        scene, "go to 0 2; go to 3 2; go to 3 0"
    )  # from beside
    for rise, passed in ((0.25, True), (0.27, False), (0.5, False)):
        steep = scene_of(*stairs(rise))
        assert (f"a step of {rise:.2f} m" not in refusal(steep, "go to 3 0")) == passed
        assert (refusal(steep, "go to 3 0") == "") == passed


@pytest.mark.parametrize(
    ("thick", "high", "passed"), [(0.3, 0.45, True), (0.3, 0.49, False), (0.7, 0.45, False), (0.7, 0.25, True)]
)
def test_ground_is_stepped_over_where_it_is_thin(thick, high, passed):
    step = Box("step", (5.0, 0.0, 0.075), (2.0, 1.0, 0.075), ground=True)
    top = high + 0.15
    hurdle = Box("hurdle", (5.0, 0.0, top / 2), (thick / 2, 1.0, top / 2), ground=True)
    for way in ("go to 9 0", "go to 9 0; go to 0 0"):
        assert (refusal(scene_of(step, hurdle), way) == "") == passed


def test_obstacles_are_stepped_over_and_ducked_under():
    step, duck = highest_step(scene_of()), lowest_duck(scene_of())
    for low, high, passed in (
        (0.0, step - 0.01, True), (0.0, step + 0.01, False), (duck + 0.01, 3.0, True), (duck - 0.01, 3.0, False),
        (0.2, step + 0.01, False),
    ):  # fmt: skip
        bar = Box("bar", (2.0, 0.0, (low + high) / 2), (0.1, 1.0, (high - low) / 2))
        assert ("box 'bar' is on the straight way" not in refusal(scene_of(bar), "go to 4 0")) == passed
        assert refusal(scene_of(bar), "go to 4 4") == ""
        assert refusal(scene_of(bar), "go to bar") == ""


def test_turned_boxes():
    box = Box("box", (1.0, 1.0, 0.5), (1.0, 0.1, 0.5), turn=math.pi / 4)
    assert depth_in(box, (1.5, 1.5)) == pytest.approx(0.1)
    assert depth_in(box, (1.5, 0.5)) < 0
    scene = scene_of(box)
    with pytest.raises(UserError, match="'box' is on the straight way"):
        check_way(scene, (1.0, 0.0), (0.0, 1.5))
    check_way(scene, (1.0, 0.0), (3.0, 1.5))


def test_things_are_where_the_state_says():
    scene = scene_of(cup(middle=(1.0, 0.0, 3.0)))
    assert "reaches" in refusal(scene, "pick up cup")
    check_acts(scene, [PickUp("cup")], state=scene.placed(scene.state(), "cup", (1.0, 0.0, 0.05)))


def test_what_is_put_down_is_down():
    shelf = Box("shelf", (-1.0, 0.0, 0.45), (0.3, 0.5, 0.45))
    scene = scene_of(shelf, cup(middle=(-0.9, 0.0, 0.95)), Box("wall", (2.0, 0.0, 0.5), (0.1, 1.0, 0.5)))
    assert refusal(scene, "pick up cup; carry it to 1 0; pick up cup") == ""
    why = refusal(scene, "pick up cup; carry it to 1 2; carry it to 1 0")
    assert why.startswith("act 3") and "nothing is held" in why


def test_a_script_may_begin_with_full_hands():
    scene = scene_of(Crate("crate", (0.4, 0.0, 0.9)), cup())
    sims = Sims(scene, nsim=1)
    sims.load(scene.state())
    walker = Walker(scene)
    walker.start(sims)
    assert held_in(scene, sims.state[0]) == ()
    walker.hold(sims, 0, 0, 0)
    walker.hold(sims, 0, 1, 3)
    assert held_in(scene, sims.state[0]) == ("crate",)
    check_acts(scene, parse("carry it to 3 1"), ("crate",), sims.state[0])
    with pytest.raises(UserError, match="the hands are full: they hold 'crate'"):
        check_acts(scene, parse("pick up cup"), ("crate",))
    with pytest.raises(UserError, match="no prop 'box'"):
        check_acts(scene, parse("put it down"), ("box",))
    assert held_in(scene_of(), scene_of().state()) == ()


def test_nothing_is_changed(room):
    state = room.state()
    before = state.copy()
    check_acts(room, parse("lift crate; carry it to 3 1; pick up cup"), state=state)
    np.testing.assert_array_equal(state, before)
