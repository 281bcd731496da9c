"""Ghosts: what a controller goes by, as stick figures beside the character.

    ghosts = ghosts_of(scene, report.ghosts, number=3)
    viewer.texts.append(json.dumps(ghosts.message))
    ghosts = footprints_of(report.marks, number=4)           # where it will step

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
FOOTPRINT = (0.1, 0.05)  # m, half length and half width of a footprint
FLAG = 0.4  # m that a footprint's flag is high for an uncertainty of 1; of no uncertainty there is none
LINE = 0.008  # m, radius of a footprint's lines
THICK = 0.3  # radius of a stick over that of the thinner bone, or half its width


@dataclass(frozen=True)
class Ghosts:
    """Figures that stand for as long as their number does; 0 is nobody's.

    Attributes:
      number: that tells them from those before.
      sticks: (n, sticks, 6), both ends of each, m.
      radii: (sticks,), m.
      steps: whether they are footprints, which are no shadows of somebody.
    """

    number: int
    sticks: np.ndarray
    radii: np.ndarray
    steps: bool = False

    @cached_property
    def message(self) -> dict[str, Any]:
        """What browsers are told; JSON-able."""
        sticks, radii = self.sticks.round(3).tolist(), self.radii.round(4).tolist()
        return {"type": "ghosts", "id": self.number, "sticks": sticks, "radii": radii, "steps": self.steps}


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


def footprints_of(marks: np.ndarray, number: int) -> Ghosts:
    """Footprints where a controller will step, each with a flag as high as it is uncertain.

    Args:
      marks: (n, 5) x, y, z, heading, uncertainty; see `Report.marks`.
    """
    along, across = FOOTPRINT
    corners = np.array([(along, across), (along, -across), (-along, -across), (-along, across)])
    sticks = np.empty((len(marks), 5, 6))
    for figure, (x, y, z, heading, uncertainty) in zip(sticks, marks, strict=True):
        c, s = np.cos(heading), np.sin(heading)
        places = np.column_stack([corners @ [[c, s], [-s, c]] + (x, y), np.full(4, z + LINE)])
        figure[:4] = np.hstack([places, np.roll(places, -1, axis=0)])
        figure[4] = (x, y, z + LINE, x, y, z + LINE + FLAG * uncertainty)
    return Ghosts(number, sticks, np.full(5, LINE), steps=True)
