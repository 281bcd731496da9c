"""Task: the bird goes to a line, by a policy that was trained offline and decides once a step.

python examples/task.py            # 20 s; a number says how many seconds instead
"""

import sys

from tumble import SCENARIOS, Trial, run_trial

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
# A trial is a scenario, a seed and a controller: what `tumble run go-to-line --seed 3` runs.
trial = Trial(SCENARIOS["go-to-line"](balls=2.0), seed=3, controller="task", seconds=seconds)
doing = [""]


def watch(session) -> None:
    """Print every action that the policy chooses."""

    def told(session, frame) -> None:
        if session.controller.report().doing != doing[-1]:
            doing.append(session.controller.report().doing)
            print(f"{frame.time:4.1f} s  {doing[-1]}")

    session.listeners.append(told)


result = run_trial(trial, watch)
print(f"{len(doing) - 1} decisions; {'there' if result.success else 'not there'} after {result.seconds:.0f} s")
