"""Who may talk to the studio: tables of requests and what they get, and limits to the byte and the message."""

import asyncio
import contextlib
import hmac
import http.client
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tumble.errors import UserError
from tumble.studio.gate import Gate, Hosts, hosts_for, new_token
from tumble.studio.guard import Guard

TOKEN, SECRET = "t" * 32, "s" * 32
PORT = 8080
VALUE = Gate(hosts_for(""), PORT, TOKEN, SECRET).value_for("a-browser")
COOKIE = f"tumble_studio_{PORT}={VALUE}"
HOST = f"127.0.0.1:{PORT}"


def gate(bind: str = "127.0.0.1", port: int = PORT, **limits) -> Gate:
    return Gate(hosts_for(bind), port, TOKEN, SECRET, **limits)


class Recorder:
    """An app that notes what it is asked; reads a body whole and answers 200, accepts a socket and listens."""

    def __init__(self) -> None:
        self.scopes: list[dict] = []
        self.messages: list[dict] = []

    async def __call__(self, scope, receive, send):
        self.scopes.append(scope)
        if scope["type"] == "websocket":
            await self.listen(receive, send)
        elif scope["type"] == "http":
            await self.read(receive)
            await send({"type": "http.response.start", "status": 200, "headers": [(b"X-Frame-Options", b"SAMEORIGIN")]})
            await send({"type": "http.response.body", "body": b"hello"})

    async def read(self, receive):
        while True:
            self.messages.append(await receive())
            if not self.messages[-1].get("more_body"):
                return

    async def listen(self, receive, send):
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept"})
        while True:
            self.messages.append(await receive())
            if self.messages[-1]["type"] == "websocket.disconnect":
                return


@pytest.fixture
def app() -> Recorder:
    return Recorder()


def request(kind: str = "http", path: str = "/", query: str = "", method: str = "GET", **headers) -> dict:
    """A scope. Headers are str, bytes, None for none, or a list for several of the name."""
    headers = {"host": HOST, "cookie": COOKIE, **headers}
    listed = []
    for name, values in headers.items():
        for value in values if isinstance(values, list) else [values]:
            if value is not None:
                value = value if isinstance(value, bytes) else value.encode("latin-1")
                listed.append((name.replace("_", "-").encode(), value))
    scope = {"type": kind, "path": path, "query_string": query.encode("latin-1"), "headers": listed}
    if kind == "http":
        return scope | {"method": method}
    return scope | {"subprotocols": [], "extensions": {"websocket.http.response": {}}}


def ask(guard: Guard, scope: dict, messages: list[dict] | None = None) -> list[dict]:
    """What a client hears that sends some messages; reading on after the last one is an error."""
    heard: list[dict] = []
    if messages is None:
        messages = [{"type": "http.request"}] if scope["type"] == "http" else []
    if scope["type"] == "websocket":
        messages = [{"type": "websocket.connect"}, *messages]
    left = iter(messages)

    async def receive():
        return next(left)

    async def send(message):
        heard.append(message)

    asyncio.run(asyncio.wait_for(guard(scope, receive, send), 5))
    return heard


GONE = {"type": "websocket.disconnect", "code": 1000}


def status(guard: Guard, scope: dict) -> int:
    """Status of the answer; 101 for a WebSocket that was accepted."""
    first = ask(guard, scope, [GONE] if scope["type"] == "websocket" else None)[0]
    return 101 if first["type"] == "websocket.accept" else first["status"]


def headers(heard: list[dict]) -> dict[str, str]:
    return {name.decode().lower(): value.decode() for name, value in heard[0]["headers"]}


both = pytest.mark.parametrize(("kind", "fine"), [("http", 200), ("websocket", 101)])


# Hosts ----------------------------------------------------------------------------------------------

RIGHT_HOSTS = ["127.0.0.1:8080", "localhost:8080", "LocalHost:8080", "[::1]:8080"]
FORWARDED = ["127.0.0.1", "127.0.0.1:80", "[::1]", "localhost:1", "localhost:65535"]  # ssh -L, Docker, editors
WRONG_HOSTS = [
    None,
    "",
    "127.0.0.1:",
    "127.0.0.1:0",
    "127.0.0.1:808000",
    "127.0.0.1:08080",
    "127.0.0.1:+8080",
    ":8080",
    "evil.com:8080",
    "127.0.0.1.evil.com:8080",
    "localhost.:8080",
    "127.0.0.1.:8080",
    "127.0.0.1:8080.",
    "user@127.0.0.1:8080",
    "127.0.0.1:8080@evil.com",
    "127.0.0.1:8080, evil.com",
    "127.0.0.1:8080/",
    "http://127.0.0.1:8080",
    "127.0.0.1:8080\n",
    " 127.0.0.1:8080",
    "127.0.0.1:8080\0",
    "10.0.0.7:8080",
    "0.0.0.0:8080",
    "127.1:8080",
    "2130706433:8080",
    "::1:8080",
    "[::1:8080",
    "[::1]8080",
    "[::1%25lo]:8080",
    "[127.0.0.1]:8080",
    "127.0.0.1:\xb280\xb20",
    b"\xff\xfe:8080",
    b"loc\xe1lhost:8080",
    ["127.0.0.1:8080", "127.0.0.1:8080"],
    ["127.0.0.1:8080", "evil.com:8080"],
]


@both
@pytest.mark.parametrize("host", RIGHT_HOSTS)
def test_our_hosts(app, kind, fine, host):
    assert status(Guard(app, gate()), request(kind, host=host)) == fine


@both
@pytest.mark.parametrize("host", FORWARDED)
def test_ports_may_be_forwarded(app, kind, fine, host):
    cookie = f"tumble_studio_{host.rpartition(':')[2] if host[-1].isdigit() and ':' in host else 80}={VALUE}"
    scope = {"host": host, "cookie": cookie}
    assert status(Guard(app, gate()), request(kind, **scope)) == fine
    assert status(Guard(app, gate()), request(kind, **scope, origin=f"http://{host}")) == fine
    assert status(Guard(app, gate()), request(kind, **scope, origin=f"http://{HOST}")) == 403
    assert status(Guard(app, gate()), request(kind, host=host)) == 401, "the cookie of another port"


@both
@pytest.mark.parametrize("host", WRONG_HOSTS, ids=repr)
def test_other_hosts(app, kind, fine, host):
    assert status(Guard(app, gate()), request(kind, host=host)) == 403
    assert not app.scopes


def test_a_second_host_in_other_letters_counts(app):
    scope = request()
    scope["headers"].append((b"Host", b"evil.com"))
    assert status(Guard(app, gate()), scope) == 403


@both
@pytest.mark.parametrize("path", [f"http://{HOST}/", "http://evil.com/", "*", ""])
def test_a_target_that_is_no_path_may_name_another_host(app, kind, fine, path):
    assert status(Guard(app, gate()), request(kind, path=path)) == 403


@pytest.mark.parametrize(("host", "want"), [("mybox", 200), ("mybox:80", 200), ("mybox:8080", 403)])
def test_port_80_goes_without_saying(app, host, want):
    cookie = f"tumble_studio_80={VALUE}"
    assert status(Guard(app, gate("mybox", port=80)), request(host=host, cookie=cookie)) == want


LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]
STRANGERS = ["evil.com", "mybox.evil.com", "evil", "xmybox", "10.0.0", "10.0.0.1.", "[10.0.0.1]", "::2", "[::2%25a]"]


@pytest.mark.parametrize(
    ("bind", "right", "wrong"),
    [
        ("127.0.0.1", LOOPBACK, [*STRANGERS, "mybox", "10.0.0.1", "[::2]", "127.0.0.2", ""]),
        ("localhost", LOOPBACK, [*STRANGERS, "mybox", "10.0.0.1"]),
        ("::1", LOOPBACK, [*STRANGERS, "mybox", "10.0.0.1"]),
        ("0.0.0.0", [*LOOPBACK, "mybox", "10.0.0.1", "[::2]", "[fe80::1]"], STRANGERS),
        ("::", [*LOOPBACK, "mybox", "10.0.0.1", "[::2]"], STRANGERS),
        ("", [*LOOPBACK, "mybox", "10.0.0.1", "[::2]"], STRANGERS),
        ("10.0.0.1", [*LOOPBACK, "10.0.0.1"], [*STRANGERS, "10.0.0.2", "mybox"]),
        ("2001:DB8:0::7", [*LOOPBACK, "[2001:db8::7]"], [*STRANGERS, "[2001:db8::8]", "10.0.0.1"]),
        ("fe80::1%eth0", [*LOOPBACK, "[fe80::1]"], [*STRANGERS, "[fe80::2]"]),
        ("Studio.Home", [*LOOPBACK, "studio.home"], [*STRANGERS, "10.0.0.1", "mybox"]),
    ],
)
def test_hosts_of_what_we_listen_on(monkeypatch, bind, right, wrong):
    monkeypatch.setattr(socket, "gethostname", lambda: "MyBox")
    hosts = hosts_for(bind)
    assert [host for host in right if not hosts.allow(host)] == []
    assert [host for host in wrong if hosts.allow(host)] == []


def test_on_all_interfaces_a_rebound_name_is_refused(app, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "MyBox")
    guard = Guard(app, gate("0.0.0.0"))
    table = {"10.0.0.7:8080": 200, "MYBOX:8080": 200, "[2001:db8::1]:8080": 200, "evil.com:8080": 403, "mybox:1": 403}
    assert {host: status(guard, request(host=host)) for host in table} == table
    assert status(guard, request(host="10.0.0.7:81", cookie=f"tumble_studio_81={VALUE}")) == 200, "forwarded"


def test_a_host_name_that_is_no_name_is_left_out(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "")
    assert hosts_for("0.0.0.0") == Hosts(frozenset(LOOPBACK), addresses=True)


@pytest.mark.parametrize("bind", ["127.0.0.1:8080", "http://localhost", "[::1]", "a b"])
def test_no_place_to_listen(bind):
    with pytest.raises(UserError, match="give an address or a name without port") as caught:
        hosts_for(bind)
    assert bind in str(caught.value)


# Origins --------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    ("host", "origin", "right"),
    [
        (HOST, f"http://{HOST}", True),
        ("LOCALHOST:8080", "http://localhost:8080", True),
        ("[::1]:8080", "http://[::1]:8080", True),
        (HOST, None, True),
        (HOST, "", False),
        (HOST, "null", False),
        (HOST, f"https://{HOST}", False),
        (HOST, f"ws://{HOST}", False),
        (HOST, f"http://{HOST}/", False),
        (HOST, "http://127.0.0.1", False),
        (HOST, "http://127.0.0.1:8081", False),
        (HOST, "http://localhost:8080", False),
        (HOST, f"http://{HOST}.evil.com", False),
        (HOST, f"http://x@{HOST}", False),
        (HOST, f"http://{HOST} http://evil.com", False),
        (HOST, "http://evil.com", False),
        (HOST, b"http://\xff", False),
        (HOST, [f"http://{HOST}", "http://evil.com"], False),
        (HOST, [f"http://{HOST}", f"http://{HOST}"], False),
    ],
)
def test_origins(app, kind, fine, host, origin, right):
    assert status(Guard(app, gate()), request(kind, host=host, origin=origin)) == (fine if right else 403)
    assert len(app.scopes) == right


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "DELETE"])
def test_a_stranger_may_use_no_method(app, method):
    scope = request(method=method, origin="http://evil.com")
    assert status(Guard(app, gate()), scope) == 403


# A proxy --------------------------------------------------------------------------------------------

BEHIND = "https://studio.example.org"


@both
@pytest.mark.parametrize(
    ("host", "origin", "want"),
    [
        ("studio.example.org", BEHIND, None),
        ("Studio.Example.org", None, None),
        (HOST, BEHIND, None),  # many a proxy says the name of what is behind it
        (HOST, f"http://{HOST}", None),  # and who sits at the machine needs no proxy
        ("studio.example.org", "http://studio.example.org", 403),
        ("studio.example.org", "https://evil.com", 403),
        ("studio.example.org:444", f"{BEHIND}:444", 403),
        ("evil.com", BEHIND, 403),
        (HOST, f"{BEHIND}.evil.com", 403),
        (HOST, "", 403),
    ],
)
def test_behind_a_proxy(app, kind, fine, host, origin, want):
    cookie = f"tumble_studio_80={VALUE}; {COOKIE}"
    guard = Guard(app, gate(behind=BEHIND))
    assert status(guard, request(kind, host=host, origin=origin, cookie=cookie)) == (want or fine)


def test_the_cookie_of_a_proxy_goes_through_tls_alone(app):
    guard = Guard(app, gate(behind=BEHIND))
    asked = {"query": f"token={TOKEN}", "cookie": None}
    assert headers(ask(guard, request(**asked, host="studio.example.org")))["set-cookie"].endswith("; Secure")
    assert "Secure" not in headers(ask(guard, request(**asked)))["set-cookie"]


# The token ------------------------------------------------------------------------------------------


def test_the_token_buys_the_cookie(app):
    heard = ask(Guard(app, gate()), request(query=f"token={TOKEN}", cookie=None))
    assert heard[0]["status"] == 303
    got = headers(heard)
    assert got["location"] == "/"
    assert got["set-cookie"].endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert got["cache-control"] == "no-store"
    assert got["referrer-policy"] == "no-referrer"
    assert not app.scopes
    assert status(Guard(app, gate()), request(cookie=got["set-cookie"].partition(";")[0])) == 200


def sold(guard: Guard, **given) -> str:
    """The cookie that the token buys."""
    return headers(ask(guard, request(query=f"token={TOKEN}", **given)))["set-cookie"].partition(";")[0]


def test_every_browser_has_a_cookie_of_its_own_and_keeps_it(app):
    guard = Guard(app, gate())
    one, other = sold(guard, cookie=None), sold(guard, cookie=None)
    assert one != other
    assert sold(guard, cookie=one) == one
    assert sold(guard, cookie=f"tumble_studio_{PORT}=forged.{'0' * 64}").partition("=")[2][:6] != "forged"
    for kind in ("http", "websocket"):
        for cookie in (one, other):
            assert status(guard, request(kind, cookie=cookie)) in (200, 101)
    visitors = [scope["state"]["visitor"] for scope in app.scopes]
    assert visitors[:2] == visitors[2:] and len(set(visitors)) == 2
    assert all(f"={visitor}." in cookie for visitor, cookie in zip(visitors, (one, other), strict=False))


@pytest.mark.parametrize("cookie", [None, COOKIE])
@pytest.mark.parametrize(
    "query",
    [
        "token=",
        "token",
        "token=wrong",
        f"token={TOKEN}x",
        f"token={TOKEN[:-1]}",
        f"token={SECRET}",
        f"token={TOKEN}&token={TOKEN}",
        f"token=wrong&token={TOKEN}",
        f"token={TOKEN}%00",
        f"token={TOKEN};x",
        "token=%ff%fe",
        "token=%",
        "token=\xe9\xff",
        "token=" + "%F0%9F%92%A9" * 1000,
    ],
)
def test_wrong_tokens(app, query, cookie):
    heard = ask(Guard(app, gate()), request(query=query, cookie=cookie))
    assert heard[0]["status"] == 401
    assert "set-cookie" not in headers(heard)
    assert not app.scopes


@pytest.mark.parametrize(
    "change",
    [
        {"method": "HEAD"},
        {"method": "POST"},
        {"path": "//"},
        {"path": "/x"},
        {"path": "/_nicegui/x.js"},
        {"query": f"Token={TOKEN}"},
        {"query": f"x={TOKEN}"},
        {"kind": "websocket"},
        {"kind": "websocket", "sec_websocket_protocol": TOKEN},
        {"query": "", "authorization": f"Bearer {TOKEN}"},
    ],
    ids=repr,
)
def test_the_token_buys_nothing_elsewhere(app, change):
    heard = ask(Guard(app, gate()), request(**{"query": f"token={TOKEN}", "cookie": None, **change}))
    assert heard[0]["status"] == 401
    assert "set-cookie" not in headers(heard)
    assert not app.scopes


def test_the_token_is_no_use_to_a_stranger(app):
    guard = Guard(app, gate())
    query = f"token={TOKEN}"
    assert status(guard, request(query=query, cookie=None, host="evil.com:8080")) == 403
    assert status(guard, request(query=query, cookie=None, origin="http://evil.com")) == 403


def test_other_parameters_are_the_apps(app):
    assert status(Guard(app, gate()), request(query="scenario=push")) == 200
    assert app.scopes[0]["query_string"] == b"scenario=push"


# The cookie -----------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("path", ["/_nicegui/3/static/x.js", "/favicon.ico", "/%2e%2e/", "//x", "/\udcff\xe9"])
def test_every_path_wants_the_cookie(app, kind, fine, path):
    assert status(Guard(app, gate()), request(kind, path=path, cookie=None)) == 401
    assert status(Guard(app, gate()), request(kind, path=path, cookie=f"{COOKIE}x")) == 401
    assert not app.scopes
    assert status(Guard(app, gate()), request(kind, path=path, cookie=COOKIE)) == fine
    assert len(app.scopes) == 1


@both
@pytest.mark.parametrize(
    ("cookie", "right"),
    [
        (COOKIE, True),
        (f"a=b;{COOKIE} ; c", True),
        (["a=b", COOKIE], True),
        (f"tumble_studio_{PORT}=planted; {COOKIE}", True),
        (f"{COOKIE}; tumble_studio_{PORT}=planted", True),
        (None, False),
        ("", False),
        (SECRET, False),
        (f"tumble_studio_{PORT}={SECRET}", False),
        (f"tumble_studio_{PORT}={VALUE.replace('a-browser', 'another')}", False),
        (f"tumble_studio_{PORT}={VALUE.partition('.')[0]}", False),
        (f"tumble_studio_{PORT}", False),
        (f"tumble_studio_{PORT}=", False),
        (f"tumble_studio_{PORT}={TOKEN}", False),
        (f"{COOKIE}x", False),
        (COOKIE[:-1], False),
        (COOKIE.upper(), False),
        (f'tumble_studio_{PORT}="{VALUE}"', False),
        (f"tumble_studio_8081={VALUE}", False),
        (f"x{COOKIE}", False),
        (f"x={COOKIE}", False),
        (f"tumble_studio_{PORT}=\xe9\xff", False),
        (b"\xff=\xfe; =; ;;", False),
    ],
)
def test_cookies(app, kind, fine, cookie, right):
    assert status(Guard(app, gate()), request(kind, cookie=cookie)) == (fine if right else 401)
    assert len(app.scopes) == right


def test_a_stranger_is_told_what_to_do(app):
    heard = ask(Guard(app, gate()), request(cookie=None))
    assert b"open the address that tumble studio printed in the terminal; it carries a token" in heard[1]["body"]
    assert headers(heard)["content-type"] == "text/plain; charset=utf-8"
    assert headers(heard)["cache-control"] == "no-store"


REFUSED = {
    "host": {"host": "evil.com"},
    "origin": {"origin": "null"},
    "token": {"query": f"token={TOKEN}&token=x"},
    "cookie": {"query": f"token={TOKEN}", "path": "/x", "cookie": f"{COOKIE}x"},
    "socket": {"query": f"token={TOKEN}", "kind": "websocket", "cookie": None},
    "sold": {"query": f"token={TOKEN}"},
    "length": {"content_length": "9999999"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_refusal_shows_a_secret(app, name):
    scope = request(**REFUSED[name])
    heard = ask(Guard(app, gate()), scope)
    assert heard[0]["status"] in (303, 401, 403, 413)
    shown = repr([value for key, value in heard[0]["headers"] if key != b"set-cookie"]) + repr(heard[1:])
    assert TOKEN not in shown and SECRET not in shown
    assert scope["query_string"] == b"", "a server writes this into its log"
    assert "evil" not in shown


def test_a_gate_shows_no_secret():
    assert TOKEN not in repr(gate()) and SECRET not in repr(gate())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"token": ""}, "token must be 16 or more of the characters"),
        ({"token": "short"}, "token must be 16 or more of the characters"),
        ({"secret": "with space; Domain=x"}, "secret must be 16 or more of the characters"),
        ({"secret": "\xe9" * 20}, "secret must be 16 or more of the characters"),
        ({"secret": SECRET + "\n"}, "secret must be 16 or more of the characters"),
        ({"secret": TOKEN}, "token and secret must differ"),
        ({"port": 0}, "port must be a number 1 or more and at most 65535, got 0"),
        ({"rate": 0}, "rate must be a number above 0, got 0"),
        ({"burst": 0}, "burst must be a number 1 or more, got 0"),
        ({"sockets": 0}, "sockets must be a number 1 or more, got 0"),
        ({"behind": "studio.example.org"}, "give the address that browsers see, without a path"),
        ({"behind": "https://studio.example.org/"}, "give the address that browsers see, without a path"),
        ({"behind": "ftp://studio.example.org"}, "give the address that browsers see, without a path"),
    ],
)
def test_gates_that_would_not_shut(change, message):
    settings = {"hosts": hosts_for("::1"), "port": PORT, "token": TOKEN, "secret": SECRET, **change}
    with pytest.raises(UserError, match=message) as caught:
        Gate(**settings)
    assert not any(str(value) in str(caught.value) for name, value in change.items() if value and name == "secret")


def test_default_limits():
    one = gate()
    assert (one.body, one.largest, one.rate, one.burst, one.sockets) == (1 << 20, 64 << 10, 100, 200, 64)


def test_secrets_are_compared_in_constant_time(app, monkeypatch):
    compared = []
    monkeypatch.setattr(hmac, "compare_digest", lambda got, want: compared.append(want) or got == want)
    assert status(Guard(app, gate()), request(query=f"token={TOKEN}")) == 303
    assert status(Guard(app, gate()), request()) == 200
    assert compared == [VALUE.encode(), TOKEN.encode(), VALUE.encode()]


def test_new_tokens_differ_and_need_no_quoting():
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) == 32 and token.replace("-", "").replace("_", "").isalnum() for token in tokens)
    one, other = Gate(hosts_for("::1"), PORT), Gate(hosts_for("::1"), PORT)
    assert len({one.token, one.secret, other.token, other.secret}) == 4


# Headers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", RIGHT_HOSTS)
def test_answers_of_the_app_are_hardened(app, host):
    got = headers(ask(Guard(app, gate()), request(host=host)))
    policy = got.pop("content-security-policy")
    assert got == {
        "x-frame-options": "SAMEORIGIN",  # the app's own word stands, once
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
    }
    assert set(policy.split("; ")) == {
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        f"connect-src 'self' ws://{host.lower()} wss://{host.lower()}",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    }


def test_the_apps_headers_are_added_to_not_doubled(app):
    heard = ask(Guard(app, gate()), request())
    assert [value for name, value in heard[0]["headers"] if name.lower() == b"x-frame-options"] == [b"SAMEORIGIN"]
    assert heard[1] == {"type": "http.response.body", "body": b"hello"}


def test_answers_of_the_guard_are_hardened(app):
    got = headers(ask(Guard(app, gate()), request(cookie=None)))
    assert got["x-frame-options"] == "DENY"
    assert got["x-content-type-options"] == "nosniff"
    assert got["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_a_socket_that_the_app_refuses_is_hardened():
    async def app(scope, receive, send):
        await send({"type": "websocket.http.response.start", "status": 404, "headers": []})
        await send({"type": "websocket.http.response.body", "body": b""})

    assert headers(ask(Guard(app, gate()), request("websocket")))["x-frame-options"] == "DENY"


# Bodies ---------------------------------------------------------------------------------------------


def chunks(*sizes: int) -> list[dict]:
    return [
        {"type": "http.request", "body": b"x" * size, "more_body": i + 1 < len(sizes)} for i, size in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("length", "want"),
    [
        ("1048576", 200),
        ("1048577", 413),
        ("9" * 5000, 413),
        ("-1", 413),
        ("1_0", 413),
        ("", 413),
        (b"\xb2", 413),
        (["5", "1048577"], 413),
    ],
)
def test_lengths(app, length, want):
    assert status(Guard(app, gate()), request(method="POST", content_length=length)) == want
    assert len(app.scopes) == (want == 200)


@pytest.mark.parametrize("length", [None, "5"])  # unsaid, or a lie
@pytest.mark.parametrize(
    ("sizes", "seen", "want"),
    [
        ([10], [10], 200),
        ([4, 0, 6], [4, 0, 6], 200),
        ([11], [], 413),
        ([4, 6, 1, 5], [4, 6], 413),
    ],
)
def test_streamed_bytes_are_counted(app, length, sizes, seen, want):
    scope = request(method="POST", content_length=length)
    heard = ask(Guard(app, gate(body=10)), scope, chunks(*sizes))
    assert [message["type"] for message in heard] == ["http.response.start", "http.response.body"]
    assert heard[0]["status"] == want
    got = [len(message["body"]) for message in app.messages if message["type"] == "http.request"]
    assert got == seen
    assert (app.messages[-1] == {"type": "http.disconnect"}) == (want == 413)


def test_an_app_that_minds_the_disconnect_or_reads_on():
    async def app(scope, receive, send):
        for _ in range(3):
            assert (await receive())["type"] == "http.disconnect"
        raise RuntimeError("client gone")

    assert ask(Guard(app, gate(body=10)), request(method="POST"), chunks(11))[0]["status"] == 413


def test_errors_of_the_app_stay_errors():
    async def app(scope, receive, send):
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        ask(Guard(app, gate()), request())


def test_too_much_after_the_answer_began():
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200})
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.body", "body": b""})

    heard = ask(Guard(app, gate(body=10)), request(method="POST"), chunks(11))
    assert [message.get("status") for message in heard] == [200, None]


# Messages -------------------------------------------------------------------------------------------


def said(**content) -> dict:
    return {"type": "websocket.receive", **content}


@pytest.mark.parametrize(
    ("content", "fits"),
    [
        ({"bytes": b"x" * 10}, True),
        ({"bytes": b"x" * 11}, False),
        ({"text": "x" * 10, "bytes": None}, True),
        ({"text": "x" * 11, "bytes": None}, False),
        ({"text": "é" * 5}, True),
        ({"text": "é" * 6}, False),
        ({"text": "\udcff" * 4}, False),
        ({}, True),
    ],
)
def test_largest_message(app, content, fits):
    heard = ask(Guard(app, gate(largest=10)), request("websocket"), [said(text="ok"), said(**content), GONE])
    if fits:
        assert app.messages == [said(text="ok"), said(**content), GONE]
        assert [message["type"] for message in heard] == ["websocket.accept"]
    else:
        reason = "at most 10 bytes a message"
        assert app.messages == [said(text="ok"), {"type": "websocket.disconnect", "code": 1009, "reason": reason}]
        assert heard[1:] == [{"type": "websocket.close", "code": 1009, "reason": reason}]


def test_by_default_a_message_has_64_kib(app):
    for size, code in ((64 << 10, 1000), ((64 << 10) + 1, 1009)):
        ask(Guard(app, gate()), request("websocket"), [said(bytes=b"x" * size), GONE])
        assert app.messages[-1]["code"] == code


class Clock:
    """Time that passes by a list: before each reading one entry, then none."""

    def __init__(self, *passes: float) -> None:
        self.now, self.passes = 1000.0, list(passes)

    def __call__(self) -> float:
        self.now += self.passes.pop(0) if self.passes else 0
        return self.now


@pytest.mark.parametrize(
    ("passes", "most"),
    [
        ([0] * 50, 4),  # a burst
        ([0, *[0.5] * 49], 49),  # steadily at the rate, for as long as there is something to say
        ([0, *[0.25] * 49], 7),  # at twice the rate: 4, and one more for every two of the first messages
        ([0, 100.0, *[0] * 48], 4),  # a rest earns no more than a burst
    ],
)
def test_rate(app, passes, most):
    guard = Guard(app, gate(rate=2, burst=4), Clock(*passes))
    heard = ask(guard, request("websocket"), [*[said(text="x")] * (len(passes) - 1), GONE])
    assert app.messages.count(said(text="x")) == most
    assert app.messages[-1]["code"] == (1000 if most == 49 else 1008)
    assert len(heard) == (1 if most == 49 else 2)


def test_by_default_a_burst_is_200_messages(app):
    ask(Guard(app, gate(), Clock()), request("websocket"), [said(text="x")] * 201)
    assert app.messages.count(said(text="x")) == 200
    assert app.messages[-1]["code"] == 1008


def test_each_socket_has_its_own_measure(app):
    guard = Guard(app, gate(burst=2), Clock())
    for _ in range(3):
        ask(guard, request("websocket"), [said(text="x")] * 2 + [GONE])
    assert app.messages.count(said(text="x")) == 6


def test_after_the_close_the_app_is_alone():
    """It hears of the end as often as it asks, and nobody hears what it says."""
    seen = []

    async def app(scope, receive, send):
        await receive()
        await send({"type": "websocket.accept"})
        for _ in range(3):
            seen.append((await receive())["type"])
            await send({"type": "websocket.send", "text": "x"})
        await send({"type": "websocket.close"})

    heard = ask(Guard(app, gate(largest=1)), request("websocket"), [said(text="xx"), said(text="y")])
    assert seen == ["websocket.disconnect"] * 3
    assert [message["type"] for message in heard] == ["websocket.accept", "websocket.close"]


def test_a_client_that_is_gone_before_the_close(app):
    left = iter([{"type": "websocket.connect"}, said(text="xx")])

    async def receive():
        return next(left)

    async def send(message):
        if message["type"] == "websocket.close":
            raise OSError("client gone")

    asyncio.run(asyncio.wait_for(Guard(app, gate(largest=1))(request("websocket"), receive, send), 5))
    assert app.messages[-1]["code"] == 1009


# Sockets --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sockets", [1, 3])
def test_so_many_sockets(sockets):
    leave, statuses = asyncio.Event(), []

    async def app(scope, receive, send):
        await send({"type": "websocket.accept"})
        await leave.wait()
        raise RuntimeError("even so")

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        if "body" not in message:
            statuses.append(message.get("status", 101))

    async def play():
        guard = Guard(app, gate(sockets=sockets))
        tasks = [asyncio.create_task(guard(request("websocket"), receive, send)) for _ in range(sockets)]
        await asyncio.sleep(0)
        await guard(request("websocket"), receive, send)
        assert statuses == [101] * sockets + [503]
        leave.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(RuntimeError):
            await guard(request("websocket"), receive, send)
        assert statuses == [101] * sockets + [503, 101]

    asyncio.run(asyncio.wait_for(play(), 5))


def test_refused_sockets_take_no_place(app):
    guard = Guard(app, gate(sockets=1))
    assert [status(guard, request("websocket", cookie=None)) for _ in range(3)] == [401] * 3
    assert status(guard, request("websocket")) == 101


@pytest.mark.parametrize("extensions", [{}, None])
@pytest.mark.parametrize("change", [{"host": "evil.com"}, {"origin": "null"}, {"cookie": None}])
def test_a_server_that_cannot_answer_sockets_in_http(app, change, extensions):
    scope = request("websocket", **change) | {"extensions": extensions}
    assert ask(Guard(app, gate()), scope) == [{"type": "websocket.close", "code": 1008}]
    assert not app.scopes


def test_a_refused_socket_that_left_already(app):
    async def receive():
        return {"type": "websocket.disconnect", "code": 1006}

    async def send(message):
        raise AssertionError(message)

    asyncio.run(Guard(app, gate())(request("websocket", cookie=None), receive, send))
    assert not app.scopes


# Other scopes ---------------------------------------------------------------------------------------


def test_lifespan_passes(app):
    asyncio.run(Guard(app, gate())({"type": "lifespan"}, None, None))
    assert app.scopes == [{"type": "lifespan"}]


def test_what_the_guard_does_not_know_does_not_pass(app):
    with pytest.raises(ValueError, match="got a scope of type 'webtransport'"):
        asyncio.run(Guard(app, gate())({"type": "webtransport"}, None, None))
    assert not app.scopes


# A real server --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Recorder, int, list[str]]]:
    """A guarded app under uvicorn: the app, its port, and the lines that the server logs."""
    uvicorn = pytest.importorskip("uvicorn")
    pytest.importorskip("websockets")
    app, lines = Recorder(), []
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    guard = Guard(app, gate(port=port, body=1000, largest=1000, burst=5, rate=0.01))
    server = uvicorn.Server(uvicorn.Config(guard, proxy_headers=False, lifespan="off", log_config=None))
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "uvicorn.access")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    until(lambda: server.started)
    yield app, port, lines
    server.should_exit = True
    thread.join(10)
    for logger in loggers:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def shake(port: int, path: str = "/ws", cookie: bool = True, **headers: str) -> int:
    """Status of a WebSocket handshake, by hand: a client that sends what it likes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    asked = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    asked["Sec-WebSocket-Key"] = "dGhlIHNhbXBsZSBub25jZQ=="
    if cookie:
        asked["Cookie"] = f"tumble_studio_{port}={VALUE}"
    connection.request("GET", path, headers=asked | headers)
    got = connection.getresponse().status
    connection.close()
    return got


def test_handshakes_in_reality(served):
    _, port, lines = served
    assert shake(port) == 101
    assert shake(port, Origin=f"http://127.0.0.1:{port}") == 101
    assert shake(port, Origin="http://evil.com") == 403
    assert shake(port, Host=f"evil.com:{port}") == 403
    assert shake(port, cookie=False) == 401
    assert shake(port, f"/?token={TOKEN}", cookie=False) == 401
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", f"/?token={TOKEN}")
    assert connection.getresponse().status == 303
    connection.close()
    until(lambda: any("303" in line for line in lines))
    assert not any(TOKEN in line or VALUE in line for line in lines)


@pytest.mark.parametrize(("messages", "code", "seen"), [(["x" * 1001], 1009, 0), (["x"] * 20, 1008, 5)])
def test_too_much_in_reality(served, messages, code, seen):
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    app, port, _ = served
    app.messages.clear()
    cookie = {"Cookie": f"tumble_studio_{port}={VALUE}"}
    with connect(f"ws://127.0.0.1:{port}/ws", additional_headers=cookie, proxy=None) as client:
        with contextlib.suppress(ConnectionClosed):
            for message in messages:
                client.send(message)
        with pytest.raises(ConnectionClosed) as caught:
            client.recv(timeout=10)
    assert caught.value.rcvd.code == code
    until(lambda: any(message.get("code") == code for message in app.messages))
    assert sum(message["type"] == "websocket.receive" for message in app.messages) == seen


def test_a_streamed_body_in_reality(served):
    _, port, _ = served
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    cookie = {"Cookie": f"tumble_studio_{port}={VALUE}"}
    connection.request("POST", "/", iter([b"x" * 600] * 3), cookie, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()
