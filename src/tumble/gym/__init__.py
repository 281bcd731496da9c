"""Scenarios as Gymnasium environments, a planner as an expert, demonstrations as Minari datasets.

    import gymnasium
    import tumble.gym                                        # registers tumble/Getup-v0, tumble/Push-v0 ...

    env = gymnasium.make("tumble/Push-v0", force=600)        # fields of the scenario are arguments
    many = gymnasium.make_vec("tumble/Getup-v0", num_envs=256)

An environment is a scenario in which the caller acts instead of a controller: same start, events, time and test of
success, from the same seed. Nothing here controls; `Expert` asks a controller that does. Needs the extra `rl`.
"""

from tumble.errors import UserError
from tumble.scenarios import SCENARIOS, ScenarioEntry
from tumble.scenarios.environments import env_id, environments, offered

try:
    from gymnasium import register, registry
except ImportError:
    raise UserError("environments need Gymnasium: pip install 'tumble[rl]'") from None

from tumble.gym.checking import check_vector_env
from tumble.gym.env import TrialEnv
from tumble.gym.expert import Expert
from tumble.gym.vector import TrialVectorEnv

__all__ = ["Expert", "TrialEnv", "TrialVectorEnv", "check_vector_env", "env_id", "environments"]


def _offer(scenario: ScenarioEntry) -> None:
    """Register the environment of a scenario; one that a user's file brings again stays as it is."""
    name = env_id(scenario.name)
    if offered(scenario) and name not in registry:
        register(
            name, "tumble.gym.env:TrialEnv", vector_entry_point="tumble.gym.vector:TrialVectorEnv",
            kwargs={"scenario": scenario.name},
        )  # fmt: skip


SCENARIOS.follow(_offer)
