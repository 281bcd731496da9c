"""Scenarios by name, and the types they are made of."""

from tumble.scenarios.balancing import Explosion, GetUp, GetUpProne, Push, Stand
from tumble.scenarios.ball import Juggle, OnBall, OnBallReach, OnLightBall
from tumble.scenarios.crowd import Crowd
from tumble.scenarios.dodging import Dodge, DodgeHeavy, Impulse
from tumble.scenarios.errands import CrateCarry, CratePull, CratePush, PickUp, TheCourse
from tumble.scenarios.gaits import LearnHop, LearnTrot, LearnWalk, PlanarNet, Pole, Stop, Turn
from tumble.scenarios.going import Obstacles, Reach, Steer, Turbo, Wall
from tumble.scenarios.projectiles import HopProjectiles, WalkProjectiles
from tumble.scenarios.run import Result, run_trial
from tumble.scenarios.scenario import Scenario, Trial
from tumble.scenarios.stepping import SimbiconBird, SimbiconHumanoid, SimbiconPlanar, SimbiconRaptor
from tumble.scenarios.terrain import Duck, Stairs, StepOver
from tumble.scenarios.track import Track
from tumble.scenarios.walking import StandPush, SteerWalk, WalkBodies, WalkPush

__all__ = ["SCENARIOS", "Result", "Scenario", "Track", "Trial", "run_trial"]

SCENARIOS: dict[str, type[Scenario]] = {
    kind.name: kind
    for kind in (
        Stand, Push, Impulse, Wall, Explosion, Dodge, DodgeHeavy, GetUp, GetUpProne, Reach,
        OnBall, OnLightBall, OnBallReach, Juggle, Steer, Obstacles, Turbo, SteerWalk, WalkPush, StandPush, WalkBodies,
        StepOver, Duck, Stairs, PickUp, CratePush, CratePull, CrateCarry, TheCourse, Crowd,
        SimbiconHumanoid, SimbiconPlanar, SimbiconBird, SimbiconRaptor,
        LearnWalk, LearnHop, LearnTrot, Pole, Turn, Stop, WalkProjectiles, HopProjectiles, PlanarNet,
    )
}  # fmt: skip
