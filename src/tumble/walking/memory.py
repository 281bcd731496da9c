"""What a walker remembers and what is wished of it: the record it claims in a state row (`tumble.world.memory`).

    memory = sims.memory("walker")   # (nsim,) live
    memory.phase, memory.hand_target[:, 0]

Compiled code sees a row as `m`, and writes through it: `m.phase += dt`. Heights and places in m in the world's axes;
"along" is m along the heading from the world's origin.
"""

from enum import IntEnum

import numpy as np


class Mode(IntEnum):
    """What a walker does (coros2010 sections 5.3.1 and 5.5.1)."""

    STAND = 0  # on both feet
    SHIFT = 1  # on both feet, the weight goes to the stance foot, so that the other may leave the ground
    WALK = 2  # on the stance foot, the other one swings
    DOUBLE_SUPPORT = 3  # on both feet between two steps, until the body is over the front one


class Halt(IntEnum):
    """Whether it stops before what it will step over: a long step that begins in a stand begins alike every time."""

    NONE = 0
    WANTED = 1  # it is to stop
    STOOD = 2  # it has stood there, or comes as one who stood would, and may step


class HandFrame(IntEnum):
    """What the target of a hand is in."""

    FREE = 0  # it has none: the arm swings as its style does
    WORLD = 1
    BODY = 2  # ahead, left and up of the pelvis


LEFT, RIGHT = 0, 1  # legs, feet, hands
MEMORY = "walker"  # how the claim is called
UNLIMITED = 1e9  # m/s or m, finite as all states that can be recorded
WALKER = np.dtype(
    [
        # What it does
        ("mode", "i8"),  # Mode
        ("stance", "i8"),  # the stance leg: LEFT or RIGHT
        ("phase", "f8"),  # of the step, 0 to 1
        ("phase_rate", "f8"),  # share of its usual rate at which the phase of a step over something goes on
        ("clock", "f8"),  # s in this mode
        ("swing_start", "f8", 3),  # where the swing ankle was when the step began, m
        ("ground", "f8"),  # height of the ground that is stepped on, m
        ("footstrikes", "i8"),  # since the start
        ("lean_integral", "f8"),  # of how far ahead of its feet a body that stands and is busy is, m s
        # What is followed: what the wishes have become by now
        ("heading", "f8"),  # rad from the x axis, not wrapped
        ("speed", "f8"),  # m/s ahead
        ("drift", "f8"),  # m/s to the left
        ("period", "f8"),  # s a step
        ("step_height", "f8"),  # m more than the style's
        ("step_width", "f8"),  # m between the feet
        ("bend", "f8"),  # of the body, forwards, rad
        ("crouch", "f8"),  # of the stance knees, rad
        ("style", "i8"),  # index of the style that is left
        ("blend", "f8"),  # share of the wished style, 0 to 1
        ("twist", "f8"),  # of the back ahead of a turn, rad
        ("step_trim", "f8"),  # m by which steps are shorter, so that the mean speed is the one followed
        ("mean_speed", "f8"),  # m/s, of late
        ("pendulum_speed", "f8"),  # m/s of the pendulum's walk: the one followed, not far from the mean
        ("alpha", "f8"),  # s that a step is shorter for each m/s, because something is pushed or pulled
        ("load", "f8"),  # share of what the hands hold that they lift, 0 to 1
        ("haul", "f8"),  # N ahead with which the hands push, both together; below 0 they pull
        ("pulled", "f8"),  # N ahead with which what the hands hold pulls the body
        ("carried", "f8"),  # share of what the hands hold whose weight hangs on them
        # What is wished, in the same units
        ("wish_speed", "f8"),
        ("wish_heading", "f8"),
        ("wish_period", "f8"),  # below 0 the style decides
        ("wish_step_height", "f8"),
        ("wish_step_width", "f8"),  # below 0 the style decides
        ("wish_bend", "f8"),
        ("wish_style", "i8"),  # index
        ("wish_crouch", "f8"),
        ("wish_alpha", "f8"),
        ("wish_load", "f8"),
        ("wish_drift", "f8"),
        ("wish_haul", "f8"),
        # Where it is wished that the next feet land, see `Walker.step_onto`
        ("footholds", "f8", (3, 3)),  # middles of the soles, and the height of the ground there, m
        ("foothold_tilts", "f8", (3, 2)),  # of the ground there, nose down and right side down positive, rad
        ("foothold_rooms", "f8", (3, 2)),  # how far ahead or back, and aside, a foot may land off it, m
        ("foothold_count", "i8"),  # how many of them are wished
        ("foothold_step", "i8"),  # number of the footstrike with which the step to the first one begins
        # Of each hand, left before right
        ("hand_frame", "i8", 2),  # wished: HandFrame
        ("hand_target", "f8", (2, 3)),  # wished: x, y, z in the WORLD; ahead, left, up in the BODY; m
        ("hand_grip", "i8", 2),  # wished: number of the grip that it holds by, from 1; 0 none
        ("hand_blend", "f8", 2),  # how far the arm has left the style's swing for the target, 0 to 1
        ("hand_firm", "f8", 2),  # how firmly it holds, 0 to 1
        # What the ground asks for: the step that is planned over, onto or before something
        ("planned", "?"),  # while the swing foot goes to a chosen foothold
        ("level_step", "?"),  # where it passes nothing on its way there
        ("trailing", "?"),  # where the other foot is past the obstacle already
        ("blocked", "?"),  # where it stands before what it gets neither over nor onto, and is to go that way
        ("placed", "?"),  # where that foothold is one that is wished, and not chosen by itself
        ("unused", "u1", 3),  # so that the record has no gaps
        ("hip_from", "f8", 2),  # height and upward speed of the stance hip when the step began, m and m/s
        ("hip_height", "f8"),  # m of the stance hip that is wanted now, of a placed step
        ("hip_speed", "f8"),  # m/s upwards that is wanted of it
        ("capture_wanted", "f8", 2),  # m ahead and left of the front foot where it is to be as the hind foot leaves
        ("foothold", "f8", 3),  # where its ankle lands, and the height of the ground there, m
        ("obstacle_top", "f8"),  # m, of the highest that it passes over
        ("clear_from", "f8"),  # m along: where the swing ankle must be up
        ("clear_to", "f8"),  # m along: from where it may come down
        ("obstacle_front", "f8"),  # m along: where that begins which the trailing foot is to pass
        ("tuned_side", "f8"),  # m left of the stance foot where the capture point should be now, of a placed step
        ("foot_tilts", "f8", (2, 2)),  # of the ground under each foot, or where it will land, as in foothold_tilts, rad
        ("tuned_speed", "f8"),  # m/s that the body should have now, so that it comes to the foothold in time
        ("time_left", "f8"),  # s until the body is where the foot should land
        ("least_period", "f8"),  # s that the swing foot's way takes
        ("down_crouch", "f8"),  # rad, least crouch, so that the swing foot comes down to lower ground
        ("speed_limit", "f8"),  # m/s; UNLIMITED where there is none
        ("halt", "i8"),  # Halt
        # What hangs over the ground asks for
        ("duck_bend", "f8"),  # rad, least bend
        ("duck_crouch", "f8"),  # rad, least crouch
        ("stoop_distance", "f8"),  # m until it must stop to bend; UNLIMITED where it need not
    ]
)
