"""The studio's page: the view, its tools, the panels, the transport and the timeline.

    @ui.page("/")
    def page() -> None:
        build(hub, presets, visitor)

NiceGUI calls it once for every browser that opens the page, in the event loop's thread, and keeps what it builds there.
What is drawn in the view does not pass through NiceGUI: the view opens a socket of its own for frames (`web/link.js`).
Buttons and keys do the same things, by `Desk.do`, which refuses them to who only watches.

Marks of tests are `data-testid`: play, step, reset, feet, again, speed, record, download, export, menu, camera,
tool-hand ...
"""

from collections.abc import Callable
from pathlib import Path

from nicegui import ui
from nicegui.events import KeyEventArguments

from tumble.live.commands import Reset
from tumble.studio.body_panel import body_panel
from tumble.studio.desk import Desk
from tumble.studio.elements import TimelineBar, View
from tumble.studio.exporting import export_button
from tumble.studio.help_card import help_card
from tumble.studio.hub import Hub
from tumble.studio.panels import BLUR, SIGHTS, TOOLS, TOUCHES, cost_panel, direct_panel, settings_panel, touch_panel
from tumble.studio.picture_panel import camera_menu, picture_panel
from tumble.studio.presets import Presets
from tumble.studio.script_panel import script_panel
from tumble.studio.set_panel import STEP, SetPanel
from tumble.studio.takes_panel import download_take, takes_panel
from tumble.studio.tree_panel import tree_panel
from tumble.studio.walk_panel import walk_panel

CSS = Path(__file__).parent / "page.css"
SPEEDS = {0.1: "⅒", 0.25: "¼", 0.5: "½", 1.0: "1", 2.0: "2", 4.0: "4"}


def build(hub: Hub, presets: Presets, visitor: str) -> None:
    """Fill a new page, and have it look at the stage again whenever that has changed, until it is closed.

    Args:
      hub: of the stage; the page is known there by its client's id.
      presets: of settings, shared by all pages and kept in a file.
      visitor: the browser that it is built for, as the guard names it.
    """
    desk = Desk(hub, presets)
    key = desk.client.id
    ui.add_css(CSS)
    ui.colors(primary="#2f6690")
    start = {option: row[4] for option, row in TOUCHES.items()}
    sights = {option: on for option, (_, on) in SIGHTS.items()}
    view = View(key, tool="hand", hand="left", faces=False, dark=False, **start, **sights).classes("view")
    view.props("data-testid=view")
    things = SetPanel(desk, view)
    with ui.right_drawer(top_corner=True, bottom_corner=True).props("width=320 breakpoint=800").classes("side") as side:
        _panels(desk, view, things)
    desk.shows(lambda: _face(desk, view))
    choose_tool = _tools(view)
    _button("tune", side.toggle, "panels", "menu").classes("menu")
    camera_menu()
    show_help = help_card()
    with ui.element("div").classes("bottom"):
        _transport(desk)
        TimelineBar().classes("grow")
    ui.keyboard(on_key=lambda event: _key(desk, choose_tool, show_help, things, event))
    hub.admit(key, visitor, desk.show)
    desk.client.on_delete(lambda: hub.forget(key))


def _panels(desk: Desk, view: View, things: SetPanel) -> None:
    """Tabs of the drawer. One is filled when it is first opened, and kept: a page that loads is built in a frame."""
    empty: dict[str, Callable[[], None]] = {
        "direct": lambda: direct_panel(desk),
        "planner": lambda: settings_panel(desk),
        "cost": lambda: cost_panel(desk),
        "walk": lambda: walk_panel(desk),
        "tree": lambda: tree_panel(desk, view),
        "script": lambda: script_panel(desk),
        "body": lambda: body_panel(desk),
        "touch": lambda: touch_panel(view),
        "picture": lambda: picture_panel(desk, view),
        "set": things.build,
        "takes": lambda: takes_panel(desk, view),
    }
    boxes: dict[str, ui.column] = {}
    _watching(desk)

    def fill(name: str) -> None:
        """Build a tab's panel, where it is not there yet."""
        if name in empty:
            with boxes[name]:
                empty.pop(name)()

    with ui.tabs().props("dense no-caps inline-label") as tabs:
        for name in empty:
            ui.tab(name)
    with ui.tab_panels(tabs, value="direct", animated=False).props("keep-alive").classes("panels"):
        for name in empty:
            with ui.tab_panel(name):
                boxes[name] = ui.column().classes("panel")
    fill("direct")
    tabs.on_value_change(lambda event: fill(event.value))


def _watching(desk: Desk) -> None:
    """Say to who watches that these panels do nothing, and offer to ask for control: the drawer may hide the banner."""
    with ui.row().classes("line watching").props("data-testid=watching") as row:
        ui.label("You are watching.").classes("grow")
        ask = ui.button("ask for control").props("flat dense no-caps data-testid=panel-ask")
        ask.on("click", js_handler="() => tumble.link.send({ type: 'ask' })")

    def show() -> None:
        row.set_visibility(not desk.controls)

    desk.shows(show)


def _face(desk: Desk, view: View) -> None:
    """Have the view take drags from a place as headings where somebody can face them there."""
    faces = desk.stage.director.faces
    if view.props["faces"] != faces:
        view.set(faces=faces)


def _tools(view: View) -> Callable[[str], None]:
    """A column of tools; returns what chooses one."""
    with ui.column().classes("tools"):
        buttons = {
            name: _button(icon, lambda name=name: choose(name), about, f"tool-{name}")
            for name, (icon, about) in TOOLS.items()
        }

    def choose(tool: str) -> None:
        view.set(tool=tool)
        for name, button in buttons.items():
            button.classes(add="chosen" if name == tool else "", remove="" if name == tool else "chosen")

    choose("hand")
    return choose


def _transport(desk: Desk) -> None:
    """Play, step, slow, begin again, record.

    A recording is made into a file here, in memory, when somebody downloads it; one that nobody has downloaded is
    saved where the studio runs when that ends.
    """
    stage = desk.stage

    async def toggle() -> None:
        await desk.do(stage.pause if stage.playing else stage.play)

    async def record() -> None:
        await desk.do(stage.cut if stage.recording else stage.record)

    def download() -> None:
        if stage.last_take is not None:
            download_take(stage.last_take)

    with ui.row().classes("transport"):
        play = _button("pause", toggle, "pause or go on (space)", "play")
        _button("skip_next", desk.doing(stage.advance), "one frame (.)", "step")
        _button("replay", desk.doing(stage.reset), "begin again (r)", "reset")
        _button("accessibility_new", desk.doing(lambda: stage.director.send(Reset())), "back on its feet", "feet")
        _button("casino", desk.doing(stage.again), "begin again with the next seed (n)", "again")
        speed = ui.toggle(SPEEDS, value=1.0).props("dense no-caps flat data-testid=speed").tooltip("share of real time")
        speed.on("update:model-value", lambda: desk.do(lambda: stage.slow(float(speed.value or 1.0))))
        recorder = _button("fiber_manual_record", record, "record", "record")
        save = _button("download", download, "download the recording", "download")
        out = export_button(desk)

    def show() -> None:
        play.props(f"icon={'pause' if stage.playing else 'play_arrow'}")
        recorder.props(f"icon={'stop' if stage.recording else 'fiber_manual_record'}")
        speed.set_value(stage.pace.speed)
        for button in (save, out):
            button.set_visibility(stage.last_take is not None)
        recorder.set_enabled(stage.screening.take is None)

    desk.shows(show)


def _button(icon: str, act: object, about: str, mark: str) -> ui.button:
    """A round button with an icon and a hint; it gives the keyboard back to the character when it is clicked."""
    button = ui.button(icon=icon, on_click=act).props(f"flat round dense data-testid={mark}")  # type: ignore[arg-type]
    button.props["title"] = about
    return button.on("click", js_handler=BLUR)


async def _key(
    desk: Desk, choose_tool: Callable[[str], None], show_help: Callable[[], None], things: SetPanel,
    event: KeyEventArguments,
) -> None:  # fmt: skip
    """Do what a key is for: see `tumble.studio.help_card`."""
    held = event.modifiers
    if not event.action.keydown or event.action.repeat or held.alt:
        return
    stage, name = desk.stage, event.key.name
    if held.ctrl or held.meta:
        if name in ("z", "Z"):
            await desk.do(stage.dresser.redo if held.shift else stage.dresser.undo)
        return
    jobs = {" ": stage.pause if stage.playing else stage.play, ".": stage.advance, "r": stage.reset, "n": stage.again}
    if name in jobs:
        await desk.do(jobs[name])
    elif name == "?":
        show_help()
    elif name == "Delete":
        await things.remove()
    elif name in ("[", "]"):
        await things.turn(STEP if name == "[" else -STEP)
    elif name == "f":
        ui.run_javascript("tumble.view?.frame()")
    elif name.isdigit() and 1 <= int(name) <= len(TOOLS):
        choose_tool(list(TOOLS)[int(name) - 1])
