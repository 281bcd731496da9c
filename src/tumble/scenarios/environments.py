"""Ids of environments: 'tumble/GetupProne-v0' is the scenario 'getup-prone'. Needs no Gymnasium."""

from tumble.scenarios import SCENARIOS, ScenarioEntry

VERSION = 0  # of all environments; a change of observations, actions or rewards raises it
NEEDED = ("crowd", "stones", "placer")  # controllers without which their scenarios are not: they look into the memory
# of who steps, or are about dancers that one controller moves


def env_id(scenario: str) -> str:
    """The id of the environment of a scenario, by the scenario's name."""
    words = "".join(word[:1].upper() + word[1:] for word in scenario.split("-"))
    return f"tumble/{words}-v{VERSION}"


def offered(scenario: ScenarioEntry) -> bool:
    """Whether a scenario has an environment."""
    return scenario.make.controllers[0] not in NEEDED


def environments() -> dict[str, str]:
    """Scenarios by the ids of their environments, in the order of the registry."""
    return {env_id(name): name for name, entry in SCENARIOS.items() if offered(entry)}
