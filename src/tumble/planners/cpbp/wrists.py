"""The wrist rule of hamalainen2015 section 5.7: palms, not fingertips, meet what a hand is about to hit."""

import numpy as np

from tumble.errors import UserError
from tumble.maths.compiled import Given2, entry, inner
from tumble.world.props import Box
from tumble.world.scene import Scene

FAST = 1.0  # m/s of approach from which the rule holds; not given; ours
SOON = 0.15  # s until the hand would be there; not given; ours


class Wrists:
    """Bends wrists back at full speed where a hand flies at the ground or at a box.

    The rule overrides the controls that were drawn; they are charged as drawn.
    """

    def __init__(self, scene: Scene) -> None:
        model, ends = scene.model, scene.character.ends
        hands = {scene.body(hand): ends.index(hand) for hand in scene.character.hands}
        self._places, self._columns = [], []
        for column, name in enumerate(scene.character.joints):
            body = int(model.jnt_bodyid[model.joint(name).id])
            if name.endswith("wrist_bend") and body in hands:
                self._places.append(3 * hands[body])
                self._columns.append(column)
        if not self._columns:
            raise UserError(
                f"the wrist rule needs hands with a joint '..wrist_bend'; '{scene.character.name}' has none:"
                " leave wrist_rule off"
            )
        boxes = [prop for prop in scene.props if isinstance(prop, Box)]
        self._boxes = np.array([(*b.middle, *b.half, np.cos(b.turn), np.sin(b.turn)) for b in boxes]).reshape(-1, 8)
        self._back = scene.drive.low[self._columns]  # a positive angle flexes

    def spare(self, controls: np.ndarray, ends: np.ndarray) -> None:
        """Override the wrists in controls (N, motors.size) of characters whose ends are (N, F)."""
        for place, column, back in zip(self._places, self._columns, self._back, strict=True):
            half = ends.shape[1] // 2
            hit = about_to_hit(ends[:, place : place + 3], ends[:, half + place : half + place + 3], self._boxes)
            controls[hit, column] = back


@entry(allocates=True)
def about_to_hit(places: Given2, velocities: Given2, boxes: Given2) -> np.ndarray:
    """(N,) bool: points that will meet the ground or a box within `SOON`, closing in at more than `FAST`.

    Args:
      places, velocities: (N, 3), m and m/s.
      boxes: (B, 8): middle, half sizes, cosine and sine of the turn about z.
    """
    hit = np.zeros(places.shape[0], np.bool_)
    place, velocity = np.empty(3), np.empty(3)
    for i in range(places.shape[0]):
        height, fall = places[i, 2], -velocities[i, 2]
        hit[i] = fall > FAST and 0.0 <= height <= SOON * fall
        for b in range(boxes.shape[0]):
            middle, half, c, s = boxes[b, :3], boxes[b, 3:6], boxes[b, 6], boxes[b, 7]
            x, y = places[i, 0] - middle[0], places[i, 1] - middle[1]
            place[0], place[1], place[2] = c * x + s * y, c * y - s * x, places[i, 2] - middle[2]
            velocity[0] = c * velocities[i, 0] + s * velocities[i, 1]
            velocity[1] = c * velocities[i, 1] - s * velocities[i, 0]
            velocity[2] = velocities[i, 2]
            hit[i] = hit[i] or _enters(place, velocity, half)
    return hit


@inner
def _enters(place, velocity, half):  # type: ignore[no-untyped-def]
    """Whether a point outside a box around the origin is in it within `SOON`, at more than `FAST` into its face."""
    enter, leave, closing = -np.inf, np.inf, 0.0
    for axis in range(3):
        speed = abs(velocity[axis])
        if speed == 0.0:
            if abs(place[axis]) > half[axis]:
                return False
            continue
        ahead = -place[axis] if velocity[axis] > 0.0 else place[axis]  # way to the middle, along the flight
        first = (ahead - half[axis]) / speed
        if first > enter:
            enter, closing = first, speed
        leave = min(leave, (ahead + half[axis]) / speed)
    return 0.0 <= enter <= SOON and enter <= leave and closing > FAST
