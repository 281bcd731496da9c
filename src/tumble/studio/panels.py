"""Panels: what is played, how the planner is set, what its goal's terms weigh, what a hand does."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from tumble.characters import CHARACTERS
from tumble.goals import GOALS
from tumble.planners import PLANNERS
from tumble.planners.planned import WEIGHT
from tumble.scenarios import SCENARIOS
from tumble.studio.desk import Desk
from tumble.studio.elements import Chart, View
from tumble.studio.knobs import Knob, knobs

HEAVIEST = 100.0  # weight of a term at the right end of its slider; the left end is its inverse
TOOLS = {
    "hand": ("back_hand", "Hand: drag with the left button, push with the right (1)"),
    "push": ("touch_app", "Push what you click (2)"),
    "throw": ("sports_baseball", "Throw a ball where you click (3)"),
    "blast": ("flare", "Explosion where you click (4)"),
    "target": ("my_location", "Reach where you click (5)"),
}
# option of the view: label, unit, low, high, start
TOUCHES = {
    "mass": ("ball", "kg", 0.5, 100.0, 5.0),
    "speed": ("throw", "m/s", 1.0, 30.0, 10.0),
    "force": ("push for 0.1 s", "N", 50.0, 2000.0, 400.0),
    "blast": ("explosion at 1 m", "m/s", 0.5, 15.0, 4.0),
}
SIGHTS = {
    "follow": "follow the character",
    "futures": "sampled futures",
    "contacts": "contact points",
    "steering": "on-screen joystick",
}


def direct_panel(desk: Desk) -> None:
    """Scenario, body, controller, seed and goal."""

    async def choose(name: str, value: Any) -> None:
        if value != getattr(desk.stage.choice, name):
            changes = {"options": (), name: value} if name == "scenario" else {name: value}
            await desk.do(lambda: desk.stage.choose(replace(desk.stage.choice, **changes)))

    async def want(goal: str) -> None:
        if await desk.do(lambda: desk.stage.take.want(goal)):
            desk.hub.refresh()

    async def option(name: str, value: float | None) -> None:
        options = {**dict(desk.stage.choice.options), name: float(value or 0)}
        await choose("options", tuple(options.items()))

    rows = (("scenario", list(SCENARIOS)), ("character", list(CHARACTERS)), ("controller", list(PLANNERS)))
    selects = {name: _select(name, options, partial(choose, name)) for name, options in rows}
    seed = ui.number("seed", min=0, precision=0, format="%d").props("dense").classes("wide").props("data-testid=seed")
    seed.on("change", lambda: choose("seed", int(seed.value or 0)))
    goal = _select("goal", list(GOALS), want)
    summary = ui.label().classes("about")
    box = ui.column().classes("panel")
    numbers: dict[str, ui.number] = {}
    built: list[str] = []

    def show() -> None:
        choice = desk.stage.choice
        for name, select in selects.items():
            select.set_value(getattr(choice, name))
        seed.set_value(choice.seed)
        goal.set_value(desk.stage.take.wanted.goal)
        summary.set_text(SCENARIOS[choice.scenario].summary)
        scenario = choice.built()
        if built != [choice.scenario]:
            built[:] = [choice.scenario]
            box.clear()
            numbers.clear()
            with box:
                for knob in knobs(scenario):
                    numbers[knob.name] = _option(knob, option)
        for knob in knobs(scenario):
            numbers[knob.name].set_value(knob.value)

    desk.shows(show)


def _select(label: str, options: list[str], chosen: Callable[[str], Any]) -> ui.select:
    """A choice that reports what people choose, and nothing when it is set from outside."""
    select = ui.select(options, label=label).props("dense options-dense").classes("wide").props(f"data-testid={label}")
    select.on("update:model-value", lambda: chosen(str(select.value)))
    return select


def _option(knob: Knob, changed: Callable[[str, float | None], Any]) -> ui.number:
    """A number of the scenario's; it counts when one leaves the field or presses enter."""
    number = ui.number(knob.name, value=knob.value).props(f"dense data-testid=option-{knob.name}").classes("wide")
    number.props["title"] = knob.about
    number.on("change", lambda: changed(knob.name, number.value))
    return number


def settings_panel(desk: Desk) -> None:
    """Presets, and a slider for every setting of the planner."""
    with ui.row().classes("line"):
        preset = ui.select([], label="preset").props("dense options-dense").classes("grow").props("data-testid=preset")
        ui.button(icon="save", on_click=lambda: _save_dialog(desk)).props("flat dense").tooltip("save as a preset")
    preset.on("update:model-value", lambda: _apply_preset(desk, str(preset.value)))
    box = ui.column().classes("panel")
    sliders: dict[str, Callable[[float], Any]] = {}
    built: list[type] = []

    def show() -> None:
        settings = desk.stage.take.settings
        if built != [type(settings)]:
            built[:] = [type(settings)]
            preset.set_options(list(desk.presets.of(desk.stage.choice.controller)), value=None)
            box.clear()
            sliders.clear()
            with box:
                for knob in knobs(type(settings)()):
                    sliders[knob.name] = _knob_row(desk, knob)
        for knob in knobs(settings):
            sliders[knob.name](knob.value)

    desk.shows(show)


def _knob_row(desk: Desk, knob: Knob) -> Callable[[float], Any]:
    """A slider or switch; returns what shows a value on it."""

    async def send(value: float) -> None:
        await desk.set({knob.name: value})

    with ui.row().classes("line") as row:
        row.props["title"] = f"{knob.name}: {knob.about}" if knob.about else knob.name
        ui.label(knob.name).classes("name")
        if knob.kind is bool:
            switch = ui.switch().props("dense").props(f"data-testid={knob.name}")
            switch.on("update:model-value", lambda: send(float(switch.value)))
            return lambda value: switch.set_value(bool(value))
        return _slider(knob, send)


def _slider(knob: Knob, send: Callable[[float], Any]) -> Callable[[float], Any]:
    """A slider with its number; moving it sends, showing a value does not."""
    slider = ui.slider(min=0, max=1, step=0.005, value=0).classes("grow").props(f"dense data-testid={knob.name}")
    number = ui.label().classes("number")

    def moved() -> Any:
        value = knob.at(float(slider.value or 0))
        number.set_text(f"{value:g}")
        return send(value)

    def show(value: float) -> None:
        number.set_text(f"{value:g}")
        if knob.at(float(slider.value or 0)) != float(f"{value:.3g}"):
            slider.set_value(knob.share(value))

    slider.on("update:model-value", moved, throttle=0.05)
    return show


async def _apply_preset(desk: Desk, name: str) -> None:
    stage = desk.stage
    wanted = desk.presets.of(stage.choice.controller).get(name, {})
    start = {knob.name: knob.value for knob in knobs(PLANNERS[stage.choice.controller].settings())}
    await desk.set({**start, **wanted})
    desk.show()


def _save_dialog(desk: Desk) -> None:
    with ui.dialog() as dialog, ui.card():
        name = ui.input("name of the preset").props("data-testid=preset-name")
        ui.button("save", on_click=lambda: _save(desk, name.value or "", dialog.close))
    dialog.open()


def _save(desk: Desk, name: str, close: Callable[[], Any]) -> None:
    choice = desk.stage.choice
    plain = {knob.name: knob.value for knob in knobs(PLANNERS[choice.controller].settings())}
    now = {knob.name: knob.value for knob in knobs(desk.stage.take.settings)}
    try:
        desk.presets.save(choice.controller, name, {key: now[key] for key in now if now[key] != plain[key]})
    except ValueError as error:
        ui.notify(str(error), type="negative")
        return
    ui.notify(f"saved '{name.strip()}'")
    close()


def cost_panel(desk: Desk) -> None:
    """A live chart and a weight for every term of the goal."""
    box = ui.column().classes("panel")
    sliders: dict[str, Callable[[float], Any]] = {}
    built: list[str] = []

    def show() -> None:
        weights = desk.stage.take.weights
        if built != [*weights]:
            built[:] = weights
            box.clear()
            sliders.clear()
            with box:
                for name in weights:
                    sliders[name] = _term_row(desk, name)
        for name, slide in sliders.items():
            slide(weights[name])

    desk.shows(show)


def _term_row(desk: Desk, name: str) -> Callable[[float], Any]:
    async def send(value: float) -> None:
        await desk.set({WEIGHT + name: value})

    with ui.row().classes("line"):
        ui.label(name).classes("name")
        Chart(name).classes("grow chart")
    with ui.row().classes("line tight"):
        ui.label("weight").classes("name faint")
        return _slider(Knob(WEIGHT + name, "", float, 1.0, 1 / HEAVIEST, HEAVIEST), send)


def touch_panel(view: View) -> None:
    """What a hand throws, pushes and blasts with, and what is drawn."""
    for option, (label, unit, low, high, start) in TOUCHES.items():
        with ui.row().classes("line"):
            ui.label(f"{label}, {unit}").classes("name")
            knob = Knob(option, "", float, start, low, high)
            _slider(knob, partial(_set, view, option))(start)
    with ui.row().classes("line"):
        ui.label("hand that reaches").classes("name")
        ui.toggle(["left", "right"], value="left", on_change=lambda e: view.set(hand=e.value)).props("dense no-caps")
    for option, label in SIGHTS.items():
        switch = ui.switch(label, value=option != "steering").props("dense").props(f"data-testid={option}")
        switch.on_value_change(partial(_set_switch, view, option))


def _set(view: View, option: str, value: float) -> None:
    view.set(**{option: value})


def _set_switch(view: View, option: str, event: ValueChangeEventArguments[bool]) -> None:
    view.set(**{option: event.value})
