"""Stage: a trial that runs in a thread of its own, paced by the clock, watched, paused and turned back.

    stage = Stage(Choice("push"), audience)
    stage.start()
    stage.post(lambda: stage.director.send(Explode((0.5, 0.0, 0.0)))).result()
    stage.close()

Everything happens in the stage's thread between frames: others `post` a function and get a future. Its order is: show
where the trial begins; wait a moment for somebody to look; compile, telling the audience how far that is; then frames,
each when it is due, and jobs between them.

Traps: methods under "What people do" belong into that thread, so `stage.post(stage.pause)` and not `stage.pause()`;
attributes may be read from any thread, and are of the last frame or of the next. What a frame raises pauses the show
and is told as a sentence; the thread lives until `close`.
"""

import queue
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from tumble.control.controller import Controller
from tumble.errors import UserError, check_number
from tumble.live.keeping import KeepTime
from tumble.live.learning import Learning
from tumble.live.recording import Recorder
from tumble.live.session import Frame, Session
from tumble.scenarios import Trial
from tumble.studio.audience import Audience, Shown
from tumble.studio.choice import Choice, inherit, standing
from tumble.studio.director import Director
from tumble.studio.dresser import Dresser
from tumble.studio.pace import Clock
from tumble.studio.packet import BROKEN, PAST, PAUSED, RECORDING, Status, with_flags
from tumble.studio.pictures import Pictures
from tumble.studio.rehearsing import Rehearsing
from tumble.studio.screening import Screening
from tumble.studio.takes import Take, Takes
from tumble.studio.timeline import Moment, Timeline
from tumble.studio.verdicts import Verdicts

LONGEST = 1800.0  # s of a recording
SLOWEST, FASTEST = 0.05, 4.0  # speeds that may be asked for


class Stage:
    """Plays trials, one after the other.

    Attributes:
      choice, trial: what is played.
      director, dresser: what people ask of it, and do to its set.
      ready: whether all is compiled.
      playing: whether time goes on.
      watched: whether anybody looks; nobody looks, nothing moves.
      past: tick of the moment that is shown, None where it is the present.
      pace: speed and rates.
      keeps_time: whether planners are fitted to the frame; see `tumble.live.keeping`.
      learning, unused: what is learned, if anything is, and why the present controller does not use it.
      takes, screening: recordings that are kept, and what is shown of them instead of the live world.
    """

    def __init__(
        self, choice: Choice, audience: Audience, threads: int = 0, settings: Any = None,
        learning: Learning | None = None, keep_time: bool = False,
    ) -> None:  # fmt: skip
        self.choice, self.trial = choice, choice.trial(threads, settings)
        self.director = Director(self.trial, choice.stance)
        self.ready, self.playing, self.watched = False, True, False
        self.past: int | None = None
        self.takes = Takes()
        self.learning, self.unused = learning, ""
        self.keeps_time = keep_time
        self._keeping: KeepTime | None = None
        self.pace = Clock(self.dt)
        self.timeline = Timeline(self.dt)
        self._audience, self._threads = audience, threads
        self._recorder: Recorder | None = None
        self._tick, self.pictures = 0, Pictures(self.trial.scene)
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self._wake, self._closing = threading.Event(), False
        self._rehearsing, self._verdicts = Rehearsing(audience), Verdicts(audience)
        self.dresser, self.screening = Dresser(self), Screening(self)
        self._thread = threading.Thread(target=self._run, name="stage", daemon=True)

    @property
    def dt(self) -> float:
        """Simulated seconds a frame."""
        return self.trial.scene.dt

    def start(self, patience: float = 0.0) -> None:
        """Begin, in a thread.

        Args:
          patience: s that it waits for somebody to look, or for a job, before it compiles: the first page is there
            sooner if nobody compiles meanwhile.
        """
        self._patience = patience
        self._thread.start()

    def close(self) -> None:
        """End after the present frame, or where it is compiled at once; a running recording becomes a take."""
        self._closing = True
        self._wake.set()
        self._rehearsing.close()
        if self._thread.is_alive():
            self._thread.join()
        self._rest(self.trial.controller)
        self.cut()

    def post(self, job: Callable[[], Any]) -> "Future[Any]":
        """Have a function called between frames; the future has its result or its exception.

        From any thread. While something is compiled jobs wait, in the order in which they came; the last are done when
        the stage closes, and those that come after that get a UserError.
        """
        future: Future[Any] = Future()
        if self._closing:
            future.set_exception(UserError("the studio is closing"))
            return future
        self._jobs.put((job, future))
        self._wake.set()
        return future

    def watch(self, watched: bool) -> None:
        """Say whether anybody looks; from any thread. While nobody does, time stands still and nobody plans."""
        self.watched = watched
        self._wake.set()

    def _run(self) -> None:
        """The stage's thread."""
        self._appear()
        self._wake.wait(self._patience)
        if not self._closing:
            self._try(self._rehearse)
        self.ready = True
        self._audience.changed()
        while not self._closing:
            self._work()
            if not (self.playing and self.watched):
                self._rest(self.trial.controller)
                self._wake.wait()
            elif wait := self.pace.wait:
                self._wake.wait(wait)
            elif self.screening.take is not None:
                self._try(self.screening.step)
            else:
                self._step()
            self._wake.clear()  # before looking at what it told of: a wake in between would be lost
        self._work()  # nobody waits for ever

    def _work(self) -> None:
        while not self._jobs.empty():
            job, future = self._jobs.get()
            if not future.set_running_or_notify_cancel():  # whoever asked is gone
                continue
            try:
                future.set_result(job())
            except Exception as error:
                future.set_exception(error)

    def _rehearse(self) -> None:
        """Have compiled what the first frames need, by a trial that nobody sees."""
        self._rehearsing.before(self._like())
        if self.learning is not None:
            with self._rehearsing.watching(self.choice.controller):
                self.learning.learner.warm_up()

    def _like(self) -> Trial:
        """Another trial of what is played, at its beginning."""
        return self.choice.trial(self._threads, self.trial.controller.settings)

    def _try(self, act: Callable[[], None]) -> bool:
        """Whether something was done. Whatever goes wrong in it pauses the show and is told; the thread goes on."""
        try:
            act()
        except KeyboardInterrupt:  # the studio is closing, and nobody waits for what was being compiled
            return False
        except Exception as error:
            self.playing = False
            self._audience.say(f"paused: {error}" if isinstance(error, UserError) else f"paused by an error: {error!r}")
            if isinstance(error, UserError):
                print(f"tumble: {error}", file=sys.stderr)
            else:
                traceback.print_exc()
            self._audience.changed()
            return False
        return True

    def _step(self) -> None:
        """One frame, and what comes of it."""
        if not self._try(self._frame):
            return
        if self.trial.session.world.broken[0]:
            self._audience.say("the simulation went unstable; it begins again")
            self._try(self.reset)
        elif self._recorder is not None and len(self._recorder) * self.dt >= LONGEST:
            self.cut()
            self._audience.say(f"a recording ends after {LONGEST / 60:g} minutes; download it")

    def _frame(self) -> None:
        """Make one and show it; then have compiled beside the next ones what may be needed later."""
        self._teach()
        self._keep_time()
        before = self._news
        with self._rehearsing.watching(self.choice.controller):
            frame = self.trial.step()
        self.trial.recall()
        self._verdicts.hear(self.trial)
        self.pace.ticked()
        if self._news != before:
            self._audience.changed()
        self._tick += 1
        self._show(frame)
        self._rehearsing.beside(self.trial.controller, self._like)

    @property
    def _news(self) -> tuple[Any, ...]:
        """What panels show and nobody has asked for."""
        report = self.trial.controller.report()
        return self.trial.told, report.acting, report.doing, self.keeping

    @property
    def keeping(self) -> str:
        """How time is kept, in words; '' where it is not."""
        return "" if self._keeping is None else self._keeping.text

    def _keep_time(self) -> None:
        """Have the present session's planner fitted, or no more."""
        listeners = self.trial.session.listeners
        if self.keeps_time and self._keeping not in listeners:
            self._keeping = KeepTime(self.trial.session)
            listeners.append(self._keeping)
        elif not self.keeps_time and self._keeping in listeners:
            listeners.remove(self._keeping)
            self._keeping = None

    def _rest(self, controller: Controller) -> None:
        """Have nothing more learned in a thread until the controller's next frame; what went wrong in one is told."""
        try:
            controller.close()
        except Exception as error:
            self._audience.say(f"learning ended by an error: {error!r}")
            traceback.print_exc()

    def _teach(self) -> None:
        """Have the controller learn, which may be another than a frame ago; say so where it cannot."""
        if self.learning is None:
            return
        unused = self.learning.teach(self.trial.controller)
        if unused and unused != self.unused:
            self._audience.say(f"{self.learning.file.path.name} is not used: {unused}")
        self.unused = unused
        if self._keep not in self.trial.session.listeners:
            self.trial.session.listeners.append(self._keep)

    def _keep(self, session: Session, frame: Frame) -> None:
        """Keep what was learned in a frame. Where that fails, the show goes on and learning ends."""
        if self.learning is None:
            return
        try:
            self.learning.file(session, frame)
        except UserError as error:
            self._audience.say(f"{error}; nothing more is learned")
            self.learning = None
            self._audience.changed()

    def _appear(self, flags: int = 0) -> None:
        """Show where the trial begins, before anything is compiled or moves; it is no moment of the timeline."""
        self.send(self._picture(self.trial.session.world.state[0], flags), self.trial.session.index)

    def _show(self, frame: Frame) -> None:
        seconds = self._keeping.planned if self._keeping is not None and self.keeping else frame.control_seconds
        shown = self._picture(frame.state, BROKEN * frame.broken, seconds)
        about = (frame.state, shown.message, shown.packer, shown.terms, shown.names, shown.ghosts)
        self.timeline.add(Moment(self._tick, self.trial.time, *about))
        self.send(shown, self.trial.session.index)

    def send(self, shown: Shown, index: int) -> None:
        """Show a picture of the moment before a session's frame of that index, and what is drawn beside it."""
        beside = self.screening.companion(index)
        self._audience.show(shown if beside is None else replace(shown, beside=beside))

    def told(self) -> None:
        """Have panels look again."""
        self._audience.changed()

    def _picture(self, state: np.ndarray, flags: int = 0, control_seconds: float = 0.0) -> Shown:
        """A state of the trial as browsers draw it, with what is wanted and thought now."""
        status = Status(
            tick=self._tick,
            oldest=self.timeline.oldest or self._tick,
            newest=self._tick,
            time=self.trial.time,
            flags=flags | RECORDING * (self._recorder is not None),
            rate=self.pace.rate,
            realtime=self.pace.realtime,
            speed=self.pace.speed,
            control_seconds=control_seconds,
            keeping=self.keeping,
        )
        return self.pictures.make(self.trial, self.director, state, status)

    # What people do; to be called in the stage's thread, by `post` --------------------------------------

    def pause(self) -> None:
        """Stop time."""
        if self.screening.take is not None:
            self.screening.scrub(self.screening.frame)
        elif self.past is None:
            self.playing = False
            self._look(self.timeline.newest, PAUSED)

    def play(self) -> None:
        """Let time go on, from the moment that is shown."""
        if self.screening.take is None and self.past is not None:
            self.resume(self.past)
        self._go()

    def advance(self) -> None:
        """Stop time and make one frame; in the past, or of a take, show the next one."""
        if self.screening.take is not None:
            self.screening.advance()
            return
        if self.past is not None and self.past < self.timeline.newest:
            self.scrub(self.past + 1)
            return
        self.playing, self.past = False, None
        self._step()
        self._look(self.timeline.newest, PAUSED)

    def slow(self, speed: float) -> None:
        """Play at a share of real time."""
        check_number("speed", speed, SLOWEST, FASTEST)
        self.pace.speed = speed
        self.pace.restart(self.dt)
        self._audience.changed()

    def scrub(self, tick: int) -> None:
        """Stop time and show a moment of the past, or of a take, the nearest that is kept."""
        if self.screening.take is not None:
            self.screening.scrub(tick)
            return
        tick = min(max(tick, self.timeline.oldest), self.timeline.newest)
        self.timeline.at(tick)
        self.playing, self.past = False, tick
        self._look(tick, PAST | PAUSED)

    def resume(self, tick: int) -> None:
        """Go on from a moment of the past, with what is wanted and set now; what came after is forgotten.

        A recording goes on: it has both, one after the other. From a take the live world goes on, as it was.
        """
        if self.screening.take is not None:
            self.screening.close()
            self._go()
            return
        moment = self.timeline.at(tick)
        if tick != self.timeline.newest:
            self.trial.rewind(moment.packer.scene, moment.state, moment.time)
            self.timeline.cut(tick)
            if self._recorder is not None:
                self._audience.say("the recording goes on from here, in a second part of the same take")
            self._tick, self.pictures.packer = tick, moment.packer
        self._go()

    def reset(self) -> None:
        """Begin the scenario again, with the same seed."""
        self.choose(self.choice)

    def choose(self, choice: Choice) -> None:
        """Play something else. Settings and weights stay with the controller, the stance with the scenario.

        It is shown where it begins at once; what it needs compiled is compiled in its first frame, and told. A
        running recording ends. Nothing changes where the choice is refused.
        """
        choice, missing = standing(self.dresser.kept(choice, self.choice), self.choice, self.director.stance)
        same = choice.controller == self.choice.controller
        self.director.settle()
        old = self.trial.controller
        trial = choice.trial(self._threads, old.settings if same else None)
        if same:
            inherit(trial.controller, old)
        self.cut()
        self._rest(old)
        self.trial, self.choice, self.director = trial, choice, Director(trial, choice.stance)
        self.dresser.began(choice)
        if missing:
            self._audience.say(f"'{choice.character}' has no pose '{missing}'; it stands in 'rest'")
        self.pictures.enter(trial.scene)
        self.screening.close()
        self.timeline.clear()
        self._go()
        self._appear()

    def reshape(self, proportions: Mapping[str, float]) -> None:
        """Give the character other proportions while it goes on; none gives it its own again."""
        changed = {**dict(self.choice.proportions), **proportions} if proportions else {}
        choice = replace(self.choice, proportions=tuple(changed.items()))
        self.trial.reshape(choice.body())
        self.choice = choice

    def again(self) -> None:
        """Begin the scenario again, with the next seed."""
        self.choose(replace(self.choice, seed=self.choice.seed + 1))

    def record(self) -> None:
        """Begin a recording; it becomes a take when it ends."""
        if self.screening.take is not None:
            raise UserError("a take is shown; press 'live' first, then record")
        self.cut()
        self.takes.check_room()
        choice, trial = self.choice, self.trial
        about = (choice.scenario, choice.controller, choice.seed)
        self._recorder = Recorder(trial.session, *about, asdict(trial.controller.settings))
        self._audience.changed()

    def cut(self) -> None:
        """End the recording, if one is running; it becomes a take."""
        if self._recorder is None:
            return
        self._recorder.stop()
        self.takes.add(self._recorder.recording)
        self._recorder = None
        self._audience.changed()

    @property
    def last_take(self) -> Take | None:
        """The newest take that is kept; None where there is none."""
        return self.takes.all[-1] if self.takes.all else None

    @property
    def recording(self) -> bool:
        """Whether a recording is running."""
        return self._recorder is not None

    def _go(self) -> None:
        self.playing, self.past = True, None
        self.pace.restart(self.dt)
        self._audience.changed()

    def redraw(self) -> None:
        """Show the present as it is now, where time stands still: something in it was changed."""
        if not self.playing:
            self._appear(PAUSED)
        self._audience.changed()

    def _look(self, tick: int, flags: int) -> None:
        """Show a moment that was shown before, or the beginning where nothing has moved yet."""
        if not len(self.timeline):
            self._appear(flags)
        else:
            moment = self.timeline.at(tick)
            message = with_flags(moment.message, flags, self.timeline.oldest, self.timeline.newest)
            shown = Shown(message, moment.packer, moment.terms, moment.names, moment.ghosts)
            self.send(shown, round(moment.time / self.dt))
        self._audience.changed()
