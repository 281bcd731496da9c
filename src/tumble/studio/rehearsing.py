"""Rehearsing: what a show needs is compiled before it or beside it, and people are told what they wait for.

    rehearsing = Rehearsing(audience)
    rehearsing.before(choice.trial())                     # compiles; the audience is told: 37 of 112
    with rehearsing.watching("relay"):                    # and whatever else is compiled in here is told
        trial.step()
    rehearsing.beside(trial.controller, choice.trial)     # returns at once; a thread compiles what comes later
    rehearsing.close()                                    # from another thread: compiling ends soon

A frame needs its controller's code, and waits for it. That of the planner that gets a relay up is needed in the first
fall, seconds later: it is compiled in a thread of its own, while frames go on. A fall that comes sooner waits for it,
and people see what for. Nothing that is shown depends on which thread compiled what.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tumble.control.controller import Controller
from tumble.controllers.relay import Relay
from tumble.errors import UserError
from tumble.live.rehearsal import called, rehearse, rehearse_fall
from tumble.maths.compiling import CompileProgress, compiling
from tumble.scenarios import Trial
from tumble.studio.audience import Audience


class Rehearsing:
    """Compiles for one stage. All but `close` is called in the stage's thread."""

    def __init__(self, audience: Audience) -> None:
        self._audience, self._closing = audience, False
        self._thread: threading.Thread | None = None
        self._known: set[str] = set()  # planners of relays that were rehearsed

    @contextmanager
    def watching(self, controller: str) -> Iterator[None]:
        """Tell people what is compiled in this thread meanwhile, for a controller of that name.

        Raises:
          UserError: it cannot be compiled.
          KeyboardInterrupt: `close` was called while it was compiled.
        """
        told = False

        def tell(progress: CompileProgress) -> None:
            nonlocal told
            if self._closing:
                raise KeyboardInterrupt
            told = True
            self._audience.compiling(str(progress))

        try:
            with compiling(called(controller), tell):
                yield
        finally:
            if told:
                self._audience.compiling("")

    def before(self, trial: Trial) -> None:
        """Compile what the first frames need, with a trial that is used for nothing else; raises as `watching` does."""
        with self.watching(trial.name):
            rehearse(trial.session)

    def beside(self, controller: Controller, make: Callable[[], Trial]) -> None:
        """Compile what a controller needs later in a thread; nothing where it needs nothing, or all was compiled.

        Args:
          controller: who plays.
          make: a trial of its kind that is used for nothing else; called in that thread.
        """
        if not isinstance(controller, Relay) or controller.settings.rising in self._known or self._closing:
            return
        self._known.add(controller.settings.rising)
        self._join()
        about = (controller.settings.rising, make)
        self._thread = threading.Thread(target=self._beside, args=about, name="rehearsal", daemon=True)
        self._thread.start()

    def _beside(self, planner: str, make: Callable[[], Trial]) -> None:
        """Runs in a thread of its own; what goes wrong is told, and will be again where a fall needs it."""
        try:
            with self.watching(planner):
                rehearse_fall(make().session)
        except KeyboardInterrupt:
            pass  # the studio is closing
        except UserError as error:
            self._audience.say(str(error))

    def close(self) -> None:
        """End at the next function what is being compiled, in the stage's thread and in ours, and wait for ours."""
        self._closing = True
        self._join()

    def _join(self) -> None:
        if self._thread is not None:
            self._thread.join()
