"""The model of steps and what plans with it, by their definitions, on made-up steps; ground with gaps."""

import numpy as np
import pytest

from tumble.characters import character
from tumble.errors import UserError
from tumble.goals.wants import Go
from tumble.scenarios import SCENARIOS, Trial
from tumble.scenarios.footfalls import Footfalls, crossed
from tumble.stepping.base import BASES, METRIC
from tumble.stepping.examples import Examples, header_for
from tumble.stepping.lines import ALIKE, BLUNT, local_lines
from tumble.stepping.model import ModelSettings, StepModel, principal
from tumble.stepping.planning import FAR, Landings, PlanSettings, anywhere, footsteps, lattice, planned
from tumble.stepping.stepper import Stepper, StepperSettings
from tumble.stepping.terrain import Foot, Footing, Soles, footing_of, gapped, next_stone
from tumble.studio.ghosts import FLAG, FOOTPRINT, footprints_of
from tumble.world.props import Ball, Box, Stone
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

LENGTHS = (0.2, 0.7)  # m of made-up steps


def made_up(count: int, seed: int = 0) -> Examples:
    """Steps whose length is linear in the first number of an action, and whose speed is in the second.

    l = 0.45 + a_1, v' = 0.5 + a_2; a_1 and a_2 within 0.25, all else is 0 but for small random numbers.
    """
    rng = np.random.default_rng(seed)
    base = BASES["planar-walk"]()
    states, actions = rng.normal(0, 0.01, (count, 5)), np.zeros((count, 6))
    actions[:, :2] = rng.uniform(-0.25, 0.25, (count, 2)) * (1.0, 0.8)
    ends = np.zeros((count, 5))
    ends[:, 1] = 0.01 * actions[:, 1]
    lengths = 0.45 + actions[:, 0]
    parts = (states, actions, ends, lengths, np.zeros(count), lengths)
    return Examples(
        header_for(base, "made up", {}), *(part.astype(np.float32) for part in parts), np.zeros(count, np.int32)
    )  # fmt: skip


def random_examples(count: int, seed: int = 1) -> Examples:
    """Examples of random numbers."""
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=shape).astype(np.float32) for shape in ((count, 5), (count, 6), (count, 5), count, count)]
    base = BASES["planar-walk"]()
    return Examples(header_for(base, "", {}), *parts, parts[3], np.zeros(count, np.int32))


def by_definition(model: StepModel, state: np.ndarray, action: np.ndarray, left_out: int = -1) -> tuple:
    """Examples and weights of section 3.4 in plain numpy."""
    examples, settings = model.examples, model.settings
    differences = np.asarray(examples.states, float) - state
    d = np.sqrt((differences**2 * METRIC).sum(axis=1))
    if left_out >= 0:
        d[left_out] = np.inf
    some = np.argsort(d, kind="stable")[: settings.near]
    away = np.linalg.norm(model.reduced(examples.actions)[some] - action, axis=1)
    chosen = np.argsort(away, kind="stable")[: settings.mixed]
    weights = 1.0 / (d[some][chosen] + settings.alpha * away[chosen])
    return some, some[chosen], weights / weights.sum()


@pytest.fixture(scope="module")
def model() -> StepModel:
    """Of made-up steps."""
    return StepModel(made_up(1500), ModelSettings(near=60))


class TestModel:
    def test_two_stages_of_neighbours_as_section_3_4_says(self) -> None:
        model = StepModel(random_examples(200), ModelSettings(near=20, mixed=4, alpha=0.7))
        rng = np.random.default_rng(3)
        states, actions = rng.normal(size=(30, 5)), rng.normal(size=(30, 2))
        rows, distances = model.nearest(states)
        chosen, weights = model.weights(states, actions)
        for i in range(30):
            some, expected, shares = by_definition(model, states[i], actions[i])
            assert (rows[i] == some).all()
            assert (chosen[i] == expected).all()
            np.testing.assert_allclose(weights[i], shares, rtol=1e-9)
        square = ((model.examples.states[rows] - states[:, None]) ** 2 * METRIC).sum(axis=2)
        np.testing.assert_allclose(distances, np.sqrt(square), rtol=1e-6)

    def test_predictions_are_weighted_means(self) -> None:
        model = StepModel(random_examples(100))
        states, actions = np.random.default_rng(4).normal(size=(2, 9, 5))[0], np.zeros((9, 2))
        chosen, weights = model.weights(states, actions)
        predicted, examples = model.step(states, actions), model.examples
        np.testing.assert_allclose(predicted.lengths, (weights * examples.lengths[chosen]).sum(axis=1), rtol=1e-6)
        np.testing.assert_allclose(predicted.ends, (weights[..., None] * examples.ends[chosen]).sum(axis=1), rtol=1e-6)
        np.testing.assert_allclose(
            model.actions(states, actions), (weights[..., None] * examples.actions[chosen]).sum(axis=1), rtol=1e-6
        )

    def test_uncertainty_is_what_leaving_an_example_out_costs(self) -> None:
        model = StepModel(random_examples(80), ModelSettings(beta=0.5))
        examples, reduced = model.examples, model.reduced(model.examples.actions)
        for i in (0, 17, 79):
            _, chosen, weights = by_definition(model, np.asarray(examples.states[i], float), reduced[i], left_out=i)
            end = weights @ np.asarray(examples.ends, float)[chosen]
            missed = abs(examples.lengths[i] - weights @ np.asarray(examples.lengths, float)[chosen])
            d = np.sqrt(((end - examples.ends[i]) ** 2 * METRIC).sum())
            assert model.uncertainty[i] == pytest.approx(d + 0.5 * missed, rel=1e-6)

    def test_an_example_is_known_at_its_place(self) -> None:
        model = StepModel(random_examples(100))
        state, action = model.examples.states[7:8], model.examples.actions[7:8]
        reduced = model.reduced(action)
        assert model.step(state, reduced).lengths[0] == pytest.approx(model.examples.lengths[7], abs=1e-6)
        np.testing.assert_allclose(model.actions(state, reduced), action, atol=1e-6)

    def test_actions_are_never_extrapolated(self) -> None:
        model = StepModel(random_examples(100))
        far = model.actions(np.zeros((1, 5)), np.array([[50.0, -50.0]]))
        chosen, _ = model.weights(np.zeros((1, 5)), np.array([[50.0, -50.0]]))
        observed = model.examples.actions[chosen[0]]
        assert (observed.min(axis=0) - 1e-6 <= far[0]).all() and (far[0] <= observed.max(axis=0) + 1e-6).all()

    def test_capabilities_are_the_box_around_the_nearest_actions(self) -> None:
        model = StepModel(random_examples(100))
        states = np.random.default_rng(5).normal(size=(4, 5))
        rows, _ = model.nearest(states)
        reduced = model.reduced(model.examples.actions)
        for box, some in zip(model.capabilities(states), rows, strict=True):
            np.testing.assert_array_equal(box, [reduced[some].min(axis=0), reduced[some].max(axis=0)])

    def test_principal_axes_are_those_of_the_covariance(self) -> None:
        rows = np.random.default_rng(6).normal(size=(300, 6)) * (3, 2, 1, 0.5, 0.3, 0.1)
        centred = rows - rows.mean(axis=0)
        axes, shares = principal(centred)
        values, vectors = np.linalg.eigh(np.cov(centred.T))
        np.testing.assert_allclose(np.abs(axes.T @ vectors[:, ::-1][:, :2]), np.eye(2), atol=1e-9)
        np.testing.assert_allclose(shares, values[::-1] / values.sum())
        assert (axes[np.abs(axes).argmax(axis=0), [0, 1]] > 0).all()

    def test_too_few_examples_are_refused_with_how_to_make_some(self) -> None:
        with pytest.raises(UserError, match=r"needs more than 25 examples, got 25; make some: tumble stones build"):
            StepModel(random_examples(25))


def linear_examples(count: int, seed: int = 2) -> tuple[Examples, np.ndarray]:
    """Examples of a linear system, (l, s') = (s, A) B, and B (11, 6)."""
    rng = np.random.default_rng(seed)
    slopes = rng.normal(0.0, 0.3, (11, 6))
    states, actions = rng.normal(0.0, 1.0, (count, 5)), rng.normal(0.0, 1.0, (count, 6))
    values = np.concatenate([states, actions], axis=1) @ slopes
    parts = (states, actions, values[:, 1:], values[:, 0], np.zeros(count), values[:, 0])
    header = header_for(BASES["planar-walk"](), "", {})
    return Examples(header, *(part.astype(np.float32) for part in parts), np.zeros(count, np.int32)), slopes


class TestLines:
    def test_a_linear_system_is_known_everywhere(self) -> None:
        examples, slopes = linear_examples(300)
        model = StepModel(examples, ModelSettings(regression="line"))
        rng = np.random.default_rng(7)
        states, reduced = rng.normal(size=(20, 5)), rng.normal(size=(20, 2))
        truth = np.concatenate([states, model.actions(states, reduced)], axis=1) @ slopes
        predicted = model.step(states, reduced)
        np.testing.assert_allclose(predicted.lengths, truth[:, 0], atol=2e-3)
        np.testing.assert_allclose(predicted.ends, truth[:, 1:], atol=2e-3)
        assert (model.uncertainty < 2e-3).all() and (predicted.uncertainty < 2e-3).all()
        nearest = StepModel(examples)
        assert np.abs(nearest.step(states, reduced).lengths - truth[:, 0]).mean() > 0.1
        assert (nearest.uncertainty > 0.1).all()

    def test_both_regressions_choose_the_same_examples_and_actions(self) -> None:
        examples = random_examples(120)
        models = [StepModel(examples, ModelSettings(regression=name)) for name in ("nearest", "line")]
        states, reduced = np.random.default_rng(8).normal(size=(9, 5)), np.zeros((9, 2))
        for one, other in zip(*(model.weights(states, reduced) for model in models), strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(*(model.actions(states, reduced) for model in models))

    def test_a_line_is_the_weighted_ridge_regression_without_its_own_row(self) -> None:
        rng = np.random.default_rng(9)
        rows, values, i, ridge = rng.normal(size=(130, 3)), rng.normal(size=(130, 2)), 104, 0.01
        slopes, missed = local_lines(rows, values, ridge)
        distance = np.linalg.norm(rows - rows[i], axis=1)
        some = np.argsort(distance)[1 : ALIKE + 1]
        shares = 1.0 / (distance[some] + BLUNT)
        root = np.sqrt(shares / shares.sum())[:, None]
        sides = np.column_stack([np.ones(ALIKE), rows[some] - rows[i]]) * root
        sides = np.concatenate([sides, np.sqrt(ridge) * np.eye(4)[1:]])  # the constant has no ridge
        found = np.linalg.lstsq(sides, np.concatenate([values[some] * root, np.zeros((3, 2))]), rcond=None)[0]
        np.testing.assert_allclose(slopes[i], found[1:], rtol=1e-8)
        np.testing.assert_allclose(missed[i], found[0] - values[i], rtol=1e-8)

    def test_what_a_plan_by_lines_says_comes_true(self) -> None:
        examples, slopes = linear_examples(300)
        model = StepModel(examples, ModelSettings(regression="line"))
        state = np.random.default_rng(10).normal(size=5)
        plan = planned(model, state, anywhere(np.array([0.3, 0.1])), "regular", PlanSettings(horizon=2))
        assert plan.well
        assert plan.places[0] == pytest.approx(np.concatenate([state, plan.action]) @ slopes[:, 0], abs=2e-3)

    def test_unknown_regressions_are_refused(self) -> None:
        with pytest.raises(UserError, match=r"no regression 'best'; there are: line, nearest"):
            ModelSettings(regression="best")
        with pytest.raises(UserError, match=r"no regression 'best'; there are: auto, line, nearest"):
            StepperSettings(regression="best")

    def test_lines_are_for_stones_in_the_plane_unless_asked_for(self) -> None:
        stone = [Stone("one", (1.0, 0.0, 0.0))]
        bare, stony = Scene(character("planar")), Scene(character("planar"), stone)
        examples = random_examples(60)

        def of(scene: Scene, regression: str = "auto") -> str:
            made = Stepper(scene, StepperSettings(regression=regression), examples=examples)
            return made.model.settings.regression

        assert (of(bare), of(stony), of(bare, "line"), of(stony, "nearest")) == ("nearest", "line", "line", "nearest")
        assert Stepper(Scene(character("biped34"), stone)).model.settings.regression == "nearest"
        carved = Stepper(bare, examples=examples)
        carved.move(stony)
        assert carved.model.settings.regression == "line"


class TestPlanners:
    """On made-up steps, whose answer is known: the first number of the action is the length beyond 0.45 m."""

    @pytest.mark.parametrize("horizon", [1, 2, 3])
    def test_regular_lands_on_stones(self, model: StepModel, horizon: int) -> None:
        targets = np.array([0.3, 0.9, 1.3])
        plan = planned(model, np.zeros(5), anywhere(targets), "regular", PlanSettings(horizon=horizon))
        assert plan.well
        assert len(plan.places) == horizon
        np.testing.assert_allclose(plan.places, targets[:horizon], atol=0.04)
        assert plan.action[0] == pytest.approx(0.3 - 0.45, abs=0.06)

    @pytest.mark.parametrize("planner", ["random", "hybrid", "regular"])
    def test_gaps_are_stepped_over(self, model: StepModel, planner: str) -> None:
        windows = np.tile([[-FAR, 0.25], [0.6, 0.65]], (2, 1, 1)).astype(float)
        windows[1] = [[0.6, 0.7], [1.2, FAR]]
        plan = planned(model, np.zeros(5), Landings(windows, np.full(2, np.nan)), planner)
        assert plan.well
        assert 0.6 <= plan.places[0] <= 0.65 or plan.places[0] <= 0.25
        assert 0.6 <= plan.places[1] <= 0.7 or plan.places[1] >= 1.2

    def test_a_second_step_decides_on_the_first(self, model: StepModel) -> None:
        """0.35 m is nearest to the target now; only from 0.5 m on is the second window in reach."""
        windows = np.array([[[0.3, 0.36], [0.5, 0.56]], [[1.12, 1.2], [1.0, 0.0]]])
        short = planned(model, np.zeros(5), Landings(windows[:1], np.array([0.34])), "regular", PlanSettings(horizon=1))
        far = planned(model, np.zeros(5), Landings(windows, np.full(2, np.nan)), "random", PlanSettings(samples=2000))
        assert short.places[0] < 0.4
        assert far.well and far.places[0] >= 0.5

    def test_what_cannot_be_stepped_over_is_avoided_best(self, model: StepModel) -> None:
        windows = np.array([[[0.9, 1.0]]])
        plan = planned(model, np.zeros(5), Landings(windows, np.array([np.nan])), "random", PlanSettings(horizon=1))
        assert not plan.well and plan.how == "avoiding"
        assert plan.places[0] > 0.62  # of 0.7 at most

    def test_a_stone_out_of_reach_is_missed_by_least(self, model: StepModel) -> None:
        plan = planned(model, np.zeros(5), anywhere(np.array([0.05])), "regular", PlanSettings(horizon=1))
        assert not plan.well
        assert plan.places[0] < 0.27  # 0.2 at least

    def test_the_first_plan_that_is_well_ends_the_search(self, model: StepModel) -> None:
        landings = Landings(np.array([[[0.2, 0.7]]]), np.array([np.nan]))
        one = PlanSettings(horizon=1, first=True)
        assert planned(model, np.zeros(5), landings, "random", one).samples < 10
        assert planned(model, np.zeros(5), landings, "random", PlanSettings(horizon=1)).samples == 500

    def test_uncertain_steps_are_not_well(self, model: StepModel) -> None:
        strict = PlanSettings(horizon=1, doubt=0.0)
        assert not planned(model, np.zeros(5), anywhere(np.array([0.45])), "regular", strict).well

    def test_the_same_generator_plans_the_same(self, model: StepModel) -> None:
        landings = Landings(np.array([[[0.2, 0.7]]] * 2), np.full(2, np.nan))
        plans = [planned(model, np.zeros(5), landings, "random", rng=np.random.default_rng(s)) for s in (1, 1, 2)]
        assert (plans[0].reduced == plans[1].reduced).all()
        assert (plans[0].reduced != plans[2].reduced).any()

    def test_observed_takes_an_example_as_it_is(self, model: StepModel) -> None:
        plan = planned(model, np.zeros(5), anywhere(np.array([0.5])), "observed", PlanSettings(horizon=1))
        assert (np.abs(model.reduced(model.examples.actions) - plan.reduced).sum(axis=1) < 1e-12).any()

    def test_unknown_planners_are_refused(self, model: StepModel) -> None:
        with pytest.raises(UserError, match=r"no planner 'best'; there are: hybrid, observed, random, regular"):
            planned(model, np.zeros(5), anywhere(np.array([0.5])), "best")


def test_preferred_steps_move_to_the_nearer_edge() -> None:
    windows = np.array([[[-FAR, 0.25], [0.6, FAR]]] * 3)
    np.testing.assert_allclose(footsteps(Landings(windows, np.full(3, np.nan)), 0.36), [0.25, 0.61, 0.97])
    np.testing.assert_allclose(footsteps(Landings(windows, np.full(3, np.nan)), 0.5), [0.6, 1.1, 1.6])
    np.testing.assert_allclose(footsteps(Landings(windows, np.array([0.1, np.nan, np.nan])), 0.36), [0.1, 0.6, 0.96])


def test_a_lattice_has_its_corners() -> None:
    points = lattice(3)
    assert points.shape == (9, 2)
    assert {(0.0, 0.0), (0.5, 0.5), (1.0, 0.0), (1.0, 1.0)} <= set(map(tuple, points))


FOOT = Foot(0.2, 0.1)


class TestTerrain:
    def test_half_of_a_foot_over_an_edge_counts_half(self) -> None:
        footing = footing_of(Scene(character("planar"), *gapped([(1.0, 0.3), (2.0, 0.1)])))
        np.testing.assert_allclose(footing.gaps, [[1.0, 1.3], [2.0, 2.1]])
        heels, toes = np.array([0.9, 0.7, 1.25, 1.05, 1.95, 1.4]), np.array([1.1, 0.9, 1.35, 1.25, 2.15, 1.2])
        np.testing.assert_allclose(footing.share(heels, toes), [0.5, 1.0, 0.5, 0.0, 0.5, 0.5], atol=1e-9)

    def test_a_gap_is_as_deep_as_it_says_and_its_edges_where_it_says(self) -> None:
        """Balls that fall: on the slab they stay at their radius, in the gap they lie below."""
        props, ground = gapped([(1.0, 0.6)], depth=0.5)
        scene = Scene(character("planar"), [*props, *(Ball(f"ball-{i}", 0.1, 1.0) for i in range(3))], ground)
        state = scene.state()
        for i, x in enumerate((0.85, 1.3, 1.75)):
            state = scene.placed(state, f"ball-{i}", (x, 3.0, 0.12))
        sims = Sims(scene, 1)
        sims.load(state)
        for _ in range(30):
            sims.act(np.zeros((1, scene.drive.size)))
        heights = [sims.view(f"ball-{i}.pos")[0, 2] for i in range(3)]
        np.testing.assert_allclose(heights, [0.1, -0.4, 0.1], atol=0.01)

    def test_characters_are_put_on_the_slabs(self) -> None:
        deep = Scene(character("planar"), *gapped([(2.0, 0.3)]))
        level = Scene(character("planar"), (), Ground(0.8))
        assert deep.show(deep.state()).body("torso").xpos[2] == level.show(level.state()).body("torso").xpos[2]

    def test_windows_hold_whole_feet(self) -> None:
        footing = footing_of(Scene(character("planar"), *gapped([(1.0, 0.3), (2.0, 0.5)])))
        windows = footing.windows(np.array([0.5, 0.0]), 0.0, [0.0, 0.0], FOOT)
        assert windows.shape == (2, 3, 2)
        np.testing.assert_allclose(windows[0, :, 1][:2], [0.3, 1.3])
        np.testing.assert_allclose(windows[1, :, 0][1:], [0.8, 2.0])
        for place in windows[0, 1]:
            np.testing.assert_allclose(footing.share(np.array([0.5 + place]), np.array([0.7 + place])), 1.0)

    def test_a_margin_narrows_windows_as_far_as_there_is_room(self) -> None:
        footing = Footing(np.array([[-9.0, 1.0], [1.3, 1.55], [1.8, 1.95], [2.2, 2.28]]), np.empty((0, 3)))
        windows = footing.windows(np.zeros(2), 0.0, [0.0], FOOT, margin=0.02)[0]
        np.testing.assert_allclose(windows[1:, 0], [1.32, 1.775])  # a foot in the middle of a shorter stone
        np.testing.assert_allclose(windows[:, 1], [0.78, 1.33, 1.775])  # 8 cm are no half of a foot

    def test_a_way_at_an_angle_finds_gaps_wider(self) -> None:
        footing = Footing(np.array([[-9.0, 1.0], [1.3, 9.0]]), np.empty((0, 3)))
        flat, angle = Foot(0.2, 0.0), np.radians(60.0)
        windows = footing.windows(np.array([0.5, 7.0]), angle, [0.0, 0.1], flat)
        assert windows[0, 0, 1] == pytest.approx(1.0 - 0.2)  # 0.5 m along x are 1 m along the way
        assert windows[0, 1, 0] == pytest.approx(1.6)
        assert windows[1, 1, 0] == pytest.approx(1.6 + 0.1 * np.tan(angle))  # farther left is farther back
        back = footing.windows(np.array([1.5, 0.0]), np.pi, [0.0], flat)[0]
        np.testing.assert_allclose(
            [back[0, 1], back[1, 0]], [0.0, 0.5], atol=1e-9
        )  # toes towards the gap, then over it

    def test_along_a_gap_one_may_walk_on(self) -> None:
        footing = Footing(np.array([[-9.0, 1.0], [1.3, 9.0]]), np.empty((0, 3)))
        assert footing.windows(np.zeros(2), np.pi / 2, [0.0], FOOT)[0, 0, 0] == -FAR
        assert footing.ahead(0.0, np.pi / 2) == FAR
        assert footing.ahead(0.0, 0.0) == pytest.approx(1.0)
        assert footing.ahead(1.1, 0.0) == 0.0
        assert footing.ahead(2.0, np.pi) == pytest.approx(0.7)

    def test_slabs_that_touch_are_one_ground(self) -> None:
        boxes = [Box(f"b{i}", (float(i), 0.0, -0.1), (0.5, 5.0, 0.1), ground=True) for i in (0, 1, 3)]
        found = footing_of(Scene(character("planar"), boxes, Ground(depth=0.2))).ground
        np.testing.assert_allclose(found, [[-0.5, 1.5], [2.5, 3.5]])

    def test_level_ground_has_no_gaps_and_stones_keep_their_order(self) -> None:
        stones = [Stone("late", (2.0, 0.0, 0.0)), Stone("soon", (1.0, 0.0, 0.0))]
        footing = footing_of(Scene(character("planar"), stones))
        assert not len(footing.gaps)
        np.testing.assert_allclose(footing.stones[:, 0], [2.0, 1.0])

    def test_nothing_meets_a_stone(self) -> None:
        scene = Scene(character("planar"), [Stone("one", (0.0, 0.0, 0.0))])
        assert scene.model.ngeom == Scene(character("planar")).model.ngeom  # it is only to be seen
        assert Scene.from_recipe(scene.recipe).props == scene.props

    @pytest.mark.parametrize(("name", "length"), [("planar", 0.2), ("biped34", 0.2)])
    def test_soles_are_those_of_the_feet(self, name: str, length: float) -> None:
        scene = Scene(character(name))
        soles, data = Soles(scene), scene.show(scene.state())
        assert soles.foot.length == pytest.approx(length, abs=0.03)
        ends = soles.places(data.xpos[None], data.xquat[None])[0]
        np.testing.assert_allclose(ends[:, 1, 0] - ends[:, 0, 0], soles.foot.length, atol=2e-3)
        assert (np.abs(ends[..., 2]) < 0.02).all()  # they stand

    def test_bad_ground_is_refused(self) -> None:
        with pytest.raises(UserError, match=r"the ground is deep and nothing lies on it: give the scene boxes"):
            footing_of(Scene(character("planar"), (), Ground(depth=0.3)))
        with pytest.raises(UserError, match=r"gaps must follow one another with ground between, got one at 1.2 m"):
            gapped([(1.0, 0.3), (1.2, 0.2)])


def test_footprints_lie_where_steps_are_planned_and_flags_are_as_high_as_they_are_uncertain() -> None:
    ghosts = footprints_of(np.array([[1.0, 2.0, 0.1, np.pi / 2, 0.5], [2.0, 0.0, 0.0, 0.0, 0.0]]), 7)
    assert ghosts.number == 7
    first = ghosts.sticks[0]
    np.testing.assert_allclose(first[:4].reshape(-1, 3).mean(axis=0)[:2], [1.0, 2.0])
    assert np.ptp(first[:4, 1]) == pytest.approx(2 * FOOTPRINT[0])  # it points along y
    assert np.ptp(first[:4, 0]) == pytest.approx(2 * FOOTPRINT[1])
    assert first[4, 5] - first[4, 2] == pytest.approx(0.5 * FLAG)
    assert ghosts.sticks[1, 4, 5] == ghosts.sticks[1, 4, 2]


@pytest.mark.parametrize(
    ("foot", "number", "then"),
    [(0.5, 0, 1), (0.7, 0, 1), (0.2, 0, 0), (0.95, 0, 2), (0.93, 1, 2), (1.3, 2, 3), (3.0, 0, 3), (3.0, 3, 3)],
)
def test_stones_come_one_by_one_but_for_stumbles_and_those_passed(foot: float, number: int, then: int) -> None:
    assert next_stone(np.array([0.5, 0.88, 1.3]) - foot, number) == then


class TestScenarios:
    @pytest.mark.parametrize("name", ["gaps", "gaps-3d", "gaps-push", "path-3d"])
    def test_gaps_are_as_wide_and_as_far_apart_as_asked_and_elsewhere_by_seed(self, name: str) -> None:
        scenario = SCENARIOS[name].make(spacing=0.5, width=0.25, gaps=5)
        body = character(scenario.characters[0])
        gaps = [footing_of(scenario.scene(body, seed)).gaps for seed in (1, 1, 2)]
        np.testing.assert_allclose(gaps[0][:, 1] - gaps[0][:, 0], 0.25)
        np.testing.assert_allclose(gaps[0][1:, 0] - gaps[0][:-1, 1], 0.5)
        assert (gaps[0] == gaps[1]).all() and gaps[0][0, 0] != gaps[2][0, 0]

    def test_stones_are_as_far_apart_as_asked(self) -> None:
        scenario = SCENARIOS["stones"].make(count=9, shortest=0.3, longest=0.4)
        apart = np.diff(footing_of(scenario.scene(character("planar"), 3)).stones[:, 0])
        assert len(apart) == 8 and (apart >= 0.3).all() and (apart <= 0.4).all()

    def test_a_gap_that_no_step_crosses_is_said_before(self) -> None:
        notes = SCENARIOS["gaps"].make(width=1.5).notes(StepperSettings())
        assert len(notes) == 1 and "gaps of 1.5 m need steps of 1.70 m with a foot of 0.20 m" in notes[0]
        assert not SCENARIOS["gaps"].make(width=0.3).notes(StepperSettings())

    def test_a_gap_counts_as_crossed_by_the_feet_around_it(self) -> None:
        def feet(*heels: float) -> Footfalls:
            x = np.array(heels)
            ends = [np.column_stack([x + off, 0 * x, 0 * x]) for off in (0.0, 0.2)]
            share = Footing(np.array([[-9.0, 1.0], [1.3, 9.0]]), np.empty((0, 3))).share(x, x + 0.2)
            return Footfalls(*ends, share, x)

        gap = np.array([1.0, 1.3])
        assert crossed(feet(0.5, 0.8, 1.3), gap) is True
        assert crossed(feet(0.5, 0.85, 1.25), gap) is True  # a quarter of a foot over an edge
        assert crossed(feet(0.5, 0.95, 1.4), gap) is False
        assert crossed(feet(0.5, 1.15, 1.4), gap) is False  # a step into it
        assert crossed(feet(0.5, 0.7), gap) is None

    def test_walking_over_a_narrow_gap_is_the_same_again_and_plans_in_time(self) -> None:
        results = []
        for _ in range(2):
            trial = Trial(SCENARIOS["gaps"].make(width=0.2, spacing=1.0, gaps=1), seed=5)
            while not trial.over:
                trial.step()
            results.append((trial.session.world.state.copy(), trial.scenario.footfalls(trial.history)))
        assert (results[0][0] == results[1][0]).all()
        assert results[0][1].good.all() and trial.result().success
        assert trial.controller.report().marks.shape[1] == 5

    def test_who_lives_in_a_plane_turns_nowhere(self) -> None:
        trial = Trial(SCENARIOS["gaps"].make(width=0.2, spacing=1.0, gaps=1), seed=5)
        with pytest.raises(UserError, match=r"'planar' lives in a plane and turns nowhere"):
            trial.send(Go(heading=1.0))

    def test_bodies_without_a_base_are_refused(self) -> None:
        with pytest.raises(UserError, match=r"no base of constrained walking for 'raptor', but for planar"):
            Stepper(Scene(character("raptor")))
