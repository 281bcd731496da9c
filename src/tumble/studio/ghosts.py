"""Ghosts: what a controller goes by, as stick figures beside the character.

    ghosts = ghosts_of(scene, report.ghosts, number=3)
    viewer.texts.append(json.dumps(ghosts.message))

A stick joins the origins of a bone and of its parent; at a bone without children one more goes through its centre of
mass, as far beyond. They are computed when the ghosts are others, and browsers are sent them then: `Viewer` tells each
the ones that belong to the frame that comes next.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from tumble.studio.packet import spread
from tumble.world.scene import Scene

MOST = 10  # figures; of more, some evenly, the first and the last among them
THICK = 0.3  # radius of a stick over that of the thinner bone, or half its width


@dataclass(frozen=True)
class Ghosts:
    """Figures that stand for as long as their number does; 0 is nobody's.

    Attributes:
      number: that tells them from those before.
      sticks: (n, sticks, 6), both ends of each, m.
      radii: (sticks,), m.
    """

    number: int
    sticks: np.ndarray
    radii: np.ndarray

    @cached_property
    def message(self) -> dict[str, Any]:
        """What browsers are told; JSON-able."""
        sticks = self.sticks.round(3).tolist()
        return {"type": "ghosts", "id": self.number, "sticks": sticks, "radii": self.radii.round(4).tolist()}


NOBODY = Ghosts(0, np.empty((0, 0, 6)), np.empty(0))


def ghosts_of(scene: Scene, places: np.ndarray, number: int) -> Ghosts:
    """Figures of a scene's character.

    Args:
      places: (n, nq) of its joints, which come first in the scene's.
    """
    if len(places) > MOST:
        places = places[spread(len(places), MOST)]
    model = scene.model
    data = mujoco.MjData(model)
    bones = [scene.body(bone) for bone in scene.bones]
    parents = model.body_parentid
    joined = [bone for bone in bones if parents[bone] in bones]
    ends = [bone for bone in bones if bone not in parents[bones]]
    sticks = np.empty((len(places), len(joined) + len(ends), 6))
    for figure, place in zip(sticks, places, strict=True):
        data.qpos[: len(place)] = place
        mujoco.mj_kinematics(model, data)
        figure[: len(joined)] = np.hstack([data.xpos[parents[joined]], data.xpos[joined]])
        figure[len(joined) :] = np.hstack([data.xpos[ends], 2 * data.xipos[ends] - data.xpos[ends]])
    thick = model.geom_size[model.body_geomadr, 0]
    radii = THICK * np.r_[np.minimum(thick[parents[joined]], thick[joined]), thick[ends]]
    return Ghosts(number, sticks, radii)
