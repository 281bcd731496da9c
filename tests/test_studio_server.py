"""The studio's server, seen from outside: who gets in, what bad clients meet, how it begins and ends."""

import contextlib
import http.client
import json
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from studio_browser import PATIENCE, TINY, Studio, until

from tumble.studio.crowd import CLIENT
from tumble.studio.packet import DRAG, HEADER

pytest.importorskip("nicegui")
connect = pytest.importorskip("websockets.sync.client").connect
from websockets.exceptions import ConnectionClosed  # noqa: E402

pytestmark = pytest.mark.flaky(reruns=2)  # a browser beside a simulation on two busy cores may be late

SOCKET_IO = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
UPGRADE = {
    "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip


@pytest.fixture(scope="module")
def studio(tmp_path_factory) -> Iterator[Studio]:
    with Studio(tmp_path_factory.mktemp("studio")) as one:
        one.cookie = enter(one)
        yield one


def ask(studio: Studio, path: str, **headers: str | None) -> tuple[int, dict[str, str], str]:
    """Status, headers and text of an answer. A WebSocket's answer has no text."""
    given = {"Host": studio.host, "Cookie": getattr(studio, "cookie", None)} | headers
    if path.startswith("/live") or path == SOCKET_IO:
        given |= UPGRADE
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=PATIENCE)
    with contextlib.closing(connection):
        connection.request("GET", path, headers={name: value for name, value in given.items() if value is not None})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), "" if answer.status == 101 else answer.read().decode()


def enter(studio: Studio, **more: str | None) -> str:
    """The cookie that the printed address buys."""
    status, headers, _ = ask(studio, studio.address.partition(studio.host)[2], **more)
    assert (status, headers["location"]) == (303, "/")
    assert "httponly" in headers["set-cookie"].lower()
    return headers["set-cookie"].partition(";")[0]


def load(studio: Studio, cookie: str = "") -> str:
    """The id of a page that is loaded."""
    status, _, text = ask(studio, "/", Cookie=cookie or studio.cookie)
    assert status == 200
    return CLIENT.search(text)[1]


def live(studio: Studio, page: str = "", cookie: str = "") -> Any:
    """The socket for frames of a page, which is loaded where there is none; without a browser."""
    headers = {"Cookie": cookie or studio.cookie, "Origin": f"http://{studio.host}"}
    address = f"ws://{studio.host}/live?client={page or load(studio, cookie)}"
    return connect(address, additional_headers=headers, proxy=None)


def frame(client: Any, true: Any = lambda head: True) -> tuple[tuple, bytes]:
    """The next frame whose header is as wanted, and its header: see `HEADER`."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        message = client.recv(timeout=PATIENCE)
        if isinstance(message, bytes) and true(HEADER.unpack_from(message)):
            return HEADER.unpack_from(message), message
    raise AssertionError("no such frame")


def told(viewer: Any, kind: str, **wanted: Any) -> dict[str, Any]:
    """The next text of a kind, with these values."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        message = viewer.recv(timeout=PATIENCE)
        if (
            isinstance(message, str)
            and (said := json.loads(message))["type"] == kind
            and wanted.items() <= said.items()
        ):
            return said
    raise AssertionError(f"nothing said of {kind}")


def say(client: Any, kind: str, **content: Any) -> None:
    client.send(json.dumps({"type": kind, **content}))


# Who gets in ----------------------------------------------------------------------------------------


def pages(studio: Studio) -> list[str]:
    """The page, a file of ours and one of NiceGUI's, and both sockets."""
    _, _, text = ask(studio, "/")
    files = sorted(set(re.findall(r'"(/_nicegui/[^"]+\.js)"', text)), key=len)
    assert any("nicegui" in path for path in files)
    return ["/", files[0], files[-1], "/live?client=x", SOCKET_IO]


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({}, None),
        ({"Cookie": None}, 401),
        ({"Cookie": "tumble_studio_{port}=wrong"}, 401),
        ({"Host": "evil.example:{port}"}, 403),
        ({"Host": "127.0.0.1"}, 401),  # a forwarded port, to which this cookie does not belong
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_strangers_get_nothing(studio, wrong, status):
    headers = {name: value and value.format(port=studio.port) for name, value in wrong.items()}
    for path in pages(studio):
        got, _, text = ask(studio, path, **headers)
        assert got == (status or (101 if path.startswith(("/live", "/_nicegui_ws")) else 200)), path
        if status:
            assert "open the address that tumble studio printed" in text, path


def test_through_a_forwarded_port(studio):
    """As by ssh -L 9000:localhost:PORT."""
    there = {"Host": "localhost:9000", "Origin": "http://localhost:9000"}
    _, headers, _ = ask(studio, studio.address.partition(studio.host)[2], Host="localhost:9000", Cookie=None)
    cookie = headers["set-cookie"].partition(";")[0]
    assert cookie.startswith("tumble_studio_9000=")
    status, _, text = ask(studio, "/", **there, Cookie=cookie)
    assert status == 200
    assert ask(studio, f"/live?client={CLIENT.search(text)[1]}", **there, Cookie=cookie)[0] == 101
    assert ask(studio, "/", Host="localhost:9000", Origin=f"http://{studio.host}", Cookie=cookie)[0] == 403


def test_nobody_comes_as_another(studio):
    """Pages belong to browsers: neither a page of somebody else's nor one that was never built opens a socket."""
    other = enter(studio, Cookie=None)
    assert other != studio.cookie
    mine = load(studio)
    with live(studio, mine) as first:
        told(first, "hello", client=mine, controls=True)
        for page, cookie in ((mine, other), ("x", other), ("x", studio.cookie)):
            with live(studio, page, cookie) as thief:
                assert closed(thief) == (4001, "no page of this studio; load it again")
        with live(studio, cookie=other) as second:
            told(second, "hello", controls=False)
        (_, _, _, tick, *_), _ = frame(first)
        frame(first, lambda head: head[3] > tick + 5)
        say(first, "reset")
        say(first, "format_disk")
        assert closed(first)[0] == 1008  # it was in control, and heard


def test_the_token(studio):
    token = studio.address.partition("token=")[2]
    assert len(token) >= 32
    assert ask(studio, "/?token=wrong", Cookie=None)[0] == 401
    assert ask(studio, f"/?token={token}", Cookie=None, Host=f"evil.example:{studio.port}")[0] == 403
    assert ask(studio, f"/live?client=x&token={token}", Cookie=None)[0] == 401
    assert ask(studio, "/", Cookie=None)[0] == 401
    assert not any("wrong" in line for line in studio.lines)


def test_pages_are_strict(studio):
    _, headers, _ = ask(studio, "/")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers


# What bad clients meet ------------------------------------------------------------------------------


def test_a_target_that_names_another_host(studio):
    for target in ("http://other.example/", f"http://{studio.host}/", "*"):
        for more in ("", "".join(f"{name}: {value}\r\n" for name, value in UPGRADE.items())):
            head = f"GET {target} HTTP/1.1\r\nHost: {studio.host}\r\nCookie: {studio.cookie}\r\n{more}\r\n"
            with socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE) as line:
                line.sendall(head.encode())
                assert line.recv(100).startswith(b"HTTP/1.1 400")


BAD = {
    "no JSON": "nonsense",
    "no request": "[]",
    "an unknown request": '{"type": "format_disk"}',
    "a missing field": '{"type": "scrub"}',
    "an extra field": '{"type": "release", "and": 1}',
    "a wrong type": '{"type": "steer", "x": "1", "y": 0}',
    "no number": '{"type": "steer", "x": NaN, "y": 0}',
    "deep": "[" * 5000,
    "binary": b'{"type": "release"}',
}


@pytest.mark.parametrize("message", BAD.values(), ids=BAD)
def test_who_sends_nonsense_is_hung_up_on(studio, message):
    with live(studio) as good, live(studio) as bad:
        (_, _, _, tick, *_), _ = frame(good)
        bad.send(message)
        code, reason = closed(bad)
        assert (code, reason[:13]) == (1008, "not a request")
        frame(good, lambda head: head[3] > tick + 5)


def closed(client: Any) -> tuple[int, str]:
    """Code and reason of a close that comes."""
    end = time.monotonic() + PATIENCE
    try:
        while time.monotonic() < end:
            client.recv(timeout=PATIENCE)
    except ConnectionClosed as error:
        assert error.rcvd is not None, "the connection was dropped without a word"
        return error.rcvd.code, error.rcvd.reason
    raise AssertionError("it stays open")


def test_who_sends_too_much_is_hung_up_on(studio):
    with live(studio) as good, live(studio) as large, live(studio) as flood:
        (_, _, _, tick, *_), _ = frame(good)
        large.send("x" * ((64 << 10) + 1))
        assert closed(large)[0] == 1009
        with contextlib.suppress(ConnectionClosed):
            for _ in range(1000):
                say(flood, "release")
        assert closed(flood) == (1008, "at most 100 messages a second")
        frame(good, lambda head: head[3] > tick + 5)


def test_what_the_scene_cannot_do_is_refused_in_words(studio):
    with live(studio) as one:
        told(one, "hello", controls=True)
        for request, text in (
            ({"type": "drag", "body": "tail", "target": [0, 0, 1]}, "no body 'tail'"),
            ({"type": "explode", "at": [0, 0, 0], "speed": 1e9}, "speed of an explosion"),
            ({"type": "meet", "goal": "fly"}, "no goal 'fly'"),
            ({"type": "do", "script": "go to 1 0"}, "planners do no scripts; controllers that take it: walker, relay"),
            ({"type": "setparameter", "name": "samples", "value": 1e12}, "samples must be a number 2 or more"),
            ({"type": "hurl", "position": [0, 0, 1e7], "velocity": [0, 0, 0]}, "position must be three numbers"),
        ):
            one.send(json.dumps(request))
            assert text in told(one, "error")["text"]
        (_, _, _, tick, *_), _ = frame(one)
        frame(one, lambda head: head[3] > tick)


def test_one_who_is_lost_lets_go(studio):
    with live(studio) as first, live(studio) as second:
        told(first, "hello", controls=True)
        told(second, "hello", controls=False)
        say(second, "drag", body="pelvis", target=[0, 0, 1.2])
        assert told(second, "error")["text"] == "you are watching; ask for control first"
        say(first, "drag", body="pelvis", target=[0, 0, 1.2])
        frame(second, lambda head: head[1] & DRAG)
        first.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        first.socket.close()  # a reset, without a word
        frame(second, lambda head: not head[1] & DRAG)
        say(second, "ask")
        told(second, "controls", controls=True)


def test_frames_are_small(studio):
    with live(studio) as one:
        say(one, "setparameter", name="samples", value=64)
        say(one, "setparameter", name="horizon", value=1.2)
        say(one, "reach", target=[0.4, 0, 1.3], hand="left")
        say(one, "drag", body="pelvis", target=[0, 0, 1.0])
        head, message = frame(one, lambda head: head[1] & DRAG and head[17] == 32)
        assert 2000 < len(message) < 5000
        assert len(message) > HEADER.size + 4 * 7 * head[16]
        for name, value in (("samples", 4), ("horizon", 0.2)):
            say(one, "setparameter", name=name, value=value)
        say(one, "balance")
        say(one, "release")
        frame(one, lambda head: head[17] == 4 and not head[1] & DRAG)


# How it begins and ends -----------------------------------------------------------------------------


def test_ctrl_c_ends_it_with_clients_connected_and_pages_loaded(tmp_path):
    with Studio(tmp_path) as studio:
        studio.cookie = enter(studio)
        for _ in range(40):
            assert ask(studio, "/")[0] == 200
        with live(studio) as one:
            frame(one)
            began = time.monotonic()
            assert studio.end() == 0
            assert time.monotonic() - began < 3
            closed(one)
        assert studio.lines[1:] == ["Ctrl-C ends it."]
        assert list(tmp_path.glob("*.npz")) == []
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", studio.port), timeout=5)


def refused(*words: str) -> str:
    """What a studio that does not begin says."""
    command = [sys.executable, "-m", "tumble", "studio", *words, *TINY, "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def test_a_port_that_is_taken(studio):
    port = str(studio.port)
    assert refused("--port", port) == f"tumble: port {port} is taken; choose another with --port, or --port 0 for any\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--port", "70000"], "port"),
        (["--host", "256.1.1.1"], "cannot listen on '256.1.1.1'"),
        (["nowhere"], "no scenario 'nowhere'"),
    ],
)
def test_a_studio_that_cannot_begin(words, text):
    assert text in refused(*words)


def test_everywhere_is_warned_of(tmp_path):
    with Studio(tmp_path, "--host", "0.0.0.0") as studio:
        said = "\n".join(studio.lines)
        assert "It listens on all interfaces: whoever is on your network" in said
        assert "not encrypted" in said
        assert not studio.address.startswith("http://0.0.0.0")
        assert ask(studio, "/", Host=f"evil.example:{studio.port}")[0] == 403
        assert ask(studio, "/")[0] == 401


def test_at_home_nothing_is_warned_of(studio):
    assert studio.lines[0].startswith("tumble studio: http://127.0.0.1:")
    assert not any("all interfaces" in line for line in studio.lines)


def test_nobody_looks_nothing_moves(studio):
    with live(studio) as one:
        frame(one)
    until(lambda: standing(studio))


def standing(studio: Studio) -> bool:
    """Whether time stands while nobody looks: two looks, a while apart, see almost the same tick."""
    ticks = []
    for _ in range(2):
        with live(studio) as one:
            ticks.append(frame(one)[0][3])
        time.sleep(0.5)
    return ticks[1] - ticks[0] < 10
