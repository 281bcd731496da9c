"""The compiled control of a crowd: every character's walk, and where their dances lead them."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tumble.walking.body import Body, Fields
from tumble.walking.kernel import control_rows
from tumble.walking.memory import (
    DANCE,
    HEADING,
    WISH_BEND,
    WISH_HEADING,
    WISH_PERIOD,
    WISH_SPEED,
    WISH_STEP_HEIGHT,
    WISH_STYLE,
)  # fmt: skip
from tumble.walking.vectors import clamp, wrapped

# What a dancer remembers, in its memory.
DIRECTED = DANCE  # 1 where somebody else says what it does
MOVE = DANCE + 1  # how many moves it has begun
UNTIL = DANCE + 2  # s, when the present one ends
FACING = DANCE + 3  # rad, heading of the dance alone
CALM = DANCE + 4  # s, until when it only keeps its balance

# A move: s it takes, style, s a step, m that feet rise more, rad of bend, m/s ahead, rad of turn.
SECONDS, STYLE, PERIOD, HEIGHT, BEND, SPEED, TURN = range(7)


class Starts(NamedTuple):
    """Where each character's own begin; (characters,)."""

    qpos: np.ndarray
    qvel: np.ndarray
    com: np.ndarray  # in sensordata, as the next two
    com_velocity: np.ndarray
    grounded: np.ndarray
    memory: np.ndarray


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
    userdata: np.ndarray


def _taker(kind: type[Body]) -> Any:
    """A compiled function of (many, who) that takes one out of many, whose every field has all along its first axis.

    It is written from the names of the fields, which compiled code cannot go through by itself.
    """
    scope: dict[str, Any] = {"kind": kind}
    fields = ", ".join(f"many.{name}[who]" for name in kind._fields)
    exec(f"def take(many, who):\n    return kind({fields})", scope)
    return njit(scope["take"])


take_body = _taker(Body)


@njit(cache=True)
def _fields(world, starts, who):  # type: ignore[no-untyped-def]
    """What one character sees as its own."""
    return Fields(
        qpos=world.qpos[:, starts.qpos[who] :],
        qvel=world.qvel[:, starts.qvel[who] :],
        xipos=world.xipos,
        xquat=world.xquat,
        xaxis=world.xaxis,
        xanchor=world.xanchor,
        subtree_com=world.subtree_com,
        com=world.sensordata[:, starts.com[who] :],
        com_velocity=world.sensordata[:, starts.com_velocity[who] :],
        grounded=world.sensordata[:, starts.grounded[who] :],
        site_xpos=world.site_xpos,
        memory=world.userdata[:, starts.memory[who] :],
    )


@njit(cache=True)
def control_crowd(bodies, terrain, k, styles, world, starts, torque, angles, out):  # type: ignore[no-untyped-def]
    """Controls (characters, rows, motors) into `out`; see `control_rows`.

    Args:
      bodies: a `Body` whose every field has all characters' along its first axis.
    """
    for who in range(out.shape[0]):
        control_rows(take_body(bodies, who), terrain, k, styles, _fields(world, starts, who), torque, angles, out[who])


@njit(cache=True)
def _crush(d, world, starts, lying, row, who):  # type: ignore[no-untyped-def]
    """The way out of a crush and how urgent it is: a vector of about 1 where somebody or the floor's edge is close."""
    x, y = world.qpos[row, starts.qpos[who]], world.qpos[row, starts.qpos[who] + 1]
    away_x, away_y = 0.0, 0.0
    for other in range(starts.qpos.size):
        off_x, off_y = x - world.qpos[row, starts.qpos[other]], y - world.qpos[row, starts.qpos[other] + 1]
        apart = math.sqrt(off_x * off_x + off_y * off_y)
        near = d.near_fallen if lying[other] else d.near
        if other != who and 1e-6 < apart < near:
            away_x += (1.0 - apart / near) * off_x / apart
            away_y += (1.0 - apart / near) * off_y / apart
    out = math.sqrt(x * x + y * y)
    if out > d.floor:
        edge = min((out - d.floor) / d.near, 1.0)
        away_x, away_y = away_x - edge * x / out, away_y - edge * y / out
    return away_x, away_y


@njit(cache=True)
def _dance(m, moves, now):  # type: ignore[no-untyped-def]
    """Want the present move, or begin the next."""
    if now >= m[UNTIL]:
        move = moves[int(m[MOVE]) % moves.shape[0]]
        m[MOVE] += 1.0
        m[UNTIL] = now + move[SECONDS]
        m[FACING] = wrapped(m[FACING] + move[TURN])
    move = moves[int(m[MOVE] - 1.0) % moves.shape[0]]
    m[WISH_SPEED] = move[SPEED]
    m[WISH_STYLE], m[WISH_PERIOD] = move[STYLE], move[PERIOD]
    m[WISH_STEP_HEIGHT], m[WISH_BEND] = move[HEIGHT], move[BEND]


@njit(cache=True)
def _step_away(d, m, away_x, away_y):  # type: ignore[no-untyped-def]
    """Go out of a crush, the more the more urgent it is; returns how far to turn for that and for the dance, rad."""
    urge = math.sqrt(away_x * away_x + away_y * away_y)
    turn = wrapped(m[FACING] - m[HEADING])
    if urge < 1e-6:
        return turn
    # a walker goes ahead or back, so it turns whichever of both is nearer to the way out
    off = wrapped(math.atan2(away_y, away_x) - m[HEADING])
    sense = 1.0 if abs(off) <= 0.5 * math.pi else -1.0
    share = min(urge, 1.0)
    m[WISH_SPEED] = (1.0 - share) * m[WISH_SPEED] + d.escape * share * sense
    if abs(m[WISH_SPEED]) < d.slowest:
        m[WISH_SPEED] = d.slowest * sense
    return (1.0 - share) * turn + share * (off if sense > 0.0 else wrapped(off + math.pi))


@njit(cache=True)
def _shaken(d, m, velocity, now):  # type: ignore[no-untyped-def]
    """Whether it was knocked out of its steps a while ago: it neither turns then nor begins another move."""
    speed = math.sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1])
    if speed > d.shaken:
        m[CALM] = now + d.calm
    if now >= m[CALM]:
        return False
    m[UNTIL] = max(m[UNTIL], m[CALM])
    return True


@njit(cache=True)
def dance_rows(d, dt, moves, world, starts, heights, lying):  # type: ignore[no-untyped-def]
    """Have everybody want what its dance wants, steer clear of others, and keep its balance.

    Args:
      d, dt: see `DanceSettings`; s a step.
      moves: (characters, moves, 7), danced over and over.
      world, starts: see `World`, `Starts`.
      heights: (characters,), m, below which a root is that of somebody who fell.
      lying: scratch, (characters,).
    """
    for row in range(world.qpos.shape[0]):
        now = world.time[row]
        for who in range(moves.shape[0]):
            lying[who] = world.qpos[row, starts.qpos[who] + 2] < heights[who]
        for who in range(moves.shape[0]):
            m = world.userdata[row, starts.memory[who] :]
            if m[DIRECTED] > 0.0:
                continue
            _dance(m, moves[who], now)
            away_x, away_y = _crush(d, world, starts, lying, row, who)
            turn = _step_away(d, m, away_x, away_y)
            if _shaken(d, m, world.sensordata[row, starts.com_velocity[who] :], now):
                turn = 0.0
            # a little ahead of what is followed, so that it turns at that rate
            m[WISH_HEADING] = m[HEADING] + clamp(turn, -d.turn_rate * dt, d.turn_rate * dt)
