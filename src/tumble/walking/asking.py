"""What may be asked of walkers, and how it gets into their memories (`tumble.walking.memory`).

    wish(sims.memory("walker"), walker.styles, rows=[1], speed=0.8, style="sneak")

Memories are changed in place, and nothing else: what is followed comes nearer to what is wished at every step (see
`follow`). Trap: a wish that is refused leaves those before it in the same call written.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tumble.errors import UserError, check_number, unknown
from tumble.goals.wants import Balance, Go, Want, name_of, part, parts
from tumble.walking.memory import UNLIMITED
from tumble.walking.style import Style

WISHES = {  # name: (lowest, highest); of the field 'wish_NAME'
    "speed": (-1.0, 2.0),
    "heading": (-1e6, 1e6),
    "period": (0.2, 1.5),
    "step_height": (0.0, 0.5),
    "step_width": (0.0, 0.6),
    "bend": (-0.5, 2.0),
    "crouch": (0.0, 2.2),
    "alpha": (-0.5, 0.5),
    "load": (0.0, 1.0),
    "drift": (-0.3, 0.3),
    "haul": (-500.0, 500.0),
}
OWN = -1.0  # a period or a step width that the style decides


def begin(memory: np.ndarray, heading: np.ndarray, style: Style) -> None:
    """Memories (rows,) become those of walkers that stand, facing headings (rows,), in a style; all else is cleared."""
    memory[:] = 0.0
    memory["heading"] = memory["wish_heading"] = heading
    memory["period"], memory["step_width"] = style.period, style.step_width
    memory["wish_period"] = memory["wish_step_width"] = OWN
    memory["speed_limit"] = UNLIMITED


def index_of(styles: Sequence[Style], name: str) -> int:
    """Number of a style, or the error that lists those there are."""
    names = [style.name for style in styles]
    if name not in names:
        raise unknown("style", name, names)
    return names.index(name)


def wish_style(m: Any, style: int) -> None:
    """Want a style from now on.

    A blend that is under way turns round where it is asked to, and goes on to a third style from the nearer of its
    two: only then does anything jump, by half of what they differ at most.
    """
    old, last = m.style, m.wish_style
    if old == last or style == last:
        m.wish_style = style
        return
    if style == old:
        m.style, m.blend = last, 1.0 - m.blend
    else:
        m.style, m.blend = last if m.blend > 0.5 else old, 0.0
    m.wish_style = style


def wish(
    memory: np.ndarray, styles: Sequence[Style], rows: Any = None, style: str | None = None, **wishes: Any
) -> None:
    """Write wishes into memories (rows,), see `Walker.wish`."""
    chosen = slice(None) if rows is None else rows
    if style is not None:
        number = index_of(styles, style)
        for row in np.atleast_1d(np.arange(len(memory))[chosen]):
            wish_style(memory[row], number)
    for name, value in wishes.items():
        if name not in WISHES:
            raise unknown("wish", name, [*WISHES, "style"])
        if value is None:
            value = OWN if name in ("period", "step_width") else 0.0
        else:
            for one in np.ravel(value):
                check_number(name, float(one), *WISHES[name])
        memory[f"wish_{name}"][chosen] = value


def wishes_of(want: Want) -> dict[str, Any]:
    """What a want asks for, as `Walker.wish` takes it: `Go` what it gives, `Balance` to stand."""
    go = part(want, Go)
    return ({"speed": 0.0} if part(want, Balance) else {}) | ({} if go is None else go.given)


def refusal(styles: Sequence[Style], want: Want) -> str | None:
    """Why no walker with these styles can follow a want, in a sentence; None where it can."""
    for one in parts(want):
        if not isinstance(one, Go | Balance):
            return f"a walker does not {name_of(one)}"
    try:
        _check(styles, part(want, Go) or Go())
    except UserError as error:
        return str(error)
    return None


def _check(styles: Sequence[Style], go: Go) -> None:
    """Refuse what no walker can follow: places, mixes, styles it does not have, numbers out of `WISHES`."""
    go.check()
    if go.target is not None:
        raise UserError("a walker goes at a speed along a heading; to a place it goes by a script: 'go to 2 1'")
    for name, value in go.given.items():
        if name == "style":
            index_of(styles, value)
        elif name not in WISHES:
            raise UserError(f"a walker walks in one style and takes no {name}; gaits of 'simbicon' mix")
        else:
            check_number(name, value, *WISHES[name])
