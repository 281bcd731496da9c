"""Strider: rows that take steps by actions of their own, and what came of each (coros2010 sections 3.3 and 3.4).

    strider = Strider(Scene(character("planar")), BASES["planar-walk"]())
    sims = Sims(strider.scene, 64)
    strider.begin(sims)
    strider.apply(sims, rows, actions)               # (len(rows), p), from the next control on
    stood = strider.step(sims, rows)                 # (len(rows),); False for who fell, or made no step
    lengths, lateral = strider.measured(sims, rows)
    strider.reduced(sims, rows)                      # (len(rows), q)

The action, and where the heel stood as it was chosen, are in the state row: who copies the row copies the step.
"""

from functools import partial

import numpy as np

from tumble.errors import UserError
from tumble.maths.rotations import wrapped_angles
from tumble.maths.vectors import yaws
from tumble.simbicon.body import MEMORY
from tumble.simbicon.simbicon import Simbicon
from tumble.stepping.base import Base
from tumble.world.scene import Scene
from tumble.world.sims import Sims

STANDS = "stepping stand"  # how its claim is called
STAND = np.dtype([("heel", "f8", (2,))])  # m, of the stance foot's heel as the action was chosen
LONGEST = 1.5  # s that a step may take; ours
QUICKEST, SLOWEST = 0.15, 1.5  # s of T_hold; ours
WIDEST = 2.5  # rad of a control point; ours
SCUFFED = -0.1  # m: a foot that touches farther behind the other one was not swung yet, and has not struck; ours
SHORT = 0.3  # m before the place where a foot is to land, from which on its touch is a strike and no scuff; ours


class Strider:
    """A base's gait with an action for each row.

    Attributes:
      walker: the Simbicon of that gait; its law, steps and falls are the strider's.

    **Departures**
      Thesis: the reduced state has a left and a right hip, and a state of the machine for each leg; here a stance and a
      swing hip, and one mirrored state, so that every example serves steps on both feet. Thesis: the next state
      begins as the foot strikes; here the next action does at the end of that frame, in which the last one goes on, as
      it is seen then by who plans. Thesis: the length is from heel to heel; here from where the heel that stands came
      to rest, as it may rise before the other one lands.
    """

    def __init__(self, scene: Scene, base: Base) -> None:
        """Walk in a scene whose character is the base's."""
        if scene.character.name != base.character:
            raise UserError(f"base '{base.name}' is for the character '{base.character}', got '{scene.character.name}'")
        self.base = base
        self.walker = Simbicon(scene, [base.gait], base.variation)
        self.move(scene)

    def move(self, scene: Scene) -> None:
        """Go on in another scene of the same character."""
        self.scene = scene
        self.walker.move(scene)
        scene.claim(STANDS, STAND)
        model, feet = scene.model, scene.character.feet
        self._feet = np.array([scene.body(foot) for foot in feet])
        self._heels = np.array([_heel(scene, foot) for foot in feet])
        self._root = scene.body(scene.character.root)
        names = [f"{side}_hip_bend" for side in ("left", "right")]
        self._hips = np.array([model.jnt_qposadr[model.joint(name).id] for name in names])

    def begin(self, sims: Sims) -> None:
        """Put all rows at the opening of the gait, with its own action."""
        sims.load(self.walker.opening(self.base.gait.name))
        self.walker.start(sims)
        self._note(sims, np.arange(sims.nsim))

    def apply(self, sims: Sims, rows: np.ndarray, actions: np.ndarray) -> None:
        """Have rows take their next step by actions (len(rows), p), of which T_hold and angles are kept in bounds."""
        numbers = np.clip(actions, -WIDEST, WIDEST)
        numbers[:, -1] = np.clip(actions[:, -1], QUICKEST, SLOWEST)
        self.walker.varied(sims)[rows] = numbers
        self._note(sims, rows)

    def _note(self, sims: Sims, rows: np.ndarray) -> None:
        """Remember where the heels of stance feet are."""
        sims.memory(STANDS).heel[rows] = self.heels(sims, rows)

    def step(self, sims: Sims, rows: np.ndarray) -> np.ndarray:
        """Run rows until their feet strike once more, to the end of that frame; (len(rows),) whether they stand then.

        A row that falls, or makes no step within `LONGEST`, rests from there on. Rows rise and none comes twice.
        """
        walker, memory = self.walker, sims.memory(MEMORY)
        goal, stood = memory.footstrikes + 1, np.zeros(sims.nsim, bool)
        going = np.asarray(rows)
        for _ in range(int(np.ceil(LONGEST / self.scene.dt))):
            sims.act(partial(walker.law, rows=going), walker.drive, going)
            up = going[~walker.fallen(sims)[going]]
            done = memory.footstrikes[up] >= goal[up]
            stood[up[done]] = True
            going = up[~done]
            if not going.size:
                break
        return stood[rows]

    def heels(self, sims: Sims, rows: np.ndarray) -> np.ndarray:
        """(len(rows), 2) m where the heels of the stance feet are."""
        return self._heel(sims, rows, sims.memory(MEMORY).stance[rows].astype(int))

    def _heel(self, sims: Sims, rows: np.ndarray, foot: np.ndarray) -> np.ndarray:
        bodies = self._feet[foot]
        quat, at = sims.view("xquat")[rows, bodies], sims.view("xpos")[rows, bodies]
        w, x, y, z = quat.T
        px, py, pz = self._heels[foot].T
        ahead = (1 - 2 * (y * y + z * z)) * px + 2 * (x * y - w * z) * py + 2 * (x * z + w * y) * pz
        left = 2 * (x * y + w * z) * px + (1 - 2 * (x * x + z * z)) * py + 2 * (y * z - w * x) * pz
        found: np.ndarray = at[:, :2] + np.column_stack([ahead, left])
        return found

    def measured(self, sims: Sims, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(len(rows),) m ahead and m across of the heel that landed last from the heel that stood, in the frame.

        Across is the spacing: positive where the left foot is left of the right one.
        """
        memory = sims.memory(MEMORY)
        away = self.heels(sims, rows) - sims.memory(STANDS).heel[rows]
        ahead, left = _turned(away, self.walker.headings(sims)[rows])
        return ahead, np.where(memory.stance[rows] == 0.0, left, -left) if self.base.space else np.zeros_like(left)

    def reduced(self, sims: Sims, rows: np.ndarray) -> np.ndarray:
        """(len(rows), q) of s: d, v, torso, stance hip, swing hip; in space d, v and torso across and the yaw as well.

        d, v are the centre of mass's place over, and its speed against, the stance foot, ahead in the character's
        frame, m, m/s; torso is the root's lean there, rad; hips are angles of the joints, about the axis to the left.
        Across is towards the swing leg's side. The yaw is the root's, from the wanted heading, to that side as well.
        """
        stance = sims.memory(MEMORY).stance[rows].astype(int)
        heading = self.walker.headings(sims)[rows]
        away = sims.view("com")[rows, :2] - sims.view("xipos")[rows, self._feet[stance], :2]
        d, d_left = _turned(away, heading)
        v, v_left = _turned(sims.view("com_velocity")[rows, :2], heading)
        w, x, y, z = sims.view("xquat")[rows, self._root].T
        up = np.column_stack([2 * (x * z + w * y), 2 * (y * z - w * x)])
        up_ahead, up_left = _turned(up, heading)
        height = 1 - 2 * (x * x + y * y)
        lean = np.arctan2(up_ahead, height)
        hips = sims.view("qpos")[rows][:, self._hips]
        each = np.arange(len(stance))
        found = [d, v, lean, hips[each, stance], hips[each, 1 - stance]]
        if self.base.space:
            side = np.where(stance == 0, -1.0, 1.0)  # the right leg swings while the left one stands
            yaw = yaws(sims.view("xquat")[rows, self._root]) - sims.memory(MEMORY).heading[rows]
            across = d_left, v_left, np.arctan2(up_left, height), wrapped_angles(yaw)
            found += [side * number for number in across]
        return np.column_stack(found)


def _turned(vectors: np.ndarray, heading: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors (n, 2) ahead and left of headings (n,)."""
    c, s = np.cos(heading), np.sin(heading)
    return c * vectors[:, 0] + s * vectors[:, 1], c * vectors[:, 1] - s * vectors[:, 0]


def _heel(scene: Scene, foot: str) -> np.ndarray:
    """The rearmost point of what a foot stands on, in its frame, m: ends of the capsules that collide."""
    model, body = scene.model, scene.body(foot)
    found = []
    for geom in np.flatnonzero(model.geom_bodyid == body):
        if model.geom_conaffinity[geom]:
            half = model.geom_size[geom, 1] * _axis(model.geom_quat[geom])
            for end in (model.geom_pos[geom] - half, model.geom_pos[geom] + half):
                found.append(end - (model.geom_size[geom, 0], 0, 0))
    points = np.array(found)
    rear = points[points[:, 0] < points[:, 0].min() + 1e-6]
    mean: np.ndarray = rear.mean(axis=0)
    return mean


def _axis(quat: np.ndarray) -> np.ndarray:
    """The z axis of a rotation."""
    w, x, y, z = quat
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
