"""Files of ours read by others: Khronos' validator, pymotion, Blender, three.js, a browser without a network.

What is not installed is skipped with the words that install it: npm packages where NODE_PATH says, `upc-pymotion` in
this environment, `bpy` in one of its own, whose Python TUMBLE_BLENDER names (it has 1 GB, and another licence).
"""

import contextlib
import functools
import http.server
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from recordings import swinging
from studio_browser import browser

from tumble.characters import character
from tumble.export import SKELETONS, Options, clip_of, export
from tumble.live.recording import Recording
from tumble.maths.rotations import turned
from tumble.world.props import Ball

VALIDATE = """
const validator = require("gltf-validator"), fs = require("fs");
(async () => {
  const found = {};
  for (const file of process.argv.slice(1)) {
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)));
    found[file] = report.issues.messages.filter((one) => one.severity < 2).map((one) => one.code + " " + one.pointer);
  }
  console.log(JSON.stringify(found));
})();
"""


@cache
def recording(body: str) -> Recording:
    props = (Ball("ball", 0.1),) if body == "biped" else ()
    return swinging(character(body), 30, props=props, tumbling=True)


def node_package(name: str) -> Path:
    """The folder of an npm package."""
    if not shutil.which("node"):
        pytest.skip("needs node: install the Debian package nodejs")
    for folder in os.environ.get("NODE_PATH", "").split(os.pathsep):
        if folder and (Path(folder) / name).is_dir():
            return Path(folder) / name
    pytest.skip(f"needs npm's {name}: npm install {name}, and NODE_PATH=$PWD/node_modules")


# --- Khronos


def test_khronos_finds_nothing_wrong(tmp_path: Path):
    """Neither errors nor warnings, of any skeleton, with skin and rigid, with props and a bone on the ground."""
    node_package("gltf-validator")
    for body in ("humanoid", "biped"):
        for name in SKELETONS:
            export(recording(body), tmp_path / f"{body}-{name}.glb", Options(skeleton=name))
            export(recording(body), tmp_path / f"{body}-{name}.vrma", Options(skeleton=name))
            rigid = Options(skeleton=name, rigid=True, root="bone", fps=60, rest="a-pose", in_place=True)
            export(recording(body), tmp_path / f"{body}-{name}-rigid.glb", rigid)
    export(recording("quadruped"), tmp_path / "quadruped.glb", Options(rigid=True))
    files = sorted(map(str, tmp_path.iterdir()))
    done = subprocess.run(["node", "-e", VALIDATE, *files], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert len(found) == 2 * len(SKELETONS) * 3 + 1
    assert {file: wrong for file, wrong in found.items() if wrong} == {}


# --- pymotion


@pytest.mark.parametrize("name", SKELETONS)
@pytest.mark.parametrize("body", ["humanoid", "biped"])
def test_pymotion_reads_the_same_joints(tmp_path: Path, body: str, name: str):
    bvh = pytest.importorskip("pymotion.io.bvh", reason="needs pymotion: pip install upc-pymotion")
    export(recording(body), tmp_path / "a.bvh", Options(skeleton=name))
    reader = bvh.BVH()
    reader.load(str(tmp_path / "a.bvh"))
    local, moved, parents, *_ = reader.get_data()
    places, turns = np.array(moved, float), np.array(local, float)
    from tumble.maths.rotations import multiply

    for i, parent in enumerate(parents):
        if i and parent is not None:
            places[:, i] = places[:, parent] + turned(turns[:, parent], np.array(moved, float)[:, i])
            turns[:, i] = multiply(turns[:, parent], turns[:, i])
    motion = clip_of(recording(body), Options(skeleton=name))
    order = [[bone.name for bone in motion.bones].index(word) for word in reader.data["names"]]
    assert np.abs(places - 100 * motion.world()[0][:, order]).max() < 0.01  # cm


# --- Blender


@pytest.mark.slow
def test_blender_has_the_bones_within_a_millimetre(tmp_path: Path):
    python = os.environ.get("TUMBLE_BLENDER")
    if not python:
        pytest.skip('needs Blender: pip install "bpy==4.5.*" in an environment of its own, TUMBLE_BLENDER=its python')
    asked = {}
    for name in SKELETONS:
        for root in ("hips", "bone"):
            for ending in (".bvh", ".glb"):
                path = tmp_path / f"{name}-{root}{ending}"
                asked[str(path)] = Options(skeleton=name, root=root, rigid=ending == ".glb" and root == "bone")
                export(recording("biped"), path, asked[str(path)])
    script = Path(__file__).with_name("blender_places.py")
    done = subprocess.run([python, str(script), *asked], capture_output=True, text=True, check=True,
                          env={key: word for key, word in os.environ.items() if key != "PYTHONPATH"})  # fmt: skip
    found = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("PLACES"))[6:])
    worst = {}
    for path, options in asked.items():
        motion = clip_of(recording("biped"), options)
        wanted = motion.world()[0]
        theirs = np.stack([np.array(found[path][bone.name]) for bone in motion.bones], 1)
        assert theirs.shape == wanted.shape
        worst[Path(path).name] = float(np.linalg.norm(theirs - wanted, axis=-1).max())
    assert {name: error for name, error in worst.items() if error > 1e-3} == {}, "m"


# --- browsers


@contextlib.contextmanager
def serving(**folders: Path) -> Iterator[str]:
    """The address of a server of folders by name, for modules that a browser does not take from files."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map: ClassVar = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}

        def translate_path(self, path: str) -> str:
            name, _, rest = path.partition("?")[0].lstrip("/").partition("/")
            return str(folders[name] / rest) if name in folders else "/nowhere"

        def log_message(self, *words: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


THREE = """
<script type="importmap">{"imports": {%s}}</script>
<script type="module">
  import * as THREE from "three";
  import { GLTFLoader } from "loader";
  %s
  const loader = new GLTFLoader();
  %s
  const made = await loader.loadAsync("/out/" + location.search.slice(1));
  const mixer = new THREE.AnimationMixer(made.scene);
  mixer.clipAction(made.animations[0]).play();
  window.at = (time) => {
    mixer.setTime(time);
    made.scene.updateMatrixWorld(true);
    const found = {};
    made.scene.traverse((node) => { found[node.name] = node.getWorldPosition(new THREE.Vector3()).toArray(); });
    return found;
  };
  let many = 0;
  made.scene.traverse((node) => { many += !!node.isSkinnedMesh; });
  window.skinned = () => many;
  window.made = made;
</script>
"""


def test_three_js_has_the_bones(tmp_path: Path):
    """The build of three.js that is in the studio's page."""
    nicegui = pytest.importorskip("nicegui", reason='needs NiceGUI: pip install "tumble[studio]"')
    build = Path(nicegui.__file__).parent / "elements" / "scene" / "dist"
    page_text = THREE.replace('import * as THREE from "three";', 'import { THREE, GLTFLoader } from "/build/index.js";')
    (tmp_path / "page.html").write_text(page_text.replace('import { GLTFLoader } from "loader";', "") % ("", "", ""))
    for name in SKELETONS:
        export(recording("biped"), tmp_path / f"{name}.glb", Options(skeleton=name))
    with serving(build=build, out=tmp_path) as address, browser() as chromium:
        page = chromium.new_page()
        for name in SKELETONS:
            motion = clip_of(recording("biped"), Options(skeleton=name))
            page.goto(f"{address}/out/page.html?{name}.glb")
            page.wait_for_function("window.at", timeout=60_000)
            assert page.evaluate("skinned()") == 7  # a mesh a colour
            for frame in (0, 11, 29):
                found = page.evaluate(f"at({frame / 30})")
                for bone, place in zip(motion.bones, motion.world()[0][frame], strict=True):
                    word = bone.name.replace(":", "")  # three.js takes what it needs for paths out of names
                    assert np.abs(np.array(found[word]) - place).max() < 1e-4, bone.name


def test_three_vrm_reads_a_vrma(tmp_path: Path):
    three, vrm = node_package("three"), node_package("@pixiv/three-vrm-animation")
    export(recording("biped"), tmp_path / "a.vrma")
    imports = (
        '"three": "/three/build/three.module.js", "loader": "/three/examples/jsm/loaders/GLTFLoader.js",'
        ' "vrma": "/vrm/lib/three-vrm-animation.module.js",'
        ' "@pixiv/three-vrm-core": "/core/lib/three-vrm-core.module.js"'
    )
    plugin = "loader.register((parser) => new VRMAnimationLoaderPlugin(parser));"
    page_text = THREE % (imports, 'import { VRMAnimationLoaderPlugin } from "vrma";', plugin)
    (tmp_path / "page.html").write_text(page_text)
    motion = clip_of(recording("biped"))
    with (
        serving(three=three, vrm=vrm, core=vrm.parent / "three-vrm-core", out=tmp_path) as address,
        browser() as chromium,
    ):
        page = chromium.new_page()
        page.goto(f"{address}/out/page.html?a.vrma")
        page.wait_for_function("window.at", timeout=60_000)
        found = page.evaluate(
            "(() => { const [one] = made.userData.vrmAnimations; return { duration: one.duration, rest:"
            " one.restHipsPosition.toArray(), turns: [...one.humanoidTracks.rotation.keys()],"
            " hips: [...one.humanoidTracks.translation.get('hips').values.slice(-3)] }; })()"
        )
        assert found["duration"] == pytest.approx(1) and set(found["turns"]) == set(motion.human)
        assert np.allclose(found["rest"], motion.bones[motion.human["hips"]].place, atol=1e-5)
        assert np.allclose(found["hips"], motion.roots[-1], atol=1e-5)


def test_the_page_plays_without_a_network(tmp_path: Path):
    export(recording("biped"), tmp_path / "a.html", Options(fps=60))
    motion = clip_of(recording("biped"), Options(fps=60))
    with browser() as chromium:
        context = chromium.new_context(viewport={"width": 500, "height": 400})
        context.set_offline(True)
        page, wrong, asked = context.new_page(), [], []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda line: wrong.append(line.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"file://{tmp_path / 'a.html'}")
        page.wait_for_function("window.player && player.state.time > 0", timeout=60_000)
        page.evaluate("player.play(false); player.seek(0.5)")
        joints = {name: place for name, *place in page.evaluate("player.joints()")}
        for bone, place in zip(motion.bones, motion.world()[0][30], strict=True):
            assert np.abs(np.array(joints[bone.name]) - place).max() < 1e-3  # 16 bits a number, along 8 bones
        assert page.inner_text("#clock") == "0.50 / 1.00 s" and page.inner_text("#title") == "stand, biped"
        before = page.screenshot()
        page.keyboard.press("ArrowRight")
        assert page.inner_text("#clock") == "0.52 / 1.00 s"
        page.mouse.move(200, 150)
        page.mouse.down()
        page.mouse.move(300, 150)
        page.mouse.up()
        assert page.screenshot() != before
        assert wrong == [] and [url for url in asked if not url.startswith(("file:", "data:"))] == []


@pytest.mark.slow
def test_blender_makes_an_fbx_with_all_frames(tmp_path: Path):
    """The script of the examples: read back, joints are where they were."""
    python = os.environ.get("TUMBLE_BLENDER")
    if not python:
        pytest.skip('needs Blender: pip install "bpy==4.5.*" in an environment of its own, TUMBLE_BLENDER=its python')
    export(recording("humanoid"), tmp_path / "a.glb", Options(skeleton="unity"))
    script = Path(__file__).parents[1] / "examples" / "glb_to_fbx.py"
    clean = {key: word for key, word in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run([python, str(script), tmp_path / "a.glb", tmp_path / "a.fbx"], check=True, env=clean,
                   capture_output=True)  # fmt: skip
    reader = Path(__file__).with_name("blender_places.py")
    done = subprocess.run(
        [python, str(reader), tmp_path / "a.fbx"], capture_output=True, text=True, check=True, env=clean
    )
    (found,) = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("PLACES"))[6:]).values()
    motion = clip_of(recording("humanoid"), Options(skeleton="unity"))
    theirs = np.stack([np.array(found[bone.name]) for bone in motion.bones], 1)
    assert theirs.shape[0] == motion.frames
    assert np.linalg.norm(theirs - motion.world()[0], axis=-1).max() < 1e-3  # m
