"""The style editor: a style as curves whose knots are dragged, and numbers (coros2010 figures 2.7 and 5.6).

    style_panel(desk)  # in a page
    restyle(director, lambda style: replace(style, period=0.5))  # what it does, between frames

What there is to edit a sheet says (`tumble.studio.sheets`): of walkers' styles, or of gaits. Every edit is the whole
style as a command (`Restyle`): it is heard in the next frame, recorded, and refused where the controller refuses it.
Files are downloads and uploads of the browser's: the studio itself writes none.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec
from nicegui import ui
from nicegui.events import GenericEventArguments

from tumble.control.controller import Styled
from tumble.errors import UserError
from tumble.live.commands import Restyle
from tumble.simbicon.gait import Gait
from tumble.studio.desk import Desk
from tumble.studio.director import Director
from tumble.studio.elements import Curve
from tumble.studio.gait_sheet import GaitSheet
from tumble.studio.knobs import Knob
from tumble.studio.panels import BLUR, slider_row
from tumble.studio.sheets import Number, Sheet, StyleSheet
from tumble.toml import toml_of
from tumble.walking.style import Knots

LARGEST_FILE = 16 << 10  # bytes; a message has 64 KB, and a character needs four where both JSONs escape it
# the browser reads the file: an upload would be a route of the server's, which outlives the page
PICK = f"""() => {{
  const input = Object.assign(document.createElement("input"), {{ type: "file", accept: ".toml" }});
  input.onchange = async () => {{
    const [file] = input.files;
    emit(file.name, file.size > {LARGEST_FILE} ? null : await file.text());
  }};
  input.click();
}}"""


def sheet_of(director: Director) -> Sheet:
    """What of the present style can be edited; a gait's sheet is that of the body that walks now."""
    return GaitSheet(director.trial.scene.character) if isinstance(director.style, Gait) else StyleSheet()


def style_panel(desk: Desk) -> None:
    """A curve to drag, the numbers beside it, and the style's file; hidden where nobody goes in styles.

    Another style, or another body, keeps the trajectory that is chosen where it has one of that key.
    """

    async def edit(change: Callable[[Sheet, Any, str], Any]) -> None:
        director, key = desk.stage.director, str(chosen.value)
        if await desk.do(lambda: restyle(director, lambda style: change(sheet_of(director), style, key))):
            desk.hub.refresh(but=desk.client.id)

    async def move(knots: Knots) -> None:
        await edit(lambda sheet, style, key: sheet.bent(style, key, knots))

    async def change(name: str, value: float) -> None:
        await edit(lambda sheet, style, key: sheet.changed(style, key, name, value))

    with ui.column().classes("panel") as box:
        title = ui.label().classes("about")
        chosen = ui.select({}, label="trajectory").classes("wide")
        chosen.props("dense options-dense data-testid=trajectory")
        chosen.on("update:model-value", lambda: show())
        chosen.on("popup-hide", js_handler=BLUR)
        curve = Curve(move)
        curve.props["title"] = "drag a knot; double click adds one, on a knot or dragged away removes it"
        numbers = _Numbers(change)
        _file_row(desk)

    def show() -> None:
        director = desk.stage.director
        style = director.style
        box.set_visibility(style is not None)
        if style is None:
            return
        sheet = sheet_of(director)
        curves = dict(sheet.curves(style))
        if chosen.options != curves:
            chosen.set_options(curves, value=chosen.value if chosen.value in curves else next(iter(curves)))
        title.set_text(f"The {kind_of(style)} '{style.name}': drag its knots")
        knots, *others = line = sheet.line(style, str(chosen.value))
        curve.show(knots, **dict(zip(line._fields[1:], others, strict=True)))
        numbers.show(sheet.numbers(style, str(chosen.value)))

    desk.shows(show)


class _Numbers:
    """Sliders of the numbers beside a curve, made anew where another curve has others."""

    def __init__(self, change: Callable[[str, float], Any]) -> None:
        self._change = change
        self._box = ui.column().classes("panel")
        self._ends: dict[str, tuple[float, float]] = {}
        self._rows: dict[str, Callable[[float], Any]] = {}

    def show(self, numbers: Mapping[str, Number]) -> None:
        """Show these; sliders stay where names and ends are the same, so that one that is held is not lost."""
        ends = {name: (number.low, number.high) for name, number in numbers.items()}
        if ends != self._ends:
            self._ends = ends
            self._box.clear()
            with self._box:
                self._rows = {name: self._row(name, number) for name, number in numbers.items()}
        for name, number in numbers.items():
            self._rows[name](number.value)

    def _row(self, name: str, number: Number) -> Callable[[float], Any]:
        knob = Knob(f"style-{name}", "", float, number.low, number.low, number.high)
        return slider_row(number.label, knob, partial(self._change, name))


def kind_of(style: Any) -> str:
    """What people call such a style."""
    return "gait" if isinstance(style, Gait) else "style"


def restyle(director: Director, edit: Callable[[Any], Any]) -> None:
    """Change the present style; for the stage's thread, so that no change is lost to another.

    Args:
      director: whose; its style is the one that is wanted, with edits that wait for the next frame.
      edit: makes another style of it.
    """
    style = director.style
    if style is None:
        raise UserError("nobody here walks in a style; choose the controller 'walker' or 'simbicon'")
    director.send(Restyle(toml_of(edit(style))))


def _file_row(desk: Desk) -> None:
    """Back to the builtin style, to a file, from a file; a file takes the place of the style of its name."""

    async def revert() -> None:
        director = desk.stage.director
        controller, style = director.trial.controller, director.style
        if style is not None and isinstance(controller, Styled):
            await put(toml_of(controller.own_styles[style.name]))

    async def put(text: str) -> bool:
        done = await desk.do(lambda: desk.stage.director.send(Restyle(text)))
        if done:
            desk.hub.refresh()
        return done

    def save() -> None:
        style = desk.stage.director.style
        if style is not None:
            ui.download.content(toml_of(style), f"{style.name}.toml")

    async def load(event: GenericEventArguments) -> None:
        controller = desk.stage.director.trial.controller
        if not isinstance(controller, Styled):
            return
        try:
            name, text = msgspec.convert(event.args, tuple[str, str | None])
            if text is None:
                raise UserError(f"a style is a file of at most {LARGEST_FILE >> 10} KB")
            style = controller.style_in(text.encode("utf-8", "surrogatepass"), name[:60])
        except (UserError, msgspec.ValidationError) as error:
            ui.notify(str(error), type="negative", multi_line=True)
            return
        if await put(toml_of(style)):
            ui.notify(f"loaded the {kind_of(style)} '{style.name}'")

    with ui.row().classes("line"):
        _button("as it was", "style-revert").on("click", revert).tooltip("back to the style that comes with tumble")
        ui.space()
        _button("save", "style-save").on("click", save).tooltip("download the style as a TOML file")
        load_button = _button("load", "style-load").tooltip("a TOML file; replaces the style of its name")
        load_button.on("click", load, js_handler=PICK)


def _button(text: str, mark: str) -> ui.button:
    """A flat button, which tests find by its mark."""
    button = ui.button(text).props(f"flat dense no-caps data-testid={mark}")
    return button.on("click", js_handler=BLUR)
