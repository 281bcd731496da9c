"""The panel of a walk: how to go, beside speed and heading, which are steered.

    walk_panel(desk)

A walker has a style and manners of `Go`; gaits of Simbicon have speeds of their own, and two of them mix. What is
asked is a want, so that it is kept, recorded and refused as all wants are; the panel shows what the session keeps.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from tumble.goals.wants import Go, part
from tumble.studio.desk import Desk
from tumble.studio.knobs import Knob
from tumble.studio.panels import BLUR, slider_row
from tumble.studio.style_panel import kind_of, style_panel

# of `Go`: unit, low, high, shown at first
MANNERS = {
    "speed": ("m/s", -0.6, 1.7, 0.0),
    "period": ("s", 0.2, 1.0, 0.6),
    "step_height": ("m more", 0.0, 0.3, 0.0),
    "step_width": ("m", 0.0, 0.4, 0.1),
    "bend": ("rad", -0.3, 1.0, 0.0),
}
MIXES = {"mix": ("share", 0.0, 1.0, 0.0)}  # of gaits, which have speeds and periods of their own


def walk_panel(desk: Desk) -> None:
    """How a walker goes and its style, or which gaits are mixed; says so where nobody walks."""
    nobody = ui.label(
        "Only walkers are told how: choose the controller 'walker' or 'relay', or a scenario such as steer-walk"
        " or simbicon-humanoid."
    )
    nobody.classes("about")
    menus = _Menus(desk, ui.column().classes("panel"))

    def show() -> None:
        director = desk.stage.director
        nobody.set_visibility(not director.styles)
        menus.show(tuple(director.styles), director.mixes, part(desk.stage.trial.session.asked, Go) or Go())

    desk.shows(show)
    style_panel(desk)


class _Menus:
    """Menus of styles, and sliders; made anew where somebody else walks.

    What a menu shows that people did not choose is what the controller takes then: the first style, no second.
    """

    def __init__(self, desk: Desk, box: ui.column) -> None:
        self._desk, self._box = desk, box
        self._built: tuple[tuple[str, ...], bool] | None = None
        self._menus: dict[str, ui.select] = {}
        self._rows: dict[str, Callable[[float], Any]] = {}

    async def _ask(self, name: str, value: Any) -> None:
        """Want a manner by its name of `Go`; a share of a mix goes with the style that is mixed."""
        desk, asked = self._desk, {name: value}
        if name == "mix":
            asked["other"] = str(self._menus["other"].value)  # what the menu shows, though nobody chose it
        if await desk.do(lambda: desk.stage.director.send(Go(**asked))):
            desk.hub.refresh(but="" if name in self._menus else desk.client.id)  # the editor shows another style

    def show(self, styles: tuple[str, ...], mixes: bool, go: Go) -> None:
        """Show the styles there are, and what is wanted of them."""
        if self._built != (styles, mixes):
            self._built = styles, mixes
            self._box.clear()
            with self._box:
                self._build(styles, mixes)
        for name, menu in self._menus.items():
            menu.set_value(getattr(go, name) or styles[0])
        for name, row in self._rows.items():
            value = getattr(go, name)
            row((MIXES | MANNERS)[name][3] if value is None else value)

    def _build(self, styles: tuple[str, ...], mixes: bool) -> None:
        """One menu and the manners of a walker, or two menus and the share of the second; nothing without styles."""
        word = kind_of(self._desk.stage.director.style)
        labels = {"style": word, "other": f"mixed with the {word}"} if mixes else {"style": word}
        self._menus = {name: self._menu(name, label, styles) for name, label in labels.items() if styles}
        self._rows = {}
        for name, (unit, low, high, start) in (MIXES if mixes else MANNERS).items() if styles else ():
            knob = Knob(name, unit, float, start, low, high)
            self._rows[name] = slider_row(f"{name}, {unit}", knob, partial(self._ask, name))

    def _menu(self, name: str, label: str, styles: tuple[str, ...]) -> ui.select:
        """A menu of styles that asks for the one that is chosen, by its name of `Go`."""
        menu = ui.select(list(styles), label=label, value=styles[0]).classes("wide")
        menu.props(f"dense options-dense data-testid={name}")
        menu.on("update:model-value", lambda: self._ask(name, str(menu.value)))
        menu.on("popup-hide", js_handler=BLUR)
        return menu
