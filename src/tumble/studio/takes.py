"""Takes: recordings of a show that are kept under names, with marks and ends, to be played and compared.

    take = takes.add(recording)                    # 'take 1'
    take.trim(30, 240)
    takes.rename(take, "falls")

A trim and marks are for looking and for export; the recording stays whole, as a replay needs its beginning.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tumble.errors import UserError, check_number
from tumble.live.recording import Part, Recording

MOST = 24  # takes that are kept at once
LONGEST = 40  # characters of a name and of a mark
MARKS = 100  # of a take


@dataclass
class Take:
    """A recording with a name.

    Attributes:
      first, last: frames between which it plays; 0 is how it began, n after n frames.
      marks: texts by their frames.
      saved: whether somebody has downloaded it.
      loop: whether it begins again at its end.
    """

    name: str
    recording: Recording
    first: int = 0
    last: int = 0
    marks: dict[int, str] = field(default_factory=dict)
    saved: bool = False
    loop: bool = True

    def __post_init__(self) -> None:
        self.last = self.last or self.recording.frames

    def trim(self, first: int, last: int) -> None:
        """Play from a frame to another one."""
        check_number("first frame", first, 0, self.recording.frames - 1)
        check_number("last frame", last, first + 1, self.recording.frames)
        self.first, self.last = first, last

    def mark(self, frame: int, text: str) -> None:
        """Set a mark at a frame; no text takes it away."""
        check_number("frame", frame, 0, self.recording.frames)
        text = text.strip()
        if not text:
            self.marks.pop(frame, None)
            return
        check_text("mark", text)
        if len(self.marks) >= MARKS and frame not in self.marks:
            raise UserError(f"a take has at most {MARKS} marks")
        self.marks = dict(sorted({**self.marks, frame: text}.items()))

    def frame_at(self, index: int) -> int:
        """The frame after which a session's next one had this index; the nearest there is."""
        return min(max(index - self.recording.parts[0].about.index, self.first), self.last)

    def moment(self, frame: int) -> tuple[Part, np.ndarray, float, str]:
        """Part, state of its scene, seconds of the session and who acted, after so many frames."""
        rest, seen = frame, 0
        for part in self.recording.parts:
            if rest <= part.about.frames:
                seconds = (part.about.index + rest) * part.scene.dt
                names, acting = self.recording.header.acting, part.acting
                who = names[int(acting[min(max(rest - 1, 0), len(acting) - 1)])] if len(acting) else ""
                return part, part.state(rest), seconds, who
            rest, seen = rest - part.about.frames, seen + part.about.frames
        raise UserError(f"'{self.name}' has {seen} frames, not {frame}")


class Takes:
    """All takes, in the order in which they were made."""

    def __init__(self) -> None:
        self.all: list[Take] = []

    def __iter__(self) -> Iterator[Take]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def check_room(self) -> None:
        """Refuse one take too many."""
        if len(self.all) >= MOST:
            raise UserError(f"{MOST} takes are kept; delete one first")

    def add(self, recording: Recording, name: str = "") -> Take:
        """Keep a recording, under a name of its own."""
        taken, number = {take.name for take in self.all}, 1
        while not name or name in taken:
            name, number = f"take {number}", number + 1
        take = Take(name, recording)
        self.all.append(take)
        return take

    def named(self, name: str) -> Take:
        """The take of that name."""
        found = next((take for take in self.all if take.name == name), None)
        if found is None:
            raise UserError(f"no take '{name}'; there are: {', '.join(take.name for take in self.all) or 'none'}")
        return found

    def rename(self, name: str, other: str) -> None:
        """Call a take otherwise."""
        take, other = self.named(name), other.strip()
        check_text("name of a take", other)
        if other != name and any(one.name == other for one in self.all):
            raise UserError(f"there is a take '{other}' already; choose another name")
        take.name = other

    def delete(self, name: str) -> None:
        """Forget a take."""
        self.all.remove(self.named(name))


def check_text(what: str, text: str) -> None:
    """Refuse a text that is none, too long or not for people."""
    if not 0 < len(text) <= LONGEST or not text.isprintable():
        raise UserError(f"the {what} has 1 to {LONGEST} characters, got {text[:80]!r}")
