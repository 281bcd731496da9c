"""Scenes and small settings that many tests share; built once, so that numba compiles once."""

import ctypes
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doing import Crates, Doer, doer, kept, pretend
from warming import WORK

from tumble.characters import humanoid
from tumble.control.controller import Controller
from tumble.controllers import CONTROLLERS
from tumble.goals import Goal, balance
from tumble.goals.wants import WANTS, Want
from tumble.planners import CPBPSettings
from tumble.scenarios import SCENARIOS, register
from tumble.userfile import REGISTRIES
from tumble.world.drives import Drive
from tumble.world.props import Ball
from tumble.world.scene import Scene
from tumble.world.sims import Sims

STATM = Path("/proc/self/statm")
GROWN = 64 * 2**20 // 4096  # pages; what a process may keep that is free
_kept = 0  # pages after the last test


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Before the workers of a whole run start, compile for them; see `warming`."""
    config = session.config
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.collectonly
    if whole and getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        print(f"compiling what most tests need ({', '.join(WORK)}), up to a minute where nothing is cached", flush=True)
        command = [sys.executable, str(Path(__file__).with_name("warming.py"))]
        for process in [subprocess.Popen([*command, which]) for which in WORK]:
            assert process.wait() == 0, "compiling failed, see above"


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish() -> None:
    """Give back memory that is free once it is much: every simulation touches some pages of an arena of 15 MB, and
    glibc keeps what was touched and takes other pages for the next. Without it a worker grew to 7 GB."""
    global _kept
    if STATM.exists() and _resident() > _kept + GROWN and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
        _kept = _resident()


def _resident() -> int:
    """Pages of memory that this process has."""
    return int(STATM.read_text().split()[1])


@pytest.fixture(scope="session")
def scene() -> Scene:
    """The humanoid on the ground."""
    return Scene(humanoid())


@pytest.fixture(scope="session")
def ball_scene() -> Scene:
    """The humanoid and a ball."""
    return Scene(humanoid(), props=[Ball()])


@pytest.fixture(scope="session")
def goal(scene: Scene) -> Goal:
    """Balance."""
    return balance(scene)


@pytest.fixture(scope="session")
def small() -> CPBPSettings:
    """A C-PBP of a few milliseconds a frame."""
    return CPBPSettings(samples=8, horizon=0.2)


@dataclass(frozen=True)
class NoSettings:
    """Of controllers that have none."""


class Still(Controller):
    """Holds every joint with full strength; takes any want; notes what it was shown and told."""

    takes = WANTS

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.states: list[np.ndarray] = []
        self.forces: list[np.ndarray] = []
        self.wants: list[Want] = []
        self.scenes: list[Scene] = []
        self.parameters: list[dict[str, float]] = []
        self.directions: list[tuple[float, float] | None] = []

    @property
    def drive(self) -> Drive:
        """The first of its scene."""
        return self.scene.drive

    def start(self, sims: Sims) -> None:
        self.states.clear()

    def refuses(self, sims: Sims, want: Want) -> str | None:
        return None

    def want(self, sims: Sims, want: Want) -> None:
        self.wants.append(want)

    def control(self, sims: Sims) -> np.ndarray:
        self.states.append(sims.state[0].copy())
        self.forces.append(sims.view("xfrc_applied")[0].copy())
        drive = sims.scene.drive
        return np.tile(np.r_[np.zeros(drive.joints), np.ones(drive.size - drive.joints)], (sims.nsim, 1))

    def move(self, scene: Scene) -> None:
        self.scene = scene
        self.scenes.append(scene)

    def attend(self, direction: tuple[float, float] | None) -> None:
        self.directions.append(direction)

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        pass

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        self.parameters.append(dict(changes))


@pytest.fixture
def still(scene: Scene) -> Still:
    """A controller that holds the pose, in `scene`."""
    return Still(scene)


@pytest.fixture
def ball_still(ball_scene: Scene) -> Still:
    """The same in `ball_scene`."""
    return Still(ball_scene)


@pytest.fixture
def known() -> Iterator[Callable[[str, type[Controller]], None]]:
    """Have a class of controllers, made of a scene alone, be known by a name; for replays. `Still` is 'still'."""

    def know(name: str, kind: type[Controller]) -> None:
        CONTROLLERS.register(
            name, lambda scene, *_: kind(scene), "a controller of a test", settings=NoSettings, controller=kind
        )

    with kept(CONTROLLERS):
        know("still", Still)
        yield know


@pytest.fixture
def doers() -> Iterator[list[Doer]]:
    """All that are made as controller 'walker' from now on; they are `Doer`s."""
    from doing import Doer  # here, because few tests need skills

    made: list[Doer] = []

    def make(*given: Any) -> Doer:
        made.append(doer(*given))
        return made[-1]

    with kept(CONTROLLERS):
        pretend(make)
        yield made


@pytest.fixture
def crates() -> Iterator[str]:
    """The name of a scenario with crates."""
    with kept(SCENARIOS):
        register("crates", Crates, "a crate to lift, one to push and a cup")
        yield "crates"


@pytest.fixture
def registries() -> Iterator[None]:
    """Whatever is registered is forgotten afterwards."""
    with ExitStack() as stack:
        for registry in REGISTRIES:
            stack.enter_context(kept(registry))
        yield
