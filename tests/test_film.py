"""Film strips: what is drawn follows from the states, and drawing touches nothing else."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tumble import film
from tumble.characters.humanoid import humanoid
from tumble.errors import UserError
from tumble.film import canvas as canvas_module
from tumble.film import opengl
from tumble.world.scene import Ball, Scene

INTEGRATION = mujoco.mjtState.mjSTATE_INTEGRATION


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(humanoid())


@pytest.fixture(scope="module")
def poses(scene: Scene) -> np.ndarray:
    return np.stack([scene.state(), scene.state("t-pose", "supine"), scene.state("t-pose")])


@pytest.fixture(scope="module")
def gl(scene: Scene) -> None:
    """Skips where no OpenGL library is installed at all."""
    try:
        film.Canvas(scene, 16, 16).close()
    except UserError as error:
        if "no OpenGL" not in str(error):
            raise
        pytest.skip(str(error))


def small(scene: Scene, states: np.ndarray, frames: int, **more: int) -> np.ndarray:
    """A strip of small panels whose labels are all alike."""
    picture = film.strip(scene, states, np.zeros(len(states)), frames, width=60, height=72, **more)
    return np.asarray(picture)


def panel(strip: np.ndarray, i: int) -> np.ndarray:
    return strip[:, i * 62 : i * 62 + 60]


# --- camera


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.5])
@pytest.mark.parametrize("camera", [film.Camera(), film.Camera(30, -60, 50, 0.2), film.Camera(-90, 10, 15, 0)])
def test_frame_fits_tightly(camera: film.Camera, aspect: float) -> None:
    rng = np.random.default_rng(0)
    bodies = [rng.uniform(-1, 1, (20, 3)) * [2, 1, 0.5] + [x, -x, 1] for x in (0, 7, -3)]
    slope = np.tan(np.radians(camera.fovy) / 2)
    reach = []
    for body, view in zip(bodies, camera.frame(bodies, aspect), strict=True):
        right, up, forward = camera.axes @ (body - view.lookat).T
        depth = view.distance + forward
        reach += [np.abs(right) / depth / slope / aspect, np.abs(up) / depth / slope]
    assert np.max(reach) == pytest.approx(1 - camera.margin)


def test_camera_axes_are_mujocos(scene: Scene, poses: np.ndarray, gl: None) -> None:
    camera = film.Camera(azimuth=37, elevation=-21)
    with film.Canvas(scene, 32, 32) as canvas:
        canvas.draw(poses[0], camera.frame([canvas.outline(poses[0])], 1.0)[0])
        eye = canvas._scene.camera[0]
        np.testing.assert_allclose(camera.axes[2], eye.forward, atol=1e-6)
        np.testing.assert_allclose(camera.axes[1], eye.up, atol=1e-6)


def test_frames_share_one_direction_and_distance() -> None:
    bodies = [np.eye(3), 3 * np.eye(3) + [5, 0, 0]]
    near, far = film.Camera().frame(bodies, 1.0)
    assert (near.azimuth, near.elevation, near.distance) == (far.azimuth, far.elevation, far.distance)
    assert near.lookat[2] == far.lookat[2]


def test_a_parked_ball_is_not_framed(poses: np.ndarray) -> None:
    scene = Scene(humanoid(), [Ball()])
    corners = film.outline(scene.model, scene.show(scene.state()), "pelvis")
    assert np.ptp(corners, axis=0).max() < 2.0
    assert film.drawing_model(scene, 8, 8).stat.extent < 2.2


# --- the drawing model


def test_drawing_model_takes_the_same_states_and_steps_alike(scene: Scene, poses: np.ndarray) -> None:
    before = scene.fingerprint
    drawing = film.drawing_model(scene, 64, 48)
    assert scene.fingerprint == before
    for name in ("timestep", "disableactuator", "enableflags"):  # a drive's own, which the drawing has not
        setattr(drawing.opt, name, getattr(scene.model.opt, name))
    assert mujoco.mj_stateSize(drawing, INTEGRATION) == poses.shape[1]
    rng = np.random.default_rng(0)
    here, there = mujoco.MjData(scene.model), mujoco.MjData(drawing)
    for state in poses:
        mujoco.mj_setState(scene.model, here, state, INTEGRATION)
        mujoco.mj_setState(drawing, there, state, INTEGRATION)
        for _ in range(50):
            here.ctrl[:] = there.ctrl[:] = rng.normal(size=scene.model.nu)
            mujoco.mj_step(scene.model, here)
            mujoco.mj_step(drawing, there)
        np.testing.assert_array_equal(here.qpos, there.qpos)


@pytest.mark.parametrize("proportions", [{}, {"height": 1.2, "legs": 1.3, "arms": 0.8, "shoulders": 1.4}])
def test_what_the_humanoid_wears_weighs_nothing(proportions: dict[str, float]) -> None:
    scene = Scene(humanoid(**proportions))
    dressed = scene.spec.copy().compile()
    worn = dressed.ngeom - scene.model.ngeom
    assert worn == (dressed.geom_group == 1).sum() > 0
    here, there = scene.show(scene.state("t-pose", "supine")), mujoco.MjData(dressed)
    mujoco.mj_setState(dressed, there, scene.read(here), INTEGRATION)
    for _ in range(100):
        mujoco.mj_step(scene.model, here)
        mujoco.mj_step(dressed, there)
    np.testing.assert_array_equal(here.qpos, there.qpos)


# --- strips


def test_size_and_rows(scene: Scene, poses: np.ndarray, gl: None) -> None:
    assert small(scene, poses, 3).shape == (72, 3 * 60 + 2 * 2, 3)
    assert small(scene, poses, 3, columns=2).shape == (2 * 72 + 2, 2 * 60 + 2, 3)
    assert small(scene, poses[:1], 1).shape == (72, 60, 3)


def test_panels_show_states(scene: Scene, poses: np.ndarray, gl: None) -> None:
    strip = small(scene, poses[[0, 1, 0]], 3)
    np.testing.assert_array_equal(panel(strip, 0), panel(strip, 2))
    assert (panel(strip, 0) != panel(strip, 1)).mean() > 0.1


def test_first_and_last_are_in_and_the_rest_even(scene: Scene, poses: np.ndarray, gl: None) -> None:
    a, b, c = poses
    np.testing.assert_array_equal(small(scene, np.stack([a, c, b, c, c]), 3), small(scene, np.stack([a, b, c]), 3))


def test_whole_body_is_in_every_panel(scene: Scene, poses: np.ndarray, gl: None) -> None:
    strip = small(scene, poses, 3)
    for i in range(3):
        red, _, blue = np.moveaxis(panel(strip, i).astype(int), 2, 0)
        body = (np.abs(red - blue) > 45) & (np.arange(72)[:, None] > 12)  # skin, shirt, shoes; not the label
        assert body.sum() > 80
        assert not body[[0, -1]].any() and not body[:, [0, -1]].any()


def test_the_camera_follows_over_the_ground(scene: Scene, poses: np.ndarray, gl: None) -> None:
    two_tiles, one_tile = poses[0].copy(), poses[0].copy()
    two_tiles[1] += 2 * film.TILE  # the first number of a state row is time, then x, y, z
    one_tile[1] += film.TILE
    strip = small(scene, np.stack([poses[0], two_tiles, one_tile]), 3).astype(int)
    assert np.abs(panel(strip, 1) - panel(strip, 0)).mean() < 0.5
    assert np.abs(panel(strip, 2) - panel(strip, 0)).mean() > 2


def test_drawing_leaves_states_and_scene_alone(scene: Scene, poses: np.ndarray, gl: None) -> None:
    states, before = poses.copy(), scene.fingerprint
    states.flags.writeable = False
    np.testing.assert_array_equal(small(scene, states, 3), small(scene, states, 3))
    np.testing.assert_array_equal(states, poses)
    assert scene.fingerprint == before


def test_labels_tell_close_times_apart(scene: Scene, poses: np.ndarray, gl: None) -> None:
    same = np.stack([poses[0]] * 2)
    for times in ([0.0, 0.04], [0.0, 1.0]):
        strip = np.asarray(film.strip(scene, same, times, 2, width=60, height=72))
        assert (panel(strip, 0) != panel(strip, 1)).any()


# --- others in the same picture

MAGENTA = (1.0, 0.0, 1.0, 1.0)


def magenta(picture: np.ndarray) -> np.ndarray:
    """Pixels of that hue, in light or shade; nothing else in a picture has it."""
    red, green, blue = np.moveaxis(picture.astype(int), 2, 0)
    return (np.minimum(red, blue) - green > 40) & (np.abs(red - blue) < 40)


@pytest.fixture(scope="module")
def with_ball() -> tuple[Scene, np.ndarray, np.ndarray]:
    """A scene with a ball, somebody who stands and somebody who lies, the ball beside both at the same place."""
    scene = Scene(humanoid(), [Ball()])
    ball = scene.props[0].name
    stands, lies = (
        scene.placed(state, ball, (0.3, 0.5, 1.2)) for state in (scene.state(), scene.state("t-pose", "supine"))
    )
    return scene, stands, lies


def test_others_are_drawn_in_their_colours_and_leave_no_trace(
    with_ball: tuple[Scene, np.ndarray, np.ndarray], gl: None
) -> None:
    scene, stands, lies = with_ball
    with film.Canvas(scene, 120, 120) as canvas:
        view = film.Camera().frame([np.concatenate([canvas.outline(stands), canvas.outline(lies)])], 1.0)[0]
        canvas.draw(stands, view)  # a context's first picture may differ from later ones by a bit
        plain = canvas.draw(stands, view)
        both = canvas.draw(stands, view, [(lies, MAGENTA)])
        again = canvas.draw(stands, view, [])
        faint = canvas.draw(stands, view, [(lies, (*MAGENTA[:3], 0.1))])
        tinted = canvas.draw(stands, view, rgba=MAGENTA)
    np.testing.assert_array_equal(plain, again)
    assert not magenta(plain).any()
    assert magenta(both).sum() > 300
    green = [picture[magenta(both), 1].mean() for picture in (both, faint, plain)]
    assert green[0] + 20 < green[1] < green[2] - 20  # the ground shines through who is translucent
    changed = (tinted != plain).any(2)
    assert magenta(tinted).sum() > 300 and magenta(tinted)[changed].mean() > 0.8  # ground and ball stay as they are


def test_of_others_the_characters_alone_are_drawn(with_ball: tuple[Scene, np.ndarray, np.ndarray], gl: None) -> None:
    scene, stands, lies = with_ball
    elsewhere = scene.placed(lies, scene.props[0].name, (-0.3, -0.5, 1.2))
    with film.Canvas(scene, 120, 120) as canvas:
        view = film.Camera().frame([canvas.outline(stands)], 1.0)[0]
        canvas.draw(stands, view)
        alone = canvas._scene.ngeom
        one, other = (canvas.draw(stands, view, [(state, MAGENTA)]) for state in (lies, elsewhere))
        added = [geom.objid for geom in canvas._scene.geoms[alone : canvas._scene.ngeom]]
        body = np.flatnonzero(canvas.model.body_rootid[canvas.model.geom_bodyid] == canvas.model.body("pelvis").id)
        shown = np.isin(film.drawing_model(scene, 8, 8).geom_group[body], (0, 1, 2))
    np.testing.assert_array_equal(one, other)
    assert sorted(added) == body[shown].tolist()  # no ground, no ball, nothing twice


def test_characters_wear_their_skins_unless_parts_are_asked_for(scene: Scene, gl: None) -> None:
    state, pictures = scene.state(), {}
    for rigid in (False, True):
        with film.Canvas(scene, 120, 120, rigid=rigid) as canvas:
            view = film.Camera().frame([canvas.outline(state)], 1.0)[0]
            canvas.draw(state, view)
            drawn = canvas._scene.geoms[: canvas._scene.ngeom]
            kinds = [geom.objtype for geom in drawn]
            limbs = [g.objid for g in drawn if g.objtype == mujoco.mjtObj.mjOBJ_GEOM and canvas._mine[g.objid]]
            pictures[rigid] = canvas.draw(state, view)
        skins = kinds.count(mujoco.mjtObj.mjOBJ_SKIN.value)
        assert (skins > 0, limbs == []) == ((True, True) if not rigid else (False, False))
    differing = (np.abs(pictures[False].astype(int) - pictures[True]).max(2) > 40).mean()
    assert 0.001 < differing < 0.1  # the same body, in the same place


def test_more_others_than_fit_are_refused(
    with_ball: tuple[Scene, np.ndarray, np.ndarray], gl: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, stands, lies = with_ball
    monkeypatch.setattr(canvas_module, "MOST", 150)
    with film.Canvas(scene, 16, 16) as canvas:
        view = film.Camera().frame([canvas.outline(stands)], 1.0)[0]
        with pytest.raises(UserError, match="a picture has room for 150 geoms, and the states are more: draw fewer"):
            canvas.draw(stands, view, [(lies, MAGENTA)] * 3)


def test_canvas_closes_twice(scene: Scene, gl: None) -> None:
    canvas = film.Canvas(scene, 16, 16)
    canvas.close()
    assert canvas._gl is None
    canvas.close()  # frees nothing a second time


# --- mistakes


def wrong_states(scene: Scene, kind: str) -> tuple[np.ndarray, np.ndarray]:
    states, times = np.stack([scene.state()] * 3), np.arange(3.0)
    if kind == "narrow":
        states = states[:, :-1]
    elif kind == "flat":
        states = states[0]
    elif kind == "nan":
        states[2, 5] = np.nan
    elif kind == "times":
        times = times[:2]
    return states, times


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("fine", {"frames": 0}, "frames must be a whole number from 1 to 3, the number of states, got 0"),
        ("fine", {"frames": 4}, "frames must be a whole number from 1 to 3, the number of states, got 4"),
        ("fine", {"frames": 1.5}, "frames must be a whole number from 1 to 3, the number of states, got 1.5"),
        ("narrow", {}, r"a state of this scene has (\d+) numbers, got states of shape \(3, \d+\); were they recorded"),
        ("flat", {}, r"a state of this scene has (\d+) numbers, got states of shape \(\d+,\)"),
        ("nan", {}, "state 2 of 0 to 2 is not finite: draw only the states before it"),
        ("times", {}, r"need one time for each of 3 states, got times of shape \(2,\)"),
        ("fine", {"width": 3}, "width of a strip must be a number 16 or more and at most 2000, got 3"),
        ("fine", {"columns": -1}, "columns of a strip must be a number 0 or more and at most 2000, got -1"),
    ],
)
def test_mistakes_are_explained(scene: Scene, kind: str, arguments: dict[str, float], message: str) -> None:
    states, times = wrong_states(scene, kind)
    with pytest.raises(UserError, match=message):
        film.strip(scene, states, times, **({"frames": 3} | arguments))  # type: ignore[arg-type]


def test_camera_refuses_nonsense() -> None:
    with pytest.raises(UserError, match="fovy of a camera must be a number 1 or more and at most 120, got 180"):
        film.Camera(fovy=180)


def test_missing_pillow_says_how_to_get_it(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UserError, match=r'drawing needs Pillow: pip install "tumble\[video\]"'):
        film.strip(scene, scene.state()[None], [0.0], 1)


# --- OpenGL


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (None, r"no OpenGL to draw with; install the Debian packages libegl1 libgl1, or libosmesa6 \(.*gone"),
        ("osmesa", "cannot draw with MUJOCO_GL=osmesa; unset it, or install the Debian packages libegl1 libgl1"),
    ],
)
def test_without_opengl_the_error_names_packages(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, chosen: str | None, message: str
) -> None:
    def missing(backend: str, model: mujoco.MjModel) -> None:
        assert os.environ["MUJOCO_GL"] == backend
        raise OSError("gone")

    monkeypatch.setattr(opengl, "open_backend", missing)
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    if chosen:
        monkeypatch.setenv("MUJOCO_GL", chosen)
    before = dict(os.environ)
    with pytest.raises(UserError, match=message):
        film.Canvas(scene, 16, 16)
    assert dict(os.environ) == before


def run(code: str, **environment: str) -> str:
    clean = {key: value for key, value in os.environ.items() if key not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean | environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


def test_import_touches_neither_opengl_nor_pillow() -> None:
    loaded = run("import sys, tumble.film; print([m for m in ('OpenGL', 'PIL') if m in sys.modules])")
    assert loaded == "[]"


@pytest.mark.skipif(sys.platform != "linux", reason="EGL and OSMesa are Linux's")
def test_falls_back_to_osmesa_when_egl_has_no_driver(gl: None) -> None:
    code = """if True:
        import sys
        from tumble import film
        from tumble.characters.humanoid import humanoid
        from tumble.errors import UserError
        from tumble.world.scene import Scene
        try:
            with film.Canvas(Scene(humanoid()), 16, 16):
                print([name for name in ("egl", "osmesa") if f"mujoco.{name}" in sys.modules])
        except UserError as error:
            print(error)
    """
    told = run(code, __EGL_VENDOR_LIBRARY_FILENAMES="/nonexistent")
    if "libosmesa6" in told and "osmesa: " in told:
        pytest.skip("OSMesa is not installed")
    assert told == "['osmesa']"


# --- saving


@pytest.mark.skipif(importlib.util.find_spec("PIL") is None, reason="needs Pillow")
def test_save_writes_the_picture_and_nothing_else(tmp_path: Path) -> None:
    from PIL import Image

    picture = Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3))
    film.save(picture, tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as back:
        np.testing.assert_array_equal(np.asarray(back), np.asarray(picture))
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    class Half:
        def save(self, file: object, kind: str) -> None:
            file.write(b"half")  # type: ignore[attr-defined]
            raise OSError(28, "No space left on device")

    (tmp_path / "a.png").write_bytes(b"old")
    with pytest.raises(UserError, match=r"cannot write .*a\.png: No space left on device"):
        film.save(Half(), tmp_path / "a.png")  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == b"old"


def test_save_explains_places_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    for name, message in (
        ("nowhere/a.png", "no folder .*nowhere to write a.png into"),
        ("folder.png", r"cannot write .*folder\.png: "),
        ("a.xyz", r"a picture is written as \.png, got 'a\.xyz'"),
    ):
        with pytest.raises(UserError, match=message):
            film.save(_Blank(), tmp_path / name)  # type: ignore[arg-type]


class _Blank:
    def save(self, file: object, kind: str) -> None:
        pass
