"""Recordings and sessions that show themselves in Jupyter: a still, and over it the page that plays.

    from tumble import Recording
    Recording.load("walk.npz")                 # as a cell's last line: it plays below

`import tumble` in a notebook has it known by the names of the classes, so nothing of this is imported before something
is shown. The page runs in a frame that can reach nothing of the notebook; where frames are taken out, as on GitHub, the
still is left. A session shows the present, a recorder what was recorded so far.
"""

import base64
import html
import io
from typing import Any

import numpy as np

from tumble.errors import UserError
from tumble.export.html import page
from tumble.export.options import Options
from tumble.export.writing import drawn_clip
from tumble.film import strip
from tumble.live.recording import Recorder, Recording
from tumble.live.session import Session
from tumble.world.scene import Scene

WIDTH, HEIGHT = 640, 400  # px


def shown(thing: Recording | Recorder) -> str:
    """A recording as HTML for a cell: a still from its middle, and a player over it."""
    recording = thing.recording if isinstance(thing, Recorder) else thing
    text = html.escape(page(*drawn_clip(recording, Options())), quote=True)
    still = picture(recording.scene(), recording.state(recording.frames // 2))
    size = f"width:{WIDTH}px;max-width:100%;height:{HEIGHT}px"
    return (
        f'<div style="position:relative;{size}">{still}<iframe sandbox="allow-scripts" title="tumble" srcdoc="{text}"'
        f' style="position:absolute;inset:0;{size};border:0"></iframe></div>'
    )


def now(session: Session) -> str:
    """The present of a session as HTML for a cell: a picture, and the time."""
    still = picture(session.scene, session.world.state[0].copy())
    return f"<figure>{still}<figcaption>{session.time:.2f} s</figcaption></figure>"


def picture(scene: Scene, state: np.ndarray) -> str:
    """A state as an image in HTML; an empty text where nothing can draw."""
    try:
        image = strip(scene, state[None], [0.0], 1, width=WIDTH, height=HEIGHT)
    except UserError:
        return ""
    file = io.BytesIO()
    image.save(file, "PNG")
    data = base64.b64encode(file.getvalue()).decode()
    return f'<img alt="a moment of it" width="{WIDTH}" height="{HEIGHT}" src="data:image/png;base64,{data}">'


def represent(thing: Any) -> str:
    """What a notebook shows of a recording, a recorder or a session."""
    return now(thing) if isinstance(thing, Session) else shown(thing)
