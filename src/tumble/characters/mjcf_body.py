"""A stranger's MJCF made a body for a scene: one free root, no floor, no motors, everything said in one plain text.

    raw = RawBody(*read_robot(Path("my_robot.xml")))      # `raw.notes` says what was added and left out
    text, meshes = finished(raw, parts)                   # what the character is built of from now on

A scene brings ground, light, motors and sensors, so the file's own are taken out, and so are things beside the body.
Masses are those that the file's body has; they are written down, so that meshes that only look good need not be kept as
they are: they are drawn with at most `FACES` triangles each.

The frames of root, trunk and head are turned, with all that is in them, so that in the standing pose x is ahead and z
is up: what goals and walkers read of a body means the same for everybody then.
"""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from tumble.characters.mjcf_parts import BodyParts
from tumble.characters.mjcf_text import checked
from tumble.errors import UserError, unknown
from tumble.maths.rotations import conjugate, multiply, turned

FACES = 1500  # of a mesh that only looks good
SAME = 1e-4  # rad: frames that are turned by less are as they should be
HIDDEN, UNSEEN = 3, 4  # groups from which on MuJoCo draws nothing; of marks in the file
JOINT_MOTOR = mujoco.mjtTrn.mjTRN_JOINT
FREE, HINGE, MESH = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtGeom.mjGEOM_MESH


class RawBody:
    """The body of a file, before anybody knows what its parts are.

    Attributes:
      name: of the model.
      spec, model: one root with a free joint, and what hangs on it.
      meshes: contents of files that the spec still names: solid ones.
      motors: the largest torque of the file's motor of each hinge that has one, N m; inf where it is not limited.
      standing: qpos of the keyframe that stands, or of the file's own pose.
      keyframe: the name of that keyframe; None where there is none.
      notes: sentences of what was added and what was left out.
    """

    def __init__(self, text: str, meshes: Mapping[str, bytes], root: str | None = None) -> None:
        """Read a checked text; refuses what has no body that could be a character's."""
        self.notes = list[str]()
        self.meshes = dict(meshes)
        spec = read_spec(checked(text, self.meshes), self.meshes)
        self.name = spec.modelname
        spec.compiler.fusestatic, spec.compiler.discardvisual = False, False
        for i, body in enumerate(spec.bodies):
            body.name = body.name or f"bone_{i}"
        for i, joint in enumerate(spec.joints):
            joint.name = joint.name or f"joint_{i}"
        floor = self._without_world(spec)
        top = self._root(spec, root)
        whole = compiled(spec)
        keys = self._keyframe(whole)
        self.motors = _motors(spec, whole)
        for part in (*spec.actuators, *spec.sensors, *spec.keys):
            spec.delete(part)
        self._tell_of_joints(spec, whole, top.name)
        spec = self._plain(spec, whole, top, floor)
        if not any(joint.type == FREE for joint in spec.body(top.name).joints) and not spec.body(top.name).joints:
            spec.body(top.name).add_freejoint()
            self.notes.append(f"'{top.name}' hung in the world without a joint: it has a free joint now")
        self.spec, self.model = spec, compiled(spec)
        self.standing = self.model.qpos0.copy()
        for i in range(self.model.njnt):
            start, angles = int(self.model.jnt_qposadr[i]), keys.get(self.model.joint(i).name, np.empty(0))
            self.standing[start : start + len(angles)] = angles

    def _without_world(self, spec: mujoco.MjSpec) -> tuple[int, int]:
        """Take out the floor, lights, cameras; contype and conaffinity of what was there to stand on, in place."""
        world = list(spec.worldbody.geoms)
        floor = next(
            ((int(g.contype), int(g.conaffinity)) for g in world if g.type == mujoco.mjtGeom.mjGEOM_PLANE), (1, 1)
        )
        there = {geom.name: geom for geom in spec.geoms if geom.name}
        own = {name: geom for name, geom in there.items() if geom.parent.name != "world"}
        for pair in list(spec.pairs):
            names = (pair.geomname1, pair.geomname2)
            if all(name in own for name in names):
                continue
            for name in names:
                if name in own:  # it was to touch the floor
                    own[name].conaffinity = int(own[name].conaffinity) | 1
            spec.delete(pair)
        for part in (*world, *spec.worldbody.sites, *spec.lights, *spec.cameras):
            spec.delete(part)
        if world:
            self.notes.append("the file's floor and what else hangs in its world are left out: a scene has its own")
        return floor

    def _root(self, spec: mujoco.MjSpec, root: str | None) -> Any:
        """The body that is the character's root; others in the world are taken out, in place."""
        tops = {body.name: body for body in spec.worldbody.bodies}
        if not tops:
            raise UserError("the MJCF of a character has a body in the world, its root; there is none")
        if root is not None and root not in tops:
            raise unknown("body", root, tops, " in the world of the MJCF, given as root")
        name = root or max(tops, key=lambda top: len(tops[top].find_all("body")))
        for other, body in tops.items():
            if other != name:
                spec.delete(body)
                self.notes.append(f"'{other}' is left out: it is no part of '{name}'")
        joints = tops[name].joints
        if joints and not any(joint.type == FREE for joint in joints) and root is None:
            raise UserError(
                f"the body '{name}' has no free joint; give root='{name}' if it is the root all the same, whose joints"
                " are those of a free body or of a plane; or take its joints out, then it gets a free one"
            )
        return tops[name]

    def _keyframe(self, whole: mujoco.MjModel) -> dict[str, np.ndarray]:
        """qpos of each joint in the keyframe that stands: one called so, or the first; nothing where there is none."""
        names = [whole.key(i).name for i in range(whole.nkey)]
        if not names:
            self.keyframe: str | None = None
            return {}
        words = ("stand", "home", "default", "")
        chosen = min(range(len(names)), key=lambda i: min(
            (k for k, word in enumerate(words) if word in names[i].lower()), default=len(words)))  # fmt: skip
        self.keyframe = names[chosen] or str(chosen)
        qpos = whole.key_qpos[chosen]
        found = {}
        for i in range(whole.njnt):
            start = whole.jnt_qposadr[i]
            count = {0: 7, 1: 4}.get(int(whole.jnt_type[i]), 1)
            found[whole.joint(i).name] = qpos[start : start + count].copy()
        return found

    def _tell_of_joints(self, spec: mujoco.MjSpec, whole: mujoco.MjModel, root: str) -> None:
        """Notes on joints that nobody can move."""
        kinds = {int(mujoco.mjtJoint.mjJNT_BALL): "ball", int(mujoco.mjtJoint.mjJNT_SLIDE): "slide"}
        own = whole.body(root).id
        for kind, word in kinds.items():
            names = [whole.joint(i).name for i in range(whole.njnt)
                     if whole.jnt_type[i] == kind and whole.jnt_bodyid[i] != own]  # fmt: skip
            if names:
                self.notes.append(f"{word} joints have no motors here and are left to themselves: {', '.join(names)}")

    def _plain(self, spec: mujoco.MjSpec, whole: mujoco.MjModel, top: Any, floor: tuple[int, int]) -> mujoco.MjSpec:
        """The spec with masses written down and meshes made light, read again from its text."""
        for geom in spec.geoms:
            if (geom.contype & floor[1]) or (geom.conaffinity & floor[0]):
                geom.conaffinity = int(geom.conaffinity) | 1
        solid = {geom.meshname for geom in spec.geoms if geom.type == MESH and (geom.contype or geom.conaffinity)}
        seen = {geom.meshname for geom in spec.geoms if geom.type == MESH} | {geom.meshname for geom in spec.geoms}
        for mesh in list(spec.meshes):
            if mesh.name not in seen:
                spec.delete(mesh)
            elif mesh.name not in solid:
                _lighten(spec, mesh, whole)
        named = {mesh.file for mesh in spec.meshes}
        self.meshes = {file: data for file, data in self.meshes.items() if file in named}
        for body in spec.bodies:
            _show(body)
            if body.name != "world":
                _weigh(body, whole)
        spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
        spec.compiler.settotalmass, spec.compiler.balanceinertia = -1, False
        spec.compiler.boundmass = spec.compiler.boundinertia = 0
        if not any(geom.conaffinity & 1 for geom in spec.geoms):
            raise UserError(
                f"nothing of '{top.name}' is solid: give geoms of it that are to touch the ground contype=\"1\" and"
                ' conaffinity="1"'
            )
        compiled(spec)  # or there is no text
        return read_spec(spec.to_xml(), self.meshes)


def finished(raw: RawBody, parts: BodyParts) -> tuple[str, dict[str, bytes], list[str]]:
    """The text, the meshes and notes of a body whose parts are known: frames turned, parts that overlap let be."""
    spec = raw.spec.copy()
    data, notes = mujoco.MjData(raw.model), list[str]()
    data.qpos[:] = raw.standing
    mujoco.mj_kinematics(raw.model, data)
    wanted = np.array(parts.upright, float)
    free = any(joint.type == FREE for joint in spec.body(parts.root).joints)
    for name in dict.fromkeys((parts.root, parts.trunk, parts.head)) if free else ():
        turn = multiply(conjugate(data.body(name).xquat), wanted)
        if 2 * np.arccos(min(1.0, abs(float(turn[0])))) > SAME:
            _turn(spec.body(name), turn, root=name == parts.root)
            notes.append(f"the frame of '{name}' is turned: x is ahead and z up now")
    model = compiled(spec)
    touching = _overlaps(model, parts)
    for one, other in touching:
        spec.add_exclude(bodyname1=one, bodyname2=other)
    if touching:
        pairs = ", ".join(f"{one} and {other}" for one, other in touching)
        notes.append(f"parts that overlap in the rest pose do not collide: {pairs}")
    for site in spec.sites:
        site.group = max(int(site.group), UNSEEN)
    compiled(spec)
    return checked(spec.to_xml(), raw.meshes), raw.meshes, notes


def _overlaps(model: mujoco.MjModel, parts: BodyParts) -> list[tuple[str, str]]:
    """Pairs of bodies that are in each other in the rest pose."""
    data = mujoco.MjData(model)
    for name, angle in parts.poses["rest"].items():
        data.joint(name).qpos = angle
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    inside = data.contact.geom[data.contact.dist < 0.0]
    bodies = sorted({tuple(sorted(pair)) for pair in model.geom_bodyid[inside].tolist()})
    return [(model.body(one).name, model.body(other).name) for one, other in bodies if one != other]


def _turn(body: Any, turn: np.ndarray, root: bool) -> None:
    """Turn a body's frame by a rotation in it, in place; what is in it stays where it is in the world."""
    back = conjugate(turn)
    body.quat = multiply(body.quat, turn) if not root else np.array([1.0, 0.0, 0.0, 0.0])
    body.ipos, body.iquat = turned(back, body.ipos), multiply(back, body.iquat)
    for part in (*body.geoms, *body.sites, *body.bodies):
        part.pos, part.quat = turned(back, part.pos), multiply(back, part.quat)
    for joint in body.joints:
        if joint.type != FREE:
            joint.pos, joint.axis = turned(back, joint.pos), turned(back, joint.axis)


def _weigh(body: Any, whole: mujoco.MjModel) -> None:
    """Write down what a body weighs, in place."""
    i = whole.body(body.name).id
    if whole.body_mass[i] <= 0:
        return
    body.explicitinertial, body.fullinertia = True, np.full(6, np.nan)
    body.mass, body.inertia = whole.body_mass[i], whole.body_inertia[i]
    body.ipos, body.iquat = whole.body_ipos[i], whole.body_iquat[i]


def _show(body: Any) -> None:
    """Have a body drawn by its solid geoms where it has nothing else to be seen by, in place."""
    if not any(geom.group < HIDDEN and geom.rgba[3] > 0 for geom in body.geoms):
        for geom in body.geoms:
            if geom.contype or geom.conaffinity:
                geom.group, geom.rgba = 0, np.array([*geom.rgba[:3], 1.0])


def _lighten(spec: mujoco.MjSpec, mesh: Any, whole: mujoco.MjModel) -> None:
    """Put a mesh of few triangles in the place of a mesh's file; where they are stays."""
    name, i = mesh.name, whole.mesh(mesh.name).id
    points = whole.mesh_vert[whole.mesh_vertadr[i] :][: whole.mesh_vertnum[i]].astype(float)
    faces = whole.mesh_face[whole.mesh_faceadr[i] :][: whole.mesh_facenum[i]]
    points, faces = fewer(turned(whole.mesh_quat[i], points) + whole.mesh_pos[i], faces, FACES)
    spec.delete(mesh)
    spec.add_mesh(
        name=name, uservert=points.ravel().tolist(), userface=faces.ravel().tolist(), scale=[1, 1, 1],
        refpos=[0, 0, 0], refquat=[1, 0, 0, 0], inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
    )  # fmt: skip


def fewer(points: np.ndarray, faces: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) and triangles (m, 3) of a shape with at most so many: points of a cell of a grid become their mean.

    The grid is the finest of those tried, each a fifth coarser than the last, that does.
    """
    cells, size = 128.0, float(np.ptp(points, axis=0).max()) or 1.0
    found = points, faces
    while len(found[1]) > most and cells > 2:
        key = np.floor((points - points.min(0)) / size * cells).astype(np.int64) @ (1, 1 << 10, 1 << 20)
        _, number, count = np.unique(key, return_inverse=True, return_counts=True)
        middle = np.stack([np.bincount(number, points[:, i]) / count for i in range(3)], -1)
        left = number[faces]
        left = left[(left[:, 0] != left[:, 1]) & (left[:, 1] != left[:, 2]) & (left[:, 2] != left[:, 0])]
        _, first = np.unique(np.sort(left, axis=1) @ (1, 1 << 21, 1 << 42), return_index=True)
        found = middle, left[np.sort(first)]
        cells /= 1.25
    return found


def _motors(spec: mujoco.MjSpec, whole: mujoco.MjModel) -> dict[str, float]:
    """The largest torque of the motor of each joint that has one, N m: the file's, within what the joint allows."""
    found = {}
    for motor in spec.actuators:
        if motor.trntype == JOINT_MOTOR:
            joint = whole.joint(motor.target)
            most = float(np.abs(whole.jnt_actfrcrange[joint.id]).max()) if whole.jnt_actfrclimited[joint.id] else np.inf
            found[motor.target] = min(_strength(motor), most)
    for i in range(whole.njnt):
        if whole.jnt_actfrclimited[i] and whole.jnt_type[i] == HINGE and whole.joint(i).name not in found:
            found[whole.joint(i).name] = float(np.abs(whole.jnt_actfrcrange[i]).max())
    return found


def _strength(motor: Any) -> float:
    """Largest torque of an actuator of the file, N m; inf where it is not limited."""
    limited = mujoco.mjtLimited.mjLIMITED_FALSE
    if np.any(motor.forcerange) and motor.forcelimited != limited:
        return float(np.abs(motor.forcerange).max() * abs(motor.gear[0]))
    if np.any(motor.ctrlrange) and motor.ctrllimited != limited and motor.biastype == mujoco.mjtBias.mjBIAS_NONE:
        return float(np.abs(motor.ctrlrange).max() * abs(motor.gear[0] * motor.gainprm[0]))
    return float("inf")


def read_spec(text: str, meshes: Mapping[str, bytes]) -> mujoco.MjSpec:
    """What a checked text says."""
    try:
        return mujoco.MjSpec.from_string(text, assets=dict(meshes))
    except ValueError as error:
        raise UserError(f"cannot read the MJCF: {error}") from None


def compiled(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The model of a spec; MuJoCo's complaint as a `UserError`."""
    try:
        return spec.compile()
    except ValueError as error:
        raise UserError(f"cannot compile the MJCF: {error}") from None
