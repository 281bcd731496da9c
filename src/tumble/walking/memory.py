"""Where the walker's memory and wishes are in a row of MuJoCo's userdata, which is part of the state."""

# What it does
MODE = 0  # STAND, SHIFT, WALK or PASS
SIDE = 1  # the stance leg: 0 left, 1 right
PHASE = 2  # of the step, 0 to 1
SWING_X, SWING_Y, SWING_Z = 3, 4, 5  # where the swing ankle was when the step began, m
HEADING = 6  # followed, rad, not wrapped
CLOCK = 7  # s in this mode
GROUND = 8  # height of the ground that is stepped on, m
STEPS = 9  # footstrikes since the start
SPEED = 10  # followed: what the wishes have become by now
PERIOD = 11
STEP_HEIGHT = 12
STEP_WIDTH = 13
BEND = 14
STYLE = 15  # index of the style that is left
BLEND = 16  # share of the wished style, 0 to 1
TWIST = 17  # of the back ahead of a turn, rad
TRIM = 18  # m by which steps are shorter, so that the mean speed is the one followed
MEAN = 19  # m/s, mean speed of late
PACE = 20  # m/s, the speed of the pendulum's walk: the one followed, not far from the mean
CROUCH = 21  # of the stance knees, rad
ALPHA = 22  # s that a step is shorter for each m/s, because something is pushed or pulled
LOAD = 23  # share of what the hands hold that they lift, 0 to 1
# What is wished
WISH = 24
WISH_SPEED, WISH_HEADING, WISH_PERIOD, WISH_STEP_HEIGHT, WISH_STEP_WIDTH, WISH_BEND, WISH_STYLE = range(WISH, WISH + 7)
WISH_CROUCH, WISH_ALPHA, WISH_LOAD = range(WISH + 7, WISH + 10)
# Of each hand, left before right: HAND + HAND_SIZE * side + ...
HAND, HAND_SIZE = 34, 7
REACH = 0  # wished: FREE, or the frame its target is in: the WORLD's, or the BODY's (from the pelvis: ahead, left, up)
HAND_X, HAND_Y, HAND_Z = 1, 2, 3  # the target, m
HOLD = 4  # number of the grip that it holds by, from 1; 0 none
BLENDED = 5  # how far the arm has left the style's swing for the target, 0 to 1
FIRM = 6  # how firmly it holds, 0 to 1
# What the ground and what hangs over it ask for
TERRAIN = 48
BUSY = TERRAIN  # 1 while the swing foot's way is laid over something
LAND_X, LAND_Y, LAND_Z = TERRAIN + 1, TERRAIN + 2, TERRAIN + 3  # where its ankle lands, and the ground there, m
TOP = TERRAIN + 4  # m, of the highest that it passes over
FRONT, BACK = TERRAIN + 5, TERRAIN + 6  # m along the heading: where it must be up, from where it may come down
TRAILS = TERRAIN + 7  # 1 where the other foot is past it already
TUNED = TERRAIN + 8  # m/s that the body should have now, so that it comes to where the foot lands in time
LEAST_PERIOD = TERRAIN + 9  # s that it takes
LIMIT = TERRAIN + 10  # m/s, largest speed; UNLIMITED where there is none
LOWER = TERRAIN + 14  # rad, least crouch, so that the swing foot comes down to lower ground
PLAIN = TERRAIN + 15  # 1 where it passes nothing, but lands at a chosen place
LEFT_TIME = TERRAIN + 13  # s until the body is where the foot should land
DUCK_BEND, DUCK_CROUCH = TERRAIN + 11, TERRAIN + 12  # rad, least bend and crouch
HURDLE = 79  # m along the heading where that begins which the trailing foot is to pass
# What skills remember
SKILL = 64  # fifteen numbers
# What dancers remember
DANCE = 80  # six numbers
HALT = 86  # 1 where it is to stop before what it will step over, 2 once it has stood there
STOOP = 87  # m until it must stop to bend; UNLIMITED where it need not
WAITS = 88  # share of its usual rate at which the phase of a step over something goes on
WISH_DRIFT = 89  # m/s to the left, besides what is walked ahead
DRIFT = 90  # what that has become by now
WISH_HAUL = 91  # N ahead with which the hands push, both together; below 0 they pull
HAUL = 92  # what that has become by now
PULLED = 93  # N ahead with which what the hands hold pulls the body by now
CARRIED = 94  # share of what the hands hold whose weight hangs on them by now
LEAN = 95  # integral of how far ahead of its feet a body that stands and is busy is, m s
USED = 96

STAND, SHIFT, WALK, PASS = 0, 1, 2, 3  # PASS: on both feet between two steps, until the body is over the front one
FREE, WORLD, BODY = 0, 1, 2
UNLIMITED = 1e9  # m/s, finite as all states that can be recorded
