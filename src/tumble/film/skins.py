"""Skins in pictures: MuJoCo draws surfaces whose points are placed here, by the bodies' places in a state.

A skin's points in the drawing model all hang on one body, which is right nowhere: `Dress.pose` puts them where they
belong in the picture, with the normals that they have, after MuJoCo has made it.
"""

import mujoco
import numpy as np

from tumble.characters.looks import SHIRT
from tumble.figures import Worn, worn_by
from tumble.world.props import Companion
from tumble.world.scene import Scene

FINE, QUICK, CROWDED = 1.0, 1.6, 2.0  # how much farther apart points are than in files
FEW = 3  # characters that are no crowd


def worn_in(scene: Scene, quick: bool) -> dict[str, Worn]:
    """Skins of a scene's characters that have one, by what the names of their parts begin with."""
    coarse = CROWDED if len(scene.cast) > FEW else QUICK if quick else FINE
    skins = {prefix: worn_by(character, coarse) for prefix, character in scene.cast.items()}
    return {prefix: worn for prefix, worn in skins.items() if worn is not None}


def add_skins(spec: mujoco.MjSpec, scene: Scene, material: str, quick: bool) -> None:
    """Put the skins of a scene's characters into a drawing of it; coarser ones where it shall be quick."""
    for prefix, worn in worn_in(scene, quick).items():
        shirt = scene.prop(prefix.removesuffix("/"), Companion).shirt if prefix else SHIRT[:3]
        for mesh in worn.meshes:
            rgba = [*shirt, 1.0] if np.allclose(mesh.rgba, SHIRT, atol=1e-3) else mesh.rgba.tolist()
            skin = spec.add_skin(rgba=rgba, material=material)
            skin.vert, skin.face = mesh.points.ravel(), mesh.triangles.ravel()
            skin.bodyname, skin.bindpos, skin.bindquat = [prefix + worn.names[0]], [0, 0, 0], [1, 0, 0, 0]
            skin.vertid, skin.vertweight = [list(range(len(mesh.points)))], [[1.0] * len(mesh.points)]


class Dress:
    """The skins of a drawing; hides the parts that they cover.

    Args:
      scene: that is drawn.
      model: of `drawing_model`, with skins.
      hidden: a group of geoms that is not drawn.
      quick: as it was said to `add_skins`.
    """

    def __init__(self, scene: Scene, model: mujoco.MjModel, hidden: int, quick: bool) -> None:
        self._worn = {prefix: (worn, [model.body(prefix + name).id for name in worn.names])
                      for prefix, worn in worn_in(scene, quick).items()}  # fmt: skip
        covered = [body for _, bodies in self._worn.values() for body in bodies]
        model.geom_group[np.isin(model.geom_bodyid, covered)] = hidden

    def pose(self, data: mujoco.MjData, picture: mujoco.MjvScene) -> None:
        """Put the skins where the bodies are."""
        start = 0
        for worn, bodies in self._worn.values():
            points, normals = worn.posed(data.xpos[bodies], data.xquat[bodies])
            picture.skinvert[start : start + points.size] = points.ravel()
            picture.skinnormal[start : start + points.size] = normals.ravel()
            start += points.size
