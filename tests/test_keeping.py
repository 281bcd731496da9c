"""Keeping time: a ladder of less work, chosen by measured time; plans that serve several frames; recorded exactly."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from seats import Seats

from tumble.cli.run_command import main
from tumble.errors import UserError
from tumble.goals.wants import Reach
from tumble.live.commands import Push, SetParameter
from tumble.live.keeping import SHARE, KeepTime, WorkLimits, ladder
from tumble.live.recording import Recorder, Recording
from tumble.planners import CPBPSettings
from tumble.planners.cpbp.settings import PFMPCSettings
from tumble.scenarios import SCENARIOS, Trial
from tumble.studio.choice import Choice
from tumble.studio.stage import Stage
from tumble.world.props import Box

BUDGET = SHARE / 30  # s


def standing(controller: str = "cpbp", settings=CPBPSettings(samples=16, horizon=0.3)) -> Trial:
    return Trial(SCENARIOS["stand"].make(), 0, controller, settings=settings, threads=1)


def test_a_ladder_goes_down_and_stays_within_its_limits():
    rungs = ladder(32, 1, WorkLimits())
    assert rungs[0] == (32, 1) and rungs[-1] == (12, 3)
    costs = [samples / frames for samples, frames in rungs]
    assert costs == sorted(costs, reverse=True) and len(set(costs)) == len(costs)
    assert all(frames == 1 for _, frames in ladder(32, 1, WorkLimits(longest=1)))
    assert ladder(8, 1, WorkLimits())[-1] == (8, 3)
    assert min(samples for samples, _ in ladder(64, 1, WorkLimits(fewest=40))) == 40
    assert ladder(32, 2, WorkLimits())[0] == (32, 2) and all(frames >= 2 for _, frames in ladder(32, 2, WorkLimits()))

    @dataclass(frozen=True)
    class Every:
        samples: int = 32

    assert all(frames == 1 for _, frames in ladder(32, 1, WorkLimits(), Every()))
    with pytest.raises(UserError, match="fewest must be"):
        WorkLimits(fewest=1)


def told(keeping: KeepTime, trial: Trial, seconds: float, many: int) -> list[tuple[int, int]]:
    """What is set after each of many frames, in which a future of a plan takes so long."""
    found = []
    for _ in range(many):
        frame = trial.step()
        settings = trial.controller.settings
        plans = frame.control_seconds > 1e-4
        keeping(trial.session, replace(frame, control_seconds=seconds * settings.samples if plans else 0.0))
        found.append((settings.samples, settings.serves))
    return found


def test_less_is_planned_where_time_is_short_and_more_again_where_there_is_room():
    trial = standing()
    keeping = KeepTime(trial.session)
    assert keeping.text == "16 futures, every frame"
    slow = told(keeping, trial, 1.9 * BUDGET / 16, 60)
    assert slow[0] == (16, 1) and slow[-1] == (16, 2)
    assert keeping.text == "16 futures, every 2nd frame"
    slower = told(keeping, trial, 8 * BUDGET / 16, 80)
    assert slower[-1] == (12, 3)  # the last rung, though it is too slow
    fast = told(keeping, trial, 0.1 * BUDGET / 16, 700)
    assert fast[-1] == (16, 1)
    changes = sum(a != b for a, b in pairwise(fast))
    assert changes <= 6  # one rung at a time, and no swinging


def test_what_a_person_sets_is_the_most():
    trial = standing()
    keeping = KeepTime(trial.session)
    trial.send(SetParameter("samples", 24))
    assert told(keeping, trial, 0.1 * BUDGET / 24, 150)[-1] == (24, 1)
    assert told(keeping, trial, 1.2 * BUDGET / 24, 60)[-1] == (18, 1)
    trial.send(SetParameter("samples", 8))
    assert told(keeping, trial, 0.1 * BUDGET / 8, 300)[-1] == (8, 1)


def test_who_does_not_plan_needs_no_fitting():
    trial = Trial(SCENARIOS["steer-walk"].make(), 0, "walker")
    keeping = KeepTime(trial.session)
    trial.session.listeners.append(keeping)
    trial.step()
    assert keeping.text == ""


@pytest.mark.parametrize("settings", [CPBPSettings(samples=16, horizon=0.4), PFMPCSettings(samples=16, horizon=0.4)])
def test_a_plan_serves_several_frames_and_another_want_makes_a_new_one(settings):
    controller = "cpbp" if isinstance(settings, CPBPSettings) else "pf-mpc"
    trial = standing(controller, replace(settings, serves=3))
    plans, controls = [], []
    for frame in range(8):
        if frame == 4:
            trial.send(Reach((0.5, 0.0, 1.2)))
        controls.append(trial.step().control)
        plans.append(trial.controller.latest)
    made = [i for i in range(8) if i == 0 or plans[i] is not plans[i - 1]]
    assert made == [0, 3, 4, 7]
    assert controls[1] == pytest.approx(plans[0].controls[1]) and controls[2] == pytest.approx(plans[0].controls[2])


def test_the_next_plan_goes_on_from_where_the_last_one_was_left():
    """After n frames the first walker does the rest of the best plan: its first control is the last one's n-th."""
    trial = standing(settings=CPBPSettings(samples=8, horizon=0.4, serves=3))
    for _ in range(3):
        trial.step()
    planner, before = trial.controller.planner, trial.controller.latest
    trial.step()
    assert planner.late == 3
    assert planner._controls[0, 0] == pytest.approx(before.controls[3])
    assert planner._done[0] == pytest.approx(before.controls[2]) and planner._done[1] == pytest.approx(
        before.controls[1]
    )


def test_other_samples_go_on_with_the_plan():
    trial = standing(settings=CPBPSettings(samples=16, horizon=0.4))
    for _ in range(3):
        trial.step()
    before = trial.controller.latest
    trial.send(SetParameter("samples", 8))
    trial.step()
    assert trial.controller.planner._controls[0, 0] == pytest.approx(before.controls[1])
    trial.send(SetParameter("samples", 24))
    trial.step()
    assert np.isfinite(trial.controller.latest.cost)


def test_choices_are_recorded_and_replay(tmp_path):
    trial = standing()
    keeping = KeepTime(trial.session)
    recorder = Recorder(trial.session, "stand", "cpbp", 0, {"samples": 16, "horizon": 0.3})
    trial.send(Push("torso", (100.0, 0.0, 0.0)))
    told(keeping, trial, 3.0 * BUDGET / 16, 40)
    commands = [timed.command for part in recorder.recording.parts for timed in part.about.commands]
    assert SetParameter("serves", 3.0) in commands or SetParameter("serves", 2.0) in commands
    recorder.recording.save(tmp_path / "timed.npz")
    assert Recording.load(tmp_path / "timed.npz").first_difference() is None


def test_the_studio_says_how_it_keeps_time_and_undo_leaves_it_alone():
    seats = Seats()
    stage = Stage(Choice("stand"), seats, 1, CPBPSettings(samples=8, horizon=0.2), keep_time=True)
    stage._step()
    words = seats.shown[-1].message.rsplit(b"\n", 1)[-1].decode()
    assert words == stage.keeping == "8 futures, every frame"
    stage.dresser.remembered(lambda: stage.dresser.put(Box("step", (2.0, 0.0, 0.1), (0.3, 0.5, 0.1))))
    stage.trial.session.send(SetParameter("samples", 6.0))  # as keeping time does
    stage._step()
    stage.dresser.undo()
    stage._step()
    assert stage.trial.controller.settings.samples == 6 and not stage.dresser.pieces
    stage.reset()
    stage._step()
    assert stage.keeping.endswith("every frame")
    stage.keeps_time = False
    stage._step()
    assert stage.keeping == "" and seats.shown[-1].message.endswith(b"\n")


def test_run_says_that_time_decides(capsys):
    small = ["--seconds", "0.2", "--samples", "4", "--horizon", "0.2", "--threads", "1"]
    assert main(["stand", "--keep-time", "--json", *small]) == 0
    said = capsys.readouterr()
    assert "time decides how much is planned" in said.err and '"keeps_time": "4 futures, every' in said.out
    with pytest.raises(UserError, match="--keep-time measures time"):
        main(["stand", "--keep-time", "--jobs", "2", *small])
