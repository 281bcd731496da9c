"""The command line: `tumble studio`, `list`, `run`, `replay`, `export`, `character`, `gait`, `task`, `dataset` ...

    dispatch(["run", "getup", "--seed", "3"])        # the exit code; what `tumble run getup --seed 3` does

A command is a module `NAME_command` here with a function `main(arguments)` that returns an exit code. Its options are
made by tyro of dataclasses and signatures, so that a scenario's fields and a controller's settings are options too.
Heavy modules are imported by the command that needs them, so that help is there at once.

What people read goes to standard output, what is wrong and how far something is to standard error. A `UserError` is
printed as one sentence; any other exception is a fault of ours and shows where.
"""

import sys
from importlib import import_module
from importlib.metadata import version

COMMANDS = {
    "studio": "watch, touch and direct a character in a browser",
    "list": "what there is: scenarios, characters, controllers, goals, scripts, trees",
    "run": "run a scenario and say how it went",
    "replay": "tell about a recording; --check steps its physics again",
    "strip": "draw a recording as a film strip",
    "export": "write a recording for Blender, Unity, Unreal, Godot, VRM, robots, as a film or a page",
    "tree": "grow, ask and draw attraction trees, by which a character gets up from anywhere",
    "character": "tell what a robot's MJCF, or a character, is taken for, and keep its parts",
    "gait": "fit, test and mirror gaits of SIMBICON",
    "task": "train policies over steps, try and draw them",
    "stones": "solve stepping stones offline, and tell of what was found",
    "cite": "print the BibTeX of what a scenario uses",
    "dataset": "write successful episodes of a planner as a Minari dataset",
    "bench": "time planners, walkers, crowds, learners, environments and the studio",
}

EXAMPLES = """\
examples:
  tumble studio
  tumble list
  tumble run getup --record getup.npz
  tumble run push --force 600 --trials 10 --seed 100
  tumble run mine.py
  tumble run push --character my_robot.xml
  tumble strip getup.npz getup.png
  tumble export getup.npz getup.glb
  tumble replay getup.npz --check
  tumble tree build pendulum
  tumble gait test big-bird walk
  tumble task run heading --count 100
  tumble stones info planar-walk
  tumble cite push --controller relay
  tumble dataset getup getup-demonstrations --episodes 100
  tumble bench planner --json"""


def main() -> None:
    """Entry point of the `tumble` command."""
    sys.exit(dispatch(sys.argv[1:]))


def dispatch(arguments: list[str]) -> int:
    """Run one command; returns the exit code: 0 well, 1 no, 2 a user's mistake, 130 interrupted."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_help())
        return 0
    if arguments[0] == "--version":
        print(f"tumble {version('tumble')}")
        return 0
    from tumble.errors import UserError, unknown

    try:
        if arguments[0] not in COMMANDS:
            raise unknown("command", arguments[0], COMMANDS)
        command = import_module(f"tumble.cli.{arguments[0]}_command")
        return int(command.main(arguments[1:]))
    except UserError as error:
        print(f"tumble: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tumble: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return 1


def _help() -> str:
    """All commands, a line each, and examples; made here, as tyro would import every command for it."""
    rows = "\n".join(f"  {name:9} {what}" for name, what in COMMANDS.items())
    return (
        "usage: tumble COMMAND ...\n\nDirect physically simulated characters.\n\n"
        f"commands:\n{rows}\n\n{EXAMPLES}\n\n'tumble COMMAND --help' tells more of each."
    )
