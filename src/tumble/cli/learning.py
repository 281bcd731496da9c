"""Learning: experience that a command's controllers share, one after the other, and its file.

with Learning(Path("dodge.experience"), frozen=False, name="smc", controller=controller) as learning:
    learning.teach(controller)
    session.listeners.append(learning.file)
    ...                                  # steps
"""

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from rich.console import Console

from tumble.controller import Controller
from tumble.errors import UserError
from tumble.experience import Experience
from tumble.experience_file import ExperienceFile
from tumble.planners import PLANNERS, Planned, Planner


class Learning:
    """What is learned. Leaving it writes what was added.

    Attributes:
      experience: what controllers guess from and add to.
      file: a listener that keeps it.
      frozen: whether nothing is added.
    """

    def __init__(self, path: Path, frozen: bool, name: str, controller: Controller) -> None:
        """Load the file for a controller like this one, called by that name; tells what was wrong with it."""
        planner = _planner(controller)
        if planner is None or planner.memory is None:
            able = [name for name, kind in PLANNERS.items() if kind.planner.learns]
            raise UserError(f"controller '{name}' does not learn; choose: {', '.join(able)}")
        self.frozen, self._about = frozen, planner.about
        self.experience = Experience(*planner.memory)
        self.experience.growing = not frozen
        self.file = ExperienceFile(path, self.experience, planner.about, frozen)
        if self.file.warning is not None:
            Console(stderr=True, highlight=False).print(f"tumble: {self.file.warning}", markup=False, soft_wrap=True)

    def __enter__(self) -> "Learning":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.file.close()

    def warm_up(self) -> None:
        """Compile a query."""
        some = Experience(self.experience.features, self.experience.size)
        some.add(np.zeros(some.features), np.zeros(some.size))
        some.nearest(np.zeros(some.features), 1)

    def teach(self, controller: Controller) -> str:
        """Have a controller use the experience from now on; returns why it cannot, or ''."""
        planner = _planner(controller)
        if planner is None or planner.memory is None:
            return "this controller does not learn"
        if planner.about != self._about:
            ours = [name for name, value in self._about.items() if planner.about.get(name) != value]
            return f"it was learned with {', '.join(f'{name} {_short(self._about[name])}' for name in ours)}"
        if planner.memory != (self.experience.features, self.experience.size):
            return "it was learned by another body"
        if planner.experience is not self.experience:
            planner.remember(self.experience)
        return ""


def check_frozen(learned: Path | None, frozen: bool) -> None:
    """Refuse to freeze what was not learned."""
    if frozen and learned is None:
        raise UserError("--frozen is for what was learned; name its file: --learned FILE")


def _planner(controller: Controller) -> Planner | None:
    return controller.planner if isinstance(controller, Planned) else None


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
