"""A stranger's MJCF as a Character: `--character my_robot.xml` in a terminal, `Character.from_mjcf` in Python.

    spot = from_mjcf("spot.xml", trunk="body", feet=("fl", "fr", "hl", "hr"))
    spot.notes                    # what was added and left out, in sentences
    from_recipe(spot.recipe)      # the same body anywhere: the recipe holds the whole text, and solid meshes

    ada = from_file("ada.xml")    # the same, with what people say of it in ada.tumble.toml beside it

What is not given is guessed (`mjcf_guess`), and asked for in one sentence where it cannot be. Motors have the torque of
the file's own; where it has none, every hinge gets one. A scene brings ground, light, motors and sensors of its own, so
those of the file are left out (`mjcf_body`). Nothing outside of the folder of the file is read (`mjcf_text`).

Traps: a recipe is of the finished body: guesses of a later version change no recording. Solid meshes are in it, so that
a body of large ones makes large recordings.
"""

import base64
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import mujoco

from tumble.characters.character import Character, Joint, add_sensors
from tumble.characters.mjcf_body import RawBody, compiled, finished, read_spec
from tumble.characters.mjcf_guess import check_parts, guessed, limb_of
from tumble.characters.mjcf_parts import BodyParts, PartsFile, read_parts
from tumble.characters.mjcf_text import checked, read_robot
from tumble.errors import UserError, check_number

MJCF = "mjcf"  # the kind in a recipe
LARGEST_RECIPE = 32 << 20  # characters of text and meshes
ROUNDED = 1e-3  # by which the length of a rotation that somebody wrote may be off 1


def from_mjcf(
    xml: str | Path,
    name: str | None = None,
    *,
    root: str | None = None,
    trunk: str | None = None,
    head: str | None = None,
    feet: Sequence[str] | None = None,
    hands: Sequence[str] | None = None,
    toes: Sequence[str] | None = None,
    palms: Sequence[str] | None = None,
    joints: Mapping[str, Joint | Sequence[Any]] | None = None,
    poses: Mapping[str, Mapping[str, float]] | None = None,
    upright: Sequence[float] | None = None,
    motor_gain: float | None = None,
    planar: bool | None = None,
    assets: Mapping[str, bytes | str] | None = None,
) -> Character:
    """A character from MJCF; see the module for what is guessed where it is None.

    Args:
      xml: the text, or the path of the file, whose folder holds what it includes and its meshes.
      name: how the character is called; by default as the model.
      root, trunk, head, feet, hands, toes, palms, poses, motor_gain, planar: see `Character`.
      joints: the hinges that have motors, each a `Joint` or (group, strength in N m, activity in rad/s).
      upright: rotation (w, x, y, z) of a frame with x ahead and z up, in the file's world when the body stands.
      assets: of a text, the contents of the meshes that it names, as bytes (or base64 text).
    """
    told = {
        "name": name, "root": root, "trunk": trunk, "head": head, "feet": feet, "hands": hands, "toes": toes,
        "palms": palms, "joints": joints, "poses": poses, "upright": upright, "motor_gain": motor_gain,
        "planar": planar,
    }  # fmt: skip
    files = {file: _bytes(data) for file, data in (assets or {}).items()}
    return _known(xml, {part: given for part, given in told.items() if given is not None}, files)[0]


def from_file(path: Path, told: Mapping[str, Any] | None = None) -> tuple[Character, PartsFile]:
    """The character of an MJCF, called as the file; and all its parts.

    Args:
      told: of its parts, by the names of `from_mjcf`; None: what people say in the file beside it.
    """
    told = read_parts(path).told if told is None else told
    return _known(path, {"name": path.stem} | dict(told), {})


def rebuilt(
    xml: str, name: str, root: str, trunk: str, head: str, feet: Sequence[str], hands: Sequence[str],
    toes: Sequence[str], palms: Sequence[str], joints: Mapping[str, Sequence[Any]],
    poses: Mapping[str, Mapping[str, float]], motor_gain: float, planar: bool,
    assets: Mapping[str, str] | None = None,
) -> Character:  # fmt: skip
    """The character of a recipe, whose text is of a finished body; nothing is guessed, and all is checked."""
    files = {file: _bytes(data) for file, data in (assets or {}).items()}
    text = checked(xml, files)
    model = compiled(read_spec(text, files))
    try:
        own = {joint: Joint(str(group), float(strength), float(activity))
               for joint, (group, strength, activity) in joints.items()}  # fmt: skip
        own_feet, own_hands, own_toes, own_palms = (tuple(map(str, given)) for given in (feet, hands, toes, palms))
        angles = {str(pose): {str(joint): float(angle) for joint, angle in of.items()} for pose, of in poses.items()}
    except (TypeError, ValueError, AttributeError) as error:
        raise UserError(f"not a character of this version of tumble: {error}") from None
    parts = BodyParts(root, trunk, head, own_feet, own_hands, own_toes, own_palms, own, angles)
    check_parts(model, parts)
    return _made(text, files, name, parts, float(motor_gain), bool(planar), ())


def _known(xml: str | Path, told: Mapping[str, Any], files: Mapping[str, bytes]) -> tuple[Character, PartsFile]:
    """A character of a stranger's file or text, and its parts as a file tells them."""
    upright = told.get("upright", (1.0, 0.0, 0.0, 0.0))
    if len(upright) != 4 or not abs(math.hypot(*upright) - 1.0) < ROUNDED:
        raise UserError(f"upright must be a rotation (w, x, y, z), of length 1, got {tuple(upright)}")
    if isinstance(xml, str) and xml.lstrip().startswith("<"):
        text = checked(xml, files)
    else:
        text, files = read_robot(Path(xml))
    raw = RawBody(text, files, told.get("root"))
    parts = guessed(raw, told)
    text, files, notes = finished(raw, parts)
    gain, planar = float(told.get("motor_gain", 1.0)), bool(told.get("planar", False))
    made = _made(text, files, told.get("name") or raw.name, parts, gain, planar, (*raw.notes, *notes))
    joints = {name: (joint.group, joint.strength, joint.activity) for name, joint in parts.joints.items()}
    return made, PartsFile(
        made.name, parts.root, parts.trunk, parts.head, parts.feet, parts.hands, parts.toes, parts.palms, parts.upright,
        gain, planar, joints, {pose: dict(angles) for pose, angles in parts.poses.items()},
    )  # fmt: skip


def _made(
    text: str,
    files: Mapping[str, bytes],
    name: str,
    parts: BodyParts,
    gain: float,
    planar: bool,
    notes: tuple[str, ...],
) -> Character:
    """The character of a finished text."""
    check_number("motor_gain", gain, 0, above=True)
    size = len(text) + sum(len(data) for data in files.values()) * 4 // 3
    if size > LARGEST_RECIPE:
        raise UserError(
            f"the solid meshes of '{name}' are too large to be recorded: {size >> 20} MB, at most"
            f" {LARGEST_RECIPE >> 20} MB; let geoms of capsules and boxes collide instead"
        )
    spec = read_spec(text, files)

    def build() -> mujoco.MjSpec:
        """A fresh spec of the text that was read then: the file may be gone by now."""
        fresh = spec.copy()
        add_sensors(fresh, character, [bone.name for bone in fresh.bodies if bone.name != "world"])
        return fresh

    origin: dict[str, Any] = {
        "kind": MJCF, "xml": text, "name": name, "root": parts.root, "trunk": parts.trunk, "head": parts.head,
        "feet": list(parts.feet), "hands": list(parts.hands), "toes": list(parts.toes), "palms": list(parts.palms),
        "joints": {joint: list(astuple(one)) for joint, one in parts.joints.items()},
        "poses": {pose: dict(angles) for pose, angles in parts.poses.items()}, "motor_gain": gain, "planar": planar,
    }  # fmt: skip
    if files:
        origin["assets"] = {file: base64.b64encode(data).decode() for file, data in files.items()}
    arms = tuple(limb_of(spec, hand, parts.joints) for hand in parts.hands)
    character = Character(
        name=name, build=build, joints=parts.joints, root=parts.root, trunk=parts.trunk, head=parts.head,
        feet=parts.feet, hands=parts.hands, toes=parts.toes, palms=parts.palms, arms=arms, poses=parts.poses,
        motor_gain=gain, planar=planar, origin=origin, notes=notes,
    )  # fmt: skip
    return character


def _bytes(data: bytes | str) -> bytes:
    """An asset's contents: bytes as they are, text as base64."""
    try:
        return base64.b64decode(data) if isinstance(data, str) else bytes(data)
    except ValueError:
        raise UserError("contents of meshes are bytes, or base64 text") from None
