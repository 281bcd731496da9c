"""Trees that ship with the package, and trees of a user's, by name or file.

tree = tree_named("getup-1")
tree = tree_named("mine.tree")
beyond("getup-1", 12.0)                    # a sentence: no tree was grown for that
"""

from importlib import resources
from pathlib import Path

from tumble.attraction.skills import SKILLS
from tumble.attraction.store import outline_of, read_tree
from tumble.attraction.tree import Tree
from tumble.errors import UserError, unknown

ENDING = ".tree"


def shipped() -> dict[str, Path]:
    """Files of the trees that ship, by name."""
    folder = Path(str(resources.files("tumble.attraction"))) / "trees"
    return {file.stem: file for file in sorted(folder.glob(f"*{ENDING}"))}


def file_of(name: str) -> Path:
    """The file of a tree that ships, or of a user's: a name that ends in '.tree' is a file."""
    if name.endswith(ENDING):
        return Path(name)
    files = shipped()
    if name not in files:
        raise UserError(f"{unknown('tree', name, files)}; a file of yours ends in '{ENDING}'")
    return files[name]


def tree_named(name: str, threads: int = 1) -> Tree:
    """A tree by its name or file, to be asked by so many threads, 0 for one per core."""
    return read_tree(file_of(name), threads)


def beyond(skill: str, level: float, tree: str = "") -> str | None:
    """A sentence for people where no tree was grown for states of a skill's domain that is so large; else None.

    Args:
      level: alpha or kappa.
      tree: name or file of the one that is asked; '' for all that ship.

    Raises:
      UserError: there is no such tree, or it is none of a skill.
    """
    outlines = [outline_of(file) for file in ([file_of(tree)] if tree else shipped().values())]
    if tree and outlines[0].name not in SKILLS:
        raise UserError(f"{tree} is a tree of a {outlines[0].name} and leads no character; choose one of a skill")
    largest = max((one.largest for one in outlines if one.name == skill), default=None)
    grown = f"{tree} was" if tree else "the trees that ship were"
    if largest is None:
        return f"{grown} not grown for '{skill}'; from its states it may come to nothing"
    if level > largest:
        return f"{grown} grown up to level {largest:g} of '{skill}'; at {level:g} it may come to nothing"
    return None
