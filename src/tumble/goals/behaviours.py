"""What people ask for, each a short sum of terms: hamalainen2015 section 5.

Everything is the balance cost with a few terms more or less. A behaviour that is commanded by name is
a function of the scene and keyword options, registered in `GOALS`.
"""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from tumble.errors import check_number, check_vector, choose
from tumble.goals.course import Course
from tumble.goals.gait import FASTEST, WORLD, gait
from tumble.goals.goal import Goal, Term, Way
from tumble.goals.stance import stance_ways
from tumble.goals.terms import (
    AboveBall,
    Ahead,
    Damage,
    Facing,
    FeetApart,
    HandAt,
    Height,
    LookAt,
    OverBall,
    OverFeet,
    Spin,
    Straight,
    UnderBall,
    Upright,
    Velocity,
)
from tumble.registry import Entry, Registry
from tumble.world.props import Ball
from tumble.world.scene import Scene

ALARMED = 250.0  # cost of balance from which it takes full effort: not given; with 400 it falls more often
HASTE = 1.15  # of a velocity: what going aims at; at 1.25 m/s it then goes as fast as was asked; ours
SIDES = ("left", "right")


def balance(
    scene: Scene, facing: tuple[float, float] | None = None, pose: str | None = None, roll: bool = False
) -> Goal:
    """Stay up and at rest, or get there: the cost of hamalainen2015 eq. 31; for whole plans that of 2014 eq. 3.

    Departure: d_y is the character's own standing height (the paper's model: 1.04 m).

    Args:
      facing: horizontal direction to look at, as when somebody pulls there; None drops the term.
      pose: of the character, to stand in; 'rest' where it is not given.
      roll: whether rolling over from the back is worth a little too, to planners of whole plans (2014 eq. 11).
    """
    scene.character.require("balance", "biped")
    goal = _balance(scene, ALARMED, pose, stance_ways(scene, pose or "rest", roll))
    return goal if facing is None else goal + looking(scene, facing)


def _balance(scene: Scene, alarmed: float, pose: str | None = None, ways: Sequence[Way] = ()) -> Goal:
    """Balance that takes full effort from that cost on."""
    character = scene.character
    character.require("balance", "biped")
    left, right = character.feet
    return Goal(
        Velocity(),
        OverFeet(left, right),
        Height(character.root, left, right, standing=_standing(scene, pose or "rest")),
        FeetApart(left, right),
        Spin(character.root),
        Upright(character.root),
        Damage(character.head),
        alarmed=alarmed,
        pose=pose,
        ways=ways,
    )


def looking(scene: Scene, facing: tuple[float, float]) -> Goal:
    """Look into a horizontal direction; to be added to another goal."""
    check_vector("facing", facing, 2, WORLD, "m")
    length = math.hypot(*facing)
    check_number("length of the facing direction", length, 0, above=True)
    return Goal(Facing(scene.character.head, (facing[0] / length, facing[1] / length)))


def reach(scene: Scene, target: Sequence[float], hand: str = "left") -> Goal:
    """Stay up and bring a hand to a point (section 5.2).

    Args:
      target: m, anywhere.
      hand: 'left' or 'right'.
    """
    return balance(scene) + reaching(scene, target, hand)


def reaching(scene: Scene, target: Sequence[float], hand: str = "left") -> Goal:
    """Bring a hand to a point and look there; to be added to a goal that keeps the character up.

    Departures: sigma_r is 0.03 m (paper 0.05), sigma_fwd 0.5 (paper 0.1), and effort stays at 0.25 or more. With
    the paper's tolerances a target behind turns the head before the feet, and who is calm rests 12 cm short
    of the target; of 12 reaches 8 succeeded with sigma_r 0.05, 11 with 0.03 (sigma_fwd 0.3, effort 0.2).
    """
    check_vector("target", target, 3, WORLD, "m")
    character = scene.character
    character.require("reaching", "hands")
    side = choose("hand", hand, {name: i for i, name in enumerate(SIDES)})
    point = (float(target[0]), float(target[1]), float(target[2]))
    return Goal(
        HandAt(character.touch(side), point, sigma=0.03),
        LookAt(character.head, point, sigma=0.5),
        alarmed=4000.0,
        least_effort=0.25,
        loose=[character.arms[side]],
    )


def on_ball(scene: Scene, ball: str = "ball") -> Goal:
    """Stay up on top of a ball, or climb back on (section 5.3).

    Departures: the pelvis above the ball is 0.9 / 1.04 of the character's standing height (paper: 0.9 m).
    Effort stays at 0.3 or more: of 10 trials on a rolling ball 8 succeeded, 5 where calm is allowed.
    """
    scene.character.require("balance on a ball", "biped", "t-pose")
    root, radius = scene.character.root, scene.prop(ball, Ball).radius
    return balance(scene).without("height", "spin") + Goal(
        OverBall(ball),
        AboveBall(root, ball, radius, standing=0.9 / 1.04 * _standing(scene)),
        alarmed=ALARMED,
        least_effort=0.3,
        pose="t-pose",
    )


def on_ball_reach(scene: Scene, target: Sequence[float], hand: str = "left", ball: str = "ball") -> Goal:
    """Reach for a point while balancing on a ball."""
    return on_ball(scene, ball) + reaching(scene, target, hand)


def juggle(scene: Scene, ball: str = "ball") -> Goal:
    """Keep a ball on the head, or at least on some body part (section 5.4).

    Departure: damage is the head on the ground alone, because the ball may touch it; walls are not counted.
    """
    character, radius = scene.character, scene.prop(ball, Ball).radius
    return balance(scene).without("damage") + Goal(
        Damage(character.head, by="ground"), UnderBall(character.head, ball, radius)
    )


def steer(scene: Scene, velocity: Sequence[float]) -> Goal:
    """Go with a horizontal velocity, m/s (section 5.5).

    Departures: sigma_vel is 0.1 m/s (paper 0.25), beyond 0.4 m/s the cost grows evenly, so that a sudden turn is no
    reason to fall; the trunk is to be upright and the pelvis to face ahead, too; effort stays at 0.35 or more but is
    slow to rise: a step is no alarm. Samples may follow the reflex 'stepping', without which it walks at 0.6 m/s of
    1.25 and falls.
    """
    check_vector("velocity", velocity, 2, FASTEST, "m/s")
    x, y = float(velocity[0]), float(velocity[1])
    wanted, speed = (HASTE * x, HASTE * y, 0.0), math.hypot(x, y)
    terms: list[Term] = [Velocity(target=wanted, sigma=0.1, knee=0.4), Straight(scene.character.trunk)]
    course = None
    if speed > 0:
        course = Course(speed, (x / speed, y / speed))
        terms.append(Ahead(course.direction))
    return _balance(scene, alarmed=1000.0).without("velocity") + Goal(
        *terms, alarmed=4000.0, least_effort=0.35, course=course, reflexes=["stepping"]
    )


def turbo(scene: Scene, velocity: Sequence[float]) -> Goal:
    """Go with a horizontal velocity whatever it takes, over obstacles too (section 5.5).

    Departure: sigma_vel and sigma_y are 0.1 (paper: 0.25 m/s, 0.025 m); with the paper's it stops before a
    block of 0.5 m, because a foot on the block lifts the mean of the feet.
    """
    check_vector("velocity", velocity, 2, FASTEST, "m/s")
    scene.character.require("turbo", "biped")
    left, right = scene.character.feet
    rise = 0.2 * math.hypot(*velocity)  # "slightly upwards"
    wanted = (float(velocity[0]), float(velocity[1]), rise)
    return balance(scene).without("velocity", "upright", "over_feet", "height") + Goal(
        Velocity(target=wanted, sigma=0.1),
        Height(scene.character.root, left, right, standing=_standing(scene), sigma=0.1),
        least_effort=1.0,
    )


GoalEntry: TypeAlias = Entry[Callable[..., Goal]]
GOALS: Registry[GoalEntry] = Registry("goal")  # made with a scene and those fields of `SetGoal` that it has names for
register = GOALS.register
register("balance", balance, "stay up and at rest, or get there (hamalainen2015 section 5.1)")
register("reach", reach, "stay up and bring a hand to a point (section 5.2)")
register("ball", on_ball, "stay up on top of a ball, or climb back on (section 5.3)")
register("ball-reach", on_ball_reach, "reach for a point while balancing on a ball")
register("juggle", juggle, "keep a ball on the head, or at least on some body part (section 5.4)")
register("steer", steer, "go with a horizontal velocity (section 5.5)")
register("turbo", turbo, "go with a horizontal velocity whatever it takes, over obstacles too (section 5.5)")
register("gait", gait, "go with a velocity or to a point on whatever legs there are (rajamaki2017 eq. 7)")


def _standing(scene: Scene, pose: str = "rest") -> float:
    """Height of the root above the mean of the feet in a pose, m."""
    character, data = scene.character, scene.show(scene.state(pose))
    feet = np.mean([data.body(foot).xipos[2] for foot in character.feet])
    return float(data.body(character.root).xipos[2] - feet)
