"""Simbicon: simple biped control (Yin, Loken and van de Panne 2007; coros2010 section 2.4).

    from tumble import Scene, Sims
    from tumble.characters.simbicon_bodies import biped34
    from tumble.simbicon.simbicon import Simbicon
    scene = Scene(biped34())
    walker = Simbicon(scene)
    sims = Sims(scene, nsim=1)
    sims.load(walker.opening("walk"))
    walker.start(sims)
    while walker.steps(sims)[0] < 100:
        sims.act(walker.control(sims), walker.drive)

Traps: the law moves the memory on, so call it once a step; the memory is a part of the state, so load a state
before `start`, and copy a row with its memory to fork the walker.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import mujoco
import numpy as np

from tumble.control.controller import Controller
from tumble.control.stepping import frames, step
from tumble.errors import UserError, check_number, choose, unknown
from tumble.files import text_of
from tumble.goals.wants import Go, Want, name_of, part, parts
from tumble.maths.bundles import Address
from tumble.maths.vectors import yaws
from tumble.simbicon.body import DRIVE, MEMORY, SIMBICON, bones_of, live_of
from tumble.simbicon.gait import (
    BODIES,
    Gait,
    builtin_gaits,
    check_gait,
    gait_names,
    read_gait,
    roles_of,
    states_of,
    table_of,
)
from tumble.simbicon.kernel import ANYWHERE, TURN, SimbiconRows, control_rows
from tumble.simbicon.varied import VARIED, Variation, varied_of
from tumble.world.scene import Scene
from tumble.world.sims import Law, Sims

Names: TypeAlias = str | int | np.ndarray  # of gaits: a name, a number, or numbers by row
FOLLOWED = ("style", "other", "mix", "heading")  # of `Go`


@dataclass(frozen=True)
class SimbiconSettings:
    """Simbicon has none: all is in its gaits."""


class Simbicon(Controller):
    """Walks, runs and steps as its gaits say, and keeps its balance by where it puts the swing foot.

    All memory (state of the machine, phase, stance leg, gaits and their mix) is a record of the state, `SIMBICON`.

    Attributes:
      gaits: by index; the memory holds indices.

    **Departures**
      Paper: feedback on the swing hip alone; here where a gait says so, as the authors' own gaits give the stance ankle
      some. Paper: all of the root's torque from the stance hip from the first moment; here it goes over from the old
      stance hip within `shift` seconds while both feet are down (authors' code: by load, which in MuJoCo is known
      only after a step and so not in a fork). A foot that bears nothing yet would spin under that torque: of 6 pushed
      starts of the humanoid's walk 1 stood 12 s without, 6 with it. Paper: full root control; a gait may weaken it
      (strength of the root), and the stance hip then follows its own motion for the rest, as in the authors' code.
      Paper: the character's frame is not told; here it has the wanted heading (authors: heading 0), but at most
      0.5 rad ahead of the root. Paper: k_d explicit at a step of 1/2000 s; here the engine integrates the hinges'
      damping implicitly and the control adds what the law wants beyond it, at 1/510 s. Authors' files: the root's
      gains about the vertical are 0.2 of the others; here 0.02 in the humanoid's walks, with twice their damping of
      the stance hip's twist. A foot on its heel holds some 30 N m by estimate; by more it spins, and the body with
      it: with the speeds of starts disturbed by 0.2, 67 of 80 stood 4 s with 0.1, 74 with 0.02. Mixes of gaits:
      torques are mixed, the machine is one, its durations mixed as well (not given); the heavier gait tells when a step
      ends. Side steps are two states that are bound to the stance legs (`sided`; not told how the thesis has them).
    """

    takes = (Go,)
    settings = SimbiconSettings()

    def __init__(
        self, scene: Scene, gaits: Sequence[Gait] | None = None, variation: Variation | None = None
    ) -> None:  # fmt: skip
        """Walk with some gaits, each checked against the body; by default with those that come with tumble for it.

        With a variation it is one gait, some numbers of which each row has for itself; see `varied`.
        """
        known = builtin_gaits(scene.character) if gaits is None else {gait.name: gait for gait in gaits}
        if not known:
            name = scene.character.name
            raise UserError(f"no gaits for the character '{name}': give some, or take {', '.join(BODIES)}")
        self.scene = scene
        self.gaits = [check_gait(gait, scene.character) for gait in known.values()]
        self._own = {gait.name: gait for gait in self.gaits}
        self._table = table_of(self.gaits, roles_of(scene.character))
        self.variation = variation if variation is None else variation.checked(self.gaits)
        self.move(scene)

    def move(self, scene: Scene) -> None:
        """Go on in another scene of the same character; gaits stay."""
        self.scene, self.drive = scene, choose("drive", DRIVE, scene.drives)
        scene.claim(MEMORY, SIMBICON)
        if self.variation is not None:
            scene.claim(VARIED, self.variation.dtype)
        self._bones = bones_of(scene)
        self._sims: Sims | None = None

    def index(self, gait: str) -> int:
        """Number of a gait, or the error that lists those there are."""
        names = [known.name for known in self.gaits]
        if gait not in names:
            others = [body for body in BODIES if gait in gait_names(body)]
            whose = f", but of {', '.join(others)}" if others else ""
            raise unknown("gait", gait, names, f" of '{self.scene.character.name}'{whose}")
        return names.index(gait)

    def opening(self, gait: str) -> np.ndarray:
        """A state to begin a gait from: the left foot has landed, the body moves at the gait's speed."""
        start = self.gaits[self.index(gait)].start
        scene = self.scene
        data = scene.show(scene.state())
        for hinge, angle in start.angles.items():
            data.joint(hinge).qpos[0] = angle
        for hinge, rate in start.rates.items():
            data.joint(hinge).qvel[0] = rate
        data.qvel[0] = start.speed
        if scene.model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
            data.qvel[1] = start.drift
        scene.land(data, -1e-3)  # so that the foot touches
        return scene.read(data)

    def start(self, sims: Sims) -> None:
        """Begin the first gait on the left foot, to keep the present heading."""
        self._attach(sims)
        memory = sims.memory(MEMORY)
        memory[:] = 0.0
        memory.heading[:] = yaws(sims.view("xquat")[:, self._bones.ids[0]])
        if self.variation is not None:
            self.varied(sims)[:] = self.variation.own(self.gaits[0])
            sims.memory(VARIED).reach[:] = ANYWHERE

    def varied(self, sims: Sims) -> np.ndarray:
        """(nsim, numbers) of the gait that each row has for itself (`Variation`), live: a part of the state."""
        found: np.ndarray = sims.memory(VARIED).numbers
        return found

    def _attach(self, sims: Sims) -> None:
        """Lay the arrays of some simulations, and the gaits, ready for compiled code; nothing where they lie there."""
        if sims is not self._sims:
            self._sims, self._out = sims, np.zeros((sims.nsim, self.drive.size))
            self._ids, self._many = np.arange(sims.nsim), np.array([sims.nsim])
            scratch = np.zeros((3, len(self.scene.bones), 3))
            varied = varied_of(self.variation, sims, roles_of(self.scene.character))
            rows = (self._bones, self._table, live_of(sims), varied, *scratch, self._ids, self._many, self._out)
            self._rows = Address(SimbiconRows._make(rows))

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

    def choose(
        self, sims: Sims, gait: Names, other: Names | None = None, weight: float | np.ndarray = 0.0, *, rows: Any = None
    ) -> None:
        """Go on with a gait, or with a mix of two: torques (1 - w) tau_gait + w tau_other.

        Each row may have its own: whoever chooses once a step for thousands of rows gives arrays of numbers.

        Args:
          sims: whose rows.
          gait, other: a name, a number (`index`), or numbers, one a row; the two of a row have equally many states.
          weight: w, 0 to 1; one for all or one a row.
          rows: which; None for all.
        """
        first = self._numbers(gait)
        second = first if other is None else self._numbers(other)
        self._check_mix(first, second)
        weights = np.asarray(weight, float)
        check_number("weight", float(weights.min()), 0.0, 1.0)
        check_number("weight", float(weights.max()), 0.0, 1.0)
        memory, chosen = sims.memory(MEMORY), slice(None) if rows is None else rows
        memory.gait[chosen], memory.other[chosen], memory.weight[chosen] = first, second, weights
        memory.state[chosen] %= self._table.states[first]

    def _numbers(self, gait: Names) -> np.ndarray:
        """Numbers of gaits, () or (rows,), each of a gait that there is."""
        numbers = np.asarray(self.index(gait) if isinstance(gait, str) else gait)
        if numbers.dtype.kind not in "iu" or not numbers.size:
            raise UserError(f"a gait is chosen by its name or by whole numbers, got {gait!r}")
        if numbers.min() < 0 or numbers.max() >= len(self.gaits):
            wrong = numbers.min() if numbers.min() < 0 else numbers.max()
            raise UserError(f"numbers of gaits go from 0 to {len(self.gaits) - 1}, got {wrong}")
        return numbers

    def _check_mix(self, first: np.ndarray, second: np.ndarray) -> None:
        """Refuse pairs of gaits, () or (rows,) of numbers, with different numbers of states."""
        counts = [np.ravel(self._table.states[numbers]) for numbers in (first, second)]
        for i in np.flatnonzero(counts[0] != counts[1])[:1]:
            names = [self.gaits[np.ravel(numbers)[min(i, numbers.size - 1)]].name for numbers in (first, second)]
            has = [count[min(i, len(count) - 1)] for count in counts]
            raise UserError(f"gaits to mix need equally many states, '{names[0]}' has {has[0]}, '{names[1]}' {has[1]}")

    @property
    def styles(self) -> list[Gait]:
        """The gaits."""
        return self.gaits

    @property
    def own_styles(self) -> dict[str, Gait]:
        """Those that it was made with, by name."""
        return self._own

    def style_in(self, data: bytes, where: str) -> Gait:
        """The gait in the bytes of a file; it takes the place of one of its name, of equally many states.

        States are counted in the memory of rows that walk, so that another number of them would mean other states.
        """
        gait = text_of(data, "gait", where, lambda text: read_gait(text, self.scene.character, where))
        old = self.gaits[self.index(gait.name)]
        if states_of(gait) != states_of(old):
            raise UserError(f"the gait '{gait.name}' has {states_of(old)} states and keeps them, got {states_of(gait)}")
        return gait

    def restyle(self, style: Gait) -> None:
        """Walk in this gait wherever the one of its name is wanted, from the next control on."""
        self.gaits[self.index(style.name)] = check_gait(style, self.scene.character)
        self._table = table_of(self.gaits, roles_of(self.scene.character))
        self._sims = None

    def refuses(self, sims: Sims, want: Want) -> str | None:
        """All but one `Go` of a style, another, their mix and a heading; zeros of other fields are let through."""
        go = part(want, Go)
        if go is None or len(parts(want)) > 1:
            return f"Simbicon walks as its gaits do, and does not {name_of(want)}"
        wrong = [name for name, value in go.given.items() if name not in FOLLOWED and value != 0]
        if wrong:
            return f"Simbicon walks as its gaits do and takes no {', '.join(wrong)}; choose a style or a heading"
        try:
            go.check()
            self._mixed(go)
        except UserError as error:
            return str(error)
        return None

    def _mixed(self, go: Go) -> tuple[int, int, float]:
        """Numbers of the two gaits that are wanted, and the weight of the second; the same one twice is one alone."""
        first = self.index(go.style or self.gaits[0].name)
        second = first if go.other is None else self.index(go.other)
        if not go.mix:
            return first, first, 0.0
        if go.other is None:
            raise UserError(f"a mix of {go.mix:g} needs another style beside '{self.gaits[first].name}'")
        self._check_mix(np.array(first), np.array(second))
        return first, second, go.mix

    def want(self, sims: Sims, want: Want) -> None:
        """Do it in all rows: a style is a gait, see `choose`; a heading is kept, see `turn_to`.

        A gait that turns, or a mix with one, moves the heading by itself and follows none that is wanted.
        """
        go = part(want, Go)
        first, second, weight = self._mixed(go)
        self.choose(sims, first, second, weight)
        turn = (1.0 - weight) * self.gaits[first].turn + weight * self.gaits[second].turn
        if go.heading is not None and turn == 0.0:
            self.turn_to(sims, go.heading)

    def turn_to(self, sims: Sims, heading: float | np.ndarray, *, rows: Any = None) -> None:
        """Want another heading, rad from the x axis, from the next control on."""
        for one in np.ravel(heading):
            check_number("heading", float(one), -1e6, 1e6)
        sims.memory(MEMORY).heading[slice(None) if rows is None else rows] = heading

    def headings(self, sims: Sims) -> np.ndarray:
        """(nsim,) rad of the characters' frames: the wanted heading, at most `TURN` ahead of where the root faces."""
        return frames(sims, sims.memory(MEMORY).heading, TURN)

    def steps(self, sims: Sims) -> np.ndarray:
        """Steps done since `start`, (nsim,), live."""
        return sims.memory(MEMORY).footstrikes

    def step(self, sims: Sims, longest: float = 2.0, *, rows: Any = None) -> np.ndarray:
        """Run rows until their feet strike once more, see `tumble.control.stepping.step`."""
        return step(self, sims, longest, rows=rows)

    def fallen(self, sims: Sims) -> np.ndarray:
        """(nsim,) whether anything but the feet touches the ground, or the row is broken."""
        rest = ~self._bones.sole.any(axis=0)
        return (sims.view("grounded")[:, rest] > 0).any(axis=1) | sims.broken
