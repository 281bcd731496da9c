"""Reading a stranger's MJCF: one text and the meshes it names, from its own folder and nowhere else.

    text, meshes = read_robot(Path("my_robot.xml"))       # includes put in; meshes by their names in the text
    text = checked(text, {"a.obj"})                       # the same for a text from elsewhere, which may open no file

MuJoCo never opens a file for us: every element that could name one is looked at here, on the tree that is then written
anew, so that no second parser sees what the first did not. Only includes and meshes are read. What a scene brings, and
what only looks good, is taken out: options, sizes, visual settings, textures, skins, height fields. Materials become
colours.

Sizes are bounded before memory is taken. A text can still be wrong in ways that only MuJoCo can tell.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from tumble.errors import UserError
from tumble.files import read_bytes

LARGEST = 16 << 20  # bytes of a text, includes and all
LARGEST_MESH, LARGEST_MESHES = 64 << 20, 256 << 20  # bytes of one mesh, of all
MOST_MESHES, MOST_INCLUDES, DEEPEST, MOST_COPIES = 1000, 200, 100, 256
MESHES = (".obj", ".stl", ".msh")
TAKEN_OUT = ("option", "size", "visual", "statistic", "custom")  # sections that a scene has of its own
LOOKS = ("material", "texture", "skin", "hfield")  # assets that are not read
ASSETS = ("asset", "default", "deformable")  # where they stand
# What would open files or make more of a text than it says; why it is refused.
REFUSED = {
    "model": "it attaches another file; save both as one, with mujoco.MjSpec.to_xml",
    "attach": "it attaches another file; save both as one, with mujoco.MjSpec.to_xml",
    "plugin": "plugins are not run; take them out",
    "flexcomp": "soft bodies are no parts of a character; take them out",
    "flex": "soft bodies are no parts of a character; take them out",
    "composite": "composites are no parts of a character; take them out",
}


def read_robot(path: Path) -> tuple[str, dict[str, bytes]]:
    """The text of a file with all that it includes, and the contents of its meshes by their names in the text."""
    folder = _Folder(path)
    root = _parsed(folder.text(path.name), path.name)
    folder.include(root, path.name, ())
    kept = _kept(root, path.name)
    meshes = dict[str, bytes]()
    for element, given in _files(kept, _folders(root)):
        key = folder.key(given)
        if key not in meshes:
            meshes[key] = folder.mesh(given)
        element.set("file", key)
    return _written(kept), meshes


def checked(text: str, meshes: Collection[str] = ()) -> str:
    """A text that opens no file; refuses includes, and meshes that are not among the given ones.

    Args:
      meshes: names of meshes whose contents are there.
    """
    if len(text) > LARGEST:
        raise UserError(f"the MJCF is too large: at most {LARGEST >> 20} MB")
    root = _parsed(text, "the MJCF")
    if next(root.iter("include"), None) is not None:
        raise UserError(
            "an MJCF that includes other files is not all there: give the path of its file, or save it as one,"
            " with mujoco.MjSpec.to_xml"
        )
    kept = _kept(root, "the MJCF")
    named = [file for _, file in _files(kept, ())]
    missing = sorted({file for file in named if file not in meshes})
    if missing:
        raise UserError(
            f"the MJCF names files that are not in it: {', '.join(missing)}; give their contents, such as"
            f" assets={{'{missing[0]}': Path('{missing[0]}').read_bytes()}}, or the path of its file"
        )
    return _written(kept)


class _Folder:
    """The folder of an MJCF, outside of which nothing is read."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise UserError(f"no MJCF {path}: give the path of an XML file, or its text")
        self.path, self.inside = path.parent, path.resolve().parent
        self.left, self.includes, self.room = LARGEST, 0, LARGEST_MESHES
        self._keys: dict[str, str] = {}

    def _place(self, given: str, what: str) -> Path:
        """Where a file is that the MJCF names; refuses what is not there, and what is outside, links followed."""
        name = given.replace("\\", "/")
        if "\0" in name or ":" in name.split("/")[0]:
            raise UserError(f"the MJCF names a {what} '{given}', which is no file of its folder {self.path}")
        place = (self.inside / name).resolve()
        if not place.is_relative_to(self.inside):
            raise UserError(
                f"the MJCF names a {what} '{given}', which is outside of its folder {self.path}; files elsewhere are"
                " not read: copy it into the folder, and name it there"
            )
        if not place.is_file():
            raise UserError(f"the MJCF names a {what} '{given}', which is not there; put it into {place.parent}")
        return place

    def text(self, given: str) -> bytes:
        """The bytes of an MJCF of the folder."""
        data = read_bytes(self._place(given, "file to include"), "MJCF", self.left) or b""
        self.left -= len(data)
        return data

    def mesh(self, given: str) -> bytes:
        """The bytes of a mesh."""
        place = self._place(given, "mesh")
        if place.suffix.lower() not in MESHES:
            raise UserError(f"the MJCF names a mesh '{given}'; meshes end in {', '.join(MESHES)}")
        if len(self._keys) > MOST_MESHES:
            raise UserError(f"the MJCF names more than {MOST_MESHES} meshes")
        data = read_bytes(place, "a mesh of a character", min(LARGEST_MESH, self.room)) or b""
        self.room -= len(data)
        return data

    def key(self, given: str) -> str:
        """What a mesh is called in the text: the end of its path, with a number where several are called so."""
        name = str(Path(given.replace("\\", "/")))
        end = re.sub(r"[^A-Za-z0-9_.-]", "_", Path(name).name)
        if name not in self._keys:
            same = sum(key.partition("~")[2] == end or key == end for key in self._keys.values())
            self._keys[name] = f"{same}~{end}" if same else end
        return self._keys[name]

    def include(self, root: Element, name: str, above: tuple[str, ...]) -> None:
        """Put the children of included files in the places of their includes, in place.

        Names are counted from the folder of the file that is read first, as MuJoCo does.
        """
        if name in above:
            raise UserError(f"the MJCF '{name}' includes itself")
        for parent in list(root.iter()):
            for child in list(parent):
                if child.tag != "include":
                    continue
                self.includes += 1
                if self.includes > MOST_INCLUDES:
                    raise UserError(f"the MJCF includes more than {MOST_INCLUDES} files")
                file = child.get("file", "")
                part = _parsed(self.text(file), file)
                self.include(part, str(Path(file)), (*above, name))
                at = list(parent).index(child)
                parent.remove(child)
                for more in reversed(list(part)):
                    parent.insert(at, more)


def _parsed(text: str | bytes, name: str) -> Element:
    """The tree of an MJCF; refuses documents with entities, other formats, and what is too deep."""
    raw = text.encode() if isinstance(text, str) else text
    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw or raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise UserError(f"cannot read {name}: an MJCF is UTF-8 without a document type")
    try:
        root = ElementTree.fromstring(raw)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise UserError(f"cannot read {name}: {error}") from None
    if root.tag == "robot":
        raise UserError(f"{name} is URDF; load it into MuJoCo and save it as MJCF, with mujoco.MjSpec.to_xml")
    if root.tag not in ("mujoco", "mujocoinclude"):
        raise UserError(f"{name} is no MJCF: it begins with <{root.tag}>, and not with <mujoco>")
    if _depth(root) > DEEPEST:
        raise UserError(f"cannot read {name}: its elements are more than {DEEPEST} deep")
    return root


def _depth(root: Element) -> int:
    """Of the deepest element, without recursion."""
    deep, layer = 0, [root]
    while layer and deep <= DEEPEST:
        deep, layer = deep + 1, [child for element in layer for child in element]
    return deep


def _kept(root: Element, name: str) -> Element:
    """What is left of a tree, in place: no files but meshes, nothing that grows; refuses what cannot be left out."""
    for tag, why in REFUSED.items():
        if next(root.iter(tag), None) is not None:
            raise UserError(f"{name} has a <{tag}>: {why}")
    copies = 1
    for element in root.iter("replicate"):
        count = element.get("count", "1").strip()
        copies *= int(count) if count.isdigit() and len(count) < 6 else MOST_COPIES + 1
    if copies > MOST_COPIES:
        raise UserError(f"{name} replicates parts more than {MOST_COPIES} times")
    for section in [child for child in root if child.tag in (*TAKEN_OUT, "extension")]:
        root.remove(section)
    colours = {one.get("name"): one.get("rgba", "1 1 1 1") for one in root.iter("material")}
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag in LOOKS and parent.tag in ASSETS]:
            parent.remove(child)
        colour = colours.get(parent.attrib.pop("material", None))
        if parent.tag == "geom" and colour is not None:
            parent.attrib.setdefault("rgba", colour)
    for element in root.iter():
        wrong = sorted(key for key in element.attrib if key.startswith("file") and element.tag != "mesh")
        if wrong or (element.tag == "mesh" and "builtin" in element.attrib):
            what = wrong[0] if wrong else "builtin"
            raise UserError(f"{name} has a <{element.tag}> with '{what}', which a character's MJCF may not have")
    return root


def _folders(root: Element) -> tuple[str, ...]:
    """Folders that the compiler's settings put before the names of meshes: the last that is said counts."""
    found = {key: value for element in root.iter("compiler") for key, value in element.attrib.items()}
    folder = found.get("meshdir") or found.get("assetdir") or ""
    return (folder,) if folder else ()


def _files(root: Element, folders: tuple[str, ...]) -> Iterator[tuple[Element, str]]:
    """Meshes that are files, each with its path from the folder of the MJCF; given names of their own.

    Settings of folders are taken out.
    """
    strip = any(element.get("strippath", "false") == "true" for element in root.iter("compiler"))
    for element in root.iter("compiler"):
        for key in ("meshdir", "texturedir", "assetdir", "strippath"):
            element.attrib.pop(key, None)
    for element in list(root.iter("mesh")):
        file = element.get("file")
        if file is None:
            continue
        name = re.split(r"[/\\]", file)[-1]
        element.set("name", element.get("name") or name.rpartition(".")[0] or name)
        element.attrib.pop("content_type", None)
        yield element, "/".join((*folders, name if strip else file))


def _written(root: Element) -> str:
    """The text of a tree."""
    return ElementTree.tostring(root, encoding="unicode")
