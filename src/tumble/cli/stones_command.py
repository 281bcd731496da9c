"""`tumble stones build|learn|info|plot`: examples of steps that land on stepping stones, from nothing to a picture.

    main(["build", "planar-walk", "mine.stones", "--examples", "500"])
    main(["info", "mine.stones"])

A module `stones_NAME` does each, see `group`.
"""

from tumble.cli.group import Group

GROUP = Group(
    "stones",
    about=(
        "Constrained walking: examples of steps that land where they are wanted, found by optimisation;\n"
        "what walks on stepping stones and across gaps plans with them."
    ),
    actions={
        "build": "solve sequences of stepping stones, and keep every step as an example",
        "learn": "walk over random gaps and stones in space, and learn what steps lead to",
        "info": "tell what examples are, how well they meet their stones, and which command makes them",
        "plot": "draw how far stones were missed, and the actions that were found",
    },
    examples=(
        "tumble stones build planar-walk",
        "tumble stones build humanoid mine.stones --examples 300 --jobs 8",
        "tumble stones build planar-walk thesis.stones --optimiser gradient --iterations 15",
        "tumble stones learn humanoid",
        "tumble stones info planar-walk",
        "tumble stones plot planar-walk steps.png",
    ),
    trailer="Examples are those that ship, by the name of their base, or a file that ends in .stones.",
)
main = GROUP.main
