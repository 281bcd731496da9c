"""Runner: trials of one scenario with one controller, in the process of `tumble run` or in a worker.

with Runner(options, scenario, settings) as runner:
    runner.warm_up(told=print)
    runner.trial(seed=3).result.success
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tumble.characters import character
from tumble.cli.learning import load_learning
from tumble.cli.run_options import RunOptions
from tumble.control.controller import Controller
from tumble.controllers import CONTROLLERS, unsuited
from tumble.errors import UserError
from tumble.goals.wants import Do
from tumble.live.keeping import KeepTime
from tumble.live.learning import Learning
from tumble.live.recording import Recorder
from tumble.live.rehearsal import called, rehearse
from tumble.live.session import Session
from tumble.live.set_file import load_set
from tumble.maths.compiling import CompileProgress, compiling
from tumble.scenarios import Result, Scenario, Trial, run_trial
from tumble.world.dressing import check_room, dressed, put
from tumble.world.scene import Scene


@dataclass(frozen=True)
class Ran:
    """A trial that was run.

    Attributes:
      result: how it went; whether it came to its end is in it.
      wall_seconds: that it took, without compiling before it.
    """

    result: Result
    wall_seconds: float


class Runner:
    """Makes a fresh controller for every trial, and a scene for every body and, where it is strewn, every seed.

    Leaving it writes what was learned.

    Attributes:
      controller, character: names of what was chosen, or of what the scenario is made for.
      learned: what the trials learn from, or None.
      written: recordings.
      keeping: how time was kept in the last trial, or None.
    """

    def __init__(self, options: RunOptions, scenario: Scenario, settings: Any) -> None:
        """Check that they suit each other.

        Args:
          options: whose script is a text, not a file.
          settings: of the controller.
        """
        self.options, self.scenario, self.settings = options, scenario, settings
        self.controller = options.controller or scenario.controllers[0]
        self.character = options.character or scenario.body_for(self.controller)
        self._body = character(self.character)
        if why := unsuited(self.controller, self._body):
            raise UserError(why)
        self._set = () if options.set_file is None else load_set(options.set_file)
        self._scene = self._dressed(scenario.scene(self._body))
        check_room(self._scene, self._scene.state(), {piece.name for piece in self._set})
        self._script = None if options.script is None else Do(options.script)
        self.written = list[Path]()
        self.keeping: KeepTime | None = None
        self.learned: Learning | None = None
        if options.learned is not None:
            first = self.make(self._scene, options.seed)
            self.learned = load_learning(options.learned, options.frozen, self.controller, first)

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        if self.learned is not None:
            self.learned.close()

    def scene(self, seed: int) -> Scene:
        """The scene of a trial: the same object for all seeds, where neither body nor props depend on them."""
        body = self.scenario.body(self._body, seed)
        usual = body is self._body and not self.scenario.strewn
        return self._scene if usual else self._dressed(self.scenario.scene(body, seed))

    def _dressed(self, scene: Scene) -> Scene:
        """The scene with the user's set in it."""
        return dressed(scene, put(scene.props, *self._set)) if self._set else scene

    def make(self, scene: Scene, seed: int) -> Controller:
        """A controller for a trial: a fresh one, whose draws follow from the seed."""
        return CONTROLLERS[self.controller].make(scene, self.settings, seed, self.options.threads)

    def warm_up(self, told: Callable[[CompileProgress], None] = lambda compiled: None) -> None:
        """Compile what a frame needs, so that no trial pays for it; Ctrl-C ends it at once."""
        want = self._script or self.scenario.wants()
        with compiling(called(self.controller), told):
            rehearse(Session(self._scene, self.make(self._scene, 0), self._scene.state(), want))
            if self.learned is not None:
                self.learned.learner.warm_up()

    def trial(
        self,
        seed: int,
        begins: Callable[[Trial], None] = lambda trial: None,
        told: Callable[[CompileProgress], None] = lambda compiled: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Ran:
        """Run one, and record it where that is asked for, also where it is stopped.

        Args:
          begins: called before its first frame, to add listeners.
          told: how far the compiler is, where something is compiled on the way.
          stop: asked before every frame.
        """
        recorders: list[Recorder] = []

        def watch(session: Session) -> None:
            begins(trial)
            if self.learned is not None:
                self.learned.teach(session.controller)
                session.listeners.append(self.learned.file)
            if self.options.keep_time:
                self.keeping = KeepTime(session)
                session.listeners.append(self.keeping)
            if self.options.record is not None:
                about = (self.scenario.name, self.controller, seed, asdict(self.settings))
                recorders.append(Recorder(session, *about))

        scene = self.scene(seed)
        trial = Trial(
            self.scenario, seed, self.controller, want=self._script, seconds=self.options.seconds, scene=scene,
            made=self.make(scene, seed),
        )  # fmt: skip
        began = time.perf_counter()
        try:
            with compiling(called(self.controller), told):
                result = run_trial(trial, watch, stop)
        finally:
            for recorder in recorders:
                self._save(recorder, seed)
        return Ran(result, time.perf_counter() - began)

    def _save(self, recorder: Recorder, seed: int) -> None:
        """Write a recording; with several trials its name has the seed."""
        path = self.options.record
        assert path is not None
        if self.options.trials > 1:
            path = path.with_stem(f"{path.stem}-{seed}")
        recorder.recording.save(path)
        self.written.append(path)
