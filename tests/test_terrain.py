"""Over and under things: the profile of boxes, where feet may land, the path over them, and whether it gets there."""

import math

import numpy as np
import pytest

from tumble.characters.biped import biped
from tumble.maths import vectors
from tumble.maths.bundles import Address
from tumble.maths.compiled import as_entry
from tumble.walking import Walker, terrain
from tumble.walking import memory as mem
from tumble.walking.terrain import BENDS, highest_climb, highest_step, terrain_of, thickest_step
from tumble.world.props import Box
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

spline, stretch = as_entry(vectors.spline), as_entry(terrain.stretch)
gather, ground_at, level = map(as_entry, (terrain.gather, terrain.ground_at, terrain.level))
footing, holds, wall = map(as_entry, (terrain.footing, terrain.holds, terrain.wall))
far_side, is_hurdle, next_edge = map(as_entry, (terrain.far_side, terrain.is_hurdle, terrain.next_edge))
lay_path, passage = map(as_entry, (terrain.lay_path, terrain.passage))

HEEL, TOE, GAP = 0.1, 0.18, 0.03


def scene_of(boxes=(), **proportions) -> Scene:
    return Scene(biped(**proportions), boxes, Ground(friction=0.8))


def across(name: str, first: float, thick: float, bottom: float, top: float) -> Box:
    """A box across the way, part of the ground."""
    return Box(name, (first + thick / 2, 0.0, (bottom + top) / 2), (thick / 2, 1.5, (top - bottom) / 2), ground=True)


def table(boxes) -> np.ndarray:
    return terrain_of(scene_of(boxes)).boxes


def random_spans(rng, number=5) -> tuple[np.ndarray, int]:
    """Boxes along a way, some of which touch or overlap."""
    first = np.sort(rng.uniform(0.0, 4.0, number))
    spans = np.zeros((number, 4))
    spans[:, 0], spans[:, 1] = first, first + rng.uniform(0.05, 0.8, number)
    spans[:, 2], spans[:, 3] = rng.uniform(0.05, 0.45, number), 1.0
    return spans, number


def test_a_box_along_a_way_is_what_points_in_it_say():
    rng = np.random.default_rng(0)
    for _ in range(50):
        box = Box(
            "a", (*rng.uniform(-1, 1, 2), 0.1), (*rng.uniform(0.05, 1.0, 2), 0.1), float(rng.uniform(-2, 2)), True
        )
        heading, low = rng.uniform(-3, 3), rng.uniform(-1, 1)
        high = low + rng.uniform(0.05, 0.5)
        ahead, left = (math.cos(heading), math.sin(heading)), (-math.sin(heading), math.cos(heading))
        first, last = stretch(table([box])[0], ahead, left, low, high)
        points = rng.uniform(-1, 1, (20000, 2)) * box.half[:2]
        turn = np.array([[math.cos(box.turn), -math.sin(box.turn)], [math.sin(box.turn), math.cos(box.turn)]])
        points = points @ turn.T + box.middle[:2]
        inside = points[(points @ left > low) & (points @ left < high)] @ ahead
        if inside.size:
            assert first <= inside.min() + 1e-9 and last >= inside.max() - 1e-9
        if inside.size > 500:
            assert first == pytest.approx(inside.min(), abs=0.1) and last == pytest.approx(inside.max(), abs=0.1)


def test_the_ground_is_the_highest_top():
    boxes = [
        Box("a", (1, 0, 0.1), (0.5, 0.5, 0.1), ground=True),
        Box("b", (1.4, 0, 0.15), (0.5, 0.1, 0.15), ground=True),
    ]
    ground = terrain_of(scene_of(boxes))
    laid = Address(ground)
    assert ground_at(laid, (0.0, 0.0, 0.0)) == 0
    assert ground_at(laid, (0.7, 0.0, 0.0)) == pytest.approx(0.2)
    assert ground_at(laid, (1.2, 0.0, 0.0)) == pytest.approx(0.3)
    assert ground_at(laid, (1.2, 0.3, 0.0)) == pytest.approx(0.2)
    count = gather(ground.boxes, ground.spans, (1.0, 0.0), (0.0, 1.0), -0.05, 0.05, -1.0, 5.0)
    assert count == 2 and level(ground.spans, count, 1.2) == pytest.approx(0.3)
    assert gather(ground.boxes, ground.spans, (1.0, 0.0), (0.0, 1.0), 2.0, 2.1, -1.0, 5.0) == 0


def test_no_foot_lands_on_an_edge():
    rng = np.random.default_rng(1)
    for _ in range(200):
        spans, count = random_spans(rng)
        for s in rng.uniform(-0.5, 5.5, 10):
            for way in (1.0, -1.0):
                place = footing(spans, count, s, HEEL, TOE, way)
                if abs(place - s) > 1e8:
                    continue
                levels = [level(spans, count, x) for x in np.linspace(place - HEEL + 1e-3, place + TOE - 1e-3, 200)]
                assert np.ptp(levels) <= 0.005 + 1e-9
                assert way * (place - s) >= 0
                between = np.arange(s, place, way * 0.01)
                assert not any(holds(spans, count, x, HEEL + 0.002, TOE + 0.002) for x in between[:-1])


def test_the_path_clears_what_it_passes():
    """Wherever the ankle is on its way, the ground under the whole shoe is below the sole."""
    rng = np.random.default_rng(2)
    path, seen = np.zeros((2, 5, 2)), 0
    for _ in range(300):
        spans, count = random_spans(rng, 3)
        start = footing(spans, count, rng.uniform(0, 3), HEEL, TOE, 1.0)
        land = footing(spans, count, start + rng.uniform(0.2, 0.8), HEEL, TOE, 1.0)
        if land > 1e8 or land - start > 1.2:
            continue
        seen += 1
        top, front, back = passage(spans, count, start, land, HEEL, TOE, 0.0)
        low, last = level(spans, count, start), level(spans, count, land)
        lay_path(path, start, front, back, land, low, top + 0.05, last, 1.7)
        for phase in np.linspace(0, 1, 60):
            s, z = spline(path[0], 5, phase), spline(path[1], 5, phase)
            under = [level(spans, count, x) for x in np.linspace(s - HEEL + GAP, s + TOE - GAP, 30)]
            assert z > max(under) - 0.006
    assert seen > 100


def test_edges_and_walls():
    spans = np.array([[1.0, 1.1, 0.3, 1.0], [2.0, 3.0, 0.2, 1.0], [3.0, 3.5, 0.6, 1.0]])
    assert next_edge(spans, 3, 0.0) == 1.0 and next_edge(spans, 3, 1.05) == 1.1 and next_edge(spans, 3, 4.0) > 1e8
    assert wall(spans, 3, 0.0, 0.3, 0.47, 0.25, 0.69) == 3.0  # 0.4 m up and too thick to step over
    assert wall(spans, 3, 0.0, 0.3, 0.25, 0.25, 0.69) == 1.0
    assert wall(spans, 2, 0.0, 0.3, 0.47, 0.25, 0.69) > 1e8


@pytest.mark.parametrize("legs", [0.7, 1.0, 1.4])
def test_what_is_too_high_goes_with_the_leg(legs):
    scene = scene_of(legs=legs)
    assert highest_step(scene) == pytest.approx(0.55 * 0.86 * legs)
    assert highest_climb(scene) == pytest.approx(0.3 * 0.86 * legs)
    assert thickest_step(scene) == pytest.approx(0.625 * legs)


def test_bars_are_told_from_obstacles_and_a_deeper_bend_is_lower():
    ground = terrain_of(scene_of([across("bar", 1.0, 0.1, 1.4, 1.5), across("low", 2.0, 0.1, 0.3, 0.4)]))
    assert len(ground.bars) == 1 and len(ground.boxes) == 1
    assert ground.bars[0, 6] == pytest.approx(1.4)
    assert (np.diff(ground.crown[: len(BENDS) - 2]) < 0).all()
    assert ground.crown[0] == pytest.approx(0.86, abs=0.08)  # hips to the top of the head of a man of 1.75 m


def walked(scene, seconds, **wishes) -> tuple[Sims, np.ndarray]:
    walker, sims = Walker(scene), Sims(scene, 1, nthread=1)
    sims.use(walker.drive)
    sims.load(scene.state())
    walker.start(sims)
    walker.wish(sims, **wishes)
    for _ in range(round(seconds / scene.dt)):
        sims.act(walker.control(sims), walker.drive)
    return sims, sims.view("qpos")[0].copy()


def test_boxes_far_away_change_nothing():
    far = [across("a", 50.0, 0.1, 0.0, 0.3), across("bar", 60.0, 0.1, 1.4, 1.5)]
    _, plain = walked(scene_of(), 3.0, speed=0.7, heading=0.5)
    _, other = walked(scene_of(far), 3.0, speed=0.7, heading=0.5)
    assert (plain == other).all()


def test_it_ducks_before_a_bar_and_only_there():
    scene = scene_of([across("bar", 2.0, 0.1, 1.4, 1.5)])
    sims, _ = walked(scene, 0.1, speed=0.6)
    assert sims.memory(mem.MEMORY).duck_bend[0] == 0
    sims, _ = walked(scene, 3.5, speed=0.6)
    assert sims.memory(mem.MEMORY).duck_bend[0] > 0.5


def test_a_hurdle_ends_on_the_level_before_it():
    spans = np.array([[1.0, 5.0, 0.15, 1.0], [2.0, 2.2, 0.35, 1.0], [4.0, 5.0, 0.3, 1.0]])
    assert is_hurdle(spans, 3, 2.0) and far_side(spans, 3, 2.0) == 2.2  # on a step, not as long as that
    assert not is_hurdle(spans, 3, 1.0) and far_side(spans, 3, 1.0) == 5.0
    assert not is_hurdle(spans, 3, 4.0) and not is_hurdle(spans, 3, 2.2)
    assert far_side(spans, 3, 2.2) == 2.2


def course(boxes, seconds, speed) -> tuple[Sims, np.recarray]:
    """A biped that walked along boxes, and its memory at every physics step; only its feet touch anything."""
    scene = scene_of(boxes)
    walker, sims = Walker(scene), Sims(scene, 1, nthread=1)
    sims.use(walker.drive)
    sims.load(scene.state())
    walker.start(sims)
    walker.wish(sims, speed=speed, heading=0.0)
    others = np.array(["foot" not in bone and "toe" not in bone for bone in scene.bones])
    memories = []

    def watched(sims: Sims) -> np.ndarray:
        assert not (sims.view("grounded")[0, others] > 0).any()
        chosen = walker.law(sims)
        memories.append(sims.memory(mem.MEMORY).copy())
        return chosen

    for _ in range(round(seconds / scene.dt)):
        sims.act(watched, walker.drive)
    return sims, np.concatenate(memories).view(np.recarray)


def test_it_stops_before_a_high_obstacle_steps_over_it_and_pushes_off_on_both_feet():
    sims, memory = course([across("hurdle", 1.75, 0.1, 0.0, 0.4)], 9.0, 0.7)
    modes, over = memory.mode, memory.obstacle_top > 0.3
    stood = np.flatnonzero(memory.halt == mem.Halt.STOOD)
    assert sims.view("com")[0, 0] > 2.5 and mem.Mode.DOUBLE_SUPPORT in modes
    assert (modes[stood] == mem.Mode.STAND).any() and stood[0] < np.flatnonzero(over)[0]
    assert memory.halt[-1] == mem.Halt.NONE


def test_before_a_bar_among_hurdles_it_stands_to_bend_and_steps_bent():
    boxes = [across("bar", 2.6, 0.1, 1.45, 1.55), across("hurdle", 2.75, 0.1, 0.0, 0.2)]
    sims, memory = course(boxes, 18.0, 0.6)
    over = memory.obstacle_top > 0.1
    bends = np.flatnonzero(np.diff(memory.bend[: over.argmax()]) > 0.0) + 1
    assert bends.size and (memory.mode[bends] == mem.Mode.STAND).all()
    assert memory.bend[over].min() > 0.5 and memory.crouch[over].min() > 0.3
    assert sims.view("com")[0, 0] > 3.5 and memory.bend[-1] < 0.2


@pytest.mark.parametrize(("thick", "high"), [(0.2, 0.8), (1.5, 0.4)])
def test_it_stops_before_what_is_too_high(thick, high):
    """Neither what is too high to step over nor a platform too high to climb is walked into."""
    scene = scene_of([across("wall", 2.0, thick, 0.0, high)])
    walker = Walker(scene)
    sims = Sims(scene, 1, nthread=1)
    sims.use(walker.drive)
    sims.load(scene.state())
    walker.start(sims)
    walker.wish(sims, speed=0.7, heading=0.0)
    for _ in range(12 * 30):
        sims.act(walker.control(sims), walker.drive)
    stopped = sims.view("com")[0].copy()
    assert 1.0 < stopped[0] < 2.0 and stopped[2] > 0.9 and sims.memory(mem.MEMORY).mode[0] == mem.Mode.STAND
    assert abs(sims.view("com_velocity")[0, 0]) < 0.05
