"""Scenarios by name, and the types they are made of."""

from tumble.scenarios.balancing import Explosion, GetUp, GetUpProne, Pushed, Stand
from tumble.scenarios.ball import JuggleBall, OnBall, OnBallReach, OnLightBall
from tumble.scenarios.crowd import CrowdDance
from tumble.scenarios.dodging import Dodge, DodgeHeavy, Impulse
from tumble.scenarios.gaits import LearnHop, LearnTrot, LearnWalk, PlanarNet, Pole, Stop, TurnGait
from tumble.scenarios.history import History
from tumble.scenarios.locomotion import Obstacles, ReachPoint, Steering, Turbo, Wall
from tumble.scenarios.manipulation import CrateCarry, CratePull, CratePush, ObstacleCourse, PickUpCup
from tumble.scenarios.projectiles import HopProjectiles, WalkProjectiles
from tumble.scenarios.scenario import Scenario, Setup
from tumble.scenarios.stepping import SimbiconBird, SimbiconHumanoid, SimbiconPlanar, SimbiconRaptor
from tumble.scenarios.terrain import Duck, Stairs, StepOver
from tumble.scenarios.trial import Result, Trial, run_trial
from tumble.scenarios.walking import SteerWalk, WalkBodies, WalkPush

__all__ = ["SCENARIOS", "History", "Result", "Scenario", "Setup", "Trial", "run_trial"]

SCENARIOS: dict[str, type[Scenario]] = {
    kind.name: kind
    for kind in (
        Stand, Pushed, Impulse, Wall, Explosion, Dodge, DodgeHeavy, GetUp, GetUpProne, ReachPoint,
        OnBall, OnLightBall, OnBallReach, JuggleBall, Steering, Obstacles, Turbo,
        SteerWalk, WalkPush, WalkBodies,
        StepOver, Duck, Stairs, PickUpCup, CratePush, CratePull, CrateCarry, ObstacleCourse, CrowdDance,
        SimbiconHumanoid, SimbiconPlanar, SimbiconBird, SimbiconRaptor,
        LearnWalk, LearnHop, LearnTrot, Pole, TurnGait, Stop, WalkProjectiles, HopProjectiles, PlanarNet,
    )
}  # fmt: skip
