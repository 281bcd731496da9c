"""Track: what a trial is judged by, gathered frame by frame from the live world."""

import numpy as np

from tumble.scene import Scene
from tumble.session import Frame, Session

SETTLED = 0.5  # s at the end over which `balanced` must hold
UPRIGHT = float(np.cos(np.radians(25)))  # of the trunk's angle from the vertical
TALL = 0.85  # of the root's standing height
SLOW = 0.5  # m/s, centre of mass
FALLEN = 0.5  # of the root's standing height, below which a character that stood has fallen
LATE = 5.0  # s at the end over which speeds and jerks are averaged


class Track:
    """A listener that notes how the character does.

    Attributes, one entry a frame:
      height: of the root over its standing height.
      upright: cosine of the trunk's angle from the vertical.
      speed: of the centre of mass, m/s.
      only_feet: whether nothing but feet touches the ground.
      joint_speeds: (joints,), rad/s.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._standing = scene.show(scene.state("rest")).body(scene.character.root).xipos[2]
        self._others = np.array([bone not in scene.character.feet for bone in scene.bones])
        self.height: list[float] = []
        self.upright: list[float] = []
        self.speed: list[float] = []
        self.only_feet: list[bool] = []
        self.joint_speeds: list[np.ndarray] = []
        self.broken = False

    def __call__(self, session: Session, frame: Frame) -> None:
        view, character = session.world.view, self.scene.character
        self.height.append(float(view(f"{character.root}.pos")[0, 2] / self._standing))
        self.upright.append(float(view(f"{character.trunk}.up")[0, 2]))
        self.speed.append(float(np.linalg.norm(view("com_velocity")[0])))
        self.only_feet.append(not (view("grounded")[0, self._others] > 0).any())
        self.joint_speeds.append(view("qvel")[0, self.scene.motors.qvel].copy())
        self.broken |= frame.broken

    def balanced(self) -> bool:
        """Whether over the last 0.5 s only feet touched the ground and it stood tall, upright and still.

        Tall: the root at 85 % or more of its standing height; upright: the trunk within 25 degrees of
        the vertical; still: the centre of mass slower than 0.5 m/s. A world that broke is not balanced.
        """
        last = slice(-max(1, round(SETTLED / self.scene.dt)), None)
        return (
            not self.broken
            and len(self.height) * self.scene.dt >= SETTLED
            and all(self.only_feet[last])
            and min(self.height[last]) >= TALL
            and min(self.upright[last]) >= UPRIGHT
            and max(self.speed[last]) < SLOW
        )

    def falls(self) -> int:
        """How often it went down after having stood."""
        falls, stood = 0, False
        for height, only_feet in zip(self.height, self.only_feet, strict=True):
            if only_feet and height >= TALL:
                stood = True
            elif stood and height < FALLEN:
                falls, stood = falls + 1, False
        return falls

    def metrics(self) -> dict[str, float]:
        """rms_joint_speed (rad/s) and rms_jerk (rad/s^3) of the joints over the last 5 s; falls."""
        speeds = np.array(self.joint_speeds[-round(LATE / self.scene.dt) :])
        jerks = np.diff(speeds, n=2, axis=0) / self.scene.dt**2
        return {
            "rms_joint_speed": float(np.sqrt(np.mean(speeds**2))) if speeds.size else 0.0,
            "rms_jerk": float(np.sqrt(np.mean(jerks**2))) if jerks.size else 0.0,
            "falls": float(self.falls()),
        }
