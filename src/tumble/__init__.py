"""tumble: direct physically simulated characters live.

    from tumble import CPBP, Balance, Planned, Scene, Session, humanoid

    scene = Scene(humanoid())
    session = Session(scene, Planned(CPBP(scene)), scene.state("t-pose", lying="supine"), Balance())
    while session.time < 5:
        session.step()

Names are loaded when they are first used, so that `import tumble` is quick.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tumble.characters import CHARACTERS, Character, biped, character, humanoid
    from tumble.control.controller import Controller
    from tumble.controllers import CONTROLLERS
    from tumble.controllers.relay import Relay
    from tumble.errors import UserError
    from tumble.goals import Goal, Term, Way, balance, gait, juggle, on_ball, reach, reaching, steer, turbo
    from tumble.goals.wants import Balance, Do, Go, Juggle, Meet, Reach, StayOn, Together
    from tumble.live.commands import Carve, Drag, Explode, Push, Release, Reset, SetParameter, Throw
    from tumble.live.recording import Recorder, Recording
    from tumble.live.session import Frame, Session
    from tumble.live.set_file import load_set, save_set
    from tumble.planners import (
        CPBP,
        MCTS,
        PLANNERS,
        SMC,
        CPBPSettings,
        MCTSSettings,
        Plan,
        Planned,
        Planner,
        SMCSettings,
    )
    from tumble.scenarios import SCENARIOS, Scenario, Trial, run_trial
    from tumble.skills.performer import Performer
    from tumble.walking import Walker, WalkSettings
    from tumble.world.props import Ball, Box, Companion, Crate, Ramp, Staircase
    from tumble.world.scene import Ground, Scene
    from tumble.world.sims import Sims

_HOMES = {
    "characters": ("CHARACTERS", "Character", "biped", "character", "humanoid"),
    "goals.wants": ("Balance", "Do", "Go", "Juggle", "Meet", "Reach", "StayOn", "Together"),
    "live.commands": ("Carve", "Drag", "Explode", "Push", "Release", "Reset", "SetParameter", "Throw"),
    "control.controller": ("Controller",),
    "controllers": ("CONTROLLERS",),
    "controllers.relay": ("Relay",),
    "skills.performer": ("Performer",),
    "errors": ("UserError",),
    "goals": ("Goal", "Term", "Way", "balance", "gait", "juggle", "on_ball", "reach", "reaching", "steer", "turbo"),
    "planners": (
        "CPBP",
        "MCTS",
        "PLANNERS",
        "SMC",
        "CPBPSettings",
        "MCTSSettings",
        "Plan",
        "Planned",
        "Planner",
        "SMCSettings",
    ),
    "world.props": ("Ball", "Box", "Companion", "Crate", "Ramp", "Staircase"),
    "live.recording": ("Recorder", "Recording"),
    "scenarios": ("SCENARIOS", "Scenario", "Trial", "run_trial"),
    "world.scene": ("Ground", "Scene"),
    "live.session": ("Frame", "Session"),
    "live.set_file": ("load_set", "save_set"),
    "world.sims": ("Sims",),
    "walking": ("WalkSettings", "Walker"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "CHARACTERS",
    "CONTROLLERS",
    "CPBP",
    "MCTS",
    "PLANNERS",
    "SCENARIOS",
    "SMC",
    "Balance",
    "Ball",
    "Box",
    "CPBPSettings",
    "Carve",
    "Character",
    "Companion",
    "Controller",
    "Crate",
    "Do",
    "Drag",
    "Explode",
    "Frame",
    "Go",
    "Goal",
    "Ground",
    "Juggle",
    "MCTSSettings",
    "Meet",
    "Performer",
    "Plan",
    "Planned",
    "Planner",
    "Push",
    "Ramp",
    "Reach",
    "Recorder",
    "Recording",
    "Relay",
    "Release",
    "Reset",
    "SMCSettings",
    "Scenario",
    "Scene",
    "Session",
    "SetParameter",
    "Sims",
    "Staircase",
    "StayOn",
    "Term",
    "Throw",
    "Together",
    "Trial",
    "UserError",
    "WalkSettings",
    "Walker",
    "Way",
    "balance",
    "biped",
    "character",
    "gait",
    "humanoid",
    "juggle",
    "load_set",
    "on_ball",
    "reach",
    "reaching",
    "run_trial",
    "save_set",
    "steer",
    "turbo",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tumble' has no attribute '{name}'")
    return getattr(import_module(f"tumble.{_HOME[name]}"), name)


def _show_in_notebooks() -> None:
    """Have recordings, recorders and sessions show themselves where IPython runs; see `tumble.export.notebook`."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return

    def represent(thing: Any) -> str:
        return str(import_module("tumble.export.notebook").represent(thing))

    for home, name in (("recording", "Recording"), ("recording", "Recorder"), ("session", "Session")):
        shell.display_formatter.formatters["text/html"].for_type_by_name(f"tumble.live.{home}", name, represent)


_show_in_notebooks()


def __dir__() -> list[str]:
    return __all__
