"""Constrained walking, offline: bases, rows with gaits of their own, strides, windows, optimisers, synthesis, files."""

import json
from dataclasses import replace

import msgspec
import mujoco
import numpy as np
import pytest
from pools import Here

from tumble.characters import character
from tumble.cli import dispatch
from tumble.errors import UserError
from tumble.offline.store import JobStore
from tumble.simbicon.body import MEMORY
from tumble.simbicon.simbicon import Simbicon
from tumble.simbicon.varied import Variation
from tumble.stepping.base import BASES, GAITS
from tumble.stepping.examples import ARRAYS, FEWEST, examples_named, read_examples, shipped
from tumble.stepping.optimising import DAMPINGS, Optimising, costs, improved, jacobian_of, rescued
from tumble.stepping.problems import GAMMA, MISSED, SPACING, residuals, stones_of
from tumble.stepping.strider import QUICKEST, SLOWEST, Strider
from tumble.stepping.synthesis import DROPPED, Problem, Synthesis, solved
from tumble.stepping.windows import world_of
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

WALK = BASES["planar-walk"]()
NAMES = tuple(BASES)
QUICK = {"examples": 25, "seed": 3, "steps": 14}


def scene_of(base):
    return Scene(character(base.character), ground=Ground(0.8))


def begun(base, rows):
    strider = Strider(scene_of(base), base)
    sims = Sims(strider.scene, rows, 1)
    sims.use(strider.walker.drive)
    strider.begin(sims)
    return strider, sims


# Bases ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_an_action_is_the_numbers_of_the_gait(name):
    base = BASES[name]()
    assert len(base.parameters) == len(base.action) == len(base.weights) == (9 if base.space else 6)
    state = base.gait.states[0]
    assert len(base.gait.states) == 1 and state.until == "strike-only" and base.action[-1] == state.duration
    for role, count in base.points:
        at = [base.parameters.index(f"{role} {i + 1}") for i in range(count)]
        assert [y for _, y in state.joints[role].bend] == base.action[at].tolist()
    assert character(base.character).planar != base.space


def test_the_thesis_bases():
    bird = BASES["bird"]()
    assert WALK.weights == (1, 1, 1, 1, 0.05, 4) and WALK.lengths == (0.1, 0.9) and WALK.preferred == 0.36
    assert bird.lengths == (0.1, 1.0) and bird.preferred == 0.66 and "stance_knee 1" in bird.parameters
    assert len({BASES[name]().digest for name in NAMES}) == len(NAMES)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": (1.0,)}, "base 'planar-walk' needs 6 weights, got 1"),
        ({"lengths": (0.9, 0.1)}, r"needs lengths from the shortest to the longest, got \(0.9, 0.1\)"),
    ],
)
def test_bases_that_cannot_be(change, message):
    with pytest.raises(UserError, match=message):
        replace(WALK, **change)


# Rows with gaits of their own -----------------------------------------------------------------------


def walked(walker, frames=45, numbers=None):
    sims = Sims(walker.scene, 2, 1)
    sims.use(walker.drive)
    sims.load(walker.opening(walker.gaits[0].name))
    walker.start(sims)
    if numbers is not None:
        walker.varied(sims)[:] = numbers
    for _ in range(frames):
        sims.act(walker.law, walker.drive)
    return sims.view("qpos").copy()


def test_the_gaits_own_numbers_are_the_gait():
    alike = walked(Simbicon(scene_of(WALK), [WALK.gait]))
    varied = walked(Simbicon(scene_of(WALK), [WALK.gait], WALK.variation))
    assert (alike == varied).all()


def test_numbers_of_a_row_are_a_gait_with_these():
    action = WALK.action + np.array([0.05, -0.03, -0.1, 0.05, 0.02, -0.05])
    state = WALK.gait.states[0]
    joints, at = dict(state.joints), 0
    for role, count in WALK.points:
        bend = tuple((x, action[at + i]) for i, (x, _) in enumerate(joints[role].bend))
        joints[role], at = msgspec.structs.replace(joints[role], bend=bend), at + count
    changed = msgspec.structs.replace(state, joints=joints, duration=float(action[-1]))
    gait = msgspec.structs.replace(WALK.gait, states=(changed,))
    own = walked(Simbicon(scene_of(WALK), [WALK.gait], WALK.variation), numbers=np.stack([WALK.action, action]))
    assert (own[1] == walked(Simbicon(scene_of(WALK), [gait]))[1]).all()
    assert (own[0] == walked(Simbicon(scene_of(WALK), [WALK.gait]))[0]).all()


def test_a_copied_row_takes_the_same_step():
    strider, sims = begun(WALK, 3)
    rows = np.arange(3)
    strider.apply(sims, rows, WALK.action + np.outer([0.0, 0.5, 1.0], [0, 0, -0.2, 0.1, 0, 0.05]))
    sims.take(np.array([1, 1, 2]))
    strider.step(sims, rows)
    assert (sims.state[0, : strider.scene.used] == sims.state[1, : strider.scene.used]).all()
    lengths, _ = strider.measured(sims, rows)
    assert lengths[0] == lengths[1] != lengths[2]


def test_a_step_waits_for_its_strike():
    """With the swing leg held high nothing strikes: the phase ends at 1, and the legs keep their roles."""
    strider, sims = begun(WALK, 1)
    action = WALK.action.copy()
    action[2:4], action[-1] = -1.6, QUICKEST
    strider.apply(sims, np.array([0]), action[None])
    for _ in range(8):
        sims.act(strider.walker.law, strider.walker.drive)
    memory = sims.memory(MEMORY)
    assert memory.phase[0] == 1.0 and memory.footstrikes[0] == 0


@pytest.mark.parametrize(
    ("roles", "points", "message"),
    [
        (("waist",), (), "gait 'planar-walk' has no bend of waist to vary"),
        (("root",), (3,), r"has \(2,\) knots of root, not \(3,\)"),
    ],
)
def test_variations_that_cannot_be(roles, points, message):
    with pytest.raises(UserError, match=message):
        Variation(roles, points).checked([WALK.gait])
    with pytest.raises(UserError, match="rows vary one gait of one state, got planar-walk of 1, planar-walk of 1"):
        Variation(("root",)).checked([WALK.gait, WALK.gait])


# Strides --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_steps_of_the_base_are_as_long_as_it_says(name):
    base = BASES[name]()
    strider, sims = begun(base, 1)
    rows, found = np.array([0]), []
    for _ in range(12):
        strider.apply(sims, rows, base.action[None])
        assert strider.step(sims, rows).all()
        found.append([one[0] for one in strider.measured(sims, rows)])
    ahead, across = np.array(found[6:]).mean(axis=0)
    assert ahead == pytest.approx(base.preferred, abs=0.03)
    assert across == pytest.approx(SPACING, abs=0.05) if base.space else across == 0.0


def heel_of(strider, sims, foot):
    """The rearmost end of a foot's capsules, by the geoms themselves."""
    model = strider.scene.model
    data = mujoco.MjData(model)
    data.qpos[:] = sims.view("qpos")[0]
    mujoco.mj_kinematics(model, data)
    ends = []
    body = strider.scene.body(strider.scene.character.feet[foot])
    ahead = data.xmat[body].reshape(3, 3)[:, 0]
    for geom in np.flatnonzero((model.geom_bodyid == body) & (model.geom_conaffinity > 0)):
        half = model.geom_size[geom, 1] * data.geom_xmat[geom].reshape(3, 3)[:, 2]
        ends += [data.geom_xpos[geom] + sign * half - model.geom_size[geom, 0] * ahead for sign in (-1, 1)]
    along = np.array(ends) @ ahead
    return np.array(ends)[along < along.min() + 1e-6].mean(axis=0)[:2], data


@pytest.mark.parametrize("name", ["planar-walk", "humanoid"])
def test_lengths_and_states_are_those_of_the_bodies(name):
    base = BASES[name]()
    strider, sims = begun(base, 1)
    rows = np.array([0])
    for _ in range(3):
        stance = int(sims.memory(MEMORY).stance[0])
        strider.apply(sims, rows, base.action[None])
        before, _ = heel_of(strider, sims, stance)
        strider.step(sims, rows)
    after, data = heel_of(strider, sims, 1 - stance)
    heading = strider.walker.headings(sims)[0]
    ahead = np.array([np.cos(heading), np.sin(heading)])
    length, lateral = strider.measured(sims, rows)
    assert length[0] == pytest.approx((after - before) @ ahead, abs=1e-9)
    if base.space:  # the left foot is left of the right one: it landed on the left, or stood there
        left = np.array([-ahead[1], ahead[0]])
        assert (
            lateral[0] == pytest.approx((after - before) @ left * (1 if stance == 1 else -1), abs=1e-9) and lateral > 0
        )
    reduced = strider.reduced(sims, rows)[0]
    d, v, torso, standing, swinging = reduced[:5]
    assert len(reduced) == len(base.metric)
    scene = strider.scene
    foot, root = scene.body(scene.character.feet[1 - stance]), scene.body(scene.character.root)
    model = scene.model
    mujoco.mj_comPos(model, data)
    assert d == pytest.approx((data.subtree_com[root] - data.xipos[foot])[:2] @ ahead, abs=1e-9)
    assert v == pytest.approx(sims.view("com_velocity")[0, :2] @ ahead)
    up = data.xmat[root].reshape(3, 3)[:, 2]
    assert torso == pytest.approx(np.arctan2(up[:2] @ ahead, up[2]), abs=1e-9)
    hips = [data.joint(f"{side}_hip_bend").qpos[0] for side in ("left", "right")]
    assert (standing, swinging) == (hips[1 - stance], hips[stance])
    if base.space:  # across: towards the foot that swings next, which is the one that stood
        side = left if stance == 0 else -left
        nose = np.arctan2(*data.xmat[root].reshape(3, 3)[1::-1, 0])
        yaw = nose - sims.memory(MEMORY).heading[0]
        expected = [
            (data.subtree_com[root] - data.xipos[foot])[:2] @ side, sims.view("com_velocity")[0, :2] @ side,
            np.arctan2(up[:2] @ side, up[2]), yaw if stance == 0 else -yaw,
        ]  # fmt: skip
        np.testing.assert_allclose(reduced[5:], expected, atol=1e-6)


def test_actions_are_kept_in_bounds():
    strider, sims = begun(WALK, 2)
    strider.apply(sims, np.arange(2), np.array([[9.0, 0, 0, 0, 0, 9.0], [-9.0, 0, 0, 0, 0, 0.0]]))
    numbers = strider.walker.varied(sims)
    assert numbers[:, 0].tolist() == [2.5, -2.5] and numbers[:, -1].tolist() == [SLOWEST, QUICKEST]


def test_a_strider_is_for_its_own_body():
    with pytest.raises(UserError, match="base 'bird' is for the character 'planar-bird', got 'planar'"):
        Strider(scene_of(WALK), BASES["bird"]())


# The cost -------------------------------------------------------------------------------------------


def test_the_cost_is_the_thesis_formula():
    rng = np.random.default_rng(0)
    for name in NAMES:
        base = BASES[name]()
        p = len(base.action)
        misses, lateral = 0.1 * rng.standard_normal((2, 3)), rng.uniform(0.1, 0.2, (2, 3))
        actions, stood = base.action + 0.1 * rng.standard_normal((2, 3, p)), np.zeros((2, 3), bool)
        wanted = (misses**2).sum(axis=1)
        for i in range(3):
            away = actions[:, i] - base.action
            wanted += GAMMA * np.einsum("na,ab,nb->n", away, np.diag(base.weights), away)
            wanted += (lateral[:, i] - SPACING) ** 2 if base.space else 0.0
        assert (residuals(base, misses, lateral, actions, stood) ** 2).sum(axis=1) == pytest.approx(wanted)
    fell = np.array([[False, True, True]])
    none = np.broadcast_to(WALK.action, (1, 3, 6))
    assert (residuals(WALK, np.full((1, 3), 0.2), np.zeros((1, 3)), none, fell) ** 2).sum() == pytest.approx(
        0.04 + 2 * MISSED**2
    )


def test_stones_are_uniform_and_each_sequences_own():
    gaps = np.concatenate([np.diff(stones_of(WALK, number, 100, 0), prepend=0.0) for number in range(40)])
    n = len(gaps)
    assert n == 40 * 102 and gaps.min() >= 0.1 and gaps.max() <= 0.9
    assert gaps.mean() == pytest.approx(0.5, abs=4 * 0.8 / np.sqrt(12 * n))  # 4 standard errors
    assert (stones_of(WALK, 1, 100, 0) == stones_of(WALK, 1, 100, 0)).all()
    assert (stones_of(WALK, 1, 100, 0) != stones_of(WALK, 1, 100, 1)).any()


# Windows and optimisers -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def window():
    world = world_of(WALK)
    starts = world.opening(2, np.random.default_rng(5), 5, 0.1).states[:, -1]
    plans = np.broadcast_to(WALK.action, (2, 3, 6)) + 0.02 * np.random.default_rng(6).standard_normal((2, 3, 6))
    targets = np.cumsum([[0.45, 0.25, 0.5], [0.3, 0.55, 0.4]], axis=1)
    return world, starts, targets, plans, world.rolled(starts, plans)


def test_slopes_are_those_of_whole_windows(window):
    """What is not simulated twice is what would have been simulated."""
    world, starts, _, plans, run = window
    for both in (False, True):
        slopes = world.slopes(starts, plans, run, both)
        for at, number in ((0, 2), (1, 5), (2, 3)):
            little = world.little[number]
            up, down = plans.copy(), plans.copy()
            up[:, at, number] += little
            down[:, at, number] -= little if both else 0.0
            wanted = world.rolled(starts, up).lengths - world.rolled(starts, down).lengths
            found = slopes.lengths[:, at * 6 + number]
            assert found == pytest.approx(wanted / (2 * little if both else little), abs=1e-9)
            assert (found[:, :at] == 0).all()


def test_the_jacobian_tells_how_residuals_change(window):
    """Along a small change of the plans the residuals are those that it predicts, about."""
    world, starts, _, plans, run = window
    jacobian = jacobian_of(world, starts, plans, run)
    change = np.zeros((2, 3, 6))
    change[:, 0, 3] = 0.01
    run2 = world.rolled(starts, plans + change)
    ahead = np.einsum("nra,na->nr", jacobian, change.reshape(2, -1))[:, :3]
    moved = run2.lengths.cumsum(axis=1) - run.lengths.cumsum(axis=1)
    assert np.abs(moved).max() > 0.001
    assert ahead == pytest.approx(moved, abs=0.3 * np.abs(moved).max() + 0.003)
    weights = np.sqrt(GAMMA * np.array(WALK.weights))
    assert (jacobian[:, 3:] == np.diag(np.tile(weights, 3))).all()


@pytest.mark.parametrize(("optimiser", "share"), [("gauss-newton", 0.5), ("gradient", 0.9)])
def test_windows_become_better_and_never_worse(window, optimiser, share):
    world, starts, targets, plans, run = window
    before = costs(world, targets, plans, run)
    better, found = improved(world, starts, targets, plans, run, Optimising(optimiser, 2))
    after = costs(world, targets, better, found)
    assert (after <= before).all() and after.sum() < share * before.sum()
    again = world.rolled(starts, better)
    assert (again.lengths == found.lengths).all() and (again.states == found.states).all()


def test_gauss_newton_costs_a_known_number_of_steps(window):
    world, starts, targets, plans, run = window
    for uses in (1, 2):
        before = world.taken
        improved(world, starts, targets, plans, run, Optimising(uses=uses))
        assert world.taken - before == 2 * (6 * 6 + uses * 3 * len(DAMPINGS))  # differences, then plans that are tried


def test_who_falls_in_a_window_is_caught_where_a_plan_stands(window):
    world, starts, targets, plans, _ = window
    bad = plans.copy()
    bad[0, 1] += [0.0, 0.0, -1.5, -1.5, 0.0, 0.8]
    run = world.rolled(starts, bad)
    assert not run.stood[0].all() and run.stood[1].all()
    better, found = rescued(world, starts, targets, bad, run, np.random.default_rng(0))
    assert found.stood.all() and (better[1] == bad[1]).all() and (found.lengths[1] == run.lengths[1]).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"optimiser": "newton"}, "no optimiser 'newton'; there are: gauss-newton, gradient"),
        ({"iterations": 0}, "iterations"),
    ],
)
def test_ways_to_optimise_that_are_none(given, message):
    with pytest.raises(UserError, match=message):
        Optimising(**given)


# Synthesis ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def synthesised(tmp_path_factory):
    path = tmp_path_factory.mktemp("stones") / "a.steps"
    synthesis = Synthesis(WALK, **QUICK)
    with JobStore(path, synthesis.about) as store:
        told = list(synthesis.run(store, Here()))
    return synthesis, told, path


def test_examples_are_steps_that_follow_one_another(synthesised):
    synthesis, told, _ = synthesised
    found = synthesis.examples("tumble stones build planar-walk")
    assert len(found) == QUICK["examples"] and told[-1].examples >= len(found)
    assert found.states.shape == (25, 5) and found.actions.shape == (25, 6) and found.states.dtype == np.float32
    for number in np.unique(found.sequence):
        rows = np.flatnonzero(found.sequence == number)
        assert (found.ends[rows[:-1]] == found.states[rows[1:]]).all()
        x = np.concatenate([[0.0], found.lengths[rows].cumsum()])[:-1]
        stones = stones_of(WALK, int(number), QUICK["steps"], QUICK["seed"])[: len(rows)]
        assert x + found.wanted[rows] == pytest.approx(stones, abs=1e-4)  # float32
    missed = np.abs(found.wanted - found.lengths)
    assert found.header.figures["mean_error"] == pytest.approx(missed.mean(), abs=1e-6)
    assert missed.mean() < 0.043 and (missed < 0.06).mean() >= 0.77  # section 3.6, over 100 steps


def test_what_is_solved_is_not_solved_again(synthesised):
    synthesis, _, path = synthesised
    again, pool = Synthesis(WALK, **QUICK), Here()
    with JobStore(path, again.about) as store:
        list(again.run(store, pool))
    assert pool.done == 0
    one, other = synthesis.examples("x"), again.examples("x")
    assert all((getattr(one, name) == getattr(other, name)).all() for name in ("states", "actions", "ends", "lengths"))


def test_a_store_of_other_stones_is_refused(synthesised):
    _, _, path = synthesised
    with pytest.raises(UserError, match="holds results of other work"):
        JobStore(path, Synthesis(WALK, **(QUICK | {"seed": 4})).about)


def test_the_same_job_is_the_same_bits():
    problem = Problem(WALK, 3, seed=8)
    assert solved(problem, [0]) == solved(problem, [0])


HOPELESS = replace(WALK, name="hopeless", file=str(GAITS / "planar-walk.toml"), lengths=(1.8, 2.2))


def test_who_falls_loses_the_last_steps(tmp_path):
    """No leg reaches stones two metres apart: sequences end early, and without the steps that led there."""
    synthesis = Synthesis(HOPELESS, 25, steps=12)
    with JobStore(tmp_path / "a.steps", synthesis.about) as store:
        told = [next(synthesis.run(store, Here()))]
    assert told[0].fallen >= 1 and told[0].sequences == 2
    assert told[0].examples <= 2 * 12 - told[0].fallen * (DROPPED + 1)


# Files and commands ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def examples(synthesised):
    return synthesised[0].examples("tumble stones build planar-walk --examples 25")


def test_a_file_is_what_was_written(examples, tmp_path):
    examples.write(tmp_path / "a.stones")
    found = read_examples(tmp_path / "a.stones")
    assert found.header == examples.header and found.base == WALK
    for name in ARRAYS:
        assert (getattr(found, name) == getattr(examples, name)).all()
    assert len(found.some(7)) == 7


def with_header(examples, **change):
    return replace(examples, header=msgspec.structs.replace(examples.header, **change))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda one: one.some(FEWEST - 1), "it has 24 examples, 25 at least"),
        (lambda one: with_header(one, version=9), "its format is 'tumble stones' 9, this is 'tumble stones' 1"),
        (
            lambda one: with_header(one, gait="0"),
            "made with another gait than 'planar-walk' has now; make them again: tu",
        ),
        (lambda one: replace(one, lengths=one.lengths.astype(float)), "its arrays are of other types"),
        (lambda one: replace(one, wanted=one.wanted[1:]), "its arrays do not fit each other: {'wanted'"),
        (lambda one: replace(one, lateral=one.lateral + np.float32(np.nan)), "its numbers are not finite"),
        (lambda one: with_header(one, base="stroll"), "no base 'stroll'"),
    ],
)
def test_files_that_are_refused(examples, tmp_path, spoil, message):
    spoil(examples).write(tmp_path / "a.stones")
    with pytest.raises(UserError, match=message):
        read_examples(tmp_path / "a.stones")


def test_bytes_that_are_no_examples(examples, tmp_path):
    path = tmp_path / "a.stones"
    examples.write(path)
    data = path.read_bytes()
    for bad in (b"", b"hello", data[: len(data) // 2]):
        path.write_bytes(bad)
        with pytest.raises(UserError, match=r"holds no examples that can be read .* tumble stones build BASE a.stones"):
            read_examples(path)


def test_examples_by_name():
    with pytest.raises(UserError, match=r"no base 'planar-wlak'.*a file of yours ends in '.stones'"):
        examples_named("planar-wlak")


@pytest.mark.parametrize("name", sorted(shipped()))
def test_what_ships_is_whole(name):
    found = examples_named(name)
    made = "learn" if BASES[name]().space else "build"
    assert found.header.base == name and found.header.command.startswith(f"tumble stones {made} {name}")
    assert len(found) >= 100 and np.abs(found.wanted - found.lengths).mean() < 0.12
    assert sum(file.stat().st_size for file in shipped().values()) < 10e6


def test_the_command_builds_tells_and_draws(tmp_path, capsys, examples):
    path, picture = tmp_path / "a.stones", tmp_path / "a.png"
    examples.write(path)
    assert dispatch(["stones", "info", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["base"], found["examples"]) == ("planar-walk", 25) and 0 < found["two_components"] <= 1
    assert dispatch(["stones", "info", str(path)]) == 0
    assert "made by\n  tumble stones build planar-walk --examples 25" in capsys.readouterr().out
    assert dispatch(["stones", "plot", str(path), str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert dispatch(["stones"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["burn"], "no action 'burn' of 'tumble stones'"),
        (["build", "planar-wlk"], "no base 'planar-wlk'"),
        (["build", "bird", "bird.npz"], "a file of examples ends in .stones, got bird.npz"),
        (["build", "bird", "--examples", "3"], "examples must"),
        (["build", "bird", "--iterations", "0"], "iterations must"),
        (["build", "bird", "no/where.stones"], "no folder"),
        (["plot", "planar-walk", "a.pdf"], "a plot is a .png file, got a.pdf"),
        (["info", "none.stones"], "cannot open none.stones"),
    ],
)
def test_commands_that_are_refused(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert dispatch(["stones", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_base_of_ones_own_is_built(tmp_path, monkeypatch, capsys):
    """A user's file has influence by lengths, weights and the gait; jobs go to workers that never saw that file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_bytes((GAITS / "planar-walk.toml").read_bytes())
    (tmp_path / "mine.py").write_text(
        "from tumble.stepping.base import BASES, Base, register\n"
        "walk = BASES['planar-walk']()\n"
        "register('stroll', lambda: Base('stroll', walk.character, walk.points, (1,) * 6, (0.3, 0.4),"
        " file='mine.toml'), 'short steps')\n"
    )
    assert dispatch(["stones", "build", "mine.py", "--examples", "25", "--steps", "14", "--jobs", "1"]) == 0
    assert "25 examples, missed by" in capsys.readouterr().out
    found = read_examples(tmp_path / "stroll.stones")
    assert found.header.command == "tumble stones build mine.py stroll --examples 25 --steps 14"
    assert found.lengths.max() < 0.5
