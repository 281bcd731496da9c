"""The panel of the set: what people place, change, remove, take back, save and load.

    panel = set_panel(desk, view)
    panel.pick("stairs-2")               # as if somebody had clicked on it

What is chosen is the page's own; the set is the stage's. A number is applied when it is left, and refused with a
sentence; then it is again what it was.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui

from tumble.errors import UserError
from tumble.live.set_file import decode_set, encode_set
from tumble.studio.desk import Desk
from tumble.studio.dresser import snapped
from tumble.studio.elements import View
from tumble.studio.panels import BLUR
from tumble.studio.templates import ICONS, TEMPLATES, changed, form, middle, reach, template
from tumble.world.dressing import Piece
from tumble.world.props import Ball

GRIDS = {0.0: "free", 0.1: "0.1 m", 0.25: "0.25 m", 0.5: "0.5 m"}
GRID = 0.25
AHEAD = 1.2  # m between whom one directs and what is placed before it
FREE = 0.25  # m that it is placed farther away where something is in the way
STEP = math.radians(15.0)  # of a turn by a key
MOST = 48 << 10  # characters of a file that a browser sends; a message has at most 64 KiB
CHOOSE = f"""() => {{
  const input = Object.assign(document.createElement("input"), {{ type: "file", accept: ".json" }});
  input.onchange = async () => {{
    const [file] = input.files;
    emit(file.name, file.size > {MOST} ? `${{file.size}} bytes, at most {MOST} are sent` : await file.text());
  }};
  input.click();
}}"""


class SetPanel:
    """What is chosen on one page.

    Attributes:
      chosen: name of the thing that is changed; '' for none.
      grid: m, 0 for none.
    """

    def __init__(self, desk: Desk, view: View) -> None:
        self.desk, self._view = desk, view
        self.chosen, self.grid = "", GRID
        self._built: tuple[Any, ...] = ()
        view.set(grid=GRID)
        view.on("pick", lambda event: self.pick(str(event.args)))

    # What keys and clicks do ----------------------------------------------------------------------------

    def pick(self, name: str) -> None:
        """Choose a thing by its name; '' for none."""
        self.chosen = name if name in [piece.name for piece in self.desk.stage.dresser.pieces] else ""
        self._view.set(picked=self.chosen)
        self.desk.show()

    async def add(self, kind: str) -> None:
        """Put a thing before the character, turned as that is, and choose it."""
        trial = self.desk.stage.trial
        x, y, _ = trial.session.world.view("com")[0]
        forward = trial.session.world.view(f"{trial.scene.character.head}.forward")[0]
        turn = math.atan2(forward[1], forward[0])
        others = self.desk.stage.dresser.pieces
        far, plain = AHEAD, template(kind, (0.0, 0.0), 0.0)
        while True:  # farther away until it stands free
            away = far + reach(plain)
            at = (snapped(x + away * math.cos(turn), self.grid), snapped(y + away * math.sin(turn), self.grid))
            if all(math.dist(at, middle(one)[:2]) > reach(plain) + reach(one) for one in others):
                break
            far += FREE
        turn = snapped(turn, STEP) if self.grid else turn
        piece = template(kind, at, turn, [prop.name for prop in trial.scene.props])
        if await self.desk.do(lambda: self.desk.stage.dresser.put(piece)):
            self.pick(piece.name)

    async def remove(self) -> None:
        """Take what is chosen out of the set."""
        if self.chosen and await self.desk.do(lambda: self.desk.stage.dresser.remove(self.chosen)):
            self.pick("")

    async def turn(self, angle: float) -> None:
        """Turn what is chosen, rad to the left."""
        piece = self.piece
        if piece is not None and not isinstance(piece, Ball):
            await self.desk.do(lambda: self.desk.stage.dresser.put(replace(piece, turn=piece.turn + angle)))

    @property
    def piece(self) -> Piece | None:
        """What is chosen, as it is now."""
        return next((one for one in self.desk.stage.dresser.pieces if one.name == self.chosen), None)

    # The panel ------------------------------------------------------------------------------------------

    def build(self) -> None:
        """Fill the tab."""
        dresser = self.desk.stage.dresser
        with ui.element("div").classes("templates"):
            for kind in TEMPLATES:
                button = ui.button(kind, icon=ICONS[kind], on_click=partial(self.add, kind))
                button.props(f"flat dense no-caps stack data-testid=add-{kind}").on("click", js_handler=BLUR)
        with ui.row().classes("line"):
            ui.label("grid").classes("name")
            grid = ui.toggle(GRIDS, value=GRID).props("dense no-caps flat data-testid=grid")
            grid.on_value_change(lambda event: self._snap(float(event.value or 0.0)))
        with ui.row().classes("line"):
            undo = self._button("undo", lambda: self.desk.do(dresser.undo), "take back (Ctrl+Z)")
            redo = self._button("redo", lambda: self.desk.do(dresser.redo), "do again (Ctrl+Shift+Z)")
            self._button("download", self._save, "save the set as a file").props("data-testid=set-save")
            load = self._button("upload_file", None, "load a set from a file").props("data-testid=set-load")
            load.on("click", self._load, js_handler=CHOOSE)
        menu = ui.select([], label="chosen").props("dense options-dense clearable data-testid=chosen").classes("wide")
        menu.on("update:model-value", lambda: self.pick(str(menu.value or "")))
        menu.on("popup-hide", js_handler=BLUR)
        box = ui.column().classes("panel")

        def show() -> None:
            """What there is, and the numbers of what is chosen."""
            names = [piece.name for piece in dresser.pieces]
            if self.chosen and self.chosen not in names:
                self.chosen = ""
            if menu.options != names:
                menu.set_options(names)
            menu.set_value(self.chosen or None)
            for button, able in zip((undo, redo), self.desk.stage.dresser.can, strict=True):
                button.set_enabled(able)
            piece = self.piece
            if self._built != (piece,):
                self._built = (piece,)
                box.clear()
                with box:
                    self._numbers(piece)

        self.desk.shows(show)

    def _numbers(self, piece: Piece | None) -> None:
        """Name and numbers of a thing."""
        if piece is None:
            ui.label("Click on a thing with the tool 'set' (8), or add one. Drag it to move it.").classes("about")
            return
        name = ui.input("name", value=piece.name).props("dense data-testid=set-name").classes("wide")
        name.on("change", lambda: self._rename(piece, str(name.value or "").strip()))
        with ui.element("div").classes("numbers"):
            for label, value in form(piece).items():
                number = ui.number(label, value=None if value is None else round(value, 3))
                number.props(f"dense data-testid=set-{label.partition(',')[0].replace(' ', '-')}")
                number.on("change", partial(self._change, piece, label, number))
        with ui.row().classes("line"):
            self._button("rotate_left", lambda: self.turn(STEP), "turn 15° to the left ([)")
            self._button("rotate_right", lambda: self.turn(-STEP), "turn 15° to the right (])")
            self._button("delete", self.remove, "delete (Del)").props("data-testid=set-delete")

    async def _change(self, piece: Piece, label: str, number: ui.number) -> None:
        value = None if number.value is None else float(number.value)
        if value is None and label != "friction":
            self._again()
            return
        if not await self.desk.do(lambda: self.desk.stage.dresser.put(changed(piece, label, value))):
            self._again()

    async def _rename(self, piece: Piece, name: str) -> None:
        taken = [prop.name for prop in self.desk.stage.trial.scene.props if prop is not piece]
        if name in taken:
            ui.notify(f"there is a '{name}' already; choose another name", type="negative")
        elif name != piece.name:
            renamed = replace(piece, name=name)
            if await self.desk.do(lambda: self.desk.stage.dresser.put(renamed, without=piece.name)):
                self.pick(name)
                return
        self._again()

    def _again(self) -> None:
        """Show what is, instead of what was typed."""
        self._built = ()
        self.desk.show()

    def _snap(self, grid: float) -> None:
        self.grid = grid
        self._view.set(grid=grid)

    def _save(self) -> None:
        try:
            ui.download.content(encode_set(self.desk.stage.dresser.pieces), "set.json")
        except UserError as error:
            ui.notify(str(error), type="negative")

    async def _load(self, event: Any) -> None:
        """Put a file's things into the set; what is wrong with it is told, and nothing changes."""
        name, text = (str(one) for one in event.args)
        try:
            pieces = decode_set(text.encode("utf-8", "replace"), name[:80])
        except UserError as error:
            ui.notify(str(error), type="negative", multi_line=True)
        else:
            await self.desk.do(lambda: self.desk.stage.dresser.put(*pieces))

    def _button(self, icon: str, act: Callable[[], Any] | None, about: str) -> ui.button:
        button = ui.button(icon=icon, on_click=act).props(f"flat round dense data-testid={icon}")
        button.props["title"] = about
        return button.on("click", js_handler=BLUR)
