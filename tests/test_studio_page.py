"""The studio's page as the server builds it: how much of it there is, what is left of it, what goes wrong in it."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from tumble.characters import humanoid
from tumble.planners import CPBPSettings
from tumble.studio import limits
from tumble.studio.choice import Choice
from tumble.studio.gate import Gate, hosts_for
from tumble.studio.hub import Hub
from tumble.studio.presets import default_path
from tumble.studio.stage import Stage
from tumble.world.props import Companion

nicegui = pytest.importorskip("nicegui")
httpx = pytest.importorskip("httpx")

from tumble.studio.desk import Desk  # noqa: E402
from tumble.studio.elements import View  # noqa: E402
from tumble.studio.server import bind, server_for  # noqa: E402

LARGEST = 110  # elements of a page that nobody has touched; each is a dozen objects, and 0.2 ms of the event loop


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
        assert tabs(page) == [
            "direct",
            "planner",
            "cost",
            "walk",
            "tree",
            "script",
            "body",
            "touch",
            "picture",
            "set",
            "takes",
        ]
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
        assert not hub._pages

    play(scene)


# What people do in it, as their browsers say it ------------------------------------------------------


async def happen(page: Any, element: Any, kind: str, value: Any = None) -> None:
    """What a browser sends when something happens to an element, whose value it may change."""
    if value is not None:
        element.set_value(value)
    for key, listener in list(element._event_listeners.items()):
        if listener.type == kind:
            page.handle_event({"id": element.id, "listener_id": key, "args": []})
    await asyncio.sleep(0.05)  # handlers may be tasks


def marked(page: Any, mark: str) -> Any:
    """The element that tests find by this mark."""
    return next(one for one in page.elements.values() if one._props.get("data-testid") == mark)


def button(page: Any, **props: str) -> Any:
    """The newest button with such an icon or label."""
    buttons = [one for one in page.elements.values() if isinstance(one, nicegui.ui.button)]
    return [one for one in buttons if props.items() <= dict(one._props).items()][-1]


def said(page: Any) -> str:
    """The last notice that a page was to show."""
    return [data["message"] for _, kind, data in page.outbox.messages if kind == "notify"][-1]


async def loaded(client: Any) -> Any:
    """A page, with all its tabs open."""
    assert (await client.get("/")).status_code == 200
    page = pages()[-1]
    tabs(page)
    return page


def test_a_watcher_saves_no_presets(play):
    async def scene(hub, client):
        file = default_path()
        first, second = await loaded(client), await loaded(client)
        hub.holder = first.id
        for page in (second, first):
            await happen(page, button(page, icon="save"), "click")
            marked(page, "preset-name").set_value("mine")
            await happen(page, button(page, label="save"), "click")
            assert file.exists() == (page is first)
        assert said(second) == "you are watching; ask for control first"
        assert said(first) == "saved 'mine'"
        file.unlink()

    play(scene)


@pytest.mark.parametrize("text", ["{", '{"cpbp": 3}', '{"cpbp": {"mine": {"samples": "many"}}}'])
def test_a_spoilt_file_of_presets_is_told_and_ours_are_there(play, text):
    async def scene(hub, client):
        file = default_path()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        page = await loaded(client)
        assert "presets.json is no file of presets" in said(page)
        assert "thorough" in marked(page, "preset").options
        await happen(page, marked(page, "preset"), "update:model-value", "thorough")
        assert file.read_text() == text
        file.unlink()

    play(scene)


@pytest.mark.parametrize(("value", "text"), [(1.5, "got 1.5"), (-0.5, "got -0.5")])
def test_a_seed_that_is_no_whole_number_is_told(play, value, text):
    async def scene(hub, client):
        page = await loaded(client)
        hub.holder = page.id
        seed = marked(page, "option-seed")
        await happen(page, seed, "change", value)
        assert said(page) == f"seed is a whole number, {text}; it stays 0"
        assert (seed.value, hub.stage.choice.seed) == (0, 0)

    play(scene)


# Limits ---------------------------------------------------------------------------------------------


async def half(client: Any, text: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection on which half a request was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
    writer.write(text.encode())
    return reader, writer


async def ended(reader: asyncio.StreamReader) -> bytes:
    """What comes until a connection ends."""
    with contextlib.suppress(ConnectionError):
        return await asyncio.wait_for(reader.read(), 5)
    return b""


def test_half_a_request_is_hung_up_on(play, monkeypatch):
    monkeypatch.setattr(limits, "ARRIVAL", 0.2)
    head = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    whole = f"{head}\r\n"

    async def scene(hub, client):
        texts = ("", "GE", head, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc", whole + head)
        halves = [await half(client, text) for text in texts]
        answers = [await ended(reader) for reader, _ in halves]
        assert [answer[:12] for answer in answers] == [b"", b"", b"", b"HTTP/1.1 403", b"HTTP/1.1 401"]
        assert (await client.get("/")).status_code == 200

    play(scene)


def test_so_many_connections(play, monkeypatch):
    monkeypatch.setattr(limits, "CONNECTIONS", 5)

    async def scene(hub, client):
        lines = [await half(client, "") for _ in range(20)]
        await asyncio.sleep(0.2)
        opened = [not reader.at_eof() and reader.exception() is None for reader, _ in lines]
        assert 3 <= sum(opened) <= 5  # the client has one or two
        for _, writer in lines:
            writer.close()
        await asyncio.sleep(0.1)
        assert (await client.get("/")).status_code == 200

    play(scene)


# A browser that is slow, or watches ----------------------------------------------------------------------


def test_who_is_gone_before_its_job_is_done_is_told_nothing(play, caplog):
    async def scene(hub, client):
        await client.get("/")
        (page,) = pages()
        hub.holder = page.id
        desk = next(one for one in gc.get_objects() if isinstance(one, Desk) and one.client is page)
        with page:
            asked = asyncio.create_task(desk.do(lambda: hub.stage.choose(Choice("nowhere"))))
            await asyncio.sleep(0)
        page.delete()
        hub.stage._work()
        assert await asked is False
        hub.holder = ""

    play(scene)
    assert not caplog.records


def test_a_watchers_panels_offer_to_ask(play):
    async def scene(hub, client):
        await client.get("/")
        (page,) = pages()
        row = next(one for one in page.elements.values() if one.props.get("data-testid") == "watching")
        assert row.visible
        hub.holder = page.id
        hub.refresh()
        assert not row.visible
        hub.holder = ""

    play(scene)


def test_help_tells_of_every_tool_and_key():
    from tumble.studio.help_card import KEYS
    from tumble.studio.panels import TOOLS

    assert f"1 to {len(TOOLS)}" in KEYS and {"?", "f", ".", "space"} <= set(KEYS)


def test_people_of_the_scene_can_be_followed(play):
    """Names are those of the cast; who is gone is followed no more."""

    async def scene(hub, client):
        await client.get("/")
        (page,) = pages()
        tabs(page)
        whom = next(one for one in page.elements.values() if one.props.get("data-testid") == "whom")
        assert whom.options == ["the one that is directed"]
        trial, stage = hub.stage.trial, hub.stage
        stage.trial.place(Companion("ana", humanoid().recipe, place=(1.0, 0.5)))
        hub.refresh()
        assert whom.options == ["the one that is directed", "ana"]
        whom.set_value("ana")
        assert part(page, View)._props["whom"] == "ana"
        trial.remove("ana")
        hub.refresh()
        assert whom.value == "the one that is directed" and part(page, View)._props["whom"] == ""

    play(scene)
