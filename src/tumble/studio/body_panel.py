"""The panel of the body: its proportions as sliders. It goes on at once with another body.

Sliders are of the numbers in the character's recipe, whatever they are called there, from 0.6 to 1.6 of what it has by
itself. A body that was reshaped keeps pose, speed and plan, with its feet on the ground; see `Trial.reshape`. What
cannot be built is refused, and the sliders go back to what is.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from tumble.characters import character
from tumble.studio.desk import Desk
from tumble.studio.knobs import Knob
from tumble.studio.panels import BLUR, slider_row

NARROWEST, WIDEST = 0.6, 1.6  # ends of a slider, as multiples of what the character has by itself
RAISED = 0.25  # m or a share: the right end where a character has 0


def body_panel(desk: Desk) -> None:
    """A slider for every number of the character's recipe, and a button that gives it its own again."""
    ui.label("proportions").classes("about")
    box = ui.column().classes("panel")
    built: list[str] = []
    rows: dict[str, Callable[[float], Any]] = {}

    async def reshape(proportions: dict[str, float]) -> None:
        if await desk.do(lambda: desk.stage.reshape(proportions)):
            desk.hub.refresh(but=desk.client.id if proportions else "")

    def show() -> None:
        name = desk.stage.choice.character
        if built != [name]:
            built[:] = [name]
            box.clear()
            rows.clear()
            with box:
                for part, value in numbers(character(name).recipe).items():
                    low, high = (NARROWEST * value, WIDEST * value) if value > 0 else (0.0, RAISED)
                    knob = Knob(f"body-{part}", "", float, value, low, high)
                    rows[part] = slider_row(part.replace("_", " "), knob, partial(_one, reshape, part))
        for part, value in numbers(desk.stage.trial.scene.character.recipe).items():
            if part in rows:
                rows[part](value)

    desk.shows(show)
    back = ui.button("as it was", on_click=lambda: reshape({})).props("flat dense no-caps data-testid=body-reset")
    back.on("click", js_handler=BLUR)


def _one(reshape: Callable[[dict[str, float]], Any], part: str, value: float) -> Any:
    return reshape({part: value})


def numbers(recipe: Any) -> dict[str, float]:
    """The proportions in a recipe: all that are numbers; names and texts are left out."""
    plain = {name: value for name, value in recipe.items() if not isinstance(value, bool)}
    return {name: float(value) for name, value in plain.items() if isinstance(value, float | int)}
