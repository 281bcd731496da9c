"""Controller: a feedback law for all rows of a Sims at once, with a drive, a memory and wants."""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from tumble.errors import UserError
from tumble.goals.wants import Want
from tumble.world.drives import Drive
from tumble.world.scene import Scene
from tumble.world.sims import Control, Sims


@dataclass(frozen=True)
class Report:
    """What a controller thought last, for listeners to draw.

    Attributes:
      acting: who of several acts; '' where there is one controller.
      doing: what it does, in words: the act of a script, getting up; '' where there is nothing to say.
      plan: a `Plan` where it plans, else None.
      names: of the terms in the plan's values.
      ghosts: (n, nq) places of the character's joints that it goes by, to be seen beside it, in the order in which it
        comes there; the same array until they are others, None where there are none.
      marks: (n, 5) where it will step: x, y, z of the middle of a foot in m, its heading in rad, and how uncertain that
        is; the same array until they are others, None where there are none.
    """

    acting: str = ""
    doing: str = ""
    plan: Any = None
    names: tuple[str, ...] = ()
    ghosts: np.ndarray | None = None
    marks: np.ndarray | None = None


class Controller(ABC):
    """Chooses what is done in the next frame, for every row.

    Attributes:
      takes: kinds of wants that it can do for some body.
      scene: where it acts.
      drive: what its controls mean; of the scene.
      settings: a dataclass of its parameters.
    """

    takes: ClassVar[tuple[type[Any], ...]] = ()
    scene: Scene
    drive: Drive
    settings: Any = None

    @abstractmethod
    def start(self, sims: Sims) -> None:
        """Begin anew with these simulations; of their memory only its own is cleared."""

    @abstractmethod
    def refuses(self, sims: Sims, want: Want) -> str | None:
        """Why it cannot do what is wanted, in a sentence; None where it can. Changes nothing."""

    @abstractmethod
    def want(self, sims: Sims, want: Want) -> None:
        """Do this from the next control on; all that is wanted, not what is new in it."""

    @abstractmethod
    def control(self, sims: Sims) -> Control:
        """What is done in the next frame: controls (nsim, drive.size) that are held, or a law of the drive's steps."""

    def report(self) -> Report:
        """What it thought last."""
        return Report()

    @abstractmethod
    def move(self, scene: Scene) -> None:
        """Go on in another scene, into which memory was carried (`Scene.carried`); what it knows and plans stays."""

    def attend(self, direction: tuple[float, float] | None) -> None:  # noqa: B027 - most pay no attention
        """Somebody pulls in that horizontal direction, a unit vector, or nobody does; told before every control."""

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        """Refuse what `set_parameters` would refuse; changes nothing."""
        for name in changes:
            raise UserError(f"{type(self).__name__} has no parameter '{name}'")

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name, all at once, from the next control on."""
        self.check_parameters(changes)

    def close(self) -> None:  # noqa: B027 - most have none
        """End threads of its own, which the next control may start again; raises what went wrong in one."""


@runtime_checkable
class Styled(Protocol):
    """A controller that goes in styles which people change while it goes: those of a walker, gaits of Simbicon.

    A style is a struct with a name, which `tumble.toml` writes and `style_in` reads.
    """

    @property
    def styles(self) -> Sequence[Any]:
        """As they are now; live."""

    @property
    def own_styles(self) -> Mapping[str, Any]:
        """Those that it came with, by name."""

    def style_in(self, data: bytes, where: str) -> Any:
        """The style in the bytes of a file of that name; refuses one that it could not go in."""

    def restyle(self, style: Any) -> None:
        """Go in this style wherever the one of its name is wanted, from the next control on."""


@runtime_checkable
class Treading(Protocol):
    """A controller that plans where its feet land, on ground that people change while it goes; see `Carve`."""

    @property
    def widest(self) -> float:
        """m of a gap that some step which it knows crosses."""

    def taken(self, sims: Sims) -> tuple[float, float]:
        """m from where to where along x the first row's feet stand, or land before another step can be planned."""


@contextlib.contextmanager
def closing(controller: Controller) -> Iterator[None]:
    """Close a controller in the end. What goes wrong before is raised rather than what went wrong in its threads."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            controller.close()
        raise
    controller.close()
