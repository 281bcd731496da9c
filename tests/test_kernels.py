"""Inner loops of C-PBP against direct computations."""

from types import SimpleNamespace

import numpy as np
import pytest

from tumble.planners.cpbp.kernels import Refinement, path_of, propose, weigh


def case(n: int = 4, steps: int = 3, seed: int = 0) -> SimpleNamespace:
    """Arguments of `propose` for two joints and one torque limit, bounds far away."""
    rng = np.random.default_rng(seed)
    size = 3
    return SimpleNamespace(
        out=np.empty((n, size)),
        expense=np.empty(n),
        normal=rng.standard_normal((n, size)),
        uniform=rng.random((n, size)),
        before=np.tile([0.4, -0.3, 0.6], (n, 1)),
        earlier=np.tile([0.1, 0.2, 0.5], (n, 1)),
        qpos=np.tile([9.0, 9.0, 0.2, -0.1], (n, 1)),
        address=np.array([2, 3]),
        rest=np.array([0.25, 0.05]),
        dt=1 / 30,
        previous=rng.standard_normal((steps, n, size)),
        best=rng.standard_normal((steps, size)),
        smooth=rng.standard_normal((steps, size)),
        prior=np.full(n, -1),
        k=1,
        warm=0,
        precision=np.array([[1.0, 2.0, 4.0], [3.0, 0.5, 2.0], [0.2, 1.0, 0.0], [0.01, 0.02, 0.0], [5.0, 2.0, 3.0]]),
        centre=np.array([0.0, 0.0, 0.8]),
        low=np.full(size, -50.0),
        high=np.full(size, 50.0),
        follow=False,
        boldness=np.ones(n),
    )


def drawn(c: SimpleNamespace) -> tuple[np.ndarray, np.ndarray]:
    """Controls and control costs."""
    propose(*vars(c).values())
    return c.out, c.expense


def product(c: SimpleNamespace, informed: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the product of the Gaussians in row 0, written out (eq. 22)."""
    pose = np.zeros(3)
    pose[:2] = (c.rest - c.qpos[0, c.address]) / c.dt
    posed = c.precision[3].copy()
    posed[2] = 0  # a torque limit has no pose
    factors = [
        (c.centre, c.precision[0]),
        (c.before[0], c.precision[1]),
        (2 * c.before[0] - c.earlier[0], c.precision[2]),
        (pose, posed),
    ]
    if informed:
        factors.append((c.previous[c.k, c.prior[0]], c.precision[4]))
    total = sum(p for _, p in factors)
    return sum(p * mean for mean, p in factors) / total, 1 / total


@pytest.mark.parametrize("informed", [False, True])
def test_proposals_are_a_product_of_gaussians(informed):
    n = 20000
    c = case(n)
    if informed:
        c.prior[:] = 7
    x, _ = drawn(c)
    mean, variance = product(c, informed)
    assert (np.abs(x.mean(axis=0) - mean) < 5 * np.sqrt(variance / n)).all()
    assert (np.abs(x.var(axis=0) - variance) < 5 * variance * np.sqrt(2 / n)).all()


def test_one_proposal_is_mean_plus_deviation_times_the_number_given():
    c = case()
    c.prior[:] = [2, -1, 0, 3]
    x, _ = drawn(c)
    for i in range(4):
        row = SimpleNamespace(**vars(c))
        row.prior = np.array([c.prior[i]])
        mean, variance = product(row, c.prior[i] >= 0)
        assert x[i] == pytest.approx(mean + np.sqrt(variance) * c.normal[i])


def test_prior_of_none_ignores_the_previous_frame():
    one, two = case(), case()
    two.previous = two.previous + 100
    assert np.array_equal(drawn(one)[0], drawn(two)[0])
    two.prior[1] = 0
    assert not np.array_equal(drawn(one)[0][1], drawn(two)[0][1])


def test_a_follower_keeps_its_deviation_from_the_guide():
    c = case(follow := 6)
    c.follow, c.prior[:], c.normal[:] = True, 2, 0.0
    c.precision[[0, 2, 3, 4]] = 1e-9  # only the change counts
    c.before += np.arange(follow)[:, None]
    x, _ = drawn(c)
    assert x - c.previous[1, 2] == pytest.approx(c.before - c.previous[0, 2])
    c.follow = False
    assert drawn(c)[0] == pytest.approx(c.before)


def test_a_follower_begins_on_its_guide():
    c = case()
    c.follow, c.prior[:], c.normal[:], c.k = True, 1, 0.0, 0
    c.precision[[0, 2, 3, 4]] = 1e-9
    assert drawn(c)[0] == pytest.approx(np.tile(c.previous[0, 1], (4, 1)))


def test_boldness_widens_guided_draws_alone():
    c, bold = case(), case()
    for one in (c, bold):
        one.prior[:] = [0, 1, -1, -1]
    bold.boldness = np.array([2.0, 0.5, 2.0, 0.5])
    still = case()
    still.prior, still.normal = c.prior, np.zeros_like(c.normal)
    middle = drawn(still)[0]
    assert drawn(bold)[0] - middle == pytest.approx((drawn(c)[0] - middle) * [[2.0], [0.5], [1.0], [1.0]])


def test_the_last_step_has_no_previous_frame_to_go_by():
    c, free = case(steps=3), case(steps=3)
    c.k = free.k = 3
    c.prior[:], c.warm = 1, 2
    assert np.array_equal(drawn(c)[0], drawn(free)[0])


def test_warm_rows_replay_best_and_smooth():
    c = case()
    c.k, c.warm = 2, 2
    c.prior[:] = 0
    x, _ = drawn(c)
    assert np.array_equal(x[0], c.best[2])
    assert np.array_equal(x[1], c.smooth[2])
    assert not np.array_equal(x[2], c.best[2])


def test_proposals_keep_to_the_bounds():
    c = case(500)
    c.low, c.high = np.array([-0.1, 0.0, 0.05]), np.array([0.1, 0.01, 1.0])
    x, _ = drawn(c)
    assert (c.low <= x).all() and (x <= c.high).all()
    assert (x.std(axis=0) > 0).all()


@pytest.mark.parametrize("warm", [0, 2])
def test_control_cost(warm):
    c = case()
    c.warm = warm
    x, expense = drawn(c)
    straight = 2 * c.before - c.earlier
    p = c.precision
    direct = p[0] * (x - c.centre) ** 2 + p[1] * (x - c.before) ** 2 + p[2] * (x - straight) ** 2
    assert expense == pytest.approx(direct.sum(axis=1))


# Weighing -------------------------------------------------------------------------------------------


def weighed(values, expense=None, message=None, ceiling=5.0) -> SimpleNamespace:
    """What `weigh` makes of a step's costs, with the totals at 1 before."""
    n = len(values)
    out = SimpleNamespace(
        totals=np.ones(n), potential=np.empty(n), log_belief=np.empty(n), weights=np.empty(n), alone=np.empty(n)
    )
    expense, message = np.zeros(n) if expense is None else expense, np.zeros(n) if message is None else message
    out.count = weigh(np.asarray(values, float), expense, 0.5, ceiling, message, *vars(out).values())
    return out


@pytest.mark.parametrize("scale", [1.0, 40.0])  # the least cost below and above the ceiling
def test_weights_by_numpy(scale):
    rng = np.random.default_rng(5)
    values, expense, message = scale * rng.random((6, 3)), rng.random(6), rng.standard_normal(6)
    w = weighed(values, expense, message)
    cost = values.sum(axis=1)
    gamma = 5.0 / max(5.0, cost.min())
    assert (gamma < 1) == (scale > 1)
    assert w.totals == pytest.approx(1 + cost + 0.5 * expense)
    assert w.potential == pytest.approx(-0.5 * gamma * cost)
    assert w.log_belief == pytest.approx(message + w.potential)
    belief = np.exp(message - 0.5 * gamma * cost)
    assert w.weights == pytest.approx(belief / belief.sum())
    assert w.alone == pytest.approx(np.exp(w.potential) / np.exp(w.potential).sum())
    assert w.count == pytest.approx(1 / (w.weights**2).sum())


def test_broken_walkers_have_no_weight_unless_all_are_broken():
    w = weighed([[1.0, 2.0], [np.inf, np.inf], [3.0, 0.0]])
    assert w.weights == pytest.approx([0.5, 0.0, 0.5])
    w = weighed(np.full((4, 1), np.inf))
    assert w.weights == pytest.approx(0.25)
    assert w.count == pytest.approx(4)
    assert (w.totals == np.inf).all()


# Genealogy ------------------------------------------------------------------------------------------


def test_path_of_a_small_family():
    ancestors = np.array([[0, 1, 2], [0, 0, 2], [1, 1, 2], [2, 0, 0]])
    # the walker in row 0 at the end came from row 2 at step 2, that from 2, that from 2; and so on
    assert path_of(ancestors).tolist() == [[2, 0, 0], [2, 1, 1], [2, 0, 0], [0, 1, 2]]


def test_path_of_follows_every_walker():
    rng = np.random.default_rng(0)
    ancestors = rng.integers(0, 9, (6, 9))
    lineage = path_of(ancestors)
    for i in range(9):
        row = i
        for k in range(5, -1, -1):
            assert lineage[k, i] == row
            row = ancestors[k, row]


# Smoothing ------------------------------------------------------------------------------------------


def family(rng: np.random.Generator, n: int = 40, steps: int = 6, resampled: bool = True) -> SimpleNamespace:
    """Walkers of x' = A x + B u without noise from one start, with forks and uneven beliefs."""
    a = np.array([[1.0, 0.1], [-0.2, 0.95]])
    b = np.array([[0.05, 0.0], [0.3, 0.1]])
    start = np.array([0.5, -1.0])
    states, controls = np.empty((steps + 1, n, 2)), rng.standard_normal((steps, n, 2))
    ancestors, weights = np.empty((steps, n), np.intp), np.empty((steps, n))
    states[0] = start
    for k in range(steps):
        fork = resampled and k in (2, 4)
        ancestors[k] = np.sort(rng.integers(0, n, n)) if fork else np.arange(n)
        weights[k] = rng.dirichlet(np.ones(n))
        states[k + 1] = states[k, ancestors[k]] @ a.T + controls[k] @ b.T
    final = rng.dirichlet(np.ones(n))
    return SimpleNamespace(
        a=a, b=b, start=start, controls=controls, states=states, ancestors=ancestors, weights=weights, final=final
    )


def refined(f: SimpleNamespace, regularisation: float) -> tuple[np.ndarray, np.ndarray]:
    """Smoothed controls and states of a forward pass."""
    refinement = Refinement(*f.controls.shape, f.states.shape[2])
    return refinement(f.controls, f.states, f.ancestors, f.weights, f.final, regularisation)


@pytest.mark.parametrize("resampled", [False, True])
def test_the_smoothed_path_obeys_linear_dynamics_and_ends_where_the_weights_say(resampled):
    f = family(np.random.default_rng(1), resampled=resampled)
    smooth, path = refined(f, 1e-12)
    assert path[-1] == pytest.approx(f.final @ f.states[-1])
    x = f.start
    for k in range(len(smooth)):
        x = f.a @ x + f.b @ smooth[k]
        assert x == pytest.approx(path[k], abs=1e-6)


def test_all_weight_on_one_walker_brings_its_own_end_back():
    f = family(np.random.default_rng(2))
    f.final = np.eye(40)[11]
    smooth, path = refined(f, 1e-12)
    assert path[-1] == pytest.approx(f.states[-1, 11])
    assert np.isfinite(smooth).all()


@pytest.mark.parametrize("regularisation", [1e-3, 0.5])
def test_equation_19_by_numpy(regularisation):
    f = family(np.random.default_rng(3))
    smooth, path = refined(f, regularisation)
    x = f.final @ f.states[-1]
    for k in range(len(smooth) - 1, -1, -1):
        assert path[k] == pytest.approx(x)
        joint = np.hstack([f.states[k, f.ancestors[k]], f.controls[k]])
        both = np.cov(np.hstack([f.states[k + 1], joint]).T, aweights=f.weights[k], bias=True)
        of_after, cross = both[:2, :2] + regularisation * np.eye(2), both[2:, :2]
        mean_after, mean_joint = f.weights[k] @ f.states[k + 1], f.weights[k] @ joint
        estimate = mean_joint + cross @ np.linalg.solve(of_after, x - mean_after)
        x = estimate[:2]
        assert smooth[k] == pytest.approx(estimate[2:])


def test_without_spread_the_mean_is_kept():
    f = family(np.random.default_rng(4), resampled=False)
    f.controls[:] = 0.3
    f.states[:] = f.states[:, :1]
    smooth, path = refined(f, 0.001)
    assert smooth == pytest.approx(np.full_like(smooth, 0.3))
    assert path == pytest.approx(f.states[1:, 0])
