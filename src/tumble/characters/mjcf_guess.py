"""Guessing the parts of a stranger's body from the names of bodies and joints, from its shape, and from how it stands.

    parts = guessed(raw, {"head": "skull"})       # what is told is not guessed

Feet are what touches the ground when the body stands; toes hang on them. Left and right are told by names, else by
where the toes point. Trunk, head and hands are looked for by names, then by shape. A limb is a group: what moves a foot
or a hand. Where names and shape do not tell, a sentence asks for the part.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from tumble.characters.character import Joint
from tumble.characters.mjcf_body import HINGE, RawBody
from tumble.characters.mjcf_parts import BodyParts, Turn
from tumble.characters.mjcf_poses import rest_pose, spread_pose
from tumble.errors import UserError, unknown
from tumble.maths.rotations import conjugate, turned

TRUNKS = ("torso", "trunk", "chest", "thorax", "upperbody", "body")  # by preference
HANDS = ("hand", "palm", "gripper", "fist", "wrist", "forearm")
GROUND = 0.03  # of the height: what is so near to the lowest point touches the ground
TOES_AHEAD = 0.02  # of the height: feet that reach out so far say where ahead is
FAR_HEAD = 0.15  # of the height: a head so far ahead of the root says where ahead is
SIDED = {
    "left": "left", "l": "left", "fl": "left", "rl": "left", "hl": "left", "bl": "left", "lf": "left", "lh": "left",
    "right": "right", "r": "right", "fr": "right", "rr": "right", "hr": "right", "br": "right", "rf": "right",
    "rh": "right",
}  # fmt: skip
LIMBS = (
    r"[lr](foot|feet|toe|hand|wrist|thumb|finger|femur|tibia|hip|thigh|shin|knee|ankle|leg|arm|humerus|radius|clavicle)"
)
# N m per kg, m/s^2 and m: the humanoid of hamalainen2015 has 300 N m at 70 kg and 1.75 m in legs and trunk
STRONG, WEAK, WEAKEST = 0.25, 0.08, 0.02
SMALL = 0.02  # of the mass: what moves less than that is weak and quiet
GRAVITY = 9.81


def guessed(raw: RawBody, told: Mapping[str, Any]) -> BodyParts:
    """All parts of a body; refuses told names that are none, and asks for what cannot be told.

    Args:
      told: by the names of `BodyParts`, what is known.
    """
    look = _Guesser(raw)
    feet = look.bodies("feet", told.get("feet"), look.feet)
    check_feet(feet, look.names)
    upright = told.get("upright") or look.upright(feet)
    look.turn(upright)
    feet = feet if told.get("feet") is not None else look.in_order(feet)
    hands = look.bodies("hands", told.get("hands"), lambda: look.hands(feet))
    trunk = look.one("trunk", told.get("trunk"), lambda: look.trunk(feet, hands))
    head = look.one("head", told.get("head"), lambda: look.head(trunk, feet, hands))
    toes = look.bodies("toes", told.get("toes"), lambda: look.toes(feet))
    palms = look.sites(told.get("palms"), hands)
    joints = look.joints(told.get("joints"), trunk, feet, hands)
    angles = {name: float(look.data.joint(name).qpos[0]) for name in joints}
    given = {pose: dict(of) for pose, of in (told.get("poses") or {}).items()}
    poses = {} if "rest" in given else {"rest": rest_pose(raw, angles, feet, upright)}
    poses |= given
    if "t-pose" not in poses and len(hands) == 2 and "poses" not in told:
        limbs = [limb_of(raw.spec, hand, joints) for hand in hands]
        arms = [[name for name in joints if joints[name].group == limb] for limb in limbs]
        spread = spread_pose(raw, poses["rest"], hands, arms, upright)
        poses |= {} if spread is None else {"t-pose": spread}
    parts = BodyParts(look.root, trunk, head, feet, hands, toes, palms, joints, poses, upright)
    check_parts(raw.model, parts)
    return parts


def words_of(name: str) -> list[str]:
    """The words that a name is made of, small: 'Left_Hip_Pitch', 'leftHip', 'lfoot' begin with left, left and l."""
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
    found = list[str]()
    for word in words:
        found += [word[0], word[1:]] if re.match(LIMBS, word) else [word]
    return found


class _Guesser:
    """A body as it stands: its bodies by name, where they are, what they are called."""

    def __init__(self, raw: RawBody) -> None:
        self.raw, self.model, model = raw, raw.model, raw.model
        self.data = mujoco.MjData(model)
        self.data.qpos[:] = raw.standing
        mujoco.mj_kinematics(model, self.data)
        self.names = [model.body(i).name for i in range(1, model.nbody)]
        self.root = self.names[0]
        self.words = {name: self._words(i) for i, name in enumerate(self.names, 1)}
        self.low, self.high = {}, dict[str, float]()
        self.places: dict[str, np.ndarray] = {}
        for i, name in enumerate(self.names, 1):
            corners = self._corners(i)
            if len(corners):
                self.low[name], self.high[name] = float(corners[:, 2].min()), float(corners[:, 2].max())
            self.places[name] = self.data.xipos[i].copy()
        self.floor = min(self.low.values())
        self.height = max(max(self.high.values()) - self.floor, 1e-3)

    def _words(self, body: int) -> list[str]:
        model = self.model
        names = [model.body(body).name, *(model.joint(j).name for j in self._own_joints(body))]
        return [word for name in names for word in words_of(name)]

    def _own_joints(self, body: int) -> range:
        first = int(self.model.body_jntadr[body])
        return range(first, first + int(self.model.body_jntnum[body])) if first >= 0 else range(0)

    def _corners(self, body: int) -> np.ndarray:
        """Corners of the boxes around a body's solid geoms, (n, 3), m."""
        model, data, found = self.model, self.data, [np.zeros((0, 3))]
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        for g in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
            if model.geom_conaffinity[g] & 1:
                box = model.geom_aabb[g, :3] + signs * model.geom_aabb[g, 3:]
                found.append(data.geom_xpos[g] + box @ data.geom_xmat[g].reshape(3, 3).T)
        return np.concatenate(found)

    def above(self, name: str) -> list[str]:
        """The bodies that one hangs on, nearest first, and itself before them."""
        i, found = self.model.body(name).id, list[str]()
        while i:
            found.append(self.model.body(i).name)
            i = int(self.model.body_parentid[i])
        return found

    def side(self, name: str) -> str:
        """'left', 'right', or '' where its own name does not say."""
        for word in words_of(name):
            if word in SIDED:
                return SIDED[word]
        return ""

    def turn(self, upright: Sequence[float]) -> None:
        """See places from the frame that is ahead and up, from the root."""
        middle, back = self.places[self.root].copy(), conjugate(np.array(upright, float))
        self.places = {name: turned(back, place - middle) for name, place in self.places.items()}

    # What is told ------------------------------------------------------------------------------------

    def one(self, part: str, given: str | None, guess: Callable[[], str]) -> str:
        """The given name, which must be that of a body, or else what is guessed."""
        return self.bodies(part, None if given is None else (given,), lambda: (guess(),))[0]

    def bodies(self, part: str, given: Sequence[str] | None, guess: Callable[[], Sequence[str]]) -> tuple[str, ...]:
        """The given names, which must be those of bodies, or else what is guessed."""
        for name in given or ():
            if name not in self.names:
                raise unknown("body", name, self.names, f" in the MJCF, given as {part}")
        return tuple(guess() if given is None else given)

    def sites(self, given: Sequence[str] | None, hands: Sequence[str]) -> tuple[str, ...]:
        """The given sites, or one called palm on each hand."""
        model = self.model
        there = {model.site(i).name: model.body(int(model.site_bodyid[i])).name for i in range(model.nsite)}
        for name in given or ():
            if name not in there:
                raise unknown("site", name, there, " in the MJCF, given as palms")
        if given is not None:
            return tuple(given)
        found = [[site for site, body in there.items() if body == hand and "palm" in words_of(site)] for hand in hands]
        return tuple(one[0] for one in found) if len(found) == 2 and all(len(one) == 1 for one in found) else ()

    # Guesses -----------------------------------------------------------------------------------------

    def feet(self) -> tuple[str, ...]:
        """What touches the ground, the upper ones of those that hang on each other; in no order yet."""
        touching = [name for name, low in self.low.items() if low - self.floor < GROUND * self.height]
        upper = [name for name in touching if not set(self.above(name)[1:]) & set(touching)]
        feet = [
            next((name for name in touching if one in self.above(name) and self.is_foot(name)), one) for one in upper
        ]
        if self.root in feet or len(feet) not in (1, 2, 4, 6, 8):
            called = [name for name in self.names if self.is_foot(name) and self.side(name)]
            if len(called) != 2 or {self.side(name) for name in called} != {"left", "right"}:
                raise UserError(f"cannot tell which bodies are the feet; give feet=(...), of: {', '.join(self.names)}")
            feet = called
        return tuple(feet)

    def is_foot(self, name: str) -> bool:
        """Whether a body is called so."""
        return bool({"foot", "feet", "paw", "sole"} & set(words_of(name)))

    def upright(self, feet: Sequence[str]) -> Turn:
        """A frame with z up and x ahead: by names of sides, else where head or toes are, else as the file has it."""
        ahead = np.array([1.0, 0.0])
        sides = {
            side: [self.places[foot][:2] for foot in feet if self.side(foot) == side] for side in ("left", "right")
        }
        out = np.mean([self._reach(foot) for foot in feet], axis=0)
        head = self._called(("head", "skull"))
        nose = self.places[head][:2] - self.places[self.root][:2] if head else np.zeros(2)
        if sides["left"] and sides["right"]:
            across = np.mean(sides["left"], axis=0) - np.mean(sides["right"], axis=0)
            ahead = np.array([across[1], -across[0]])
        elif np.linalg.norm(nose) > FAR_HEAD * self.height:
            ahead = nose
        elif np.linalg.norm(out) > TOES_AHEAD * self.height:
            ahead = out
        quarter = round(float(np.arctan2(ahead[1], ahead[0])) / (np.pi / 2)) * np.pi / 2  # robots are built along axes
        return (float(np.cos(quarter / 2)), 0.0, 0.0, float(np.sin(quarter / 2)))

    def _reach(self, foot: str) -> np.ndarray:
        """From where a foot is joined to the middle of what is solid of it, horizontally, m."""
        corners, i = self._corners(self.model.body(foot).id), self.model.body(foot).id
        if not len(corners):
            return np.zeros(2)
        return np.asarray(0.5 * (corners.min(0) + corners.max(0))[:2] - self.data.xpos[i, :2])

    def in_order(self, feet: Sequence[str]) -> tuple[str, ...]:
        """Front before hind, left before right."""
        rows: list[list[str]] = []
        for foot in sorted(feet, key=lambda foot: -self.places[foot][0]):
            near = bool(rows) and abs(self.places[rows[-1][0]][0] - self.places[foot][0]) < 0.1 * self.height
            if near and len(rows[-1]) < 2:
                rows[-1].append(foot)
            else:
                rows.append([foot])
        return tuple(foot for row in rows for foot in sorted(row, key=lambda foot: -self.places[foot][1]))

    def toes(self, feet: Sequence[str]) -> tuple[str, ...]:
        """A solid body on each of two feet; none where not both have just one."""
        found = []
        for foot in feet:
            found.append([name for name in self.names if self.above(name)[1:2] == [foot] and name in self.low])
        return tuple(one[0] for one in found) if len(found) == 2 and all(len(one) == 1 for one in found) else ()

    def _called(self, words: Sequence[str]) -> str | None:
        """A body by its own name, the first of these words that one has; else the last that has it by a joint's."""
        for word in words:
            exact = [name for name in self.names if name.lower() == word]
            own = [name for name in self.names if word in words_of(name)]
            joined = [name for name in self.names if word in self.words[name]]
            if exact or own or joined:
                return exact[0] if exact else own[0] if own else joined[-1]
        return None

    def _legs(self, feet: Sequence[str]) -> set[str]:
        """Bodies that feet hang on, without what carries other limbs too, and what hangs on feet."""
        chains = [set(self.above(foot)) for foot in feet]
        shared = set.intersection(*chains) if len(chains) > 1 else {self.root}
        return {name for name in self.names if any(set(self.above(name)) & (chain - shared) for chain in chains)}

    def hands(self, feet: Sequence[str]) -> tuple[str, ...]:
        """Two bodies called so, one a side, or the farthest ends that mirror each other; none on four feet."""
        if len(feet) > 2:
            return ()
        legs = self._legs(feet)
        free = [name for name in self.names if name not in legs and name != self.root]
        for word in HANDS:
            sides = [[name for name in free if word in words_of(name) and self.side(name) == side]
                     for side in ("left", "right")]  # fmt: skip
            if all(sides):
                first = 0 if word == "hand" else -1
                return (sides[0][first], sides[1][first])
        ends = [name for name in free if not any(self.above(other)[1:2] == [name] for other in self.names)]
        pairs = [(one, other) for one in ends for other in ends if self.places[one][1] > 0.05 * self.height and
                 np.allclose(self.places[one] * (1, -1, 1), self.places[other], atol=0.02 * self.height)]  # fmt: skip
        return max(pairs, key=lambda pair: self.places[pair[0]][1], default=())

    def trunk(self, feet: Sequence[str], hands: Sequence[str]) -> str:
        """By its name; else what the arms hang on; else the root."""
        limbs = self._legs(feet) | {name for hand in hands for name in [hand]}
        for word in TRUNKS:
            for name in self.names:
                if word in words_of(name) and name not in limbs and not self.side(name):
                    return name
        if len(hands) == 2:
            return next(name for name in self.above(hands[0])[1:] if name in self.above(hands[1]))
        return self.root

    def head(self, trunk: str, feet: Sequence[str], hands: Sequence[str]) -> str:
        """By its name, or its joint's; else the highest that is no limb's; where that is the root, the trunk."""
        called = self._called(("head", "skull"))
        if called is not None and called not in self._legs(feet):
            return called
        arms = {name for hand in hands for name in self.above(hand) if name not in self.above(trunk)}
        free = [name for name in self.high if name not in self._legs(feet) | arms]
        highest = max(free, key=lambda name: self.high[name], default=trunk)
        return trunk if highest == self.root else highest

    # Joints ------------------------------------------------------------------------------------------

    def joints(
        self, given: Mapping[str, Any] | None, trunk: str, feet: Sequence[str], hands: Sequence[str]
    ) -> dict[str, Joint]:
        """The hinges with motors in the order of the model: those given, or the file's, or all where it has none."""
        model, motors = self.model, self.raw.motors
        own = model.body(self.root).id
        hinges = {
            model.joint(i).name: model.body(int(model.jnt_bodyid[i])).name
            for i in range(model.njnt)
            if model.jnt_type[i] == HINGE and model.jnt_bodyid[i] != own
        }
        groups = self._groups(trunk, feet, hands)
        if given is None:
            moved = [name for name in hinges if name in motors] or list(hinges)
            if not moved:
                raise UserError("the MJCF has no hinges that a motor could move")
            if not any(name in motors for name in hinges):
                self.raw.notes.append(f"the file has no motors: all {len(moved)} hinges have one now")
            elif len(moved) < len(hinges):
                passive = ", ".join(name for name in hinges if name not in moved)
                self.raw.notes.append(f"hinges without a motor in the file have none here: {passive}")
            given = {name: self._joint(name, hinges[name], groups) for name in moved}
            weak = [name for name in moved if not np.isfinite(motors.get(name, np.inf))]
            if weak:
                which = "all joints" if weak == moved else ", ".join(weak)
                self.raw.notes.append(
                    f"the file has no torque limits of {which}: they are guessed by the body's weight"
                )
        for name in given:
            if name not in hinges:
                raise unknown("hinge", name, hinges, " in the MJCF, given in joints")
        return {name: _joint(name, given[name]) for name in hinges if name in given}

    def _groups(self, trunk: str, feet: Sequence[str], hands: Sequence[str]) -> dict[str, str]:
        """The group of every body: a limb's, or the torso's."""
        groups = dict.fromkeys(self.names, "torso")
        trunks = {*self.above(trunk), self.root}
        limbs = [(foot, self._limb_name(foot, feet, "leg")) for foot in feet]
        limbs += [(hand, self._limb_name(hand, hands, "arm")) for hand in hands]
        shared = [set(self.above(a)) & set(self.above(b)) for a, _ in limbs for b, _ in limbs if a != b]
        trunks |= set().union(*shared)
        for end, group in limbs:
            chain = [name for name in self.above(end) if name not in trunks]
            for name in self.names:
                if set(self.above(name)) & set(chain):
                    groups[name] = group
        return groups

    def _limb_name(self, end: str, ends: Sequence[str], word: str) -> str:
        """'left_leg', of four 'left_front_leg', of one 'leg'."""
        if len(ends) == 1:
            return word
        side = "left" if ends.index(end) % 2 == 0 else "right"
        row = {2: [""], 4: ["front_", "hind_"]}.get(len(ends), [f"{i + 1}_" for i in range(len(ends))])
        return f"{side}_{row[ends.index(end) // 2]}{word}"

    def _joint(self, name: str, body: str, groups: Mapping[str, str]) -> tuple[str, float, float]:
        """Group, strength and activity of a hinge; a strength that the file does not tell is by the body's weight."""
        total, moved = (float(self.model.body_subtreemass[self.model.body(one).id]) for one in (self.root, body))
        group, small = groups[body], moved < SMALL * total
        limb = group != "torso"
        usual = WEAKEST if small and "leg" not in group else WEAK if "arm" in group else STRONG
        strength = self.raw.motors.get(name, np.inf)
        if not np.isfinite(strength):
            strength = usual * total * GRAVITY * self.height
        return group, float(round(strength, 3)), 0.4 if small and "leg" not in group else 1.0 if limb else 0.5


def _joint(name: str, given: Any) -> Joint:
    """A given joint as a `Joint`; refuses what is no such triple."""
    try:
        group, strength, activity = (given.group, given.strength, given.activity) if isinstance(given, Joint) else given
        joint = Joint(str(group), float(strength), float(activity))
    except (TypeError, ValueError):
        raise UserError(f"joint '{name}' must be a Joint or (group, strength, activity), got {given!r}") from None
    if not (0 < joint.strength < np.inf and 0 < joint.activity < np.inf):
        raise UserError(f"joint '{name}' needs a strength in N m and an activity in rad/s above 0, got {given!r}")
    return joint


def check_parts(model: mujoco.MjModel, parts: BodyParts) -> None:
    """Refuse parts that a model has not, and poses that name joints without a motor."""
    bodies = [model.body(i).name for i in range(1, model.nbody)]
    sites = [model.site(i).name for i in range(model.nsite)]
    hinges = [model.joint(i).name for i in range(model.njnt) if model.jnt_type[i] == HINGE]
    named = {
        "root": (parts.root,), "trunk": (parts.trunk,), "head": (parts.head,), "feet": parts.feet, "hands": parts.hands,
        "toes": parts.toes,
    }  # fmt: skip
    for part, names in named.items():
        for name in names:
            if name not in bodies:
                raise unknown("body", name, bodies, f" in the MJCF, given as {part}")
    for name in parts.palms:
        if name not in sites:
            raise unknown("site", name, sites, " in the MJCF, given as palms")
    for name in parts.joints:
        if name not in hinges:
            raise unknown("hinge", name, hinges, " in the MJCF, given in joints")
    for pose, angles in parts.poses.items():
        for joint in angles:
            if joint not in parts.joints:
                raise unknown("joint", joint, parts.joints, f" with a motor, in pose '{pose}'")
    check_feet(parts.feet, bodies)


def check_feet(feet: Sequence[str], bodies: Sequence[str]) -> None:
    """Refuse a body without any."""
    if not feet:
        raise UserError(f"a character has feet; give feet=(...), of: {', '.join(bodies)}")


def limb_of(spec: mujoco.MjSpec, end: str, own: Mapping[str, Joint]) -> str:
    """The group of the joint that moves a body: its own, or that of the nearest body above."""
    body = spec.body(end)
    while body is not None and body.name != "world":
        for joint in body.joints:
            if joint.name in own:
                return own[joint.name].group
        body = body.parent
    raise UserError(f"no joint of {', '.join(own)} moves '{end}'; give hands=() if it is no hand")
