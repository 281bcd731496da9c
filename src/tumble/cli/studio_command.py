"""`tumble studio [FILE.py] [SCENARIO]`: watch, touch and direct a character in a browser.

    main(["push", "--force", "600", "--port", "0", "--no-browser"])

Options are made as those of `tumble run`: its own, the scenario's and the controller's beside each other. What can be
wrong is said before anything is served: a trial is built for that, which takes some 40 ms and compiles nothing. The
server itself is imported last, as NiceGUI may be missing and takes half a second.
"""

import gc
import sys
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import tyro

from tumble.cli.learning import check_frozen, load_learning
from tumble.cli.options import CONFIG, FLAT, only_scenario, own_file, usual_settings
from tumble.cli.own_robots import introduce
from tumble.errors import UserError, check_number
from tumble.live.recording import Recording
from tumble.live.set_file import load_set
from tumble.scenarios import SCENARIOS, Scenario
from tumble.studio.choice import Choice, live


@dataclass(frozen=True)
class StudioOptions:
    """What `tumble studio` takes beside the options of its scenario and the settings of its controller."""

    controller: str | None = None
    """Who controls: see 'tumble list'; by default the one that the scenario is made for."""
    character: str | None = None
    """Which body: see 'tumble list', or the MJCF of your own robot; by default the one that the scenario is for."""
    seed: int = 0
    """Of the scenario and of the planner."""
    keep_time: bool = True
    """Fit the planner's work to the frame, by measured time; what is chosen is shown, and recorded."""
    takes: tuple[Path, ...] = ()
    """Recordings (.npz) to look at, and to compare with what is played."""
    learned: Path | None = None
    """Go on from what was learned: load this file if it is there, and add to it (planners that learn: smc, mcts)."""
    frozen: bool = False
    """Use what was learned without adding to it."""
    threads: int = 0
    """For the physics; 0: one per core."""
    host: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 is every network that this machine is in."""
    port: int = 8080
    """To listen on; 0 takes any that is free."""
    set_file: Annotated[Path | None, tyro.conf.arg(name="set")] = None
    """Put what this file of a set (.json) holds into the scene, each thing in the place of one of its name."""
    behind: str = ""
    """The address under which a proxy of yours shows the studio, such as https://studio.example.org."""
    no_browser: bool = False
    """Print the address only."""


ABOUT = """Direct a character live, in a browser: drag it, push it, throw things at it, steer it, change its planner.

The printed address carries a token; only browsers that were opened with it get in. Ctrl-C ends the studio.

Usage: tumble studio [FILE.py] [SCENARIO] [OPTIONS]; scenarios are listed by 'tumble list', the first one is 'stand'.
FILE.py is a file of your own that registers scenarios, characters, goals or controllers; it is loaded again whenever
you save it.

Example: tumble studio push --force 600 --controller cem --samples 64 --port 9000 --no-browser

Example, learning while you play: tumble studio dodge --learned dodge.experience

Example, learning to walk, and going on another day: tumble studio learn-walk --learned walk.learned

Example, with a file of your own: tumble studio mine.py push --character tripod

Example, with a robot of your own: tumble studio --character my_robot.xml

Example, with a set that you built: tumble studio steer-walk --set kitchen.json

Example, to look at recordings: tumble studio push --takes cpbp.npz smc.npz

Example, from your phone, in a network that you trust: tumble studio --host 0.0.0.0

Example, through a proxy that speaks TLS: tumble studio --behind https://studio.example.org
"""


def studio(options: StudioOptions, scenario: Scenario, settings: Any, file: Path | None = None) -> int:
    """Check everything, then serve until interrupted.

    Args:
      scenario: with its options; those that are not at their defaults go into the `Choice`.
      settings: of the controller.
      file: a user's own, which is loaded again whenever it is saved.

    Raises:
      UserError: what does not go together, a port that is taken, NiceGUI that is not installed.
    """
    check_number("threads", options.threads, 0, 1024)
    check_number("port", options.port, 0, 65535)
    check_frozen(options.learned, options.frozen)
    usual = asdict(type(scenario)())  # type: ignore[call-overload]
    changed = tuple((name, value) for name, value in asdict(scenario).items() if value != usual[name])  # type: ignore[call-overload]
    controller = options.controller or scenario.controllers[0]
    body = options.character or scenario.body_for(controller)
    introduce(options.character)
    for sentence in scenario.notes(settings):
        print(f"tumble: {sentence}", file=sys.stderr)
    pieces = () if options.set_file is None else load_set(options.set_file)
    choice = Choice(scenario.name, body, controller, options.seed, changed, placed=pieces)
    takes = {path.stem: Recording.load(path) for path in options.takes}
    trial = choice.trial(1, settings)  # says what is wrong before anything is served
    if find_spec("nicegui") is None:
        raise UserError("the studio needs NiceGUI: pip install 'tumble[studio]'")
    from tumble.studio.server import serve

    where = (options.host, options.port, options.threads)
    serving = partial(
        serve,
        choice,
        settings,
        *where,
        browser=not options.no_browser,
        file=file,
        behind=options.behind,
        takes=takes,
        keep_time=options.keep_time,
    )
    if options.learned is None:
        serving()
    else:
        with load_learning(options.learned, options.frozen, controller, trial.controller) as learning:
            serving(learning=learning)
        print(f"learned from {len(learning)} situations in {options.learned}")
    gc.freeze()  # the process ends: else Python looks through all pages for garbage, several times, for seconds
    return 0


def main(arguments: list[str]) -> int:
    """Parse and run. Scenario and controller decide which other options there are.

    The scenario may stand anywhere among the options; where none is named, it is 'stand', or the one that a user's
    file registers.
    """
    file, arguments = own_file(arguments)
    named = [word for word in arguments if word in SCENARIOS][:1] or [
        word for word in arguments[:1] if not word.startswith("-")
    ]
    first = only_scenario(file, "studio") if file and file.names["scenario"] and not named else "stand"
    kind = SCENARIOS[named[0] if named else first].make
    options_alone = list(arguments)
    for word in named:
        options_alone.remove(word)
    usual = live(usual_settings(arguments, kind))

    def go(
        options: Annotated[StudioOptions, FLAT],
        scenario: Annotated[kind, FLAT],  # type: ignore[valid-type]
        settings: Annotated[type(usual), FLAT] = usual,  # type: ignore[valid-type]
    ) -> int:
        return studio(options, scenario, settings, None if file is None else file.path)

    go.__doc__ = ABOUT
    return tyro.cli(go, prog="tumble studio", args=options_alone, config=CONFIG)
