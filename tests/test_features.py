"""Features, rajamaki2017 eqs. 5 and 6: against MuJoCo and scipy, and what turns and moves with them."""

import mujoco
import numpy as np
import pytest
from bodies import ANY_LEGS
from scipy.spatial.transform import Rotation

from tumble.characters import CHARACTERS, character
from tumble.goals import Goal, balance, gait
from tumble.goals.course import Course
from tumble.planners.features import Features
from tumble.world.props import Ball
from tumble.world.scene import Scene
from tumble.world.sims import Sims

LOUD = 10  # facts 5.2: weight of the target speed, the recovery mode and the feet
each = pytest.mark.parametrize("name", ANY_LEGS)
SINGLE = 1e-5  # features are float32, and numbers up to some tens


@pytest.fixture(scope="module")
def scenes() -> dict[str, Scene]:
    return {name: Scene(character(name)) for name in ANY_LEGS}


@pytest.fixture(scope="module")
def walker(scenes) -> Scene:
    return scenes["humanoid-walker"]


def anyhow(scene: Scene, seed: int = 0, height: float = 1.0) -> np.ndarray:
    """A state with joints within their limits, a free root turned anyhow, and everything moving."""
    rng, data = np.random.default_rng(seed), scene.show(scene.state(height=height))
    low, high = np.array([scene.model.joint(joint).range for joint in scene.character.joints]).T
    data.qpos[scene.drive.qpos] = rng.uniform(low, high)
    if scene.model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
        data.qpos[:2] = rng.uniform(-3, 3, 2)
        data.qpos[3:7] = Rotation.random(rng=rng).as_quat(scalar_first=True)
    data.qvel[:] = rng.standard_normal(scene.model.nv)
    return scene.read(data)


def spun(scene: Scene, state: np.ndarray, angle: float, shift=(0.0, 0.0)) -> np.ndarray:
    """The state of a free root with the whole world turned about the vertical, rad, and moved, m."""
    turn, data = Rotation.from_euler("z", angle), scene.show(state)
    data.qpos[:3] = turn.apply(data.qpos[:3]) + np.r_[shift, 0]
    data.qpos[3:7] = (turn * Rotation.from_quat(data.qpos[3:7], scalar_first=True)).as_quat(scalar_first=True)
    data.qvel[:3] = turn.apply(data.qvel[:3])
    return scene.read(data)


def seen(scene: Scene, goal: Goal, *states: np.ndarray, recovering: bool = False) -> np.ndarray:
    """(states, size): their features."""
    features, sims = Features(scene), Sims(scene, len(states), 1)
    sims.load(np.array(states))
    out = np.full((len(states), features.size), np.nan, np.float32)
    features.of(sims, goal, recovering, out)
    return out


def expected(scene: Scene, state: np.ndarray, bearing: float, speed: float, recovering: bool) -> np.ndarray:
    """Eqs. 5 and 6 by mj_objectVelocity and scipy, in axes turned by the bearing (rad)."""
    data, back = scene.show(state), Rotation.from_euler("z", -bearing)
    com = data.body(scene.character.root).subtree_com
    both = np.empty(6)

    def motion(bone: str) -> tuple[np.ndarray, np.ndarray]:
        mujoco.mj_objectVelocity(scene.model, data, mujoco.mjtObj.mjOBJ_BODY, scene.body(bone), both, 0)
        return both[:3].copy(), both[3:].copy()

    numbers = [LOUD * speed, LOUD * recovering]
    for foot in scene.character.feet:
        numbers += [LOUD * data.body(foot).xipos[2], LOUD * motion(foot)[1][2]]
    for bone in scene.bones:
        place, (spin, velocity) = data.body(bone).xipos, motion(bone)
        turned = back * Rotation.from_quat(data.body(bone).xquat, scalar_first=True)
        numbers += [*back.apply(place - com)[:2], place[2], *back.apply(velocity)]
        numbers += [*turned.as_quat(scalar_first=True, canonical=True), *back.apply(spin)]
    return np.array(numbers)


@each
def test_sizes(scenes, name):
    wanted = {"humanoid-walker": 175, "monoped": 43, "quadruped": 127, "planar-walker": 123}  # facts 5.3 has the first
    assert Features(scenes[name]).size == wanted[name]


@pytest.mark.parametrize("name", CHARACTERS)
def test_bones_are_bodies_in_one_run(name):
    scene = Scene(character(name), [Ball()])
    first = scene.body(scene.bones[0])
    assert [scene.body(bone) for bone in scene.bones] == list(range(first, first + len(scene.bones)))


@each
@pytest.mark.parametrize("recovering", [False, True])
def test_every_number_by_mujoco_and_scipy(scenes, name, recovering):
    scene = scenes[name]
    states = [anyhow(scene, seed) for seed in range(3)]
    for bearing in (0.0, 0.6, 2.5, np.pi, -1.9):
        goal = gait(scene, velocity=(1.5 * np.cos(bearing), 1.5 * np.sin(bearing)))
        found = seen(scene, goal, *states, recovering=recovering)
        for row, state in zip(found, states, strict=True):
            assert row == pytest.approx(expected(scene, state, bearing, 1.5, recovering), abs=SINGLE)


def test_a_ball_beside_is_none_of_its_bones(walker):
    both = Scene(character("humanoid-walker"), [Ball()])
    state = anyhow(both)
    found = seen(both, gait(both, velocity=(0, 2)), state)[0]
    assert found == pytest.approx(expected(both, state, np.pi / 2, 2.0, False), abs=SINGLE)
    assert found.size == Features(walker).size


def test_the_way_to_a_target_is_that_of_the_centre_of_mass(walker):
    state = anyhow(walker, 3)
    com = walker.show(state).body("pelvis").subtree_com
    target = com[:2] + 4.0 * np.array([np.cos(-2.2), np.sin(-2.2)])
    found = seen(walker, gait(walker, target=(*target, 0.0)), state)[0]
    assert found == pytest.approx(expected(walker, state, -2.2, 1.0, False), abs=SINGLE)


@pytest.mark.parametrize("name", ["humanoid-walker", "monoped", "quadruped"])
@pytest.mark.parametrize("angle", [0.5, 1.7, np.pi, -2.8])
def test_turning_and_moving_state_and_course_together_changes_nothing(scenes, name, angle):
    scene, velocity, target = scenes[name], np.array([0.3, -0.9, 0.0]), np.array([2.0, 5.0, 0.0])
    turn, shift = Rotation.from_euler("z", angle), np.array([11.0, -4.0, 0.0])
    states = [anyhow(scene, seed) for seed in range(4)]
    moved = [spun(scene, state, angle, shift[:2]) for state in states]
    before = seen(scene, gait(scene, velocity=velocity[:2]), *states)
    assert seen(scene, gait(scene, velocity=turn.apply(velocity)[:2]), *moved) == pytest.approx(before, abs=SINGLE)
    assert seen(scene, gait(scene, velocity=velocity[:2]), *moved) != pytest.approx(before, abs=1e-2)
    before = seen(scene, gait(scene, target=target), *states)
    there = gait(scene, target=turn.apply(target) + shift)
    assert seen(scene, there, *moved) == pytest.approx(before, abs=SINGLE)


def test_height_is_seen(walker):
    state = walker.state()
    low, high = seen(walker, gait(walker, velocity=(1, 0)), state, walker.state(height=0.25))
    feet = 2 * len(walker.character.feet)
    change = np.zeros(low.size)
    change[2 : 2 + feet : 2] = LOUD * 0.25
    change[2 + feet + 2 :: 13] = 0.25
    assert high - low == pytest.approx(change, abs=SINGLE)


def test_speed_and_recovery_mode_come_first(walker):
    state = anyhow(walker)
    rows = [
        seen(walker, gait(walker, velocity=(speed, 0)), state, recovering=recovering)[0]
        for speed, recovering in ((0.5, False), (2.0, True))
    ]
    assert [row[:2].tolist() for row in rows] == [[5.0, 0.0], [20.0, 10.0]]
    assert np.array_equal(rows[0][2:], rows[1][2:])


@pytest.mark.parametrize("angle", [0.0, 1.0, -2.5])
def test_without_a_course_all_is_seen_by_the_roots_heading(walker, angle):
    state = walker.state()
    data = walker.show(state)
    data.qvel[:] = np.random.default_rng(0).standard_normal(walker.model.nv)
    state = spun(walker, walker.read(data), angle)
    facing = Goal(course=Course(0.0, (np.cos(angle), np.sin(angle))))
    found = seen(walker, balance(walker), state)
    assert found == pytest.approx(seen(walker, facing, state), abs=SINGLE)
    assert found[0, 0] == 0


def test_without_a_course_turning_changes_nothing(scenes):
    for scene in (scenes["humanoid-walker"], scenes["monoped"]):
        goal, state = Goal(), anyhow(scene, 5)
        turned = [spun(scene, state, angle, (1.0, 2.0)) for angle in (0.0, 0.9, 3.0, -2.0)]
        found = seen(scene, goal, *turned)
        assert found == pytest.approx(np.tile(found[0], (4, 1)), abs=SINGLE)


def test_q_and_minus_q_are_one_orientation(walker):
    state = anyhow(walker, 2)
    data = walker.show(state)
    data.qpos[3:7] *= -1
    one, other = seen(walker, gait(walker, velocity=(1, 1)), state, walker.read(data))
    assert one == pytest.approx(other, abs=SINGLE)


@pytest.mark.parametrize("lying", ["supine", "prone"])
def test_lying_which_has_no_heading_is_turned_somehow(walker, lying):
    """No turn changes how far bones are from the centre of mass, or how quick they are."""
    data = walker.show(walker.state(lying=lying))
    data.qvel[:] = np.random.default_rng(0).standard_normal(walker.model.nv)
    rows = [seen(walker, goal, walker.read(data))[0] for goal in (Goal(), gait(walker, velocity=(1, 0)))]
    found, wanted = (row[6:].reshape(-1, 13) for row in rows)
    for numbers in (slice(0, 2), slice(3, 6), slice(6, 10), slice(10, 13)):
        assert np.linalg.norm(found[:, numbers], axis=1) == pytest.approx(np.linalg.norm(wanted[:, numbers], axis=1))
