"""Robots of other packages as characters: what stands, is pushed, gets up and goes, by the product's own commands.

    python experiments/robots/robots.py                 # all that is not there yet; about two hours on two idle cores
    python experiments/robots/robots.py --only getup    # those whose row holds a word
    python experiments/robots/robots.py --again         # also those that are there
    python experiments/robots/robots.py --jobs 2        # as many trials at once; default: one per core
    python experiments/robots/robots.py --quick         # read all five, one second of each: a minute once they are here
    python experiments/robots/robots.py --write         # put the table into README.md

The wheels are downloaded by pip and used as files: what is needed is unpacked into --cache, by default
~/.cache/tumble-robots, and nothing of them is installed or run. A row is `tumble run ... --json`, whose answer is kept
in results/ with commit and versions. All rows are measured with two trials, then with four, and so on, and trials that
were finished are kept: so it can be stopped at any time, says how many trials a rate is of, and goes on later.

G1's file has no motors. Their torque limits are put into its file of parts, as mjlab 1.6.0 has them in its
g1_constants.py: all else about the five is what tumble guesses.
"""

import argparse
import json
import re
import subprocess
import sys
import time
import zipfile
from importlib.metadata import version
from pathlib import Path

from tumble.characters.mjcf_parts import keep_parts, parts_place
from tumble.characters.own import own_robot, unread

HERE = Path(__file__).parent
RESULTS = HERE / "results"
CACHE = Path("~/.cache/tumble-robots").expanduser()
ROBOTS = {  # name: wheel, folder in it, MJCF in that
    "humanoid": ("dm-control==1.0.50", "dm_control/suite", "humanoid.xml"),
    "humanoid_CMU": ("dm-control==1.0.50", "dm_control/suite", "humanoid_CMU.xml"),
    "g1": ("mjlab==1.6.0", "mjlab/asset_zoo/robots/unitree_g1/xmls", "g1.xml"),
    "t1": ("holosoma==0.0.3", "holosoma/data/robots/t1", "t1_29dof.xml"),
    "dog": ("dm-control==1.0.50", "dm_control/suite", "dog.xml"),
}
G1_TORQUES = (  # N m, of joints whose names hold a word; g1_constants.py of mjlab 1.6.0
    ("hip_roll|knee", 139.0), ("hip_pitch|hip_yaw|waist_yaw", 88.0), ("ankle|waist", 50.0),
    ("wrist_pitch|wrist_yaw", 5.0), ("", 25.0),
)  # fmt: skip
ROWS = [  # what is asked of a robot, and of how many trials; the first ones first
    *((robot, "getup --seconds 8 --samples 64", 10) for robot in ("g1", "t1")),
    *((robot, "push --force 100 --samples 64", 10) for robot in ("g1", "t1")),
    *((robot, "stand --samples 64", 2) for robot in ("g1", "t1", "humanoid")),
    ("humanoid_CMU", "stand --samples 16", 2),
    ("dog", "learn-trot --pace 0.5 --until 15 --samples 32 --controller cpbp", 2),
    *((robot, "push --force 100 --samples 64", 4) for robot in ("humanoid", "humanoid_CMU")),
    *((robot, "getup --seconds 8 --samples 64", 4) for robot in ("humanoid", "humanoid_CMU")),
]
SEED = 100
ROUND = 2  # trials that are added to every row in turn


def fetch(cache: Path) -> dict[str, Path]:
    """Download and unpack what is not there yet; the MJCF by robot."""
    cache.mkdir(parents=True, exist_ok=True)
    places = {}
    for name, (wheel, folder, file) in ROBOTS.items():
        places[name] = cache / folder / file
        if places[name].is_file():
            continue
        base = wheel.partition("==")[0].replace("-", "_")
        if not list(cache.glob(f"{base}-*.whl")):
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", cache, wheel], check=True)
        with zipfile.ZipFile(next(cache.glob(f"{base}-*.whl"))) as archive:
            wanted = [one for one in archive.namelist() if one.startswith(f"{folder}/") and not one.endswith(".py")]
            archive.extractall(cache, wanted)
    correct_g1(places["g1"])
    return places


def correct_g1(place: Path) -> None:
    """Write G1's parts as they are guessed, with the torque limits of its motors."""
    if parts_place(place) is not None:
        return
    _, parts = unread(place)
    for name, (group, _, activity) in list((parts.joints or {}).items()):
        torque = next(torque for words, torque in G1_TORQUES if re.search(words, name))
        parts.joints[name] = (group, torque, activity)
    keep_parts(place, parts)


def place_of(robot: str, row: str) -> Path:
    """Where a row's answer is kept."""
    return RESULTS / (re.sub(r"[^a-z0-9.]+", "-", f"{robot} {row}".lower()).strip("-") + ".json")


def measure(robot: str, row: str, trials: int, mjcf: Path, cache: Path, jobs: int) -> dict:
    """So many trials of a row, those that were done before among them; its answer with where it came from."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=HERE).stdout.strip()
    store = cache / (place_of(robot, row).stem + f"-{commit[:7]}.trials")
    words = f"{row} --trials {trials} --seed {SEED}"
    command = [sys.executable, "-m", "tumble", "run", *words.split(), "--character", str(mjcf), "--jobs", str(jobs),
               "--store", str(store), "--json"]  # fmt: skip
    answer = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return answer | {
        "command": f"tumble run {words} --character {mjcf.name}",
        "character": mjcf.name,
        "wheel": ROBOTS[robot][0],
        "commit": commit,
        "versions": {name: version(name) for name in ("mujoco", "numpy", "numba")},
    }


def bodies(places: dict[str, Path]) -> dict[str, dict]:
    """What each robot is taken for, and how long reading it takes."""
    found = {}
    for name, place in places.items():
        began = time.process_time()
        body, _ = own_robot(place)
        seconds = time.process_time() - began
        model = body.build().compile()
        found[name] = {
            "wheel": ROBOTS[name][0], "file": place.name, "kg": round(float(model.body_mass.sum()), 1),
            "nv": model.nv, "motors": len(body.joints), "feet": list(body.feet), "hands": list(body.hands),
            "head": body.head, "trunk": body.trunk, "root": body.root, "capabilities": sorted(body.capabilities),
            "notes": list(body.notes), "read_cpu_seconds": round(seconds, 2),
            "recipe_mb": round(len(json.dumps(dict(body.recipe))) / 1e6, 2),
        }  # fmt: skip
    return found


MARKS = "<!-- rows -->", "<!-- /rows -->"


def table() -> str:
    """What is there, as a table of Markdown."""
    lines = [
        "| robot | `tumble run ...` | success | falls | plan, ms | unstable | commit |",
        "|---|---|---|---|---|---|---|",
    ]
    for robot, row, _ in ROWS:
        if not place_of(robot, row).exists():
            lines.append(f"| {robot} | `{row}` | not measured | | | | |")
            continue
        found = json.loads(place_of(robot, row).read_text())
        share = found["broken_rows"] / max(1, found["sim_steps"])
        lines.append(
            f"| {robot} | `{row}` | {found['successes']} of {found['trials']} | {found['metrics']['falls']:.0f}"
            f" | {found['plan_ms']['p50']:.0f} | {share:.1e} | {found['commit'][:7]} |"
        )
    return "\n".join(lines)


def write() -> None:
    """Put the table into the README beside this script."""
    readme = HERE / "README.md"
    head, _, rest = readme.read_text().partition(MARKS[0])
    readme.write_text(f"{head}{MARKS[0]}\n{table()}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--cache", type=Path, default=CACHE)
    options = parser.parse_args()
    if options.write:
        write()
        return
    places = fetch(options.cache)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "bodies.json").write_text(json.dumps(bodies(places), indent=1) + "\n")
    if options.quick:
        for name, mjcf in places.items():
            row = "learn-trot --controller cpbp" if name == "dog" else "stand"
            words = [*row.split(), "--seconds", "1", "--samples", "8", "--character", str(mjcf)]
            subprocess.run([sys.executable, "-m", "tumble", "run", *words], check=False)
        return
    for done in range(ROUND, max(most for _, _, most in ROWS) + 1, ROUND):
        for robot, row, most in ROWS:
            if options.only in f"{robot} {row}" and done <= most and done > trials_of(robot, row, options.again):
                found = measure(robot, row, done, places[robot], options.cache, options.jobs)
                place_of(robot, row).write_text(json.dumps(found, indent=1) + "\n")
                print(f"{robot}: {row}: {found['successes']} of {found['trials']}", flush=True)


def trials_of(robot: str, row: str, again: bool) -> int:
    """How many trials of a row are there that are to stay."""
    place = place_of(robot, row)
    return 0 if again or not place.exists() else int(json.loads(place.read_text())["trials"])


if __name__ == "__main__":
    main()
