"""The toy: closed-form dynamics, costs by hand, and C-PBP steering it past the obstacles."""

import numpy as np
import pytest

from tumble.characters import humanoid
from tumble.errors import UserError
from tumble.planners import CPBP
from tumble.scenarios import toy
from tumble.world.drives import Force, Servo
from tumble.world.scene import Scene
from tumble.world.sims import Sims


@pytest.fixture(scope="module")
def world():
    return toy.scene()


def test_dynamics_are_those_of_a_point_mass(world):
    scene, dt = world, 1 / 30
    assert scene.dt == dt
    sims, rng = Sims(scene, 4, 1), np.random.default_rng(0)
    sims.load(toy.start(scene, height=0.3, rise=-0.5))
    height, rise = np.full(4, 0.3), np.full(4, -0.5)
    for step in range(1, 40):
        control = rng.uniform(-1, 1, (4, 1))
        sims.act(control)
        rise = rise + toy.STRENGTH * control[:, 0] * dt
        height = height + rise * dt
        place, velocity = sims.view("point.pos"), sims.view("point.vel")
        assert place[:, 2] == pytest.approx(height, abs=1e-12)
        assert velocity[:, 2] == pytest.approx(rise, abs=1e-12)
        assert place[:, 0] == pytest.approx(step * dt * toy.SPEED)
        assert velocity[:, 0] == pytest.approx(toy.SPEED)
        assert np.array_equal(place[:, 1], np.zeros(4))


def test_obstacles_are_in_the_cost_alone(world):
    """Straight through the discs and through the ground: nothing stops it, the goal counts it."""
    sims, goal = Sims(world, 1, 1), toy.goal()
    sims.load(toy.start(world, height=toy.OBSTACLES[0][1]))
    deepest = 0.0
    for step in range(1, 46):
        sims.act(np.zeros((1, 1)))
        x, _, z = sims.view("point.pos")[0]
        assert (x, z) == pytest.approx((step * world.dt * toy.SPEED, toy.OBSTACLES[0][1]))
        deep = [max(0.0, r - np.hypot(x - a, z - b)) for a, b, r in toy.OBSTACLES]
        value = sum((d / 0.02) ** 2 for d in deep), (z / 0.5) ** 2
        assert goal.values(sims)[0] == pytest.approx(value)
        deepest = max(deepest, *deep)
    assert deepest > 0.9 * toy.OBSTACLES[0][2]
    assert sims.view("point.ground").sum() == 0


def test_the_target_sways_in_time(world):
    sims, goal = Sims(world, 1, 1), toy.goal(height=0.2, obstacles=(), sway=0.1)
    sims.load(toy.start(world))
    for step in range(1, 31):
        sims.act(np.zeros((1, 1)))
        target = 0.2 + 0.1 * np.sin(np.pi * step * world.dt)
        assert goal.values(sims)[0] == pytest.approx([0.0, (target / 0.5) ** 2])


def test_the_drive_is_force(world):
    drive = world.drive
    assert isinstance(drive, Force) and list(world.drives) == ["force"]
    assert (drive.size, drive.joints, list(drive.names)) == (1, 1, ["lift"])
    assert drive.low.tolist() == [-1] and drive.high.tolist() == [1]
    assert (drive.steps, drive.timestep) == (1, world.dt)
    assert world.character.ends == ("point",)


def test_recipes_name_the_drives(world, scene):
    with pytest.raises(UserError, match="nobody knows how to make 'point' again, as recordings must"):
        world.recipe  # noqa: B018
    assert scene.recipe["drives"] == ["servo", "torque"]
    forced = Scene(humanoid(), drives=["force"])
    again = Scene.from_recipe(forced.recipe)
    assert isinstance(again.drive, Force)
    assert again.fingerprint == forced.fingerprint != scene.fingerprint
    assert isinstance(Scene.from_recipe(scene.recipe).drive, Servo)
    older = {key: value for key, value in scene.recipe.items() if key != "drives"}
    with pytest.raises(UserError, match="not a scene of this version of tumble: 'drives'"):
        Scene.from_recipe(older)
    with pytest.raises(
        UserError, match=r"no drive 'forc'; there are: force, pd, servo, torque \(did you mean 'force'\?\)"
    ):
        Scene.from_recipe({**scene.recipe, "drives": ["forc"]})


def flown(scene, settings, seed, nthread=1, frames=45, sway=0.0) -> tuple[np.ndarray, float]:
    """Heights on an online flight past the obstacles, and the deepest penetration."""
    world, planner, goal = Sims(scene, 1, 1), CPBP(scene, settings, seed, nthread), toy.goal(sway=sway)
    world.load(toy.start(scene))
    heights, deepest = [], 0.0
    for _ in range(frames):
        world.act(planner.plan(world.state[0].copy(), goal).controls[:1])
        heights.append(world.view("point.pos")[0, 2])
        deepest = max(deepest, toy.depths(world.view("point.pos"), np.array(toy.OBSTACLES)).max())
    return np.array(heights), deepest


@pytest.mark.parametrize("noise", [False, True])
def test_cpbp_avoids_the_obstacles_and_comes_to_the_target(world, noise):
    """In 8 of 10 flights or more: 4 cm deep at most (2 sigma), at the end within 0.25 m (half a sigma)."""
    flights = [flown(world, toy.settings(noise=noise), seed) for seed in range(10)]
    fine = [deepest < 0.04 and abs(heights[-1]) < 0.25 for heights, deepest in flights]
    assert sum(fine) >= 8


def test_doing_nothing_hits(world):
    sims = Sims(world, 1, 1)
    sims.load(toy.start(world))
    costs = []
    for _ in range(45):
        sims.act(np.zeros((1, 1)))
        costs.append(toy.depths(sims.view("point.pos"), np.array(toy.OBSTACLES)).max())
    assert max(costs) > 0.2


@pytest.mark.parametrize("noise", [False, True])
def test_same_seed_same_flight_at_any_thread_count(world, noise):
    one, two, other = (
        flown(world, toy.settings(16, noise=noise), seed, nthread, 12)[0] for seed, nthread in ((3, 1), (3, 2), (4, 1))
    )
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != other.tobytes()


def test_all_samples_replay_from_the_tree(world):
    """Every branch, pruned or not, is what its controls do."""
    planner = CPBP(world, toy.settings(8), 0, 1)
    plan = planner.plan(toy.start(world), toy.goal())
    tree = planner.tree()
    sims = Sims(world, 1, 1)
    sims.load(toy.start(world))
    for k, control in enumerate(plan.controls):
        sims.act(control[None])
        assert np.array_equal(plan.path[k], sims.view("ends")[0, :3])
        assert (tree.states[k + 1, :, :3] == plan.path[k]).all(axis=1).any()
