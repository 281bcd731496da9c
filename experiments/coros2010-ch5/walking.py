"""Section 5.5.1 and 5.6 of coros2010: speeds and periods, pushes, gains, and each component removed.

    python experiments/coros2010-ch5/walking.py            about 5 minutes on two cores
    python experiments/coros2010-ch5/walking.py --quick    under a minute, shorter and fewer

One should see: every speed from -0.6 to 1.7 m/s and every period from 0.2 to 1.0 s walked without a fall; most pushes
survived; halved and doubled gains bearable; and falls, or walks that drift from the speed that is asked for,
where a component is missing.
"""

import argparse
import json
import subprocess
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rows import Rows

from tumble.settings import replaced
from tumble.walking import WalkSettings
from tumble.world.drives import FRAME

RESULTS = Path(__file__).parent / "results" / "walking.json"
GRID = [
    *((speed, 0.6) for speed in (-0.6, -0.3, 0.0, 0.3, 0.6, 1.0, 1.4, 1.7)),
    *((0.6, period) for period in (0.2, 0.4, 0.8, 1.0)),
]
FORCE, PUSHED = 600.0, 0.1  # N, s
PACE = 0.6  # m/s
GAINS = ("root", "back", "hip", "knee", "ankle")
PARTS = ("foot_placement", "velocity_tuning", "gravity_compensation")


def grid(seconds: float) -> list[dict[str, Any]]:
    """Every point of the grid, side by side."""
    rows = Rows(len(GRID))
    rows.wish(
        speed=np.array([speed for speed, _ in GRID]), period=np.array([period for _, period in GRID]), heading=0.0
    )
    rows.go(5.0)
    rows.count()
    rows.go(seconds - 5.0)
    return [
        {"speed": speed, "period": period, "fell": _or_none(fell), "mean": float(mean)}
        for (speed, period), fell, mean in zip(GRID, rows.fallen, rows.speed(), strict=True)
    ]


def pushes(speed: float, directions: int, phases: int, settings: WalkSettings = WalkSettings()) -> dict[str, Any]:
    """Pushes from all sides, spread over two steps; who is up 5 s later."""
    n = directions * phases
    angle = np.repeat(2 * np.pi * np.arange(directions) / directions, phases)
    begin = np.round((5.0 + np.tile(1.2 * np.arange(phases) / phases, directions)) / FRAME)
    size = FORCE * np.c_[np.cos(angle), np.sin(angle), np.zeros(n)]
    rows = Rows(n, settings=settings)
    rows.wish(speed=speed, heading=0.0)
    rows.go(11.3, lambda frame: size * ((begin <= frame) & (frame < begin + round(PUSHED / FRAME)))[:, None])
    survived = np.isinf(rows.fallen).reshape(directions, phases).sum(axis=1)
    return {"speed": speed, "pushes": n, "survived": int(survived.sum()), "by_direction": survived.tolist()}


def removed(seconds: float, directions: int, phases: int) -> list[dict[str, Any]]:
    """All components, then without each; gains halved and doubled."""
    plain = WalkSettings()
    cases = {"all": plain}
    cases |= {f"without {part}": replaced(plain, {f"parts.{part}": False}) for part in PARTS}
    for factor, word in ((0.5, "halved"), (2.0, "doubled")):
        names = [f"{joint}_stiffness" for joint in GAINS]
        changes = {f"joints.{name}": factor * getattr(plain.joints, name) for name in names}
        cases[f"gains {word}"] = replaced(plain, changes)
    found = []
    for name, settings in cases.items():
        rows = Rows(4, settings=settings)
        rows.wish(speed=np.array([-0.3, 0.3, 0.6, 1.0]), heading=0.0)
        rows.go(5.0)
        rows.count()
        rows.go(seconds - 5.0)
        pushed = pushes(PACE, directions, phases, settings)
        walked = int(np.isinf(rows.fallen).sum())
        found.append({"case": name, "walked": walked, "of": 4, "means": rows.speed().tolist(), "pushed": pushed})
        print(f"{name:30} walks {walked} of 4, survives {pushed['survived']} of {pushed['pushes']} pushes")
    return found


def _or_none(second: float) -> float | None:
    return None if np.isinf(second) else float(second)


def main() -> None:
    """Run all, print, write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    seconds, directions, phases = (10.0, 4, 3) if quick else (60.0, 8, 10)
    began = time.perf_counter()
    found: dict[str, Any] = {"grid": grid(seconds)}
    for point in found["grid"]:
        print(f"{point['speed']:5.1f} m/s, {point['period']:.1f} s: mean {point['mean']:.2f}, fell {point['fell']}")
    found["pushes"] = [pushes(PACE, directions, phases), pushes(0.0, directions, phases)]
    for push in found["pushes"]:
        print(f"pushed at {push['speed']} m/s: {push['survived']} of {push['pushes']} survive")
    found["removed"] = removed(seconds / 3, directions, max(1, phases // 2))
    found |= {"quick": quick, "wall_seconds": time.perf_counter() - began}
    found["versions"] = {name: version(name) for name in ("tumble", "mujoco", "numpy", "numba")}
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=RESULTS.parent)
    found["commit"] = head.stdout.strip()
    if not quick:
        RESULTS.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
