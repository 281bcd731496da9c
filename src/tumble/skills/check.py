"""Whether a scene's character can do the acts of a script, before anything moves.

    check_acts(scene, parse("lift crate; carry it to 3 1"))
    check_acts(scene, parse("put it down"), held_in(scene, state), state)

What the hands hold and where things are is followed through the script, but for what is pushed or pulled: which way
that goes is not known before.
"""

import math
from collections.abc import Sequence

import numpy as np

from tumble.errors import UserError, check_number, unknown
from tumble.skills.acts import (
    Act,
    GoTo,
    Lift,
    PickUp,
    Place,
    PullCrate,
    PushCrate,
    PutDown,
    ReachFor,
    SetPace,
    Turn,
    Wait,
)
from tumble.skills.limits import check_force, check_reach, check_weight, depth_of, limits_of
from tumble.skills.script import MOST, line_of
from tumble.skills.ways import Spot, box_at, check_way, depth_in
from tumble.walking.memory import MEMORY
from tumble.world.grips import grips_of
from tumble.world.props import Box, Companion, Crate, Prop, Ramp, Staircase, handle_name
from tumble.world.scene import Scene

FARTHEST = 100.0  # m from the middle of the world that places may be
LONGEST_WAIT = 600.0  # s
SLOWEST, FASTEST = 0.1, 1.2  # m/s
LONGEST_HAUL = 50.0  # m of a push or pull
BEFORE = 0.5  # m from the humanoid to the middle of what it stands before; about


def held_in(scene: Scene, state: np.ndarray) -> tuple[str, ...]:
    """Names of the crates that a walker's hands hold in a state, the left hand's first."""
    grips = grips_of(scene.character, scene.props)
    if not grips or MEMORY not in scene.memory.claims:
        return ()
    memory = scene.memory.view(MEMORY, scene.show(state).userdata[None])
    return tuple(dict.fromkeys(grips[int(grip) - 1].crate for grip in memory.hand_grip[0] if grip))


def check_acts(scene: Scene, acts: Sequence[Act], held: Sequence[str] = (), state: np.ndarray | None = None) -> None:
    """Refuse acts that the scene's character cannot do; the error names the act.

    Args:
      held: names of the crates that the hands hold when the script begins.
      state: in which it begins; None, as the scene does.
    """
    if len(acts) > MOST:
        raise UserError(f"a script has at most {MOST} acts, got {len(acts)}; do it in parts")
    follower = _Follower(scene, held, scene.state() if state is None else state)
    for i, act in enumerate(acts, 1):
        try:
            follower.check(act)
        except UserError as error:
            raise UserError(f"act {i}, '{line_of(act)}': {error}") from None


def _body(prop: Prop) -> str:
    """Name of the body of a prop that moves."""
    return prop.root if isinstance(prop, Companion) else prop.name


class _Follower:
    """Follows a script: where the body stands, where things are, what the hands hold."""

    def __init__(self, scene: Scene, held: Sequence[str], state: np.ndarray) -> None:
        """Begin as things are in a state; places are copies, which `check` moves on."""
        self._scene, self._limits = scene, limits_of(scene)
        self._props = {prop.name: prop for prop in scene.props}
        self._held = [self._crate(name) for name in held]
        data = scene.show(state)
        root = data.body(scene.character.root).xpos
        self._stands: Spot = (float(root[0]), float(root[1]))
        self._middles = {
            prop.name: np.array(prop.middle)
            if isinstance(prop, Box | Ramp | Staircase)
            else data.body(_body(prop)).xpos.copy()
            for prop in scene.props
        }
        self._handles = {  # (handles, 3)
            crate.name: np.array([data.site(handle_name(crate.name, i)).xpos for i in range(len(crate.handles))])
            for crate in scene.props
            if isinstance(crate, Crate)
        }

    def check(self, act: Act) -> None:
        """Refuse an act, or go on as after it."""
        match act:
            case GoTo():
                self._walk(act.place)
            case Turn():
                check_number("heading in degrees", math.degrees(act.heading), -360, 360)
            case SetPace():
                check_number("speed in m/s", act.speed, SLOWEST, FASTEST)
            case Wait():
                check_number("seconds", act.seconds, 0, LONGEST_WAIT)
            case PickUp() | Lift():
                self._take(act)
            case PutDown():
                self._put_down(act)
            case PushCrate() | PullCrate():
                self._haul(act)
            case ReachFor():
                self._reach(act)
            case _:
                self._drop()

    def _reach(self, act: ReachFor) -> None:
        """Refuse a point that is above what the hand comes to, or in the ground."""
        highest = self._limits.shoulder + self._limits.long_arm
        check_number("height in m of what is reached for", act.target[2], 0.0, highest)
        if crate := next((crate for crate in self._held if len(crate.handles) == 2), None):
            raise UserError(f"both hands hold '{crate.name}'; put it down first")

    def _prop(self, name: str) -> Prop:
        """The prop of that name, or the error that lists those there are."""
        if name in self._props:
            return self._props[name]
        if not self._props:
            raise UserError(f"no '{name}' in the scene, which has no props; a place may be two numbers, x and y in m")
        raise unknown("prop", name, self._props, " in the scene")

    def _crate(self, name: str) -> Crate:
        """The crate of that name; refuses what has no handles."""
        prop = self._prop(name)
        if isinstance(prop, Crate):
            return prop
        crates = sorted(prop.name for prop in self._props.values() if isinstance(prop, Crate))
        kind = type(prop).__name__.lower()
        raise UserError(f"'{name}' is a {kind} and has no handles; crates here: {', '.join(crates) or 'none'}")

    def _spot(self, place: Place) -> Spot:
        """(x, y) of a place; refuses what is too far, or where a box leaves no room."""
        if isinstance(place, str):
            if self._prop(place) in self._held:
                raise UserError(f"'{place}' is in the hands; put it down first")
            x, y, _ = map(float, self._middles[place])
        else:
            x, y = place
        if not math.hypot(x, y) < FARTHEST:  # nor is what is no number
            raise UserError(f"({x:g}, {y:g}) is too far; places are within {FARTHEST:g} m of the middle of the world")
        box = None if isinstance(place, str) else box_at(self._scene, (x, y))
        if box is not None:
            raise UserError(f"({x:g}, {y:g}) is inside box '{box.name}'; choose a place beside it")
        return x, y

    def _walk(self, place: Place) -> float:
        """Stand at a place, or before a prop; returns the height of the ground there, m."""
        end, beside = self._spot(place), list[str]()
        if isinstance(place, str):
            beside = [place, *(box.name for box in self._tables(place))]
            way = np.subtract(end, self._stands)
            left = max(0.0, 1 - BEFORE * self._limits.size / max(1e-9, float(np.linalg.norm(way))))
            end = (self._stands[0] + left * float(way[0]), self._stands[1] + left * float(way[1]))
        floor = check_way(self._scene, self._stands, end, beside)
        self._stands = end
        return floor

    def _tables(self, name: str) -> list[Box]:
        """Boxes under a prop that are no ground."""
        x, y, z = map(float, self._middles[name])
        boxes = [prop for prop in self._scene.props if isinstance(prop, Box) and not prop.ground]
        return [box for box in boxes if box.middle[2] < z and depth_in(box, (x, y)) > 0]

    def _grasp(self, crate: Crate) -> None:
        """Walk to a crate and take its handles; refuses what is out of reach, or hands that are full."""
        if crate in self._held:
            raise UserError(f"'{crate.name}' is in the hands already")
        full = sum(len(held.handles) for held in self._held)
        if full + len(crate.handles) > 2:
            names = " and ".join(f"'{held.name}'" for held in self._held)
            raise UserError(f"the hands are full: they hold {names}; put it down first")
        handles, tables = self._handles[crate.name], self._tables(crate.name)
        floor = self._walk(crate.name)
        depths = [min(depth_in(table, (float(x), float(y))) for x, y, _ in handles) for table in tables]
        check_reach(self._limits, crate, float(handles[:, 2].max()) - floor, max([depth_of(crate), *depths]))

    def _take(self, act: PickUp | Lift) -> None:
        """Hold a crate from now on; refuses too heavy a crate, and the wrong act for the number of its handles."""
        crate = self._crate(act.name)
        if isinstance(act, PickUp) and len(crate.handles) == 2:
            raise UserError(f"'{act.name}' has two handles; write 'lift {act.name}'")
        if isinstance(act, Lift) and len(crate.handles) == 1:
            raise UserError(f"'{act.name}' has one handle; write 'pick up {act.name}'")
        check_weight(self._limits, crate)
        self._grasp(crate)
        self._held.append(crate)

    def _haul(self, act: PushCrate | PullCrate) -> None:
        """Refuse a distance or a crate that is too much; where it is afterwards is not followed."""
        crate = self._crate(act.name)
        check_number("distance in m", act.distance, 0, LONGEST_HAUL, above=True)
        check_force(self._limits, crate)
        self._grasp(crate)

    def _put_down(self, act: PutDown) -> None:
        """Stand where it is put down; refuses empty hands."""
        if not self._held:
            raise UserError("nothing is held; lift or pick up something first")
        if act.place is not None:
            self._walk(act.place)
        self._drop()

    def _drop(self) -> None:
        """What was held is on the ground, about where one stands."""
        for crate in self._held:
            middle = np.array([*self._stands, crate.half[2]])
            self._middles[crate.name], self._handles[crate.name] = middle, middle + np.array(crate.handles)
        self._held.clear()
