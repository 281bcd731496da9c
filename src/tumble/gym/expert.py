"""Expert: a planner as a policy of an environment.

env = gymnasium.make("tumble/Getup-v0")
expert = Expert(env)
observation, _ = env.reset(seed=3)
action = expert(observation)            # what `tumble run getup --seed 3` does first
"""

from types import TracebackType
from typing import Any

import gymnasium
import numpy as np

from tumble.control.controller import Controller
from tumble.controllers import CONTROLLERS, refusal, unsuited
from tumble.errors import UserError
from tumble.goals.wants import Want
from tumble.gym.env import TrialEnv
from tumble.gym.episodes import Episode
from tumble.planners import PLANNERS
from tumble.scenarios import Scenario


def usual_expert(scenario: Scenario) -> str:
    """Name of the first planner that suits a scenario."""
    able = [name for name in scenario.suited() if name in PLANNERS]
    if not able:
        others = ", ".join(scenario.suited()) or "none"
        raise UserError(
            f"no planner suits '{scenario.name}', and others make no actions; controllers that do: {others}"
        )
    return able[0]


class Expert:
    """What a controller by its name does in an environment, as actions; called once before every step.

    It looks at the environment's state, not at the observation. For every episode it is a fresh controller, whose
    draws follow from the episode's seed, as in `Trial`; with `normalized=False` the environment then goes as the trial
    does, to the last bit, else but for the rounding of actions.

    Trap: laws, such as walkers, answer 17 times in a frame and are no actions; who makes one is refused.

    Attributes:
      name: of the controller.
      settings: the controller's.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], controller: str | None = None, settings: Any = None, threads: int = 0
    ) -> None:  # fmt: skip
        """Look on an environment of `tumble.gym`, wrapped or not.

        Args:
          controller: by default the first that suits the scenario and makes actions of the environment's drive.
          settings: of the controller, instead of those that it has in this scenario.
          threads: for planning; 0: one per core.
        """
        inner = env.unwrapped
        if not isinstance(inner, TrialEnv):
            raise UserError(f"an expert acts in environments of tumble, got {inner}")
        scenario: Scenario = inner.stage.scenario
        self._env, self._threads = inner, threads
        self.name = controller or usual_expert(scenario)
        self.settings = settings or scenario.settings_for(self.name)
        if why := unsuited(self.name, inner.stage.scene.character):
            raise UserError(why)
        self._episode: Episode | None = None
        self._controller: Controller | None = None
        self._want: Want | None = None

    def __call__(self, observation: Any = None) -> np.ndarray:
        """The action for what goes on in the environment now; what it observes is not looked at."""
        env, episode = self._env, self._env.episode
        if episode is not self._episode:
            self._begin(episode)
        assert self._controller is not None
        if episode.want is not self._want:
            if why := refusal(self._controller, env.sims, episode.want):
                raise UserError(why)
            self._controller.want(env.sims, episode.want)
            self._want = episode.want
        control = self._controller.control(env.sims)
        drive = self._controller.drive
        if callable(control) or drive is not env.actions.drive:
            other = "choose a planner" if callable(control) else f"make the environment with drive='{drive.name}'"
            raise UserError(f"'{self.name}' makes no actions of the drive '{env.actions.drive.name}'; {other}")
        return env.actions.actions(np.array(control))[0]

    def _begin(self, episode: Episode) -> None:
        """Have a fresh controller for a new episode."""
        self.close()
        scene = self._env.stage.scene
        self._controller = CONTROLLERS[self.name].make(scene, self.settings, episode.seed, self._threads)
        self._controller.start(self._env.sims)
        self._episode, self._want = episode, None

    def close(self) -> None:
        """End threads of the controller; the next call begins anew."""
        if self._controller is not None:
            self._controller.close()
        self._controller, self._episode = None, None

    def __enter__(self) -> "Expert":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: TracebackType | None) -> None:
        self.close()
