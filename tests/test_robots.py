"""A robot of somebody's own: what is guessed of its MJCF, what is kept, and what a stranger's file may not do."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tumble.characters import Character, biped, character, from_mjcf, from_recipe
from tumble.characters.mjcf_parts import PartsFile, keep_parts, read_parts
from tumble.characters.mjcf_text import read_robot
from tumble.characters.own import menagerie, own_robot, robot_file, robots_of
from tumble.cli import dispatch
from tumble.cli.run_options import parse
from tumble.cli.trial_jobs import do_trial, recipe_of
from tumble.control.controller import closing
from tumble.errors import UserError
from tumble.export import Options, export
from tumble.live.recording import Recording
from tumble.planners import CPBPSettings
from tumble.scenarios import Trial
from tumble.scenarios.balancing import Pushed, Stand
from tumble.studio.packet import describe
from tumble.world.placing import lowest
from tumble.world.scene import Scene

TINY = ["--samples", "4", "--horizon", "0.1", "--threads", "1", "--seconds", "0.2"]
CUBE = "\n".join(f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1)).encode()
CUBE += "".join(
    f"\nf {' '.join(f)}" for f in ["124", "143", "578", "586", "156", "162", "348", "387", "137", "175", "268", "284"]
).encode()

LEG = """
  <body name="{s}_hip_link" pos="0 {y} -0.1">
    <joint name="{s}_hip_pitch" axis="0 1 0" range="-2 2"/>
    <geom class="solid" type="sphere" size="0.05"/>
    <body name="{s}_thigh_link">
      <joint name="{s}_hip_roll" axis="1 0 0" range="-0.5 0.5"/>
      <geom class="solid" fromto="0 0 -0.05 0 0 -0.25" size="0.04"/>
      <body name="{s}_knee_link" pos="0 0 -0.3">
        <joint name="{s}_knee" axis="0 1 0" range="0 2.5"/>
        <geom class="solid" fromto="0 0 -0.05 0 0 -0.25" size="0.04"/>
        <body name="{s}_ankle_link" pos="0 0 -0.3">
          <joint name="{s}_ankle_pitch" axis="0 1 0" range="-1 1"/>
          <geom class="solid" fromto="-0.05 0 -0.03 0.15 0 -0.03" size="0.03"/>
        </body>
      </body>
    </body>
  </body>"""
ARM = """
  <body name="{s}_shoulder_link" pos="0 {out} 0.35">
    <joint name="{s}_shoulder_roll" axis="1 0 0" range="-3 3"/>
    <joint name="{s}_shoulder_pitch" axis="0 1 0" range="-3 3"/>
    <geom class="solid" fromto="0 {a} 0 0 {a} -0.2" size="0.03"/>
    <body name="{s}_wrist_link" pos="0 {a} -0.25">
      <joint name="{s}_elbow" axis="0 1 0" range="-2 0"/>
      <geom class="solid" fromto="0 0 -0.03 0 0 -0.2" size="0.03"/>
      <site name="{s}_palm" pos="0 0 -0.2"/>
    </body>
  </body>"""
SIDES = (("left", 1), ("right", -1))
LEGS = "".join(LEG.format(s=side, y=0.1 * sign) for side, sign in SIDES)
ARMS = "".join(ARM.format(s=side, out=0.18 * sign, a=0.04 * sign) for side, sign in SIDES)
BODY = f"""
    <body name="pelvis" pos="0 0 0.8">
      <freejoint/> <light pos="0 0 1"/> <camera pos="1 0 0"/>
      <geom class="solid" type="box" size="0.06 0.1 0.06"/>
      <body name="chest_link" pos="0 0 0.1">
        <joint name="waist" axis="0 0 1" range="-1 1"/>
        <geom class="solid" type="box" size="0.06 0.12 0.12" pos="0 0 0.2"/>
        <geom type="mesh" mesh="cover" material="paint" contype="0" conaffinity="0" group="1"/>
        {ARMS}
      </body>
      {LEGS}
    </body>"""
MOTORS = "".join(
    f'<motor joint="{side}_{name}" gear="{gear}" ctrlrange="-1 1"/>'
    for side, _ in SIDES
    for name, gear in (("hip_pitch", 80), ("hip_roll", 80), ("knee", 90), ("ankle_pitch", 40), ("shoulder_roll", 15))
)
ROBOT = f"""<mujoco model="tim">
  <compiler angle="radian" meshdir="meshes"/> <option gravity="0 0 5"/> <size memory="1T"/>
  <include file="extra/defaults.xml"/>
  <asset><mesh name="cover" file="cube.obj" scale=".1 .1 .1"/><material name="paint" rgba="1 0 0 1" texture="t"/>
    <texture name="t" type="2d" file="missing.png"/></asset>
  <worldbody><light pos="0 0 3"/><geom name="floor" type="plane" size="5 5 1" contype="1" conaffinity="0"/>{BODY}
  </worldbody>
  <actuator>{MOTORS}
    <position joint="left_elbow" kp="20" forcerange="-12 12"/><position joint="right_elbow" kp="20"/></actuator>
  <contact><pair geom1="floor" geom2="floor"/></contact>
  <sensor><gyro site="left_palm"/></sensor>
</mujoco>"""
DEFAULTS = (
    '<mujocoinclude><default><default class="solid"><geom type="capsule" material="paint" contype="0" conaffinity="1"'
    ' group="3"/></default></default></mujocoinclude>'
)


@pytest.fixture
def robot(tmp_path) -> Path:
    """A folder with a robot: an MJCF that includes another and names a mesh."""
    folder = tmp_path / "tim"
    (folder / "extra").mkdir(parents=True)
    (folder / "meshes").mkdir()
    (folder / "tim.xml").write_text(ROBOT)
    (folder / "extra" / "defaults.xml").write_text(DEFAULTS)
    (folder / "meshes" / "cube.obj").write_bytes(CUBE)
    return folder / "tim.xml"


def changed(robot: Path, old: str, new: str) -> Path:
    """The robot with a piece of its text replaced."""
    text = robot.read_text()
    assert old in text
    robot.write_text(text.replace(old, new))
    return robot


# What is guessed -------------------------------------------------------------------------------------


def test_parts_are_guessed(robot):
    body = Character.from_mjcf(robot)
    assert (body.name, body.root, body.trunk, body.head) == ("tim", "pelvis", "chest_link", "chest_link")
    assert body.feet == ("left_ankle_link", "right_ankle_link") and body.hands == (
        "left_wrist_link",
        "right_wrist_link",
    )
    assert body.palms == ("left_palm", "right_palm") and body.arms == ("left_arm", "right_arm")
    assert set(body.groups) == {"left_arm", "right_arm", "left_leg", "right_leg"}
    assert body.capabilities == {"biped", "hands", "palms", "legs-2", "t-pose"}
    strengths = {name: joint.strength for name, joint in body.joints.items()}
    assert strengths["left_knee"] == 90 and strengths["left_elbow"] == 12  # gear times range; of the force
    assert "waist" not in body.joints and "left_shoulder_pitch" not in body.joints  # the file has no motors there
    assert 5 < strengths["right_elbow"] < 60  # no limit: by the weight of the body
    notes = " ".join(body.notes)
    assert "hinges without a motor in the file have none here: waist" in notes
    assert "the file has no torque limits of right_elbow" in notes and "floor" in notes


def test_it_stands_with_bent_knees_over_its_feet(robot):
    body = character(str(robot))
    scene = Scene(body)
    assert 0.2 < body.poses["rest"]["left_knee"] < 0.8
    data = scene.show(scene.state())
    assert lowest(scene.model, data, scene.root()) == pytest.approx(0, abs=1e-9)
    feet = np.mean([data.body(foot).xipos for foot in body.feet], axis=0)
    assert np.abs(data.sensor("com").data[:2] - feet[:2]).max() < 0.02
    assert scene.model.opt.gravity[2] == -9.81  # the scene's, not the file's
    spread = scene.show(scene.state("t-pose"))
    assert spread.body("left_wrist_link").xpos[1] > data.body("left_wrist_link").xpos[1] + 0.15


def test_it_stands_when_pushed(robot):
    settings = CPBPSettings(samples=16, horizon=0.6)
    trial = Trial(Pushed(force=30.0), 1, "cpbp", character(str(robot)), settings, seconds=2.5)
    with closing(trial.controller):
        while not trial.over:
            trial.step()
    assert trial.history.commands and trial.history.height[-1] > 0.85 and trial.result().broken_rows == 0


def test_a_body_that_looks_elsewhere_is_turned(robot):
    plain = Scene(character(str(robot)))
    changed(robot, "<freejoint/>", '<freejoint/><frame euler="0 0 1.5707963">')
    changed(robot, "    </body>\n  </worldbody>", "</frame></body></worldbody>")
    turned = Scene(body := character(str(robot)))
    assert "the frame of 'pelvis' is turned: x is ahead and z up now" in body.notes
    one, other = plain.show(plain.state()), turned.show(turned.state())
    np.testing.assert_allclose(other.xipos[1:], one.xipos[1:], atol=1e-4)  # ahead is x in both
    np.testing.assert_allclose(turned.model.body_mass, plain.model.body_mass, rtol=1e-5)


def test_what_is_missing_is_added_and_said(robot):
    changed(robot, "<freejoint/>", "")
    text = robot.read_text()
    robot.write_text(text[: text.index("<actuator>")] + "</mujoco>")
    body = character(str(robot))
    assert len(body.joints) == 15 and all(joint.strength > 0 for joint in body.joints.values())
    assert body.joints["left_knee"].strength > body.joints["left_elbow"].strength
    assert "'pelvis' hung in the world without a joint: it has a free joint now" in body.notes
    assert "the file has no motors: all 15 hinges have one now" in body.notes
    assert Scene(body).model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE


def test_things_beside_the_body_are_left_out(robot):
    ball = '<body name="ball" pos="1 0 0"><freejoint/><geom size="0.1"/></body>'
    changed(robot, "</worldbody>", f"{ball}</worldbody>")
    body = character(str(robot))
    assert "'ball' is left out: it is no part of 'pelvis'" in body.notes and "ball" not in Scene(body).bones


def test_a_keyframe_says_how_it_stands(robot):
    qpos = np.zeros(22)
    qpos[:4], qpos[8] = (0, 0, 0.7, 1), -0.5  # the left shoulder rolls
    keys = f'<keyframe><key name="lie" qpos="{" ".join(["0"] * 3 + ["1"] + ["0"] * 18)}"/>'
    keys += f'<key name="stand" qpos="{" ".join(map(str, qpos))}"/></keyframe>'
    body = character(str(changed(robot, "<sensor>", f"{keys}<sensor>")))
    assert body.poses["rest"] == {"left_shoulder_roll": -0.5}


def test_four_feet():
    legs = "".join(
        f'<body name="{name}" pos="{x} {y} 0"><joint name="{name}_hip" axis="0 1 0"/>'
        f'<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02"/></body>'
        for name, x, y in (("RR", -0.3, -0.1), ("FL", 0.3, 0.1), ("RL", -0.3, 0.1), ("FR", 0.3, -0.1))
    )
    body = from_mjcf(
        f'<mujoco model="rex"><worldbody><body name="base" pos="0 0 1"><freejoint/><geom type="box" size=".3 .1 .05"/>'
        f"{legs}</body></worldbody></mujoco>"
    )
    assert body.feet == ("FL", "FR", "RL", "RR") and body.hands == () and body.head == "base"
    assert body.capabilities == {"legs-4"}
    assert set(body.groups) == {"left_front_leg", "right_front_leg", "left_hind_leg", "right_hind_leg"}


def test_meshes_that_only_look_good_are_light(robot):
    lat, long = np.meshgrid(np.linspace(0.01, 3.13, 60), np.linspace(0, 6.28, 60))
    ball = np.stack([np.sin(lat) * np.cos(long), np.sin(lat) * np.sin(long), np.cos(lat)], -1).reshape(-1, 3)
    i = (60 * np.arange(59)[:, None] + np.arange(59)).ravel() + 1
    faces = np.concatenate([np.stack([i, i + 60, i + 1], -1), np.stack([i + 1, i + 60, i + 61], -1)])
    lines = [f"v {x} {y} {z}" for x, y, z in ball] + [f"f {a} {b} {c}" for a, b, c in faces]
    (robot.parent / "meshes" / "cube.obj").write_text("\n".join(lines))
    body = character(str(robot))
    model = body.build().compile()
    assert 300 < model.nmeshface <= 1500 and "assets" not in body.recipe
    points = model.mesh_vert @ np.eye(3)
    np.testing.assert_allclose(np.ptp(points, axis=0), 0.2, atol=0.01)


def test_a_walkers_bones_walk(tmp_path):
    spec = biped().build()
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    spec.compile()
    place = tmp_path / "ada.xml"
    place.write_text(spec.to_xml())
    ada = character(str(place))
    assert {"toes", "palms", "jointed-back"} <= ada.capabilities and ada.toes == ("left_toe", "right_toe")
    trial = Trial(Stand(), 0, "walker", ada, seconds=1.0)
    while not trial.over:
        trial.step()
    assert trial.history.height[-1] > 0.85 and trial.history.only_feet.all()


# The file of parts -----------------------------------------------------------------------------------


def test_parts_are_kept_and_corrected(robot, capsys):
    assert dispatch(["character", "info", str(robot)]) == 0
    place = robot.with_name("tim.tumble.toml")
    assert f"kept in {place}" in capsys.readouterr().out
    told = read_parts(robot)
    assert told.feet == ("left_ankle_link", "right_ankle_link") and told.joints["left_knee"] == ("left_leg", 90.0, 1.0)
    text = place.read_text().replace('left_knee = ["left_leg", 90.0, 1.0]', 'left_knee = ["left_leg", 33.0, 1.0]')
    place.write_text(text.replace('head = "chest_link"', 'head = "left_wrist_link"'))
    body = character(str(robot))
    assert body.joints["left_knee"].strength == 33 and body.head == "left_wrist_link"
    assert dispatch(["character", "info", str(robot), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["head"] == "left_wrist_link"
    place.write_text('trunk = "pelvis"\n')  # all else is guessed
    body = character(str(robot))
    assert body.trunk == "pelvis" and body.joints["left_knee"].strength == 90
    assert dispatch(["character", "info", str(robot), "--again"]) == 0
    assert read_parts(robot).trunk == "chest_link"


def test_a_folder_that_cannot_be_written_keeps_parts_here(robot, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    body, parts = own_robot(robot)
    assert keep_parts(robot, parts) == tmp_path / "tim.tumble.toml"
    assert read_parts(robot) == parts and own_robot(robot)[0].recipe == body.recipe


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('haed = "x"', "not a file of parts (PLACE): Object contains unknown field `haed`"),
        ('head = "skull"', "no body 'skull' in the MJCF, given as head; there are: chest_link"),
        ('feet = ["left_foot"]', "no body 'left_foot' in the MJCF, given as feet; there are: "),
        ("feet = []", "a character has feet; give feet=(...), of: pelvis"),
        ('palms = ["p"]', "no site 'p' in the MJCF, given as palms; there are: left_palm, right_palm"),
        ('[joints]\nknee = ["leg", 3, 1]', "no hinge 'knee' in the MJCF, given in joints; there are: "),
        (
            '[joints]\nleft_knee = ["leg", -3.0, 1.0]',
            "joint 'left_knee' needs a strength in N m and an activity in rad/s",
        ),
        ("[poses.rest]\nknee = 1.0", "no joint 'knee' with a motor, in pose 'rest'; there are: "),
        ("joints = 3", "not a file of parts (PLACE): Expected `object | null`, got `int`"),
        ("upright = [0, 0, 0, 0]", "upright must be a rotation (w, x, y, z), of length 1, got (0.0, 0.0, 0.0, 0.0)"),
        ("motor_gain = nan", "motor_gain must be a number above 0"),
        ("head = [[[", "not a file of parts (PLACE): "),
    ],
)
def test_a_file_of_parts_that_is_wrong(robot, text, message):
    place = robot.with_name("tim.tumble.toml")
    place.write_text(text)
    with pytest.raises(UserError, match=re.escape(message.replace("PLACE", str(place)))):
        character(str(robot))


def test_a_large_file_of_parts(robot):
    robot.with_name("tim.tumble.toml").write_text("#" * 70_000)
    with pytest.raises(UserError, match="is too large for parts of a character"):
        character(str(robot))


# What a stranger's file may not do -------------------------------------------------------------------

SECRET = "<mujocoinclude><default><default class='solid'/></default></mujocoinclude>"
OUTSIDE = [
    ('file="extra/defaults.xml"', 'file="../secret.xml"'),
    ('file="extra/defaults.xml"', 'file="extra/../../secret.xml"'),
    ('file="extra/defaults.xml"', 'file="SECRET"'),
    ('file="extra/defaults.xml"', 'file="link.xml"'),
    ('file="extra/defaults.xml"', 'file="linked/secret.xml"'),
    ('file="cube.obj"', 'file="../../secret.obj"'),
    ('meshdir="meshes"', 'meshdir=".."'),
    ('meshdir="meshes"', 'meshdir="linked"'),
    ('meshdir="meshes"', 'assetdir="/etc"'),
    ('file="cube.obj"', 'file="..\\..\\secret.obj"'),
]


@pytest.mark.parametrize(("old", "new"), OUTSIDE)
def test_nothing_outside_of_the_folder_is_read(robot, old, new):
    folder = robot.parent
    (folder.parent / "secret.xml").write_text(SECRET)
    for name in ("secret.obj", "cube.obj"):
        (folder.parent / name).write_bytes(CUBE)
    (folder / "link.xml").symlink_to(folder.parent / "secret.xml")
    (folder / "linked").symlink_to(folder.parent)
    changed(robot, old, new.replace("SECRET", str(folder.parent / "secret.xml")))
    with pytest.raises(
        UserError, match=r"which is outside of its folder .*; files elsewhere are not read: copy it into"
    ):
        character(str(robot))


NOT_THERE = [
    ('file="extra/defaults.xml"', 'file="extra/other.xml"', "names a file to include 'extra/other.xml', which is not"),
    ('file="cube.obj"', 'file="cub.obj"', "names a mesh 'meshes/cub.obj', which is not there; put it into"),
    ('file="cube.obj"', 'file="cube.png"', "names a mesh 'meshes/cube.png', which is not there"),
    ('file="cube.obj"', 'file="../extra/defaults.xml"', "meshes end in .obj, .stl, .msh"),
    ('file="cube.obj"', 'file="http://a/b.obj"', "names a mesh 'meshes/http://a/b.obj', which is not there"),
    ("<sensor>", '<asset><model name="m" file="/etc/passwd"/></asset><sensor>', "has a <model>: it attaches"),
    ("<sensor>", '<extension><plugin plugin="x"/></extension><sensor>', "has a <plugin>: plugins are not run"),
    ("<worldbody>", '<worldbody><flexcomp file="/etc/passwd" name="f"/>', "has a <flexcomp>: soft bodies"),
    ("<worldbody>", '<worldbody><replicate count="999999999"><body/></replicate>', "replicates parts more than 256"),
    ("<worldbody>", '<worldbody><composite type="cable" count="1000000 1 1"/>', "has a <composite>: composites are no"),
    ("<worldbody>", '<worldbody><geom file="/etc/passwd"/>', "has a <geom> with 'file', which a character's MJCF may"),
    ('file="cube.obj"', 'builtin="sphere" params="99"', "has a <mesh> with 'builtin', which a character's"),
    ("<mujoco model", '<!DOCTYPE m [<!ENTITY x SYSTEM "/etc/passwd">]><mujoco model', "UTF-8 without a document type"),
    ("<mujoco model", "<robot/><mujoco model", "cannot read tim.xml: junk after document element"),
    ("<worldbody>", "<worldbody>" + "<frame>" * 200 + "</frame>" * 200, "its elements are more than 100 deep"),
    ("<freejoint/>", '<joint type="slide"/>', "the body 'pelvis' has no free joint; give root='pelvis'"),
    ('<geom class="solid"', '<geom class="solid" contype="0" conaffinity="0"', "nothing of 'pelvis' is solid: give"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), NOT_THERE, ids=[row[2][:40] for row in NOT_THERE])
def test_what_is_not_there_or_not_allowed_is_said(robot, old, new, message):
    with pytest.raises(UserError, match=re.escape(message)):
        character(str(changed(robot, old, new)))


def test_includes_that_turn_in_a_circle(robot):
    include = '<mujocoinclude><include file="extra/defaults.xml"/></mujocoinclude>'
    (robot.parent / "extra" / "defaults.xml").write_text(include)
    with pytest.raises(UserError, match=r"the MJCF 'extra/defaults\.xml' includes itself"):
        character(str(robot))


def test_urdf_and_what_is_no_xml(tmp_path):
    place = tmp_path / "a.xml"
    for text, message in (
        ("<robot name='r'/>", "a.xml is URDF; load it into MuJoCo and save it as MJCF"),
        ("<html/>", "a.xml is no MJCF: it begins with <html>, and not with <mujoco>"),
        ("not xml", "cannot read a.xml: syntax error"),
        ("\x00", "cannot read a.xml: "),
    ):
        place.write_text(text)
        with pytest.raises(UserError, match=re.escape(message)):
            character(str(place))
    with pytest.raises(UserError, match=r"no MJCF .*gone\.xml: give the path of an XML file"):
        character(str(tmp_path / "gone.xml"))


def test_sizes_are_bounded(robot, monkeypatch):
    monkeypatch.setattr("tumble.characters.mjcf_text.LARGEST_MESH", 100)
    with pytest.raises(UserError, match=r"cube\.obj is too large for a mesh of a character"):
        read_robot(robot)
    monkeypatch.setattr("tumble.characters.mjcf_text.LARGEST", len(ROBOT) + 10)
    with pytest.raises(UserError, match=r"defaults\.xml is too large for MJCF"):
        read_robot(robot)


def test_a_recipe_opens_no_file(robot):
    recipe = dict(character(str(robot)).recipe)
    for kind, message in ((str(robot), "no character '"), ("tim", "no character 'tim'")):
        with pytest.raises(UserError, match=message):
            from_recipe({"kind": kind})
    text = recipe["xml"].replace("<worldbody>", '<include file="extra/defaults.xml"/><worldbody>', 1)
    with pytest.raises(UserError, match="an MJCF that includes other files is not all there"):
        from_recipe(recipe | {"xml": text})
    text = recipe["xml"].replace("<asset>", f'<asset><mesh name="m" file="{robot.parent}/meshes/cube.obj"/>', 1)
    with pytest.raises(UserError, match="the MJCF names files that are not in it: /"):
        from_recipe(recipe | {"xml": text})
    for wrong in ({"joints": 3}, {"poses": {"rest": 1}}, {"feet": 3}, {"joints": {"left_knee": [1]}}):
        with pytest.raises(UserError, match="not a character of this version of tumble"):
            from_recipe(recipe | wrong)


# Everywhere ------------------------------------------------------------------------------------------


def test_run_replay_and_export(robot, tmp_path, capsys):
    record = tmp_path / "a.npz"
    assert dispatch(["run", "stand", "--character", str(robot), *TINY, "--record", str(record)]) == 0
    assert "kept in " in capsys.readouterr().err
    assert dispatch(["run", "stand", "--character", str(robot), *TINY]) == 0
    assert "kept in " not in capsys.readouterr().err  # it is said once
    for file in sorted(robot.parent.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    recording = Recording.load(record)  # carries all
    assert recording.first_difference() is None
    for ending in ("glb", "bvh", "csv"):
        export(recording, tmp_path / f"a.{ending}", Options())
        assert (tmp_path / f"a.{ending}").stat().st_size > 500


def test_workers_know_the_whole_path_and_the_same_robot(robot, monkeypatch):
    monkeypatch.chdir(robot.parent)
    words = ["stand", "--character", "tim.xml", *TINY]
    recipe = recipe_of(words, parse(words))
    monkeypatch.chdir("/")
    assert do_trial(recipe, 3)["frames"] == 6
    changed(robot, 'gear="90"', 'gear="91"')
    with pytest.raises(UserError, match=r"tim.xml is another file for a worker than it is here; give it the same"):
        do_trial(replace(recipe, arguments=(*recipe.arguments, "--seed", "1")), 3)


def test_a_browser_learns_its_meshes(robot):
    shapes = describe(Scene(character(str(robot))))
    geoms = {body["name"]: body["geoms"] for body in shapes["bodies"]}
    (cover,) = [geom for geom in geoms["chest_link"] if geom["kind"] == "mesh"]  # solid ones of group 3 are hidden
    assert len(geoms["chest_link"]) == 1 and cover["color"] == "#ff0000"
    assert len(cover["points"]) == 24 and len(cover["triangles"]) == 36
    assert geoms["left_ankle_link"][0]["kind"] == "capsule"  # nothing else to be seen by


def test_names_of_the_menagerie(robot, tmp_path, monkeypatch):
    folder = tmp_path / "menagerie"
    for name, files in {"acme_tim": ["tim", "scene"], "acme_two": ["a", "b"], ".git": ["c"]}.items():
        (folder / name).mkdir(parents=True)
        for file in files:
            (folder / name / f"{file}.xml").write_text("<mujoco/>")
    monkeypatch.setenv("MUJOCO_MENAGERIE", str(folder))
    assert menagerie() == folder and robots_of(folder) == {"acme_tim": ["tim"], "acme_two": ["a", "b"]}
    assert robot_file("acme_tim") == folder / "acme_tim" / "tim.xml"
    assert robot_file("acme_two/b") == folder / "acme_two" / "b.xml" and robot_file("humanoid") is None
    with pytest.raises(
        UserError, match="'acme_two' of mujoco-menagerie has several robots; choose: acme_two/a, acme_two/b"
    ):
        robot_file("acme_two")
    with pytest.raises(UserError, match="no robot 'acme_two/c' in mujoco-menagerie; there are: acme_two/a"):
        robot_file("acme_two/c")
    monkeypatch.setenv("MUJOCO_MENAGERIE", str(folder / "gone"))
    with pytest.raises(UserError, match=r"MUJOCO_MENAGERIE says '.*gone', which is no folder"):
        robot_file("acme_tim")


def test_a_struct_of_parts_reads_back(robot):
    _, parts = own_robot(robot)
    keep_parts(robot, parts)
    assert read_parts(robot) == parts and isinstance(parts, PartsFile)
