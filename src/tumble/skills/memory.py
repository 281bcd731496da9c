"""What a performer remembers: the record it claims in a state row, see `tumble.world.memory`.

    sims.memory(MEMORY).stage[0]        # live: (nsim,) records of `SKILLS`

All fields are numbers, flags too: 1 is yes. Copying a row copies how far its script has come, but not the script.
"""

import numpy as np

MEMORY = "skills"  # how the claim is called
NOTES = np.dtype(  # what an act keeps from stage to stage
    [
        ("decided", "f8"),  # 1 once it has looked around and chosen what is below
        ("heading", "f8"),  # rad, that it stands with before the thing
        # taking things up
        ("hand", "f8"),  # that takes it: 0 left, 1 right
        ("behind", "f8"),  # 1 where a crate is lifted from its other side
        ("grasp", "f8", (2, 2)),  # of each hand that took hold: where, m ahead and m above the pelvis
        # putting them down
        ("begun", "f8"),  # 1 once it has begun to bend
        ("begin", "f8", 3),  # where the thing was then, m
        ("place", "f8", 2),  # where it is to stand, m
        # pushing and pulling
        ("start", "f8", 2),  # where the crate was, m
        ("stuck", "f8"),  # frames that it has hardly moved
        ("hand_left", "f8", 2),  # of each hand: m to the left of the pelvis where it holds
        ("hand_up", "f8"),  # m above the pelvis where they hold
    ]
)
SKILLS = np.dtype(
    [
        ("act", "f8"),  # number in the script
        ("stage", "f8"),  # of the act
        ("clock", "f8"),  # s in this stage
        ("low", "f8"),  # how far it has bent and crouched down, 0 to 1
        ("knees", "f8"),  # rad that the knees bend when it is all the way down
        ("pace", "f8"),  # m/s, the fastest that it walks by itself
        ("notes", NOTES),
    ]
)


def begin_act(memory: np.ndarray | np.record, act: np.ndarray | float) -> None:
    """Have records, one or many, be at the beginning of an act, by its number; pace and posture stay."""
    memory["act"], memory["stage"], memory["clock"] = act, 0.0, 0.0
    memory["notes"] = np.zeros((), NOTES)
