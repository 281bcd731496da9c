"""Gait, rajamaki2017 eq. 7: courses, every term against physics or scipy, what turns and moves with it, bad calls."""

import re

import mujoco
import numpy as np
import pytest
from bodies import ANY_LEGS
from scipy.spatial.transform import Rotation

from tumble.characters import character
from tumble.errors import UserError
from tumble.goals import Goal, Term, balance, gait
from tumble.goals.course import NEAR, Course
from tumble.goals.gait import CourseVelocity, MotorTorque, OverLegs, Turned
from tumble.goals.terms import Velocity
from tumble.planners import SMC, SMCSettings
from tumble.world.rollouts import Rollouts
from tumble.world.scene import Scene
from tumble.world.sims import Sims

FREE = ["humanoid-walker", "monoped", "quadruped"]  # roots that can turn
each_free = pytest.mark.parametrize("name", FREE)


@pytest.fixture(scope="module")
def scenes() -> dict[str, Scene]:
    return {name: Scene(character(name)) for name in ANY_LEGS}


@pytest.fixture(scope="module")
def walker(scenes) -> Scene:
    return scenes["humanoid-walker"]


def loaded(scene: Scene, *states: np.ndarray) -> Sims:
    sims = Sims(scene, len(states), 1)
    sims.load(np.array(states))
    return sims


def tossed(scene: Scene, seed: int = 0, speed: float = 1.0, height: float = 3.0) -> np.ndarray:
    """In the air: root turned anyhow, joints within their limits, everything moving. m, m/s and rad/s."""
    rng, data = np.random.default_rng(seed), scene.show(scene.state(height=height))
    low, high = np.array([scene.model.joint(joint).range for joint in scene.character.joints]).T
    data.qpos[scene.drive.qpos] = rng.uniform(0.8 * low + 0.2 * high, 0.2 * low + 0.8 * high)
    data.qpos[3:7] = Rotation.random(rng=rng).as_quat(scalar_first=True)
    data.qvel[:] = speed * rng.standard_normal(scene.model.nv)
    return scene.read(data)


def spun(scene: Scene, state: np.ndarray, angle: float, shift=(0.0, 0.0)) -> np.ndarray:
    """The state of a free root with the whole world turned about the vertical, rad, and moved, m."""
    turn, data = Rotation.from_euler("z", angle), scene.show(state)
    data.qpos[:3] = turn.apply(data.qpos[:3]) + np.r_[shift, 0]
    data.qpos[3:7] = (turn * Rotation.from_quat(data.qpos[3:7], scalar_first=True)).as_quat(scalar_first=True)
    data.qvel[:3] = turn.apply(data.qvel[:3])  # MuJoCo has a free joint's spin in the body's own axes
    return scene.read(data)


def speeds(scene: Scene, state: np.ndarray) -> np.ndarray:
    """(bodies, 3): velocities of the bodies' centres, m/s, as MuJoCo computes them."""
    data, both, found = scene.show(state), np.empty(6), []
    for body in range(1, scene.model.nbody):
        mujoco.mj_objectVelocity(scene.model, data, mujoco.mjtObj.mjOBJ_BODY, body, both, 0)
        found.append(both[3:].copy())
    return np.array(found)


def ahead(angle: float) -> tuple[float, float]:
    return (float(np.cos(angle)), float(np.sin(angle)))


def one(goal: Goal, kind: type[Term]) -> Term:
    (term,) = [term for term in goal.terms if isinstance(term, kind)]
    return term


# Courses --------------------------------------------------------------------------------------------


def test_a_course_without_a_target_is_the_same_everywhere():
    com = np.random.default_rng(0).normal(0, 100, (7, 3))
    assert np.array_equal(Course(2.0, (0.6, -0.8)).directions(com), np.tile([0.6, -0.8], (7, 1)))


def test_a_course_points_to_its_target_from_wherever_one_is():
    com = np.random.default_rng(1).normal(0, 10, (200, 3))
    course = Course(1.0, (0.0, 1.0), target=(3.0, -2.0))
    found, way = course.directions(com), np.array([3.0, -2.0]) - com[:, :2]
    assert np.linalg.norm(found, axis=1) == pytest.approx(1)
    assert (found * way).sum(axis=1) == pytest.approx(np.linalg.norm(way, axis=1))


@pytest.mark.parametrize("height", [-5.0, 0.0, 40.0])
def test_who_is_there_goes_where_the_course_says(height):
    course = Course(1.0, (-0.6, 0.8), target=(3.0, -2.0))
    bearings = np.linspace(0, 6, 9)
    around = np.stack([np.cos(bearings), np.sin(bearings)], axis=1)
    for share, there in ((0.0, True), (0.999, True), (1.001, False)):
        com = np.column_stack([[3.0, -2.0] + share * NEAR * around, np.full(9, height)])
        assert course.directions(com) == pytest.approx(np.tile([-0.6, 0.8], (9, 1)) if there else -around)


@pytest.mark.parametrize("velocity", [(0.3, 0.0), (-1.0, 2.0), (0.0, -20.0), (1e-5, 1e-5)])
def test_the_course_of_a_velocity(walker, velocity):
    course = gait(walker, velocity=velocity).course
    assert np.hypot(*course.direction) == pytest.approx(1)
    assert course.speed * np.array(course.direction) == pytest.approx(velocity)
    assert course.target is None


@pytest.mark.parametrize(
    ("wish", "course"),
    [
        ({"velocity": (0, 0)}, Course(0.0, (1.0, 0.0))),
        ({"velocity": (0.0, 0.0), "facing": (-3.0, 4.0)}, Course(0.0, (-0.6, 0.8))),
        ({"velocity": (0.0, 2.0), "facing": (-3.0, 4.0)}, Course(2.0, (0.0, 1.0))),
        ({"target": (5, -2, 1)}, Course(1.0, (1.0, 0.0), (5.0, -2.0))),
        ({"target": (5, -2, 1), "facing": (0.0, -2.0)}, Course(1.0, (0.0, -1.0), (5.0, -2.0))),
        ({"velocity": np.array([0.0, 2.0])}, Course(2.0, (0.0, 1.0))),
    ],
    ids=str,
)
def test_the_course_of_a_wish(walker, wish, course):
    goal = gait(walker, **wish)
    assert goal.course == course
    assert one(goal, Turned).course == one(goal, CourseVelocity).course == course


# Torques --------------------------------------------------------------------------------------------


def after_a_step(scene: Scene, seed: int, limit: float = 0.5) -> tuple[Sims, np.ndarray]:
    """A step of random control in the air, and the torques (N m) of the joints by which momentum changed in it.

    MuJoCo's discrete step is M (v' - v) / dt = torques - bias - damping v', with mass and bias from before it.
    """
    state, rng, drive = tossed(scene, seed, speed=0.3), np.random.default_rng(seed), scene.drive
    sims, data = loaded(scene, state), scene.show(state)
    mass = np.zeros((scene.model.nv, scene.model.nv))
    mujoco.mj_fullM(scene.model, data, mass)
    sims.act(np.r_[rng.uniform(-2, 2, drive.joints), np.full(drive.size - drive.joints, limit)][None])
    before, after = data.qvel, sims.view("qvel")[0]
    push = mass @ (after - before) / scene.dt + data.qfrc_bias + scene.model.dof_damping * after
    assert np.delete(push, drive.qvel) == pytest.approx(0, abs=1e-9)  # nothing holds the root
    return sims, push[drive.qvel]


@each_free
@pytest.mark.parametrize("seed", range(3))
def test_torques_are_those_that_changed_the_momentum(scenes, name, seed):
    scene = scenes[name]
    sims, torques = after_a_step(scene, seed)
    half = [0.5 * joint.strength for joint in scene.character.joints.values()]
    found = one(gait(scene, velocity=(1, 0)), MotorTorque).residual(sims)
    assert found[0] == pytest.approx(torques / half, abs=1e-9)
    assert np.abs(found).max() > 0.01


def test_torques_by_the_servos_law(walker):
    sims = loaded(walker, *(tossed(walker, seed) for seed in range(4)))
    rng, drive = np.random.default_rng(0), walker.drive
    sims.act(rng.uniform(drive.low, drive.high, (4, drive.size)))
    found = one(gait(walker, velocity=(1, 0)), MotorTorque).residual(sims)
    for i, (name, joint) in enumerate(walker.character.joints.items()):
        gain = walker.model.actuator(name).gainprm[0]
        missing = sims.view("ctrl")[:, i] - sims.view("qvel")[:, walker.model.joint(name).dofadr[0]]
        assert found[:, i] == pytest.approx(gain * missing / (joint.strength / 2))


def test_one_hinge_of_plain_mujoco_obeys_the_law():
    """MotorTorque at the end of a step, I dv/dt; what MuJoCo calls `actuator_force` is another."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><option timestep="0.03" gravity="0 0 0"/><worldbody><body>
        <joint name="hinge" axis="0 1 0" armature="0.02"/><geom type="capsule" size=".05 .2" mass="1"/></body>
        </worldbody><actuator><velocity joint="hinge" kv="160"/></actuator></mujoco>"""
    )
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    data, mass = mujoco.MjData(model), np.zeros((1, 1))
    data.ctrl[0], data.qvel[0] = 0.4, 0.1
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, mass)
    mujoco.mj_step(model, data)
    after, torque = data.qvel[0], mass[0, 0] * (data.qvel[0] - 0.1) / 0.03
    assert 160 * (0.4 - after) == pytest.approx(torque)
    assert data.actuator_force[0] == pytest.approx(160 * (0.4 - 0.1)) != pytest.approx(torque, rel=0.5)
    term = MotorTorque(gains=(160 / 80,), dofs=(0,))

    class Rows:
        nsim, broken = 1, np.zeros(1, bool)

        def view(self, name):
            return {"ctrl": data.ctrl, "qvel": data.qvel}[name][None]

    assert term.residual(Rows()) == pytest.approx(torque / 80)
    assert Goal(term).values(Rows())[0, 0] == pytest.approx((torque / 80) ** 2)


# Angles ---------------------------------------------------------------------------------------------


@each_free
@pytest.mark.parametrize("bearing", [0.0, 0.7, np.pi / 2, 3.1, np.pi, -2.0, -1e-3])
def test_turned_is_the_angle_from_the_rest_pose_turned_into_the_course(scenes, name, bearing):
    scene = scenes[name]
    sims = loaded(scene, *(tossed(scene, seed) for seed in range(5)))
    term = one(gait(scene, velocity=(0, 0), facing=ahead(bearing)), Turned)
    rest, turn = scene.show(scene.state()), Rotation.from_euler("z", bearing)
    found = term.residual(sims)
    assert found.shape == (5, len(term.bodies))
    for i, body in enumerate(term.bodies):
        wanted = turn * Rotation.from_quat(rest.xquat[body], scalar_first=True)
        there = Rotation.from_quat(sims.view("xquat")[:, body], scalar_first=True)
        assert found[:, i] == pytest.approx((wanted.inv() * there).magnitude(), abs=1e-6)
    assert (found >= 0).all() and (found <= np.pi + 1e-9).all() and found.max() > 1


@each_free
@pytest.mark.parametrize("bearing", [0.0, 2.0, -3.0])
def test_at_rest_facing_the_course_nothing_is_turned(scenes, name, bearing):
    scene = scenes[name]
    sims = loaded(scene, spun(scene, scene.state(), bearing))
    assert one(gait(scene, velocity=ahead(bearing)), Turned).residual(sims) == pytest.approx(0, abs=1e-6)
    other = one(gait(scene, velocity=ahead(bearing + 0.5)), Turned).residual(sims)
    assert other == pytest.approx(0.5, abs=1e-6)  # of every bone


BONES = {
    "humanoid-walker": {"pelvis", "torso", "head", "left_thigh", "right_thigh", "left_shin", "right_shin"},
    "planar-walker": {"pelvis", "torso", "head", "left_thigh", "right_thigh", "left_shin", "right_shin"},
    "monoped": {"torso", "thigh", "shin"},
}


@pytest.mark.parametrize("name", ANY_LEGS)
def test_which_bones_are_to_stay_straight(scenes, name):
    """All but a biped's feet and arms, as in the authors' code."""
    scene = scenes[name]
    term = one(gait(scene, velocity=(1, 0)), Turned)
    names = {scene.model.body(body).name for body in term.bodies}
    assert len(term.bodies) == len(names) == len(term.rest)
    assert names == BONES.get(name, set(scene.bones))
    assert len(names) == {"humanoid-walker": 7, "planar-walker": 7, "monoped": 3, "quadruped": 9}[name]


def test_hands_arms_toes_and_feet_of_other_humanoids_are_free(scene):
    biped = Scene(character("biped"))
    for made in (scene, biped):
        term = one(gait(made, velocity=(1, 0)), Turned)
        names = {made.model.body(body).name for body in term.bodies}
        assert names == {bone for bone in made.bones if not re.search("arm|hand|foot|toe", bone)}


# Velocity and balance -------------------------------------------------------------------------------


@pytest.mark.parametrize("bearing", [0.0, 1.0, -2.5])
def test_going_is_the_velocity_off_the_course_but_for_speed_upwards(walker, bearing):
    sims = loaded(walker, *(tossed(walker, seed) for seed in range(20)))
    masses = walker.model.body_mass[1:]
    velocity = np.array([np.average(speeds(walker, state), axis=0, weights=masses) for state in sims.state])
    goal = gait(walker, velocity=1.5 * np.array(ahead(bearing)))
    found = one(goal, CourseVelocity).residual(sims)
    assert found[:, :2] == pytest.approx(velocity[:, :2] - 1.5 * np.array(ahead(bearing)))
    up = velocity[:, 2] > 0
    assert 0 < up.sum() < 20
    assert (found[up, 2] == 0).all() and found[~up, 2] == pytest.approx(velocity[~up, 2])
    squares = goal.values(sims)[:, goal.names.index("course_velocity")]
    assert squares == pytest.approx((found**2).sum(axis=1) / 0.05**2)


@pytest.mark.parametrize(("up", "cost"), [(0.0, 0.0), (3.0, 0.0), (-0.3, 36.0)])
def test_going_as_told_costs_nothing_and_falling_does(walker, up, cost):
    data = walker.show(walker.state(height=1.0))
    data.qvel[:3] = (0.6, -0.8, up)
    sims = loaded(walker, walker.read(data))
    assert Goal(one(gait(walker, velocity=(0.6, -0.8)), CourseVelocity)).cost(sims) == pytest.approx(cost, abs=1e-9)
    assert Goal(one(gait(walker, target=(60.0, -80.0, 0.0)), CourseVelocity)).cost(sims) == pytest.approx(
        cost, abs=0.05
    )


def test_over_legs_is_the_way_from_the_middle_of_the_feet(walker):
    sims = loaded(walker, *(tossed(walker, seed) for seed in range(30)))
    found = one(gait(walker, velocity=(1, 0)), OverLegs).residual(sims)
    high = 0
    for i, state in enumerate(sims.state):
        data = walker.show(state)
        com, feet = data.body("pelvis").subtree_com, [data.body(f"{side}_foot").xipos for side in ("left", "right")]
        assert found[i, :2] == pytest.approx((com - np.mean(feet, axis=0))[:2])
        below = max(feet[0][2], feet[1][2]) - com[2]
        assert found[i, 2] == pytest.approx(max(0.0, below))
        high += below > 0
    assert 0 < high < 30


def test_over_one_leg(scenes):
    scene = scenes["monoped"]
    sims = loaded(scene, *(tossed(scene, seed) for seed in range(20)))
    found = one(gait(scene, velocity=(1, 0)), OverLegs).residual(sims)
    com, foot = sims.view("com"), sims.view("xipos")[:, scene.body("shin")]
    assert found[:, :2] == pytest.approx((com - foot)[:, :2])
    assert found[:, 2] == pytest.approx(np.maximum(0, (foot - com)[:, 2]))
    assert 0 < (found[:, 2] > 0).sum() < 20
    assert one(gait(scene, velocity=(1, 0)), OverLegs).residual(loaded(scene, scene.state())) == pytest.approx(
        0, abs=1e-9
    )


def test_who_has_four_legs_need_not_stand_over_their_middle(scenes):
    terms = {name: gait(scene, velocity=(1, 0)).names for name, scene in scenes.items()}
    assert terms.pop("quadruped") == ("torque", "turned", "course_velocity")
    assert set(terms.values()) == {("torque", "turned", "course_velocity", "over_legs")}


def test_a_step_costs_what_equation_7_says(walker):
    """Written out: torques in units of 80 N m, degrees, 5 cm/s and 2.5 cm; the strengths are 160 N m."""
    assert {joint.strength for joint in walker.character.joints.values()} == {160.0}
    sims, torques = after_a_step(walker, 3)
    data, rest = walker.show(sims.state[0]), walker.show(walker.state())
    bodies = [walker.body(bone) for bone in BONES["humanoid-walker"]]
    straight, bent = (Rotation.from_quat(d.xquat[bodies], scalar_first=True) for d in (rest, data))
    degrees = np.degrees((straight.inv() * bent).magnitude())
    com = data.body("pelvis").subtree_com
    velocity = np.average(speeds(walker, sims.state[0]), axis=0, weights=walker.model.body_mass[1:])
    feet = [data.body(f"{side}_foot").xipos for side in ("left", "right")]
    off = np.r_[velocity[:2] - [1.0, 0.0], min(0.0, velocity[2])]
    apart = np.r_[(com - np.mean(feet, axis=0))[:2], max(0.0, feet[0][2] - com[2], feet[1][2] - com[2])]
    wanted = (
        np.square(torques / 80).sum() + np.square(degrees / 10).sum()
        + np.square(off / 0.05).sum() + np.square(apart / 0.025).sum()
    )  # fmt: skip
    assert gait(walker, velocity=(1.0, 0.0)).cost(sims)[0] == pytest.approx(wanted)


# Turned together ------------------------------------------------------------------------------------


@each_free
@pytest.mark.parametrize("angle", [0.4, 2.0, np.pi, -1.3])
def test_turning_state_and_course_together_changes_nothing(scenes, name, angle):
    scene = scenes[name]
    states = [tossed(scene, seed) for seed in range(4)]
    here, there = loaded(scene, *states), loaded(scene, *(spun(scene, s, angle, (2.0, -7.0)) for s in states))
    turn = Rotation.from_euler("z", angle)
    velocity, target = np.array([0.8, -0.5, 0.0]), np.array([4.0, 3.0, 0.0])
    before = gait(scene, velocity=velocity[:2]).values(here)
    assert gait(scene, velocity=turn.apply(velocity)[:2]).values(there) == pytest.approx(before, rel=1e-6)
    assert gait(scene, velocity=velocity[:2]).values(there) != pytest.approx(before, rel=1e-6)
    moved = turn.apply(target) + np.array([2.0, -7.0, 0.0])
    assert gait(scene, target=moved).values(there) == pytest.approx(gait(scene, target=target).values(here), rel=1e-6)


# The goal -------------------------------------------------------------------------------------------


def test_standing_at_rest_costs_nothing_but_the_lean(walker):
    sims = loaded(walker, walker.state())
    goal = gait(walker, velocity=(0, 0))
    values = dict(zip(goal.names, goal.values(sims)[0], strict=True))
    assert values.pop("over_legs") >= 0
    assert list(values.values()) == pytest.approx([0, 0, 0], abs=1e-9)


def test_the_right_summands_course_wins_where_it_has_one(walker):
    east, north, none = gait(walker, velocity=(1, 0)), gait(walker, velocity=(0, 1)), Goal(Velocity())
    assert none.course is None and balance(walker).course is None
    assert (east + north).course == north.course != east.course
    assert (east + none).course == (none + east).course == east.course
    assert (east + north + none).course == north.course
    assert east.without("torque").course == east.weighted({"torque": 2.0}).course == east.course
    sims = loaded(walker, tossed(walker))
    assert (east + none).cost(sims) == pytest.approx(east.cost(sims) + none.cost(sims))
    assert (east + none).names == (*east.names, "velocity")


def test_efforts_of_gait_are_between_its_least_and_all(walker):
    goal = gait(walker, velocity=(1, 0))
    values = np.zeros((5, 4))
    values[:, 2] = [0, 10, 2000, 1e6, np.inf]
    efforts = goal.effort(values)
    assert (efforts[1:] >= efforts[:-1]).all()
    assert 0 < efforts[0] < efforts[-1] == 1


@pytest.mark.parametrize("name", ANY_LEGS)
@pytest.mark.parametrize("wish", [{"velocity": (0.7, 0.2)}, {"target": (0.2, 0.1, 0.0)}], ids=str)
def test_rollouts_are_judged_as_live_simulations_are(scenes, name, wish):
    scene, steps, nsim = scenes[name], 5, 3
    goal, sims, rng = gait(scene, **wish), Sims(scene, nsim, 1), np.random.default_rng(0)
    sims.load(scene.state())
    rollouts, seen = Rollouts(sims, steps), []
    for k in range(steps):
        sims.act(rng.uniform(scene.drive.low, scene.drive.high, (nsim, scene.drive.size)))
        rollouts.note(k, slice(nsim))
        seen.append(goal.values(sims))
    live = np.stack(seen, axis=1).reshape(nsim * steps, -1)
    found = rollouts.of(slice(nsim))
    assert np.array_equal(goal.values(found), live)
    assert np.array_equal(goal.way_costs(found)[:, 0], live.sum(axis=1))
    assert goal.way_costs(found).shape == (nsim * steps, 1)
    assert len(np.unique(live[:, 0])) == nsim * steps  # torques of every row and step


def test_smc_plans_for_a_gait(scenes):
    scene = scenes["monoped"]
    plan = SMC(scene, SMCSettings(samples=6, horizon=0.2), 0, 1).plan(scene.state(), gait(scene, velocity=(1, 0)))
    assert np.isfinite(plan.cost) and plan.values.shape == (6, 4)


def test_broken_rows_cost_infinity(scenes):
    scene = scenes["monoped"]
    sims = loaded(scene, scene.state(), scene.state())
    sims.view("qvel")[1] = np.nan
    sims.act(np.zeros((2, scene.drive.size)))
    costs = gait(scene, target=(1, 1, 0)).cost(sims)
    assert np.isfinite(costs[0]) and costs[1] == np.inf


def test_terms_compare_by_what_they_want(walker):
    one_way, other = gait(walker, velocity=(1, 0)), gait(walker, velocity=(0, 1))
    assert one_way.terms == gait(walker, velocity=(1.0, 0.0)).terms
    assert one(one_way, Turned) != one(other, Turned) and one(one_way, CourseVelocity) != one(other, CourseVelocity)
    assert len({*one_way.terms, *other.terms}) == 6  # torque and over_legs are the same


NAN = float("nan")
BAD = [
    ({}, "goal 'gait' takes a velocity or a target, and not both"),
    ({"velocity": (1, 0), "target": (1, 0, 0)}, "goal 'gait' takes a velocity or a target, and not both"),
    ({"facing": (1, 0)}, "goal 'gait' takes a velocity or a target, and not both"),
    ({"velocity": (NAN, 0)}, "velocity must be 2 numbers within 20 m/s, got (nan, 0)"),
    ({"velocity": (0, -21)}, "velocity must be 2 numbers within 20 m/s, got (0, -21)"),
    ({"velocity": (1, 0, 0)}, "velocity must be 2 numbers within 20 m/s, got (1, 0, 0)"),
    ({"target": (1, 0)}, "target must be 3 numbers within 1000 m, got (1, 0)"),
    ({"target": (0, 1001.0, 0)}, "target must be 3 numbers within 1000 m, got (0, 1001.0, 0)"),
    ({"target": (0, 0, float("inf"))}, "target must be 3 numbers within 1000 m, got (0, 0, inf)"),
    ({"velocity": (0, 0), "facing": (0, 0)}, "length of the facing direction must be a number above 0, got 0"),
    ({"velocity": (0, 0), "facing": (NAN, 1)}, "facing must be 2 numbers within 1000 m, got (nan, 1)"),
    ({"target": (1, 0, 0), "facing": (1, 0, 0)}, "facing must be 2 numbers within 1000 m, got (1, 0, 0)"),
]


@pytest.mark.parametrize(("wish", "message"), BAD, ids=[str(wish) for wish, _ in BAD])
def test_bad_wishes(walker, wish, message):
    with pytest.raises(UserError, match=re.escape(message)):
        gait(walker, **wish)
