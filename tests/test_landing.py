"""Where feet land around what must be stepped over, and how they come down there."""

import numpy as np
import pytest

from tumble.characters.biped import biped
from tumble.maths.bundles import Address
from tumble.maths.compiled import as_entry
from tumble.walking import Walker
from tumble.walking import landing as landings
from tumble.walking import memory as mem
from tumble.walking.settings import WalkSettings
from tumble.world.props import Box
from tumble.world.scene import Ground, Scene
from tumble.world.sims import Sims

choose, lean_of = as_entry(landings.choose), as_entry(landings.lean_of)
HEEL, TOE, NEAR, REACH, USUAL = 0.1, 0.2, 0.08, 0.69, 0.4
FAR = 1e9  # no wall
K = WalkSettings()


def across(name: str, first: float, thick: float, bottom: float, top: float) -> Box:
    """A box across the way, part of the ground."""
    return Box(name, (first + thick / 2, 0.0, (bottom + top) / 2), (thick / 2, 1.5, (top - bottom) / 2), ground=True)


def hurdles(*boxes) -> np.ndarray:
    """Spans of boxes that begin somewhere, are so thick and so high."""
    return np.array([[begin, begin + thick, high, 1.0] for begin, thick, high in boxes])


def landing(spans, start, at, natural, *, halt=mem.Halt.NONE, limit=mem.UNLIMITED, heavy=False) -> float:
    (memory,) = np.zeros(1, mem.WALKER).view(np.recarray)
    memory.halt, memory.speed_limit, memory.stoop_distance = halt, limit, mem.UNLIMITED
    return choose(
        Address(K), memory, spans, len(spans), start, at, natural, USUAL, HEEL, TOE, NEAR, FAR, REACH, heavy, True
    )


def test_shins_lean_more_over_what_is_high_and_less_where_it_is_thick():
    for thick in (0.05, 0.2, 0.25, 0.4):
        leans = [lean_of(hurdles((1.0, thick, high)), 1, 1.0) for high in (0.1, 0.2, 0.3, 0.45)]
        assert leans[0] >= 0.0 and (np.diff(leans) >= 0.0).all() and leans[-1] > 0.2
    high = [lean_of(hurdles((1.0, thick, 0.4)), 1, 1.0) for thick in (0.1, 0.2, 0.25, 0.3, 0.4)]
    assert high[0] == high[1] > high[2] > high[3] == high[4]


def test_a_trailing_foot_lands_near_the_other_one():
    behind = (1.0, 0.1, 0.3)
    for natural in (1.0, 1.5, 2.4):
        alone = landing(hurdles(behind), 0.7, 1.3, natural)
        assert alone == pytest.approx(min(natural, 1.3 + K.crossing.trail_step))
        before_another = landing(hurdles(behind, (2.3, 0.1, 0.3)), 0.7, 1.3, natural, halt=mem.Halt.WANTED)
        assert 1.3 <= before_another <= 1.3 + K.crossing.beside
    assert landing(hurdles(behind), 1.25, 1.3, 2.4) > 1.3 + K.crossing.trail_step  # beyond it feet are free again


def test_it_stops_with_its_feet_beside_each_other():
    ahead = hurdles((2.0, 0.1, 0.3))
    for natural in (1.45, 1.6, 1.75):
        assert landing(ahead, 1.3, 1.6, natural, halt=mem.Halt.WANTED, limit=0.0) == pytest.approx(1.6, abs=0.0201)
    assert (
        landing(ahead, 1.3, 1.4, 1.9, halt=mem.Halt.WANTED, limit=0.2) < 2.0 - TOE
    )  # not yet there: no further than before it
    assert landing(ahead, 1.3, 1.9, 1.9, halt=mem.Halt.WANTED, limit=0.0) == pytest.approx(
        1.9, abs=0.0201
    )  # not back behind it


def test_from_a_stand_it_lands_close_beyond():
    for thick, high in ((0.1, 0.2), (0.25, 0.45)):
        land = landing(hurdles((2.0, thick, high)), 1.65, 1.65, 1.8, halt=2.0)
        assert 2.0 + thick + HEEL < land < 2.0 + thick + HEEL + 0.06


def test_over_two_hurdles_it_is_up_on_its_toes_before_it_strikes_and_lands_flat_behind():
    boxes = [across("a", 1.75, 0.2, 0.0, 0.4), across("b", 3.0, 0.1, 0.0, 0.3)]
    scene = Scene(biped(), boxes, Ground(friction=0.8))
    walker, sims = Walker(scene), Sims(scene, 1, nthread=1)
    sims.use(walker.drive)
    sims.load(scene.state())
    walker.start(sims)
    walker.wish(sims, speed=0.7, heading=0.0)
    feet = [scene.body(name) for name in scene.character.feet]
    rest = sims.view("xpos")[0, feet, 2].min()
    rises, noses, memory = [], [], sims.memory(mem.MEMORY)[0]

    def watched(sims: Sims) -> np.ndarray:
        last = memory.copy()
        chosen, stance = walker.law(sims), int(last.stance)
        over = last.mode == mem.Mode.WALK and last.obstacle_top > 0.25 and last.planned
        if over and (memory.stance != stance or memory.mode != mem.Mode.WALK):
            if last.trailing == 0.0:
                rises.append(sims.view("xpos")[0, feet[stance], 2] - rest)
            elif last.halt == 1.0:
                nose = sims.view("xmat")[0, feet[1 - stance]].reshape(3, 3)[2, 0]
                noses.append(np.degrees(np.arcsin(nose)))
        return chosen

    for _ in range(round(13.0 / scene.dt)):
        sims.act(watched, walker.drive)
    assert sims.view("com")[0, 0] > 3.5
    assert len(rises) == 2 and rises[0] > 0.01  # the first one is a long step
    assert len(noses) == 1 and abs(noses[0]) < 12.0
