"""The card of help: what keys, mouse, fingers and a gamepad do, over the view.

show = help_card()
show()
"""

from collections.abc import Callable

from nicegui import ui

from tumble.studio.panels import TOOLS

KEYS = {
    "space": "pause, or go on",
    ".": "one frame; in the past, the next one",
    "r, n": "begin again; with the next seed",
    f"1 to {len(TOOLS)}": "tools, from top to bottom",
    "f": "see everybody and everything",
    "W A S D, arrows": "walk there, seen from the camera; with Shift faster",
    "Ctrl+Z": "take back what was done to set, settings or wants; with Shift do it again",
    "Del, [, ]": "delete, or turn, the thing of the set that is chosen",
    "?": "this card",
}
POINTERS = {
    "left button, one finger": "what the tool does; beside a body: turn the camera",
    "right button": "push along the view; beside a body: move the camera",
    "wheel, two fingers": "nearer and farther",
    "gamepad": "left stick walks, right stick turns the camera, right trigger hurries",
    "timeline": "drag along it to see the past, then go on from there",
}


def help_card() -> Callable[[], None]:
    """What shows the card; it is built when it is first wanted."""
    box, built = ui.element("div"), list[ui.dialog]()

    def show() -> None:
        with box:
            built[:] = built or [_card()]
        built[0].open()

    return show


def _card() -> ui.dialog:
    """The dialog, closed."""
    with ui.dialog().props("data-testid=help") as dialog, ui.card().classes("help"):
        ui.label("Keys and hands").classes("heading")
        with ui.element("dl"):
            for what, does in (KEYS | POINTERS).items():
                with ui.element("dt"):
                    ui.label(what)
                with ui.element("dd"):
                    ui.label(does)
        ui.label("Tools").classes("heading")
        for _, about in TOOLS.values():
            ui.label(about).classes("about")
    return dialog
