"""Where a performer's memory is in a walker's (`tumble.walking.memory`): what it does, and how far it has come."""

from tumble.walking.memory import SKILL

ACT = SKILL + 1  # number of the act in the script
STAGE = SKILL + 2  # of the act
CLOCK = SKILL + 3  # s in this stage
LOW = SKILL + 4  # how far it has bent and crouched down, 0 to 1
PACE = SKILL + 5  # m/s, the fastest that it walks by itself
NOTES = SKILL + 6  # eight numbers that an act keeps from stage to stage
NOTE_COUNT = 8
KNEES = NOTES + NOTE_COUNT  # rad that the knees bend when it is all the way down
