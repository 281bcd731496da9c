"""Inverse kinematics of legs and arms of two bones (coros2010 section 5.3.5).

Of a triangle with the sides a (thigh), b (shin) and c (hip to ankle) the law of cosines gives the angle at the hip,
cos = (a^2 + c^2 - b^2) / (2 a c), and that at the knee, cos = (a^2 + b^2 - c^2) / (2 a b).
"""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, clamp, cross, dot, from_axes, multiply, scale, sub


@inner
def leg_pose(hip, ankle, thigh, shin, side, reach):  # type: ignore[no-untyped-def]
    """Rotation of the thigh and angle of the knee that put the ankle to a place (section 5.3.5).

    Args:
      hip, ankle: places, m.
      thigh, shin: lengths, m.
      side: unit vector to the left of the leg's plane, which decides where the knee points.
      reach: the longest leg, as a share of thigh + shin.
    """
    line = sub(ankle, hip)
    length = math.sqrt(dot(line, line))
    down = scale(1.0 / length, line) if length > 1e-6 else (0.0, 0.0, -1.0)
    length = clamp(length, abs(thigh - shin) + 1e-3, reach * (thigh + shin))
    left = sub(side, scale(dot(side, down), down))
    size = math.sqrt(dot(left, left))
    left = scale(1.0 / size, left) if size > 1e-6 else (0.0, 1.0, 0.0)
    ahead = cross(down, left)
    c = clamp((thigh * thigh + length * length - shin * shin) / (2.0 * thigh * length), -1.0, 1.0)
    bone = add(scale(c, down), scale(math.sqrt(1.0 - c * c), ahead))
    up = scale(-1.0, bone)
    k = clamp((thigh * thigh + shin * shin - length * length) / (2.0 * thigh * shin), -1.0, 1.0)
    return from_axes(cross(left, up), left, up), math.pi - math.acos(k)


@inner
def arm_pose(shoulder, palm, upper, fore, side, reach):  # type: ignore[no-untyped-def]
    """Rotation of the upper arm and angle of the elbow that put the palm to a place; arguments as of `leg_pose`.

    An elbow bends the other way than a knee: it points to the side on which side x (palm - shoulder) lies.
    """
    pose, elbow = leg_pose(shoulder, palm, upper, fore, scale(-1.0, side), reach)
    # that leg is seen from behind: turn it half about its own axis, and what bends back bends to the front
    return multiply(pose, (0.0, 0.0, 0.0, 1.0)), elbow


@inner
def knee_for(thigh, shin, reach):  # type: ignore[no-untyped-def]
    """Knee angle, rad, at which hip and ankle are c = `reach` m apart: cos = (c^2 - a^2 - b^2) / (2 a b)."""
    return math.acos(clamp((reach * reach - thigh * thigh - shin * shin) / (2.0 * thigh * shin), -0.95, 1.0))


@inner
def leg_reach(thigh, shin, knee):  # type: ignore[no-untyped-def]
    """m from hip to ankle with that knee angle: sqrt(a^2 + b^2 + 2 a b cos(knee))."""
    return math.sqrt(thigh * thigh + shin * shin + 2.0 * thigh * shin * math.cos(knee))
