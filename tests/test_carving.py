"""Gaps and stones that people set and take away: what the ground is then, what is refused, that it all replays."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from tumble.characters import character
from tumble.errors import UserError
from tumble.live.commands import Carve, Push, decode
from tumble.live.recording import Recorder, Recording
from tumble.scenarios import SCENARIOS, Trial
from tumble.stepping.carving import AFTER, CLEAR, CLOSEST, LEAST, LEVEL, carved
from tumble.stepping.terrain import DEPTH, Footing, footing_in, gapped
from tumble.studio import requests
from tumble.studio.choice import Choice
from tumble.studio.director import Director
from tumble.world.props import Ball, Box, Prop, Stone
from tumble.world.scene import Ground, Scene

NOWHERE = (-0.2, 0.2)  # m that feet take
PLAIN = Ground(0.8)


def gaps(props: Sequence[Prop], ground: Ground) -> np.ndarray:
    return footing_in(props, ground).gaps


def row(*places: float, aside: float = 0.0) -> list[Stone]:
    """Stones at these places, to the left and to the right."""
    return [Stone(f"stone-{i}", (x, aside * (1 - 2 * (i % 2)), 0.0)) for i, x in enumerate(places)]


def places(props: Sequence[Prop]) -> list[tuple[float, float]]:
    return [(round(one.place[0], 6), round(one.place[1], 6)) for one in props if isinstance(one, Stone)]


class TestGaps:
    def test_one_is_set_around_the_place(self) -> None:
        props, ground = carved(*gapped([(3.0, 0.5)]), (1.5, 2.0, 0.0), 0.4, NOWHERE)
        np.testing.assert_allclose(gaps(props, ground), [[1.3, 1.7], [3.0, 3.5]])
        assert ground.depth == DEPTH

    def test_one_that_is_clicked_is_filled_as_if_it_had_never_been(self) -> None:
        before, ground = gapped([(1.0, 0.3), (2.0, 0.5), (4.0, 0.2)])
        after, _ = carved(before, ground, (2.4, 0.0, 0.0), 0.3, NOWHERE)
        np.testing.assert_allclose(gaps(after, ground), [[1.0, 1.3], [4.0, 4.2]])
        assert len(after) == 3  # no seam where a foot could catch
        again, _ = carved(after, ground, (2.25, 0.0, 0.0), 0.5, NOWHERE)
        np.testing.assert_allclose(gaps(again, ground), gaps(before, ground))
        np.testing.assert_allclose([one.half for one in again], [one.half for one in before])

    def test_ground_of_another_height_begins_where_the_gap_ended(self) -> None:
        props, ground = gapped([(1.0, 0.3)], tops=[0.04])
        filled, _ = carved(props, ground, (1.1, 0.0, 0.0), 0.3, NOWHERE)
        assert not len(gaps(filled, ground))
        low, high = filled
        assert (low.middle[0] + low.half[0], low.middle[2] + low.half[2]) == pytest.approx((1.3, 0.0))
        assert (high.middle[0] - high.half[0], high.middle[2] + high.half[2]) == pytest.approx((1.3, 0.04))
        over, _ = carved(filled, ground, (1.3, 0.0, 0.0), 0.2, NOWHERE)  # where both meet
        np.testing.assert_allclose(gaps(over, ground), [[1.2, 1.4]])

    def test_a_plane_becomes_slabs_of_its_height_around_the_character(self) -> None:
        scene = Scene(character("planar"), [Ball()], PLAIN)
        props, ground = carved(scene.props, scene.ground, (2.0, 0.0, 0.0), 0.3, NOWHERE)
        footing = footing_in(props, ground)
        np.testing.assert_allclose(footing.gaps, [[1.85, 2.15]])
        assert footing.ground[0, 0] <= NOWHERE[0] - LEVEL and footing.ground[-1, 1] >= 2.0 + LEVEL
        assert all(one.middle[2] + one.half[2] == 0.0 for one in props if isinstance(one, Box))
        assert props[0] == Ball() and ground.friction == 0.8
        Scene(character("planar"), props, ground)  # names are free

    def test_ground_goes_on_behind_the_last(self) -> None:
        before, ground = gapped([(1.0, 0.3)])
        props, _ = carved(before, ground, (12.0, 0.0, 0.0), 0.4, NOWHERE)
        assert footing_in(props, ground).ground[-1, 1] == pytest.approx(12.2 + AFTER)
        assert footing_in(props, ground).ground[0, 0] == footing_in(before, ground).ground[0, 0]

    @pytest.mark.parametrize(
        ("at", "width", "message"),
        [
            (
                (0.0, 0.0, 0.0),
                0.3,
                r"from -0.15 to 0.15 m is under the feet, which stand or land from -0.20 to 0.20 m;",
            ),
            ((0.2 + CLEAR + 0.14, 0.0, 0.0), 0.3, "is under the feet"),
            (
                (1.45, 0.0, 0.0),
                0.3,
                rf"a gap from 1.30 to 1.60 m leaves less than {LEAST:g} m of ground beside the one",
            ),
            ((2.0, 0.0, 0.0), 0.7, "no step that it knows crosses a gap of 0.70 m, but at most one of 0.60 m"),
            ((2.0, 0.0, 0.0), 9.0, "width of a gap must be a number 0.05 or more and at most 3, got 9"),
            ((99.0, 0.0, 0.0), 0.3, "no ground at x = 99.00 m, y = 0.00 m; there is, from x = -7.00 to 13.30 m"),
            ((2.0, -40.0, 0.0), 0.3, "no ground at x = 2.00 m, y = -40.00 m"),
        ],
    )
    def test_what_cannot_be_is_refused(self, at: tuple[float, float, float], width: float, message: str) -> None:
        with pytest.raises(UserError, match=message):
            carved(*gapped([(1.0, 0.3)]), at, width, NOWHERE, widest=0.6)

    def test_a_gap_with_a_foot_in_it_is_not_filled(self) -> None:
        with pytest.raises(UserError, match=r"from 1.00 to 1.30 m is under the feet, which stand or land from 0.90 to"):
            carved(*gapped([(1.0, 0.3)]), (1.1, 0.0, 0.0), 0.3, (0.9, 1.4))

    def test_a_slope_is_none_to_carve(self) -> None:
        with pytest.raises(UserError, match="gaps and stones lie on level ground, and this one slopes"):
            carved([], Ground(slope=0.1), (2.0, 0.0, 0.0), 0.3, NOWHERE)


class TestStones:
    def test_one_is_set_in_its_order(self) -> None:
        props, ground = carved([Ball(), *row(0.5, 1.0, 2.0)], PLAIN, (1.4, 0.6, 0.0), 0.3, NOWHERE, planar=True)
        assert places(props) == [(0.5, 0.0), (1.0, 0.0), (1.4, 0.0), (2.0, 0.0)]
        assert (props[0], ground) == (Ball(), PLAIN)
        last, _ = carved(props, ground, (2.5, 0.0, 0.0), 0.3, NOWHERE, planar=True)
        assert places(last)[-1] == (2.5, 0.0)

    def test_one_that_is_clicked_is_taken_away(self) -> None:
        props, _ = carved(row(0.5, 1.0, 2.0), PLAIN, (1.09, 0.8, 0.0), 0.3, NOWHERE, planar=True)
        assert places(props) == [(0.5, 0.0), (2.0, 0.0)]

    def test_in_space_feet_take_turns(self) -> None:
        stones = row(0.5, 1.0, 1.5, 2.0, aside=0.1)
        more, _ = carved(stones, PLAIN, (1.25, 0.0, 0.0), 0.3, NOWHERE)
        assert places(more) == [(0.5, 0.1), (1.0, -0.1), (1.25, 0.1), (1.5, -0.1), (2.0, 0.1)]
        less, _ = carved(more, PLAIN, (1.26, 0.12, 0.0), 0.3, NOWHERE)
        assert places(less) == places(stones)
        end, _ = carved(stones, PLAIN, (2.5, -0.3, 0.0), 0.3, NOWHERE)
        assert places(end) == [*places(stones), (2.5, 0.1)]

    @pytest.mark.parametrize(
        ("x", "y", "message"),
        [
            (0.38, 0.0, "from 0.28 to 0.48 m is under the feet, which stand or land from 0.30 to 0.70 m"),
            (0.1, 0.0, r"a stone at 0.10 m is behind the feet, which are at 0.30 m; click ahead of them"),
            (2.0, 3.0, r"a stone is set within 1 m of the way, y = 0.00 m, got y = 3.00 m"),
            (1.05, 0.5, rf"a stone at 1.05 m is less than {CLOSEST:g} m, the shortest step, from the one at 1.00 m"),
        ],
    )
    def test_what_cannot_be_is_refused(self, x: float, y: float, message: str) -> None:
        with pytest.raises(UserError, match=message):
            carved(row(0.5, 1.0, 1.5, aside=0.1), PLAIN, (x, y, 0.0), 0.3, (0.3, 0.7))

    def test_one_that_a_foot_is_about_to_take_stays(self) -> None:
        with pytest.raises(UserError, match="is under the feet"):
            carved(row(0.5, 1.0), PLAIN, (0.5, 0.0, 0.0), 0.3, (0.3, 0.7))


# While it walks -------------------------------------------------------------------------------------


def begun(name: str, frames: int = 20) -> Trial:
    trial = Trial(SCENARIOS[name].make(), seed=1)
    steps(trial, frames)
    return trial


def steps(trial: Trial, frames: int) -> None:
    for _ in range(frames):
        trial.step()


def footing(trial: Trial) -> Footing:
    return footing_in(trial.scene.props, trial.scene.ground)


def ahead(trial: Trial, by: float) -> tuple[float, float, float]:
    """A place so far ahead of where feet stand or land."""
    return (trial.controller.taken(trial.session.world)[1] + by, 0.0, 0.0)


def clear(trial: Trial, number: int) -> tuple[float, float, float]:
    """The middle of a gap, or the place of a stone, ahead of the feet."""
    reach, there = ahead(trial, 0.2)[0], footing(trial)
    middles = there.stones[:, 0] if len(there.stones) else there.gaps.mean(axis=1)
    return (float(middles[middles > reach][number]), 0.0, 0.0)


def test_it_travels_as_json() -> None:
    assert decode('{"type": "carve", "at": [2, 0, 0], "width": 0.4}') == Carve((2.0, 0.0, 0.0), 0.4)
    assert requests.decode('{"type": "carve", "at": [2, 0, 0]}') == Carve((2.0, 0.0, 0.0))
    with pytest.raises(UserError, match=r"not a request: .*`depth`"):
        requests.decode('{"type": "carve", "at": [2, 0, 0], "depth": 1}')


def test_a_gap_comes_with_the_next_frame() -> None:
    trial = begun("gaps", 10)
    before, at = footing(trial).gaps, ahead(trial, 12.0)
    trial.send(Carve(at, 0.4))
    assert len(footing(trial).gaps) == len(before)
    steps(trial, 1)
    np.testing.assert_allclose(footing(trial).gaps, [*before, (at[0] - 0.2, at[0] + 0.2)])
    assert [command for _, command in trial.history.commands] == [Carve(at, 0.4)]


def test_gaps_that_are_set_on_the_way_are_planned_for_and_crossed() -> None:
    """Nobody who did not see them steps over both by chance in most of four trials."""
    crossed = 0
    for seed in range(1, 5):
        trial = Trial(SCENARIOS["gaps"].make(gaps=1, width=0.3), seed=seed)
        steps(trial, 10)
        trial.send(Carve((float(footing(trial).gaps[-1, 1]) + 0.9, 0.0, 0.0), 0.3))
        while not trial.over:
            trial.step()
        crossed += trial.result().success and trial.result().metrics["gaps_crossed"] == 2.0
    assert crossed >= 2


def test_two_at_once_are_set_and_taken_away_in_their_order() -> None:
    trial = begun("gaps")
    before, at = footing(trial).gaps, (14.0, 0.0, 0.0)
    trial.send(Carve(at), Carve(at))
    trial.send(Carve((13.0, 0.0, 0.0)))
    with pytest.raises(UserError, match="leaves less than"):
        trial.send(Carve((13.25, 0.0, 0.0)))  # beside one that waits
    steps(trial, 1)
    np.testing.assert_allclose(footing(trial).gaps, [*before, (12.85, 13.15)])


def test_feet_are_where_they_stand_and_where_they_will_land() -> None:
    trial = begun("gaps", 0)
    soles, view = trial.controller.soles, trial.session.world.view
    ends = soles.places(view("xpos"), view("xquat"))[..., 0]
    assert trial.controller.taken(trial.session.world) == (ends.min(), ends.max())  # nothing is planned yet
    steps(trial, 2)
    _, high = trial.controller.taken(trial.session.world)
    middle = trial.controller.report().marks[0, 0]
    assert high == pytest.approx(middle + 0.5 * soles.foot.length)
    with pytest.raises(UserError, match="is under the feet, which stand or land from"):
        trial.send(Carve((high, 0.0, 0.0)))


def test_another_stone_does_not_confuse_which_is_next() -> None:
    """The next strike is for the stone behind that of this step, wherever the foot has landed by then."""
    trial = begun("stones", 25)
    memory = trial.session.world.memory("stones")
    number, x = int(memory.stone[0]), float(memory.stone_at[0])
    assert footing(trial).stones[number, 0] == x
    after = footing(trial).stones[number + 1, 0]
    trial.send(Carve((after + 0.2, 0.0, 0.0)))
    steps(trial, 1)
    memory = trial.session.world.memory("stones")
    strikes = memory.strikes[0]
    assert memory.stone_at[0] == x and trial.controller.report().doing == "plans anew at the next strike"
    while trial.session.world.memory("stones").strikes[0] == strikes:
        trial.step()
    assert trial.session.world.memory("stones").stone_at[0] == after
    assert trial.controller.report().marks is not None


def test_a_stone_that_is_gone_gives_way_to_the_next_ahead() -> None:
    trial = begun("stones", 25)
    number = int(trial.session.world.memory("stones").stone[0])
    next_one, then = footing(trial).stones[number + 1 : number + 3, 0]
    trial.send(Carve((next_one, 0.0, 0.0)))
    strikes = trial.session.world.memory("stones").strikes[0]
    while trial.session.world.memory("stones").strikes[0] == strikes:
        trial.step()
    assert trial.session.world.memory("stones").stone_at[0] == then


@pytest.mark.parametrize("name", ["gaps", "stones"])
def test_it_is_recorded_with_pushes_and_replays_bit_for_bit(name: str, tmp_path: Path) -> None:
    trial = begun(name, 12)  # in mid-stride
    about = (name, "stones", 1, asdict(trial.controller.settings))
    recorder = Recorder(trial.session, *about)
    steps(trial, 8)
    trial.send(Push(trial.scene.character.trunk, (30.0, 0.0, 0.0), 0.2), Carve(clear(trial, 0), 0.2))
    steps(trial, 3)  # while it is pushed
    trial.send(Carve(clear(trial, 1), 0.2))
    steps(trial, 15)
    recorder.recording.save(tmp_path / "carved.npz")
    recording = Recording.load(tmp_path / "carved.npz")
    assert [part.about.frames for part in recording.parts] == [8, 3, 15]
    assert [type(timed.command) for part in recording.parts for timed in part.about.commands] == [Push]
    assert recording.first_difference() is None
    assert len(recording.parts[-1].scene.props) == len(trial.scene.props)


def test_time_turned_back_has_the_ground_of_then() -> None:
    trial = begun("gaps", 15)
    scene, state, then = trial.scene, trial.session.world.state[0].copy(), trial.time
    steps(trial, 25)
    undisturbed = trial.session.world.state[0].copy()
    trial.rewind(scene, state, then)
    trial.send(Carve((12.0, 0.0, 0.0)))
    steps(trial, 10)
    assert footing(trial).gaps[-1, 0] == pytest.approx(11.85)
    trial.rewind(scene, state, then)
    assert trial.scene is scene
    steps(trial, 25)
    assert trial.session.world.state[0, : scene.used].tobytes() == undisturbed[: scene.used].tobytes()


def test_who_plans_no_steps_carves_no_ground() -> None:
    walker = Trial(SCENARIOS["steer-walk"].make(), seed=0, controller="walker")
    with pytest.raises(UserError, match="nobody here plans steps over gaps and onto stones; choose the controller 'st"):
        walker.send(Carve((2.0, 0.0, 0.0)))
    trial = begun("gaps", 1)
    for at in ((np.nan, 0.0, 0.0), (1e9, 0.0, 0.0)):
        with pytest.raises(UserError, match="place of a gap or a stone must be three numbers within a million"):
            trial.send(Carve(at))
    assert not trial.session.waiting


def test_the_hand_of_the_studio_may_carve() -> None:
    director = Director(Choice("stones", "planar", "stones").trial(1))
    steps(director.trial, 5)
    count = len(footing(director.trial).stones)
    director.send(Carve((9.9, 0.0, 0.0)))
    steps(director.trial, 1)
    assert len(footing(director.trial).stones) == count + 1 and not director.trial.directed
