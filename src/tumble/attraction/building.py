"""Building: the tree of a system from its beginning, or from where its last builder was broken off.

    with build(Path("mine.tree"), "getup-1", usual_growth("getup-1")) as file, workers(jobs=2) as pool:
        for outcome in file.grow(pool):
            ...

The tree of a character begins with its skill's first controller, a pendulum's with its root alone. The same call goes
on with a file that is there, whenever and however it was left.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from tumble.attraction.connecting import Connecting
from tumble.attraction.first import first_points
from tumble.attraction.growing import Growth
from tumble.attraction.references import references
from tumble.attraction.skills import SKILLS
from tumble.attraction.store import First, NotBegun, TreeFile
from tumble.attraction.systems import SYSTEMS, system_named
from tumble.attraction.upright import UprightSystem
from tumble.errors import UserError, choose
from tumble.files import check_place

# V: with 50, states count as outside that are not (experiments/alborno2016); who strays early costs little
MANY = Connecting(candidates=400)
LYING = Growth(
    levels=tuple(map(float, range(1, 11))), attempts=900, inside=40, share=0.95, window=60, connecting=MANY
)  # alpha; ours
PUSHED = Growth(
    levels=tuple(map(float, range(25, 151, 25))), attempts=600, inside=40, share=0.925, window=40, connecting=MANY
)  # kappa, N; ours
SWINGING = Growth(levels=(0.25, 0.5, 0.75, 1.0), attempts=1000, inside=200, share=1.0)  # 200: alborno2016 section 5


def usual_growth(name: str) -> Growth:
    """How the tree of a system is grown where nobody says otherwise.

    Raises:
      UserError: there is no such system.
    """
    choose("system", name, SYSTEMS)
    if name not in SKILLS:
        return SWINGING
    return PUSHED if SKILLS[name].domain == "push" else LYING


def build(path: Path, name: str, growth: Growth) -> TreeFile:
    """The file of a tree that is grown so: the one that is there, or a new one.

    Raises:
      UserError: no such system, or one without a first controller; no such folder; somebody else grows that file; it is
        something else, of another system, or grown otherwise. Nothing is written then.
    """
    choose("system", name, SYSTEMS)
    check_place(path)
    if path.exists():
        try:
            file = TreeFile.resume(path)
        except NotBegun:
            pass
        else:
            try:
                _check_same(path, file, name, growth)
                return file
            except BaseException:
                file.__exit__(None, None, None)
                raise
    return TreeFile.create(path, name, growth, first_of(name))


def first_of(name: str) -> First | None:
    """The first controller of a system, as it goes from the target; None for one that begins with its goal alone.

    Raises:
      UserError: none was fitted, or it does not come to the goal.
    """
    system = system_named(name)
    if not isinstance(system, UprightSystem):
        return None
    points = first_points(name)
    track = references(points)
    rolled = system.roll(system.target[None], [track], len(track))
    if not rolled.reached[0]:
        raise UserError(
            f"the first controller of '{name}' does not come from its target to its goal: it ends"
            f" {rolled.misses[0]:.1f} kg rad away; a tree cannot begin with it, fit it again"
        )
    return First(points, rolled.trace[0, :-1])


def _check_same(path: Path, file: TreeFile, name: str, growth: Growth) -> None:
    """Refuse a file of another tree than the one that is wanted."""
    if file.name != name:
        raise UserError(f"{path} is a tree of '{file.name}', not of '{name}'; choose another file")
    found, wanted = _flat(file.growth), _flat(growth)
    for word, value in wanted.items():
        if found[word] != value:
            raise UserError(
                f"{path} is grown with {word} {_short(found[word])}, not {_short(value)}; 'tumble tree extend {path}'"
                " goes on with it, or changes how; or choose another file"
            )


def _flat(growth: Growth) -> dict[str, Any]:
    """All that a growth is made of, by name."""
    fields = asdict(growth)
    return {**fields.pop("connecting"), **fields}


def _short(value: object) -> str:
    return ", ".join(f"{one:g}" for one in value) if isinstance(value, tuple) else str(value)
