"""What the studio costs: beside the planner, to the planner, and to who waits for a reaction.

    figures = measure(samples=32, seconds=10.0, clients=1, threads=0)
    figures["kept"]                  # share of its frames a second that a planner keeps while it is watched

The studio runs in this process, as `tumble studio` does, behind its guard; a crowd of clients runs in another, so that
reading frames costs this one nothing. Rates of a watched and of an unwatched planner are measured in turns, as a
machine that others use is not the same a minute later.
"""

import asyncio
import contextlib
import json
import resource
import sys
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tumble.planners import CPBPSettings, Plan, Planner
from tumble.scenarios import Trial
from tumble.studio.choice import Choice
from tumble.studio.gate import Gate, hosts_for
from tumble.studio.hub import Hub
from tumble.studio.server import LOOP, bind, listen, server_for
from tumble.studio.stage import FASTEST, Stage
from tumble.world.scene import Scene

WARM = 1.5  # s before a crowd is counted on
TURNS = 4  # with and without a client, one after the other


@dataclass(frozen=True)
class _IdleSettings:
    samples: int = 32
    horizon: float = 1.2


class _Idle(Planner):
    """Plans nothing, and shows as many futures as one that does: what is left of a core's time is serving."""

    def __init__(self, scene: Scene) -> None:
        self.settings = _IdleSettings()
        super().__init__(scene, 2, self.settings.horizon, 0, 1)
        lines = self.rng.normal(size=(34, self.steps, 3))
        none = np.zeros((self.steps, 7))
        hold = np.tile(np.r_[np.zeros(scene.drive.joints), np.ones(scene.drive.size - scene.drive.joints)], (1, 1))
        self._plan = Plan(hold, 0.0, none, lines[0], lines[2:], lines[1], 0.0, 0, 0)

    def _forget(self) -> None:
        pass

    def plan(self, state: np.ndarray, goal: Any) -> Plan:
        return self._plan


@contextlib.asynccontextmanager
async def _open(stage: Stage, hub: Hub) -> AsyncIterator[str]:
    """Serve a stage on a free port; gives the address."""
    hub.stage = stage
    with bind("127.0.0.1", 0) as listening:
        gate = Gate(hosts_for("127.0.0.1"), port=listening.getsockname()[1])
        server = server_for(hub, gate)
        task = asyncio.create_task(listen(server, hub, listening))
        try:
            while not stage.ready:
                await asyncio.sleep(0.05)
            yield f"http://127.0.0.1:{gate.port}/?token={gate.token}"
        finally:
            server.should_exit = True
            await task


async def _crowd(address: str, clients: int, seconds: float) -> list[dict[str, Any]]:
    """Send a crowd from a process of its own."""
    words = ["-m", "tumble.studio.crowd", address, "--clients", str(clients), "--seconds", str(seconds)]
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    return list(json.loads(output))


def measure(samples: int, seconds: float, clients: int, threads: int) -> dict[str, Any]:
    """Serve a studio here and send a crowd to it from another process.

    Args:
      samples: futures of C-PBP where it plans.
      seconds: that serving is measured for; comparing rates takes 20 s at most.
      clients: in the crowd.
      threads: for the physics; 0: one per core.

    Returns:
      headless_rate, live_rate: frames a second alone and watched, at twice real time; kept: their ratio's median.
      bytes_a_frame, largest_frame: of messages.
      reaction_frames, reaction_ms: from a drag that is sent to a frame that shows it, median and most.
      idle_rate, core_share, missed, grown_mb: serving where nobody plans, `clients` watching.
    """
    with asyncio.Runner(loop_factory=LOOP) as runner:
        return runner.run(_measure(samples, seconds, clients, threads))


async def _measure(samples: int, seconds: float, clients: int, threads: int) -> dict[str, Any]:
    hub, settings = Hub(asyncio.get_running_loop()), CPBPSettings(samples=samples)
    stage = Stage(Choice("stand"), hub, threads, settings)
    async with _open(stage, hub) as address:
        short = min(seconds, 20.0)
        figures = await _rates(stage, hub, address, short, Choice("stand").trial(threads, settings))
        figures |= await _reactions(stage, address, short)
        figures |= await _costs(stage, address, seconds, clients)
    return figures


async def _rates(stage: Stage, hub: Hub, address: str, seconds: float, alone: Trial) -> dict[str, Any]:
    """Frames a second with one client and without any, in turns; bytes of a frame."""
    await _do(stage, lambda: stage.slow(FASTEST))
    crowd = asyncio.create_task(_crowd(address, 1, 2 * seconds + TURNS + WARM))
    while not hub.viewers:
        await asyncio.sleep(0.05)
    await asyncio.sleep(WARM)
    live, headless = [], []
    for _ in range(TURNS):
        began, tick = time.perf_counter(), stage.timeline.newest
        await asyncio.sleep(seconds / TURNS)
        live.append((stage.timeline.newest - tick) / (time.perf_counter() - began))
        headless.append(await _do(stage, lambda: _run(alone, seconds / TURNS)))
    (seen,) = await crowd
    return {
        "headless_rate": float(np.median(headless)),
        "live_rate": float(np.median(live)),
        "kept": float(np.median(np.array(live) / headless)),
        "bytes_a_frame": seen["bytes"] / max(1, seen["frames"]),
        "largest_frame": seen["largest"],
    }


async def _reactions(stage: Stage, address: str, seconds: float) -> dict[str, Any]:
    """How soon a drag shows while C-PBP plans, in real time or what is left of it."""
    await _do(stage, lambda: stage.slow(1.0))
    (seen,) = await _crowd(address, 1, seconds)
    frames, milliseconds = zip(*seen["reactions"], strict=True)
    return {
        "reaction_frames": {"median": float(np.median(frames)), "most": int(max(frames))},
        "reaction_ms": {"median": float(np.median(milliseconds)), "most": float(max(milliseconds))},
    }


async def _costs(stage: Stage, address: str, seconds: float, clients: int) -> dict[str, Any]:
    """Of one core at 60 frames a second without a planner; frames that were missed; memory."""
    await _do(stage, lambda: setattr(stage.trial.controller, "planner", _Idle(stage.trial.scene)))
    await _do(stage, lambda: stage.slow(2.0))
    crowd = asyncio.create_task(_crowd(address, clients, seconds + 2 * WARM))
    await asyncio.sleep(2 * WARM)
    began, cpu, tick, memory = time.perf_counter(), time.process_time(), stage.timeline.newest, _memory()
    await asyncio.sleep(seconds - WARM)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    rate, grown = (stage.timeline.newest - tick) / wall, _memory() - memory
    seen = await crowd
    return {
        "clients": clients,
        "idle_rate": rate,
        "core_share": cpu / wall,
        "missed": sum(one["missed"] for one in seen),
        "grown_mb": grown,
    }


async def _do(stage: Stage, job: Callable[[], Any]) -> Any:
    """Have a job done in the stage's thread, and wait for it."""
    return await asyncio.wrap_future(stage.post(job))


def _run(trial: Trial, seconds: float) -> float:
    """Frames a second of a trial that nobody watches."""
    began, frames = time.perf_counter(), 0
    while time.perf_counter() < began + seconds:
        trial.step()
        frames += 1
    return frames / (time.perf_counter() - began)


def _memory() -> float:
    """MB that this process has in memory now; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * resource.getpagesize() / 1e6
