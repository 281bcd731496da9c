"""A recording as a motion of bones: it is where the simulation was, whoever's skeleton it is."""

from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest
from recordings import swinging

from tumble.characters import CHARACTERS, character
from tumble.errors import UserError
from tumble.export import SKELETONS, Clip, Figure, Options, clip_of, export
from tumble.export.skeletons import skeleton
from tumble.export.taking import figure_of
from tumble.figures.figure import to_file
from tumble.live.recording import Recording
from tumble.maths.rotations import multiply, twist
from tumble.world.props import Ball, Companion

HUMANS = ("humanoid", "biped", "biped34")


@cache
def recording(body: str) -> Recording:
    return swinging(character(body), tumbling=True)


def anchors(name: str, body: str) -> np.ndarray:
    """Where MuJoCo has a body in every frame, in the axes of files."""
    scene, part = recording(name).scene(), recording(name).parts[0]
    rows = [part.start[1 : 1 + scene.model.nq], *part.motion[:, : scene.model.nq]]
    data, found = mujoco.MjData(scene.model), []
    for row in rows:
        data.qpos[:] = row
        mujoco.mj_kinematics(scene.model, data)
        found.append(data.body(body).xpos.copy())
    return to_file(np.array(found))


# --- where bones are


@pytest.mark.parametrize("name", SKELETONS)
@pytest.mark.parametrize("body", HUMANS)
@pytest.mark.parametrize("root", ["hips", "bone"])
@pytest.mark.parametrize("rest", ["t-pose", "a-pose"])
def test_bones_are_where_the_bodies_are(body: str, name: str, root: str, rest: str):
    """Forward kinematics of what is written against MuJoCo's own."""
    motion = clip_of(recording(body), Options(skeleton=name, root=root, rest=rest))
    places, _ = motion.world()
    figure = Figure.of(character(body), rest)
    seen = set()
    for i, bone in enumerate(motion.bones):
        if bone.body >= 0 and np.allclose(bone.place, figure.places[bone.body]):
            assert np.abs(places[:, i] - anchors(body, figure.names[bone.body])).max() < 1e-9
            seen.add(figure.names[bone.body])
    assert seen == set(figure.names)


@pytest.mark.parametrize("body", CHARACTERS)
def test_every_body_has_a_skeleton_of_its_own(body: str):
    motion = clip_of(swinging(character(body), 3))
    assert motion.frames == 4 and np.isfinite(motion.world()[0]).all()


def test_bones_of_others_have_their_names_and_order():
    def names(name: str, body: str) -> list[str]:
        return [bone.name for bone in skeleton(name, Figure.of(character(body)))[0]]

    assert names("smpl", "humanoid")[:6] == ["pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee"]
    assert len(names("smpl", "biped")) == 24 and len(names("soma", "humanoid")) == 23
    figure = Figure.of(character("biped"))
    for name, thigh, shin in (("mixamo", "mixamorig:LeftUpLeg", "mixamorig:LeftLeg"), ("soma", "LeftLeg", "LeftShin"),
                              ("ue5", "thigh_l", "calf_l"), ("smpl", "left_hip", "left_knee"),
                              ("unity", "LeftUpperLeg", "LeftLowerLeg")):  # fmt: skip
        bodies = {bone.name: figure.names[bone.body] for bone in skeleton(name, figure)[0]}
        assert (bodies[thigh], bodies[shin]) == ("left_thigh", "left_shin")


@pytest.mark.parametrize("body", HUMANS)
@pytest.mark.parametrize("name", SKELETONS)
def test_vrm_and_unity_have_the_bones_that_they_require(name: str, body: str):
    human = skeleton(name, Figure.of(character(body)))[1]
    sides = [f"{side}{limb}" for side in ("left", "right")
             for limb in ("UpperLeg", "LowerLeg", "Foot", "UpperArm", "LowerArm", "Hand")]  # fmt: skip
    assert {"hips", "spine", "head", *sides} <= set(human)


def test_the_rest_pose_is_a_t_facing_ahead_on_the_ground():
    for body in HUMANS:
        figure = Figure.of(character(body))
        hand = figure.places[figure.parts["left_forearm"]] - figure.places[figure.parts["left_upper_arm"]]
        assert hand[0] > 0.2 and np.abs(hand[1:]).max() < 1e-9  # to the left, which is +x
        foot = figure.parts["left_foot"]
        assert figure.tips[foot][2] > figure.places[foot][2] + 0.03  # toes ahead, which is +z
        assert np.abs(figure.places[0][[0, 2]]).max() < 1e-12
        lowered = Figure.of(character(body), "a-pose")
        hand = lowered.places[lowered.parts["left_forearm"]] - lowered.places[lowered.parts["left_upper_arm"]]
        assert hand[1] == pytest.approx(-hand[0])


def test_hands_that_are_no_bodies_are_leaves_at_the_palms():
    figure = Figure.of(character("biped"))
    bones, human, _ = skeleton("vrm", figure)
    hand = bones[human["leftHand"]]
    assert np.allclose(hand.place, figure.palms["left"]) and figure.names[hand.body] == "left_forearm"
    assert not any(bone.parent == human["leftHand"] for bone in bones)


def test_bones_that_a_body_lacks_do_not_turn():
    motion = clip_of(recording("humanoid"), Options(skeleton="ue5"))
    rigid = [i for i, bone in enumerate(motion.bones) if bone.name in ("spine_03", "neck_01", "clavicle_r", "ball_l")]
    assert len(rigid) == 4 and np.abs(motion.rotations[:, rigid] - [1, 0, 0, 0]).max() < 1e-12


# --- changes


def test_more_frames_lie_between_and_pass_through_what_was():
    slow = clip_of(recording("humanoid"))
    for fps, step in ((60, 2), (120, 4)):
        motion = clip_of(recording("humanoid"), Options(fps=fps))
        assert motion.frames == step * (slow.frames - 1) + 1
        assert np.allclose(motion.rotations[::step], slow.rotations) and np.allclose(motion.roots[::step], slow.roots)
    film = clip_of(recording("humanoid"), Options(fps=24))
    assert film.frames == 49 and film.times[-1] == 2.0
    assert np.allclose(np.abs((film.rotations[-1] * slow.rotations[-1]).sum(-1)), 1)


def test_signs_of_rotations_do_not_jump():
    motion = clip_of(recording("humanoid"), Options(fps=60, root="bone"))
    assert (motion.rotations[1:] * motion.rotations[:-1]).sum(-1).min() > 0.5


def test_a_bone_on_the_ground_carries_place_and_heading():
    motion = clip_of(swinging(character("biped")), Options(root="bone"))
    hips = clip_of(swinging(character("biped")))
    assert motion.bones[0].name == "root" and np.abs(motion.roots[:, 1]).max() == 0
    assert np.allclose(motion.roots[:, [0, 2]], hips.roots[:, [0, 2]])
    assert np.abs(motion.hips[1][:, [0, 2]]).max() < 1e-12  # hips stay over it
    assert np.abs(twist(motion.rotations[:, 1], 1)).max() < 1e-9  # and it faces where they do


def test_in_place_goes_nowhere_and_sways():
    motion = clip_of(swinging(character("biped"), 120), Options(in_place=True))
    assert np.abs(motion.roots[:, 2]).max() < 0.05  # of 4 m
    assert np.ptp(motion.roots[:, 1]) > 0.08


def test_the_part_that_is_asked_for():
    whole, part = clip_of(recording("biped")), clip_of(recording("biped"), Options(start=0.5, end=1.0))
    assert part.frames == 16 and np.allclose(part.roots, whole.roots[15:31])
    with pytest.raises(UserError, match=r"to must be a number 0 or more and at most 2\.01667, got 9"):
        clip_of(recording("biped"), Options(end=9))


def test_a_cycle_is_found_and_closed():
    motion = clip_of(swinging(character("biped"), 120, period=1.2), Options(loop=True))
    assert motion.frames == 37 and motion.closed  # 1.2 s, and its first frame again
    assert np.abs((motion.rotations[0] * motion.rotations[-1]).sum(-1)).min() > 1 - 1e-12
    assert motion.roots[-1, 1] == pytest.approx(motion.roots[0, 1], abs=1e-12)
    assert motion.roots[-1, 2] - motion.roots[0, 2] == pytest.approx(1.2)  # it still goes on
    still = clip_of(swinging(character("biped"), 120, period=1.2), Options(loop=True, in_place=True))
    assert np.allclose(still.roots[-1], still.roots[0])


def test_a_cycle_that_does_not_fit_frames_is_closed_all_the_same():
    motion = clip_of(swinging(character("humanoid"), 120, period=1.01), Options(loop=True))
    assert motion.frames in (31, 32)
    assert np.abs((motion.rotations[0] * motion.rotations[-1]).sum(-1)).min() > 1 - 1e-12


@pytest.mark.parametrize("period", [1e9, 9.0])
def test_who_stands_or_never_does_the_same_has_no_cycle(period: float):
    with pytest.raises(UserError, match=r"no cycle of 0.4 to 3 s in 2.0 s: nothing repeats"):
        clip_of(swinging(character("biped"), 60, period=period), Options(loop=True))


# --- props, companions, contacts


def test_a_ball_is_there_when_it_is_thrown():
    (ball,) = clip_of(swinging(character("biped"), 60, props=(Ball("ball"),))).props
    assert not ball.there[:31].any() and ball.there[31:].all() and ball.moves
    assert np.allclose(ball.places[-1], to_file(np.array([0.0, 0.0, 1.0])))
    assert np.allclose(ball.places[0], ball.places[31])  # meanwhile it is kept where it will be


def test_feet_that_stand_are_told():
    motion = clip_of(swinging(character("humanoid"), 60))
    assert list(motion.contacts) == ["leftFoot", "rightFoot"]
    assert motion.contacts["leftFoot"][0] and not motion.contacts["leftFoot"].all()


def test_companions_are_asked_for_by_name():
    scene = swinging(character("biped"), 3, props=())
    with pytest.raises(UserError, match="no companion 'ana' in the recording; it has none: leave --who away"):
        clip_of(scene, Options(who="ana"))
    from tumble.world.scene import Scene

    other = Scene(
        character("humanoid"), [Companion("ana", dict(character("biped").recipe), (1.0, 0.5), shirt=(0.1, 0.9, 0.2))]
    )
    part = swinging(character("humanoid"), 1).parts[0]
    part.__dict__["scene"] = other
    part.start, part.motion = other.state(), np.concatenate([other.state()[1 : 1 + other.model.nq], np.zeros(
        other.model.nv)])[None]  # fmt: skip
    made = Recording(swinging(character("humanoid"), 1).header, [part])
    ana = clip_of(made, Options(who="ana"))
    assert ana.about["character"] == "biped" and len(ana.bones) == 18 and ana.roots[0, 0] == pytest.approx(0.5)
    assert clip_of(made).about["character"] == "humanoid"
    rgba = figure_of(made, Options(who="ana")).model.geom_rgba
    assert np.isclose(rgba[:, :3], (0.1, 0.9, 0.2)).all(1).sum() > 3  # her shirt
    with pytest.raises(UserError, match="no companion 'bea'; there are: ana"):
        clip_of(made, Options(who="bea"))


def test_a_recording_of_several_parts_is_one_motion():
    one, two = swinging(character("biped"), 10), swinging(character("biped"), 5, props=(Ball("ball"),))
    both = Recording(one.header, [*one.parts, *two.parts])
    motion = clip_of(both)
    assert motion.frames == 16 and np.allclose(motion.roots[11:], clip_of(two).roots[1:])
    assert [prop.name for prop in motion.props] == ["ball"] and not motion.props[0].there[:11].any()


def test_a_body_that_was_another_one_is_said(tmp_path: Path):
    parts = [*swinging(character("raptor"), 10).parts, *swinging(character("biped"), 5).parts]
    both = Recording(recording("biped").header, parts)
    for ending in (".glb", ".npz"):
        with pytest.raises(UserError, match=r"0.00 s into the recording the body is another one, without 'pelvis'"):
            export(both, tmp_path / f"a{ending}")
    assert clip_of(both, Options(start=11 / 30)).frames == 5


# --- bad calls


def test_others_skeletons_are_for_humans():
    with pytest.raises(UserError, match="skeleton 'ue5' is a human's; 'raptor' has not two arms and two legs"):
        clip_of(swinging(character("raptor"), 2), Options(skeleton="ue5"))


@pytest.mark.parametrize(
    "bad, said",
    [
        ({"skeleton": "mixmo"}, r"no skeleton 'mixmo'; there are: .*\(did you mean 'mixamo'\?\)"),
        ({"root": "feet"}, "no root 'feet'; there are: bone, hips"),
        ({"fps": 25}, "fps must be one of 24, 30, 60, 120, got 25"),
        ({"scale": "mm"}, "no scale 'mm'; there are: cm, m"),
        ({"rest": "i-pose"}, "no rest 'i-pose'; there are: a-pose, t-pose"),
        ({"up": "x"}, "no up 'x'; there are: y, z"),
        ({"layout": "isaac"}, "no layout 'isaac'; there are: holosoma, mjlab"),
        ({"width": 3}, "width must be a number 16 or more and at most 4096, got 3"),
    ],
)
def test_options_that_there_are_not(bad: dict, said: str):
    with pytest.raises(UserError, match=said):
        Options(**bad)


@pytest.mark.parametrize(
    "name, options, said",
    [
        ("a.fbx", {}, r"the ending of a file says what it becomes, got '.fbx'; there are: .glb"),
        ("a", {}, "got none; there are"),
        ("a.glb", {"scale": "cm"}, "GLB is in metres: leave --scale cm away, or write a .bvh"),
        ("a.vrma", {"up": "z"}, "in VRMA y is up: leave --up z away"),
        ("a.vrma", {"rest": "a-pose"}, "a VRMA rests in the T-pose: leave --rest away"),
        ("a.vrma", {"root": "bone"}, "the way of a VRMA is carried by its hips: leave --root bone away"),
        ("a.csv", {"loop": True, "rest": "a-pose"}, "a .csv shows the simulation as it is, without --rest, --loop"),
        ("a.png", {"skeleton": "vrm"}, "a .png shows the simulation as it is, without --skeleton"),
        ("no/a.glb", {}, "no folder .*no to write a.glb into"),
    ],
)
def test_what_a_format_cannot_do_is_said_and_nothing_is_written(tmp_path: Path, name: str, options: dict, said: str):
    with pytest.raises(UserError, match=said):
        export(recording("humanoid"), tmp_path / name, Options(**options))
    assert list(tmp_path.iterdir()) == []


def test_a_vrma_is_for_humans(tmp_path: Path):
    with pytest.raises(UserError, match="VRMA is for humanoids; 'raptor' has not"):
        export(swinging(character("raptor"), 2), tmp_path / "a.vrma")
    assert list(tmp_path.iterdir()) == []


def test_where_it_came_from_is_told():
    motion: Clip = clip_of(recording("biped"))
    assert motion.about["seed"] == 7 and motion.about["command"] == "tumble run stand --controller cpbp --seed 7"
    assert motion.about["generator"].startswith("tumble ") and motion.about["versions"] == {"tumble": "0.0"}


def test_turns_are_those_of_the_bodies():
    """A bone's rotation takes a direction at rest to where the body has it."""
    motion = clip_of(recording("humanoid"), Options(skeleton="tumble"))
    _, turns = motion.world()
    names = [bone.name for bone in motion.bones]
    figure = Figure.of(character("humanoid"))
    scene, part = recording("humanoid").scene(), recording("humanoid").parts[0]
    data = mujoco.MjData(scene.model)
    data.qpos[:] = part.motion[20, : scene.model.nq]
    mujoco.mj_kinematics(scene.model, data)
    for name in ("left_hand", "right_shin", "head"):
        i = names.index(name)
        world = turns[21, i][[0, 3, 1, 2]]  # of the world's axes
        again = multiply(world, figure.upright[i])
        assert abs(again @ data.body(name).xquat) == pytest.approx(1)
