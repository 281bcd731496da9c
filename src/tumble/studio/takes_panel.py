"""The panel of takes: what was recorded, to be named, trimmed, marked, played, compared, exported and deleted.

takes_panel(desk, view)
download_take(take)              # a recording (.npz), which `tumble replay`, `strip` and `export` read

Which take is chosen is the page's own; takes, and what is shown of them, are the stage's.
"""

import io
from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from tumble.studio.desk import Desk
from tumble.studio.elements import View
from tumble.studio.knobs import Knob
from tumble.studio.panels import BLUR, slider_row
from tumble.studio.takes import LONGEST, Take

APART = 1.2  # m at first between what is compared
NONE = "nobody"


def takes_panel(desk: Desk, view: View) -> None:
    """Takes, the chosen one, and who is shown beside."""
    _TakesPanel(desk, view).build()


def download_take(take: Take) -> None:
    """Hand a whole recording to the browser."""
    take.saved = True
    file = io.BytesIO()
    take.recording.write(file)
    ui.download.content(file.getvalue(), f"{take.recording.header.scenario}.npz")


class _TakesPanel:
    """What one page has chosen of the takes."""

    def __init__(self, desk: Desk, view: View) -> None:
        self._desk, self._view = desk, view
        self._built: Any = None

    def build(self) -> None:
        """Fill the tab."""
        hint = ui.label("Record with the red button below; what ends there is a take, kept until this studio ends.")
        hint.classes("about")
        menu = ui.select([], label="take").props("dense options-dense data-testid=take").classes("wide")
        box = ui.column().classes("panel")
        second = ui.select([NONE], label="beside it", value=NONE).props("dense options-dense data-testid=beside")
        second.classes("wide").on("update:model-value", lambda: self._beside(str(second.value)))
        for select in (menu, second):
            select.on("popup-hide", js_handler=BLUR)
        knob = Knob("apart", "", float, APART, 0.0, 4.0)
        slider_row("apart, m", knob, lambda value: self._view.set(apart=value))(APART)
        menu.on("update:model-value", self._desk.show)

        def show() -> None:
            """The takes there are, and the chosen one; a new one is chosen."""
            stage = self._desk.stage
            names = [take.name for take in stage.takes]
            if menu.options != names:
                new = names[-1] if len(names) > len(menu.options) else menu.value
                menu.set_options(names, value=new if new in names else next(iter(names), None))
            seen = stage.screening.second
            second.set_options([NONE, *names], value=NONE if seen is None else seen.name)
            take = next((take for take in stage.takes if take.name == menu.value), None)
            state = None if take is None else (take.name, take.first, take.last, tuple(take.marks.items()), take.loop)
            if self._built != (state, stage.screening.take is take):
                self._built = (state, stage.screening.take is take)
                box.clear()
                with box:
                    if take is not None:
                        self._take(take)

        self._desk.shows(show)

    def _take(self, take: Take) -> None:
        """Everything about a take."""
        stage, whole = self._desk.stage, take.recording.frames
        name = ui.input("name", value=take.name).props(f"dense maxlength={LONGEST} data-testid=take-name")
        name.classes("wide").on("change", lambda: self._do(lambda: stage.takes.rename(take.name, str(name.value))))
        header, dt = take.recording.header, stage.dt
        ui.label(f"{header.scenario}, {header.controller}, seed {header.seed}: {whole * dt:.1f} s").classes("about")
        with ui.row().classes("line"):
            if stage.screening.take is take:
                self._button("stop_circle", lambda: self._do(lambda: stage.resume(0)), "live again", "take-live")
            else:
                about = "show this take; play, step and scrub it below"
                self._button("movie", lambda: self._do(lambda: stage.screening.open(take.name)), about, "take-show")
            loop = ui.switch("loop", value=take.loop).props("dense data-testid=take-loop")
            loop.on("update:model-value", lambda: self._set(take, "loop", bool(loop.value)))
            self._button("download", lambda: download_take(take), "download the whole recording", "take-download")
            self._button("delete", lambda: self._delete(take), "delete this take", "take-delete")
        ends = ui.range(min=0, max=whole, step=1, value={"min": take.first, "max": take.last})
        ends.props("label dense data-testid=take-ends").classes("wide")
        ends.on("change", lambda: self._trim(take, ends.value))
        ui.label("frames that are played and exported").classes("about")
        if stage.screening.take is take:
            with ui.row().classes("line"):
                text = ui.input("mark here").props(f"dense maxlength={LONGEST} data-testid=mark").classes("grow")
                text.on("keydown.enter", lambda: self._mark(take, str(text.value or "")))
        for frame, words in take.marks.items():
            with ui.row().classes("line"):
                ui.label(f"{frame * dt:.2f} s").classes("number")
                go = (
                    ui.button(words, on_click=partial(self._go, take, frame))
                    .props("flat dense no-caps")
                    .classes("grow")
                )
                go.on("click", js_handler=BLUR)
                self._button("close", partial(self._unmark, take, frame), "take this mark away", "unmark")

    async def _do(self, job: Callable[[], Any]) -> None:
        if await self._desk.do(job):
            self._desk.hub.refresh()

    async def _set(self, take: Take, name: str, value: Any) -> None:
        await self._do(lambda: setattr(take, name, value))

    async def _trim(self, take: Take, ends: Any) -> None:
        await self._do(lambda: take.trim(round(ends["min"]), round(ends["max"])))

    async def _mark(self, take: Take, text: str) -> None:
        await self._do(lambda: take.mark(self._desk.stage.screening.frame, text))

    async def _unmark(self, take: Take, frame: int) -> None:
        await self._do(lambda: take.mark(frame, ""))

    async def _go(self, take: Take, frame: int) -> None:
        """Show the frame of a mark."""
        stage = self._desk.stage

        def show() -> None:
            if stage.screening.take is not take:
                stage.screening.open(take.name)
            stage.scrub(frame)

        await self._do(show)

    async def _delete(self, take: Take) -> None:
        stage = self._desk.stage

        def delete() -> None:
            stage.takes.delete(take.name)
            stage.screening.forget(take)

        await self._do(delete)

    async def _beside(self, name: str) -> None:
        await self._do(lambda: self._desk.stage.screening.beside("" if name == NONE else name))

    def _button(self, icon: str, act: Callable[[], Any], about: str, mark: str) -> None:
        button = ui.button(icon=icon, on_click=act).props(f"flat round dense data-testid={mark}")
        button.props["title"] = about
        button.on("click", js_handler=BLUR)
