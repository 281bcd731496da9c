"""Hub: who watches, who controls, and what everybody is sent.

    hub = Hub(asyncio.get_running_loop())
    hub.stage = Stage(Choice("stand"), hub)
    await hub.serve(page_id, websocket, websocket.receive_text)      # until that browser is gone

One browser controls, the others watch and may ask. Whoever controls can give control away, or keep it; no
answer for a while gives it away. When a browser that controls is lost, what it held is let go. A page's id is the
server's; nobody but the browser that it was built for may open a socket as that page.

Frames are binary (`packet`), all else is JSON with a type: hello, controls, scene, terms, ghosts, note, error,
compiling. A browser that is slow misses frames and never texts; who takes longer than 10 s for what is sent at once is
left.

Traps: the hub lives in two worlds. Methods of `Audience` come from the stage's threads and only hand over to the event
loop; all others belong to the loop's thread, and reach the stage by `post`.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from tumble.errors import UserError
from tumble.live.commands import Drag, Release
from tumble.studio.audience import Shown
from tumble.studio.director import Director
from tumble.studio.packet import beside
from tumble.studio.requests import Ask, Give, Hurl, Move, PlaceBox, Point, Remove, Request, Resume, Scrub, Steer, decode
from tumble.studio.stage import Stage
from tumble.world.props import Box

WATCHING = "you are watching; ask for control first"
PATIENCE = 20.0  # s that somebody who asks for control waits for an answer
SLOW = 10.0  # s that a browser may take to receive what is sent at once


class Socket(Protocol):
    """The part of a WebSocket that a hub needs."""

    async def send_text(self, data: str) -> None: ...

    async def send_bytes(self, data: bytes) -> None: ...


class Page(NamedTuple):
    """A page that was built: the browser that it was built for, and what has its panels look at the stage again."""

    visitor: str
    look: Callable[[], None]


@dataclass
class Viewer:
    """A browser.

    Attributes:
      key: its page's id.
      name: what others call it.
      texts: messages that wait to be sent.
      shown: the newest frame, if it has not been sent yet; who is slow misses frames.
      knows: numbers of scenes and terms that it was sent.
      sees: number of the ghosts that it was sent last.
    """

    key: str
    name: str
    texts: list[str] = field(default_factory=list)
    shown: Shown | None = None
    knows: set[tuple[str, int]] = field(default_factory=set)
    sees: int = 0
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, **message: Any) -> None:
        """Send a JSON message soon."""
        self.texts.append(json.dumps(message))
        self.wake.set()

    async def deliver(self, socket: Socket) -> None:
        """Send what waits, for ever: texts in order, then what the newest frame needs, then that frame.

        Raises:
          TimeoutError: the browser takes too long.
        """
        while True:
            await self.wake.wait()
            self.wake.clear()
            texts, shown = self.texts, self.shown
            self.texts, self.shown = [], None
            if shown is not None:
                texts = [*texts, *self._lessons(shown)]
            async with asyncio.timeout(SLOW):
                for text in texts:
                    await socket.send_text(text)
                if shown is not None:
                    if shown.beside is not None:
                        await socket.send_bytes(beside(shown.beside.message))
                    await socket.send_bytes(shown.message)

    def _lessons(self, shown: Shown) -> list[str]:
        """What it must know before it can draw a frame, and does not: JSON texts; ghosts where they are others."""
        about: dict[tuple[str, int], dict[str, Any]] = {("terms", shown.terms): {"names": shown.names}}
        for one in (shown, shown.beside):
            if one is not None and ("scene", one.packer.number) not in self.knows:
                about["scene", one.packer.number] = one.packer.description
        needed = about.keys() - self.knows
        self.knows |= needed
        lessons = [{"type": kind, "id": number, **about[kind, number]} for kind, number in sorted(needed)]
        if shown.ghosts.number != self.sees:
            self.sees = shown.ghosts.number
            lessons.append(shown.ghosts.message)
        return [json.dumps(lesson) for lesson in lessons]


def seen(director: Director) -> tuple[Any, ...]:
    """What panels show of what is wanted; where somebody steers, only that it is so: a stick sends thirty a second."""
    return director.goal, director.stance, director.steered


class Hub:
    """The audience of a stage. All methods but those of `Audience` belong to the event loop's thread.

    Attributes:
      stage: what is watched; set right after both are made.
      viewers: browsers with an open socket, by the ids of their pages.
      holder: id of the page that controls; it may be gone.
    """

    stage: Stage

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.viewers: dict[str, Viewer] = {}
        self.holder = ""
        self._loop = loop
        self._count = 0
        self._latest: Shown | None = None
        self._compiled = ""  # what is, as the last notice says
        self._asking: dict[str, asyncio.TimerHandle] = {}
        self._pages: dict[str, Page] = {}

    # Audience: called in other threads ------------------------------------------------------------------

    def show(self, shown: Shown) -> None:
        """Send a frame to everybody."""
        self._soon(self._show, shown)

    def say(self, text: str) -> None:
        """Tell everybody."""
        self._soon(self._tell_all, "note", text)

    def compiling(self, text: str) -> None:
        """Tell everybody, and those who come meanwhile, what is compiled."""
        self._soon(self._compile, text)

    def changed(self) -> None:
        """Have panels look at the stage again."""
        self._soon(self.refresh)

    def _soon(self, call: Callable[..., None], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(call, *arguments)

    def _show(self, shown: Shown) -> None:
        self._latest = shown
        for viewer in self.viewers.values():
            viewer.shown = shown
            viewer.wake.set()

    def _compile(self, text: str) -> None:
        self._compiled = text
        self._tell_all("compiling", text)

    def _tell_all(self, kind: str, text: str) -> None:
        for viewer in self.viewers.values():
            viewer.tell(type=kind, text=text)

    def refresh(self, but: str = "") -> None:
        """Have the panels of all pages but one look at the stage again."""
        for key, page in list(self._pages.items()):
            if key != but:
                page.look()

    # Pages ----------------------------------------------------------------------------------------------

    def admit(self, key: str, visitor: str, look: Callable[[], None]) -> None:
        """Know a page that was built for a browser, and call its function when panels should look again."""
        self._pages[key] = Page(visitor, look)

    def forget(self, key: str) -> None:
        """Know a page no more."""
        self._pages.pop(key, None)

    def knows(self, key: str, visitor: str) -> bool:
        """Whether a page was built here, for this browser."""
        return key in self._pages and self._pages[key].visitor == visitor

    # Browsers -------------------------------------------------------------------------------------------

    async def serve(self, key: str, socket: Socket, receive: Callable[[], Awaitable[str]]) -> None:
        """Be a browser's peer until its socket closes or it sends what is no request.

        Raises:
          UserError: it sent what is no request.
          Exception: whatever `receive` or the socket raise when it is closed.
        """
        self._count += 1
        viewer = Viewer(key, f"viewer {self._count}")
        self.viewers[key] = viewer
        if self.holder not in self.viewers:
            self._hand_to(key)
        viewer.tell(type="hello", client=key, dt=self.stage.dt, controls=self.controls(key))
        self._tell_controls()
        if self._compiled:
            viewer.tell(type="compiling", text=self._compiled)
        if self._latest is not None:
            viewer.shown = self._latest
            viewer.wake.set()
        self.stage.watch(True)
        sender = asyncio.create_task(viewer.deliver(socket))
        try:
            while True:
                receiver = asyncio.ensure_future(receive())
                await asyncio.wait({receiver, sender}, return_when=asyncio.FIRST_COMPLETED)
                if sender.done():
                    receiver.cancel()
                    sender.result()
                self.handle(viewer, decode(await receiver))
        finally:
            sender.cancel()
            self._leave(viewer)

    def _leave(self, viewer: Viewer) -> None:
        """Forget a browser that is gone: let go of what it held, and give control to the first that has asked."""
        if self.viewers.get(viewer.key) is viewer:  # else it has come back already
            del self.viewers[viewer.key]
            self._unasked(viewer.key)
        if self.controls(viewer.key):
            self.stage.post(self._let_go)
            if viewer.key not in self.viewers and self._asking:
                self._hand_to(next(iter(self._asking)))
        if not self.viewers:
            self.stage.watch(False)
        self._tell_controls()

    def _let_go(self) -> None:
        self.stage.director.let_go()

    def handle(self, viewer: Viewer, request: Request) -> None:
        """Have done what a browser asks for, or tell it why not."""
        if isinstance(request, Ask):
            self._ask(viewer.key)
        elif not self.controls(viewer.key):
            viewer.tell(type="error", text=WATCHING)
        elif isinstance(request, Give):
            self._answer(request.accept)
        else:
            done = self.stage.post(lambda: self._remembered(request))
            done.add_done_callback(lambda future: self._soon(self._report, viewer, future))

    def _report(self, viewer: Viewer, future: Future[Any]) -> None:
        error = future.exception()
        if isinstance(error, UserError):
            viewer.tell(type="error", text=str(error))
        elif error is not None:
            viewer.tell(type="error", text=f"this failed: {error!r}")

    def _remembered(self, request: Request) -> None:
        """Perform it so that it can be taken back, but for what a hand does many times a second."""
        if isinstance(request, Steer | Drag | Release | Scrub | Resume):
            self._perform(request)
        else:
            self.stage.dresser.remembered(lambda: self._perform(request))

    def _perform(self, request: Request) -> None:
        """In the stage's thread: do what was asked for, or raise. Panels look again where another goal is wanted."""
        stage, director = self.stage, self.stage.director
        before = seen(director)
        match request:
            case Steer():
                director.steer(request.x, request.y, request.turbo)
            case Hurl():
                director.throw(request.position, request.velocity, request.mass)
            case PlaceBox():
                stage.dresser.put(Box(request.name, request.position, request.size))
            case Remove():
                stage.dresser.remove(request.name)
            case Move():
                stage.dresser.move(request.name, request.by, request.grid)
            case Point():
                director.point(request.at, request.body, request.heading)
            case Scrub():
                stage.scrub(request.tick)
            case Resume():
                stage.resume(request.tick)
            case Ask() | Give():
                raise TypeError(f"{request} is no business of the stage")
            case _:
                director.send(request)
        if seen(director) != before:
            self.changed()

    # Control --------------------------------------------------------------------------------------------

    def controls(self, key: str) -> bool:
        """Whether a page controls."""
        return key == self.holder

    def _ask(self, key: str) -> None:
        """Give control to a page at once where nobody has it, else after an answer, or none for 20 s."""
        if self.holder not in self.viewers:
            self._hand_to(key)
        elif not self.controls(key) and key not in self._asking:
            self._asking[key] = self._loop.call_later(PATIENCE, self._hand_to, key)
        self._tell_controls()

    def _answer(self, accept: bool) -> None:
        """Whoever controls gives control to the first that asked, or tells all of them that it does not."""
        waiting = list(self._asking)
        if accept and waiting:
            self._hand_to(waiting[0])
            return
        for key in waiting:
            self._unasked(key)
            self.viewers[key].tell(type="note", text="control was not given")
        self._tell_controls()

    def _hand_to(self, key: str) -> None:
        if key in self.viewers:
            self.stage.post(self._let_go)
            self.holder = key
        self._unasked(key)
        self._tell_controls()
        self.refresh()

    def _unasked(self, key: str) -> None:
        timer = self._asking.pop(key, None)
        if timer is not None:
            timer.cancel()

    def _tell_controls(self) -> None:
        """Tell every browser who controls and who waits."""
        holder = self.viewers.get(self.holder)
        waiting = [self.viewers[key].name for key in self._asking if key in self.viewers]
        for key, viewer in self.viewers.items():
            name = holder.name if holder else "nobody"
            viewer.tell(type="controls", controls=self.controls(key), holder=name, waiting=waiting)
