"""`tumble tree build|extend|info|query|plot`: attraction trees, from nothing to a picture.

    main(["build", "pendulum", "--to", "0.5", "--inside", "30"])
    main(["info", "pendulum.tree"])

A module `tree_NAME` does each, see `group`.
"""

from tumble.cli.group import Group

GROUP = Group(
    "tree",
    about="Attraction trees: from which states a skill succeeds, grown offline; the controller 'tree' follows them.",
    actions={
        "build": "grow a tree of a system, or go on growing it",
        "extend": "grow a tree further: larger domains, or more attempts",
        "info": "tell what a tree is, and which commands build it",
        "query": "estimate how much of a domain a tree covers",
        "plot": "draw a tree as a picture",
    },
    examples=(
        "tumble tree build pendulum --inside 30",
        "tumble tree build getup-1 mine.tree --to 5 --attempts 300 --seed 1 --jobs 8",
        "tumble tree build getup-1 --cluster 10.0.0.5:8786 --lag 32",
        "tumble tree extend mine.tree --to 8",
        "tumble tree info getup-1",
        "tumble tree query mine.tree --level 6 --count 200",
        "tumble tree plot mine.tree mine.png",
        "tumble run getup-tree --tree mine.tree --alpha 5",
    ),
    trailer=(
        "A tree is one that ships, by its name, or a file that ends in .tree;\n"
        "'tumble list' shows those that ship, and systems."
    ),
    places={"build": ("tree_build", "build"), "extend": ("tree_build", "extend")},
)
main = GROUP.main
