"""Companions in one world, their control against that of a character alone, dances, and whether a crowd stays up."""

import math

import mujoco
import numpy as np
import pytest

from tumble.characters import biped, humanoid
from tumble.crowds.crowd import Crowd as Dancing
from tumble.crowds.crowd import DanceSettings, dances
from tumble.crowds.kernel import CALM, DIRECTED, FELL, MOVE, UNTIL, take_body
from tumble.errors import UserError
from tumble.live.commands import Do, Drag, Explode, Reset, Walk
from tumble.live.recording import Recorder, Recording
from tumble.live.session import Session
from tumble.scenarios import History, run_trial
from tumble.scenarios.crowd import STUCK, CrowdDance, Overlap, fallen, stuck
from tumble.scenarios.walking import walking_scene
from tumble.skills import memory as skills
from tumble.skills.performer import Performer
from tumble.walking import Walker
from tumble.walking import memory as mem
from tumble.walking.body import Body
from tumble.world.grips import grips_of
from tumble.world.props import Ball, Companion, Crate, Prop
from tumble.world.scene import Scene
from tumble.world.sims import Sims

OTHER = biped("other", legs=1.2, arms=0.8, left_leg=1.05)


def together(*props: Prop) -> Scene:
    return walking_scene(biped(), props)


@pytest.fixture(scope="module")
def pair() -> Scene:
    """A biped and another, three metres beside it and turned."""
    return together(Companion("ana", OTHER.recipe, (0.0, 3.0), 0.7))


def meeting(pair: Scene, apart: float, height: float = 0.0) -> mujoco.MjData:
    """Ana at a distance ahead of the first."""
    data = pair.show(pair.state())
    place = int(pair.model.joint("ana/root").qposadr[0])
    data.qpos[place : place + 2] = apart, 0.0
    data.qpos[place + 2] += height
    mujoco.mj_forward(pair.model, data)
    return data


def whose(scene: Scene, data: mujoco.MjData) -> set[tuple[str | None, str | None]]:
    """Between whom there are contacts."""
    bodies = scene.model.geom_bodyid[data.contact.geom]
    return {(scene.whose(one), scene.whose(other)) for one, other in bodies}


# ---- the scene


def test_companions_have_names_motors_and_memory_of_their_own(pair):
    alone = walking_scene(biped())
    assert pair.bones == alone.bones and list(pair.cast) == ["", "ana/"]
    assert pair.motors.names == (*alone.motors.names, *(f"ana/{name}" for name in OTHER.joints))
    assert pair.model.nuserdata == 2 * alone.model.nuserdata
    assert pair.whose(pair.body("ana/torso")) == "ana/" and pair.whose(pair.body("torso")) == ""
    assert pair.whose(0) is None
    assert pair.feeling("ana/") == ("left_foot", "left_toe", "right_foot", "right_toe")


def test_everybody_stands_at_its_place(pair):
    data, alone = pair.show(pair.state()), walking_scene(OTHER)
    assert data.body("ana/pelvis").xpos[:2] == pytest.approx((0.0, 3.0))
    standing = alone.show(alone.state())
    assert data.body("ana/pelvis").xpos[2] == pytest.approx(standing.body("pelvis").xpos[2])
    assert data.body("ana/pelvis").xquat == pytest.approx((math.cos(0.35), 0, 0, math.sin(0.35)))
    assert data.qpos[:38] == pytest.approx(walking_scene(biped()).show(walking_scene(biped()).state()).qpos)


def test_characters_meet_each_other_the_ground_and_props_but_not_themselves():
    """All joints at random angles: bones of one lie in each other, and only those of two collide."""
    scene = together(Companion("ana", OTHER.recipe), Companion("bob", biped().recipe), Ball())
    data, rng = scene.show(scene.state()), np.random.default_rng(0)
    met = set()
    for _ in range(20):
        data.qpos[scene.motors.qpos] = rng.uniform(-2, 2, scene.motors.size)
        data.qpos[scene.model.joint("ball").qposadr[0] :][:3] = 0, 0, 1
        mujoco.mj_forward(scene.model, data)
        met |= {tuple(sorted((str(a), str(b)))) for a, b in whose(scene, data)}
    people = ["", "ana/", "bob/"]
    wanted = {(a, b) for a in people for b in people if a < b} | {tuple(sorted(("None", a))) for a in people}
    assert met >= wanted and not met & {(a, a) for a in people}


def test_feet_feel_the_ground(pair):
    sims = Sims(pair, 1, 1)
    sims.load(pair.state())
    sims.act(np.zeros((1, pair.motors.size)))
    assert (sims.view("ana/grounded") > 0).all()
    standing = [bone for bone, touch in zip(pair.bones, sims.view("grounded")[0], strict=True) if touch > 0]
    assert standing == list(pair.feeling("ana/"))
    assert sims.view("ana/com")[0, 1] == pytest.approx(3.0, abs=0.1)


def test_grips_come_after_everybodys_joints():
    """In whatever order props come; the grips are the first's alone."""
    ana, crate = Companion("ana", OTHER.recipe, (0.0, 3.0)), Crate("crate", (2.0, 0.0, 0.2))
    for props in ((ana, crate), (crate, ana)):
        scene = together(*props)
        motors, grips = scene.motors, grips_of(scene.character, props)
        assert motors.joints == 62 and motors.size == scene.model.nu == 62 + 4 * len(grips) > 62
        assert motors.names[:62] == (*scene.character.joints, *(f"ana/{name}" for name in OTHER.joints))
        assert not any(name.startswith("ana/") for name in motors.names[62:])
        assert (motors.low[:62] == -1).all() and (motors.low[62:] == 0).all()
        assert scene.model.nuserdata == 2 * mem.USED
        sims, crowd = Sims(scene, 2, 1), Dancing(scene)
        sims.load(scene.state())
        crowd.start(sims)
        sims.act(crowd.control(sims))
        assert crowd.control(sims)[:, :62].any() and not crowd.control(sims)[:, 62:].any()


def test_the_first_of_two_holds_a_crate():
    """A walker closes its grips beside a companion as it does alone."""
    crate = Crate("crate", (2.0, 0.0, 0.2))
    closed = []
    for props in ((crate,), (crate, Companion("ana", OTHER.recipe, (0.0, 3.0)))):
        scene = together(*props)
        walker, sims = Walker(scene), Sims(scene, 1, 1)
        sims.load(scene.state())
        walker.start(sims)
        walker.hold(sims, 0, 1, 3)
        chosen = walker.control(sims)[0]
        closed.append(chosen[scene.motors.joints :].copy())
    assert np.array_equal(*closed) and closed[0].any()


def test_a_script_leads_to_a_companion():
    scene = together(Companion("ana", biped(legs=1.2).recipe, (2.0, 0.0), math.pi))
    session = Session(scene, Performer(Walker(scene)), scene.state())
    session.send(Do("go to ana"))
    while session.time < 8 and (session.time < 1 or session.controller.doing):
        session.step()
    place, hers = session.world.view("com")[0, :2], session.world.view("ana/pelvis.pos")[0]
    assert not session.controller.doing and math.dist(place, hers[:2]) < 1.2
    assert math.dist(hers[:2], (2.0, 0.0)) < 1.0 and hers[2] < 0.5  # where she fell, for nobody controls her


def test_crates_meet_companions():
    scene = together(Crate("crate"), Companion("ana", OTHER.recipe), Crate("other", (0.0, 0.0, 0.7)))
    met = {frozenset((a, b)) for a, b in scene.model.geom_bodyid[scene.show(scene.state()).contact.geom]}
    hers = [i for i in range(scene.model.nbody) if scene.whose(i) == "ana/"]
    for name in ("crate", "other"):
        assert any(frozenset((scene.body(name), bone)) in met for bone in hers)


def test_dancers_remember_beside_what_skills_and_hands_do():
    assert skills.NOTES + skills.NOTE_COUNT <= mem.DANCE <= DIRECTED <= CALM < FELL < mem.WISH_DRIFT < mem.USED


def test_a_recipe_tells_of_companions(pair):
    again = Scene.from_recipe(pair.recipe)
    assert again.fingerprint == pair.fingerprint and again.props == pair.props


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Scene(biped(), [Companion("ana", OTHER.recipe)]), "companions have force motors only, got Velocity"),
        (lambda: together(Companion("a/b", OTHER.recipe)), "must be a word without '/', got 'a/b'"),
        (lambda: together(Companion("ana", OTHER.recipe, (math.nan, 0.0))), "place of companion 'ana' must be"),
        (lambda: together(*2 * [Companion("ana", OTHER.recipe)]), "the scene has a part 'ana' already"),
        (lambda: together(Companion("torso", OTHER.recipe)), "the scene has a part 'torso' already"),
        (lambda: Dancing(together(Companion("ana", humanoid().recipe))), "'humanoid' lacks lower_back, left_toe"),
        (lambda: DanceSettings(pace=0.01), "pace must be a number 0.06 or more"),
        (lambda: CrowdDance(dancers=1), "dancers must be a number 2 or more and at most 30, got 1"),
    ],
)
def test_mistakes_are_told(make, message):
    with pytest.raises(UserError) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recipe": "abc"}, "not a scene of this version"),
        ({"recipe": {"kind": "cat"}}, "no character 'cat'"),
        ({"place": [1.0]}, "not a scene of this version"),
        ({"shirt": [1.0]}, "not a scene of this version"),
        ({"shirt": [1.0, 2.0, 0.0]}, "colour of companion 'ana' must be"),
        ({"name": 3}, "not a scene of this version"),
    ],
)
def test_strange_companions_are_refused_with_a_sentence(pair, change, message):
    (ana,) = pair.recipe["props"]
    with pytest.raises(UserError, match=message):
        Scene.from_recipe({**pair.recipe, "props": [{**ana, **change}]})


def test_thirty_dancers_are_the_most():
    few = [Companion(f"d{i}", biped().recipe, (2.0 * i, 0.0)) for i in range(1, 31)]
    with pytest.raises(UserError, match="at most 29 companions"):
        together(*few)


def test_reset_leaves_companions_where_they_are(pair):
    sims = Sims(pair, 1, 1)
    sims.load(pair.read(meeting(pair, 2.0, 1.0)))
    before = sims.view("qpos")[0].copy()
    Reset().apply(sims)
    assert np.array_equal(sims.view("qpos")[0, 38:], before[38:])


def test_a_companion_can_be_dragged_and_blown_away(pair, still):
    pulled = Session(pair, still, pair.state())
    pulled.send(Drag("ana/left_forearm", (0.0, 5.0, 1.0)))
    force = pulled.step() and still.forces
    pulled.step()
    assert len(force) and pulled.world.view("qvel")[0, 37:].any()
    reach = pulled._spring(Drag("ana/torso", (0.0, 5.0, 1.0)))
    assert reach[1] > 0
    blown = Session(pair, still, pair.state())
    blown.send(Explode((0.0, 2.7, 1.0)))
    blown.step()
    assert blown.world.view("ana/com_velocity")[0, 1] > 0.5


# ---- control


def test_bodies_are_taken_apart_as_they_were_put_together(pair):
    crowd = Dancing(pair)
    for i, prefix in enumerate(pair.cast):
        one = take_body.py_func(crowd._bodies, i)
        alone = Walker(walking_scene(pair.cast[prefix]))._body
        for name in Body._fields:
            if name not in ("ids", "joint", "dof", "angle", "motor", "damping", "strength", "ground", "palm", "grip"):
                assert np.asarray(getattr(one, name)) == pytest.approx(np.asarray(getattr(alone, name))), name


@pytest.mark.parametrize("prefix", ["", "ana/"])
def test_control_in_a_crowd_is_that_of_the_same_body_alone(pair, prefix):
    """Given the same state and wishes, for both characters, over two seconds of a dance."""
    crowd, world = Dancing(pair, seed=5), Sims(pair, 1, 1)
    world.load(pair.state())
    crowd.start(world)
    alone = walking_scene(pair.cast[prefix])
    walker, sims = Walker(alone, styles=crowd.styles), Sims(alone, 1, 1)
    sims.load(alone.state())
    who = list(pair.cast).index(prefix)
    q, v, m = (int(start[who]) for start in (crowd._starts.qpos, crowd._starts.qvel, crowd._starts.memory))
    for n in range(1000):
        memory = world.view("userdata")[0, m : m + mem.USED].copy()
        chosen = crowd.control(world)
        if n % 50 == 0:
            sims.view("qpos")[0] = world.view("qpos")[0, q : q + 38]
            sims.view("qvel")[0] = world.view("qvel")[0, v : v + 37]
            sims.load(sims.state)
            wishes = [*range(mem.WISH, mem.WISH + 7), mem.WISH_DRIFT]  # as the dance has made them before the control
            memory[wishes] = world.view("userdata")[0, m : m + mem.USED][wishes]
            sims.view("userdata")[0] = memory
            assert chosen[0, 31 * who : 31 * who + 31] == pytest.approx(walker.control(sims)[0], abs=1e-9)
        world.act(chosen)


def test_a_companion_far_away_changes_nothing(pair):
    """The first character of two walks as it would alone, but for rounding."""
    alone = walking_scene(biped())
    crowd, world = Dancing(pair), Sims(pair, 1, 1)
    walker, sims = Walker(alone, styles=crowd.styles), Sims(alone, 1, 1)
    for scene, controller, rows in ((pair, crowd, world), (alone, walker, sims)):
        rows.load(scene.state())
        controller.start(rows)
        controller.set_wishes(rows, {"speed": 0.5, "heading": -0.5})
    for _ in range(1000):
        world.act(crowd.control(world))
        sims.act(walker.control(sims))
    assert world.view("qpos")[0, :38] == pytest.approx(sims.view("qpos")[0], abs=1e-4)


def test_rows_of_crowds_do_not_see_each_other(pair):
    crowd = Dancing(pair, seed=1)
    states = []
    for rows in (1, 3):
        sims = Sims(pair, rows, 1)
        sims.load(pair.state())
        crowd.start(sims)
        if rows == 3:
            sims.view("userdata")[[0, 2], MOVE] = 7.0
        for _ in range(300):
            sims.act(crowd.control(sims))
        states.append(sims.state.copy())
    assert np.array_equal(states[0][0], states[1][1]) and not np.array_equal(states[0][0], states[1][0])


def test_wishes_direct_the_first_and_the_others_dance_on(pair):
    session = Session(pair, Dancing(pair), pair.state())
    session.send(Walk())
    session.step()
    assert session.world.view("userdata")[0, DIRECTED] == 0
    session.send(Walk(speed=0.7, style="wave"))
    session.step()
    memory = session.world.view("userdata")[0]
    assert memory[DIRECTED] == 1 and memory[mem.WISH_SPEED] == 0.7
    assert memory[mem.USED + DIRECTED] == 0 and memory[mem.USED + UNTIL] > 2
    with pytest.raises(UserError, match="no style 'wav'"):
        session.send(Walk(style="wav"))


def wished(pair: Scene, data: mujoco.MjData) -> np.ndarray:
    """The first's memory after one control from there."""
    crowd, sims = Dancing(pair), Sims(pair, 1, 1)
    sims.load(pair.read(data))
    crowd.start(sims)
    crowd.control(sims)
    return sims.view("userdata")[0, : mem.USED].copy()


@pytest.mark.parametrize("side", [0, 1, 2, 3])
def test_who_is_near_steps_away_without_turning(pair, side):
    """Ana ahead, left, behind or right of the first: it goes the other way, sideways where it must."""
    usual = wished(pair, meeting(pair, 3.0))
    assert usual[mem.WISH_SPEED] == Dancing(pair)._moves[0, 0, 5] and usual[mem.WISH_DRIFT] == 0.0
    data = meeting(pair, 0.45)
    heading = -side * math.pi / 2
    data.qpos[3:7] = math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2)
    memory = wished(pair, data)
    ahead, left = ((-1, 0), (0, -1), (1, 0), (0, 1))[side]
    assert memory[mem.WISH_SPEED] * ahead > 0.2 if ahead else memory[mem.WISH_DRIFT] * left > 0.15
    assert abs(memory[mem.WISH_DRIFT] if ahead else memory[mem.WISH_SPEED]) < 0.1
    turned = math.remainder(memory[mem.WISH_HEADING] - heading, 2 * math.pi)
    assert turned == pytest.approx(usual[mem.WISH_HEADING], abs=1e-6)  # as the dance alone
    assert memory[mem.WISH_STEP_HEIGHT] > usual[mem.WISH_STEP_HEIGHT] + 0.02


def test_who_is_run_at_steps_away_early(pair):
    """At a distance that is enough from one who stands."""
    data = meeting(pair, 0.95)
    assert wished(pair, data)[mem.WISH_SPEED] == Dancing(pair)._moves[0, 0, 5]
    data.qvel[int(pair.model.joint("ana/root").dofadr[0])] = -1.0
    assert wished(pair, data)[mem.WISH_SPEED] < 0.0


@pytest.mark.parametrize("towards", [True, False])
def test_legs_of_one_who_lies_are_kept_clear_of(pair, towards):
    """Her pelvis is further away than anybody minds; her feet are not, unless she lies across."""
    data, half = meeting(pair, 1.1), math.sqrt(0.5)
    place = int(pair.model.joint("ana/root").qposadr[0])
    data.qpos[place + 2] = 0.15
    data.qpos[place + 3 : place + 7] = (half, 0.0, half, 0.0) if towards else (half, half, 0.0, 0.0)
    usual = Dancing(pair)._moves[0, 0, 5]
    assert wished(pair, data)[mem.WISH_SPEED] == (pytest.approx(-0.35, abs=0.05) if towards else usual)


def test_who_fell_is_limp_until_it_is_on_its_feet_again(pair):
    crowd, sims = Dancing(pair), Sims(pair, 1, 1)
    sims.load(pair.state())
    crowd.start(sims)
    place = int(pair.model.joint("ana/root").qposadr[0]) + 2
    standing = float(sims.view("qpos")[0, place])
    for share, limp in ((1.0, False), (0.45, True), (0.6, True), (0.95, False)):
        sims.view("qpos")[0, place] = share * standing
        chosen = crowd.control(sims)[0]
        assert chosen[:31].any() and chosen[31:62].any() != limp


def test_dances_are_drawn_from_the_seed(pair):
    one, again, other = Dancing(pair, seed=1), Dancing(pair, seed=1), Dancing(pair, seed=2)
    assert np.array_equal(one._moves, again._moves) and not np.array_equal(one._moves, other._moves)
    assert not np.array_equal(one._moves[0], one._moves[1])
    styles = one._moves[:, :, 1]
    assert set(styles.ravel()) == set(range(len(dances()))) and (np.diff(styles, axis=1) != 0).all()


# ---- the scenario


def world(few: CrowdDance, seed: int) -> Scene:
    return few.scene(few.body(biped(), seed), seed)


def test_a_seed_decides_bodies_places_and_dances():
    few = CrowdDance(dancers=3)
    one, again, other = (world(few, seed) for seed in (1, 1, 2))
    assert one.fingerprint == again.fingerprint != other.fingerprint
    assert len({scene.character.recipe["legs"] for scene in (one, other)}) == 2


def run(few: CrowdDance, seed: int, seconds: float, watch=lambda session: None):
    scene = world(few, seed)
    return run_trial(few, scene, Dancing(scene, seed=seed), seed, seconds, watch)


def test_same_seed_same_bits_and_a_replay_too(tmp_path):
    recorders: list[Recorder] = []

    def watch(session: Session) -> None:
        recorders.append(Recorder(session, "crowd", "crowd", 3))

    for _ in range(2):
        run(CrowdDance(dancers=3), 3, 0.6, watch)
    one, again = (recorder.recording for recorder in recorders)
    assert one.states.tobytes() == again.states.tobytes()
    one.save(tmp_path / "a.npz")
    assert Recording.load(tmp_path / "a.npz").first_difference() is None


class Limp(Dancing):
    """Nobody moves a muscle."""

    def control(self, sims: Sims) -> np.ndarray:
        return np.zeros((sims.nsim, self.scene.motors.size))


def test_those_who_fall_are_counted():
    few = CrowdDance(dancers=3)
    scene = world(few, 0)
    result = run_trial(few, scene, Limp(scene), 0, 2.0)
    assert result.finished and result.metrics["fallen"] == 3 and not result.success
    assert run(few, 0, 2.0).metrics["fallen"] == 0


def test_those_who_are_inside_each_other_are_seen(pair):
    few, overlap = CrowdDance(dancers=2), Overlap(pair)
    sims = Sims(pair, 1, 1)
    for apart, deep in ((2.0, 0.0), (0.12, 0.1)):
        sims.load(pair.read(meeting(pair, apart)))
        assert overlap(sims)[0] == pytest.approx(deep, abs=0.05) and (overlap(sims)[0] > 0) == (deep > 0)
    session = Session(pair, Limp(pair), pair.read(meeting(pair, 0.12)))
    history = History(pair, sights=few.sights(pair))
    held = sims.state[0].copy()
    for _ in range(round(1.5 / pair.dt)):
        frame = session.step()
        session.world.load(held)
        history(session, frame)
    assert stuck(history) == 1 and not fallen(history) and not few.success(history)
    assert history.seen("overlap").shape == (15, 1) and STUCK == 1.0


@pytest.mark.slow
def test_sixteen_dance_for_a_minute():
    """As measured: the crowds of these seeds have at most two fallen, nobody is ever stuck, all bump."""
    results = [run(CrowdDance(), seed, 60.0) for seed in range(1000, 1005)]
    assert all(result.success for result in results)
    assert all(result.metrics["stuck"] == 0 and result.metrics["bumps"] > 20 for result in results)
