"""A motion in memory: what every format writes. Axes are x to the left, y up, z ahead; metres, seconds.

    motion = clip_of(Recording.load("walk.npz"), Options(skeleton="vrm"))
    places, turns = motion.world()                    # of all bones in all frames

At rest every bone is parallel to the world, so a rotation of (1, 0, 0, 0) is the rest pose. Quaternions are
(w, x, y, z), with signs that do not jump. Nothing here knows a format or a file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tumble.maths.rotations import conjugate, multiply, turned


@dataclass(frozen=True)
class Bone:
    """One bone.

    Attributes:
      name: in the words of the skeleton that was asked for.
      parent: its place in the list of bones, -1 of the first.
      place: where its joint is at rest, (3,), m.
      tip: where it ends at rest if it has no child, (3,), m.
      body: which body of the figure it goes with; -1 of a bone on the ground.
    """

    name: str
    parent: int
    place: np.ndarray
    tip: np.ndarray
    body: int


@dataclass(frozen=True)
class PropTrack:
    """A thing that moves or stays.

    Attributes:
      name: of its body.
      shapes: (kind, half sizes, place, rotation, rgba) of each geom in its frame: 'sphere', 'box', 'capsule', ...
      places, turns: (frames, 3), m, and (frames, 4).
      there: (frames,), False while it waits far away.
    """

    name: str
    shapes: tuple[tuple[str, np.ndarray, np.ndarray, np.ndarray, np.ndarray], ...]
    places: np.ndarray
    turns: np.ndarray
    there: np.ndarray

    @property
    def moves(self) -> bool:
        """Whether it changes its place, turn or presence."""
        return bool(np.ptp(self.places, axis=0).max() > 1e-5 or np.ptp(self.turns, axis=0).max() > 1e-5 or
                    not self.there.all())  # fmt: skip


@dataclass(frozen=True)
class Clip:
    """A skeleton that moves.

    Attributes:
      bones: parents before children.
      rotations: of bones against their parents, (frames, bones, 4).
      roots: places of the first bone, (frames, 3), m.
      hips: of bones whose place changes against the parent beside the first (the hips under a bone on the ground):
        their places in it, (frames, 3), m, by their place in the list.
      fps: frames a second.
      contacts: what stands on something, (frames,) of bools, by the names of bones.
      props: see `PropTrack`.
      human: bones by VRM's names, where the body is a humanoid's.
      about: where it came from: scenario, seed, command, versions ...
      closed: whether the last frame is the first again, but for the way that was gone.
    """

    bones: tuple[Bone, ...]
    rotations: np.ndarray
    roots: np.ndarray
    fps: float
    hips: Mapping[int, np.ndarray] = field(default_factory=dict)
    contacts: Mapping[str, np.ndarray] = field(default_factory=dict)
    props: tuple[PropTrack, ...] = ()
    human: Mapping[str, int] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    closed: bool = False

    @property
    def frames(self) -> int:
        """How many there are."""
        return len(self.rotations)

    @property
    def times(self) -> np.ndarray:
        """Of the frames, s, the first at 0, (frames,)."""
        return np.arange(self.frames) / self.fps

    def offset(self, bone: int) -> np.ndarray:
        """A bone's place at rest against its parent's, (3,), m; of the first against the origin."""
        parent = self.bones[bone].parent
        return np.asarray(self.bones[bone].place - (self.bones[parent].place if parent >= 0 else 0.0))

    def world(self) -> tuple[np.ndarray, np.ndarray]:
        """Places (frames, bones, 3), m, and rotations (frames, bones, 4) of all bones in the world."""
        places, turns = np.empty((*self.rotations.shape[:2], 3)), np.empty(self.rotations.shape)
        for i, bone in enumerate(self.bones):
            if bone.parent < 0:
                places[:, i], turns[:, i] = self.roots, self.rotations[:, i]
                continue
            above = turns[:, bone.parent]
            moved = self.hips.get(i, np.broadcast_to(self.offset(i), (self.frames, 3)))
            places[:, i] = places[:, bone.parent] + turned(above, moved)
            turns[:, i] = multiply(above, self.rotations[:, i])
        return places, turns


def local_turns(bones: tuple[Bone, ...], turns: np.ndarray) -> np.ndarray:
    """Rotations against parents (frames, bones, 4) of rotations in the world."""
    local = turns.copy()
    for i, bone in enumerate(bones):
        if bone.parent >= 0:
            local[:, i] = multiply(conjugate(turns[:, bone.parent]), turns[:, i])
    return local
