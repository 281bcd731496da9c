"""Fingerprints of runs: whether a change of the code left every bit of the behaviour as it was.

    python experiments/fingerprints.py --save before.json        # about four minutes on two cores
    python experiments/fingerprints.py --compare before.json     # after a move or a rename: nothing may differ

A fingerprint is a hash of qpos and qvel of all frames of the first 3 s of a scenario. Hashes differ between machines
and between versions of MuJoCo, so that none are kept in the repository: take them before a change, on the same machine.
"""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np

from tumble.scenarios import SCENARIOS, Trial, run_trial

SECONDS = 3.0
SEED = 11
RUNS = [  # scenario and controller; '' for the scenario's own
    *((name, "") for name in ("stand", "push", "wall", "explosion", "getup", "reach", "ball", "juggle", "steer")),
    *((name, "") for name in ("obstacles", "turbo", "dodge", "learn-walk", "learn-trot", "learn-hop")),
    ("push", "ps"), ("push", "cem"), ("push", "mppi"), ("getup", "pf-mpc"), ("getup", "smc"),
    *((name, "") for name in ("steer-walk", "walk-push", "walk-bodies", "step-over", "stairs", "pick-up")),
    *((name, "") for name in ("crate-carry", "crate-push", "crowd", "simbicon-humanoid", "simbicon-raptor")),
]  # fmt: skip


def fingerprint(name: str, controller: str) -> str:
    """The hash of one run."""
    trial = Trial(SCENARIOS[name](), SEED, controller or None, seconds=SECONDS)
    digest = hashlib.sha256()

    def hear(session, frame):
        for field in ("qpos", "qvel"):
            digest.update(np.ascontiguousarray(session.world.view(field)[0]).tobytes())

    run_trial(trial, lambda session: session.listeners.append(hear))
    return digest.hexdigest()[:16]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", type=Path, help="write the fingerprints here")
    parser.add_argument("--compare", type=Path, help="tell what differs from these")
    parser.add_argument("--only", default="", help="only scenarios whose name holds this")
    options = parser.parse_args()
    found = {}
    before = json.loads(options.compare.read_text()) if options.compare else {}
    differing = 0
    for name, controller in RUNS:
        if options.only not in name:
            continue
        key = f"{name} {controller}".strip()
        found[key] = fingerprint(name, controller)
        same = before.get(key) == found[key]
        differing += bool(before) and not same
        print(f"{key:24} {found[key]}{'' if not before or same else f'  differs from {before.get(key)}'}", flush=True)
    if options.save:
        options.save.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
