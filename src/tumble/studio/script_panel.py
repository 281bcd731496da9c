"""The panel of a script: what a walker shall do, one act a line, and what of it is being done.

The field begins with the scenario's own script, where that has one, and is the page's: others write others. A script is
checked whole before anything is done, and what is wrong with it is told as a sentence; one that is under way is
replaced by the next.
"""

from nicegui import ui

from tumble.control.controller import Report
from tumble.goals.wants import Do, Go
from tumble.skills.script import FORMS, LONGEST
from tumble.studio.desk import Desk
from tumble.studio.panels import BLUR


def script_panel(desk: Desk) -> None:
    """A field to write into, buttons to begin and to stop; says so where nobody does scripts."""
    nobody = ui.label(
        "Only walkers do scripts: choose the controller 'walker' or 'relay', or a scenario such as steer-walk."
    )
    nobody.classes("about")
    filled: list[str] = []  # the scenario whose own script the field began with

    async def do() -> None:
        await desk.do(lambda: desk.stage.director.send(Do(str(text.value or ""))))

    async def stop() -> None:
        await desk.do(lambda: desk.stage.director.send(Go(speed=0.0)))

    with ui.column().classes("panel") as box:
        text = ui.textarea("script, one act a line", placeholder="go to 2 1\nturn to 90\nwait 2 s").classes("wide")
        text.props(f"outlined dense autogrow spellcheck=false maxlength={LONGEST} data-testid=script")
        text.on("keydown.ctrl.enter", do)
        with ui.row().classes("line"):
            for label, act, mark, about in (
                ("Do", do, "do", "do this from now on (Ctrl+Enter)"),
                ("Stop", stop, "stop", "leave it and stand"),
            ):
                button = ui.button(label, on_click=act).props(f"dense no-caps unelevated data-testid={mark}")
                button.on("click", js_handler=BLUR).tooltip(about)
            doing = ui.label().classes("about grow").props("data-testid=doing")
        with ui.expansion("what can be written").props("dense").classes("wide"):
            for form in FORMS:
                ui.label(f"{form.example}: {form.summary}").classes("about")

    def show() -> None:
        controller, choice = desk.stage.trial.controller, desk.stage.choice
        able = Do in controller.takes
        nobody.set_visibility(not able)
        box.set_visibility(able)
        doing.set_text(told(controller.report()))
        if filled != [choice.scenario]:
            filled[:] = [choice.scenario]
            wants = choice.built().wants()
            text.set_value(wants.script if isinstance(wants, Do) else "")

    desk.shows(show)


def told(report: Report) -> str:
    """Who acts and what it does, in words."""
    return ": ".join(word for word in (report.acting, report.doing) if word)
