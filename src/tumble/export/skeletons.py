"""Skeletons of other tools: their names for our bodies, and the bones that they have and we do not.

    bones, human = skeleton("mixamo", figure)          # 'mixamorig:LeftLeg' is the shin, as it is for Mixamo
    sorted(SKELETONS)                                  # mixamo, smpl, soma, tumble, ue5, unity, vrm

Bones that a tool expects and the body lacks are rigid: they lie between their neighbours, and go with the body above.
Bones that it can do without are left out (VRM, Unity). Hands of a body without any are leaves at its palms.

Trap: 'LeftLeg' is the shin of Mixamo and the thigh of SOMA.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from tumble.errors import UserError, choose
from tumble.export.clip import Bone
from tumble.figures.figure import SIDES, Figure

LIMBS = ("shoulder", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
# VRM's names of parts, which VRMA carries
VRM_LIMBS = dict(zip(LIMBS, ("Shoulder", "UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot", "Toes"),
                     strict=True))  # fmt: skip
VRM_SPINE = ("spine", "chest", "upperChest")


@dataclass(frozen=True)
class Words:
    """What a tool calls its bones.

    Attributes:
      hips, head: their names.
      spine: all bones from hips to neck, from below.
      moved: which of `spine` move in a body with so many of its own: of one, of two, of three.
      neck: bones between spine and head.
      limb: name of a limb's bone by side ('left', 'right') and part (see `LIMBS`); '' where the tool has none.
      fill: whether bones that the body lacks are written.
      ground: what a bone on the ground is called.
      order: of bones, where a tool wants its own; '' is from the root on, the spine before legs.
    """

    hips: str
    head: str
    spine: tuple[str, ...]
    moved: tuple[tuple[int, ...], ...]
    neck: tuple[str, ...]
    limb: Callable[[str, str], str]
    fill: bool = True
    ground: str = "root"
    order: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()  # bones beyond the hands, by side: SMPL's


def _table(left: str, right: str, *names: str) -> Callable[[str, str], str]:
    """Names of limbs' bones: each with {} where the side stands, in the order of `LIMBS`."""
    rows = dict(zip(LIMBS, names, strict=True))
    return lambda side, part: rows[part].format(left if side == "left" else right)


SMPL_ORDER = (
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle", "right_ankle",
    "spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head", "left_shoulder",
    "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_hand", "right_hand",
)  # fmt: skip
WORDS: Mapping[str, Words] = {
    "mixamo": Words(
        "mixamorig:Hips", "mixamorig:Head", tuple(f"mixamorig:Spine{n}" for n in ("", 1, 2)), ((0,), (0, 1), (0, 1, 2)),
        ("mixamorig:Neck",), _table(
            "mixamorig:Left", "mixamorig:Right", "{}Shoulder", "{}Arm", "{}ForeArm", "{}Hand", "{}UpLeg", "{}Leg",
            "{}Foot", "{}ToeBase"),
    ),
    "unity": Words(
        "Hips", "Head", ("Spine", "Chest", "UpperChest"), ((0,), (0, 1), (0, 1, 2)), ("Neck",),
        _table("Left", "Right", *(f"{{}}{name}" for name in VRM_LIMBS.values())), fill=False, ground="Root",
    ),
    "vrm": Words(
        "hips", "head", VRM_SPINE, ((0,), (0, 1), (0, 1, 2)), ("neck",),
        _table("left", "right", *(f"{{}}{name}" for name in VRM_LIMBS.values())), fill=False,
    ),
    "ue5": Words(
        "pelvis", "head", tuple(f"spine_0{n}" for n in range(1, 6)), ((0,), (0, 2), (0, 2, 4)), ("neck_01", "neck_02"),
        _table("l", "r", "clavicle_{}", "upperarm_{}", "lowerarm_{}", "hand_{}", "thigh_{}", "calf_{}", "foot_{}",
               "ball_{}"),
    ),
    "soma": Words(
        "Hips", "Head", ("Spine1", "Spine2", "Chest"), ((0,), (0, 2), (0, 1, 2)), ("Neck1", "Neck2"),
        _table("Left", "Right", "{}Shoulder", "{}Arm", "{}ForeArm", "{}Hand", "{}Leg", "{}Shin", "{}Foot",
               "{}ToeBase"),
    ),
    "smpl": Words(
        "pelvis", "head", ("spine1", "spine2", "spine3"), ((0,), (0, 2), (0, 1, 2)), ("neck",),
        _table("left", "right", "{}_collar", "{}_shoulder", "{}_elbow", "{}_wrist", "{}_hip", "{}_knee", "{}_ankle",
               "{}_foot"), order=SMPL_ORDER, ends=("left_hand", "right_hand"),
    ),
}  # fmt: skip
SKELETONS: Mapping[str, str] = {
    "tumble": "the bodies by their own names; any character",
    "mixamo": "mixamorig:Hips ...; Mixamo, Blender's retargeters",
    "unity": "Hips, LeftUpperLeg ...; Unity's HumanBodyBones, Godot's humanoid profile",
    "vrm": "hips, leftUpperLeg ...; VRM",
    "ue5": "pelvis, thigh_l ... under a bone 'root'; Unreal's mannequin",
    "soma": "Hips, LeftLeg (the thigh) ...; the 23 bones of SOMA",
    "smpl": "pelvis, left_hip ...; the 24 joints of SMPL",
}


def skeleton(name: str, figure: Figure, who: str = "the body") -> tuple[tuple[Bone, ...], dict[str, int], str]:
    """Bones of a skeleton for a figure; which of them are VRM's, by its names; what its bone on the ground is called.

    Args:
      name: one of `SKELETONS`.
      figure: see `Figure`.
      who: the body's name, for what is said where it is no humanoid.
    """
    choose("skeleton", name, SKELETONS)
    if name == "tumble":
        return _own(figure)
    if not figure.parts:
        raise UserError(
            f"skeleton '{name}' is a human's; '{who}' has not two arms and two legs of thigh, shin and foot:"
            " take --skeleton tumble"
        )
    build = _Builder(figure, WORDS[name])
    return build.bones(), build.human(), WORDS[name].ground


def _own(figure: Figure) -> tuple[tuple[Bone, ...], dict[str, int], str]:
    """Bodies as bones; hands that are no bodies are leaves at the palms."""
    rows = zip(figure.names, figure.parents, figure.places, figure.tips, strict=True)
    bones = [Bone(name, parent, place, tip, i) for i, (name, parent, place, tip) in enumerate(rows)]
    human = {_vrm(part): body for part, body in figure.parts.items() if _vrm(part)}
    for side in SIDES if figure.parts else ():
        if f"{side}_hand" not in figure.parts:
            fore = figure.parts[f"{side}_forearm"]
            human[f"{side}Hand"] = len(bones)
            bones.append(Bone(f"{side}_hand", fore, _palm(figure, side), _end(figure, side), fore))
    return tuple(bones), human, "root"


def _vrm(part: str) -> str:
    """VRM's name of a part; '' where it has none."""
    if part in ("hips", "head"):
        return part
    if part.startswith("spine_"):
        return VRM_SPINE[int(part[-1])]
    side, _, limb = part.partition("_")
    return f"{side}{VRM_LIMBS[limb]}" if limb in VRM_LIMBS else ""


def _palm(figure: Figure, side: str) -> np.ndarray:
    """Where the hand begins of a body whose hands are parts of its forearms, (3,), m."""
    fore = figure.parts[f"{side}_forearm"]
    along = figure.tips[fore] - figure.places[fore]
    return figure.palms.get(side, figure.places[fore] + 0.8 * along)  # 0.8: of forearm and hand to the palm; ours


def _end(figure: Figure, side: str) -> np.ndarray:
    """Where the fingers end, (3,), m."""
    fore = figure.parts[f"{side}_forearm"]
    palm, way = _palm(figure, side), figure.tips[fore] - figure.places[fore]
    way = way / np.linalg.norm(way)
    return np.asarray(palm + max(float((figure.tips[fore] - palm) @ way), 0.05) * way)


class _Builder:
    """Makes the bones of a tool's skeleton, from the hips on."""

    def __init__(self, figure: Figure, words: Words) -> None:
        self.figure, self.words, self.made = figure, words, dict[str, Bone]()
        self.above = dict[str, str]()  # the name of each bone's parent
        self.names = dict[str, str]()  # of bones by VRM's names
        parts, places = figure.parts, figure.places
        self._add(words.hips, "", places[parts["hips"]], parts["hips"], "hips")
        top = self._trunk()
        for side in SIDES:
            self._arm(side, top)
        for side in SIDES:
            self._leg(side)

    def bones(self) -> tuple[Bone, ...]:
        """In the order of the tool, parents by their places in it."""
        names = list(self.words.order or self.made)
        made = [self.made[name] for name in names]
        at = {name: i for i, name in enumerate(names)}
        above = [at[self.above[name]] if self.above[name] else -1 for name in names]
        return tuple(Bone(b.name, parent, b.place, b.tip, b.body) for b, parent in zip(made, above, strict=True))

    def human(self) -> dict[str, int]:
        """Bones by VRM's names."""
        names = list(self.words.order or self.made)
        return {vrm: names.index(name) for vrm, name in self.names.items()}

    def _add(
        self, name: str, parent: str, place: np.ndarray, body: int, vrm: str = "", tip: np.ndarray | None = None
    ) -> str:
        """A bone; returns its name."""
        self.made[name] = Bone(name, -1, place, self.figure.tips[body] if tip is None else tip, body)
        self.above[name] = parent
        if vrm:
            self.names[vrm] = name
        return name

    def _trunk(self) -> str:
        """Spine, neck and head; returns the bone that arms hang on."""
        figure, words = self.figure, self.words
        own = [body for part, body in figure.parts.items() if part.startswith("spine_")]
        head = figure.parts["head"]
        moved = dict(zip(words.moved[len(own) - 1], own, strict=True))
        fillers = (*words.spine, *words.neck) if words.fill else tuple(words.spine[i] for i in moved)
        if not words.fill:
            moved = dict(enumerate(own))
        parent, body, top = words.hips, figure.parts["hips"], ""
        marks = [*moved, len(fillers)]  # places in the list where something of the body's begins
        joints = [figure.places[b] for b in (*own, head)]
        for i, name in enumerate(fillers):
            body = moved.get(i, body)
            before = max((k for k, mark in enumerate(marks) if mark <= i), default=0)
            start, end = marks[before], marks[before + 1]
            share = (i - start) / (end - start)
            place = joints[before] + share * (joints[before + 1] - joints[before])
            vrm = VRM_SPINE[own.index(moved[i])] if i in moved else ""
            parent = self._add(name, parent, place, body, vrm)
            top = name if name in words.spine else top
        self._add(words.head, parent, joints[-1], head, "head")
        return top

    def _arm(self, side: str, top: str) -> None:
        """Shoulder, upper arm, forearm and hand."""
        figure, parts, limb = self.figure, self.figure.parts, self.words.limb
        upper, fore = parts[f"{side}_upper_arm"], parts[f"{side}_forearm"]
        parent = top
        if self.words.fill:
            place = figure.places[upper] * np.array([0.25, 1.0, 1.0])  # a collar bone begins near the middle
            parent = self._add(limb(side, "shoulder"), parent, place, self.made[top].body)
        parent = self._add(limb(side, "upper_arm"), parent, figure.places[upper], upper, f"{side}UpperArm")
        parent = self._add(limb(side, "forearm"), parent, figure.places[fore], fore, f"{side}LowerArm")
        hand = parts.get(f"{side}_hand")
        if hand is None:
            place, tip, hand = _palm(figure, side), _end(figure, side), fore
        else:
            place, tip = figure.places[hand], figure.tips[hand]
        parent = self._add(limb(side, "hand"), parent, place, hand, f"{side}Hand", tip)
        if self.words.ends:
            self._add(self.words.ends[SIDES.index(side)], parent, 0.5 * (place + tip), hand, tip=tip)

    def _leg(self, side: str) -> None:
        """Thigh, shin, foot and toes."""
        figure, parts, words = self.figure, self.figure.parts, self.words
        parent = words.hips
        for part in ("thigh", "shin", "foot", "toe"):
            body, vrm = parts.get(f"{side}_{part}"), f"{side}{VRM_LIMBS[part]}"
            if body is not None:
                parent = self._add(words.limb(side, part), parent, figure.places[body], body, vrm)
            elif words.fill:
                foot = parts[f"{side}_foot"]
                ball = figure.places[foot] + 0.65 * (
                    figure.tips[foot] - figure.places[foot]
                )  # of ankle to toe tip; ours
                self._add(words.limb(side, part), parent, ball, foot)
