"""Crowd: all characters of a scene dance, each to its own seed (coros2010 section 5.5.4).

    companions = [Companion(f"dancer_{i}", biped(legs=1 + 0.02 * i).recipe, place=(1.5 * i, 0.0)) for i in range(1, 16)]
    scene = Scene(biped(), companions)
    crowd = Crowd(scene, seed=3)
    sims = Sims(scene, nsim=1)
    sims.load(scene.state())
    crowd.start(sims)
    while True:
        sims.act(crowd.control(sims), crowd.drive)

A dance is a list of moves, drawn from the seed: a style with a period, a height of the steps, a bend, a pace and a
turn, for some seconds. Who comes too near to another, or leaves the floor around the origin, steps away: ahead, back or
sideways, without turning. Those who fell lie limp, and are kept clear of bone by bone. Dancers see no boxes and hold
nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from tumble.control.controller import Controller
from tumble.crowds.kernel import MEMORY, Floor, Starts, World, crowd_record, dance_rows
from tumble.errors import check_number, choose
from tumble.goals.wants import Balance, Go, Want
from tumble.maths.bundles import Address
from tumble.maths.vectors import yaws
from tumble.settings import replaced
from tumble.walking.asking import begin, refusal, wish, wishes_of
from tumble.walking.body import DRIVE, Fields, body_of
from tumble.walking.kernel import control_rows, rows_of
from tumble.walking.settings import WalkSettings
from tumble.walking.style import Style, load_style, table_of
from tumble.world.scene import Scene
from tumble.world.sims import Law, Sims

_MEMORIES = ("walkers", "dancers")  # of `World`
MOVES = 64  # of a dance, before it begins again
FALLEN = 0.5  # of its standing height, below which a root is that of somebody who fell


@dataclass(frozen=True)
class DanceSettings:
    """How a crowd dances. All is ours: the thesis gives no numbers."""

    near: float = 0.8  # m between two roots below which they step apart
    near_fallen: float = 0.9  # m, from the nearest bone of somebody who lies on the floor
    close: float = 0.45  # m, from both, at which that is most urgent: feet meet
    dread: float = 2.0  # how much more urgent it is to keep clear of somebody who lies
    foresight: float = 0.3  # s ahead that a dancer sees another come
    lift: float = 0.05  # m that feet rise more where somebody is close
    floor: float = 2.4  # m from the origin beyond which a dancer comes back
    escape: float = 0.35  # m/s, fastest with which one steps away
    sidestep: float = 0.25  # m/s, fastest of that to a side
    slowest: float = 0.06  # m/s; who is slower stands still
    shaken: float = 0.6  # m/s of the centre of mass, above which one neither turns nor begins another move
    calm: float = 1.5  # s of that
    pace: float = 0.25  # m/s, fastest of a dance, ahead or back
    turn: float = 0.9  # rad, largest from one move to the next
    turn_rate: float = 0.7  # rad/s
    shortest: float = 3.0  # s of a move
    longest: float = 8.0

    def __post_init__(self) -> None:
        """Refuse numbers below 0, and pairs in the wrong order.

        `longest` is at least `shortest`, `near` and `near_fallen` are above `close`, `pace` is from `slowest` to 2 m/s.
        """
        for name, value in vars(self).items():
            check_number(name, value, 0)
        check_number("longest", self.longest, self.shortest)
        check_number("near", self.near, self.close + 0.01)
        check_number("near_fallen", self.near_fallen, self.close + 0.01)
        check_number("pace", self.pace, self.slowest, 2.0)


@cache
def dances() -> dict[str, Style]:
    """The styles that dancers draw from, by name."""
    styles = map(load_style, sorted((Path(__file__).parent / "dances").glob("*.toml")))
    return {style.name: style for style in styles}


class Crowd(Controller):
    """Every character of a scene walks as a `Walker` does, by the wishes of its dance.

    Memories are a record of the state, see `crowd_record`: copying a row forks the crowd. Wishes from outside are the
    scene's own character's, which no longer dances then.

    Attributes:
      styles: the dances, by index.
    """

    takes = (Balance, Go)

    def __init__(self, scene: Scene, settings: DanceSettings = DanceSettings(), seed: int = 0) -> None:
        """Have all characters of a scene dance; the same seed, the same dances, whoever else is there."""
        self.styles = list(dances().values())
        self.settings, self._seed = settings, seed
        self.move(scene)

    def move(self, scene: Scene) -> None:
        """Go on in another scene, whose characters must be bipeds; the dances are drawn again from the same seed."""
        self.scene, self.drive = scene, choose("drive", DRIVE, scene.drives)
        scene.claim(MEMORY, crowd_record(len(scene.cast)))
        self._bodies = [body_of(scene, WalkSettings(), prefix, grips=False) for prefix in scene.cast]
        self._table, self._starts = table_of(self.styles), _starts(scene)
        low = [FALLEN * scene.show(scene.state()).xpos[scene.root(prefix), 2] for prefix in scene.cast]
        self._heights, self._lying = np.array(low), np.zeros(len(scene.cast), bool)
        self._sims: Sims | None = None
        self._out, self._control = np.zeros((0, 0, 0)), np.zeros((0, 0))
        self._configure(self.settings)

    def _configure(self, settings: DanceSettings) -> None:
        """Take settings, and draw the dances of everybody by them."""
        self.settings = settings
        sizes = [body.size for body in self._bodies]
        self._moves = np.stack([_dance(settings, self.styles, size, [self._seed, i]) for i, size in enumerate(sizes)])
        self._lay()

    def start(self, sims: Sims) -> None:
        """Stand as they are, facing where they face; every dance begins."""
        self._attach(sims)
        memory = sims.memory(MEMORY)
        memory.dancers[:] = 0.0
        for who, body in enumerate(self._bodies):
            ahead = yaws(sims.view("xquat")[:, body.ids[0]])
            begin(memory.walkers[:, who], ahead, self.styles[0])
            memory.dancers.facing[:, who] = ahead

    def _attach(self, sims: Sims) -> None:
        """Have room for the controls of some simulations; nothing where they are the same as before."""
        if sims is not self._sims:
            people, drive = len(self.scene.cast), self.drive
            self._sims, self._out = sims, np.zeros((people, sims.nsim, drive.joints // people))
            self._control = np.zeros((sims.nsim, drive.size))
            self._lay()

    def _lay(self) -> None:
        """Lay down what compiled code needs, once anything of it is another."""
        if self._sims is None:
            return
        memory, views = self._sims.memory(MEMORY), [name for name in World._fields if name not in _MEMORIES]
        world = World(**{name: self._sims.view(name) for name in views}, walkers=memory.walkers, dancers=memory.dancers)
        self._walks = [
            Address(rows_of(body, None, WalkSettings(), self._table, _own(world, self._starts, who), self._out[who]))
            for who, body in enumerate(self._bodies)
        ]
        bones = np.stack([body.ids for body in self._bodies])
        self._floor = Address(
            Floor(
                self.settings, self.drive.timestep, self._moves, world, self._starts, bones, self._heights, self._lying
            )
        )
        self._fell = memory.dancers.fell

    def control(self, sims: Sims) -> Law:
        """The law of a frame, see `law`."""
        return self.law

    def law(self, sims: Sims) -> np.ndarray:
        """Controls (nsim, drive.size) of one physics step; moves the memories on by it. The array is used again."""
        self._attach(sims)
        dance_rows(self._floor)
        for walk in self._walks:
            control_rows(walk)
        self._out[self._fell.T > 0] = 0.0  # who fell is limp: kicks would fell others
        joints = self.drive.joints
        self._control[:, :joints] = np.moveaxis(self._out, 0, 1).reshape(sims.nsim, joints)
        return self._control

    def refuses(self, sims: Sims, want: Want) -> str | None:
        """What no walker does, and styles that are no dance."""
        return refusal(self.styles, want)

    def want(self, sims: Sims, want: Want) -> None:
        """Have the scene's own character do something else than dance, see `Walker.want`; an empty `Go` leaves it."""
        if want != Go():
            memory = sims.memory(MEMORY)
            wish(memory.walkers[:, 0], self.styles, **wishes_of(want))
            memory.dancers.directed[:, 0] = 1.0

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        """Refuse names and values that `DanceSettings` does not take; nothing changes."""
        replaced(self.settings, changes)

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name; the memories stay."""
        self._configure(replaced(self.settings, changes))


def _own(world: World, starts: Starts, who: int) -> Fields:
    """What one character sees as its own: views that begin with it."""
    said = world.sensordata
    return Fields(
        qpos=world.qpos[:, starts.qpos[who] :], qvel=world.qvel[:, starts.qvel[who] :], xipos=world.xipos,
        xquat=world.xquat, xaxis=world.xaxis, xanchor=world.xanchor, subtree_com=world.subtree_com,
        com=said[:, starts.com[who] :], com_velocity=said[:, starts.com_velocity[who] :],
        grounded=said[:, starts.grounded[who] :], site_xpos=world.site_xpos, memory=world.walkers[:, who],
    )  # fmt: skip


def _starts(scene: Scene) -> Starts:
    """Where each character's own numbers begin in qpos, qvel and sensordata."""
    model, cast = scene.model, scene.cast
    first = [int(model.body_jntadr[scene.root(prefix)]) for prefix in cast]
    channels = {
        name: np.array([scene.channels[prefix + name].start for prefix in cast])
        for name in ("com", "com_velocity", "grounded")
    }
    return Starts(
        qpos=model.jnt_qposadr[first].astype(np.intp), qvel=model.jnt_dofadr[first].astype(np.intp), **channels
    )


def _dance(settings: DanceSettings, styles: list[Style], size: float, seed: list[int]) -> np.ndarray:
    """(MOVES, 7): moves of a body of some size, drawn from a seed; no style comes twice in a row.

    Columns as `tumble.crowds.kernel` numbers them, from SECONDS to TURN. A pace goes ahead or back, alike often.
    """
    rng = np.random.default_rng(seed)
    style = np.cumsum(rng.integers(1, len(styles), MOVES)) % len(styles)
    usual = np.array([one.period for one in styles])[style]
    pace = rng.uniform(settings.slowest, settings.pace, MOVES) * rng.choice([-1.0, 1.0], MOVES)
    return np.stack(
        [
            rng.uniform(settings.shortest, settings.longest, MOVES),
            style,
            usual * size**0.5 * rng.uniform(0.9, 1.1, MOVES),  # legs swing slower the longer they are
            rng.uniform(0.0, 0.03, MOVES),
            rng.uniform(-0.05, 0.2, MOVES),
            pace,
            rng.uniform(-settings.turn, settings.turn, MOVES),
        ],
        axis=1,
    )
