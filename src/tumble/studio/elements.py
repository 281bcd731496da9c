"""The studio's own page elements: the 3D view, the timeline, the chart of a term. Their code is in `web`."""

from pathlib import Path
from typing import Any

import nicegui
from nicegui import ui

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
        """Change options: tool, mass, speed, force, blast, hand, follow, futures, contacts, steering."""
        self._props.update(options)
        self.update()


class Timeline(ui.element, component=_WEB / "timeline.js"):
    """The last minutes, to scrub and to go on from."""


class Chart(ui.element, component=_WEB / "chart.js"):
    """The value of a term, live."""

    def __init__(self, term: str) -> None:
        super().__init__()
        self._props["term"] = term
