"""The compiled control of all rows: look, follow the wishes, decide, swing, hold, balance (coros2010 figure 5.1).

    rows = Address(rows_of(body, terrain, k, styles, fields, out))
    control_rows(rows)            # out[i] are the controls of row i of `ids` for one physics step

The address is of arrays that stay where they are: who has another `Sims`, other settings or styles lays it down anew.
"""

from typing import NamedTuple

import numpy as np

from tumble.maths.bundles import on_stack
from tumble.maths.compiled import entry, inner
from tumble.maths.vectors import clamp, dot, vec
from tumble.walking.balance import balance
from tumble.walking.body import BACK, BONES, LEGS, Body, Fields
from tumble.walking.crossing import cross_terrain
from tumble.walking.deciding import decide
from tumble.walking.hands import follow_hands
from tumble.walking.holding import close_grips, feel_hands
from tumble.walking.memory import Mode
from tumble.walking.pose import generate, hold
from tumble.walking.settings import WalkSettings
from tumble.walking.style import TRAJECTORIES, Styles
from tumble.walking.swing import swing
from tumble.walking.terrain import Terrain
from tumble.walking.wishes import follow, look_at

LIMP, FADES = 0.25, 0.2  # of the leg's length: root's height below which all is limp, and over which torques fade; ours


class WalkRows(NamedTuple):
    """All that `control_rows` reads and writes."""

    body: Body
    terrain: Terrain | None
    k: WalkSettings
    styles: Styles
    fields: Fields
    torque: np.ndarray  # scratch, (bones, 3) N m
    angles: np.ndarray  # scratch, (trajectories,)
    ids: np.ndarray  # (rows,) whose controls are asked, `many[0]` of them
    many: np.ndarray
    out: np.ndarray  # (rows, motors)


def rows_of(
    body: Body, terrain: Terrain | None, k: WalkSettings, styles: Styles, fields: Fields, out: np.ndarray
) -> WalkRows:
    """With scratch of its own, for all rows; the arrays that are given are used as they are, not copied."""
    scratch, ids = (np.zeros((len(BONES), 3)), np.zeros(len(TRAJECTORIES))), np.arange(len(out))
    return WalkRows(body, terrain, k, styles, fields, *scratch, ids, np.array([len(out)]), out)


@inner
def _project(body, m, f, i, torque, out):  # type: ignore[no-untyped-def]
    """Torque vectors to fractions of the motors' strengths: (tau . axis + D w) / strength, within -1 and 1.

    The engine integrates the joints' damping implicitly, which keeps light feet stable at large steps; what
    it takes, -D w, is in the control already, so that the law is the thesis's, k_p e - k_d w.
    """
    height = f.qpos[i, 2] - m.ground
    fade = clamp((height - LIMP * body.leg) / (FADES * body.leg), 0.0, 1.0)
    for bone in range(BACK, LEGS + 8):
        for j in range(body.joint[bone], body.joint[bone] + body.joints[bone]):
            push = dot(vec(torque[bone]), vec(f.xaxis[i, j])) + body.damping[j] * f.qvel[i, body.dof[j]]
            out[i, body.motor[j]] = clamp(fade * push / body.strength[j], -1.0, 1.0)


@entry
def control_rows(rows):  # type: ignore[no-untyped-def]
    """Controls of the rows `rows.ids` into `rows.out`; their memory moves on by a step, that of others stays."""
    body, terrain, k, styles, fields = rows.body, rows.terrain, rows.k, rows.styles, rows.fields
    holds, torque, angles, out = body.holds, rows.torque, rows.angles, rows.out
    for n in range(rows.many[0]):
        i = rows.ids[n]
        memory = fields.memory[i]
        follow_hands(body, k, memory)
        feel_hands(body, holds, k, memory, fields, i)
        look = on_stack(look_at(body, holds, k, memory, fields, i))
        follow(body, k, styles, memory, look)
        decide(body, k, memory, look, fields, i)
        cross_terrain(body, terrain, k, memory, look, fields, i)
        generate(styles, memory, angles)
        torque[:] = 0.0
        hold(body, holds, k, memory, look, fields, i, angles, torque)
        if memory.mode == Mode.WALK:
            swing(body, terrain, k, styles, memory, look, fields, i, angles, torque)
        balance(body, holds, k, memory, look, fields, i, angles, torque)
        _project(body, memory, fields, i, torque, out)
        close_grips(holds, memory, i, out)
