"""Screening: a take on the stage instead of the live world, and a second take beside whatever is shown.

    stage.screening.open("take 1")        # paused at its first frame; `play`, `scrub`, `advance` are the stage's
    stage.screening.beside("take 2")      # a second body beside it, at the same moment of its session
    stage.screening.close()               # live again

Methods belong into the stage's thread. While a take is shown nothing is simulated, and the live world waits as it was.
Takes that are compared stand at the same index of their sessions: begun with the same seed, they show the same moment.
"""

from typing import TYPE_CHECKING

from tumble.control.controller import Report
from tumble.studio.audience import Shown
from tumble.studio.packet import PAST, PAUSED, Packer, Status
from tumble.studio.takes import Take
from tumble.world.scene import Scene

if TYPE_CHECKING:
    from tumble.studio.stage import Stage


class Screening:
    """What is shown of takes.

    Attributes:
      take: that is shown; None where the live world is.
      frame: of it.
      second: that is shown beside it; None where none is.
    """

    def __init__(self, stage: "Stage") -> None:
        self._stage = stage
        self.take: Take | None = None
        self.frame = 0
        self.second: Take | None = None
        self._packers: dict[int, Packer] = {}

    def open(self, name: str) -> None:
        """Show a take, at its first frame, and let it play."""
        stage = self._stage
        self.take = stage.takes.named(name)
        self.frame, stage.past, stage.playing = self.take.first, None, True
        stage.pace.restart(stage.dt)
        self.show()

    def beside(self, name: str) -> None:
        """Show a second take beside what is shown; '' for none."""
        self.second = self._stage.takes.named(name) if name else None
        if self.take is not None:
            self.show()
        else:
            self._stage.redraw()

    def close(self) -> None:
        """Show the live world again."""
        self.take = None

    def forget(self, take: Take) -> None:
        """Show a take no more: it is deleted."""
        if self.second is take:
            self.second = None
        if self.take is take:
            self.close()
            self._stage.pause()

    def step(self) -> None:
        """The next frame; at the end the first, or a halt."""
        take = self._taken
        if self.frame < take.last:
            self.frame += 1
        elif take.loop:
            self.frame = take.first
        else:
            self._stage.playing = False
        self._stage.pace.ticked()
        self.show()

    def advance(self) -> None:
        """Halt, and show the next frame."""
        self.scrub(self.frame + 1)

    def scrub(self, frame: int) -> None:
        """Halt, and show a frame, the nearest there is."""
        take = self._taken
        self.frame = min(max(frame, take.first), take.last)
        self._stage.playing = False
        self.show()

    def show(self) -> None:
        """Show the present frame; panels look where time halts."""
        stage, take = self._stage, self._taken
        part, state, seconds, acting = take.moment(self.frame)
        pace = stage.pace
        status = Status(
            tick=self.frame, oldest=take.first, newest=take.last, time=seconds,
            flags=PAST | PAUSED * (not stage.playing), rate=pace.rate, realtime=pace.realtime, speed=pace.speed,
            control_seconds=0.0,
        )  # fmt: skip
        report = Report(acting=f"take '{take.name}'", doing=take.marks.get(self.frame, acting))
        packer = self._packer(part.scene)
        message = packer.pack(state, report, status, stage.pictures.terms(()))
        index = part.about.index + self.frame - self._frames_before(take, part)
        stage.send(Shown(message, packer, stage.pictures.terms(()), ()), index)
        if not stage.playing:
            stage.told()

    def companion(self, index: int) -> Shown | None:
        """The frame of the second take at an index of a session."""
        take = self.second
        if take is None:
            return None
        frame = take.frame_at(index)
        part, state, seconds, _ = take.moment(frame)
        packer = self._packer(part.scene)
        status = Status(frame, take.first, take.last, seconds, PAST, 0.0, 0.0, 1.0, 0.0)
        number = self._stage.pictures.terms(())
        return Shown(packer.pack(state, Report(acting=take.name), status, number), packer, number, ())

    @property
    def _taken(self) -> Take:
        assert self.take is not None
        return self.take

    def _packer(self, scene: Scene) -> Packer:
        """One a scene, with a number of its own for browsers."""
        if id(scene) not in self._packers:
            self._packers[id(scene)] = self._stage.pictures.packer_of(scene)
        return self._packers[id(scene)]

    @staticmethod
    def _frames_before(take: Take, part: object) -> int:
        """Frames of the parts before one."""
        count = 0
        for one in take.recording.parts:
            if one is part:
                break
            count += one.about.frames
        return count
