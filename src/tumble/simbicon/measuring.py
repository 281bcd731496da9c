"""How gaits go: rows of disturbed starts that walk, and what is measured of each.

    walker = Simbicon(scene)
    found = walk(walker, "walk", start_speeds(walker.scene, 10, np.random.default_rng(0)), steps=100)
    found.stood.sum(), found.ahead.mean()            # 10, 0.83

Rates are those after the first `SETTLING` seconds, in the axes of where the root faces.
"""

from typing import Any, NamedTuple

import numpy as np

from tumble.maths.rotations import wrapped_angles
from tumble.maths.vectors import yaws
from tumble.simbicon.body import MEMORY, bones_of
from tumble.simbicon.simbicon import Names, Simbicon
from tumble.world.scene import Scene
from tumble.world.sims import Sims

DISTURBED = 0.1  # m/s and rad/s, standard deviation of every speed of a start
SETTLING = 2.0  # s before rates count
FRICTION = 0.8  # coros2010 section 5.4


class GaitMeasures(NamedTuple):
    """Of n rows, (n,) each."""

    stood: np.ndarray  # whether nothing but feet touched the ground
    seconds: np.ndarray  # walked, until a fall or until done
    steps: np.ndarray  # made in them
    ahead: np.ndarray  # m/s
    side: np.ndarray  # m/s to the left
    turn: np.ndarray  # rad/s to the left
    step: np.ndarray  # s a step
    lean: np.ndarray  # rad of the root ahead
    untouched: np.ndarray  # share of steps at whose end the swing foot was in the air
    effort: np.ndarray  # mean square of all controls, shares of the motors' strengths


def start_speeds(scene: Scene, n: int, rng: np.random.Generator) -> np.ndarray:
    """(n, nv) by which the speeds of n starts are disturbed."""
    return DISTURBED * rng.standard_normal((n, scene.model.nv))


def walk(
    walker: Simbicon, gaits: Names, speeds: np.ndarray, seconds: float = np.inf, steps: float = np.inf, threads: int = 1
) -> GaitMeasures:
    """Walk rows from disturbed starts until each has fallen, or has walked so long, or made so many steps.

    Args:
      walker: whose gaits.
      gaits: one for all, or numbers, one a row; each row starts as its gait does.
      speeds: (n, nv) added to the speeds of the starts.
      seconds, steps: at least one of them is finite; who makes no step for as long as `steps` would take ends too.
    """
    n, scene = len(speeds), walker.scene
    numbers = np.broadcast_to(np.asarray(walker.index(gaits) if isinstance(gaits, str) else gaits), n)
    sims = Sims(scene, n, threads)
    sims.use(walker.drive)
    openings = {int(g): walker.opening(walker.gaits[g].name) for g in np.unique(numbers)}
    sims.load(np.stack([openings[int(g)] for g in numbers]))
    sims.view("qvel")[:] += speeds
    sims.load(sims.state.copy())
    walker.start(sims)
    walker.choose(sims, np.array(numbers))
    tally = _Tally(walker, sims)
    most = min(seconds, 2.0 * steps)  # s; a step takes less than 2 s
    while tally.going.size:
        sims.act(tally.law, walker.drive, tally.going)
        tally.count(most, steps)
    return tally.measures()


class _Tally:
    """What is added up while rows walk."""

    def __init__(self, walker: Simbicon, sims: Sims) -> None:
        n = sims.nsim
        self.walker, self.sims, self.going, self.dt = walker, sims, np.arange(n), walker.scene.dt
        self.fallen, self.frames, self.late = np.zeros(n, bool), np.zeros(n, int), np.zeros(n, int)
        self.sums = {name: np.zeros(n) for name in ("ahead", "side", "turn", "lean", "untouched", "effort")}
        self.steps, self.late_steps = np.zeros(n), np.zeros(n)
        bones = bones_of(walker.scene)
        self.sole, self.root = bones.sole, bones.ids[0]
        self.yaw = yaws(sims.view("xquat")[:, self.root]).copy()

    def law(self, sims: Sims) -> np.ndarray:
        """The walker's, its effort added up."""
        out = self.walker.law(sims, self.going)
        self.sums["effort"][self.going] += np.mean(out[self.going] ** 2, axis=1)
        return out

    def count(self, most: float, steps: float) -> None:
        """One more frame."""
        sims, going, sums = self.sims, self.going, self.sums
        self.frames[going] += 1
        quat, velocity = sims.view("xquat")[going, self.root], sims.view("com_velocity")[going]
        memory: Any = sims.memory(MEMORY)[going]
        grounded = sims.view("grounded")[going]
        yaw = yaws(quat)
        turned = wrapped_angles(yaw - self.yaw[going])
        self.yaw[going] = yaw
        c, s = np.cos(yaw), np.sin(yaw)
        up = _up(quat)
        made = memory.footstrikes > self.steps[going]
        touching = (grounded * self.sole[memory.stance.astype(int)] > 0).any(axis=1)
        late = self.frames[going] * self.dt > SETTLING
        self.late[going] += late
        self.late_steps[going] += late & made
        sums["untouched"][going] += late & made & ~touching
        sums["turn"][going] += late * turned
        sums["ahead"][going] += late * (c * velocity[:, 0] + s * velocity[:, 1]) * self.dt
        sums["side"][going] += late * (c * velocity[:, 1] - s * velocity[:, 0]) * self.dt
        sums["lean"][going] += late * np.arctan2(c * up[:, 0] + s * up[:, 1], up[:, 2])
        self.steps[going] = memory.footstrikes
        self.fallen[going] |= self.walker.fallen(sims)[going]
        over = (self.frames[going] * self.dt >= most - 0.5 * self.dt) | (self.steps[going] >= steps)
        self.going = going[~self.fallen[going] & ~over]

    def measures(self) -> GaitMeasures:
        """All of it, by row; rates of who fell before they count are 0."""
        some, sums = np.maximum(self.late, 1), self.sums
        seconds, stepped = some * self.dt, np.maximum(self.late_steps, 1)
        calls = np.maximum(self.frames, 1) * self.walker.drive.steps
        return GaitMeasures(
            ~self.fallen, self.frames * self.dt, self.steps, sums["ahead"] / seconds, sums["side"] / seconds,
            sums["turn"] / seconds, seconds / stepped, sums["lean"] / some, sums["untouched"] / stepped,
            sums["effort"] / calls,
        )  # fmt: skip


def _up(quat: np.ndarray) -> Any:
    """(n, 3) where the z axes of rotations (n, 4) point."""
    w, x, y, z = quat.T
    return np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
