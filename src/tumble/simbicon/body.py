"""What the compiled control of Simbicon knows of a scene: constants in `Bones`, live arrays in `Live`.

    scene.claim(MEMORY, SIMBICON)
    bones, live = bones_of(scene), live_of(sims)

All that a row remembers, what was chosen for it included, is its record of SIMBICON in the state: whoever copies the
row copies the walker. Numbers of gaits are those of `Simbicon.gaits`.
"""

from typing import NamedTuple

import numpy as np

from tumble.errors import UserError
from tumble.maths.bundles import strided
from tumble.simbicon.gait import joint_of, plain, roles_of, side_of
from tumble.world.scene import Scene
from tumble.world.sims import Sims

DRIVE = "torque"
MEMORY = "simbicon"  # how its claim is called

SIMBICON = np.dtype(
    [
        ("state", "f8"),  # of the machine
        ("phase", "f8"),  # of the state, 0 to 1
        ("stance", "f8"),  # the stance leg: 0 left, 1 right
        ("footstrikes", "f8"),  # steps done: how often the legs have swapped roles
        ("heading", "f8"),  # wanted, rad from the x axis, not wrapped
        ("gait", "f8"),  # index
        ("other", "f8"),  # index of the gait that it is mixed with
        ("weight", "f8"),  # w: share of the other one's torques, 0 to 1
    ]
)


class Bones(NamedTuple):
    """Constants of a scene's character; arrays over its b bones, root first, parents before children."""

    ids: np.ndarray  # MuJoCo's body
    parent: np.ndarray  # bone, -1 for the root
    joint: np.ndarray  # MuJoCo's first hinge
    hinges: np.ndarray  # number of hinges
    side: np.ndarray  # 0 left, 1 right, -1 middle
    role: np.ndarray  # of the joint that holds the bone; of its stance where it has a side
    dof: np.ndarray  # (njnt,) place of a joint's speed in qvel
    motor: np.ndarray  # (njnt,) place of its torque in a control, -1 for the root's
    damping: np.ndarray  # (njnt,) N m s/rad that the engine integrates
    strength: np.ndarray  # (njnt,) N m
    hips: np.ndarray  # (2,) bones: left, right thigh
    feet: np.ndarray  # (2,) bones
    sole: np.ndarray  # (2, b) whether a bone belongs to the left, right foot: the foot and what hangs on it
    ground: np.ndarray  # (b,) column of the 'grounded' channel
    height: float  # m of the root over the lower foot at rest
    dt: float  # s


@strided
class Live(NamedTuple):
    """Live arrays of a `Sims`, row by row, under MuJoCo's names; `com`, `spin` and `grounded` are channels.

    They stay those of that `Sims` as long as it lives, and are current after every step.
    """

    qvel: np.ndarray
    xpos: np.ndarray
    xipos: np.ndarray
    xquat: np.ndarray
    xaxis: np.ndarray
    com: np.ndarray
    com_velocity: np.ndarray
    spin: np.ndarray
    grounded: np.ndarray
    memory: np.ndarray  # (nsim,) of SIMBICON


def live_of(sims: Sims) -> Live:
    """The live arrays of some simulations."""
    names = ("qvel", "xpos", "xipos", "xquat", "xaxis", "com", "com_velocity")
    views = [sims.view(name) for name in names]
    views += [sims.view(f"{sims.scene.character.root}.spin"), sims.view("grounded"), sims.memory(MEMORY)]
    return Live._make(views)


def bones_of(scene: Scene) -> Bones:
    """The constants of a scene, copies; refuses a character that has no two hips.

    A joint is all hinges between a bone and its parent: 'left_hip' are left_hip_side, left_hip_bend, left_hip_twist.
    """
    model, character = scene.model, scene.character
    names = scene.bones
    ids = np.array([scene.body(name) for name in names])
    parent = np.array([names.index(model.body(model.body_parentid[i]).name) if n else -1 for n, i in enumerate(ids)])
    first, count = model.body_jntadr[ids].astype(np.intp), model.body_jntnum[ids].astype(np.intp)
    count[0] = 0  # the root's own joints are nobody's
    held = [joint_of(model.joint(j).name) if n else "root" for j, n in zip(first, count, strict=True)]
    roles = roles_of(character)
    thighs = [_bone("left_hip", held, scene), _bone("right_hip", held, scene)]
    feet = np.array([names.index(foot) for foot in character.feet])
    motor, strength = np.full(model.njnt, -1), np.ones(model.njnt)
    for i, (name, joint) in enumerate(character.joints.items()):
        motor[model.joint(name).id], strength[model.joint(name).id] = i, joint.strength
    return Bones(
        ids=ids, parent=parent, joint=first, hinges=count, side=np.array([side_of(name) for name in held]),
        role=np.array([roles.index(n if side_of(n) < 0 else f"stance_{plain(n)}") for n in held]),
        dof=model.jnt_dofadr.astype(np.intp), motor=motor, damping=model.dof_damping[model.jnt_dofadr].copy(),
        strength=strength, hips=np.array(thighs), feet=feet, sole=_soles(parent, feet),
        ground=np.arange(len(names)), height=_height(scene), dt=scene.drives[DRIVE].timestep,
    )  # fmt: skip


def _bone(joint: str, held: list[str], scene: Scene) -> int:
    """The bone that a joint holds, by the names of the joints of all bones."""
    if joint not in held:
        raise UserError(
            f"Simbicon needs the joints left_hip and right_hip with hinges such as left_hip_bend;"
            f" '{scene.character.name}' has no {joint}: take planar, biped34, big-bird or raptor"
        )
    return held.index(joint)


def _soles(parent: np.ndarray, feet: np.ndarray) -> np.ndarray:
    """(2, bones): which bones are the left foot, the right foot, or hang on it; parents come before children."""
    sole = np.zeros((2, len(parent)), np.bool_)
    for side, foot in enumerate(feet):
        sole[side, foot] = True
        for bone in range(foot + 1, len(parent)):
            sole[side, bone] |= sole[side, parent[bone]]
    return sole


def _height(scene: Scene) -> float:
    """Of the root over the lower foot in the pose 'rest', m."""
    data = scene.show(scene.state())
    foot = min(float(data.xpos[scene.body(foot), 2]) for foot in scene.character.feet)
    return float(data.xpos[scene.body(scene.character.root), 2]) - foot
