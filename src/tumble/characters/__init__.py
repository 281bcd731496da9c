"""The bodies that tumble knows by name, and the type they share."""

from collections.abc import Callable, Mapping
from typing import Any

from tumble.characters.character import Character, Joint
from tumble.characters.humanoid import humanoid
from tumble.errors import choose

__all__ = ["CHARACTERS", "Character", "Joint", "character", "humanoid", "remake"]


def _light() -> Character:
    return humanoid(mass=50.0, name="humanoid-light")


def _heavy() -> Character:
    return humanoid(mass=70.0, torso_mass=2.0, name="humanoid-heavy")


CHARACTERS: dict[str, tuple[Callable[[], Character], str]] = {
    "humanoid": (humanoid, "15 bones, 30 joints, 1.75 m, 70 kg (hamalainen2015)"),
    "humanoid-light": (_light, "the same body, light-boned: 50 kg (hamalainen2014 section 4.1)"),
    "humanoid-heavy": (_heavy, "a torso twice as heavy: 90 kg, high centre of mass (hamalainen2014 section 4.1)"),
}


def character(name: str) -> Character:
    """The character of that name."""
    return choose("character", name, CHARACTERS)[0]()


def remake(recipe: Mapping[str, Any]) -> Character:
    """The character that a recipe tells of."""
    return humanoid(**recipe)
