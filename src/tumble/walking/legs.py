"""Where to step and how to get the foot there: inverted pendulum and inverse kinematics (coros2010 5.3.2)."""

import math

from tumble.maths.compiled import inner
from tumble.maths.vectors import add, clamp, cross, dot, from_axes, multiply, scale, sub


@inner
def pendulum_step(speed, height, gravity):  # type: ignore[no-untyped-def]
    """Distance, m, at which a foot must be for an inverted pendulum to come to rest above it (section 5.3.2).

    Half v^2 + g h = g sqrt(h^2 + d^2), solved for d: the thesis prints its first term only.
    """
    return speed * math.sqrt(height / gravity + speed * speed / (4.0 * gravity * gravity))


@inner
def pendulum_later(place, speed, time, rate):  # type: ignore[no-untyped-def]
    """Place from its foot and speed of a linear inverted pendulum after some time, m, m/s, s; rate sqrt(g / h), 1/s."""
    c, s = math.cosh(rate * time), math.sinh(rate * time)
    return c * place + s * speed / rate, c * speed + s * rate * place


@inner
def gait_ahead(speed, time, period, rate):  # type: ignore[no-untyped-def]
    """Speed, m/s, of a linear inverted pendulum that walks at a mean speed, `time` s after a footstrike.

    It steps half a step's length ahead of itself each `period` s; rate is sqrt(g / h), 1/s.
    """
    half = 0.5 * rate * period
    return speed * half * math.cosh(rate * time - half) / math.sinh(half)


@inner
def gait_place(speed, time, period, rate):  # type: ignore[no-untyped-def]
    """Place from the stance foot, m, where the pendulum of `gait_ahead` is then."""
    half = 0.5 * rate * period
    return 0.5 * speed * period * math.sinh(rate * time - half) / math.sinh(half)


@inner
def gait_side(half_width, time, period, rate):  # type: ignore[no-untyped-def]
    """Place from the stance foot and speed, m and m/s to the swing leg's side, of a pendulum that sways."""
    half = 0.5 * rate * period
    x = rate * time - half
    return half_width * math.cosh(x) / math.cosh(half), half_width * rate * math.sinh(x) / math.cosh(half)


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
    """Knee angle at which hip and ankle are `reach` m apart."""
    return math.acos(clamp((reach * reach - thigh * thigh - shin * shin) / (2.0 * thigh * shin), -0.95, 1.0))


@inner
def leg_reach(thigh, shin, knee):  # type: ignore[no-untyped-def]
    """m from hip to ankle with that knee angle."""
    return math.sqrt(thigh * thigh + shin * shin + 2.0 * thigh * shin * math.cos(knee))
