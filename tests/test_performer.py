"""The performer: how scripts go on, end and fork; the acts themselves as far as a short test can tell."""

import math

import numpy as np
import pytest

from tumble.characters import biped
from tumble.errors import UserError
from tumble.goals.wants import Do, Go
from tumble.live.session import Session
from tumble.skills import memory as own
from tumble.skills.performer import Performer
from tumble.walking import Walker
from tumble.world.props import Box, Crate
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

GROUND = Ground(friction=0.8)


def cup(x: float, y: float = 0.0, z: float = 0.05, mass: float = 0.4) -> Crate:
    return Crate("cup", (x, y, z), (0.04, 0.04, 0.05), mass, handles=((0.0, 0.0, 0.0),))


@pytest.fixture(scope="module")
def scene() -> Scene:
    """A biped, a cup on the floor ahead, and a crate that is too heavy to lift."""
    return Scene(biped(), [cup(1.2), Crate("crate", (0.0, 3.0, 0.2), mass=150.0)], GROUND)


@pytest.fixture(scope="module")
def performer(scene) -> Performer:
    return Performer(Walker(scene))


def told(scene: Scene, performer: Performer, script: str, nsim: int = 1) -> Sims:
    """Simulations that stand, with a script to do."""
    sims = Sims(scene, nsim, 1)
    sims.use(performer.drive)
    sims.load(scene.state())
    performer.start(sims)
    performer.want(sims, Do(script))
    return sims


def go(sims: Sims, performer: Performer, seconds: float) -> None:
    for _ in range(round(seconds / sims.scene.dt)):
        sims.act(performer.control(sims), performer.drive)


def test_acts_advance_one_after_the_other(scene, performer):
    sims = told(scene, performer, "wait 0.1; walk at 0.5; wait 0.2; go to 0 0")
    memory = sims.memory(own.MEMORY)[0]
    seen = []
    for _ in range(15):
        sims.act(performer.control(sims), performer.drive)
        seen.append((int(memory.act), performer.report().doing))
    acts = [act for act, _ in seen]
    assert acts == sorted(acts) and set(acts) == {0, 1, 2, 3, 4}
    assert {doing for _, doing in seen} >= {"wait 0.1 s", "wait 0.2 s", ""}
    assert performer.done(sims) and memory.act == 4
    assert memory.pace == 0.5
    assert acts.index(1) * scene.dt == pytest.approx(0.1, abs=1.01 * scene.dt)  # acts are looked at once a frame


def test_walking_somewhere_ends_there_on_both_feet(scene, performer):
    sims = told(scene, performer, "go to 0.8 0.5")
    go(sims, performer, 8.0)
    assert performer.done(sims)
    assert sims.view("qpos")[0, :2] == pytest.approx([0.8, 0.5], abs=0.3)
    assert sims.view("qpos")[0, 2] > 0.75


def test_turning_on_the_spot_ends_facing_there(scene, performer):
    sims = told(scene, performer, "turn to 90")
    go(sims, performer, 8.0)
    assert performer.done(sims)
    w, x, y, z = sims.view("qpos")[0, 3:7]
    assert math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) == pytest.approx(math.pi / 2, abs=0.2)
    assert np.hypot(*sims.view("qpos")[0, :2]) < 0.4  # steps of a turn go somewhere


@pytest.mark.parametrize("wish", [Go(speed=0.3), Go(heading=0.5)])
def test_a_speed_or_a_heading_ends_a_script(scene, wish):
    session = Session(scene, Performer(Walker(scene)), scene.state())
    session.send(Do("pick up cup"))
    for _ in range(12):
        session.step()
    assert session.controller.report().doing == "pick up cup"
    session.send(wish)
    session.step()
    assert (session.controller.script, session.controller.report().doing) == ((), "")
    for _ in range(30):
        session.step()
    assert session.world.view("qpos")[0, 2] > 0.75


def test_other_wishes_go_along(scene):
    session = Session(scene, Performer(Walker(scene)), scene.state())
    session.send(Do("wait 1"))
    session.step()
    session.send(Go(style="sneak"))
    session.step()
    assert session.controller.report().doing == "wait 1 s"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("lift crate", "act 1, 'lift crate'"),
        ("wait 1; pick up cup; pick up cup", "act 3, 'pick up cup': 'cup' is in the hands already"),
        ("put it down", "act 1, 'put it down': nothing is held"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_moves(scene, script, message):
    session = Session(scene, Performer(Walker(scene)), scene.state())
    session.step()
    before = session.world.state.copy()
    with pytest.raises(UserError, match=message):
        session.send(Do(script))
        session.step()
    assert session.controller.script == ()
    assert np.array_equal(session.world.state, before)
    for _ in range(30):
        session.step()
    assert session.world.view("qpos")[0, 2] > 0.75
    assert np.hypot(*session.world.view("qpos")[0, :2]) < 0.05


def test_a_fork_in_the_middle_of_an_act_goes_on_the_same(scene, performer):
    sims = told(scene, performer, "pick up cup", 2)
    performer.walker.wish(sims, rows=[1], style="sneak")
    go(sims, performer, 3.0)
    assert not np.array_equal(sims.state[0], sims.state[1])
    sims.load(sims.state[[0, 0]])  # `take`, with sensors that are current
    go(sims, performer, 2.0)
    assert np.array_equal(sims.state[0], sims.state[1])
    alone = told(scene, performer, "pick up cup")
    go(alone, performer, 5.0)
    assert np.array_equal(alone.state[0], sims.state[0])


def test_who_resumes_begins_the_act_anew_that_it_was_at(scene, performer):
    sims = told(scene, performer, "wait 0.1; pick up cup")
    go(sims, performer, 1.0)
    memory = sims.memory(own.MEMORY)[0]
    assert memory.act == 1 and memory.notes.decided == 1 and memory.clock > 0
    script = performer.script
    performer.resume(sims)
    assert (memory.act, memory.stage, memory.clock, memory.notes.decided) == (1, 0, 0, 0)
    assert performer.script == script and not performer.done(sims)


def test_the_same_script_gives_the_same_bits(scene):
    states = []
    for _ in range(2):
        performer = Performer(Walker(scene))
        sims = told(scene, performer, "go to 0.5 -0.5; turn to 40; pick up cup")
        go(sims, performer, 6.0)
        states.append(sims.state[0].copy())
    assert np.array_equal(*states)


def test_it_picks_up_a_cup_on_its_way():
    """From a post, in passing."""
    cup = Crate("cup", (2.2, 0.8, 1.2), half=(0.04, 0.04, 0.05), mass=0.4, handles=((0.0, 0.0, 0.0),))
    scene = Scene(biped(), [cup, Box("post", (2.2, 0.8, 0.575), (0.02, 0.02, 0.575))], GROUND)
    performer = Performer(Walker(scene))
    sims = told(scene, performer, "pick up cup")
    go(sims, performer, 12.0)
    assert performer.done(sims)
    assert performer.walker.holding(sims, 0, 0) is not None or performer.walker.holding(sims, 0, 1) is not None
    assert sims.view("cup.pos")[0, 2] > 0.7
    assert sims.view("qpos")[0, 2] > 0.75
