"""Walker: generalized biped walking control (coros2010 chapter 5).

    scene = Scene(biped(), physics=Physics(timestep=1 / 500, speculative=False, friction=0.8), motors=ForceMotors)
    walker = Walker(scene)
    sims = Sims(scene, nsim=2)
    sims.load(scene.state())
    walker.start(sims)
    walker.wish(sims, speed=0.8, heading=1.57)
    walker.wish(sims, rows=[1], style="sneak")
    while True:
        sims.act(walker.control(sims))

Traps: the control moves on a memory in the state, so it is called once for each step; the array it returns is
used again. Code that is compiled on first use is kept on disk, and numba does not see changes in the files that
it imports: after an edit of such a file delete `__pycache__/*.nb*`.
"""

from collections import namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import fields as dataclass_fields
from typing import Any

import numpy as np

from tumble.control.controller import Controller
from tumble.errors import UserError, check_number, unknown
from tumble.settings import replaced
from tumble.walking import memory as mem
from tumble.walking.body import ARMS, BONES, Fields, body_of, fields_of
from tumble.walking.kernel import control_rows
from tumble.walking.pose import wish_style
from tumble.walking.settings import WalkSettings
from tumble.walking.style import TRAJECTORIES, Style, builtin_styles, check_style, table_of
from tumble.walking.terrain import terrain_of
from tumble.world.scene import Scene
from tumble.world.sims import Sims

# WalkSettings as compiled code takes it.
Constants: Any = namedtuple("Constants", [f.name for f in dataclass_fields(WalkSettings)])  # type: ignore[misc]

WISHES = {  # name: (place, lowest, highest)
    "speed": (mem.WISH_SPEED, -1.0, 2.0),
    "heading": (mem.WISH_HEADING, -1e6, 1e6),
    "period": (mem.WISH_PERIOD, 0.2, 1.5),
    "step_height": (mem.WISH_STEP_HEIGHT, 0.0, 0.5),
    "step_width": (mem.WISH_STEP_WIDTH, 0.0, 0.6),
    "bend": (mem.WISH_BEND, -0.5, 2.0),
    "crouch": (mem.WISH_CROUCH, 0.0, 2.2),
    "alpha": (mem.WISH_ALPHA, -0.5, 0.5),
    "load": (mem.WISH_LOAD, 0.0, 1.0),
    "drift": (mem.WISH_DRIFT, -0.3, 0.3),
    "haul": (mem.WISH_HAUL, -500.0, 500.0),
}
OWN = -1.0  # a period or a step width that the style decides


class Walker(Controller):
    """Walks, turns, stands and recovers from pushes, whatever the body.

    Its memory and the wishes are in MuJoCo's userdata, a part of the state: copying a row forks the walker.

    Attributes:
      styles: by index.

    Departures:
      Step length: thesis, the pendulum's step less 0.05 s times the speed wanted; here half a step's length at the
        pace wanted, plus the pendulum's answer to what is off a linear pendulum's walk at that pace, and an integral of
        the speed's error. With the thesis's a wish of 0.6 m/s gave 0.06 m/s at a period of 0.2 s, 1.7 gave 0.9.
      Velocity tuning follows that pendulum's speed and sway within a step, not a constant speed: steps of 1 s hold.
      Ankle: thesis, its torque is cut where the foot tips; here the whole virtual force is cut to what the foot can
        give and stay flat. Without the ankle's torque, those of hip and knee drive the body the other way.
      Standing: the hips shift the weight sideways, the pelvis is left level between two legs, feet are kept apart.
      After a push steps are quicker, and a foot that is far out lands at once: a longer step is a split.
      Phase 1: thesis, the step ends; here a foot in the air feels for the ground until phase 1.3.
      A longer leg bends its knee until it is as long as the other. Damping goes with mass as stiffness does.
      Leg crossing: authors' code, a waypoint inside; here the swing foot's place is moved to its own side beside the
        stance foot, but not after pushes, whose answer may be a crossing step: always moved, 57 of 80 pushes were
        survived instead of 79.
      Idling shifts the weight to and fro; no foot is set anew for it.
      Loads: thesis, a crate's mass counts once it is held; here as much of it as hangs on the hands, felt by the
        stretch of the grips. While the ground still bears the crate, the whole mass would throw the body back.
      Pushing and pulling: thesis, alpha 0.2; here a force through the arms, and feet where it asks for. Steps that
        pull are short, and the arms no springs: their force is what keeps the crate at the walk's speed.
      Crouching: the legs' push levels the pelvis and knees point where the feet do; the thesis bends the stance knee.
      Obstacles: thesis, speed is set so that a foot lands close before; here landings are chosen from spans of boxes
        along the heading. Thesis, the hind foot leaves as the other lands; here it first pushes off until the body is
        over the front foot, which a long step at a slow pace needs. Thesis, it walks over them; here it stops before
        each that is no step up, because a long step holds when it begins alike every time.
      Bars: thesis, the trunk bends with the distance while it walks, whatever the feet do; here so where nothing is to
        be stepped over nearby, else it stands to bend, and goes slowly with bent knees until the bar is behind.
    """

    def __init__(
        self, scene: Scene, settings: WalkSettings = WalkSettings(), styles: Sequence[Style] | None = None
    ) -> None:
        if scene.physics.substeps != 1:
            raise UserError(
                f"a walker controls every physics step: give Physics(substeps=1), got {scene.physics.substeps}"
            )
        if scene.motors.speeds:
            raise UserError("a walker needs torques: build the scene with motors=ForceMotors")
        self.scene = scene
        self.styles = [check_style(style) for style in styles or builtin_styles().values()]
        self._configure(settings)
        self._table = table_of(self.styles)
        self._torque, self._angles = np.zeros((len(BONES), 3)), np.zeros(len(TRAJECTORIES))
        self._sims: Sims | None = None
        self._fields: Fields | None = None
        self._out = np.zeros((0, scene.motors.size))

    def _configure(self, settings: WalkSettings) -> None:
        self.settings = settings
        self._body, self._terrain = body_of(self.scene, settings), terrain_of(self.scene)
        self._constants = Constants(*(float(value) for value in vars(settings).values()))

    @property
    def arms(self) -> np.ndarray:
        """(2,): from shoulder to palm, left and right, m."""
        return self._body.upper + self._body.fore

    @property
    def mass(self) -> float:
        """Of the body, kg."""
        return self._body.total

    @property
    def shoulder_height(self) -> float:
        """Of the lower shoulder of a body that stands, m."""
        stood = self.scene.show(self.scene.state())
        return float(min(stood.xanchor[self._body.joint[arm], 2] for arm in (ARMS, ARMS + 2)))

    def start(self, sims: Sims) -> None:
        """Stand as it is, facing where it faces, in the first style; every wish is forgotten."""
        self._attach(sims)
        sims.view("userdata")[:] = 0.0
        begin(sims.view("userdata"), facing(sims.view("xquat")[:, self._body.ids[0]]), self.styles[0])

    def _attach(self, sims: Sims) -> None:
        if sims is not self._sims:
            self._sims, self._fields = sims, fields_of(sims)
            self._out = np.zeros((sims.nsim, self.scene.motors.size))

    def control(self, sims: Sims) -> np.ndarray:
        """Controls (nsim, motors.size); moves the memory in the state on by a step. The array is used again."""
        self._attach(sims)
        control_rows(
            self._body, self._terrain, self._constants, self._table, self._fields, self._torque, self._angles, self._out
        )
        return self._out

    def wish(self, sims: Sims, *, rows: Any = None, style: str | None = None, **wishes: Any) -> None:
        """Want something else from the next control on; what is not named stays.

        Args:
          sims: whose rows.
          rows: which; None for all.
          style: name of a style.
          wishes: speed m/s ahead; heading rad from the x axis; period s a step and step_width m (None: the
            style's); step_height m more than the style's; bend rad of the body, forwards; crouch rad of the
            stance knees; alpha s that steps are shorter for each m/s, where something is pushed or pulled; load, the
            share of what is held that is carried; haul N with which both hands push ahead; drift m/s to the
            left, besides the speed.
        """
        memory = sims.view("userdata")
        chosen = slice(None) if rows is None else rows
        if style is not None:
            names = [known.name for known in self.styles]
            if style not in names:
                raise unknown("style", style, names)
            for row in np.atleast_1d(np.arange(len(memory))[chosen]):
                wish_style(memory[row], float(names.index(style)))
        for name, value in wishes.items():
            if name not in WISHES:
                raise unknown("wish", name, [*WISHES, "style"])
            place, low, high = WISHES[name]
            if value is None and name in ("period", "step_width"):
                value = OWN
            elif value is None:
                value = 0.0
            else:
                for one in np.ravel(value):
                    check_number(name, float(one), low, high)
            memory[chosen, place] = value

    def reach(
        self, sims: Sims, row: int, hand: int, target: Sequence[float] | np.ndarray | None, frame: int = mem.WORLD
    ) -> None:
        """Bring a hand (0 left, 1 right) to a place, m, or let it swing (None) from the next control on.

        The place is in the WORLD's frame, or the BODY's: ahead, left and up of the pelvis.
        """
        memory = sims.view("userdata")[row]
        h = mem.HAND + mem.HAND_SIZE * hand
        memory[h + mem.REACH] = mem.FREE if target is None else frame
        if target is not None:
            memory[h + mem.HAND_X : h + mem.HAND_X + 3] = target

    def hold(self, sims: Sims, row: int, hand: int, grip: int | None) -> None:
        """Close one of the scene's grips, by its number, or open the hand (None). Firm after `grip_time`."""
        sims.view("userdata")[row, mem.HAND + mem.HAND_SIZE * hand + mem.HOLD] = 0 if grip is None else grip + 1

    def holding(self, sims: Sims, row: int, hand: int) -> int | None:
        """Number of the grip that a hand holds by."""
        grip = int(sims.view("userdata")[row, mem.HAND + mem.HAND_SIZE * hand + mem.HOLD])
        return grip - 1 if grip else None

    def restyle(self, style: Style) -> None:
        """Walk in this style wherever the one of its name is wished for, from the next control on."""
        names = [known.name for known in self.styles]
        if style.name not in names:
            raise unknown("style", style.name, names)
        self.styles[names.index(style.name)] = check_style(style)
        self._table = table_of(self.styles)

    def check_wishes(self, wishes: Mapping[str, Any]) -> None:
        for name, value in wishes.items():
            if name == "style":
                names = [known.name for known in self.styles]
                if value not in names:
                    raise unknown("style", value, names)
            elif name not in WISHES:
                raise unknown("wish", name, [*WISHES, "style"])
            else:
                check_number(name, value, *WISHES[name][1:])

    def set_wishes(self, sims: Sims, wishes: Mapping[str, Any]) -> None:
        """See `wish`; for all rows."""
        self.wish(sims, **wishes)

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        replaced(self.settings, changes)

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name; the memory stays."""
        self._configure(replaced(self.settings, changes))


def begin(memory: np.ndarray, heading: np.ndarray, style: Style) -> None:
    """Memories (rows, ...) of zeros become those of walkers that stand, facing headings (rows,), in a style."""
    memory[:, mem.HEADING] = memory[:, mem.WISH_HEADING] = heading
    memory[:, mem.PERIOD], memory[:, mem.STEP_WIDTH] = style.period, style.step_width
    memory[:, [mem.WISH_PERIOD, mem.WISH_STEP_WIDTH]] = OWN
    memory[:, mem.LIMIT] = mem.UNLIMITED


def facing(quat: np.ndarray) -> np.ndarray:
    """Headings (n,), rad from the x axis, of orientations (n, 4)."""
    ahead = 1 - 2 * (quat[:, 2] ** 2 + quat[:, 3] ** 2)
    return np.asarray(np.arctan2(2 * (quat[:, 0] * quat[:, 3] + quat[:, 1] * quat[:, 2]), ahead))
