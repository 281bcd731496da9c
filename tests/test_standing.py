"""Standing: pushes that plain PD control does not bear, calm at rest, rows apart from each other, any thread count."""

import re

import numpy as np
import pytest

from tumble.attraction.standing import SAGITTAL, StandingFeedback
from tumble.characters import character, humanoid
from tumble.errors import UserError
from tumble.world.scene import Scene
from tumble.world.sims import Sims

FRAMES = 60  # 2 s
UPRIGHT = np.cos(np.radians(25))
PUSH = 0.4  # m/s


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(character("humanoid25"))


@pytest.fixture(scope="module")
def standing(scene: Scene) -> StandingFeedback:
    return StandingFeedback(scene)


def pushed(scene: Scene, n: int, speed: float) -> np.ndarray:
    """States (n, nstate) of the stance, pushed evenly all around."""
    states, data = [], scene.show(scene.state("rest"))
    for angle in 2 * np.pi * np.arange(n) / n:
        data.qvel[:2] = speed * np.cos(angle), speed * np.sin(angle)
        states.append(scene.read(data))
    return np.array(states)


def after(scene: Scene, states: np.ndarray, standing: StandingFeedback, frames: int = FRAMES, nthread: int = 1) -> Sims:
    """Bodies some frames later."""
    sims, rows = Sims(scene, len(states), nthread), np.arange(len(states))
    sims.load(states)
    for _ in range(frames):
        sims.act(standing.control(sims, rows), standing.drive)
    return sims


def upright(sims: Sims) -> np.ndarray:
    """(n,): which stand, slowly."""
    slow = np.linalg.norm(sims.view("com_velocity"), axis=1) < 0.5
    return slow & (sims.view("torso.up")[:, 2] > UPRIGHT) & (sims.view("pelvis.pos")[:, 2] > 0.74)


def held(scene: Scene, states: np.ndarray) -> Sims:
    """Bodies under plain PD control to the stance, 2 s later."""
    sims, rest = Sims(scene, len(states), 1), np.tile(scene.character.pose("rest"), 2)
    sims.load(states)
    for _ in range(FRAMES):
        sims.act(np.tile(rest, (len(states), 1)), scene.drives["pd"])
    return sims


def test_it_bears_pushes_that_plain_control_does_not(scene: Scene, standing: StandingFeedback):
    states = pushed(scene, 24, PUSH)
    plain, ours = upright(held(scene, states)), upright(after(scene, states, standing))
    assert ours.sum() >= 20 and ours.sum() >= plain.sum() + 6, (ours.sum(), plain.sum())


def test_steps_bear_more_than_feedback_alone(scene: Scene, standing: StandingFeedback):
    states = pushed(scene, 24, 0.5)
    still = after(scene, states, StandingFeedback(scene, reflex=None))
    assert upright(after(scene, states, standing)).sum() > upright(still).sum()


def test_undisturbed_it_comes_to_rest_and_does_not_shake(scene: Scene, standing: StandingFeedback):
    sims = after(scene, scene.state("rest")[None], standing, 90)
    for _ in range(210):
        sims.act(standing.control(sims, np.array([0])), standing.drive)
        assert np.abs(sims.view("qvel")[0, 6:]).max() < 0.05  # rad/s
    assert np.abs(sims.view("qpos")[0, :2]).max() < 0.1


def test_it_does_not_matter_where_it_is_and_where_it_faces(scene: Scene, standing: StandingFeedback):
    state = scene.state("rest")
    there = scene.place(state, at=(3.0, -2.0), heading=2.0)
    sims, rows = Sims(scene, 2, 1), np.arange(2)
    sims.load(np.array([state, there]))
    control, features = standing.control(sims, rows), standing.features(sims, rows)
    np.testing.assert_allclose(control[0], control[1], atol=1e-9)
    np.testing.assert_allclose(features[0], features[1], atol=1e-9)


def test_left_and_right_mirror_each_other(scene: Scene, standing: StandingFeedback):
    states = pushed(scene, 4, 0.3)[[1, 3]]
    sims = Sims(scene, 2, 1)
    sims.load(states)
    features = standing.features(sims, np.arange(2))
    np.testing.assert_allclose(features[0, :SAGITTAL], features[1, :SAGITTAL], atol=1e-9)
    np.testing.assert_allclose(features[0, SAGITTAL:], -features[1, SAGITTAL:], atol=1e-9)
    control = dict(zip(standing.drive.names, standing.control(sims, np.arange(2)).T, strict=True))
    for name, (one, _) in control.items():
        swapped = name.replace("left", "?").replace("right", "left").replace("?", "right")
        sign = -1.0 if name.startswith(("spine_side", "spine_twist")) else 1.0
        assert one == pytest.approx(sign * control[swapped][1], abs=1e-9), name


def test_rows_do_not_know_of_each_other(scene: Scene, standing: StandingFeedback):
    sims = Sims(scene, 8, 1)
    sims.load(pushed(scene, 8, 0.9))
    together = standing.control(sims, np.arange(8))
    apart = np.concatenate([standing.control(sims, np.array([row])) for row in range(8)])
    np.testing.assert_array_equal(together, apart)
    np.testing.assert_array_equal(standing.control(sims, np.array([5, 2])), together[[5, 2]])


def test_threads_do_not_matter(scene: Scene, standing: StandingFeedback):
    states = pushed(scene, 6, 0.6)
    one, two = (after(scene, states, standing, 30, nthread).state.copy() for nthread in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_controls_are_within_bounds_whatever_happens(scene: Scene, standing: StandingFeedback):
    sims = after(scene, pushed(scene, 6, 3.0), standing, 20)
    control = standing.control(sims, np.arange(6))
    assert control.shape == (6, standing.drive.size)
    assert (control >= standing.drive.low).all() and (control <= standing.drive.high).all()


def test_a_body_in_the_air_does_not_step(scene: Scene, standing: StandingFeedback):
    state = scene.state("rest", height=1.0)
    state = np.array([state, state])
    sims = Sims(scene, 2, 1)
    sims.load(state)
    sims.view("qvel")[:, 0] = 2.0
    sims.refresh(standing.drive)
    np.testing.assert_array_equal(
        standing.control(sims, np.arange(2)), StandingFeedback(scene, reflex=None).control(sims, np.arange(2))
    )


def test_other_bodies_and_drives_are_refused(scene: Scene):
    with pytest.raises(UserError, match=re.escape("fitted to the body 'humanoid25', got 'humanoid'")):
        StandingFeedback(Scene(humanoid()))
    with pytest.raises(UserError, match=re.escape("needs the drive 'pd'; the scene has: torque")):
        StandingFeedback(Scene(character("humanoid25"), drives=["torque"]))
