"""Scenarios by name, and the types they are made of.

    register("mine", Mine, "what happens, and what is wanted")    # a frozen dataclass that derives from Scenario

Its fields are its options, `tumble run mine --FIELD`, and have defaults; registering gives the class its name and
summary.
"""

from dataclasses import MISSING, dataclass, fields, is_dataclass

from tumble.errors import UserError
from tumble.registry import Entry, Registry
from tumble.scenarios.attracting import Crouch, GetUpTree, Jump, SkillSequence, Twist
from tumble.scenarios.balancing import Explosion, GetUp, GetUpProne, Pushed, Stand
from tumble.scenarios.ball import JuggleBall, OnBall, OnBallReach, OnLightBall
from tumble.scenarios.crowd import CrowdDance
from tumble.scenarios.dodging import Dodge, DodgeHeavy, Impulse
from tumble.scenarios.gaits import LearnHop, LearnTrot, LearnWalk, PlanarNet, Pole, Stop, TurnGait
from tumble.scenarios.games import BirdMania, LampPosts
from tumble.scenarios.gaps import Gaps, GapsInSpace, GapsPush, Path
from tumble.scenarios.history import History
from tumble.scenarios.locomotion import Obstacles, ReachPoint, Steering, Turbo, Wall
from tumble.scenarios.manipulation import CrateCarry, CratePull, CratePush, ObstacleCourse, PickUpCup
from tumble.scenarios.projectiles import HopProjectiles, WalkProjectiles
from tumble.scenarios.scenario import Scenario, Setup
from tumble.scenarios.stepping import SimbiconBird, SimbiconHumanoid, SimbiconPlanar, SimbiconRaptor
from tumble.scenarios.stones import Stones, StonesInSpace
from tumble.scenarios.stones_walker import GapsWalked, SteppingStones
from tumble.scenarios.tasks import (
    GoToLineTask,
    GoToPointHeadingTask,
    GoToPointTask,
    HeadingSpeedTask,
    HeadingTask,
    VeryRobustWalkTask,
)
from tumble.scenarios.terrain import Duck, Stairs, StepOver
from tumble.scenarios.trial import Result, Trial, run_trial
from tumble.scenarios.walk_on import WalkOn
from tumble.scenarios.walking import SteerWalk, WalkBodies, WalkPush

__all__ = ["SCENARIOS", "History", "Result", "Scenario", "Setup", "Trial", "register", "run_trial"]


@dataclass(frozen=True)
class ScenarioEntry(Entry[type[Scenario]]):
    """A scenario that people can choose by name; `make` is its class."""


def _call_it_so(entry: ScenarioEntry) -> None:
    """Refuse what is no scenario; let it know its name and summary."""
    kind, own = entry.make, vars(entry.make) if isinstance(entry.make, type) else {}
    if not (isinstance(kind, type) and issubclass(kind, Scenario) and is_dataclass(kind)):
        raise UserError(f"scenario '{entry.name}' must be a dataclass that derives from Scenario, got {kind!r}")
    if own.get("name", entry.name) != entry.name:
        raise UserError(f"scenario '{entry.name}' is a class whose name is '{own['name']}': leave one of them out")
    for field in fields(kind):
        if field.default is MISSING and field.default_factory is MISSING:
            raise UserError(f"scenario '{entry.name}' needs a default of its field '{field.name}'")
    kind.name, kind.summary = entry.name, entry.summary


SCENARIOS: Registry[ScenarioEntry] = Registry("scenario", ScenarioEntry, _call_it_so)
register = SCENARIOS.register
for kind in (
    Stand, Pushed, Impulse, Wall, Explosion, Dodge, DodgeHeavy, GetUp, GetUpProne, ReachPoint,
    OnBall, OnLightBall, OnBallReach, JuggleBall, Steering, Obstacles, Turbo,
    SteerWalk, WalkPush, WalkBodies, WalkOn,
    StepOver, Duck, Stairs, PickUpCup, CratePush, CratePull, CrateCarry, ObstacleCourse, CrowdDance,
    SimbiconHumanoid, SimbiconPlanar, SimbiconBird, SimbiconRaptor,
    GoToLineTask, HeadingTask, GoToPointTask, GoToPointHeadingTask, HeadingSpeedTask, VeryRobustWalkTask, LampPosts,
    BirdMania, Gaps, GapsInSpace, GapsPush, Stones, StonesInSpace, Path, SteppingStones, GapsWalked,
    GetUpTree, Crouch, Jump, Twist, SkillSequence,
    LearnWalk, LearnHop, LearnTrot, Pole, TurnGait, Stop, WalkProjectiles, HopProjectiles, PlanarNet,
):  # fmt: skip
    register(kind.name, kind, kind.summary)
