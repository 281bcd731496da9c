"""A Scene: a character, the ground and props, compiled to one MjModel. Props may be characters too.

    from tumble import Scene, humanoid
    scene = Scene(humanoid())
    state = scene.state("t-pose", lying="supine")

A state is one row of MuJoCo's integration state, a plain array: copying it forks a simulation.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import mujoco
import numpy as np

from tumble.characters import Character, from_recipe
from tumble.errors import UserError, check_number, choose, unknown
from tumble.world.grips import add_grips
from tumble.world.motors import MOTORS, ForceMotors, Motors, VelocityMotors
from tumble.world.props import Ball, Box, Companion, Crate, Prop, check_names, prop_recipe, remake_prop

P = TypeVar("P", Ball, Box, Crate, Companion)

# The root's orientation (w, x, y, z) for the ways to lie, or not to: facing ahead, up, down.
LYING: Mapping[str, tuple[float, float, float, float]] = {
    "upright": (1.0, 0.0, 0.0, 0.0),
    "supine": (0.5**0.5, 0.0, -(0.5**0.5), 0.0),
    "prone": (0.5**0.5, 0.0, 0.5**0.5, 0.0),
}


@dataclass(frozen=True)
class Physics:
    """How the engine is run. Values from measurements on the humanoid (docs/decisions.md)."""

    timestep: float = 1 / 30  # s, one control step; hamalainen2015 section 4
    substeps: int = 1  # physics steps a control step
    motor_gain: float = 1.0  # factor on the velocity gains of a character's motors; ours
    friction: float = 1.0  # not given; ours
    isotropic: bool = False  # friction alike in all directions, as what is dragged needs
    speculative: bool = True  # contacts are found before a fast limb is deep in the ground

    def __post_init__(self) -> None:
        check_number("timestep", self.timestep, 0, 0.1, above=True)
        check_number("substeps", self.substeps, 1, 1000)
        check_number("motor_gain", self.motor_gain, 0, above=True)
        check_number("friction", self.friction, 0, above=True)


class Scene:
    """A character on the ground with props.

    Attributes:
      spec: with everything that can be drawn.
      model: compiled for physics, without what only looks good.
      character, props, physics: what it was made of.
      cast: all characters, by what the names of their parts begin with: '' for the scene's own, 'NAME/' for companions.
      motors: what a control means; see `VelocityMotors`.
      channels: sensor readings by name, as slices of a sensordata row; 'ends' are position and
        velocity of the character's ends in one run, 'grounded' the bones' ground contacts, with
        speculative physics up to a step ahead of the touch; 'NAME/grounded' those of a companion's feet and toes.
      bones: body names in the order of 'grounded'.
      dt: seconds a control step.
    """

    def __init__(
        self, character: Character, props: Sequence[Prop] = (), physics: Physics = Physics(),
        motors: type[Motors] = VelocityMotors,
    ) -> None:  # fmt: skip
        self.character, self.props, self.physics = character, tuple(props), physics
        self.dt = physics.timestep
        companions = [prop for prop in self.props if isinstance(prop, Companion)]
        if companions and motors is not ForceMotors:
            raise UserError(f"companions have force motors only, got {motors.__name__}: give motors=ForceMotors")
        self.cast = {"": character, **{companion.prefix: companion.character for companion in companions}}
        self.spec = self._assemble(motors)
        lean = self.spec.copy()
        lean.compiler.discardvisual = True
        self.model = lean.compile()
        self.motors = ForceMotors(self.model, character, self._others) if companions else motors(self.model, character)
        grounded = [name.removesuffix(".ground") for name in self._sensor_names() if name.endswith(".ground")]
        self.bones = tuple(name for name in grounded if name.split("/")[0] not in {prop.name for prop in self.props})
        self.channels = self._channels()
        self._nstate = mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_INTEGRATION)

    def _assemble(self, motors: type[Motors]) -> mujoco.MjSpec:
        spec = self.character.build()
        spec.modelname = self.character.name
        option = spec.option
        option.timestep = self.physics.timestep / self.physics.substeps
        # Servos as stiff as ours need the integrator that solves them together with the contacts: with
        # implicitfast the feet of a standing character sink 6 cm.
        option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
        option.iterations, option.ls_iterations = 15, 15
        if self.physics.isotropic:
            option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        if self.physics.speculative:
            option.enableflags |= mujoco.mjtEnableBit.mjENBL_SPECULATIVE  # type: ignore[attr-defined]
        motors.add(spec, self.character, self.physics.motor_gain)
        spec.worldbody.add_geom(
            name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=1, conaffinity=1
        )
        for prop in self.props:
            check_names(spec, prop)
            prop.add(spec, self.character.root)
        for prefix, companion in self._others.items():
            ForceMotors.add(spec, companion, self.physics.motor_gain, prefix)
        for geom in spec.geoms:
            geom.solimp = [0.97, 0.995, 0.001, 0.5, 2]  # feet sink 0.1 cm at rest instead of 1.1
            if not geom.priority:
                geom.friction = [self.physics.friction, 0.005, 0.0001]
        if motors is ForceMotors:
            add_grips(spec, self.character, self.props)
        return spec

    @property
    def _others(self) -> dict[str, Character]:
        """The companions' characters by prefix."""
        return {prefix: character for prefix, character in self.cast.items() if prefix}

    def _sensor_names(self) -> list[str]:
        return [self.model.sensor(i).name for i in range(self.model.nsensor)]

    def _channels(self) -> dict[str, slice]:
        model = self.model
        channels = {
            name: slice(int(model.sensor_adr[i]), int(model.sensor_adr[i] + model.sensor_dim[i]))
            for i, name in enumerate(self._sensor_names())
        }
        ends = self.character.ends
        channels["ends"] = slice(channels[f"{ends[0]}.pos"].start, channels[f"{ends[-1]}.vel"].stop)
        channels["grounded"] = slice(
            channels[f"{self.bones[0]}.ground"].start, channels[f"{self.bones[-1]}.ground"].stop
        )
        for prefix in self._others:
            grounded = [channels[f"{prefix}{bone}.ground"] for bone in self.feeling(prefix)]
            channels[f"{prefix}grounded"] = slice(grounded[0].start, grounded[-1].stop)
        return channels

    def feeling(self, prefix: str) -> tuple[str, ...]:
        """The bones of a character, by its prefix, that feel the ground, in the order of its 'grounded' channel."""
        if not prefix:
            return self.bones
        names = [name.removeprefix(prefix) for name in self._sensor_names() if name.startswith(prefix)]
        return tuple(name.removesuffix(".ground") for name in names if name.endswith(".ground"))

    def root(self, prefix: str = "") -> int:
        """MuJoCo's id of a character's root."""
        return self.body(prefix + self.cast[prefix].root)

    def whose(self, body: int) -> str | None:
        """The prefix of the character that a body belongs to; None where it belongs to none."""
        root = self.model.body_rootid[body]
        return next((prefix for prefix in self.cast if self.root(prefix) == root), None)

    def body(self, name: str) -> int:
        """MuJoCo's id of a body, or the error that lists the bodies there are."""
        found = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)
        if found < 0:
            names = [self.model.body(i).name for i in range(self.model.nbody)]
            raise unknown("body", name, names, f" in the scene of '{self.character.name}'")
        return found

    def state(self, pose: str = "rest", lying: str = "upright", height: float = 0.0) -> np.ndarray:
        """A state in which the character holds a pose at rest, its lowest point `height` m up.

        Companions are in their rest poses, upright on the ground at their places.

        Args:
          pose: one of the character's poses.
          lying: 'upright', 'supine' on its back, 'prone' on its face.
          height: m above the ground.
        """
        quat = choose("way to lie", lying, LYING)
        check_number("height", height, -1e4, 1e4)
        data = mujoco.MjData(self.model)
        data.qpos[:3] = 0
        data.qpos[3:7] = quat
        others = [angle for companion in self._others.values() for angle in companion.pose("rest")]
        data.qpos[self.motors.qpos] = [*self.character.pose(pose), *others]
        mujoco.mj_kinematics(self.model, data)
        data.qpos[2] = height - self._lowest(data)
        for prefix in self._others:
            joint = self.model.body_jntadr[self.root(prefix)]
            data.qpos[self.model.jnt_qposadr[joint] + 2] -= self._lowest(data, prefix)
        return self.read(data)

    def prop(self, name: str, kind: type[P]) -> P:
        """The prop of that name and kind, or the error that lists those there are."""
        props = {prop.name: prop for prop in self.props if isinstance(prop, kind)}
        if name in props:
            return props[name]
        word = kind.__name__.lower()
        if not props:
            raise UserError(f"no {word} '{name}' in the scene; it has none; build it with props=[{kind.__name__}(...)]")
        raise unknown(word, name, list(props), f" in the scene of '{self.character.name}'")

    def placed(
        self, state: np.ndarray, name: str, position: Sequence[float], velocity: Sequence[float] = (0.0, 0.0, 0.0),
        spin: Sequence[float] = (0.0, 0.0, 0.0), turn: float = 0.0,
    ) -> np.ndarray:  # fmt: skip
        """A copy of a state with a ball or crate at a place, moving and turning. m, m/s, rad/s in the world's axes.

        turn is a crate's about z, rad.
        """
        crate = any(prop.name == name and isinstance(prop, Crate) for prop in self.props)
        if not crate:
            self.prop(name, Ball)
        for label, vector in (("position", position), ("velocity", velocity), ("spin", spin)):
            if len(vector) != 3 or not np.isfinite(vector).all():
                word = "crate" if crate else "ball"
                raise UserError(f"{label} of a {word} must be three numbers, got {tuple(vector)}")
        data, joint = self.show(state), self.model.joint(name)
        data.qpos[int(joint.qposadr[0]) :][:7] = (*position, np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2))
        data.qvel[int(joint.dofadr[0]) :][:6] = (*velocity, *spin)
        return self.read(data)

    def carried(self, state: np.ndarray, source: "Scene") -> np.ndarray:
        """A state of this scene that takes places and speeds of joints from a state of another, by name.

        Joints that the other scene lacks, as those of a new ball, are where this scene puts them. A controller's
        memory, MuJoCo's userdata, goes along where both have room for it. Where the bodies differ, the root is lifted
        so that the lowest point stays as high as it was.
        """
        old, new = source.show(state), self.show(self.state())
        for i in range(self.model.njnt):
            name, kind = self.model.joint(i).name, self.model.jnt_type[i]
            j = mujoco.mj_name2id(source.model, mujoco.mjtObj.mjOBJ_JOINT, name)
            if j >= 0 and source.model.jnt_type[j] == kind:
                new.joint(i).qpos, new.joint(i).qvel = old.joint(j).qpos, old.joint(j).qvel
        if self.model.nuserdata == source.model.nuserdata:
            new.userdata[:] = old.userdata
        if self.character.origin != source.character.origin:
            mujoco.mj_kinematics(self.model, new)
            new.qpos[2] += source._lowest(old) - self._lowest(new)
        return self.read(new)

    def read(self, data: mujoco.MjData) -> np.ndarray:
        """The state row of an MjData, a copy."""
        state = np.empty(self._nstate)
        mujoco.mj_getState(self.model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        return state

    def show(self, state: np.ndarray, data: mujoco.MjData | None = None) -> mujoco.MjData:
        """An MjData in that state with kinematics computed, for drawing or for any mj_ function."""
        if state.shape != (self._nstate,):
            raise UserError(f"a state of this scene has {self._nstate} numbers, got shape {state.shape}")
        data = data or mujoco.MjData(self.model)
        mujoco.mj_setState(self.model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(self.model, data)
        return data

    def _lowest(self, data: mujoco.MjData, prefix: str = "") -> float:
        """Height of the lowest point of a character's solid capsules, m."""
        model = self.model
        solid = (model.geom_conaffinity != 0) & (model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE)
        solid &= model.body_rootid[model.geom_bodyid] == self.root(prefix)
        half = model.geom_size[solid, 1] * np.abs(data.geom_xmat[solid, 8])
        return float((data.geom_xpos[solid, 2] - half - model.geom_size[solid, 0]).min())

    @property
    def recipe(self) -> dict[str, Any]:
        """JSON-able account of the scene, kept in recordings."""
        return {
            "character": dict(self.character.recipe),
            "props": [prop_recipe(prop) for prop in self.props],
            "physics": asdict(self.physics),
            "motors": next(name for name, kind in MOTORS.items() if type(self.motors) is kind),
        }

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> "Scene":
        """The scene that a recipe tells of; refuses a recipe that this version does not know."""
        try:
            props = [remake_prop(prop) for prop in recipe["props"]]
            motors = choose("kind of motors", recipe.get("motors", "velocity"), MOTORS)
            return cls(from_recipe(recipe["character"]), props, Physics(**recipe["physics"]), motors)
        except UserError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"not a scene of this version of tumble: {error}") from None

    @property
    def fingerprint(self) -> str:
        """A hash of the compiled model: equal models, equal physics."""
        buffer = np.empty(mujoco.mj_sizeModel(self.model), np.uint8)
        mujoco.mj_saveModel(self.model, None, buffer)
        return hashlib.sha256(buffer.tobytes()).hexdigest()
