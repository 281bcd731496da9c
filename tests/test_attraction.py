"""Attraction trees of a character: references, rollouts, questions, and the controller that follows them."""

import math

import numpy as np
import pytest

from tumble.attraction.asking import ask
from tumble.attraction.attracted import Attracted, acts_of
from tumble.attraction.first import first_points
from tumble.attraction.growing import Growth
from tumble.attraction.inquiry import AttractionSettings, Inquiry
from tumble.attraction.progress import Phase
from tumble.attraction.questions import Question
from tumble.attraction.references import EVERY, kinematic, points_of, references
from tumble.attraction.shipped import tree_named
from tumble.attraction.store import TreeFile
from tumble.attraction.systems import system_named
from tumble.attraction.tree import ROOT, Tree
from tumble.characters import character
from tumble.errors import UserError
from tumble.goals.wants import Balance, Do, Go
from tumble.live.commands import Push, Reset
from tumble.live.session import Session
from tumble.world.props import Ball
from tumble.world.scene import Scene

SKILL = "getup-1"


@pytest.fixture(scope="module")
def system():
    return system_named(SKILL)


@pytest.fixture(scope="module")
def tree(system):
    """The first controller alone, and an edge that holds still before it."""
    tree, points = Tree(system), first_points(SKILL)
    track = references(points)
    rolled = system.roll(system.target[None], [track], trace=len(track))
    tree.add(points, rolled.trace[0, : len(track)], ROOT, 0.0)
    still = np.tile(system.angles(system.target[None]), (3, 1))
    held = system.roll(system.target[None], [references(still)], trace=6, hold=False)
    tree.add(still, held.trace[0, :6], parent=1, level=0.5)
    return tree


@pytest.fixture(scope="module")
def file(tmp_path_factory, tree):
    """The same tree as a file."""
    path = tmp_path_factory.mktemp("trees") / "mine.tree"
    with TreeFile.create(path, SKILL, Growth(levels=(0.5,))) as made:
        for edge in tree.edges:
            frames = EVERY * (len(edge.points) - 1)
            made.add(edge.points, tree.states[edge.first : edge.first + frames], edge.parent, edge.level)
    return path


# References -----------------------------------------------------------------------------------------


def test_a_spline_of_equal_points_stays_there():
    point = np.array([0.3, -1.2])
    assert references(np.tile(point, (5, 1))) == pytest.approx(np.tile(point, (12, 2)))


def test_references_are_continuous_from_frame_to_frame():
    rng = np.random.default_rng(0)
    track = references(rng.normal(size=(6, 4)))
    assert track.shape == (15, 8)
    assert np.array_equal(track[:-1, 4:], track[1:, :4])


def test_a_spline_is_linear_in_its_points():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 4, 3))
    assert references(2.0 * a - b) == pytest.approx(2.0 * references(a) - references(b))


def test_a_straight_line_of_points_is_one_in_the_middle():
    """Cubic B-splines reproduce lines; only next to their ends, where a point is there twice, they bend."""
    track = references(kinematic(np.zeros(1), np.ones(1), 11))
    inner = track[2 * EVERY : -2 * EVERY, 0]
    assert np.diff(inner) == pytest.approx(np.full(len(inner) - 1, 1 / (10 * EVERY)))


@pytest.mark.parametrize(("seconds", "count"), [(0.2, 3), (0.1, 2), (0.01, 2), (1.0, 11)])
def test_how_many_points_span_a_time(seconds, count):
    assert points_of(seconds) == count


# Trees ----------------------------------------------------------------------------------------------


def test_a_branch_is_its_edge_and_then_its_parents(tree):
    first, second = tree.edges
    assert np.array_equal(tree.track(second.first), np.concatenate([second.track, first.track]))
    assert np.array_equal(tree.track(second.first + 4), np.concatenate([second.track[4:], first.track]))
    assert tree.depth(second.first) == 2 and tree.depth(ROOT) == 0
    assert tree.duration(second.first) == 6 + len(first.track)
    assert tree.heads.tolist() == [first.first, second.first]
    assert tree.beginnings(second.first + 4) == [0, 2, 2 + len(first.track)] and tree.beginnings(ROOT) == [0]


def test_following_a_branch_goes_from_node_to_node(tree):
    first, second = tree.edges
    assert tree.along(second.first, 0) == second.first and tree.along(second.first + 1, 4) == second.first + 5
    assert tree.along(second.first, 6) == second.parent and tree.along(second.first, 9) == second.parent + 3
    assert tree.along(first.first, len(first.track)) == ROOT == tree.along(ROOT, 5)


def test_the_nearest_node_to_a_node_is_itself(tree):
    for node in (0, 5, len(tree) - 1):
        _, distances = tree.nearest(tree.states[node], 3)
        assert distances[0] == pytest.approx(0.0, abs=1e-3) and distances[0] <= distances[1] <= distances[2]


def test_plain_data_make_the_same_tree(system, tree):
    again = Tree.from_plain(system, tree.plain(len(tree.edges)))
    assert np.array_equal(again.states, tree.states) and np.array_equal(again.edge_of, tree.edge_of)
    assert np.array_equal(again.track(again.heads[1]), tree.track(tree.heads[1]))
    assert len(Tree.from_plain(system, tree.plain(1)).edges) == 1


# What is simulated ----------------------------------------------------------------------------------


def test_distance_is_one_of_angles_and_speeds(system):
    """Eq. 3: 0 for a state itself, symmetric, and a hinge that turns by x is as far as its link weighs times x."""
    a, b = system.sample(3.0, 2, np.random.default_rng(2))
    assert system.distances(a[None], a)[0] == 0.0
    assert system.distances(a[None], b)[0] == pytest.approx(system.distances(b[None], a)[0])
    bent, model = a.copy(), system.drive.model
    joint = model.joint("left_knee")
    bent[joint.qposadr[0]] += 0.25
    weight = model.body("left_shin").mass[0]
    assert system.distances(bent[None], a)[0] == pytest.approx(0.25 * weight)


def test_domains_are_nested_and_at_rest(system):
    """The larger alpha, the farther from the target; what was dropped lies."""
    rng = np.random.default_rng(3)
    far = [np.median(system.distances(system.sample(alpha, 12, rng), system.target)) for alpha in (0.0, 1.0, 4.0, 10.0)]
    assert far == sorted(far) and far[0] == pytest.approx(0.0, abs=0.2)
    lying = system.sample(10.0, 12, rng)
    assert lying[:, 2].max() < 0.6 and np.median(np.abs(lying[:, -25:])) < 0.5


def test_a_first_controller_leads_to_the_goal_and_no_controller_does_not(system, tree):
    track = tree.track(tree.heads[0])
    rolled = system.roll(np.tile(system.target, (2, 1)), [track, track[:3]], trace=len(track))
    assert rolled.reached.tolist() == [True, False]
    assert rolled.misses[0] < rolled.misses[1]
    assert np.array_equal(rolled.trace[0, 0], system.target)
    assert rolled.ends[0] == pytest.approx(rolled.trace[0, -1])


def test_rows_do_not_know_of_each_other(system, tree):
    states, track = system.sample(1.0, 5, np.random.default_rng(4)), tree.track(tree.heads[0])
    together = system.roll(states, [track] * 5)
    alone = [system.roll(state[None], [track]) for state in states]
    assert together.reached.tolist() == [bool(one.reached[0]) for one in alone]
    assert np.array_equal(together.ends, [one.ends[0] for one in alone])


def test_facing_decides(system, tree):
    """The same rise turned by a right angle: it faces there, and not ahead."""
    turned, track = system.turned(system.target, math.pi / 2), tree.track(tree.heads[0])
    assert system.heading(turned) == pytest.approx(math.pi / 2)
    for heading, reached in ((0.0, False), (math.pi / 2, True), (None, True)):
        rolling = system.rolling(turned[None], [track], trace=0, hold=True, heading=heading)
        while rolling.alive.size:
            rolling.advance()
        assert rolling.rolled.reached[0] == reached


# Asking ---------------------------------------------------------------------------------------------


def test_who_is_inside_is_told_by_which_node(tree, system):
    answer = ask(tree, system.target, 5)
    assert answer.node in tree.heads
    assert system.roll(system.target[None], [tree.track(answer.node)]).reached[0]
    assert ask(tree, system.turned(system.target, math.pi), 5).node is None  # it would face the other way


def test_the_best_answer_is_the_quickest(tree, system):
    assert ask(tree, system.target, 5, best=True).node == tree.heads[0]


def test_a_question_over_several_frames_comes_to_the_same(tree, system):
    row = system.bodies.rows(system.target[None])[0]
    places = [(tree, int(node)) for node in tree.heads]
    question, frames = Question(system, row, places, heading=0.0), 0
    while not question.done:
        question.work(200)
        frames += 1
    assert frames > 5 and question.found is not None
    assert question.found[1] == tree.heads[0]
    rolled = system.roll(system.target[None], [question.track], trace=len(question.track))
    assert np.array_equal(question.expected, rolled.trace[0])


def test_a_question_to_nobody_is_answered(system):
    assert Question(system, system.bodies.rows(system.target[None])[0], [], heading=None).done


# The controller -------------------------------------------------------------------------------------


def begun(file, want=Balance(), state=None, threads=1):
    scene = Scene(character("humanoid25"))
    controller = Attracted(scene, AttractionSettings(tree=str(file)), threads=threads)
    start = scene.state("rest")
    if state is not None:
        start[1 : 1 + len(state)] = state
    return Session(scene, controller, start, want)


def run(session, seconds):
    said = []
    for _ in range(round(seconds * 30)):
        session.step()
        said.append(session.controller.doing.split(":")[0])
    return list(dict.fromkeys(said))


def test_it_gets_up_and_stands(file, system):
    session = begun(file, Balance(facing=(1.0, 0.0)), system.target)
    assert run(session, 8.0) == ["asking", SKILL, "standing"]
    world = session.world
    assert system.balanced(world, np.arange(1), 0.0)[0]


def test_who_is_pushed_down_asks(file):
    session = begun(file)
    assert run(session, 1.0) == ["standing"]
    session.send(Push("torso", (600.0, 0.0, 0.0), seconds=0.2))
    assert "asking" in run(session, 2.0)


def test_the_same_at_any_number_of_threads(file, system):
    ends = []
    for threads in (1, 2):
        session = begun(file, Balance(), system.target, threads)
        run(session, 1.5)
        ends.append(session.world.state[0].copy())
    assert np.array_equal(*ends)


def test_what_it_does_is_told_in_figures(file, system):
    session = begun(file, Balance(), system.target)
    controller = session.controller
    assert controller.progress.phase is Phase.STANDS and math.isnan(controller.progress.distance)
    session.step()
    asks = controller.progress
    assert (asks.phase, asks.tree, asks.share) == (Phase.ASKS, "", 0.0)
    assert asks.asked == 2 and 0 <= asks.distance == controller.inquiry.distance
    run(session, 0.5)
    follows, branch = controller.progress, controller.branch
    assert (follows.phase, follows.tree, follows.node) == (Phase.FOLLOWS, SKILL, branch.node)
    assert follows.depth == branch.tree.depth(branch.node) and follows.asked == 2 and not follows.disturbed
    assert follows.whole == pytest.approx(len(branch.track) / 30) and follows.left < follows.whole
    assert follows.share == pytest.approx(controller.frame / len(branch.track))
    run(session, follows.left + 0.1)
    assert controller.progress.phase is Phase.STANDS and controller.report().ghosts is None


def test_ghosts_are_the_nearest_nodes_and_then_where_edges_begin(file, system):
    turned = system.turned(system.target, 1.0)
    turned[:2] = 3.0, -2.0
    session = begun(file, Balance(), turned)
    nq = session.scene.model.nq
    session.step()
    asked = session.controller.report().ghosts
    assert asked.shape == (2, nq) and asked[:, :2] == pytest.approx(np.array([[3.0, -2.0]] * 2))
    assert np.abs(asked - turned[:nq]).max() < 0.05  # both nodes are about the target, here turned as it is
    run(session, 0.5)
    branch, ghosts = session.controller.branch, session.controller.report().ghosts
    assert set(branch.tree.beginnings(branch.node)) <= set(branch.stops) and max(np.diff(branch.stops)) <= 21
    ahead = [frame for frame in branch.stops if frame >= session.controller.frame]
    assert ahead[-1] == len(branch.track) and np.array_equal(ghosts, branch.expected[ahead, :nq])
    session.step()
    assert session.controller.report().ghosts is ghosts  # until there are others


def test_another_set_leaves_the_branch(file, system):
    session = begun(file, Balance(), system.target)
    run(session, 0.5)
    branch, frame = session.controller.branch, session.controller.frame
    session.enter(Scene(character("humanoid25"), [Ball()]))
    session.step()
    assert session.controller.branch is branch and session.controller.frame == frame + 1
    assert not session.controller.progress.disturbed


def test_who_is_put_on_its_feet_leaves_the_branch_and_stands(file, system):
    session = begun(file, Balance(), system.target)
    run(session, 0.5)
    session.send(Reset())
    assert run(session, 2.0) == ["standing"]
    assert system.balanced(session.world, np.arange(1), None)[0]


def test_acts_that_are_wanted_are_done_once(file, tree, monkeypatch):
    session = begun(file)
    monkeypatch.setattr(session.controller, "_tree", lambda name: tree)
    want = Do("crouch; rise")
    session.send(want)
    session.step()
    session.controller._acts = []  # as if they were done
    session.enter(Scene(character("humanoid25"), [Ball()]))
    assert session.controller._acts == []
    session.send(Do("crouch; rise"))
    session.step()
    assert session.controller._acts == ["crouch", "rise"]


def test_acts_of_a_script():
    assert acts_of(Do("crouch; rise\n jump;")) == ["crouch", "rise", "jump"]
    assert acts_of(None) == []


BAD = [
    (Go(speed=1.0), "trees do not take the want 'go'"),
    (Do("fly"), "no act 'fly' of a tree; there are: crouch, jump, rise, twist"),
]


@pytest.mark.parametrize(("want", "message"), BAD, ids=[message[:20] for _, message in BAD])
def test_what_it_refuses(file, want, message):
    session = begun(file)
    with pytest.raises(UserError, match=message):
        session.send(want)


def test_another_body_is_refused(file):
    with pytest.raises(UserError, match="trees that ship are of the body 'humanoid25', here it is 'humanoid'"):
        Attracted(Scene(character("humanoid")), AttractionSettings(tree=str(file)))


def test_who_is_about_to_crouch_stands_until_it_is_answered():
    system, others = system_named("stand-crouch"), system_named("jump")
    row = system.bodies.rows(system.pushed(np.array([0.0]), np.array([50.0])))[0]
    nothing = np.empty((0, system.drive.size))
    np.testing.assert_array_equal(system.after(row, nothing, 10), others.after(row, nothing, 10))


def test_it_crouches_and_rises_after_a_leap(file):
    session = begun(file, Do("jump; crouch; rise"), system_named("jump").target)
    said = run(session, 8.0)
    assert [word for word in said if word in ("jump", "stand-crouch", "crouch-stand")] == [
        "jump", "stand-crouch", "crouch-stand",
    ]  # fmt: skip
    assert session.controller.progress.phase is Phase.STANDS


def test_who_is_pushed_on_its_way_to_a_stance_expects_to_stay_there(file, monkeypatch):
    session = begun(file, Do("crouch"), system_named("stand-crouch").target)
    controller, asked = session.controller, []
    while session.time < 5.0 and (controller.branch is None or controller.frame < len(controller.branch.track) - 3):
        session.step()
    assert controller.branch is not None
    end, rest = controller.branch.tree.system.end, controller.branch.track[controller.frame :]
    monkeypatch.setattr(controller.inquiry, "ask", lambda *arguments: asked.append(arguments[5](10)))
    session.send(Push("torso", (4000.0, 0.0, 0.0), seconds=1 / 30))
    while not asked and session.time < 10.0:
        session.step()
    assert asked[0].shape == (10, controller.drive.size)
    np.testing.assert_array_equal(asked[0][-5:], np.tile(end, (5, 2)))
    assert len(rest) < 5


def test_what_failed_is_asked_again_from_elsewhere():
    tree = tree_named("stand-crouch")
    system = tree.system
    lying = system_named("getup-1")
    inquiry = Inquiry(AttractionSettings(search=0.0), seed=0)

    def exhausted(state):
        row = system.bodies.rows(state[None])[0]
        inquiry.ask(system, row, [tree], None, True, lambda frames: np.empty((0, system.drive.size)))
        found = inquiry.exhausted
        for _ in range(200):
            inquiry.work()
        assert inquiry.answer(state) is None
        return found

    here, there = lying.sample(1.0, 2, np.random.default_rng(0))
    assert [exhausted(state) for state in (here, here, there, there)] == [False, True, False, True]


def test_who_strays_from_its_branch_is_left_and_who_comes_to_stand_is_not():
    tree = tree_named(SKILL)
    system, states = tree.system, tree.system.sample(8.0, 3, np.random.default_rng(5))
    for state in states:
        nodes, _ = tree.nearest(state, 60, tree.heads)
        starts, tracks = np.tile(state, (len(nodes), 1)), [tree.track(node) for node in nodes]
        whole, left = system.roll(starts, tracks), system.roll(starts, tracks, ways=tree.ways(nodes))
        assert np.array_equal(whole.reached, left.reached)
        assert left.steps < 0.7 * whole.steps
        assert np.isfinite(left.misses).all()
