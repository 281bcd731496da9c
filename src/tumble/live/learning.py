"""Learning: what controllers learn one after the other, and its file.

with Learning(Path("walk.learned"), frozen=False, name="mcts", controller=controller) as learning:
    learning.teach(controller)                   # and whoever comes next
    session.listeners.append(learning.file)
    ...                                          # steps
"""

from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tumble.control.controller import Controller
from tumble.errors import UserError
from tumble.live.learned_file import LearnedFile
from tumble.planners import PLANNERS, Planned, Planner


class Learning:
    """What is learned. Leaving it writes what was added.

    Attributes:
      learner: what controllers learn with: the first one's, or one as it would have.
      file: a listener that keeps what was learned; `file.warning` says what was wrong with it.
      frozen: whether nothing is added.
    """

    def __init__(self, path: Path, frozen: bool, name: str, controller: Controller) -> None:
        """Load the file for a controller like this one, called by that name."""
        planner = _planner(controller)
        if planner is None or planner.memory is None:
            able = [name for name, kind in PLANNERS.items() if kind.make.learns]
            raise UserError(f"controller '{name}' does not learn; choose: {', '.join(able)}")
        self.frozen, self._about, self._memory = frozen, planner.about, planner.memory
        self.learner = planner.make_learner() if planner.learner is None else planner.learner
        self.file = LearnedFile(path, self.learner, planner.about, frozen)
        self.learner.growing = not frozen

    def __len__(self) -> int:
        """Situations that were learned from."""
        return len(self.learner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Have all written."""
        self.file.close()

    def teach(self, controller: Controller) -> str:
        """Have a controller learn with the learner from now on; returns why it cannot, or ''."""
        planner = _planner(controller)
        if planner is None or planner.memory is None:
            return "this controller does not learn"
        unlike = self._unlike(planner)
        if not unlike:
            planner.learn_with(self.learner)
        elif planner.learner is self.learner:
            planner.learn_with(planner.make_learner())
        return unlike

    def _unlike(self, planner: Planner) -> str:
        """In what a planner is another than who learned this; ''."""
        if planner.about != self._about:
            ours = [name for name, value in self._about.items() if planner.about.get(name) != value]
            return f"it was learned with {', '.join(f'{name} {_short(self._about[name])}' for name in ours)}"
        return "" if planner.memory == self._memory else "it was learned by another body"


def _planner(controller: Controller) -> Planner | None:
    return controller.planner if isinstance(controller, Planned) else None


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
