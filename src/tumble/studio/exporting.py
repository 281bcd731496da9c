"""The studio's button that hands the last take out in the formats of other tools, as `tumble export` writes them.

    save = export_button(desk)             # a button with a menu: .glb, .vrma, .bvh, .html, .csv
    save.set_visibility(stage.last_take is not None)

A file is made in a thread, so that the world goes on meanwhile, and given to the browser: nothing is written where the
studio runs. Films are left to the terminal: they take as long as they last.
"""

import asyncio

from nicegui import ui

from tumble.errors import UserError
from tumble.export import ENDINGS, exported
from tumble.export.options import Options
from tumble.studio.desk import Desk
from tumble.studio.takes import Take

OFFERED = (".glb", ".vrma", ".bvh", ".html", ".csv")


def export_button(desk: Desk) -> ui.button:
    """A button with a menu of formats; a click on one makes the take of last into a file and downloads it."""

    async def hand_out(ending: str) -> None:
        """Make it into a file, or say why that cannot be."""
        take = desk.stage.last_take
        if take is None:
            return
        try:
            name, data = await asyncio.to_thread(file_of, take, ending)
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


def file_of(take: Take, ending: str) -> tuple[str, bytes]:
    """The name and the bytes of a take in a format, between its ends; a recording is whole."""
    recording = take.recording
    name = f"{recording.header.scenario}{ending}"
    if (take.first, take.last) == (0, recording.frames):
        return name, exported(recording, ending)
    dt = recording.scene().dt
    return name, exported(recording, ending, Options(start=take.first * dt, end=take.last * dt))
