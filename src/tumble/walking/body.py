"""What the compiled control knows of a scene: ids, masses and lengths in `Body`, live arrays in `Fields`.

    body, fields = body_of(scene, WalkSettings()), fields_of(sims)
    fields.memory[0].phase        # live: a record of `WALKER` in the state

Gains are the humanoid's times `scale`, mass over 70.4 kg; lengths of settings times `size`, leg over 0.86 m. Trap: a
`Body` is a copy of what the scene and the settings were; who changes settings makes another.
"""

from typing import NamedTuple

import mujoco
import numpy as np

from tumble.characters import Character
from tumble.errors import UserError
from tumble.maths.bundles import strided
from tumble.walking.memory import MEMORY
from tumble.walking.settings import Joints, WalkSettings
from tumble.world.grips import STIFFNESS, grips_of
from tumble.world.props import Crate, handle_name
from tumble.world.scene import Scene
from tumble.world.sims import Sims

DRIVE = "torque"
NEEDS = ("biped", "toes", "palms", "jointed-back")  # capabilities of a walker's character

# Bones by number: the trunk, then arms and legs, left before right.
PELVIS, BACK, TORSO, HEAD, ARMS, LEGS = 0, 1, 2, 3, 4, 8
BONES = (
    "pelvis", "lower_back", "torso", "head",
    "left_upper_arm", "left_forearm", "right_upper_arm", "right_forearm",
    "left_thigh", "left_shin", "left_foot", "left_toe",
    "right_thigh", "right_shin", "right_foot", "right_toe",
)  # fmt: skip
PARENTS = (-1, 0, 1, 2, 2, 4, 2, 6, 0, 8, 9, 10, 0, 12, 13, 14)
THIGH, SHIN, FOOT, TOE = 0, 1, 2, 3  # of a leg
TOE_DAMPING = 0.2  # N m s/rad
HUMANOID_MASS, HUMANOID_LEG, HUMANOID_HIPS = 70.4, 0.86, 0.17  # kg; m from hip to ankle; m between the hips


class Legs(NamedTuple):
    """Lengths of the legs, left and right, in m; ahead is where the foot points. (2,) each."""

    thigh: np.ndarray
    shin: np.ndarray
    ankle: np.ndarray  # of the ankle above the sole
    extra_knee: np.ndarray  # by which the leg is longer than the other
    sole: np.ndarray  # from the ankle to the middle of the sole, ahead
    heel: np.ndarray  # from the ankle to where the heel stands
    ball: np.ndarray  # to where the ball of the foot stands
    edge: np.ndarray  # to where its sides stand
    sole_middle: np.ndarray  # from the ankle to the foot's centre of mass, ahead


class Arms(NamedTuple):
    """The arms, left and right; (2,) each."""

    upper: np.ndarray  # m from shoulder to elbow
    fore: np.ndarray  # m from elbow to palm
    palm: np.ndarray  # MuJoCo's sites


class Holds(NamedTuple):
    """What hands can take hold of: g grips on c crates."""

    handle: np.ndarray  # (g,) MuJoCo's sites
    grip_crate: np.ndarray  # (g,) number of the crate
    crate_body: np.ndarray  # (c,) MuJoCo's body
    crate_dof: np.ndarray  # (c,) place of its velocity in qvel
    crate_mass: np.ndarray  # (c,) kg
    grip: int  # place of the first grip in a control
    grip_stiffness: float  # N/m


class Body(NamedTuple):
    """Constants of a character; arrays over the sixteen bones unless said."""

    ids: np.ndarray  # MuJoCo's body
    parent: np.ndarray  # bone, -1 for the pelvis
    joint: np.ndarray  # MuJoCo's first hinge
    joints: np.ndarray  # number of hinges
    dof: np.ndarray  # (njnt,) place of a joint's speed in qvel
    angle: np.ndarray  # (njnt,) place of its angle in qpos
    motor: np.ndarray  # (njnt,) place of its torque in a control
    damping: np.ndarray  # (njnt,) N m s/rad that the engine integrates
    strength: np.ndarray  # (njnt,) N m
    mass: np.ndarray  # kg
    above: np.ndarray  # kg of the bone and all that hangs on it
    ground: np.ndarray  # column of the 'grounded' channel; -1 where the bone does not feel the ground
    stiffness: np.ndarray  # N m/rad, k_p of the law
    resist: np.ndarray  # N m s/rad, k_d of the law
    legs: Legs
    arms: Arms
    holds: Holds | None  # None where there is nothing to hold
    total: float  # kg
    scale: float  # mass over the humanoid's
    leg: float  # m, the shorter leg from hip to ankle
    size: float  # leg over the humanoid's
    hips: float  # m between the hips
    dt: float  # s
    gravity: float  # m/s^2


@strided
class Fields(NamedTuple):
    """Live arrays of a `Sims`, row by row."""

    qpos: np.ndarray
    qvel: np.ndarray
    xipos: np.ndarray
    xquat: np.ndarray
    xaxis: np.ndarray
    xanchor: np.ndarray
    subtree_com: np.ndarray
    com: np.ndarray
    com_velocity: np.ndarray
    grounded: np.ndarray
    site_xpos: np.ndarray
    memory: np.ndarray  # (nsim,) of WALKER


def fields_of(sims: Sims) -> Fields:
    """The live arrays of some simulations, of the scene's own character where they are a character's."""
    names = [name for name in Fields._fields if name != "memory"]
    return Fields(**{name: sims.view(name) for name in names}, memory=sims.memory(MEMORY))


def body_of(scene: Scene, settings: WalkSettings, prefix: str = "", grips: bool = True) -> Body:
    """The constants of a character of the scene, by its prefix; refuses one that is no biped.

    Places in qpos, qvel, controls and 'grounded' count from where the character's own begin.

    Args:
      grips: whether its hands hold by the scene's grips, which companions do not have.
    """
    model, character = scene.model, scene.cast[prefix]
    there = {model.body(i).name for i in range(model.nbody)}
    missing = [name for name in BONES if prefix + name not in there]
    if missing:
        raise UserError(
            f"a walker needs a biped with the bones {', '.join(BONES)}; '{character.name}' lacks"
            f" {', '.join(missing)}: make it with tumble.characters.biped"
        )
    ids = np.array([scene.body(prefix + name) for name in BONES])
    first, count = model.body_jntadr[ids].astype(np.intp), model.body_jntnum[ids].astype(np.intp)
    motor = np.full(model.njnt, -1)
    strength = np.zeros(model.njnt)
    for i, (name, joint) in enumerate(character.joints.items()):
        motor[model.joint(prefix + name).id] = i
        strength[model.joint(prefix + name).id] = joint.strength
    feeling = scene.feeling(prefix)
    legs = _legs(scene, ids)
    leg = float((legs.thigh + legs.shin).min())
    total = float(model.body_subtreemass[ids[0]])
    scale = total / HUMANOID_MASS
    return Body(
        ids=ids, parent=np.array(PARENTS), joint=first, joints=count,
        dof=model.jnt_dofadr.astype(np.intp) - int(model.jnt_dofadr[first[0]]),
        angle=model.jnt_qposadr.astype(np.intp) - int(model.jnt_qposadr[first[0]]), motor=motor,
        damping=model.dof_damping[model.jnt_dofadr].copy(), strength=strength,
        mass=model.body_mass[ids].copy(), above=model.body_subtreemass[ids].copy(),
        ground=np.array([feeling.index(name) if name in feeling else -1 for name in BONES]),
        stiffness=scale * _stiffness(settings.joints), resist=scale * _damping(settings.joints),
        legs=legs, arms=_arms(model, prefix, character), holds=_holds(scene) if grips and not prefix else None,
        total=total, scale=scale, leg=leg, size=leg / HUMANOID_LEG,
        hips=float(model.body_pos[ids[LEGS], 1] - model.body_pos[ids[LEGS + 4], 1]),
        dt=scene.drives[DRIVE].timestep, gravity=float(-model.opt.gravity[2]),
    )  # fmt: skip


def not_feet(body: Body) -> np.ndarray:
    """Columns of the 'grounded' channel of bones that feel the ground, but feet and toes: who touches it so, fell."""
    feet = [leg + bone for leg in (LEGS, LEGS + 4) for bone in (FOOT, TOE)]
    rest = np.delete(body.ground, feet)
    return rest[rest >= 0]


def _stiffness(joints: Joints) -> np.ndarray:
    """k_p of the bones' joints, N m/rad."""
    leg = [joints.hip_stiffness, joints.knee_stiffness, joints.ankle_stiffness, joints.toe_stiffness]
    arm = [joints.shoulder_stiffness, joints.elbow_stiffness]
    trunk = [joints.root_stiffness, joints.back_stiffness, joints.back_stiffness, joints.neck_stiffness]
    return np.array([*trunk, *arm, *arm, *leg, *leg])


def _damping(joints: Joints) -> np.ndarray:
    """k_d, N m s/rad: about 2 sqrt(k_p), section 5.4; the root's and the toes' are their own."""
    damping = 2 * np.sqrt(_stiffness(joints))
    damping[PELVIS] = joints.root_damping
    damping[[LEGS + TOE, LEGS + 4 + TOE]] = TOE_DAMPING
    return damping


def _legs(scene: Scene, ids: np.ndarray) -> Legs:
    """Measured in the straight pose."""
    model = scene.model
    place, legs = model.body_pos[ids], np.array([LEGS, LEGS + 4])
    thigh, shin = -place[legs + SHIN][:, 2], -place[legs + FOOT][:, 2]
    ankle, heel, ball, edge = np.transpose([_sole(scene, int(ids[leg + FOOT])) for leg in legs])
    reach = thigh + shin + ankle
    return Legs(
        thigh=thigh, shin=shin, ankle=ankle, extra_knee=reach - reach.min(), sole=0.5 * place[legs + TOE][:, 0],
        heel=heel, ball=ball, edge=edge, sole_middle=model.body_ipos[ids[legs + FOOT], 0],
    )  # fmt: skip


def _arms(model: mujoco.MjModel, prefix: str, character: Character) -> Arms:
    """Lengths of the arms from the model, straight down; the palms' sites must be on the forearms."""
    palms = np.array([model.site(prefix + name).id for name in character.palms])
    upper = -model.body_pos[model.site_bodyid[palms], 2]
    return Arms(upper=upper, fore=-model.site_pos[palms, 2], palm=palms)


def _holds(scene: Scene) -> Holds | None:
    """The grips of the scene's own character; None where there are none."""
    model, grips = scene.model, grips_of(scene.character, scene.props)
    if not grips:
        return None
    crates = [prop for prop in scene.props if isinstance(prop, Crate)]
    names = [crate.name for crate in crates]
    return Holds(
        handle=np.array([model.site(handle_name(grip.crate, grip.handle)).id for grip in grips], np.intp),
        grip_crate=np.array([names.index(grip.crate) for grip in grips], np.intp),
        crate_body=np.array([model.body(name).id for name in names], np.intp),
        crate_dof=np.array([int(model.joint(name).dofadr[0]) for name in names], np.intp),
        crate_mass=np.array([crate.mass for crate in crates], float),
        grip=scene.drives[DRIVE].joints, grip_stiffness=STIFFNESS,
    )  # fmt: skip


def _sole(scene: Scene, foot: int) -> tuple[float, float, float, float]:
    """How far a foot's ends stand from its frame: below, behind, ahead, sideways, m."""
    model = scene.model
    geoms = [i for i in range(model.ngeom) if model.geom_bodyid[i] == foot and model.geom_conaffinity[i]]
    below = max(model.geom_size[i, 0] - model.geom_pos[i, 2] for i in geoms)
    half = max(model.geom_size[i, 1] for i in geoms)
    middle = float(np.mean([model.geom_pos[i, 0] for i in geoms]))
    return float(below), float(half - middle), float(half + middle), float(max(model.geom_pos[i, 1] for i in geoms))
