"""Verdicts: how a game went, told once to everybody who watches.

verdicts = Verdicts(audience)
verdicts.hear(trial)                # after every frame
"""

from tumble.scenarios import Trial
from tumble.studio.audience import Audience


class Verdicts:
    """Says what is settled, when it is; a trial that is turned back, or another, may be told of again."""

    def __init__(self, audience: Audience) -> None:
        self._audience = audience
        self._told = ""

    def hear(self, trial: Trial) -> None:
        """Look at a trial after a frame."""
        verdict = trial.verdict
        if verdict and not self._told:
            self._audience.say(f"{trial.scenario.name}: {verdict}")
        self._told = verdict
