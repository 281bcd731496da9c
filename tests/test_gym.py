"""Gymnasium environments: they go as trials do, rows as single ones do, and what is returned is the caller's."""

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason='needs Gymnasium: pip install "tumble[rl]"')

from gymnasium.utils.env_checker import check_env  # noqa: E402

from tumble.errors import UserError  # noqa: E402
from tumble.goals.judging import goal_of  # noqa: E402
from tumble.gym import Expert, check_vector_env, env_id, environments  # noqa: E402
from tumble.gym.actions import Actions  # noqa: E402
from tumble.gym.episodes import KEPT, Episodes  # noqa: E402
from tumble.gym.observing import Observer  # noqa: E402
from tumble.planners import CPBPSettings, MCTSSettings, SMCSettings  # noqa: E402
from tumble.scenarios import SCENARIOS, Trial, run_trial  # noqa: E402
from tumble.world.sims import Sims  # noqa: E402

SMALL = CPBPSettings(samples=8, horizon=0.2)
PAGE = Path(__file__).parents[1] / "docs" / "gymnasium.md"


def make(scenario, **options):
    return gymnasium.make(env_id(scenario), **options)


def make_many(scenario, rows, **options):
    return gymnasium.make_vec(env_id(scenario), num_envs=rows, **options)


@pytest.mark.parametrize("scenario", ["push", "learn-hop", "step-over"])
def test_gymnasium_finds_nothing_to_say(scenario):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(scenario).unwrapped, skip_render_check=True)


def test_ids_are_those_of_the_scenarios():
    assert env_id("getup-prone") == "tumble/GetupProne-v0"
    registered = {name for name in gymnasium.registry if name.startswith("tumble/")}
    assert registered >= set(environments()) and len(environments()) > 40
    assert env_id("crowd") not in registered and env_id("stones") not in registered


@pytest.mark.parametrize(
    ("scenario", "options", "frames", "settings"),
    [
        ("push", {"force": 900.0}, KEPT + 6, SMALL),  # an event, and histories beyond what is kept for all rows
        ("explosion", {}, 66, SMALL),
        ("steer", {}, 12, SMALL),  # a want at the beginning
        ("dodge", {}, 24, SMCSettings(samples=8, horizon=0.5)),  # a throw
        ("walk-projectiles", {}, 6, MCTSSettings(samples=4, horizon=0.2)),  # responses
    ],
)
def test_what_an_expert_does_is_its_trial_to_the_last_bit(scenario, options, frames, settings):
    env = make(scenario, normalized=False, **options)
    trial = Trial(SCENARIOS[scenario](**options), 5, settings=settings, threads=1)
    with Expert(env, settings=settings, threads=1) as expert:
        observation, info = env.reset(seed=5)
        assert info == {"seed": 5} and expert.name == trial.name
        for _ in range(frames):
            trial.step()
            observation, _, terminated, truncated, _ = env.step(expert(observation))
            assert not terminated and not truncated
    trial.controller.close()
    here, there = env.unwrapped.history, trial.history
    assert here.frames == there.frames == frames
    for channel in here.scene.channels:
        assert here.of(channel).tobytes() == there.of(channel).tobytes()
    assert here.wants == there.wants and here.metrics() == there.metrics()
    due = [command for when, command in here.commands if when < frames * here.scene.dt - 0.01]
    assert due == [command for _, command in there.commands]


def test_an_episode_ends_as_its_trial_does():
    env, settings = make("reach", normalized=False), CPBPSettings(samples=4, horizon=0.1)
    result = run_trial(Trial(SCENARIOS["reach"](), 2, settings=settings, threads=1))
    with Expert(env, settings=settings, threads=1) as expert:
        observation, _ = env.reset(seed=2)
        ended, steps = False, 0
        while not ended:
            observation, _, terminated, ended, info = env.step(expert(observation))
            assert not terminated and ("success" in info) == ended
            steps += 1
    assert (steps, info["success"], info["metrics"]) == (result.frames, result.success, result.metrics)


def test_normalized_actions_come_to_the_same_but_for_rounding():
    env = make("push")
    drive = env.unwrapped.actions.drive
    rng = np.random.default_rng(0)
    controls = rng.uniform(drive.low, drive.high, (50, drive.size))
    actions = Actions(drive).actions(controls)
    assert np.abs(actions).max() <= 1
    np.testing.assert_allclose(Actions(drive).controls(actions), controls, atol=1e-14)
    beyond = Actions(drive).controls(np.full((1, drive.size), 3.0))[0]
    assert (beyond == drive.high).all()
    observation, _ = env.reset(seed=0)
    with Expert(env, settings=SMALL, threads=1) as expert:
        assert env.action_space.contains(expert(observation))


@pytest.mark.parametrize("scenario", ["reach", "push", "learn-trot"])
def test_rows_go_as_single_environments(scenario):
    steps, rows = {"reach": (125, 3), "push": (50, 2), "learn-trot": (20, 2)}[scenario]
    ended = check_vector_env(make_many(scenario, rows), steps=steps, seed=11, single=lambda: make(scenario))
    assert ended == (rows if scenario == "reach" else 0)


@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
def test_what_comes_after_an_end_is_what_the_mode_says(mode):
    assert check_vector_env(make_many("reach", 2, autoreset_mode=mode), steps=123) == 2


def test_of_the_same_step_the_end_is_told_beside_the_beginning():
    many, other = make_many("reach", 2, autoreset_mode="SameStep"), make("reach")
    many.reset(seed=3)
    other.reset(seed=3)
    still = np.zeros((2, *many.single_action_space.shape))
    ended = False
    while not ended:
        observations, _, _, truncated, infos = many.step(still)
        last, _, _, ended, info = other.step(still[0])
        assert truncated[0] == ended
    assert (infos["final_obs"][0] == last).all()
    assert infos["final_info"]["success"][0] == info["success"]
    first, begun = other.reset()
    assert (observations[0] == first).all() and infos["seed"][0] == begun["seed"]


def test_a_mask_resets_its_rows_alone():
    many = make_many("stand", 3)
    many.reset(seed=0)
    for _ in range(3):
        before = many.step(many.action_space.sample())[0]
    mask = np.array([False, True, False])
    observations, infos = many.reset(seed=[7, 8, 9], options={"reset_mask": mask})
    assert (observations[~mask] == before[~mask]).all() and (observations[1] != before[1]).any()
    assert infos["seed"][1] == 8 and (infos["_seed"] == mask).all()
    one = make("stand")
    one.reset(seed=8)
    action = many.action_space.sample()
    assert (many.step(action)[0][1] == one.step(action[1])[0]).all()


def test_rewards_are_the_goals_costs():
    many, scenario = make_many("getup", 4), SCENARIOS["getup"]()
    many.reset(seed=0)
    for _ in range(5):
        _, rewards, _, _, infos = many.step(many.action_space.sample())
    sims = Sims(many.unwrapped.stage.scene, 4, 1)
    sims.load(many.unwrapped.sims.state)
    costs = goal_of(sims.scene, scenario.wants()).cost(sims)
    np.testing.assert_allclose(infos["cost"], costs, rtol=1e-9)
    np.testing.assert_allclose(rewards, 1 / (1 + costs / 100), rtol=1e-9)


def test_where_no_goal_judges_success_is_rewarded_in_the_end():
    env = make("simbicon-planar")
    env.reset(seed=0)
    _, reward, _, _, info = env.step(env.action_space.sample())
    assert reward == 0 and np.isnan(info["cost"])


def test_a_world_that_breaks_terminates_its_row():
    many = make_many("stand", 3)
    many.reset(seed=0)
    many.unwrapped.sims.view("qvel")[1] = 1e12
    observations, rewards, terminated, truncated, infos = many.step(many.action_space.sample())
    assert terminated.tolist() == [False, True, False] and not truncated.any()
    assert rewards[1] == 0 and not infos["success"][1] and np.isfinite(observations).all()
    assert many.step(many.action_space.sample())[0][1, 0] > 0.5  # and begins anew


def test_observations_do_not_know_where_in_the_world_they_are():
    scene = SCENARIOS["dodge"]().scene(make("dodge").unwrapped.stage.scene.character)
    sims, observer = Sims(scene, 2, 1), Observer(scene)
    sims.load(scene.state())
    for _ in range(5):  # it moves
        sims.act(np.tile(0.3 * scene.drive.high, (2, 1)))
    here = sims.state[0].copy()
    data = scene.show(here)
    turn = np.array([np.cos(0.6), 0, 0, np.sin(0.6)])
    c, s = np.cos(1.2), np.sin(1.2)
    for q, v in ((0, 0), *((int(scene.model.joint("ball").qposadr[0]), int(scene.model.joint("ball").dofadr[0])),)):
        x, y = data.qpos[q : q + 2]
        data.qpos[q : q + 2] = c * x - s * y + 3.0, s * x + c * y - 2.0
        w0, w3, (a, b, e, f) = turn[0], turn[3], data.qpos[q + 3 : q + 7].copy()
        data.qpos[q + 3 : q + 7] = w0 * a - w3 * f, w0 * b - w3 * e, w0 * e + w3 * b, w0 * f + w3 * a
        x, y = data.qvel[v : v + 2]
        data.qvel[v : v + 2] = c * x - s * y, s * x + c * y
    sims.load(np.array([here, scene.read(data)]))
    one, other = observer.of(sims, [SCENARIOS["dodge"]().wants()] * 2)
    np.testing.assert_allclose(one, other, atol=1e-7)
    assert len(observer.names) == len(set(observer.names)) == one.size


def test_many_threads_come_to_the_same():
    states = []
    for threads in (1, 2):
        many = make_many("push", 8, threads=threads)
        many.reset(seed=4)
        many.action_space.seed(4)
        for _ in range(5):
            many.step(many.action_space.sample())
        states.append(many.unwrapped.sims.state.tobytes())
    assert states[0] == states[1]


class Faulty(gymnasium.vector.VectorWrapper):
    """A vector environment with something wrong."""

    def __init__(self, many, fault):
        super().__init__(many)
        self.fault, self.buffer, self.calls = fault, None, 0

    def reset(self, **given):
        if self.fault == "seed":
            given["seed"] = 1
        return self._told(self.env.reset(**given))

    def step(self, actions):
        if self.fault == "drifts":
            self.calls += 1
            actions = actions * (1 - 1e-9 * self.calls)
        told = self._told(self.env.step(actions))
        return (told[0], told[1][:, None], *told[2:]) if self.fault == "shape" else told

    def _told(self, told):
        if self.fault == "reused":
            self.buffer = told[0].copy() if self.buffer is None else self.buffer
            self.buffer[:] = told[0]
            return (self.buffer, *told[1:])
        return told


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("reused", "what was returned changed later: it must belong to the caller"),
        ("drifts", "step 1 is another from the same seed and actions"),
        ("shape", "step 0 gave rewards that are no such array"),
        ("seed", "row i of seed s + 1 must begin as row i + 1 of seed s"),
    ],
)
def test_the_checker_sees_what_is_wrong(fault, sentence):
    with pytest.raises(UserError, match=re.escape(sentence)):
        check_vector_env(Faulty(make_many("reach" if fault == "seed" else "stand", 2), fault), steps=4)


def test_the_checker_sees_an_end_that_is_not_told(monkeypatch):
    many = make_many("reach", 1, autoreset_mode="SameStep")
    monkeypatch.setitem(many.metadata, "autoreset_mode", gymnasium.vector.AutoresetMode.NEXT_STEP)
    with pytest.raises(UserError, match="rewards rows that only began"):
        check_vector_env(many, steps=123)
    monkeypatch.setitem(many.metadata, "autoreset_mode", None)
    with pytest.raises(UserError, match="must be an AutoresetMode, is None"):
        check_vector_env(many, steps=1)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: make("push", forse=3.0), "no option 'forse' of 'push'"),
        (lambda: make("push", force=-3.0), "force must be a number 0 or more"),
        (lambda: make("push", character="hmanoid"), "did you mean 'humanoid'?"),
        (lambda: make("push", drive="pd"), "no drive 'pd'; there are: servo, torque"),
        (lambda: make("push", width=2), "width of a picture must be"),
        (lambda: make("push").unwrapped.step(np.zeros(35)), "nothing has begun yet: reset first"),
        (lambda: make_many("step-over", 2), "every seed of 'step-over' has a scene of its own, and rows share one"),
        (lambda: make_many("push", 2, autoreset_mode="never"), "no autoreset_mode 'never'; there are: 'NextStep'"),
        (lambda: make_many("push", 2).reset(seed=[1]), "seeds are one for each of 2 environments, got 1"),
        (lambda: make_many("push", 2).reset(options={"reset_mask": [1, 2]}), "options['reset_mask'] is 2 bools"),
        (lambda: Expert(gymnasium.make("CartPole-v1")), "an expert acts in environments of tumble"),
        (lambda: Expert(make("steer-walk", character="biped"), "simbicon"), "controller 'simbicon' needs a body"),
    ],
)
def test_what_cannot_be_is_said(call, sentence):
    with pytest.raises(UserError, match=re.escape(sentence)):
        call()


@pytest.mark.parametrize("action", [np.full(35, np.nan), np.zeros(3)])
def test_what_is_no_action_is_refused(action):
    env = make("push").unwrapped
    env.reset(seed=0)
    with pytest.raises(UserError, match=r"an action is 35 finite numbers \(spine_bend"):
        env.step(action)


def test_a_law_makes_no_actions():
    env = make("steer-walk")
    observation, _ = env.reset(seed=0)
    with pytest.raises(UserError, match="'walker' makes no actions of the drive 'servo'; choose a planner"):
        Expert(env, "walker")(observation)


def test_a_strewn_scenario_has_the_scene_of_its_seed():
    env = make("step-over")
    seen = [[env.reset(seed=seed)[0], env.unwrapped.stage.scene.fingerprint] for seed in (1, 2, 1)]
    assert seen[0][1] == seen[2][1] != seen[1][1] and (seen[0][0] == seen[2][0]).all()


def test_a_scene_of_several_characters_is_refused():
    crowd = SCENARIOS["crowd"](dancers=2)
    scene = crowd.scene(crowd.body(make("stand", character="biped").unwrapped.stage.scene.character, 0), 0)
    with pytest.raises(UserError, match="an environment acts for one character, and this scene has 2"):
        Observer(scene)


def test_pictures_are_those_of_a_film():
    try:
        make("stand", render_mode="rgb_array").unwrapped.render()
    except UserError as error:
        if "no OpenGL" not in str(error):
            raise
        pytest.skip(str(error))
    env = make("getup", render_mode="rgb_array", width=96, height=64)
    env.reset(seed=0)
    picture = env.render()
    assert picture.shape == (64, 96, 3) and picture.dtype == np.uint8 and picture.std() > 5
    env.close()
    many = make_many("getup", 2, render_mode="rgb_array", width=96, height=64)
    many.reset(seed=0)
    assert all((one == picture).all() for one in many.render())
    many.close()
    assert make("getup").unwrapped.render() is None


def test_without_gymnasium_it_says_what_to_install():
    code = "import sys; sys.modules['gymnasium'] = None\nimport tumble.gym"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "environments need Gymnasium: pip install 'tumble[rl]'" in ran.stderr
    listed = "import sys; sys.modules['gymnasium'] = None\nfrom tumble.cli import dispatch; dispatch(['list'])"
    ran = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True)
    assert "tumble/GetupProne-v0" in ran.stdout


def test_histories_of_rows_that_begin_at_other_times_are_whole():
    scenario = SCENARIOS["stand"]()
    scene = scenario.scene(make("stand").unwrapped.stage.scene.character)
    rows = Episodes(scenario, scene, scene.drive, 2, 1)
    rows.begin(np.arange(2), [0, 1])
    rng = np.random.default_rng(0)
    heights = [[], []]
    for frame in range(2 * KEPT + 5):
        if frame % 40 == 17:
            rows.begin(np.array([frame % 2]), [frame])
            heights[frame % 2] = []
        acting = np.array([0, 1]) if frame % 3 else np.array([1])
        rows.act(rng.uniform(scene.drive.low, scene.drive.high, (len(acting), scene.drive.size)), acting)
        for row in acting:
            heights[row].append(rows.sims.view("com")[row, 2])
    for row in (0, 1):
        assert rows.history(row).of("com")[:, 2].tolist() == heights[row]


def test_the_page_tells_the_truth(tmp_path, monkeypatch):
    """Every block of Python on the page runs, one after the other."""
    monkeypatch.chdir(tmp_path)
    blocks, known = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL), {}
    assert len(blocks) >= 4
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), known)
