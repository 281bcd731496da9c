"""Takes the README's picture of the studio: starts one, opens it in Chromium, pulls a hand, and takes a screenshot.

    python docs/studio_picture.py docs/studio.png

Needs the extras studio and test, and Debian's chromium. Two minutes without a graphics card.
"""

import re
import subprocess
import sys

from PIL import Image
from playwright.sync_api import Page, sync_playwright

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist"]
# The page draws coarsely where it finds no graphics card; for a picture it may take its time.
FINE = """
const ask = WebGL2RenderingContext.prototype.getParameter;
WebGL2RenderingContext.prototype.getParameter = function (name) {
  const info = this.getExtension("WEBGL_debug_renderer_info");
  return info && name === info.UNMASKED_RENDERER_WEBGL ? "a graphics card" : ask.call(this, name);
};
"""


def main(path: str) -> None:
    """Write the picture."""
    words = [sys.executable, "-m", "tumble", "studio", "--no-browser", "--port", "0", "--seed", "3"]
    words += ["--no-keep-time"]  # all its futures, however slow this machine is
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as studio, sync_playwright() as playwright:
        assert studio.stdout is not None
        address = re.search(r"http://\S+", studio.stdout.readline())
        assert address is not None
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 760}, device_scale_factor=2)
        page.set_default_timeout(120_000)
        page.add_init_script(FINE)
        page.goto(address[0])
        pull_and_look(page, path)
        browser.close()
        studio.terminate()
    picture = Image.open(path).convert("RGB")
    picture.resize((1280, 760), Image.Resampling.LANCZOS).save(path, optimize=True)


def pull_and_look(page: Page, path: str) -> None:
    """Pull the left hand for a while, stop time, and look."""
    page.wait_for_function("window.tumble?.link.frames > 60")
    page.get_by_role("tab", name="cost").click()
    x, y = page.evaluate("window.tumble.view.project('left_hand')")
    page.mouse.move(x, y + 12)
    page.mouse.down()
    tick = page.evaluate("window.tumble.link.frame.tick")
    page.mouse.move(x + 170, y - 150, steps=8)
    page.wait_for_function(f"window.tumble.link.frame.tick > {tick + 42}")
    page.keyboard.press(" ")
    page.wait_for_function("window.tumble.link.frame.paused")
    page.wait_for_timeout(3000)
    page.screenshot(path=path)


if __name__ == "__main__":
    main(sys.argv[1])
