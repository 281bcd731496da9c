"""Section 4.6: jump and crouch over and over, with a push from any side whenever an act has ended.

    python experiments/alborno2016/sequence.py            # some minutes on one core
    python experiments/alborno2016/sequence.py --quick    # seconds, nothing kept

The scenario `sequence` itself draws nothing: all its trials begin alike, and differ only where something is searched.
Here every trial has pushes of its own, of 0.1 s on the trunk, in the half second in which it waits for the next act.
Success is the scenario's: nothing but feet on the ground, as many leaps as acts, on its feet in the end. The paper
shows the sequence without pushes, and gives no figures. One should see most succeed with small pushes.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

from tumble.attraction.attracted import Attracted
from tumble.attraction.upright import PUSH
from tumble.cli.experiment import Experiment
from tumble.live.commands import Push
from tumble.scenarios.attracting import SkillSequence
from tumble.scenarios.trial import Trial

HERE = Experiment(Path(__file__).parent)
ACTS = "jump; crouch; rise; jump; crouch; rise; jump"
IMPULSES, TRIALS, SEED = (2.5, 5.0, 7.5), 10, 66_000  # N s


def job(acts: str, impulse: float, seed: int) -> dict[str, Any]:
    """One trial: whether it succeeded, and how many acts were left undone."""
    trial, rng = Trial(SkillSequence(acts=acts), seed, threads=1), np.random.default_rng(seed)
    controller, body = trial.controller, trial.scene.character.trunk
    assert isinstance(controller, Attracted)
    followed = False
    while not trial.over:
        if followed and controller.branch is None:
            angle, force = rng.uniform(0.0, 2 * math.pi), impulse / PUSH
            trial.send(Push(body, (force * math.cos(angle), force * math.sin(angle), 0.0), seconds=PUSH))
        followed = controller.branch is not None
        trial.step()
    return {"success": trial.result().success, "left": len(controller._acts)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.quick:
        print(job("jump; crouch; rise", IMPULSES[0], SEED))
        return
    jobs = [(ACTS, impulse, SEED + i) for impulse in IMPULSES for i in range(TRIALS)]
    rows = HERE.measured("sequence-pushes", job, jobs, chosen.jobs)
    for impulse in IMPULSES:
        mine = [row["success"] for row in rows if row["job"][1] == impulse]
        print(f"{impulse:g} N s after every act: {sum(mine)} of {len(mine)}")


if __name__ == "__main__":
    main()
