"""USD: a skeleton of UsdSkel with its animation, what is drawn of the character, and props. Needs `tumble[usd]`.

    save_usd(Path("walk.usd"), motion, skins)          # binary; .usda is text

Metres and y up unless told otherwise; times are frames, as the stage's timeCodesPerSecond says. Where the motion came
from stands in the stage's customLayerData.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tumble.errors import UserError
from tumble.export.clip import Clip
from tumble.export.gltf import Skins, bones_of_bodies, linear
from tumble.export.options import SCALES
from tumble.figures.shapes import Mesh, of_prop, stiff
from tumble.files import check_place, replace_file


def save_usd(path: Path, motion: Clip, skins: Skins, scale: str = "m", up: str = "y") -> int:
    """Write a motion as a stage; returns how many bytes.

    Args:
      path: .usd and .usdc are binary, .usda is text.
      motion, skins: see `Clip` and `Skins`.
      scale: what a unit is, m or cm; lengths follow.
      up: y, or z with x ahead.
    """
    check_place(path)
    pxr = _pxr()
    with tempfile.TemporaryDirectory() as folder:
        beside = Path(folder) / f"stage{path.suffix.lower()}"
        stage = pxr.Usd.Stage.CreateNew(str(beside))
        _Stage(pxr, stage, motion, SCALES[scale], up).fill(skins)
        stage.GetRootLayer().Save()
        with open(beside, "rb") as made:
            data = made.read()
    replace_file(path, lambda file: file.write(data))
    return len(data)


def _pxr() -> Any:
    """The modules of USD, or the sentence that says how to install them."""
    try:
        import pxr
        from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, Vt
    except ImportError:
        raise UserError('USD needs usd-core: pip install "tumble[usd]"; or write a .glb') from None
    pxr.Gf, pxr.Sdf, pxr.Usd, pxr.UsdGeom, pxr.UsdShade, pxr.UsdSkel, pxr.Vt = (
        Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, Vt)  # fmt: skip
    return pxr


class _Stage:
    """Fills a stage with a motion."""

    def __init__(self, pxr: Any, stage: Any, motion: Clip, scale: float, up: str) -> None:
        self.pxr, self.stage, self.motion, self.scale = pxr, stage, motion, scale
        self.axes = [0, 1, 2] if up == "y" else [2, 0, 1]
        geometry = pxr.UsdGeom
        geometry.SetStageUpAxis(stage, geometry.Tokens.y if up == "y" else geometry.Tokens.z)
        geometry.SetStageMetersPerUnit(stage, 1.0 / scale)
        stage.SetTimeCodesPerSecond(motion.fps)
        stage.SetFramesPerSecond(motion.fps)
        stage.SetStartTimeCode(0)
        stage.SetEndTimeCode(motion.frames - 1)
        about = {key: value for key, value in motion.about.items() if isinstance(value, str | int | float)}
        stage.GetRootLayer().customLayerData = {"tumble": about}

    def fill(self, skins: Skins) -> None:
        """Add skeleton, animation, meshes and props."""
        pxr, motion = self.pxr, self.motion
        root = pxr.UsdSkel.Root.Define(self.stage, "/Body")
        self.stage.SetDefaultPrim(root.GetPrim())
        skeleton = pxr.UsdSkel.Skeleton.Define(self.stage, "/Body/Skeleton")
        joints = self._joints()
        skeleton.CreateJointsAttr(joints)
        matrices = [self._matrix(bone.place) for bone in motion.bones]
        skeleton.CreateBindTransformsAttr(pxr.Vt.Matrix4dArray(matrices))
        offsets = [self._matrix(motion.offset(i)) for i in range(len(motion.bones))]
        skeleton.CreateRestTransformsAttr(pxr.Vt.Matrix4dArray(offsets))
        self._animation(skeleton, joints)
        bone_of = bones_of_bodies(motion.bones)
        for i, mesh in enumerate(skins.skin):
            self._skinned(f"/Body/Skin_{i}", mesh, skeleton, bone_of)
        for body, meshes in skins.rigid.items():
            for i, mesh in enumerate(meshes):
                self._skinned(f"/Body/Body_{body}_{i}", stiff(mesh, body), skeleton, bone_of)
        for i, prop in enumerate(motion.props):
            self._prop(f"/Props/Prop_{i}", i, prop.name)

    def _joints(self) -> list[str]:
        """Paths of the bones, parents before a slash; what USD forbids in names becomes '_'."""
        paths = list[str]()
        for bone in self.motion.bones:
            name = "".join(letter if letter.isalnum() else "_" for letter in bone.name)
            paths.append(f"{paths[bone.parent]}/{name}" if bone.parent >= 0 else name)
        return paths

    def _point(self, vector: np.ndarray) -> list[float]:
        """A place in the stage's axes and units."""
        return [float(x) for x in self.scale * np.asarray(vector)[self.axes]]

    def _matrix(self, place: np.ndarray) -> Any:
        """A matrix that moves."""
        return self.pxr.Gf.Matrix4d().SetTranslate(self.pxr.Gf.Vec3d(*self._point(place)))

    def _turn(self, q: np.ndarray) -> Any:
        """A rotation in the stage's axes."""
        return self.pxr.Gf.Quatf(float(q[0]), *(float(q[1 + axis]) for axis in self.axes))

    def _animation(self, skeleton: Any, joints: Sequence[str]) -> None:
        """Rotations and places of all bones, in every frame."""
        pxr, motion = self.pxr, self.motion
        animation = pxr.UsdSkel.Animation.Define(self.stage, "/Body/Skeleton/Animation")
        animation.CreateJointsAttr(list(joints))
        ones = pxr.Vt.Vec3hArray([pxr.Gf.Vec3h(1, 1, 1)] * len(joints))
        animation.CreateScalesAttr(ones)
        turns, places = animation.CreateRotationsAttr(), animation.CreateTranslationsAttr()
        offsets = [motion.offset(i) for i in range(len(joints))]
        for frame in range(motion.frames):
            now = [motion.roots[frame], *offsets[1:]]
            for i, hips in motion.hips.items():
                now[i] = hips[frame]
            turns.Set(pxr.Vt.QuatfArray([self._turn(q) for q in motion.rotations[frame]]), frame)
            places.Set(pxr.Vt.Vec3fArray([pxr.Gf.Vec3f(*self._point(place)) for place in now]), frame)
        binding = pxr.UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
        binding.CreateAnimationSourceRel().SetTargets([animation.GetPath()])

    def _mesh(self, path: str, mesh: Mesh) -> Any:
        """A mesh of one colour."""
        pxr = self.pxr
        made = pxr.UsdGeom.Mesh.Define(self.stage, path)
        points = np.ascontiguousarray(self.scale * mesh.points[:, self.axes], "f4")
        made.CreatePointsAttr(pxr.Vt.Vec3fArray.FromNumpy(points))
        made.CreateNormalsAttr(pxr.Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(mesh.normals[:, self.axes], "f4")))
        made.SetNormalsInterpolation(pxr.UsdGeom.Tokens.vertex)
        made.CreateFaceVertexCountsAttr(pxr.Vt.IntArray.FromNumpy(np.full(len(mesh.triangles), 3, "i4")))
        indices = np.ascontiguousarray(mesh.triangles.ravel(), "i4")
        made.CreateFaceVertexIndicesAttr(pxr.Vt.IntArray.FromNumpy(indices))
        made.CreateSubdivisionSchemeAttr(pxr.UsdGeom.Tokens.none)
        made.CreateDisplayColorAttr([pxr.Gf.Vec3f(*(float(x) for x in linear(mesh.rgba[:3])))])
        return made

    def _skinned(self, path: str, mesh: Mesh, skeleton: Any, bone_of: Mapping[int, int]) -> None:
        """A mesh with weights of the skeleton's bones."""
        pxr = self.pxr
        assert mesh.joints is not None and mesh.weights is not None
        made = self._mesh(path, mesh)
        binding = pxr.UsdSkel.BindingAPI.Apply(made.GetPrim())
        bones = np.array([bone_of.get(body, 0) for body in range(max(bone_of) + 1)])
        joints = np.ascontiguousarray(bones[mesh.joints].ravel(), "i4")
        binding.CreateJointIndicesPrimvar(False, 4).Set(pxr.Vt.IntArray.FromNumpy(joints))
        weights = np.ascontiguousarray(mesh.weights.ravel(), "f4")
        binding.CreateJointWeightsPrimvar(False, 4).Set(pxr.Vt.FloatArray.FromNumpy(weights))
        binding.CreateGeomBindTransformAttr(pxr.Gf.Matrix4d(1.0))
        binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])

    def _prop(self, path: str, number: int, name: str) -> None:
        """A prop with its track; it is invisible while it waits far away."""
        pxr, prop = self.pxr, self.motion.props[number]
        node = pxr.UsdGeom.Xform.Define(self.stage, path)
        node.GetPrim().SetDisplayName(name)
        for i, mesh in enumerate(of_prop(prop.shapes)):
            self._mesh(f"{path}/Mesh_{i}", mesh)
        place, turn = node.AddTranslateOp(), node.AddOrientOp()
        shown = node.CreateVisibilityAttr()
        for frame in range(self.motion.frames if prop.moves else 1):
            place.Set(pxr.Gf.Vec3d(*self._point(prop.places[frame])), frame)
            turn.Set(self._turn(prop.turns[frame]), frame)
            seen = pxr.UsdGeom.Tokens.inherited if prop.there[frame] else pxr.UsdGeom.Tokens.invisible
            shown.Set(seen, frame)
