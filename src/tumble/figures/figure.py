"""A figure: a character in its rest pose, in the axes of files: x to its left, y up, z ahead, metres.

    figure = Figure.of(humanoid(), "t-pose")
    figure.names[figure.parts["left_shin"]]     # 'left_shin'; parts are told by how bodies hang together, not by names

The rest pose has all joints at 0 and the arms spread (t-pose) or half lowered (a-pose), soles on y = 0, the root over
the origin. Bodies are turned so that in it every one is parallel to the world: a rotation of a file says how a body is
turned away from rest, and bones sit where joints do. A body without two arms and two legs rests with all joints at 0.
"""

from dataclasses import dataclass
from typing import Self

import mujoco
import numpy as np

from tumble.characters import Character
from tumble.characters.looks import SHIRT
from tumble.errors import choose
from tumble.maths.rotations import IDENTITY, between, conjugate, multiply, turned

LOWERED = {"t-pose": 0.0, "a-pose": np.radians(45.0)}  # rad that arms hang below the horizontal
SIDES = ("left", "right")


def to_file(vectors: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) of the world (x ahead, y left, z up) in the axes of files: (y, z, x)."""
    return np.asarray(vectors)[..., [1, 2, 0]]


def turns_to_file(q: np.ndarray) -> np.ndarray:
    """Rotations (..., 4) of the world in the axes of files."""
    return np.asarray(q)[..., [0, 2, 3, 1]]


@dataclass(frozen=True)
class Figure:
    """Bodies of a character at rest.

    Attributes:
      names, parents: of the bodies, root first; places in the list, -1 of the root.
      places: of their joints at rest, (n, 3), m.
      tips: where each ends, at rest, (n, 3), m: far ends of what is drawn of it.
      anchors: of their joints in MuJoCo's frames of the bodies, (n, 3), m.
      upright: MuJoCo's rotations of the bodies at rest, in the world's axes, (n, 4).
      parts: bodies by what they are: hips, head, spine_0 ..., SIDE_thigh, _shin, _foot, _toe, _upper_arm, _forearm,
        _hand; empty where the body has not two arms and two legs of such parts.
      palms: of hands that are no bodies, where they are at rest, by side.
      feet: bodies that stand, by name.
      model: the body alone with all that is drawn of it.
    """

    names: tuple[str, ...]
    parents: tuple[int, ...]
    places: np.ndarray
    tips: np.ndarray
    anchors: np.ndarray
    upright: np.ndarray
    parts: dict[str, int]
    palms: dict[str, np.ndarray]
    feet: tuple[str, ...]
    model: mujoco.MjModel

    @classmethod
    def of(cls, character: Character, rest: str = "t-pose", shirt: tuple[float, float, float] = SHIRT[:3]) -> Self:
        """The figure of a character; rest is 't-pose' or 'a-pose', the shirt's colour that of a companion."""
        lowered = choose("rest pose", rest, LOWERED)
        spec = character.build()
        for geom in spec.geoms:
            if np.allclose(geom.rgba, SHIRT):
                geom.rgba[:3] = shirt
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        names = tuple(model.body(i).name for i in range(1, model.nbody))
        parents = tuple(int(model.body_parentid[i]) - 1 for i in range(1, model.nbody))
        parts = _parts(character, names, parents)
        anchors = np.array([_anchor(model, i) for i in range(1, model.nbody)])
        places = data.xpos[1:] + turned(data.xquat[1:], anchors)
        turn = _spread(places, parents, parts, lowered)
        moved = np.zeros_like(places)
        for i, parent in enumerate(parents):
            offset = places[i] - places[parent] if parent >= 0 else places[i]
            moved[i] = (moved[parent] + turned(turn[parent], offset)) if parent >= 0 else offset
        upright = multiply(turn, data.xquat[1:])
        points = [_points(model, i) for i in range(1, model.nbody)]
        points = [moved[i] + turned(upright[i], p - anchors[i]) for i, p in enumerate(points)]
        shift = np.array([*moved[0, :2], min((p[:, 2].min() for p in points if len(p)), default=0.0)])
        feet = {parts.get(f"{side}_{part}") for side in SIDES for part in ("foot", "toe")}
        tips = np.array([(_toe if i in feet else _tip)(moved[i], p) for i, p in enumerate(points)]) - shift
        sites = {side: palm for side, palm in zip(SIDES, character.palms, strict=False) if f"{side}_hand" not in parts}
        palms = {}
        for side, palm in sites.items():
            body = int(model.site(palm).bodyid[0]) - 1
            palms[side] = to_file(moved[body] + turned(upright[body], model.site(palm).pos - anchors[body]) - shift)
        return cls(
            names, parents, to_file(moved - shift), to_file(tips), anchors, upright, parts, palms, character.feet, model
        )

    def own_place(self, body: int, points: np.ndarray) -> np.ndarray:
        """Points (n, 3) of MuJoCo's frame of a body, where they are at rest, in the axes of files."""
        return self.places[body] + to_file(turned(self.upright[body], points - self.anchors[body]))


def _anchor(model: mujoco.MjModel, body: int) -> np.ndarray:
    """Where a body turns about, in its own frame, m: its last hinge's place, since those before move it, too."""
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    hinges = [j for j in range(first, first + count) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE.value]
    free = count and model.jnt_type[first] == mujoco.mjtJoint.mjJNT_FREE.value
    return model.jnt_pos[hinges[-1]].copy() if hinges and not free else np.zeros(3)


def _parts(character: Character, names: tuple[str, ...], parents: tuple[int, ...]) -> dict[str, int]:
    """Bodies by what they are, see `Figure.parts`."""

    def chain(name: str, end: str) -> list[int]:
        """The bodies from one that hangs on `end` to the named one; empty where it does not hang on it."""
        found, body = list[int](), names.index(name)
        while body >= 0 and names[body] != end:
            found.insert(0, body)
            body = parents[body]
        return found if body >= 0 else []

    legs, arms = ([chain(foot, character.root) for foot in character.feet],
                  [chain(hand, character.trunk) for hand in character.hands])  # fmt: skip
    spine, head = chain(character.trunk, character.root), chain(character.head, character.trunk)
    human = (
        len(legs) == len(arms) == 2
        and all(len(leg) == 3 for leg in legs)
        and all(len(arm) in (2, 3) for arm in arms)
        and 1 <= len(spine) <= 3
        and len(head) == 1
    )
    if not human:
        return {}
    parts = {"hips": names.index(character.root), "head": head[0]}
    parts |= {f"spine_{i}": body for i, body in enumerate(spine)}
    for side, leg, arm in zip(SIDES, legs, arms, strict=True):
        toes = [i for i, parent in enumerate(parents) if parent == leg[-1]][:1]
        rows = (("thigh", "shin", "foot", "toe"), [*leg, *toes]), (("upper_arm", "forearm", "hand"), arm)
        parts |= {f"{side}_{part}": body for words, bodies in rows for part, body in zip(words, bodies, strict=False)}
    return parts


def _spread(places: np.ndarray, parents: tuple[int, ...], parts: dict[str, int], lowered: float) -> np.ndarray:
    """By which rotations bodies come from all joints at 0 to rest, (n, 4), in the world's axes."""
    turn = np.tile(IDENTITY, (len(parents), 1))
    if not parts:
        return turn
    own = {}
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        upper, fore = parts[f"{side}_upper_arm"], parts[f"{side}_forearm"]
        wish = np.array([0.0, sign * np.cos(lowered), -np.sin(lowered)])
        own[upper] = between(places[fore] - places[upper], wish)
        hand = parts.get(f"{side}_hand")
        along = places[hand] - places[fore] if hand is not None else places[fore] - places[upper]
        own[fore] = between(along, wish)
    for i, parent in enumerate(parents):
        turn[i] = own.get(i, turn[parent] if parent >= 0 else IDENTITY)
    return turn


def _points(model: mujoco.MjModel, body: int) -> np.ndarray:
    """Far points of a body's geoms in its frame, (n, 3), m: along 14 directions of each, exact for round ones."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 3**0.5
    ways = np.concatenate([np.eye(3), -np.eye(3), signs])
    found = [np.zeros((0, 3))]
    for g in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
        turn, size, kind = model.geom_quat[g], model.geom_size[g], mujoco.mjtGeom(model.geom_type[g])
        local = turned(conjugate(turn), ways)
        if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
            local = size**2 * local / np.linalg.norm(size * local, axis=1, keepdims=True)
        elif kind == mujoco.mjtGeom.mjGEOM_SPHERE:
            local = size[0] * local
        elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
            local = size[0] * local + np.sign(local[:, 2:]) * np.array([0, 0, size[1]])
        else:
            local = model.geom_aabb[g, :3] + np.sign(local) * model.geom_aabb[g, 3:]
        found.append(model.geom_pos[g] + turned(turn, local))
    return np.concatenate(found)


def _toe(place: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Where a foot or its toes end: straight ahead of the joint, half as high as it, (3,)."""
    low = float(points[:, 2].min())
    return np.array([points[:, 0].max(), place[1], low + 0.5 * (place[2] - low)])


def _tip(place: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Where a body with such points ends that turns about a place: as far as it reaches towards their middle, (3,)."""
    if not len(points):
        return place
    way = points.mean(0) - place
    length = float(np.linalg.norm(way))
    if length < 1e-3:  # m: it is round about its joint
        return np.asarray(place + np.array([0.0, 0.0, np.ptp(points[:, 2]) / 2]))
    return np.asarray(place + way / length * max(((points - place) @ way).max() / length, 0.0))
