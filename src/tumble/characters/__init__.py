"""The bodies that tumble knows by name, and the type they share."""

from collections.abc import Callable, Mapping
from typing import Any

from tumble.characters.biped import beast1, beast2, biped, robot
from tumble.characters.character import Character, Joint
from tumble.characters.humanoid import humanoid
from tumble.characters.legged import humanoid_walker, monoped, planar_walker, quadruped
from tumble.characters.simbicon_beasts import big_bird, raptor
from tumble.characters.simbicon_bodies import biped34, planar
from tumble.errors import choose

__all__ = ["CHARACTERS", "LEGGED", "STEPPERS", "Character", "Joint", "biped", "character", "humanoid", "remake"]


def _light() -> Character:
    return humanoid(mass=50.0, name="humanoid-light")


def _heavy() -> Character:
    return humanoid(mass=70.0, torso_mass=2.0, name="humanoid-heavy")


CHARACTERS: dict[str, tuple[Callable[[], Character], str]] = {
    "humanoid": (humanoid, "15 bones, 30 joints, 1.75 m, 70 kg (hamalainen2015)"),
    "humanoid-light": (_light, "the same body, light-boned: 50 kg (hamalainen2014 section 4.1)"),
    "humanoid-heavy": (_heavy, "a torso twice as heavy: 90 kg, high centre of mass (hamalainen2014 section 4.1)"),
    "biped": (biped, "16 bones with toes, 31 joints, 70 kg: the humanoid that walks (coros2010)"),
    "robot": (robot, "a biped with one arm 40 % longer and one knee 20 cm higher (coros2010 section 5.4)"),
    "beast1": (beast1, "a stout biped, much of its mass in the pelvis (coros2010 section 5.4)"),
    "beast2": (beast2, "a long-legged biped, much of its mass in the pelvis (coros2010 section 5.4)"),
}
# Bodies for Simbicon: torques at 1/500 s; not all have what goals and planners want: hands, a T-pose, calm at 1/30 s.
STEPPERS: dict[str, tuple[Callable[[], Character], str]] = {
    "biped34": (biped34, "15 bones, 28 joints, 70 kg: the humanoid of SIMBICON (coros2010 section 4.5)"),
    "big-bird": (big_bird, "9 bones, 18 joints, 64 kg: a bird with a heavy head (coros2010 section 4.5)"),
    "raptor": (raptor, "21 bones, 36 joints, 78 kg: with a tail (coros2010 section 4.5)"),
    "planar": (planar, "7 links in the plane, 6 joints, 90 kg (coros2010 section 3.6)"),
}
# Bodies for going somewhere on any number of legs; some lack hands, a head of their own or poses beside 'rest'.
LEGGED: dict[str, tuple[Callable[[], Character], str]] = {
    "humanoid-walker": (humanoid_walker, "13 capsules, 24 joints, 1.72 m, 30 kg (rajamaki2017)"),
    "monoped": (monoped, "3 capsules on end, two ball joints, 10 kg: it hops (rajamaki2017)"),
    "quadruped": (quadruped, "9 capsules, 12 joints, 30 kg (rajamaki2017)"),
    "planar-walker": (
        planar_walker,
        "the humanoid walker in the plane: trunk and legs, 6 joints, 25 kg (rajamaki2017)",
    ),
}
KINDS: dict[str, Callable[..., Character]] = {
    "humanoid": humanoid, "biped": biped, "biped34": biped34, "big-bird": big_bird, "raptor": raptor, "planar": planar,
    "humanoid-walker": humanoid_walker, "monoped": monoped, "quadruped": quadruped, "planar-walker": planar_walker,
}  # fmt: skip


def character(name: str) -> Character:
    """The character of that name, of `CHARACTERS`, `STEPPERS` or `LEGGED`."""
    others = {**STEPPERS, **LEGGED}
    return (others[name] if name in others else choose("character", name, CHARACTERS))[0]()


def remake(recipe: Mapping[str, Any]) -> Character:
    """The character that a recipe tells of."""
    arguments = dict(recipe)
    make = choose("kind of character", arguments.pop("kind", "humanoid"), KINDS)
    return make(**arguments)
