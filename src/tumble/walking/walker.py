"""Walker: generalized biped walking control (coros2010 chapter 5).

    scene = Scene(biped())
    walker = Walker(scene)
    sims = Sims(scene, nsim=2)
    sims.load(scene.state())
    walker.start(sims)
    walker.wish(sims, speed=0.8, heading=1.57)
    walker.wish(sims, rows=[1], style="sneak")
    while True:
        sims.act(walker.control(sims), walker.drive)

Traps: the law moves on a memory in the state, so it is asked once for each physics step; the array it returns is
used again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tumble.control.controller import Controller
from tumble.control.stepping import step
from tumble.errors import choose
from tumble.goals.wants import Balance, Go, Want
from tumble.maths.bundles import Address
from tumble.maths.vectors import yaws
from tumble.settings import replaced
from tumble.walking.asking import begin, index_of, refusal, wish, wishes_of
from tumble.walking.body import ARMS, DRIVE, body_of, fields_of, not_feet
from tumble.walking.kernel import control_rows, rows_of
from tumble.walking.memory import MEMORY, WALKER, HandFrame
from tumble.walking.settings import WalkSettings
from tumble.walking.style import Style, builtin_styles, check_style, table_of
from tumble.walking.style_file import style_in
from tumble.walking.terrain import terrain_of
from tumble.world.scene import Scene
from tumble.world.sims import Law, Sims


class Walker(Controller):
    """Walks, turns, stands and recovers from pushes, whatever the body.

    Its memory and the wishes are a record of the state (`tumble.walking.memory`): copying a row forks the walker.

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
        each that is no step up, because a long step holds when it begins alike every time. Before what it gets
        neither over nor onto it stands. A step down that is needed sooner is quicker.
      Footholds: not in the thesis; feet land on wished places when the capture point is nearest to what the steps
        after that need, and up to a wished room beside them. Their tilt is wished too: ankles are held against it.
        Hips are carried from one to the next as high as the legs reach, and both feet stay on the ground until the
        capture point is where the next step begins well.
      Bars: thesis, the trunk bends with the distance while it walks, whatever the feet do; here so where nothing is to
        be stepped over nearby, else it stands to bend, and goes slowly with bent knees until the bar is behind.
    """

    takes = (Balance, Go)

    def __init__(
        self, scene: Scene, settings: WalkSettings = WalkSettings(), styles: Sequence[Style] | None = None
    ) -> None:
        """Walk in a scene, which gets a claim for `WALKER`; without styles, in those that come with tumble."""
        self.styles = [check_style(style) for style in styles or builtin_styles().values()]
        self.settings = settings
        self._table = table_of(self.styles)
        self.move(scene)

    def move(self, scene: Scene) -> None:
        """Go on in another scene, whose character must be a biped; settings and styles stay."""
        self.scene, self.drive = scene, choose("drive", DRIVE, scene.drives)
        scene.claim(MEMORY, WALKER)
        self._sims: Sims | None = None
        self._out = np.zeros((0, self.drive.size))
        self._configure(self.settings)

    def _configure(self, settings: WalkSettings) -> None:
        """Take settings: gains and lengths of the body, and the table of boxes, are made again."""
        self.settings = settings
        self._body, self._terrain = body_of(self.scene, settings), terrain_of(self.scene)
        self._rest = not_feet(self._body)
        self._lay()

    def _lay(self) -> None:
        """Lay down what compiled code needs, once anything of it is another."""
        if self._sims is not None:
            fields = fields_of(self._sims)
            rows = rows_of(self._body, self._terrain, self.settings, self._table, fields, self._out)
            self._ids, self._many, self._rows = rows.ids, rows.many, Address(rows)

    @property
    def arms(self) -> np.ndarray:
        """(2,): from shoulder to palm, left and right, m."""
        return self._body.arms.upper + self._body.arms.fore

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
        begin(sims.memory(MEMORY), yaws(sims.view("xquat")[:, self._body.ids[0]]), self.styles[0])

    def _attach(self, sims: Sims) -> None:
        """Have room for the controls of some simulations; nothing where they are the same as before."""
        if sims is not self._sims:
            self._sims, self._out = sims, np.zeros((sims.nsim, self.drive.size))
            self._lay()

    def control(self, sims: Sims) -> Law:
        """The law of a frame, see `law`."""
        return self.law

    def law(self, sims: Sims, rows: Any = slice(None)) -> np.ndarray:
        """Controls (nsim, drive.size) of one physics step; the array is used again.

        Args:
          sims: any states, with the walker's memory in them, which moves on by a physics step.
          rows: whose; what the others' controls are is left as it was, and so is their memory.
        """
        self._attach(sims)
        chosen = np.arange(sims.nsim)[rows]
        self._ids[: len(chosen)], self._many[0] = chosen, len(chosen)
        control_rows(self._rows)
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
        wish(sims.memory(MEMORY), self.styles, rows, style, **wishes)

    def step_onto(
        self, sims: Sims, row: int, step: int, middles: np.ndarray, tilts: np.ndarray, rooms: np.ndarray
    ) -> None:
        """Land on places from a step on, one after the other; with none, wherever it wants to again.

        Args:
          step: number of the footstrike with which the step to the first one begins: `footstrikes` of the memory, or
            one more while it stands or before the next.
          middles: (n, 3) where the middles of soles land, and how high the ground is there, m; three at most.
          tilts: (n, 2) of the ground there, nose down and right side down, rad, against the heading.
          rooms: (n, 2) m that a foot may land off it, ahead or back and aside.
        """
        memory, n = sims.memory(MEMORY)[row], len(middles)
        memory.footholds[:n], memory.foothold_tilts[:n], memory.foothold_rooms[:n] = middles, tilts, rooms
        memory.foothold_count, memory.foothold_step = n, step

    def steps(self, sims: Sims) -> np.ndarray:
        """Steps begun since `start`, (nsim,), live: one begins as the foot of the one before strikes."""
        return sims.memory(MEMORY).footstrikes

    def step(self, sims: Sims, longest: float = 2.0, *, rows: Any = None) -> np.ndarray:
        """Run rows until their feet strike once more, see `tumble.control.stepping.step`; who stands makes none."""
        return step(self, sims, longest, rows=rows)

    def fallen(self, sims: Sims) -> np.ndarray:
        """(nsim,) whether anything but feet and toes touches the ground, or the row is broken."""
        return (sims.view("grounded")[:, self._rest] > 0).any(axis=1) | sims.broken

    def reach(
        self,
        sims: Sims,
        row: int,
        hand: int,
        target: Sequence[float] | np.ndarray | None,
        frame: HandFrame = HandFrame.WORLD,
    ) -> None:
        """Bring a hand (0 left, 1 right) to a place, m, or let it swing (None) from the next control on.

        The place is in the WORLD's frame, or the BODY's: ahead, left and up of the pelvis.
        """
        memory = sims.memory(MEMORY)[row]
        memory.hand_frame[hand] = HandFrame.FREE if target is None else frame
        if target is not None:
            memory.hand_target[hand] = target

    def hold(self, sims: Sims, row: int, hand: int, grip: int | None) -> None:
        """Close one of the scene's grips, by its number, or open the hand (None). Firm after `grip_time`."""
        sims.memory(MEMORY).hand_grip[row, hand] = 0 if grip is None else grip + 1

    def holding(self, sims: Sims, row: int, hand: int) -> int | None:
        """Number of the grip that a hand holds by."""
        grip = int(sims.memory(MEMORY).hand_grip[row, hand])
        return grip - 1 if grip else None

    @property
    def own_styles(self) -> dict[str, Style]:
        """Those that come with tumble."""
        return builtin_styles()

    def style_in(self, data: bytes, where: str) -> Style:
        """The style in the bytes of a file; refuses one whose name it does not know."""
        style = style_in(data, where)
        index_of(self.styles, style.name)
        return style

    def restyle(self, style: Style) -> None:
        """Walk in this style wherever the one of its name is wished for, from the next control on."""
        self.styles[index_of(self.styles, style.name)] = check_style(style)
        self._table = table_of(self.styles)
        self._lay()

    def refuses(self, sims: Sims, want: Want) -> str | None:
        """See `tumble.walking.asking.refusal`; the states do not matter."""
        return refusal(self.styles, want)

    def want(self, sims: Sims, want: Want) -> None:
        """Follow it in all rows: `Go` as `wish` does, `Balance` stands."""
        self.wish(sims, **wishes_of(want))

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        """Refuse names and values that `WalkSettings` does not take; nothing changes."""
        replaced(self.settings, changes)

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name; the memory stays."""
        self._configure(replaced(self.settings, changes))
