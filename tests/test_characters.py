"""Bodies: sizes, masses, joints, symmetry, collisions, and a contract for all of them."""

import re
from itertools import combinations
from pathlib import Path

import mujoco
import numpy as np
import pytest
from bodies import STANCES, able
from scipy.spatial import ConvexHull

from tumble.characters import CAPABILITIES, CHARACTERS, Character, biped, character, humanoid
from tumble.characters.humanoid import planted
from tumble.errors import UserError
from tumble.goals.judging import built
from tumble.world.props import Ball
from tumble.world.scene import Scene
from tumble.world.sims import Sims

each_character = pytest.mark.parametrize("name", CHARACTERS)
HELD = [name for name in STANCES if name.startswith("humanoid")]  # by stiff motors; others are held by a controller


def at(scene: Scene, angles: dict[str, float], height: float = 1.0) -> mujoco.MjData:
    """The scene's data with some joints at angles (rad), the root upright at a height (m)."""
    data = mujoco.MjData(scene.model)
    data.qpos[:7] = (0, 0, height, 1, 0, 0, 0)
    for joint, angle in angles.items():
        data.joint(joint).qpos[0] = angle
    mujoco.mj_forward(scene.model, data)
    return data


def extent(scene: Scene, data: mujoco.MjData) -> float:
    """From the lowest to the highest point of the solid capsules, m."""
    model = scene.model
    solid = model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE
    z = data.geom_xpos[solid, 2]
    half = model.geom_size[solid, 1] * np.abs(data.geom_xmat[solid, 8]) + model.geom_size[solid, 0]
    return float((z + half).max() - (z - half).min())


def span(scene: Scene, a: str, b: str) -> float:
    """Distance between two bodies' origins with all joints at 0, m."""
    data = at(scene, {})
    return float(np.linalg.norm(data.body(a).xpos - data.body(b).xpos))


def mass(scene: Scene) -> float:
    return float(scene.model.body_subtreemass[scene.body(scene.character.root)])


def com_height(scene: Scene) -> float:
    return float(scene.show(scene.state()).body(scene.character.root).subtree_com[2])


def side_of_leg(scene: Scene, geom: int) -> str:
    """'left' or 'right' for geoms of a leg, else ''."""
    name = scene.model.body(scene.model.geom_bodyid[geom]).name
    side, _, part = name.partition("_")
    return side if part in ("thigh", "shin", "foot") else ""


# The humanoid ---------------------------------------------------------------------------------------


def test_fifteen_bones_thirty_hinges_and_a_free_root(scene):
    model = scene.model
    assert len(scene.bones) == 15 == model.nbody - 1
    assert list(model.jnt_type) == [mujoco.mjtJoint.mjJNT_FREE] + 30 * [mujoco.mjtJoint.mjJNT_HINGE]
    assert model.nu == 30 * len(scene.drives) and len(scene.character.joints) == 30
    for drive in scene.drives.values():
        columns = np.arange(model.nu)[drive.columns]
        assert [model.joint(model.actuator_trnid[i, 0]).name for i in columns] == list(scene.character.joints)
        assert set(model.actuator_group[columns]) == {drive.group}
    assert (model.nq, model.nv) == (37, 36)
    assert model.jnt_limited[1:].all()


def test_height_and_mass(scene):
    assert extent(scene, at(scene, {})) == pytest.approx(1.75, abs=0.01)
    assert mass(scene) == pytest.approx(70, abs=0.01)
    assert scene.model.body_mass[1:].min() > 0.3


def test_variants():
    plain, light, heavy = (Scene(character(name)) for name in ("humanoid", "humanoid-light", "humanoid-heavy"))
    assert mass(light) == pytest.approx(50, abs=0.01)
    assert mass(heavy) == pytest.approx(70 * 1.2846, abs=0.01)  # the torso's 28.46 % once more
    assert com_height(light) == pytest.approx(com_height(plain), abs=1e-9)
    assert com_height(heavy) > com_height(plain) + 0.05
    assert extent(heavy, at(heavy, {})) == pytest.approx(1.75, abs=0.01)


def test_proportions_change_sizes(scene):
    tall = Scene(humanoid(height=2.0))
    assert extent(tall, at(tall, {})) == pytest.approx(2.0, abs=0.01)
    assert mass(tall) == pytest.approx(70, abs=0.01)
    for options, (a, b), factor in (
        ({"legs": 1.2}, ("left_thigh", "left_foot"), 1.2),
        ({"arms": 0.8}, ("left_upper_arm", "left_hand"), 0.8),
        ({"shoulders": 1.5}, ("left_upper_arm", "right_upper_arm"), 1.5),
    ):
        assert span(Scene(humanoid(**options)), a, b) == pytest.approx(factor * span(scene, a, b), rel=1e-6)
    assert mass(Scene(humanoid(mass=35))) == pytest.approx(35, abs=0.01)


def test_strength_grows_with_weight_and_lever():
    small, large = humanoid(), humanoid(height=3.5, mass=140)
    for name, joint in small.joints.items():
        assert large.joints[name].strength == pytest.approx(4 * joint.strength)


def test_mirrored_poses_are_mirror_images(scene):
    rng = np.random.default_rng(0)
    middle = {"spine_side": -1, "spine_twist": -1, "neck_side": -1, "neck_twist": -1}
    swap = {"left": "right", "right": "left"}

    def twin(name: str) -> str:
        side, _, rest = name.partition("_")
        return f"{swap[side]}_{rest}" if side in swap else name

    for _ in range(5):
        angles = {joint: rng.uniform(-0.5, 0.5) for joint in scene.character.joints}
        mirrored = {twin(joint): middle.get(joint, 1) * angle for joint, angle in angles.items()}
        one, other = at(scene, angles), at(scene, mirrored)
        for bone in scene.bones:
            assert other.body(twin(bone)).xipos == pytest.approx(one.body(bone).xipos * [1, -1, 1], abs=1e-9)


@pytest.mark.parametrize(
    ("joint", "body", "axis", "sign"),
    [
        ("left_hip_bend", "left_foot", 0, 1),  # flexes: the foot goes forwards
        ("left_knee", "left_foot", 0, -1),
        ("left_elbow", "left_hand", 0, 1),
        ("left_ankle", "left_foot", 2, 1),  # lifts the toes
        ("spine_bend", "head", 0, 1),
        ("left_shoulder_side", "left_hand", 1, 1),  # away from the middle
        ("right_shoulder_side", "right_hand", 1, -1),
        ("left_hip_side", "left_foot", 1, 1),
        ("right_hip_side", "right_foot", 1, -1),
    ],
)
def test_a_positive_angle_flexes_lifts_or_spreads(scene, joint, body, axis, sign):
    moved = at(scene, {joint: 0.3}).body(body).xipos - at(scene, {}).body(body).xipos
    assert sign * moved[axis] > 0.005


def test_contact_filter_lets_legs_touch_each_other_and_all_touch_the_ground(scene):
    model = scene.model
    ground = model.geom("ground").id
    for a, b in combinations(range(model.ngeom), 2):
        if model.geom_bodyid[a] == model.geom_bodyid[b]:
            continue
        meet = bool(
            model.geom_contype[a] & model.geom_conaffinity[b] or model.geom_contype[b] & model.geom_conaffinity[a]
        )
        legs = {side_of_leg(scene, a), side_of_leg(scene, b)} == {"left", "right"}
        assert meet == (legs or ground in (a, b))


def test_overlapping_bones_collide_only_between_the_legs(scene):
    rng = np.random.default_rng(0)
    met = 0
    for _ in range(100):  # any angles: limbs go through each other everywhere
        data = at(scene, {joint: rng.uniform(-2, 2) for joint in scene.character.joints}, height=5)
        for a, b in data.contact.geom:
            assert {side_of_leg(scene, a), side_of_leg(scene, b)} == {"left", "right"}
            met += 1
    assert met > 0
    crossed = at(scene, {"left_hip_side": -0.3, "right_hip_side": -0.3}, height=5)
    assert crossed.ncon > 0


BAD = [
    (lambda: humanoid(height=0.1), "height must be a number 0.5 or more and at most 4, got 0.1"),
    (lambda: humanoid(height=float("nan")), "height must be a number 0.5 or more and at most 4, got nan"),
    (lambda: humanoid(mass=-70), "mass must be a number 5 or more and at most 1000, got -70"),
    (lambda: humanoid(legs=3), "legs must be a number 0.5 or more and at most 2, got 3"),
    (lambda: humanoid(arms=0), "arms must be a number 0.5 or more and at most 2, got 0"),
    (lambda: humanoid(shoulders=float("inf")), "shoulders must be a number 0.5 or more and at most 2, got inf"),
    (lambda: humanoid(torso_mass=9), "torso_mass must be a number 0.2 or more and at most 5, got 9"),
    (lambda: character("humanoit"), "no character 'humanoit'; there are: beast1, beast2, big-bird, biped, "),
    (lambda: character("humanoit"), "(did you mean 'humanoid'?)"),
    (
        lambda: humanoid().pose("tpose"),
        "no pose 'tpose'; there are: ready, rest, t-pose, taiko (did you mean 't-pose'?)",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:30] for _, message in BAD])
def test_bad_calls(call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call()


# Stances --------------------------------------------------------------------------------------------

each_stance = pytest.mark.parametrize("pose", ["ready", "taiko"])
BODIES = {
    **{name: character(name) for name in STANCES},
    "short legs": humanoid(legs=0.5),
    "long legs": humanoid(legs=2.0),
    "long arms": humanoid(arms=2.0),
    "giant": humanoid(height=3.0, mass=200),
    "top-heavy": humanoid(torso_mass=5),
    "long-legged biped": biped(legs=1.5),
}
each_body = pytest.mark.parametrize("body", BODIES)


def sole(scene: Scene, data: mujoco.MjData, foot: str) -> np.ndarray:
    """(corners, 3): the lowest points of a foot's capsules at their ends."""
    model, mine = scene.model, scene.model.geom_bodyid == scene.body(foot)
    ends = model.geom_size[mine, 1, None] * data.geom_xmat[mine].reshape(-1, 3, 3)[:, :, 2]
    corners = np.concatenate([data.geom_xpos[mine] + ends, data.geom_xpos[mine] - ends])
    corners[:, 2] -= np.tile(model.geom_size[mine, 0], 2)
    return corners


def margin(place: np.ndarray, points: np.ndarray) -> float:
    """How far a place (2,) lies inside the convex hull of points (n, 2), m; below 0 outside."""
    edges = ConvexHull(points).equations
    return float(-(edges[:, :2] @ place + edges[:, 2]).max())


@each_stance
@each_body
def test_a_stance_has_both_soles_flat_on_the_ground(body, pose):
    scene = Scene(BODIES[body])
    data = scene.show(scene.state(pose))
    for foot in (*scene.character.feet, *scene.character.toes):
        assert np.abs(sole(scene, data, foot)[:, 2]).max() < 1e-6
        assert data.body(foot).xmat[8] == pytest.approx(1, abs=1e-9)
    assert min(data.contact.dist, default=0) > -1e-6  # legs keep clear of each other


@each_stance
@each_body
def test_a_stance_is_balanced_over_the_feet(body, pose):
    scene = Scene(BODIES[body])
    data = scene.show(scene.state(pose))
    soles = [sole(scene, data, foot)[:, :2] for foot in scene.character.feet]
    com = data.body(scene.character.root).subtree_com[:2]
    tips = [sole(scene, data, toe)[:, :2] for toe in scene.character.toes]
    assert margin(com, np.concatenate(soles + tips)) > 0.03
    left, right = (corners.mean(0) for corners in soles)
    share = (com - right) @ (left - right) / ((left - right) @ (left - right))  # of the weight on the left foot
    assert 0.4 < share < 0.65


@each_stance
@each_body
def test_a_stance_is_low_upright_and_within_limits(body, pose):
    scene = Scene(BODIES[body])
    rest, data = (scene.show(scene.state(name)) for name in ("rest", pose))
    root, trunk = scene.character.root, scene.character.trunk
    tall = data.body(root).xipos[2] / rest.body(root).xipos[2]
    assert {"ready": 0.92, "taiko": 0.885}[pose] < tall < 0.95  # 0.85 is balanced
    assert data.body(trunk).xmat[8] > np.cos(np.radians(8))
    low, high = np.array([scene.model.joint(joint).range for joint in scene.character.joints]).T
    angles = np.array(scene.character.pose(pose))
    assert ((low <= angles) & (angles <= high)).all()


@each_body
def test_fists_up_when_ready_one_hand_up_as_a_drummer(body):
    scene = Scene(BODIES[body])
    ready, taiko = (scene.show(scene.state(pose)) for pose in ("ready", "taiko"))
    elbows, (left, right) = ("left_forearm", "right_forearm"), scene.character.hands
    for elbow, hand in zip(elbows, scene.character.hands, strict=True):
        assert ready.body(hand).xipos[2] > ready.body(elbow).xpos[2] + 0.05
        assert ready.body(hand).xipos[0] > ready.body("torso").xipos[0] + 0.12
    assert taiko.body(right).xipos[2] > taiko.body("torso").xipos[2] + 0.25 > taiko.body(left).xipos[2]
    assert taiko.body("left_foot").xpos[0] > taiko.body("right_foot").xpos[0] + 0.3
    assert taiko.joint("left_knee").qpos[0] > 2 * taiko.joint("right_knee").qpos[0]


@each_stance
@pytest.mark.parametrize("name", STANCES)
def test_motors_hold_a_stance_for_two_seconds(name, pose):
    scene = Scene(character(name))
    sims, drive, wanted = Sims(scene, 1, 1), scene.drive, np.array(scene.character.pose(pose))
    sims.load(scene.state(pose))
    before = sims.view("com")[0].copy()
    control = np.ones((1, drive.size))
    for _ in range(60):
        speeds = (wanted - sims.view("qpos")[0, drive.qpos]) / scene.dt
        control[0, : drive.joints] = np.clip(speeds, drive.low[: drive.joints], drive.high[: drive.joints])
        sims.act(control)
    assert sims.view("com")[0] == pytest.approx(before, abs=0.01)
    assert np.linalg.norm(sims.view("com_velocity")) < 0.01
    standing = (*scene.character.feet, *scene.character.toes)
    assert ((sims.view("grounded")[0] > 0) == [bone in standing for bone in scene.bones]).all()


@pytest.mark.parametrize("ahead", [-0.3, 0.0, 0.2])
@pytest.mark.parametrize(("turn", "lean"), [(0.0, 0.0), (0.4, 0.0), (-0.5, 0.0), (0.3, 0.1), (-0.2, 0.15)])
def test_a_planted_leg_ends_where_it_was_asked_to(scene, ahead, turn, lean):
    angles = planted(0.43, 0.42, 0.7, ahead, turn, lean)
    names = ("hip_bend", "hip_side", "hip_twist", "knee", "ankle")
    data = at(scene, {f"left_{name}": angle for name, angle in zip(names, angles, strict=True)})
    foot, way = data.body("left_foot").xmat.reshape(3, 3), data.body("left_foot").xpos - data.body("left_thigh").xpos
    along, across = np.array([np.cos(turn), np.sin(turn), 0]), np.array([-np.sin(turn), np.cos(turn), 0])
    down, out = 0.7 * np.cos(lean), 0.7 * np.sin(lean)
    assert way == pytest.approx(ahead * along + out * across - [0, 0, down], abs=1e-9)
    assert foot[:, 0] == pytest.approx(along, abs=1e-9)  # it points where the plane does, level
    assert foot[2, 2] == pytest.approx(np.cos(lean), abs=1e-9)


# Capabilities ---------------------------------------------------------------------------------------

UPRIGHT = [*STANCES[:3], "humanoid25", *STANCES[3:]]
ABLE = {
    "biped": [*UPRIGHT, "biped34", "big-bird", "raptor", "humanoid-walker"],
    "planar": ["planar-bird", "planar", "planar-walker"],
    "legs-1": ["monoped"],
    "legs-2": [*UPRIGHT, "biped34", "big-bird", "raptor", "planar-bird", "planar", "humanoid-walker", "planar-walker"],
    "legs-4": ["quadruped"],
    "hands": [*UPRIGHT, "biped34", "raptor", "humanoid-walker"],
    "palms": ["biped", "robot", "beast1", "beast2"],
    "toes": ["biped", "robot", "beast1", "beast2"],
    "jointed-back": ["biped", "robot", "beast1", "beast2"],
    "steps": ["biped34", "big-bird", "raptor", "planar-bird", "planar"],
    "pd": ["humanoid25"],
    "t-pose": [*UPRIGHT, "humanoid-walker"],
}


@pytest.mark.parametrize("word", ABLE)
def test_who_can_do_what(word):
    assert able(word) == ABLE[word]


def test_every_word_is_explained():
    words = {word for name in CHARACTERS for word in character(name).capabilities}
    assert words == set(ABLE)
    assert {"legs-N" if word.startswith("legs-") else word for word in words} == set(CAPABILITIES)
    page = (Path(__file__).parents[1] / "docs" / "vocabulary.md").read_text()
    assert all(f"`{word}`" in page for word in CAPABILITIES)


@each_character
def test_capabilities_are_what_the_compiled_body_has(name):
    scene = Scene(character(name))
    one, model, words = scene.character, scene.model, scene.character.capabilities
    free = bool(model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE)
    assert ("planar" in words) == (not free)
    assert f"legs-{len(one.feet)}" in words
    assert ("palms" in words) == (model.nsite > 0)
    assert ("jointed-back" in words) == ("lower_back" in scene.bones)


def test_who_lacks_a_capability_is_told():
    body = character("monoped")
    body.require("nothing")
    body.require("a hop", "legs-1")
    message = "juggling wants a body with biped, hands; 'monoped' has: legs-1 (see 'tumble list' for others)"
    with pytest.raises(UserError, match=re.escape(message)):
        body.require("juggling", "biped", "hands", "legs-1")


LACKING = [
    ("balance", {}, "monoped", "balance wants a body with biped; 'monoped' has: legs-1"),
    ("balance", {}, "planar", "balance wants a body with biped; 'planar' has: legs-2, planar, steps"),
    ("steer", {"velocity": (1.0, 0.0)}, "quadruped", "balance wants a body with biped"),
    ("turbo", {"velocity": (1.0, 0.0)}, "planar-walker", "turbo wants a body with biped"),
    ("juggle", {}, "quadruped", "balance wants a body with biped"),
    ("reach", {"target": (0.5, 0.0, 1.0)}, "big-bird", "reaching wants a body with hands"),
    ("ball", {}, "biped34", "balance on a ball wants a body with t-pose"),
]


@pytest.mark.parametrize(("goal", "options", "name", "message"), LACKING)
def test_goals_say_what_they_want_of_a_body(goal, options, name, message):
    with pytest.raises(UserError, match=re.escape(message)):
        built(goal, Scene(character(name), [Ball()]), options)


# Every character ------------------------------------------------------------------------------------


@each_character
def test_names_of_parts_exist(name):
    one: Character = character(name)
    scene = Scene(one)
    assert one.name == name
    for part in (*one.ends, one.trunk):
        assert part in scene.bones
    for sided in (one.feet, one.hands):
        assert len(sided) < 2 or sided[0].startswith("left")
    assert one.ends[0] == one.root
    assert all(joint.strength > 0 and joint.activity > 0 for joint in one.joints.values())
    assert set(one.groups) == {joint.group for joint in one.joints.values()}
    assert len(one.arms) == len(one.hands)
    assert set(one.arms) <= set(one.groups)


@pytest.mark.parametrize("name", able("hands", "t-pose"))
def test_an_arm_is_what_lies_between_trunk_and_hand(name):
    scene = Scene(character(name))
    model, one = scene.model, scene.character
    for arm, hand in zip(one.arms, one.hands, strict=True):
        chain, body = set(), scene.body(hand)
        while body != scene.body(one.trunk):
            assert body != 0, f"{hand} does not hang on the {one.trunk}"
            chain |= {model.joint(j).name for j in range(model.njnt) if model.jnt_bodyid[j] == body}
            body = model.body_parentid[body]
        assert chain == {joint for joint, told in one.joints.items() if told.group == arm}


@pytest.mark.parametrize("name", able("t-pose"))
def test_poses_that_goals_speak_of_exist(name):
    """A T-pose has the arms out level: hands at the height of the shoulders, farther apart than at rest."""
    scene = Scene(character(name))
    rest, spread = (scene.show(scene.state(pose)) for pose in ("rest", "t-pose"))
    for hand, side in zip(scene.character.hands, ("left", "right"), strict=True):
        assert spread.body(hand).xipos[2] == pytest.approx(spread.body(f"{side}_upper_arm").xpos[2], abs=0.01)
        assert abs(spread.body(hand).xipos[1]) > abs(rest.body(hand).xipos[1]) + 0.2


@each_character
def test_poses_are_within_the_joints_limits(name):
    scene = Scene(character(name))
    low, high = np.array([scene.model.joint(joint).range for joint in scene.character.joints]).T
    assert "rest" in scene.character.poses
    for pose, named in scene.character.poses.items():
        assert set(named) <= set(scene.character.joints)
        angles = np.array(scene.character.pose(pose))
        assert (low <= angles).all() and (angles <= high).all()


@pytest.mark.parametrize("name", HELD)
def test_holds_its_rest_pose(name, still):
    scene = Scene(character(name))
    sims = Sims(scene, 1, 1)
    sims.load(scene.state())
    before = sims.view(f"{scene.character.root}.pos").copy()
    for _ in range(round(1 / scene.dt)):
        sims.act(still.control(sims))
        assert not sims.broken.any()
        assert np.abs(sims.view("qvel")).max() < 1.0
    sunk = before[0, 2] - sims.view(f"{scene.character.root}.pos")[0, 2]
    assert -0.005 < sunk < 0.03
    on_ground = scene.show(sims.state[0]).contact
    assert len(on_ground.dist) > 0
    assert on_ground.dist.min() > -0.005
    feet = [bone in scene.character.feet for bone in scene.bones]
    assert ((sims.view("grounded")[0] > 0) == feet).all()
