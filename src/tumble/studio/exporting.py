"""The studio's button that hands the tape out in the formats of other tools, as `tumble export` writes them.

    save = export_button(desk)             # a button with a menu: .glb, .vrma, .bvh, .html, .csv
    save.set_visibility(stage.tape is not None)

A file is made in a thread, so that the world goes on meanwhile, and given to the browser: nothing is written where the
studio runs. Films are left to the terminal: they take as long as they last.
"""

import asyncio

from nicegui import ui

from tumble.errors import UserError
from tumble.export import ENDINGS, exported
from tumble.live.recording import Recording
from tumble.studio.desk import Desk

OFFERED = (".glb", ".vrma", ".bvh", ".html", ".csv")


def export_button(desk: Desk) -> ui.button:
    """A button with a menu of formats; a click on one makes the file and downloads it."""

    async def hand_out(ending: str) -> None:
        """Make the tape into a file, or say why that cannot be."""
        tape = desk.stage.tape
        if tape is None:
            return
        try:
            name, data = await asyncio.to_thread(file_of, tape, ending)
        except UserError as error:
            ui.notify(str(error), type="warning", multi_line=True)
            return
        ui.download.content(data, name)

    with ui.button(icon="ios_share").props("flat round dense data-testid=export") as button:
        button.tooltip("download for Blender, Unity, VRM, or as a page that plays")
        with ui.menu().props("auto-close"):
            for ending in OFFERED:
                item = ui.menu_item(f"{ending}: {ENDINGS[ending]}", lambda ending=ending: hand_out(ending))
                item.props(f"data-testid=export-{ending.removeprefix('.')}")
    return button


def file_of(tape: Recording, ending: str) -> tuple[str, bytes]:
    """The name and the bytes of a tape in a format."""
    return f"{tape.header.scenario}{ending}", exported(tape, ending)
