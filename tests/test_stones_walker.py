"""Stones anywhere in space, and the walker that steps onto them."""

import mujoco
import numpy as np
import pytest

from tumble.characters import biped
from tumble.goals.wants import Balance, Go
from tumble.scenarios import Trial
from tumble.scenarios.stones_walker import FIRST, GapsWalked, SteppingStones, share_of
from tumble.stepping.placer import Placer
from tumble.stepping.planning import FAR
from tumble.world.props import Stone, prop_recipe, remake_prop
from tumble.world.scene import Ground, Scene

# ---- stones as props


def test_a_tilted_stone_has_its_top_where_it_is_said_to_be():
    stone = Stone("s", (1.0, 0.2, 0.1), 0.3, (0.15, 0.1), (0.1, -0.05), 0.4)
    scene = Scene(biped(), [stone])
    data = scene.show(scene.state())
    geom = scene.model.geom("s").id
    turn = np.array(data.geom_xmat[geom]).reshape(3, 3)
    assert np.allclose(turn, stone.rotation)
    assert np.allclose(data.geom_xpos[geom] + turn[:, 2] * scene.model.geom_size[geom, 2], stone.place)
    assert stone.rotation[2, 0] < 0.0  # the nose is down
    assert stone.rotation[2, 1] < 0.0  # and the right side is up: it is tilted by less than 0
    assert scene.model.geom_conaffinity[geom] == 1
    painted = Scene(biped(), [Stone("s", (1, 0, 0))])
    assert mujoco.mj_name2id(painted.model, mujoco.mjtObj.mjOBJ_GEOM, "s") == -1  # only seen


def test_a_stone_with_a_tilt_comes_back_from_its_recipe():
    stone = Stone("s", (1.0, 0.2, 0.1), 0.3, (0.15, 0.1), (0.1, -0.05), 0.4)
    recipe = prop_recipe(stone)
    assert remake_prop({**recipe, "tilt": list(recipe["tilt"])}) == stone


# ---- how much of a sole is on a stone


@pytest.mark.parametrize("shift, share", [(0.0, 1.0), (0.15, 5 / 9), (0.3, 0.0)])
def test_the_share_of_a_sole_on_a_stone(shift, share):
    stone = Stone("s", (0.0, 0.0, 0.2), half=(0.15, 0.1), depth=0.4)
    middle = np.array([shift, 0.0, 0.2])
    along = np.array([0.1, 0.0, 0.0])
    assert share_of(stone, middle - along, middle + along, 0.1) == pytest.approx(share)


def test_a_sole_high_above_a_stone_is_not_on_it():
    stone = Stone("s", (0.0, 0.0, 0.0), half=(0.15, 0.1), depth=0.4)
    assert share_of(stone, np.array([-0.1, 0, 0.06]), np.array([0.1, 0, 0.06]), 0.1) == 0.0


def test_a_sole_along_a_tilted_stone_is_on_it():
    stone = Stone("s", (0.0, 0.0, 0.3), half=(0.15, 0.1), tilt=(0.17, 0.1), depth=0.4)
    along = 0.1 * stone.rotation[:, 0]
    middle = np.array(stone.place)
    assert share_of(stone, middle - along, middle + along, 0.08) == 1.0


# ---- the controller and its scenarios


def placer(scenario, seed=0):
    return Placer(scenario.scene(biped(), seed))


def test_who_steps_from_stone_to_stone_goes_nowhere_else():
    made = placer(SteppingStones(count=1))
    assert made.refuses(None, Go()) is None
    assert made.refuses(None, Go(heading=1.0)) == "who steps from stone to stone takes no heading"
    assert "does not" in made.refuses(None, Balance())


def test_stones_are_where_the_options_say():
    stones = SteppingStones(lateral=0.15, height=0.2, tilt=10.0, spread=0.05).stones(3)[len(FIRST) : -3]
    places = np.array([stone.place for stone in stones])
    widths = np.abs(np.diff(places[:, 1]))
    assert len(stones) == 20 and np.abs(widths - 0.2).max() <= 0.15 and widths.std() > 0.05
    assert places[:, 2].min() >= 0.0 and places[:, 2].max() <= 0.2
    assert np.abs([stone.tilt for stone in stones]).max() <= np.radians(10.0)
    assert [stone.depth for stone in stones] == pytest.approx(0.4 + places[:, 2])  # they stand on the deep plane


def test_a_wide_gap_is_stepped_over_and_not_into():
    scenario = GapsWalked(width=0.3, spacing=1.0)
    made = placer(scenario)
    low, _ = made._footing.gaps[0]
    for x in np.linspace(low - 0.8, low - 0.12, 9):
        middles, _, _ = made._ahead(np.array([x, 0.1, 0.0]), 9, -1.0)
        half = 0.5 * made.soles.foot.length
        assert made._footing.share(middles[:, 0] - half, middles[:, 0] + half) == pytest.approx(1.0)
        assert middles[0, 0] - x < FAR


@pytest.mark.parametrize(
    "options",
    [{"count": 4, "lateral": 0.1}, {"count": 16, "spacing": 0.6}, {"count": 16, "spread": 0.15, "spacing": 0.45}],
)
def test_a_walker_steps_onto_stones_beside_the_way_and_far_apart(options):
    scenario = SteppingStones(**options)
    scene = scenario.scene(biped(), 1)
    trial = Trial(scenario, 1, "placer", scene=scene, made=Placer(scene))
    while not trial.over:
        trial.step()
    assert trial.result().success
    assert scenario.footfalls(trial.history).min() > 0.6


def test_the_hips_are_carried_over_a_higher_stone():
    scenario = SteppingStones(count=1, height=0.1)
    lasts = [f"stone-{len(FIRST) + j}" for j in range(2)]
    scene = scenario.scene(biped(), 3)
    top = {stone.name: stone.place[2] for stone in scenario.stones(3)}[lasts[0]]
    trial = Trial(scenario, 3, "placer", scene=scene, made=Placer(scene))
    knees = []
    while not trial.over:
        trial.step()
        memory = trial.session.world.memory("walker")[0]
        if memory.placed and memory.mode == 2:
            knees.append((int(memory.footstrikes), float(memory.hip_height - memory.ground)))
    up = [height for strike, height in knees if strike == len(FIRST) + 2]  # over the stone
    assert top > 0.03 and up[-1] > up[0] + 0.3 * top  # it landed with a bent knee, and has risen
    assert trial.result().success


def test_the_deep_ground_is_no_stone():
    scene = SteppingStones(count=2).scene(biped(), 0)
    assert scene.ground == Ground(0.8, depth=0.4)
