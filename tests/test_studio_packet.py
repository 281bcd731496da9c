"""Packets, read by a reader of our own from the module's docstring, against the engine and the plan."""

import struct

import mujoco
import numpy as np
import pytest

from tumble.characters import CHARACTERS, biped, character, humanoid
from tumble.control.controller import Report
from tumble.goals import balance
from tumble.live.commands import Drag
from tumble.planners import CPBP, CPBPSettings, Plan
from tumble.scenarios import SCENARIOS
from tumble.scenarios.walking import walking_scene
from tumble.studio import packet
from tumble.studio.packet import Packer, Status, describe, with_flags
from tumble.world.props import Ball, Box, Companion, Crate
from tumble.world.scene import Scene

STATUS = Status(
    tick=70_000, oldest=3, newest=70_001, time=12.5, flags=0, rate=29.5, realtime=0.75, speed=0.5, control_seconds=0.02
)
NOBODY = Report()


class Reader:
    """Takes values off a message, little endian, one after the other."""

    def __init__(self, message: bytes) -> None:
        self.message, self.place = message, 0

    def one(self, kind: str) -> float:
        (value,) = struct.unpack_from("<" + kind, self.message, self.place)
        self.place += struct.calcsize("<" + kind)
        return value

    def many(self, kind: str, *shape: int) -> np.ndarray:
        count = int(np.prod(shape))
        found = np.frombuffer(self.message, kind, count, self.place).reshape(shape)
        self.place += found.nbytes
        return found.astype(float)


def read(message: bytes) -> dict:
    """Everything in a message, by name; points in m."""
    reader, found = Reader(message), {}
    for name, kind in (
        ("version", "B"),
        ("flags", "B"),
        ("scene", "H"),
        ("tick", "I"),
        ("oldest", "I"),
        ("newest", "I"),
    ):
        found[name] = reader.one(kind)
    for name in ("time", "plan_ms", "rate", "realtime", "speed", "effort", "cost"):
        found[name] = reader.one("f")
    found["origin"] = reader.many("<f4", 3)
    counts = [int(reader.one(kind)) for kind in "HHHHHBBHH"]
    bodies, paths, points, best, smoothed, contacts, found["bearing"], terms, found["terms"] = counts
    found["poses"] = reader.many("<f4", bodies, 7)
    found["values"] = reader.many("<f4", terms)
    for flag, name, size in ((16, "target", 3), (32, "velocity", 2), (64, "drag", 6)):
        found[name] = reader.many("<f4", size) if found["flags"] & flag else None
    for name, shape in (
        ("paths", (paths, points)), ("best", (best,)), ("smoothed", (smoothed,)), ("contacts", (contacts,))
    ):  # fmt: skip
        found[name] = reader.many("<i2", *shape, 3) / 1000 + found["origin"]
    found["way"], found["acting"], found["doing"], found["keeping"] = message[reader.place :].decode().split("\n")
    return found


@pytest.fixture(scope="module")
def full() -> Scene:
    """A scene with a box and two balls."""
    return Scene(humanoid(), [Box("wall", (0.0, 0.75, 1.5), (5.0, 0.1, 1.5), 0.2), Ball(), Ball("b", 0.1, 1.0)])


@pytest.fixture(scope="module")
def standing(full) -> np.ndarray:
    """A state in which the character stands at an odd place, turned, and the balls lie about."""
    data = full.show(full.placed(full.placed(full.state(), "b", (0.5, -0.3, 0.099)), "ball", (-0.5, -0.3, 0.149)))
    data.qpos[:2] = (1.25, -0.5)
    data.qpos[3:7] = (np.cos(0.3), 0, 0, np.sin(0.3))
    return full.read(data)


@pytest.fixture(scope="module")
def plan(full, standing) -> Plan:
    """The default C-PBP's."""
    return CPBP(full, CPBPSettings(), 0, 1).plan(standing, balance(full))


def test_poses_are_the_engines(full, standing):
    found, data = read(Packer(full, 7).pack(standing, NOBODY, STATUS, 3)), full.show(standing)
    assert found["poses"].shape == (full.model.nbody, 7)
    assert found["poses"][:, :3] == pytest.approx(data.xpos, abs=1e-5)
    assert found["poses"][:, 3:] == pytest.approx(data.xquat, abs=1e-6)
    assert found["origin"] == pytest.approx(data.body("pelvis").xpos, abs=1e-6)
    assert found["origin"][:2] == pytest.approx((1.25, -0.5), abs=0.02)


def test_the_loop_and_the_timeline_are_told(full, standing):
    found = read(Packer(full, 65535).pack(standing, NOBODY, STATUS, 65535))
    told = {name: found[name] for name in ("version", "flags", "scene", "tick", "oldest", "newest", "terms")}
    assert told == {
        "version": 4, "flags": 0, "scene": 65535, "tick": 70_000, "oldest": 3, "newest": 70_001, "terms": 65535
    }  # fmt: skip
    figures = [found[name] for name in ("time", "plan_ms", "rate", "realtime", "speed")]
    assert figures == pytest.approx([12.5, 20.0, 29.5, 0.75, 0.5])


def test_without_a_plan_there_is_nothing_to_draw_of_it(full, standing):
    found = read(Packer(full, 1).pack(standing, NOBODY, STATUS, 1))
    assert (found["effort"], found["cost"]) == (0, 0)
    assert [found[name].size for name in ("values", "paths", "best", "smoothed")] == [0, 0, 0, 0]
    assert (found["way"], found["acting"], found["doing"]) == ("", "", "")


def test_who_acts_is_told(full, standing, plan):
    message = Packer(full, 1).pack(standing, Report("rising", "getting up", plan), STATUS, 1)
    found = read(with_flags(message, 3, 1, 2))
    assert (found["way"], found["acting"], found["doing"]) == ("", "rising", "getting up")
    assert found["best"] == pytest.approx(plan.path, abs=6e-4)


def test_the_plan_is_told(full, standing, plan):
    found = read(Packer(full, 1).pack(standing, Report(plan=plan), STATUS, 1))
    assert found["effort"] == pytest.approx(plan.effort, rel=1e-6)
    assert found["cost"] == pytest.approx(plan.cost, rel=1e-6)
    assert found["values"] == pytest.approx(plan.values.mean(axis=0), rel=1e-5)
    assert found["best"] == pytest.approx(plan.path, abs=6e-4)
    assert found["smoothed"] == pytest.approx(plan.smoothed, abs=6e-4)
    assert len(found["best"]) == len(found["smoothed"]) == 36
    assert found["way"] == ""  # the planner knows none


def test_the_way_of_a_plan_is_told(full, standing, plan):
    report = Report(plan=Plan(**{**vars(plan), "way": "get up"}))
    message = Packer(full, 1).pack(standing, report, STATUS, 1, velocity=(1.0, 0.0))
    found = read(with_flags(message, 3, 1, 2))
    assert found["way"] == "get up"
    assert found["best"] == pytest.approx(plan.path, abs=6e-4)


def test_paths_are_thinned_to_twelve_points(full, standing, plan):
    found = read(Packer(full, 1).pack(standing, Report(plan=plan), STATUS, 1))["paths"]
    assert plan.paths.shape == (32, 36, 3)
    assert found.shape == (32, 12, 3)
    which = [int(np.abs(plan.paths - found[:, i, None]).max(axis=(0, 2)).argmin()) for i in range(12)]
    assert (which[0], which[-1]) == (0, 35)
    assert set(np.diff(which)) <= {3, 4}
    assert found == pytest.approx(plan.paths[:, which], abs=6e-4)


@pytest.mark.parametrize(("n", "steps"), [(1, 1), (2, 6), (100, 36), (33, 12), (31, 11)])
def test_any_number_of_paths(full, standing, plan, n, steps):
    paths = np.arange(n * steps * 3).reshape(n, steps, 3) % 97 * 0.01
    other = Plan(**{**vars(plan), "paths": paths})
    found = read(Packer(full, 1).pack(standing, Report(plan=other), STATUS, 1))["paths"]
    assert found.shape == (min(n, 32), min(steps, 12), 3)
    assert found[0, 0] == pytest.approx(paths[0, 0], abs=6e-4)
    assert found[-1, -1] == pytest.approx(paths[-1, -1], abs=6e-4)


def test_contacts_are_where_surfaces_touch(full, standing):
    found, data = read(Packer(full, 1).pack(standing, NOBODY, STATUS, 1))["contacts"], full.show(standing)
    touching = np.array([contact.pos for contact in data.contact if contact.dist < 0.002])  # at rest none is ahead
    assert 0 < len(touching) <= 32
    assert found == pytest.approx(touching, abs=6e-4)
    ball = np.linalg.norm(found - (0.5, -0.3, 0.0), axis=1).min()
    assert ball < 0.005  # the one under the ball


def test_contacts_that_bear_the_character_come_first(full):
    state = full.placed(full.state(height=-0.002), "b", (0.5, -0.3, 0.099))
    message = read(Packer(full, 1).pack(state, NOBODY, STATUS, 1))
    feet, others = np.split(message["contacts"], [message["bearing"]])
    data = full.show(state)
    soles = [data.body(f"{side}_foot").xpos[:2] for side in ("left", "right")]
    assert len(feet) >= 2 and len(others) >= 1
    assert all(min(np.linalg.norm(at[:2] - sole) for sole in soles) < 0.25 for at in feet)
    assert np.linalg.norm(others - (0.5, -0.3, 0.0), axis=1).min() < 0.005  # under the ball
    assert read(Packer(full, 1).pack(full.state(height=3.0), NOBODY, STATUS, 1))["bearing"] == 0


def test_masses_and_the_cast_are_told():
    """The centre of mass that a browser adds up is the engine's."""
    scene = Scene(biped(), [Crate("crate"), Companion("ana", biped(legs=1.1).recipe, place=(1.0, 0.5))])
    told, state = describe(scene), scene.state()
    assert [(one["name"], told["bodies"][one["root"]]["name"]) for one in told["cast"]] == [
        ("", "pelvis"), ("ana", "ana/pelvis")
    ]  # fmt: skip
    data = scene.show(state)
    for one in told["cast"]:
        bones = [told["bodies"][i] for i in one["bones"]]
        mass = np.array([bone["mass"] for bone in bones])
        turns = data.xmat[one["bones"]].reshape(-1, 3, 3)
        places = data.xpos[one["bones"]] + np.einsum("nij,nj->ni", turns, [bone["centre"] for bone in bones])
        assert mass @ places / mass.sum() == pytest.approx(data.subtree_com[one["root"]], abs=1e-3)


def test_no_contacts_in_the_air_nor_ahead_of_a_touch(full):
    packer = Packer(full, 1)
    assert read(packer.pack(full.state(height=3.0), NOBODY, STATUS, 1))["contacts"].shape == (0, 3)
    data = full.show(full.state(height=0.05))
    data.qvel[2] = -6.0  # speculative contacts are found before the feet are down
    falling = full.read(data)
    ahead = [contact for contact in full.show(falling).contact if np.linalg.norm(contact.pos[:2]) < 1]
    assert min(contact.dist for contact in ahead) < 0 < min(contact.pos[2] for contact in ahead) - 0.04
    assert read(packer.pack(falling, NOBODY, STATUS, 1))["contacts"].shape == (0, 3)


def test_no_more_contacts_than_a_message_holds(full, standing, monkeypatch):
    monkeypatch.setattr(packet, "CONTACTS", 2)
    assert len(read(Packer(full, 1).pack(standing, NOBODY, STATUS, 1))["contacts"]) == 2


# What is wanted and held


def test_what_is_wanted_and_held_is_there_if_its_flag_is(full, standing, plan):
    packer = Packer(full, 1)
    target, velocity, drag = (0.5, 0.25, 1.5), (1.25, -0.5), Drag("left_hand", (2.0, 3.0, 4.0), (0.01, 0.02, -0.1))
    data = full.show(standing)
    held = data.body("left_hand").xpos + data.body("left_hand").xmat.reshape(3, 3) @ drag.point
    cases = [
        (None, None, None, 0),
        (target, None, None, 16),
        (None, velocity, None, 32),
        (None, None, drag, 64),
        (target, None, drag, 80),
        (None, velocity, drag, 96),
    ]
    for place, way, hold, flags in cases:
        found = read(packer.pack(standing, Report(plan=plan), STATUS, 1, place, way, hold))
        assert found["flags"] == flags
        assert found["target"] is None if place is None else found["target"] == pytest.approx(target)
        assert found["velocity"] is None if way is None else found["velocity"] == pytest.approx(velocity)
        assert found["drag"] is None if hold is None else found["drag"] == pytest.approx([*held, 2, 3, 4], abs=1e-6)
        assert found["best"] == pytest.approx(plan.path, abs=6e-4)  # what follows is not shifted


def test_the_loops_flags_stay(full, standing):
    for flags in (1, 2, 4, 8, 15):
        status = Status(**{**vars(STATUS), "flags": flags})
        assert read(Packer(full, 1).pack(standing, NOBODY, status, 1))["flags"] == flags
        assert read(Packer(full, 1).pack(standing, NOBODY, status, 1, velocity=(1.0, 0.0)))["flags"] == flags | 32
    assert [packet.PAST, packet.PAUSED, packet.RECORDING, packet.BROKEN] == [1, 2, 4, 8]


@pytest.mark.parametrize("scenario", ["stand", "obstacles", "ball-reach"])
def test_a_message_stays_below_5000_bytes(scenario):
    scene = SCENARIOS[scenario].make().scene(humanoid())
    state = scene.state("t-pose", "supine")
    found = CPBP(scene, CPBPSettings(samples=32, horizon=1.2), 0, 1).plan(state, balance(scene))
    status = Status(**{**vars(STATUS), "flags": 15})
    message = Packer(scene, 1).pack(
        state, Report(plan=found), status, 1, (1.0, 0.0, 1.0), (1.0, 0.0), Drag("torso", (1.0, 0.0, 1.0))
    )
    told = read(message)
    assert (told["flags"], told["paths"].shape, len(told["best"])) == (127, (32, 12, 3), 36)
    assert len(message) + 6 * (32 - len(told["contacts"])) < 5000


# Numbers that are none


def test_far_points_end_at_the_edge_and_nan_at_the_origin(full, standing, plan):
    far = plan.path.copy()
    far[0], far[1], far[2], far[3] = (np.nan, 0, 0), (np.inf, -np.inf, 0), (40.0, -1e300, 2.0), (33.0, 0.0, 0.0)
    other = Plan(**{**vars(plan), "path": far})
    found = read(Packer(full, 1).pack(standing, Report(plan=other), STATUS, 1))
    origin, best = found["origin"], found["best"]
    assert best[0] == pytest.approx((origin[0], 0, 0), abs=1e-3)
    assert best[1] == pytest.approx((origin[0] + 32.767, origin[1] - 32.767, 0), abs=1e-3)
    assert best[2] == pytest.approx((origin[0] + 32.767, origin[1] - 32.767, 2), abs=1e-3)
    assert best[3, 0] == pytest.approx(33.0, abs=1e-3)  # 31.75 m from the origin
    assert best[4:] == pytest.approx(plan.path[4:], abs=6e-4)


def test_infinite_costs_are_large_numbers(full, standing, plan):
    values = plan.values.copy()
    values[:, 1] = np.inf
    other = Plan(**{**vars(plan), "values": values, "cost": np.inf})
    with np.errstate(all="raise"):
        found = read(Packer(full, 1).pack(standing, Report(plan=other), STATUS, 1))
    assert found["cost"] == pytest.approx(1e30)
    assert found["values"][1] == pytest.approx(1e30)
    assert np.delete(found["values"], 1) == pytest.approx(np.delete(plan.values.mean(axis=0), 1), rel=1e-5)


def test_a_character_far_away_is_drawn_there(full):
    data = full.show(full.state())
    data.qpos[0] = 5000.0
    state = full.read(data)
    found = read(Packer(full, 1).pack(state, NOBODY, STATUS, 1))
    assert found["origin"][0] == pytest.approx(5000, abs=0.1)
    assert len(found["contacts"]) > 0
    assert np.abs(found["contacts"] - found["origin"]).max() < 2  # those of the balls that wait are too far


# Later


def test_a_packet_can_be_flagged_later(full, standing, plan):
    message = Packer(full, 7).pack(standing, Report(plan=plan), STATUS, 3, velocity=(1.0, 0.0))
    later = with_flags(message, packet.PAST | packet.PAUSED, 80_000, 90_000)
    before, after = read(message), read(later)
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert changed == {"flags", "oldest", "newest"}
    assert (after["flags"], after["oldest"], after["newest"]) == (32 | 3, 80_000, 90_000)
    assert (before["flags"], before["newest"]) == (32, 70_001)
    assert read(with_flags(later, packet.PAUSED, 1, 2))["flags"] == 32 | 3


# Shapes

KINDS = {"capsule": 2, "ellipsoid": 3, "sphere": 1, "box": 3, "cylinder": 2}


@pytest.mark.parametrize("name", CHARACTERS)
def test_shapes_are_those_of_the_compiled_model(name):
    scene = Scene(character(name), [Box("wall", (0.0, 0.75, 1.5), (5.0, 0.1, 1.5), 0.2), Ball()])
    told, model = describe(scene), scene.spec.copy().compile()
    assert [body["name"] for body in told["bodies"]] == [scene.model.body(i).name for i in range(scene.model.nbody)]
    assert told["root"] == scene.body(scene.character.root)
    assert [body["name"] for body in told["bodies"] if body["bone"]] == list(scene.bones)
    assert told["bodies"][0]["geoms"] == []  # the ground
    seen = 0
    for i in range(1, model.nbody):
        start, count = model.body_geomadr[i], model.body_geomnum[i]
        geoms = told["bodies"][i]["geoms"]
        assert len(geoms) == count > 0
        for j, geom in zip(range(start, start + count), geoms, strict=True):
            kind = mujoco.mjtGeom(model.geom_type[j]).name.removeprefix("mjGEOM_").lower()
            assert geom["kind"] == kind
            assert geom["size"] == pytest.approx(model.geom_size[j, : KINDS[kind]], abs=1e-5)
            assert geom["pos"] == pytest.approx(model.geom_pos[j], abs=1e-5)
            assert geom["quat"] == pytest.approx(model.geom_quat[j], abs=1e-6)
            color = [int(geom["color"][k : k + 2], 16) for k in (1, 3, 5)]
            assert color == pytest.approx(255 * model.geom_rgba[j, :3], abs=0.51)
            seen += 1
    assert seen == model.ngeom - 1


def test_boxes_of_the_ground_are_the_worlds():
    step = Box("step", (1.0, 2.0, 0.1), (0.2, 0.3, 0.1), 0.5, ground=True)
    world, *others = describe(Scene(humanoid(), [step]))["bodies"]
    (geom,) = world["geoms"]
    assert (geom["kind"], geom["size"], geom["pos"]) == ("box", [0.2, 0.3, 0.1], [1.0, 2.0, 0.1])
    assert geom["quat"] == pytest.approx([np.cos(0.25), 0, 0, np.sin(0.25)], abs=1e-6) and not world["bone"]
    assert "step" not in [body["name"] for body in others]


def test_handles_of_crates_are_small_and_round():
    crate = Crate("crate", (2.0, 0.0, 0.2), handles=((0.0, 0.2, 0.1), (0.1, -0.2, 0.1)))
    bodies = {body["name"]: body["geoms"] for body in describe(walking_scene(biped(), [crate]))["bodies"]}
    box, left, right = bodies["crate"]
    assert box["kind"] == "box" and {left["kind"], right["kind"]} == {"ellipsoid"}
    assert (left["pos"], right["pos"]) == ([0.0, 0.2, 0.1], [0.1, -0.2, 0.1])
    assert left["size"] == right["size"] == [0.02, 0.02, 0.02] and left["color"] == "#404047"


def test_what_only_looks_good_is_described(full):
    """The lean model for physics lacks it."""
    described = sum(len(body["geoms"]) for body in describe(full)["bodies"])
    assert described > full.model.ngeom - 1


def test_a_packer_describes_its_scene(full, standing):
    packer = Packer(full, 1)
    assert packer.description == describe(full)
    poses = read(packer.pack(standing, NOBODY, STATUS, 1))["poses"]
    ball = [body["name"] for body in packer.description["bodies"]].index("ball")
    assert poses[ball, :3] == pytest.approx((-0.5, -0.3, 0.149), abs=1e-6)
