"""CSV and NPZ: joints and bodies in the simulation's own order, for those who train robots (mjlab, holosoma).

    write_npz(file, joints_of(recording, options), "mjlab")
    numpy.loadtxt("walk.csv", delimiter=",")            # its lines of words begin with '#'

Metres, radians, seconds; x ahead, y left, z up; quaternions are (w, x, y, z) in an .npz and (x, y, z, w) in a .csv, as
the tools that read them have it. An .npz has fps, joint_pos, joint_vel, body_pos_w, body_quat_w, body_lin_vel_w,
body_ang_vel_w, of the bodies' frames in the world; and always joint_names and body_names, because orders differ:
MuJoCo's is depth first, PhysX's breadth first. With the layout 'holosoma' joint_pos begins with the root's place and
quaternion, joint_vel with its velocity and spin in the world, and the first body is 'world'.
"""

import json
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from tumble.export.options import Options
from tumble.export.taking import about, bodies_of, poses, prefix_of, span
from tumble.live.recording import Recording
from tumble.maths.rotations import slerp
from tumble.world.scene import Scene

NUMBERS = ("joint_pos", "joint_vel", "body_pos_w", "body_quat_w", "body_lin_vel_w", "body_ang_vel_w")
HINGES = (mujoco.mjtJoint.mjJNT_HINGE.value, mujoco.mjtJoint.mjJNT_SLIDE.value)


@dataclass(frozen=True)
class JointTracks:
    """Joints and bodies of a character over time.

    Attributes:
      fps: frames a second.
      joints, bodies: names in MuJoCo's order; the first body is the root.
      angles, speeds: (frames, joints), rad, rad/s; of slides m, m/s.
      places, turns: of the bodies' frames, (frames, bodies, 3), m, and (frames, bodies, 4).
      moves, spins: their velocities in the world, (frames, bodies, 3), m/s, rad/s.
      about: where they came from.
    """

    fps: float
    joints: tuple[str, ...]
    bodies: tuple[str, ...]
    angles: np.ndarray
    speeds: np.ndarray
    places: np.ndarray
    turns: np.ndarray
    moves: np.ndarray
    spins: np.ndarray
    about: dict[str, Any]


def joints_of(recording: Recording, options: Options) -> JointTracks:
    """The joints of a recording, as often as the options say."""
    scene, prefix = recording.scene(), prefix_of(recording.scene(), options.who)
    root = scene.root(prefix)
    ids = [i for i in range(scene.model.nbody) if scene.model.body_rootid[i] == root]
    names = [scene.model.body(i).name for i in ids]
    of_root = {j for j in range(scene.model.njnt) if scene.model.jnt_bodyid[j] == root}
    hinges = [j for j in range(scene.model.njnt) if scene.model.jnt_bodyid[j] in ids and j not in of_root]
    hinges = [j for j in hinges if scene.model.jnt_type[j] in HINGES]
    joints = [scene.model.joint(j).name for j in hinges]
    frames = span(recording, options)
    rows = [
        _row(now, data, joints, bodies_of(now, names, frame))
        for frame, (now, data) in zip(frames, poses(recording, frames), strict=True)
    ]
    angles, speeds, places, turns, moves, spins = (np.array(column) for column in zip(*rows, strict=True))
    low, high, share = _between(len(rows), options.fps)

    def mixed(values: np.ndarray) -> np.ndarray:
        """Numbers in between, (frames, ...)."""
        part = share.reshape(-1, *[1] * (values.ndim - 1))
        return np.asarray(values[low] + part * (values[high] - values[low]))

    return JointTracks(
        options.fps, tuple(joints), tuple(name.removeprefix(prefix) for name in names), mixed(angles), mixed(speeds),
        mixed(places), slerp(turns[low], turns[high], np.broadcast_to(share[:, None], turns[low].shape[:2])),
        mixed(moves), mixed(spins), about(recording, options),
    )  # fmt: skip


def _row(scene: Scene, data: mujoco.MjData, joints: list[str], ids: list[int]) -> tuple[np.ndarray, ...]:
    """Angles, speeds, places, turns, velocities and spins of one frame."""
    model = scene.model
    mujoco.mj_comVel(model, data)
    speed = np.zeros((len(ids), 6))
    for row, i in zip(speed, ids, strict=True):
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY.value, i, row, 0)
    angles = data.qpos[[int(model.joint(name).qposadr[0]) for name in joints]]
    speeds = data.qvel[[int(model.joint(name).dofadr[0]) for name in joints]]
    return angles, speeds, data.xpos[ids].copy(), data.xquat[ids].copy(), speed[:, 3:], speed[:, :3]


def _between(frames: int, fps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frames before and after each new time, and how far it is from the one to the other."""
    count = int(np.floor((frames - 1) * Scene.dt * fps + 1e-6)) + 1
    at = np.arange(count) / (fps * Scene.dt)
    low = np.minimum(at.astype(int), max(frames - 2, 0))
    return low, np.minimum(low + 1, frames - 1), at - low


def write_npz(file: Any, motion: JointTracks, layout: str) -> None:
    """Write an .npz into an open binary file; the layout is 'mjlab' or 'holosoma'."""
    values = (motion.angles, motion.speeds, motion.places, motion.turns, motion.moves, motion.spins)
    arrays = dict(zip(NUMBERS, values, strict=True))
    bodies = motion.bodies
    if layout == "holosoma":
        frames = len(motion.angles)
        arrays["joint_pos"] = np.concatenate([motion.places[:, 0], motion.turns[:, 0], motion.angles], 1)
        arrays["joint_vel"] = np.concatenate([motion.moves[:, 0], motion.spins[:, 0], motion.speeds], 1)
        still = {"body_quat_w": np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1, 1))}
        for name in NUMBERS[2:]:
            world = still.get(name, np.zeros((frames, 1, 3)))
            arrays[name] = np.concatenate([world, arrays[name]], 1)
        bodies = ("world", *bodies)
    said = {**motion.about, "layout": layout, "order": "depth first (MuJoCo)", "root": bodies[0], "quaternions": "wxyz",
            "axes": "x ahead, y left, z up; m, rad, s"}  # fmt: skip
    named: dict[str, Any] = {name: array.astype("f4") for name, array in arrays.items()}
    named |= {"joint_names": np.array(motion.joints), "body_names": np.array(bodies)}
    np.savez_compressed(file, fps=np.array([motion.fps]), about=np.array(json.dumps(said)), **named)


def write_csv(file: Any, motion: JointTracks) -> None:
    """Write a .csv into an open binary file: a row a frame of the root's place and quaternion (x, y, z, w), joints."""
    made = ", ".join(f"{key} {motion.about[key]}" for key in ("generator", "scenario", "character", "seed"))
    columns = ["root_x", "root_y", "root_z", "root_qx", "root_qy", "root_qz", "root_qw", *motion.joints]
    lines = [
        f"# {made}; {motion.about['command']}",
        f"# {motion.fps:g} frames a second; m, rad; x ahead, y left, z up; joints depth first, as in MuJoCo",
        f"# root: the frame of '{motion.bodies[0]}' in the world; quaternion x, y, z, w",
        "# " + ",".join(columns),
    ]
    table = np.concatenate([motion.places[:, 0], motion.turns[:, 0][:, [1, 2, 3, 0]], motion.angles], 1)
    row = ",".join(["%.6f"] * table.shape[1])
    lines += [row % tuple(numbers) for numbers in (table + 0.0).tolist()]
    file.write("\n".join(line.replace("\r", " ") for line in lines).encode() + b"\n")
