"""Getting under bars: bend and crouch as functions of the distance (coros2010 5.5.4)."""

from tumble.maths.compiled import inner
from tumble.maths.vectors import clamp, dot
from tumble.walking.legs import knee_for
from tumble.walking.memory import PASS, STAND, UNLIMITED
from tumble.walking.steps import crosses
from tumble.walking.terrain import BENDS, ROOM, duck, ramp, stretch

STOOPS = 0.3  # m before a bar, where it stops to bend if there is something to step over as well
STOOP_CROUCH = 0.8  # rad that its knees bend then for each rad that the trunk does


@inner
def heed_bars(body, terrain, m, look, ahead, left):  # type: ignore[no-untyped-def]
    """Bend, and crouch where that is not enough, as linear functions of the distance to a bar."""
    bend = crouch = 0.0
    m.stoop_distance = UNLIMITED
    s, c = dot(look.com, ahead), dot(look.com, left)
    tall = m.ground + body.leg + max(body.ankle[0], body.ankle[1])
    room = ROOM * body.size
    for j in range(terrain.bars.shape[0]):
        bar = terrain.bars[j]
        first, last = stretch(bar, ahead, left, c - terrain.shoulder, c + terrain.shoulder)
        if first > last:
            continue
        n = duck(terrain, bar[6] - room - tall)
        away = max(first - terrain.front[n] - room - s, s - last - terrain.behind - room)
        near = ramp(away, 0.0, (0.3 + BENDS[n]) * 0.6 * body.size)
        stoops = m.bend > 0.1 and m.crouch > 0.1 and terrain.boxes.shape[0] > 0
        if s < last and (stoops or _among_hurdles(terrain, ahead, left, c, s, first, last, body.size)):
            bent = m.bend > BENDS[n] - 0.05
            near = 1.0 if away < (STOOPS + 0.3) * body.size and (m.mode == STAND or bent) else 0.0
            stoops = near > 0.0
            if not bent:
                m.stoop_distance = min(m.stoop_distance, away - STOOPS * body.size)
        if stoops:  # else a foot does not reach the ground ahead
            crouch = max(crouch, near * STOOP_CROUCH * BENDS[n])
        bend = max(bend, near * BENDS[n])
        lacks = clamp(terrain.crown[n] + tall + room - bar[6], 0.0, 0.4 * body.leg)
        crouch = max(crouch, near * knee_for(body.thigh[0], body.shin[0], body.leg - lacks))
    if m.mode == PASS or crosses(body, m):  # who changes its bend on one leg loses its balance
        bend = max(bend, m.bend)
        crouch = max(crouch, m.duck_crouch)
    if m.mode == STAND and m.halt == 2.0 and m.clock < 0.5:  # nor before it bears on both feet
        bend, crouch = m.bend, m.crouch
    m.duck_bend, m.duck_crouch = bend, crouch


@inner
def _among_hurdles(terrain, ahead, left, c, s, first, last, size):  # type: ignore[no-untyped-def]
    """Whether something is still to be stepped over near a bar that begins and ends there."""
    for j in range(terrain.boxes.shape[0]):
        begin, end = stretch(terrain.boxes[j], ahead, left, c - 0.2 * size, c + 0.2 * size)
        if begin < end and end > s - 0.3 * size and begin < last + 1.2 * size and end > first - 1.4 * size:
            return True
    return False
