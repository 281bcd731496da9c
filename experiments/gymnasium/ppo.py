"""Learn to go on four legs by PPO of stable-baselines3, in 64 rows of tumble/LearnTrot-v0.

    pip install 'tumble[rl]' stable-baselines3
    python experiments/gymnasium/ppo.py                  # half an hour or less; writes ppo.json
    python experiments/gymnasium/ppo.py --steps 20000    # a minute

One should see the reward of a step and the speed along what is wanted (1 m/s) rise over those of the policy that nobody
trained. All episodes begin alike; what differs is what the policy draws. Rewards are the environment's own: nothing is
shaped here.
"""

import argparse
import json
import subprocess
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv

import tumble.gym  # noqa: F401 - registers
from tumble.files import replace_file

ENVIRONMENT, OPTIONS = "tumble/LearnTrot-v0", {"until": 10.0}
ROWS, SEED, EPISODES = 64, 1, 4


class Rows(VecEnv):
    """A vector environment of tumble as stable-baselines3 wants it: resets in the same step, infos as a list."""

    def __init__(self, rows: int) -> None:
        self.many = gymnasium.make_vec(ENVIRONMENT, num_envs=rows, autoreset_mode="SameStep", **OPTIONS)
        super().__init__(rows, self.many.single_observation_space, self.many.single_action_space)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Of the next reset."""
        self._next = seed
        return [seed] * self.num_envs

    def reset(self) -> np.ndarray:
        """Begin in all rows."""
        return self.many.reset(seed=getattr(self, "_next", SEED))[0]

    def step_async(self, actions: np.ndarray) -> None:
        """Keep them."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """One frame."""
        observations, rewards, terminated, truncated, infos = self.many.step(self._actions)
        told: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(terminated | truncated):
            told[row] = {"terminal_observation": infos["final_obs"][row], "TimeLimit.truncated": bool(truncated[row])}
        return observations, rewards, terminated | truncated, told

    def close(self) -> None:
        """Give back what it took."""
        self.many.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The same of all rows."""
        return [getattr(self.many, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused."""
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Refused."""
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No."""
        return [False] * self.num_envs


def tried(model: PPO) -> dict[str, Any]:
    """Means over episodes in which the policy draws as it does in training."""
    env, rewards, speeds, downs = gymnasium.make(ENVIRONMENT, **OPTIONS), [], [], []
    for seed in range(EPISODES):
        observation, _ = env.reset(seed=seed)
        total, over, steps = 0.0, False, 0
        while not over:
            observation, reward, terminated, truncated, _ = env.step(model.predict(observation)[0])
            total, over, steps = total + float(reward), terminated or truncated, steps + 1
        history = env.unwrapped.history  # type: ignore[attr-defined]
        rewards.append(total / steps)
        speeds.append(float(history.along.mean()))
        downs.append(history.downs())
    return {"reward_a_step": float(np.mean(rewards)), "speed": float(np.mean(speeds)), "downs": float(np.mean(downs)),
            "episodes": len(rewards)}  # fmt: skip


def main() -> None:
    """Train, try, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=600_000)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("ppo.json"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    began = time.perf_counter(), time.process_time()
    rows = Rows(ROWS)
    model = PPO(
        "MlpPolicy", rows, n_steps=64, batch_size=512, n_epochs=5, learning_rate=3e-4, gamma=0.98, gae_lambda=0.95,
        seed=SEED, device="cpu", policy_kwargs={"log_std_init": -1.0},
    )  # fmt: skip
    result: dict[str, Any] = {"environment": ENVIRONMENT, "options": OPTIONS, "before": tried(model), "curve": []}
    done = 0
    while done < given.steps:
        model.learn(min(100_000, given.steps - done), reset_num_timesteps=False)
        done = model.num_timesteps
        result["curve"].append({"steps": done, **tried(model)})
        print(result["curve"][-1], flush=True)
        commit = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False
        ).stdout.strip()
        result |= {
            "after": result["curve"][-1], "steps": done, "minutes": (time.perf_counter() - began[0]) / 60,
            "cpu_minutes": (time.process_time() - began[1]) / 60, "commit": commit, "seed": SEED,
            "versions": {name: version(name) for name in ("gymnasium", "stable-baselines3", "torch", "mujoco")},
        }  # fmt: skip
        text = json.dumps(result, indent=1) + "\n"
        replace_file(given.out, lambda file, text=text: file.write(text.encode()))


if __name__ == "__main__":
    main()
