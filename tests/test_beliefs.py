"""Messages and beliefs against the sums of hamalainen2015 written out, in plain numbers instead of logarithms."""

import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pytest

from tumble.errors import UserError
from tumble.planners import CPBP, PLANNERS, CPBPSettings, PFMPCSettings
from tumble.planners.cpbp.beliefs import backward, density, drifted, forward, mixture, pick, widths
from tumble.planners.cpbp.kernels import path_of
from tumble.scenarios import toy
from tumble.world.sims import Sims

DT = 0.1
UNIT = widths(4, 0.3, 0.8)


def tree(seed: int = 0, n: int = 5, steps: int = 4, resampled: tuple[int, ...] = (2,)) -> SimpleNamespace:
    """A small family of points in the plane with random potentials; resampled before some steps."""
    rng = np.random.default_rng(seed)
    states, ancestors = np.empty((steps + 1, n, 4)), np.tile(np.arange(n), (steps, 1))
    controls = rng.standard_normal((steps, n, 2))
    states[0] = 0.4 * rng.standard_normal((n, 4))
    for k in range(steps):
        if k in resampled:
            ancestors[k] = np.sort(rng.integers(0, n - 1, n))  # the last one has no children
        states[k + 1] = move(states[k, ancestors[k]], controls[k])
    return SimpleNamespace(
        states=states, controls=controls, ancestors=ancestors, resampled=resampled, potential=-rng.random((steps, n)),
        starts=drifted(states[:-1], DT) / UNIT, n=n, steps=steps,
    )  # fmt: skip


def move(state: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    """f of a point mass: (..., 4) positions and velocities, semi-implicit as MuJoCo has it."""
    velocity = state[..., 2:] + DT * acceleration
    return np.concatenate([state[..., :2] + DT * velocity, velocity], axis=-1)


def link(t: SimpleNamespace, k: int, j: int, i: int) -> float:
    """Psi_fwd(z_k-1^(j), z_k^(i)) = N(x_k^(i); f(x_k-1^(j), u_k^(i)), Q) (eq. 6), by simulating the pair."""
    off = (t.states[k + 1, i] - move(t.states[k, j], t.controls[k, i])) / UNIT
    return float(np.exp(-0.5 * off @ off))


def forward_sums(t: SimpleNamespace) -> np.ndarray:
    """(K, N): forward messages by eq. 14, beliefs omitted where resampled; those of the first step are 1."""
    alpha, message = np.exp(t.potential), np.ones((t.steps, t.n))
    for k in range(1, t.steps):
        belief = np.ones(t.n) if k in t.resampled else alpha[k - 1] * message[k - 1]
        for i in range(t.n):
            message[k, i] = sum(link(t, k, j, i) * belief[j] for j in range(t.n)) / t.n
    return message


def backward_sums(t: SimpleNamespace) -> np.ndarray:
    """(K, N): backward messages by eq. 15."""
    alpha, message = np.exp(t.potential), np.ones((t.steps, t.n))
    for k in range(t.steps - 2, -1, -1):
        for i in range(t.n):
            message[k, i] = sum(link(t, k + 1, i, j) * alpha[k + 1, j] * message[k + 1, j] for j in range(t.n)) / t.n
    return message


def forwards(t: SimpleNamespace) -> np.ndarray:
    """(K, N): forward messages by `forward`."""
    message = np.zeros((t.steps, t.n))
    for k in range(1, t.steps):
        belief = np.zeros(t.n) if k in t.resampled else t.potential[k - 1] + message[k - 1]
        message[k] = forward(t.starts[k], t.ancestors[k], belief)
    return message


# Messages -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("resampled", [(), (2,), (1, 2, 3)], ids=str)
def test_messages_are_the_papers_sums(seed, resampled):
    t = tree(seed, resampled=resampled)
    assert np.exp(forwards(t)) == pytest.approx(forward_sums(t), rel=1e-9)
    assert np.exp(backward(t.starts, t.ancestors, t.potential)) == pytest.approx(backward_sums(t), rel=1e-9)


def test_drift_is_exact_for_points_under_any_force():
    rng = np.random.default_rng(1)
    one, other, force = rng.standard_normal((3, 4))
    difference = move(one, force[:2]) - move(other, force[:2])
    assert drifted(one, DT) - drifted(other, DT) == pytest.approx(difference)


def test_the_sum_is_over_all_samples_and_not_over_the_own_parent():
    t = tree(3, resampled=())
    told = np.zeros(t.n)
    before = forward(t.starts[1], t.ancestors[1], told)
    told[4] = 3.0  # sample 4 gains belief: its neighbours hear of it
    after = forward(t.starts[1], t.ancestors[1], told)
    assert (after > before).all()
    nearness = np.array([link(t, 1, 4, i) for i in range(t.n)])
    assert np.exp(after) - np.exp(before) == pytest.approx(nearness * (np.exp(3) - 1) / t.n)


def test_after_resampling_beliefs_are_omitted():
    t = tree(5)
    other = SimpleNamespace(**vars(t))
    other.potential = t.potential.copy()
    other.potential[1] -= np.arange(t.n)
    assert np.array_equal(forwards(t)[2], forwards(other)[2])
    t.resampled = other.resampled = ()
    assert not np.array_equal(forwards(t)[2], forwards(other)[2])


def test_without_noise_messages_follow_trajectories():
    """Eqs. 27 and 28, up to the constant 1 / N a step: where Q vanishes only one's own line counts."""
    t = tree(6, resampled=())
    starts, constant = t.starts * 1e6, np.log(t.n)
    ahead = np.zeros((t.steps, t.n))
    for k in range(1, t.steps):
        ahead[k] = forward(starts[k], t.ancestors[k], t.potential[k - 1] + ahead[k - 1]) + constant
    assert ahead[1:] == pytest.approx(np.cumsum(t.potential, axis=0)[:-1])
    back = backward(starts, t.ancestors, t.potential)
    whole = t.potential.sum(axis=0)
    assert back + constant * np.arange(t.steps - 1, -1, -1)[:, None] == pytest.approx(
        whole - np.cumsum(t.potential, axis=0)
    )


def test_a_pruned_sample_has_belief_only_with_noise():
    t = tree(7)
    dead = ~np.isin(np.arange(t.n), t.ancestors[2])
    assert dead.any() and not dead.all()
    assert (backward(t.starts, t.ancestors, t.potential)[1] > -10).all()
    assert (backward(1e6 * t.starts, t.ancestors, t.potential)[1, dead] < -1e6).all()


def test_samples_without_potential_give_none():
    t = tree(8)
    t.potential[3, :] = -np.inf
    back = backward(t.starts, t.ancestors, t.potential)
    assert (back[:3] == -np.inf).all()
    assert (forward(t.starts[1], t.ancestors[1], np.full(t.n, -np.inf)) == -np.inf).all()


def test_density_is_the_mean_nearness_to_all():
    t = tree(9)
    k = 2
    away = t.starts[k, t.ancestors[k]][:, None] - t.starts[k, t.ancestors[k]][None]
    assert np.exp(density(t.starts[k], t.ancestors[k])) == pytest.approx(
        np.exp(-0.5 * (away**2).sum(axis=2)).mean(axis=1)
    )


def test_duplicates_do_not_gain_belief_by_being_many():
    """A message over its density is a mean: copies of a sample leave everyone's as it was."""
    rng = np.random.default_rng(2)
    starts, belief = rng.standard_normal((3, 4)), rng.standard_normal(3)
    copies = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    few = forward(starts, np.arange(3), belief) - density(starts, np.arange(3))
    many = forward(starts[copies], np.arange(12), belief[copies]) - density(starts[copies], np.arange(12))
    assert many == pytest.approx(few[copies])
    assert belief.min() <= few.min() and few.max() <= belief.max()


# The previous frame ---------------------------------------------------------------------------------


def test_mixture_weights_are_equation_26():
    rng = np.random.default_rng(3)
    states, starts, log_belief = rng.standard_normal((6, 4)), rng.standard_normal((6, 4)), rng.standard_normal(6)
    weights = np.array(
        [[np.exp(log_belief[j]) * np.exp(-0.5 * ((x - starts[j]) ** 2).sum()) for j in range(6)] for x in states]
    )
    assert mixture(states, starts, log_belief) == pytest.approx(weights / weights.sum(axis=1, keepdims=True))


def test_far_from_all_the_nearest_counts():
    starts = np.array([[0.0, 0.0], [100.0, 0.0]])
    far = starts + np.array([1000.0, 0.0])
    assert mixture(far, starts, np.zeros(2)) == pytest.approx(np.array([[0, 1.0], [0, 1.0]]))


def test_no_belief_at_all_is_any():
    assert mixture(np.zeros((3, 2)), np.zeros((3, 2)), np.full(3, -np.inf)) == pytest.approx(1 / 3)


def test_components_are_picked_by_weight():
    n, rng = 40000, np.random.default_rng(4)
    weights = np.array([0.1, 0.0, 0.6, 0.3])
    picked = pick(np.tile(weights, (n, 1)), rng.random(n))
    share = np.bincount(picked, minlength=4) / n
    assert (np.abs(share - weights) <= 4 * np.sqrt(weights * (1 - weights) / n)).all()
    assert pick(np.array([[0.5, 0.5, 0.0]]), np.array([1.0]))[0] == 1  # rounding leaves no one without weight


# C-PBP with noise -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world():
    return toy.scene()


def pruned(t) -> np.ndarray:
    """(K, N) bool: samples from which no trajectory reaches the horizon."""
    dead = np.ones(t.ancestors.shape, bool)
    dead[np.arange(len(dead))[:, None], path_of(t.ancestors)] = False
    return dead


def test_the_planner_believes_in_pruned_samples(world):
    planner = CPBP(world, toy.settings(16), 1, 1)
    planner.plan(toy.start(world), toy.goal())
    t = planner.tree()
    assert t.resampled.any()
    belief = np.exp(t.belief - t.belief.max(axis=1, keepdims=True))
    assert belief.shape == t.ancestors.shape
    assert belief[pruned(t)].max() > 0.5
    assert belief[pruned(t)].min() < 0.01


def test_the_planners_beliefs_are_those_of_its_tree(world):
    """Eq. 13 with every sum divided by the density of the samples, written out."""
    planner = CPBP(world, toy.settings(6, horizon=0.8), 2, 1)
    for _ in range(2):
        planner.plan(toy.start(world), toy.goal())
    t = planner.tree()
    assert t.resampled.any()
    starts = drifted(t.states, world.dt) / widths(6, 0.05, 0.5)
    steps, n = t.ancestors.shape
    ahead, back, alpha = np.ones((steps, n)), np.ones((steps, n)), np.exp(t.potential)

    def near(k, a, b):
        return np.exp(-0.5 * ((starts[k, a] - starts[k, b]) ** 2).sum())

    def crowd(k, i):
        return sum(near(k, t.ancestors[k, i], t.ancestors[k, l]) for l in range(n))  # noqa: E741

    for k in range(1, steps):
        for i in range(n):
            if not t.resampled[k]:
                total = sum(near(k, j, t.ancestors[k, i]) * alpha[k - 1, j] * ahead[k - 1, j] for j in range(n))
                ahead[k, i] = total / crowd(k, i)
    for k in range(steps - 2, -1, -1):
        for i in range(n):
            back[k, i] = sum(
                near(k + 1, i, t.ancestors[k + 1, j]) * alpha[k + 1, j] * back[k + 1, j] / crowd(k + 1, j)
                for j in range(n)
            )
    assert np.exp(t.forward) == pytest.approx(alpha * ahead, rel=1e-6)
    belief = alpha * ahead * back
    assert np.exp(t.belief - t.belief.max(axis=1, keepdims=True)) == pytest.approx(
        belief / belief.max(axis=1, keepdims=True), rel=1e-6
    )


def test_a_tree_is_a_copy_and_tells_what_was_simulated(world):
    planner = CPBP(world, toy.settings(8), 3, 1)
    planner.plan(toy.start(world), toy.goal())
    t = planner.tree()
    kept = t.states.copy()
    planner.plan(toy.start(world), toy.goal())
    assert np.array_equal(t.states, kept)
    rise = t.states[np.arange(len(t.controls))[:, None], t.ancestors][..., 5]
    assert t.states[1:, :, 5] == pytest.approx(rise + toy.STRENGTH * world.dt * t.controls[..., 0])


def test_planning_again_improves_in_place(world):
    for noise in (False, True):
        planner = CPBP(world, toy.settings(16, noise=noise), 0, 1)
        costs = [planner.plan(toy.start(world), toy.goal(), again=True).cost for _ in range(12)]
        assert (np.diff(costs) <= 1e-9).all()  # the best is replayed from the same state
        assert costs[-1] < 0.9 * costs[0]


def test_noise_can_be_switched(world):
    planner = CPBP(world, toy.settings(8), 0, 1)
    planner.plan(toy.start(world), toy.goal())
    for noise in (False, True, True):
        planner = planner.configured(toy.settings(8, noise=noise))
        assert np.isfinite(planner.plan(toy.start(world), toy.goal()).cost)


def test_the_same_slots_go_without_a_prior(world):
    """With all weight on one control of the previous frame and no width, only the slots without differ."""
    settings = dataclasses.replace(toy.settings(16, mutation=1e-9), no_prior=0.25)
    planner = CPBP(world, settings, 0, 1)
    planner.plan(toy.start(world), toy.goal())
    previous = planner.tree().controls
    planner.plan(toy.start(world), toy.goal(), again=True)
    drawn = planner.tree().controls
    old = np.array([np.abs(drawn[0, i, 0] - previous[0, :, 0]).min() < 1e-6 for i in range(16)])
    assert old[0] and not old[2:6].any() and old[6:].all()


def test_controls_are_drawn_near_samples_of_the_previous_frame_by_equation_26(world):
    """Without mutation every control tells which sample it was drawn near; how often must be as the weights say."""
    n = 300
    planner = CPBP(world, dataclasses.replace(toy.settings(n, mutation=1e-9, horizon=1.2), no_prior=0.0), 0, 1)
    planner.plan(toy.start(world), toy.goal())
    old = planner.tree()
    planner.plan(toy.start(world), toy.goal(), again=True)
    new = planner.tree()
    unit = widths(6, 0.05, 0.5)
    surprise = {"belief": np.zeros(2), "forward": np.zeros(2)}
    for k in range(len(new.controls)):
        picked = np.abs(new.controls[k, 2:, 0][:, None] - old.controls[k, :, 0]).argmin(axis=1)
        states, starts = (t.states[k, t.ancestors[k]] / unit for t in (new, old))
        for kind, sums in surprise.items():
            weights = mixture(states, starts, getattr(old, kind)[k])[2:]
            logs = np.log(np.maximum(weights, 1e-12))
            mean = (weights * logs).sum(axis=1)
            variance = (weights * logs**2).sum(axis=1) - mean**2
            sums += (logs[np.arange(n - 2), picked] - mean).sum(), variance.sum()
    score = {kind: abs(off) / np.sqrt(variance) for kind, (off, variance) in surprise.items()}
    assert score["belief"] < 4.5
    assert score["forward"] > 20  # had the backward messages been left out, this test would notice


def test_one_zero_of_two_is_refused():
    message = (
        "transition_place and transition_speed must both be 0, which means Q = 0, or both be above 0, got 0.1 and 0"
    )
    with pytest.raises(UserError, match=re.escape(message)):
        CPBPSettings(transition_place=0.1)
    with pytest.raises(UserError, match=r"got 0 and 0\.5"):
        CPBPSettings(transition_speed=0.5)
    with pytest.raises(UserError, match="transition_speed must be a number 0 or more, got -1"):
        CPBPSettings(transition_place=1, transition_speed=-1)


# PF-MPC ---------------------------------------------------------------------------------------------


def test_pf_mpc_is_cpbp_without_noise_and_refinement(scene, goal):
    kind = PLANNERS["pf-mpc"]
    assert "Stahl and Hauth 2011" in kind.summary
    ours = kind.make(scene, kind.settings(samples=8, horizon=0.3), 1, 1)
    theirs = CPBP(scene, CPBPSettings(samples=8, horizon=0.3, refine=False), 1, 1)
    world = Sims(scene, 1, 1)
    world.load(scene.state("t-pose", "supine"))
    for _ in range(4):
        one, two = (planner.plan(world.state[0].copy(), goal) for planner in (ours, theirs))
        assert one.controls.tobytes() == two.controls.tobytes()
        assert one.paths.tobytes() == two.paths.tobytes()
        assert one.smoothed.shape == (0, 3)
        world.act(one.controls[:1])


@pytest.mark.parametrize("setting", ["refine", "transition_place", "transition_speed", "regularisation", "wrist_rule"])
def test_pf_mpc_has_no_such_setting(setting):
    assert setting not in {field.name for field in dataclasses.fields(PFMPCSettings)}
    with pytest.raises(TypeError):
        PFMPCSettings(**{setting: 1})


def test_pf_mpc_checks_its_settings():
    with pytest.raises(UserError, match="no_prior must be a number 0 or more and at most 1, got 2"):
        PFMPCSettings(no_prior=2)
