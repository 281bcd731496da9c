"""Getting under bars: bend and crouch as functions of the distance (coros2010 5.5.4).

The smallest bend of `Terrain.crown` at which the crown passes, and knees for what is still lacking. It writes
`duck_bend`, `duck_crouch` and `stoop_distance` of the memory; `follow` obeys them beside what is wished.
"""

from tumble.maths.compiled import inner
from tumble.maths.vectors import clamp, dot
from tumble.walking.capture import BENT
from tumble.walking.legs import knee_for
from tumble.walking.memory import UNLIMITED, Halt, Mode
from tumble.walking.steps import crosses
from tumble.walking.terrain import BENDS, ROOM, duck, ramp, stretch

STOOPS = 0.3  # m before a bar, where it stops to bend if there is something to step over as well
NEARS, NEARS_BEND = 0.3, 0.6  # rad, and m for each rad with that of the bend, before a bar over which it bends
STOOPS_WITHIN = 0.3  # m more than STOOPS within which it bends where it stands
ALMOST = 0.05  # rad short of the bend that a bar asks for
LOWERS = 0.4  # of the leg's length that knees lower the hips at most
STANDS_FIRST = 0.5  # s that it bears on both feet before it bends
BESIDE, BEHIND, BEYOND, BEFORE = 0.2, 0.3, 1.2, 1.4  # m around a bar where something to be stepped over is near it
STOOP_CROUCH = 0.8  # rad that its knees bend then for each rad that the trunk does


@inner
def duck_under(body, terrain, m, look, ahead, left):  # type: ignore[no-untyped-def]
    """Bend, and crouch where that is not enough, as linear functions of the distance to a bar."""
    bend = crouch = 0.0
    m.stoop_distance = UNLIMITED
    s, c = dot(look.com, ahead), dot(look.com, left)
    tall = m.ground + body.leg + max(body.legs.ankle[0], body.legs.ankle[1])
    room = ROOM * body.size
    for j in range(terrain.bars.shape[0]):
        bar = terrain.bars[j]
        first, last = stretch(bar, ahead, left, c - terrain.shoulder, c + terrain.shoulder)
        if first > last:
            continue
        n = duck(terrain, bar[6] - room - tall)
        away = max(first - terrain.front[n] - room - s, s - last - terrain.behind - room)
        near = ramp(away, 0.0, (NEARS + BENDS[n]) * NEARS_BEND * body.size)
        stoops = m.bend > BENT and m.crouch > BENT and terrain.boxes.shape[0] > 0
        if s < last and (stoops or _among_hurdles(terrain, ahead, left, c, s, first, last, body.size)):
            bent = m.bend > BENDS[n] - ALMOST
            near = 1.0 if away < (STOOPS + STOOPS_WITHIN) * body.size and (m.mode == Mode.STAND or bent) else 0.0
            stoops = near > 0.0
            if not bent:
                m.stoop_distance = min(m.stoop_distance, away - STOOPS * body.size)
        if stoops:  # else a foot does not reach the ground ahead
            crouch = max(crouch, near * STOOP_CROUCH * BENDS[n])
        bend = max(bend, near * BENDS[n])
        lacks = clamp(terrain.crown[n] + tall + room - bar[6], 0.0, LOWERS * body.leg)
        crouch = max(crouch, near * knee_for(body.legs.thigh[0], body.legs.shin[0], body.leg - lacks))
    if m.mode == Mode.DOUBLE_SUPPORT or crosses(body, m):  # who changes its bend on one leg loses its balance
        bend = max(bend, m.bend)
        crouch = max(crouch, m.duck_crouch)
    if m.mode == Mode.STAND and m.halt == Halt.STOOD and m.clock < STANDS_FIRST:  # nor before it bears on both feet
        bend, crouch = m.bend, m.crouch
    m.duck_bend, m.duck_crouch = bend, crouch


@inner
def _among_hurdles(terrain, ahead, left, c, s, first, last, size):  # type: ignore[no-untyped-def]
    """Whether something is still to be stepped over near a bar that begins and ends there."""
    for j in range(terrain.boxes.shape[0]):
        begin, end = stretch(terrain.boxes[j], ahead, left, c - BESIDE * size, c + BESIDE * size)
        if begin < end and end > s - BEHIND * size and begin < last + BEYOND * size and end > first - BEFORE * size:
            return True
    return False
