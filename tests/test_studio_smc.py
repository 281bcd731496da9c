"""The planner of whole plans in the studio: its way, stances, what it learns, heavy balls; one browser looks at it."""

from dataclasses import replace

import numpy as np
import pytest
from studio_browser import PATIENCE, Studio, Window, browser, until
from test_studio_stage import Seats, advance, directed, do

from tumble.errors import UserError
from tumble.goals.wants import Balance
from tumble.live.commands import SetParameter
from tumble.live.learning import Learning
from tumble.planners import CEMSettings, SMCSettings
from tumble.studio.choice import Choice
from tumble.studio.director import Director
from tumble.studio.panels import TOUCHES, learned_text
from tumble.studio.stage import Stage
from tumble.world.props import Ball

SMALL = SMCSettings(samples=6, horizon=0.4)  # a frame of a few milliseconds
STAND, DODGE = Choice("stand", controller="smc"), Choice("dodge", "humanoid-light", "smc")
READY = Balance(pose="ready", roll=False)


@pytest.fixture
def dodge() -> Director:
    """Ready for a sphere."""
    return directed(DODGE, 1, SMALL)


@pytest.fixture
def seats() -> Seats:
    return Seats()


@pytest.fixture
def stage(seats):
    """A stage on which somebody dodges, when it is told to advance."""
    stage = Stage(DODGE, seats, 1, SMALL)
    stage.start()
    yield stage
    stage.close()


# Stances --------------------------------------------------------------------------------------------


def test_a_scenario_says_how_to_stand(dodge):
    assert dodge.trial.session.asked == dodge.stance == READY
    assert dodge.balances and dodge.judges_plans
    heavy = directed(Choice("dodge-heavy", "humanoid-heavy", "smc"), 1, SMALL)
    assert heavy.stance == Balance(pose="ready", roll=True)
    plain = directed(Choice("steer"), 1)
    assert plain.stance == Balance() and not plain.balances and not plain.judges_plans


def test_another_stance_is_a_goal_of_the_next_frame(dodge):
    dodge.stand(pose="taiko")
    dodge.stand(roll=True)
    wanted = Balance(pose="taiko", roll=True)
    assert dodge.trial.session.asked == dodge.stance == wanted
    assert dodge.trial.step().commands == (wanted,)
    assert (dodge.trial.controller.goal.pose, [way.name for way in dodge.trial.controller.goal.ways]) == (
        "taiko", ["balance", "get up", "roll"]
    )  # fmt: skip
    assert dodge.trial.controller.latest.way in ("balance", "get up", "roll")


def test_a_stance_keeps_where_to_look():
    hand = directed(STAND, 1, SMALL)
    hand.send(Balance(facing=(0.0, 1.0)))
    hand.stand(pose="ready")
    assert hand.trial.session.asked == Balance(facing=(0.0, 1.0), pose="ready")


def test_a_pose_that_is_not_there_changes_nothing(dodge):
    for steered in (False, True):
        dodge.steer(float(steered), 0.0)
        with pytest.raises(UserError, match=r"no pose 'tako'; there are: .*did you mean 'taiko'"):
            dodge.stand(pose="tako")
        assert dodge.stance == READY


def test_who_reaches_has_no_stance_and_gets_it_back(dodge):
    dodge.stand(pose="taiko")
    dodge.want("reach")
    assert not dodge.balances
    with pytest.raises(UserError, match="only who balances has a stance, and this wants 'reach'; choose the goal 'bal"):
        dodge.stand(pose="rest")
    dodge.want("balance")
    assert dodge.trial.session.asked == Balance(pose="taiko", roll=False)


def test_a_stance_outlives_steering(dodge):
    dodge.steer(1.0, 0.0)
    assert dodge.balances and dodge.goal == "steer"
    dodge.stand(pose="taiko")
    assert dodge.goal == "steer"  # it goes on
    assert dodge.stance.pose == "taiko"
    dodge.steer(0.0, 0.0)
    assert dodge.trial.session.asked == Balance(pose="taiko", roll=False)
    dodge.want("steer")
    dodge.steer(0.0, 1.0)
    dodge.steer(0.0, 0.0)
    assert dodge.trial.session.asked == Balance(pose="taiko", roll=False)


def test_a_stance_outlives_other_bodies_controllers_seeds_and_beginnings(stage, seats):
    do(stage, lambda: stage.director.stand(pose="taiko", roll=True))
    wanted = Balance(pose="taiko", roll=True)
    for change in ({"character": "humanoid"}, {"controller": "cem"}, {"seed": 3}, {"options": (("speed", 4.0),)}, {}):
        do(stage, lambda change=change: stage.choose(replace(stage.choice, **change)))
        assert stage.trial.session.asked == stage.director.stance == wanted
        advance(stage, 1)
        assert stage.trial.session.wanted == wanted and stage.trial.controller.goal.pose == "taiko"
    do(stage, stage.reset, stage.again)
    assert stage.trial.session.asked == wanted
    assert not any("pose" in said for said in seats.said)


def test_a_scenario_brings_its_own_stance(stage):
    do(stage, lambda: stage.director.stand(pose="taiko", roll=True))
    do(stage, lambda: stage.choose(replace(stage.choice, scenario="stand")))
    assert stage.director.stance == stage.trial.session.asked == Balance()
    do(stage, lambda: stage.choose(replace(stage.choice, scenario="dodge")))
    assert stage.director.stance == stage.trial.session.asked == READY


def test_who_does_not_know_a_pose_rests(seats):
    stage = Stage(STAND, seats, 1, SMALL)
    stage.start()
    do(stage, lambda: stage.director.stand(pose="taiko"))
    do(stage, lambda: stage.choose(replace(stage.choice, character="biped34")))
    assert seats.said[-1] == "'biped34' has no pose 'taiko'; it stands in 'rest'"
    assert stage.trial.session.asked == stage.director.stance == Balance(pose="rest")
    stage.close()


def test_a_stance_lives_on_from_the_past_and_in_other_shapes(stage):
    advance(stage, 3)
    do(stage, lambda: stage.director.stand(pose="taiko"))
    advance(stage, 1)
    do(stage, lambda: stage.resume(2))
    assert stage.trial.controller.goal.pose == stage.director.stance.pose == "taiko"
    do(stage, lambda: stage.reshape({"legs": 1.1}))
    assert stage.trial.controller.goal.pose == stage.director.stance.pose == "taiko"


def test_a_tape_of_a_stance_replays(stage):
    advance(stage, 1)
    do(stage, stage.record, lambda: stage.director.stand(pose="taiko", roll=True))
    advance(stage, 4)
    do(stage, stage.cut)
    (timed,) = stage.last_take.recording.parts[0].about.commands
    assert timed.command == Balance(pose="taiko", roll=True)
    assert stage.last_take.recording.first_difference() is None


# What is shown and thrown ---------------------------------------------------------------------------


def test_the_way_of_a_plan_is_sent(stage, seats):
    advance(stage, 2)
    assert seats.shown[-1].message.endswith(stage.trial.controller.latest.way.encode() + b"\n\n\n")
    assert stage.trial.controller.latest.way in ("balance", "get up")


def test_whole_plans_are_weighed_by_their_ways(dodge):
    names = {term.name for way in dodge.trial.controller.goal.ways for term in way.terms}
    assert set(dodge.weights) == names and "com_speed" in names
    assert dodge.terms == dodge.trial.controller.goal.names and not names & set(dodge.terms)
    dodge.send(SetParameter("weight.com_speed", 3.0))
    dodge.trial.step()
    assert dodge.weights["com_speed"] == 3.0
    dodge.want("steer")
    assert (*dodge.weights,) == dodge.terms  # it has one way: its terms


def test_a_heavy_ball_is_large_and_does_not_begin_in_the_ground(dodge):
    assert TOUCHES["mass"][3] >= 3 * 90  # a sphere as heavy as three of the heaviest
    dodge.trial.step()
    dodge.throw((4.0, 0.0, 0.1), (-5.0, 0.0, 2.0), 150.0)
    assert [prop.name for prop in dodge.trial.scene.props] == ["ball", "thrown"]
    ball = dodge.trial.scene.prop("thrown", Ball)
    assert (ball.mass, ball.radius) == (150.0, pytest.approx(0.415, abs=0.001))
    frames = [dodge.trial.step() for _ in range(8)]
    assert frames[0].commands[0].position == (4.0, 0.0, ball.radius)
    assert dodge.trial.session.world.view("thrown.pos")[0, 0] == pytest.approx(4 - 8 * 5 / 30, abs=0.05)
    assert not any(frame.broken for frame in frames)


# Learning -------------------------------------------------------------------------------------------

HUMANOID = "it was learned with character humanoid"


class School:
    """A stage that learns from a file, and its audience."""

    def __init__(self, path, frozen=False) -> None:
        self.seats = Seats()
        self.learning = Learning(path, frozen, "smc", STAND.trial(1, SMALL).controller)
        self.stage = Stage(STAND, self.seats, 1, SMALL, self.learning)
        self.stage.start()

    @property
    def many(self) -> int:
        return len(self.learning)

    def __enter__(self) -> "School":
        return self

    def __exit__(self, *_) -> None:
        self.stage.close()
        self.learning.__exit__(None, None, None)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.experience"


def test_a_stage_learns_and_goes_on_another_day(path):
    with School(path) as school:
        advance(school.stage, 3)
        assert school.many == 3  # standing still, every plan is worth remembering
        assert learned_text(school.stage) == "3 situations learned in a.experience (growing)"
        do(school.stage, school.stage.reset, lambda: school.stage.director.send(SetParameter("samples", 8)))
        advance(school.stage, 2)
        do(school.stage, lambda: school.stage.director.throw((3.0, 0.0, 1.0), (0.0, 0.0, 0.0), 150.0))
        advance(school.stage, 1)
        assert (school.many, school.stage.unused) == (6, "")
        assert not any("not used" in said for said in school.seats.said)
    with School(path, frozen=True) as school:
        assert school.many == 6
        advance(school.stage, 2)
        assert learned_text(school.stage) == "6 situations learned in a.experience (frozen)"
    before = path.read_bytes()
    with School(path) as school:
        advance(school.stage, 1)
        assert school.many == 7
    assert path.read_bytes().startswith(before) and len(path.read_bytes()) > len(before)


def test_learning_changes_nothing_where_nothing_is_asked_for(path, seats):
    stage = Stage(STAND, seats, 1, SMALL)
    stage.start()
    plain = advance(stage, 3)
    assert stage.trial.controller.planner.learner is None and stage._keep not in stage.trial.session.listeners
    stage.close()
    with School(path) as school:
        assert np.array_equal(advance(school.stage, 1), plain[:1])


def test_who_does_not_learn_pauses_it(path):
    with School(path) as school:
        stage = school.stage
        advance(stage, 2)
        do(stage, lambda: stage.choose(replace(stage.choice, controller="cem")))
        stage.trial.controller.set_parameters({"samples": 6, "elites": 2, "horizon": 0.2})
        advance(stage, 2)
        assert isinstance(stage.director.settings, CEMSettings)
        assert (school.many, stage.unused) == (2, "this controller does not learn")
        assert learned_text(stage).endswith("a.experience (not used: this controller does not learn)")
        do(stage, lambda: stage.choose(STAND))
        do(stage, lambda: stage.director.send(SetParameter("samples", 6), SetParameter("horizon", 0.4)))
        advance(stage, 3)
        assert school.many == 4  # of the first frame after another horizon nothing is kept
        assert stage.unused == "" and stage.trial.controller.planner.learner is school.learning.learner


def test_another_body_and_another_horizon_are_told_and_learn_nothing(path):
    with School(path) as school:
        stage, said = school.stage, school.seats.said
        advance(stage, 1)
        do(stage, lambda: stage.choose(replace(STAND, character="humanoid-light")))
        advance(stage, 2)
        assert said.count(f"a.experience is not used: {HUMANOID}") == 1
        do(stage, lambda: stage.choose(STAND))
        advance(stage, 1)
        for horizon in (0.5, 0.6):
            do(stage, lambda horizon=horizon: stage.director.send(SetParameter("horizon", horizon)))
            advance(stage, 2)
        assert stage.trial.controller.planner.learner is None
        assert said.count("a.experience is not used: it was learned with horizon 0.4") == 1
        assert school.many == 2
        do(stage, lambda: stage.director.send(SetParameter("horizon", 0.4)))
        advance(stage, 3)
        assert (school.many, stage.unused) == (4, "")


def test_a_full_disk_ends_learning_and_not_the_show(path, monkeypatch):
    def full(file, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tumble.files.write_all", full)
    monkeypatch.setattr("tumble.live.learned_file.APPENDED", 0.0)
    with pytest.raises(UserError, match="No space left on device"), School(path) as school:
        stage = school.stage
        until(lambda: advance(stage, 1) and stage.learning is None)
        assert school.seats.said[-1] == f"cannot write {path}: No space left on device; nothing more is learned"
        advance(stage, 2)
        assert learned_text(stage) == "nothing more is learned"


# In a browser ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium():
    with browser() as one:
        yield one


@pytest.mark.flaky(reruns=2)  # a browser beside a simulation on two busy cores may be late
def test_a_studio_that_learns_in_a_browser(chromium, tmp_path):
    planner = ("--samples", "6", "--horizon", "0.4", "--threads", "1", "--learned", "a.experience")
    with Studio(tmp_path, scenario="dodge", planner=planner) as studio:
        window = Window(chromium.new_context(viewport={"width": 1000, "height": 720}).new_page(), studio)
        window.until("['balance', 'get up'].includes(frame.way)")
        ways = {"balance": "balancing", "get up": "getting up"}
        until(lambda: window.text("hud-way") in ways.values())
        assert value(window, "stance") == "ready" and window.part("roll").get_attribute("aria-checked") == "false"
        window.choose("stance", "taiko")
        until(lambda: value(window, "stance") == "taiko")
        window.part("roll").click()
        until(lambda: window.part("roll").get_attribute("aria-checked") == "true")
        window.choose("goal", "steer")
        until(lambda: not window.part("stance").is_visible() and not window.part("hud-way").is_visible())
        window.choose("goal", "balance")
        until(lambda: value(window, "stance") == "taiko" and window.part("hud-way").is_visible())
        window.tab("planner")
        window.until_text("learned", "situations learned in a.experience (growing)")
        window.tab("direct")
        window.choose("character", "humanoid")
        window.until_text("toast", "a.experience is not used: it was learned with character humanoid-light")
        toast, bar = (window.part(name).bounding_box() for name in ("toast", "play"))
        assert toast["y"] + toast["height"] < bar["y"]  # where it can be read
        assert value(window, "stance") == "taiko"
        window.choose("controller", "cem")
        until(lambda: not window.part("hud-way").is_visible() and not window.part("roll").is_visible())
        assert value(window, "stance") == "taiko" and not window.complaints
        window.page.context.close()
        assert studio.end() == 0
        until(lambda: "learned" in studio.lines[-1], PATIENCE)
        many = int(studio.lines[-1].removeprefix("learned from ").partition(" ")[0])
        assert studio.lines[-1] == f"learned from {many} situations in a.experience" and many > 0
        assert not any("Traceback" in line for line in studio.lines)
    again = Learning(tmp_path / "a.experience", True, "smc", DODGE.trial(1, SMALL).controller)
    assert len(again) == many


def value(window: Window, name: str) -> str:
    """What a menu of a panel shows."""
    field = window.page.locator("label.q-select").filter(has=window.part(name))
    return str(field.locator(".q-field__native").inner_text()).strip()
