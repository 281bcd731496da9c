"""Constrained walking in space: the base's feet, step networks and their file, refined plans, wandering."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tumble.characters import character
from tumble.cli import dispatch
from tumble.errors import UserError
from tumble.maths.rotations import wrapped_angles
from tumble.maths.vectors import yaws
from tumble.simbicon.body import MEMORY
from tumble.stepping import wandering
from tumble.stepping.base import BASES
from tumble.stepping.nets import SEEN, STEPS, StepNets, learned, nets_named, read_nets
from tumble.stepping.planning import FAR, Landings, anywhere
from tumble.stepping.refining import LEAST, LONGEST, OVER, freedom, refined, ways
from tumble.stepping.steering import ASKEW, BESIDE, NEAR, steered
from tumble.stepping.stepper import Stepper, StepperSettings
from tumble.stepping.strider import Strider
from tumble.stepping.terrain import Soles
from tumble.stepping.wandering import Wandering
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

BASE = BASES["humanoid"]()
NOWHERE = np.array([1.0, 0.0])  # a window that is none


def made_up(count: int = 2000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Steps whose length is 0.36 m and the third number of the swing hip and of the dwell; all else is usual."""
    rng = np.random.default_rng(0)
    states, away = rng.normal(0.0, 0.1, (count, 9)), rng.normal(0.0, 0.15, (count, 9))
    values = np.zeros((count, 11))
    values[:, 0] = 0.36 + away[:, 5] + 0.5 * away[:, 8] + 0.2 * away[:, 5] ** 2
    values[:, 1], values[:, 2:] = 0.15, 0.5 * states
    values += rng.normal(0.0, 1e-3, values.shape)
    return states, BASE.action + away, values


@pytest.fixture(scope="module")
def nets() -> StepNets:
    states, actions, values = made_up()
    usual = np.array([0.36, 0.15, *[0.0] * 9])
    return learned(BASE, states, actions, values, usual, "tumble stones learn humanoid", np.random.default_rng(1))


@pytest.fixture(scope="module")
def begun() -> tuple[Strider, Sims]:
    strider = Strider(Scene(character("biped34"), ground=Ground(0.8)), BASE)
    sims = Sims(strider.scene, 12, 1)
    sims.use(strider.walker.drive)
    return strider, sims


class TestBase:
    """What the humanoid's own walk must do for steps to be planned at all."""

    def test_it_does_not_spin_after_disturbed_starts(self, begun: tuple[Strider, Sims]) -> None:
        strider, sims = begun
        strider.begin(sims)
        sims.view("qvel")[:] += 0.1 * np.random.default_rng(0).standard_normal(sims.view("qvel").shape)
        sims.load(sims.state.copy())
        rows, found = np.arange(12), []
        for _ in range(12):
            strider.apply(sims, rows, np.tile(BASE.action, (12, 1)))
            assert strider.step(sims, rows).all()
            found.append(yaws(sims.view("xquat")[:, strider.scene.body(strider.scene.character.root)]))
        assert np.abs(found[3:]).max() < 0.15  # 0.4 to 0.7 rad in the mean where feet land on their heels

    def test_feet_are_lifted_over_the_far_edge(self, begun: tuple[Strider, Sims]) -> None:
        strider, sims = begun
        soles, rows = Soles(strider.scene), np.arange(12)
        strider.begin(sims)
        for _ in range(10):
            strider.apply(sims, rows, np.tile(BASE.action, (12, 1)))
            strider.step(sims, rows)
        memory, heights = sims.memory(MEMORY), []
        for _ in range(30):
            sims.act(partial(strider.walker.law, rows=rows), strider.walker.drive, rows)
            swing = 1 - memory.stance.astype(int)
            heel_and_toe = soles.places(sims.view("xpos"), sims.view("xquat"))[rows, swing, :, 2]
            heights += heel_and_toe.min(axis=1)[(memory.phase > 0.3) & (memory.phase < 0.55)].tolist()
        assert len(heights) > 20 and min(heights) > 0.03


class TestNets:
    """Networks of made-up steps."""

    def test_they_foretell_what_they_learned(self, nets: StepNets) -> None:
        states, actions, values = made_up(2100)
        found = nets.step(states[2000:], actions[2000:])
        inside = (np.abs(actions[2000:] - BASE.action) < 0.3).all(axis=1)
        assert np.abs(found.values - values[2000:])[inside, 0].mean() < 0.01

    def test_slopes_are_those_of_differences(self, nets: StepNets) -> None:
        states, actions, _ = made_up(5)
        found, little = nets.step(states, actions), 1e-5
        for i in range(18):
            change = np.zeros((1, 18))
            change[0, i] = little
            more, less = (nets.step(states + s * change[:, :9], actions + s * change[:, 9:]) for s in (1, -1))
            np.testing.assert_allclose((more.values - less.values) / (2 * little), found.slopes[:, :, i], atol=1e-5)
            doubt = (more.doubt - less.doubt) / (2 * little)
            np.testing.assert_allclose(doubt, found.doubt_slopes[:, :, i], atol=1e-5)

    def test_doubt_adds_up_to_nothing_and_grows_away_from_what_was_tried(self, nets: StepNets) -> None:
        states, actions, _ = made_up(50)
        near, far = nets.step(states, actions).doubt, nets.step(states, BASE.action + 8 * (actions - BASE.action)).doubt
        np.testing.assert_allclose(near.sum(axis=1), 0.0, atol=1e-9)
        assert np.abs(far).mean() > 5 * np.abs(near).mean()

    def test_states_are_taken_to_be_within_what_was_seen(self, nets: StepNets) -> None:
        states, actions, _ = made_up()
        np.testing.assert_allclose(nets.seen, np.percentile(states, SEEN, axis=0))
        far, edge = (nets.step(np.full((1, 9), one), actions[:1]).values for one in (50.0, nets.seen[1].max()))
        np.testing.assert_array_equal(far, edge)

    def test_typical_actions_make_steps_of_their_lengths(self, nets: StepNets) -> None:
        found = nets.step(np.zeros((len(STEPS), 9)), nets.action_for(STEPS)).values[:, 0]
        np.testing.assert_allclose(found, STEPS, atol=0.06)

    def test_a_file_holds_them(self, nets: StepNets, tmp_path: Path) -> None:
        nets.write(tmp_path / "a.nets")
        again = read_nets(tmp_path / "a.nets")
        states, actions, _ = made_up(20)
        assert again.header == nets.header
        np.testing.assert_allclose(again.step(states, actions).values, nets.step(states, actions).values, atol=1e-4)

    @pytest.mark.parametrize(
        ("header", "arrays", "message"),
        [
            ({"gait": "another"}, {}, "made with another gait than 'humanoid' has now; make them again: tumble stones"),
            ({"version": 9}, {}, "holds no step networks that can be read .its format is 'tumble step networks' 9"),
            ({}, {"b1": np.zeros((3, 5))}, "its arrays do not fit each other"),
            ({}, {"b3": np.full((3, 11), np.nan)}, "its arrays do not fit each other: not finite"),
        ],
    )
    def test_others_are_refused(self, nets: StepNets, tmp_path: Path, header: dict, arrays: dict, message: str) -> None:
        wrong = replace(nets, header=msgspec.structs.replace(nets.header, **header), **arrays)
        wrong.write(tmp_path / "a.nets")
        with pytest.raises(UserError, match=message):
            read_nets(tmp_path / "a.nets")

    def test_what_is_no_file_of_them_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.nets").write_bytes(b"nonsense")
        with pytest.raises(UserError, match=r"a.nets holds no step networks .* make some: tumble stones learn BASE"):
            read_nets(tmp_path / "a.nets")

    def test_those_that_ship_are_of_the_present_gait(self) -> None:
        found = nets_named("humanoid")
        assert found is not None and found.header.command == "tumble stones learn humanoid"
        assert nets_named("planar-walk") is None


class TestRefined:
    """Plans on networks of made-up steps."""

    @pytest.mark.parametrize("target", [0.2, 0.36, 0.6])
    def test_lands_on_targets(self, nets: StepNets, target: float) -> None:
        targets = np.array([target, target + 0.36, target + 0.72])
        plan = refined(nets, BASE, np.zeros(9), anywhere(targets))
        assert plan.well and plan.how == "gauss-newton"
        np.testing.assert_allclose(plan.places, targets, atol=0.05)
        made = nets.step(np.zeros((1, 9)), plan.action[None]).values[0, 0]
        assert made == pytest.approx(plan.places[0])

    def test_steps_over_gaps(self, nets: StepNets) -> None:
        windows = np.tile([[-FAR, 0.2], [0.7, 0.9], [1.4, FAR]], (3, 1, 1))
        plan = refined(nets, BASE, np.zeros(9), Landings(windows, np.full(3, np.nan)))
        assert plan.well
        for place in plan.places:
            assert any(low - 1.2 * OVER < place < high + 1.2 * OVER for low, high in windows[0])
        assert (np.diff(plan.places, prepend=0.0) > LEAST - 0.03).all()

    def test_without_gaps_it_steps_as_is_preferred(self, nets: StepNets) -> None:
        plan = refined(nets, BASE, np.zeros(9), anywhere(np.full(3, np.nan)))
        np.testing.assert_allclose(np.diff(plan.places, prepend=0.0), BASE.preferred, atol=0.02)

    def test_actions_stay_where_they_were_tried(self, nets: StepNets) -> None:
        plan = refined(nets, BASE, np.zeros(9), anywhere(np.array([3.0, 6.0, 9.0])))
        assert not plan.well and (np.abs(plan.action - BASE.action) <= freedom(BASE) + 1e-12).all()

    def test_ways_can_be_stepped(self) -> None:
        windows = np.array([[[-FAR, 0.1], [0.5, 0.6]], [[0.5, 0.6], [2.0, 2.1]]])
        found = ways(Landings(windows, np.full(2, np.nan)), 0.36)
        assert sorted(found.low[:, 1].tolist()) == [0.5 - OVER] * 2  # 2.0 m is more than LONGEST from any
        assert LONGEST < 2.0 - 0.6
        nothing = np.full((2, 1, 2), NOWHERE)
        assert len(ways(Landings(nothing, np.full(2, np.nan)), 0.36).low) == 1  # somewhere it has to land


class TestWandering:
    def test_it_learns_from_what_it_does(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in {"ROWS": 12, "FIRST": 16, "ROUND": 3, "SETTLING": 3}.items():
            monkeypatch.setattr(wandering, name, value)
        made = Wandering(BASE, seed=1)
        first, second = made.run(1)
        assert (first.steps, second.steps) == (12 * 16, 12 * 19)
        assert second.error < first.error and second.error < 0.12
        nets, examples = made.nets("learn"), made.examples("learn")
        assert 100 < nets.header.steps == len(examples) <= 12 * 19
        assert nets.usual[0] == pytest.approx(BASE.preferred, abs=0.05)
        found = nets.step(examples.states.astype(float), examples.actions.astype(float)).values
        assert np.median(np.abs(found[:, 0] - examples.lengths)) < 0.05

    def test_bases_of_the_plane_are_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert dispatch(["stones", "learn", "planar-walk"]) == 2
        assert (
            "base 'planar-walk' is of the plane, and plans by examples: tumble stones build" in capsys.readouterr().err
        )
        assert dispatch(["stones", "learn", "humanoid", "mine.stones"]) == 2
        assert "a file of step networks ends in .nets, got mine.stones" in capsys.readouterr().err


def test_who_plans_by_networks() -> None:
    scene, plane = Scene(character("biped34")), Scene(character("planar"))
    assert Stepper(scene)._nets is not None and Stepper(plane)._nets is None
    assert Stepper(scene, StepperSettings(planner="hybrid"))._nets is None
    with pytest.raises(UserError, match="no step networks of 'planar-walk' ship; choose a planner of hybrid, random"):
        Stepper(plane, StepperSettings(planner="gauss-newton"))


class TestSteering:
    NO_GAPS = np.zeros((0, 2))

    def test_it_leads_the_travel_to_its_target(self) -> None:
        """Over a walk whose travel follows its heading by 0.4 of the difference a step: way-points of figure 3.6."""
        way = [np.array([1.5 * (i + 1), (0.5, 0.0, -0.5, 0.0)[i % 4]]) for i in range(8)]
        here, before, heading, travel, reached = np.zeros(2), np.zeros(2), 0.0, 0.0, 0
        for _ in range(45):
            aim = steered(np.array([heading]), here[None], before[None], way[reached][None], self.NO_GAPS)[0]
            old, heading = heading, heading + np.clip(wrapped_angles(aim - heading), -0.4, 0.4)
            travel += 0.4 * (old - travel)
            before = here
            for _ in range(10):
                here = here + 0.036 * np.array([np.cos(travel), np.sin(travel)])
                if reached < 8 and np.linalg.norm(here - way[reached]) < 0.5:
                    reached += 1
            if reached == 8:
                break
        assert reached == 8

    def test_near_gaps_are_crossed_nearly_straight(self) -> None:
        here, before, target = np.zeros((1, 2)), np.array([[0.0, -0.3]]), np.array([[1.0, 3.0]])
        now, gaps = np.array([1.4]), np.array([[0.5, 0.8]])
        assert steered(now, here, before, target, self.NO_GAPS)[0] > 1.0
        assert steered(now, here, before, target, gaps)[0] == pytest.approx(ASKEW)
        assert abs(steered(now, here, before, -target, gaps)[0]) > 1.0  # it lies not ahead
        assert steered(now, here, before, target, gaps + NEAR)[0] > 1.0  # nor near

    def test_who_passes_near_enough_goes_on(self) -> None:
        here, before, now = np.zeros((1, 2)), np.array([[-0.3, 0.0]]), np.array([0.2])
        beside = np.array([[1.0, 0.9 * BESIDE]])
        assert steered(now, here, before, beside, self.NO_GAPS)[0] == 0.0  # its travel
        assert steered(now, here, before, 2.0 * beside * (0.5, 1.0), self.NO_GAPS)[0] > 0.3
