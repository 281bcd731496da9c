"""Camera: where pictures are looked at from, and how near, so that whole bodies are seen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from tumble.errors import check_number


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
