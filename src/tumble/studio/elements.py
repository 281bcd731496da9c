"""The studio's own page elements: the 3D view, the timeline, the chart of a term, a curve. Their code is in `web`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import nicegui
from nicegui import ui

from tumble.walking.style import Knots

_WEB = Path(__file__).parent / "web"
_NICEGUI = Path(nicegui.__file__).parent / "elements"


class View(
    ui.element,
    component=_WEB / "view.js",
    esm={
        "nicegui-scene": str(_NICEGUI / "scene" / "dist"),
        "nicegui-joystick": str(_NICEGUI / "joystick" / "dist"),
        "tumble-studio": str(_WEB),
    },
):
    """The world, drawn and touched; opens the page's socket for frames.

    Args:
      client: id of the page.
      options: what a hand does and what is drawn; see `set`.
    """

    def __init__(self, client: str, **options: Any) -> None:
        super().__init__()
        self._props["client"] = client
        self._props.update(options)

    def set(self, **options: Any) -> None:
        """Change options, the props of `web/view.js`: tool, mass, speed, force, blast, gap, hand, follow and so on."""
        self._props.update(options)
        self.update()


class TimelineBar(ui.element, component=_WEB / "timeline.js"):
    """The last minutes, to scrub and to go on from."""


class Chart(ui.element, component=_WEB / "chart.js"):
    """The value of a term, live."""

    def __init__(self, term: str) -> None:
        super().__init__()
        self._props["term"] = term


class Curve(ui.element, component=_WEB / "curve.js"):
    """Knots and the spline through them, to drag.

    Args:
      moved: called with the knots that people have made.
    """

    def __init__(self, moved: Callable[[Knots], Any]) -> None:
        super().__init__()
        self._moved = moved
        self.on("change", lambda event: self._changed(msgspec.convert(event.args["knots"], Knots)))

    def _changed(self, knots: Knots) -> Any:
        with self._props.suspend_updates():  # the page shows these already, and maybe newer ones
            self._props["knots"] = [list(knot) for knot in knots]
        return self._moved(knots)

    def show(self, knots: Knots, **options: Any) -> None:
        """Show other knots; options are label, start and end of x, low and high that y shows at least."""
        wanted = {"knots": [list(knot) for knot in knots], **options}
        if any(self._props.get(name) != value for name, value in wanted.items()):
            with self._props.suspend_updates():
                self._props.update(wanted)
            self.update()
