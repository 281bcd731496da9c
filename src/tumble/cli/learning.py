"""Learning: what a command's controllers learn one after the other, and its file.

with Learning(Path("walk.learned"), frozen=False, name="mcts", controller=controller) as learning:
    learning.teach(controller)
    session.listeners.append(learning.file)
    ...                                  # steps
"""

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from rich.console import Console

from tumble.control.controller import Controller
from tumble.errors import UserError
from tumble.learners import Learners
from tumble.learners.experience import Experience
from tumble.live.experience_file import ExperienceFile
from tumble.live.keeper import Keeper
from tumble.live.learned_file import LearnedFile
from tumble.planners import PLANNERS, Planned, Planner


class Learning:
    """What is learned. Leaving it writes what was added.

    Attributes:
      learned: what controllers learn from and add to: the first one's learners, or experience where it has none.
      file: a listener that keeps it.
      frozen: whether nothing is added.
    """

    learned: Experience | Learners
    file: Keeper

    def __init__(self, path: Path, frozen: bool, name: str, controller: Controller) -> None:
        """Load the file for a controller like this one, called by that name; tells what was wrong with it."""
        planner = _planner(controller)
        if planner is None or planner.memory is None:
            able = [name for name, kind in PLANNERS.items() if kind.make.learns]
            raise UserError(f"controller '{name}' does not learn; choose: {', '.join(able)}")
        self.frozen, self._about, self._memory = frozen, planner.about, planner.memory
        if planner.learners is not None:
            self.learned = planner.learners
            self.file = LearnedFile(path, planner.learners, planner.about, frozen)
        else:
            self.learned = Experience(*planner.memory)
            self.file = ExperienceFile(path, self.learned, planner.about, frozen)
        self.learned.growing = not frozen
        if self.file.warning is not None:
            Console(stderr=True, highlight=False).print(f"tumble: {self.file.warning}", markup=False, soft_wrap=True)

    def __len__(self) -> int:
        """Situations that were learned from."""
        return len(self.learned)

    def __enter__(self) -> "Learning":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Have all written."""
        self.file.close()

    def warm_up(self) -> None:
        """Compile a query, and what learners need to train."""
        features, size = self._memory
        situation, plan = np.zeros(features), np.zeros(size)
        if isinstance(self.learned, Experience):
            some = Experience(features, size)
            some.add(situation, plan)
            some.nearest(situation, 1)
            return
        learners = Learners(features, size, 0)
        for i in range(learners.network.settings.fewest):
            learners.add(situation + i, plan)
        learners.work(1)
        learners.network.predict(situation[None])
        learners.forest.nearest(situation[None])

    def teach(self, controller: Controller) -> str:
        """Have a controller use what was learned from now on; returns why it cannot, or ''."""
        planner = _planner(controller)
        if planner is None or planner.memory is None:
            return "this controller does not learn"
        unlike = self._unlike(planner)
        if isinstance(self.learned, Experience):
            if not unlike and planner.experience is not self.learned:
                planner.remember(self.learned)
        elif bool(unlike) == (planner.learners is self.learned):
            planner.close()
            planner.learners = Learners(*planner.memory, 0) if unlike else self.learned
        return unlike

    def _unlike(self, planner: Planner) -> str:
        """In what a planner is another than who learned this; ''."""
        if planner.about != self._about:
            ours = [name for name, value in self._about.items() if planner.about.get(name) != value]
            return f"it was learned with {', '.join(f'{name} {_short(self._about[name])}' for name in ours)}"
        return "" if planner.memory == self._memory else "it was learned by another body"


def check_frozen(learned: Path | None, frozen: bool) -> None:
    """Refuse to freeze what was not learned."""
    if frozen and learned is None:
        raise UserError("--frozen is for what was learned; name its file: --learned FILE")


def _planner(controller: Controller) -> Planner | None:
    return controller.planner if isinstance(controller, Planned) else None


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
