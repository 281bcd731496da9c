"""The humanoid's base: how src/tumble/stepping/gaits/humanoid.toml was made (section 3.3.1 gives none).

    python experiments/coros2010-ch3/base.py mine.toml                   # some 5 minutes on a core
    python experiments/coros2010-ch3/base.py mine.toml --generations 1   # a minute

`humanoid-before.toml` was fitted for its step length alone. Its feet land on their heels, toes up by half a radian; on
a heel a foot spins, and the body with it: after starts disturbed by 0.1 the yaw of its steps 3 to 14 deviates by 0.4 to
0.7 rad. `flat` has feet land flat, by hand: some 0.02 rad. Then CMA-ES fits numbers that an action does not set, and
the means of those that it does, to walk on while actions are drawn at random, with `NOISE` times `DRAWN` as standard
deviations. The cost counts falls, yaw and uneven lateral spacing under such actions, and without them how far lengths
are from 0.36 m and spacings from 0.16 m. Last, `lifted`, by hand again: toes that drag for a third of the swing do no
harm on level ground, but dip into a gap and stub its far edge. Feet are 7 cm high in the middle of the swing then.
"""

import argparse
from dataclasses import replace as replaced
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np

from tumble.characters import character
from tumble.errors import UserError
from tumble.maths.evolution import optimiser
from tumble.maths.vectors import yaws
from tumble.simbicon.body import MEMORY
from tumble.simbicon.gait import Gait, Motion, check_gait, load_gait
from tumble.stepping.base import BASES, Base
from tumble.stepping.strider import Strider
from tumble.toml import toml_of
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

BEFORE = Path(__file__).parent / "humanoid-before.toml"
NUMBERS, POPULATION, SPREAD, SEED = 25, 12, 0.5, 1
ROWS, QUIET, STEPS, EASY, LATE = 12, 3, 13, 3, 6  # of a candidate; first steps without noise, and that do not count
DISTURBED, NOISE = 0.1, 0.75
DRAWN = np.array([0.08, 0.08, 0.08, 0.12, 0.12, 0.15, 0.12, 0.12, 0.08])  # rad and s
change = msgspec.structs.replace


def with_joints(gait: Gait, **motions: dict[str, Any]) -> Gait:
    """The gait with parts of some motions changed."""
    state = gait.states[0]
    joints = {**state.joints, **{role: change(state.joints.get(role, Motion()), **m) for role, m in motions.items()}}
    return change(gait, states=(change(state, joints=joints),))


def flat(gait: Gait) -> Gait:
    """The gait with feet that land flat."""
    swing = ((0.0, 1.45), (0.224, 0.73), (0.431, -0.18), (0.689, -0.3), (0.987, -0.15))
    return with_joints(gait, swing_ankle={"bend": swing}, stance_ankle={"bend": ((0.0, -0.05), (1.0, 0.2))})


def lifted(gait: Gait) -> Gait:
    """The gait with feet that leave the ground early, as high as a gap's far edge asks for, and not wider apart."""
    joints = gait.states[0].joints
    ankle, knee, side = joints["swing_ankle"].bend, joints["swing_knee"].bend, joints["swing_hip"].side
    more = (0.25, 0.25, 0.15, 0.15, *[0.0] * (len(knee) - 4))
    return with_joints(
        gait,
        swing_ankle={"bend": ((0.0, 1.0), (0.15, 0.4), (0.3, -0.2), *ankle[3:])},
        swing_knee={"bend": tuple((p, round(y + m, 5)) for (p, y), m in zip(knee, more, strict=True))},
        swing_hip={"side": tuple((p, round(y + 0.02, 5)) for p, y in side)},
    )


def changed(gait: Gait, x: np.ndarray) -> Gait:
    """The gait with its numbers changed by x (25,), in units of some 0.1 rad, or of a part of what they are."""
    joints, at = gait.states[0].joints, iter(x)

    def by(scale: float) -> float:
        return float(round(next(at) * scale, 5))

    def moved(knots: Any, amount: float, tilt: float = 0.0) -> Any:
        return tuple((p, round(y + amount + tilt * (2 * p - 1), 5)) for p, y in knots)

    def fed(pair: Any, d: float, v: float) -> Any:
        return round(pair[0] + d, 5), round(pair[1] + v, 5)

    hip, ankle = joints["swing_hip"], joints["stance_ankle"]
    new: dict[str, dict[str, Any]] = {}
    new["swing_hip"] = {
        "bend": moved(hip.bend, by(0.08), by(0.08)), "side": moved(hip.side, by(0.05)),
        "bend_feedback": fed(hip.bend_feedback, by(0.1), by(0.1)),
        "side_feedback": fed(hip.side_feedback, by(0.12), by(0.12)),
    }  # fmt: skip
    new["root"] = {"bend": moved(joints["root"].bend, by(0.04))}
    new["stance_knee"] = {"bend": moved(joints["stance_knee"].bend, by(0.05))}
    new["stance_ankle"] = {
        "bend": tuple((p, round(y + by(0.08), 5)) for p, y in ankle.bend),
        "bend_feedback": fed(ankle.bend_feedback, by(0.15), by(0.1)), "side": moved(ankle.side, by(0.04)),
        "side_feedback": fed(ankle.side_feedback, by(0.1), by(0.1)),
    }  # fmt: skip
    late, last = by(0.1), by(0.08)
    swing = joints["swing_ankle"].bend
    new["swing_ankle"] = {
        "bend": (
            *swing[:3],
            (swing[3][0], round(swing[3][1] + late, 5)),
            (swing[4][0], round(swing[4][1] + late + last, 5)),
        )
    }
    knee, straight = by(0.08), by(0.08)
    bend = tuple((p, round(y + knee + (straight if p > 0.7 else 0.0), 5)) for p, y in joints["swing_knee"].bend)
    new["swing_knee"] = {"bend": bend}
    found = with_joints(gait, **new)
    state = found.states[0]
    found = change(found, states=(change(state, duration=round(float(state.duration * np.exp(0.08 * next(at))), 5)),))
    found = change(found, hip_damping=round(float(found.hip_damping * np.exp(0.4 * next(at))), 3))
    root, ankles = found.gains["root"], found.gains["ankle"]
    root = change(root, twist=round(float(root.twist * np.exp(0.5 * next(at))), 4))
    ankles = change(ankles, stiffness=round(float(ankles.stiffness * np.exp(0.25 * next(at))), 2))
    ankles = change(ankles, side=round(float(ankles.side * np.exp(0.4 * next(at))), 4))
    return change(found, gains={**found.gains, "root": root, "ankle": ankles})


class Judge:
    """Walks candidates."""

    def __init__(self, folder: Path) -> None:
        self.scene, self.folder, self._count = Scene(character("biped34"), ground=Ground(0.8)), folder, 0
        self.sims = Sims(self.scene, ROWS, nthread=1)

    def strider(self, gait: Gait) -> Strider:
        """Of a base with that gait."""
        self._count += 1
        path = self.folder / f"{self._count}.toml"
        path.write_text(toml_of(gait))
        base: Base = replaced(BASES["humanoid"](), file=str(path))
        found = Strider(self.scene, base)
        self.sims.use(found.walker.drive)
        return found

    def cost(self, gait: Gait, seeds: tuple[int, ...]) -> float:
        """Of a candidate, see the module; the first rows do as the gait does by itself."""
        try:
            check_gait(gait, self.scene.character)
        except UserError:
            return 100.0
        strider, sims, rng = self.strider(gait), self.sims, np.random.default_rng(seeds)
        strider.begin(sims)
        sims.view("qvel")[:] += DISTURBED * rng.standard_normal((ROWS, self.scene.model.nv))
        sims.load(sims.state.copy())
        rows, action = np.arange(ROWS), strider.base.action
        up, quiet, noisy = 0.0, list[np.ndarray](), list[np.ndarray]()
        for k in range(STEPS):
            drawn = rng.standard_normal((ROWS, len(action)))
            drawn[:QUIET] = 0.0
            if not rows.size:
                break
            strider.apply(sims, rows, (action + NOISE * DRAWN * drawn * (k >= EASY))[rows])
            rows = rows[strider.step(sims, rows)]
            made = np.column_stack([*strider.measured(sims, rows), yaws(sims.view("xquat")[rows, 1])])
            if k >= EASY:
                up += float((rows >= QUIET).sum()) / (ROWS - QUIET) / (STEPS - EASY)
                noisy.append(made[rows >= QUIET])
            if k >= LATE:
                quiet.append(made[rows < QUIET])
        cost, (own, shaken) = 12.0 * (1.0 - up), (np.concatenate([np.zeros((0, 3)), *one]) for one in (quiet, noisy))
        if len(own):
            length, lateral, yaw = own.T
            cost += min(((length.mean() - 0.36) / 0.04) ** 2, 4) + min(((lateral.mean() - 0.16) / 0.05) ** 2, 3)
            cost += length.std() / 0.03 + min(np.abs(yaw).mean() / 0.05, 4)
        cost += 6.0 * (1.0 - len(own) / (QUIET * (STEPS - LATE))) if len(own) else 20.0
        if len(shaken):
            cost += min(np.abs(shaken[:, 2]).mean() / 0.1, 5) + min(shaken[:, 1].std() / 0.06, 5)
        return float(cost)

    def opened(self, gait: Gait) -> Gait:
        """The gait with the opening that its own walk comes to."""
        strider, sims, rows = self.strider(gait), self.sims, np.arange(ROWS)
        strider.begin(sims)
        for k in range(60):
            strider.apply(sims, rows, np.tile(strider.base.action, (ROWS, 1)))
            strider.step(sims, rows)
            if k >= 50 and sims.memory(MEMORY).stance[0] == 0:
                break
        model, qpos, qvel = self.scene.model, sims.view("qpos")[0], sims.view("qvel")[0]
        angles = {name: round(float(qpos[model.joint(name).qposadr[0]]), 3) for name in gait.start.angles}
        rates = {name: round(float(qvel[model.joint(name).dofadr[0]]), 2) for name in gait.start.rates}
        speed, drift = (round(float(v), 3) for v in qvel[:2])
        return change(gait, start=change(gait.start, speed=speed, drift=drift, angles=angles, rates=rates))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--generations", type=int, default=6)
    options = parser.parse_args()
    start = flat(load_gait(BEFORE, character("biped34")))
    search = optimiser(np.zeros(NUMBERS), SPREAD, POPULATION, np.random.default_rng(SEED))
    with TemporaryDirectory() as folder:
        judge = Judge(Path(folder))
        for generation in range(options.generations):
            asked = search.ask()
            costs = [judge.cost(changed(start, x), (SEED, generation)) for x in asked]
            search.tell(asked, costs)
            print(f"generation {generation}: best {min(costs):.2f}, mean {np.mean(costs):.2f}", flush=True)
        options.out.write_text(toml_of(judge.opened(lifted(changed(start, search.result.xfavorite)))))


if __name__ == "__main__":
    main()
