"""Learners: forest and network together; what a thread does to them, and how its errors come to light."""

import threading

import numpy as np
import pytest

from tumble.errors import UserError
from tumble.learners import Learners

FEATURES, SIZE = 5, 2
FEWEST = 100  # pairs without which the network is not trained


def pairs(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    states = np.random.default_rng(seed).normal(size=(count, FEATURES))
    return states, np.stack([np.sin(states[:, 0]), 0.5 * states[:, 1]], axis=1)


def taught(count: int = 120, seed: int = 0) -> Learners:
    learners = Learners(FEATURES, SIZE, seed)
    for state, action in zip(*pairs(count), strict=True):
        learners.add(state, action)
    return learners


def answers(learners: Learners) -> bytes:
    """All that they say of some new states, to the last bit."""
    states = pairs(40, 9)[0]
    actions, distances = learners.forest.recall(states)
    return actions.tobytes() + distances.tobytes() + learners.network.predict(states).tobytes()


def alive() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "tumble learners"]


def await_end(learners: Learners) -> None:
    """Until its thread has come to its own end."""
    learners._thread.join(10)
    assert not learners._thread.is_alive()


class Odd(Exception):
    pass


def spoil(learners: Learners, monkeypatch) -> None:
    """Make training go wrong."""

    def train(updates):
        raise Odd("out of order")

    monkeypatch.setattr(learners.network, "train", train)


@pytest.fixture(autouse=True)
def no_thread_is_left():
    before = alive()
    yield
    assert alive() == before


# In step --------------------------------------------------------------------------------------------


def test_a_pair_is_taught_to_both():
    learners = taught(3)
    assert (len(learners.forest), len(learners.network)) == (3, 3)
    states, actions = pairs(3)
    found, distances = learners.forest.recall(states)
    assert found == pytest.approx(actions, abs=1e-6) and distances == pytest.approx(0)


def test_work_is_so_many_updates_and_visits():
    learners = taught()
    for updates in (3, 0, 8):
        before = learners.network.updates
        learners.work(updates)
        assert learners.network.updates == before + updates
    while learners.forest.rebuilt == 0:
        learners.work(0)
    assert learners.network.updates == 11


def test_without_pairs_work_does_nothing():
    learners = Learners(FEATURES, SIZE, 0)
    learners.work(5)
    assert not learners.network.ready and learners.forest.rebuilt == 0


def test_the_same_calls_give_the_same_bits_and_another_seed_others():
    one, two, other = taught(seed=1), taught(seed=1), taught(seed=2)
    for learners in (one, two, other):
        for _ in range(4):
            learners.work(2)
    assert answers(one) == answers(two) != answers(other)


@pytest.mark.parametrize("count", [0, 3, 150])
def test_what_was_kept_is_restored(count):
    """The network to the last bit, also as it learns on; the forest's pairs, in trees of its own."""
    learners, other = taught(count), Learners(FEATURES, SIZE, 5)
    learners.work(4)
    kept = learners.kept()
    other.restore(kept)
    states, actions = pairs(max(count, 1))
    assert len(other) == len(learners) == count
    assert other.network.ready == learners.network.ready == (count > FEWEST)
    if count:
        found, distances = other.forest.recall(states)
        assert found == pytest.approx(actions, abs=1e-6) and distances == pytest.approx(0)
        assert other.forest.rebuilt >= other.forest.trees
    if learners.network.ready:  # else nothing was learned
        assert np.array_equal(other.network.predict(states), learners.network.predict(states))
        assert other.network.updates == learners.network.updates == 4
    again = other.kept()
    assert again.keys() == kept.keys()
    order, same = (np.lexsort(made["states"].T) for made in (kept, again))
    assert np.array_equal(kept["states"][order], again["states"][same])
    assert np.array_equal(kept["actions"][order], again["actions"][same])


def test_what_is_kept_is_a_copy():
    learners = taught()
    learners.work(2)
    before = answers(learners)
    for array in learners.kept().values():
        array[...] = 0
    assert answers(learners) == before


def test_frozen_learners_learn_nothing():
    learners = taught()
    learners.work(3)
    learners.growing, before = False, answers(learners)
    for state, action in zip(*pairs(5, 3), strict=True):
        learners.add(state, action)
    learners.work(3)
    learners.start()
    assert not learners.running and alive() == []
    assert answers(learners) == before and len(learners) == 120
    learners.growing = True
    learners.add(*(rows[0] for rows in pairs(1, 3)))
    learners.work(3)
    assert answers(learners) != before and len(learners) == 121


# In a thread ----------------------------------------------------------------------------------------


def test_a_thread_learns_until_it_is_stopped():
    learners = taught()
    learners.start()
    assert learners.running and len(alive()) == 1 and alive()[0].daemon
    limit = threading.Event()
    for _ in range(1000):
        if learners.network.updates > 3:
            break
        limit.wait(0.01)
    learners.stop()
    assert not learners.running and alive() == []
    learned = learners.network.updates
    limit.wait(0.05)
    assert learners.network.updates == learned > 3


def test_to_start_twice_is_one_thread_and_to_stop_twice_is_one_end():
    learners = taught(3)
    learners.stop()  # of what never ran
    learners.start()
    first = learners._thread
    learners.start()
    assert alive() == [first] and learners._thread is first
    learners.stop()
    learners.stop()
    learners.start()
    assert len(alive()) == 1 and alive()[0] is not first
    learners.stop()


def test_work_does_nothing_while_a_thread_runs(monkeypatch):
    learners, asked = taught(), []
    monkeypatch.setattr(learners, "_run", lambda: learners._stopping.wait(10))  # a thread that learns nothing
    learners.start()
    monkeypatch.setattr(learners.network, "train", asked.append)
    monkeypatch.setattr(learners.forest, "work", asked.append)
    learners.work(5)
    assert asked == []
    learners.stop()
    learners.work(5)
    assert len(asked) == 2


def test_pairs_may_be_added_and_asked_for_while_a_thread_learns():
    learners = taught()
    learners.start()
    for state, action in zip(*pairs(200, 5), strict=True):
        learners.add(state, action)
        found, _ = learners.forest.recall(state[None])
        assert found[0] == pytest.approx(action, abs=1e-6)  # it is among the last
        assert np.isfinite(learners.network.predict(state[None])).all()
    learners.stop()
    assert learners.network.added == 320


@pytest.mark.parametrize("where", ["add", "stop"])
def test_what_goes_wrong_in_the_thread_is_raised_once(where, monkeypatch):
    learners = taught(3)
    spoil(learners, monkeypatch)
    learners.start()
    await_end(learners)
    state, action = (rows[0] for rows in pairs(1))
    with pytest.raises(Odd, match="out of order"):
        learners.add(state, action) if where == "add" else learners.stop()
    learners.add(state, action)
    learners.stop()
    assert not learners.running


def test_a_thread_that_ended_by_an_error_does_not_run(monkeypatch):
    learners = taught(3)
    spoil(learners, monkeypatch)
    learners.start()
    await_end(learners)
    try:
        assert not learners.running
    finally:
        with pytest.raises(Odd):
            learners.stop()


def test_after_an_error_a_thread_can_be_started_again(monkeypatch):
    """Else nothing would be learned any more, in silence."""
    learners = taught()
    spoil(learners, monkeypatch)
    learners.start()
    await_end(learners)
    state, action = (rows[0] for rows in pairs(1))
    with pytest.raises(Odd):
        learners.add(state, action)
    monkeypatch.undo()
    learners.start()
    running = alive()
    learners.stop()
    assert len(running) == 1


BAD = [
    (lambda made: made.work(-1), "updates must be a number 0 or more and at most 100000, got -1"),
    (lambda made: made.work(float("nan")), "updates must be a number 0 or more and at most 100000, got nan"),
    (lambda made: made.add(np.zeros(4), np.zeros(2)), r"a state must have shape \(5,\), got \(4,\)"),
    (lambda made: made.add(np.zeros(5), np.zeros(3)), r"an action must have shape \(2,\), got \(3,\)"),
    (lambda made: made.add(np.full(5, np.nan), np.zeros(2)), "a state must be of numbers within"),
]


@pytest.mark.parametrize(("call", "message"), BAD, ids=[message[:30] for _, message in BAD])
def test_bad_calls(call, message):
    with pytest.raises(UserError, match=message):
        call(Learners(FEATURES, SIZE, 0))


def test_a_bad_action_is_taught_to_neither():
    learners = taught(3)
    with pytest.raises(UserError):
        learners.add(np.zeros(5), np.array([np.inf, 0.0]))
    assert (len(learners.forest), len(learners.network)) == (3, 3)
