"""Film: states of a scene drawn without a window, as a strip of pictures for a page.

    from tumble.film import save, strip
    save(strip(scene, states, times, frames=8), "getup.png")

Drawing needs Pillow and an OpenGL library. Nothing here simulates, and the scene that is drawn is never changed.
"""

from tumble.film.camera import Camera, outline
from tumble.film.canvas import TILE, Canvas, Rgba, drawing_model
from tumble.film.strips import FINER, INK, PAPER, save, strip

__all__ = ["FINER", "INK", "PAPER", "TILE", "Camera", "Canvas", "Rgba", "drawing_model", "outline", "save", "strip"]
