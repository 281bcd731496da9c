"""Grips: springs with dampers between hands and the handles of crates, which a controller closes and opens.

    scene = Scene(biped(), [Crate("crate", (2, 0, 0.2))])
    for grip in grips_of(scene.character, scene.props):
        print(grip.hand, grip.crate, grip.handle)

Every hand has a grip on every handle: four actuators at the end of a control of the torque drive, one an axis and
one for the turn of the crate about its handles, whose control is how firmly the hand holds, from 0 to 1. The force
is that much of -STIFFNESS times the distance and -DAMPING times the speed between palm and handle; the turn is
damped. An open grip is no force at all. Who controls lets go where it is stretched too far. Forearms, of which the
hands are a part, do not collide with crates, or they could not close around a handle. Characters without palms have
no grips.
"""

from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from tumble.characters import Character
from tumble.world.props import Crate, Prop, handle_name

STIFFNESS = 8000.0  # N/m; coros2010 section 5.5.4 says stiff: a crate of 25 kg hangs 1.5 cm below two palms
DAMPING = 160.0  # N s/m: a bit less than critical for what an arm weighs at its hand
TURN_DAMPING = 0.8  # N m s/rad of a crate's turn about its handles: free to swing, it swings in step with the walk
PARTS = 4  # actuators of a grip


class Grip(NamedTuple):
    """One hand's hold of one handle.

    Attributes:
      side: of the hand, 0 left, 1 right.
      crate: its name.
      handle: its number.
    """

    side: int
    crate: str
    handle: int


def grips_of(character: Character, props: Sequence[Prop]) -> tuple[Grip, ...]:
    """All grips of a scene, in the order of its controls."""
    if not character.palms:
        return ()
    return tuple(
        Grip(side, prop.name, handle)
        for prop in props
        if isinstance(prop, Crate)
        for handle in range(len(prop.handles))
        for side in range(len(character.palms))
    )


def let_hands_into_crates(spec: mujoco.MjSpec, character: Character, props: Sequence[Prop]) -> None:
    """Have hands with palms not collide with what they can hold, whoever acts."""
    crates = [prop.name for prop in props if isinstance(prop, Crate)] if character.palms else []
    for crate in crates:
        for hand in character.hands:
            spec.add_exclude(bodyname1=hand, bodyname2=crate)


def add_grips(spec: mujoco.MjSpec, character: Character, props: Sequence[Prop], group: int) -> None:
    """Give a spec the actuators of all grips, in a group of actuators."""
    for side, crate, handle in grips_of(character, props):
        for part, (place, name) in enumerate(((0, "x"), (1, "y"), (2, "z"), (4, "turn"))):
            spring = spec.add_actuator(
                name=f"{character.palms[side]}>{handle_name(crate, handle)}.{name}",
                trntype=mujoco.mjtTrn.mjTRN_SITE,
                target=character.palms[side],
                refsite=handle_name(crate, handle),
                gear=np.eye(6)[place],
                group=group,
                gaintype=mujoco.mjtGain.mjGAIN_AFFINE,
                biastype=mujoco.mjtBias.mjBIAS_NONE,
            )
            spring.gainprm[:3] = (0.0, 0.0, -TURN_DAMPING) if part == 3 else (0.0, -STIFFNESS, -DAMPING)
