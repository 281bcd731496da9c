"""What people may ask of an export; the same fields are options of `tumble export`."""

from dataclasses import dataclass
from typing import Any

from tumble.errors import UserError, check_number, choose
from tumble.export.skeletons import SKELETONS
from tumble.figures.figure import LOWERED

RATES = (24, 30, 60, 120)  # frames a second
SCALES = {"m": 1.0, "cm": 100.0}
WHERE = {"hips": "the hips carry the way", "bone": "a bone on the ground carries it"}
LAYOUTS = {"mjlab": "joints alone in joint_pos", "holosoma": "the root, too"}
CHOICES: dict[str, Any] = {"root": WHERE, "rest": LOWERED, "up": {"y": 0, "z": 0}, "layout": LAYOUTS}


@dataclass(frozen=True)
class Options:
    """What a file shall be like; what is empty is the format's own choice.

    Attributes:
      skeleton: tumble, mixamo, unity, vrm, ue5, soma or smpl; empty: vrm for a humanoid, tumble for others.
      root: who carries the way that is gone: hips, or bone, a bone of its own on the ground.
      in_place: without the way.
      fps: frames a second: 24, 30, 60 or 120; in between, rotations are interpolated.
      scale: m or cm; empty: cm in BVH, else m. GLB and VRMA are in m.
      rest: t-pose or a-pose.
      up: which axis points up in BVH: y, or z with x ahead.
      start: s, where to begin.
      end: s, where to end; by default the recording's end.
      loop: find the best cycle of a gait, and close it.
      rigid: bodies as they are instead of a skin.
      who: which character: the name of a companion; empty: the scene's own.
      layout: of .csv and .npz: mjlab or holosoma.
      width: of pictures, pixels; 0: 640, in a .gif 320.
      height: of pictures, pixels; 0: 480, in a .gif 240.
      azimuth: where a picture's camera looks to, degrees from the x axis.
      elevation: how far above the horizon it looks, degrees; negative looks down.
      shadows: 0: pictures without them; else pixels of a shadow map.
    """

    skeleton: str = ""
    root: str = "hips"
    in_place: bool = False
    fps: int = 30
    scale: str = ""
    rest: str = "t-pose"
    up: str = "y"
    start: float = 0.0
    end: float | None = None
    loop: bool = False
    rigid: bool = False
    who: str = ""
    layout: str = "mjlab"
    width: int = 0
    height: int = 0
    azimuth: float = 145.0
    elevation: float = -14.0
    shadows: int = 1024

    def __post_init__(self) -> None:
        """Refuse what there is not."""
        if self.skeleton:
            choose("skeleton", self.skeleton, SKELETONS)
        if self.scale:
            choose("scale", self.scale, SCALES)
        for name, there in CHOICES.items():
            choose(name, getattr(self, name), there)
        if self.fps not in RATES:
            raise UserError(f"fps must be one of {', '.join(map(str, RATES))}, got {self.fps}")
        for name, value in (("width", self.width), ("height", self.height)):
            if value:
                check_number(name, value, 16, 4096)
        if self.shadows:
            check_number("shadows", self.shadows, 64, 8192)
