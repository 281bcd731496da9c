"""Robots by the path of their MJCF, or by their name in mujoco-menagerie.

    place = robot_file("my_robot.xml")          # the path
    place = robot_file("unitree_g1")            # .../mujoco_menagerie/unitree_g1/g1.xml
    robot_file("humanoid")                      # None: no name of a robot
    body, parts = own_robot(place)              # read once, until it or its file of parts changes

The menagerie is a folder of a folder for each robot. It is, in this order: what the environment variable
`MUJOCO_MENAGERIE` says, an installed package `mujoco_menagerie`, and where `robot_descriptions` clones it to. Nothing
is downloaded. A robot is called as its folder, or as its folder and file: 'unitree_g1/g1_with_hands'.
"""

import os
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from tumble.characters.character import Character
from tumble.characters.mjcf import from_file
from tumble.characters.mjcf_parts import PartsFile, parts_place
from tumble.errors import UserError, unknown

ENDING = ".xml"
VARIABLE = "MUJOCO_MENAGERIE"
CLONES = "ROBOT_DESCRIPTIONS_CACHE"  # of robot_descriptions


def robot_file(name: str) -> Path | None:
    """The MJCF that a name means; None where it is the name of no robot. A path ends in .xml, there or not."""
    if name.endswith(ENDING):
        return Path(name)
    folder = menagerie()
    robot, _, file = name.partition("/")
    if folder is None or robot not in (there := robots_of(folder)):
        return None
    return _chosen(folder / robot, there[robot], file)


def menagerie() -> Path | None:
    """The folder of mujoco-menagerie on this machine; None where there is none."""
    if said := os.environ.get(VARIABLE):
        if not Path(said).is_dir():
            raise UserError(f"{VARIABLE} says '{said}', which is no folder; say where mujoco-menagerie is, or nothing")
        return Path(said)
    installed = find_spec("mujoco_menagerie")
    places = [Path(place) for place in (installed.submodule_search_locations or ())] if installed else []
    clones = os.environ.get(CLONES, "~/.cache/robot_descriptions")
    places.append(Path(clones).expanduser() / "mujoco_menagerie")
    return next((place for place in places if place.is_dir()), None)


def robots_of(folder: Path) -> dict[str, list[str]]:
    """Files of robots, without ending and without scenes, by the names of their folders."""
    found = {}
    for inner in sorted(folder.iterdir()):
        files = sorted(file.stem for file in inner.glob("*" + ENDING) if not file.stem.startswith("scene"))
        if files and not inner.name.startswith((".", "_")):
            found[inner.name] = files
    return found


def _chosen(folder: Path, files: list[str], file: str) -> Path:
    """The file that is named; or the only one, or the one that is called as the end of its folder."""
    if not file:
        file = files[0] if len(files) == 1 else next((one for one in files if folder.name.endswith(one)), "")
    if file not in files:
        named = [f"{folder.name}/{one}" for one in files]
        if not file:
            raise UserError(f"'{folder.name}' of mujoco-menagerie has several robots; choose: {', '.join(named)}")
        raise unknown("robot", f"{folder.name}/{file}", named, " in mujoco-menagerie")
    return folder / (file + ENDING)


def own_robot(place: Path) -> tuple[Character, PartsFile]:
    """The character of an MJCF and its parts; as it was read before, where neither it nor its file of parts changed."""
    if not place.is_file():
        raise UserError(f"no MJCF {place}: give the path of an XML file")
    marks = tuple(_mark(file) for file in (place, parts_place(place)) if file is not None)
    return _read(place, Path.cwd(), marks)


def unread(place: Path) -> tuple[Character, PartsFile]:
    """The character of an MJCF with all its parts guessed, whatever people said of them."""
    return from_file(place, {})


def _mark(file: Path) -> tuple[str, int, int]:
    about = file.stat()
    return str(file.resolve()), about.st_mtime_ns, about.st_size


@lru_cache(maxsize=8)
def _read(place: Path, here: Path, marks: tuple[tuple[str, int, int], ...]) -> tuple[Character, PartsFile]:
    return from_file(place)
