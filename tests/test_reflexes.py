"""Reflexes: what the stepping law says of bodies at hand, and how C-PBP follows what reflexes say."""

import dataclasses

import mujoco
import numpy as np
import pytest

from tumble.characters import character
from tumble.errors import UserError
from tumble.goals import balance, steer
from tumble.goals.goal import Goal
from tumble.planners import CPBP, CPBPSettings, PFMPCSettings
from tumble.planners.cpbp.followers import Followers
from tumble.planners.reflexes import REFLEXES, Reflex, register, suited
from tumble.planners.reflexes.stepping import Stepping, legs_of
from tumble.world.scene import Scene
from tumble.world.sims import Sims

TWO_LEGS = ("humanoid", "biped", "humanoid25")


@pytest.fixture(scope="module", params=TWO_LEGS)
def any_scene(request) -> Scene:
    """A body of two legs on the ground."""
    return Scene(character(request.param))


@pytest.fixture(scope="module")
def scene() -> Scene:
    """The humanoid on the ground."""
    return Scene(character("humanoid"))


def said(scene: Scene, states: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Speeds of the legs' joints (n, columns) for states (n, nstate) and wanted velocities (n, 2)."""
    sims, reflex = Sims(scene, len(states), 1), Stepping(scene)
    sims.load(states)
    advice = np.zeros((len(states), scene.drive.size))
    reflex.steps(sims, np.arange(len(states)), np.asarray(wanted, float), advice)
    return advice[:, reflex.columns]


def shaken(scene: Scene, n: int = 6) -> np.ndarray:
    """(n, nstate): states a few frames after standing, under random controls."""
    rng, sims = np.random.default_rng(3), Sims(scene, n, 1)
    sims.load(scene.state("rest"))
    for _ in range(8):
        sims.act(rng.uniform(0.5 * scene.drive.low, 0.5 * scene.drive.high, (n, scene.drive.size)))
    return sims.state.copy()


def changed(scene: Scene, states: np.ndarray, change) -> np.ndarray:
    """States whose qpos and qvel went through a function of both."""
    made, data = states.copy(), mujoco.MjData(scene.model)
    for row in made:
        mujoco.mj_setState(scene.model, data, row, mujoco.mjtState.mjSTATE_INTEGRATION)
        change(data.qpos, data.qvel)
        row[:] = scene.read(data)
    return made


# The law ----------------------------------------------------------------------------------------------


def test_legs_are_found_between_root_and_feet(any_scene):
    legs, joints = legs_of(any_scene), list(any_scene.character.joints)
    names = [joints[column] for column in legs.columns]
    assert legs.ends[0] * 2 == legs.ends[1] == len(names)
    assert {name.partition("_")[0] for name in names[: legs.ends[0]]} == {"left"}
    assert [name.replace("left", "right") for name in names[: legs.ends[0]]] == names[legs.ends[0] :]
    assert [any_scene.model.joint(int(joint)).name for joint in legs.joints] == names
    assert 0.7 < legs.stand[0] < 1.1 and legs.stand[0] == pytest.approx(legs.stand[1], abs=1e-3)
    assert 0.05 < legs.spacing < 0.2 and 0.8 < legs.length < 1.2


def alone(scene: Scene, speed: float, frames: int, n: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Rows that a reflex alone moves from standing: how far ahead on their feet (n,), how high a foot over the other.

    The latter is (n, 2), the most for each foot, m.
    """
    rng, rest = np.random.default_rng(0), np.array(scene.character.pose("rest"))
    sims, reflex = Sims(scene, n, 1), Stepping(scene)
    sims.load(scene.state("rest"))
    lifted, best = np.zeros((n, 2)), np.zeros(n)
    for _ in range(frames):
        control = np.ones((n, scene.drive.size))
        control[:, : rest.size] = 4.0 * (rest - sims.view("qpos")[:, scene.drive.qpos])
        reflex.steps(sims, np.arange(n), np.tile([speed, 0.0], (n, 1)), control)
        control[:, : rest.size] += 0.2 * rng.standard_normal((n, rest.size))
        sims.act(np.clip(control, scene.drive.low, scene.drive.high))
        up = sims.view("com")[:, 2] > 0.75 * scene.standing
        best = np.where(up, np.maximum(best, sims.view("com")[:, 0]), best)
        heights = np.stack([sims.view(f"{foot}.pos")[:, 2] for foot in scene.character.feet], axis=1)
        lifted = np.where(up[:, None], np.maximum(lifted, heights - heights[:, ::-1]), lifted)
    return best, lifted


def test_who_stands_and_wants_nothing_lifts_no_foot(any_scene):
    """The feet are where they should be."""
    best, lifted = alone(any_scene, 0.0, 15)
    assert np.median(lifted.max(axis=1)) < 0.03
    assert np.median(best) < 0.1


def test_the_reflex_alone_makes_some_steps(any_scene):
    """From standing it gets farther than who falls ahead, 0.6 m, and lifts one foot and then the other."""
    best, lifted = alone(any_scene, 1.0, 60)
    assert np.median(best) > 0.6
    assert (lifted > 0.04).all(axis=1).sum() >= 5


def test_all_ways_are_alike(any_scene):
    """Turned about the vertical with what it wants, a body is told the same."""
    states, angle = shaken(any_scene), 2.1
    c, s = np.cos(angle), np.sin(angle)

    def turn(qpos, qvel):
        w, x, y, z = qpos[3:7]
        a, b = np.cos(angle / 2), np.sin(angle / 2)
        qpos[3:7] = a * w - b * z, a * x - b * y, a * y + b * x, a * z + b * w
        for v in (qpos, qvel):
            v[:2] = c * v[0] - s * v[1], s * v[0] + c * v[1]

    one = said(any_scene, states, np.tile([0.9, 0.5], (len(states), 1)))
    way = [c * 0.9 - s * 0.5, s * 0.9 + c * 0.5]
    other = said(any_scene, changed(any_scene, states, turn), np.tile(way, (len(states), 1)))
    assert np.abs(one).max() > 1
    assert other == pytest.approx(one, abs=1e-6)


def test_left_and_right_are_alike(scene):
    """A mirrored body is told the mirrored: axes of the humanoid's right joints are mirrored already."""
    states, names = shaken(scene), list(scene.character.joints)
    swap = {"left": "right", "right": "left"}
    mirrored = [names.index("_".join([swap.get(p := name.split("_")[0], p), *name.split("_")[1:]])) for name in names]
    flips = np.array([-1.0 if name.endswith(("_side", "_twist")) and name.startswith(("spine", "neck")) else 1.0
                      for name in names])  # fmt: skip

    def mirror(qpos, qvel):
        qpos[1], qpos[4], qpos[6] = -qpos[1], -qpos[4], -qpos[6]
        qvel[:6] *= [1, -1, 1, -1, 1, -1]
        qpos[7:], qvel[6:] = flips * qpos[7:][mirrored], flips * qvel[6:][mirrored]

    one = said(scene, states, np.tile([0.9, 0.5], (len(states), 1)))
    other = said(scene, changed(scene, states, mirror), np.tile([0.9, -0.5], (len(states), 1)))
    half = one.shape[1] // 2
    assert np.abs(one).max() > 1
    assert np.hstack([other[:, half:], other[:, :half]]) == pytest.approx(one, abs=1e-6)


# Followers ------------------------------------------------------------------------------------------


class Still(Reflex):
    """Says that all joints stand still, but for the first, which it wants at 1 rad/s."""

    width = 1e-4

    def __init__(self, scene: Scene) -> None:
        self.columns = np.arange(scene.drive.joints)

    def advise(self, sims, parents, goal, moods, advice):
        assert (len(parents), 2) == moods.shape == (len(advice), 2)
        advice[:, self.columns] = 0.0
        advice[:, 0] = 1.0


def make(scene: Scene, reflexes: float = 0.5, seed: int = 0, nthread: int = 1, **changes) -> CPBP:
    return CPBP(
        scene, CPBPSettings(**{"samples": 16, "horizon": 0.3, "reflexes": reflexes, **changes}), seed, nthread
    )  # fmt: skip


def costs(planner: CPBP, goal: Goal, frames: int = 3) -> list[float]:
    state = planner.scene.state("rest")
    return [planner.plan(state, goal).cost for _ in range(frames)]


def test_where_a_goal_has_no_reflex_nothing_changes(scene):
    assert costs(make(scene, 0.5), balance(scene)) == costs(make(scene, 0.0), balance(scene))


def test_reflexes_change_plans_and_threads_do_not(scene):
    goal = steer(scene, (1.0, 0.0))
    assert goal.reflexes == ("stepping",)
    assert costs(make(scene, 0.5), goal) == costs(make(scene, 0.5, nthread=2), goal)
    assert costs(make(scene, 0.5), goal) != costs(make(scene, 0.0), goal)


def test_those_that_follow_are_drawn_near_what_is_said(scene, registries):
    register("still", Still, "stands still")
    planner, goal = make(scene, 0.75, resample_below=0.0), balance(scene) + Goal(reflexes=["still"])
    state, joints = scene.state("rest"), scene.drive.joints
    wanted = np.r_[1.0, np.zeros(joints - 1)]

    def near() -> np.ndarray:
        """(K, N): whose controls are as they were told."""
        return (np.abs(planner.tree().controls[:, :, :joints] - wanted) < 1e-3).all(axis=2)

    planner.plan(state, goal)
    first = near()
    assert not first[:, :2].any()  # the slots of earlier plans
    assert first[:, 2:9].all()  # 0.6 of 12 at once
    assert (first[1:] >= first[:-1]).all() and first[-1, 11:].all()  # whoever begins goes on; all have begun
    assert not first[0, 9:].any()
    planner.plan(state, goal)
    assert near()[-1].all()  # of the newest step nobody has a plan


def test_following_goes_along_with_resampling(scene):
    rng, parents = np.random.default_rng(0), np.array([0, 1, 2, 2, 2, 9, 9, 9, 9, 9])
    one = Followers(scene, [Still(scene), Still(scene)], 0.8, 2, (5, 10), rng)
    onset, kind = one._onset.copy(), one._kind.copy()
    one.take(parents)
    assert (one._onset == onset[parents]).all() and (one._kind == kind[parents]).all()


def test_bodies_that_lack_something_have_no_such_reflex():
    assert suited(["stepping"], Scene(character("quadruped"))) == []


def test_names_and_shares_are_checked(scene, registries):
    with pytest.raises(UserError, match=r"no reflex 'steping'; there are: stepping \(did you mean 'stepping'\?\)"):
        make(scene).plan(scene.state("rest"), balance(scene) + Goal(reflexes=["steping"]))
    with pytest.raises(UserError, match=r"reflexes must be a number 0 or more and at most 1, got 1\.5"):
        CPBPSettings(reflexes=1.5)
    with pytest.raises(UserError, match="reflex 'stepping' is registered twice"):
        register("stepping", Still, "again")
    assert "reflexes" not in {field.name for field in dataclasses.fields(PFMPCSettings)}
    assert list(REFLEXES) == ["stepping"]
