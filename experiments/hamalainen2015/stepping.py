"""The numbers of the stepping reflex, found by search: no figure of the paper.

The reflex alone moves 32 humanoids that stand, with noise on their joints' speeds: 1.5 s ahead at 1.25 m/s, then 2.5 s
into as many directions all around. CMA-ES (10 a generation) raises the mean over rows and time of

    min(max(v, -1), 1.3) + 0.7 cos(a) + 1.5 (up - 1)

while they are on their feet, 0 after: v the speed along the command, m/s, a the angle from the pelvis's heading to it,
up the height of the trunk's up vector. One should see how long the reflex walks alone with the numbers that it has and
with those found from there: seconds on its feet, and the speed along. Ten minutes. --quick: two generations.
"""

import dataclasses
import time

import numpy as np
import report

from tumble.characters import character
from tumble.maths.evolution import optimiser
from tumble.maths.vectors import yaws
from tumble.planners.reflexes.stepping import Stepping, SteppingLaw
from tumble.world.scene import Scene
from tumble.world.sims import Sims

SEARCHED = (
    "tau", "kappa", "wide", "least", "due", "low", "lift", "push", "turn", "fastest_turn", "toe", "most_toe", "look",
    "rho",
)  # fmt: skip
ROWS, SECONDS, AHEAD, SPEED, NOISE = 32, 4.0, 1.5, 1.25, 0.3


def alone(sims: Sims, law: SteppingLaw, seed: int) -> dict[str, float]:
    """How the reflex does without a planner: its score, s on its feet, m/s along while on its feet."""
    scene, rng, reflex = sims.scene, np.random.default_rng(seed), Stepping(sims.scene, law)
    rest, motors = np.array(scene.character.pose("rest")), scene.drive
    around = np.linspace(-np.pi, np.pi, ROWS, endpoint=False) + 0.01
    sims.load(scene.state("rest"))
    stands, score, seconds, way = np.ones(ROWS, bool), 0.0, np.zeros(ROWS), 0.0
    frames = round(SECONDS / scene.dt)
    for frame in range(frames):
        heading = around if frame * scene.dt >= AHEAD else np.zeros(ROWS)
        course = np.stack([np.cos(heading), np.sin(heading)], axis=1)
        control = np.ones((ROWS, motors.size))
        control[:, : motors.joints] = 4.0 * (rest - sims.view("qpos")[:, motors.qpos])
        reflex.steps(sims, np.arange(ROWS), min(1.0, (frame + 1) / 15) * SPEED * course, control)
        control[:, : motors.joints] += NOISE * rng.standard_normal((ROWS, motors.joints))
        sims.act(np.clip(control, motors.low, motors.high))
        stands &= (sims.view("com")[:, 2] > 0.75 * scene.standing) & ~sims.broken
        along = (sims.view("com_velocity")[:, :2] * course).sum(axis=1)
        upright = sims.view(f"{scene.character.trunk}.up")[:, 2]
        faces = np.cos(yaws(sims.view("qpos")[:, 3:7]) - heading)
        score += float((stands * (np.clip(along, -1.0, 1.3) + 0.7 * faces + 1.5 * (upright - 1.0))).mean()) / frames
        seconds += stands * scene.dt
        way += float((stands * along).sum()) * scene.dt
    return {"score": score, "seconds": float(seconds.mean()), "along": way / float(seconds.sum())}


def search(seconds: float) -> dict[str, object]:
    """The law that CMA-ES ends with, and how it and the one it began with do on seeds of their own."""
    sims, first = Sims(Scene(character("humanoid")), ROWS), SteppingLaw()
    start = np.array([getattr(first, name) for name in SEARCHED])

    def law(x: np.ndarray) -> SteppingLaw:
        return dataclasses.replace(first, **dict(zip(SEARCHED, (start * np.exp(x)).tolist(), strict=True)))

    found = optimiser(np.zeros(start.size), 0.2, 10, np.random.default_rng(1))
    began, generations = time.perf_counter(), 0
    while generations < 2 or time.perf_counter() - began < seconds:
        asked = found.ask()
        found.tell(asked, [-alone(sims, law(x), generations // 6)["score"] for x in asked])
        generations += 1
    last = law(found.mean)
    before, after = ([alone(sims, one, seed) for seed in (900, 901)] for one in (first, last))
    return {"generations": generations, "law": dataclasses.asdict(last), "before": before, "after": after}


if __name__ == "__main__":
    options = report.parser(__doc__).parse_args()
    answer = search(0.0 if options.quick else 600.0)
    report.store(report.place("stepping", options.quick), answer | {"versions": report.versions()})
    for which in ("before", "after"):
        print(which, answer[which])
