"""Changes of a motion: another rate, without its way, the way on a bone of its own, a cycle that is closed.

    motion = in_place(closed(motion))          # for a game that moves the character itself

Each returns a new motion; what it was given stays.
"""

from dataclasses import replace

import numpy as np

from tumble.errors import UserError
from tumble.export.clip import Bone, Clip, PropTrack
from tumble.maths.rotations import IDENTITY, about, conjugate, continuous, multiply, slerp, turned, twist

UP = np.array([0.0, 1.0, 0.0])
GROUND = np.array([1.0, 0.0, 1.0])  # what of a place is on the ground
SMOOTH = 0.35  # s: way that is slower than this is taken out of a motion in place, sway stays; ours
SHORTEST, LONGEST = 0.4, 3.0  # s of a cycle; ours
AHEAD = 0.1  # s by which speeds count as places; ours
ALIKE = 0.35  # how far a cycle's ends may differ, in units of how much it moves; ours
NEARLY, HALF = 1.5, 0.6  # a cycle is taken that is so much shorter, and whose ends differ by so much more; ours
STILL = 0.02  # m by which bones move about their means, on average: walking 0.05, standing 0.001
STRAIGHT = np.radians(15.0)  # a cycle that turns by less is made straight; ours


def at_rate(motion: Clip, fps: float) -> Clip:
    """The same motion in so many frames a second: rotations by slerp, places by lines; the first frame is the first."""
    if fps == motion.fps:
        return motion
    count = int(np.floor((motion.frames - 1) / motion.fps * fps + 1e-6)) + 1
    at = np.arange(count) * motion.fps / fps
    low = np.minimum(at.astype(int), max(motion.frames - 2, 0))
    high = np.minimum(low + 1, motion.frames - 1)
    share = at - low
    nearest = np.minimum(np.round(at).astype(int), motion.frames - 1)

    def turns(q: np.ndarray) -> np.ndarray:
        """Rotations (frames, ..., 4) at the new times."""
        return continuous(slerp(q[low], q[high], np.broadcast_to(_beside(share, q.ndim - 1), q[low].shape[:-1])))

    def places(p: np.ndarray) -> np.ndarray:
        """Places (frames, 3) at the new times."""
        return np.asarray(p[low] + _beside(share, p.ndim) * (p[high] - p[low]))

    props = tuple(PropTrack(p.name, p.shapes, places(p.places), turns(p.turns), p.there[nearest]) for p in motion.props)
    return replace(
        motion, rotations=turns(motion.rotations), roots=places(motion.roots), fps=fps, props=props,
        hips={i: places(p) for i, p in motion.hips.items()},
        contacts={name: down[nearest] for name, down in motion.contacts.items()},
    )  # fmt: skip


def _beside(share: np.ndarray, dimensions: int) -> np.ndarray:
    """Shares (n,) with further axes, so that they multiply rows."""
    return share.reshape(-1, *[1] * (dimensions - 1))


def in_place(motion: Clip) -> Clip:
    """Without the way over the ground: of a closed cycle without its steady part, else without its smooth part.

    What sways about the way keeps swaying. Props come along.
    """
    path = motion.roots * GROUND
    if motion.closed:
        way = path[0] + np.linspace(0, 1, motion.frames)[:, None] * (path[-1] - path[0])
    else:
        way = _smooth(path, SMOOTH * motion.fps)
    props = tuple(replace(prop, places=prop.places - way) for prop in motion.props)
    return replace(motion, roots=motion.roots - way, props=props)


def _smooth(path: np.ndarray, width: float) -> np.ndarray:
    """Places (n, 3) averaged with a bell of so many frames, which sees a path mirrored at its ends."""
    reach = min(int(3 * width), len(path) - 1)
    if reach < 1:
        return path
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    first, last = path[0], path[-1]
    long = np.concatenate([2 * first - path[reach:0:-1], path, 2 * last - path[-2 : -reach - 2 : -1]])
    return np.stack([np.convolve(long[:, i], bell / bell.sum(), "valid") for i in range(3)], -1)


def headings(motion: Clip) -> np.ndarray:
    """Where the first bone faces, rad about the vertical from the z axis, without jumps, (frames,)."""
    return np.unwrap(twist(motion.rotations[:, 0], 1))


def on_the_ground(motion: Clip, name: str, still: bool = False) -> Clip:
    """With a bone on the ground above all others, which carries place and heading; or one that stays, if `still`."""
    heading = np.zeros(motion.frames) if still else headings(motion)
    path = np.zeros_like(motion.roots) if still else motion.roots * GROUND
    turn = about(UP, heading)
    ground = Bone(name, -1, np.zeros(3), np.array([0.0, 0.0, 0.1]), -1)
    bones = (ground, *(replace(bone, parent=bone.parent + 1) for bone in motion.bones))
    rotations = np.concatenate([turn[:, None], motion.rotations], 1)
    rotations[:, 1] = multiply(conjugate(turn), motion.rotations[:, 0])
    hips = {1: turned(conjugate(turn), motion.roots - path)}
    human = {vrm: i + 1 for vrm, i in motion.human.items()}
    return replace(motion, bones=bones, rotations=continuous(rotations), roots=path, hips=hips, human=human)


def closed(motion: Clip) -> Clip:
    """The best cycle of a gait, closed: its last frame is its first, but for the way and a turn of the whole body.

    The cycle's ends are as alike as any in places and speeds of all bones, in units of how much they move; what
    difference is left is spread over the cycle.

    Raises:
      UserError: nothing repeats.
    """
    first, last = _cycle(motion)
    cut = slice(first, last + 1)
    q, roots, share = motion.rotations[cut].copy(), motion.roots[cut].copy(), np.linspace(0, 1, last - first + 1)
    way = headings(replace(motion, rotations=q))
    turning = way[-1] - way[0]
    if abs(turning) < STRAIGHT:
        straight = about(UP, -share * turning)
        q[:, 0] = multiply(straight, q[:, 0])
        turning = 0.0
    end = q[0].copy()
    end[0] = multiply(about(UP, turning), q[0, 0])
    wrong = multiply(conjugate(q[-1]), end)
    nothing = np.broadcast_to(IDENTITY, q.shape)
    mended = multiply(q, slerp(nothing, np.broadcast_to(wrong, q.shape), np.broadcast_to(share[:, None], q.shape[:2])))
    roots[:, 1] -= share * (roots[-1, 1] - roots[0, 1])
    props = tuple(PropTrack(p.name, p.shapes, p.places[cut], p.turns[cut], p.there[cut]) for p in motion.props)
    contacts = {name: down[cut] for name, down in motion.contacts.items()}
    about_it = {**motion.about, "cycle": [first / motion.fps, last / motion.fps]}
    return replace(
        motion, rotations=continuous(mended), roots=roots, props=props, contacts=contacts, about=about_it, closed=True
    )


def _cycle(motion: Clip) -> tuple[int, int]:
    """The first and the last frame of the best cycle."""
    places, _ = motion.world()
    facing = about(UP, -headings(motion))[:, None]
    seen = turned(np.broadcast_to(facing, (*places.shape[:2], 4)), places - motion.roots[:, None] * GROUND)
    speeds = np.gradient(seen, 1 / motion.fps, axis=0) if len(seen) > 1 else np.zeros_like(seen)
    features = np.concatenate([seen, AHEAD * speeds], 1).reshape(len(seen), -1)
    square = np.concatenate([np.zeros((1, features.shape[1])), np.cumsum(features**2, 0)])
    total = np.concatenate([np.zeros((1, features.shape[1])), np.cumsum(features, 0)])
    found = []
    for lag in range(int(SHORTEST * motion.fps), min(int(LONGEST * motion.fps), motion.frames - 1) + 1):
        apart = np.sqrt(((features[lag:] - features[:-lag]) ** 2).mean(1))
        mean = (total[lag:-1] - total[: -lag - 1]) / lag
        spread = np.sqrt(np.maximum((square[lag:-1] - square[: -lag - 1]) / lag - mean**2, 0).mean(1))
        rates = np.where(spread < STILL, np.inf, apart / np.maximum(spread, STILL))
        best = int(rates.argmin())
        found.append((float(rates[best]), best, lag))
    rate, first, best = min(found, default=(np.inf, 0, 0))
    if rate > ALIKE:
        raise UserError(
            f"no cycle of {SHORTEST:g} to {LONGEST:g} s in {motion.frames / motion.fps:.1f} s: nothing repeats; take a"
            " recording of a gait, or the part of it where it is steady, with --from and --to"
        )
    while shorter := [row for row in found if row[2] <= HALF * best and row[0] <= NEARLY * rate]:
        rate, first, best = min(shorter)  # two cycles are as good as one
    return first, first + best
