"""Figures 4.3, 4.6 and 4.7, and what exploration covers.

    python experiments/coros2010-ch4/figures.py           # about 2 minutes on two cores
    python experiments/coros2010-ch4/figures.py --quick   # figure 4.3 alone, under a minute, nothing kept

figure43.png: the bird's walk, one step of it from stepping in place, walking, walking backwards and turning, in the
frame that it began in. One should see four different steps: from backwards it brakes, from in place it sets off.
figure46.png is `tumble task plot go-to-line-humanoid`, coverage.png `tumble task plot heading --coverage`.
figure47.png: a ball of 10 kg that hits who walks in a direction, and bricks that are stepped on.
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tumble import film
from tumble.characters import character
from tumble.cli.experiment import Experiment
from tumble.live.recording import Recording
from tumble.tasks.exploring import displaced
from tumble.tasks.gaits import GaitStepper
from tumble.tasks.metric import Metric
from tumble.world.drives import FRAME
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

HERE = Experiment(Path(__file__).parent)
STARTS = ("in-place", "walk", "backwards", "turn-left")
BEFORE, PICTURES = 15, 7  # steps before; pictures of a strip
SIZE, TEXT = (170, 200), 16  # pixels
SIDE = film.Camera(azimuth=110.0, elevation=-12.0, margin=0.06)
SEED = 53_000
WIDE = replace(SIDE, margin=0.22)  # so that a ball is seen that comes and goes
UNTIL, EARLIEST, LATEST = 8.0, 1.5, 5.0  # s of the trials of figure 4.7; when the first ball comes
AROUND = (-0.2, 1.3)  # s about the hit, or about the middle of the trial
INTERACTIONS = {
    "a ball of 10 kg at 6 m/s": ("--balls", "10"),
    "forty bricks of 3 cm": ("--bricks", "40"),
}


def step_from(gait: str) -> tuple[Scene, np.ndarray, np.ndarray, float]:
    """One step of the walk, by who has gone on in another gait.

    Returns the scene, states (frames, nstate), what the root has moved (3,) in its own frame, and its heading before.
    """
    scene = Scene(character("big-bird"), ground=Ground(0.8))
    stepper, sims = GaitStepper(scene), Sims(scene, 1, nthread=1)
    walker = stepper.walker
    sims.use(walker.drive)
    sims.load(walker.opening(gait))
    walker.start(sims)
    walker.choose(sims, gait)
    while walker.steps(sims)[0] < BEFORE or sims.memory("simbicon").stance[0] != 0:
        sims.act(walker.law, walker.drive)
    walker.choose(sims, "walk")
    metric = Metric(stepper)
    before = metric.places(sims)
    states, goal = [sims.state[0].copy()], walker.steps(sims)[0] + 1
    while walker.steps(sims)[0] < goal:
        sims.act(walker.law, walker.drive)
        states.append(sims.state[0].copy())
    return scene, np.array(states), displaced(before, metric.places(sims))[0], float(before[0, 2])


def stacked(strips: list[tuple[str, Image.Image]]) -> Image.Image:
    """Strips under each other, each under its title."""
    head, font = 2 * TEXT, ImageFont.load_default(TEXT)
    width, height = max(one.width for _, one in strips), sum(one.height + head for _, one in strips)
    page = Image.new("RGB", (width, height), film.PAPER)
    pen, y = ImageDraw.Draw(page), 0
    for title, one in strips:
        pen.text((TEXT // 2, y + TEXT // 2), title, film.INK, font)
        page.paste(one, (0, y + head))
        y += head + one.height
    return page


def figure43() -> Image.Image:
    """One action from four states."""
    strips = []
    for gait in STARTS:
        scene, states, moved, heading = step_from(gait)
        seconds = np.arange(len(states)) * scene.dt
        camera = replace(SIDE, azimuth=SIDE.azimuth + np.degrees(heading))
        made = film.strip(scene, states, seconds, PICTURES, camera=camera, width=SIZE[0], height=SIZE[1])
        way = f"{moved[0]:+.2f} m ahead, {moved[1]:+.2f} m to the left, {np.degrees(moved[2]):+.0f} degrees"
        title = f"a step of the walk from '{gait}': {seconds[-1]:.2f} s, {way}"
        strips.append((title, made))
    return stacked(strips)


def recorded(folder: Path, *words: str) -> Recording:
    """A trial, as a recording."""
    path = folder / "trial.npz"
    command = [sys.executable, "-m", "tumble", "run", *words, "--seed", str(SEED), "--record", str(path)]
    subprocess.run(command, check=False, capture_output=True)  # 1 is who failed
    return Recording.load(path)


def shown(recording: Recording) -> tuple[np.ndarray, float]:
    """Frames about the first hit, or the trial's middle where nothing is thrown, and which way it goes there, rad."""
    scene = recording.scene()
    begin, end = round(EARLIEST / FRAME), round(LATEST / FRAME)
    states = np.array([recording.state(frame) for frame in range(begin, end)])
    sims = Sims(scene, len(states), nthread=1)
    sims.load(states)
    places = sims.view("xpos")
    root, middle = places[:, scene.root()], len(states) // 2
    if any(prop.name == "ball" for prop in scene.props):
        middle = int(np.linalg.norm(places[:, scene.body("ball")] - root, axis=1).argmin())
    x, y, _ = root[middle] - root[max(0, middle - round(1.0 / FRAME))]
    first, last = (begin + middle + round(seconds / FRAME) for seconds in AROUND)
    return np.arange(first, last), float(np.arctan2(y, x))


def figure47(folder: Path) -> Image.Image:
    """Balls and bricks that the bird meets while it walks in a direction."""
    strips = []
    for title, words in INTERACTIONS.items():
        recording = recorded(folder, "heading", *words, "--until", f"{UNTIL:g}")
        frames, heading = shown(recording)
        states = np.array([recording.state(int(frame)) for frame in frames])
        camera = replace(WIDE, azimuth=WIDE.azimuth + np.degrees(heading))
        made = film.strip(
            recording.scene(), states, frames * FRAME, PICTURES, camera=camera, width=SIZE[0], height=SIZE[1]
        )
        strips.append((title, made))
    return stacked(strips)


def command(*words: str) -> None:
    """Have `tumble task plot` draw."""
    subprocess.run([sys.executable, "-m", "tumble", "task", "plot", *words], check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    made = figure43()
    if chosen.quick:
        print(f"figure 4.3 has {made.width} x {made.height} pixels")
        return
    film.save(made, HERE.results / "figure43.png")
    with tempfile.TemporaryDirectory() as folder:
        film.save(figure47(Path(folder)), HERE.results / "figure47.png")
    command("go-to-line-humanoid", str(HERE.results / "figure46.png"))
    command("heading", str(HERE.results / "coverage.png"), "--coverage")


if __name__ == "__main__":
    main()
