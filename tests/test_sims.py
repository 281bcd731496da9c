"""Simulations against a plain mj_step loop; forking, threads, and rows that break."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest

from tumble.errors import UserError
from tumble.world.drives import Drive
from tumble.world.scene import Scene
from tumble.world.sims import Sims


def controls(scene: Scene, rng: np.random.Generator, *shape: int, drive: Drive | None = None) -> np.ndarray:
    """Uniformly random controls."""
    drive = drive or scene.drive
    return rng.uniform(drive.low, drive.high, (*shape, drive.size))


def still(scene: Scene, nsim: int) -> np.ndarray:
    drive = scene.drive
    return np.tile(np.r_[np.zeros(drive.joints), np.ones(drive.size - drive.joints)], (nsim, 1))


def loaded(scene: Scene, nsim: int, nthread: int = 1, pose: str = "rest", lying: str = "upright") -> Sims:
    sims = Sims(scene, nsim, nthread)
    sims.load(scene.state(pose, lying))
    return sims


@pytest.mark.parametrize(("name", "steps"), [("servo", 1), ("torque", 17)])
def test_act_is_a_plain_loop_to_the_last_bit(scene, name, steps):
    drive = scene.drives[name]
    rng = np.random.default_rng(1)
    sims = loaded(scene, 3, pose="t-pose", lying="supine")
    plain = [scene.show(scene.state("t-pose", "supine")) for _ in range(3)]
    for _ in range(40):
        control = controls(scene, rng, 3, drive=drive)
        sims.act(control, drive)
        for i, data in enumerate(plain):
            for step in range(steps):
                drive.write(control[i : i + 1], data.qvel[None], data.ctrl[None], step)
                mujoco.mj_step(drive.model, data)
            assert np.array_equal(scene.read(data), sims.state[i])
    assert not np.array_equal(sims.state[0], sims.state[1])
    assert sims.view("time")[0] == pytest.approx(40 / 30)


def test_everything_is_current_after_act(scene):
    rng = np.random.default_rng(2)
    sims = loaded(scene, 2)
    for _ in range(5):
        sims.act(controls(scene, rng, 2))
    for i in range(2):
        data = scene.show(sims.state[i])
        assert np.array_equal(sims.view("com")[i], data.body(scene.character.root).subtree_com)
        for name in scene.channels:
            assert np.array_equal(sims.view(name)[i], data.sensordata[scene.channels[name]]), name
        for name in ("qpos", "qvel", "xipos"):
            assert np.array_equal(sims.view(name)[i], getattr(data, name)), name


def test_everything_is_current_after_load(scene):
    sims = loaded(scene, 2)
    rows = np.stack([scene.state("rest"), scene.state("t-pose", "prone", 0.3)])
    sims.load(rows)
    assert np.array_equal(sims.state, rows)
    for i in range(2):
        assert np.array_equal(sims.view("com")[i], scene.show(rows[i]).body("pelvis").subtree_com)


def test_views_are_live_and_writable(scene):
    sims = loaded(scene, 2)
    assert sims.view("com") is sims.view("com")
    sims.view("qvel")[1, 0] = 3.0
    sims.act(still(scene, 2))
    moved = sims.view("com_velocity")[:, 0]
    assert abs(moved[0]) < 0.1
    assert moved[1] > 0.1


def test_unknown_view_lists_what_there_is(scene):
    with pytest.raises(UserError, match=r"no view 'com_velosity'; there are: .*com, .*qpos.* \(did you mean 'com_vel"):
        Sims(scene, 1, 1).view("com_velosity")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "nsim must be a number 1 or more and at most 1e\\+06, got 0"),
        ((float("nan"),), "nsim must be a number 1 or more"),
        ((1, -1), "nthread must be a number 0 or more and at most 1024, got -1"),
    ],
)
def test_bad_sizes(scene, arguments, message):
    with pytest.raises(UserError, match=message):
        Sims(scene, *arguments)


def test_act_refuses_controls_of_another_shape(scene):
    with pytest.raises(UserError, match=r"\(2, 35\).*\(1, 35\)"):
        loaded(scene, 2).act(still(scene, 1))


# Forking --------------------------------------------------------------------------------------------


def test_take_composes_and_broken_travels(scene):
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 6, 6), rng.integers(0, 6, 6)
    one, two = loaded(scene, 6), loaded(scene, 6)
    for sims in (one, two):
        sims.act(controls(scene, np.random.default_rng(4), 6))
        sims.broken[:] = [False, True, False, True, False, False]
    state, broken = one.state.copy(), one.broken.copy()
    one.take(a)
    assert np.array_equal(one.state, state[a])
    assert np.array_equal(one.broken, broken[a])
    one.take(b)
    two.take(a[b])
    assert np.array_equal(one.state, two.state)
    assert np.array_equal(one.broken, two.broken)
    assert np.array_equal(np.shares_memory(one.state, two.state), False)


def test_a_fork_goes_on_as_its_parent_would(scene):
    rng = np.random.default_rng(5)
    sims = loaded(scene, 3)
    for _ in range(3):
        sims.act(controls(scene, rng, 3))
    sims.take(np.array([1, 1, 1]))
    sims.act(np.tile(controls(scene, rng, 1), (3, 1)))
    assert np.array_equal(sims.state[0], sims.state[1])
    assert np.array_equal(sims.state[2], sims.state[1])


def test_threads_do_not_matter(scene):
    def run(nthread: int) -> np.ndarray:
        rng = np.random.default_rng(6)
        sims = loaded(scene, 16, nthread, "t-pose", "supine")
        seen = []
        for frame in range(60):
            if frame % 3 == 2:
                sims.take(np.sort(rng.integers(0, 16, 16)))
            sims.act(controls(scene, rng, 16))
            seen.append(np.hstack([sims.state, sims.view("ends"), sims.view("grounded")]))
        return np.array(seen)

    assert np.array_equal(run(1), run(2))


# Broken rows ----------------------------------------------------------------------------------------

BREAKERS = {"nan position": ("qpos", np.nan), "nan speed": ("qvel", np.nan), "enormous speed": ("qvel", 1e12)}


@pytest.mark.parametrize("how", BREAKERS)
def test_an_unstable_row_is_broken_and_alone(scene, how, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    field, value = BREAKERS[how]
    sims, sane = loaded(scene, 4), loaded(scene, 4)
    sims.view(field)[2, 7] = value
    for _ in range(3):
        sims.act(still(scene, 4))
        sane.act(still(scene, 4))
        assert list(sims.broken) == [False, False, True, False]
    others = [0, 1, 3]
    assert np.array_equal(sims.state[others], sane.state[others])
    assert np.isfinite(sims.state[2]).all()
    assert not any(tmp_path.iterdir())


def test_not_a_number_as_control_breaks_the_row(scene):
    sims = loaded(scene, 2)
    control = still(scene, 2)
    control[0] = np.nan
    sims.act(control)
    assert list(sims.broken) == [True, False]


def test_load_mends(scene):
    sims = loaded(scene, 2)
    sims.view("qvel")[0, 0] = np.nan
    sims.act(still(scene, 2))
    assert sims.broken.any()
    sims.load(scene.state())
    assert not sims.broken.any()
    sims.act(still(scene, 2))
    assert not sims.broken.any()
    assert np.array_equal(sims.state[0], sims.state[1])


def test_no_log_file_where_the_user_stands(tmp_path):
    code = """
import numpy as np
from tumble import Scene, Sims, humanoid
scene = Scene(humanoid())
sims = Sims(scene, 2, 1)
sims.load(scene.state())
sims.view("qvel")[0] = np.nan
sims.act(np.zeros((2, scene.drive.size)))
assert list(sims.broken) == [True, False]
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not any(tmp_path.iterdir())


# Some of the rows -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [slice(2, 5), slice(0, 1), slice(5, None), slice(-2, None), slice(None, 3)], ids=str)
@pytest.mark.parametrize(("name", "nthread"), [("servo", 1), ("servo", 2), ("torque", 1)])
def test_only_the_rows_that_are_named_move_and_as_if_all_did(scene, rows, name, nthread):
    drive = scene.drives[name]
    some, all_of = (loaded(scene, 6, nthread, "t-pose", "supine") for _ in range(2))
    rng, others = np.random.default_rng(4), np.ones(6, bool)
    others[rows] = False
    fields = ("com", "ends", "grounded", "qpos", "qvel", "xipos", "cvel")
    before = some.state.copy(), [some.view(name).copy() for name in fields]
    for _ in range(8):
        control = controls(scene, rng, 6, drive=drive)
        some.act(control[rows], drive, rows)
        all_of.act(control, drive)
        assert np.array_equal(some.state[rows], all_of.state[rows])
        for name in fields:
            assert np.array_equal(some.view(name)[rows], all_of.view(name)[rows]), name
    assert np.array_equal(some.state[others], before[0][others])
    for name, then in zip(fields, before[1], strict=True):
        assert np.array_equal(some.view(name)[others], then[others]), name
    assert not np.array_equal(some.state[rows], before[0][rows])


def test_rows_in_turn_are_all_rows_at_once(scene):
    turns, once = (loaded(scene, 5) for _ in range(2))
    control = controls(scene, np.random.default_rng(5), 5)
    for rows in (slice(3, 5), slice(0, 2), slice(2, 3)):
        turns.act(control[rows], rows=rows)
    once.act(control)
    assert np.array_equal(turns.state, once.state)
    assert np.array_equal(turns.view("sensordata"), once.view("sensordata"))


def test_a_row_breaks_when_it_acts_and_is_alone(scene):
    sims, sane = loaded(scene, 4), loaded(scene, 4)
    sims.view("qvel")[2, 7] = np.nan
    for rows, broken in ((slice(0, 2), False), (slice(2, 4), True), (slice(0, 2), True)):
        sims.act(still(scene, 2), rows=rows)
        sane.act(still(scene, 2), rows=rows)
        assert list(sims.broken) == [False, False, broken, False]
    assert np.array_equal(sims.state[[0, 1, 3]], sane.state[[0, 1, 3]])


@pytest.mark.parametrize(
    ("shape", "rows", "message"),
    [
        ((4, 35), slice(None), r"controls must have the shape \(3, 35\), got \(4, 35\)"),
        ((3, 34), slice(None), r"controls must have the shape \(3, 35\), got \(3, 34\)"),
        ((3, 35), slice(0, 2), r"controls must have the shape \(2, 35\), got \(3, 35\)"),
        ((7, 35), slice(2, 9), r"controls must have the shape \(1, 35\), got \(7, 35\)"),
        ((35,), slice(0, 1), r"controls must have the shape \(1, 35\), got \(35,\)"),
    ],
    ids=str,
)
def test_controls_of_another_shape(scene, shape, rows, message):
    sims = loaded(scene, 3)
    before = sims.state.copy()
    with pytest.raises(UserError, match=message):
        sims.act(np.ones(shape), rows=rows)
    assert np.array_equal(sims.state, before)


def test_no_rows_do_nothing(scene):
    sims = loaded(scene, 3)
    before = sims.state.copy()
    sims.act(np.ones((0, 35)), rows=slice(1, 1))
    assert np.array_equal(sims.state, before)


# Laws -----------------------------------------------------------------------------------------------


def test_a_law_is_asked_before_every_step_and_sees_what_the_last_one_did(scene):
    drive, seen = scene.drives["torque"], []

    def law(sims: Sims) -> np.ndarray:
        seen.append(sims.view("time").copy())
        return np.zeros((sims.nsim, drive.size))

    sims = loaded(scene, 2)
    sims.act(law, drive)
    assert len(seen) == drive.steps == 17
    assert np.array(seen)[:, 0] == pytest.approx(np.arange(17) / 510)
    assert np.array_equal(np.array(seen)[:, 0], np.array(seen)[:, 1])
    assert sims.view("time").ravel() == pytest.approx([1 / 30, 1 / 30])


@pytest.mark.parametrize("name", ["servo", "torque"])
def test_a_law_that_never_changes_is_a_control_that_is_held(scene, name):
    drive = scene.drives[name]
    held, asked = loaded(scene, 3), loaded(scene, 3)
    control = controls(scene, np.random.default_rng(8), 3, drive=drive)
    for _ in range(3):
        held.act(control, drive)
        asked.act(lambda sims: control, drive)
    assert np.array_equal(held.state, asked.state)


def test_a_law_speaks_of_all_rows_where_some_act(scene):
    drive = scene.drives["torque"]
    some, all_of = loaded(scene, 4), loaded(scene, 4)
    control = controls(scene, np.random.default_rng(9), 4, drive=drive)
    some.act(lambda sims: control, drive, slice(1, 3))
    all_of.act(control, drive)
    assert np.array_equal(some.state[1:3], all_of.state[1:3])
    assert np.array_equal(some.state[[0, 3]], loaded(scene, 4).state[[0, 3]])


def test_a_law_of_another_shape_is_refused(scene):
    sims = loaded(scene, 2)
    with pytest.raises(UserError, match=r"a law must give controls of the shape \(2, 30\), got \(2, 35\)"):
        sims.act(lambda sims: still(scene, 2), scene.drives["torque"])
