"""Actor: one walker of a `Sims` as skills see it: where it is, what it holds, what it may wish for.

    actor = Actor(walker, sims, row=0)
    actor.wish(speed=0.5, heading=0.0)       # from the next control on
    actor.reach(0, actor.handles("crate")[0])

A skill is a function (actor, act) that is called once a frame and returns whether the act is done. All that it keeps is
in the state row: `stage`, `clock`, `pace` and `notes`. Traps: `place`, `palm` and `crate_place` are live arrays, so
copy what you keep; an actor is of one Sims and one row, and after `Sims.take` shows who is there now.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tumble.maths.vectors import yaws
from tumble.skills import memory as own
from tumble.walking import Walker
from tumble.walking import memory as mem
from tumble.world.grips import grips_of
from tumble.world.props import Ball, Box, Companion, Crate, Ramp, Staircase, handle_name
from tumble.world.sims import Sims

BEND = 1.9  # rad of the trunk when it is all the way down; ours
STOOP, SQUAT = 0.5, 1.3  # rad of the knees then: for crates, which knees would hit, and for things on the floor; ours
HUMANOID_ARM = 0.58  # m from shoulder to palm, of the body that lengths below are given for
SHOULDERS = 0.3  # m from a companion's middle to where others have room; ours
HEAVY = 25.0  # kg of a load with which it walks and stops half as fast; ours
CARRIED = (0.40, 0.18)  # m ahead of and above the pelvis where hands carry; ours


class Actor:
    """A row of simulations of a walker. Lengths in m, angles in rad, places in the world.

    Attributes:
      row: its number.
      arm: m from shoulder to palm, of the shorter arm.
      size: that over the humanoid's.
      shoulder: height of its shoulders when it stands, m.
      grips: of the scene, by number.
    """

    def __init__(self, walker: Walker, sims: Sims, row: int) -> None:
        """See one row of some simulations; both memories, the walker's and the skills', must have been claimed."""
        self.walker, self.sims, self.row, self.scene = walker, sims, row, walker.scene
        self.grips = grips_of(self.scene.character, self.scene.props)
        model = self.scene.model
        self._palms = [model.site(name).id for name in self.scene.character.palms]
        self.arm = float(walker.arms.min())
        self.size = self.arm / HUMANOID_ARM
        self.shoulder = walker.shoulder_height
        self._walk, self._own = sims.memory(mem.MEMORY)[row], sims.memory(own.MEMORY)[row]
        self._qpos = sims.view("qpos")[row]
        self._sites = sims.view("site_xpos")[row]

    # where it is

    @property
    def place(self) -> np.ndarray:
        """(2,): of the pelvis; live."""
        return self._qpos[:2]

    @property
    def weight_place(self) -> np.ndarray:
        """(2,): of the centre of mass with what it holds, under which its feet are: a load moves the pelvis back.

        Each load m at p joins what is there: x + m / (M + m) (p - x), M the mass so far. Without a load it is live.
        """
        place, mass = self.sims.view("com")[self.row, :2], self.walker.mass
        for hand in (0, 1):
            more = self.load_mass(hand)
            if more > 0.0:
                mass += more
                place = place + more / mass * (self.crate_place(str(self.held(hand)))[:2] - place)
        return place

    @property
    def heading(self) -> float:
        """Where its pelvis faces, told by its side: bent down it looks at the ground."""
        w, x, y, z = self._qpos[3:7]
        return math.atan2(2 * (w * z - x * y), 1 - 2 * (x * x + z * z))

    @property
    def stands(self) -> bool:
        """Whether it stands on both feet."""
        return bool(self._walk.mode == mem.Mode.STAND)

    @property
    def still(self) -> bool:
        """Whether it stands and hardly moves."""
        speed = self.sims.view("com_velocity")[self.row, :2]
        return self.stands and float(np.hypot(*speed)) < 0.04

    @property
    def ground(self) -> float:
        """Height of the ground it stands on."""
        return float(self._walk.ground)

    def palm(self, hand: int) -> np.ndarray:
        """(3,): place of a palm, 0 left, 1 right; live."""
        return self._sites[self._palms[hand]]

    def from_pelvis(self, place: Sequence[float] | np.ndarray) -> np.ndarray:
        """(3,): a place, ahead, left and up of the pelvis."""
        x, y, z = np.subtract(place, self._qpos[:3])
        c, s = math.cos(self.heading), math.sin(self.heading)
        return np.array([c * x + s * y, c * y - s * x, z])

    # what there is

    def crate(self, name: str) -> Crate:
        """The crate of that name."""
        return self.scene.prop(name, Crate)

    def prop_place(self, name: str) -> np.ndarray:
        """(2,): of any prop's middle; live where the prop moves. Of a companion it is that of its root."""
        prop = next(prop for prop in self.scene.props if prop.name == name)
        if isinstance(prop, Box | Ramp | Staircase):
            return np.array(prop.middle[:2])
        body = prop.root if isinstance(prop, Companion) else name
        return self.sims.view(f"{body}.pos")[self.row, :2]

    def room(self, name: str) -> float:
        """m from a prop's middle at which it stands before it."""
        prop = next(prop for prop in self.scene.props if prop.name == name)
        match prop:
            case Ball():
                return 0.4 + prop.radius
            case Companion():
                return 0.4 + SHOULDERS
            case _:
                return 0.4 + float(np.hypot(*prop.half[:2]))

    def crate_place(self, name: str) -> np.ndarray:
        """(3,): of a crate's middle; live."""
        return self.sims.view(f"{name}.pos")[self.row]

    def crate_turn(self, name: str) -> float:
        """Heading of a crate's x axis."""
        start = int(self.scene.model.joint(name).qposadr[0])
        return float(yaws(self._qpos[None, start + 3 : start + 7])[0])

    def handles(self, name: str) -> np.ndarray:
        """(handles, 3): places of a crate's handles, a copy."""
        count = len(self.crate(name).handles)
        return self._sites[[self.scene.model.site(handle_name(name, i)).id for i in range(count)]]

    # what it holds

    def held(self, hand: int) -> str | None:
        """Name of the crate that a hand holds."""
        grip = self.walker.holding(self.sims, self.row, hand)
        return None if grip is None else self.grips[grip].crate

    def firm(self, hand: int) -> bool:
        """Whether a hand holds something firmly."""
        return bool(self._walk.hand_firm[hand] >= 1.0)

    def hold(self, hand: int, name: str, handle: int) -> None:
        """Close a hand around a handle of a crate."""
        grip = [(g.side, g.crate, g.handle) for g in self.grips].index((hand, name, handle))
        self.walker.hold(self.sims, self.row, hand, grip)

    def let_go(self) -> None:
        """Open both hands and let the arms swing."""
        for hand in (0, 1):
            self.walker.hold(self.sims, self.row, hand, None)
            self.walker.reach(self.sims, self.row, hand, None)
        self.wish(load=0.0, alpha=0.0, haul=0.0, drift=0.0)

    # what it wishes

    def wish(self, **wishes: Any) -> None:
        """See `Walker.wish`."""
        self.walker.wish(self.sims, rows=[self.row], **wishes)

    def reach(
        self, hand: int, target: Sequence[float] | np.ndarray, frame: mem.HandFrame = mem.HandFrame.WORLD
    ) -> None:
        """See `Walker.reach`."""
        self.walker.reach(self.sims, self.row, hand, target, frame)

    def raise_hands(self, hands: Sequence[int], speed: float) -> None:
        """Move the targets of hands up, m/s."""
        for hand in hands:
            self._walk.hand_target[hand, 2] += speed * self.scene.dt

    def lower(self, low: float, seconds: float, knees: float | None = None) -> float:
        """Bend and crouch towards `low`, 0 upright to 1 down, the whole way in so many s; how low it is by now.

        Called once a frame. Bend and knees follow 3 x^2 - 2 x^3 of how low it is, so that they begin and end gently.

        Args:
          knees: rad that they bend when all the way down; as the last time where not given.
        """
        step = self.scene.dt / seconds
        now = self._own.low
        self._own.low = now = now + min(max(low - now, -step), step)
        if knees is not None:
            self._own.knees = knees
        eased = now * now * (3 - 2 * now)
        self.wish(bend=BEND * eased, crouch=float(self._own.knees) * eased)
        return float(now)

    def rise(self) -> None:
        """Straighten; hands that hold nothing swing, the others carry on."""
        self._own.low = 0.0
        self.wish(bend=0.0, crouch=0.0, alpha=0.0, haul=0.0, drift=0.0)
        for hand in (0, 1):
            if self.held(hand) is None:
                self.walker.reach(self.sims, self.row, hand, None)

    @property
    def carried(self) -> float:
        """Share of what it holds whose weight hangs on its hands by now."""
        return float(self._walk.carried)

    def load_mass(self, hand: int) -> float:
        """kg that a hand holds; half of what both hold."""
        name = self.held(hand)
        return 0.0 if name is None else self.crate(name).mass / (2 if self.held(1 - hand) == name else 1)

    @property
    def burden(self) -> float:
        """What it holds over HEAVY, both in kg."""
        return sum(self.load_mass(hand) for hand in (0, 1)) / HEAVY

    @property
    def load(self) -> float:
        """Share of what it holds that it carries by now."""
        return float(self._walk.load)

    @property
    def haul(self) -> float:
        """N ahead with which its hands push by now; below 0 they pull."""
        return float(self._walk.haul)

    # where it is in its script

    @property
    def stage(self) -> int:
        """Where in its act it is; 0 at the beginning. Setting it begins the clock anew."""
        return int(self._own.stage)

    @stage.setter
    def stage(self, stage: int) -> None:
        self._own.stage, self._own.clock = stage, 0.0

    @property
    def clock(self) -> float:
        """s in this stage."""
        return float(self._own.clock)

    @property
    def pace(self) -> float:
        """m/s, the fastest that it walks by itself."""
        return float(self._own.pace)

    @pace.setter
    def pace(self, speed: float) -> None:
        self._own.pace = speed

    @property
    def notes(self) -> Any:
        """A record of `tumble.skills.memory.NOTES` that an act keeps from stage to stage; live."""
        return self._own.notes

    def begin_anew(self) -> None:
        """Go on with the act from its beginning."""
        own.begin_act(self._own, self._own.act)
