"""Limits: how long a request may take to arrive, and how many connections may be open.

    uvicorn.Config(app, http=Limited)

The guard sees a request when its head is complete; who sends half a head, or none, never gets as far. Here such a
connection is closed after `ARRIVAL` seconds, one too many is closed at once, and a target that is no path
(`GET http://other/`, whose host uvicorn drops) is answered 400.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

ARRIVAL = 10.0  # s in which a whole request must have come, from its first byte or from when the connection was made
CONNECTIONS = 256  # open at once, WebSockets included; a browser opens six and keeps two


class Limited(HttpToolsProtocol):
    """HTTP of a connection, bounded."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS:
            transport.abort()
        else:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._expect()

    def on_url(self, url: bytes) -> None:
        if not self.url and not url.startswith(b"/"):
            raise ValueError("the target of a request must be a path")  # the parser's caller answers 400
        super().on_url(url)

    def on_message_complete(self) -> None:
        self._arrived()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._arrived()
        super().handle_websocket_upgrade()

    def _expect(self) -> None:
        """A request must come whole from now on."""
        self._arrived()
        self._timer = self.loop.call_later(ARRIVAL, self.transport.abort)

    def _arrived(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
