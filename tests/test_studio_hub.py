"""Browsers of the studio, without a network: what they may ask for, who controls, and what each is sent."""

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable

import msgspec
import pytest

from tumble.errors import UserError
from tumble.goals.wants import Balance, Go, Juggle, Meet, Reach, Together
from tumble.live.commands import Drag, Explode, Push, Release, SetParameter, Throw
from tumble.studio import hub as hub_module
from tumble.studio.choice import Choice
from tumble.studio.hub import Hub
from tumble.studio.packet import HEADER
from tumble.studio.requests import Ask, Give, Hurl, PlaceBox, Remove, Resume, Scrub, Steer, decode
from tumble.studio.stage import Stage

# Requests -------------------------------------------------------------------------------------------

GOOD = [
    ('{"type": "steer", "x": 1, "y": -0.5}', Steer(1.0, -0.5)),
    ('{"type": "steer", "x": 0, "y": 0, "turbo": true}', Steer(0.0, 0.0, True)),
    ('{"type": "hurl", "position": [1, 2, 3], "velocity": [4, 5, 6]}', Hurl((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 5.0)),
    (
        '{"type": "hurl", "position": [1, 2, 3], "velocity": [4, 5, 6], "mass": 0.5}',
        Hurl((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 0.5),
    ),
    ('{"type": "scrub", "tick": 12}', Scrub(12)),
    ('{"type": "resume", "tick": -3}', Resume(-3)),
    ('{"type": "ask"}', Ask()),
    ('{"type": "give", "accept": false}', Give(False)),
    ('{"type": "push", "body": "torso", "force": [400, 0, 0]}', Push("torso", (400.0, 0.0, 0.0))),
    ('{"type": "drag", "body": "torso", "target": [1, 0, 0]}', Drag("torso", (1.0, 0.0, 0.0))),
    ('{"type": "release"}', Release()),
    ('{"type": "explode", "at": [0, 0, 0]}', Explode((0.0, 0.0, 0.0))),
    ('{"type": "throw", "position": [0, 0, 1], "velocity": [0, 0, 0]}', Throw((0.0, 0.0, 1.0), (0.0, 0.0, 0.0))),
    (
        '{"type": "place", "name": "step", "position": [1, 0, 0.1], "size": [0.2, 0.5, 0.1]}',
        PlaceBox("step", (1.0, 0.0, 0.1), (0.2, 0.5, 0.1)),
    ),
    ('{"type": "remove", "name": "step"}', Remove("step")),
    ('{"type": "balance"}', Balance()),
    ('{"type": "go", "speed": 0.5, "style": "turbo"}', Go(speed=0.5, style="turbo")),
    ('{"type": "together", "wants": [{"type": "juggle"}]}', Together((Juggle(),))),
    ('{"type": "setparameter", "name": "samples", "value": 8}', SetParameter("samples", 8.0)),
]


@pytest.mark.parametrize(("text", "request_"), GOOD, ids=[text for text, _ in GOOD])
def test_requests_are_read_and_written_alike(text, request_):
    assert decode(text) == decode(text.encode()) == request_
    assert decode(msgspec.json.encode(request_)) == request_


BAD = [
    ("", "truncated"),
    ("steer", "malformed"),
    ("null", "Expected `object`"),
    ("[]", "Expected `object`"),
    ("{}", "missing required field `type`"),
    ('{"type": 3}', "Expected `str`"),
    ('{"type": "Steer", "x": 0, "y": 0}', "Invalid value 'Steer'"),
    ('{"type": "choose"}', "Invalid value 'choose'"),
    ('{"type": "steer", "x": 1}', "missing required field `y`"),
    ('{"type": "steer", "x": "1", "y": 0}', "Expected `float`"),
    ('{"type": "steer", "x": NaN, "y": 0}', "malformed"),
    ('{"type": "steer", "x": 1e999, "y": 0}', "out of range"),
    ('{"type": "steer", "x": 0, "y": 0, "turbo": 1}', "Expected `bool`"),
    ('{"type": "steer", "x": 0, "y": 0, "z": 0}', "unknown field `z`"),
    ('{"type": "hurl", "position": [1, 2], "velocity": [4, 5, 6]}', "length 3"),
    ('{"type": "hurl", "position": [1, 2, 3]}', "missing required field `velocity`"),
    ('{"type": "scrub", "tick": 1.5}', "Expected `int`"),
    ('{"type": "scrub", "tick": null}', "Expected `int`"),
    ('{"type": "resume"}', "missing required field `tick`"),
    ('{"type": "ask", "now": true}', "unknown field `now`"),
    ('{"type": "give"}', "missing required field `accept`"),
    ('{"type": "give", "accept": "yes"}', "Expected `bool`"),
    ('{"type": "ask"} {"type": "ask"}', "trailing characters"),
    ("[" * 100_000, "Expected `object`"),
    ('{"type": "ask", "x": ' + "[" * 100_000 + "}", "unknown field"),
    (b'{"type": "push", "body": "\xff", "force": [1, 2, 3]}', ""),
    (b"\x00\x01\x02", "malformed"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[str(text)[:40] for text, _ in BAD])
def test_all_else_is_refused(text, message):
    with pytest.raises(UserError, match="^not a request: .*" + re.escape(message)):
        decode(text)


# Browsers -------------------------------------------------------------------------------------------


class Gone(Exception):
    """The socket is closed."""


class Browser:
    """The far end of a socket: notes what it is sent, in order, and sends what it is told to."""

    def __init__(self, key: str) -> None:
        self.key, self.got = key, list[dict | bytes]()
        self.open = asyncio.Event()  # whether it takes anything
        self.open.set()
        self._news, self._outbox = asyncio.Event(), asyncio.Queue()

    async def send_text(self, data: str) -> None:
        await self._take(json.loads(data))

    async def send_bytes(self, data: bytes) -> None:
        await self._take(data)

    async def _take(self, message: dict | bytes) -> None:
        await self.open.wait()
        self.got.append(message)
        self._news.set()

    async def _receive(self) -> str:
        text = await self._outbox.get()
        if text is None:
            raise Gone
        return text

    def join(self, hub: Hub) -> "Browser":
        self.peer = asyncio.create_task(hub.serve(self.key, self, self._receive))
        return self

    def send(self, *requests) -> None:
        for request in requests:
            self._outbox.put_nowait(request if isinstance(request, str) else msgspec.json.encode(request).decode())

    async def leave(self) -> None:
        self._outbox.put_nowait(None)
        with pytest.raises(Gone):
            await self.peer

    async def until(self, what: Callable[[], bool]) -> None:
        """Wait until something holds of what it got."""
        while not what():
            self._news.clear()
            await self._news.wait()

    def told(self, kind: str) -> list[dict]:
        return [message for message in self.got if isinstance(message, dict) and message["type"] == kind]

    @property
    def frames(self) -> list[bytes]:
        return [message for message in self.got if isinstance(message, bytes)]

    @property
    def ticks(self) -> list[int]:
        return [HEADER.unpack_from(frame)[3] for frame in self.frames]

    async def hear(self, kind: str, count: int = 1, **fields) -> dict:
        """Wait for messages of a kind with such fields, and return the last one."""

        def heard() -> list[dict]:
            return [one for one in self.told(kind) if fields.items() <= one.items()]

        await self.until(lambda: len(heard()) >= count)
        return heard()[-1]


@pytest.fixture
def play(small):
    """Run a scene with a hub and its stage, on a loop of its own."""

    def run(scene: Callable[[Hub], Awaitable[None]]) -> None:
        async def main() -> None:
            hub = Hub(asyncio.get_running_loop())
            hub.stage = Stage(Choice("stand"), hub, 1, small)
            hub.stage.start()
            try:
                await asyncio.wait_for(scene(hub), 30)
            finally:
                await asyncio.to_thread(hub.stage.close)

        asyncio.run(main())

    return run


async def done(hub: Hub, job: Callable[[], object] = lambda: None) -> object:
    """Have the stage do something, after all that was asked of it before, and have the loop hear of it."""
    result = await asyncio.wrap_future(hub.stage.post(job))
    await asyncio.sleep(0)
    return result


async def cast(hub: Hub, *keys: str) -> list[Browser]:
    """Browsers that have come one after the other."""
    browsers = []
    for key in keys:
        browsers.append(Browser(key).join(hub))
        await browsers[-1].hear("hello")
    return browsers


# Who controls


def test_the_first_controls_and_the_others_watch(play):
    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        assert a.told("hello") == [{"type": "hello", "client": "a", "dt": pytest.approx(1 / 30), "controls": True}]
        assert b.told("hello")[0]["controls"] is False
        state = {"type": "controls", "holder": "viewer 1", "waiting": []}
        await a.hear("controls", 2)
        await b.hear("controls")
        assert a.told("controls")[-1] == {**state, "controls": True}
        assert b.told("controls")[-1] == {**state, "controls": False}
        assert a.got[0]["type"] in ("hello", "controls")
        assert hub.controls("a") and not hub.controls("b")

    play(scene)


def test_who_watches_is_refused(play):
    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        await done(hub, hub.stage.pause)
        session = hub.stage.trial.session
        requests = [Drag("torso", (1.0, 0.0, 1.0)), Steer(1.0, 0.0), Give(True), Scrub(1), Hurl((1, 0, 1), (0, 0, 0))]
        b.send(*requests)
        error = await b.hear("error", len(requests))
        assert error["text"] == "you are watching; ask for control first"
        await done(hub)
        assert (session.drag, session.asked, session.scene.props, hub.stage.past) == (None, Balance(), (), None)
        assert not a.told("error") and hub.controls("a")

    play(scene)


def test_control_is_asked_for_and_given(play):
    async def scene(hub):
        a, b, c = await cast(hub, "a", "b", "c")
        a.send(Ask())  # has it
        b.send(Ask())
        await a.hear("controls", waiting=["viewer 2"])
        c.send(Ask())
        await a.hear("controls", waiting=["viewer 2", "viewer 3"])
        timer, told = hub._asking["b"], len(b.told("controls"))
        b.send(Ask())  # once is enough
        await b.hear("controls", told + 1)
        assert hub._asking["b"] is timer
        a.send(Give(True))
        await b.hear("controls", controls=True, holder="viewer 2", waiting=["viewer 3"])
        await a.hear("controls", controls=False, holder="viewer 2")
        assert hub.holder == "b"
        a.send(Give(True))  # no longer theirs to give
        await a.hear("error")
        b.send(Give(True))
        await c.hear("controls", controls=True, waiting=[])
        assert hub.holder == "c"

    play(scene)


def test_control_is_asked_for_and_kept(play, monkeypatch):
    async def scene(hub):
        a, b, c = await cast(hub, "a", "b", "c")
        b.send(Ask())
        c.send(Ask())
        await a.hear("controls", waiting=["viewer 2", "viewer 3"])
        monkeypatch.setattr(hub_module, "PATIENCE", 0.05)
        a.send(Give(False))
        assert (await b.hear("note"))["text"] == (await c.hear("note"))["text"] == "control was not given"
        await a.hear("controls", 2, waiting=[])
        assert hub.holder == "a" and not hub._asking
        b.send(Ask())  # and may ask again
        await b.hear("controls", controls=True)

    play(scene)


def test_no_answer_gives_control_away(play, monkeypatch):
    monkeypatch.setattr(hub_module, "PATIENCE", 0.05)

    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        b.send(Ask())
        await a.hear("controls", waiting=["viewer 2"], controls=True)
        await b.hear("controls", controls=True, waiting=[])
        await a.hear("controls", controls=False, holder="viewer 2")

    play(scene)


def test_who_asked_and_left_gets_nothing(play, monkeypatch):
    monkeypatch.setattr(hub_module, "PATIENCE", 0.05)

    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        b.send(Ask())
        await a.hear("controls", waiting=["viewer 2"])
        (timer,) = hub._asking.values()
        await b.leave()
        await a.hear("controls", 3, waiting=[])
        assert timer.cancelled() and hub.holder == "a"
        a.send(Give(True))
        await done(hub)
        assert hub.holder == "a"

    play(scene)


def test_who_asks_where_nobody_controls_gets_it_at_once(play):
    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        await a.leave()
        await b.hear("controls", holder="nobody")
        assert hub.holder == "a"  # it may come back
        b.send(Ask())
        await b.hear("controls", controls=True)

    play(scene)


def test_who_comes_where_nobody_controls_gets_it(play):
    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        await a.leave()
        (c,) = await cast(hub, "c")
        assert c.told("hello")[0]["controls"] is True
        await b.hear("controls", holder="viewer 3")

    play(scene)


def test_who_comes_back_has_what_it_had(play):
    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        await a.leave()
        assert "a" not in hub.viewers
        (again,) = await cast(hub, "a")
        assert again.told("hello")[0]["controls"] is True
        again.send(Steer(1.0, 0.0))
        again.send(Explode((0.0, 0.0, 0.0), 2000.0))
        await again.hear("error")
        assert hub.stage.director.goal == "steer"
        assert not b.told("error")

    play(scene)


def test_who_comes_back_before_it_was_missed_stays(play):
    async def scene(hub):
        (a,) = await cast(hub, "a")
        (again,) = await cast(hub, "a")
        await a.leave()
        assert list(hub.viewers) == ["a"] and hub.stage.watched
        frames = len(again.frames)
        await again.until(lambda: len(again.frames) > frames + 1)
        assert hub.controls("a")
        await again.leave()
        assert not hub.viewers and not hub.stage.watched

    play(scene)


HOLD = Drag("left_hand", (0.5, 0.5, 1.5))


def test_what_a_lost_browser_held_is_let_go(play):
    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        hand = hub.stage.director
        a.send(HOLD, Steer(1.0, 0.0))
        await a.until(lambda: hand.trial.session.drag == HOLD and hand.goal == "steer")
        await b.leave()  # who only watches holds nothing
        await done(hub)
        assert (hand.trial.session.drag, hand.goal) == (HOLD, "steer")
        await a.leave()
        await done(hub)
        assert (hand.trial.session.drag, hand.trial.session.asked) == (None, Balance())

    play(scene)


def test_what_is_held_is_let_go_where_control_is_given(play):
    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        hand = hub.stage.director
        a.send(HOLD, Steer(1.0, 0.0))
        b.send(Ask())
        await a.until(lambda: hand.goal == "steer")
        await a.hear("controls", waiting=["viewer 2"])
        a.send(Give(True))
        await b.hear("controls", controls=True)
        await done(hub)
        assert (hand.trial.session.drag, hand.trial.session.asked) == (None, Balance())

    play(scene)


def test_also_where_many_commands_wait(play):
    async def scene(hub):
        (a,) = await cast(hub, "a")
        await done(hub, hub.stage.pause)
        a.send(HOLD)
        for _ in range(300):
            a.send(Push("torso", (1.0, 0.0, 0.0)))
        assert "256 commands wait" in (await a.hear("error", 44))["text"]
        await a.leave()
        await done(hub)
        assert hub.stage.trial.session.drag is None

    play(scene)


# What is asked of the stage


def test_requests_reach_the_stage(play):
    async def scene(hub):
        (a,) = await cast(hub, "a")
        await a.until(lambda: len(a.frames) >= 4)
        stage = hub.stage
        a.send(Scrub(2))
        await a.until(lambda: stage.past == 2)
        assert not stage.playing
        a.send(Resume(1))
        await a.until(lambda: stage.past is None and stage.playing and a.ticks[-1] <= 3)
        await done(hub, stage.pause)
        a.send(Hurl((3.0, 0.0, 1.0), (0.0, 0.0, 0.0), 2.5), SetParameter("samples", 4), Steer(0.0, 1.0, True))
        a.send(Meet("no such goal"))
        await a.hear("error")
        await done(hub, stage.advance)
        assert stage.trial.scene.props[0].mass == 2.5
        assert stage.trial.controller.planner.settings.samples == 4
        assert stage.trial.session.wanted == Go(speed=1.25, heading=math.pi / 2, style="turbo")
        a.send(PlaceBox("step", (2.0, 0.0, 0.1), (0.2, 0.5, 0.1)), Remove("thrown"), Remove("nothing"))
        await a.hear("error", 2)
        assert [prop.name for prop in stage.trial.scene.props] == ["step"]

    play(scene)


ERRORS = [
    (Drag("left_hnad", (0.0, 0.0, 0.0)), "(did you mean 'left_hand'?)"),
    (Resume(-1), "the timeline holds ticks"),
    (Steer(5.0, 0.0), "length of a steering direction must be a number"),
    (Hurl((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), 1e9), "mass of a ball must be a number 0.1 or more and at most 500"),
    (SetParameter("samples", 1), "samples must be a number 2 or more"),
    (Juggle(), "no ball 'ball' in the scene"),
    (PlaceBox("torso", (1.0, 0.0, 1.0), (0.1, 0.1, 0.1)), "'torso'"),
    (PlaceBox("step", (1.0, 0.0, 1.0), (0.1, 0.1, -0.1)), "half size of box 'step' must be a number"),
    (Remove("step"), "no prop 'step' in the scene; there are: none"),
]


def test_mistakes_are_told_to_who_made_them(play):
    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        await a.until(lambda: a.ticks[-1:] > [0])
        for i, (request, message) in enumerate(ERRORS):
            a.send(request)
            assert message in (await a.hear("error", i + 1))["text"]
        frames = len(b.frames)
        await b.until(lambda: len(b.frames) > frames + 1)
        assert not b.told("error")

    play(scene)


def test_a_failure_of_ours_is_told_too(play, monkeypatch):
    async def scene(hub):
        (a,) = await cast(hub, "a")

        def fail(*arguments):
            raise ZeroDivisionError("oh")

        monkeypatch.setattr(hub.stage.director, "steer", fail)
        a.send(Steer(1.0, 0.0))
        assert (await a.hear("error"))["text"] == "this failed: ZeroDivisionError('oh')"
        monkeypatch.undo()
        await a.until(lambda: len(a.frames) > 2)

    play(scene)


@pytest.mark.parametrize("text", ["hello", '{"type": "steer", "x": 1}', '{"type": "launch"}', ""])
def test_what_is_no_request_ends_its_sender_and_nobody_else(play, text):
    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        a.send(HOLD)
        a.send(text)
        with pytest.raises(UserError, match="not a request: "):
            await a.peer
        assert list(hub.viewers) == ["b"]
        await done(hub)
        assert hub.stage.trial.session.drag is None
        frames = len(b.frames)
        await b.until(lambda: len(b.frames) > frames + 1)

    play(scene)


# What is sent


def test_lessons_come_once_and_before_the_frame_that_needs_them(play):
    async def scene(hub):
        (a,) = await cast(hub, "a")
        await a.until(lambda: len(a.frames) > 2)
        a.send(HOLD)  # a look at who pulls is another term
        await a.until(lambda: any("facing" in told["names"] for told in a.told("terms")))
        a.send(Hurl((3.0, 0.0, 1.0), (0.0, 0.0, 0.0), 2.0))
        await a.hear("scene", 2)
        (b,) = await cast(hub, "b")
        a.send(Scrub(1))
        await a.until(lambda: a.ticks[-1] == 1)
        await b.until(lambda: b.ticks[-1:] == [1])
        for browser in (a, b):
            known = set()
            for message in browser.got:
                if isinstance(message, bytes):
                    head = HEADER.unpack_from(message)
                    assert {("scene", head[2]), ("terms", head[-1])} <= known
                elif message["type"] in ("scene", "terms"):
                    assert (message["type"], message["id"]) not in known
                    known.add((message["type"], message["id"]))
        first, second = a.told("scene")
        assert [body["name"] for body in second["bodies"]] == [*(body["name"] for body in first["bodies"]), "thrown"]
        assert first["bodies"][first["root"]]["name"] == "pelvis"
        names = {told["id"]: told["names"] for told in a.told("terms")}
        plain, facing = (told for told in names.values() if told)  # before the first frame there are none
        assert facing == [*plain, "facing"]
        assert all(len(names[head[-1]]) == head[-2] for head in map(HEADER.unpack_from, a.frames))

    play(scene)


def test_who_comes_late_sees_what_is_shown(play):
    async def scene(hub):
        (a,) = await cast(hub, "a")
        await a.until(lambda: len(a.frames) > 2)
        await done(hub, hub.stage.pause)
        newest = hub.stage.timeline.newest
        (b,) = await cast(hub, "b")
        await b.until(lambda: b.frames)
        assert b.ticks == [newest]

    play(scene)


def test_frames_come_in_order_to_everybody(play):
    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        await a.until(lambda: len(a.frames) > 8)
        await b.until(lambda: b.ticks[-1:] == a.ticks[-1:])
        for browser in (a, b):
            assert browser.ticks == sorted(set(browser.ticks))

    play(scene)


def test_who_is_slow_misses_frames_and_holds_nobody_up(play):
    async def scene(hub):
        a, slow = await cast(hub, "a", "slow")
        await slow.until(lambda: slow.frames)
        slow.open.clear()
        before, frames = len(slow.frames), len(a.frames)
        await a.until(lambda: len(a.frames) > frames + 5)
        await done(hub, hub.stage.pause)
        newest = hub.stage.timeline.newest
        await a.until(lambda: a.ticks[-1] == newest)
        assert len(slow.frames) == before
        slow.open.set()
        await slow.until(lambda: slow.ticks[-1] == newest)
        assert len(slow.frames) <= before + 2  # the one that was under way, and the newest

    play(scene)


def test_who_is_too_slow_is_left(play, monkeypatch):
    async def scene(hub):
        a, slow = await cast(hub, "a", "slow")
        monkeypatch.setattr(hub_module, "SLOW", 0.05)
        await a.until(lambda: a.frames)
        slow.open.clear()
        with pytest.raises(TimeoutError):
            await slow.peer
        assert list(hub.viewers) == ["a"]
        frames = len(a.frames)
        await a.until(lambda: len(a.frames) > frames + 1)

    play(scene)


def test_a_socket_that_fails_ends_its_browser(play):
    async def scene(hub):
        _, b = await cast(hub, "a", "b")

        async def fail(data):
            raise ConnectionResetError("gone")

        b.send_bytes = fail
        with pytest.raises(ConnectionResetError):
            await b.peer
        assert list(hub.viewers) == ["a"] and hub.stage.watched

    play(scene)


def test_nobody_left_nothing_moves(play):
    async def scene(hub):
        assert not hub.stage.watched
        a, b = await cast(hub, "a", "b")
        await a.until(lambda: len(a.frames) > 1)
        await a.leave()
        assert hub.stage.watched
        await b.leave()
        await done(hub)
        assert not hub.stage.watched
        newest = hub.stage.timeline.newest
        await done(hub)
        assert hub.stage.timeline.newest == newest

    play(scene)


def test_everybody_hears_what_the_stage_says(play):
    async def scene(hub):
        a, b = await cast(hub, "a", "b")
        await done(hub, lambda: hub.say("the roof is on fire"))
        for browser in (a, b):
            assert await browser.hear("note", text="the roof is on fire")

    play(scene)


def test_panels_look_again(play):
    async def scene(hub):
        looks = []
        hub.admit("a", "one", lambda: looks.append("a"))
        hub.admit("b", "two", lambda: looks.append("b"))
        assert hub.knows("a", "one") and not hub.knows("a", "two") and not hub.knows("c", "one")
        (a,) = await cast(hub, "a")
        await a.until(lambda: len(a.frames) > 1)  # all is compiled, which is told
        await done(hub)
        looks.clear()
        a.send(Reach((0.5, 0.0, 1.2)))
        await a.until(lambda: hub.stage.director.goal == "reach")
        await done(hub)
        assert looks == ["a", "b"]
        hub.refresh(but="a")
        assert looks == ["a", "b", "b"]
        hub.forget("b")
        hub.forget("never there")
        assert not hub.knows("b", "two")
        looks.clear()
        a.send(Steer(1.0, 0.0))
        await a.until(lambda: hub.stage.director.goal == "steer")
        await done(hub)
        a.send(Steer(0.5, 0.0))  # the same goal
        await done(hub)
        assert looks == ["a"]
        a.send(Steer(0.0, 0.0))  # sliders show what is wanted now
        await a.until(lambda: hub.stage.director.goal == "reach")
        await done(hub)
        assert looks == ["a", "a"]
        looks.clear()
        for goal in (Balance(), *2 * (Balance(pose="taiko"),)):  # the last one is nothing new
            a.send(goal)
            await a.until(lambda goal=goal: hub.stage.trial.session.asked == goal)
            await done(hub)
        assert looks == ["a", "a"]

    play(scene)


def test_panels_look_again_when_a_walker_that_was_steered_is_let_go(small):
    """Its goal is the same before, meanwhile and after: to go."""
    looks = []
    stage = Stage(Choice("steer-walk", "biped", "walker"), None, 1)
    director = stage.director
    for x in (0.986, 0.5, 0.0):
        before = hub_module.seen(director)
        director.steer(x, 0.0)
        looks.append(hub_module.seen(director) != before)
    assert looks == [True, False, True]


def test_a_stage_outlives_its_loop(small):
    """A browser's last frames come when nobody is left to be told."""

    async def main() -> Hub:
        hub = Hub(asyncio.get_running_loop())
        hub.stage = Stage(Choice("stand"), hub, 1, small)
        return hub

    hub = asyncio.run(main())
    hub.stage.start()
    hub.stage.post(hub.stage.advance).result(30)
    assert hub.stage.post(lambda: 42).result(30) == 42
    hub.stage.close()


def test_who_asked_first_gets_what_a_lost_controller_leaves(play):
    async def scene(hub):
        a, b, c = await cast(hub, "a", "b", "c")
        c.send(Ask())
        await a.until(lambda: a.told("controls")[-1]["waiting"])
        await a.leave()
        await c.until(lambda: c.told("controls")[-1]["controls"])
        assert not b.told("controls")[-1]["controls"]

    play(scene)
