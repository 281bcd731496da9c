"""Systems by name, so that a job on another machine can make them again from a word.

system = system_named("getup-1")
summary_of("getup-1")                      # a line for people, without making it
"""

import functools
from collections.abc import Callable, Mapping

from tumble.attraction.pendulum import PENDULUMS, Pendulum
from tumble.attraction.skills import SKILLS
from tumble.attraction.system import System
from tumble.attraction.upright import BODY, UprightSystem
from tumble.characters import character
from tumble.errors import choose

SYSTEMS: Mapping[str, Callable[..., System]] = {
    **{name: functools.partial(UprightSystem, skill) for name, skill in SKILLS.items()},
    **{name: functools.partial(Pendulum, links) for name, links in PENDULUMS.items()},
}


@functools.lru_cache(maxsize=8)  # a process works at one, or follows some
def system_named(name: str, threads: int = 1) -> System:
    """The system of that name, for so many threads; the same object again while it is in use."""
    return choose("system", name, SYSTEMS)(threads=threads)


def summary_of(name: str) -> str:
    """What the system of that name does, in a line."""
    if name in SKILLS:
        return SKILLS[name].summary
    links = PENDULUMS[name].links
    return f"a pendulum of {links} link{'s' if links > 1 else ''} swings up and stands on end"


def joints_of(name: str) -> int:
    """How many joints the system of that name drives, without making it."""
    return len(character(BODY).joints) if name in SKILLS else PENDULUMS[name].links
