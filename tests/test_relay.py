"""Relay: who acts, handovers that change no bit of the body, wants that are kept, and a judge that looks at copies."""

import numpy as np
import pytest

from tumble.characters import biped, character
from tumble.controllers import CONTROLLERS
from tumble.controllers.relay import MEMORY, RISING, WALKING, Relay, RelaySettings
from tumble.errors import UserError
from tumble.goals.wants import Balance, Do, Go, Juggle
from tumble.live.commands import Push, SetParameter
from tumble.live.recording import Recorder
from tumble.live.session import Session
from tumble.scenarios import SCENARIOS, Trial
from tumble.scenarios.history import History
from tumble.world.props import Crate
from tumble.world.scene import Scene
from tumble.world.sims import Sims

CHEAP = {"samples": 8, "horizon": 0.2}
KNOCK = Push("torso", (2500.0, 0.0, 0.0), seconds=0.2)


@pytest.fixture(scope="module")
def scene() -> Scene:
    """The biped on the ground."""
    return Scene(biped())


def made(scene: Scene, **settings) -> Relay:
    """A relay whose planner has few samples."""
    relay = CONTROLLERS["relay"].make(scene, RelaySettings(**settings), 0, 1)
    relay.rising.set_parameters(CHEAP)
    return relay


def told_to_rise(scene: Scene) -> np.ndarray:
    """A state of who stands, in which the planner has been acting."""
    sims, relay = Sims(scene, 1, 1), made(scene)
    sims.load(scene.state())
    relay.start(sims)
    sims.memory(MEMORY).rising[0] = 1
    return sims.state[0].copy()


@pytest.fixture(scope="module")
def knocked(scene):
    """Frames of who is knocked over while it walks; the session, its history and its recorder."""
    session = Session(scene, made(scene), scene.state(), Go(speed=0.4, heading=0.0))
    history, recorder = History(scene, session.wanted), Recorder(session, "test", "relay", 0)
    session.listeners.append(history)
    frames = []
    for i in range(40):
        if i == 15:
            session.send(KNOCK)
        frames.append(session.step())
    return session, history, recorder, frames


def test_who_acts_is_in_frames_histories_and_recordings(knocked):
    session, history, recorder, frames = knocked
    acting = [frame.acting for frame in frames]
    turn = acting.index(RISING)
    assert 15 < turn < 35 and acting == [WALKING] * turn + [RISING] * (len(acting) - turn)
    assert history.acting.tolist() == acting
    recording = recorder.recording
    assert [recording.header.acting[i] for i in recording.parts[0].acting] == acting
    assert session.controller.report().acting == RISING
    assert session.controller.report().doing == "getting up"
    for frame in frames:  # each with its own drive
        assert (frame.law, frame.drive) == ((True, "torque") if frame.acting == WALKING else (False, "servo"))


def test_the_planner_takes_over_before_the_body_is_down(knocked):
    _, history, _, frames = knocked
    turn = [frame.acting for frame in frames].index(RISING)
    assert history.only_feet[:turn].all()
    assert history.height[turn - 1] > RelaySettings().down


def test_nobody_is_ever_left_without_a_controller(knocked):
    session, _, _, frames = knocked
    for frame in frames:
        assert frame.acting in (WALKING, RISING)
        assert frame.control.shape == (session.scene.drives[frame.drive].size,)
        assert np.isfinite(frame.control).all() and np.isfinite(frame.state).all() and not frame.broken


@pytest.mark.parametrize("way", [RISING, WALKING])
def test_a_handover_leaves_position_and_velocity_to_the_last_bit(scene, way):
    """Whatever is handed over, `control` moves nothing: only `act` does."""
    relay, sims = made(scene), Sims(scene, 1, 1)
    sims.load(scene.state())
    relay.start(sims)
    relay.want(sims, Go(speed=0.4))
    if way == WALKING:
        sims.load(told_to_rise(scene))
    handed = 0
    for i in range(30):
        if way == RISING and i == 8:
            sims.view("qvel")[0, 0] += 3.0
            sims.load(sims.state.copy())
        who = relay.report().acting if i else None
        before = [sims.view(name).copy() for name in ("qpos", "qvel", "time")]
        control = relay.control(sims)
        for name, value in zip(("qpos", "qvel", "time"), before, strict=True):
            assert sims.view(name).tobytes() == value.tobytes()
        if who not in (None, relay.report().acting):
            handed += 1
            assert relay.report().acting == way
            assert relay.drive is (relay.rising if way == RISING else relay.walking).drive
            break
        sims.act(control, relay.drive)
    assert handed == 1


@pytest.mark.parametrize("lying", ["supine", "prone"])
def test_who_lies_rises_first(scene, lying):
    session = Session(scene, made(scene), scene.state("t-pose", lying=lying), Go(speed=0.5))
    for _ in range(3):
        frame = session.step()
        assert (frame.acting, frame.drive) == (RISING, "servo")
    assert session.wanted == Go(speed=0.5)
    assert "height" in session.controller.report().names  # it plans for balance


def test_who_stands_walks_first(scene):
    frame = Session(scene, made(scene), scene.state(), Balance()).step()
    assert (frame.acting, frame.drive) == (WALKING, "torque")


def test_a_want_that_comes_while_it_rises_is_followed_afterwards(scene):
    """The planner stands it there for a moment; then it walks as it was told meanwhile."""
    session = Session(scene, made(scene), scene.state(), Balance())
    session.world.load(told_to_rise(scene))
    session.step()
    assert session.controller.report().acting == RISING
    session.send(Go(speed=0.6, heading=0.0, style="happy"))
    frames = [session.step() for _ in range(25)]
    acting = [frame.acting for frame in frames]
    assert acting[0] == RISING and acting[-1] == WALKING
    calm = (acting.index(WALKING) + 2) * scene.dt  # with the frame before, and the look that hands over
    assert 0 <= calm - RelaySettings().settle + 1e-9 < 5 * scene.dt
    before = session.world.view("com")[0, 0]
    for _ in range(75):
        frame = session.step()
        assert frame.acting == WALKING
    assert session.world.view("com")[0, 0] - before > 0.8  # m in 2.5 s
    assert session.wanted == Go(speed=0.6, heading=0.0, style="happy")


def test_who_is_not_calm_is_not_handed_to_the_walker(scene):
    session = Session(scene, made(scene, settle=0.3), scene.state(), Balance())
    session.world.load(told_to_rise(scene))
    for i in range(12):
        if i % 4 == 0:  # shaken
            session.send(Push("torso", (0.0, 900.0 * (-1) ** (i // 4), 0.0), seconds=2 * scene.dt))
        assert session.step().acting == RISING


def test_a_relay_refuses_what_its_walker_does_whoever_acts(scene):
    for state in (scene.state(), told_to_rise(scene)):
        session = Session(scene, made(scene), scene.state())
        session.world.load(state)
        session.step()
        with pytest.raises(UserError, match="a walker does not juggle; controllers that take it: cpbp"):
            session.send(Juggle())


def test_a_relay_of_another_body_begins():
    trial = Trial(SCENARIOS["walk-push"](), 0, "relay", character("beast1"))
    for _ in range(10):
        frame = trial.step()
        assert frame.acting == WALKING and not frame.broken
    assert trial.history.downs() == 0


@pytest.mark.parametrize("rising", ["cpbp", "smc"])
def test_who_gets_it_up_is_a_setting(scene, rising):
    relay = made(scene, rising=rising)
    session = Session(scene, relay, scene.state("t-pose", lying="supine"), Balance())
    assert session.step().acting == RISING
    assert type(relay.rising.planner).__name__.lower() == rising


def test_a_tree_of_another_body_gets_nobody_up(scene):
    with pytest.raises(UserError, match="trees that ship are of the body 'humanoid25', here it is 'biped'"):
        made(scene, rising="tree")


def test_settings_are_changed_while_it_acts(scene):
    session = Session(scene, made(scene), scene.state(), Balance())
    session.send(SetParameter("tilt", 0.5))
    session.step()
    assert session.controller.settings.tilt == session.controller.judge.settings.tilt == 0.5
    with pytest.raises(UserError, match="tilt must be a number 0 or more and at most 100, got -1"):
        session.send(SetParameter("tilt", -1.0))
    with pytest.raises(UserError, match="no setting 'titl'"):
        session.send(SetParameter("titl", 1.0))


def test_memories_do_not_overlap(scene):
    made(scene)
    memory = scene.memory
    places = [memory.place(name) for name in memory.claims]
    taken = [i for place in places for i in range(place.start, place.stop)]
    assert {"walker", MEMORY} <= set(memory.claims)
    assert len(set(taken)) == len(taken) == sum(memory.claims.values()) <= memory.room


def test_what_one_remembers_the_other_does_not_touch(scene):
    sims, relay = Sims(scene, 1, 1), made(scene)
    sims.load(scene.state())
    relay.start(sims)
    userdata = sims.view("userdata")
    own = scene.memory.place(MEMORY)
    others = np.ones(userdata.shape[1], bool)
    others[own] = False
    before = userdata.copy()
    sims.memory(MEMORY)[0] = (1.0, 2.0, 3.0)
    assert userdata[0, own].tolist() == [1.0, 2.0, 3.0]
    assert np.array_equal(userdata[0, others], before[0, others])
    relay.walking.start(sims)
    relay.walking.want(sims, Go(speed=0.5))
    sims.act(relay.walking.control(sims), relay.walking.drive)
    assert userdata[0, own].tolist() == [1.0, 2.0, 3.0]
    assert not np.array_equal(userdata[0, others], before[0, others])


@pytest.mark.parametrize("fast", [0.0, 4.0])
def test_the_judge_looks_at_a_copy(scene, fast):
    """And tells who falls from who does not."""
    relay, sims = made(scene), Sims(scene, 1, 1)
    sims.load(scene.state())
    relay.start(sims)
    relay.want(sims, Balance())
    for _ in range(3):
        sims.act(relay.walking.control(sims), relay.walking.drive)
    sims.view("qvel")[0, 0] += fast
    sims.load(sims.state.copy())
    twin = Sims(scene, 1, 1)
    twin.use(relay.walking.drive)
    twin.load(sims.state)
    before = {name: sims.view(name).tobytes() for name in ("qpos", "qvel", "sensordata", "xpos", "userdata", "time")}
    state = sims.state.tobytes()
    assert relay.judge.falls(sims, relay.walking, 1.0) is (fast > 0)
    assert sims.state.tobytes() == state
    assert {name: sims.view(name).tobytes() for name in before} == before
    assert not sims.broken.any()
    for each in (sims, twin):  # what comes is as if nobody had looked
        for _ in range(5):
            each.act(relay.walking.control(each), relay.walking.drive)
    assert sims.state.tobytes() == twin.state.tobytes()


def test_up_down_and_calm(scene):
    judge, sims = made(scene).judge, Sims(scene, 1, 1)
    for state, up in ((scene.state(), True), (scene.state("t-pose", lying="supine"), False)):
        sims.load(state)
        assert judge.down(sims) is not up
        assert judge.calm(sims) is up
        assert (judge.height(sims) > 0.9) is up
        assert (judge.tilt(sims) < 0.1) is up
    sims.load(scene.state())
    sims.view("qvel")[0, 1] = 0.6
    sims.load(sims.state.copy())
    assert not judge.calm(sims) and not judge.down(sims)


def test_a_relay_goes_on_in_another_scene_whoever_acts(scene):
    for state, who in ((scene.state(), WALKING), (told_to_rise(scene), RISING)):
        session = Session(scene, made(scene), scene.state(), Go(speed=0.3))
        session.world.load(state)
        session.step()
        session.enter(Scene.from_recipe(scene.recipe))
        assert session.step().acting == who
        assert session.controller.judge._scene is session.scene


def test_who_bends_down_on_purpose_has_not_fallen():
    cup = Crate("cup", (1.2, 0.3, 0.06), half=(0.04, 0.04, 0.05), mass=0.4, handles=((0.0, 0.0, 0.0),))
    scene = Scene(character("biped"), [cup])
    session = Session(scene, made(scene, down=0.7), scene.state("rest"), Do("pick up cup"))
    heights, acting = [], set()
    while session.time < 14 and not session.controller.walking.done(session.world):
        acting.add(session.step().acting)
        heights.append(session.controller.judge.height(session.world))
    assert session.controller.walking.done(session.world) and acting == {"walking"}
    assert min(heights) < 0.7  # it did bend down
