"""One environment: a scenario in which the caller acts, frame by frame.

env = TrialEnv("push", force=600)
observation, info = env.reset(seed=3)            # as `tumble run push --force 600 --seed 3` begins
observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
"""

from typing import Any, ClassVar

import gymnasium
import numpy as np

from tumble.errors import check_number
from tumble.gym.actions import Actions
from tumble.gym.episodes import Episode, Episodes
from tumble.gym.stage import RENDER_MODES, EpisodeStage
from tumble.scenarios import History
from tumble.world.sims import Sims

SEEDS = 2**31  # of episodes nobody gave a seed for


class TrialEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """A scenario as an environment.

    A step is a frame of 1/30 s. `info` has the goal's 'cost', and in the end 'success' and 'metrics'; of a reset, the
    episode's 'seed'.

    Observations are those of `tumble.gym.observing`, actions those of `tumble.gym.actions`, rewards those of
    `tumble.gym.episodes`. An episode terminates where the world breaks or it is settled how it went, and is truncated
    when the scenario's time is up, at which it is judged. All that is returned is a copy.

    Attributes:
      stage: scenario, scene, what is observed.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 30}  # type: ignore[misc]

    def __init__(
        self, scenario: str, *, character: str | None = None, drive: str | None = None, normalized: bool = True,
        render_mode: str | None = None, width: int = 480, height: int = 360, **options: Any,
    ) -> None:  # fmt: skip
        """Build the scene.

        Args:
          scenario: its name.
          character: a body's name; by default the one that the scenario is made for.
          drive: what actions mean: 'servo', 'torque'; by default the scene's first.
          normalized: whether actions are from -1 to 1, or controls in their units.
          render_mode: None or 'rgb_array'.
          width, height: of pictures, pixels.
          options: fields of the scenario.
        """
        self.stage = EpisodeStage(scenario, character, drive, normalized, render_mode, (width, height), options)
        self.render_mode = render_mode
        self.observation_space, self.action_space = self.stage.observation_space, self.stage.action_space
        self._episodes = self._built()

    def _built(self) -> Episodes:
        return Episodes(self.stage.scenario, self.stage.scene, self.stage.actions.drive, 1, 1)

    @property
    def sims(self) -> Sims:
        """The world, of one row."""
        return self._episodes.sims

    @property
    def actions(self) -> Actions:
        """What actions mean in it."""
        return self.stage.actions

    @property
    def episode(self) -> Episode:
        """What goes on: seed, events to come, what is wanted."""
        return self._episodes.episode(0)

    @property
    def history(self) -> History:
        """What it is judged by, up to now."""
        return self._episodes.history(0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:  # fmt: skip
        """Begin the trial of a seed, which `tumble run --seed` takes too; without one, of one that is drawn."""
        super().reset(seed=seed)
        trial = int(self.np_random.integers(SEEDS)) if seed is None else int(seed)
        check_number("seed", trial, 0, 2**63 - 1)
        if self.stage.strewn:
            self.stage.set(trial)
            self._episodes = self._built()
        self._episodes.begin(np.array([0]), [trial])
        return self._observed(), {"seed": trial}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One frame."""
        rows = self._episodes
        rows.act(self.actions.controls(np.asarray(action)[None]))
        terminated, truncated = bool(rows.terminated[0]), bool(rows.truncated[0])
        info: dict[str, Any] = {"cost": float(rows.costs[0])}
        if terminated or truncated:
            outcome = rows.outcome(0)
            info |= {"success": outcome.success, "metrics": dict(outcome.metrics)}
        return self._observed(), float(rows.rewards[0]), terminated, truncated, info

    def _observed(self) -> np.ndarray:
        return self.stage.observer.of(self.sims, self._episodes.wants)[0]

    def render(self) -> np.ndarray | None:
        """A picture, RGB bytes (height, width, 3); None without a render_mode."""
        return None if self.render_mode is None else self.stage.picture(self.sims.state[0])

    def close(self) -> None:
        """Give back what pictures needed; a second call does nothing."""
        self.stage.close()
