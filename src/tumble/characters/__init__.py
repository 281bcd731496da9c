"""Bodies by name, by recipe, or from somebody's MJCF, and the type they share.

    body = character("biped", legs=1.2)
    same = from_recipe(json.loads(json.dumps(body.recipe)))    # in another process, on another machine
    register("tripod", tripod, "three legs, 12 kg")            # a function that returns a Character

Nothing here knows of worlds or controllers; what a body can do is said by `Character.capabilities`.
"""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from tumble.characters.biped import beast1, beast2, biped, robot
from tumble.characters.character import CAPABILITIES, Character, Joint
from tumble.characters.humanoid import humanoid
from tumble.characters.humanoid25 import humanoid25
from tumble.characters.legged import humanoid_walker, monoped, planar_walker, quadruped
from tumble.characters.mjcf import MJCF, from_mjcf, rebuilt
from tumble.characters.own import own_robot, robot_file
from tumble.characters.simbicon_beasts import big_bird, planar_bird, raptor
from tumble.characters.simbicon_bodies import biped34, planar
from tumble.errors import UserError
from tumble.registry import Entry, Registry

__all__ = [
    "CAPABILITIES", "CHARACTERS", "Character", "Joint", "biped", "character", "from_mjcf", "from_recipe", "humanoid",
    "register",
]  # fmt: skip

CharacterEntry: TypeAlias = Entry[Callable[..., Character]]
RESERVED = {"kind", "file"}  # what a recipe says beside the arguments


def _check_recipes(entry: CharacterEntry) -> None:
    """Refuse a body whose recipes would be read as something else."""
    taken = RESERVED & set(inspect.signature(entry.make).parameters)
    if entry.name == MJCF or taken:
        what = f"argument '{min(taken)}'" if taken else "name"
        raise UserError(f"character '{entry.name}' must have another {what}: recipes use that themselves")


CHARACTERS: Registry[CharacterEntry] = Registry("character", check=_check_recipes)
register = CHARACTERS.register
OURS = Path(__file__).parents[1]  # bodies of other files carry the file's name in their recipes


def _light() -> Character:
    """A humanoid of 50 kg: the same shape and shares of mass, torques scaled by its mass."""
    return humanoid(mass=50.0, name="humanoid-light")


def _heavy() -> Character:
    """A humanoid of 70 kg whose torso weighs twice its share."""
    return humanoid(mass=70.0, torso_mass=2.0, name="humanoid-heavy")


register("humanoid", humanoid, "15 bones, 30 joints, 1.75 m, 70 kg (hamalainen2015)")
register("humanoid-light", _light, "the same body, light-boned: 50 kg (hamalainen2014 section 4.1)")
register("humanoid-heavy", _heavy, "a torso twice as heavy: 90 kg, high centre of mass (hamalainen2014 section 4.1)")
register("humanoid25", humanoid25, "15 bones, 25 joints, 1.61 m, 40.5 kg, 150 N m: attraction trees (alborno2016)")
register("biped", biped, "16 bones with toes, 31 joints, 70 kg: the humanoid that walks (coros2010)")
register("robot", robot, "a biped with one arm 40 % longer and one knee 20 cm higher (coros2010 section 5.4)")
register("beast1", beast1, "a stout biped, much of its mass in the pelvis (coros2010 section 5.4)")
register("beast2", beast2, "a long-legged biped, much of its mass in the pelvis (coros2010 section 5.4)")
register("biped34", biped34, "15 bones, 28 joints, 70 kg: the humanoid of SIMBICON (coros2010 section 4.5)")
register("big-bird", big_bird, "9 bones, 18 joints, 64 kg: a bird with a heavy head (coros2010 section 4.5)")
register("raptor", raptor, "21 bones, 36 joints, 78 kg: with a tail (coros2010 section 4.5)")
register("planar-bird", planar_bird, "7 links in the plane, 6 joints, 64 kg: the bird (coros2010 section 3.6)")
register("planar", planar, "7 links in the plane, 6 joints, 90 kg (coros2010 section 3.6)")
register("humanoid-walker", humanoid_walker, "13 capsules, 24 joints, 1.72 m, 30 kg (rajamaki2017)")
register("monoped", monoped, "3 capsules on end, two ball joints, 10 kg: it hops (rajamaki2017)")
register("quadruped", quadruped, "9 capsules, 12 joints, 30 kg (rajamaki2017)")
register(
    "planar-walker", planar_walker, "the humanoid walker in the plane: trunk and legs, 6 joints, 25 kg (rajamaki2017)"
)


def character(name: str, /, **arguments: Any) -> Character:
    """The character of that name, made with these arguments of its function; its recipe tells of both.

    A name that ends in .xml is the path of an MJCF, and a name of mujoco-menagerie one of its robots; see `own`. A body
    that a user's file registered has a recipe by its name and all its arguments, whatever it is made of.
    """
    if not arguments and name not in CHARACTERS and (place := robot_file(name)) is not None:
        return own_robot(place)[0]
    return _registered(name, arguments)


def _registered(name: str, arguments: Mapping[str, Any]) -> Character:
    """A character by its name alone: what a recipe says opens no file."""
    entry = CHARACTERS[name]
    given = _bound(name, entry.make, arguments)
    made = entry.make(**arguments)
    if not isinstance(made, Character):
        raise UserError(f"character '{name}' of {entry.where} must be made as a Character, got {made!r}")
    file = Path(entry.where.file)
    if file.is_relative_to(OURS):
        return made
    given.apply_defaults()
    named = {
        key: given.arguments[key] for key, one in given.signature.parameters.items() if one.kind is not one.VAR_KEYWORD
    }
    return replace(made, origin={"kind": name, "file": file.name} | _plain(name, named | dict(arguments)))


def from_recipe(recipe: Mapping[str, Any]) -> Character:
    """The character that a recipe tells of: the same body, wherever the recipe comes from.

    A body of a user's file needs that file: where its kind is not registered, the error names the file.
    """
    arguments = dict(recipe)
    if not isinstance(arguments.get("kind"), str):
        raise UserError("the recipe of a character must name its kind, such as {'kind': 'humanoid'}; this one does not")
    kind, file = arguments.pop("kind"), arguments.pop("file", None)
    if kind == MJCF:
        _bound(MJCF, rebuilt, arguments)
        return rebuilt(**arguments)
    if kind not in CHARACTERS and file is not None:
        raise UserError(
            f"character '{kind}' is not known here, it comes from {file}; load it first:"
            f" tumble run {file} ..., and so replay, strip and studio"
        )
    return _registered(kind, arguments)


def _bound(name: str, make: Callable[..., Character], arguments: Mapping[str, Any]) -> inspect.BoundArguments:
    """The arguments of a call; refuses those that it does not take, and their lack.

    Nothing is called: what the arguments are worth is for `make` to say.
    """
    takes = inspect.signature(make)
    try:
        return takes.bind(**arguments)
    except TypeError as error:
        known = ", ".join(takes.parameters) or "nothing"
        raise UserError(f"cannot make character '{name}': {error}; it takes: {known}") from None


def _plain(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as they come back from a file: a copy, tuples as lists; refuses what JSON cannot hold."""
    try:
        return dict(json.loads(json.dumps(arguments)))
    except (TypeError, ValueError) as error:
        raise UserError(f"arguments of character '{name}' must be numbers, words and lists of them: {error}") from None
