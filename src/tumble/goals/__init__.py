"""Goals: what is wanted, as a sum of terms in physical units.

    goal = balance(scene).without("spin") + reaching(scene, target=(0.5, 0, 1.2))
    values = goal.values(sims)  # (nsim, terms), to plot
    cost = goal.cost(sims)      # (nsim,), inf for broken rows

A term is a residual and a tolerance; its value is |residual / sigma|^2, so exp(-cost / 2) is a
likelihood. A goal also says how much effort it asks for; where goals add up, costs add and the
largest effort wins (hamalainen2015 section 4.5).

    register("hands-up", hands_up, "hold both hands high")   # a function of the scene, and of options by keyword
"""

from tumble.goals.behaviours import (
    GOALS,
    balance,
    juggle,
    looking,
    on_ball,
    on_ball_reach,
    reach,
    reaching,
    register,
    steer,
    turbo,
)
from tumble.goals.gait import gait
from tumble.goals.goal import Goal, Term, Way

__all__ = [
    "GOALS", "Goal", "Term", "Way", "balance", "gait", "juggle", "looking", "on_ball", "on_ball_reach", "reach",
    "reaching", "register", "steer", "turbo",
]  # fmt: skip
