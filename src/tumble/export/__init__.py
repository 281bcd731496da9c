"""Export: recordings as files of other tools: GLB, VRMA, BVH, HTML, CSV, NPZ, USD, pictures and films.

    from tumble.export import Options, export
    export(Recording.load("walk.npz"), Path("walk.vrma"), Options(fps=60))

A recording becomes a `Clip` in memory, changes of it are functions of motions, and each format is a module that
writes one. Nothing here simulates; only `writing` and what draws opens files.
"""

from tumble.export.clip import Bone, Clip, PropTrack
from tumble.export.options import Options
from tumble.export.skeletons import SKELETONS
from tumble.export.taking import clip_of
from tumble.export.writing import ENDINGS, export, exported
from tumble.figures.figure import Figure

__all__ = [
    "ENDINGS",
    "SKELETONS",
    "Bone",
    "Clip",
    "Figure",
    "Options",
    "PropTrack",
    "clip_of",
    "export",
    "exported",
]
