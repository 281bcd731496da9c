"""Dodging: spheres that hit who stands still, thrown from all sides at the right time; blows; what is counted."""

import re
from functools import cache

import numpy as np
import pytest
from conftest import Still
from histories import put, ran, readings, seen

from tumble.characters import character
from tumble.errors import UserError
from tumble.goals.wants import Balance
from tumble.live.commands import Push, Throw
from tumble.live.recording import Recorder, Recording
from tumble.scenarios.dodging import Dodge, DodgeHeavy, Impulse
from tumble.world.props import Ball
from tumble.world.scene import Scene
from tumble.world.sims import Sims

HUMANOIDS = ["humanoid", "humanoid-light", "humanoid-heavy"]


@cache
def world(kind: type[Dodge] = Dodge, body: str = "humanoid-light") -> Scene:
    return kind().scene(character(body))


class Held(Still):
    """Steers every joint back to the ready stance, and does nothing else."""

    def control(self, sims: Sims) -> np.ndarray:
        control, drive = super().control(sims), self.drive
        speeds = (np.array(sims.scene.character.pose("ready")) - sims.view("qpos")[:, drive.qpos]) / sims.scene.dt
        control[:, : drive.joints] = np.clip(speeds, drive.low[: drive.joints], drive.high[: drive.joints])
        return control


def throws(scenario: Dodge, seed: int) -> list[tuple[float, Throw]]:
    return list(scenario.setup(world(), np.random.default_rng(seed)).events)


# What a seed decides --------------------------------------------------------------------------------


@pytest.mark.parametrize("body", HUMANOIDS)
def test_a_sphere_is_three_times_as_heavy_and_floats(body):
    scene = world(body=body)
    ball, model = scene.prop("ball", Ball), scene.model
    assert ball.mass == pytest.approx(3 * model.body_subtreemass[scene.body("pelvis")], rel=1e-9)
    assert ball.mass / (4 / 3 * np.pi * ball.radius**3) == pytest.approx(1000)


def test_the_sphere_of_the_light_one():
    ball = world().prop("ball", Ball)
    assert (ball.mass, ball.radius) == (pytest.approx(150), pytest.approx(0.33, abs=0.001))


def test_spheres_come_from_all_sides_at_any_time_and_height():
    scene = world()
    data = scene.show(scene.state("ready"))
    chest = data.body("torso").xipos[2] - data.body("pelvis").xpos[2]
    angles, times, heights = [], [], []
    for seed in range(200):
        ((when, throw),) = throws(Dodge(speed=6.0, distance=4.0, after=3.0), seed)
        place, velocity = np.array(throw.position), np.array(throw.velocity)
        assert throw.aimed
        assert np.hypot(*place[:2]) == pytest.approx(4) and np.hypot(*velocity[:2]) == pytest.approx(6)
        assert place[:2] / 4 == pytest.approx(-velocity[:2] / 6)
        angles.append(np.arctan2(place[1], place[0]))
        times.append(when)
        heights.append(place[2])
    # the mean of 200 random directions has a length of 1/sqrt(200) = 0.07 or so; of 0.2, once in 3000
    assert abs(np.exp(1j * np.array(angles)).mean()) < 0.2
    assert 0.5 <= min(times) < 0.55 and 0.95 < max(times) <= 1.0
    assert 0 <= min(heights) < 0.1 * chest and 0.9 * chest < max(heights) <= chest


@pytest.mark.parametrize(("after", "seconds"), [(5.0, 15.0), (1.01, 3.03)])
def test_the_next_is_thrown_when_the_last_is_judged(after, seconds):
    scenario = Dodge(throws=3, after=after)
    setup = scenario.setup(world(), np.random.default_rng(0))
    times = np.array([when for when, _ in setup.events])
    assert np.diff(times) == pytest.approx([after, after], abs=world().dt / 2)
    assert times / world().dt == pytest.approx(np.round(times / world().dt))
    assert setup.seconds == pytest.approx(times[-1] + after)
    assert setup.seconds - times[0] == pytest.approx(seconds, abs=world().dt)
    assert len({throw.position for _, throw in setup.events}) == 3


def test_what_is_wanted():
    assert Dodge().wants() == Balance(pose="ready", roll=False)
    assert DodgeHeavy().wants() == Balance(pose="ready", roll=True)
    assert Impulse().wants() == Balance(pose="ready")
    assert (Dodge().after, DodgeHeavy().after) == (5, 8)
    scene = world(DodgeHeavy, "humanoid-heavy")
    setup = DodgeHeavy().setup(scene, np.random.default_rng(0))
    assert setup.seconds == pytest.approx(setup.events[0][0] + 8)
    for scenario in (Dodge(), Impulse()):
        assert np.array_equal(scenario.setup(world(), np.random.default_rng(0)).state, world().state("ready"))


def test_blows_hit_all_bones_sideways_or_upwards():
    scene, bones, forces = Scene(character("humanoid-light")), [], []
    for seed in range(300):
        setup = Impulse(impulse=30.0).setup(scene, np.random.default_rng(seed))
        ((when, blow),) = setup.events
        assert isinstance(blow, Push)
        assert 1 <= when <= 2 and setup.seconds == pytest.approx(when + 5.1)
        assert np.linalg.norm(blow.force) * blow.seconds == pytest.approx(30)
        assert blow.force[2] >= 0
        bones.append(blow.body)
        forces.append(np.array(blow.force) / 300)
    assert set(bones) == set(scene.bones)  # one of 15 is left out of 300 once in 60 million
    forces = np.array(forces)
    assert np.hypot(*forces[:, :2].mean(0)) < 0.2  # as the spheres
    assert forces[:, 2].mean() == pytest.approx(0.5, abs=4 * np.sqrt(1 / 12 / 300))  # uniform on the half sphere


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Dodge(throws=0), "throws must be a number 1 or more and at most 10000, got 0"),
        (lambda: Dodge(speed=0), "speed must be a number 1 or more and at most 50, got 0"),
        (lambda: Dodge(speed=float("nan")), "speed must be a number 1 or more and at most 50, got nan"),
        (lambda: Dodge(distance=1), "distance must be a number 2 or more and at most 50, got 1"),
        (lambda: Dodge(after=0.5), "after must be a number 1 or more and at most 60, got 0.5"),
        (lambda: Dodge(after=1.5, distance=10), "after must be a number 2 or more and at most 60, got 1.5"),
        (lambda: DodgeHeavy(after=float("inf")), "after must be a number 1 or more and at most 60, got inf"),
        (lambda: Impulse(impulse=-1), "impulse must be a number 0 or more and at most 10000, got -1"),
    ],
)
def test_bad_options(call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call()


# How it flies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("speed", "distance", "frames"), [(5.0, 5.0, 30), (10.0, 5.0, 15), (4.0, 6.0, 45)])
@pytest.mark.parametrize("place", [(0.0, 0.0), (3.0, -2.0)])
def test_a_sphere_is_where_the_trunk_was_after_its_flight(speed, distance, frames, place):
    """The character is taken out of its way: nothing but gravity acts on the sphere."""
    scene = world()
    for seed in range(3):
        ((_, throw),) = throws(Dodge(speed=speed, distance=distance), seed)
        sims = Sims(scene, 1, 1)
        sims.load(scene.place(scene.state("ready"), place))
        root = sims.view("qpos")[0, :3].copy()
        throw.apply(sims)
        sims.view("qpos")[0, 1] += 50
        low = np.inf
        for _ in range(frames):
            sims.act(Held(world()).control(sims))
            low = min(low, sims.view("ball.pos")[0, 2])
        assert sims.view("ball.pos")[0] == pytest.approx(np.add(root, (0, 0, throw.position[2])), abs=1e-9)
        assert low == pytest.approx(sims.view("ball.pos")[0, 2])  # from above
        body = scene.show(scene.state("ready"))
        assert body.body("pelvis").xpos[2] <= low + 1e-9 and low <= body.body("torso").xipos[2] + 1e-9


def test_at_somebody_who_lies_it_is_not_thrown_out_of_the_ground():
    scene = world()
    sims = Sims(scene, 1, 1)
    sims.load(scene.state("t-pose", "supine"))
    Throw((5.0, 0.0, 0.1), (-5.0, 0.0, 4.0), aimed=True).apply(sims)
    root, radius = sims.view("qpos")[0, :3], scene.prop("ball", Ball).radius
    assert root[2] + 0.1 < radius
    assert scene.show(sims.state[0]).joint("ball").qpos[:3] == pytest.approx([root[0] + 5, root[1], radius])


def test_who_stands_still_is_hit_and_falls():
    """As the paper says of its spheres. Of 40 seeds all were hit and none balanced, light and heavy; here 10."""
    results = [ran(Dodge(), world(), Held(world()), seed) for seed in range(10)]
    assert sum(result.metrics["hits"] for result in results) >= 9
    assert sum(result.metrics["falls"] >= 1 for result in results) >= 9
    assert sum(result.success for result in results) <= 1
    assert not any(result.broken_rows for result in results)


def test_who_is_not_thrown_at_stands():
    """The stance holds by itself; it is the sphere that fells it."""
    scene, scenario = world(), Dodge()
    result = ran(scenario, scene, Held(world()), 0, seconds=0.5)
    assert (result.metrics["throws"], result.metrics["falls"], result.success) == (0, 0, False)


def test_a_blow_fells_who_only_stands():
    """Of 40 seeds 38 fell; here 10, of which 7 do so but for one chance in 1000."""
    scene = Impulse().scene(character("humanoid-light"))
    results = [ran(Impulse(), scene, Held(scene), seed) for seed in range(10)]
    assert sum(result.metrics["falls"] >= 1 for result in results) >= 7
    assert not any(result.broken_rows for result in results)


def test_every_throw_follows_the_character_and_is_replayed(tmp_path, known):
    """The first sphere carries it off; the second comes from as far away of where it is then."""
    scenario, scene, held = Dodge(throws=2, after=2.0), world(), Held(world())
    (_, first), (when, second) = throws(scenario, 1)
    recorders = []
    known("held", Held)

    def watch(session):
        recorders.append(Recorder(session, "dodge", "held", 0))

    result = ran(scenario, scene, held, 1, watch=watch)
    assert result.metrics["throws"] == 2
    told = [timed.frame for timed in recorders[0].recording.parts[0].about.commands]
    moved = []
    for frame, throw in zip(told, (first, second), strict=True):
        data = scene.show(held.states[frame])  # as the controller saw it
        root, ball = data.body("pelvis").xpos, data.joint("ball").qpos[:3]
        assert ball[:2] - root[:2] == pytest.approx(throw.position[:2], abs=1e-9)
        assert data.joint("ball").qvel[:3] == pytest.approx(throw.velocity)
        moved.append(np.hypot(*root[:2]))
    assert moved[0] < 0.01 and moved[1] > 0.2
    assert told[1] == round(when / scene.dt)
    recorders[0].recording.save(tmp_path / "a.npz")
    loaded = Recording.load(tmp_path / "a.npz")
    assert [timed.command for timed in loaded.parts[0].about.commands] == [first, second]
    assert loaded.first_difference() is None


# What is counted ------------------------------------------------------------------------------------

SOME = Throw((5.0, 0.0, 0.0), (-5.0, 0.0, 5.0), aimed=True)


@pytest.mark.parametrize(
    ("down", "touched", "balanced", "hits"),
    [
        ([], [], 3, 0),
        ([(59, "left_hand.ground")], [], 2, 0),  # just before the first verdict
        ([(60, "left_hand.ground")], [], 3, 0),  # just after
        ([(44, "left_hand.ground")], [], 3, 0),  # more than half a second before
        ([(45, "left_hand.ground"), (110, "left_hand.ground")], [], 1, 0),
        ([(119, "left_hand.ground")], [29], 2, 0),  # touched before it was thrown
        ([], [30], 3, 1),
        ([], [59, 60], 3, 2),  # each belongs to one throw
        ([], [31, 32, 33, 119], 3, 2),
    ],
)
def test_throws_balanced_and_hits_are_counted(down, touched, balanced, hits):
    """Thrown after 1, 2 and 3 s, judged 1 s later each; frame i ends at (i + 1) / 30 s."""
    scene, scenario = world(), Dodge(throws=3, after=1.0)
    rows = readings(scene, scene.state("ready"), frames=120)
    for frame, channel in down:
        put(scene, rows, frame, channel, 1)
    for frame in touched:
        put(scene, rows, frame, "ball.contact", (1, 0, 0, 0))
    history = seen(scene, rows, commands={30: SOME, 60: SOME, 90: SOME})
    assert scenario.metrics(history) == {"throws": 3, "balanced": balanced, "hits": hits}
    assert scenario.success(history) is (balanced == 3)


def test_a_throw_that_was_not_judged_is_not_balanced():
    scene = world()
    rows = readings(scene, scene.state("ready"), frames=119)
    history = seen(scene, rows, commands={30: SOME, 60: SOME, 90: SOME})
    assert Dodge(after=1.0).metrics(history) == {"throws": 3, "balanced": 2, "hits": 0}
    assert Dodge(throws=3, after=1.0).success(history) is False
    assert Dodge(throws=4, after=1.0).success(seen(scene, rows, commands={30: SOME, 60: SOME, 80: SOME})) is False


def test_balanced_at_a_moment():
    scene = world()
    rows = readings(scene, frames=60)
    put(scene, rows, 30, "left_hand.ground", 1)
    history = seen(scene, rows)
    frames = [frame for frame in range(-5, 70) if history.balanced(frame * scene.dt)]
    assert frames == [*range(15, 31), *range(46, 61)]  # half a second without that frame
    assert history.balanced() is history.balanced(2.0) is True


def test_before_a_world_broke_it_may_have_been_balanced():
    scene = world()
    history = seen(scene, readings(scene, frames=60), broken=True)
    assert history.balanced(1.9) is True
    assert history.balanced() is history.balanced(2.0) is False
