"""The gains of `tumble.attraction.standing`, and which starts they bear.

    python experiments/alborno2016/standing.py fit        # about 15 minutes on one core: results/standing_fit.json
    python experiments/alborno2016/standing.py measure    # 1 minute: results/standing.json

Fitting has two parts. A linear model of the features, z' = F z + G u, is fitted by least squares to frames of many
bodies that stand under random references; a linear-quadratic regulator of it has gains for any weights. CMA-ES then
searches for the logarithms of these weights, how far ahead the body leans, and the numbers of the step, by what becomes
of disturbed bodies within 2 s; each generation sees new ones. The numbers of its JSON are those of the module, but for
`near`, which is 0.06 there: with 0.132 some tread on the spot for ever, which 2 s do not show.

Measured are starts on seeds that no fit has seen. Successes of plain PD control to the pose 'rest', of the feedback
without steps, and of all: 24, 44 and 56 of 64 pushes of 0.4 m/s; 2, 32 and 47 of 0.6 m/s; 0, 0 and 6 of 0.8 m/s; 51,
127 and 166 of 256 mixed starts, as after a get-up.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, astuple
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cma
import mujoco
import numpy as np
from scipy.linalg import solve_discrete_are

from tumble.attraction.standing import (
    GAINS,
    LATERAL,
    LATERAL_MOVES,
    REFLEX,
    SAGITTAL,
    SAGITTAL_MOVES,
    StandingFeedback,
    StandingGains,
    StepReflex,
)
from tumble.characters import character
from tumble.world.scene import Scene
from tumble.world.sims import Sims

RESULTS = Path(__file__).parent / "results"
Law = Callable[[Sims, np.ndarray], np.ndarray]

FRAMES, LAST = 60, 15  # a trial of 2 s, judged in its last 0.5 s
TRUNK, HEIGHT, SPEED, TURN = np.cos(np.radians(25)), 0.85, 0.5, np.radians(15)  # of a success: least, least, most, most
PUSHES = (0.2, 0.4, 0.6, 0.8)  # m/s
FIT_PUSHES = (0.4, 0.5, 0.6, 0.7)  # m/s, of the fit
ROWS = 64  # for each push
FRESH = 90_000  # seeds of measurements begin here
CALM = 0.05  # rad/s

# Fitting: scales of features and moves at which a quadratic cost is 1, which weights multiply
Z_SCALES = np.r_[
    [0.05, 0.05, 0.15, 0.3, 1.0, 0.15, 0.3, 0.5, 1.0, 4.0],
    [0.05, 0.1, 0.3, 0.3, 1.0, 0.2, 0.15, 0.4, 1.0, 1.0, 4.0, 1.0],
]
U_SCALES = np.array([0.15, 0.6, 0.15, 0.2, 0.05, 0.15, 0.15, 0.6, 0.1, 0.05, 0.1, 0.1])
NOISE = 0.02 * np.array([2, 3, 1, 1, 0.6, 2, 2, 3, 1, 1, 1, 1])  # rad of random references
BEGIN = np.r_[  # logarithms of the multipliers of Z_SCALES, U_SCALES, by shorter runs of the same search
    [2.1, -0.1, 1.5, -0.8, -0.5, -0.2, 1.2, -1.2, -0.9, -0.6, 0.5, 0.8, -0.7, 0.0, 0.8, -0.6, 0.6, 0.4, 0.4, 0.4, 0.6],
    [0.2, -2.5, -0.8, -2.5, -2.9, -1.9, -2.3, 0.6, -0.6, 0.8, 0.1, -0.4, -2.6],
]
AHEAD, AHEAD_SPREAD = 0.04, 0.02  # m by which the centre of mass is moved ahead: where the search begins, its spread
REFLEX_BEGIN = StepReflex(0.025, 0.044, 0.048, 0.47, 0.09, 0.066, 2.7, 1.2, 0.43, 0.156, 0.7)
REFLEX_SPREAD = np.array([0.02, 0.02, 0.02, 0.2, 0.03, 0.05, 1.5, 0.4, 0.3, 0.04, 0.4])
LEAST = np.array([-0.05, -0.05, 0.01, 0.0, 0.02, -0.1, 0.0, -1.0, 0.0, 0.0, -0.5])  # of a reflex


# Starts and trials ------------------------------------------------------------------------------------


def starts(scene: Scene, n: int, rng: np.random.Generator, push: float | None, mixed: bool) -> np.ndarray:
    """States (n, nstate) of the pose 'rest', facing anywhere, pushed anywhere.

    Args:
      push: m/s; None: anything up to 0.7.
      mixed: as after a get-up: besides, joints are off by up to 0.2 rad and so are the feet, the root is tilted by up
        to 15 degrees and turns by up to 1 rad/s, joints move by 0.3 rad/s, and all is dropped by 1 cm.
    """
    model, rest = scene.model, np.array(scene.character.pose("rest"))
    states = []
    for _ in range(n):
        data, pose = mujoco.MjData(model), rest.copy()
        heading, axis, tilt = rng.uniform(-np.pi, np.pi), rng.uniform(0, 2 * np.pi), 0.0
        if mixed:
            pose += rng.uniform(-1, 1, pose.size) * rng.uniform(0, 0.2)
            tilt = rng.uniform(0, np.radians(15)) * rng.random()
        turn = np.array([np.cos(heading / 2), 0.0, 0.0, np.sin(heading / 2)])
        lean = np.array([np.cos(tilt / 2), *np.sin(tilt / 2) * np.array([np.cos(axis), np.sin(axis), 0.0])])
        mujoco.mju_mulQuat(data.qpos[3:7], turn, lean)
        data.qpos[7:] = np.clip(pose, *model.jnt_range[1:].T)
        scene.land(data, 0.01 if mixed else 0.0)
        speed, to = rng.uniform(0, 0.7) if push is None else push, rng.uniform(0, 2 * np.pi)
        data.qvel[:2] = speed * np.cos(to), speed * np.sin(to)
        if mixed:
            data.qvel[5], data.qvel[6:] = rng.uniform(-1, 1), rng.normal(0, 0.3, pose.size)
        states.append(scene.read(data))
    return np.array(states)


class Trials:
    """Bodies in a batch, judged frame by frame.

    Attributes:
      fine: (n,) whether all frames that count were those of a success.
      cost: (n,) sum over frames of how far they were from a success, at most 1 each.
      up: numbers of the rows that have not fallen; others are left alone.
    """

    def __init__(self, scene: Scene, states: np.ndarray, drop: bool = False) -> None:
        """Bodies in these states; `drop` those that fell, which costs what the rest of the trial may cost."""
        self.scene, self.drive, self.drop = scene, scene.drives["pd"], drop
        self.sims = Sims(scene, len(states), 1)
        self.sims.use(self.drive)
        self.sims.load(states)
        feet = [scene.bones.index(foot) for foot in scene.character.feet]
        self._others = np.delete(np.arange(len(scene.bones)), feet)
        self._standing = scene.show(scene.state("rest")).xpos[scene.root(), 2]
        self.up, self.fine, self.cost = np.arange(len(states)), np.ones(len(states), bool), np.zeros(len(states))
        self._began = self._heading()

    def run(self, law: Law) -> None:
        """All frames by a law, which sees the rows that have not fallen."""
        for frame in range(FRAMES):
            if self.up.size:
                all_up = self.up.size == self.sims.nsim
                self.sims.act(law(self.sims, self.up), self.drive, slice(None) if all_up else self.up)
                self._judge(frame)
        self.fine &= ~self.sims.broken

    def _heading(self) -> np.ndarray:
        """Of the pelvis, rad."""
        w, x, y, z = self.sims.view("qpos")[:, 3:7].T
        return np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))

    def _judge(self, frame: int) -> None:
        """Take a frame into account."""
        sims, rows = self.sims, self.up
        upright = sims.view("torso.up")[rows, 2]
        height = sims.view("pelvis.pos")[rows, 2] / self._standing
        speed = np.linalg.norm(sims.view("com_velocity")[rows], axis=1)
        turned = np.abs((self._heading() - self._began + np.pi)[rows] % (2 * np.pi) - np.pi)
        touches = (sims.view("grounded")[rows][:, self._others] > 0).any(1)
        shaking = (sims.view("qvel")[rows, 6:] ** 2).mean(1)
        cost = np.clip((1 - upright) / 0.1, 0, 3) + np.clip((0.97 - height) / 0.1, 0, 3) + (turned / TURN) ** 2
        cost += (speed / SPEED) ** 2 * (frame > FRAMES // 4) + 0.05 * shaking * (frame > FRAMES // 2)
        self.cost[rows] += np.minimum(cost / 3, 1)
        if frame >= FRAMES - LAST:
            self.fine[rows] &= ~(touches | (upright < TRUNK) | (height < HEIGHT) | (speed > SPEED) | (turned > TURN))
        if self.drop:
            down = (upright < 0.3) | (height < 0.5) | sims.broken[rows]
            self.cost[rows[down]] += FRAMES - 1 - frame
            self.fine[rows[down]] = False
            self.up = rows[~down]


def hold(scene: Scene) -> Law:
    """Plain PD control to the pose 'rest'."""
    rest = np.tile(scene.character.pose("rest"), 2)
    return lambda sims, rows: np.tile(rest, (len(rows), 1))


# Fitting ----------------------------------------------------------------------------------------------


def moves_of(scene: Scene) -> np.ndarray:
    """Weights of joints in each move (12, joints)."""
    joints = scene.character.joints
    return np.array([[move.get(joint, 0.0) for joint in joints] for move in SAGITTAL_MOVES + LATERAL_MOVES])


def identify(scene: Scene, rng: np.random.Generator, n: int = 256, frames: int = 120) -> tuple[np.ndarray, Any]:
    """Features at rest under plain PD control (22,), and (F, G) of the sagittal and the lateral features."""
    drive, rest, moves = scene.drives["pd"], np.array(scene.character.pose("rest")), moves_of(scene)
    law = StandingFeedback(scene)
    one = Sims(scene, 1, 1)
    one.load(scene.state("rest"))
    seen = []
    for _ in range(600):
        one.act(np.tile(rest, 2)[None], drive)
        seen.append(law.features(one, np.array([0]))[0])
    stance = np.mean(seen[-200:], axis=0)
    sims, rows = Sims(scene, n, 1), np.arange(n)
    sims.load(starts(scene, n, rng, 0.1, mixed=False))
    u, before, after = np.zeros((n, len(moves))), [], []
    for frame in range(frames):
        u = np.where(rng.random(u.shape) < 0.15, rng.normal(0, NOISE, u.shape), u)
        z = law.features(sims, rows) - stance
        sims.act(np.tile(rest + u @ moves, 2), drive)
        if frame > 5:  # feet bear by then
            near = (np.abs(z[:, [0, SAGITTAL]]) < 0.08).all(1) & (np.abs(z[:, [2, SAGITTAL + 1]]) < 0.25).all(1)
            before.append(np.hstack([z, u])[near])
            after.append((law.features(sims, rows) - stance)[near])
    x, y = np.concatenate(before), np.concatenate(after)
    models = []
    kinds = ((0, SAGITTAL, 0, len(SAGITTAL_MOVES)), (SAGITTAL, SAGITTAL + LATERAL, len(SAGITTAL_MOVES), len(moves)))
    for z0, z1, u0, u1 in kinds:
        inputs = x[:, np.r_[z0:z1, SAGITTAL + LATERAL + u0 : SAGITTAL + LATERAL + u1]]
        fitted = np.linalg.lstsq(inputs, y[:, z0:z1], rcond=None)[0].T
        models.append((fitted[:, : z1 - z0], fitted[:, z1 - z0 :]))
    return stance, models


def regulator(f: np.ndarray, g: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
    """K of u = -K z that minimises the sum of z'Qz + u'Ru, of diagonals q and r."""
    p = solve_discrete_are(f, g, np.diag(q), np.diag(r))
    return np.linalg.solve(np.diag(r) + g.T @ p @ g, g.T @ p @ f)


def gains_of(weights: np.ndarray, ahead: float, stance: np.ndarray, models: Any) -> StandingGains:
    """StandingGains, to 4 digits, for logarithms of scales (34,), and a centre of mass moved ahead by so many m."""
    z, u = np.exp(weights[: Z_SCALES.size]) * Z_SCALES, np.exp(weights[Z_SCALES.size :]) * U_SCALES
    (f, g), n = models[0], len(SAGITTAL_MOVES)
    sagittal = regulator(f, g, z[:SAGITTAL] ** -2, u[:n] ** -2)
    lateral = regulator(*models[1], z[SAGITTAL:] ** -2, u[n:] ** -2)
    still = np.linalg.solve(np.eye(SAGITTAL) - f, g[:, n - 1])  # features per rad of the ankles, at rest
    lean = ahead / still[0]
    place = (stance[:SAGITTAL] + still * lean)[: SAGITTAL // 2]
    return StandingGains(sagittal.round(4), lateral.round(4), place.round(4), round(float(lean), 4))


def candidate(x: np.ndarray, stance: np.ndarray, models: Any) -> tuple[StandingGains, StepReflex]:
    """What a point of the search means: 34 weights, how far ahead, the reflex."""
    reflex = np.maximum(np.array(astuple(REFLEX_BEGIN)) + REFLEX_SPREAD * x[35:], LEAST)
    ahead = float(np.clip(AHEAD + AHEAD_SPREAD * x[34], 0.0, 0.05))
    gains = gains_of(np.clip(BEGIN + x[:34], -4, 4), ahead, stance, models)
    return gains, StepReflex(*(round(float(number), 4) for number in reflex))


def costs(scene: Scene, laws: list[Law], states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean cost and share of successes of every law, all in one batch."""
    n, trials = len(states), Trials(scene, np.tile(states, (len(laws), 1)), drop=True)
    trials.run(lambda sims, rows: np.concatenate([law(sims, rows[rows // n == i]) for i, law in enumerate(laws)]))
    fine = trials.fine.reshape(len(laws), n).mean(1)
    return trials.cost.reshape(len(laws), n).mean(1) / FRAMES + 0.5 * (1 - fine), fine


def fit(generations: int, seed: int) -> None:
    """Search, and write what was found."""
    began, scene, rng = time.perf_counter(), Scene(character("humanoid25")), np.random.default_rng(seed)
    stance, models = identify(scene, rng)
    size = 35 + REFLEX_SPREAD.size
    options = {"seed": np.nan, "randn": lambda *shape: rng.standard_normal(shape), "popsize": 14, "verbose": -9}
    search, history = cma.CMAEvolutionStrategy(np.zeros(size), 0.3, options), []
    for generation in range(generations):
        points = search.ask()
        pushed = [starts(scene, 6, rng, push, mixed=False) for push in FIT_PUSHES]
        states = np.concatenate([starts(scene, 48, rng, None, mixed=True), *pushed])
        laws: list[Law] = [StandingFeedback(scene, *candidate(point, stance, models)).control for point in points]
        cost, fine = costs(scene, laws, states)
        search.tell(points, list(cost))
        history.append([round(float(cost.mean()), 4), round(float(fine.mean()), 4)])
        print(generation, round(time.perf_counter() - began), *history[-1], round(search.sigma, 3), flush=True)
        gains, reflex = candidate(search.mean, stance, models)
        write("standing_fit.json", {
            "seed": seed, "generations": generation + 1, "wall_seconds": round(time.perf_counter() - began),
            "gains": {key: np.asarray(value).tolist() for key, value in vars(gains).items()}, "reflex": asdict(reflex),
            "cost_and_success_of_generations": history,
        })  # fmt: skip


# Measuring --------------------------------------------------------------------------------------------


def measure() -> None:
    """Successes of plain PD control and of standing without and with steps, and how calmly it stands for 10 s."""
    began, scene = time.perf_counter(), Scene(character("humanoid25"))
    laws: dict[str, Law] = {
        "hold": hold(scene),
        "feedback": StandingFeedback(scene, GAINS, None).control,
        "standing": StandingFeedback(scene, GAINS, REFLEX).control,
    }
    found: dict[str, Any] = {}
    for name, law in laws.items():
        found[name] = {}
        for number, push in enumerate((*PUSHES, None)):
            rng = np.random.default_rng(FRESH + number)
            states = starts(scene, ROWS if push else 4 * ROWS, rng, push, mixed=push is None)
            trials = Trials(scene, states)
            trials.run(law)
            found[name][str(push or "mixed")] = [int(trials.fine.sum()), len(states)]
        print(name, *(f"{key}: {won} of {runs}" for key, (won, runs) in found[name].items()), sep="  ", flush=True)
    still = calm(scene, laws["standing"])
    print(f"fastest joint from 3 s to 10 s: {still:.4f} rad/s")
    write("standing.json", {
        "successes": found, "seeds": [FRESH + number for number in range(len(PUSHES) + 1)], "fastest_joint": still,
        "versions": {name: version(name) for name in ("tumble", "mujoco", "numpy")},
        "wall_seconds": round(time.perf_counter() - began),
    })  # fmt: skip


def calm(scene: Scene, law: Law) -> float:
    """The fastest joint from 3 s to 10 s after it was put down in the pose 'rest', rad/s."""
    sims, fastest = Sims(scene, 1, 1), 0.0
    sims.load(scene.state("rest"))
    for frame in range(300):
        sims.act(law(sims, np.array([0])), scene.drives["pd"])
        if frame >= 90:
            fastest = max(fastest, float(np.abs(sims.view("qvel")[0, 6:]).max()))
    return fastest


def write(name: str, data: dict[str, Any]) -> None:
    """Results beside this script."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fit", "measure"])
    parser.add_argument("--generations", type=int, default=45)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    if chosen.what == "fit":
        fit(chosen.generations, chosen.seed)
    else:
        measure()
