"""Hands of walkers against MuJoCo and closed forms: where arms reach, what loads weigh, when a hand lets go."""

import math

import mujoco
import numpy as np
import pytest

from tumble.characters import biped
from tumble.maths import vectors
from tumble.maths.bundles import Address
from tumble.maths.compiled import as_entry
from tumble.walking import Walker, WalkSettings, holding, legs
from tumble.walking import memory as mem
from tumble.walking.body import ARMS, BACK, BONES, TORSO, body_of, fields_of
from tumble.world.grips import STIFFNESS, grips_of
from tumble.world.props import Crate
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

about, multiply, turned = map(as_entry, (vectors.about, vectors.multiply, vectors.turned))
hand_force, use_hands, with_load = map(as_entry, (holding.hand_force, holding.use_hands, holding.with_load))
arm_pose = as_entry(legs.arm_pose)

MASS = 15.0  # kg of the crate


@pytest.fixture(scope="module")
def scene() -> Scene:
    """A biped and a crate with two handles."""
    return Scene(biped(), [Crate("crate", (2.0, 0.0, 0.2), mass=MASS)], Ground(friction=0.8))


@pytest.fixture(scope="module")
def walker(scene) -> Walker:
    return Walker(scene)


def begun(scene: Scene, walker: Walker, state: np.ndarray | None = None) -> Sims:
    """Stands in a state, at rest unless told, and wishes nothing."""
    sims = Sims(scene, 1, 1)
    sims.use(walker.drive)
    sims.load(scene.state() if state is None else state)
    walker.start(sims)
    return sims


def hold_both(scene: Scene, walker: Walker, sims: Sims) -> None:
    """Each hand by the handle on its side."""
    grips = grips_of(scene.character, scene.props)
    for hand in (0, 1):
        walker.hold(sims, 0, hand, grips.index((hand, "crate", hand)))


def tossed(scene: Scene, seed: int) -> np.ndarray:
    """A state in which all joints are bent, everything moves, and the crate is somewhere."""
    data, rng = scene.show(scene.state(height=2.0)), np.random.default_rng(seed)
    data.qvel[:] = rng.normal(size=scene.model.nv)
    mujoco.mj_integratePos(scene.model, data.qpos, rng.normal(0, 0.3, scene.model.nv), 1.0)
    return scene.read(data)


def test_arms_reach_their_targets_with_elbows_that_bend_forwards():
    rng = np.random.default_rng(0)
    for _ in range(200):
        upper, fore = rng.uniform(0.2, 0.5, 2)
        line = rng.normal(size=3)
        line *= rng.uniform(abs(upper - fore) + 0.01, 0.98 * (upper + fore)) / np.linalg.norm(line)
        shoulder, side = rng.normal(size=3), rng.normal(size=3)
        pose, elbow = arm_pose(tuple(shoulder), tuple(shoulder + line), upper, fore, tuple(side), 0.99)
        to_elbow = np.array(turned(pose, (0.0, 0.0, -upper)))
        to_palm = np.array(turned(multiply(pose, about(1, -elbow)), (0.0, 0.0, -fore)))  # elbows flex about -y
        assert to_elbow + to_palm == pytest.approx(line, abs=1e-6)
        assert 0 <= elbow < math.pi
        assert np.cross(side, line) @ to_elbow >= -1e-9  # it points to where it is said to


@pytest.mark.parametrize("way", [(0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.6, 0.0, 0.8)])
def test_arms_stretch_towards_what_is_too_far(way):
    pose, elbow = arm_pose((0.0, 0.0, 0.0), tuple(2.0 * np.array(way)), 0.3, 0.25, (0.0, 1.0, 0.0), 0.99)
    palm = np.add(turned(pose, (0.0, 0.0, -0.3)), turned(multiply(pose, about(1, -elbow)), (0.0, 0.0, -0.25)))
    assert palm == pytest.approx(0.99 * 0.55 * np.array(way), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_body_with_a_load_has_mujocos_centre_of_mass(scene, walker, seed):
    sims = begun(scene, walker, tossed(scene, seed))
    hold_both(scene, walker, sims)
    body, memory, fields = body_of(scene, WalkSettings()), sims.memory(mem.MEMORY)[0], fields_of(sims)
    memory.carried = 1.0
    com, velocity = (tuple(map(float, sims.view(name)[0])) for name in ("com", "com_velocity"))
    total, middle, moving = with_load(Address(body), Address(body.holds), memory, Address(fields), 0, com, velocity)
    data = scene.show(sims.state[0])
    mujoco.mj_subtreeVel(scene.model, data)
    assert total == pytest.approx(scene.model.body_subtreemass[0])
    assert middle == pytest.approx(data.subtree_com[0], abs=1e-9)
    assert moving == pytest.approx(data.subtree_linvel[0], abs=1e-9)


@pytest.mark.parametrize("haul", [0.0, 80.0])
@pytest.mark.parametrize("both", [True, False])
def test_arms_and_back_balance_what_hangs_on_the_palms(scene, walker, both, haul):
    """The torques are J^T F of the forces at the palms, so that a load is held in any pose."""
    sims = begun(scene, walker, tossed(scene, 3))
    hold_both(scene, walker, sims)
    if not both:
        walker.hold(sims, 0, 1, None)
    body, memory, fields = body_of(scene, WalkSettings()), sims.memory(mem.MEMORY)[0], fields_of(sims)
    memory.load, memory.haul, memory.heading = 1.0, haul, 0.7
    way = np.array([math.cos(0.7), math.sin(0.7), 0.0])  # where it is to go, not where the tossed pelvis faces
    torque = np.zeros((len(BONES), 3))
    use_hands(Address(body), Address(body.holds), Address(walker.settings), memory, Address(fields), 0, torque)
    data, expected = scene.show(sims.state[0]), np.zeros(scene.model.nv)
    for hand in (0, 1) if both else (0,):
        jacobian = np.zeros((3, scene.model.nv))
        mujoco.mj_jacSite(scene.model, data, jacobian, None, scene.model.site(scene.character.palms[hand]).id)
        weight = (0.0, 0.0, body.gravity * (MASS / 2 if both else MASS))
        expected += (np.add(weight, 0.5 * haul * way)) @ jacobian
    for bone in (BACK, TORSO, ARMS, ARMS + 1, ARMS + 2, ARMS + 3):
        for j in range(body.joint[bone], body.joint[bone] + body.joints[bone]):
            assert torque[bone] @ data.xaxis[j] == pytest.approx(expected[body.dof[j]], abs=1e-8)


PULL = 80.0  # N wished of both hands


@pytest.mark.parametrize(
    ("short", "slower", "expected"),
    [
        (0.0, 0.0, 0.5),  # where it is to be, at the speed of the walk: what is wished
        (0.1, 0.0, 0.25),  # half a slack nearer: half of it
        (0.3, 0.3, 0.0),  # a hand that is near does not draw the body to the crate
        (-1.0, 0.0, 0.75),  # no more than half as much again
        (0.0, 0.05, 0.5 + 0.05 * 5.0 * MASS / 2 / PULL),  # a crate that lags is brought to the speed of the walk
        (0.0, -0.05, 0.5 - 0.05 * 5.0 * MASS / 2 / PULL),
        (0.0, -5.0, 0.0),  # one that comes by itself is not pushed back
    ],
)
def test_a_hand_pulls_as_far_out_as_it_is_and_keeps_the_crate_at_the_speed_of_the_walk(
    scene, walker, short, slower, expected
):
    sims = begun(scene, walker)
    hold_both(scene, walker, sims)
    body, memory, fields = body_of(scene, WalkSettings()), sims.memory(mem.MEMORY)[0], fields_of(sims)
    memory.haul, memory.speed = -PULL, -0.25
    sims.view("qvel")[0, body.holds.crate_dof[0]] = -0.25 + slower
    for hand in (0, 1):
        palm = sims.view("site_xpos")[0, scene.model.site(scene.character.palms[hand]).id]
        walker.reach(sims, 0, hand, palm - sims.view("qpos")[0, :3] + (short * body.size, 0.0, 0.0), mem.HandFrame.BODY)
        force = hand_force(
            Address(body), Address(body.holds), Address(walker.settings), memory, Address(fields), 0, hand
        )
        assert force == pytest.approx(-expected * PULL, abs=1e-9)


def test_steps_that_pull_are_short(scene, walker):
    sims = begun(scene, walker)
    hold_both(scene, walker, sims)
    memory = sims.memory(mem.MEMORY)[0]
    memory.haul = -1.0
    memory.period = walker.settings.hands.pull_period
    walker.law(sims)
    assert memory.period == walker.settings.hands.pull_period < walker.styles[0].period
    memory.haul = 1.0
    walker.law(sims)
    assert memory.period > walker.settings.hands.pull_period


@pytest.mark.parametrize(("share", "holds"), [(0.97, True), (1.03, False)])
def test_a_hand_lets_go_of_what_pulls_too_hard(scene, walker, share, holds):
    sims = begun(scene, walker)
    far = share * walker.settings.hands.grip_breaks * body_of(scene, WalkSettings()).scale / STIFFNESS
    palm = sims.view("site_xpos")[0, scene.model.site(scene.character.palms[0]).id]
    handle = scene.prop("crate", Crate).handles[0]
    sims.load(scene.placed(sims.state[0], "crate", tuple(palm - handle + (0.6 * far, 0.8 * far, 0.0))))
    walker.start(sims)
    grip = grips_of(scene.character, scene.props).index((0, "crate", 0))
    walker.hold(sims, 0, 0, grip)
    sims.memory(mem.MEMORY).hand_firm[0, 0] = 1.0
    out = walker.law(sims)
    assert walker.holding(sims, 0, 0) == (grip if holds else None)
    closed = out[0, walker.drive.joints :].reshape(-1, 4)
    assert (closed[grip] == (1.0 if holds else 0.0)).all()
    assert not np.delete(closed, grip, axis=0).any()


@pytest.mark.parametrize("hand", [0, 1])
def test_a_standing_walker_brings_its_palm_to_a_target(scene, walker, hand):
    """Three places at once: ahead, to the side and high, all within nine tenths of the arm."""
    side = 1.0 if hand == 0 else -1.0
    sims = Sims(scene, 3, 1)
    sims.use(walker.drive)
    sims.load(scene.state())
    walker.start(sims)
    stood = sims.view("xanchor")[0, body_of(scene, WalkSettings()).joint[ARMS + 2 * hand]]
    ways = np.array([(0.9, 0.0, 0.1), (0.5, 0.6 * side, -0.3), (0.5, 0.1 * side, 0.7)])
    targets = stood + walker.arms[hand] * ways
    for row, target in enumerate(targets):
        walker.reach(sims, row, hand, target)
    for _ in range(round(3.0 / scene.dt)):
        sims.act(walker.control(sims), walker.drive)
    palms = sims.view("site_xpos")[:, scene.model.site(scene.character.palms[hand]).id]
    assert np.linalg.norm(palms - targets, axis=1).max() < 0.005
    assert (sims.memory(mem.MEMORY).mode == mem.Mode.STAND).all()
