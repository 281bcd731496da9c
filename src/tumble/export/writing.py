"""Writing a recording as a file of another tool, by the ending of its name.

    export(Recording.load("walk.npz"), Path("walk.glb"), Options(skeleton="mixamo", fps=60))

A file is whole or not there. What an ending cannot hold is refused before anything is written.
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tumble.errors import UserError
from tumble.export.bvh import write_bvh
from tumble.export.clip import Clip
from tumble.export.gltf import Skins, write_glb, write_vrma
from tumble.export.html import write_html
from tumble.export.options import SCALES, Options
from tumble.export.robots import joints_of, write_csv, write_npz
from tumble.export.taking import clip_of, figure_of
from tumble.figures.shapes import rigid
from tumble.figures.skin import skin
from tumble.files import check_place, format_of, opened, replace_file
from tumble.live.recording import Recording

Progress = Callable[[int, int], None]  # pictures that are done, of how many


def _glb(recording: Recording, path: Path, options: Options, _: Progress) -> int:
    """Bones, what is drawn of the character, props."""
    _in_metres(options, "GLB")
    motion, skins = drawn_clip(recording, options)
    return _file(path, lambda file: write_glb(file, motion, skins))


def _html(recording: Recording, path: Path, options: Options, _: Progress) -> int:
    """A page that plays it."""
    _in_metres(options, "a page")
    motion, skins = drawn_clip(recording, options)
    return _file(path, lambda file: write_html(file, motion, skins))


def _npz(recording: Recording, path: Path, options: Options, _: Progress) -> int:
    """Joints and bodies as arrays."""
    _nothing_of(options, "an .npz", SKELETAL)
    motion = joints_of(recording, options)
    return _file(path, lambda file: write_npz(file, motion, options.layout))


def _csv(recording: Recording, path: Path, options: Options, _: Progress) -> int:
    """Root and joints as rows."""
    _nothing_of(options, "a .csv", (*SKELETAL, "layout"))
    motion = joints_of(recording, options)
    return _file(path, lambda file: write_csv(file, motion))


def _film(recording: Recording, path: Path, options: Options, progress: Progress) -> int:
    """Pictures, as a film or one by one."""
    from tumble.export.pictures import save_gif, save_mp4, save_pngs

    ending = path.suffix.lower()
    _nothing_of(options, f"a {ending}", (*(name for name in SKELETAL if name != "rigid"), "who", "layout"))
    save = {".png": save_pngs, ".gif": save_gif, ".mp4": save_mp4}[ending]
    return save(recording, path, options, progress)


def _usd(recording: Recording, path: Path, options: Options, _: Progress) -> int:
    """A skeleton of UsdSkel with its animation."""
    from tumble.export.usd import save_usd

    motion, skins = drawn_clip(recording, options)
    return save_usd(path, motion, skins, options.scale or "m", options.up)


def drawn_clip(recording: Recording, options: Options) -> tuple[Clip, Skins]:
    """The motion, and what is drawn of who moves: a skin, or rigid bodies."""
    figure = figure_of(recording, options)
    motion = clip_of(recording, options, figure)
    return motion, Skins(rigid=rigid(figure)) if options.rigid else Skins(skin=skin(figure))


def _vrma(recording: Recording, path: Path, options: Options, _: Progress) -> int:
    """Bones with VRM's map."""
    _in_metres(options, "VRMA")
    if options.rest != "t-pose":
        raise UserError("a VRMA rests in the T-pose: leave --rest away")
    motion = clip_of(recording, options)
    return _file(path, lambda file: write_vrma(file, motion))


def _bvh(recording: Recording, path: Path, options: Options, _: Progress) -> int:
    """Bones as text."""
    motion = clip_of(recording, options)
    scale = SCALES[options.scale or "cm"]
    return _file(path, lambda file: write_bvh(file, motion, scale, options.up))


def _file(path: Path, write: Callable[[Any], Any]) -> int:
    """Call write(file) for a file that is whole or not there; returns its size, bytes."""
    replace_file(path, write)
    return path.stat().st_size


SKELETAL = ("skeleton", "root", "in_place", "rest", "loop", "rigid", "scale", "up")


def _nothing_of(options: Options, what: str, names: tuple[str, ...]) -> None:
    """Refuse options that a format cannot follow, where they are not as they were."""
    usual = Options()
    asked = [f"--{name.replace('_', '-')}" for name in names if getattr(options, name) != getattr(usual, name)]
    if asked:
        raise UserError(f"{what} shows the simulation as it is, without {', '.join(asked)}: leave it away")


def _in_metres(options: Options, what: str) -> None:
    if options.scale == "cm":
        raise UserError(f"{what} is in metres: leave --scale cm away, or write a .bvh")
    if options.up != "y":
        raise UserError(f"in {what} y is up: leave --up z away, or write a .bvh")


Writer = Callable[[Recording, Path, Options, Progress], int]
WRITERS: Mapping[str, Writer] = {
    ".glb": _glb,
    ".vrma": _vrma,
    ".bvh": _bvh,
    ".html": _html,
    ".csv": _csv,
    ".npz": _npz,
    ".usd": _usd,
    ".usda": _usd,
    ".usdc": _usd,
    ".mp4": _film,
    ".gif": _film,
    ".png": _film,
}
ENDINGS: Mapping[str, str] = {
    ".glb": "Blender, Godot, Unreal, three.js: bones, skin, animation, props",
    ".vrma": "VRM apps, UniVRM: an animation for any VRM character",
    ".bvh": "motion capture tools: bones alone, cm",
    ".html": "a page that plays it with a timeline, without a server",
    ".csv": "robots: root and joints a row, as mjlab takes them",
    ".npz": "robots: joints and bodies, see --layout",
    ".usd": "Omniverse, Blender, Houdini; also .usda and .usdc",
    ".mp4": "a film",
    ".gif": "a small film for a page",
    ".png": "pictures NAME-0000.png, NAME-0001.png and so on",
}


def _silent(done: int, of: int) -> None:
    """Nobody is told how far it is."""


def export(recording: Recording, path: Path, options: Options = Options(), progress: Progress = _silent) -> int:
    """Write a recording in the format that the ending of a path says.

    Args:
      recording: stays as it is.
      path: its ending is one of `ENDINGS`.
      options: see `Options`.
      progress: told of pictures that are drawn, where there are any.

    Returns:
      How many bytes were written.

    Raises:
      UserError: an unknown ending, a path that cannot be written or holds a recording, options that the format cannot
        follow.
    """
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        there = "; ".join(f"{ending} ({what})" for ending, what in ENDINGS.items())
        got = f"'{path.suffix}'" if path.suffix else "none"
        raise UserError(f"the ending of a file says what it becomes, got {got}; there are: {there}")
    check_place(path)
    if path.is_file():
        with opened(path, "rb") as there:
            if format_of(there):
                raise UserError(f"{path} is a file of tumble's own, which is not written over: choose another name")
    return writer(recording, path, options, progress)


def exported(recording: Recording, ending: str, options: Options = Options()) -> bytes:
    """What `export` would write into a file of that ending; one file, so no .png."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"made{ending}"
        export(recording, path, options)
        with open(path, "rb") as made:
            return made.read()
