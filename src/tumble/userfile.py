"""A user's own file of scenarios, characters, goals, planners, controllers, drives and tasks, loaded once and again.

    mine = load("mine.py")            # its calls of `register` have their effect
    mine.names["scenario"]            # ('limbo',)
    mine = reload(mine.path)          # after it was saved; where it fails, what it had registered stays as it was

The file is run as any Python program is: load files of people you trust. All that can go wrong is a `UserError` of one
sentence with the file and the line.
"""

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from tumble.characters import CHARACTERS, character
from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.goals import GOALS
from tumble.planners import PLANNERS
from tumble.planners.reflexes import REFLEXES
from tumble.registry import Registry
from tumble.scenarios import SCENARIOS
from tumble.stepping.base import BASES
from tumble.tasks.library import TASKS
from tumble.world.drives import DRIVES

REGISTRIES: tuple[Registry[Any], ...] = (
    SCENARIOS, CHARACTERS, GOALS, PLANNERS, CONTROLLERS, DRIVES, TASKS, BASES, REFLEXES,
)  # fmt: skip
_loaded: dict[Path, "UserFile"] = {}


@dataclass(frozen=True)
class UserFile:
    """What a user's file has registered: names by the kind of thing, 'scenario', 'character', 'goal' ..."""

    path: Path
    names: Mapping[str, tuple[str, ...]]


def load(path: str | Path) -> UserFile:
    """Run a file and say what it registered; a file that was loaded before is loaded again, see `reload`."""
    given, path = path, Path(path).resolve()
    if path.suffix != ".py":
        raise UserError(f"a file of your own ends in .py, got {given}")
    if not path.is_file():
        raise UserError(f"no file {given}" if not path.exists() else f"{given} is no file")
    return reload(path)


def reload(path: Path) -> UserFile:
    """Load a file in place of what it registered before. Where that fails, the last good version stays."""
    before = [dict(registry) for registry in REGISTRIES]
    old = _loaded.get(path)
    name = f"_tumble_user_{path.stem}_{hashlib.sha256(bytes(path)).hexdigest()[:8]}"
    module = sys.modules.get(name)
    try:
        if old is not None:
            for registry in REGISTRIES:
                gone = old.names[registry.kind]
                registry.restore({name: entry for name, entry in registry.items() if name not in gone})
        _loaded[path] = _run(path, name)
    except BaseException as error:
        for registry, entries in zip(REGISTRIES, before, strict=True):
            registry.restore(entries)
        _put(name, module)
        if isinstance(error, Exception | SystemExit):
            raise UserError(_sentence(path, error)) from None
        raise
    return _loaded[path]


def _run(path: Path, name: str) -> UserFile:
    """Import a file under a private name, and make its bodies once."""
    there = [set(registry) for registry in REGISTRIES]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    _put(name, module)  # where dataclasses look for it
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)  # and not from a cache of a second ago
    names = {
        registry.kind: tuple(name for name in registry if name not in known)
        for registry, known in zip(REGISTRIES, there, strict=True)
    }
    if not any(names.values()):
        raise UserError("it registers nothing; call register of tumble.scenarios, characters, goals or controllers")
    for body in names["character"]:
        character(body)
    return UserFile(path, MappingProxyType(names))


def _put(name: str, module: ModuleType | None) -> None:
    """Have a module in sys.modules under a name, or none (None)."""
    if module is None:
        sys.modules.pop(name, None)
    else:
        sys.modules[name] = module


def _sentence(path: Path, error: BaseException) -> str:
    """What went wrong in a file, and in which line of it."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path}, line {error.lineno}: {error.msg}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    where = f"{path}, line {lines[-1]}" if lines else f"{path}"
    first = str(error).strip().partition("\n")[0]
    if isinstance(error, UserError):
        return f"{where}: {first}"
    return f"{where}: {type(error).__name__}{': ' if first else ''}{first}"
