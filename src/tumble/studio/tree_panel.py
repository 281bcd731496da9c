"""The panel of a tree: what somebody who goes by attraction trees is at, how trees are asked, what it shall do.

    tree_panel(desk, view)

It looks at the controller a few times a second, at a copy of its progress, and asks the stage for nothing. Acts are
wants, so that they are kept, recorded and refused as all wants are: one whose tree does not ship is refused with the
controller's sentence.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from tumble.attraction.attracted import ACTS, Attracted
from tumble.attraction.inquiry import AttractionSettings
from tumble.attraction.progress import Phase, TreeProgress
from tumble.goals.wants import Do
from tumble.studio.desk import Desk
from tumble.studio.elements import View
from tumble.studio.knobs import knobs
from tumble.studio.panels import BLUR, knob_row, view_switch

EVERY = 0.2  # s between two looks
SETTINGS = ("candidates", "search", "pause")  # of `AttractionSettings`; all of them are in the tab 'planner'


def tree_panel(desk: Desk, view: View) -> None:
    """What it is at, settings, acts and the switch of the ghosts; says so where nobody goes by trees."""
    nobody = ui.label("Only trees have nodes: choose the controller 'tree', or a scenario such as getup-tree.")
    nobody.classes("about")
    with ui.column().classes("panel") as box:
        look = _progress(desk)
        switch = view_switch(view, "nodes", "nodes", True)
        switch.props["title"] = "ghosts: where its branch leads, or the nearest nodes while it asks"
        _acts(desk)
        sliders = _sliders(desk)

    def show() -> None:
        controller = desk.stage.trial.controller
        able = isinstance(controller, Attracted)
        nobody.set_visibility(not able)
        box.set_visibility(able)
        look()
        for knob in knobs(desk.stage.director.settings) if able else ():
            if knob.name in sliders:
                sliders[knob.name](knob.value)

    desk.shows(show)
    ui.timer(EVERY, look)


def _progress(desk: Desk) -> Callable[[], None]:
    """What it is at, a bar of how much of the branch is done, and figures; returns what shows them."""
    at = ui.label().props("data-testid=tree-at")
    bar = ui.linear_progress(show_value=False).props("rounded size=8px data-testid=tree-bar")
    with ui.element("div").classes("figures"):
        figures = {name: _figure(name) for name in figures_of(TreeProgress())}

    def look() -> None:
        controller = desk.stage.trial.controller
        if not isinstance(controller, Attracted):
            return
        progress = controller.progress
        at.set_text(told(progress))
        bar.set_value(round(progress.share, 2))
        for name, text in figures_of(progress).items():
            figures[name].set_text(text)

    return look


def _figure(name: str) -> ui.label:
    """A name, and beside it a label for its figure."""
    ui.label(name).classes("about")
    return ui.label().props(f"data-testid=tree-{name.partition(' ')[0]}")


def told(progress: TreeProgress) -> str:
    """What it is at, in words."""
    if progress.phase is not Phase.FOLLOWS:
        return str(progress.phase)
    again = ", and asks again: it is not where it should be" if progress.disturbed else ""
    return f"{progress.phase} {progress.tree}{again}"


def figures_of(progress: TreeProgress) -> dict[str, str]:
    """Figures by their names; '-' where there is none."""
    follows = progress.phase is Phase.FOLLOWS
    far = "-" if math.isnan(progress.distance) else f"{progress.distance:.1f} kg rad"
    return {
        "node": str(progress.node) if follows else "-",
        "edges to the goal": str(progress.depth) if follows else "-",
        "time left": f"{progress.left:.1f} of {progress.whole:.1f} s" if follows else "-",
        "distance to the tree": far,
        "rollouts asked": str(progress.asked) if progress.asked else "-",
    }


def _acts(desk: Desk) -> None:
    """A button for each act."""

    async def do(act: str) -> None:
        if await desk.do(lambda: desk.stage.director.send(Do(act))):
            desk.hub.refresh()

    with ui.row().classes("line"):
        for act, tree in ACTS.items():
            button = ui.button(act, on_click=partial(do, act)).props(f"dense no-caps unelevated data-testid=act-{act}")
            button.on("click", js_handler=BLUR).tooltip(f"by the tree {tree}")


def _sliders(desk: Desk) -> dict[str, Callable[[float], Any]]:
    """Sliders of some settings; what shows a value on each, by name."""
    plain = {knob.name: knob for knob in knobs(AttractionSettings())}
    return {name: knob_row(desk, plain[name], lambda: None) for name in SETTINGS}
