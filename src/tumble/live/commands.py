"""Commands: what people do to a running session, between frames; what they want is a command too.

A command is plain data that travels as JSON: from a script, a browser or a recording. Whatever
comes from outside is checked when it is decoded, and again against the scene when it is applied.
"""

import math
from typing import TypeAlias

import msgspec
import numpy as np

from tumble.errors import UserError, check_number
from tumble.goals.wants import Single, Together
from tumble.world.props import Ball
from tumble.world.scene import Scene
from tumble.world.sims import Sims

Vector: TypeAlias = tuple[float, float, float]


WORLD = 1e6  # beyond which no number of a command makes sense


class _Command(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag=str.lower):
    def check(self, scene: Scene) -> None:
        """Refuse what this scene cannot do, before anything happens."""


class Push(_Command, frozen=True):
    """A steady force on a body's centre of mass for a while. N in the world's axes, s."""

    body: str
    force: Vector
    seconds: float = 0.1

    def check(self, scene: Scene) -> None:
        scene.body(self.body)
        _check_vector("force", self.force)
        check_number("seconds of a push", self.seconds, 0, 60, above=True)


class Drag(_Command, frozen=True):
    """A spring from a point on a body to a target, until `Release`. m; N/m and N s/m per kg of the character.

    The spring yields with the point within a step (`tumble.live.forces`): a light limb follows gently, a taut
    one pulls the whole character along.
    """

    body: str
    target: Vector
    point: Vector = (0.0, 0.0, 0.0)  # in the body's frame, from its origin
    stiffness: float = 20.0
    damping: float = 4.0

    def check(self, scene: Scene) -> None:
        scene.body(self.body)
        _check_vector("target", self.target)
        _check_vector("point", self.point)
        check_number("stiffness", self.stiffness, 0, 1e4)
        check_number("damping", self.damping, 0, 1e3)


class Release(_Command, frozen=True):
    """Let go of what is dragged."""


class Explode(_Command, frozen=True):
    """A blast: every bone gets `speed` m/s away from `at`, times the square of 1 m over the distance."""

    at: Vector
    speed: float = 3.0

    def check(self, scene: Scene) -> None:
        _check_vector("at", self.at)
        check_number("speed of an explosion", self.speed, 0, 1000)


class Throw(_Command, frozen=True):
    """Put a ball of the scene at a place with a velocity. m, m/s.

    Aimed, the place counts from where the character's root is by then, and no ball begins in the ground.
    """

    position: Vector
    velocity: Vector
    ball: str = "ball"
    aimed: bool = False

    def check(self, scene: Scene) -> None:
        scene.prop(self.ball, Ball)
        _check_vector("position", self.position)
        _check_vector("velocity", self.velocity)

    def apply(self, sims: Sims) -> None:
        """Place the ball in every simulation."""
        joint = sims.scene.model.joint(self.ball)
        qpos, qvel = int(joint.qposadr[0]), int(joint.dofadr[0])
        place = np.tile(np.array(self.position, float), (sims.nsim, 1))
        if self.aimed:
            place += sims.view("xpos")[:, sims.scene.root()]
            place[:, 2] = np.maximum(place[:, 2], sims.scene.prop(self.ball, Ball).radius)
        sims.view("qpos")[:, qpos : qpos + 3] = place
        sims.view("qpos")[:, qpos + 3 : qpos + 7] = (1.0, 0.0, 0.0, 0.0)
        sims.view("qvel")[:, qvel : qvel + 6] = (*self.velocity, 0.0, 0.0, 0.0)


class Reset(_Command, frozen=True):
    """Put the character back on its feet where it is: in a pose, at rest, upright, facing along x, on the ground.

    Props and companions stay as they are, time goes on, and the controller is not told: it keeps what it learned. The
    ground is the plane: who lay on a box stands in it.
    """

    pose: str = "rest"

    def check(self, scene: Scene) -> None:
        scene.character.pose(self.pose)

    def apply(self, sims: Sims) -> None:
        """Do so in every simulation; all fields are current afterwards, and nothing is broken."""
        for row in range(sims.nsim):
            sims.state[row] = sims.scene.place(sims.state[row], pose=self.pose)
        sims.load(sims.state)


class Carve(_Command, frozen=True):
    """Take the gap or the stone at a place away, or else set one there; see `tumble.stepping.carving`. m.

    A stone where there are stones, else a gap of that width. Who plans steps plans anew at the next strike.
    """

    at: Vector
    width: float = 0.3

    def check(self, scene: Scene) -> None:
        _check_vector("place of a gap or a stone", self.at)


class SetParameter(_Command, frozen=True):
    """Change a setting of the running controller."""

    name: str
    value: float

    def check(self, scene: Scene) -> None:
        check_number(f"value of '{self.name}'", self.value, -math.inf if math.isfinite(self.value) else 0)


class Restyle(_Command, frozen=True):
    """Go in this style, a text of TOML, wherever the one of its name is wanted: a walker's, or a gait.

    Who goes in it reads it (`tumble.control.controller.Styled`), and refuses what it cannot go in.
    """

    style: str

    @property
    def name(self) -> str:
        """Of the style; only of one that was read before."""
        return msgspec.toml.decode(self.style, type=_Named).name

    @property
    def data(self) -> bytes:
        """The text as bytes of a file."""
        return self.style.encode()


class _Named(msgspec.Struct):
    name: str


Command: TypeAlias = (
    Push | Drag | Release | Explode | Throw | Reset | Carve | SetParameter | Restyle | Single | Together
)  # fmt: skip


def decode(text: bytes | str) -> Command:
    """A command from JSON such as '{"type": "push", "body": "torso", "force": [400, 0, 0]}'."""
    try:
        return msgspec.json.decode(text, type=Command)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise UserError(f"not a command: {error}") from None


def _check_vector(name: str, vector: Vector) -> None:
    if not np.isfinite(vector).all() or np.abs(vector).max() > WORLD:
        raise UserError(f"{name} must be three numbers within a million, got {vector}")
