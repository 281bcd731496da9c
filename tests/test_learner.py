"""The contract of learners, for all of them: what is learned, kept, restored, refused, and who learns with them."""

import numpy as np
import pytest

from tumble.errors import UserError
from tumble.learners import Experience, Learner, Learners
from tumble.planners import PLANNERS

FEATURES, SIZE = 5, 3
KINDS = [Experience, Learners]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)


def taught(kind: type[Learner], count: int = 4, seed: int = 0) -> Learner:
    learner, rng = kind.new(FEATURES, SIZE, seed), np.random.default_rng(seed)
    for _ in range(count):
        learner.add(rng.normal(size=FEATURES), rng.normal(size=SIZE))
    return learner


def bits(learner: Learner) -> list[tuple[str, bytes]]:
    return [(name, array.tobytes()) for name, array in learner.kept().items()]


def test_all_are_here_and_none_is_called_as_another():
    assert set(Learner.__subclasses__()) == set(KINDS)
    assert len({kind.kind for kind in KINDS}) == len(KINDS)
    assert {kind.make.learner_kind for kind in PLANNERS.values()} == {None, *KINDS}


@each_kind
def test_one_that_is_new_knows_nothing(kind):
    learner = kind.new(FEATURES, SIZE, 0)
    assert (len(learner), learner.progress, learner.growing) == (0, 0, True)
    assert (learner.features, learner.size) == (FEATURES, SIZE) and learner.capacity >= 10_000


@each_kind
def test_progress_grows_with_every_pair_unless_it_is_frozen(kind):
    learner, seen = kind.new(FEATURES, SIZE, 0), [0]
    for i in range(3):
        learner.add(np.full(FEATURES, i), np.zeros(SIZE))
        seen.append(learner.progress)
    assert seen == sorted(set(seen)) and len(learner) == 3
    learner.growing, before = False, bits(learner)
    learner.add(np.ones(FEATURES), np.zeros(SIZE))
    assert (learner.progress, len(learner), bits(learner)) == (seen[-1], 3, before)


@each_kind
@pytest.mark.parametrize("count", [0, 1, 150])
@pytest.mark.parametrize("growing", [True, False])
def test_what_is_kept_is_restored(kind, count, growing):
    learner, other = taught(kind, count), kind.new(FEATURES, SIZE, 9)
    other.growing = growing
    other.restore(learner.kept())
    assert len(other) == len(learner) == count and bits(other) == bits(learner)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.appends], ids=lambda kind: kind.kind)
def test_who_appends_gives_what_is_new_in_tables(kind):
    learner, other = taught(kind, 4), kind.new(FEATURES, SIZE, 0)
    mark = learner.progress
    other.restore(learner.kept())
    learner.add(np.ones(FEATURES), np.ones(SIZE))
    new = learner.kept(mark)
    assert all(table.dtype == np.float32 and table.ndim == 2 and len(table) == 1 for table in new.values())
    other.restore(new)
    assert bits(other) == bits(learner)
    assert all(len(table) == 0 for table in learner.kept(learner.progress).values())


@each_kind
def test_what_is_unlike_its_own_is_refused_and_changes_nothing(kind):
    learner = taught(kind)
    before = bits(learner)
    for name, array in learner.kept().items():
        if array.ndim == 2:
            for wrong in (array[:, 1:], array[1:], np.full_like(array, np.nan)):
                with pytest.raises(UserError):
                    learner.restore({**learner.kept(), name: wrong})
    assert bits(learner) == before


@each_kind
def test_to_warm_up_and_to_stop_change_nothing(kind):
    learner = taught(kind)
    before = bits(learner)
    learner.warm_up()
    learner.stop()
    learner.stop()
    assert (bits(learner), learner.progress, len(learner)) == (before, taught(kind).progress, 4)


def test_a_planner_takes_its_own_kind_alone(scene):
    for kind in {kind.make: kind for kind in PLANNERS.values()}.values():
        planner = kind.make(scene, kind.settings(samples=6, horizon=0.1), 0, 1)
        for learner in (Experience(1, 1), Learners(1, 1, 0)):
            able = {"experience": "smc", "learners": "cpbp, mcts"}[learner.kind]
            if planner.learns and planner.learner_kind is type(learner):
                planner.learn_with(learner)
                assert planner.learner is learner
                assert type(planner.make_learner()) is type(learner)
                assert (planner.make_learner().features, planner.make_learner().size) == planner.memory
            else:
                message = f"{type(planner).__name__} does not learn from {learner.kind}; choose: {able}"
                with pytest.raises(UserError, match=message):
                    planner.learn_with(learner)
        if not planner.learns:
            with pytest.raises(UserError, match=f"{type(planner).__name__} does not learn"):
                planner.make_learner()
