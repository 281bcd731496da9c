"""Varied gaits: some numbers of a gait that each row has for itself, as a part of its state.

    walker = Simbicon(scene, [gait], Variation(("root", "swing_hip", "stance_ankle")))
    walker.start(sims)                       # all rows have the gait's own numbers
    walker.varied(sims)[:, -1] = 0.5         # live: all rows take half a second from now on

The numbers are the angles of all knots about the axis to the left, rad, role by role, then the duration of the state,
s. Catmull-Rom splines are linear in their knots, so that a little of a number is a little of a target.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tumble.errors import UserError
from tumble.maths.bundles import strided
from tumble.simbicon.gait import Gait
from tumble.world.sims import Sims

VARIED = "simbicon varied"  # how its claim is called


@strided
class Varied(NamedTuple):
    """Numbers by row for compiled code."""

    role: np.ndarray  # (k,) of each knot
    knot: np.ndarray  # (k,) its place in the spline
    values: np.ndarray  # (nsim, k + 1) live
    reach: np.ndarray  # (nsim,) live: m that a swing foot must be ahead of the other one for its touch to be a strike


@dataclass(frozen=True)
class Variation:
    """Which numbers of a gait of one state rows have for themselves.

    Attributes:
      roles: whose knots.
      points: how many each has; as the gait has them where it is empty.
    """

    roles: tuple[str, ...]
    points: tuple[int, ...] = ()

    def checked(self, gaits: list[Gait]) -> "Variation":
        """The same with the points of the gait; refuses more gaits than one, more states, and joints without knots."""
        if len(gaits) != 1 or len(gaits[0].states) != 1:
            raise UserError(
                f"rows vary one gait of one state, got {', '.join(f'{g.name} of {len(g.states)}' for g in gaits)}"
            )
        joints = gaits[0].states[0].joints
        points = tuple(len(joints[role].bend) if role in joints else 0 for role in self.roles)
        if 0 in points:
            raise UserError(f"gait '{gaits[0].name}' has no bend of {self.roles[points.index(0)]} to vary")
        if self.points not in ((), points):
            raise UserError(f"gait '{gaits[0].name}' has {points} knots of {', '.join(self.roles)}, not {self.points}")
        return Variation(self.roles, points)

    @property
    def dtype(self) -> np.dtype:
        """Of a row's record."""
        return np.dtype([("numbers", "f8", (sum(self.points) + 1,)), ("reach", "f8")])

    def own(self, gait: Gait) -> np.ndarray:
        """The gait's own numbers."""
        state = gait.states[0]
        return np.array([*(y for role in self.roles for _, y in state.joints[role].bend), state.duration])


def varied_of(variation: Variation | None, sims: Sims, roles: tuple[str, ...]) -> Varied | None:
    """The numbers of some simulations for compiled code; None where all rows walk alike."""
    if variation is None:
        return None
    pairs = [
        (roles.index(role), i) for role, n in zip(variation.roles, variation.points, strict=True) for i in range(n)
    ]
    role, knot = np.array(pairs, np.intp).T
    return Varied(role.copy(), knot.copy(), sims.memory(VARIED).numbers, sims.memory(VARIED).reach)
