"""Pictures of a recording: .png files one after the other, .gif, .mp4; drawn without a window by `tumble.film`.

    save_mp4(recording, Path("walk.mp4"), Options(width=640, height=480), progress)

A camera looks in one direction and follows the character over the ground. In software drawing takes about a tenth of a
second a picture of 640 x 480. A .gif has 25 frames a second at most, because viewers show quicker ones slowly.
"""

import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from tumble.errors import UserError
from tumble.export.options import Options
from tumble.export.taking import span
from tumble.files import check_place, replace_file
from tumble.film import Camera, Canvas
from tumble.live.recording import Recording
from tumble.world.scene import Scene

Progress = Callable[[int, int], None]
SIZES = {".gif": (320, 240)}  # of pictures, where nobody says
USUAL = (640, 480)
GIF_RATE = 25  # frames a second
SMOOTH = 0.4  # s over which the camera's way is averaged; ours
QUALITY = 20  # of x264: 18 cannot be told from what it was, 28 can; ours


def size_of(options: Options, ending: str) -> tuple[int, int]:
    """Width and height of pictures, even numbers, as films want them."""
    width, height = SIZES.get(ending, USUAL)
    return (options.width or width) // 2 * 2, (options.height or height) // 2 * 2


def pictures(recording: Recording, options: Options, ending: str, fps: float) -> tuple[int, Iterator[np.ndarray]]:
    """How many pictures there are, and each, RGB bytes (height, width, 3)."""
    frames = span(recording, options)
    count = int(np.floor((len(frames) - 1) * Scene.dt * fps + 1e-6)) + 1
    at = [frames[round(k / (fps * Scene.dt))] for k in range(count)]
    return count, _drawn(recording, options, at, size_of(options, ending))


def _drawn(recording: Recording, options: Options, at: list[int], size: tuple[int, int]) -> Iterator[np.ndarray]:
    """Pictures of frames; of a frame that is asked for again the same one."""
    scene, camera = recording.scene(), Camera(azimuth=options.azimuth, elevation=options.elevation)
    states = {frame: recording.state(frame) for frame in sorted(set(at))}
    with Canvas(scene, *size, camera.fovy, suns=1, shadows=options.shadows, rigid=options.rigid) as canvas:
        views = dict(zip(states, _views(canvas, camera, list(states.values()), size), strict=True))
        shown, picture = -1, np.zeros(0)
        for frame in at:
            if frame != shown:
                shown, picture = frame, canvas.draw(states[frame], views[frame])
            yield picture


def _views(
    canvas: Canvas, camera: Camera, states: list[np.ndarray], size: tuple[int, int]
) -> list[mujoco.MjvCamera]:  # fmt: skip
    """A camera for each state, which glides along instead of jerking with every step."""
    views = camera.frame([canvas.outline(state) for state in states], size[0] / size[1])
    path = np.array([view.lookat for view in views])
    reach = min(round(SMOOTH / Scene.dt), (len(path) - 1) // 2)
    padded = np.pad(path, ((reach, reach), (0, 0)), mode="edge")
    for i, view in enumerate(views):
        view.lookat[:] = padded[i : i + 2 * reach + 1].mean(0)
    return views


def save_pngs(recording: Recording, path: Path, options: Options, progress: Progress) -> int:
    """Write NAME-0000.png, NAME-0001.png and so on; returns how many bytes."""
    pillow, total = _pillow(), 0
    count, drawn = pictures(recording, options, ".png", options.fps)
    digits = max(4, len(str(count)))
    for i, pixels in enumerate(drawn):
        one = path.with_name(f"{path.stem}-{i:0{digits}d}.png")
        image = pillow.fromarray(pixels)
        replace_file(one, partial(image.save, format="PNG"))
        total += one.stat().st_size
        progress(i + 1, count)
    return total


def save_gif(recording: Recording, path: Path, options: Options, progress: Progress) -> int:
    """Write an animation of 256 colours; returns how many bytes."""
    pillow, fps = _pillow(), min(options.fps, GIF_RATE)
    count, drawn = pictures(recording, options, ".gif", fps)
    images, palette = [], None
    for i, pixels in enumerate(drawn):
        image = pillow.fromarray(pixels)
        palette = palette or image.quantize(255, dither=pillow.Dither.NONE)
        images.append(image.quantize(palette=palette, dither=pillow.Dither.FLOYDSTEINBERG))
        progress(i + 1, count)
    replace_file(path, lambda file: images[0].save(
        file, "GIF", save_all=True, append_images=images[1:], duration=1000 / fps, loop=0, optimize=False))  # fmt: skip
    return path.stat().st_size


def save_mp4(recording: Recording, path: Path, options: Options, progress: Progress) -> int:
    """Write a film in H.264; returns how many bytes. A film that could not be finished is not there."""
    check_place(path)
    ffmpeg, (width, height) = _ffmpeg(), size_of(options, ".mp4")
    count, drawn = pictures(recording, options, ".mp4", options.fps)
    beside = path.with_name(f".{path.stem}.drawing.mp4")
    about = recording.header
    command = [
        ffmpeg, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
        "-r", str(options.fps), "-i", "-", "-an", "-vcodec", "libx264", "-pix_fmt", "yuv420p", "-crf", str(QUALITY),
        "-metadata", f"comment=tumble run {about.scenario} --controller {about.controller} --seed {about.seed}",
        "-movflags", "+faststart", str(beside),
    ]  # fmt: skip
    try:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdin is not None and process.stderr is not None
            try:
                for i, pixels in enumerate(drawn):
                    process.stdin.write(pixels.tobytes())
                    progress(i + 1, count)
                process.stdin.close()
            except BrokenPipeError:
                pass  # what it says is read below
            wrong = process.stderr.read().decode(errors="replace").strip()
        if process.returncode:
            raise UserError(f"cannot write {path}: ffmpeg says: {wrong.splitlines()[-1] if wrong else 'nothing'}")
        with open(beside, "rb") as film:
            data = film.read()
        replace_file(path, lambda file: file.write(data))
        return len(data)
    finally:
        beside.unlink(missing_ok=True)


def _ffmpeg() -> str:
    """The program that makes films, or the sentence that says how to install it."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError:
        raise UserError('an .mp4 needs imageio-ffmpeg: pip install "tumble[video]"; or write a .gif') from None
    return str(get_ffmpeg_exe())


def _pillow() -> Any:
    """Pillow's Image module, or the sentence that says how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise UserError('pictures need Pillow: pip install "tumble[video]"') from None
    return Image
