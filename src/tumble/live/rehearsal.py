"""Rehearsal: a session that nobody sees, so that what the real one needs is compiled.

    with compiling(called("walker"), told=print):            # compiling the walker, first use: 37 of 112
        rehearse(Session(scene, walker, scene.state(), Go(speed=0.8)))

It is of no consequence: whoever rehearses makes a session for it, with a controller of its own. Results with and
without it are the same bits. What was compiled before, or is kept on disk, takes two frames, and nothing is told.
"""

from tumble.control.controller import closing
from tumble.controllers.relay import Relay
from tumble.live.session import Session
from tumble.planners import PLANNERS

FRAMES = 2  # the second goes on from the first, and may take other code


def called(name: str) -> str:
    """What a controller of that name is called in a sentence: 'the walker', 'the planner cpbp'."""
    return f"the planner {name}" if name in PLANNERS else f"the {name}"


def rehearse(session: Session) -> None:
    """Make the frames that compile what a controller needs from the beginning; closes the controller."""
    with closing(session.controller):
        for _ in range(FRAMES):
            session.step()


def rehearse_fall(session: Session) -> None:
    """Have the planner of a relay think as it would in a fall; closes the controller, does nothing for others."""
    with closing(session.controller):
        if isinstance(session.controller, Relay):
            for _ in range(FRAMES):
                session.controller.rising.control(session.world)
