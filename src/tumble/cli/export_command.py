"""`tumble export FILE.npz OUT`: a recording as a file of another tool, by the ending of OUT."""

from dataclasses import dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Annotated

import tyro

from tumble.cli.options import CONFIG, FLAT, own_file
from tumble.cli.progress import bars_of
from tumble.export import ENDINGS, Options, export
from tumble.live.recording import Recording

EXAMPLES = """\
examples:
  tumble run steer-walk --seconds 10 --record walk.npz
  tumble export walk.npz walk.glb                          Blender, Godot, three.js
  tumble export walk.npz walk.glb --skeleton ue5 --root bone --fps 60
  tumble export walk.npz walk.vrma                         any VRM character
  tumble export walk.npz walk.bvh --skeleton mixamo        retargeters; cm
  tumble export walk.npz cycle.glb --loop --in-place       one cycle, for a game
  tumble export walk.npz walk.html                         a page that plays it, without a server
  tumble export walk.npz walk.mp4 --from 2 --to 6
  tumble export walk.npz pictures/walk.png                 walk-0000.png ...
  tumble export walk.npz walk.csv                          robots: roots and joints, as mjlab takes them
  tumble export mine.py tripod.npz tripod.glb              a body of your own

endings:
"""


@dataclass(frozen=True)
class ExportOptions(Options):
    """Options in the words of the terminal."""

    start: Annotated[float, tyro.conf.arg(name="from", help="s, where to begin.")] = 0.0
    end: Annotated[float | None, tyro.conf.arg(name="to", help="s, where to end; by default the recording's.")] = None


def write(
    file: Annotated[Path, tyro.conf.Positional],
    out: Annotated[Path, tyro.conf.Positional],
    options: Annotated[ExportOptions, FLAT] = ExportOptions(),
) -> int:
    """Write a recording as a file of another tool, by the ending of its name.

    Args:
      file: a recording made with 'tumble run --record'.
      out: what to write; its ending says what it becomes.
      options: of the file.
    """
    recording = Recording.load(file)
    asked = Options(**{field.name: getattr(options, field.name) for field in fields(Options)})
    before = perf_counter()
    with bars_of() as bars:
        task = bars.add_task("drawing", visible=False, note="")

        def told(done: int, of: int) -> None:
            """Show how many pictures are drawn."""
            bars.update(task, completed=done, total=of, visible=done < of, note=f"{done} of {of} pictures")

        size = export(recording, out, asked, told)
    print(f"wrote {out}: {size / 1e6:.2f} MB in {perf_counter() - before:.1f} s")
    return 0


def main(arguments: list[str]) -> int:
    """Parse and run."""
    _, others = own_file(arguments)
    about = EXAMPLES + "\n".join(f"  {ending:6} {what}" for ending, what in ENDINGS.items())
    usage = f"{(write.__doc__ or '').split(chr(10))[0]}\n\n{about}"
    return tyro.cli(write, prog="tumble export", description=usage, args=others, config=CONFIG)
