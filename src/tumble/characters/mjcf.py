"""A stranger's MJCF as a Character, by the names of its parts.

    spot = from_mjcf("spot.xml", name="spot", trunk="body", head="body", feet=("fl", "fr", "hl", "hr"))
    from_recipe(spot.recipe)      # the same body anywhere: the recipe holds the whole text

What is not given is guessed where only one answer is possible, and otherwise asked for in one sentence: the root is the
one body that moves freely, the trunk a body called torso, trunk, chest or pelvis, the head one called head, feet and
hands those with a side that are called so. Joints are the hinges that the file's own motors move, as strong as these;
those between two branchings of the skeleton are a group. A scene brings ground, motors and sensors of its own, so what
hangs on the world directly, the file's actuators, sensors and keyframes are left out.

Traps: a scene puts a body onto the ground by its solid geoms: spheres, capsules, cylinders, boxes, ellipsoids, meshes.
Solid means that the geom's conaffinity meets bit 1 of the ground's contype. Axes are to be x ahead, y left, z up.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from tumble.characters.character import Character, Joint, add_sensors
from tumble.errors import UserError, unknown
from tumble.files import read_text

JOINT_MOTOR = mujoco.mjtTrn.mjTRN_JOINT
MJCF = "mjcf"  # the kind in a recipe
TRUNKS = ("torso", "trunk", "chest", "pelvis")  # by preference
LARGEST = 64 * 2**20  # characters of a text that is read


def from_mjcf(
    xml: str | Path,
    name: str | None = None,
    *,
    root: str | None = None,
    trunk: str | None = None,
    head: str | None = None,
    feet: Sequence[str] | None = None,
    hands: Sequence[str] | None = None,
    toes: Sequence[str] = (),
    palms: Sequence[str] = (),
    joints: Mapping[str, Joint | Sequence[Any]] | None = None,
    poses: Mapping[str, Mapping[str, float]] | None = None,
    motor_gain: float = 1.0,
    planar: bool = False,
    assets: Mapping[str, bytes | str] | None = None,
) -> Character:
    """A character from MJCF; see the module for what is guessed.

    Args:
      xml: the text, or the path of the file.
      name: how the character is called; by default as the model.
      root, trunk, head, feet, hands, toes, palms, poses, motor_gain, planar: see `Character`.
      joints: the hinges that have motors, each a `Joint` or (group, strength in N m, activity in rad/s).
      assets: contents of the files that meshes, textures and height fields name, as bytes (or base64 text).
    """
    text, files = _text(xml), {file: _bytes(data) for file, data in (assets or {}).items()}
    spec = _read(text, files)
    strengths = {motor.target: _strength(motor) for motor in spec.actuators if motor.trntype == JOINT_MOTOR}
    skeleton = _Skeleton(_compiled(_stripped(spec)), root)
    own = skeleton.joints(joints, strengths)
    parts: dict[str, Any] = {
        "root": skeleton.root,
        "trunk": skeleton.one("trunk", trunk, TRUNKS),
        "head": skeleton.one("head", head, ("head",)),
        "feet": skeleton.sided("feet", "foot", feet),
        "hands": skeleton.sided("hands", "hand", hands),
        "toes": skeleton.bodies("toes", toes),
        "palms": skeleton.sites(palms),
    }
    if not parts["feet"]:
        raise UserError(f"cannot tell which bodies are the feet; give feet=(...) of: {', '.join(skeleton.names)}")
    more: dict[str, Any] = {"name": name or spec.modelname, "motor_gain": motor_gain, "planar": planar}
    more["poses"] = {"rest": skeleton.straight(own)} | {pose: dict(angles) for pose, angles in (poses or {}).items()}
    _check_poses(more["poses"], own)

    def build() -> mujoco.MjSpec:
        """A fresh spec of the text that was read then: the file may be gone by now."""
        spec = _stripped(_read(text, files))
        add_sensors(spec, character, [bone.name for bone in spec.bodies if bone.name != "world"])
        return spec

    told = {part: list(given) if isinstance(given, tuple) else given for part, given in parts.items()}
    origin = {"kind": MJCF, "xml": text, **told, **more, "joints": {joint: list(astuple(own[joint])) for joint in own}}
    if files:
        origin["assets"] = {file: base64.b64encode(data).decode() for file, data in files.items()}
    arms = tuple(skeleton.group_of(hand, own) for hand in parts["hands"])
    character = Character(build=build, joints=own, arms=arms, origin=origin, **parts, **more)
    return character


class _Skeleton:
    """The bones and joints of a compiled model by name, and what can be told of them."""

    def __init__(self, model: mujoco.MjModel, root: str | None) -> None:
        """Find the root; refuses a model with another number of bodies in the world than one.

        Args:
          model: compiled, of the stripped spec.
          root: its name; None for the one body in the world, which must then have a free joint.
        """
        self.model = model
        self.names = [model.body(i).name for i in range(1, model.nbody)]
        tops = [model.body(i).name for i in range(1, model.nbody) if model.body_parentid[i] == 0]
        (self.root,) = self.bodies("root", (root,)) if root is not None else tops[:1] or ("",)
        if tops != [self.root]:
            there = ", ".join(tops) or "none"
            raise UserError(
                f"the MJCF of a character has one body in the world, its root, with its joints; got: {there}"
            )
        if root is None and model.jnt_type[model.body(self.root).jntadr[0]] != mujoco.mjtJoint.mjJNT_FREE:
            raise UserError(
                f"the body '{self.root}' has no free joint; give root='{self.root}' if it is the root all the same"
            )

    def bodies(self, part: str, given: Sequence[str]) -> tuple[str, ...]:
        """The given names, which must be those of bodies."""
        for name in given:
            if name not in self.names:
                raise unknown("body", name, self.names, f" in the MJCF, given as {part}")
        return tuple(given)

    def sites(self, given: Sequence[str]) -> tuple[str, ...]:
        """The given names, which must be those of sites."""
        there = [self.model.site(i).name for i in range(self.model.nsite)]
        for name in given:
            if name not in there:
                raise unknown("site", name, there, " in the MJCF, given as palms")
        return tuple(given)

    def one(self, part: str, given: str | None, usual: Sequence[str]) -> str:
        """A body that was given, or the first that has one of the usual names."""
        if given is not None:
            return self.bodies(part, (given,))[0]
        for name in usual:
            if name in self.names:
                return name
        raise UserError(f"cannot tell which body is the {part}; give {part}='...', one of: {', '.join(self.names)}")

    def sided(self, part: str, word: str, given: Sequence[str] | None) -> tuple[str, ...]:
        """Bodies that were given, or a left and a right one that are called so; none where there are none."""
        if given is not None:
            return self.bodies(part, given)
        found = [name for name in self.names if word in name.lower()]
        sides = [[name for name in found if side in name.lower()] for side in ("left", "right")]
        if found and (len(found) != 2 or any(len(names) != 1 for names in sides)):
            raise UserError(f"cannot tell which bodies are the {part}; give {part}=(...), of: {', '.join(found)}")
        return tuple(name for names in sides for name in names)

    def joints(
        self, given: Mapping[str, Joint | Sequence[Any]] | None, motors: Mapping[str, float]
    ) -> dict[str, Joint]:
        """The actuated hinges in the order of the model: those given, or those that the file has motors for."""
        model = self.model
        hinges = {
            model.joint(i).name: model.body(model.jnt_bodyid[i]).name
            for i in range(model.njnt)
            if model.jnt_type[i] == mujoco.mjtJoint.mjJNT_HINGE
        }
        if given is None:
            given = {name: (self._chain(body), motors[name], 1.0) for name, body in hinges.items() if name in motors}
        for name in given:
            if name not in hinges:
                raise unknown("hinge", name, hinges, " in the MJCF, given in joints")
        if not given:
            raise UserError(
                f"the MJCF has no motors; give joints={{'NAME': Joint(group, strength, activity)}},"
                f" of: {', '.join(hinges)}"
            )
        own = {name: _joint(name, given[name]) for name in hinges if name in given}
        weak = [name for name, joint in own.items() if not 0 < joint.strength < np.inf]
        if weak:
            raise UserError(
                f"cannot tell how strong these joints are, in N m: {', '.join(weak)};"
                f" give joints={{'{weak[0]}': Joint(group, strength, activity), ...}}"
            )
        return own

    def _chain(self, name: str) -> str:
        """The first bone of the limb that a bone is in: limbs begin at the root and where the skeleton branches."""
        model, i = self.model, self.model.body(name).id
        while (above := model.body_parentid[i]) and model.body(above).name != self.root:
            if np.count_nonzero(model.body_parentid[1:] == above) > 1:
                break
            i = above
        return str(model.body(i).name)

    def group_of(self, body: str, own: Mapping[str, Joint]) -> str:
        """The group of the joint that moves a body: its own, or that of the nearest bone above."""
        model, i = self.model, self.model.body(body).id
        while i:
            for j in range(model.body_jntadr[i], model.body_jntadr[i] + model.body_jntnum[i]):
                if model.joint(j).name in own:
                    return own[model.joint(j).name].group
            i = model.body_parentid[i]
        raise UserError(f"no joint of {', '.join(own)} moves '{body}'; give hands=() if it is no hand")

    def straight(self, own: Mapping[str, Joint]) -> dict[str, float]:
        """All angles at 0, or as near as their limits allow, rad; those at 0 left out."""
        model = self.model
        ids = {name: model.joint(name).id for name in own}
        near = {name: float(np.clip(0.0, *model.jnt_range[i])) for name, i in ids.items() if model.jnt_limited[i]}
        return {name: angle for name, angle in near.items() if angle}


def _joint(name: str, given: Joint | Sequence[Any]) -> Joint:
    """A given joint as a `Joint`; refuses what is no such triple."""
    try:
        group, strength, activity = astuple(given) if isinstance(given, Joint) else given
        return Joint(str(group), float(strength), float(activity))
    except (TypeError, ValueError):
        raise UserError(f"joint '{name}' must be a Joint or (group, strength, activity), got {given!r}") from None


def _check_poses(poses: Mapping[str, Mapping[str, float]], own: Mapping[str, Joint]) -> None:
    """Refuse poses that name joints without a motor."""
    for pose, angles in poses.items():
        for joint in angles:
            if joint not in own:
                raise unknown("joint", joint, own, f" with a motor, in pose '{pose}'")


def _strength(motor: Any) -> float:
    """Largest torque of an actuator of the file, N m; inf where it is not limited."""
    limited = mujoco.mjtLimited.mjLIMITED_FALSE
    if np.any(motor.forcerange) and motor.forcelimited != limited:
        return float(np.abs(motor.forcerange).max() * abs(motor.gear[0]))
    if np.any(motor.ctrlrange) and motor.ctrllimited != limited and motor.biastype == mujoco.mjtBias.mjBIAS_NONE:
        return float(np.abs(motor.ctrlrange).max() * abs(motor.gear[0] * motor.gainprm[0]))
    return float("inf")


def _bytes(data: bytes | str) -> bytes:
    """An asset's contents: bytes as they are, text as base64."""
    return base64.b64decode(data) if isinstance(data, str) else bytes(data)


def _text(xml: str | Path) -> str:
    """The text of an MJCF: what begins with '<' is one, all else is the path of a file of at most `LARGEST` bytes."""
    if isinstance(xml, str) and xml.lstrip().startswith("<"):
        return xml
    path = Path(xml)
    if not path.is_file():
        raise UserError(f"no MJCF {path}: give the path of an XML file, or its text")
    if path.stat().st_size > LARGEST:
        raise UserError(f"{path} is too large for MJCF: at most {LARGEST // 2**20} MB")
    return read_text(path, str(path))


def _read(text: str, files: Mapping[str, bytes]) -> mujoco.MjSpec:
    """What the text says; refuses files that it names and that are not given."""
    if re.search(r"<include\b", text):
        raise UserError("an MJCF that includes other files is not all there: save it as one, with mujoco.MjSpec.to_xml")
    try:
        spec = mujoco.MjSpec.from_string(text, assets=dict(files))
    except ValueError as error:
        raise UserError(f"cannot read the MJCF: {error}") from None
    named = [*(mesh.file for mesh in spec.meshes), *(field.file for field in spec.hfields)]
    named += [*(skin.file for skin in spec.skins)]
    for texture in spec.textures:
        named += [texture.file, *texture.cubefiles]
    missing = sorted({file for file in named if file and file not in files})
    if missing:
        raise UserError(
            f"the MJCF names files that are not in it: {', '.join(missing)}; give their contents, such as"
            f" assets={{'{missing[0]}': Path('{missing[0]}').read_bytes()}}, or draw with capsules"
        )
    return spec


def _stripped(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """The same spec without what a scene brings, its bones all named."""
    for part in (*spec.actuators, *spec.sensors, *spec.keys, *spec.worldbody.geoms):
        spec.delete(part)
    for i, bone in enumerate(spec.bodies):
        bone.name = bone.name or f"bone_{i}"
    return spec


def _compiled(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The model of a spec; MuJoCo's complaint as a `UserError`."""
    try:
        return spec.compile()
    except ValueError as error:
        raise UserError(f"cannot compile the MJCF: {error}") from None
