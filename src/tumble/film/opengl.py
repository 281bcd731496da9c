"""OpenGL without a window: EGL, else OSMesa; MUJOCO_GL, when set, decides. A context belongs to a thread."""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import mujoco

from tumble.errors import UserError


def open_context(model: mujoco.MjModel) -> tuple[Any, mujoco.MjrContext]:
    """An OpenGL context, made current, and MuJoCo's part of it, from the first backend that works."""
    chosen = os.environ.get("MUJOCO_GL", "").strip().lower()
    automatic = sys.platform == "linux" and chosen in ("", "1", "on", "true", "enable", "enabled")
    failures = []
    for backend in ("egl", "osmesa") if automatic else (chosen,):
        try:
            with _trying(backend):
                return open_backend(backend, model)
        # a missing library shows as ImportError, OSError, AttributeError or FatalError, by the way it is missed
        except Exception as error:
            failures.append(f"{backend or 'default'}: {str(error).partition('. ')[0]}")
    wrong = (
        "no OpenGL to draw with;" if automatic or not chosen else f"cannot draw with MUJOCO_GL={chosen}; unset it, or"
    )
    raise UserError(f"{wrong} install the Debian packages libegl1 libgl1, or libosmesa6 ({'; '.join(failures)})")


def open_backend(backend: str, model: mujoco.MjModel) -> tuple[Any, mujoco.MjrContext]:
    """A context by one backend, current, with its buffer off screen; nothing stays open where that fails."""
    own = backend not in ("egl", "osmesa")  # MuJoCo chose at its import
    maker: Any = importlib.import_module("mujoco.gl_context" if own else f"mujoco.{backend}")
    screen = model.vis.global_
    gl = maker.GLContext(screen.offwidth, screen.offheight)
    try:
        gl.make_current()
        context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
    except Exception:
        gl.free()
        raise
    mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
    return gl, context


@contextlib.contextmanager
def _trying(backend: str) -> Iterator[None]:
    """Set what MuJoCo's C code reads to find OpenGL. Leaves the environment as it was, and after a
    failure PyOpenGL too: it binds to one platform when imported, and the next try needs another."""
    environment = {key: os.environ.get(key) for key in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    modules = set(sys.modules)
    os.environ["MUJOCO_GL"] = backend
    try:
        yield
    except Exception:
        for name in set(sys.modules) - modules:
            if name.split(".")[0] == "OpenGL" or name.startswith(("mujoco.egl", "mujoco.osmesa")):
                del sys.modules[name]
        raise
    finally:
        for key, value in environment.items():
            os.environ.pop(key, None)
            if value is not None:
                os.environ[key] = value
