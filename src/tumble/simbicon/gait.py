"""Gaits of Simbicon: a machine of a few states and the motion of every joint in each, read from TOML files.

    gait = load_gait(Path("mine.toml"), character)

    name = "walk"
    character = "biped34"
    [gains.hip]                   # of both sides; every joint of the character, and the root, has gains
    stiffness = 300               # N m/rad
    damping = 30                  # N m s/rad
    twist = 0.66                  # factor on both for this way of turning
    [[states]]                    # in their order, over and over
    duration = 0.7                # s in which the phase goes from 0 to 1
    until = "strike"              # or a phase of 1; "time": that alone; "strike-only": never without a strike
    [states.joints.swing_hip]
    frame = "character"           # or "parent"
    bend = [[0.0, -0.1], [0.5, -0.4], [1.0, 0.0]]   # knots [phase, rad], Catmull-Rom between them
    bend_feedback = [-0.3, -0.3]  # c_d rad/m and c_v rad s/m of eq. 2.1

Angles turn by the right hand: bend about the axis to the left (a limb swings backwards, a trunk forwards), side
about the axis ahead, twist about the axis up. Limbs are told by `swing_` and `stance_`. A file speaks of a step on
the LEFT foot; on the right one, side and twist change their sign. What a file does not name is 0.

With `sided = true` a gait has two states, the first for steps on the left foot, the second for steps on the right one:
side steps, say. Signs are still those of a step on the left foot: who copies the one state to the other steps straight.
Such a gait counts as one state, so that it mixes with gaits of one; `mirrored` makes the one to the other side.
"""

import math
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np

from tumble.characters import Character
from tumble.errors import UserError, check_number, unknown
from tumble.files import read_text

Knots: TypeAlias = tuple[tuple[float, float], ...]
Pair: TypeAlias = tuple[float, float]

WAYS = ("side", "bend", "twist")  # about x, y, z; the suffixes of hinges
BEND, SIDE_WAY, STRENGTH = 1, 0, 3
KNOTS = 16  # the most of one trajectory
STATES = 4  # the most of a gait
GAITS = Path(__file__).parent / "gaits"
BODIES = ("planar", "biped34", "big-bird", "raptor", "planar-bird")  # that gaits come with


class Gains(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """k_p in N m/rad and k_d in N m s/rad of a joint, and factors on both for two ways of turning.

    tau_PD = k_p vq(q_d, q) - k_d omega (eq. 2.2). Both sides of a body have the same.
    """

    stiffness: float
    damping: float
    side: float = 1.0
    twist: float = 1.0


class Motion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a joint moves in a state: knots [phase, rad] of three angles, [phase, factor] of the strength.

    theta_d = theta_d0 + c_d d + c_v v (eq. 2.1), theta_d0 by the knots, the feedback in two planes.
    """

    bend: Knots = ()
    side: Knots = ()
    twist: Knots = ()
    strength: Knots = ()  # factor on k_p and k_d; none: 1
    frame: Literal["parent", "character"] = "parent"
    bend_feedback: Pair = (0.0, 0.0)  # c_d, c_v in the sagittal plane
    side_feedback: Pair = (0.0, 0.0)  # c_d, c_v in the coronal plane


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One state of the machine. It begins with phase 0; at its end the next one does, after the last the first."""

    duration: float  # s; T
    joints: dict[str, Motion]
    until: Literal["strike", "time", "strike-only"] = "strike"  # strike or phase 1, the first; one alone
    earliest: float = 0.5  # phase from which a strike counts; not given; the authors' code
    swap: bool = True  # the legs change roles at its end


class GaitStart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A state to begin from, as the left foot has landed."""

    speed: float = 0.0  # m/s ahead
    drift: float = 0.0  # m/s to the left, where the character can go there
    angles: dict[str, float] = {}  # rad by hinge; those not named as in the pose 'rest'
    rates: dict[str, float] = {}  # rad/s by hinge


class Gait(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A SIMBICON controller, plain data: `tumble.toml` writes it, `read_gait` reads it, `check_gait` judges it."""

    name: str
    character: str
    gains: dict[str, Gains]
    states: tuple[State, ...]
    about: str = ""
    turn: float = 0.0  # rad/s by which the wanted heading moves
    sided: bool = False  # two states, one a stance leg, left first: the leg says which is read; ours
    hip_damping: float = 0.0  # N m s^2/rad^2 against the stance hip's twist; not in the paper; the authors' code
    hip_speed: float = 4.0  # rad/s from which that damping is linear
    shift: float = 0.1  # s in which the root's torque goes over to a new stance leg; paper: 0; authors' code: by load
    start: GaitStart = GaitStart()


def joint_of(hinge: str) -> str:
    """'left_hip' for 'left_hip_bend': the joint that a hinge is a part of."""
    return hinge.rsplit("_", 1)[0] if hinge.rsplit("_", 1)[-1] in WAYS else hinge


def side_of(joint: str) -> int:
    """0 for a joint of the left side, 1 for the right, -1 for the middle."""
    return 0 if joint.startswith("left_") else 1 if joint.startswith("right_") else -1


def plain(joint: str) -> str:
    """'hip' for 'left_hip'."""
    return joint.removeprefix("left_").removeprefix("right_")


def joints_of(character: Character) -> tuple[str, ...]:
    """The joints of a character in order, 'left_hip' and so on."""
    return tuple(dict.fromkeys(joint_of(hinge) for hinge in character.joints))


def roles_of(character: Character) -> tuple[str, ...]:
    """What a gait may move: 'root', the joints of the middle, 'stance_hip' before 'swing_hip' and so on."""
    names = ["root"]
    for joint in joints_of(character):
        names += [joint] if side_of(joint) < 0 else [f"{leg}_{plain(joint)}" for leg in ("stance", "swing")]
    return tuple(dict.fromkeys(names))


def states_of(gait: Gait) -> int:
    """How many states the machine counts: one for a sided gait, whose two belong to the legs."""
    return 1 if gait.sided else len(gait.states)


def mirrored(gait: Gait, name: str, about: str = "") -> Gait:
    """The gait to the other side, of another name: it turns the other way, and the states of a sided one change places.

    The start stays, as it is that of a step on the left foot.
    """
    states = gait.states[::-1] if gait.sided else gait.states
    return msgspec.structs.replace(gait, name=name, about=about or gait.about, turn=-gait.turn or 0.0, states=states)


def check_gait(gait: Gait, character: Character) -> Gait:
    """The gait, or the error that says what is wrong with it: names that the body lacks, numbers out of bounds."""
    what = f"of gait '{gait.name}'"
    if gait.character != character.name:
        raise UserError(f"gait '{gait.name}' is for the character '{gait.character}', got '{character.name}'")
    _check_gains(gait, character)
    if not 1 <= len(gait.states) <= STATES:
        raise UserError(f"a gait must have 1 to {STATES} states, got {len(gait.states)} {what}")
    if gait.sided and not (len(gait.states) == 2 and all(state.swap for state in gait.states)):
        swaps = [state.swap for state in gait.states].count(True)
        raise UserError(
            f"a sided gait must have 2 states that swap legs, on the left foot and on the right one;"
            f" got {len(gait.states)}, {swaps} of them with swap = true, {what}"
        )
    if not any(state.swap for state in gait.states):
        raise UserError(f"gait '{gait.name}' never swaps legs: give a state swap = true")
    for i, state in enumerate(gait.states):
        _check_state(state, f"state {i} {what}", roles_of(character))
    check_number(f"turn {what}", gait.turn, -3.0, 3.0)
    check_number(f"hip_damping {what}", gait.hip_damping, 0.0, 500.0)
    check_number(f"hip_speed {what}", gait.hip_speed, 0.0, 100.0)
    check_number(f"shift {what}", gait.shift, 0.0, 1.0)
    for key in ("speed", "drift"):
        check_number(f"{key} of the start {what}", getattr(gait.start, key), -10.0, 10.0)
    for word, most, numbers in (("angle", 3.2, gait.start.angles), ("rate", 50.0, gait.start.rates)):
        for hinge, number in numbers.items():
            if hinge not in character.joints:
                raise unknown("hinge", hinge, character.joints, f" in the start {what}")
            check_number(f"{word} of '{hinge}' in the start {what}", number, -most, most)
    return gait


def _check_gains(gait: Gait, character: Character) -> None:
    """Refuse gains of joints that are none, and a joint or a root without gains."""
    wanted = dict.fromkeys(["root", *map(plain, joints_of(character))])
    for name, gains in gait.gains.items():
        if name not in wanted:
            raise unknown("joint", name, wanted, f" for gains of gait '{gait.name}'")
        for key in ("stiffness", "damping", "side", "twist"):
            check_number(f"{key} of '{name}' of gait '{gait.name}'", getattr(gains, key), 0.0, 1e4)
    missing = [name for name in wanted if name not in gait.gains]
    if missing:
        raise UserError(f"gait '{gait.name}' has no gains for {', '.join(missing)}: add [gains.{missing[0]}]")


def _check_state(state: State, label: str, roles: tuple[str, ...]) -> None:
    """Refuse a state whose joints or numbers are none; the label is how errors call it."""
    check_number(f"duration of {label}", state.duration, 0.02, 10.0)
    check_number(f"earliest of {label}", state.earliest, 0.0, 1.0)
    for name, motion in state.joints.items():
        if name not in roles:
            raise unknown("joint", name, roles, f" in {label}")
        for way in (*WAYS, "strength"):
            _check_knots(f"{way} of '{name}' in {label}", getattr(motion, way))
        for key in ("bend_feedback", "side_feedback"):
            for value in getattr(motion, key):
                check_number(f"{key} of '{name}' in {label}", value, -10.0, 10.0)


def _check_knots(label: str, knots: Knots) -> None:
    """Refuse knots that are too many, not finite, out of order or out of bounds."""
    if len(knots) > KNOTS:
        raise UserError(f"{label} must have at most {KNOTS} knots, got {len(knots)}")
    for x, y in knots:
        if not (math.isfinite(x) and math.isfinite(y)):
            raise UserError(f"{label} must have finite knots, got [{x}, {y}]")
        if not 0 <= x <= 1:
            raise UserError(f"{label} must have phases from 0 to 1, got {x:g}")
        if abs(y) > 12:
            raise UserError(f"{label} must stay within 12, got {y:g} at {x:g}")
    for (a, _), (b, _) in pairwise(knots):
        if b - a < 1e-4:
            raise UserError(f"{label} must have knots in rising order, got {a:g} before {b:g}")


def load_gait(path: Path, character: Character) -> Gait:
    """The gait in a TOML file, for a character; refuses one of another body."""
    return read_gait(read_text(path, f"the gait '{path.name}'"), character, path.name)


def read_gait(text: str, character: Character, where: str = "text") -> Gait:
    """The gait in a text of TOML, for a character; `where` it comes from stands in errors of the text."""
    try:
        return check_gait(msgspec.toml.decode(text, type=Gait), character)
    except msgspec.MsgspecError as error:
        raise UserError(f"not a gait ({where}): {error}") from None


@cache
def _files(name: str) -> tuple[Path, ...]:
    """Files of a body's builtin gaits, 'walk' first."""
    return tuple(sorted((GAITS / name).glob("*.toml"), key=lambda file: (file.stem != "walk", file.stem)))


def gait_names(body: str) -> list[str]:
    """Names of the gaits that come with tumble for a character of that name, 'walk' first; none for most."""
    return [file.stem for file in _files(body)]


def builtin_gaits(character: Character) -> dict[str, Gait]:
    """The gaits that come with tumble for a character, by name, 'walk' first."""
    return {gait.name: gait for gait in (load_gait(file, character) for file in _files(character.name))}


class Gaits(NamedTuple):
    """Gaits for compiled code: g gaits, s states, r roles."""

    knots: np.ndarray  # (g, s, r, 4, KNOTS, 2): side, bend, twist, strength
    counts: np.ndarray  # (g, s, r, 4)
    feedback: np.ndarray  # (g, s, r, 2, 2): side and bend; c_d and c_v
    worldly: np.ndarray  # (g, s, r) whether in the character's frame
    stiffness: np.ndarray  # (g, r, 3) N m/rad about x, y, z of the child bone
    damping: np.ndarray  # (g, r, 3) N m s/rad
    states: np.ndarray  # (g,) number of states, 1 of a sided gait
    sided: np.ndarray  # (g,) whether the stance leg says which state is read
    duration: np.ndarray  # (g, s) s
    strikes: np.ndarray  # (g, s) whether a strike ends it
    waits: np.ndarray  # (g, s) whether nothing else does
    earliest: np.ndarray  # (g, s)
    swap: np.ndarray  # (g, s)
    turn: np.ndarray  # (g,) rad/s
    hip_damping: np.ndarray  # (g,)
    hip_speed: np.ndarray  # (g,)
    shift: np.ndarray  # (g,) s


def table_of(gaits: list[Gait], roles: tuple[str, ...]) -> Gaits:
    """The arrays of some gaits, by their order; checked gaits of one body, whose roles these are.

    Of gaits with fewer states, or knots, what is beyond `states` or `counts` is not read.
    """
    g, r = len(gaits), len(roles)
    table = Gaits(
        knots=np.zeros((g, STATES, r, 4, KNOTS, 2)), counts=np.zeros((g, STATES, r, 4), np.intp),
        feedback=np.zeros((g, STATES, r, 2, 2)), worldly=np.zeros((g, STATES, r), np.bool_),
        stiffness=np.zeros((g, r, 3)), damping=np.zeros((g, r, 3)),
        states=np.array([states_of(gait) for gait in gaits]), sided=np.array([gait.sided for gait in gaits]),
        duration=np.ones((g, STATES)), strikes=np.zeros((g, STATES), np.bool_), waits=np.zeros((g, STATES), np.bool_),
        earliest=np.zeros((g, STATES)), swap=np.zeros((g, STATES), np.bool_),
        turn=np.array([gait.turn for gait in gaits]), hip_damping=np.array([gait.hip_damping for gait in gaits]),
        hip_speed=np.array([gait.hip_speed for gait in gaits]), shift=np.array([gait.shift for gait in gaits]),
    )  # fmt: skip
    for i, gait in enumerate(gaits):
        for k, state in enumerate(gait.states):
            _fill_state(table, i, k, state, roles)
        for j, role in enumerate(roles):
            gains = gait.gains[role.removeprefix("stance_").removeprefix("swing_")]
            factors = np.array((gains.side, 1.0, gains.twist))
            table.stiffness[i, j], table.damping[i, j] = gains.stiffness * factors, gains.damping * factors
    return table


def _fill_state(table: Gaits, i: int, k: int, state: State, roles: tuple[str, ...]) -> None:
    """Write state k of gait i; joints that it does not tell of stay at angle 0, strength 1."""
    table.duration[i, k], table.earliest[i, k] = state.duration, state.earliest
    table.strikes[i, k], table.waits[i, k] = state.until != "time", state.until == "strike-only"
    table.swap[i, k] = state.swap
    table.knots[i, k, :, STRENGTH, 0, 1] = 1.0
    for name, motion in state.joints.items():
        j = roles.index(name)
        for way, key in enumerate((*WAYS, "strength")):
            knots = getattr(motion, key)
            table.knots[i, k, j, way, : len(knots)] = np.reshape(knots, (-1, 2))
            table.counts[i, k, j, way] = len(knots)
        table.feedback[i, k, j] = motion.side_feedback, motion.bend_feedback
        table.worldly[i, k, j] = motion.frame == "character"
