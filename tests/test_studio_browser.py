"""The studio as people meet it: a real browser, a real server; what is drawn, touched, steered and set."""

import contextlib
import io
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import able
from studio_browser import Studio, Window, browser, until

from tumble.live.recording import Recording
from tumble.planners import PLANNERS
from tumble.studio.knobs import knobs

pytestmark = pytest.mark.flaky(reruns=2)  # a browser beside a simulation on two busy cores may be late

SIZE = {"width": 1000, "height": 620}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SHIRT, SHOES = (0x29, 0x73, 0xA8), (0xDB, 0x5C, 0x3D)
PAD = "window.pad = null; navigator.getGamepads = () => [window.pad];"
Open = Callable[..., Window]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as one:
        yield one


@pytest.fixture(scope="module")
def shared(chromium, tmp_path_factory) -> Iterator[Studio]:
    """A studio that tests leave as they found it, but for time."""
    with Studio(tmp_path_factory.mktemp("studio")) as studio:
        yield studio


@pytest.fixture
def own(chromium, tmp_path) -> Iterator[Studio]:
    """A studio for a test that changes what is played."""
    with Studio(tmp_path) as studio:
        yield studio


@pytest.fixture
def visit(chromium) -> Iterator[Open]:
    """Opens windows of a studio; none of them may complain, or it says so and is cleared."""
    windows: list[Window] = []

    def go(studio: Studio, script: str = "", **options: Any) -> Window:
        context = chromium.new_context(**({"viewport": SIZE} | options))
        if script:
            context.add_init_script(script)
        windows.append(Window(context.new_page(), studio))
        return windows[-1]

    yield go
    complaints = [complaint for window in windows for complaint in window.complaints]
    for window in windows:
        window.page.context.close()
    assert not complaints


@pytest.fixture
def window(visit, shared) -> Window:
    """A window that controls the shared studio, at the beginning of the scenario."""
    one = visit(shared)
    one.begin()
    return one


# What is drawn --------------------------------------------------------------------------------------


def picture(window: Window) -> np.ndarray:
    """The view when it has come to rest, without what is written over it: rows, columns, red green blue."""
    from PIL import Image

    shots: list[bytes] = [b""]
    clip = {"x": 230, "y": 0, "width": 430, "height": 540}

    def rests() -> bool:
        shots.append(window.page.screenshot(clip=clip))
        return shots[-1] == shots[-2]

    until(rests)
    whole = np.zeros((620, 1000, 3), np.uint8)
    whole[:540, 230:660] = np.asarray(Image.open(io.BytesIO(shots[-1])).convert("RGB"))
    return whole


def share(pixels: np.ndarray, colour: tuple[int, int, int], at: tuple[float, float], radius: int) -> float:
    """How much of a square is of a colour, lit or in the shade."""
    x, y = map(round, at)
    square = pixels[y - radius : y + radius + 1, x - radius : x + radius + 1].reshape(-1, 3).astype(float)
    like = square @ colour / np.maximum(np.linalg.norm(square, axis=1) * np.linalg.norm(colour), 1)
    return float((like > 0.99).mean())


def changed(one: np.ndarray, other: np.ndarray) -> float:
    """The share of the view in which two pictures differ clearly."""
    return float((np.abs(one.astype(int) - other).max(axis=2)[:540, 230:660] > 30).mean())


def test_the_character_is_drawn_where_it_is(window, tmp_path):
    colours = window.look("Object.fromEntries(link.scene.bodies.map(({ name, geoms }) => [name, geoms[0]?.color]))")
    assert [bytes.fromhex(colours[name][1:]) for name in ("torso", "left_foot")] == [bytes(SHIRT), bytes(SHOES)]
    window.pause()
    first = picture(window)
    spots = {name: window.spot(name) for name in ("torso", "left_hand", "left_foot", "right_foot")}
    assert share(first, SHIRT, spots["torso"], 12) > 0.8
    assert all(share(first, SHOES, spots[foot], 12) > 0.3 for foot in ("left_foot", "right_foot"))
    assert share(first, SHIRT, spots["left_hand"], 8) == share(first, SHOES, spots["torso"], 12) == 0
    x, y = spots["torso"]
    assert share(first, SHIRT, (x + 150, y), 30) == share(first, SHIRT, (x - 80, y), 10) == 0
    folder = Path(os.environ.get("TUMBLE_ARTEFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    window.page.screenshot(path=folder / "studio.png")
    print(f"screenshot: {folder / 'studio.png'}")

    drawn_from = window.ahead()
    window.page.mouse.move(560, 150)
    window.page.mouse.down()
    window.page.mouse.move(480, 150, steps=4)
    window.page.mouse.up()
    window.until(f"Math.abs(view.camera.matrixWorld.elements[8] + {drawn_from[0]}) > 0.1")
    second = picture(window)
    changed = np.abs(second.astype(int) - first).max(axis=2)[:540, 230:660] > 8
    assert changed.mean() > 0.05
    assert share(second, SHIRT, window.spot("torso"), 12) > 0.8
    assert window.look("frame.paused") and drawn_from @ window.ahead() < 0.995


def test_the_skin_is_worn_or_the_parts_are_seen(window):
    window.pause()
    dressed = picture(window)
    window.tab("picture")
    window.part("skin").click()
    spot = tuple(map(round, window.spot("torso")))
    until(lambda: changed(picture(window), dressed) > 0.005)
    parts = picture(window)
    assert changed(parts, dressed) < 0.1
    assert share(parts, SHIRT, spot, 8) > 0.8 and share(dressed, SHIRT, spot, 8) > 0.8
    window.part("skin").click()
    until(lambda: changed(picture(window), parts) > 0.005)


def test_the_first_load_is_small(chromium, shared):
    with contextlib.closing(chromium.new_context(viewport=SIZE)) as context:
        page, sizes, lessons = context.new_page(), list[float](), list[dict[str, Any]]()
        wire = context.new_cdp_session(page)
        wire.send("Network.enable")
        wire.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        wire.on("Network.webSocketFrameReceived", lambda event: lessons.append(event["response"]))
        page.goto(shared.address)
        page.wait_for_function("window.tumble?.view?.project('torso')")
        page.wait_for_load_state("networkidle")
    scenes = [len(one["payloadData"]) for one in lessons if '"type": "scene"' in one["payloadData"][:100]]
    print(f"first load: {sum(sizes) / 1e6:.2f} MB in {len(sizes)} answers, the scene {sum(scenes) / 1e6:.2f} MB")
    assert len(sizes) > 10 and len(scenes) == 1
    assert 2e5 < sum(sizes) + sum(scenes) < 3e6


# Hands ----------------------------------------------------------------------------------------------


def test_a_drag_lifts_a_hand_and_lets_go(window):
    mouse, before = window.page.mouse, window.body("left_hand")[2]
    x, y = window.spot("left_hand")
    assert not window.look("frame.drag")
    mouse.move(x, y)
    mouse.down()
    mouse.move(x, y - 100, steps=5)
    window.until("frame.drag")
    window.until(f"frame.drag[5] > {before} + 0.2")  # where it is pulled to
    window.until(f"frame.bodies[7 * {index('left_hand')} + 2] > {before} + 0.05")
    mouse.up()
    window.until("!frame.drag")
    mouse.move(x, y - 250)
    window.frames(5)
    assert not any(window.look("seen.map(({ drag }) => drag)"))


def index(name: str) -> str:
    return f"link.scene.bodies.findIndex((body) => body.name === '{name}')"


def speed(window: Window, name: str, along: np.ndarray) -> float:
    """The highest speed of a body into a horizontal direction, of frames that follow each other."""
    history = window.history(name)
    steps = np.diff(history, axis=0)
    return float(30 * np.max((steps[:, 1:3] @ along)[steps[:, 0] == 1]))


def advance(window: Window, frames: int) -> None:
    """So many frames by hand, while time stands still: the same on every machine."""
    for _ in range(frames):
        tick = window.look("frame.tick")
        window.page.keyboard.press(".")
        window.until(f"frame.tick === {tick} + 1")


def click(window: Window, name: str, button: str = "left") -> None:
    """On where a body is drawn."""
    window.page.mouse.click(*window.spot(name), button=button)


def settled(window: Window) -> None:
    """Stop time at the start and let the camera come to rest: what is clicked is what was meant."""
    window.begin()
    window.pause()
    until(lambda: window.spot("torso") == (window.page.wait_for_timeout(150), window.spot("torso"))[1])


@pytest.mark.parametrize(("key", "button"), [("1", "right"), ("2", "left"), ("2", "right")])
def test_a_click_pushes_the_torso_away(window, key, button):
    settled(window)
    window.page.keyboard.press(key)
    window.page.locator(f".tools button:nth-child({key}).chosen").wait_for()
    away = window.ahead()
    advance(window, 4)
    assert speed(window, "torso", away) < 0.15
    click(window, "torso", button)
    window.forget()
    advance(window, 5)
    assert speed(window, "torso", away) > 0.25


def test_a_ball_is_thrown_at_what_is_clicked(window):
    settled(window)
    window.part("tool-throw").click()
    window.page.locator(".chosen[data-testid=tool-throw]").wait_for()
    assert window.look(index("thrown")) == -1
    click(window, "torso")
    window.forget()
    advance(window, 16)
    far = np.linalg.norm(window.history("thrown")[:, 1:] - window.history("torso")[:, 1:], axis=1)
    assert far[0] > 1.0
    assert far.min() < 0.45  # m: the radii of a ball of 5 kg and of a torso
    assert (np.diff(far[: far.argmin()]) <= 0).all()  # a frame may be shown twice
    assert speed(window, "torso", window.ahead()) > 0.2


def test_an_explosion_throws_everything_away_from_it(window):
    settled(window)
    window.page.keyboard.press("4")
    window.page.locator(".chosen[data-testid=tool-blast]").wait_for()
    away = window.ahead()
    click(window, "torso")  # the side that one sees
    window.forget()
    advance(window, 4)
    assert speed(window, "pelvis", away) > 1.0
    assert speed(window, "head", away) > 0.4


def test_a_target_is_reached_for(window):
    settled(window)
    window.part("tool-target").click()
    window.page.locator(".chosen[data-testid=tool-target]").wait_for()
    x, y = window.spot("torso")
    assert not window.look("frame.target")
    window.page.mouse.click(x + 60, y - 30)
    until_value(window, "goal", "reach")
    advance(window, 2)
    target = window.look("frame.target && [...frame.target]")
    assert np.linalg.norm(np.array(target) - window.body("torso")) < 0.6
    assert np.hypot(*(np.array(project(window, target)) - (x + 60, y - 30))) < 15
    window.choose("goal", "balance")
    window.part("step").click()
    window.until("!frame.target")


@pytest.fixture(scope="module")
def scripted(chromium, tmp_path_factory) -> Iterator[Studio]:
    """A studio with crates, whose walker pretends to do scripts."""
    folder, program = tmp_path_factory.mktemp("crates"), str(Path(__file__).with_name("doing.py"))
    with Studio(folder, scenario="crates", planner=(), program=(program,)) as studio:
        yield studio


def going(window: Window) -> list[float]:
    """Where the walker says that it goes; a camera that follows it moves the place under the pointer a little."""
    return [float(word) for word in window.text("doing").removeprefix("go to ").split() if word[-1].isdigit()]


def test_a_walker_goes_where_one_clicks_and_takes_what_one_clicks(scripted, visit):
    window = visit(scripted, viewport={"width": 1200, "height": 900})
    window.begin()
    window.tab("script")
    window.until_text("doing", "go to 0.5 0")
    window.page.keyboard.press("6")
    window.page.locator(".chosen[data-testid=tool-go]").wait_for()
    for name, act in (("crate", "lift crate"), ("cup", "pick up cup"), ("block", "push block 1 m")):
        window.page.mouse.click(*window.spot(name))
        window.until_text("doing", act)
    window.page.mouse.click(*project(window, [0.5, 0.25, 0.0]))
    until(lambda: going(window) == pytest.approx([0.5, 0.25], abs=0.05))
    window.page.mouse.click(*window.spot("torso"))
    window.page.get_by_text("'torso' is a part of the character").wait_for()
    window.page.keyboard.down("w")  # a step by hand ends it
    until(lambda: window.text("doing") == "")
    window.page.keyboard.up("w")


def test_a_finger_points(scripted, visit):
    window = visit(scripted, viewport={"width": 900, "height": 900}, has_touch=True)
    window.begin()
    window.tab("script")
    window.part("tool-go").tap()
    window.page.locator(".chosen[data-testid=tool-go]").wait_for()
    window.page.touchscreen.tap(*project(window, [0.5, 0.25, 0.0]))
    until(lambda: going(window) == pytest.approx([0.5, 0.25], abs=0.05))


def test_a_script_is_written_done_and_stopped(scripted, visit):
    window = visit(scripted)
    window.begin()
    window.tab("script")
    assert window.part("script").input_value() == "go to 0.5 0\nwait 1 s"
    window.part("script").fill("turn to 90\nlift crate")
    window.page.keyboard.press("r")  # is typed
    window.part("script").fill("turn to 90\nlift crate")
    window.part("do").click()
    window.until_text("doing", "turn to 90")
    window.part("script").fill("walk at 0.5")
    window.part("script").press("Control+Enter")
    window.until_text("doing", "walk at 0.5 m/s")
    window.part("script").fill("lift crate\nlift block")
    window.part("do").click()
    window.page.get_by_text("act 2, 'lift block': 'block' weighs 80 kg").wait_for()
    assert window.text("doing") == "walk at 0.5 m/s"
    window.part("stop").click()
    until(lambda: window.text("doing") == "")


def test_only_walkers_do_scripts(window):
    window.tab("script")
    window.page.get_by_text("Only walkers do scripts").wait_for()
    assert not window.part("script").is_visible()


def project(window: Window, point: list[float]) -> tuple[float, float]:
    """Where a point of the world is drawn, px."""
    elements = window.look("[view.camera.projectionMatrix, view.camera.matrixWorldInverse].map((m) => [...m.elements])")
    projection, into = (np.reshape(part, (4, 4)).T for part in elements)
    x, y, _, w = projection @ into @ [*point, 1.0]
    box = window.part("view").bounding_box()
    return box["x"] + (0.5 + x / w / 2) * box["width"], box["y"] + (0.5 - y / w / 2) * box["height"]


def until_value(window: Window, name: str, value: str) -> None:
    """Wait until a menu shows this."""
    window.page.locator(f"[data-testid='{name}'] input[value='{value}']").wait_for(state="attached")


# Steering -------------------------------------------------------------------------------------------


def steered(window: Window) -> np.ndarray:
    """The direction that is wanted now, in the camera's axes: to the right, ahead. Waits for one."""
    window.until("frame.wanted")
    wanted = np.array(window.look("[...frame.wanted]"))
    x, y = window.ahead()
    return np.array([wanted @ (y, -x), wanted @ (x, y)]) / np.hypot(*wanted)


def test_keys_steer(window):
    for keys, direction in (("w", (0, 1)), ("d", (1, 0)), ("ArrowDown", (0, -1)), ("wa", (-0.7, 0.7))):
        for key in [keys] if len(keys) > 2 else keys:
            window.page.keyboard.down(key)
        until(lambda direction=direction: steered(window) @ direction > 0.95)
        assert window.look("Math.hypot(...frame.wanted)") > 0.3
        for key in [keys] if len(keys) > 2 else keys:
            window.page.keyboard.up(key)
        window.until("!frame.wanted")
    window.page.keyboard.down("w")
    window.page.keyboard.down("Shift")
    until_value(window, "goal", "turbo")
    window.page.keyboard.up("Shift")
    until_value(window, "goal", "steer")
    window.page.keyboard.up("w")
    until_value(window, "goal", "balance")


def test_keys_that_are_typed_do_not_steer(window):
    window.part("option-seed").click()
    window.page.keyboard.down("w")
    window.page.keyboard.down("ArrowUp")
    window.frames(8)
    window.page.keyboard.up("w")
    window.page.keyboard.up("ArrowUp")
    assert not any(window.look("seen.map(({ wanted }) => wanted)"))


def test_a_gamepad_steers(visit, shared):
    window = visit(shared, script=PAD)
    window.begin()
    pad = "window.pad = {{ connected: true, axes: [{}, {}, 0, 0], buttons: [] }}, 0"
    window.look(pad.format(0, -1))
    until(lambda: steered(window) @ (0, 1) > 0.95)
    window.look(pad.format(1, 0))
    until(lambda: steered(window) @ (1, 0) > 0.95)
    window.look("window.pad = null, 0")
    window.until("!frame.wanted")


def test_the_stick_on_the_screen_steers(window):
    assert window.part("stick").count() == 0
    window.tab("touch")
    window.part("steering").click()
    box = window.part("stick").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    window.page.mouse.move(x, y)
    window.page.mouse.down()
    window.page.mouse.move(x, y - 40, steps=4)
    until(lambda: steered(window) @ (0, 1) > 0.95)
    window.page.mouse.up()
    window.until("!frame.wanted")


def test_a_finger_drags_and_panels_open_on_a_phone(visit, shared):
    window = visit(shared, **PHONE)
    window.begin()
    assert window.part("stick").is_visible()
    wire = window.page.context.new_cdp_session(window.page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]})

    before = window.body("left_hand")[2]
    x, y = window.spot("left_hand")
    touch("touchStart", (x, y))
    for step in range(1, 6):
        touch("touchMove", (x, y - 20 * step))
    window.until("frame.drag")
    window.until(f"frame.bodies[7 * {index('left_hand')} + 2] > {before} + 0.05")
    touch("touchEnd")
    window.until("!frame.drag")

    place, panel = window.part("menu"), window.part("scenario")
    assert not seen(window, panel)
    place.tap()
    until(lambda: seen(window, panel))
    window.page.touchscreen.tap(20, 300)  # beside it
    until(lambda: not seen(window, panel))


def seen(window: Window, part: Any) -> bool:
    """Whether it is on the screen, not beside it."""
    box = part.bounding_box()
    return box is not None and box["width"] > 0 and box["x"] + box["width"] <= window.page.viewport_size["width"] + 1


# Panels ---------------------------------------------------------------------------------------------


def test_sliders_set_the_planner(own, visit):
    window, watcher = visit(own), visit(own)
    window.until("frame.paths === 4")
    for one in (window, watcher):
        one.tab("planner")
    for share, low, high in ((0.25, 6, 16), (0.6, 40, 80)):
        window.slide("samples", share)
        until(lambda low=low, high=high: low <= window.number("samples") <= high)
        samples = window.number("samples")
        window.until(f"frame.paths === {min(samples, 32)}")
        until(lambda samples=samples: watcher.number("samples") == samples)
    window.choose("preset", "quick")
    window.until("frame.paths === 16")
    until(lambda: (window.number("samples"), window.number("horizon")) == (16, 0.8))


def test_weights_of_terms(window):
    window.tab("cost")
    chart = window.part("chart").first
    until(lambda: drawn(chart) > 100)  # pixels of a line and a number
    settled(window)
    advance(window, 2)
    term = window.look("link.terms[frame.terms.indexOf(Math.max(...frame.terms))]")
    value = f"frame.terms[link.terms.indexOf('{term}')]"
    before, tick = window.look(value), window.look("frame.tick")
    window.slide(f"weight.{term}", 0.9)
    until(lambda: window.number(f"weight.{term}") > 20)
    window.part("step").click()
    window.until(f"frame.tick === {tick} + 1")
    assert window.look(value) > 5 * before > 0
    window.slide(f"weight.{term}", 0.5)
    until(lambda: window.number(f"weight.{term}") == 1)


def drawn(canvas: Any) -> int:
    """How many of its pixels are painted."""
    return int(
        canvas.evaluate(
            "(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data"
            ".filter((value, i) => i % 4 === 3 && value).length"
        )
    )


def test_other_scenarios_characters_and_seeds(own, visit):
    window = visit(own)
    window.choose("scenario", "ball")
    window.until(f"{index('ball')} > 0 && frame.time > 0.2")
    window.part("play").click()
    window.until("frame.paused")
    assert share(picture(window), SHIRT, window.spot("torso"), 6) > 0.3
    assert window.look("view.project('ball')")
    bodies = window.look("JSON.stringify(link.scene)")
    for other in set(able("biped", "t-pose")) - {"humanoid"}:
        window.choose("character", other)
        window.until("frame.time > 0.1 && !frame.paused")
        assert window.look("JSON.stringify(link.scene)") != bodies
    window.part("option-seed").fill("7")
    window.page.keyboard.press("Enter")
    window.part("again").click()
    until(lambda: window.part("option-seed").input_value() == "8")


def test_every_controller_can_be_chosen(own, visit):
    window = visit(own)
    for name in [*list(PLANNERS)[1:], "cpbp"]:
        window.tab("direct")
        window.choose("controller", name)
        settings = PLANNERS[name].settings()
        window.forget()
        window.until(f"frame.time < 2 && frame.paths === {min(32, settings.samples)} && seen.length > 3", within=60)
        window.tab("planner")
        wanted = sorted(knob.name for knob in knobs(settings))
        until(lambda wanted=wanted: sorted(window.page.evaluate(KNOBS)) == wanted)


def test_a_relay_suits_bipeds_and_says_who_acts(own, visit):
    window = visit(own)
    assert not window.part("hud-acting").is_visible()
    window.choose("controller", "relay")
    window.page.get_by_text("controller 'relay' needs a body with: toes, palms").wait_for()
    until_value(window, "controller", "cpbp")
    window.choose("character", "biped")
    until_value(window, "character", "biped")
    window.choose("controller", "relay")
    window.until_text("hud-acting", "walking")
    window.tab("planner")
    until(lambda: "foresight" in window.page.evaluate(KNOBS) and "rising" not in window.page.evaluate(KNOBS))
    window.tab("script")
    window.until_text("doing", "walking")
    window.look("link.send({ type: 'push', body: 'torso', force: [-200, 1300, 0], seconds: 0.2 })")
    window.until_text("hud-acting", "rising: getting up")
    window.until_text("doing", "rising: getting up")
    window.tab("direct")
    window.choose("scenario", "juggle")  # nobody who walks juggles: it brings who does
    until_value(window, "controller", "cpbp")


KNOBS = """[...document.querySelectorAll(".panels [data-testid]")].filter((one) => one.checkVisibility())
  .map((one) => one.dataset.testid).filter((name) => !["preset", "keep-time", "keeping"].includes(name))"""


# Time -----------------------------------------------------------------------------------------------


def test_pause_step_and_slow_motion(window):
    window.part("play").click()
    window.until("frame.paused")
    window.until_text("hud-realtime", "paused")
    tick = window.look("frame.tick")
    time.sleep(0.3)  # nine frames, if it went on
    assert window.look("frame.tick") == tick
    window.part("step").click()
    window.until(f"frame.tick === {tick} + 1")
    time.sleep(0.2)
    assert window.look("frame.tick") == tick + 1
    window.part("play").click()
    window.until(f"frame.tick > {tick} + 4 && !frame.paused")
    window.part("speed").get_by_text("¼").click()
    window.until_text("hud-realtime", "slow motion 0.25x")
    assert window.look("frame.speed") == 0.25
    window.part("speed").get_by_text("1", exact=True).click()
    window.until("frame.speed === 1")
    window.until_text("hud-realtime", "real time")


def test_the_page_says_when_it_is_slower_than_real_time(own, visit):
    window = visit(own)
    window.tab("planner")
    window.slide("horizon", 0.9)
    until(lambda: window.number("horizon") > 1)
    window.slide("samples", 0.99)
    until(lambda: window.number("samples") > 200)
    window.until_text("hud-realtime", "slower than real time")
    assert window.look("frame.factor") < 0.97
    window.choose("preset", "quick")


def test_the_past_can_be_seen_and_gone_on_from(window):
    window.until("frame.newest - frame.oldest > 75")
    box = window.part("timeline").bounding_box()
    window.page.mouse.click(box["x"] + 0.85 * box["width"], box["y"] + 10)
    window.until("frame.past && frame.paused")
    window.until_text("hud-realtime", "past: -")
    tick, newest = window.look("[frame.tick, frame.newest]")
    assert 35 <= newest - tick <= 55  # 15 % of 10 s
    live, past = window.look(
        "[0, 1].map((past) => seen.findLast((one) => one.tick === frame.tick && one.past === !!past).bodies)"
    )
    assert live == past  # to the bit
    at = window.body("pelvis")
    window.forget()
    window.part("timeline-resume").click()
    window.until("!frame.past && !frame.paused && seen.length > 3")
    first = window.look("seen.find(({ past }) => !past).tick")
    assert tick < first < newest
    assert window.look("frame.newest") < newest + 60
    assert np.linalg.norm(window.history("pelvis")[0, 1:] - at) < 0.3
    window.page.mouse.click(box["x"] + 0.95 * box["width"], box["y"] + 10)
    window.until("frame.past")
    newest = window.look("frame.newest")
    window.part("timeline-live").click()
    window.until(f"!frame.past && frame.tick > {newest}")


def test_a_recording_is_downloaded_and_replays(window, tmp_path):
    assert not window.part("download").is_visible()
    window.part("record").click()
    window.part("hud-recording").wait_for(state="visible")
    click(window, "torso", "right")
    window.frames(20)
    window.part("record").click()
    window.part("hud-recording").wait_for(state="hidden")
    with window.page.expect_download() as download:
        window.part("download").click()
    assert download.value.suggested_filename == "stand.npz"
    download.value.save_as(tmp_path / "stand.npz")
    for ending, top in (("glb", b"glTF"), ("html", b"<!doctype html>"), ("bvh", b"HIERARCHY")):
        window.part("export").click()
        with window.page.expect_download() as download:
            window.part(f"export-{ending}").click()
        assert download.value.suggested_filename == f"stand.{ending}"
        assert Path(download.value.path()).read_bytes().startswith(top)
    recording = Recording.load(tmp_path / "stand.npz")
    (part,) = recording.parts
    assert recording.frames >= 20
    assert [type(timed.command).__name__ for timed in part.about.commands] == ["Push"]
    assert recording.header.settings["samples"] == 4
    assert recording.first_difference() is None


def test_a_recording_goes_on_where_a_ball_is_thrown(own, visit, tmp_path):
    window = visit(own)
    settled(window)
    window.part("record").click()
    advance(window, 3)
    assert window.look("frame.recording")
    window.part("tool-throw").click()
    click(window, "torso")
    advance(window, 6)
    assert window.look(index("thrown")) > 0 and window.look("frame.recording")
    assert "recording" not in window.text("toast")
    window.part("record").click()
    with window.page.expect_download() as download:
        window.part("download").click()
    download.value.save_as(tmp_path / "thrown.npz")
    recording = Recording.load(tmp_path / "thrown.npz")
    assert [part.about.frames for part in recording.parts] == [3, 6]
    assert recording.first_difference() is None


def test_ctrl_c_saves_the_recording_that_runs(own, visit):
    window = visit(own)
    window.part("record").click()
    window.until("frame.recording")
    window.frames(10)
    began = time.monotonic()
    assert own.end() == 0
    assert time.monotonic() - began < 8
    until(lambda: "recording" in own.lines[-1])
    (saved,) = own.folder.glob("studio-*.npz")
    assert own.lines[-1] == f"the last recording was not downloaded; it is in {saved.name}"
    assert not any("Traceback" in line for line in own.lines)
    assert Recording.load(saved).frames >= 10
    window.until_text("hud-realtime", "connection lost")
    window.complaints.clear()  # of the server that is gone


# Keys -----------------------------------------------------------------------------------------------


def test_shortcuts(own, visit):
    window = visit(own)
    keyboard = window.page.keyboard
    keyboard.press(" ")
    window.until("frame.paused")
    tick = window.look("frame.tick")
    keyboard.press(".")
    window.until(f"frame.tick === {tick} + 1 && frame.paused")
    keyboard.press(" ")
    window.until(f"frame.tick > {tick} + 3 && !frame.paused")
    for key, tool in zip("87654321", ("set", "carve", "go", "target", "blast", "throw", "push", "hand"), strict=True):
        keyboard.press(key)
        window.page.locator(f".chosen[data-testid=tool-{tool}]").wait_for()
        assert window.page.locator(".tools .chosen").count() == 1
    window.until("frame.time > 1")
    keyboard.press("r")
    window.until("frame.time < 1")
    keyboard.press("n")
    until(lambda: window.part("option-seed").input_value() == "1")


# Several people, lost sockets -----------------------------------------------------------------------


def drag(window: Window, name: str) -> None:
    """Take hold of a body and pull it up; the button stays down."""
    x, y = window.spot(name)
    window.page.mouse.move(x, y)
    window.page.mouse.down()
    window.page.mouse.move(x, y - 60, steps=4)


def test_one_controls_and_the_other_watches_and_asks(shared, visit):
    first = visit(shared)
    first.begin()
    second = visit(shared)
    second.until_text("hud-control", "watching; viewer")
    assert first.look("link.controls") and not second.look("link.controls")
    second.forget()
    drag(second, "torso")
    second.until("seen.length > 5")
    second.page.mouse.up()
    second.look("link.send({ type: 'push', body: 'torso', force: [500, 0, 0] })")
    second.until_text("toast", "ask for control first")
    second.page.keyboard.press(" ")
    second.page.get_by_text("you are watching").first.wait_for()
    assert not any(second.look("seen.map(({ drag, paused }) => drag || paused)"))

    second.part("hud-ask").click()
    first.until_text("hud-control", "asks for control")
    first.part("hud-keep").click()
    second.until_text("toast", "control was not given")
    second.part("hud-ask").click()
    first.part("hud-give").click()
    second.until("link.controls")
    first.until_text("hud-control", "watching; viewer")
    assert not first.look("link.controls")
    second.begin()
    drag(second, "torso")
    first.until("frame.drag")
    second.page.close()  # in mid-drag
    first.until("!frame.drag")
    first.part("hud-ask").click()  # nobody is there to ask
    first.until("link.controls")


def test_a_lost_socket_comes_back(window):
    drag(window, "torso")
    window.until("frame.drag")
    frames = window.look("link.frames")
    live = "window.sockets.filter(({ url }) => url.includes('/live'))"
    window.look(f"{live}.at(-1).close()")
    window.until(f"{live}.length === 2 && link.open && link.controls && link.frames > {frames} + 5 && !frame.drag")
    window.page.mouse.up()
    window.look(f"{live}.at(-1).send('nonsense')")  # for which the server hangs up
    window.until(f"{live}.length === 3 && link.open && link.controls")
    drag(window, "torso")
    window.until("frame.drag")
    window.page.mouse.up()
    window.until("!frame.drag")
