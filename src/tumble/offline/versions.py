"""Versions of what decides about the bits of a result: results of others are not mixed with ours.

versions()["mujoco"]             # '4.0.1'
"""

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tumble.files import read_bytes

PACKAGES = ("tumble", "mujoco", "numba", "numpy", "scipy")
APART = ("cli", "studio")  # folders whose code results do not depend on
LARGEST = 1 << 24  # bytes of a source file


@cache
def versions() -> dict[str, str]:
    """Of Python, packages and the package's own sources ('code'), as they were when this process first asked."""
    found = {"Python": ".".join(platform.python_version_tuple()[:2])}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found | {"code": _code(Path(__file__).parents[1])}


def _code(folder: Path) -> str:
    """A mark of all sources that results may depend on."""
    mark = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        place = path.relative_to(folder)
        if place.parts[0] not in APART:
            mark.update(place.as_posix().encode() + (read_bytes(path, "a source file", LARGEST) or b""))
    return mark.hexdigest()[:12]
