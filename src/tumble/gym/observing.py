"""What an environment tells of a row: how the body is, as it sees the world, and what is wanted of it.

observer = Observer(scene)
observer.of(sims, wants)            # (nsim, size), a new array
observer.names                      # ('root.height', 'root.ahead.x', ...)

Directions are horizontally turned by the root's heading, so that walking north looks as walking east does, and nothing
tells where in the world it is. Balls and crates are seen from the root; boxes, stones and slopes are not seen.
"""

from collections.abc import Sequence

import mujoco
import numpy as np

from tumble.errors import UserError
from tumble.goals.wants import SIDES, Go, Reach, Want, part
from tumble.world.scene import Scene
from tumble.world.sims import Sims

LARGEST = 1e6  # beyond which nothing is told, m, rad, s
STEEP = 1e-3  # length of the root's x axis along the ground, below which it has no heading


class Observer:
    """Observations of all rows of a scene.

    Of the root: height above the ground, its x and z axes, velocity and spin. Of every joint: angle and speed. Of
    every bone: whether it touches the ground. Of every ball and crate: place from the root, velocity. Of what is
    wanted: the velocity, where the place to go to is from the root, where the place to reach is from the hand; zeros
    where it is not wanted. m, rad, s.

    Attributes:
      names: of the numbers.
    """

    def __init__(self, scene: Scene) -> None:
        """Refuses a scene of several characters."""
        if len(scene.cast) > 1:
            raise UserError(f"an environment acts for one character, and this scene has {len(scene.cast)}")
        self._scene, self._drive, self._root = scene, scene.drive, scene.root()
        model, character = scene.model, scene.character
        self._velocity = f"{character.root}.vel"
        free = [j for j in range(model.njnt) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE]
        props = [j for j in free if scene.whose(int(model.jnt_bodyid[j])) is None]
        self._props = [(int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])) for j in props]
        self._hands = [f"{character.touch(side)}.pos" for side in range(len(SIDES))] if character.hands else []
        axes = ("x", "y", "z")
        root = ("ahead", "up", "velocity", "spin")
        moved = [f"{model.joint(j).name}.{what}" for j in props for what in ("place", "velocity")]
        joints = scene.drive.names[: scene.drive.joints]
        self.names = (
            "root.height", *(f"root.{what}.{axis}" for what in root for axis in axes),
            *(f"{joint}.angle" for joint in joints), *(f"{joint}.speed" for joint in joints),
            *(f"{bone}.touches" for bone in scene.bones), *(f"{what}.{axis}" for what in moved for axis in axes),
            "wanted.velocity.x", "wanted.velocity.y", "wanted.place.x", "wanted.place.y",
            *(f"wanted.reach.{axis}" for axis in axes),
        )  # fmt: skip

    @property
    def size(self) -> int:
        """Numbers of an observation."""
        return len(self.names)

    def of(self, sims: Sims, wants: Sequence[Want]) -> np.ndarray:
        """Observations (nsim, size) of all rows, a new array.

        Args:
          wants: of each row.
        """
        view, n = sims.view, sims.nsim
        place, turn = view("xpos")[:, self._root], view("xmat")[:, self._root].reshape(n, 3, 3)
        ahead = turn[:, :2, 0]
        length = np.sqrt((ahead**2).sum(axis=1))
        c, s = np.where(length > STEEP, ahead.T / np.maximum(length, STEEP), [[1.0], [0.0]])

        def seen(vectors: np.ndarray) -> np.ndarray:
            """Vectors (n, 2) or (n, 3) of the world, by the heading."""
            told = vectors.copy()
            told[:, 0], told[:, 1] = c * vectors[:, 0] + s * vectors[:, 1], c * vectors[:, 1] - s * vectors[:, 0]
            return told

        qpos, qvel, spin = view("qpos"), view("qvel"), view("cvel")[:, self._root, :3]
        out = [(place[:, 2] - self._scene.ground.height(place[:, 0]))[:, None]]
        out += [seen(turn[:, :, 0]), seen(turn[:, :, 2]), seen(view(self._velocity)), seen(spin)]
        out += [qpos[:, self._drive.qpos], qvel[:, self._drive.qvel], view("grounded") > 0]
        for q, v in self._props:
            out += [seen(qpos[:, q : q + 3] - place), seen(qvel[:, v : v + 3])]
        velocities, places, reached = self._wanted(sims, wants, place)
        out += [seen(velocities), seen(places), seen(reached)]
        return np.clip(np.concatenate(out, axis=1, dtype=np.float64), -LARGEST, LARGEST)

    def _wanted(
        self, sims: Sims, wants: Sequence[Want], place: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Velocities (n, 2), places from the root (n, 2), places from the hand (n, 3), in the world's axes."""
        n = sims.nsim
        velocities, places, reached = np.zeros((n, 2)), np.zeros((n, 2)), np.zeros((n, 3))
        for want, rows in _alike(wants):
            go, reach = part(want, Go), part(want, Reach)
            if go is not None and go.target is not None:
                places[rows] = np.array(go.target)[:2] - place[rows, :2]
            elif go is not None:
                velocities[rows] = go.velocity
            if reach is not None and self._hands:
                reached[rows] = np.array(reach.target) - sims.view(self._hands[SIDES.index(reach.hand)])[rows]
        return velocities, places, reached


def _alike(wants: Sequence[Want]) -> list[tuple[Want, slice | list[int]]]:
    """Wants that are one object, with their rows; one alone has all."""
    first = wants[0]
    if all(want is first for want in wants):
        return [(first, slice(None))]
    rows: dict[int, tuple[Want, list[int]]] = {}
    for row, want in enumerate(wants):
        rows.setdefault(id(want), (want, []))[1].append(row)
    return list(rows.values())
