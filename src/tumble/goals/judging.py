"""Judging: the goal by which planners judge how well a want is met.

goal_of(scene, Go(speed=1.25, heading=0.5))            # 'steer' of hamalainen2015
goal_of(scene, Go(speed=1.0, style="gait"))            # the cost of rajamaki2017
goal_of(scene, Together((StayOn(), Reach((0, 0.4, 2)))))

A want says what, a goal says how well: several goals may judge one want (`GO_STYLES`). What no goal judges, scripts and
some sums for instance, is refused with a sentence; nothing is left out in silence.
"""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

from tumble.errors import UserError
from tumble.goals.behaviours import GOALS, reaching
from tumble.goals.goal import Goal
from tumble.goals.wants import Balance, Do, Go, Juggle, Meet, Reach, Single, StayOn, Want, name_of, part, parts
from tumble.world.scene import Scene

GO_STYLES = ("steer", "turbo", "gait")  # goals that judge how one goes; styles of `Go`


def goal_of(scene: Scene, want: Want, go_style: str = "steer") -> Goal:
    """The goal that judges a want in a scene; refuses one that planners cannot be judged by.

    Args:
      go_style: the goal that judges `Go` where it asks for no style; bodies without two feet and hands: 'gait'.
    """
    want.check()
    reach, *others = part(want, Reach), *(one for one in parts(want) if not isinstance(one, Reach))
    if reach is None or not others:
        name, options = _named(parts(want)[0], scene, go_style)
        if len(others) > 1:
            raise UserError(f"planners do not judge {name_of(want)} at once")
        return built(name, scene, options)
    if len(others) > 1 or not isinstance(others[0], StayOn | Go):
        raise UserError("planners reach alone, while going, or while staying on a ball")
    name, options = _named(others[0], scene, go_style)
    return built(name, scene, options) + reaching(scene, reach.target, reach.hand)


def built(goal: str, scene: Scene, options: dict[str, Any]) -> Goal:
    """A goal by its name; options that it does not take are refused."""
    make: Callable[..., Goal] = GOALS[goal].make
    takes = dict(list(signature(make).parameters.items())[1:])
    for name in options:
        if name not in takes:
            raise UserError(f"goal '{goal}' takes no {name}; it takes: {', '.join(takes) or 'no options'}")
    for name, parameter in takes.items():
        if parameter.default is Parameter.empty and name not in options:
            raise UserError(f"goal '{goal}' needs a {name}")
    try:
        return make(scene, **options)
    except UserError:
        raise
    except (TypeError, ValueError) as error:  # options come from outside, as anything that JSON can say
        raise UserError(f"goal '{goal}' cannot be made with {options}: {error}") from None


def _named(want: Single, scene: Scene, go_style: str) -> tuple[str, dict[str, Any]]:
    """Name and options of the goal that judges a single want; options that it left open are not among them."""
    match want:
        case Balance():
            given = {"facing": want.facing, "pose": want.pose, "roll": want.roll}
            return "balance", {name: value for name, value in given.items() if value is not None}
        case Reach():
            return "reach", {"target": want.target, "hand": want.hand}
        case StayOn():
            return "ball", {"ball": want.ball}
        case Juggle():
            return "juggle", {"ball": want.ball}
        case Meet():
            return want.goal, want.options
        case Go():
            return _going(want, scene, go_style)
        case Do():
            raise UserError("planners do no scripts")


def _going(want: Go, scene: Scene, go_style: str) -> tuple[str, dict[str, Any]]:
    manner = [name for name in want.given if name not in ("speed", "heading", "target", "style")]
    if manner:
        raise UserError(f"planners go as they find out, and take no {', '.join(manner)}")
    style = style_of(want, scene, go_style)
    if style not in GO_STYLES:
        raise UserError(f"planners know no style '{style}'; they judge going by: {', '.join(GO_STYLES)}")
    if want.target is not None and want.heading is not None:
        raise UserError("planners go to a target facing as they come, and take no heading with it")
    if want.target is not None:
        return style, {"target": want.target}
    options: dict[str, Any] = {"velocity": want.velocity}
    if style == "gait" and want.heading is not None and not want.speed:
        options["facing"] = Go(speed=1.0, heading=want.heading).velocity
    return style, options


def style_of(want: Go, scene: Scene, go_style: str = "steer") -> str:
    """The style in which planners go; see `goal_of`."""
    able = len(scene.character.feet) == 2 and scene.character.hands and want.target is None
    return want.style or (go_style if able else "gait")
