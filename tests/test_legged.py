"""The bodies of rajamaki2017: sizes, masses, limits, symmetry, rest, and calm under random control."""

import mujoco
import numpy as np
import pytest
from bodies import ANY_LEGS

from tumble.characters import character
from tumble.characters.legged_parts import Size
from tumble.world.placing import lowest
from tumble.world.scene import Scene
from tumble.world.sims import Sims

each = pytest.mark.parametrize("name", ANY_LEGS)

# Facts 5.3: mass in kg; bones; joints; groups.
WHOLE = {
    "humanoid-walker": (30.0, 13, 24, 5),
    "monoped": (10.0, 3, 6, 1),
    "quadruped": (30.0, 9, 12, 4),
    "planar-walker": (25.18, 9, 6, 2),  # without arms: 30 - 2 (1.09 + 1.32)
}
# Radius and length in m, mass in kg.
WALKER = {
    "pelvis": (0.09, 0.25, 5.41), "torso": (0.09, 0.25, 5.41), "head": (0.065, 0.25, 2.57),
    "thigh": (0.05, 0.405, 2.13), "shin": (0.05, 0.45, 2.33), "foot": (0.05, 0.25, 1.43),
    "upper_arm": (0.04, 0.324, 1.09), "forearm": (0.04, 0.405, 1.32),
}  # fmt: skip
# Degrees; a positive angle flexes, where the authors' hips, spine, shoulders and elbows have the other sign.
LIMITS = {
    "hip_bend": (-30, 130), "hip_twist": (-30, 30), "hip_side": (-15, 70), "knee": (5, 160), "ankle": (-45, 15),
    "spine_bend": (-15, 45), "spine_side": (-30, 30), "spine_twist": (-30, 30),
    "neck_bend": (-7.5, 22.5), "neck_side": (-15, 15), "neck_twist": (-15, 15),
    "shoulder_bend": (-60, 150), "shoulder_twist": (-15, 15), "shoulder_side": (-15, 150), "elbow": (1, 120),
}  # fmt: skip


def plain(name: str) -> str:
    """A name without its side and its end."""
    for word in ("left_", "right_", "front_", "hind_"):
        name = name.removeprefix(word)
    return name


def posed(scene: Scene, angles: dict[str, float]) -> mujoco.MjData:
    """The scene's data at rest but for some joints (rad), in the air."""
    data = scene.show(scene.state(height=1.0))
    for joint, angle in angles.items():
        data.joint(joint).qpos[0] = angle
    mujoco.mj_forward(scene.model, data)
    return data


def solids(scene: Scene, bone: str) -> list[int]:
    """The capsules of a bone that collide."""
    mine = scene.model.geom_bodyid == scene.body(bone)
    return list(np.flatnonzero(mine & (scene.model.geom_conaffinity != 0)))


def limits(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.array([scene.model.joint(joint).range for joint in scene.character.joints]).T
    return low, high


@pytest.fixture(scope="module")
def scenes() -> dict[str, Scene]:
    return {name: Scene(character(name)) for name in ANY_LEGS}


# Sizes ----------------------------------------------------------------------------------------------


@each
def test_masses_bones_and_joints(name, scenes):
    model, one = scenes[name].model, scenes[name].character
    mass, bones, joints, groups = WHOLE[name]
    assert model.body_subtreemass[1] == pytest.approx(mass, abs=0.01)
    assert len(scenes[name].bones) == model.nbody - 1 == bones
    assert [len(solids(scenes[name], bone)) for bone in scenes[name].bones] == bones * [1]
    assert len(one.joints) == joints and len(one.groups) == groups
    assert model.nu == len(scenes[name].drives) * joints
    assert {joint.strength for joint in one.joints.values()} == {160.0}  # twice the paper's 80 N m


@pytest.mark.parametrize("name", ["humanoid-walker", "planar-walker"])
def test_walkers_bones_are_those_of_the_authors(name, scenes):
    scene = scenes[name]
    for bone in scene.bones:
        (geom,), (radius, length, mass) = solids(scene, bone), WALKER[plain(bone)]
        hidden = 0.05 if plain(bone) == "shin" else 0.0  # its end is in the foot
        assert scene.model.geom_size[geom, 0] == pytest.approx(radius)
        assert 2 * scene.model.geom_size[geom, 1] == pytest.approx(length - hidden)
        assert scene.model.body(bone).mass[0] == pytest.approx(mass, abs=0.006)


def test_walkers_joints_are_where_the_authors_have_them(scenes):
    scene = scenes["humanoid-walker"]
    data = posed(scene, dict.fromkeys(scene.character.joints, 0.0))
    place = {bone: data.body(bone).xpos - data.body("pelvis").xpos for bone in scene.bones}
    assert place["left_thigh"] == pytest.approx([0, 0.11, 0], abs=1e-9)
    assert place["head"] - place["left_upper_arm"] == pytest.approx([0, -0.165, 0.025], abs=1e-9)
    assert place["left_foot"] - place["left_thigh"] == pytest.approx([0, 0, -0.855], abs=1e-9)
    (sole,) = solids(scene, "left_foot")
    ends = data.geom_xpos[sole, 0] + scene.model.geom_size[sole, 1] * np.array([-1, 1]) - data.body("left_foot").xpos[0]
    assert ends == pytest.approx([-0.07, 0.18])


def test_the_hidden_end_of_a_shin_weighs(scenes):
    """Its centre of mass and inertia are those of the whole capsule, by the formula that MuJoCo's thigh confirms."""
    model = scenes["humanoid-walker"].model
    shin, thigh = model.body("left_shin"), model.body("left_thigh")
    assert shin.ipos == pytest.approx([0, 0, -0.225], abs=1e-9)
    assert thigh.ipos == pytest.approx([0, 0, -0.2025], abs=1e-9)
    for body, size in ((shin, Size(0.05, 0.45)), (thigh, Size(0.05, 0.405))):
        across, along = size.inertia(body.mass[0])
        assert sorted(body.inertia) == pytest.approx([along, across, across])


def test_monoped_and_quadruped_sizes(scenes):
    for name, sizes in (
        ("monoped", {"torso": (0.05, 0.5), "thigh": (0.05, 0.5), "shin": (0.05, 0.5)}),
        ("quadruped", {"torso": (0.1, 0.75), "thigh": (0.05, 0.405), "shin": (0.05, 0.45)}),
    ):
        model = scenes[name].model
        for bone in scenes[name].bones:
            (geom,) = solids(scenes[name], bone)
            assert (model.geom_size[geom, 0], 2 * model.geom_size[geom, 1]) == pytest.approx(sizes[plain(bone)])
            assert model.body(bone).mass[0] / Size(*sizes[plain(bone)]).volume == pytest.approx(
                model.body_subtreemass[1] / sum(Size(*sizes[plain(other)]).volume for other in scenes[name].bones)
            )


@each
def test_limits(name, scenes):
    low, high = np.degrees(limits(scenes[name]))
    for joint, *found in zip(scenes[name].character.joints, low, high, strict=True):
        if name == "monoped":
            wanted = (-15, 15) if "twist" in joint else (-90, 90)
        elif name == "quadruped":
            wanted = (1, 90) if "knee" in joint else (-30, 30)
        else:
            wanted = LIMITS[plain(joint)]
        assert found == pytest.approx(wanted)


# Angles ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("joint", "part", "axis", "sign"),
    [
        ("left_hip_bend", "left_foot", 0, 1),  # forwards
        ("left_hip_side", "left_foot", 1, 1),  # out
        ("right_hip_side", "right_foot", 1, -1),
        ("left_knee", "left_foot", 0, -1),  # back
        ("right_elbow", "right_forearm", 0, 1),
        ("right_shoulder_side", "right_forearm", 1, -1),
        ("left_shoulder_bend", "left_forearm", 0, 1),
        ("spine_bend", "head", 0, 1),
        ("neck_bend", "head", 0, 1),
    ],
)
def test_a_positive_angle_flexes(joint, part, axis, sign, scenes):
    scene = scenes["humanoid-walker"]
    rest, bent = posed(scene, {}), posed(scene, {joint: 0.2})
    assert sign * (bent.body(part).xipos - rest.body(part).xipos)[axis] > 0.02


def test_a_positive_angle_of_an_ankle_lifts_the_toes(scenes):
    scene = scenes["humanoid-walker"]
    assert posed(scene, {"left_ankle": 0.2}).body("left_foot").xmat[6] > 0.1


def test_the_quadrupeds_elbows_point_back_and_its_knees_ahead(scenes):
    scene = scenes["quadruped"]
    bent = posed(scene, {joint: 1.0 for joint in scene.character.joints if "knee" in joint})
    for side in ("left", "right"):
        for end, sign in (("front", 1), ("hind", -1)):
            shin = bent.body(f"{side}_{end}_shin")
            assert sign * (shin.xipos - shin.xpos)[0] > 0.1


@each
def test_mirrored_angles_mirror_the_body(name, scenes):
    """Left for right, and in the middle what goes to a side to the other."""
    scene, rng = scenes[name], np.random.default_rng(0)
    angles = dict(zip(scene.character.joints, rng.uniform(*limits(scene)), strict=True))
    swap = {"left": "right", "right": "left"}

    def other(part: str) -> str:
        side, _, rest = part.partition("_")
        return f"{swap[side]}_{rest}" if side in swap else part

    def turned(joint: str) -> float:
        return -angles[joint] if other(joint) == joint and not joint.endswith("bend") else angles[joint]

    one, two = posed(scene, angles), posed(scene, {other(joint): turned(joint) for joint in angles})
    for bone in scene.bones:
        assert two.body(other(bone)).xipos == pytest.approx(one.body(bone).xipos * [1, -1, 1], abs=1e-9)


# Standing -------------------------------------------------------------------------------------------


@each
def test_rest_is_within_limits_on_level_feet(name, scenes):
    scene = scenes[name]
    low, high = limits(scene)
    for pose in scene.character.poses:
        angles = np.array(scene.character.pose(pose))
        assert ((low <= angles) & (angles <= high)).all()
    data, model = scene.show(scene.state()), scene.model
    for foot in scene.character.feet:
        (geom,) = solids(scene, foot)
        half = model.geom_size[geom, 1] * data.geom_xmat[geom].reshape(3, 3)[:, 2]
        ends = data.geom_xpos[geom, 2] + np.array([-half[2], half[2]]) - model.geom_size[geom, 0]
        assert ends.min() == pytest.approx(0, abs=1e-9)
        if foot.endswith("foot"):
            assert ends.max() == pytest.approx(0, abs=1e-9)
    for bone in (scene.character.root, scene.character.trunk):
        assert data.body(bone).xmat[8] == pytest.approx(1)


@pytest.mark.parametrize("name", ["humanoid-walker", "quadruped", "planar-walker"])
def test_motors_hold_the_rest_pose_on_the_feet(name, scenes, still):
    scene = scenes[name]
    sims = Sims(scene, 1, 1)
    sims.load(scene.state())
    before = sims.view("com")[0].copy()
    for _ in range(30):
        sims.act(still.control(sims))
    assert sims.view("com")[0] == pytest.approx(before, abs=0.04)  # soft motors sag
    assert ((sims.view("grounded")[0] > 0) == [bone in scene.character.feet for bone in scene.bones]).all()


@each
def test_sensors(name, scenes):
    scene, one = scenes[name], scenes[name].character
    names = {"com", "com_velocity", "ends", "grounded", f"{one.root}.up", f"{one.trunk}.up", f"{one.root}.spin"}
    names |= {f"{one.head}.forward", f"{one.head}.touch", *(f"{part}.pos" for part in one.ends)}
    assert names <= set(scene.channels)
    sims = Sims(scene, 2, 1)
    sims.load(scene.state(height=2.0))
    assert sims.view(f"{one.root}.up")[0] == pytest.approx([0, 0, 1])
    assert not sims.view("grounded").any() and sims.view("grounded").shape == (2, len(scene.bones))


@each
def test_only_a_left_leg_meets_a_right_one(name, scenes):
    model = scenes[name].model
    for a in range(model.ngeom):
        for b in range(a):
            bones = [model.body(model.geom_bodyid[geom]).name for geom in (a, b)]
            meet = (
                model.geom_contype[a] & model.geom_conaffinity[b] or model.geom_contype[b] & model.geom_conaffinity[a]
            )
            legs = [bone.partition("_")[0] for bone in bones if plain(bone) in ("thigh", "shin", "foot")]
            sides = set(legs) == {"left", "right"} and name != "planar-walker"
            assert bool(meet) == ("world" in bones or sides), bones


@each
def test_recipe_makes_it_again(name, scenes):
    again = Scene.from_recipe(scenes[name].recipe)
    assert again.character.name == name
    assert again.fingerprint == scenes[name].fingerprint


# Moving ---------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("limit", [0.5, 1.0])  # of 160 N m
def test_random_reference_angles_are_stable_at_a_thirtieth_of_a_second(name, limit, scenes):
    scene, drive, rng = scenes[name], scenes[name].drive, np.random.default_rng(2)
    low, high = limits(scene)
    sims = Sims(scene, 64, 2)
    sims.load(scene.state())
    control, fastest = np.full((64, drive.size), limit), 0.0
    for frame in range(60):
        if frame % 10 == 0:
            wanted = rng.uniform(low, high, (64, drive.joints))
        control[:, : drive.joints] = 10 * (wanted - sims.view("qpos")[:, drive.qpos])
        sims.act(control)
        fastest = max(fastest, np.abs(sims.view("qvel")[:, drive.qvel]).max())
    assert not sims.broken.any()
    assert 1 < fastest < 25  # rad/s
    assert np.abs(sims.view("com_velocity")).max() < 12  # a monoped of 10 kg with 160 N m jumps


def test_the_planar_walker_stays_in_its_plane(scenes):
    scene, drive, rng = scenes["planar-walker"], scenes["planar-walker"].drive, np.random.default_rng(3)
    sims = Sims(scene, 16, 1)
    sims.load(scene.state())
    sims.view("xfrc_applied")[:, scene.body("torso"), :3] = rng.uniform(-100, 100, (16, 3))
    for _ in range(60):
        sims.act(rng.uniform(drive.low, drive.high, (16, drive.size)))
    qpos = sims.view("qpos")
    assert np.abs(qpos[:, [1, 4, 6]]).max() < 1e-4  # y, roll, yaw
    assert np.abs(qpos[:, 0]).max() > 0.3 and np.abs(qpos[:, 5]).max() > 0.3  # not so x and pitch
    assert np.linalg.norm(qpos[:, 3:7], axis=1) == pytest.approx(1)


@pytest.mark.parametrize("lying", ["supine", "prone"])
def test_all_can_lie(lying, scenes):
    for scene in scenes.values():
        data = scene.show(scene.state(lying=lying))
        assert abs(data.body(scene.character.root).xmat[8]) < 1e-9
        assert lowest(scene.model, data, scene.root()) == pytest.approx(0, abs=1e-9)
