"""Panels: what is played, how the controller is set, what its goal's terms weigh, what a hand does.

    with ui.column():
        direct_panel(desk)

A panel builds its elements once and gives the desk a function `show`, which is called now and whenever the stage has
changed: it reads the stage and sets the elements. What people change goes to the stage by `desk.do` or `desk.set`, and
comes back through `show`, also to the other pages. Nothing is kept in a panel that the stage does not know.

Traps: an element that is set by `show` must not report that as if somebody had touched it, or two pages would answer
each other for ever: panels listen to `update:model-value` and `change`, which come from browsers alone. What depends on
the controller is built anew where its kind has changed; `built` holds for which it was.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from nicegui import ui

from tumble.controllers import CONTROLLERS
from tumble.errors import UserError
from tumble.planners.planned import WEIGHT
from tumble.scenarios import SCENARIOS
from tumble.studio.choice import bodies, live
from tumble.studio.desk import Desk
from tumble.studio.elements import Chart, View
from tumble.studio.hub import WATCHING
from tumble.studio.knobs import Knob, knobs
from tumble.studio.presets import Changes, ours
from tumble.studio.stage import Stage

BLUR = "() => document.activeElement?.blur()"  # keys belong to the character again
HEAVIEST = 100.0  # weight of a term at the right end of its slider; the left end is its inverse
TOOLS = {
    "hand": ("back_hand", "Hand: drag with the left button, push with the right (1)"),
    "push": ("touch_app", "Push what you click (2)"),
    "throw": ("sports_baseball", "Throw a ball where you click (3)"),
    "blast": ("flare", "Explosion where you click (4)"),
    "target": ("my_location", "Reach where you click (5)"),
    "go": ("directions_walk", "Go where you click, take what you click; drag where to face there, if it can (6)"),
    "carve": ("terrain", "Set a gap or a stone where you click, or take the one away that you click (7)"),
    "set": ("category", "Choose things of the set, and drag them elsewhere (8)"),
}
# option of the view: label, unit, low, high, start
TOUCHES = {
    "mass": ("ball", "kg", 0.5, 300.0, 5.0),
    "speed": ("throw", "m/s", 1.0, 30.0, 10.0),
    "force": ("push for 0.1 s", "N", 50.0, 2000.0, 400.0),
    "blast": ("explosion at 1 m", "m/s", 0.5, 15.0, 4.0),
    "gap": ("width of a gap", "m", 0.1, 1.0, 0.3),
}
# switch of the view: label, whether it is on at first
SIGHTS = {
    "follow": ("the camera follows", True),
    "futures": ("sampled futures", True),
    "contacts": ("contact points", True),
    "skin": ("skin over the parts of characters", True),
    "balance": ("centre of mass, support polygon", False),
    "metres": ("metre marks", False),
}


def direct_panel(desk: Desk) -> None:
    """Scenario, body, controller, seed, goal and stance.

    Another scenario brings a body and a controller that suit it; another body forgets proportions. Choosing begins the
    show again; another goal or stance does not.
    """
    stage = desk.stage

    async def choose(name: str, value: Any) -> None:
        if value != getattr(stage.choice, name):
            changes = {name: value, "proportions": ()} if name == "character" else {name: value}
            choice = stage.choice.with_scenario(value) if name == "scenario" else replace(stage.choice, **changes)
            await desk.do(lambda: stage.choose(choice))

    async def want(goal: str) -> None:
        if await desk.do(lambda: stage.director.want(goal)):
            desk.hub.refresh()

    rows = (
        ("scenario", list(SCENARIOS)),
        ("character", bodies(stage.choice.character)),
        ("controller", list(CONTROLLERS)),
    )
    selects = {name: _select(name, options, partial(choose, name)) for name, options in rows}
    seed = _number("seed", "of the scenario and of the planner", lambda: stage.choice.seed, partial(choose, "seed"))
    goal = _select("goal", [], want)
    _stance(desk)
    summary = ui.label().classes("about")

    def show() -> None:
        """What is chosen and wanted now."""
        for name, select in selects.items():
            select.set_value(getattr(stage.choice, name))
        seed()
        if goal.options != stage.director.goals:
            goal.set_options(stage.director.goals)
        goal.set_value(stage.director.goal)
        summary.set_text(SCENARIOS[stage.choice.scenario].summary)

    desk.shows(show)
    _options(desk, partial(choose, "options"))


def _stance(desk: Desk) -> None:
    """In which pose to balance, and for planners of whole plans whether to roll over first."""

    async def stand(**stance: Any) -> None:
        if await desk.do(lambda: desk.stage.director.stand(**stance)):
            desk.hub.refresh()

    pose = _select("stance", [], lambda pose: stand(pose=pose))
    pose.props["title"] = "pose to balance in, or to get back to"
    roll = ui.switch("roll over first").props("dense data-testid=roll")
    roll.props["title"] = "who lies on the back may roll onto the face before getting up"
    roll.on("update:model-value", lambda: stand(roll=bool(roll.value)))
    roll.on("click", js_handler=BLUR)

    def show() -> None:
        """The stance, where balance is wanted; rolling over where whole plans are judged."""
        director = desk.stage.director
        poses = list(desk.stage.trial.scene.character.poses)
        if pose.options != poses:
            pose.set_options(poses)
        pose.set_value(director.stance.pose or "rest")
        roll.set_value(bool(director.stance.roll))
        pose.set_visibility(director.balances)
        roll.set_visibility(director.balances and director.judges_plans)

    desk.shows(show)


def _options(desk: Desk, choose: Callable[[Any], Any]) -> None:
    """The scenario's own numbers; another one begins it again."""
    box = ui.column().classes("panel")
    numbers: list[Callable[[], None]] = []
    built: list[str] = []

    def now(name: str) -> float:
        """A number of the scenario as it is chosen."""
        return float(getattr(desk.stage.choice.built(), name))

    async def changed(name: str, value: float) -> None:
        await choose(tuple({**dict(desk.stage.choice.options), name: value}.items()))

    def show() -> None:
        """The numbers of the chosen scenario, built anew where it is another."""
        choice = desk.stage.choice
        if built != [choice.scenario]:
            built[:] = [choice.scenario]
            box.clear()
            with box:
                numbers[:] = [
                    _number(knob.name, knob.about, partial(now, knob.name), partial(changed, knob.name))
                    for knob in knobs(choice.built())
                ]
        for number in numbers:
            number()

    desk.shows(show)


def _select(label: str, options: list[str], chosen: Callable[[str], Any]) -> ui.select:
    """A choice that reports what people choose, and nothing when it is set from outside."""
    select = ui.select(options, label=label).props(f"dense options-dense data-testid={label}").classes("wide")
    select.on("update:model-value", lambda: chosen(str(select.value)))
    select.on("popup-hide", js_handler=BLUR)
    return select


def _number(name: str, about: str, now: Callable[[], float], changed: Callable[[float], Any]) -> Callable[[], None]:
    """A number that counts when one leaves the field or presses enter; returns what shows the present value.

    While somebody types, it is shown only if it is another than before.
    """
    number = ui.number(name, value=now()).props(f"dense data-testid=option-{name}").classes("wide")
    number.props["title"] = about
    shown = [now()]

    async def report() -> None:
        value, whole = number.value, isinstance(now(), int)
        if value is None or (whole and value != round(value)):
            got = "nothing" if value is None else f"{value:g}"
            ui.notify(f"{name} is a {'whole ' * whole}number, got {got}; it stays {now():g}", type="negative")
        else:
            await changed(round(value) if whole else float(value))
        number.set_value(now())

    def show() -> None:
        if shown != [now()]:
            shown[:] = [now()]
            number.set_value(now())

    number.on("change", report)
    return show


def settings_panel(desk: Desk) -> None:
    """Presets, what was learned, and a slider for every setting of the planner.

    A preset is applied whole: what it does not say has its default again. Moving a slider leaves the preset.
    """
    with ui.row().classes("line"):
        preset = ui.select([], label="preset").props("dense options-dense").classes("grow").props("data-testid=preset")
        ui.button(icon="save", on_click=lambda: _save_dialog(desk)).props("flat dense").tooltip("save as a preset")
    preset.on("update:model-value", lambda: _apply_preset(desk, str(preset.value)))
    preset.on("popup-hide", js_handler=BLUR)
    if desk.stage.learning is not None:
        _learned(desk)
    _keep_time(desk)
    box = ui.column().classes("panel")
    sliders: dict[str, Callable[[float], Any]] = {}
    built: list[type] = []

    def show() -> None:
        """The settings, with those that wait for the next frame; sliders are built anew for another controller."""
        settings = desk.stage.director.settings
        if built != [type(settings)]:
            built[:] = [type(settings)]
            preset.set_options(list(_presets(desk)), value=None)
            box.clear()
            sliders.clear()
            with box:
                for knob in knobs(type(settings)()):
                    sliders[knob.name] = knob_row(desk, knob, lambda: preset.set_value(None))
        for knob in knobs(settings):
            sliders[knob.name](knob.value)

    desk.shows(show)


def _keep_time(desk: Desk) -> None:
    """A switch of keeping time, and what is chosen."""
    with ui.row().classes("line"):
        switch = ui.switch("keep time").props("dense data-testid=keep-time")
        switch.props["title"] = (
            "fit futures, and how many frames a plan serves, to the time there is; below what is set here"
        )
        chosen = ui.label().classes("about grow").props("data-testid=keeping")
    switch.on("update:model-value", lambda: desk.do(lambda: setattr(desk.stage, "keeps_time", bool(switch.value))))
    switch.on("click", js_handler=BLUR)

    def show() -> None:
        switch.set_value(desk.stage.keeps_time)
        chosen.set_text(desk.stage.keeping)

    desk.shows(show)


def _learned(desk: Desk) -> None:
    """How much was learned, counted every second."""
    label = ui.label().classes("about").props("data-testid=learned")

    def show() -> None:
        label.set_text(learned_text(desk.stage))

    desk.shows(show)
    ui.timer(1.0, show)


def learned_text(stage: Stage) -> str:
    """How many situations are remembered, in which file, and whether they are used and added to."""
    learning = stage.learning
    if learning is None:
        return "nothing more is learned"
    how = f"not used: {stage.unused}" if stage.unused else "frozen" if learning.frozen else "growing"
    return f"{len(learning)} situations learned in {learning.file.path.name} ({how})"


def knob_row(desk: Desk, knob: Knob, moved: Callable[[], Any]) -> Callable[[float], Any]:
    """A slider or switch; returns what shows a value on it."""

    async def send(value: float) -> None:
        moved()
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
        """Move the slider only where it does not stand for that value already: a hand may be on it."""
        number.set_text(f"{value:.3g}")
        if knob.at(float(slider.value or 0)) != float(f"{value:.3g}"):
            slider.set_value(knob.share(value))

    slider.on("update:model-value", moved, throttle=0.05)
    return show


def _presets(desk: Desk) -> Mapping[str, Changes]:
    """Presets of the present controller; ours alone, and a sentence, where the file of saved ones is spoilt."""
    controller = desk.stage.choice.controller
    try:
        return desk.presets.of(controller)
    except UserError as error:
        ui.notify(str(error), type="negative", multi_line=True)
        return ours(controller)


async def _apply_preset(desk: Desk, name: str) -> None:
    """Set all settings: those of a preset, and the others as the controller begins with in the studio."""
    stage = desk.stage
    wanted = _presets(desk).get(name, {})
    start = {knob.name: knob.value for knob in knobs(live(CONTROLLERS[stage.choice.controller].settings()))}
    await desk.set({**start, **wanted})
    desk.show()


def _save_dialog(desk: Desk) -> None:
    """Ask for a name, under which what is set now becomes a preset of this controller."""
    with ui.dialog() as dialog, ui.card():
        name = ui.input("name of the preset").props("data-testid=preset-name")
        ui.button("save", on_click=lambda: _save(desk, name.value or "", dialog.close))
    dialog.open()


def _save(desk: Desk, name: str, close: Callable[[], Any]) -> None:
    """Keep the settings that are not where the controller begins; a bad name is told, and may be mended."""
    if not desk.controls:
        ui.notify(WATCHING, type="negative")
        return
    choice = desk.stage.choice
    plain = {knob.name: knob.value for knob in knobs(live(CONTROLLERS[choice.controller].settings()))}
    now = {knob.name: knob.value for knob in knobs(desk.stage.director.settings)}
    try:
        desk.presets.save(choice.controller, name, {key: now[key] for key in now if now[key] != plain[key]})
    except UserError as error:
        ui.notify(str(error), type="negative")
        return
    ui.notify(f"saved '{name.strip()}'")
    close()


def cost_panel(desk: Desk) -> None:
    """A live chart and a weight for every term of the goal; who judges whole plans weighs terms of its own.

    Charts are of the best path's mean values, which frames carry. Weights multiply costs, 1/100 to 100; they stay with
    the controller when another scenario is chosen.
    """
    box = ui.column().classes("panel")
    sliders: dict[str, Callable[[float], Any]] = {}
    built: list[tuple[str, ...]] = []

    def show() -> None:
        """Weights, under charts that are built anew where the terms are others."""
        terms, weights = desk.stage.director.terms, desk.stage.director.weights
        if built != [terms, (*weights,)]:
            built[:] = [terms, (*weights,)]
            box.clear()
            sliders.clear()
            with box:
                _term_rows(desk, terms, sliders, [*weights])
        for name, slide in sliders.items():
            slide(weights[name])

    desk.shows(show)


def _term_rows(
    desk: Desk, terms: tuple[str, ...], sliders: dict[str, Callable[[float], Any]], weighed: list[str]
) -> None:
    """Fill the panel of costs, and `sliders` with what shows the weights."""
    for name in terms:
        with ui.row().classes("line"):
            ui.label(name).classes("name")
            Chart(name).classes("grow chart")
        if name in weighed:
            with ui.row().classes("line tight"):
                ui.label("weight").classes("name faint")
                sliders[name] = _weight(desk, name)
    others = [name for name in weighed if name not in terms]
    if others:
        ui.label("This planner judges whole plans, by the ways of the goal. Their weights:").classes("about")
    for name in others:
        with ui.row().classes("line"):
            ui.label(name).classes("name")
            sliders[name] = _weight(desk, name)


def _weight(desk: Desk, name: str) -> Callable[[float], Any]:
    """A slider of a term's weight; returns what shows a value on it."""

    async def send(value: float) -> None:
        await desk.set({WEIGHT + name: value})

    return _slider(Knob(WEIGHT + name, "", float, 1.0, 1 / HEAVIEST, HEAVIEST), send)


def slider_row(label: str, knob: Knob, send: Callable[[float], Any]) -> Callable[[float], Any]:
    """A line with a label and a slider; returns what shows a value on it."""
    with ui.row().classes("line"):
        ui.label(label).classes("name")
        return _slider(knob, send)


def touch_panel(view: View) -> None:
    """What a hand throws, pushes, blasts and carves with, and whether a joystick is on the screen.

    These are the page's own: the stage knows nothing of them, and every page has others.
    """
    for option, (label, unit, low, high, start) in TOUCHES.items():
        slider_row(f"{label}, {unit}", Knob(option, "", float, start, low, high), partial(_set, view, option))(start)
    with ui.row().classes("line"):
        ui.label("hand that reaches").classes("name")
        ui.toggle(["left", "right"], value="left", on_change=lambda e: view.set(hand=e.value)).props("dense no-caps")
    view_switch(view, "steering", "on-screen joystick", False)


def view_switch(view: View, option: str, label: str, on: bool) -> ui.switch:
    """A switch of an option of one page's view."""
    switch = ui.switch(label, value=on).props("dense").props(f"data-testid={option}")
    switch.on_value_change(lambda event: view.set(**{option: event.value}))
    switch.on("click", js_handler=BLUR)
    return switch


def _set(view: View, option: str, value: float) -> None:
    """Set an option of one page's view."""
    view.set(**{option: value})
