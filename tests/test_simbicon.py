"""Simbicon: the laws in closed form, the symmetry of the machine, gait files, and that it walks."""

import math
import re
import time

import msgspec
import mujoco
import numpy as np
import pytest

from tumble.characters import character, humanoid
from tumble.errors import UserError
from tumble.maths import vectors
from tumble.maths.bundles import Address
from tumble.maths.compiled import as_entry
from tumble.simbicon import kernel
from tumble.simbicon.body import MEMORY, live_of
from tumble.simbicon.gait import (
    GAITS,
    Gait,
    builtin_gaits,
    check_gait,
    joint_of,
    load_gait,
    plain,
    read_gait,
    roles_of,
    side_of,
    table_of,
)  # fmt: skip
from tumble.simbicon.simbicon import Simbicon
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

about, multiply, spline = map(as_entry, (vectors.about, vectors.multiply, vectors.spline))
feedback, pd_torque, target_of = map(as_entry, (kernel.feedback, kernel.pd_torque, kernel._target))
look_at, root_torque = as_entry(kernel._look), as_entry(kernel.root_torque)
put_spins, put_torques = as_entry(kernel._spins), as_entry(kernel._torques)

BODIES = ("planar", "biped34", "big-bird", "raptor")
NAMES = [(body, file.stem) for body in BODIES for file in sorted((GAITS / body).glob("*.toml"))]
each_body = pytest.mark.parametrize("body", BODIES)
PUSH = 0.1  # m/s and rad/s, standard deviation of every speed of a perturbed start


def scene_of(body) -> Scene:
    return Scene(character(body), ground=Ground(friction=0.8))


@pytest.fixture(scope="module")
def walkers():
    """A walker for each body, with all gaits."""
    return {body: Simbicon(scene_of(body)) for body in BODIES}


def started(walker, gait="walk", nsim=1, push=0.0, seed=0):
    sims = Sims(walker.scene, nsim, nthread=1)
    sims.use(walker.drive)
    sims.load(walker.opening(gait))
    speeds = sims.view("qvel")
    speeds[:] = speeds + push * np.random.default_rng(seed).standard_normal(speeds.shape)
    sims.load(sims.state.copy())
    walker.start(sims)
    walker.choose(sims, gait)
    return sims


def run(walker, sims, seconds):
    """Act; which rows fell on the way."""
    fallen = np.zeros(sims.nsim, bool)
    for _ in range(round(seconds / walker.scene.dt)):
        sims.act(walker.control(sims), walker.drive)
        fallen |= walker.fallen(sims)
    return fallen


# ---- laws


def test_feedback_is_linear_in_distance_and_velocity():
    assert feedback(0.5, 0.2, 0.0, 0.0) == 0.0
    assert feedback(0.5, 0.2, 0.3, -0.4) == pytest.approx(0.5 * 0.3 - 0.2 * 0.4)


def test_targets_follow_the_feedback_law(walkers):
    """The swing hip's wanted rotation is that of the knots plus c_d d + c_v v, in both planes (eq. 2.1)."""
    walker = walkers["biped34"]
    sims = started(walker)
    roles = roles_of(walker.scene.character)
    role, gait = roles.index("swing_hip"), walker.gaits[0]
    motion = gait.states[0].joints["swing_hip"]
    memory = sims.memory(MEMORY)[0].copy()
    memory.phase = 0.4
    for mirror, side in ((1.0, 0.0), (-1.0, 1.0)):
        memory.stance = side
        look = kernel.Posture((1.0, 0.0, 0.0, 0.0), (0.2, -0.1), (0.9, 0.15))
        knots = np.array(motion.bend)
        bend = spline(knots, len(knots), 0.4) + motion.bend_feedback[0] * 0.2 + motion.bend_feedback[1] * 0.9
        lean = mirror * motion.side[0][1] - motion.side_feedback[0] * 0.1 + motion.side_feedback[1] * 0.15
        wanted = multiply(about(0, lean), about(1, bend))
        assert target_of(Address(walker._table), 0, memory, role, look) == pytest.approx(wanted, abs=1e-12)


def test_d_and_v_are_those_of_the_stance_foot(walkers):
    walker = walkers["biped34"]
    sims = started(walker)
    memory = sims.memory(MEMORY)[0].copy()
    memory.heading = 0.3
    scene = walker.scene
    for side, foot in enumerate(("left_foot", "right_foot")):
        memory.stance = side
        look = look_at(Address(walker._bones), memory, Address(live_of(sims)), 0)
        away = (sims.view("com") - sims.view("xipos")[:, scene.body(foot)])[0]
        speed = sims.view("com_velocity")[0]
        ahead, left = np.array([math.cos(0.3), math.sin(0.3)]), np.array([-math.sin(0.3), math.cos(0.3)])
        assert look.away == pytest.approx((ahead @ away[:2], left @ away[:2]))
        assert look.velocity == pytest.approx((ahead @ speed[:2], left @ speed[:2]))


def test_pd_torque_by_hand():
    """A bone turned by 0.2 about x, wanted at 0.5 about x, spinning at 2 rad/s about x: 300*0.3 - 30*2 N m."""
    gains = np.array([300.0, 1.0, 1.0]), np.array([30.0, 1.0, 1.0])
    torque = pd_torque(*gains, about(0, 0.2), about(0, 0.5), (2.0, 0.0, 0.0))
    assert torque == pytest.approx((300 * 0.3 - 30 * 2, 0, 0))


def test_gains_are_about_the_axes_of_the_bone():
    """A bone whose y axis points to the world's -x: a turn about the world's x is a bend."""
    stiffness, none = np.array([1.0, 10.0, 100.0]), np.zeros(3)
    now = about(2, math.pi / 2)
    torque = pd_torque(stiffness, none, now, multiply(about(0, 0.1), now), (0.0, 0.0, 0.0))
    assert torque == pytest.approx((10 * 0.1, 0, 0))


def torques(walker, sims, gait=0, row=0):
    """(bones, 3) torques of a row and the root's own."""
    bones, live = walker._bones, Address(live_of(sims))
    laid, table = Address(bones), Address(walker._table)
    memory = sims.memory(MEMORY)[row]
    spin, torque = np.zeros((len(bones.ids), 3)), np.zeros((len(bones.ids), 3))
    look = look_at(laid, memory, live, row)
    put_spins(laid, live, row, spin)
    put_torques(laid, table, gait, memory, look, live, row, spin, torque)
    return torque, np.array(root_torque(laid, table, gait, memory, look, live, row, spin)), spin


@each_body
def test_the_hips_give_the_root_its_torque(walkers, body):
    """Both hips together push the root by tau_root (eq. 2.3), but for the damping of the stance hip's twist."""
    walker = walkers[body]
    sims = started(walker, push=0.5)
    for seconds in (0.05, 0.15, 0.4):
        run(walker, sims, seconds)
        torque, root, spin = torques(walker, sims)
        left, right = walker._bones.hips
        stance = walker._bones.hips[int(sims.memory(MEMORY).stance[0])]
        turning = spin[0, 2] - spin[stance, 2]
        gait = walker.gaits[0]
        root[2] -= gait.hip_damping * min(abs(turning), gait.hip_speed) * turning
        np.testing.assert_allclose(-torque[left] - torque[right], root, rtol=1e-9, atol=1e-9)


def test_late_in_a_step_all_is_the_stance_hips(walkers):
    """tau_A = -tau_root - tau_B with tau_B the swing hip's own PD torque."""
    walker = walkers["biped34"]
    sims = started(walker)
    run(walker, sims, 0.3)
    torque, _, spin = torques(walker, sims)
    memory, bones = sims.memory(MEMORY)[0], walker._bones
    swing = bones.hips[1 - int(memory.stance)]
    role = roles_of(walker.scene.character).index("swing_hip")
    look = look_at(Address(bones), memory, Address(live_of(sims)), 0)
    target = multiply(look.frame, target_of(Address(walker._table), 0, memory, role, look))
    now = tuple(sims.view("xquat")[0, bones.ids[swing]])
    own = pd_torque(walker._table.stiffness[0, role], walker._table.damping[0, role], now, target, tuple(spin[swing]))
    np.testing.assert_allclose(torque[swing], own, rtol=1e-9)


@each_body
def test_spins_are_those_of_the_engine(walkers, body):
    """Angular velocities from the hinges' axes equal MuJoCo's own."""
    walker = walkers[body]
    sims = started(walker, push=1.0)
    _, _, spin = torques(walker, sims)
    data = walker.scene.show(sims.state[0])
    velocity = np.zeros(6)
    for bone, body_id in enumerate(walker._bones.ids):
        mujoco.mj_objectVelocity(walker.scene.model, data, mujoco.mjtObj.mjOBJ_XBODY, int(body_id), velocity, 0)
        np.testing.assert_allclose(spin[bone], velocity[:3], atol=1e-9)


@each_body
def test_forces_are_the_torques_projected(walkers, body):
    """Generalized forces of motors and damping equal those of the torques put on the bones themselves."""
    walker = walkers[body]
    sims = started(walker, push=0.5)
    control = walker.law(sims)[0].copy()
    torque, _, _ = torques(walker, sims)
    scene, data = walker.scene, walker.scene.show(sims.state[0])
    wanted = np.zeros(scene.model.nv)
    for bone in range(1, len(walker._bones.ids)):
        for sign, at in ((1, bone), (-1, walker._bones.parent[bone])):
            one = np.zeros(scene.model.nv)
            place = int(walker._bones.ids[at])
            mujoco.mj_applyFT(scene.model, data, np.zeros(3), sign * torque[bone], data.xpos[place], place, one)
            wanted += one
    strength = np.array([joint.strength for joint in scene.character.joints.values()])
    dof = walker.drive.qvel
    got = control * strength - scene.model.dof_damping[dof] * data.qvel[dof]
    inside = np.abs(control) < 1
    assert inside.sum() > len(dof) // 2
    np.testing.assert_allclose(got[inside], wanted[dof][inside], atol=1e-8)


# ---- rows


@each_body
def test_rows_do_not_see_each_other(walkers, body):
    walker = walkers[body]
    many = started(walker, nsim=5, push=0.3)
    states = many.state.copy()
    run(walker, many, 0.5)
    together = many.state.copy()
    for row in (0, 3):
        alone = Sims(walker.scene, 1, nthread=1)
        alone.use(walker.drive)
        alone.load(states[row])
        run(walker, alone, 0.5)
        np.testing.assert_array_equal(alone.state[0], together[row])


def test_a_fork_goes_on_alike(walkers):
    walker = walkers["biped34"]
    sims = started(walker, nsim=3, push=0.2)
    run(walker, sims, 0.7)
    sims.load(sims.state[[1, 1, 2]])
    run(walker, sims, 0.7)
    np.testing.assert_array_equal(sims.state[0], sims.state[1])
    assert (sims.state[0] != sims.state[2]).any()


def other_side(hinge):
    return hinge.replace("left", "RIGHT").replace("right", "left").replace("RIGHT", "right")


def mirrored(scene, row):
    """The state seen in a mirror along the plane y = 0, legs and memory exchanged."""
    data, out = scene.show(row), scene.show(row)
    for hinge in scene.character.joints:
        other = other_side(hinge)
        sign = 1.0 if hinge.endswith("_bend") else -1.0
        angle, speed = data.joint(hinge).qpos[0], data.joint(hinge).qvel[0]
        out.joint(other).qpos[0], out.joint(other).qvel[0] = sign * angle, sign * speed
    out.qpos[:7] = data.qpos[:7] * np.array([1, -1, 1, 1, -1, 1, -1])
    out.qvel[:6] = data.qvel[:6] * np.array([1, -1, 1, -1, 1, -1])
    memory = scene.memory.view(MEMORY, out.userdata[None])[0]
    memory.stance, memory.heading = 1 - memory.stance, -memory.heading
    return scene.read(out)


@pytest.mark.parametrize("body", ["biped34", "big-bird", "raptor"])
def test_a_mirrored_start_walks_in_the_mirror(walkers, body):
    walker = walkers[body]
    sims = started(walker, nsim=2, push=0.1)
    states = sims.state.copy()
    states[1] = mirrored(walker.scene, states[0])
    sims.load(states)
    names = list(walker.scene.character.joints)
    swapped = [names.index(other_side(name)) for name in names]
    sign = np.array([1.0 if name.endswith("_bend") else -1.0 for name in names])
    control = walker.law(sims)
    np.testing.assert_allclose((sign * control[1])[swapped], control[0], atol=1e-9)
    run(walker, sims, 0.5)
    back, size = mirrored(walker.scene, sims.state[1]), 1 + sims.view("qpos").shape[1]
    np.testing.assert_allclose(back[:size], sims.state[0, :size], atol=1e-9)


def test_mixes_at_both_ends_are_the_gaits_themselves(walkers):
    walker = walkers["biped34"]
    sims = started(walker, nsim=5, push=0.1)
    sims.load(sims.state[[0, 0, 0, 0, 0]])
    walker.choose(sims, "walk", rows=[0])
    walker.choose(sims, "walk", "in-place", 0.0, rows=[1])
    walker.choose(sims, "in-place", rows=[2])
    walker.choose(sims, "walk", "in-place", 1.0, rows=[3])
    walker.choose(sims, "walk", "in-place", 0.25, rows=[4])
    first = walker.law(sims).copy()
    np.testing.assert_allclose(first[4], 0.75 * first[0] + 0.25 * first[2], atol=0.02)  # the phases differ by a step
    run(walker, sims, 1.0)
    qpos = sims.view("qpos")
    np.testing.assert_array_equal(qpos[0], qpos[1])
    np.testing.assert_array_equal(qpos[2], qpos[3])
    assert (qpos[4] != qpos[0]).any()


def test_a_mix_of_torques_is_their_mean(walkers):
    walker = walkers["biped34"]
    sims = started(walker, nsim=3, push=0.1)
    sims.load(sims.state[[0, 0, 0]])
    sims.memory(MEMORY).phase[:] = 0.3
    walker.choose(sims, "sad", rows=[0])  # walk, sad and proud last equally long: equal phases
    walker.choose(sims, "proud", rows=[1])
    walker.choose(sims, "sad", "proud", 0.25, rows=[2])
    control = walker.law(sims)
    np.testing.assert_allclose(control[2], 0.75 * control[0] + 0.25 * control[1], atol=1e-12)


# ---- the machine


def test_a_step_ends_at_its_own_strike(walkers):
    walker = walkers["biped34"]
    sims = started(walker, nsim=3, push=0.1)
    run(walker, sims, 0.1)
    frame = walker.scene.dt / walker.gaits[walker.index("walk")].states[0].duration  # of the phase
    for count in (1, 2, 3):
        assert walker.step(sims).all()
        memory = sims.memory(MEMORY)
        np.testing.assert_array_equal(walker.steps(sims), count)
        np.testing.assert_array_equal(memory.stance, count % 2)
        assert (memory.phase < frame + 0.01).all()  # at most a frame past the strike


def test_a_step_that_does_not_end_is_told(walkers):
    walker = walkers["biped34"]
    sims = started(walker)
    assert not walker.step(sims, longest=0.1).any()
    assert sims.view("time").ravel()[0] == pytest.approx(0.1)


def test_states_follow_each_other(walkers):
    """Time ends the planar walk's first state, a strike or the clock its second; only the second swaps legs."""
    walker = walkers["planar"]
    sims = started(walker)
    memory, seen = sims.memory(MEMORY)[0], []

    def watched(sims):
        before = memory.copy()
        chosen = walker.law(sims)
        if memory.state != before.state:
            seen.append((before.state, memory.state, memory.stance != before.stance, before.phase))
        return chosen

    for _ in range(60):
        sims.act(watched, walker.drive)
    assert len(seen) >= 8
    for old, new, swapped, phase in seen:
        assert new == 1 - old
        assert swapped == (old == 1)
        assert old == 1 or phase == pytest.approx(1.0, abs=0.01)


# ---- bodies


@pytest.mark.parametrize(("body", "mass", "freedom"), [
    ("planar", 90.0, 9), ("biped34", 70.4, 34), ("big-bird", 64.1, 24), ("raptor", 77.84, 42),
])  # fmt: skip
def test_bodies_weigh_what_the_paper_says(walkers, body, mass, freedom):
    """coros2010 section 4.5; facts 2.2."""
    model = walkers[body].scene.model
    assert model.body_subtreemass[0] == pytest.approx(mass)
    assert model.nv == freedom


def test_the_planar_trunk_is_the_applets():
    """70 kg, centre 0.24 m above the hip, 1.475 kg m^2 about it, head and all (facts 2.2)."""
    scene = scene_of("planar")
    model = scene.model
    ids = [scene.body("torso"), scene.body("head")]
    mass, height = model.body_mass[ids], model.body_ipos[ids, 2] + np.array([0, model.body_pos[ids[1], 2]])
    centre = (mass * height).sum() / mass.sum()
    assert mass.sum() == pytest.approx(70)
    assert centre == pytest.approx(0.24, abs=1e-3)
    inertia = (model.body_inertia[ids, 1] + mass * (height - centre) ** 2).sum()
    assert inertia == pytest.approx(1.475, abs=0.01)


@each_body
def test_openings_stand_on_the_ground(walkers, body):
    walker = walkers[body]
    for gait in walker.gaits:
        sims = Sims(walker.scene, 1, nthread=1)
        sims.load(walker.opening(gait.name))
        assert sims.view("grounded").any()
        assert not walker.fallen(sims).any()


def test_names_of_hinges():
    assert [joint_of(name) for name in ("left_hip_bend", "neck_twist", "tail_1_bend", "left_knee")] == [
        "left_hip", "neck", "tail_1", "left_knee",
    ]  # fmt: skip
    assert [side_of(name) for name in ("left_hip", "right_hip", "neck")] == [0, 1, -1]
    assert plain("right_hip") == "hip"


# ---- gait files


@pytest.mark.parametrize(("body", "name"), NAMES)
def test_builtin_gaits_are_sound(body, name):
    gait = load_gait(GAITS / body / f"{name}.toml", character(body))
    assert gait.name == name
    table = table_of([gait], roles_of(character(body)))
    assert all(np.isfinite(field).all() for field in table)
    assert gait.about


GOOD = (GAITS / "planar" / "walk.toml").read_text()
KNEE = "bend = [[0, 1.1]]"
BAD = [  # what to replace, by what, what is said
    ("swing_knee", "swing_nee", "no joint 'swing_nee' in state 0 of gait 'walk'; there are: root, stance_ankle, "),
    ("knee = {", "kne = {", "no joint 'kne' for gains of gait 'walk'; there are: ankle, hip, knee, root"),
    ("knee = { stiffness = 300, damping = 30 }", "", "gait 'walk' has no gains for knee: add [gains.knee]"),
    (KNEE, "bend = [[0.5, 1.1], [0.2, 1]]", "must have knots in rising order, got 0.5 before 0.2"),
    (
        KNEE,
        "bend = [[0, nan]]",
        "bend of 'swing_knee' in state 0 of gait 'walk' must have finite knots, got",
    ),
    (KNEE, "bend = [[1.5, 1]]", "must have phases from 0 to 1, got 1.5"),
    (KNEE, "bend = [[0.5, 99]]", "must stay within 12, got 99 at 0.5"),
    (KNEE, f"bend = {[[i / 20, 0] for i in range(20)]}", "at most 16 knots, got 20"),
    (KNEE, "bnd = [[0, 1.1]]", "not a gait (text): Object contains unknown field `bnd`"),
    ("duration = 0.3", "duration = 0", "duration of state 0 of gait 'walk' must be a number 0.02 or more"),
    ("duration = 0.3", "duration = inf", "duration of state 0 of gait 'walk' must be a number 0.02 or more"),
    ('until = "time"', 'until = "dawn"', "not a gait (text): Invalid enum value 'dawn'"),
    ('"planar"', '"biped34"', "gait 'walk' is for the character 'biped34', got 'planar'"),
    ("stiffness = 300", "stiffness = -3", "stiffness of 'root' of gait 'walk' must be a number 0 or more"),
    ("left_hip_bend", "left_hip_bent", "no hinge 'left_hip_bent' in the start of gait 'walk'"),
    ("left_hip_bend = ", "left_hip_bend = nan # ", "angle of 'left_hip_bend' in the start of gait 'walk'"),
    ("[-2.2, 0]", "[-22, 0]", "bend_feedback of 'swing_hip' in state 1 of gait 'walk' must be a number -10 or more"),
    ('name = "walk"', "", "not a gait (text): Object missing required field `name`"),
    ('name = "walk"', "name = ", "not a gait (text): "),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD, ids=[f"{old[:12]}-{new[:16]}" for old, new, _ in BAD])
def test_bad_gaits_are_refused(old, new, message):
    assert old in GOOD
    with pytest.raises(UserError, match=re.escape(message)):
        read_gait(GOOD.replace(old, new), character("planar"))


def test_gaits_need_states_that_swap():
    gait = read_gait(GOOD, character("planar"))
    still = [msgspec.structs.replace(state, swap=False) for state in gait.states]
    with pytest.raises(UserError, match="gait 'walk' never swaps legs: give a state swap = true"):
        check_gait(msgspec.structs.replace(gait, states=tuple(still)), character("planar"))
    with pytest.raises(UserError, match="must have 1 to 4 states, got 0"):
        check_gait(msgspec.structs.replace(gait, states=()), character("planar"))


def test_missing_files_are_told(tmp_path):
    with pytest.raises(UserError, match=re.escape("cannot read the gait 'none.toml'")):
        load_gait(tmp_path / "none.toml", character("planar"))


CALLS = [
    (lambda: Simbicon(Scene(character("planar"), drives=["servo"])), "no drive 'torque'; there are: servo"),
    (lambda: Simbicon(Scene(humanoid())), "no gaits for the character 'humanoid': give some, or take planar"),
    (lambda: Simbicon(scene_of("biped")), "no gaits for the character 'biped': give some, or take planar"),
]


@pytest.mark.parametrize(("call", "message"), CALLS, ids=[message[:40] for _, message in CALLS])
def test_bad_scenes_are_refused(call, message):
    with pytest.raises(UserError, match=re.escape(message)):
        call()


def test_bad_choices_are_refused(walkers):
    walker = walkers["planar"]
    sims = started(walker)
    with pytest.raises(UserError, match=re.escape("no gait 'wlk' of 'planar'; there are: ")):
        walker.choose(sims, "wlk")
    with pytest.raises(UserError, match="weight must be a number 0 or more and at most 1, got 2"):
        walker.choose(sims, "walk", "crouch", 2.0)
    with pytest.raises(UserError, match="gaits to mix need equally many states, 'walk' has 2, 'run' 1"):
        walker.choose(sims, "walk", "run", 0.5)
    with pytest.raises(UserError, match="heading must be a number"):
        walker.turn_to(sims, math.nan)


# ---- behaviour


@pytest.mark.parametrize(("body", "slowest"), [("planar", 0.7), ("biped34", 0.6), ("big-bird", 0.5), ("raptor", 0.4)])
def test_walks_three_seconds(walkers, body, slowest):
    walker = walkers[body]
    sims = started(walker)
    start = sims.view("com")[0, 0]
    assert not run(walker, sims, 3.0).any()
    assert sims.view("com")[0, 0] - start > 3.0 * slowest
    assert walker.steps(sims)[0] >= 4


def test_turns_to_a_heading(walkers):
    walker = walkers["big-bird"]
    sims = started(walker)
    walker.turn_to(sims, 0.6)
    assert not run(walker, sims, 4.0).any()
    start = sims.view("com")[0].copy()
    run(walker, sims, 2.4)
    course = sims.view("com")[0] - start
    assert math.atan2(course[1], course[0]) == pytest.approx(0.6, abs=0.2)


def hundred_steps(walker, gait, starts=10):
    """Perturbed starts out of `starts` from which a gait makes 100 steps without a fall."""
    sims = started(walker, gait, nsim=starts, push=PUSH)
    fallen = np.zeros(starts, bool)
    while not (fallen | (walker.steps(sims) >= 100)).all():
        sims.act(walker.control(sims), walker.drive)
        fallen |= walker.fallen(sims) & (walker.steps(sims) < 100)
    return int((~fallen).sum())


@pytest.mark.slow
@pytest.mark.parametrize(("body", "name"), NAMES)
def test_a_hundred_steps(walkers, body, name):
    assert hundred_steps(walkers[body], name) >= 9


@pytest.mark.slow
def test_a_mix_walks_too(walkers):
    walker = walkers["biped34"]
    sims = started(walker, nsim=5)
    walker.choose(sims, "walk", "in-place", np.array([0.1, 0.3, 0.5, 0.7, 0.9]))
    assert run(walker, sims, 20.0).sum() <= 1
    ahead = sims.view("com")[:, 0]
    assert ahead[0] > ahead[-1]  # the more in place, the slower


@pytest.mark.slow
def test_fast_enough(walkers):
    """Eight times real time for one character on one core, control and all."""
    walker = walkers["biped34"]
    sims = started(walker)
    run(walker, sims, 0.2)
    begin = time.process_time()
    run(walker, sims, 4.0)
    assert 4.0 / (time.process_time() - begin) > 8


def test_gaits_are_data():
    """A gait is plain data: to JSON and back it is the same."""
    gait = next(iter(builtin_gaits(character("biped34")).values()))
    assert msgspec.json.decode(msgspec.json.encode(gait), type=Gait) == gait
