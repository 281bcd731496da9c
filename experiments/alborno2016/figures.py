"""Figures 5 to 9: how trees grow, strips of all skills, what states are drawn, which nodes a tree has.

    python experiments/alborno2016/figures.py                  # about 3 minutes on one core
    python experiments/alborno2016/figures.py --only 5 8 9     # about 1 of them
    python experiments/alborno2016/figures.py --only strips --skills getup-1 twist
    python experiments/alborno2016/figures.py --quick          # under a minute, nothing kept

All is drawn from the trees that ship, into results/: figure5.png, figure8.png, figure9.png and a strip-NAME.png for
each skill (Figures 6 and 7). One should see: nodes that grow about exponentially with alpha; states that are farther
from the target the larger alpha and kappa are; nodes that fill the domain. Of a strip the upper row is the first
controller from its target, the lower row a state that the first controller fails from and the tree leads, the pose
that its edge leads to in red; both end standing, or crouching. Where there is no such state, as of a tree of one edge,
its title says so. What feet and knees did is printed for every strip.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from matplotlib.figure import Figure
from PIL import Image, ImageDraw, ImageFont

from tumble import film
from tumble.attraction.asking import ask
from tumble.attraction.facts import nodes_after
from tumble.attraction.growing import stage_of
from tumble.attraction.rolling import HOLD
from tumble.attraction.shipped import file_of, shipped, tree_named
from tumble.attraction.store import Stored, read_file
from tumble.attraction.tree import ROOT, Tree
from tumble.attraction.upright import UprightSystem
from tumble.cli.experiment import Experiment
from tumble.files import replace_file
from tumble.world.drives import FRAME
from tumble.world.placing import lowest
from tumble.world.scene import Scene

HERE = Experiment(Path(__file__).parent)
SEED = 86_000
STRIPS = ("getup-1", "getup-2", "getup-3", "crouch-stand", "stand-crouch", "jump", "twist")
ALPHA, KAPPA = 6.0, 100.0  # of the states in strips; N
TRIES, MOST = 60, 250  # states that are tried for a strip, and V
PICTURES = 10  # of a row of a strip
MOMENTS, EXPANDED = 8, 4  # of a track at most; and of them before it joins the first controller
APART = 3  # frames that these are apart at least
HANDOVER = 0.2  # s on either side of a track's end in which speeds are compared
ALPHAS, KAPPAS = (1.0, 5.0, 10.0), (100.0, 400.0, 1000.0)  # Figure 8
NODES = (1, 10, 40)  # Figure 9
TYPICAL = 4  # states beside the target in a picture of Figure 8
BESIDE = ((0.0, 1.4), (0.0, -1.4), (-2.0, 0.7), (-2.0, -0.7))  # m ahead and to the left, where these lie
RED, ORANGE = (0.82, 0.14, 0.12), (0.98, 0.58, 0.12)
GHOST = 0.30  # opacity of the pose that is led to
THIN, THINNEST = 1.5, 0.08  # opacity of bodies in one place, over their number, and of each at least
STRIP, LARGE = (200, 210), (400, 300)  # pixels of a picture
SIDE = film.Camera(azimuth=120.0, elevation=-12.0, margin=0.04)
FRONT = film.Camera(azimuth=120.0, elevation=-12.0, margin=0.06)
ABOVE = film.Camera(azimuth=140.0, elevation=-36.0, fovy=45.0, margin=0.08)  # near, where there is no fog yet
TEXT = 19  # pixels of a letter; fewer in tiny pictures
COLOURS = 200  # of a sheet; keeps files small
Others = Sequence[tuple[np.ndarray, film.Rgba]]


@dataclass(frozen=True)
class Picture:
    """A state of a scene with others in the same picture, and the words in its corner.

    Attributes:
      label: in the corner.
      state: (nstate,) whole row.
      others: whole rows with their colours.
      rgba: colour of the first; its own where that is None.
    """

    label: str
    state: np.ndarray
    others: Others = ()
    rgba: film.Rgba | None = None


@dataclass(frozen=True)
class Row:
    """Pictures side by side under a title."""

    title: str
    scene: Scene
    camera: film.Camera
    pictures: Sequence[Picture]


def sheet(rows: Sequence[Row], size: tuple[int, int], together: bool = True) -> Image.Image:
    """Rows under each other, every picture of so many pixels; a row's pictures are framed alike.

    Args:
      together: whether all rows are framed alike, so that bodies are of one size; they have one camera then.
    """
    width, height = size
    gap, text = max(2, width // 80), min(TEXT, height // 6)
    font, head = ImageFont.load_default(text), 2 * text
    across = max(len(row.pictures) for row in rows)
    page = Image.new("RGB", (across * (width + gap) - gap, len(rows) * (head + height + gap) - gap), film.PAPER)
    pen, outlines = ImageDraw.Draw(page), list[list[np.ndarray]]()
    for row in rows:
        with film.Canvas(row.scene, 16, 16, row.camera.fovy) as canvas:
            bodies = [(one.state, *(state for state, _ in one.others)) for one in row.pictures]
            outlines.append([np.concatenate([canvas.outline(state) for state in some]) for some in bodies])
    if together:
        framed = iter(rows[0].camera.frame([some for row in outlines for some in row], width / height))
        views = [[next(framed) for _ in row] for row in outlines]
    else:
        views = [row.camera.frame(some, width / height) for row, some in zip(rows, outlines, strict=True)]
    for i, row in enumerate(rows):
        y = i * (head + height + gap)
        pen.text((text // 2, y + text // 3), row.title, film.INK, font)
        with film.Canvas(row.scene, film.FINER * width, film.FINER * height, row.camera.fovy) as canvas:
            for j, (one, view) in enumerate(zip(row.pictures, views[i], strict=True)):
                fine = Image.fromarray(canvas.draw(one.state, view, one.others, one.rgba))
                page.paste(fine.resize(size, Image.Resampling.LANCZOS), (j * (width + gap), y + head))
                pen.text((j * (width + gap) + text // 2, y + head + text // 3), one.label, film.INK, font)
    return page.quantize(COLOURS, dither=Image.Dither.NONE)


def grown(name: str) -> tuple[Tree, UprightSystem]:
    """A tree that ships, and its system."""
    tree = tree_named(name)
    assert isinstance(tree.system, UprightSystem)
    return tree, tree.system


# Figure 5 -------------------------------------------------------------------------------------------


def sizes(stored: Stored) -> tuple[np.ndarray, np.ndarray, int]:
    """Levels (n,), nodes (n,) of the tree when each had its last, and how many of the levels are finished.

    Of a tree that was extended levels are gone through again, and who finds all inside adds none.
    """
    found = dict[int, int]()
    for one, nodes in zip(stored.outcomes, nodes_after(stored), strict=True):
        if one.edge is not None or one.stage not in found:
            found[one.stage] = int(nodes)
    stages, under_way = sorted(found), stage_of(stored.growth, stored.outcomes)
    levels = np.array([stored.growth.levels[stage] for stage in stages])
    nodes = np.maximum.accumulate([found[stage] for stage in stages])
    return levels, nodes, len(stages) if under_way is None else sum(stage < under_way for stage in stages)


def figure5(out: Path) -> None:
    """Nodes needed to cover a subset over alpha, log scale; of a subset that is not finished in a hollow mark."""
    figure = Figure(figsize=(5.6, 3.8), dpi=130)
    axes = figure.subplots()
    for name, colour in (("getup-1", "#2166ac"), ("getup-2", "#c8442f"), ("getup-3", "#4d9221")):
        if name not in shipped():
            continue
        levels, nodes, done = sizes(read_file(file_of(name)))
        axes.plot(levels, nodes, "-", color=colour, lw=1.2)
        axes.plot(levels[:done], nodes[:done], "o", color=colour, ms=5, label=name)
        axes.plot(levels[done:], nodes[done:], "o", color=colour, ms=5, mfc="white")
    axes.set(xlabel="alpha", ylabel="nodes", yscale="log", title="size of the tree that covers a subset")
    axes.plot([], [], "o", color="#777777", mfc="white", label="not finished")
    axes.yaxis.set_major_formatter("{x:.0f}")
    axes.yaxis.set_minor_formatter("{x:.0f}")
    axes.tick_params(axis="y", which="minor", labelsize=7)
    axes.grid(alpha=0.25, which="both")
    axes.legend(frameon=False)
    figure.tight_layout()
    replace_file(out / "figure5.png", lambda file: figure.savefig(file, format="png"))


# Figures 8 and 9 ------------------------------------------------------------------------------------


def moved(state: np.ndarray, ahead: float, left: float) -> np.ndarray:
    """A state elsewhere on the ground, m."""
    result = state.copy()
    result[:2] += ahead, left
    return result


def orange(rows: np.ndarray, in_one_place: bool) -> Others:
    """Bodies to be drawn in that colour, translucent where they would hide each other."""
    opacity = min(0.35, max(THINNEST, THIN / max(1, len(rows)))) if in_one_place else 1.0
    return [(row, (*ORANGE, opacity)) for row in rows]


def regions(name: str, levels: Sequence[float], what: str, unit: str) -> Row:
    """Typical states of growing subsets around a skill's target: beside it where they lie, in its place if pushed."""
    _, system = grown(name)
    pushed, target = system.skill.domain == "push", system.bodies.rows(system.target[None])[0]
    pictures = []
    for level in levels:
        states = system.sample(level, TYPICAL, np.random.default_rng(SEED))
        if not pushed:
            states = np.array([moved(state, *place) for state, place in zip(states, BESIDE, strict=True)])
        others = orange(system.bodies.rows(states), in_one_place=pushed)
        pictures.append(Picture(f"{what} = {level:g}{unit}", target, others, (*RED, 1.0)))
    title = f"{name}: {TYPICAL} states of the domain (orange) and the target (red)"
    return Row(title, system.scene, FRONT if pushed else ABOVE, pictures)


def figure8(out: Path, size: tuple[int, int] = LARGE) -> None:
    """Typical states in growing subsets."""
    rows = [regions("getup-1", ALPHAS, "alpha", ""), regions("crouch-stand", KAPPAS, "kappa", " N")]
    film.save(sheet(rows, size, together=False), out / "figure8.png")


def nodes_of(name: str) -> Row:
    """Nodes at the beginning of an edge, the first few in the order in which they came; the target is the first."""
    tree, system = grown(name)
    heads = system.bodies.rows(tree.states[tree.heads])
    pictures = []
    for count in NODES:
        some = heads[1:count]
        many = f"{len(some) + 1} nodes" if some.size else "1 node"
        label = many if count <= len(heads) else f"{many}, all there are"
        pictures.append(Picture(label, heads[0], orange(some, in_one_place=True), (*RED, 1.0)))
    title = f"{name}: nodes that edges begin at (orange), the target (red)"
    return Row(title, system.scene, FRONT if system.skill.domain == "push" else ABOVE, pictures)


def figure9(out: Path, size: tuple[int, int] = LARGE) -> None:
    """Nodes of the tree while it grows."""
    pushed = "crouch-stand" if len(tree_named("crouch-stand").edges) > 1 else "jump"
    film.save(sheet([nodes_of("getup-2"), nodes_of(pushed)], size, together=False), out / "figure9.png")


# Strips ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Motion:
    """What a body did that followed a track and then stood.

    Attributes:
      rows: (frames + 1, nstate) whole state rows.
      length: frames of the track.
    """

    rows: np.ndarray
    length: int


def followed(system: UprightSystem, state: np.ndarray, track: np.ndarray) -> Motion | None:
    """The motion from a state along a track, and `HOLD` s of standing; None where it did not come to that."""
    frames = len(track) + round(HOLD / FRAME)
    rolled = system.roll(state[None], [track], trace=frames)
    return Motion(system.bodies.rows(rolled.trace[0]), len(track)) if rolled.reached[0] else None


@dataclass(frozen=True)
class Led:
    """A state that a tree leads.

    Attributes:
      motion: to standing.
      node: whose branch is followed.
      words: which state it is.
    """

    motion: Motion
    node: int
    words: str


def led(name: str, tries: int, most: int) -> Led:
    """The first state of the seed that is inside the tree and outside the first controller's domain.

    Where all that are inside the tree are in that domain, too, the first of these.
    """
    tree, system = grown(name)
    pushed = system.skill.domain == "push"
    level = KAPPA if pushed else min(ALPHA, tree.largest)
    words = f"{'kappa' if pushed else 'alpha'} = {level:g}{' N' if pushed else ''}, seed {SEED}"
    inside: Led | None = None
    rng = np.random.default_rng(SEED)
    for i in range(tries):
        state = system.sample(level, 1, rng)[0]  # one by one: which is drawn when does not depend on how many are
        alone = ask(tree, state, 1, tree.heads[:1]).node is not None
        if alone and inside is not None:
            continue
        node = ask(tree, state, most).node
        motion = None if node is None else followed(system, state, tree.track(node))
        if node is None or motion is None:
            continue
        found = Led(motion, node, f"state {i} of {words}")
        if not alone:
            return found
        inside = found
    if inside is None:
        raise SystemExit(f"the tree '{name}' leads none of {tries} states of {words}")
    note = f"{inside.words}; none of {tries} is outside the first controller's domain and inside the tree"
    return Led(inside.motion, inside.node, note)


def aims(tree: Tree, node: int, motion: Motion, frame: int) -> Others:
    """The pose that the edge under way leads to, put where the body is; none on the first controller and after it."""
    here = tree.along(node, frame)
    parent = ROOT if here == ROOT else tree.edges[tree.edge_of[here]].parent
    if parent == ROOT:
        return []
    assert isinstance(tree.system, UprightSystem)
    pose = tree.states[parent].copy()
    pose[:2] = tree.system.bodies.motion(motion.rows[frame])[:2]
    return [(tree.system.bodies.rows(pose[None])[0], (*RED, GHOST))]


def moments(tree: Tree, node: int, motion: Motion) -> list[Picture]:
    """Pictures of a track from its first to its last moment, and those of standing, each part evenly spaced.

    Where other edges lead to the first controller, up to `EXPANDED` are of these. A short track has fewer, standing
    then more.
    """
    joined = tree.beginnings(node)[-2] if node != ROOT else 0
    before = min(EXPANDED, joined // APART)
    start = joined if before else 0
    after = min(MOMENTS - before, 1 + (motion.length - start) // APART)
    rest = np.linspace(motion.length, len(motion.rows) - 1, PICTURES - before - after + 1)[1:]
    parts = [np.linspace(0, joined, before, endpoint=False), np.linspace(start, motion.length, after), rest]
    frames = [int(frame) for part in parts for frame in part.round()]
    return [Picture(f"{f * FRAME:.1f} s", motion.rows[f], aims(tree, node, motion, f)) for f in frames]


def draw_strip(name: str, out: Path, size: tuple[int, int] = STRIP, tries: int = TRIES, most: int = MOST) -> list[str]:
    """Two rows of a skill; lines that tell of the motions."""
    tree, system = grown(name)
    first = followed(system, system.target, tree.track(tree.heads[0]))
    if first is None:
        raise SystemExit(f"the first controller of '{name}' does not come from its target to its goal")
    found = led(name, tries, most)
    then = "stands" if system.end is None else "stays"
    edges = "1 edge" if tree.depth(found.node) == 1 else f"{tree.depth(found.node)} edges"
    if found.node == ROOT:
        edges = "no edge, it is at the goal"
    seconds = [one.length * FRAME for one in (first, found.motion)]
    below = moments(tree, found.node, found.motion)
    red = "; red: where its edge leads" if any(one.others for one in below) else ""
    rows = [
        Row(f"{name}: first controller from its target, {seconds[0]:.1f} s, then it {then}", system.scene, SIDE,
            moments(tree, int(tree.heads[0]), first)),
        Row(f"led by the tree, {edges}, {seconds[1]:.1f} s{red} ({found.words})", system.scene, SIDE, below),
    ]  # fmt: skip
    film.save(sheet(rows, size), out / f"strip-{name}.png")
    return [told(system, name, "first", first), told(system, name, "tree", found.motion)]


HEADER = (
    "strip                deepest left, right   standing   knee   in the air   fastest   jerk before, after   drift\n"
    "                           cm, at s           cm      deg        cm        rad/s      rad/s a frame       cm"
)


def told(system: UprightSystem, name: str, row: str, motion: Motion) -> str:
    """A line about a motion.

    The deepest point of each foot below the ground and when; that of both in the last second; the least angle of a
    knee, negative if it bends backwards; how high above the ground all of the body was; the largest speed of a joint;
    the largest change of a joint's speed within a frame, shortly before and after the track's end; how far the root
    moved over the ground in the last second.
    """
    states, second = system.bodies.motion(motion.rows), round(1 / FRAME)
    depths = np.array([foot_depths(system, one) for one in motion.rows])
    deep, when, still = 100 * depths.max(0), depths.argmax(0) * FRAME, 100 * depths[-second:].max()
    model, root = system.scene.model, system.scene.root()
    flown = 100 * max(lowest(model, system.scene.show(one), root) for one in motion.rows)
    knees = np.degrees(system.angles(states)[:, [joint.endswith("knee") for joint in system.names]].min())
    speeds = np.abs(states[:, system.drive.model.nq :][:, system.drive.qvel])
    jerks = np.abs(np.diff(states[:, system.drive.model.nq :][:, system.drive.qvel], axis=0)).max(1)
    end, some = motion.length, round(HANDOVER / FRAME)
    drift = 100 * np.linalg.norm(states[-1, :2] - states[-1 - second, :2])
    return (
        f"{name:13} {row:5}  {deep[0]:4.1f} at {when[0]:3.1f}, {deep[1]:4.1f} at {when[1]:3.1f}   {still:8.2f}"
        f"   {knees:4.0f}   {flown:10.0f}   {speeds.max():7.0f}"
        f"      {jerks[max(0, end - some) : end].max():5.1f}, {jerks[end : end + some].max():4.1f}   {drift:12.1f}"
    )


def foot_depths(system: UprightSystem, row: np.ndarray) -> list[float]:
    """m by which the lowest point of each foot is below the ground; negative above it."""
    model, data = system.scene.model, system.scene.show(row)
    ground = int(np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)[0])
    depths = []
    for foot in system.scene.character.feet:
        solid = (model.geom_bodyid == model.body(foot).id) & (model.geom_conaffinity != 0)
        found = [mujoco.mj_geomDistance(model, data, ground, int(one), 10.0, None) for one in np.flatnonzero(solid)]
        depths.append(-min(found))
    return depths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=["5", "8", "9", "strips"], default=["5", "8", "9", "strips"])
    parser.add_argument("--skills", nargs="+", choices=STRIPS, default=STRIPS, help="of which strips are drawn")
    parser.add_argument("--out", type=Path, default=HERE.results, help="a folder")
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    began = time.perf_counter()
    if chosen.quick:
        with tempfile.TemporaryDirectory() as folder:
            figure5(Path(folder))
            figure8(Path(folder), (80, 60))
            print(HEADER, *draw_strip("crouch-stand", Path(folder), (44, 48), tries=4), sep="\n")
        return
    for name, draw in (("5", figure5), ("8", figure8), ("9", figure9)):
        if name in chosen.only:
            draw(chosen.out)
    if "strips" in chosen.only:
        print(HEADER, flush=True)
        for skill in chosen.skills:
            print(*draw_strip(skill, chosen.out), sep="\n", flush=True)
    print(f"{(time.perf_counter() - began) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
