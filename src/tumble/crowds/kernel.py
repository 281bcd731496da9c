"""The compiled control of a crowd: every character's walk, and where their dances lead them.

    dance_rows(Address(Floor(...)))        # before `control_rows` of every walker, once a physics step

`dance_rows` only writes wishes and the dancers' memories; walkers do the rest. Rows do not see each other: the
characters of one row are the crowd. What it costs grows with the square of their number.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from tumble.maths.bundles import strided
from tumble.maths.compiled import entry, inner
from tumble.maths.vectors import clamp, wrapped
from tumble.walking.asking import wish_style
from tumble.walking.memory import WALKER

MEMORY = "crowd"  # how the claim is called
DANCER = np.dtype(
    [
        ("directed", "f8"),  # 1 where somebody else says what it does
        ("move", "f8"),  # how many moves it has begun
        ("until", "f8"),  # s, when the present one ends
        ("facing", "f8"),  # rad, heading of the dance alone
        ("calm", "f8"),  # s, until when it only keeps its balance
        ("fell", "f8"),  # 1 once it has fallen, until it is on its feet again
    ]
)


def crowd_record(people: int) -> np.dtype:
    """What a crowd remembers: of each character what a walker does, and what a dancer does."""
    return np.dtype([("walkers", WALKER, (people,)), ("dancers", DANCER, (people,))])


_wish_style = inner(wish_style)
ON_FEET = 1.6  # times the height of one who fell, above which it is

# A move: s it takes, style, s a step, m that feet rise more, rad of bend, m/s ahead, rad of turn.
SECONDS, STYLE, PERIOD, HEIGHT, BEND, SPEED, TURN = range(7)


class Starts(NamedTuple):
    """Where each character's own begin; (characters,)."""

    qpos: np.ndarray
    qvel: np.ndarray
    com: np.ndarray  # in sensordata, as the next two
    com_velocity: np.ndarray
    grounded: np.ndarray


@strided
class World(NamedTuple):
    """Live arrays of all characters, row by row."""

    time: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    xipos: np.ndarray
    xquat: np.ndarray
    xaxis: np.ndarray
    xanchor: np.ndarray
    subtree_com: np.ndarray
    site_xpos: np.ndarray
    sensordata: np.ndarray
    walkers: np.ndarray  # (nsim, characters) of WALKER
    dancers: np.ndarray  # (nsim, characters) of DANCER


class Floor(NamedTuple):
    """All that `dance_rows` reads and writes."""

    d: Any  # DanceSettings
    dt: float  # s a step
    moves: np.ndarray  # (characters, moves, 7), danced over and over
    world: World
    starts: Starts
    bones: np.ndarray  # (characters, bones), MuJoCo's bodies
    heights: np.ndarray  # (characters,), m, below which a root is that of somebody who fell
    lying: np.ndarray  # scratch, (characters,)


@inner
def _from_dancer(d, world, starts, row, who, other):  # type: ignore[no-untyped-def]
    """Away from one who dances, about as long as it is urgent, 0 to 1: by where both will be in a moment.

    With r the way from it to oneself `foresight` s ahead: r / |r| times (near - |r|) / (near - close) within 0 and 1.
    """
    mine, theirs = world.qpos[row, starts.qpos[who] :], world.qpos[row, starts.qpos[other] :]
    my_speed = world.sensordata[row, starts.com_velocity[who] :]
    their_speed = world.sensordata[row, starts.com_velocity[other] :]
    x = mine[0] - theirs[0] + d.foresight * (my_speed[0] - their_speed[0])
    y = mine[1] - theirs[1] + d.foresight * (my_speed[1] - their_speed[1])
    apart = max(math.sqrt(x * x + y * y), 1e-6)
    urge = clamp((d.near - apart) / (d.near - d.close), 0.0, 1.0) / apart
    return urge * x, urge * y


@inner
def _from_lying(d, world, starts, bones, row, who, other):  # type: ignore[no-untyped-def]
    """Away from all bones of one who lies, as long as the nearest makes it urgent, 0 to 1."""
    mine = world.qpos[row, starts.qpos[who] :]
    sum_x, sum_y, most = 0.0, 0.0, 0.0
    for bone in bones[other]:
        x, y = mine[0] - world.xipos[row, bone, 0], mine[1] - world.xipos[row, bone, 1]
        apart = max(math.sqrt(x * x + y * y), 1e-6)
        urge = clamp((d.near_fallen - apart) / (d.near_fallen - d.close), 0.0, 1.0)
        sum_x, sum_y, most = sum_x + urge * x / apart, sum_y + urge * y / apart, max(most, urge)
    size = max(math.sqrt(sum_x * sum_x + sum_y * sum_y), 1e-6)
    return most * sum_x / size, most * sum_y / size


@inner
def _crush(d, world, starts, bones, lying, row, who):  # type: ignore[no-untyped-def]
    """The way out of a crush and how urgent it is: a vector of about 1 where somebody or the floor's edge is close.

    And how close the closest is, 0 to 1.
    """
    x, y = world.qpos[row, starts.qpos[who]], world.qpos[row, starts.qpos[who] + 1]
    away_x, away_y, closest = 0.0, 0.0, 0.0
    for other in range(starts.qpos.size):
        if other == who:
            continue
        if lying[other]:
            off_x, off_y = _from_lying(d, world, starts, bones, row, who, other)
            weight = d.dread
        else:
            off_x, off_y = _from_dancer(d, world, starts, row, who, other)
            weight = 1.0
        away_x, away_y = away_x + weight * off_x, away_y + weight * off_y
        closest = max(closest, math.sqrt(off_x * off_x + off_y * off_y))
    out = math.sqrt(x * x + y * y)
    if out > d.floor:
        edge = min((out - d.floor) / d.near, 1.0)
        away_x, away_y = away_x - edge * x / out, away_y - edge * y / out
    return away_x, away_y, closest


@inner
def _dance(m, dancer, moves, now):  # type: ignore[no-untyped-def]
    """Want the present move, or begin the next."""
    if now >= dancer.until:
        move = moves[int(dancer.move) % moves.shape[0]]
        dancer.move += 1.0
        dancer.until = now + move[SECONDS]
        dancer.facing = wrapped(dancer.facing + move[TURN])
    move = moves[int(dancer.move - 1.0) % moves.shape[0]]
    m.wish_speed = move[SPEED]
    _wish_style(m, int(move[STYLE]))
    m.wish_period, m.wish_step_height, m.wish_bend = move[PERIOD], move[HEIGHT], move[BEND]


@inner
def _step_away(d, m, away_x, away_y):  # type: ignore[no-untyped-def]
    """Go out of a crush, ahead or back and sideways, the more the more urgent it is; nobody turns for that."""
    urge = math.sqrt(away_x * away_x + away_y * away_y)
    m.wish_drift = 0.0
    if urge < 1e-6:
        return
    c, s = math.cos(m.heading), math.sin(m.heading)
    ahead, left = (c * away_x + s * away_y) / urge, (c * away_y - s * away_x) / urge
    share = min(urge, 1.0)
    m.wish_speed = (1.0 - share) * m.wish_speed + d.escape * share * ahead
    if abs(m.wish_speed) < d.slowest:  # who stands cannot step sideways
        m.wish_speed = d.slowest if ahead > 0.0 else -d.slowest
    m.wish_drift = d.sidestep * share * left


@inner
def _shaken(d, dancer, velocity, now):  # type: ignore[no-untyped-def]
    """Whether it was knocked out of its steps a while ago: it neither turns then nor begins another move."""
    speed = math.sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1])
    if speed > d.shaken:
        dancer.calm = now + d.calm
    if now >= dancer.calm:
        return False
    dancer.until = max(dancer.until, dancer.calm)
    return True


@inner
def _notice_falls(world, starts, heights, lying, row):  # type: ignore[no-untyped-def]
    """Who lies; one who fell and kneels, or is pushed about, lies as well."""
    for who in range(lying.size):
        dancer, height = world.dancers[row, who], world.qpos[row, starts.qpos[who] + 2]
        if height < heights[who]:
            dancer.fell = 1.0
        elif height > ON_FEET * heights[who]:
            dancer.fell = 0.0
        lying[who] = dancer.fell > 0.0


@entry
def dance_rows(floor):  # type: ignore[no-untyped-def]
    """Have everybody want what its dance wants, steer clear of others, and keep its balance; see `Floor`."""
    d, dt, moves, world, starts = floor.d, floor.dt, floor.moves, floor.world, floor.starts
    bones, heights, lying = floor.bones, floor.heights, floor.lying
    for row in range(world.qpos.shape[0]):
        now = world.time[row]
        _notice_falls(world, starts, heights, lying, row)
        for who in range(moves.shape[0]):
            m, dancer = world.walkers[row, who], world.dancers[row, who]
            if dancer.directed > 0.0:
                continue
            _dance(m, dancer, moves[who], now)
            away_x, away_y, closest = _crush(d, world, starts, bones, lying, row, who)
            _step_away(d, m, away_x, away_y)
            m.wish_step_height += d.lift * closest  # over the other's feet, which most falls began at
            turn = wrapped(dancer.facing - m.heading)
            if _shaken(d, dancer, world.sensordata[row, starts.com_velocity[who] :], now):
                turn = 0.0
            # a little ahead of what is followed, so that it turns at that rate
            m.wish_heading = m.heading + clamp(turn, -d.turn_rate * dt, d.turn_rate * dt)
