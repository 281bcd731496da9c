"""`tumble task run [FILE.py] NAME|FILE`: a policy from many random starts, for random goals."""

import json
import time
from typing import Annotated, Any

import numpy as np
import tyro

from tumble.cli.options import CONFIG, own_file
from tumble.cli.progress import compile_line
from tumble.errors import check_number
from tumble.tasks.judging import judged
from tumble.tasks.library import TASKS
from tumble.tasks.policy import policy_named

FIRST = 1.0  # s of one start that is not timed: it compiles, or reads what was compiled


def summary(name: str, count: int, seed: int, seconds: float) -> dict[str, Any]:
    """The contract of `tumble task run --json`."""
    policy = policy_named(name)
    task = TASKS[policy.header.task].make()
    judged(task, policy, 1, seed, FIRST)
    began = time.process_time()
    found = judged(task, policy, count, seed, seconds)
    cpu = time.process_time() - began
    reached = found.seconds[found.reached]
    return {
        "task": task.name,
        "count": count,
        "seed": seed,
        "reached": int(found.reached.sum()),
        "fell": int(found.fell.sum()),
        "seconds": float(reached.mean()) if reached.size else None,
        "slowest": float(reached.max()) if reached.size else None,
        "simulated": float(found.simulated),
        "cpu_seconds": cpu,
        "times_real_time": float(found.simulated / cpu),
        "missed": np.flatnonzero(~found.reached).tolist(),
    }


def main(arguments: list[str]) -> int:
    """Parse and run; the exit code."""
    _, rest = own_file(arguments)

    def go(
        name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")],
        count: int = 100,
        seed: int = 0,
        seconds: float = 30.0,
        as_json: Annotated[bool, tyro.conf.arg(name="json")] = False,
    ) -> int:
        """Put a policy to random starts, all at once on one thread, each with a goal from anywhere in the task's grid.

        A start is that of a random gait, all its speeds disturbed. Well done is who comes to where the task rewards it,
        in time, and has not fallen 2 s later. How many times real time that is counts the CPU seconds of this process,
        so that others on the machine do not matter: what one core does alone.

        Example: tumble task run heading --count 100 --seed 7

        Example, a task of your own: tumble task run examples/own_task.py patrol.policy

        Args:
          name: of a policy that ships, or a file that ends in .policy.
          count: of starts.
          seed: of starts and goals.
          seconds: in which the goal is to be reached.
          as_json: print one JSON object on standard output.
        """
        check_number("count", count, 1, 10_000)
        check_number("seed", seed, 0)
        check_number("seconds", seconds, 1.0, 600.0)
        with compile_line("the policy"):
            found = summary(name, count, seed, seconds)
        if as_json:
            print(json.dumps(found))
            return 0
        mean = "" if found["seconds"] is None else f", after {found['seconds']:.1f} s, {found['slowest']:.1f} at most"
        print(
            f"{found['task']}: {found['reached']} of {count} reached their goal{mean}; {found['fell']} fell"
            f" ({found['times_real_time']:.0f} times real time)"
        )
        return 0 if found["reached"] == count else 1

    return tyro.cli(go, prog="tumble task run", args=rest, config=CONFIG)
