"""Poses of a stranger's body: how it stands, where no keyframe says so with its knees a little bent, and with arms out.

    rest = rest_pose(raw, angles, feet, upright)
    spread = spread_pose(raw, rest, hands, arms, upright)     # None where the arms do not get there

Angles are rad by joint; those at 0 are left out.
"""

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np
from scipy.optimize import least_squares

from tumble.characters.mjcf_body import RawBody
from tumble.maths.rotations import conjugate, multiply, turned

LIFTED = 0.02  # of the leg: feet come so much closer to the root, so that knees bend by about 0.4 rad
GOOD = 0.01  # m or rad that a foot of the found pose may be off
LEAN = 0.3  # rad by which a joint that bends one way is bent to begin with
SPREAD = 0.8  # of an arm's length: hands that are so far out are spread
GAIN = 0.002  # of an arm's length: what brings a hand out by less is not worth a turn of a joint
TRIES, ROUNDS = 13, 4  # angles of each joint of an arm, and how often all are gone through


def rest_pose(
    raw: RawBody, angles: Mapping[str, float], feet: Sequence[str], upright: Sequence[float]
) -> dict[str, float]:
    """The keyframe's angles; without one the file's own, as near as limits allow, legs of bipeds a little bent.

    Args:
      angles: of the joints that have motors, in the file's standing pose.
    """
    model = raw.model
    ids = {name: model.joint(name).id for name in angles}
    found = dict(angles)
    if raw.keyframe is None:
        near = {
            name: float(np.clip(found[name], *model.jnt_range[i])) for name, i in ids.items() if model.jnt_limited[i]
        }
        found |= near
        found |= _bent(raw, found, feet, upright) if len(feet) == 2 else {}
    return {name: angle for name, angle in found.items() if angle}


def _bent(raw: RawBody, angles: Mapping[str, float], feet: Sequence[str], upright: Sequence[float]) -> dict[str, float]:
    """Angles of the legs with level soles, knees a little bent, feet below the body's centre of mass; {} where not."""
    model, data = raw.model, _posed(raw, angles)
    back, legs = conjugate(np.array(upright, float)), [_chain(raw, foot, angles) for foot in feet]
    legs = [[name for name in leg if not all(name in other for other in legs)] for leg in legs]
    if any(len(leg) < 3 for leg in legs):
        return {}
    ids = [model.body(foot).id for foot in feet]
    hips = [data.xanchor[model.joint(leg[0]).id].copy() for leg in legs]
    length = float(np.mean([np.linalg.norm(data.xpos[i] - hip) for i, hip in zip(ids, hips, strict=True)]))
    soles = [turned(back, _sole(model, data, i) - data.xpos[i])[0] for i in ids]
    ahead = turned(back, data.subtree_com[1])[0] - np.mean(
        [turned(back, data.xpos[i])[0] + sole for i, sole in zip(ids, soles, strict=True)]
    )
    move = turned(np.array(upright, float), np.array([ahead, 0.0, LIFTED * length]))
    wanted = [(data.xpos[i] + move, data.xquat[i].copy()) for i in ids]
    joints = [name for leg in legs for name in leg]
    low, high = np.array([_limits(model, name) for name in joints]).T
    start = np.array([angles[name] for name in joints])
    one_way = np.where(np.abs(low - start) < 0.2 * np.abs(high - start), LEAN, 0.0)
    one_way -= np.where(np.abs(high - start) < 0.2 * np.abs(low - start), LEAN, 0.0)

    def off(x: np.ndarray) -> np.ndarray:
        for name, angle in zip(joints, x, strict=True):
            data.joint(name).qpos = angle
        mujoco.mj_kinematics(model, data)
        rows = [0.01 * (x - start)]
        for i, (place, turn) in zip(ids, wanted, strict=True):
            rows += [data.xpos[i] - place, 2 * multiply(conjugate(turn), data.xquat[i])[1:]]
        return np.concatenate(rows)

    found = least_squares(off, np.clip(start + one_way, low + 1e-6, high - 1e-6), bounds=(low, high))
    if np.abs(off(found.x)[len(joints) :]).max() > GOOD:
        return {}
    return {name: float(round(angle, 4)) for name, angle in zip(joints, found.x, strict=True)}


def spread_pose(
    raw: RawBody, rest: Mapping[str, float], hands: Sequence[str], arms: Sequence[Sequence[str]],
    upright: Sequence[float],
) -> dict[str, float] | None:  # fmt: skip
    """The rest pose with each arm as far out to its side as its joints let it; None where that is not far.

    A joint at a time, over and over, is put to the best of `TRIES` angles; what reaches out no farther stays.
    """
    data, found = _posed(raw, rest), dict(rest)
    for hand, arm, sign in zip(hands, arms, (1.0, -1.0), strict=True):
        own = _chain(raw, hand, dict.fromkeys(arm, 0.0))
        if not own or not _reach_out(
            raw, data, hand, own, turned(np.array(upright, float), np.array([0.0, sign, 0.0]))
        ):
            return None
        found |= {name: round(float(data.joint(name).qpos[0]), 4) for name in own}
    return {name: angle for name, angle in found.items() if angle}


def _reach_out(raw: RawBody, data: mujoco.MjData, hand: str, arm: Sequence[str], aside: np.ndarray) -> bool:
    """Turn the joints of an arm until its hand is far out along a unit vector, in place; whether it is."""
    model = raw.model
    i, shoulder = model.body(hand).id, model.joint(arm[0]).id
    places = np.array([*(data.xanchor[model.joint(name).id] for name in arm), data.xpos[i]])
    length = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())

    def out() -> float:
        mujoco.mj_kinematics(model, data)
        return float((data.xpos[i] - data.xanchor[shoulder]) @ aside)

    best, width = out(), 1.0
    for _ in range(ROUNDS):
        for name in arm:
            low, high = _limits(model, name)
            kept = float(data.joint(name).qpos[0])
            for angle in np.clip(kept + width * np.linspace(-0.5, 0.5, TRIES) * (high - low), low, high):
                data.joint(name).qpos = angle
                if (reach := out()) > best + GAIN * length:
                    best, kept = reach, float(angle)
            data.joint(name).qpos = kept
        width *= 0.4
    return best >= SPREAD * length


def _posed(raw: RawBody, angles: Mapping[str, float]) -> mujoco.MjData:
    """The body standing with some angles, places computed."""
    data = mujoco.MjData(raw.model)
    data.qpos[:] = raw.standing
    for name, angle in angles.items():
        data.joint(name).qpos = angle
    mujoco.mj_kinematics(raw.model, data)
    mujoco.mj_comPos(raw.model, data)
    return data


def _chain(raw: RawBody, end: str, joints: Mapping[str, float]) -> list[str]:
    """The joints that move a body, of those named, from the root on."""
    model, i, found = raw.model, raw.model.body(end).id, list[str]()
    while i:
        first, count = int(model.body_jntadr[i]), int(model.body_jntnum[i])
        own = [model.joint(j).name for j in range(first, first + count)] if count else []
        found = [name for name in own if name in joints] + found
        i = int(model.body_parentid[i])
    return found


def _limits(model: mujoco.MjModel, joint: str) -> tuple[float, float]:
    """Of a joint, rad; half a turn either way where it has none."""
    i = model.joint(joint).id
    low, high = model.jnt_range[i] if model.jnt_limited[i] else (-np.pi, np.pi)
    return float(low), float(high)


def _sole(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> np.ndarray:
    """The middle of what is solid of a foot, (3,), m."""
    geoms = range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
    places = [data.geom_xpos[g] for g in geoms if model.geom_conaffinity[g] & 1]
    return np.asarray(np.mean(places, axis=0) if places else data.xpos[body])
