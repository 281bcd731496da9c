"""The studio's server: one process, one stage, any number of browsers.

    serve(Choice("stand"), host="127.0.0.1", port=8080, announce=print)

It listens on one address, answers only browsers that were given the printed token (see `guard`), and
ends with Ctrl-C.

Two threads matter: this one has the event loop, which answers browsers; the stage's simulates, plans and compiles.
Python lets them take turns, 1 ms each, so that a page is there while something is compiled: answers take some 10 ms
then. The first picture is the pose that the show begins in, with what is compiled written over it.
"""

import asyncio
import contextlib
import errno
import os
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, WebSocket, WebSocketDisconnect
from nicegui import ui

from tumble.errors import UserError, check_number
from tumble.live.learning import Learning
from tumble.live.recording import Recording
from tumble.studio.choice import Choice
from tumble.studio.gate import Gate, hosts_for
from tumble.studio.guard import Guard
from tumble.studio.hub import Hub
from tumble.studio.limits import Limited
from tumble.studio.page import build
from tumble.studio.presets import Presets, default_path
from tumble.studio.reloading import Reloading
from tumble.studio.stage import Stage

LOOP = uvicorn.Config("").get_loop_factory()
EVERYWHERE = ("0.0.0.0", "::", "")
SWITCH = 0.001  # s that a thread which compiles keeps others waiting; Python's own 5 ms, many times a page, is seen
FIRST_LOOK = 4.0  # s that the first browser may take before anything is compiled
UNKNOWN = 4001  # code of a close, of those that are free; link.js knows it
RECONNECT = 30.0  # s that a page may be lost before its panels are forgotten; a busy browser needs some to begin


def serve(
    choice: Choice, settings: Any = None, host: str = "127.0.0.1", port: int = 8080, threads: int = 0,
    browser: bool = False, announce: Callable[[str], None] = print, learning: Learning | None = None,
    file: Path | None = None, behind: str = "", takes: Mapping[str, Recording] | None = None,
    keep_time: bool = True,
) -> None:  # fmt: skip
    """Serve until interrupted; returns after everything is closed.

    Args:
      choice: what is played first.
      settings: of its controller; None takes the defaults.
      host: address to listen on.
      port: 0 takes any that is free.
      threads: for the physics; 0: one per core.
      browser: open the page in the user's browser.
      announce: told the address, and what was saved at the end.
      learning: what controllers learn from and add to; whoever made it closes it.
      file: a user's own that is loaded again whenever it is saved.
      takes: recordings by name that can be looked at.
      keep_time: fit planners to the frame; see `tumble.live.keeping`.
      behind: the address under which a proxy shows it, 'https://studio.example.org'; '' for none.
    """
    check_number("port", port, 0, 65535)
    listening = bind(host, port)
    gate = Gate(hosts_for(host), listening.getsockname()[1], behind=behind)
    address = f"{behind or f'http://{_reachable(host)}:{gate.port}'}/?token={gate.token}"
    announce(f"tumble studio: {address}")
    if host in EVERYWHERE:
        announce(
            "It listens on all interfaces: whoever is on your network and has this address can watch and control it,\n"
            "and others there can read the traffic, which is not encrypted."
        )
    announce("Ctrl-C ends it.")
    sys.setswitchinterval(SWITCH)
    with asyncio.Runner(loop_factory=LOOP) as runner, listening:
        hub = Hub(runner.get_loop())
        hub.stage = stage = Stage(choice, hub, threads, settings, learning, keep_time)
        for name, recording in (takes or {}).items():
            stage.takes.add(recording, name).saved = True
        with Reloading(file, stage, hub.say) if file is not None else contextlib.nullcontext():
            runner.run(_serve(hub, gate, listening, address if browser else ""))
    if stage.last_take is not None and not stage.last_take.saved:
        path = Path(f"studio-{time.strftime('%Y%m%d-%H%M%S')}.npz")
        stage.last_take.recording.save(path)
        announce(f"the last recording was not downloaded; it is in {path}")


async def _serve(hub: Hub, gate: Gate, listening: socket.socket, address: str) -> None:
    """Listen until Ctrl-C, with a browser window at an address, where there is one and a screen."""
    if address and has_screen():
        threading.Timer(0.5, webbrowser.open, [address]).start()
    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        await listen(server_for(hub, gate), hub, listening)


async def listen(server: uvicorn.Server, hub: Hub, listening: socket.socket) -> None:
    """Play a hub's stage for all who come to a socket, until interrupted or until server.should_exit."""
    hub.stage.start(FIRST_LOOK)
    try:
        await server.serve([listening])
    finally:
        await asyncio.to_thread(hub.stage.close)


def server_for(hub: Hub, gate: Gate) -> uvicorn.Server:
    """A server of a hub's page, behind a guard."""
    config = uvicorn.Config(
        Guard(application(hub, Presets(default_path())), gate), log_level="warning", access_log=False,
        proxy_headers=False, server_header=False, ws_max_size=gate.largest, ws_per_message_deflate=False,
        timeout_graceful_shutdown=1, lifespan="on", http=Limited, ws="websockets-sansio",
    )  # fmt: skip
    return uvicorn.Server(config)


def application(hub: Hub, presets: Presets) -> FastAPI:
    """The web application: the page, NiceGUI's files and socket, and the socket for frames.

    It guards nothing by itself: `server_for` puts a `Guard` around it, which says who asks. A browser that sends what
    is no request is hung up on with its sentence (code 1008), one that is too slow with 1013, one whose page this
    studio has not built for it with `UNKNOWN`.
    """

    @contextlib.asynccontextmanager
    async def nothing(app: FastAPI) -> AsyncIterator[None]:
        yield

    app = FastAPI(lifespan=nothing, openapi_url=None)

    @app.websocket("/live")
    async def live(websocket: WebSocket, client: str) -> None:
        await websocket.accept()
        if not hub.knows(client, websocket.state.visitor):
            await websocket.close(UNKNOWN, "no page of this studio; load it again")
            return
        try:
            await hub.serve(client, websocket, lambda: _text(websocket))
        except UserError as error:
            await websocket.close(1008, str(error)[:100])
        except TimeoutError:
            await websocket.close(1013)
        except WebSocketDisconnect:
            pass

    @ui.page("/", title="tumble studio")
    def page(request: Request) -> None:
        build(hub, presets, request.state.visitor)

    ui.run_with(
        app, title="tumble studio", tailwind=False, show_welcome_message=False, reconnect_timeout=RECONNECT,
        cache_control_directives="no-cache",
    )  # fmt: skip
    return app


async def _text(websocket: WebSocket) -> str:
    """The next text of a browser; refuses bytes, raises WebSocketDisconnect at its end."""
    message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    text = message.get("text")
    if text is None:
        raise UserError("not a request: it is binary")
    return str(text)


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there, or the sentence that says why not."""
    try:
        family = socket.getaddrinfo(host or "0.0.0.0", port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UserError(f"port {port} is taken; choose another with --port, or --port 0 for any") from None
        raise UserError(f"cannot listen on '{host}' port {port}: {error.strerror or error}") from None
    return listening


def has_screen() -> bool:
    """Whether a browser can open a window; without one, Python would open a browser of text in the terminal."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _reachable(host: str) -> str:
    """A host for the printed address: one that a browser can open."""
    if host in EVERYWHERE:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:  # connecting a datagram socket sends nothing
            try:
                probe.connect(("192.0.2.1", 9))
                return str(probe.getsockname()[0])
            except OSError:
                return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
