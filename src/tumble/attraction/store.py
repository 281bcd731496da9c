"""TreeFile: a tree in one SQLite file. Every node is on the disk before it counts, and a killed build goes on.

    with TreeFile.create(Path("mine.tree"), "pendulum", growth) as file, workers(jobs=2) as pool:
        for outcome in file.grow(pool): ...
    tree = read_tree(Path("mine.tree"))
    read_file(Path("mine.tree")).outcomes            # also how it was grown, and every attempt

The file has the edges of the tree with the states of their frames, every attempt with what came of it, and what the
tree was grown for: body, drive, step, version, and how. Numbers are little-endian float32. A file of another body,
drive, step or version is refused with both names. Nothing in it is executed. Where an edge or an attempt is damaged, it
and all that came after it are left out, with a sentence; who writes on deletes them, and they are made again.

`tumble.attraction.building` makes the tree of a system from its first controller on.
"""

import json
from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
import numpy as np

from tumble.attraction.growing import Growth, Outcome, grow
from tumble.attraction.references import EVERY
from tumble.attraction.system import System
from tumble.attraction.systems import SYSTEMS, joints_of, system_named
from tumble.attraction.tree import ROOT, Edge, Tree
from tumble.errors import UserError
from tumble.offline.database import Database, Layout, open_for_reading, open_for_writing

LAYOUT = Layout(
    what="tree",
    application=b"tmbT",
    version=1,
    tables="""
CREATE TABLE about (system TEXT NOT NULL, recipe TEXT NOT NULL, growth TEXT NOT NULL) STRICT;
CREATE TABLE edges (
    id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, aim INTEGER NOT NULL, level REAL NOT NULL,
    evaluations INTEGER NOT NULL, points BLOB NOT NULL, states BLOB NOT NULL
) STRICT;
CREATE TABLE attempts (
    number INTEGER PRIMARY KEY, stage INTEGER NOT NULL, level REAL NOT NULL, inside INTEGER NOT NULL,
    optimised INTEGER NOT NULL, evaluations INTEGER NOT NULL, edge INTEGER REFERENCES edges (id)
) STRICT;
""",
)
LITTLE = np.dtype("<f4")
ATTEMPTS = "SELECT number, level, stage, inside, optimised, evaluations, edge FROM attempts ORDER BY number"


class NotBegun(UserError):
    """A file that was made for a tree, and whose writer was killed before there was one."""


@dataclass(frozen=True)
class First:
    """What a tree begins with, beside its root.

    Attributes:
      points: (count, joints) of the first controller, rad.
      trace: (frames, nstate) from the target on, the end not among them.
    """

    points: np.ndarray
    trace: np.ndarray


@dataclass(frozen=True)
class Earlier:
    """A growth that a file was grown by before it was extended.

    Attributes:
      growth: how.
      made: attempts that there were when it was extended.
    """

    growth: Growth
    made: int


@dataclass
class Stored:
    """All that is in a file.

    Attributes:
      name: of the system.
      growth: how the tree is grown.
      earlier: how it was grown before that, the first one first.
      tree: nodes and edges.
      outcomes: of all attempts so far; the edge of one that was read is its number, the tree has it.
      mended: sentences about what was left broken, for people to be told.
    """

    name: str
    growth: Growth
    earlier: list[Earlier]
    tree: Tree
    outcomes: list[Outcome]
    mended: list[str]

    @property
    def largest(self) -> float:
        """The largest level that states were drawn of; beyond it nothing was grown."""
        return max(self.tree.largest, max((one.level for one in self.outcomes), default=0.0))


@dataclass(frozen=True)
class Outline:
    """What a file tells without its system being made.

    Attributes:
      name: of the system.
      largest: level that states were drawn of; 0 where none was.
      nodes: of it.
      edges: of it.
    """

    name: str
    largest: float
    nodes: int
    edges: int


class TreeFile(Stored):
    """A tree that is being grown, and its file; for one process at a time."""

    def __init__(self, database: Database) -> None:
        """Read all of an open file, and delete what is damaged at its end; use `create` or `resume`."""
        super().__init__(**vars(_stored(database)))
        self._database = database
        if self.mended:
            with database.transaction() as sql:
                sql.execute("DELETE FROM attempts WHERE number >= ?", (len(self.outcomes),))
                sql.execute("DELETE FROM edges WHERE id >= ?", (len(self.tree.edges),))
        self.mended[:0] = [database.mended] if database.mended else []

    @classmethod
    def create(cls, path: Path, name: str, growth: Growth, first: First | None = None) -> "TreeFile":
        """Make a file of a tree that has a root, and its first controller; refuses a file that has a tree already."""
        system = system_named(name)
        database = open_for_writing(path, LAYOUT)
        try:
            with database.transaction() as sql:
                if sql.execute("SELECT 1 FROM about").fetchall():
                    raise UserError(
                        f"{path} is there already; 'tumble tree extend' grows it further, or choose another file"
                    )
                row = (name, json.dumps(dict(system.recipe)), _text(growth, []))
                sql.execute("INSERT INTO about VALUES (?, ?, ?)", row)
                if first is not None:
                    tree = Tree(system)
                    _write_edge(sql, 0, tree.add(first.points, first.trace, ROOT, 0.0), tree)
            return cls(database)
        except BaseException:
            database.close()
            raise

    @classmethod
    def resume(cls, path: Path) -> "TreeFile":
        """Go on with a file; refuses one that somebody else grows, or of another system.

        Raises:
          NotBegun: there is no tree in it yet.
        """
        if not path.is_file():
            raise UserError(f"no file {path}; 'tumble tree build' makes one")
        database = open_for_writing(path, LAYOUT)
        try:
            return cls(database)
        except BaseException:
            database.close()
            raise

    def __enter__(self) -> "TreeFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self._database.close()

    def extend(self, growth: Growth) -> None:
        """Go on by another growth. Attempts that were made stay, and count for the level that they were made for."""
        if growth == self.growth:
            return
        before, stages = self.growth.levels, {level: stage for stage, level in enumerate(growth.levels)}
        moved = [replace(one, stage=_moved(one.stage, before, stages)) for one in self.outcomes]
        grown = len(self.outcomes) > (self.earlier[-1].made if self.earlier else 0)
        earlier = [*self.earlier, Earlier(self.growth, len(self.outcomes))] if grown else self.earlier
        with self._database.transaction() as sql:
            sql.execute("UPDATE about SET growth = ?", (_text(growth, earlier),))
            sql.executemany(
                "UPDATE attempts SET stage = ? WHERE number = ?", [(one.stage, one.number) for one in moved]
            )
        self.growth, self.earlier, self.outcomes[:] = growth, earlier, moved

    def add(self, points: np.ndarray, trace: np.ndarray, parent: int = 0, level: float = 0.0) -> None:
        """Add an edge that no attempt made."""
        edge = self.tree.add(points, trace, parent, level)
        with self._database.transaction() as sql:
            _write_edge(sql, len(self.tree.edges) - 1, edge, self.tree)

    def grow(self, pool: Executor) -> Generator[Outcome]:
        """Grow the tree by workers of a pool; an outcome is on the disk when it is yielded."""
        for outcome in grow(self.name, self.tree, self.growth, self.outcomes, pool):
            index = len(self.tree.edges) - 1 if outcome.edge is not None else None
            with self._database.transaction() as sql:
                if index is not None:
                    _write_edge(sql, index, self.tree.edges[index], self.tree)
                row = (outcome.number, outcome.stage, outcome.level, int(outcome.inside), outcome.optimised)
                sql.execute("INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, outcome.evaluations, index))
            yield outcome


def read_file(path: Path, threads: int = 1) -> Stored:
    """All that is in a file, which may be grown meanwhile; the tree is to be asked by so many threads."""
    with open_for_reading(path, LAYOUT) as database:
        return _stored(database, threads)


def read_tree(path: Path, threads: int = 1) -> Tree:
    """The tree in a file, to be asked by so many threads; of what is damaged at its end the rest is used."""
    return read_file(path, threads).tree


def outline_of(path: Path) -> Outline:
    """What a file tells at a glance; whether each of its edges is whole, and for which body it is, is not looked at."""
    with open_for_reading(path, LAYOUT) as database, database.reading() as sql:
        name, _, _ = _about(database)
        sizes = [size for (size,) in sql.execute("SELECT length(points) FROM edges")]
        both = "SELECT level FROM edges UNION SELECT level FROM attempts"
        largest = max((level for (level,) in sql.execute(both)), default=0.0)
    joints = joints_of(name)
    frames = sum(EVERY * (size // (LITTLE.itemsize * joints) - 1) for size in sizes)
    return Outline(name, largest, 1 + frames, len(sizes))


# How it is written ----------------------------------------------------------------------------------


def _text(growth: Growth, earlier: Sequence[Earlier]) -> str:
    """Growths as a file has them: the fields of the last, and those before it where there were any."""
    return json.dumps({**asdict(growth), **({"earlier": [asdict(one) for one in earlier]} if earlier else {})})


def _write_edge(sql: Any, index: int, edge: Edge, tree: Tree) -> None:
    """Insert an edge and the states of its frames."""
    states = tree.states[edge.first : edge.first + EVERY * (len(edge.points) - 1)]
    numbers = (edge.points.astype(LITTLE).tobytes(), states.astype(LITTLE).tobytes())
    row = (index, edge.parent, edge.aim, edge.level, edge.evaluations, *numbers)
    sql.execute("INSERT INTO edges VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def _moved(stage: int, before: Sequence[float], stages: dict[float, int]) -> int:
    """The stage of the same level in another growth; -1 where it has none."""
    return stages.get(before[stage], -1) if 0 <= stage < len(before) else -1


# How it is read -------------------------------------------------------------------------------------


def _stored(database: Database, threads: int = 1) -> Stored:
    """All that is in an open file, up to what is damaged."""
    with database.reading():
        name, growth, earlier = _about(database)
        system = system_named(name, threads)
        _check_recipe(database, system)
        attempts = database.sql.execute(ATTEMPTS).fetchall()
        rows = database.sql.execute("SELECT * FROM edges ORDER BY id").fetchall()
    tree = _tree(system, rows)
    begun = next((i for i, edge in enumerate(tree.edges) if edge.evaluations), len(tree.edges))
    outcomes, end = _outcomes(attempts, begun, len(tree.edges), len(growth.levels))
    damaged = list[str]()
    if len(tree.edges) < len(rows) or (len(outcomes) == len(attempts) and end < len(rows)):
        damaged.append(_damaged(database, "edge", min(len(tree.edges), end), len(rows)))
    elif len(outcomes) < len(attempts):
        damaged.append(_damaged(database, "attempt", len(outcomes), len(attempts)))
    if end < len(tree.edges):
        tree = _tree(system, rows[:end])
    return Stored(name, growth, earlier, tree, outcomes, damaged)


def _damaged(database: Database, what: str, first: int, count: int) -> str:
    after = f" and the {count - first - 1} after it are" if count - first > 1 else " is"
    return f"{what} {first} of {database.path} is damaged: it{after} left out, all before is there"


def _about(database: Database) -> tuple[str, Growth, list[Earlier]]:
    """Name of the system and how the tree is grown, and was."""
    rows = database.sql.execute("SELECT system, growth FROM about").fetchall()
    if not rows:
        raise NotBegun(f"{database.path} has no tree yet: whoever made it was broken off; build it again")
    try:
        fields = json.loads(rows[0][1])
        growth = msgspec.convert(fields, Growth)
        earlier = msgspec.convert(fields.get("earlier", []), list[Earlier])
    except (AttributeError, ValueError, RecursionError, msgspec.ValidationError):
        raise UserError(f"{database.path} does not say how its tree was grown; build it again") from None
    if rows[0][0] not in SYSTEMS:
        there = ", ".join(SYSTEMS)
        raise UserError(
            f"{database.path} is a tree of the system {rows[0][0]!r}, which is not here; there are: {there}"
        )
    return rows[0][0], growth, earlier


def _check_recipe(database: Database, system: System) -> None:
    """Refuse a tree of another body, drive, step or version."""
    try:
        found = json.loads(database.sql.execute("SELECT recipe FROM about").fetchall()[0][0])
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UserError(f"{database.path} does not say what its tree was grown for; build it again")
    for word, wanted in json.loads(json.dumps(dict(system.recipe))).items():
        if found.get(word) != wanted:
            raise UserError(
                f"{database.path} is a tree of {word} {found.get(word)!r}, here it is {wanted!r}; build it again with"
                " 'tumble tree build'"
            )


def _tree(system: System, rows: Sequence[Any]) -> Tree:
    """The tree of edges as they are stored, up to the first that does not fit."""
    tree, width = Tree(system), len(system.goal)
    for number, (index, parent, aim, level, evaluations, points, states) in enumerate(rows):
        if len(points) % LITTLE.itemsize or len(states) % LITTLE.itemsize:
            return tree
        knots, trace = np.frombuffer(points, LITTLE), np.frombuffer(states, LITTLE)
        frames = EVERY * (len(knots) // system.joints - 1)
        whole = len(knots) % system.joints == 0 and frames > 0 and len(trace) == frames * width
        fits = index == number and 0 <= parent < len(tree) and 0 <= aim < len(tree) and 0 <= level < np.inf
        if not (whole and fits and np.isfinite(knots).all() and np.isfinite(trace).all()):
            return tree
        tree.add(knots.reshape(-1, system.joints), trace.reshape(frames, width), parent, level, aim, evaluations)
    return tree


def _outcomes(rows: Sequence[Any], begun: int, edges: int, stages: int) -> tuple[list[Outcome], int]:
    """All attempts, up to the first that does not fit or whose edge is not there, and how many edges there are then.

    Args:
      begun: edges that no attempt made.
      edges: that are there.
    """
    found, end = list[Outcome](), begun
    for number, level, stage, inside, optimised, evaluations, edge in rows:
        fits = number == len(found) and -1 <= stage < stages and inside in (0, 1) and 0 <= level < np.inf
        if not fits or (edge is not None and not edge == end < edges):
            break
        end += edge is not None
        found.append(Outcome(number, level, stage, bool(inside), optimised, edge, evaluations))
    return found, end
