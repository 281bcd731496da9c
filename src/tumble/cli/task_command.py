"""`tumble task train|info|run|plot`: policies over steps, from nothing to a picture.

    main(["train", "heading", "mine.policy", "--states", "200"])
    main(["run", "mine.policy", "--count", "20"])

A module `task_NAME` does each, see `group`.
"""

from tumble.cli.group import Group

GROUP = Group(
    "task",
    about=(
        "Policies over steps: which one to take next, of gaits or of the walker, found by exploration and\n"
        "fitted value iteration; the controller 'task' acts by them."
    ),
    actions={
        "train": "explore a body's steps and find the best one for every state and goal",
        "info": "tell what a policy is, and which command makes it",
        "run": "put a policy to many random starts and goals, and say how it went",
        "plot": "draw a policy as a map of its actions",
    },
    examples=(
        "tumble task train heading",
        "tumble task train go-to-point mine.policy --states 3000 --jobs 8",
        "tumble task train mine.py",
        "tumble task info heading",
        "tumble task run go-to-point --count 100 --seed 7",
        "tumble task plot heading heading.png",
        "tumble run go-to-point --policy mine.policy",
    ),
    trailer="A policy is one that ships, by its name, or a file that ends in .policy; 'tumble list' shows tasks.",
)
main = GROUP.main
