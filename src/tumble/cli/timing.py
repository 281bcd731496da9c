"""Timing a controller and the physics it acts in, frame by frame.

    timing = timed(walker, sims, seconds=10.0)
    timing.control / timing.frames                   # s of a frame

A law is asked within a frame, before every physics step: its time is taken out of the physics'.
"""

import time
from dataclasses import dataclass

from tumble.control.controller import Controller
from tumble.live.timed import TimedLaw
from tumble.world.sims import Sims


@dataclass
class Timing:
    """Wall time, s, of control and of physics over some frames."""

    control: float = 0.0
    physics: float = 0.0
    frames: int = 0

    @property
    def total(self) -> float:
        """Both, s."""
        return self.control + self.physics


def timed(controller: Controller, sims: Sims, seconds: float) -> Timing:
    """Act for a simulated second, then time control and physics of every frame for some seconds of wall time."""
    for _ in range(round(1.0 / sims.scene.dt)):
        sims.act(controller.control(sims), controller.drive)
    timing = Timing()
    while timing.total < seconds:
        began = time.perf_counter()
        control = controller.control(sims)
        before = time.perf_counter() - began
        law = TimedLaw(control) if callable(control) else None
        sims.act(law or control, controller.drive)
        all_of_it = time.perf_counter() - began
        asked = before + (law.seconds if law else 0.0)
        timing.control += asked
        timing.physics += all_of_it - asked
        timing.frames += 1
    return timing
