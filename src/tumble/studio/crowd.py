"""A crowd: browsers without a face, to measure a studio with.

    python -m tumble.studio.crowd 'http://127.0.0.1:8080/?token=...' --clients 8 --seconds 10

Prints one JSON object: frames and bytes that each got, and how soon drags of the first one show.
"""

import argparse
import asyncio
import json
import re
import struct
import time
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect

from tumble.studio.packet import DRAG, HEADER

CLIENT = re.compile(r"client_id[\"']?:\s*[\"']([0-9a-f-]{36})")
APART = 0.53  # s between drags


@dataclass
class Seen:
    """What one of the crowd saw.

    Attributes:
      frames, bytes, missed: messages, their size together, ticks that were skipped.
      largest: bytes of the largest message.
      reactions: for each drag, how many frames later one shows it, and after how many milliseconds.
    """

    frames: int = 0
    bytes: int = 0
    missed: int = 0
    largest: int = 0
    reactions: list[tuple[int, float]] = field(default_factory=list)


def cookie(address: str) -> str:
    """The cookie that an address with a token buys."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *args: Any) -> None:
            return None

    try:
        urllib.request.build_opener(Stay).open(address)
    except urllib.error.HTTPError as answer:
        if "Set-Cookie" in answer.headers:
            return str(answer.headers["Set-Cookie"]).partition(";")[0]
        raise
    raise ValueError("no cookie for this address")


def page(address: str, cookie: str) -> tuple[str, str]:
    """A page that is loaded with a cookie: its id, and its text."""
    parts = urlsplit(address)
    asked = urllib.request.Request(f"{parts.scheme}://{parts.netloc}/", headers={"Cookie": cookie})
    text = urllib.request.urlopen(asked).read().decode()
    found = CLIENT.search(text)
    if found is None:
        raise ValueError("no page of a studio is at this address")
    return found[1], text


async def watch(socket: ClientConnection, seconds: float, drags: bool) -> Seen:
    """Count frames for a while; take hold of the root now and then and see when a frame shows it."""
    seen, last, held = Seen(), -1, False
    end, due = time.perf_counter() + seconds, time.perf_counter() + APART
    sent = (0.0, 0)
    while time.perf_counter() < end:
        try:
            message = await asyncio.wait_for(socket.recv(), 1.0)
        except TimeoutError:
            continue
        if isinstance(message, str):
            continue
        _, flags, _, tick, *_ = HEADER.unpack_from(message)
        seen.frames, seen.bytes = seen.frames + 1, seen.bytes + len(message)
        seen.largest = max(seen.largest, len(message))
        seen.missed += max(0, tick - last - 1) if last >= 0 else 0
        last = tick
        if held and flags & DRAG:
            seen.reactions.append((tick - sent[1], 1000 * (time.perf_counter() - sent[0])))
            await socket.send('{"type": "release"}')
            held = False
        elif drags and not held and not flags & DRAG and time.perf_counter() > due:
            x, y, z = struct.unpack_from("<fff", message, HEADER.size + 4 * 7)  # of body 1, the root
            await socket.send(json.dumps({"type": "drag", "body": "pelvis", "target": [x, y, z + 0.05]}))
            held, sent, due = True, (time.perf_counter(), tick), time.perf_counter() + APART
    return seen


async def crowd(address: str, clients: int, seconds: float) -> list[Seen]:
    """Send a crowd to a studio."""
    parts = urlsplit(address)
    given = cookie(address)
    headers = {"Cookie": given, "Origin": f"http://{parts.netloc}"}

    async def one(i: int) -> Seen:
        key, _ = await asyncio.to_thread(page, address, given)
        live = f"ws://{parts.netloc}/live?client={key}"
        async with connect(live, additional_headers=headers, compression=None) as socket:
            return await watch(socket, seconds, drags=i == 0)

    first = asyncio.create_task(one(0))
    await asyncio.sleep(0.1)  # the first one controls
    return list(await asyncio.gather(first, *(one(i) for i in range(1, clients))))


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    seen = asyncio.run(crowd(options.address, options.clients, options.seconds))
    print(json.dumps([asdict(one) for one in seen]))


if __name__ == "__main__":
    main()
