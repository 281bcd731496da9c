"""Games: way-points that are passed, posts that are touched, lanes, balls that roll, the autopilot, and verdicts."""

import math

import msgspec
import numpy as np
import pytest
from histories import put, readings, seen

from tumble.characters import character
from tumble.errors import UserError
from tumble.goals.wants import Go
from tumble.live.commands import Throw
from tumble.scenarios import Trial, run_trial
from tumble.scenarios.games import (
    BESIDE,
    CLEAR,
    FIRST,
    INSIDE,
    LANE,
    RADIUS,
    ROLLS,
    WIDE,
    BirdMania,
    LampPosts,
    rolled,
    steered,
    touches,
    weight,
)
from tumble.studio.verdicts import Verdicts
from tumble.tasks.grid import Axis, around, points, spread
from tumble.tasks.policy import Policy, policy_named
from tumble.tasks.tasked import Tasked

PLACE = tuple(Axis(name, spread(-3.0, 3.0, 5, 0.5)) for name in ("ahead", "left"))
GRIDS = {
    "facing": (*PLACE, Axis("heading", around(6))),
    "paced": (Axis("speed", (0.0, 1.0)), Axis("heading", around(6))),
}


@pytest.fixture(scope="module")
def bird():
    return character("big-bird")


def straight(scene, task: str) -> Tasked:
    """A controller that walks ahead, whatever the goal is."""
    plain = policy_named("heading")
    header = msgspec.structs.replace(plain.header, task=task, grid=GRIDS[task])
    walk = [str(action) for action in plain.actions].index("walk")
    best = np.full((len(plain.states), len(points(GRIDS[task]))), walk, np.uint8)
    return Tasked(scene, policies=[Policy(header, plain.states, best)])


def walked(scene, places, want):
    """The history of a bird whose root was at these places, facing along x."""
    rows = readings(scene, frames=len(places))
    for i, (x, y) in enumerate(places):
        put(scene, rows, i, "body.pos", (x, y, rows[i, scene.channels["body.pos"]][2]))
        put(scene, rows, i, "head.forward", (1.0, 0.0, 0.0))
    return seen(scene, rows, want=want)


# Lamp posts -----------------------------------------------------------------------------------------


def test_way_points_are_beside_the_posts_in_turn():
    way = LampPosts(posts=3, spacing=2.0).way()
    assert [go.target[:2] for go in way] == [
        (FIRST, BESIDE), (FIRST + 2.0, -BESIDE), (FIRST + 4.0, BESIDE), (FIRST + 6.0, 0.0)
    ]  # fmt: skip
    assert {go.heading for go in way} == {0.0}


def test_the_next_way_point_is_wanted_when_one_is_passed(bird):
    game = LampPosts(posts=2)
    scene, way = game.scene(bird), game.way()
    places = [(0.0, 0.0)] * 40 + [way[0].target[:2]]
    history = walked(scene, places[:40], way[0])
    assert game.passes(history) == [] and game.answer(history) == ()
    history = walked(scene, places, way[0])
    assert game.passes(history) == [40] and game.answer(history) == [way[1]]
    history = walked(scene, [*places, *(go.target[:2] for go in way[1:])], way[2])
    assert game.passes(history) == [40, 41, 42] and game.answer(history) == ()
    assert game.verdict(history) == "around 2 posts in 1.4 s" and game.success(history)
    assert game.metrics(history) == {
        "way_points": 3.0, "course_seconds": pytest.approx(1.4), "hardest_touch": 0.0
    }  # fmt: skip


def test_a_post_that_is_hit_hard_is_told(bird):
    game = LampPosts(posts=1)
    scene, way = game.scene(bird), game.way()
    rows = readings(scene, frames=42)
    put(scene, rows, slice(None), "head.forward", (1.0, 0.0, 0.0))
    for i, go in enumerate(way):
        put(scene, rows, 40 + i, "body.pos", (*go.target[:2], 0.8))
    for share, well in ((0.4, True), (0.6, False)):
        put(scene, rows, 20, "post-0.force", (0.0, share * weight(scene), 0.0))
        history = seen(scene, rows, want=way[0])
        assert game.success(history) is well
        assert ("a post was hit" in game.verdict(history)) is not well
    assert weight(scene) == pytest.approx(64.1 * 9.81, rel=0.01)


def test_who_walks_into_a_post_is_felt(bird):
    game = LampPosts(posts=1, until=8.0)
    scene = game.scene(bird)
    result = run_trial(Trial(game, 1, "task", scene=scene, made=straight(scene, "facing")))
    assert result.metrics["hardest_touch"] > 20.0 and not result.success


@pytest.mark.parametrize("options", [{"posts": 0}, {"spacing": 0.1}, {"until": math.nan}])
def test_courses_that_nobody_can_walk_are_refused(options):
    with pytest.raises(UserError):
        LampPosts(**options)


# Bird mania -----------------------------------------------------------------------------------------


def test_balls_roll_across_over_and_over():
    rolls = rolled("ball-0", 3.0, 1.1, 1.0, 0.25, 10.0)
    across = 2 * WIDE / 1.1
    assert [when for when, _ in rolls] == pytest.approx([0.0, 0.75 * across, 1.75 * across])
    assert rolls[0][1] == Throw((3.0, -0.5 * WIDE, RADIUS), (0.0, pytest.approx(ROLLS * 1.1), 0.0), "ball-0")
    assert {throw.position for _, throw in rolls[1:]} == {(3.0, -WIDE, RADIUS)}
    assert rolled("ball-0", 3.0, 1.1, -1.0, 0.25, 10.0)[1][1].position == (3.0, WIDE, RADIUS)


def test_a_ball_rolls_at_its_speed(bird):
    game = BirdMania(lanes=1)
    scene = game.scene(bird)
    trial = Trial(game, 4, "task", scene=scene, made=straight(scene, "paced"))
    throw = trial.setup.events[0][1]
    for _ in range(30):
        trial.step()
    velocity = trial.history.of("ball-0.vel")[-1]
    assert velocity[1] == pytest.approx(throw.velocity[1] / ROLLS, rel=0.03) and abs(velocity[0]) < 0.02


@pytest.mark.parametrize(
    ("frames", "count"), [([], 0), ([3], 1), ([0, 1, 2, 5], 1), ([0, 40], 2), ([0, 10, 20, 30], 1)]
)
def test_touches_close_together_are_one(frames, count):
    touched = np.zeros(60, bool)
    touched[frames] = True
    assert touches(touched, 1 / 30) == count


def test_the_autopilot_goes_ahead_waits_and_stays_inside():
    here, nothing = np.array([0.0, 0.0, 0.7, 0.0]), np.empty((0, 4))
    assert steered(here, nothing) == Go(heading=0.0, speed=0.75)
    assert steered(np.array([0.0, 1.2, 0.7, 0.0]), nothing).heading < 0  # back to the middle
    wall = np.array([[1.6, y, 0.0, 0.0] for y in np.arange(-4.0, 4.1, 0.5)])
    assert steered(here, wall) == Go(heading=0.0, speed=0.0)
    beside = steered(here, np.array([[1.2, 0.3, 0.0, 0.0]]))
    assert beside.heading < 0 and beside.speed > 0  # around it, on the wider side
    edge = np.array([0.0, INSIDE, 0.5, 0.0])
    blocked = np.array([[1.0, INSIDE - CLEAR, 0.0, 0.0]])
    assert steered(edge, blocked).heading <= 0


def test_lanes_are_passed_inside_the_field_one_after_the_other(bird):
    game = BirdMania(lanes=2)
    scene, want = game.scene(bird), game.wants()
    inside = [(0.0, 0.0), (FIRST + 0.1, 0.5), (FIRST + LANE + 0.1, 0.0), (game.end + 0.1, 0.0)]
    history = walked(scene, [(0.0, 0.0)] * 40 + inside, want)
    assert game.passes(history) == [41, 42, 43] and game.success(history)
    assert game.verdict(history) == "through in 1.4 s: 2 of 2 lanes, hit 0 times"
    assert game.metrics(history)["made_good"] == game.end
    around_it = [(0.0, 0.0), (FIRST + 0.1, WIDE + 0.1), (game.end + 0.1, 0.0)]
    history = walked(scene, [(0.0, 0.0)] * 40 + around_it, want)
    assert game.passes(history) == [] and game.verdict(history) == "" and not game.success(history)


def test_a_game_is_the_same_for_the_same_seed_and_people_take_over(bird):
    def played(by_hand: bool) -> Trial:
        game = BirdMania(lanes=2)
        scene = game.scene(bird)
        trial = Trial(game, 5, "task", scene=scene, made=straight(scene, "paced"))
        if by_hand:
            trial.send(Go(heading=1.0, speed=0.5))
        for _ in range(75):
            trial.step()
        return trial

    one, again, steered_by_hand = played(False), played(False), played(True)
    assert np.array_equal(one.session.world.state, again.session.world.state)
    assert {go.heading for _, go in steered_by_hand.history.wants[1:]} == {1.0}
    assert any(isinstance(command, Throw) for _, command in steered_by_hand.history.commands)
    assert np.isfinite(list(one.result().metrics.values())).all()


def test_a_set_without_its_props_is_judged_still(bird):
    game = BirdMania(lanes=2)
    scene = game.scene(bird)
    trial = Trial(game, 5, "task", scene=scene, made=straight(scene, "paced"))
    trial.step()
    trial.remove("ball-1")
    trial._events.clear()  # which throw it
    for _ in range(20):
        trial.step()
    assert trial.verdict == "" and trial.result().metrics["hits"] == 0.0


# Verdicts -------------------------------------------------------------------------------------------


class Told:
    """A trial, and an audience."""

    def __init__(self) -> None:
        self.verdict, self.heard, self.scenario = "", list[str](), BirdMania()

    def say(self, text: str) -> None:
        self.heard.append(text)


def test_a_verdict_is_told_once_and_again_after_a_return():
    told = Told()
    verdicts = Verdicts(told)
    for told.verdict in ("", "fell", "fell", "", "", "through", "through in 3 s"):
        verdicts.hear(told)
    assert told.heard == ["bird-mania: fell", "bird-mania: through"]


def test_a_trial_ends_with_its_verdict(bird):
    game = BirdMania(lanes=1, speed=0.1)
    scene = game.scene(bird)
    trial = Trial(game, 1, "task", scene=scene, made=straight(scene, "paced"))
    result = run_trial(trial)
    assert result.finished and result.seconds < 20.0 and trial.verdict
    assert result.success == trial.verdict.startswith("through")
