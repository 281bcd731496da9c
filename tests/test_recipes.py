"""Recipes: every body is made again from its recipe, a stranger's MJCF and a user's own included, anywhere."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import asdict, replace

import mujoco
import numpy as np
import pytest

from tumble.characters import CHARACTERS, Character, Joint, biped, character, from_mjcf, from_recipe, humanoid, register
from tumble.errors import UserError
from tumble.goals.wants import Go
from tumble.live.recording import Recorder, Recording
from tumble.live.session import Session
from tumble.planners import CPBP, CPBPSettings, Planned
from tumble.userfile import load
from tumble.world.placing import lowest
from tumble.world.props import Companion
from tumble.world.scene import Scene
from tumble.world.sims import Sims

LEG = """
  <body name="{side}_thigh" pos="0 {y} -0.1">
    <joint name="{side}_hip" axis="0 -1 0" range="-60 90"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05"/>
    <body name="{side}_foot" pos="0 0 -0.3">
      <joint name="{side}_ankle" axis="0 -1 0" range="5 30"/>
      <geom type="capsule" fromto="-0.05 0 -0.05 0.15 0 -0.05" size="0.04"/>
    </body>
  </body>"""
XML = f"""
<mujoco model="strider">
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="torso" pos="0 0 0.5">
      <freejoint/>
      <geom type="capsule" fromto="0 -0.1 0 0 0.1 0" size="0.1"/>
      <body pos="0 0 0.1"><body name="head" pos="0 0 0.2"><geom size="0.1"/></body></body>
      {LEG.format(side="left", y=0.1)}{LEG.format(side="right", y=-0.1)}
    </body>
  </worldbody>
  <actuator>
    <motor joint="left_hip" gear="40" ctrlrange="-2 2"/> <motor joint="right_hip" gear="40" ctrlrange="-2 2"/>
    <position joint="left_ankle" kp="9" forcerange="-30 30"/> <position joint="right_ankle" kp="9" forcerange="-30 30"/>
  </actuator>
  <sensor><accelerometer site="head"/></sensor>
  <keyframe><key qpos="0 0 1 1 0 0 0 0 0.2 0 0.2"/></keyframe>
</mujoco>""".replace('<geom size="0.1"/>', '<geom size="0.1"/><site name="head"/>')
CUBE = "\n".join(f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1)).encode()
CUBE += "".join(
    f"\nf {' '.join(f)}" for f in ["124", "143", "578", "586", "156", "162", "348", "387", "137", "175", "268", "284"]
).encode()
MESH = XML.replace("<site", '<geom type="mesh" mesh="cube" mass="0"/><site')
MESH = MESH.replace("<worldbody>", '<asset><mesh name="cube" file="cube.obj" scale=".1 .1 .1"/></asset><worldbody>')

BODIES = {name: lambda name=name: character(name) for name in CHARACTERS} | {
    "wide humanoid": lambda: humanoid(height=1.9, mass=90, shoulders=1.3, name="wide"),
    "limping biped": lambda: biped("limping", left_knee=0.1, legs=1.15, girth=1.1),
    "strider": lambda: from_mjcf(XML),
    "strider with a mesh": lambda: from_mjcf(MESH, "cubist", assets={"cube.obj": CUBE}),
    "strider in detail": lambda: from_mjcf(
        XML, "detailed", head="torso", joints={"left_hip": Joint("l", 50.0, 0.5), "right_hip": ("r", 60, 1)},
        poses={"split": {"left_hip": 0.5, "right_hip": -0.5}}, motor_gain=0.5,
    ),
}  # fmt: skip
each_body = pytest.mark.parametrize("name", BODIES)


def fingerprint(body: Character) -> str:
    """Of the compiled model."""
    model = body.build().compile()
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return hashlib.sha256(buffer.tobytes()).hexdigest()


def sent(recipe) -> dict:
    """Through a file."""
    return json.loads(json.dumps(recipe))


@each_body
def test_a_recipe_is_the_same_body(name):
    one = BODIES[name]()
    again = from_recipe(sent(one.recipe))
    assert sent(again.recipe) == sent(one.recipe)
    assert fingerprint(again) == fingerprint(one)
    assert replace(again, build=one.build, origin=one.origin) == one  # names, joints and poses
    assert again.capabilities == one.capabilities


def test_recipes_tell_bodies_apart():
    assert len({fingerprint(BODIES[name]()) for name in BODIES}) == len(BODIES)


ELSEWHERE = """
import json, sys
sys.path.insert(0, {tests!r})
from test_recipes import fingerprint
from tumble.characters import from_recipe
recipes = json.load(sys.stdin)
from tumble.userfile import load
load({file!r})
print(json.dumps({{name: fingerprint(from_recipe(recipe)) for name, recipe in recipes.items()}}))
"""
TRIPOD = """
import mujoco
from tumble.characters import Character, Joint, register
from tumble.characters.character import add_sensors

def tripod(length: float = 0.5, feet: int = 3) -> Character:
    def build():
        spec = mujoco.MjSpec()
        body = spec.worldbody.add_body(name="hub", pos=(0, 0, length))
        body.add_freejoint()
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=(0.1, 0, 0))
        for i in range(feet):
            leg = body.add_body(name=f"leg_{i}", pos=(0.1 * i, 0, 0))
            leg.add_joint(name=f"hip_{i}", axis=(0, 1, 0))
            leg.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=(0, 0, 0, 0, 0, -length), size=(0.03, 0, 0))
        add_sensors(spec, made, [bone.name for bone in spec.bodies if bone.name != "world"])
        return spec

    names = tuple(f"leg_{i}" for i in range(feet))
    made = Character("tripod", build, {f"hip_{i}": Joint("legs", 50, 1) for i in range(feet)}, "hub", "hub", "hub",
                     feet=names, hands=(), arms=(), poses={"rest": {}})
    return made

register("tripod", tripod, "a hub on three legs")
"""


@pytest.fixture
def tripod(tmp_path, registries):
    """The file of a user's own body, loaded."""
    path = tmp_path / "mine.py"
    path.write_text(TRIPOD)
    load(path)
    return path


def test_every_body_is_the_same_in_another_process(tripod):
    bodies = {name: BODIES[name]() for name in BODIES} | {"own": character("tripod", length=0.7)}
    code = ELSEWHERE.format(tests=str(__file__.rpartition("/")[0]), file=str(tripod))
    recipes = json.dumps({name: body.recipe for name, body in bodies.items()})
    done = subprocess.run([sys.executable, "-c", code], input=recipes, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {name: fingerprint(body) for name, body in bodies.items()}


def test_a_users_body_is_told_by_its_name_and_all_arguments(tripod):
    body = character("tripod", feet=4)
    assert body.recipe == {"kind": "tripod", "file": "mine.py", "length": 0.5, "feet": 4}
    assert fingerprint(from_recipe(sent(body.recipe))) == fingerprint(body) != fingerprint(character("tripod"))
    assert body.capabilities == {"legs-4"}


def test_a_users_body_that_is_ours_underneath_is_told_as_his(registries):
    def odd(mass: float = 80.0) -> Character:
        plain = humanoid(mass=mass)
        return replace(plain, build=lambda: biped().build())  # whose recipe would be a lie

    register("odd", odd, "not what it says")
    assert character("odd").recipe == {"kind": "odd", "file": "test_recipes.py", "mass": 80.0}


def test_a_scene_of_a_users_body(tripod):
    scene = Scene(character("tripod"))
    assert Scene.from_recipe(sent(scene.recipe)).fingerprint == scene.fingerprint


def test_no_recipe_no_recording(still):
    body = replace(humanoid(), origin=None, name="nobody's")
    scene = Scene(body)
    still.move(scene)
    session = Session(scene, still, scene.state())
    with pytest.raises(UserError, match="nobody knows how to make 'nobody's' again, as recordings must: register"):
        Recorder(session, "stand", "still", 0)


def test_a_recording_of_a_stranger_replays(tmp_path):
    scene, settings = Scene(from_mjcf(XML)), CPBPSettings(samples=4, horizon=0.1)
    session = Session(scene, Planned(CPBP(scene, settings)), scene.state(), Go(speed=0.5, heading=0.0))
    recorder = Recorder(session, "stand", "cpbp", 0, asdict(settings))
    for _ in range(5):
        session.step()
    recorder.recording.save(tmp_path / "a.npz")
    assert Recording.load(tmp_path / "a.npz").first_difference() is None


# MJCF -----------------------------------------------------------------------------------------------


def test_parts_of_a_stranger_are_guessed():
    one = from_mjcf(XML)
    assert (one.name, one.root, one.trunk, one.head) == ("strider", "torso", "torso", "head")
    assert (one.feet, one.hands, one.arms) == (("left_foot", "right_foot"), (), ())
    assert one.capabilities == {"biped", "legs-2"}
    strengths = {name: joint.strength for name, joint in one.joints.items()}
    assert strengths == {"left_hip": 80, "left_ankle": 30, "right_hip": 80, "right_ankle": 30}
    assert one.groups == ("left_leg", "right_leg")
    assert one.poses["rest"] == dict.fromkeys(("left_ankle", "right_ankle"), 0.2)  # of its keyframe


def test_a_stranger_stands_in_a_scene(still):
    scene = Scene(from_mjcf(XML))
    assert scene.bones == ("torso", "bone_2", "head", "left_thigh", "left_foot", "right_thigh", "right_foot")
    sims = Sims(scene, 1, 1)
    sims.load(scene.state())
    assert lowest(scene.model, scene.show(scene.state()), scene.root()) == pytest.approx(0, abs=1e-9)
    still.move(scene)
    for _ in range(15):
        sims.act(still.control(sims))
    assert not sims.broken.any() and sims.view("left_foot.ground")[0] > 0 and sims.view("torso.pos")[0, 2] > 0.4
    assert Scene.from_recipe(sent(scene.recipe)).fingerprint == scene.fingerprint


def test_a_stranger_is_read_from_a_file(tmp_path):
    path = tmp_path / "strider.xml"
    path.write_text(XML)
    assert from_mjcf(path).recipe == from_mjcf(str(path)).recipe == from_mjcf(XML).recipe
    recipe = from_mjcf(path).recipe
    path.unlink()
    assert from_recipe(sent(recipe)).name == "strider"


def test_hands_bring_their_arms():
    arms = XML.replace("_thigh", "_arm").replace("_foot", "_hand")
    one = from_mjcf(arms, feet=("torso",))
    assert (one.hands, one.arms) == (("left_hand", "right_hand"), ("left_arm", "right_arm"))
    assert one.capabilities == {"hands", "legs-1"}


def test_a_stranger_can_be_a_companion():
    recipe = from_mjcf(XML).recipe
    both = Scene(biped(), [Companion("ana", recipe, (2.0, 0.0))])
    assert Scene.from_recipe(sent(both.recipe)).fingerprint == both.fingerprint


BAD = [
    (lambda: from_recipe({}), "the recipe of a character must name its kind, such as {'kind': 'humanoid'}"),
    (lambda: from_recipe({"height": 1.8}), "the recipe of a character must name its kind"),
    (lambda: from_recipe({"kind": ["humanoid"]}), "the recipe of a character must name its kind"),
    (lambda: from_recipe({"kind": "humanoit"}), "no character 'humanoit'; there are: beast1, "),
    (
        lambda: from_recipe({"kind": "humanoid", "wings": 2}),
        "cannot make character 'humanoid': got an unexpected keyword",
    ),
    (
        lambda: character("monoped", legs=2),
        "cannot make character 'monoped': got an unexpected keyword argument 'legs'; it takes: nothing",
    ),
    (
        lambda: from_recipe({"kind": "tripod", "file": "mine.py"}),
        "character 'tripod' is not known here, it comes from mine.py; load it first: tumble",
    ),
    (
        lambda: from_recipe({"kind": "mjcf", "legs": 2}),
        "cannot make character 'mjcf': missing a required argument: 'xml'",
    ),
    (lambda: register("mjcf", humanoid, "x"), "character 'mjcf' must have another name: recipes use that themselves"),
    (lambda: register("a", lambda file: None, "x"), "character 'a' must have another argument 'file': recipes use"),
    (lambda: from_mjcf("strider.xml"), "no MJCF strider.xml: give the path of an XML file, or its text"),
    (lambda: from_mjcf("<mujoco>"), "cannot read the MJCF: "),
    (
        lambda: from_mjcf('<mujoco><include file="a.xml"/></mujoco>'),
        "an MJCF that includes other files is not all there",
    ),
    (
        lambda: from_mjcf(MESH),
        "the MJCF names files that are not in it: cube.obj; give their contents, such as assets={'cube.obj': ",
    ),
    (lambda: from_mjcf(MESH, assets={"ball.obj": CUBE}), "the MJCF names files that are not in it: cube.obj"),
    (lambda: from_mjcf("<mujoco/>"), "the MJCF of a character has a body in the world, its root; there is none"),
    (
        lambda: from_mjcf(XML, feet=("left_foot", "rigt_foot")),
        "no body 'rigt_foot' in the MJCF, given as feet; there are: ",
    ),
    (lambda: from_mjcf(XML, palms=("left_palm",)), "no site 'left_palm' in the MJCF, given as palms; there are: head"),
    (lambda: from_mjcf(XML, joints={"hip": ("l", 3, 1)}), "no hinge 'hip' in the MJCF, given in joints; there are: "),
    (
        lambda: from_mjcf(XML, joints={"left_hip": 3}),
        "joint 'left_hip' must be a Joint or (group, strength, activity), got 3",
    ),
    (
        lambda: from_mjcf(XML, poses={"sit": {"hip": 1}}),
        "no joint 'hip' with a motor, in pose 'sit'; there are: left_ankle",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:50] for _, message in BAD])
def test_what_is_refused_and_how(call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call()


def test_assets_travel_as_text():
    recipe = from_mjcf(MESH, assets={"cube.obj": CUBE}).recipe
    assert base64.b64decode(recipe["assets"]["cube.obj"]) == CUBE


def test_arguments_must_be_plain(registries):
    register("shy", lambda size=1.0: humanoid(), "a body with an argument")
    with pytest.raises(UserError, match="arguments of character 'shy' must be numbers, words and lists of them"):
        character("shy", size=object())
    register("cat", lambda: "miaow", "no body at all")
    with pytest.raises(UserError, match=r"character 'cat' of .*, line \d+ must be made as a Character, got 'miaow'"):
        character("cat")
