"""Recordings made by hand, without physics: joints that swing, a body that turns and goes, a ball that is thrown."""

import json

import numpy as np

from tumble.characters import Character
from tumble.live.recording import FORMAT, Part, PartHeader, Recording, RecordingHeader
from tumble.maths.rotations import about, multiply
from tumble.world.props import Prop
from tumble.world.scene import Scene


def swinging(character: Character, frames: int = 60, period: float = 1.0, props: tuple[Prop, ...] = (),
             tumbling: bool = False) -> Recording:  # fmt: skip
    """A recording of so many frames: all joints swing within their limits, the root goes ahead at 1 m/s.

    Args:
      period: of the swinging, s; the same for all joints, so it is a cycle.
      tumbling: whether the root turns over, too.
    """
    scene = Scene(character, props)
    rng = np.random.default_rng(3)
    model, time = scene.model, np.arange(1, frames + 1) * scene.dt
    start = scene.state()
    qpos = np.tile(start[1 : 1 + model.nq], (frames, 1))
    for j in range(model.njnt):
        joint = model.joint(j)
        if joint.name in character.joints:
            low, high = joint.range
            wave = 0.5 + 0.4 * np.sin(2 * np.pi * (time / period + rng.random()))
            qpos[:, int(joint.qposadr[0])] = low + (high - low) * wave
    root = int(model.body_jntadr[scene.root()])
    if model.jnt_type[root] == 0:
        at = int(model.jnt_qposadr[root])
        qpos[:, at] += time
        qpos[:, at + 2] += 0.2 + 0.05 * np.sin(2 * np.pi * time / period)
        if tumbling:
            turn = multiply(about(np.array([0.0, 0.0, 1.0]), 2 * time), about(np.array([0.6, 0.8, 0.0]), 3 * time))
            qpos[:, at + 3 : at + 7] = turn
    for prop in props:
        at = int(model.joint(prop.name).qposadr[0])
        thrown = time > 0.5 * time[-1]
        qpos[thrown, at : at + 3] = np.stack([2 - time, 0 * time, 1 + 0 * time], -1)[thrown]
    motion = np.concatenate([qpos, np.zeros((frames, model.nv))], 1)
    used = sum(scene.memory.claims.values())
    part = PartHeader(
        index=0, frames=frames, scene=json.loads(json.dumps(scene.recipe)), fingerprint=scene.fingerprint, want=None,
        settings={}, styles=[], forces=[], commands=[], state=len(start), motion=motion.shape[1], memory=used,
        control=0, held=0,
    )  # fmt: skip
    header = RecordingHeader(FORMAT, "stand", "cpbp", 7, {}, {"tumble": "0.0"}, ["cpbp"], [part])
    held = Part(part, start, motion, np.zeros((frames, used)), np.zeros((0, 0)), np.zeros(frames, np.uint8))
    return Recording(header, [held])
