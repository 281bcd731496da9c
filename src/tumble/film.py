"""Film: states of a scene drawn without a window, as a strip of pictures for a page.

    from tumble.film import save, strip
    save(strip(scene, states, times, frames=8), "getup.png")

Drawing needs Pillow and an OpenGL library: EGL, else OSMesa; MUJOCO_GL, when set, decides. Light,
sky and ground pattern live in a second model made for drawing: the scene itself, its states and
its fingerprint stay as they are. OpenGL belongs to a thread: use a `Canvas` where it was made.
"""

import contextlib
import importlib
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import mujoco
import numpy as np

from tumble.errors import UserError, check_number
from tumble.files import replace_file
from tumble.world.scene import Scene

if TYPE_CHECKING:
    from PIL import Image

SKY, HORIZON = (0.66, 0.78, 0.90), (0.93, 0.95, 0.97)
FLOOR, FLOOR_TILES = (0.90, 0.91, 0.92), (0.84, 0.86, 0.89)
PAPER, INK = (255, 255, 255), (70, 78, 92)
TILE = 1.0  # side of a ground tile, m
FINER = 2  # pixels drawn per pixel kept, along each side
SUNS = 7  # lights that share the sun's brightness, for soft shadows; OpenGL has 8, one is the headlight


@dataclass(frozen=True)
class Camera:
    """A direction to look from, the same in all pictures, and how tight a picture is framed.

    Attributes:
      azimuth: where the camera looks to, degrees from the x axis towards the y axis.
      elevation: degrees above the horizon it looks to; negative looks down.
      fovy: vertical field of view, degrees; small is like a telephoto lens.
      margin: free space around the character, as a share of the picture.
    """

    azimuth: float = 145.0
    elevation: float = -14.0
    fovy: float = 24.0
    margin: float = 0.06

    def __post_init__(self) -> None:
        """Refuse angles and margins out of range."""
        check_number("azimuth of a camera", self.azimuth, -360, 360)
        check_number("elevation of a camera", self.elevation, -89, 89)
        check_number("fovy of a camera", self.fovy, 1, 120)
        check_number("margin of a camera", self.margin, 0, 0.45)

    @property
    def axes(self) -> np.ndarray:
        """Unit vectors to the right, up and forwards, as rows, (3, 3)."""
        a, e = math.radians(self.azimuth), math.radians(self.elevation)
        right = np.array([math.sin(a), -math.cos(a), 0.0])
        forward = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
        return np.stack([right, np.cross(right, forward), forward])

    def frame(self, bodies: Sequence[np.ndarray], aspect: float) -> list[mujoco.MjvCamera]:
        """One camera for each body that follows it over the ground, all as near as the worst fits.

        Args:
          bodies: points that must be seen, (n, 3) each, m.
          aspect: width of a picture over its height.
        """
        centres = [np.array([*_middle(body[:, :2] @ self._ground) @ self._ground.T, 0.0]) for body in bodies]
        points = np.concatenate([body - centre for body, centre in zip(bodies, centres, strict=True)])
        heights = np.linspace(points[:, 2].min(), points[:, 2].max(), 65)
        # the height from which they fill the picture best from top to bottom, whatever its width
        up = np.array([0.0, 0.0, min(heights, key=lambda z: self._distance(points - [0, 0, z], math.inf))])
        distance = self._distance(points - up, aspect)
        return [self._at(centre + up, distance) for centre in centres]

    @property
    def _ground(self) -> np.ndarray:
        """Columns: to the right and away from the camera along the ground, (2, 2)."""
        a = math.radians(self.azimuth)
        return np.array([[math.sin(a), math.cos(a)], [-math.cos(a), math.sin(a)]])

    def _distance(self, points: np.ndarray, aspect: float) -> float:
        """The nearest distance to the origin from which all points are in the picture, m."""
        right, up, forward = self.axes @ points.T
        slope = math.tan(math.radians(self.fovy) / 2) * (1 - self.margin)
        near = np.maximum(np.abs(right) / (slope * aspect), np.abs(up) / slope) - forward
        return float(max(near.max(), 0.1))

    def _at(self, centre: np.ndarray, distance: float) -> mujoco.MjvCamera:
        """A free camera of MuJoCo's that looks at a place from a distance, m."""
        camera = mujoco.MjvCamera()
        camera.type = mujoco.mjtCamera.mjCAMERA_FREE.value
        camera.lookat[:] = centre
        camera.azimuth, camera.elevation, camera.distance = self.azimuth, self.elevation, distance
        return camera


def _middle(points: np.ndarray) -> np.ndarray:
    """The middle of the box around points (n, d), (d,)."""
    return np.asarray((points.min(0) + points.max(0)) / 2)


def outline(model: mujoco.MjModel, data: mujoco.MjData, *roots: str) -> np.ndarray:
    """Corners of the boxes around the geoms of bodies and their descendants, (8 ngeom, 3), m."""
    mine = np.isin(model.body_rootid[model.geom_bodyid], [model.body(root).id for root in roots])
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    boxes = model.geom_aabb[mine]
    local = boxes[:, None, :3] + signs * boxes[:, None, 3:]
    turned = np.einsum("gij,gkj->gki", data.geom_xmat[mine].reshape(-1, 3, 3), local)
    return np.asarray((turned + data.geom_xpos[mine, None]).reshape(-1, 3))


def drawing_model(scene: Scene, width: int, height: int, fovy: float = Camera.fovy) -> mujoco.MjModel:
    """The scene's model with sky, light and a ground to look at; states of the scene fit it.

    Args:
      scene: is left as it is.
      width, height: of a picture, pixels.
      fovy: vertical field of view, degrees.
    """
    spec = scene.spec.copy()
    corners = outline(scene.model, scene.show(scene.state()), *_roots(scene))
    size = 1.1 * float(np.ptp(corners, axis=0).max())
    spec.stat.extent = size  # a ball parked far away would coarsen the shadows
    visual = spec.visual
    visual.global_.offwidth, visual.global_.offheight, visual.global_.fovy = width, height, fovy
    visual.quality.shadowsize, visual.quality.offsamples = 1024, 0  # what software drawing can afford
    visual.quality.numslices, visual.quality.numstacks = 36, 24
    visual.map.shadowclip, visual.map.znear, visual.map.zfar = 1.0, 0.05, 12.0
    visual.map.fogstart, visual.map.fogend = 3.5, 12.0
    visual.rgba.fog[:] = visual.rgba.haze[:] = [*HORIZON, 1]
    _add_lights(spec, scene.character.root, size)
    _add_surfaces(spec)
    return spec.compile()


def _roots(scene: Scene) -> list[str]:
    """Names of the roots of all characters."""
    return [prefix + character.root for prefix, character in scene.cast.items()]


def _add_lights(spec: mujoco.MjSpec, root: str, size: float) -> None:
    """A sun with soft shadows that travels with the character, and light from the sky."""
    for light in spec.lights:
        light.active = False
    head = spec.visual.headlight
    head.ambient[:], head.diffuse[:], head.specular[:] = (0.36, 0.37, 0.40), 0.24, 0
    for i in range(SUNS):
        turn, out = i * math.pi * (3 - 5**0.5), 0.06 * math.sqrt((i + 0.5) / SUNS)  # a sunflower's seeds
        # leaning along x alone: MuJoCo biases shadow depth for slopes along one side of its map, and
        # ground that slopes along both is speckled
        towards = np.array([-0.55 + out * math.cos(turn), out * math.sin(turn), -1.0])
        light = spec.body(root).add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, castshadow=True)
        light.mode = mujoco.mjtCamLight.mjCAMLIGHT_TRACK
        light.pos[:], light.dir[:] = -2 * size * towards, towards
        light.diffuse[:], light.specular[:], light.ambient[:] = np.array([0.58, 0.56, 0.52]) / SUNS, 0.2 / SUNS, 0


def _add_surfaces(spec: mujoco.MjSpec) -> None:
    """Sky, tiles on the ground, and a matte finish for geoms without a material."""
    textures, builtins = mujoco.mjtTexture, mujoco.mjtBuiltin
    sky, tiles = spec.add_texture(name="film_sky"), spec.add_texture(name="film_tiles")
    sky.type, sky.builtin = textures.mjTEXTURE_SKYBOX, builtins.mjBUILTIN_GRADIENT
    sky.rgb1[:], sky.rgb2[:], sky.width, sky.height = SKY, HORIZON, 256, 6 * 256
    tiles.type, tiles.builtin = textures.mjTEXTURE_2D, builtins.mjBUILTIN_CHECKER
    tiles.rgb1[:], tiles.rgb2[:], tiles.width, tiles.height = FLOOR, FLOOR_TILES, 256, 256
    ground = spec.add_material(name="film_ground", texuniform=True, texrepeat=[1 / TILE, 1 / TILE])
    ground.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "film_tiles"
    ground.specular, ground.reflectance = 0.0, 0.0
    spec.add_material(name="film_matte", specular=0.3, shininess=0.3)
    for geom in spec.geoms:
        if geom.type == mujoco.mjtGeom.mjGEOM_PLANE:
            geom.material = "film_ground"
        elif not geom.material:
            geom.material = "film_matte"


class Canvas:
    """Draws states of one scene in pictures of one size; to be used in a `with` statement.

    Args:
      scene: what is drawn; never changed.
      width, height: of a picture, pixels.
      fovy: vertical field of view, degrees.
    """

    def __init__(self, scene: Scene, width: int, height: int, fovy: float = Camera.fovy) -> None:
        self.model = drawing_model(scene, width, height, fovy)
        self._roots = _roots(scene)
        self._data = mujoco.MjData(self.model)
        self._scene = mujoco.MjvScene(self.model, maxgeom=10000)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_FOG] = True
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        self._rect = mujoco.MjrRect(0, 0, width, height)
        self._gl, self._context = _open(self.model)

    def outline(self, state: np.ndarray) -> np.ndarray:
        """Points around all characters in a state, (n, 3), m; what `Camera.frame` takes."""
        self._pose(state)
        return outline(self.model, self._data, *self._roots)

    def draw(self, state: np.ndarray, camera: mujoco.MjvCamera) -> np.ndarray:
        """A picture of a state of the scene, RGB bytes, (height, width, 3), a copy."""
        self._pose(state)
        every = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(self.model, self._data, mujoco.MjvOption(), None, camera, every, self._scene)
        self._gl.make_current()
        mujoco.mjr_render(self._rect, self._scene, self._context)
        pixels = np.empty((self._rect.height, self._rect.width, 3), np.uint8)
        mujoco.mjr_readPixels(pixels, None, self._rect, self._context)
        return np.flipud(pixels).copy()

    def _pose(self, state: np.ndarray) -> None:
        """Put the drawing's own data into a state of the scene, with what pictures need computed."""
        mujoco.mj_setState(self.model, self._data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_kinematics(self.model, self._data)
        mujoco.mj_comPos(self.model, self._data)
        mujoco.mj_camlight(self.model, self._data)

    def close(self) -> None:
        """Give the OpenGL context back; a second call does nothing."""
        if self._gl is not None:
            self._gl.make_current()
            self._context.free()
            self._gl.free()
            self._gl = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open(model: mujoco.MjModel) -> tuple[Any, mujoco.MjrContext]:
    """An OpenGL context, made current, and MuJoCo's part of it, from the first backend that works."""
    chosen = os.environ.get("MUJOCO_GL", "").strip().lower()
    automatic = sys.platform == "linux" and chosen in ("", "1", "on", "true", "enable", "enabled")
    failures = []
    for backend in ("egl", "osmesa") if automatic else (chosen,):
        try:
            with _trying(backend):
                return _open_backend(backend, model)
        # a missing library shows as ImportError, OSError, AttributeError or FatalError, by the way it is missed
        except Exception as error:
            failures.append(f"{backend or 'default'}: {str(error).partition('. ')[0]}")
    wrong = (
        "no OpenGL to draw with;" if automatic or not chosen else f"cannot draw with MUJOCO_GL={chosen}; unset it, or"
    )
    raise UserError(f"{wrong} install the Debian packages libegl1 libgl1, or libosmesa6 ({'; '.join(failures)})")


def _open_backend(backend: str, model: mujoco.MjModel) -> tuple[Any, mujoco.MjrContext]:
    """A context by one backend, current, with its buffer off screen; nothing stays open where that fails."""
    own = backend not in ("egl", "osmesa")  # MuJoCo chose at its import
    maker: Any = importlib.import_module("mujoco.gl_context" if own else f"mujoco.{backend}")
    screen = model.vis.global_
    gl = maker.GLContext(screen.offwidth, screen.offheight)
    try:
        gl.make_current()
        context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
    except Exception:
        gl.free()
        raise
    mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
    return gl, context


@contextlib.contextmanager
def _trying(backend: str) -> Iterator[None]:
    """Set what MuJoCo's C code reads to find OpenGL. Leaves the environment as it was, and after a
    failure PyOpenGL too: it binds to one platform when imported, and the next try needs another."""
    environment = {key: os.environ.get(key) for key in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    modules = set(sys.modules)
    os.environ["MUJOCO_GL"] = backend
    try:
        yield
    except Exception:
        for name in set(sys.modules) - modules:
            if name.split(".")[0] == "OpenGL" or name.startswith(("mujoco.egl", "mujoco.osmesa")):
                del sys.modules[name]
        raise
    finally:
        for key, value in environment.items():
            os.environ.pop(key, None)
            if value is not None:
                os.environ[key] = value


def strip(
    scene: Scene,
    states: np.ndarray,
    times: np.ndarray | Sequence[float],
    frames: int = 8,
    *,
    camera: Camera = Camera(),
    width: int = 240,
    height: int = 288,
    columns: int = 0,
) -> "Image.Image":
    """Evenly spaced states side by side, each labelled with its time; the first and last are in.

    Args:
      scene: whose states they are.
      states: (n, nstate).
      times: s, (n,).
      frames: how many, 1 to n; one frame is the first state.
      camera: where to look from.
      width, height: of one picture, pixels.
      columns: pictures in a row of the strip; 0 puts all in one row.
    """
    pillow = _pillow()
    for name, value, low in (("width", width, 16), ("height", height, 16), ("columns", columns, 0)):
        check_number(f"{name} of a strip", value, low, 2000)
    rows, seconds = _pick(scene, np.asarray(states), np.asarray(times), frames)
    with Canvas(scene, FINER * width, FINER * height, camera.fovy) as canvas:
        views = camera.frame([canvas.outline(row) for row in rows], width / height)
        drawn = [canvas.draw(row, view) for row, view in zip(rows, views, strict=True)]
    fine = [pillow.fromarray(pixels).resize((width, height), pillow.Resampling.LANCZOS) for pixels in drawn]
    places = 1 if frames == 1 or np.diff(seconds).min() > 0.095 else 2
    return _compose(fine, [f"{time:.{places}f} s" for time in seconds], columns or frames)


def _pick(scene: Scene, states: np.ndarray, times: np.ndarray, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """The chosen states and their times, or the error that says what is wrong with them."""
    width = scene.state().size
    if states.ndim != 2 or states.shape[1] != width:
        raise UserError(
            f"a state of this scene has {width} numbers, got states of shape {states.shape}; "
            "were they recorded in another scene?"
        )
    if times.shape != states.shape[:1]:
        raise UserError(f"need one time for each of {len(states)} states, got times of shape {times.shape}")
    if frames != int(frames) or not 1 <= frames <= len(states):
        raise UserError(f"frames must be a whole number from 1 to {len(states)}, the number of states, got {frames}")
    chosen = np.linspace(0, len(states) - 1, int(frames)).round().astype(int)
    for i in chosen:
        if not (np.isfinite(states[i]).all() and np.isfinite(times[i])):
            raise UserError(f"state {i} of 0 to {len(states) - 1} is not finite: draw only the states before it")
    return states[chosen], times[chosen]


def _compose(pictures: Sequence["Image.Image"], labels: Sequence[str], columns: int) -> "Image.Image":
    """Pictures in rows with thin gaps, a label in the corner of each."""
    from PIL import Image, ImageDraw, ImageFont

    width, height = pictures[0].size
    gap, size = max(2, width // 80), max(10, min(width, height) // 15)
    columns = min(columns, len(pictures))
    rows = math.ceil(len(pictures) / columns)
    sheet = Image.new("RGB", (columns * (width + gap) - gap, rows * (height + gap) - gap), PAPER)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size)
    for i, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
        x, y = i % columns * (width + gap), i // columns * (height + gap)
        sheet.paste(picture, (x, y))
        pen.text((x + size // 2, y + size // 3), label, INK, font)
    return sheet


def _pillow() -> Any:
    """Pillow's Image module, or the sentence that says how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise UserError('drawing needs Pillow: pip install "tumble[video]"') from None
    return Image


def save(image: "Image.Image", path: str | os.PathLike[str]) -> None:
    """Write a picture as a .png file that is whole or not there; an older file stays until then."""
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise UserError(f"a picture is written as .png, got '{path.name}'")
    replace_file(path, lambda file: image.save(file, "PNG"))
