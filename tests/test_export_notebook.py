"""Recordings in notebooks: known to IPython by name, in a frame of their own, with a still for where there are none."""

import re
import subprocess
import sys
import textwrap

import pytest
from recordings import swinging

from tumble.characters import character
from tumble.export import notebook


def test_a_recording_is_a_still_and_a_page_in_a_closed_frame():
    text = notebook.shown(swinging(character("biped"), 3))
    (frame,) = re.findall(r"<iframe (.*?)></iframe>", text, re.S)
    assert 'sandbox="allow-scripts"' in frame and "allow-same-origin" not in frame
    assert "&lt;!doctype html&gt;" in frame and frame.count('"') == 8  # four attributes, nothing breaks out
    assert text.index("<img") < text.index("<iframe") or "<img" not in text  # no OpenGL, no still


def test_a_picture_that_cannot_be_drawn_is_left_out(monkeypatch):
    from tumble.errors import UserError

    def fail(*_, **__):
        raise UserError("no OpenGL to draw with")

    monkeypatch.setattr(notebook, "strip", fail)
    made = swinging(character("biped"), 2)
    assert notebook.picture(made.scene(), made.state(0)) == "" and "<iframe" in notebook.shown(made)


def test_ipython_knows_them_by_name_and_nothing_is_imported():
    code = """
        import sys, types
        known = {}
        class Formatter:
            def for_type_by_name(self, module, name, represent):
                known[module, name] = represent
        shell = types.SimpleNamespace(display_formatter=types.SimpleNamespace(formatters={"text/html": Formatter()}))
        sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
        import tumble
        assert set(known) == {("tumble.live.recording", "Recording"), ("tumble.live.recording", "Recorder"),
                              ("tumble.live.session", "Session")}
        assert "numpy" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_jupyter_shows_a_recording(tmp_path):
    pytest.importorskip("IPython", reason="needs IPython: pip install ipython")
    swinging(character("biped"), 3).save(tmp_path / "a.npz")
    code = f"""
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        import tumble
        recording = tumble.Recording.load({str(tmp_path / "a.npz")!r})
        data, _ = shell.display_formatter.format(recording)
        assert "<iframe" in data["text/html"]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
