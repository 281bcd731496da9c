"""Results of many trials, added up: the contract of `tumble run --json`, and the same in words.

tally = Tally()
tally.add(seed, result, wall_seconds)
report(tally.summary("push", "cpbp", "humanoid"), written=[])
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from tumble.scenarios import Result


@dataclass
class Tally:
    """Results of the trials so far."""

    seeds: list[int] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    wall_seconds: float = 0.0

    def add(self, seed: int, result: Result, wall_seconds: float) -> None:
        """Count a finished trial.

        Args:
          wall_seconds: that it took, without compiling before it.
        """
        self.seeds.append(seed)
        self.results.append(result)
        self.wall_seconds += wall_seconds

    def summary(self, scenario: str, controller: str, body: str) -> dict[str, Any]:
        """The contract of `tumble run --json`.

        Of all trials that came to their end: seeds, successes and their rate, simulated and wall seconds and their
        ratio, percentiles of a frame's control in ms, simulation steps of planning, simulations that went unstable, and
        means of the metrics by name; falls are added up. Lists are in the order of the trials.

        Args:
          scenario, controller, body: names of what was run.
        """
        plans = 1000 * np.concatenate([result.plan_seconds for result in self.results] or [[0.0]])
        seconds = sum(result.seconds for result in self.results)
        successes = int(sum(result.success for result in self.results))  # of numpy too, which is no JSON
        names = self.results[0].metrics if self.results else {}
        metrics = {name: float(np.mean([result.metrics[name] for result in self.results])) for name in names}
        if "falls" in metrics:
            metrics["falls"] = int(sum(result.metrics["falls"] for result in self.results))
        return {
            "scenario": scenario,
            "controller": controller,
            "character": body,
            "seeds": self.seeds,
            "trials": len(self.results),
            "successes": successes,
            "success_rate": successes / max(1, len(self.results)),
            "seconds": seconds,
            "frames": sum(result.frames for result in self.results),
            "wall_seconds": self.wall_seconds,
            "realtime_factor": seconds / self.wall_seconds if self.wall_seconds else 0.0,
            "plan_ms": {"p50": float(np.percentile(plans, 50)), "p95": float(np.percentile(plans, 95))},
            "sim_steps": sum(result.sim_steps for result in self.results),
            "broken_rows": sum(result.broken_rows for result in self.results),
            "metrics": metrics,
        }


def report(summary: dict[str, Any], written: list[Path], learned: Path | None = None) -> None:
    """Tell people how it went, what was recorded, and which file of what was learned was used.

    Args:
      summary: of `Tally.summary`, and 'learned', how many situations, where something was.
      written: recordings.
      learned: file of what was learned.
    """
    console = Console(highlight=False)
    won, trials, metrics = summary["successes"], summary["trials"], summary["metrics"]
    colour = "green" if won == trials else "yellow" if won else "red"
    console.print(
        f"[bold {colour}]{won} of {trials}[/] {summary['scenario']} with {summary['controller']}"
        f" ({summary['character']}), seeds {_span(summary['seeds'])}"
    )
    if trials:
        console.print(
            f"  {summary['seconds']:.1f} s simulated in {summary['wall_seconds']:.1f} s"
            f" ({summary['realtime_factor']:.2f} x real time), plan {summary['plan_ms']['p50']:.1f} ms"
            f" (95 %: {summary['plan_ms']['p95']:.1f}), {summary['broken_rows']} unstable simulations"
        )
        shown = ", ".join(f"{name} {value:.3g}" for name, value in metrics.items())
        console.print(f"  {shown}")
    if learned is not None:
        console.print(f"  learned from {summary['learned']} situations in {learned}")
    for path in written:
        console.print(f"  recorded {path}; look at it: tumble strip {path} {path.with_suffix('.png')}")


def _span(seeds: list[int]) -> str:
    """Seeds in words: '3', '3..12', '-' where no trial came to its end."""
    return "-" if not seeds else str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]}..{seeds[-1]}"
