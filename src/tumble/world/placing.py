"""Placing: how a character's root is stored in qpos, and how low its solid parts reach, whatever their shapes.

    place_root(model, data, body, at=(1.0, 0.5), quat=LYING["supine"])
    lower = lowest(model, data, body)

`Scene.place` is what others call. A root is a free joint, or slides along the world's axes before a ball joint, or the
joints of a plane: slides along x and z before a hinge about y. Slides come first, or they would turn with the body.
"""

import math
from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from tumble.errors import UserError

# The root's orientation (w, x, y, z) for the ways to lie, or not to: facing ahead, up, down.
LYING: Mapping[str, tuple[float, float, float, float]] = {
    "upright": (1.0, 0.0, 0.0, 0.0),
    "supine": (0.5**0.5, 0.0, -(0.5**0.5), 0.0),
    "prone": (0.5**0.5, 0.0, 0.5**0.5, 0.0),
}
FLAT = 1e-6  # rad, a turn out of the plane that is none


def place_root(
    model: mujoco.MjModel, data: mujoco.MjData, body: int, at: Sequence[float] | None = None,
    quat: Sequence[float] | None = None,
) -> None:  # fmt: skip
    """Put a root body at a horizontal place (x, y), m, with an orientation (w, x, y, z); None leaves either.

    Speeds and the height stay; nothing is computed.
    """
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    start = int(model.jnt_qposadr[first])
    if count == 1 and model.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE:
        if at is not None:
            data.qpos[start : start + 2] = at
        if quat is not None:
            data.qpos[start + 3 : start + 7] = quat
        return
    for joint in range(first, first + count):
        address, kind = int(model.jnt_qposadr[joint]), model.jnt_type[joint]
        if kind == mujoco.mjtJoint.mjJNT_SLIDE:
            axis = int(np.abs(model.jnt_axis[joint]).argmax())
            if at is not None and axis < 2:
                data.qpos[address] = at[axis]
        elif quat is not None and kind == mujoco.mjtJoint.mjJNT_BALL:
            data.qpos[address : address + 4] = quat
        elif quat is not None:
            data.qpos[address] = _pitch(quat)


def raise_root(model: mujoco.MjModel, data: mujoco.MjData, body: int, height: float) -> None:
    """Put a root body's own coordinate of height to some m, whatever it was; nothing is computed."""
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    for joint in range(first, first + count):
        address, axis = int(model.jnt_qposadr[joint]), model.jnt_axis[joint]
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            data.qpos[address + 2] = height
        elif model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE and np.abs(axis).argmax() == 2:
            data.qpos[address] = height / axis[2]


def turned_about_z(quat: Sequence[float], turn: float) -> tuple[float, float, float, float]:
    """An orientation after a turn about the world's z axis, rad."""
    if turn == 0.0:
        w, x, y, z = quat
        return w, x, y, z
    result = np.empty(4)
    mujoco.mju_mulQuat(result, np.array([math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2)]), np.array(quat, float))
    w, x, y, z = result.tolist()
    return w, x, y, z


def _pitch(quat: Sequence[float]) -> float:
    """rad about y of an orientation in the plane y = 0; refuses one that leaves it."""
    w, x, y, z = quat
    if math.hypot(x, z) > FLAT:
        raise UserError("this character moves in a plane and cannot face another way; leave its heading at 0")
    return 2.0 * math.atan2(y, w)


def lowest(
    model: mujoco.MjModel, data: mujoco.MjData, root: int, up: Sequence[float] = (0.0, 0.0, 1.0)
) -> float:  # fmt: skip
    """How far along a unit vector, m from the origin, the lowest point of a root body's solid geoms is.

    Places must be computed. Along the world's z axis it is a height, along a slope's normal what is left to the slope.
    """
    solid = (model.geom_conaffinity != 0) & (model.body_rootid[model.geom_bodyid] == root)
    if not solid.any():
        raise UserError(f"body '{model.body(root).name}' has nothing solid to stand on; give its geoms a conaffinity")
    return min(_lowest_of(model, data, int(geom), np.array(up)) for geom in np.flatnonzero(solid))


def _lowest_of(model: mujoco.MjModel, data: mujoco.MjData, geom: int, up: np.ndarray) -> float:
    """Where a geom's lowest point is: of its middle, less how far its shape reaches down along its axes."""
    kinds, size = mujoco.mjtGeom, model.geom_size[geom]
    z, down = float(data.geom_xpos[geom] @ up), up @ data.geom_xmat[geom].reshape(3, 3)  # components of its axes
    match model.geom_type[geom]:
        case kinds.mjGEOM_SPHERE:
            reach = float(size[0])
        case kinds.mjGEOM_CAPSULE:
            return float(z - size[1] * abs(down[2]) - size[0])
        case kinds.mjGEOM_CYLINDER:
            reach = float(size[1] * abs(down[2]) + size[0] * math.hypot(down[0], down[1]))
        case kinds.mjGEOM_BOX:
            reach = float(np.abs(down) @ size)
        case kinds.mjGEOM_ELLIPSOID:
            reach = float(np.linalg.norm(down * size))
        case kinds.mjGEOM_MESH:
            mesh = int(model.geom_dataid[geom])
            first = int(model.mesh_vertadr[mesh])
            reach = -float((model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])] @ down).min())
        case kind:
            name = mujoco.mjtGeom(kind).name.removeprefix("mjGEOM_").lower()
            raise UserError(f"a character's solid part cannot be a {name}; make it a sphere, capsule, box or mesh")
    return z - reach
