"""Canvas: states of a scene drawn without a window, one picture after the other.

Light, sky and ground pattern live in a second model made for drawing: the scene itself, its states and its fingerprint
stay as they are. OpenGL belongs to a thread: use a `Canvas` where it was made.
"""

import copy
import math
from collections.abc import Sequence
from typing import Self

import mujoco
import numpy as np

from tumble.errors import UserError
from tumble.film.camera import Camera, outline
from tumble.film.opengl import open_context
from tumble.film.skins import Dress, add_skins
from tumble.world.scene import Scene

SKY, HORIZON = (0.66, 0.78, 0.90), (0.93, 0.95, 0.97)
FLOOR, FLOOR_TILES = (0.90, 0.91, 0.92), (0.84, 0.86, 0.89)
TILE = 1.0  # side of a ground tile, m
MOST = 10_000  # geoms in a picture; a humanoid has 57
MATTE = "film_matte"  # a material
HIDDEN = 5  # a group of geoms that MuJoCo does not draw unless told to
SHADOWS = 1024  # pixels along a side of a shadow map
SUNS = 7  # lights that share the sun's brightness, for soft shadows; OpenGL has 8, one is the headlight

Rgba = tuple[float, float, float, float]  # 0 to 1; the last is opacity


def drawing_model(
    scene: Scene, width: int, height: int, fovy: float = Camera.fovy, suns: int = SUNS, shadows: int = SHADOWS,
    rigid: bool = False,
) -> mujoco.MjModel:  # fmt: skip
    """The scene's model with sky, light and a ground to look at; states of the scene fit it.

    Args:
      scene: is left as it is.
      width, height: of a picture, pixels.
      fovy: vertical field of view, degrees.
      suns: lights that share the sun's brightness, 1 to 7: one draws quickest, and round things coarser; more make
        shadows soft.
      shadows: pixels along a side of a shadow map; 0: none.
      rigid: without the characters' skins.
    """
    spec = scene.spec.copy()
    corners = outline(scene.model, scene.show(scene.state()), *_roots(scene))
    size = 1.1 * float(np.ptp(corners, axis=0).max())
    spec.stat.extent = size  # a ball parked far away would coarsen the shadows
    visual = spec.visual
    visual.global_.offwidth, visual.global_.offheight, visual.global_.fovy = width, height, fovy
    visual.quality.shadowsize, visual.quality.offsamples = shadows or SHADOWS, 0  # what software drawing can afford
    visual.quality.numslices, visual.quality.numstacks = (36, 24) if suns > 1 else (24, 12)  # of what is round
    visual.map.shadowclip, visual.map.znear, visual.map.zfar = 1.0, 0.05, 12.0
    visual.map.fogstart, visual.map.fogend = 3.5, 12.0
    visual.rgba.fog[:] = visual.rgba.haze[:] = [*HORIZON, 1]
    _add_lights(spec, scene.character.root, size, suns, shadows > 0)
    _add_surfaces(spec)
    if not rigid:
        add_skins(spec, scene, MATTE, suns == 1)
    return spec.compile()


def _roots(scene: Scene) -> list[str]:
    """Names of the roots of all characters."""
    return [prefix + character.root for prefix, character in scene.cast.items()]


def _add_lights(spec: mujoco.MjSpec, root: str, size: float, suns: int, shadows: bool) -> None:
    """A sun with soft shadows that travels with the character, and light from the sky."""
    for light in spec.lights:
        light.active = False
    head = spec.visual.headlight
    head.ambient[:], head.diffuse[:], head.specular[:] = (0.36, 0.37, 0.40), 0.24, 0
    for i in range(suns):
        turn, out = i * math.pi * (3 - 5**0.5), 0.06 * math.sqrt((i + 0.5) / suns)  # a sunflower's seeds
        # leaning along x alone: MuJoCo biases shadow depth for slopes along one side of its map, and
        # ground that slopes along both is speckled
        towards = np.array([-0.55 + out * math.cos(turn), out * math.sin(turn), -1.0])
        light = spec.body(root).add_light(type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, castshadow=shadows)
        light.mode = mujoco.mjtCamLight.mjCAMLIGHT_TRACK
        light.pos[:], light.dir[:] = -2 * size * towards, towards
        light.diffuse[:], light.specular[:], light.ambient[:] = np.array([0.58, 0.56, 0.52]) / suns, 0.2 / suns, 0


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
    spec.add_material(name=MATTE, specular=0.3, shininess=0.3)
    for geom in spec.geoms:
        if geom.type == mujoco.mjtGeom.mjGEOM_PLANE:
            geom.material = "film_ground"
        elif not geom.material:
            geom.material = MATTE


class Canvas:
    """Draws states of one scene in pictures of one size; to be used in a `with` statement.

    Args:
      scene: what is drawn; never changed.
      width, height: of a picture, pixels.
      fovy: vertical field of view, degrees.
      suns, shadows: see `drawing_model`.
      rigid: bodies as they are instead of skins.
    """

    def __init__(
        self, scene: Scene, width: int, height: int, fovy: float = Camera.fovy, suns: int = SUNS,
        shadows: int = SHADOWS, rigid: bool = False,
    ) -> None:  # fmt: skip
        self.model = drawing_model(scene, width, height, fovy, suns, shadows, rigid)
        self._roots = _roots(scene)
        self._bare = copy.copy(self.model)  # of which only the characters are drawn
        roots = [self.model.body(root).id for root in self._roots]
        self._mine = np.isin(self.model.body_rootid[self.model.geom_bodyid], roots)
        self._bare.geom_group[~self._mine] = HIDDEN
        self._bare.skin_group[:] = HIDDEN
        self._dress = None if rigid else Dress(scene, self.model, HIDDEN, suns == 1)
        self._data = mujoco.MjData(self.model)
        self._scene = mujoco.MjvScene(self.model, maxgeom=MOST)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_FOG] = True
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        self._rect = mujoco.MjrRect(0, 0, width, height)
        self._gl, self._context = open_context(self.model)

    def outline(self, state: np.ndarray) -> np.ndarray:
        """Points around all characters in a state, (n, 3), m; what `Camera.frame` takes."""
        self._pose(state)
        return outline(self.model, self._data, *self._roots)

    def draw(
        self,
        state: np.ndarray,
        camera: mujoco.MjvCamera,
        others: Sequence[tuple[np.ndarray, Rgba]] = (),
        rgba: Rgba | None = None,
    ) -> np.ndarray:
        """A picture of a state of the scene, RGB bytes, (height, width, 3), a copy.

        Args:
          state: ground, props and light are drawn as they are in it.
          camera: one of `Camera.frame`.
          others: further states, of which the characters' rigid bodies alone are drawn, each in one colour.
          rgba: the colour of the characters in `state`; their own where it is None.

        Raises:
          UserError: the others are more than a picture has room for.
        """
        self._pose(state)
        every = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(self.model, self._data, mujoco.MjvOption(), None, camera, every, self._scene)
        if self._dress is not None:
            self._dress.pose(self._data, self._scene)
        if rgba is not None:
            self._tint(0, rgba)
        for other, colour in others:
            self._add(other, colour)
        self._gl.make_current()
        mujoco.mjr_render(self._rect, self._scene, self._context)
        pixels = np.empty((self._rect.height, self._rect.width, 3), np.uint8)
        mujoco.mjr_readPixels(pixels, None, self._rect, self._context)
        return np.flipud(pixels).copy()

    def _add(self, state: np.ndarray, rgba: Rgba) -> None:
        """Put the characters of another state into the picture, too."""
        self._pose(state)
        start, bodies = self._scene.ngeom, mujoco.mjtCatBit.mjCAT_DYNAMIC.value
        if start + int(self._mine.sum()) > MOST:
            raise UserError(f"a picture has room for {MOST} geoms, and the states are more: draw fewer of them")
        mujoco.mjv_addGeoms(self._bare, self._data, mujoco.MjvOption(), mujoco.MjvPerturb(), bodies, self._scene)
        self._tint(start, rgba)

    def _tint(self, start: int, rgba: Rgba) -> None:
        """Give a colour to what is in the picture of the characters from a place in its list of geoms on."""
        for geom in self._scene.geoms[start : self._scene.ngeom]:
            bone = geom.objtype == mujoco.mjtObj.mjOBJ_GEOM and self._mine[geom.objid]
            if bone or geom.objtype == mujoco.mjtObj.mjOBJ_SKIN:
                geom.rgba[:], geom.matid = rgba, -1  # a texture would shine through

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
