"""Companions in one world, their control against that of a character alone, dances, and whether a crowd stays up."""

import math

import mujoco
import numpy as np
import pytest
from conftest import Still

from tumble.characters import biped, humanoid
from tumble.crowds.crowd import Crowd as Dancing
from tumble.crowds.crowd import DanceSettings, dances
from tumble.crowds.kernel import MEMORY
from tumble.errors import UserError
from tumble.goals.wants import Do, Go
from tumble.live.commands import Drag, Explode, Reset
from tumble.live.session import Session
from tumble.skills.performer import Performer
from tumble.walking import Walker
from tumble.walking.memory import MEMORY as WALKING
from tumble.walking.memory import WALKER
from tumble.world.grips import grips_of
from tumble.world.props import Ball, Companion, Crate, Prop
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

OTHER = biped("other", legs=1.2, arms=0.8, left_leg=1.05)


def walking_scene(who, props=()) -> Scene:
    return Scene(who, props, Ground(friction=0.8))


def together(*props: Prop) -> Scene:
    return walking_scene(biped(), props)


def began(scene: Scene, controller, rows: int = 1, state: np.ndarray | None = None) -> Sims:
    """Simulations in which a controller has started."""
    sims = Sims(scene, rows, 1)
    sims.use(controller.drive)
    sims.load(scene.state() if state is None else state)
    controller.start(sims)
    return sims


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
    names = alone.drives["torque"].names
    assert pair.drives["torque"].names == (*names, *(f"ana/{name}" for name in OTHER.joints))
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
    data, rng, torque = scene.show(scene.state()), np.random.default_rng(0), scene.drives["torque"]
    met = set()
    for _ in range(20):
        data.qpos[torque.qpos] = rng.uniform(-2, 2, torque.size)
        data.qpos[scene.model.joint("ball").qposadr[0] :][:3] = 0, 0, 1
        mujoco.mj_forward(scene.model, data)
        met |= {tuple(sorted((str(a), str(b)))) for a, b in whose(scene, data)}
    people = ["", "ana/", "bob/"]
    wanted = {(a, b) for a in people for b in people if a < b} | {tuple(sorted(("None", a))) for a in people}
    assert met >= wanted and not met & {(a, a) for a in people}


def test_feet_feel_the_ground(pair):
    sims = Sims(pair, 1, 1)
    sims.load(pair.state())
    torque = pair.drives["torque"]
    sims.act(np.zeros((1, torque.size)), torque)
    assert (sims.view("ana/grounded") > 0).all()
    standing = [bone for bone, touch in zip(pair.bones, sims.view("grounded")[0], strict=True) if touch > 0]
    assert standing == list(pair.feeling("ana/"))
    assert sims.view("ana/com")[0, 1] == pytest.approx(3.0, abs=0.1)


def test_grips_come_after_everybodys_joints():
    """In whatever order props come; the grips are the first's alone."""
    ana, crate = Companion("ana", OTHER.recipe, (0.0, 3.0)), Crate("crate", (2.0, 0.0, 0.2))
    for props in ((ana, crate), (crate, ana)):
        scene = together(*props)
        torque, grips = scene.drives["torque"], grips_of(scene.character, props)
        assert torque.joints == 62 and torque.size == 62 + 4 * len(grips) > 62
        assert torque.names[:62] == (*scene.character.joints, *(f"ana/{name}" for name in OTHER.joints))
        assert not any(name.startswith("ana/") for name in torque.names[62:])
        assert (torque.low[:62] == -1).all() and (torque.low[62:] == 0).all()
        crowd = Dancing(scene)
        sims = began(scene, crowd, 2)
        sims.act(crowd.control(sims), crowd.drive)
        assert crowd.law(sims)[:, :62].any() and not crowd.law(sims)[:, 62:].any()


def test_the_first_of_two_holds_a_crate():
    """A walker closes its grips beside a companion as it does alone."""
    crate = Crate("crate", (2.0, 0.0, 0.2))
    closed = []
    for props in ((crate,), (crate, Companion("ana", OTHER.recipe, (0.0, 3.0)))):
        scene = together(*props)
        walker = Walker(scene)
        sims = began(scene, walker)
        walker.hold(sims, 0, 1, 3)
        closed.append(walker.law(sims)[0, walker.drive.joints :].copy())
    assert np.array_equal(*closed) and closed[0].any()


def test_a_script_leads_to_a_companion():
    scene = together(Companion("ana", biped(legs=1.2).recipe, (2.0, 0.0), math.pi))
    session = Session(scene, Performer(Walker(scene)), scene.state())
    session.send(Do("go to ana"))
    while session.time < 8 and (session.time < 1 or session.controller.report().doing):
        session.step()
    place, hers = session.world.view("com")[0, :2], session.world.view("ana/pelvis.pos")[0]
    assert not session.controller.report().doing and math.dist(place, hers[:2]) < 1.2
    assert math.dist(hers[:2], (2.0, 0.0)) < 1.0 and hers[2] < 0.5  # where she fell, for nobody controls her


def test_crates_meet_companions():
    scene = together(Crate("crate"), Companion("ana", OTHER.recipe), Crate("other", (0.0, 0.0, 0.7)))
    met = {frozenset((a, b)) for a, b in scene.model.geom_bodyid[scene.show(scene.state()).contact.geom]}
    hers = [i for i in range(scene.model.nbody) if scene.whose(i) == "ana/"]
    for name in ("crate", "other"):
        assert any(frozenset((scene.body(name), bone)) in met for bone in hers)


def test_a_recipe_tells_of_companions(pair):
    again = Scene.from_recipe(pair.recipe)
    assert again.fingerprint == pair.fingerprint and again.props == pair.props


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: together(Companion("a/b", OTHER.recipe)), "must be a word without '/', got 'a/b'"),
        (lambda: together(Companion("ana", OTHER.recipe, (math.nan, 0.0))), "place of companion 'ana' must be"),
        (lambda: together(*2 * [Companion("ana", OTHER.recipe)]), "the scene has a part 'ana' already"),
        (lambda: together(Companion("torso", OTHER.recipe)), "the scene has a part 'torso' already"),
        (lambda: Dancing(together(Companion("ana", humanoid().recipe))), "'humanoid' lacks lower_back, left_toe"),
        (lambda: DanceSettings(pace=0.01), "pace must be a number 0.06 or more"),
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


def test_a_companion_can_be_dragged_and_blown_away(pair):
    still = Still(pair)
    pulled = Session(pair, still, pair.state())
    pulled.send(Drag("ana/left_forearm", (0.0, 5.0, 1.0)))
    force = pulled.step() and still.forces
    pulled.step()
    assert len(force) and pulled.world.view("qvel")[0, 37:].any()
    torso = Session(pair, still, pair.state())
    torso.send(Drag("ana/torso", (0.0, 5.0, 1.0)))
    torso.step()
    assert torso.world.view("ana/com_velocity")[0, 1] > 0
    blown = Session(pair, still, pair.state())
    blown.send(Explode((0.0, 2.7, 1.0)))
    blown.step()
    assert blown.world.view("ana/com_velocity")[0, 1] > 0.5


# ---- control


# places in a scene, and parts that are compared by themselves
PLACES = ("ids", "joint", "dof", "angle", "motor", "damping", "strength", "ground", "palm", "legs", "arms", "holds")


def test_bodies_of_a_cast_are_as_they_are_alone(pair):
    crowd = Dancing(pair)
    for i, prefix in enumerate(pair.cast):
        one = crowd._bodies[i]
        alone = Walker(walking_scene(pair.cast[prefix]))._body
        for mine, hers in ((one, alone), (one.legs, alone.legs), (one.arms, alone.arms)):
            for name in mine._fields:
                if name not in PLACES:
                    assert np.asarray(getattr(mine, name)) == pytest.approx(np.asarray(getattr(hers, name))), name
        assert one.holds is None


@pytest.mark.parametrize("prefix", ["", "ana/"])
def test_control_in_a_crowd_is_that_of_the_same_body_alone(pair, prefix):
    """Given the same state and wishes, for both characters, over two seconds of a dance."""
    crowd = Dancing(pair, seed=5)
    world = began(pair, crowd)
    alone = walking_scene(pair.cast[prefix])
    walker = Walker(alone, styles=crowd.styles)
    sims = began(alone, walker)
    who = list(pair.cast).index(prefix)
    q, v = (int(start[who]) for start in (crowd._starts.qpos, crowd._starts.qvel))
    wishes = [name for name in WALKER.names if name.startswith("wish_")]
    seen = []

    def compared(world: Sims) -> np.ndarray:
        hers = world.memory(MEMORY).walkers[0, who]
        memory, chosen = hers.copy(), crowd.law(world)
        if len(seen) % 50 == 0:
            sims.view("qpos")[0] = world.view("qpos")[0, q : q + 38]
            sims.view("qvel")[0] = world.view("qvel")[0, v : v + 37]
            for name in wishes:  # as the dance has made them before the control
                memory[name] = hers[name]
            sims.memory(WALKING)[0] = memory
            sims.load(sims.state)
            assert chosen[0, 31 * who : 31 * who + 31] == pytest.approx(walker.law(sims)[0], abs=1e-9)
        seen.append(1)
        return chosen

    for _ in range(60):
        world.act(compared, crowd.drive)
    assert len(seen) == 1020


def test_a_companion_far_away_changes_nothing(pair):
    """The first character of two walks as it would alone, but for rounding."""
    alone = walking_scene(biped())
    crowd = Dancing(pair)
    walker = Walker(alone, styles=crowd.styles)
    world, sims = began(pair, crowd), began(alone, walker)
    for controller, rows in ((crowd, world), (walker, sims)):
        controller.want(rows, Go(speed=0.5, heading=-0.5))
    for _ in range(60):
        world.act(crowd.control(world), crowd.drive)
        sims.act(walker.control(sims), walker.drive)
    assert world.view("qpos")[0, :38] == pytest.approx(sims.view("qpos")[0], abs=1e-4)


def test_rows_of_crowds_do_not_see_each_other(pair):
    crowd = Dancing(pair, seed=1)
    states = []
    for rows in (1, 3):
        sims = began(pair, crowd, rows)
        if rows == 3:
            sims.memory(MEMORY).dancers.move[[0, 2], 0] = 7.0
        for _ in range(18):
            sims.act(crowd.control(sims), crowd.drive)
        states.append(sims.state.copy())
    assert np.array_equal(states[0][0], states[1][1]) and not np.array_equal(states[0][0], states[1][0])


def test_wishes_direct_the_first_and_the_others_dance_on(pair):
    session = Session(pair, Dancing(pair), pair.state())
    session.send(Go())
    session.step()
    memory = session.world.memory(MEMORY)
    assert memory.dancers.directed[0, 0] == 0
    session.send(Go(speed=0.7, style="wave"))
    session.step()
    assert memory.dancers.directed[0].tolist() == [1, 0] and memory.walkers.wish_speed[0, 0] == 0.7
    assert memory.dancers.until[0, 1] > 2
    with pytest.raises(UserError, match="no style 'wav'"):
        session.send(Go(style="wav"))


def wished(pair: Scene, data: mujoco.MjData) -> np.record:
    """The first's memory after one control from there."""
    crowd = Dancing(pair)
    sims = began(pair, crowd, state=pair.read(data))
    crowd.law(sims)
    return sims.memory(MEMORY).walkers[0, 0].copy()


@pytest.mark.parametrize("side", [0, 1, 2, 3])
def test_who_is_near_steps_away_without_turning(pair, side):
    """Ana ahead, left, behind or right of the first: it goes the other way, sideways where it must."""
    usual = wished(pair, meeting(pair, 3.0))
    assert usual.wish_speed == Dancing(pair)._moves[0, 0, 5] and usual.wish_drift == 0.0
    data = meeting(pair, 0.45)
    heading = -side * math.pi / 2
    data.qpos[3:7] = math.cos(heading / 2), 0.0, 0.0, math.sin(heading / 2)
    memory = wished(pair, data)
    ahead, left = ((-1, 0), (0, -1), (1, 0), (0, 1))[side]
    assert memory.wish_speed * ahead > 0.2 if ahead else memory.wish_drift * left > 0.15
    assert abs(memory.wish_drift if ahead else memory.wish_speed) < 0.1
    turned = math.remainder(memory.wish_heading - heading, 2 * math.pi)
    assert turned == pytest.approx(usual.wish_heading, abs=1e-6)  # as the dance alone
    assert memory.wish_step_height > usual.wish_step_height + 0.02


def test_who_is_run_at_steps_away_early(pair):
    """At a distance that is enough from one who stands."""
    data = meeting(pair, 0.95)
    assert wished(pair, data).wish_speed == Dancing(pair)._moves[0, 0, 5]
    data.qvel[int(pair.model.joint("ana/root").dofadr[0])] = -1.0
    assert wished(pair, data).wish_speed < 0.0


@pytest.mark.parametrize("towards", [True, False])
def test_legs_of_one_who_lies_are_kept_clear_of(pair, towards):
    """Her pelvis is further away than anybody minds; her feet are not, unless she lies across."""
    data, half = meeting(pair, 1.1), math.sqrt(0.5)
    place = int(pair.model.joint("ana/root").qposadr[0])
    data.qpos[place + 2] = 0.15
    data.qpos[place + 3 : place + 7] = (half, 0.0, half, 0.0) if towards else (half, half, 0.0, 0.0)
    usual = Dancing(pair)._moves[0, 0, 5]
    assert wished(pair, data).wish_speed == (pytest.approx(-0.35, abs=0.05) if towards else usual)


def test_who_fell_is_limp_until_it_is_on_its_feet_again(pair):
    crowd = Dancing(pair)
    sims = began(pair, crowd)
    place = int(pair.model.joint("ana/root").qposadr[0]) + 2
    standing = float(sims.view("qpos")[0, place])
    for share, limp in ((1.0, False), (0.45, True), (0.6, True), (0.95, False)):
        sims.view("qpos")[0, place] = share * standing
        chosen = crowd.law(sims)[0]
        assert chosen[:31].any() and chosen[31:62].any() != limp


def test_dances_are_drawn_from_the_seed(pair):
    one, again, other = Dancing(pair, seed=1), Dancing(pair, seed=1), Dancing(pair, seed=2)
    assert np.array_equal(one._moves, again._moves) and not np.array_equal(one._moves, other._moves)
    assert not np.array_equal(one._moves[0], one._moves[1])
    styles = one._moves[:, :, 1]
    assert set(styles.ravel()) == set(range(len(dances()))) and (np.diff(styles, axis=1) != 0).all()
