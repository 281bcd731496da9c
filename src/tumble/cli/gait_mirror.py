"""`tumble gait mirror`: the gait to the other side.

main(["big-bird", "side-left", "side-right"])
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from tumble.cli.gait_files import gait_named, place_of, write_gait
from tumble.cli.options import CONFIG
from tumble.simbicon.gait import mirrored


def main(arguments: Sequence[str]) -> int:
    """Parse and mirror; the exit code."""

    def go(
        body: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="BODY")],
        gait: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAIT")],
        new: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NEW")],
        about: str = "",
        out: Path | None = None,
    ) -> int:
        """Mirror a gait: it turns, and steps aside, to the other side.

        Example: tumble gait mirror big-bird side-left.toml side-right

        Args:
          body: whose gait.
          gait: one of the body's, or a file that ends in .toml.
          new: name of the gait that is made.
          about: a line about it, kept in it.
          out: file to write; by default NEW.toml in the current folder.
        """
        path = place_of(out, new)
        command = shlex.join(["tumble", "gait", "mirror", body, Path(gait).stem, new])
        write_gait(path, mirrored(gait_named(body, gait), new, about), command)
        print(path)
        return 0

    return tyro.cli(go, prog="tumble gait mirror", args=list(arguments), config=CONFIG)
