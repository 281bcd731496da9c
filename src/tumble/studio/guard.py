"""Guard: who may talk to the studio, and how much; an ASGI layer around the whole server.

    gate = Gate(hosts_for("127.0.0.1"), port=8080)              # of tumble.studio.gate
    print(f"http://127.0.0.1:8080/?token={gate.token}")
    uvicorn.run(Guard(app, gate), port=8080, proxy_headers=False, access_log=False)

A server on this machine can be reached by every page that the user's browser shows, not only by ours.
Four things keep those pages out: the Host (a stranger's name that resolves to us is refused: DNS
rebinding), the Origin (it must be the Host: a stranger's page is refused, WebSockets included), a token in
the printed address that buys a cookie, and that cookie on every request. What gets in is bounded in size
and rate. A port may be forwarded (ssh -L, Docker, editors): loopback names and addresses have any port.

Every browser has a cookie of its own, so that the app can tell them apart: it finds who asks in
`scope["state"]["visitor"]`.

Traps: cookies do not know ports. Any other server on the same host name that this browser visits is
sent ours, so the secret is worth nothing beyond this run: make a new `Gate` each time. The guard must be
the outermost layer; what is wrapped around it is not guarded. It speaks plain http; a proxy that speaks
TLS for it has to be named (`Gate.behind`), or every Origin is wrong. The guard logs nothing, and empties
the query of what it answers itself, so that a server's log of requests shows no token; a server that logs
headers (uvicorn at debug) shows the cookie.
"""

import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from tumble.studio.gate import HOST, Gate, equal, new_token

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Answer:
    """What the guard says itself, instead of asking the app."""

    status: int
    text: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


OPEN_THE_ADDRESS = "open the address that tumble studio printed in the terminal; it carries a token"
WRONG_HOST = Answer(403, f"tumble studio does not answer to this host name or port; {OPEN_THE_ADDRESS}")
WRONG_ORIGIN = Answer(403, f"tumble studio does not answer to pages of other servers; {OPEN_THE_ADDRESS}")
WRONG_TOKEN = Answer(401, f"this token is not of the tumble studio that runs now; {OPEN_THE_ADDRESS}")
NO_COOKIE = Answer(  # a click on another site's page comes without cookies of SameSite=Strict
    401, f"tumble studio does not know this browser; {OPEN_THE_ADDRESS} (paste it where a click on it leads here)"
)
TOO_LARGE = Answer(413, "this is more than tumble studio takes in one request; send less")
FULL = Answer(503, "too many windows of tumble studio are open; close some and load this page again")


class Guard:
    """An ASGI app that asks `app` only what the gate lets through.

    In this order: a Host that is ours, once (403); no Origin, or the Host's own or the proxy's (403); GET /?token=
    buys a cookie (303, or 401); the cookie, whatever the path (401); limits (413, 503). Of several cookies of our name
    one right one is enough: a neighbour that plants wrong ones must not lock the user out, and gains nothing.
    A WebSocket that sends too much at once or too fast is closed (1009, 1008), and the app sees a disconnect
    in place of the message. What the app answers gets headers that keep browsers strict, where it has none.
    """

    def __init__(self, app: App, gate: Gate, clock: Callable[[], float] = time.monotonic) -> None:
        """Stand before an app; `clock` tells seconds for the rates of sockets."""
        self.app, self.gate = app, gate
        self.sockets = 0  # open now
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection, as ASGI has it."""
        kind = scope["type"]
        if kind == "lifespan":
            await self.app(scope, receive, send)
            return
        if kind not in ("http", "websocket"):
            raise ValueError(f"a guard lets http, websocket and lifespan through, got a scope of type '{kind}'")
        host = self._host(scope)
        if host is None:
            await _say(WRONG_HOST, scope, receive, send)
            return
        answer = self._judge(scope, host)
        if answer is not None:
            await _say(answer, scope, receive, send)
        elif kind == "http":
            await self._http(host, scope, receive, send)
        else:
            await self._websocket(host, scope, receive, send)

    def _host(self, scope: Scope) -> str | None:
        """Host and port in lower case, as the one Host header says; None where they are not ours."""
        if not scope["path"].startswith("/"):  # `GET http://other/` names a second host, which would win
            return None
        values = _values(scope, b"host")
        match = HOST.fullmatch(values[0].lower()) if len(values) == 1 else None
        if match is None:
            return None
        host, port = match[1].decode(), match[2]
        hosts, whole = self.gate.hosts, match[0].decode()
        ours = hosts.allow(host) and (hosts.fixed(host) or int(port or 80) == self.gate.port)
        return whole if ours or whole == self.gate.proxy else None

    def _judge(self, scope: Scope, host: str) -> Answer | None:
        """What to answer to a request that reached one of our hosts; None where the app may."""
        http = scope["type"] == "http"
        origins = _values(scope, b"origin")
        ours = f"http://{host}" if host != self.gate.proxy else self.gate.behind  # a proxy may change the Host
        if origins and (len(origins) > 1 or origins[0].decode("latin-1") not in {ours, self.gate.behind} - {""}):
            return WRONG_ORIGIN
        visitors = (self.gate.visitor(value) for value in _cookies(scope, self.gate.cookie(host)))
        visitor = next(filter(None, visitors), None)
        if http and scope["method"] == "GET" and scope["path"] == "/":
            tokens = _tokens(scope["query_string"])
            if tokens:
                return self._sell(tokens, host, visitor or new_token())
        if visitor is None:
            return NO_COOKIE
        if http and not all(self._fits(value) for value in _values(scope, b"content-length")):
            return TOO_LARGE
        if not http and self.sockets >= self.gate.sockets:
            return FULL
        scope.setdefault("state", {})["visitor"] = visitor
        return None

    def _sell(self, tokens: list[bytes], host: str, visitor: str) -> Answer:
        """A browser's cookie for the token; with several tokens none is right."""
        if len(tokens) != 1 or not equal(tokens[0], self.gate.token):
            return WRONG_TOKEN
        secure = "; Secure" if self.gate.behind.startswith("https") and host == self.gate.proxy else ""
        value = self.gate.value_for(visitor)
        cookie = f"{self.gate.cookie(host)}={value}; Path=/; HttpOnly; SameSite=Strict{secure}"
        headers = ((b"location", b"/"), (b"set-cookie", cookie.encode()), (b"referrer-policy", b"no-referrer"))
        return Answer(303, "", headers)

    def _fits(self, length: bytes) -> bool:
        """Whether a Content-Length is a number within the limit; int() alone would choke on thousands of digits."""
        return length.isdigit() and len(length) <= 15 and int(length) <= self.gate.body

    async def _http(self, host: str, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(self.gate.body, host, scope, receive, send)
        try:
            await self.app(scope, body.receive, body.send)
        except Exception:
            if not body.refused:  # an app may well complain that its client went away
                raise

    async def _websocket(self, host: str, scope: Scope, receive: Receive, send: Send) -> None:
        line = _Line(self.gate, self._clock, host, receive, send)
        self.sockets += 1
        try:
            await self.app(scope, line.receive, line.send)
        finally:
            self.sockets -= 1


class _Body:
    """The two ends of a HTTP request, its bytes counted: a length can be left unsaid."""

    def __init__(self, most: int, host: str, scope: Scope, receive: Receive, send: Send) -> None:
        self._left, self._host, self._scope = most, host, scope
        self._receive, self._send = receive, send
        self._started = self._over = self.refused = False

    async def receive(self) -> Message:
        if not self._over:
            message = await self._receive()
            self._left -= len(message.get("body", b""))
            if self._left >= 0:
                return message
            self._over = True
            if not self._started:
                self.refused = True
                await _say(TOO_LARGE, self._scope, self._receive, self._send)
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if self.refused:
            return
        if message["type"] == "http.response.start":
            self._started = True
            message = {**message, "headers": _hardened(message.get("headers", ()), self._host)}
        await self._send(message)


class _Line:
    """The two ends of a WebSocket, its messages measured before the app sees them."""

    def __init__(self, gate: Gate, clock: Callable[[], float], host: str, receive: Receive, send: Send) -> None:
        self._gate, self._clock, self._host = gate, clock, host
        self._receive, self._send = receive, send
        self._credit, self._time = float(gate.burst), clock()  # a token bucket: messages to go, and when that was
        self._end: Message | None = None

    async def receive(self) -> Message:
        if self._end is None:
            message = await self._receive()
            wrong = self._wrong(message) if message["type"] == "websocket.receive" else None
            if wrong is None:
                return message
            code, reason = wrong
            self._end = {"type": "websocket.disconnect", "code": code, "reason": reason}
            with contextlib.suppress(OSError):  # the client may be gone
                await self._send({"type": "websocket.close", "code": code, "reason": reason})
        return dict(self._end)

    async def send(self, message: Message) -> None:
        if self._end is not None:  # a server may raise at what comes after a close; the app is about to hear of it
            return
        if message["type"] == "websocket.http.response.start":
            message = {**message, "headers": _hardened(message.get("headers", ()), self._host)}
        await self._send(message)

    def _wrong(self, message: Message) -> tuple[int, str] | None:
        """Close code and reason for a message that is too large or too soon; counts it."""
        now = self._clock()
        self._credit = min(self._gate.burst, self._credit + self._gate.rate * (now - self._time)) - 1
        self._time = now
        if self._credit < 0:
            return 1008, f"at most {self._gate.rate:g} messages a second"
        if _size(message) > self._gate.largest:
            return 1009, f"at most {self._gate.largest} bytes a message"
        return None


def _size(message: Message) -> int:
    """Bytes of a WebSocket message on the wire, before any compression."""
    text, data = message.get("text"), message.get("bytes")
    return len((text or "").encode("utf-8", "surrogatepass")) + len(data or b"")


async def _say(answer: Answer, scope: Scope, receive: Receive, send: Send) -> None:
    """Give an answer of our own, to a WebSocket as a HTTP status where the server can do that."""
    scope["query_string"] = b""  # the server's, not a copy: its log of requests must not show a token
    prefix = "http.response"
    if scope["type"] == "websocket":
        if (await receive())["type"] != "websocket.connect":
            return
        if "websocket.http.response" not in (scope.get("extensions") or {}):
            await send({"type": "websocket.close", "code": 1008})
            return
        prefix = "websocket.http.response"
    body = answer.text.encode()
    headers = [
        *answer.headers,
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", b"no-store"),
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    ]
    await send({"type": f"{prefix}.start", "status": answer.status, "headers": _hardened(headers)})
    await send({"type": f"{prefix}.body", "body": body})


def _hardened(headers: Iterable[tuple[bytes, bytes]], host: str = "") -> Headers:
    """Headers, and those that make browsers strict, where they are absent; host as in the Host header.

    NiceGUI runs inline scripts and compiles its templates with eval, so scripts are bound by place only.
    """
    policy = (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline';"
        f" img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws://{host} wss://{host};"
        " object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
    )
    strict = [
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"content-security-policy", policy.encode()),
    ]
    headers = list(headers)
    present = {name.lower() for name, _ in headers}
    return headers + [(name, value) for name, value in strict if name not in present]


def _values(scope: Scope, name: bytes) -> list[bytes]:
    """The values of all headers of a name, given in lower case."""
    return [value for key, value in scope["headers"] if key.lower() == name]


def _cookies(scope: Scope, name: str) -> list[bytes]:
    """The values of all cookies of a name, as they were sent."""
    pairs = [pair.strip().partition(b"=") for line in _values(scope, b"cookie") for pair in line.split(b";")]
    return [value for key, _, value in pairs if key == name.encode()]


def _tokens(query: bytes) -> list[bytes]:
    """The values of all parameters 'token' of a query; bytes that are no text come out as something wrong."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    return [value.encode() for name, value in pairs if name == "token"]
