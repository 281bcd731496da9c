"""The performer: how scripts go on, end and fork; the acts themselves as far as a short test can tell."""

import numpy as np
import pytest

from tumble.characters import biped
from tumble.errors import UserError
from tumble.live.commands import Do, Walk
from tumble.live.session import Session
from tumble.scenarios import SCENARIOS, run_trial
from tumble.scenarios.walking import walking_scene
from tumble.skills import memory as own
from tumble.skills.actor import TICK
from tumble.skills.performer import Performer
from tumble.skills.script import parse
from tumble.walking import Walker
from tumble.world.props import Box, Crate
from tumble.world.scene import Scene
from tumble.world.sims import Sims


def cup(x: float, y: float = 0.0, z: float = 0.05, mass: float = 0.4) -> Crate:
    return Crate("cup", (x, y, z), (0.04, 0.04, 0.05), mass, handles=((0.0, 0.0, 0.0),))


@pytest.fixture(scope="module")
def scene() -> Scene:
    """A biped, a cup on the floor ahead, and a crate that is too heavy to lift."""
    return walking_scene(biped(), [cup(1.2), Crate("crate", (0.0, 3.0, 0.2), mass=150.0)])


@pytest.fixture(scope="module")
def performer(scene) -> Performer:
    return Performer(Walker(scene))


def told(scene: Scene, performer: Performer, script: str, nsim: int = 1) -> Sims:
    """Simulations that stand, with a script to do."""
    sims = Sims(scene, nsim, 1)
    sims.load(scene.state())
    performer.start(sims)
    performer.set_script(sims, parse(script))
    return sims


def go(sims: Sims, performer: Performer, seconds: float) -> None:
    for _ in range(round(seconds / sims.scene.dt)):
        sims.act(performer.control(sims))


def test_acts_advance_one_after_the_other(scene, performer):
    sims = told(scene, performer, "wait 0.1; walk at 0.5; wait 0.2; go to 0 0")
    memory = sims.view("userdata")[0]
    seen = []
    for _ in range(250):
        sims.act(performer.control(sims))
        seen.append((int(memory[own.ACT]), performer.doing))
    acts = [act for act, _ in seen]
    assert acts == sorted(acts) and set(acts) == {0, 1, 2, 3, 4}
    assert {doing for _, doing in seen} >= {"wait 0.1 s", "wait 0.2 s", ""}
    assert performer.done(sims) and memory[own.ACT] == 4
    assert memory[own.PACE] == 0.5
    assert acts.index(1) * scene.dt == pytest.approx(0.1, abs=1.01 * TICK * scene.dt)


def test_walking_somewhere_ends_there_on_both_feet(scene, performer):
    sims = told(scene, performer, "go to 0.8 0.5; turn to 90")
    go(sims, performer, 15.0)
    assert performer.done(sims)
    assert sims.view("qpos")[0, :2] == pytest.approx([0.8, 0.5], abs=0.3)
    assert sims.view("qpos")[0, 2] > 0.75


@pytest.mark.parametrize("wish", [Walk(speed=0.3), Walk(heading=0.5)])
def test_a_speed_or_a_heading_ends_a_script(scene, wish):
    session = Session(scene, Performer(Walker(scene)), scene.state())
    session.send(Do("pick up cup"))
    for _ in range(200):
        session.step()
    assert session.controller.doing == "pick up cup"
    session.send(wish)
    session.step()
    assert (session.controller.script, session.controller.doing) == ((), "")
    for _ in range(500):
        session.step()
    assert session.world.view("qpos")[0, 2] > 0.75


def test_other_wishes_go_along(scene):
    session = Session(scene, Performer(Walker(scene)), scene.state())
    session.send(Do("wait 1"))
    session.step()
    session.send(Walk(style="sneak"))
    session.step()
    assert session.controller.doing == "wait 1 s"


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
    for _ in range(500):
        session.step()
    assert session.world.view("qpos")[0, 2] > 0.75
    assert np.hypot(*session.world.view("qpos")[0, :2]) < 0.05


def test_a_fork_in_the_middle_of_an_act_goes_on_the_same(scene, performer):
    sims = told(scene, performer, "pick up cup", 2)
    performer.walker.wish(sims, rows=[1], style="sneak")
    go(sims, performer, 3.013)  # in between ticks
    assert not np.array_equal(sims.state[0], sims.state[1])
    sims.load(sims.state[[0, 0]])  # `take`, with sensors that are current
    go(sims, performer, 2.0)
    assert np.array_equal(sims.state[0], sims.state[1])
    alone = told(scene, performer, "pick up cup")
    go(alone, performer, 5.013)
    assert np.array_equal(alone.state[0], sims.state[0])


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
    scene = walking_scene(biped(), [cup, Box("post", (2.2, 0.8, 0.575), (0.02, 0.02, 0.575))])
    performer = Performer(Walker(scene))
    sims = told(scene, performer, "pick up cup")
    go(sims, performer, 12.0)
    assert performer.done(sims)
    assert performer.walker.holding(sims, 0, 0) is not None or performer.walker.holding(sims, 0, 1) is not None
    assert sims.view("cup.pos")[0, 2] > 0.7
    assert sims.view("qpos")[0, 2] > 0.75


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_it_picks_cups_up_four_times_of_six():
    """A controller that succeeds in 9 of 10 trials has 4 or more of 6 with a probability of 0.98."""
    scenario, successes = SCENARIOS["pick-up"](), 0
    for seed in range(1000, 1006):
        scene = scenario.scene(biped(), seed)
        successes += run_trial(scenario, scene, Performer(Walker(scene)), seed).success
    assert successes >= 4


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_it_pulls_crates_four_times_of_six_and_no_further_than_told():
    """Of 24 crates (seeds 0 to 11 and 40 to 51) all came 1.5 to 1.65 m; the rate is that of the test above."""
    scenario, results = SCENARIOS["crate-pull"](), []
    for seed in range(40, 46):
        scene = scenario.scene(biped(), seed)
        results.append(run_trial(scenario, scene, Performer(Walker(scene)), seed))
    done = [result.metrics for result in results if result.success]
    assert len(done) >= 4
    assert np.median([metrics["along"] for metrics in done]) < 1.7
    assert np.median([metrics["peak_torque"] for metrics in done]) < 400.0
