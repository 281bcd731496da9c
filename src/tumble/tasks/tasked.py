"""Tasked: the controller that takes the step which a policy says, once a step (coros2010 section 4.4.3).

    controller = Tasked(scene)                                  # policies that ship, by what is wanted
    session = Session(scene, controller, start, Go(heading=1.0))
    session.send(Go(target=(3.0, 1.0, 0.0)))                    # in mid-walk

A target is gone to, with a heading it is walked through facing so; a heading is walked along, with a speed at that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tumble.control.controller import Controller, Report
from tumble.errors import UserError
from tumble.goals.wants import Go, Want, name_of, part, parts
from tumble.maths.rotations import wrapped_angles
from tumble.tasks.actions import StepKind
from tumble.tasks.kinds import KINDS
from tumble.tasks.metric import Metric
from tumble.tasks.policy import Policy, policy_named, shipped
from tumble.world.scene import Scene
from tumble.world.sims import Law, Sims

MEMORY = "task"
TASKED = np.dtype(
    [
        ("strikes", "f8"),  # of the walker, when it was last decided
        ("action", "f8"),  # number
        ("x", "f8"), ("y", "f8"),  # of the target, m
        ("heading", "f8"),  # wanted, rad from the x axis
        ("speed", "f8"),  # m/s
    ]
)  # fmt: skip
NEEDS = {"ahead": "target", "left": "target"}  # axes that another word of `Go` gives; others their own


@dataclass(frozen=True)
class TaskSettings:
    """Which policy acts."""

    policy: str = ""
    """Name of a policy that ships, or a file that ends in .policy; '' for one that does what is wanted."""


class Tasked(Controller):
    """Decides once a step, when the foot has struck, which action the next step is.

    Attributes:
      stepper: who takes the steps; all policies of one controller choose among steps of one kind.
      policy: that decides; None where nothing was wanted yet, and the walker goes on as it started.
    """

    takes = (Go,)

    def __init__(
        self, scene: Scene, settings: TaskSettings = TaskSettings(), policies: Sequence[Policy] | None = None
    ) -> None:
        """Act by some policies; by default by those of the settings."""
        self.settings = settings
        self.policy: Policy | None = None
        body = scene.character.name
        names = [settings.policy] if settings.policy else list(shipped())
        found = [policy_named(name) for name in names] if policies is None else policies
        self._policies = [policy for policy in found if policy.header.character == body]
        if not self._policies:
            whose = ", ".join(sorted({f"'{policy.header.character}'" for policy in found})) or "nobody"
            raise UserError(f"no policy for '{body}', but for {whose}; train one with 'tumble task train'")
        kinds = sorted({policy.header.steps for policy in self._policies})
        if len(kinds) > 1:
            raise UserError(f"policies of '{body}' choose among {' and '.join(kinds)}: take one by --policy")
        self.stepper: StepKind = KINDS[kinds[0]](scene)
        self.move(scene)

    def move(self, scene: Scene) -> None:
        """Go on in another scene of the same character."""
        if scene is not self.stepper.walker.scene:
            self.stepper.walker.move(scene)
        self.scene, self.drive = scene, self.stepper.walker.drive
        scene.claim(MEMORY, TASKED)
        self._metric = Metric(self.stepper)
        self._tables = [self.stepper.table(policy.actions) for policy in self._policies]
        self._doing = ""

    def start(self, sims: Sims) -> None:
        """Begin as the walker does; it is decided before the first frame."""
        self.stepper.walker.start(sims)
        memory = sims.memory(MEMORY)
        memory[:] = 0.0
        memory.strikes[:] = -1.0

    def _able(self, want: Want) -> Policy:
        """The policy that does what is wanted, the one of most axes where several do; or the reason why none does."""
        go = part(want, Go)
        if go is None or len(parts(want)) > 1:
            raise UserError(f"policies of tasks go where they are wanted, and do not {name_of(want)}")
        go.check()
        for policy in sorted(self._policies, key=lambda policy: -len(policy.header.grid)):
            if {name for name, value in go.given.items() if value} <= set(needs(policy)) <= set(go.given):
                return policy
        words = {policy.header.task: ", ".join(needs(policy)) or "nothing" for policy in self._policies}
        able = "; ".join(f"'{task}' wants {needed}" for task, needed in words.items())
        raise UserError(f"no policy goes by {', '.join(go.given) or 'nothing'} alone: {able}")

    def refuses(self, sims: Sims, want: Want) -> str | None:
        """All but a `Go` whose words are those that some policy of the body needs."""
        try:
            self._able(want)
        except UserError as error:
            return str(error)
        return None

    def want(self, sims: Sims, want: Want) -> None:
        """Heed it at the next strike."""
        self.policy, go = self._able(want), part(want, Go)
        memory = sims.memory(MEMORY)
        memory.x[:], memory.y[:] = (go.target or (0.0, 0.0, 0.0))[:2]
        memory.heading[:], memory.speed[:] = go.heading or 0.0, go.speed or 0.0

    def aim(self, sims: Sims, policy: Policy, **goals: np.ndarray) -> None:
        """Have rows go by a policy, each with goals of its own: x, y, heading, speed, (nsim,) each."""
        self.policy, memory = policy, sims.memory(MEMORY)
        for name, value in goals.items():
            memory[name][:] = value

    def control(self, sims: Sims) -> Law:
        """Decide for rows whose foot has struck; the law is the walker's."""
        memory, walker = sims.memory(MEMORY), self.stepper.walker
        due = np.flatnonzero(walker.steps(sims) > memory.strikes)
        if due.size and self.policy is not None:
            chosen, _ = self.policy.chosen(self._metric.states(sims, due), self.task_states(sims)[due])
            self.stepper.take(sims, due, self._tables[self._policies.index(self.policy)][chosen])
            memory.action[due], memory.strikes[due] = chosen, walker.steps(sims)[due]
            self._doing = str(self.policy.actions[int(memory.action[0])])
        return walker.law

    def task_states(self, sims: Sims) -> np.ndarray:
        """(nsim, axes) w of every row: where its goal is from where it is."""
        assert self.policy is not None
        memory, heading = sims.memory(MEMORY), self.stepper.headings(sims)
        here = sims.view("xpos")[:, self.scene.body(self.scene.character.root)]
        x, y, c, s = memory.x - here[:, 0], memory.y - here[:, 1], np.cos(heading), np.sin(heading)
        turn = wrapped_angles(memory.heading - heading)
        all_axes = {"ahead": c * x + s * y, "left": c * y - s * x, "heading": turn, "speed": memory.speed}
        columns = [all_axes[axis.name] for axis in self.policy.header.grid]
        return np.column_stack(columns) if columns else np.zeros((sims.nsim, 0))

    def report(self) -> Report:
        """Which step the first row takes."""
        task = self.policy.header.task if self.policy else ""
        return Report(doing=f"{task}: {self._doing}" if task else "")


def needs(policy: Policy) -> list[str]:
    """Words of `Go` that a policy needs."""
    return list(dict.fromkeys(NEEDS.get(axis.name, axis.name) for axis in policy.header.grid))
