"""A studio in a process of its own, and a browser in front of it, for tests.

    with Studio(tmp_path) as studio, browser() as chromium:
        window = Window(chromium.new_context().new_page(), studio)
        window.until("frame.tick > 30")

Where no browser can be started the tests skip and say what to install; where CI is 'true' that is a failure.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

TINY = ("--samples", "4", "--horizon", "0.2", "--threads", "1")  # a planner of a few milliseconds
PATIENCE = 30.0  # s that anything may take on a machine that is busy
FLAGS = ("--no-sandbox", "--ignore-gpu-blocklist", "--disable-background-networking", "--no-first-run")
DRAWERS = (("--use-gl=angle", "--use-angle=gl-egl"), ("--use-angle=swiftshader", "--enable-unsafe-swiftshader"))
WATCH = """
(() => {
  window.sockets = [];
  window.WebSocket = class extends WebSocket {
    constructor(...given) { super(...given); window.sockets.push(this); }
  };
  window.seen = [];  // every frame since forget()
  window.watch = () => tumble.link.on("frame", ({ tick, time, bodies, drag, wanted, target, past, paused, paths }) =>
    window.seen.push({ tick, time, bodies: [...bodies], drag: !!drag, wanted: wanted && [...wanted],
                       target: target && [...target], past, paused, paths }));
})();
"""


class Studio:
    """`tumble studio` in a process.

    Args:
      folder: where it runs, and has its home.
      words: of the command line, beside those that make it small and quiet.
      program: that is run.

    Attributes:
      process: what runs.
      lines: what it printed so far, errors included.
      address, port: where it is; it is ready when the studio is made.
    """

    def __init__(
        self, folder: Path, *words: str, scenario: str = "stand", planner: tuple[str, ...] = TINY,
        program: tuple[str, ...] = ("-m", "tumble", "studio"),
    ) -> None:  # fmt: skip
        self.folder, self.lines = folder, list[str]()
        home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "config")}
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"} | home
        command = [sys.executable, *program, scenario, "--no-browser", "--port", "0", *planner, *words]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder, env=environment
        )
        threading.Thread(target=self._read, daemon=True).start()
        until(lambda: any("Ctrl-C" in line for line in self.lines) or self.process.poll() is not None)
        assert self.process.poll() is None, self.lines
        self.address = self.lines[0].removeprefix("tumble studio: ")
        self.host = self.address.removeprefix("http://").partition("/")[0]
        self.port = int(self.host.rpartition(":")[2])

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(line.rstrip() for line in self.process.stdout)

    def end(self, within: float = PATIENCE) -> int:
        """Press Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(within)

    def __enter__(self) -> "Studio":
        return self

    def __exit__(self, *_: Any) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.end(10)
            self.process.kill()
        self.process.wait()


def until(true: Any, within: float = PATIENCE) -> None:
    """Wait for something that comes."""
    end = time.monotonic() + within
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def absent(why: str) -> NoReturn:
    """Skip, where skipping is allowed."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Chromium, with what draws without a graphics card."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("the studio's browser tests need playwright: pip install 'tumble[test]'")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("TUMBLE_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None or not Path(path).is_file():
        absent("the studio's browser tests need Chromium: apt-get install chromium, or name one in TUMBLE_CHROMIUM")
    with sync_playwright() as playwright:
        for drawer in DRAWERS:
            chromium = playwright.chromium.launch(executable_path=path, args=[*FLAGS, *drawer])
            page = chromium.new_page()
            draws = page.evaluate("!!document.createElement('canvas').getContext('webgl2')")
            page.close()
            if draws:
                break
            chromium.close()
        else:
            absent(f"{path} draws nothing: no WebGL; apt-get install libegl1 libgl1 libgl1-mesa-dri")
        yield chromium
        chromium.close()


class Window:
    """A page of the studio, as a person has it before them.

    Attributes:
      page: of playwright.
      complaints: errors of its console so far.
    """

    def __init__(self, page: Any, studio: Studio, bone: str = "torso") -> None:
        """Open it, and wait until a bone of the character is drawn."""
        self.page, self.complaints = page, list[str]()
        page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.set_default_timeout(1000 * PATIENCE)
        page.add_init_script(WATCH)
        page.goto(studio.address)
        page.wait_for_function(f"window.tumble?.link.frames > 0 && tumble.view?.project('{bone}')", polling=50)
        page.evaluate("void watch()")  # a function that comes back would be called

    def part(self, name: str) -> Any:
        """What has that data-testid."""
        return self.page.get_by_test_id(name)

    def text(self, name: str) -> str:
        """What stands there."""
        return str(self.part(name).inner_text())

    def look(self, expression: str) -> Any:
        """The value of an expression in which `frame`, `link`, `view` and `seen` mean what they say."""
        return self.page.evaluate(_look(expression))

    def until(self, expression: str, within: float = PATIENCE) -> None:
        """Wait until such an expression is true."""
        self.page.wait_for_function(_look(expression), timeout=1000 * within, polling=40)

    def until_text(self, name: str, text: str) -> None:
        """Wait until something's text contains this."""
        self.page.wait_for_function(
            "([name, text]) => document.querySelector(`[data-testid='${name}']`)?.textContent.includes(text)",
            arg=[name, text], timeout=1000 * PATIENCE, polling=40,
        )  # fmt: skip

    def forget(self) -> None:
        """Begin `seen` anew."""
        self.look("seen.length = 0")

    def frames(self, many: int) -> None:
        """Let that many frames come, from now on."""
        self.forget()
        self.until(f"seen.length >= {many}")

    def body(self, name: str) -> np.ndarray:
        """Where a body is, m."""
        return np.array(self.look(f"[...frame.bodies.slice(7 * {_index(name)}, 7 * {_index(name)} + 3)]"))

    def history(self, name: str) -> np.ndarray:
        """Where a body was in all frames of the present scene in `seen`: (frames, 4), the tick and the place."""
        at = f"7 * {_index(name)}"
        whole = "one.bodies.length === frame.bodies.length"
        return np.array(
            self.look(f"seen.filter((one) => {whole}).map((one) => [one.tick, ...one.bodies.slice({at}, {at} + 3)])")
        )

    def spot(self, name: str) -> tuple[float, float]:
        """Where a body is drawn, px."""
        x, y = self.look(f"view.project('{name}')")
        return x, y

    def ahead(self) -> np.ndarray:
        """The horizontal direction in which the camera looks."""
        x, _, y, *_ = self.look("[-view.camera.matrixWorld.elements[8], 0, -view.camera.matrixWorld.elements[9]]")
        return np.array([x, y]) / np.hypot(x, y)

    def begin(self) -> None:
        """Begin the scenario again, in control."""
        if not self.look("link.controls"):  # whoever controlled before has just been lost
            self.part("hud-ask").click()
            self.until("link.controls")
        self.page.keyboard.press("r")
        self.forget()
        self.until("frame.time < 1 && !frame.paused && seen.length > 2")

    def pause(self) -> None:
        """Stop time."""
        if not self.look("frame.paused"):
            self.page.keyboard.press(" ")
        self.until("frame.paused")

    def tab(self, name: str) -> None:
        """Open a panel."""
        self.page.get_by_role("tab", name=name).click()

    def choose(self, name: str, option: str) -> None:
        """Choose from a menu of a panel."""
        self.part(name).click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def slide(self, name: str, share: float) -> None:
        """Click on a slider, at a share of its way."""
        slider = self.part(name)
        box = slider.bounding_box()
        slider.click(position={"x": share * box["width"], "y": box["height"] / 2})  # waits until it stands still

    def number(self, name: str) -> float:
        """The number beside a slider."""
        row = self.page.locator(".line").filter(has=self.part(name))
        return float(row.locator(".number").inner_text())


def _index(name: str) -> str:
    return f"link.scene.bodies.findIndex((body) => body.name === '{name}')"


def _look(expression: str) -> str:
    return (
        f"(() => {{ const {{ link, view }} = tumble, frame = link.frame, seen = window.seen; return {expression}; }})()"
    )
