"""Responses: what a scenario does about what it sees, in a take whose time may be turned back."""

from collections.abc import Callable, Sequence

from tumble.live.commands import Command, SetGoal
from tumble.live.session import Session
from tumble.scenarios import History

RECALL = 120.0  # s of frames that are kept at most


class Responses:
    """Asks a trial's `respond`, where it has one.

    It sees what happened in the present session, in the last two minutes at most. Of before it knows what was wanted,
    also of a future that was turned back: its goal is still the present one.
    """

    def __init__(self, respond: Callable[[History], Sequence[Command]] | None) -> None:
        self._respond = respond
        self._track: History | None = None

    def follow(self, session: Session, time: float) -> None:
        """Look at a session from now on, which is a time."""
        if self._respond is None:
            return
        history = History(session.scene, began=time)
        if self._track is not None:
            history.commands = [(min(when, time), c) for when, c in self._track.commands if isinstance(c, SetGoal)]
            if self._track in session.listeners:
                session.listeners.remove(self._track)
        self._track = history
        session.listeners.append(history)

    def next(self, session: Session) -> Sequence[Command]:
        """What is to be done before the next frame."""
        if self._respond is None or self._track is None or not self._track.frames:
            return ()
        commands = self._respond(self._track)
        if self._track.frames * session.scene.dt > RECALL:
            self.follow(session, self._track.time)
        return commands
