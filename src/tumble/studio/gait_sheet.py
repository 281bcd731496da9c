"""The sheet of gaits: target angles over the phase of a state, gains and feedback (coros2010 figure 2.7).

sheet = GaitSheet(character("biped34"))
gait = sheet.bent(gait, "0/swing_hip/bend", ((0.0, -0.1), (0.5, -0.5)))
gait = sheet.changed(gait, "0/swing_hip/bend", "c_v", -0.4)

A key is the number of a state, what moves and the way it turns: bend is the sagittal plane, side the coronal, twist
the transverse one. `strength` of the root is the share of its torque that the stance hip gives.
"""

from typing import Any

from msgspec.structs import replace

from tumble.characters import Character
from tumble.errors import UserError
from tumble.simbicon.gait import Gains, Gait, Motion, State, joint_of, plain, roles_of
from tumble.simbicon.numbers import STRONGEST
from tumble.studio.sheets import Line, Number
from tumble.walking.style import Knots

FIRST = "swing_hip"  # whose curves come first: the one that keeps the balance
WAYS = ("bend", "side", "twist")
STRENGTH = "strength"
FEEDBACK = ("c_d", "c_v")  # of eq. 2.1: theta_d = theta_d0 + c_d d + c_v v
PD = {"stiffness": ("k_p, N m/rad", 600.0), "damping": ("k_d, N m s/rad", 60.0)}  # of eq. 2.2, and slider ends
ROOT = 10.0  # the root's PD gains are so many times as large
# number of the whole gait: label, low, high
WHOLE = {
    "turn": ("turns by, rad/s", -1.0, 1.0),
    "shift": ("root goes over, s", 0.0, 0.4),
    "hip_damping": ("twist damping", 0.0, 100.0),
}


class GaitSheet:
    """Of a gait of one body, see `tumble.studio.sheets.Sheet`.

    What the body has decides which curves there are: a knee only bends, and who lives in a plane has one plane.

    Attributes:
      ways: by what moves ('swing_hip'), the ways in which that can turn.
    """

    def __init__(self, character: Character) -> None:
        hinges = set(character.joints)
        free = any(hinge.endswith(("_side", "_twist")) for hinge in hinges)  # else it lives in a plane
        self.ways = {"root": (*(WAYS if free else WAYS[:1]), STRENGTH)}
        for role in sorted(roles_of(character)[1:], key=lambda role: role != FIRST):
            joint = plain(role.removeprefix("stance_").removeprefix("swing_"))
            able = {hinge.rsplit("_", 1)[-1] for hinge in hinges if plain(joint_of(hinge)) == joint}
            self.ways[role] = tuple(way for way in WAYS if way in able)
        self.ways["root"] = self.ways.pop("root")  # last

    def curves(self, gait: Gait) -> dict[str, str]:
        """State by state; those that move first, and of those the swing hip."""
        found = {}
        for k, state in enumerate(gait.states):
            head = f"{k + 1}. " if len(gait.states) > 1 else ""
            for role in sorted(self.ways, key=lambda role: role not in state.joints):
                for way in self.ways[role]:
                    found[f"{k}/{role}/{way}"] = f"{head}{role.replace('_', ' ')}: {way}"
        return found

    def line(self, gait: Gait, key: str) -> Line:
        """Target angle, rad, or strength over the phase of its state; what a gait does not tell of is 0, or 1."""
        _, role, way, _, motion = self._found(gait, key)
        strength = way == STRENGTH
        knots = getattr(motion, way) or ((0.0, 1.0 if strength else 0.0),)
        label = f"{role.replace('_', ' ')} {way}, {'share' if strength else f'rad in the frame of the {motion.frame}'}"
        return Line(knots, label, *((0.0, 1.0) if strength else (-0.5, 0.5)))

    def numbers(self, gait: Gait, key: str) -> dict[str, Number]:
        """Duration of its state, feedback of its plane, PD gains of its joint, and what is the whole gait's.

        c_d in rad/m and c_v in rad s/m are those of eq. 2.1, which knows the sagittal and the coronal plane; k_p and
        k_d those of eq. 2.2.
        """
        _, role, way, state, motion = self._found(gait, key)
        found = {"duration": Number("state lasts, s", state.duration, 0.1, 1.5)}
        if way in ("bend", "side"):
            units = ("rad/m", "rad s/m")
            pair = getattr(motion, f"{way}_feedback")
            found |= {
                name: Number(f"{name}, {unit}", value, -STRONGEST, STRONGEST)
                for name, unit, value in zip(FEEDBACK, units, pair, strict=True)
            }
        gains, scale = gait.gains[_gained(role)], ROOT if role == "root" else 1.0
        found |= {name: Number(label, getattr(gains, name), 0.0, scale * high) for name, (label, high) in PD.items()}
        return found | {
            name: Number(label, getattr(gait, name), low, high) for name, (label, low, high) in WHOLE.items()
        }

    def bent(self, gait: Gait, key: str, knots: Knots) -> Gait:
        """With other knots of a target angle."""
        k, role, way, _, motion = self._found(gait, key)
        return _moved(gait, k, role, replace(motion, **{way: knots}))

    def changed(self, gait: Gait, key: str, name: str, value: float) -> Gait:
        """With another number; PD gains are those of both sides."""
        k, role, way, state, motion = self._found(gait, key)
        if name in WHOLE:
            return replace(gait, **{name: value})
        if name == "duration":
            return _stated(gait, k, replace(state, duration=value))
        if name in PD:
            gains: Gains = replace(gait.gains[_gained(role)], **{name: value})
            return replace(gait, gains={**gait.gains, _gained(role): gains})
        field = f"{way}_feedback"
        pair = dict(zip(FEEDBACK, getattr(motion, field), strict=True)) | {name: value}
        return _moved(gait, k, role, replace(motion, **{field: (pair["c_d"], pair["c_v"])}))

    def _found(self, gait: Gait, key: str) -> tuple[int, str, str, State, Motion]:
        """Number of the state, what moves, the way, the state and the motion that a key means."""
        if key not in self.curves(gait):
            raise UserError(f"the gait '{gait.name}' has no curve '{key}'")
        number, role, way = key.split("/")
        state = gait.states[int(number)]
        return int(number), role, way, state, state.joints.get(role, Motion())


def _gained(role: str) -> str:
    """The joint whose gains hold what moves: 'hip' for 'swing_hip'."""
    return role.removeprefix("stance_").removeprefix("swing_")


def _moved(gait: Gait, k: int, role: str, motion: Motion) -> Gait:
    """The gait with another motion in state k; one that it did not tell of is added."""
    state = gait.states[k]
    return _stated(gait, k, replace(state, joints={**state.joints, role: motion}))


def _stated(gait: Gait, k: int, state: State) -> Any:
    """The gait with another state k."""
    return replace(gait, states=(*gait.states[:k], state, *gait.states[k + 1 :]))
