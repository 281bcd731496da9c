"""Figures: characters at rest, the shapes that are drawn of them, and their skins.

    worn = worn_by(humanoid())
    points, normals = worn.posed(places, turns)     # where the skin is while the bodies move

Files (`export`), pictures (`film`) and browsers (`studio`) draw the same surfaces. Nothing here simulates.
"""

from tumble.figures.figure import Figure
from tumble.figures.worn import Worn, worn_by

__all__ = ["Figure", "Worn", "worn_by"]
