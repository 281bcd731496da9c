"""Packets: a frame as one binary message, and what a browser must know to draw it.

A message is little endian: the fields of `HEADER`, then

    float32  bodies x 7        position and quaternion (w, x, y, z) of every body, m
    float32  terms             mean value of each term along the best path
    float32  3, 2, 6, 1        target; wanted velocity; held point and where it is pulled to; wanted heading in rad, at
                               the target where there is one: each if its flag is set
    int16    paths x points x 3, best x 3, smoothed x 3, contacts x 3    mm from the origin; of contacts those come
                               first that bear the scene's own character
    text     the rest          which of the goal's ways the plan takes, who acts, what it does, how time is kept: four
                               lines, of which any may be empty

About 3.6 KB with 32 futures. A browser learns the bodies' shapes from `describe`, once a scene.
"""

import hashlib
import struct
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import mujoco
import numpy as np

from tumble.control.controller import Report
from tumble.live.commands import Drag
from tumble.studio.skins import skins_of
from tumble.world.dressing import pieces_of
from tumble.world.props import Crate, handle_name
from tumble.world.scene import Scene

VERSION = 4
BESIDE = 128  # is added to the version of what is drawn beside the frame that comes next
# version, flags, scene id; tick, oldest, newest; time, plan ms, rate, realtime, speed, effort, cost, origin;
# numbers of bodies, paths, points, best, smoothed, contacts, those of them that bear, terms; terms id
HEADER = struct.Struct("<BBH III fffffff fff HHHHHBBHH")
PAST, PAUSED, RECORDING, BROKEN, TARGET, VELOCITY, DRAG, HEADING = (1 << i for i in range(8))
PATHS, POINTS, LINE, CONTACTS = 32, 12, 60, 32  # drawn at most; a message stays below 5 KB
FAR = 32.767  # m from the origin, the farthest that int16 in mm can tell
TOUCHING = 0.002  # m between surfaces that touch
BEARING = 0.5  # of a contact's normal: how far up it points at least, where it bears somebody
NONE = np.empty(0), np.empty((0, 0, 3)), np.empty((0, 3)), np.empty((0, 3))  # values and lines of nobody's plan
SHAPES = {
    mujoco.mjtGeom.mjGEOM_CAPSULE: ("capsule", 2),
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: ("ellipsoid", 3),
    mujoco.mjtGeom.mjGEOM_SPHERE: ("sphere", 1),
    mujoco.mjtGeom.mjGEOM_BOX: ("box", 3),
    mujoco.mjtGeom.mjGEOM_CYLINDER: ("cylinder", 2),
    mujoco.mjtGeom.mjGEOM_MESH: ("mesh", 3),
}
HIDDEN = 3  # groups from which on MuJoCo draws nothing


def describe(scene: Scene) -> dict[str, Any]:
    """Shapes and masses of all bodies of a scene and skins over them, JSON-able; body i is body i of the packets.

    The cast is everybody in it, the scene's own character first: name ('' of its own), root and bones.

    The plane of the ground is left out, which browsers draw by themselves, by its slope in rad and its depth in m.
    Boxes that are part of it are the world's; those between gaps are slabs, to be drawn as ground.
    """
    model = scene.spec.copy().compile()  # with all that only looks good
    bodies: list[dict[str, Any]] = [
        {"name": model.body(i).name, "bone": scene.whose(i) is not None, "geoms": [], **_mass(model, i)}
        for i in range(model.nbody)
    ]
    pieces = {piece.name for piece in pieces_of(scene.props)}
    for i in range(model.ngeom):
        shape = SHAPES.get(mujoco.mjtGeom(model.geom_type[i]))
        if shape is None or model.geom_group[i] >= HIDDEN or not model.geom_rgba[i, 3]:
            continue
        kind, sizes = shape
        geom = _geom(kind, model.geom_size[i, :sizes], model.geom_pos[i], model.geom_quat[i], model.geom_rgba[i])
        if (name := model.geom(i).name.partition(".")[0]) in pieces:
            geom["prop"] = name
        if kind == "mesh":
            geom |= _triangles(model, int(model.geom_dataid[i]))
        if scene.ground.depth and not model.geom_bodyid[i] and model.geom_conaffinity[i]:
            geom["slab"] = True
        bodies[model.geom_bodyid[i]]["geoms"].append(geom)
    for crate in scene.props:
        for j in range(len(crate.handles) if isinstance(crate, Crate) else 0):
            site = model.site(handle_name(crate.name, j))
            # no sphere, which is drawn with the stripes of a ball
            geom = _geom("ellipsoid", np.repeat(site.size[0], 3), site.pos, site.quat, site.rgba)
            bodies[int(site.bodyid[0])]["geoms"].append(geom)
    ground = {"slope": scene.ground.slope, "depth": scene.ground.depth}
    cast = [
        {"name": prefix.rstrip("/"), "root": scene.root(prefix),
         "bones": [i for i in range(model.nbody) if scene.whose(i) == prefix]}
        for prefix in scene.cast
    ]  # fmt: skip
    return {"root": scene.root(), **ground, "cast": cast, "bodies": bodies, "skins": skins_of(scene)}


def _mass(model: mujoco.MjModel, body: int) -> dict[str, Any]:
    """A body's mass in kg, and its centre in the body's frame, m."""
    return {"mass": round(float(model.body_mass[body]), 5), "centre": model.body_ipos[body].round(5).tolist()}


def _geom(kind: str, size: np.ndarray, pos: np.ndarray, quat: np.ndarray, rgba: np.ndarray) -> dict[str, Any]:
    """A shape as browsers take it, rounded."""
    red, green, blue = (round(255 * float(part)) for part in rgba[:3])
    return {
        "kind": kind,
        "size": [round(float(x), 5) for x in size],
        "pos": [round(float(x), 5) for x in pos],
        "quat": [round(float(x), 6) for x in quat],
        "color": f"#{red:02x}{green:02x}{blue:02x}",
    }


def _triangles(model: mujoco.MjModel, mesh: int) -> dict[str, Any]:
    """A mesh as browsers take it: what tells it from others, points in m in a row, triangles by their points."""
    points = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
    triangles = model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]
    row = np.round(points.astype(float), 4).ravel()
    name = hashlib.sha256(row.tobytes() + triangles.tobytes()).hexdigest()[:16]
    return {"mesh": name, "points": row.tolist(), "triangles": triangles.ravel().tolist()}


@dataclass(frozen=True)
class Status:
    """What a packet tells beside the world: the loop and the timeline."""

    tick: int
    oldest: int
    newest: int
    time: float
    flags: int
    rate: float
    realtime: float
    speed: float
    control_seconds: float
    keeping: str = ""  # how time is kept, in words


@dataclass
class Packer:
    """Makes packets of one scene.

    Attributes:
      scene, number: what is packed, and its id for browsers.
    """

    scene: Scene
    number: int

    def __post_init__(self) -> None:
        self._data = mujoco.MjData(self.scene.model)
        self._root = self.scene.body(self.scene.character.root)

    @cached_property
    def description(self) -> dict[str, Any]:
        """See `describe`."""
        return describe(self.scene)

    def pack(
        self, state: np.ndarray, report: Report, status: Status, terms: int,
        target: tuple[float, float, float] | None = None, velocity: tuple[float, float] | None = None,
        drag: Drag | None = None, heading: float | None = None,
    ) -> bytes:  # fmt: skip
        """One message.

        Args:
          state: of the live world.
          report: of the controller, on the same frame.
          status: of the loop.
          terms: id of the goal's list of terms.
          target, velocity, heading: that are wanted.
          drag: what is held.
        """
        plan = report.plan
        model, data = self.scene.model, self._data
        mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)  # before velocities: no contact is speculative, all distances are true
        origin = data.xpos[self._root].copy()
        values, paths, best, smoothed = NONE
        if plan is not None:
            values, paths = np.minimum(plan.values.mean(axis=0), 1e30), thinned(plan.paths)
            best, smoothed = (thinned(line[None], LINE)[0] for line in (plan.path, plan.smoothed))
        near = (np.abs(data.contact.pos - origin) < FAR).all(axis=1)  # balls wait far away
        near &= data.contact.dist < TOUCHING
        bearing = near & self._bears(data)
        touching = np.concatenate([data.contact.pos[bearing], data.contact.pos[near & ~bearing]])[:CONTACTS]
        flags, extra = status.flags, list[float]()
        if target is not None:
            flags, extra = flags | TARGET, [*extra, *target]
        if velocity is not None:
            flags, extra = flags | VELOCITY, [*extra, *velocity]
        if drag is not None:
            body = self.scene.body(drag.body)
            held = data.xpos[body] + data.xmat[body].reshape(3, 3) @ drag.point
            flags, extra = flags | DRAG, [*extra, *held, *drag.target]
        if heading is not None:
            flags, extra = flags | HEADING, [*extra, heading]
        header = HEADER.pack(
            VERSION, flags, self.number, status.tick, status.oldest, status.newest, status.time,
            1000 * status.control_seconds, status.rate, status.realtime, status.speed,
            0.0 if plan is None else plan.effort, 0.0 if plan is None else min(plan.cost, 1e30), *origin,
            self.scene.model.nbody, len(paths), paths.shape[1], len(best), len(smoothed), len(touching),
            min(int(bearing.sum()), len(touching)), len(values), terms,
        )  # fmt: skip
        poses = np.hstack([data.xpos, data.xquat])
        floats = np.concatenate([poses.ravel(), values, extra]).astype("<f4")
        points = np.concatenate([part.reshape(-1, 3) for part in (paths, best, smoothed, touching)])
        words = "\n".join(["" if plan is None else plan.way, report.acting, report.doing, status.keeping])
        return b"".join([header, floats.tobytes(), millimetres(points - origin), words.encode()])

    def _bears(self, data: mujoco.MjData) -> np.ndarray:
        """(contacts,) whether each holds the scene's own character up: on something else, by a normal that is steep."""
        model = self.scene.model
        owners = model.body_rootid[model.geom_bodyid[data.contact.geom]]  # (contacts, 2)
        return ((owners == self._root).sum(axis=1) == 1) & (np.abs(data.contact.frame[:, 2]) > BEARING)


def thinned(paths: np.ndarray, most: int = POINTS) -> np.ndarray:
    """At most `PATHS` of some paths (n, K, 3), and of the points of each; the last point stays."""
    n, steps, _ = paths.shape
    if n > PATHS:
        paths = paths[spread(n, PATHS)]
    return paths[:, spread(steps, most)] if steps > most else paths


@cache
def spread(count: int, most: int) -> np.ndarray:
    """`most` places of `count`, evenly, the first and the last among them."""
    return np.linspace(0, count - 1, most).round().astype(int)


def millimetres(points: np.ndarray) -> bytes:
    """Points in m as int16 in mm; what is farther than 32 m, or no number, ends there."""
    points = 1000 * points
    if not np.isfinite(points).all():
        points = np.nan_to_num(points, nan=0.0)
    return np.rint(points).clip(-32767, 32767).astype("<i2").tobytes()


def with_flags(message: bytes, flags: int, oldest: int, newest: int) -> bytes:
    """A packet of the past with more flags, and the timeline's ends as they are now."""
    changed = bytearray(message)
    changed[1] |= flags
    changed[8:16] = struct.pack("<II", oldest, newest)
    return bytes(changed)


def beside(message: bytes) -> bytes:
    """A packet as one that is drawn beside the next."""
    return bytes([message[0] | BESIDE]) + message[1:]
