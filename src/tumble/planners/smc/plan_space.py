"""The numbers of a plan in hamalainen2014 section 4.2, their bounds, and the controls that they stand for."""

import numpy as np

from tumble.maths.compiled import Given1, Given2, Made2, Places1, entry
from tumble.world.scene import Scene

POINTS = 4  # n, section 4.2


class PlanSpace:
    """Plans of a scene: 4 points, each of target angles, torque limits and a time; 136 numbers for the humanoid.

    Left and right share a limit (section 4.2: torso, arms, legs). Where motors take forces, a point has forces
    instead of angles and limits.

    Attributes:
      size: values of a point, the time aside.
      low, high: (4 (size + 1),), bounds of a plan: of joints and motors, and times from 0 to twice an even share of the
        horizon.
      spacing: s, an even share of the horizon.
    """

    def __init__(self, scene: Scene, horizon: float) -> None:
        self._motors = motors = scene.drive
        self._dt, self._character = scene.dt, scene.character
        sides = [group.removeprefix("left_").removeprefix("right_") for group in scene.character.groups]
        limits = list(dict.fromkeys(sides)) if motors.size > motors.joints else []
        of_limits = [motors.joints + limits.index(side) for side in sides] if limits else []
        self._value_of = np.array([*range(motors.joints), *of_limits], np.intp)  # for every number of a control
        self._posed = motors.qpos if motors.speeds else np.empty(0, np.intp)
        self.size = motors.joints + len(limits)
        self.spacing = horizon / POINTS
        control_of = np.array([int(np.argmax(self._value_of == i)) for i in range(self.size)])
        low, high = motors.low[control_of], motors.high[control_of]
        if motors.speeds:
            ids = [scene.model.joint(name).id for name in scene.character.joints]
            low[: motors.joints], high[: motors.joints] = scene.model.jnt_range[ids].T
        self._point_low, self._point_high = low, high
        self.low, self.high = np.tile(np.r_[low, 0.0], POINTS), np.tile(np.r_[high, 2.0 * self.spacing], POINTS)

    def values(self, angles: np.ndarray | None) -> np.ndarray:
        """(size,): those angles at full strength, within bounds; where motors take forces, or without angles, none."""
        values = self._point_high.copy()
        joints = self._motors.joints
        values[:joints] = np.nan_to_num(angles) if angles is not None and self._motors.speeds else 0.0
        return np.clip(values, self._point_low, self._point_high)

    def present(self, qpos: np.ndarray) -> np.ndarray:
        """(size,): the angles that joints have now, at full strength."""
        return self.values(qpos[self._motors.qpos])

    def held(self, pose: str) -> np.ndarray:
        """(1, 4 (size + 1)): a plan whose points are all a pose of the character."""
        angles = np.array(self._character.pose(pose)) if self._motors.speeds else None
        return np.tile(np.r_[self.values(angles), self.spacing], (1, POINTS))

    def steer(self, values: np.ndarray, qpos: np.ndarray, out: np.ndarray) -> None:
        """Write controls (n, motors.size) that follow values (n, size) of splines from qpos (n, nq)."""
        _steer(values, qpos, self._posed, self._value_of, self._dt, self._motors.low, self._motors.high, out)


@entry
def _steer(
    values: Given2, qpos: Given2, posed: Places1, value_of: Places1, dt: float, low: Given1, high: Given1, out: Made2
) -> None:
    """Velocities that bring joints at `posed` to their values within a step (section 4.3), the others as they are."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            value = values[i, value_of[j]]
            if j < posed.size:
                value = (value - qpos[i, posed[j]]) / dt
            out[i, j] = min(max(value, low[j]), high[j]) if np.isfinite(value) else 0.5 * (low[j] + high[j])
