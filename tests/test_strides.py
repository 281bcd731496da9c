"""Strides: steps of the walker as actions of tasks, beside steps of gaits; kinds in policies and in files."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import msgspec
import numpy as np
import pytest
from test_tasks import Here

from tumble.characters import character
from tumble.controllers import CONTROLLERS, unsuited
from tumble.errors import UserError
from tumble.goals.wants import Go
from tumble.offline.store import JobStore
from tumble.scenarios.tasks import begun
from tumble.tasks.exploring import Exploration, displaced
from tumble.tasks.gaits import GaitStep, GaitStepper
from tumble.tasks.grid import Axis, spread
from tumble.tasks.judging import judged
from tumble.tasks.kinds import KINDS, kind_of, plain, read_actions, stepper_for
from tumble.tasks.metric import Metric, nearest
from tumble.tasks.policy import policy_named, read_policy, shipped
from tumble.tasks.strides import Stride, StrideStepper
from tumble.tasks.task import Task, register
from tumble.tasks.tasked import Tasked
from tumble.tasks.training import train
from tumble.walking.memory import MEMORY, Mode
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

STRIDES = (Stride(0.06), Stride(0.6), Stride(-0.3), Stride(0.6, length=0.24), Stride(0.6, turn=0.4))


@dataclass(frozen=True)
class Near(Task):
    """Step to a line, by strides."""

    name, summary, character = "near", "to a line", "biped"
    actions: ClassVar[tuple[Stride, ...]] = STRIDES[:3]
    grid: ClassVar[tuple[Axis, ...]] = (Axis("ahead", spread(-1.0, 2.0, 9, 0.5)),)
    trust: ClassVar[float] = 4.0

    def reward(self, states, w):
        return np.abs(w[:, 0]) < 0.3


@pytest.fixture(scope="module")
def stepper() -> StrideStepper:
    return StrideStepper(Scene(character("biped"), ground=Ground(0.8)))


@pytest.fixture(scope="module")
def near(tmp_path_factory):
    exploration = Exploration(Near(), states=24)
    with JobStore(tmp_path_factory.mktemp("near") / "a.steps", exploration.about) as store:
        return exploration, train(Near(), exploration, store, Here(), "tumble task train near")


def stood(stepper, rows: int) -> Sims:
    sims = Sims(stepper.walker.scene, rows, nthread=1)
    sims.use(stepper.walker.drive)
    sims.load(stepper.opening("stand"))
    stepper.walker.start(sims)
    return sims


# ---- steps


def test_a_stride_goes_at_its_speed_with_its_turn_and_length(stepper):
    sims, table, metric = stood(stepper, len(STRIDES)), stepper.table(STRIDES), Metric(stepper)
    for _ in range(8):
        before, began = metric.places(sims), sims.view("time").ravel().copy()
        stepper.take(sims, np.arange(len(STRIDES)), table)
        assert stepper.walker.step(sims, 1.2).all() and not stepper.walker.fallen(sims).any()
        moved = displaced(before, metric.places(sims))
        seconds = sims.view("time").ravel() - began
    assert moved[:3, 0] / seconds[:3] == pytest.approx([0.06, 0.6, -0.3], abs=0.12)
    assert seconds[1] == pytest.approx(0.6, abs=0.1) and seconds[3] == pytest.approx(0.4, abs=0.1)
    assert moved[3, 0] == pytest.approx(0.24, abs=0.08)
    assert moved[:, 2] == pytest.approx([0, 0, 0, 0, 0.4], abs=1e-6)
    assert (sims.memory(MEMORY).mode == Mode.WALK).all()


def test_what_lies_behind_is_in_pose_and_speeds(stepper):
    """Two memories that differ in all that was followed take the same step."""
    sims, table = stood(stepper, 2), stepper.table(STRIDES)
    for _ in range(4):
        stepper.take(sims, np.arange(2), table[[1, 1]])
        stepper.walker.step(sims, 1.2)
    memory = sims.memory(MEMORY)
    for name, value in (
        ("speed", -1.0),
        ("mean_speed", 2.0),
        ("period", 1.0),
        ("step_trim", 0.1),
        ("wish_heading", 2.0),
    ):
        memory[name][1] = value
    stepper.take(sims, np.arange(2), table[[1, 1]])
    stepper.walker.step(sims, 1.2)
    np.testing.assert_array_equal(sims.state[0], sims.state[1])


def test_a_step_in_a_batch_is_a_step_alone(stepper):
    sims, table = stood(stepper, 3), stepper.table(STRIDES)
    stepper.take(sims, np.arange(3), table[[1, 1, 1]])
    stepper.walker.step(sims, 1.2)
    states = sims.state.copy()
    stepper.take(sims, np.arange(3), table[[0, 3, 2]])
    stepper.walker.step(sims, 1.2)
    alone = stood(stepper, 1)
    alone.load(states[1])
    stepper.take(alone, np.arange(1), table[[3]])
    stepper.walker.step(alone, 1.2)
    np.testing.assert_array_equal(alone.state[0], sims.state[1])


def test_the_frame_is_where_the_walker_heads(stepper):
    sims = stood(stepper, 2)
    sims.memory(MEMORY).heading[:] = 0.3, 2.0  # of a body that faces along x
    assert stepper.headings(sims) == pytest.approx([0.3, stepper.walker.settings.follow.longest_twist])


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ((Stride(0.0),), "a stride is faster than 0.05 m/s, ahead or back, got 0"),
        ((Stride(3.0),), "speed of the stride '3 m/s' must be a number -1 or more and at most 2, got 3"),
        (
            (Stride(0.5, turn=2.0),),
            "turn of the stride '0.5 m/s, +2 rad' must be a number -1 or more and at most 1, got 2",
        ),
        (
            (Stride(0.5, length=2.0),),
            "period of the stride '0.5 m/s, 2 m', length / speed in s, must be a number 0.2 or more and at most 1.5,"
            " got 4",
        ),
        ((Stride(0.5), Stride(0.5)), "every action is there once; got some twice"),
    ],
)
def test_strides_that_no_walker_takes(stepper, actions, message):
    with pytest.raises(UserError) as error:
        stepper.table(actions)
    assert str(error.value) == message


def test_texts_are_names():
    texts = ["0.06 m/s", "0.6 m/s", "-0.3 m/s", "0.6 m/s, 0.24 m", "0.6 m/s, +0.4 rad"]
    assert [str(stride) for stride in STRIDES] == texts


# ---- kinds


def test_actions_of_a_task_are_of_one_kind():
    assert kind_of(STRIDES) is StrideStepper and kind_of((GaitStep("walk"),)) is GaitStepper
    with pytest.raises(UserError) as error:
        kind_of((GaitStep("walk"), Stride(0.5)))
    assert str(error.value) == "actions of a task are all of one class, GaitStep or Stride, got: GaitStep, Stride"

    class Both(Near):
        actions = (GaitStep("walk"), Stride(0.5))

    with pytest.raises(UserError, match="actions of a task are all of one class"):
        register("both", Both, "none")


@pytest.mark.parametrize("actions", [STRIDES, (GaitStep("walk"), GaitStep("walk", "run", 0.5))])
def test_actions_there_and_back(actions):
    data = msgspec.json.decode(msgspec.json.encode(plain(actions)))
    assert read_actions(kind_of(actions).kind, data) == actions


def test_bodies_have_steppers(stepper):
    assert isinstance(stepper_for(Scene(character("raptor"))), GaitStepper)
    assert isinstance(stepper_for(stepper.walker.scene), StrideStepper)
    with pytest.raises(UserError, match="'humanoid' takes no steps that tasks choose among: they need steps; or biped"):
        stepper_for(Scene(character("humanoid")))
    task = CONTROLLERS["task"]
    assert [task.suits(character(name)) for name in ("biped34", "biped", "humanoid")] == [True, True, False]
    sentence = unsuited("task", character("humanoid"))
    assert sentence.startswith("controller 'task' needs a body with: steps, or toes, palms, jointed-back; 'humanoid'")


def test_policies_that_ship_say_their_kind():
    for name in shipped():
        header = policy_named(name).header
        assert header.steps == ("strides" if header.character == "biped" else "gaits")
        assert header.digest == KINDS[header.steps].digest(header.character)


# ---- from exploration to acting


def test_exploration_finds_steps_by_strides(near):
    exploration, _ = near
    assert set(exploration.cycles) == {"0.06 m/s", "0.6 m/s", "-0.3 m/s"}
    steps = exploration.steps
    means = [steps.moved[steps.action == i, 0].mean() for i in range(3)]
    assert means[2] < means[0] < means[1]
    assert (nearest(exploration.trusted, exploration.ends, 1)[1] < Near.trust).all()


def test_a_policy_by_strides_there_and_back(near, tmp_path):
    policy = near[1]
    path = tmp_path / "near.policy"
    policy.write(path)
    again = read_policy(path)
    assert again.header == policy.header and again.header.steps == "strides"
    assert again.actions == Near.actions and (again.best == policy.best).all()
    other = replace(policy, header=msgspec.structs.replace(policy.header, steps="leaps"))
    other.write(path)
    with pytest.raises(UserError, match="its actions are 'leaps', known are: gaits, strides"):
        read_policy(path)
    replace(policy, header=msgspec.structs.replace(policy.header, steps="gaits")).write(path)
    with pytest.raises(UserError, match=r"near\.policy is no policy that can be read"):
        read_policy(path)


def test_it_acts_by_strides(near):
    policy = near[1]
    found = judged(Near(), policy, 8, seed=2, longest=12.0)
    assert found.reached.all() and not found.fell.any()


def test_policies_of_one_controller_are_of_one_kind(near, stepper):
    gaits = policy_named("heading")
    foreign = replace(gaits, header=msgspec.structs.replace(gaits.header, character="biped"))
    with pytest.raises(UserError, match="policies of 'biped' choose among gaits and strides: take one by --policy"):
        Tasked(stepper.walker.scene, policies=[near[1], foreign])


def test_a_goal_of_a_walker_is_seen_in_its_frame(near, stepper):
    controller = Tasked(stepper.walker.scene, policies=[near[1]])
    sims = stood(controller.stepper, 1)
    controller.start(sims)
    controller.want(sims, Go(target=(0.0, 1.0, 0.0)))
    sims.memory(MEMORY).heading[0] = 0.4
    assert controller.task_states(sims)[0, 0] == pytest.approx(math.sin(0.4), abs=0.02)


def test_a_trial_begins_in_a_stand(stepper):
    scene = stepper.walker.scene
    state = begun(scene, "walk", np.random.default_rng(0))
    np.testing.assert_array_equal(scene.show(state).qpos, scene.show(scene.state()).qpos)
