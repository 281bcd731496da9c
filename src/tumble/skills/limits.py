"""Limits: what a body can reach, lift, push and pull, from its own lengths and weight.

    limits = limits_of(scene)
    check_weight(limits, crate)      # raises a UserError that says how much it is, and how much it may be

What is refused surely fails; what passes may fail still. Weights grow with the body's mass over the humanoid's, forces
with its weight times friction, at most `STRONGEST` of it, lengths are its own.
"""

import math
from typing import NamedTuple

import numpy as np

from tumble.errors import UserError
from tumble.walking import WalkSettings
from tumble.walking.body import body_of
from tumble.world.props import Crate
from tumble.world.scene import Scene

BOTH_HANDS = 25.0  # kg that a body of 70.4 kg lifts and carries; coros2010 section 5.5.4
ONE_HAND = 5.0  # kg with one hand; ours
STRONGEST = 0.5  # of its weight, what a body pushes with: for more it would lie rather than lean; ours
BELLY = 0.12  # m, the humanoid's, by which its shoulders are behind what it stands close to; ours
LEAN = 0.15  # m that its shoulders come forwards; ours


class Limits(NamedTuple):
    """What a body can. m, kg, N."""

    shoulder: float  # its height
    between: float  # half the distance between the shoulders
    short_arm: float
    long_arm: float
    size: float  # over the humanoid's
    both_hands: float
    one_hand: float
    force: float
    weight: float  # of the body, kg
    gravity: float  # m/s^2


def limits_of(scene: Scene) -> Limits:
    """The limits of a scene's character."""
    body, data = body_of(scene, WalkSettings()), scene.show(scene.state())
    left, right = (data.body(f"{side}_upper_arm").xpos for side in ("left", "right"))
    short, long = sorted(float(arm) for arm in body.arms.upper + body.arms.fore)
    return Limits(
        shoulder=float(left[2] + right[2]) / 2, between=float(left[1] - right[1]) / 2, short_arm=short, long_arm=long,
        size=body.size, both_hands=BOTH_HANDS * body.scale, one_hand=ONE_HAND * body.scale,
        force=body.total * body.gravity * min(scene.ground.friction, STRONGEST), weight=body.total,
        gravity=body.gravity,
    )  # fmt: skip


def check_weight(limits: Limits, crate: Crate) -> None:
    """Refuse a crate that is too heavy to be lifted by its handles."""
    most, hands = (limits.one_hand, "one hand") if len(crate.handles) == 1 else (limits.both_hands, "both hands")
    if crate.mass > most * (1 + 1e-9):
        raise UserError(
            f"'{crate.name}' weighs {crate.mass:g} kg; a body of {limits.weight:.0f} kg lifts {most:.1f} kg at most"
            f" with {hands}"
        )


def check_force(limits: Limits, crate: Crate) -> None:
    """Refuse a crate that is too heavy to slide."""
    needed = crate.friction * crate.mass * limits.gravity
    if needed > limits.force:
        raise UserError(
            f"'{crate.name}' slides at {needed:.0f} N ({crate.mass:g} kg, friction {crate.friction:g}); a body of"
            f" {limits.weight:.0f} kg pushes and pulls with {limits.force:.0f} N at most here"
        )


def check_reach(limits: Limits, crate: Crate, height: float, depth: float) -> None:
    """Refuse a crate whose handles hands do not get to.

    Args:
      height: of its handles above the ground one stands on, m.
      depth: of its handles behind the edge of what keeps one away, m.
    """
    arm = limits.short_arm if len(crate.handles) == 2 else limits.long_arm
    if height > limits.shoulder + arm:
        raise UserError(
            f"the handles of '{crate.name}' are {height:.2f} m high; this body reaches {limits.shoulder + arm:.2f} m"
        )
    ahead = _ahead(limits, arm, height)
    if depth > ahead:
        raise UserError(
            f"the handles of '{crate.name}' are {depth:.2f} m from where one can stand, {height:.2f} m high; this body"
            f" reaches {max(0.0, ahead):.2f} m ahead there"
        )
    apart = _apart(crate)
    ahead = max(0.0, depth + (BELLY - LEAN) * limits.size)
    widest = 2 * (limits.between + math.sqrt(max(0.0, arm**2 - ahead**2)))
    if apart > widest:
        raise UserError(f"the handles of '{crate.name}' are {apart:.2f} m apart; this body reaches {widest:.2f} m")


def _ahead(limits: Limits, arm: float, height: float) -> float:
    """How far behind an edge hands get at a height, m; below the shoulders a body leans and bends."""
    above = max(0.0, height - limits.shoulder)
    lean = LEAN if above == 0 else 0.0
    return math.sqrt(arm**2 - above**2) + (lean - BELLY) * limits.size


def _apart(crate: Crate) -> float:
    """Distance between a crate's handles, m; 0 where it has one."""
    first, last = np.array(crate.handles)[[0, -1]]
    return float(np.linalg.norm(first - last))


def depth_of(crate: Crate) -> float:
    """How far a crate's handles are behind its nearest face, m: of two, seen along its x axis."""
    handles = np.array(crate.handles)
    sides = 1 if len(handles) == 2 else 2
    return float((crate.half[:sides] - np.abs(handles[:, :sides])).min(axis=1).max())
