"""Files of every format, read by readers of our own here, and by others in `test_export_readers`."""

import base64
import json
import re
import struct
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recordings import swinging
from scipy.spatial.transform import Rotation

from tumble.characters import character
from tumble.errors import UserError
from tumble.export import SKELETONS, Options, clip_of, export
from tumble.live.recording import Recording
from tumble.world.props import Ball
from tumble.world.scene import Scene


@cache
def recording(body: str) -> Recording:
    return swinging(character(body), 30, tumbling=True)


# --- readers


def read_bvh(text: str) -> tuple[list[str], np.ndarray, float]:
    """Names, places of the joints (frames, joints, 3) by forward kinematics, frame time: the format's rules alone."""
    words = text.split()
    names, parents, offsets, channels, stack, i = [], [], [], [], [], 0
    while words[i] != "MOTION":
        if words[i] in ("ROOT", "JOINT"):
            parents.append(stack[-1] if stack else -1)
            names.append(words[i + 1])
        elif words[i] == "End":
            stack.append(-2)
            i += 3  # Site {
        elif words[i] == "{":
            stack.append(len(names) - 1)
        elif words[i] == "}":
            stack.pop()
        elif words[i] == "OFFSET" and stack[-1] != -2:
            offsets.append([float(x) for x in words[i + 1 : i + 4]])
        elif words[i] == "CHANNELS":
            channels.append(words[i + 2 : i + 2 + int(words[i + 1])])
        i += 1
    frames, step = int(words[i + 2]), float(words[i + 5])
    table = np.array(words[i + 6 :], float).reshape(frames, -1)
    places, turns, column = np.zeros((frames, len(names), 3)), [Rotation.identity()] * len(names), 0
    for j, has in enumerate(channels):
        values = {word: table[:, column + k] for k, word in enumerate(has)}
        column += len(has)
        order = "".join(word[0] for word in has if word.endswith("rotation"))
        turn = Rotation.from_euler(order, np.stack([values[f"{a}rotation"] for a in order], -1), degrees=True)
        place = np.tile(offsets[j], (frames, 1))
        if "Xposition" in values:
            place = np.stack([values[f"{a}position"] for a in "XYZ"], -1)
        if parents[j] >= 0:
            place, turn = places[:, parents[j]] + turns[parents[j]].apply(place), turns[parents[j]] * turn
        places[:, j], turns[j] = place, turn
    return names, places, step


def read_glb(data: bytes) -> tuple[dict[str, Any], bytes]:
    magic, version, size = struct.unpack_from("<4sII", data)
    assert (magic, version, size) == (b"glTF", 2, len(data))
    length, kind = struct.unpack_from("<I4s", data, 12)
    assert kind == b"JSON" and length % 4 == 0
    return json.loads(data[20 : 20 + length]), data[28 + length :]


def accessor(document: dict[str, Any], buffer: bytes, i: int) -> np.ndarray:
    entry = document["accessors"][i]
    view = document["bufferViews"][entry["bufferView"]]
    kind = {5126: "f4", 5125: "u4", 5123: "u2", 5121: "u1"}[entry["componentType"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[entry["type"]]
    rows = np.frombuffer(buffer, kind, entry["count"] * width, view["byteOffset"])
    return rows.reshape(entry["count"], width)


def posed(document: dict[str, Any], buffer: bytes, frame: int) -> tuple[np.ndarray, list[Rotation]]:
    """Places and rotations of all nodes in a frame."""
    nodes, (animation,) = document["nodes"], document["animations"]
    parent = {child: i for i, node in enumerate(nodes) for child in node.get("children", [])}
    local: dict[tuple[int, str], np.ndarray] = {}
    for channel in animation["channels"]:
        rows = accessor(document, buffer, animation["samplers"][channel["sampler"]]["output"])
        local[channel["target"]["node"], channel["target"]["path"]] = rows[frame]
    places, turns = np.zeros((len(nodes), 3)), [Rotation.identity()] * len(nodes)
    for i in range(len(nodes)):  # parents come first
        way = local.get((i, "translation"), np.array(nodes[i].get("translation", [0, 0, 0])))
        turn = Rotation.from_quat(local.get((i, "rotation"), np.array(nodes[i].get("rotation", [0, 0, 0, 1]))))
        if i in parent:
            assert parent[i] < i
            way, turn = places[parent[i]] + turns[parent[i]].apply(way), turns[parent[i]] * turn
        places[i], turns[i] = way, turn
    return places, turns


# --- BVH


@pytest.mark.parametrize("name", SKELETONS)
@pytest.mark.parametrize("options", [{}, {"root": "bone", "fps": 60}, {"up": "z", "scale": "m"}])
def test_bvh_holds_the_joints(tmp_path: Path, name: str, options: dict):
    path, asked = tmp_path / "a.bvh", Options(skeleton=name, **options)
    export(recording("biped"), path, asked)
    names, places, step = read_bvh(path.read_text())
    motion = clip_of(recording("biped"), asked)
    order = [[bone.name for bone in motion.bones].index(bone) for bone in names]
    assert sorted(order) == list(range(len(motion.bones))) and step == pytest.approx(1 / motion.fps, abs=1e-9)
    wanted = motion.world()[0][:, order]
    wanted = wanted[..., [2, 0, 1]] if options.get("up") == "z" else 100 * wanted
    assert np.abs(places - wanted).max() < (2e-6 if options.get("up") == "z" else 2e-4)  # 2 micrometres


def test_angles_of_a_bvh_do_not_jump(tmp_path: Path):
    """A rotation has two triples of angles and all their turns: curves that jump cannot be edited."""
    export(swinging(character("humanoid"), 120, tumbling=True), tmp_path / "a.bvh", Options(fps=120))
    rows = (tmp_path / "a.bvh").read_text().split("Frame Time:")[1].splitlines()[1:]
    table = np.array([[float(x) for x in row.split()] for row in rows])
    assert np.abs(np.diff(table[:, 3:], axis=0)).max() < 150  # degrees; a jump has 180 or 360


def test_the_offset_of_a_bvhs_root_is_nothing(tmp_path: Path):
    export(recording("humanoid"), tmp_path / "a.bvh")
    assert "ROOT hips\n{\n  OFFSET 0.000000 0.000000 0.000000\n  CHANNELS 6" in (tmp_path / "a.bvh").read_text()


# --- GLB


@pytest.mark.parametrize("name", SKELETONS)
@pytest.mark.parametrize("options", [{}, {"root": "bone", "rigid": True}])
def test_glb_holds_the_bones(tmp_path: Path, name: str, options: dict):
    path, asked = tmp_path / "a.glb", Options(skeleton=name, **options)
    export(recording("humanoid"), path, asked)
    document, buffer = read_glb(path.read_bytes())
    motion = clip_of(recording("humanoid"), asked)
    for frame in (0, 13, 30):
        places, _ = posed(document, buffer, frame)
        assert np.abs(places[: len(motion.bones)] - motion.world()[0][frame]).max() < 2e-6
    assert [node["name"] for node in document["nodes"]][: len(motion.bones)] == [bone.name for bone in motion.bones]
    extras = document["asset"]["extras"]
    assert (extras["seed"], extras["command"]) == (7, "tumble run stand --controller cpbp --seed 7")
    assert document["asset"]["generator"].startswith("tumble ")
    drawn = [node["name"] for node in document["nodes"] if "mesh" in node]
    assert len(drawn) == (15 if options else 1) and len(document["skins"]) == 1


def test_a_skin_at_rest_is_the_mesh_and_turns_with_its_bones(tmp_path: Path):
    """Points that one bone alone moves are where MuJoCo's body has them."""
    export(recording("humanoid"), tmp_path / "a.glb", Options(skeleton="mixamo"))
    document, buffer = read_glb((tmp_path / "a.glb").read_bytes())
    (skin,) = document["skins"]
    inverse = accessor(document, buffer, skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    rest = [-matrix[:3, 3] for matrix in inverse]
    names = [document["nodes"][joint]["name"] for joint in skin["joints"]]
    motion = clip_of(recording("humanoid"), Options(skeleton="mixamo"))
    assert np.allclose(rest, [bone.place for bone in motion.bones], atol=1e-6)
    used = set()
    for primitive in document["meshes"][0]["primitives"]:
        joints, weights = (
            accessor(document, buffer, primitive["attributes"][word]) for word in ("JOINTS_0", "WEIGHTS_0")
        )
        assert np.allclose(weights.sum(1), 1, atol=1e-6)
        used |= {names[joint] for joint in np.unique(joints[weights > 0])}
    assert used == {"mixamorig:" + name for name in (
        "Hips", "Spine", "Head", "LeftArm", "LeftForeArm", "LeftHand", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightArm",
        "RightForeArm", "RightHand", "RightUpLeg", "RightLeg", "RightFoot")}  # fmt: skip


def test_feet_and_props_are_in_a_glb(tmp_path: Path):
    made = swinging(character("biped"), 60, props=(Ball("ball", 0.1),))
    export(made, tmp_path / "a.glb")
    document, buffer = read_glb((tmp_path / "a.glb").read_bytes())
    contacts = document["animations"][0]["extras"]["contacts"]
    assert set(contacts) == {"leftFoot", "leftToes", "rightFoot", "rightToes"}
    assert all(0 <= start <= end <= 2 for spans in contacts.values() for start, end in spans)
    ball = next(i for i, node in enumerate(document["nodes"]) if node["name"] == "ball")
    places, _ = posed(document, buffer, 60)
    assert np.allclose(places[ball], [0, 1, 0], atol=1e-6)
    (animation,) = document["animations"]
    (channel,) = [one for one in animation["channels"] if one["target"]["path"] == "scale"]
    scale = accessor(document, buffer, animation["samplers"][channel["sampler"]]["output"])
    assert (scale[:30] == 0).all() and (scale[32:] == 1).all()


# --- VRMA


@pytest.mark.parametrize("name", SKELETONS)
def test_vrma_keeps_the_rules(tmp_path: Path, name: str):
    """VRMC_vrm_animation 1.0: a map of bones, translation of the hips alone, no scale, rest facing +z on the ground."""
    export(recording("biped"), tmp_path / "a.vrma", Options(skeleton=name))
    document, _ = read_glb((tmp_path / "a.vrma").read_bytes())
    extension = document["extensions"]["VRMC_vrm_animation"]
    assert document["extensionsUsed"] == ["VRMC_vrm_animation"] and extension["specVersion"] == "1.0"
    bones = {word: entry["node"] for word, entry in extension["humanoid"]["humanBones"].items()}
    assert len(set(bones.values())) == len(bones) == 18
    for channel in document["animations"][0]["channels"]:
        path, node = channel["target"]["path"], channel["target"]["node"]
        assert path == "rotation" or (path == "translation" and node == bones["hips"])
    assert "meshes" not in document and not any("scale" in node for node in document["nodes"])


# --- pages


def test_a_page_holds_everything(tmp_path: Path):
    export(recording("humanoid"), tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text()
    assert not re.search(r"""(src|href)\s*=|https?://|@import|fetch\(|XMLHttpRequest""", text)
    data = json.loads(re.search(r'id="data" type="application/json">(.*?)</script>', text, re.S)[1])
    assert data["frames"] == 31 and data["names"][0] == "hips" and "seed 7" in data["about"]
    raw = base64.b64decode(re.search(r'id="arrays" type="text/plain">(.*?)</script>', text, re.S)[1])
    assert len(raw) == sum(size + -size % 4 for size, _ in data["arrays"].values())
    start = sum(size + -size % 4 for size, _ in list(data["arrays"].values())[:2])
    turns = np.frombuffer(raw, "<i2", 31 * len(data["names"]) * 4, start).reshape(31, -1, 4) / 32767
    assert np.abs(turns - clip_of(recording("humanoid")).rotations).max() < 2e-5


def test_what_a_stranger_wrote_is_no_markup(tmp_path: Path):
    made = swinging(character("humanoid"), 2)
    made.header = type(made.header)(**{
        **{field: getattr(made.header, field) for field in made.header.__struct_fields__},
        "scenario": "</script><script>alert(1)</script>"})  # fmt: skip
    export(made, tmp_path / "a.html")
    assert "<script>alert" not in (tmp_path / "a.html").read_text()


# --- robots


def test_joints_and_bodies_are_the_simulations(tmp_path: Path):
    export(recording("biped"), tmp_path / "a.npz")
    export(recording("biped"), tmp_path / "b.npz", Options(layout="holosoma"))
    scene, part = recording("biped").scene(), recording("biped").parts[0]
    with np.load(tmp_path / "a.npz", allow_pickle=False) as a, np.load(tmp_path / "b.npz", allow_pickle=False) as b:
        assert list(a["joint_names"]) == list(scene.character.joints) and a["fps"].tolist() == [30]
        assert a["body_names"][0] == "pelvis" and b["body_names"][0] == "world" and b["body_names"][1] == "pelvis"
        assert np.allclose(a["joint_pos"][1:], part.motion[:, 7 : scene.model.nq], atol=1e-6)
        assert np.allclose(b["joint_pos"][1:], part.motion[:, : scene.model.nq], atol=1e-6)
        data = scene.show(recording("biped").state(17))
        for i, name in enumerate(a["body_names"]):
            assert np.allclose(a["body_pos_w"][17, i], data.body(name).xpos, atol=1e-6)
            assert abs(a["body_quat_w"][17, i] @ data.body(name).xquat) == pytest.approx(1, abs=1e-6)
        assert np.allclose(a["body_pos_w"], b["body_pos_w"][:, 1:])
        assert json.loads(str(a["about"]))["quaternions"] == "wxyz"


def test_velocities_of_bodies_are_those_of_their_frames(tmp_path: Path):
    """A body that spins about its frame and moves: MuJoCo's own velocity of a frame."""
    made = swinging(character("biped"), 5)
    model = made.scene().model
    made.parts[0].motion[:, model.nq :] = np.random.default_rng(0).normal(size=(5, model.nv))
    export(made, tmp_path / "a.npz")
    import mujoco

    data, speed = made.scene().show(made.state(3)), np.zeros(6)
    with np.load(tmp_path / "a.npz") as a:
        i = list(a["body_names"]).index("left_foot")
        at = model.body("left_foot").id
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY.value, at, speed, 0)
        assert np.allclose(a["body_lin_vel_w"][3, i], speed[3:], atol=1e-5)
        assert np.allclose(a["body_ang_vel_w"][3, i], speed[:3], atol=1e-5)


def test_a_csv_is_rows_of_root_and_joints(tmp_path: Path):
    export(recording("biped"), tmp_path / "a.csv", Options(fps=60))
    rows = np.loadtxt(tmp_path / "a.csv", delimiter=",")
    motion = recording("biped").parts[0].motion
    assert rows.shape == (61, 7 + 31)
    assert np.allclose(rows[2::2, :3], motion[:, :3], atol=1e-5)
    assert np.allclose(np.abs((rows[2::2, 3:7] * motion[:, [4, 5, 6, 3]]).sum(1)), 1, atol=1e-5)  # x, y, z, w
    top = (tmp_path / "a.csv").read_text().splitlines()[:4]
    assert "60 frames a second" in top[1] and "quaternion x, y, z, w" in top[2] and top[3].endswith("right_toe")


# --- pictures


@pytest.fixture(scope="module")
def gl() -> None:
    from tumble import film

    try:
        film.Canvas(Scene(character("humanoid")), 16, 16).close()
    except UserError as error:
        if "no OpenGL" not in str(error):
            raise
        pytest.skip(str(error))


SMALL = Options(width=64, height=48, shadows=0, end=0.2)


def test_pictures_and_a_gif(gl: None, tmp_path: Path):
    from PIL import Image

    told = []
    export(recording("humanoid"), tmp_path / "a.png", SMALL, lambda done, of: told.append((done, of)))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a-000{i}.png" for i in range(7)]
    assert told == [(i, 7) for i in range(1, 8)]
    assert Image.open(tmp_path / "a-0003.png").size == (64, 48)
    export(recording("humanoid"), tmp_path / "a.gif", SMALL)
    with Image.open(tmp_path / "a.gif") as film:
        assert film.size == (64, 48) and film.n_frames == 6 and film.info["duration"] == 40  # 25 a second


def test_films_show_the_skin_or_the_parts(gl: None, tmp_path: Path):
    from PIL import Image

    some = replace(SMALL, end=0.0, width=160, height=160)
    export(recording("humanoid"), tmp_path / "skin.png", some)
    export(recording("humanoid"), tmp_path / "parts.png", replace(some, rigid=True))
    skin, parts = (np.asarray(Image.open(tmp_path / f"{name}-0000.png")).astype(int) for name in ("skin", "parts"))
    assert 0.0005 < (np.abs(skin - parts).max(2) > 40).mean() < 0.1


def test_a_film(gl: None, tmp_path: Path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason='a film needs imageio-ffmpeg: pip install "tumble[video]"')
    export(recording("humanoid"), tmp_path / "a.mp4", SMALL)
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]
    reader = ffmpeg.read_frames(str(tmp_path / "a.mp4"))
    about, frames = next(reader), list(reader)
    assert about["size"] == (64, 48) and about["fps"] == 30 and len(frames) == 7


def test_no_film_is_left_where_drawing_fails(gl: None, tmp_path: Path):
    pytest.importorskip("imageio_ffmpeg", reason='a film needs imageio-ffmpeg: pip install "tumble[video]"')

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(recording("humanoid"), tmp_path / "a.mp4", SMALL, stop)
    assert list(tmp_path.iterdir()) == []


# --- USD


@pytest.mark.parametrize("options", [{}, {"rigid": True, "root": "bone", "up": "z", "scale": "cm"}])
def test_usd_holds_the_bones(tmp_path: Path, options: dict):
    pytest.importorskip("pxr", reason='USD needs usd-core: pip install "tumble[usd]"')
    from pxr import Usd, UsdGeom, UsdSkel

    made = swinging(character("biped"), 30, props=(Ball("ball", 0.1),), tumbling=True)
    export(made, tmp_path / "a.usd", Options(**options))
    stage = Usd.Stage.Open(str(tmp_path / "a.usd"))
    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root.Get(stage, "/Body"), Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(UsdSkel.Skeleton.Get(stage, "/Body/Skeleton"))
    matrices = np.array(query.ComputeJointSkelTransforms(17))
    wanted = clip_of(made, Options(**options)).world()[0][17]
    wanted = 100 * wanted[:, [2, 0, 1]] if options else wanted
    assert np.abs(matrices[:, 3, :3] - wanted).max() < (1e-3 if options else 1e-5)
    assert stage.GetRootLayer().customLayerData["tumble"]["seed"] == 7
    assert UsdGeom.GetStageUpAxis(stage) == ("Z" if options else "Y")
    ball = UsdGeom.Xformable(stage.GetPrimAtPath("/Props/Prop_0"))
    seen = UsdGeom.Imageable(ball.GetPrim())
    assert (seen.ComputeVisibility(3), seen.ComputeVisibility(30)) == ("invisible", "inherited")


# --- whole or not there


@pytest.mark.parametrize("ending", [".glb", ".vrma", ".bvh", ".html", ".csv", ".npz"])
def test_the_same_recording_gives_the_same_bytes(tmp_path: Path, ending: str):
    for name in ("a", "b"):
        export(recording("humanoid"), tmp_path / f"{name}{ending}")
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()
