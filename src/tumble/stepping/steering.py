"""Steering: which heading the next step should have, so that who walks comes by its target.

    aims = steered(now, here, before, targets, gaps)        # (n,) rad

Headings turn at once, and travel follows: from one step to the next by some 0.4 of the difference, so that who only
faces its target goes past it. Who travels by an angle e beside where it may pass is steered to its travel + `LEAD` e.
"""

import numpy as np

from tumble.maths.rotations import wrapped_angles

LEAD, OBLIQUE = 2.5, 0.8  # of the travel's error; rad by which a heading may differ from the travel; ours
BESIDE = 0.3  # m by which a target may be passed; it is reached within 0.5 m (section 3.6); ours
ASKEW, NEAR = 0.5, 0.8  # rad off the straight way across a gap, at most, if it is so many m ahead; ours


def steered(now: np.ndarray, here: np.ndarray, before: np.ndarray, targets: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """(n,) headings, rad, that those who walk should have.

    Args:
      now: (n,) rad, headings that they have.
      here, before: (n, 2) m, where they are, and were a step ago; the same for who has made none.
      targets: (n, 2) m.
      gaps: (m, 2) from where to where along x there is no ground.
    """
    travelled, away = here - before, targets - here
    travel = np.where(np.hypot(*travelled.T) > 0.0, np.arctan2(travelled[:, 1], travelled[:, 0]), now)
    far, way = np.hypot(*away.T), np.arctan2(away[:, 1], away[:, 0])
    error = wrapped_angles(way - travel)
    error = np.sign(error) * np.maximum(np.abs(error) - np.arcsin(BESIDE / np.maximum(far, BESIDE)), 0.0)
    aim = travel + np.clip(LEAD * error, -OBLIQUE, OBLIQUE)
    forth = away[:, 0] > 0.0
    room = np.where(forth[:, None], gaps[:, 0] - here[:, :1], here[:, :1] - gaps[:, 1])
    across = np.where(forth, 0.0, np.pi)
    found: np.ndarray = np.where(
        ((room > 0.0) & (room < NEAR)).any(axis=1), across + np.clip(wrapped_angles(aim - across), -ASKEW, ASKEW), aim
    )
    return found
