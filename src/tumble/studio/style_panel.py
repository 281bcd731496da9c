"""The style editor: the trajectories of a walker's style as curves whose knots are dragged (coros2010 figure 5.6)."""

from functools import partial
from typing import Any

from msgspec.structs import replace
from nicegui import ui
from nicegui.events import UploadEventArguments

from tumble.errors import UserError
from tumble.live.commands import Restyle
from tumble.studio.desk import Desk
from tumble.studio.director import Director
from tumble.studio.elements import Curve
from tumble.studio.knobs import Knob
from tumble.studio.panels import BLUR, slider_row
from tumble.walking.style import TRAJECTORIES, Knots, Style, builtin_styles
from tumble.walking.style_file import LARGEST, style_in, written

FIRST = "stance_knee"  # the trajectory that is shown at first
# group: how its trajectories begin, their unit, the values that are shown at least
GROUPS = {
    "leg": (("stance_knee", "swing_ankle", "stance_ankle", "swing_toe", "stance_toe"), "rad", -0.5, 0.5),
    "foot": (("foot",), "m", -0.2, 0.2),
    "trunk": (("pelvis", "back", "chest", "neck"), "rad", -0.5, 0.5),
    "arm": (("swing_shoulder", "swing_elbow", "stance_shoulder", "stance_elbow"), "rad", -0.5, 0.5),
    "by speed": (("ankle_speed", "arm_speed"), "factor", 0.0, 1.5),
}
SPEEDS = (-1.0, 2.0)  # m/s, along which the last are drawn; all others over the phase 0 to 1
# number of the style: label, low, high
NUMBERS = {
    "period": ("own period, s", 0.2, 1.0),
    "step_width": ("own width, m", 0.0, 0.4),
    "toe_out": ("toes out, rad", -0.3, 0.6),
}


def group_of(trajectory: str) -> str:
    """The group that a trajectory belongs to."""
    return next(group for group, (heads, *_) in GROUPS.items() if trajectory.startswith(heads))


def words() -> dict[str, str]:
    """All trajectories in the words of people, group by group."""
    ordered = sorted(TRAJECTORIES, key=lambda name: list(GROUPS).index(group_of(name)))
    return {name: f"{group_of(name)}: {_plain(name)}" for name in ordered}


def _plain(name: str) -> str:
    return name.removeprefix("foot_").removesuffix("_speed").replace("_", " ")


def style_panel(desk: Desk) -> None:
    """A curve to drag, the style's numbers, and its file."""

    async def edit(**changes: Any) -> None:
        if await desk.do(lambda: restyle(desk.stage.director, changes)):
            desk.hub.refresh(but=desk.client.id)

    async def move(knots: Knots) -> None:
        await edit(**{str(trajectory.value): knots})

    async def edit_number(name: str, value: float) -> None:
        await edit(**{name: value})

    with ui.column().classes("panel") as box:
        title = ui.label().classes("about")
        trajectory = ui.select(words(), label="trajectory", value=FIRST).classes("wide")
        trajectory.props("dense options-dense data-testid=trajectory")
        trajectory.on("update:model-value", lambda: show())
        trajectory.on("popup-hide", js_handler=BLUR)
        curve = Curve(move)
        curve.props["title"] = "drag a knot; double click adds one, on a knot or dragged away removes it"
        rows = {
            name: slider_row(label, Knob(f"style-{name}", "", float, low, low, high), partial(edit_number, name))
            for name, (label, low, high) in NUMBERS.items()
        }
        _file_row(desk)

    def show() -> None:
        style, chosen = desk.stage.director.style, str(trajectory.value)
        box.set_visibility(style is not None)
        if style is not None:
            title.set_text(f"The style '{style.name}': drag its knots")
            _, unit, low, high = GROUPS[group_of(chosen)]
            start, end = SPEEDS if chosen.endswith("_speed") else (0.0, 1.0)
            label = f"{_plain(chosen)}, {unit}"
            curve.show(getattr(style, chosen), low=low, high=high, start=start, end=end, label=label)
            for name, row in rows.items():
                row(getattr(style, name))

    desk.shows(show)


def restyle(director: Director, changes: dict[str, Any]) -> None:
    """Change the present style; for the stage's thread, so that no change is lost to another."""
    style = director.style
    if style is None:
        raise UserError("nobody here walks in a style; choose the controller 'walker'")
    director.send(Restyle(written(replace(style, **changes))))


def _file_row(desk: Desk) -> None:
    """Back to the builtin style, to a file, from a file."""

    async def revert() -> None:
        style = desk.stage.director.style
        if style is not None:
            await put(builtin_styles()[style.name])

    async def put(style: Style) -> bool:
        done = await desk.do(lambda: desk.stage.director.send(Restyle(written(style))))
        if done:
            desk.hub.refresh()
        return done

    def save() -> None:
        style = desk.stage.director.style
        if style is not None:
            ui.download.content(written(style), f"{style.name}.toml")

    async def load(event: UploadEventArguments) -> None:
        upload.reset()
        try:
            style = style_in(await event.file.read(), event.file.name[:60])
        except UserError as error:
            ui.notify(str(error), type="negative", multi_line=True)
            return
        if await put(style):
            ui.notify(f"loaded the style '{style.name}'")

    def refuse() -> None:
        ui.notify(f"a style is a file of at most {LARGEST >> 10} KB", type="negative")

    upload = ui.upload(on_upload=load, on_rejected=refuse, max_file_size=LARGEST, auto_upload=True)
    upload.props("accept=.toml").style("display: none")  # one that NiceGUI knows to be hidden takes nothing
    with ui.row().classes("line"):
        _button("as it was", "style-revert").on("click", revert).tooltip("back to the style that comes with tumble")
        ui.space()
        _button("save", "style-save").on("click", save).tooltip("download the style as a TOML file")
        load_button = _button("load", "style-load").tooltip("a TOML file; replaces the style of its name")
        load_button.on("click", js_handler=f"() => runMethod({upload.id}, 'pickFiles', [])")  # browsers want a click


def _button(text: str, mark: str) -> ui.button:
    button = ui.button(text).props(f"flat dense no-caps data-testid={mark}")
    return button.on("click", js_handler=BLUR)
