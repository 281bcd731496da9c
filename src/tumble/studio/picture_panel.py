"""The panel of the picture: whom the camera follows, and what is drawn beside the bodies; the menu of views.

    picture_panel(desk, view)
    camera_menu()

All of it is the page's own: the stage knows nothing of it, and every page has others.
"""

from nicegui import ui

from tumble.studio.desk import Desk
from tumble.studio.elements import View
from tumble.studio.knobs import Knob
from tumble.studio.panels import BLUR, SIGHTS, slider_row, view_switch

OWN = "the one that is directed"
VIEWS = ("front", "side", "three-quarter", "top")  # as `web/camera.js` has them
APART, FARTHEST = 10, 60  # frames between ghosts: at first, at most


def picture_panel(desk: Desk, view: View) -> None:
    """Whom to follow, switches, ghosts of the past and trails."""
    whom = ui.select([OWN], label="follow", value=OWN).props("dense options-dense data-testid=whom").classes("wide")
    whom.on_value_change(lambda event: view.set(whom="" if event.value == OWN else event.value or ""))
    for option, (label, on) in SIGHTS.items():
        view_switch(view, option, label, on)
    dark = ui.dark_mode(bool(view.props["dark"]))
    view_switch(view, "dark", "dark", dark.value or False).on_value_change(lambda event: dark.set_value(event.value))
    _ghosts(view)
    parts = ui.select([], label="trails of", multiple=True).props("dense options-dense use-chips data-testid=trails")
    parts.classes("wide").on_value_change(lambda event: view.set(trails=list(event.value or ())))
    for menu in (whom, parts):
        menu.on("popup-hide", js_handler=BLUR)

    def show() -> None:
        """Who there is, and which parts they have; whoever is gone is followed no more."""
        scene = desk.stage.trial.scene
        people = [OWN, *(prefix.rstrip("/") for prefix in scene.cast if prefix)]
        if whom.options != people:
            whom.set_options(people, value=whom.value if whom.value in people else OWN)
        bones = list(scene.bones)
        if parts.options != bones:
            parts.set_options(bones, value=[part for part in parts.value or () if part in bones])

    desk.shows(show)


def _ghosts(view: View) -> None:
    """A switch of the ghosts of the past, and how far apart they are."""
    apart = [APART]

    def draw() -> None:
        view.set(onion=apart[0] if switch.value else 0)

    def set_apart(frames: float) -> None:
        apart[0] = round(frames)
        draw()

    switch = ui.switch("ghosts of the past").props("dense data-testid=onion").on_value_change(draw)
    switch.on("click", js_handler=BLUR)
    slider_row("one every, frames", Knob("onion-apart", "", int, APART, 2, FARTHEST), set_apart)(APART)


def camera_menu() -> None:
    """A button with the camera's views. They are looked at where they are chosen; the server is not asked."""
    button = ui.button(icon="videocam").props("flat round data-testid=camera title=camera").classes("camera")
    with button, ui.menu().props("auto-close"):
        _item("everybody and everything (f)", "frame()", "view-all")
        for name in VIEWS:
            _item(name, f"look('{name}')", f"view-{name}")


def _item(label: str, call: str, mark: str) -> None:
    item = ui.menu_item(label).props(f"data-testid={mark}")
    item.on("click", js_handler=f"() => {{ tumble.view?.{call}; document.activeElement?.blur(); }}")
