"""Trial: events, responses, people who direct, sets that change, time that is turned back, and what a seed decides."""

from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from conftest import Still

from tumble.characters import biped, humanoid
from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.goals.wants import Balance, Do, Go, Reach
from tumble.live.commands import Explode, Push, Reset, Throw
from tumble.planners import CPBPSettings
from tumble.scenarios import SCENARIOS, Scenario, Setup, Trial, run_trial
from tumble.scenarios.trial import DENSITY, RECALL, THROWN
from tumble.world.placing import lowest as lowest_point
from tumble.world.props import Ball, Box
from tumble.world.scene import Scene

DT = 1 / 30
PUSH, LATE = Push("torso", (30.0, 0.0, 0.0)), Push("torso", (0.0, 30.0, 0.0), seconds=DT)
FIRST, SECOND, THIRD = Go(speed=0.2, heading=0.0), Go(speed=0.4), Go(heading=1.0)


@dataclass(frozen=True)
class Busy(Scenario):
    """Pushes and wants at odd times, and a push whenever the tenth frame has passed."""

    name: ClassVar[str] = "busy"
    summary: ClassVar[str] = "much happens"

    def wants(self):
        return FIRST

    def setup(self, scene, rng):
        events = [(7.5 * DT, PUSH), (4 * DT, SECOND), (12 * DT, THIRD), (0.0, LATE)]  # in any order

        def respond(history):
            return [LATE] if history.frames == 10 else []

        return Setup(scene.state(), 20 * DT, events, respond)


def made(scene: Scene, scenario: Scenario | None = None, **more) -> Trial:
    """A trial whose controller holds the pose and takes any want."""
    return Trial(scenario or Busy(), 0, scene=scene, made=Still(scene), **more)


def heard(trial: Trial) -> list[tuple[int, object]]:
    """Frames and commands, as its history has them."""
    return [(round(when / DT), command) for when, command in trial.history.commands]


def run(trial: Trial, frames: int) -> list[np.ndarray]:
    """The states after each of so many frames."""
    return [trial.step().state for _ in range(frames)]


ALL = [(0, LATE), (4, SECOND), (8, PUSH), (10, LATE), (12, THIRD)]


# Events, responses, people --------------------------------------------------------------------------


def test_events_and_responses_come_when_they_are_due(scene):
    trial = made(scene)
    while not trial.over:
        trial.step()
    assert heard(trial) == ALL
    assert trial.told == 5 and not trial.directed
    assert trial.session.wanted == Go(speed=0.4, heading=1.0)
    assert trial.controller.wants == [FIRST, Go(speed=0.4, heading=0.0), Go(speed=0.4, heading=1.0)]
    assert trial.time == pytest.approx(trial.seconds) == pytest.approx(20 * DT)


def test_people_add_to_what_happens(scene):
    trial = made(scene)
    blast = Explode((1.0, 0.0, 0.0), 0.1)
    run(trial, 6)
    trial.send(blast)
    run(trial, 8)
    assert heard(trial) == sorted([*ALL, (6, blast)], key=lambda one: one[0])
    assert not trial.directed and trial.told == 5  # by the scenario


def test_who_says_what_is_wanted_directs(scene):
    """From then on, the scenario wants nothing; what it does to the character it still does."""
    trial = made(scene)
    run(trial, 6)
    mine = Reach((0.4, 0.2, 1.3))
    trial.send(mine)
    assert trial.directed
    run(trial, 14)
    assert heard(trial) == [(0, LATE), (4, SECOND), (6, mine), (8, PUSH), (10, LATE)]
    assert trial.session.wanted == mine
    assert trial.told == 4


def test_what_is_refused_directs_nobody(scene):
    trial = Trial(Busy(), 0, "cpbp", settings=CPBPSettings(samples=4, horizon=0.1), threads=1, scene=scene)
    with pytest.raises(UserError, match="planners do no scripts; controllers that take it: walker, relay"):
        trial.send(Push("torso", (1.0, 0.0, 0.0)), Do("wait 1 s"))
    assert not trial.directed
    run(trial, 5)
    assert heard(trial) == ALL[:2]


def test_a_want_instead_of_the_scenarios(scene):
    trial = made(scene, want=Balance())
    assert trial.directed
    run(trial, 14)
    assert heard(trial) == [(0, LATE), (8, PUSH), (10, LATE)]
    assert trial.controller.wants == [Balance()]


def test_a_duration_instead_of_the_scenarios(scene):
    trial = made(scene, seconds=5 * DT)
    result = run_trial(trial)
    assert (result.frames, result.finished) == (5, True)


# What is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Trial(Busy(), -1), "seed must be a number 0 or more"),
        (lambda: Trial(Busy(), 0, "cpb"), "no controller 'cpb'; there are: .*did you mean 'cpbp'"),
        (
            lambda: Trial(Busy(), 0, "walker", humanoid()),
            "needs a body with: .*'humanoid' has none, choose: biped",
        ),
        (lambda: Trial(Busy(), 0, seconds=0.0), r"seconds must be a number 0\.0333333 or more and at most 86400"),
        (lambda: Trial(Busy(), 0, want=Do("wait 1 s")), "planners do no scripts; controllers that take it: walker"),
    ],
)
def test_bad_trials(call, message):
    with pytest.raises(UserError, match=message):
        call()


def test_the_first_body_that_suits_the_controller_is_taken():
    assert Trial(Busy(), 0).scene.character.name == "humanoid"
    assert Trial(Busy(), 0, "walker").scene.character.name == "biped"
    assert Trial(Busy(), 0, "cpbp", biped()).scene.character.name == "biped"


# Sets that change -----------------------------------------------------------------------------------


def test_a_thrown_ball_flies_and_all_else_goes_on(scene):
    trial = made(scene)
    states = run(trial, 6)
    history, session, com = trial.history, trial.session, trial.history.of("com").copy()
    trial.throw((2.0, 1.0, 0.0), (-5.0, 0.0, 2.0), mass=4.0)
    assert (trial.history, trial.session, trial.time) == (history, session, pytest.approx(6 * DT))
    assert trial.session.world.view("qpos")[0, : scene.model.nq] == pytest.approx(states[-1][1 : 1 + scene.model.nq])
    ball = trial.scene.prop(THROWN, Ball)
    assert ball.mass == pytest.approx(4 / 3 * np.pi * ball.radius**3 * DENSITY)
    trial.step()
    assert trial.history.commands[-1][1] == Throw((2.0, 1.0, ball.radius), (-5.0, 0.0, 2.0), THROWN)
    assert trial.history.of(f"{THROWN}.pos")[-1] == pytest.approx([2 - 5 * DT, 1, ball.radius + 2 * DT], abs=0.02)
    assert np.array_equal(trial.history.of("com")[:6], com)
    assert not trial.directed
    scenes = [trial.scene]
    trial.throw((2.0, 1.0, 1.0), (-5.0, 0.0, 2.0), mass=4.0)  # the same ball again
    trial.step()
    scenes.append(trial.scene)
    trial.throw((2.0, 1.0, 1.0), (-5.0, 0.0, 2.0), mass=5.0)
    trial.step()
    scenes.append(trial.scene)
    assert scenes[0] is scenes[1] is not scenes[2]
    assert [prop.mass for prop in trial.scene.props] == [5.0]
    run(trial, 6)
    assert [pair for pair in heard(trial) if not isinstance(pair[1], Throw)] == ALL
    assert trial.history.frames == 15


def test_things_are_placed_and_removed_while_it_runs(scene):
    trial = made(scene)
    run(trial, 3)
    wall = Box("wall", (2.0, 0.0, 0.5), (0.1, 1.0, 0.5))
    trial.place(wall)
    trial.place(Ball("toy"))
    run(trial, 3)
    assert trial.scene.props == (wall, Ball("toy"))
    taller = replace(wall, half=(0.1, 1.0, 0.4))
    trial.place(taller)
    run(trial, 1)
    assert trial.scene.props == (Ball("toy"), taller)
    trial.remove("toy")
    run(trial, 6)
    assert trial.scene.props == (taller,)
    assert (trial.history.frames, trial.session.index) == (13, 13)
    assert heard(trial) == ALL
    with pytest.raises(UserError, match="no prop 'toy' in the scene; there are: wall"):
        trial.remove("toy")
    trial.remove("wall")
    with pytest.raises(UserError, match="no prop 'wall' in the scene; there are: none"):
        trial.remove("wall")


def test_a_body_is_reshaped_while_it_runs():
    scene = Scene(biped())
    trial = Trial(Busy(), 0, "walker", scene=scene)
    run(trial, 6)
    before, low = trial.session.world.view("qpos")[0].copy(), lowest(trial)
    trial.reshape(biped("long", legs=1.1, arms=0.9))
    after = trial.session.world.view("qpos")[0]
    assert np.array_equal(after[7:], before[7:]) and np.array_equal(after[:2], before[:2])
    assert lowest(trial) == pytest.approx(low, abs=1e-9)  # feet on the ground
    assert after[2] > before[2] + 0.05
    run(trial, 8)
    assert heard(trial) == ALL
    assert (trial.scene.character.name, trial.history.frames, trial.history.downs()) == ("long", 14, 0)


def lowest(trial: Trial) -> float:
    """Height of the lowest point of the body, m."""
    data = trial.scene.show(trial.session.world.state[0])
    return lowest_point(trial.scene.model, data, trial.scene.root())


@pytest.mark.parametrize("mass", [0.0, -1.0, 501.0, float("nan")])
def test_balls_that_nobody_throws(scene, mass):
    trial = made(scene)
    with pytest.raises(UserError, match=r"mass of a ball must be a number 0\.1 or more and at most 500, got"):
        trial.throw((2.0, 0.0, 1.0), (0.0, 0.0, 0.0), mass)
    assert trial.scene is scene


# Time that is turned back ---------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [0, 1, 4, 5, 7, 8, 9, 10, 11, 12, 13])
def test_a_trial_that_is_rewound_goes_on_as_it_went(scene, frame):
    """History is cut, events and responses that are not in that state yet come again, and no others."""
    trial = made(scene)
    states = run(trial, 16)
    whole = heard(trial)
    forces = [command for _, command in whole if isinstance(command, Push)]
    start = trial.setup.state if frame == 0 else states[frame - 1]
    trial.rewind(trial.scene, start, frame * DT)
    assert (trial.session.index, trial.history.frames) == (frame, frame)
    assert heard(trial) == [pair for pair in whole if pair[0] < frame]
    assert trial.history.of("com").shape == (frame, 3)
    again = run(trial, 16 - frame)
    assert heard(trial) == whole == ALL
    assert forces
    assert trial.session.wanted == Go(speed=0.4, heading=1.0)
    if frame not in (9, 10):  # in the middle of a push, whose rest is not done again
        assert all(np.array_equal(one, two) for one, two in zip(again, states[frame:], strict=True))


def test_what_a_scenario_wanted_then_is_wanted_again(scene):
    trial = made(scene)
    states = run(trial, 16)
    trial.rewind(trial.scene, states[2], 3 * DT)
    assert trial.session.wanted == FIRST == trial.controller.wants[-1]
    assert [want for _, want in trial.history.wants] == [FIRST]


def test_what_people_want_stays_wanted(scene):
    trial = made(scene)
    states = run(trial, 10)
    trial.send(Balance())
    run(trial, 3)
    trial.rewind(trial.scene, states[2], 3 * DT)
    assert trial.session.wanted == Balance() == trial.controller.wants[-1]
    assert [want for _, want in trial.history.wants] == [FIRST, Balance()]
    run(trial, 12)
    assert heard(trial) == [(0, LATE), (8, PUSH), (10, LATE)]


def test_back_into_a_scene_of_before(scene):
    trial = made(scene)
    before, states = trial.scene, run(trial, 3)
    trial.throw((2.0, 0.0, 1.0), (-4.0, 0.0, 0.0), 4.0)
    states += run(trial, 3)
    trial.rewind(before, states[1], 2 * DT)
    run(trial, 4)
    assert trial.scene is trial.session.scene is before
    assert trial.history.scene is before and trial.history.frames == 6


def test_a_broken_trial_can_be_rewound(scene):
    trial = made(scene)
    states = run(trial, 3)
    trial.session.world.view("qvel")[0] = np.nan
    trial.step()
    assert trial.over and trial.history.broken
    trial.rewind(trial.scene, states[1], 2 * DT)
    assert not trial.over
    assert np.isfinite(run(trial, 3)[-1]).all()


def test_an_endless_trial_keeps_some_history(scene):
    trial = made(scene, Busy(), seconds=3600.0)
    forgotten = []
    trial.history.forget = forgotten.append  # noted instead
    run(trial, 2)
    trial.recall()
    assert forgotten == []
    trial.history.frames = round(2 * RECALL / DT) + 1
    trial.recall()
    assert forgotten == [RECALL]


# What a seed decides --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "controller"), [("push", "cpbp"), ("getup", "smc"), ("walk-push", "walker")])
def test_same_seed_same_bits_at_any_number_of_threads(name, controller):
    def went(seed: int, threads: int) -> list[bytes]:
        kind = CONTROLLERS[controller]
        settings = kind.settings(samples=8, horizon=0.2) if controller != "walker" else kind.settings()
        trial = Trial(SCENARIOS[name](), seed, controller, settings=settings, threads=threads)
        states = [trial.setup.state.tobytes()]
        for i in range(8):
            if i == 3:
                trial.throw((1.0, 0.0, 1.0), (-3.0, 0.0, 0.0), 3.0)
            if i == 5:
                trial.send(Reset())
            states.append(trial.step().state.tobytes())
        return states

    assert went(4, 1) == went(4, 2)
    if controller != "walker":
        assert went(4, 1) != went(5, 1)


def told_of(result) -> dict:
    """A result without wall times."""
    return {**asdict(result), "plan_seconds": len(result.plan_seconds)}


@pytest.mark.parametrize(("name", "controller"), [("stand", "cpbp"), ("push", "walker"), ("reach", "cem")])
def test_who_steps_a_trial_gets_the_result_of_running_it(name, controller):
    settings = CONTROLLERS[controller].settings(**({} if controller == "walker" else {"samples": 8, "horizon": 0.2}))
    one, two = (Trial(SCENARIOS[name](), 3, controller, settings=settings, threads=1, seconds=0.6) for _ in range(2))
    ran = run_trial(one)
    while not two.over:
        assert not two.result().success and not two.result().finished
        two.step()
    assert told_of(two.result()) == told_of(ran)
    assert (ran.frames, ran.finished) == (18, True)


def test_standing_still_is_a_success_by_either_way(scene):
    trial = Trial(SCENARIOS["stand"](), 0, scene=scene, made=Still(scene), seconds=1.0)
    assert run_trial(trial).success
