"""`tumble export`: files by their ending, and sentences where there is nothing to write."""

import io
import time
import zipfile

import msgspec
import numpy as np
import pytest
from recordings import swinging

from tumble.characters import character
from tumble.cli import dispatch
from tumble.export import ENDINGS


@pytest.fixture
def walk(tmp_path):
    swinging(character("biped"), 40).save(tmp_path / "walk.npz")
    return tmp_path / "walk.npz"


def test_a_file_is_written_and_told(capsys, walk, tmp_path):
    out = tmp_path / "walk.glb"
    assert dispatch(["export", str(walk), str(out), "--skeleton", "mixamo", "--root", "bone", "--fps", "60"]) == 0
    assert capsys.readouterr().out.startswith(f"wrote {out}: ") and out.read_bytes().startswith(b"glTF")
    assert b"mixamorig:LeftUpLeg" in out.read_bytes()


def test_a_part_is_written(walk, tmp_path):
    assert dispatch(["export", str(walk), str(tmp_path / "a.bvh"), "--from", "0.5", "--to", "1", "--up", "z"]) == 0
    assert "Frames: 16\n" in (tmp_path / "a.bvh").read_text()


def test_help_has_examples_and_all_endings(capsys):
    with pytest.raises(SystemExit):
        dispatch(["export", "--help"])
    out = capsys.readouterr().out
    assert "tumble export walk.npz walk.vrma" in out and "examples:" in out
    assert all(f"  {ending} " in out for ending in ENDINGS)
    for option in (
        "--skeleton",
        "--root",
        "--in-place",
        "--fps",
        "--scale",
        "--rest",
        "--up",
        "--from",
        "--to",
        "--loop",
    ):
        assert option in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["OUT.fbx"], "tumble: the ending of a file says what it becomes, got '.fbx'; there are: .glb (Blender,"),
        (["OUT.glb", "--skeleton", "unit"], "(did you mean 'unity'?)"),
        (["OUT.glb", "--fps", "31"], "tumble: fps must be one of 24, 30, 60, 120, got 31"),
        (["OUT.glb", "--from", "3"], "tumble: from must be a number 0 or more and at most 1.33333, got 3"),
        (["no/OUT.glb"], "no folder no to write OUT.glb into"),
        (["."], "got none; there are"),
    ],
)
def test_mistakes_are_sentences_and_leave_no_file(capsys, monkeypatch, walk, tmp_path, words, said):
    monkeypatch.chdir(tmp_path)
    assert dispatch(["export", str(walk), *words]) == 2
    captured = capsys.readouterr()
    assert said in captured.err and captured.err.startswith("tumble: ") and captured.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["walk.npz"]


def test_a_folder_that_cannot_be_written(capsys, walk):
    assert dispatch(["export", str(walk), "/proc/walk.glb"]) == 2
    assert "tumble: cannot write /proc/walk.glb: " in capsys.readouterr().err


def test_no_recording_is_written_over(capsys, walk):
    before = walk.read_bytes()
    assert dispatch(["export", str(walk), str(walk)]) == 2
    assert (
        "walk.npz is a file of tumble's own, which is not written over: choose another name" in capsys.readouterr().err
    )
    assert walk.read_bytes() == before
    joints = walk.with_name("joints.npz")
    assert dispatch(["export", str(walk), str(joints)]) == dispatch(["export", str(walk), str(joints)]) == 0


def test_a_recording_of_another_version(capsys, walk, tmp_path):
    header = swinging(character("biped"), 1).header
    later = msgspec.structs.replace(header, format="tumble recording 9", versions={"tumble": "9.1"})
    with zipfile.ZipFile(tmp_path / "later.npz", "w") as archive:
        file = io.BytesIO()
        np.save(file, np.frombuffer(msgspec.json.encode(later), np.uint8))
        archive.writestr("header.npy", file.getvalue())
    assert dispatch(["export", str(tmp_path / "later.npz"), str(tmp_path / "a.glb")]) == 2
    said = capsys.readouterr().err
    assert "its format is 'tumble recording 9', made with tumble 9.1; this is tumble" in said
    assert dispatch(["export", str(tmp_path / "none.npz"), str(tmp_path / "a.glb")]) == 2
    assert "no file" in capsys.readouterr().err and not (tmp_path / "a.glb").exists()


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".bvh", ".glb", ".vrma", ".html"])
def test_a_minute_is_quick_and_a_page_of_it_small(tmp_path, ending):
    """60 s: 2 s each for BVH, GLB and VRMA, a page under 3 MB; CPU time, as other processes have theirs."""
    swinging(character("biped"), 1800).save(tmp_path / "minute.npz")
    before = time.process_time()
    assert dispatch(["export", str(tmp_path / "minute.npz"), str(tmp_path / f"minute{ending}")]) == 0
    if ending != ".html":
        assert time.process_time() - before < 2
    assert (tmp_path / f"minute{ending}").stat().st_size < (3e6 if ending == ".html" else 6e6)
