"""Acts: what a script is made of. Plain data; `tumble.skills.performer` does them.

    script = [Lift("crate"), PutDown((3.0, 1.0))]
    msgspec.json.decode(msgspec.json.encode(script), type=list[Act]) == script

A place is where on the ground, (x, y) in m, or the name of a prop. Names are those of the scene's props. Nothing is
checked here: `tumble.skills.check` knows what a body can do in a scene.
"""

from typing import TypeAlias

import msgspec

Place: TypeAlias = tuple[float, float] | str


class GoTo(msgspec.Struct, frozen=True, tag=True):
    """Walk to a place, over and under what lies on the way, and stand; before a prop stand in front of it."""

    place: Place


class Turn(msgspec.Struct, frozen=True, tag=True):
    """Face a direction, rad from the x axis."""

    heading: float


class SetPace(msgspec.Struct, frozen=True, tag=True):
    """Walk at most so fast from now on, m/s."""

    speed: float


class Wait(msgspec.Struct, frozen=True, tag=True):
    """Stand for some seconds."""

    seconds: float


class PickUp(msgspec.Struct, frozen=True, tag=True):
    """Walk to a small crate, one with one handle, take it with the nearer hand and keep it."""

    name: str


class Lift(msgspec.Struct, frozen=True, tag=True):
    """Walk to a crate with two handles, take it with both hands and lift it."""

    name: str


class PutDown(msgspec.Struct, frozen=True, tag=True):
    """Put what is held onto the ground: here (None) or so that it stands at a place."""

    place: Place | None = None


class LetGo(msgspec.Struct, frozen=True, tag=True):
    """Open the hands."""


class PushCrate(msgspec.Struct, frozen=True, tag=True):
    """Walk to a crate, take its handles and push it so many m ahead."""

    name: str
    distance: float


class PullCrate(msgspec.Struct, frozen=True, tag=True):
    """Walk to a crate, take its handles and pull it so many m back."""

    name: str
    distance: float


class ReachFor(msgspec.Struct, frozen=True, tag=True):
    """Walk until a point, m, is within reach of a hand, 'left' or 'right', bring the hand there and keep it there."""

    target: tuple[float, float, float]
    hand: str


Act: TypeAlias = ReachFor | GoTo | Turn | SetPace | Wait | PickUp | Lift | PutDown | LetGo | PushCrate | PullCrate
