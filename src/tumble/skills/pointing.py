"""Pointing: the script that a hint at a place or a thing means.

    script_for(scene, held=(), body=None, at=(2.0, 1.0, 0.0))       # 'go to 2 1'
    script_for(scene, held=(), body="crate", at=(2.0, 1.0, 0.4))    # 'lift crate', or 'push crate 1 m'
    place_for(scene, body="crate", at=(2.0, 1.0, 0.4))              # (2.0, 1.0, 0.0), for who only goes

Of what the body can do only weights are looked at: `check_acts` says the rest.
"""

from collections.abc import Sequence

import numpy as np

from tumble.errors import UserError, check_vector
from tumble.skills.acts import Act, GoTo, Lift, PickUp, Place, PushCrate, PutDown
from tumble.skills.limits import limits_of
from tumble.skills.script import text_of
from tumble.world.props import Companion, Crate, Prop
from tumble.world.scene import Scene

SHOVE = 1.0  # m that a crate is pushed which is too heavy to be lifted
FAR = 1000.0  # m, beyond which no place is pointed at


def script_for(scene: Scene, held: Sequence[str], body: str | None, at: Sequence[float]) -> str:
    """What to do where somebody points.

    A crate is taken if the hands are free for it, or pushed if it is too heavy; what is held is put down there.

    Args:
      held: names of the crates that the hands hold.
      body: name of the body that is pointed at; None for the ground.
      at: the place, x, y and z in m.
    """
    return text_of([_act(scene, held, body, at)])


def place_for(scene: Scene, body: str | None, at: Sequence[float]) -> tuple[float, float, float]:
    """Where on the ground, m, to go to where somebody points, arguments as of `script_for`."""
    _prop(scene, body)
    check_vector("place", at, 3, FAR, "m")
    x, y = float(at[0]), float(at[1])
    return x, y, float(scene.ground.height(np.array(x)))


def _prop(scene: Scene, body: str | None) -> Prop | None:
    """The prop that a body is of, None for the ground; refuses parts of the character itself."""
    prop = next((prop for prop in scene.props if body is not None and _is_of(body, prop)), None)
    if body is not None and prop is None:
        scene.body(body)
        raise UserError(f"'{body}' is a part of the character; point at the ground or at a thing")
    return prop


def _act(scene: Scene, held: Sequence[str], body: str | None, at: Sequence[float]) -> Act:
    """The act of a hint, arguments as of `script_for`; refuses parts of the character itself."""
    prop = _prop(scene, body)
    if body in held:
        return PutDown()
    if isinstance(prop, Crate) and _hands(scene, held) + len(prop.handles) <= 2:
        return _taken(scene, prop)
    place: Place = (round(at[0], 2), round(at[1], 2)) if prop is None else prop.name
    return PutDown(place) if held else GoTo(place)


def _is_of(body: str, prop: Prop) -> bool:
    """Whether a body is a prop's, as the bones of a companion are."""
    return body == prop.name or (isinstance(prop, Companion) and body.startswith(prop.prefix))


def _hands(scene: Scene, held: Sequence[str]) -> int:
    """How many hands are full."""
    return sum(len(scene.prop(name, Crate).handles) for name in held)


def _taken(scene: Scene, crate: Crate) -> Act:
    """How a crate is taken: lifted or picked up by the number of its handles, pushed where it is too heavy for that."""
    limits = limits_of(scene)
    one = len(crate.handles) == 1
    if crate.mass > (limits.one_hand if one else limits.both_hands):
        return PushCrate(crate.name, SHOVE)
    return PickUp(crate.name) if one else Lift(crate.name)
