"""The studio's page as the server builds it: how much of it there is, what is left of it, what goes wrong in it."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from tumble.planners import CPBPSettings
from tumble.studio.choice import Choice
from tumble.studio.gate import Gate, hosts_for
from tumble.studio.hub import Hub
from tumble.studio.stage import Stage

nicegui = pytest.importorskip("nicegui")
httpx = pytest.importorskip("httpx")

from tumble.studio.desk import Desk  # noqa: E402
from tumble.studio.server import bind, server_for  # noqa: E402

LARGEST = 100  # elements of a page that nobody has touched; each is a dozen objects, and 0.2 ms of the event loop


@contextlib.asynccontextmanager
async def opened(settings: Any) -> AsyncIterator[tuple[Hub, Any]]:
    """A hub that is served, whose stage is not started, and somebody with the cookie."""
    hub = Hub(asyncio.get_running_loop())
    hub.stage = Stage(Choice("stand"), hub, 1, settings)
    with bind("127.0.0.1", 0) as listening:
        gate = Gate(hosts_for("127.0.0.1"), port=listening.getsockname()[1])
        server = server_for(hub, gate)
        task = asyncio.create_task(server.serve([listening]))
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{gate.port}", timeout=30) as client:
            assert (await client.get("/", params={"token": gate.token})).status_code == 303
            yield hub, client
        server.should_exit = True
        await task


@pytest.fixture(scope="module")
def play(tmp_path_factory) -> Iterator[Callable[..., None]]:
    """Run a scene with a hub and who asks its server; NiceGUI can be served once in a process."""
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        serving = opened(CPBPSettings(samples=8, horizon=0.2))
        hub, client = runner.run(serving.__aenter__())

        def run(scene: Callable[[Hub, Any], Awaitable[None]]) -> None:
            runner.run(asyncio.wait_for(scene(hub, client), 60))
            for page in pages():
                page.delete()

        yield run
        runner.run(serving.__aexit__(None, None, None))


def pages() -> list[Any]:
    """What NiceGUI keeps of pages that were loaded."""
    return list(nicegui.Client.instances.values())


def part(page: Any, kind: type) -> Any:
    """The first element of a kind."""
    return next(element for element in page.elements.values() if isinstance(element, kind))


def tabs(page: Any) -> list[str]:
    """Open all tabs; their names."""
    names = [tab._props["name"] for tab in page.elements.values() if isinstance(tab, nicegui.ui.tab)]
    with page:
        for name in names:
            part(page, nicegui.ui.tabs).set_value(name)
    return names


def desks() -> int:
    """How many pages are kept by anybody."""
    gc.collect()
    return sum(isinstance(one, Desk) for one in gc.get_objects())


def test_a_page_is_small_until_its_tabs_are_opened(play):
    async def scene(hub, client):
        await client.get("/")
        (page,) = pages()
        assert len(page.elements) < LARGEST
        assert tabs(page) == ["direct", "planner", "cost", "walk", "tree", "script", "body", "touch"]
        many = len(page.elements)
        assert many > 2 * LARGEST
        tabs(page)
        assert len(page.elements) == many  # each is filled once

    play(scene)


def test_nothing_is_left_of_a_page_that_is_gone(play):
    async def scene(hub, client):
        before = desks()
        for _ in range(3):
            assert (await client.get("/")).status_code == 200
        for page in pages():
            tabs(page)
        assert desks() == before + 3
        for page in pages():
            page.delete()
        await asyncio.sleep(0.2)  # loops of NiceGUI's end
        del page
        assert desks() == before
        assert not hub._listeners

    play(scene)
