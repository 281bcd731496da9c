"""Many environments at once: the rows of one Sims.

many = TrialVectorEnv(num_envs=256, scenario="getup")
observations, infos = many.reset(seed=0)                 # row i has seed 0 + i
observations, rewards, terminated, truncated, infos = many.step(many.action_space.sample())
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tumble.errors import UserError, check_number
from tumble.gym.env import SEEDS
from tumble.gym.episodes import Episodes
from tumble.gym.stage import RENDER_MODES, EpisodeStage
from tumble.world.sims import Sims


class TrialVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """`TrialEnv` many times over: row i goes as a `TrialEnv` of its seeds does, to the last bit.

    What comes after the end of an episode is `metadata['autoreset_mode']`: NEXT_STEP begins the next with the next
    step, whose action for that row counts for nothing; SAME_STEP at once, with 'final_obs' and 'final_info' in the
    infos; DISABLED when `reset` is called with options={'reset_mask': rows}.

    Attributes:
      stage: scenario, scene, what is observed.
      sims: the worlds.
    """

    def __init__(
        self, num_envs: int = 1, *, scenario: str, character: str | None = None, drive: str | None = None,
        normalized: bool = True, render_mode: str | None = None, width: int = 480, height: int = 360,
        threads: int = 0, autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP, **options: Any,
    ) -> None:  # fmt: skip
        """Build the scene; see `TrialEnv` for what is not said here.

        Args:
          threads: for the physics; 0: one per core. Results do not depend on it.
          autoreset_mode: what comes after the end of an episode.

        Raises:
          UserError: every seed of the scenario has a scene of its own, which the rows of one Sims share.
        """
        check_number("num_envs", num_envs, 1, 1e5)
        self.stage = EpisodeStage(scenario, character, drive, normalized, render_mode, (width, height), options)
        if self.stage.strewn:
            raise UserError(
                f"every seed of '{scenario}' has a scene of its own, and rows share one;"
                " take gymnasium.make_vec(..., vectorization_mode='sync')"
            )
        try:
            mode = AutoresetMode(autoreset_mode)
        except ValueError:
            names = ", ".join(f"'{mode.value}'" for mode in AutoresetMode)
            raise UserError(f"no autoreset_mode '{autoreset_mode}'; there are: {names}") from None
        self.num_envs, self.render_mode, self._mode = int(num_envs), render_mode, mode
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": 30, "autoreset_mode": mode}
        self.single_observation_space = self.stage.observation_space
        self.single_action_space = self.stage.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        drive_of = self.stage.actions.drive
        self._episodes = Episodes(self.stage.scenario, self.stage.scene, drive_of, self.num_envs, threads)
        self._generators: list[np.random.Generator | None] = [None] * self.num_envs
        self._over = np.zeros(self.num_envs, bool)

    @property
    def sims(self) -> Sims:
        """The worlds."""
        return self._episodes.sims

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:  # fmt: skip
        """Begin episodes in all rows, or those of options['reset_mask'], (num_envs,) bools.

        Args:
          seed: of row 0, of row i then seed + i; or one for each; None draws them.
        """
        rows = np.arange(self.num_envs)
        if options is not None and "reset_mask" in options:
            rows = np.flatnonzero(self._mask(options["reset_mask"]))
        given: list[int | None]
        if seed is None or isinstance(seed, int | np.integer):
            given = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        else:
            given = list(seed)
        if len(given) != self.num_envs:
            raise UserError(f"seeds are one for each of {self.num_envs} environments, got {len(given)}")
        infos = self._begin(rows, [given[row] for row in rows])
        return self._observed(), infos

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:  # fmt: skip
        """One frame in all rows; those whose episode was over begin the next one instead (NEXT_STEP)."""
        controls, episodes = self.stage.actions.controls(actions), self._episodes
        if len(controls) != self.num_envs:
            raise UserError(f"actions are {self.num_envs} rows, got {len(controls)}")
        fresh = np.flatnonzero(self._over)
        if not fresh.size:
            episodes.act(controls)
            infos = self._told(np.arange(self.num_envs))
        elif self._mode is AutoresetMode.NEXT_STEP:
            acting = np.flatnonzero(~self._over)
            if acting.size:
                episodes.act(controls[acting], acting)
            infos = self._told(acting)
            for name, column in self._begin(fresh, [None] * len(fresh)).items():
                infos[name] = column
        else:
            raise UserError(f"episodes of rows {fresh.tolist()[:8]} are over: reset them with options['reset_mask']")
        terminated, truncated = episodes.terminated.copy(), episodes.truncated.copy()
        self._over = terminated | truncated
        rewards = episodes.rewards.copy()
        if self._mode is AutoresetMode.SAME_STEP and self._over.any():
            infos = self._begin_at_once(infos)
        return self._observed(), rewards, terminated, truncated, infos

    def _begin_at_once(self, infos: dict[str, Any]) -> dict[str, Any]:
        """Begin the next episodes where one is over; what there was at its end goes to 'final_obs', 'final_info'."""
        rows, last = np.flatnonzero(self._over), self._observed()
        final, over = np.full(self.num_envs, None, object), self._over.copy()
        for row in rows:
            final[row] = last[row].copy()
        ended = _only(infos, over)
        moved = {name: column for name, column in infos.items() if name in ("cost", "_cost")}
        if "cost" in moved:
            moved["_cost"] = moved["_cost"] & ~over
        begun = self._begin(rows, [None] * len(rows))
        return {
            **moved,
            **begun,
            "final_obs": final,
            "_final_obs": over,
            "final_info": ended,
            "_final_info": over.copy(),
        }

    def _begin(self, rows: np.ndarray, seeds: list[int | None]) -> dict[str, Any]:
        """Begin episodes; what a single environment says of each of them."""
        trials = []
        for row, seed in zip(rows.tolist(), seeds, strict=True):
            generator = self._generators[row]
            if seed is not None or generator is None:
                generator = self._generators[row] = np_random(seed)[0]
            trials.append(int(generator.integers(SEEDS)) if seed is None else seed)
            check_number("seed", trials[-1], 0, 2**63 - 1)
        self._episodes.begin(rows, trials)
        self._over[rows] = False
        told = np.zeros(self.num_envs, np.int64)
        told[rows] = trials
        return {"seed": told, "_seed": self._rows(rows)}

    def _told(self, acting: np.ndarray) -> dict[str, Any]:
        """Infos of rows that have acted: costs, and how the episodes went that are over."""
        episodes, n = self._episodes, self.num_envs
        shown = self._rows(acting)
        infos: dict[str, Any] = {"cost": np.where(shown, episodes.costs, 0.0), "_cost": shown}
        over = np.flatnonzero(shown & (episodes.terminated | episodes.truncated))
        if not over.size:
            return infos
        outcomes = {row: episodes.outcome(row) for row in over.tolist()}
        success, metrics = np.zeros(n, bool), dict[str, Any]()
        for row, outcome in outcomes.items():
            success[row] = outcome.success
            for name, value in outcome.metrics.items():
                metrics.setdefault(name, np.zeros(n))[row] = value
        for name in tuple(metrics):
            metrics[f"_{name}"] = self._rows(over)
        return {
            **infos,
            "success": success,
            "_success": self._rows(over),
            "metrics": metrics,
            "_metrics": self._rows(over),
        }

    def _rows(self, rows: np.ndarray) -> np.ndarray:
        """(num_envs,): which rows are among these."""
        mask = np.zeros(self.num_envs, bool)
        mask[rows] = True
        return mask

    def _mask(self, mask: Any) -> np.ndarray:
        """A reset mask, or the sentence that says what one is."""
        rows = np.asarray(mask)
        if rows.shape != (self.num_envs,) or rows.dtype != bool or not rows.any():
            raise UserError(
                f"options['reset_mask'] is {self.num_envs} bools of which one or more are true, got {mask!r}"
            )
        return rows

    def _observed(self) -> np.ndarray:
        return self.stage.observer.of(self.sims, self._episodes.wants)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture of every row, RGB bytes (height, width, 3); None without a render_mode."""
        return None if self.render_mode is None else tuple(self.stage.picture(state) for state in self.sims.state)

    def close_extras(self, **given: Any) -> None:
        """Give back what pictures needed."""
        self.stage.close()


def _only(infos: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """Infos of some rows alone."""
    kept: dict[str, Any] = {}
    for name, column in infos.items():
        if isinstance(column, dict):
            kept[name] = _only(column, rows)
        else:
            kept[name] = column & rows if name.startswith("_") else column.copy()
    return kept
