"""The panel of a walk: how to go, beside speed and heading, which are steered."""

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from tumble.goals.wants import Go, part
from tumble.studio.desk import Desk
from tumble.studio.knobs import Knob
from tumble.studio.panels import BLUR, slider_row
from tumble.studio.style_panel import style_panel

# of `Go`: unit, low, high, shown at first
MANNERS = {
    "speed": ("m/s", -0.6, 1.7, 0.0),
    "period": ("s", 0.2, 1.0, 0.6),
    "step_height": ("m more", 0.0, 0.3, 0.0),
    "step_width": ("m", 0.0, 0.4, 0.1),
    "bend": ("rad", -0.3, 1.0, 0.0),
}


def walk_panel(desk: Desk) -> None:
    """How a walker goes and its style; says so where nobody walks."""
    nobody = ui.label(
        "Only walkers are told how: choose the controller 'walker' or 'relay', or a scenario such as steer-walk."
    )
    nobody.classes("about")
    box = ui.column().classes("panel")
    built: list[tuple[str, ...]] = []
    rows: dict[str, Callable[[float], Any]] = {}
    selects: list[ui.select] = []

    async def ask(name: str, value: Any) -> None:
        if await desk.do(lambda: desk.stage.director.send(Go(**{name: value}))):
            desk.hub.refresh(but="" if name == "style" else desk.client.id)  # the editor below shows another style

    def build(styles: tuple[str, ...]) -> None:
        style = ui.select(list(styles), label="style", value=styles[0]).classes("wide")
        style.props("dense options-dense data-testid=style")
        style.on("update:model-value", lambda: ask("style", str(style.value)))
        style.on("popup-hide", js_handler=BLUR)
        selects[:] = [style]
        for name, (unit, low, high, start) in MANNERS.items():
            knob = Knob(name, unit, float, start, low, high)
            rows[name] = slider_row(f"{name}, {unit}", knob, partial(ask, name))

    def show() -> None:
        director = desk.stage.director
        styles, go = (*director.styles,), part(desk.stage.trial.session.asked, Go) or Go()
        nobody.set_visibility(not styles)
        if built != [styles]:
            built[:] = [styles]
            box.clear()
            rows.clear()
            with box:
                if styles:
                    build(styles)
        if styles:
            selects[0].set_value(go.style or styles[0])
            for name, row in rows.items():
                value = getattr(go, name)
                row(MANNERS[name][3] if value is None else value)

    desk.shows(show)
    style_panel(desk)
