"""`tumble dataset`: what is written is what Minari reads, whole or not there, and the same however it came about."""

import json

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason='needs Gymnasium: pip install "tumble[rl]"')
minari = pytest.importorskip("minari", reason='needs Minari: pip install "tumble[rl]"')

from tumble.cli import dataset_command as command  # noqa: E402
from tumble.cli import dispatch  # noqa: E402
from tumble.gym.dataset import Demonstration  # noqa: E402

QUICK = ("--samples", "4", "--horizon", "0.1")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder):
    """All that Minari reads of a dataset."""
    dataset = minari.MinariDataset(folder / "data")
    return dataset, [(one.id, one.observations, one.actions, one.rewards, one.terminations, one.truncations)
                     for one in dataset]  # fmt: skip


def same(one, other):
    return all(np.array_equal(a, b) for left, right in zip(one, other, strict=True)
               for a, b in zip(left, right, strict=True))  # fmt: skip


def test_minari_reads_what_was_done(here, capsys):
    assert dispatch(["dataset", "push", "shoves", "--force", "100", "--episodes", "2", "--json", *QUICK]) == 0
    told = json.loads(capsys.readouterr().out)
    dataset, episodes = written(here / "shoves")
    assert dataset.total_episodes == told["episodes"] == 2 and dataset.total_steps == told["steps"]
    assert dataset.id == "tumble/push/cpbp-v0" and dataset.storage.metadata["settings"]["--force"] == 100
    assert sorted(path.name for path in here.iterdir()) == ["shoves"]  # nothing beside it
    seeds = [meta["seed"] for meta in dataset.storage.get_episode_metadata(range(2))]
    assert seeds == told["seeds"]
    env = dataset.recover_environment()
    for seed, (_, observations, actions, rewards, terminations, truncations) in zip(seeds, episodes, strict=True):
        seen = [env.reset(seed=seed)[0]]
        for t, action in enumerate(actions):  # the actions do again what was done, to the last bit
            observation, reward, terminated, truncated, info = env.step(action)
            assert (reward, terminated, truncated) == (rewards[t], terminations[t], truncations[t])
            seen.append(observation)
        assert info["success"] and np.array_equal(seen, observations)


def test_who_is_interrupted_goes_on(here, monkeypatch, capsys):
    """Ctrl-C leaves no dataset; the same command comes to what it would have come to at once, at any number of jobs."""
    asked = ["dataset", "reach", "reached", "--episodes", "2", "--attempts", "6", *QUICK]
    real, begun = command._episode, []

    def interrupted(arguments, seed):
        begun.append(seed)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return data if seed % 3 else b""

    data = Demonstration(np.zeros((3, 95)), np.zeros((2, 35)), np.ones(2), np.zeros(2, bool), np.array([False, True]))
    data = data.packed
    monkeypatch.setattr(command, "_episode", interrupted)
    assert dispatch(asked) == 130
    assert [path.name for path in here.iterdir()] == ["reached.episodes"] and begun == [0, 1]
    assert dispatch(asked) == 0
    assert (
        begun == [0, 1, 1, 2] and not (here / "reached.episodes").exists()
    )  # 0 was no success, and is not tried again
    assert [meta["seed"] for meta in written(here / "reached")[0].storage.get_episode_metadata(range(2))] == [1, 2]
    monkeypatch.setattr(command, "_episode", real)


def test_too_few_successes_are_no_dataset(here, monkeypatch, capsys):
    monkeypatch.setattr(command, "_episode", lambda arguments, seed: b"")
    assert dispatch(["dataset", "reach", "reached", "--episodes", "3", "--attempts", "2"]) == 1
    assert "0 of 3 episodes after 2 tries; more tries: --attempts" in capsys.readouterr().err
    assert not (here / "reached").exists()


def test_jobs_do_not_matter(here):
    short = ("dataset", "stand", "--episodes", "2", "--samples", "8", "--horizon", "0.4")  # which stands
    assert dispatch([short[0], short[1], "one", *short[2:]]) == 0
    assert dispatch([short[0], short[1], "two", *short[2:], "--jobs", "2"]) == 0
    assert same(written(here / "one")[1], written(here / "two")[1])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["crowd", "out"], "'crowd' has no environment; scenarios that have one: stand, push"),
        (["stnad", "out"], "did you mean 'stand'?"),
        (["--episodes", "3"], "name the scenario first: tumble dataset SCENARIO OUT"),
        (["stand", "there"], "there is there already; a dataset is a new folder: choose another name"),
        (["stand", "nowhere/out"], "no folder nowhere to write out into"),
        (["stand", "out", "--episodes", "0"], "episodes must be a number 1 or more"),
        (["simbicon-planar", "out"], "no planner suits 'simbicon-planar'"),
        (["steer", "out", "--controller", "walker"], "controller 'walker' needs a body with"),
    ],
)
def test_what_cannot_be_is_said(here, capsys, arguments, sentence):
    (here / "there").mkdir()
    assert dispatch(["dataset", *arguments]) == 2
    assert sentence in capsys.readouterr().err
    assert sorted(path.name for path in here.iterdir()) == ["there"]
