"""The wrist rule: who is about to hit what, and what becomes of the wrists."""

import mujoco
import numpy as np
import pytest

from tumble.characters import humanoid
from tumble.errors import UserError
from tumble.goals import balance
from tumble.planners import CPBP, CPBPSettings
from tumble.planners.cpbp.wrists import FAST, SOON, about_to_hit
from tumble.scenarios import toy
from tumble.world.props import Box
from tumble.world.scene import Scene
from tumble.world.sims import Sims


def row(middle, half, turn=0.0) -> list[float]:
    return [*middle, *half, np.cos(turn), np.sin(turn)]


WALL = row((1.0, 0.0, 1.0), (0.1, 2.0, 1.0))  # its near face is at x = 0.9
SLANTED = row((1.0, 0.0, 1.0), (0.1, 2.0, 1.0), np.pi / 4)


@pytest.mark.parametrize(
    ("place", "velocity", "box", "hit"),
    [
        ((0, 0, 0.2), (0, 0, -2.0), WALL, True),
        ((0, 0, 0.2), (0, 0, -1.2), WALL, False),  # 0.17 s to the ground
        ((0, 0, 0.02), (0, 0, -0.9), WALL, False),  # slow
        ((0, 0, 0.2), (0, 0, 2.0), WALL, False),
        ((0, 0, 0.2), (9.0, 0, -0.5), row((50, 0, 1), (0.1, 1, 1)), False),  # fast, but along the ground
        ((0.7, 0, 1.0), (2.0, 0, 0), WALL, True),
        ((0.7, 0, 1.0), (-2.0, 0, 0), WALL, False),
        ((1.3, 0, 1.0), (-2.0, 0, 0), WALL, True),  # from behind
        ((0.5, 0, 1.0), (2.0, 0, 0), WALL, False),  # 0.2 s away
        ((0.89, 0, 1.0), (0.9, 8.0, 0), WALL, False),  # gliding along it
        ((0.7, 0, 2.2), (2.0, 0, 0), WALL, False),  # over it
        ((1.0, 0, 2.1), (0, 0, -2.0), WALL, True),  # on its top
        ((1.0, 0, 1.0), (2.0, 0, 0), WALL, False),  # inside
        ((0.7, 0, 1.0), (2.0, 0, 0), SLANTED, True),
        ((0.6, -0.7, 1.0), (2.0, 0, 0), SLANTED, False),  # a straight wall would be as near; this one is not there
        ((0.2, 0.5, 1.0), (2.0, 0, 0), SLANTED, True),
    ],
)
def test_about_to_hit(place, velocity, box, hit):
    assert about_to_hit(np.array([place], float), np.array([velocity], float), np.array([box]))[0] == hit


def test_about_to_hit_by_flying_there():
    """Random flights at random boxes, every way faster than `FAST`, against a walk along the line."""
    rng = np.random.default_rng(0)
    seen = {True: 0, False: 0}
    for _ in range(800):
        middle, half = np.array([0, 0, 3]) + rng.uniform(-0.3, 0.3, 3), rng.uniform(0.05, 0.4, 3)
        turn = rng.uniform(-np.pi, np.pi)
        c, s = np.cos(turn), np.sin(turn)
        axes = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])  # rows: the box's own
        place = middle + rng.uniform(-0.6, 0.6, 3)
        velocity = axes.T @ (rng.choice([-1, 1], 3) * rng.uniform(1.1, 6.0, 3))
        if (np.abs(axes @ (place - middle)) < half).all():
            continue
        along = place + np.linspace(0, SOON, 3000)[:, None] * velocity
        margin = (np.abs((along - middle) @ axes.T) - half).max(axis=1).min()
        if abs(margin) < 0.005:
            continue  # too near to call
        hit = about_to_hit(place[None], velocity[None], np.array([row(middle, half, turn)]))[0]
        assert hit == (margin < 0)
        seen[bool(hit)] += 1
    assert min(seen.values()) > 50


def test_no_boxes_is_fine():
    places, velocities = np.array([[0, 0, 0.1], [0, 0, 5.0]]), np.array([[0, 0, -FAST - 0.1]] * 2)
    assert about_to_hit(places, velocities, np.empty((0, 8))).tolist() == [True, False]


@pytest.mark.parametrize(("side", "outwards"), [("left", 1), ("right", -1)])
def test_a_negative_wrist_bend_turns_the_palm_forwards(scene, side, outwards):
    """Palms face the thighs where arms hang: bent back, the fingers point away from the body."""
    data = scene.show(scene.state(height=1.0))
    hand = scene.body(f"{side}_hand")
    before = data.xipos[hand].copy()
    data.qpos[scene.model.joint(f"{side}_wrist_bend").qposadr[0]] = -1.0
    mujoco.mj_kinematics(scene.model, data)
    assert outwards * (data.xipos[hand] - before)[1] > 0.03


def thrown_down(scene: Scene) -> np.ndarray:
    """A state in which the character falls on its face at 3 m/s from 0.4 m."""
    data = scene.show(scene.state("t-pose", lying="prone", height=0.4))
    data.qvel[2] = -3.0
    return scene.read(data)


def flown(planner: CPBP, state: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Of every step of a plan and each hand: who was about to hit something, the wrists' bends, the bounds."""
    scene, sims = planner.scene, planner.sims
    columns = [list(scene.character.joints).index(f"{side}_wrist_bend") for side in ("left", "right")]
    boxes = np.array([row(box.middle, box.half, box.turn) for box in scene.props]).reshape(-1, 8)
    act, seen = sims.act, []

    def spied(control):
        for column, hand in zip(columns, scene.character.hands, strict=True):
            hit = about_to_hit(sims.view(f"{hand}.pos"), sims.view(f"{hand}.vel"), boxes)
            seen.append((hit, control[:, column].copy(), scene.drive.low[column]))
        act(control)

    sims.act = spied
    planner.plan(state, balance(scene))
    del sims.act
    return seen


@pytest.mark.parametrize("props", [(), (Box("step", (0.5, 0.3, 0.1), (0.4, 0.4, 0.1), 0.5),)], ids=["ground", "box"])
def test_hands_that_are_about_to_hit_bend_back_at_full_speed(props):
    scene = Scene(humanoid(), props)
    planner = CPBP(scene, CPBPSettings(samples=8, horizon=0.3, wrist_rule=True, resample_below=0.0), 0, 1)
    hits = 0
    for hit, bend, low in flown(planner, thrown_down(scene)):
        assert (bend[hit] == low).all()
        assert (bend[~hit] > low).any() or hit.all()
        hits += hit.sum()
    assert hits > 8


def test_without_the_rule_wrists_do_as_they_like(scene):
    planner = CPBP(scene, CPBPSettings(samples=8, horizon=0.3, resample_below=0.0), 0, 1)
    seen = flown(planner, thrown_down(scene))
    assert sum(hit.sum() for hit, _, _ in seen) > 8
    assert not any((bend[hit] == low).any() for hit, bend, low in seen)


def test_the_rule_follows_walkers_through_resampling(scene):
    """Sensors keep the old order after a resampling; the rule must not."""
    planner = CPBP(scene, CPBPSettings(samples=8, horizon=0.4, wrist_rule=True, resample_below=1.0), 0, 1)
    planner.plan(thrown_down(scene), balance(scene))
    tree = planner.tree()
    assert tree.resampled[1:].all()
    column = list(scene.character.joints).index("left_wrist_bend")
    place = 3 * scene.character.ends.index("left_hand")
    half = tree.states.shape[2] // 2
    mixed = 0
    for k in range(len(tree.controls)):
        ends = tree.states[k, tree.ancestors[k]]
        hit = about_to_hit(ends[:, place : place + 3], ends[:, half + place :][:, :3], np.empty((0, 8)))
        assert np.array_equal(hit, tree.controls[k, :, column] == scene.drive.low[column])
        mixed += 0 < hit.sum() < 8
    assert mixed > 0


def test_the_rule_can_be_switched(scene):
    on = CPBPSettings(samples=8, horizon=0.3, wrist_rule=True)
    off = CPBPSettings(samples=8, horizon=0.3)
    planner = CPBP(scene, off, 0, 1)
    for settings in (off, on, off):
        planner = planner.configured(settings)
        planner.reset()
        fresh = CPBP(scene, settings, 0, 1)
        state = thrown_down(scene)
        assert np.array_equal(planner.plan(state, balance(scene)).controls, fresh.plan(state, balance(scene)).controls)


def test_no_wrists_no_rule():
    scene = toy.scene()
    with pytest.raises(UserError, match=r"the wrist rule needs hands with a joint '\.\.wrist_bend'; 'point' has none"):
        CPBP(scene, CPBPSettings(samples=8, horizon=0.3, wrist_rule=True), 0, 1)
    assert Sims(scene, 2, 1).view("ends").shape == (2, 6)
