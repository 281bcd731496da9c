"""From a recording to a `Clip`: where bodies, feet and props were in every frame.

    motion = clip_of(recording, Options(skeleton="mixamo", fps=60))

Physics is not stepped: places of joints are read and put through kinematics. Where the body was changed while it was
recorded, the skeleton is the last one's, which turns as each did.
"""

import json
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any

import mujoco
import numpy as np

from tumble.characters.looks import SHIRT
from tumble.errors import UserError, check_number, unknown
from tumble.export.clip import Clip, PropTrack, local_turns
from tumble.export.editing import at_rate, closed, in_place, on_the_ground
from tumble.export.options import Options
from tumble.export.skeletons import skeleton
from tumble.figures.figure import Figure, to_file, turns_to_file
from tumble.live.recording import Recording
from tumble.maths.rotations import conjugate, continuous, multiply, turned
from tumble.world.props import Companion
from tumble.world.scene import Scene

TOUCH = 0.005  # m between a foot and what it stands on; ours
FAR = 50.0  # m from the character: what is farther waits to be thrown


def figure_of(recording: Recording, options: Options) -> Figure:
    """The figure of the character that is asked for."""
    scene = recording.scene()
    character = scene.cast[prefix_of(scene, options.who)]
    shirt = scene.prop(options.who, Companion).shirt if options.who else SHIRT[:3]
    return Figure.of(character, options.rest, shirt)


def prefix_of(scene: Scene, who: str) -> str:
    """What the names of a character's parts begin with."""
    prefix = f"{who}/" if who else ""
    if prefix not in scene.cast:
        there = [name.removesuffix("/") for name in scene.cast if name]
        if not there:
            raise UserError(f"no companion '{who}' in the recording; it has none: leave --who away")
        raise unknown("companion", who, there)
    return prefix


def clip_of(recording: Recording, options: Options = Options(), figure: Figure | None = None) -> Clip:
    """The motion that a recording shows, as the options want it.

    Args:
      recording: its last part decides the skeleton.
      options: see `Options`.
      figure: of `figure_of`, where somebody has it already.
    """
    figure = figure or figure_of(recording, options)
    who = recording.scene().cast[prefix_of(recording.scene(), options.who)].name
    name = options.skeleton or ("vrm" if figure.parts else "tumble")
    bones, human, ground = skeleton(name, figure, who)
    places, turns, feet, props = _tracks(recording, options, figure)
    bodies = [bone.body for bone in bones]
    contacts = {bones[bodies.index(body)].name: down for body, down in feet.items()}
    motion = Clip(
        bones, continuous(local_turns(bones, turns[:, bodies])), places[:, bodies[0]], 1 / Scene.dt, contacts=contacts,
        props=props, human=human, about=about(recording, options),
    )  # fmt: skip
    if options.loop:
        motion = closed(motion)
    motion = at_rate(motion, options.fps)
    if options.in_place:
        motion = in_place(motion)
    if options.root == "bone" or name == "ue5":
        motion = on_the_ground(motion, ground, still=options.root != "bone")
    return motion


def about(recording: Recording, options: Options) -> dict[str, Any]:
    """Where a motion came from, as files tell it."""
    header = recording.header
    scene = recording.scene()
    return {
        "generator": f"tumble {version('tumble')}",
        "scenario": header.scenario,
        "character": scene.cast[prefix_of(scene, options.who)].name,
        "controller": header.controller,
        "seed": header.seed,
        "command": f"tumble run {header.scenario} --controller {header.controller} --seed {header.seed}",
        "versions": dict(header.versions),
        "settings": json.loads(json.dumps(header.settings)),
        "from": options.start,
        "frames": recording.frames,
    }


def span(recording: Recording, options: Options) -> range:
    """Which frames of a recording are asked for; frame 0 is before the first step."""
    dt, last = Scene.dt, recording.frames
    check_number("from", options.start, 0, last * dt)
    check_number("to", last * dt if options.end is None else options.end, options.start, (last + 0.5) * dt)
    return range(round(options.start / dt), (last if options.end is None else round(options.end / dt)) + 1)


def bodies_of(scene: Scene, names: Sequence[str], frame: int) -> list[int]:
    """MuJoCo's ids of bodies in the scene of a frame; refuses a scene of another body, which came before the last."""
    there = {scene.model.body(i).name: i for i in range(scene.model.nbody)}
    missing = [name for name in names if name not in there]
    if missing:
        raise UserError(
            f"{frame * Scene.dt:.2f} s into the recording the body is another one, without '{missing[0]}':"
            " begin where the last one is there, with --from"
        )
    return [there[name] for name in names]


def poses(recording: Recording, frames: range) -> Iterator[tuple[Scene, mujoco.MjData]]:
    """The scene of each frame, and its places of bodies; the MjData is the same object for a part's frames."""
    before = 0
    for i, part in enumerate(recording.parts):
        scene, first = part.scene, 0 if i == 0 else 1
        data = mujoco.MjData(scene.model)
        for frame in range(max(first, frames.start - before), min(part.about.frames, frames.stop - 1 - before) + 1):
            nq = scene.model.nq
            if frame == 0:
                mujoco.mj_setState(scene.model, data, part.start, mujoco.mjtState.mjSTATE_INTEGRATION)
            else:
                data.qpos[:], data.qvel[:] = part.motion[frame - 1, :nq], part.motion[frame - 1, nq:]
            mujoco.mj_kinematics(scene.model, data)
            mujoco.mj_comPos(scene.model, data)
            yield scene, data
        before += part.about.frames


def _tracks(
    recording: Recording, options: Options, figure: Figure
) -> tuple[np.ndarray, np.ndarray, dict[int, np.ndarray], tuple[PropTrack, ...]]:
    """Places of joints and turns away from rest (frames, bodies, ...) in the axes of files; who stood; props."""
    frames, prefix = span(recording, options), prefix_of(recording.scene(), options.who)
    count, rest = len(frames), conjugate(figure.upright)
    places, turns = np.empty((count, len(figure.names), 3)), np.empty((count, len(figure.names), 4))
    touching = np.zeros((count, len(figure.names)), bool)
    props, scene = dict[str, _Prop](), None
    for k, (now, data) in enumerate(poses(recording, frames)):
        if now is not scene:
            scene = now
            ids = bodies_of(scene, [prefix + name for name in figure.names], frames[k])
            own = {body: i for i, body in enumerate(ids)}
            things = _things(scene)
            for name, body in things.items():
                props.setdefault(name, _Prop(count)).shapes = _shapes(scene.model, body)
        quats = data.xquat[ids]
        places[k] = data.xpos[ids] + turned(quats, figure.anchors)
        turns[k] = multiply(quats, rest)
        for body in _touching(scene.model, data):
            if body in own:
                touching[k, own[body]] = True
        for name, body in things.items():
            track = props[name]
            track.places[k], track.turns[k] = data.xpos[body], data.xquat[body]
            track.there[k] = np.linalg.norm(data.xpos[body] - data.xpos[ids[0]]) < FAR
    tracks = tuple(track.closed(name) for name, track in props.items() if track.there.any())
    return to_file(places), turns_to_file(turns), _standing(figure, touching), tracks


def _touching(model: mujoco.MjModel, data: mujoco.MjData) -> set[int]:
    """Bodies that touch something of another tree."""
    mujoco.mj_collision(model, data)
    near = data.contact.dist < TOUCH
    pairs = model.geom_bodyid[data.contact.geom[near]].reshape(-1, 2)
    roots = model.body_rootid[pairs]
    return set(pairs[roots[:, 0] != roots[:, 1]].ravel().tolist())


def _standing(figure: Figure, touching: np.ndarray) -> dict[int, np.ndarray]:
    """When feet, and toes, stood on something, by body."""
    feet = [figure.names.index(foot) for foot in figure.feet]
    return {i: touching[:, i] for i, above in enumerate(figure.parents) if i in feet or above in feet}


class _Prop:
    """A prop's track while it is taken, in the world's axes."""

    def __init__(self, frames: int) -> None:
        self.shapes: tuple[Any, ...] = ()
        self.places, self.turns = np.zeros((frames, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1))
        self.there = np.zeros(frames, bool)

    def closed(self, name: str) -> PropTrack:
        """In the axes of files; where it is not there it keeps to a place where it is."""
        at = np.flatnonzero(self.there)
        nearest = at[np.clip(np.searchsorted(at, np.arange(len(self.there))), 0, len(at) - 1)]
        places, turns = to_file(self.places[nearest]), turns_to_file(self.turns[nearest])
        return PropTrack(name, self.shapes, places, continuous(turns), self.there)


def _things(scene: Scene) -> dict[str, int]:
    """Bodies that belong to no character; the world's own is one, for what is a part of the ground."""
    model = scene.model
    things = {model.body(i).name: i for i in range(1, model.nbody) if scene.whose(i) is None}
    return {name: i for name, i in ({"world": 0} | things).items() if _shapes(model, i)}


def _shapes(model: mujoco.MjModel, body: int) -> tuple[Any, ...]:
    """What is drawn of a body but planes, see `PropTrack.shapes`; in the axes of files."""
    found = []
    for g in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
        kind = mujoco.mjtGeom(model.geom_type[g]).name.removeprefix("mjGEOM_").lower()
        if kind in ("sphere", "box", "capsule", "ellipsoid", "cylinder"):
            found.append((kind, model.geom_size[g].copy(), to_file(model.geom_pos[g]),
                          turns_to_file(model.geom_quat[g]), model.geom_rgba[g].copy()))  # fmt: skip
    return tuple(found)
