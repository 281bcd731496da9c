"""What human characters look like: colours, and a face that neither weighs nor collides.

    add_face(lambda place, radii, colour: maker.ellipsoid(head, place, radii, colour))

Trap: a companion's shirt is found by its colour: what is to change with it is drawn in `SHIRT`.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

Colour: TypeAlias = tuple[float, float, float, float]
Place: TypeAlias = tuple[float, float, float]

SKIN, HAIR, EYES = (0.87, 0.68, 0.55, 1), (0.27, 0.18, 0.13, 1), (0.13, 0.11, 0.11, 1)
LIPS = (0.72, 0.42, 0.36, 1)
SHIRT, TROUSERS = (0.16, 0.45, 0.66, 1), (0.25, 0.28, 0.36, 1)
SHOES = (0.86, 0.36, 0.24, 1)


def add_face(ellipsoid: Callable[[Place, Place, Colour], Any]) -> None:
    """Call ellipsoid(place, radii, colour) for hair, nose, mouth, eyes, brows and ears.

    Places and radii are in m, for a skull around (0.02, 0, 0.135) of the head's frame.
    """
    ellipsoid((-0.005, 0, 0.182), (0.102, 0.099, 0.090), HAIR)
    ellipsoid((-0.025, 0, 0.140), (0.080, 0.098, 0.098), HAIR)
    ellipsoid((0.115, 0, 0.110), (0.014, 0.011, 0.018), SKIN)
    ellipsoid((0.099, 0, 0.070), (0.008, 0.019, 0.004), LIPS)
    for y in (-0.034, 0.034):
        ellipsoid((0.105, y, 0.136), (0.006, 0.009, 0.011), EYES)
        ellipsoid((0.104, y, 0.161), (0.006, 0.017, 0.004), HAIR)
        ellipsoid((0.013, 2.85 * y, 0.125), (0.017, 0.010, 0.026), SKIN)
