"""Which characters a test is about: by what they can do, by their poses, or those of one paper."""

from tumble.characters import CHARACTERS, character

BODIES = {name: character(name) for name in CHARACTERS}
STANCES = [name for name, body in BODIES.items() if {"ready", "taiko"} <= set(body.poses)]  # calm at 1/30 s
ANY_LEGS = ["humanoid-walker", "monoped", "quadruped", "planar-walker"]  # rajamaki2017


def able(*words: str) -> list[str]:
    """Names of the characters that have all these capabilities."""
    return [name for name, body in BODIES.items() if body.capabilities >= set(words)]
