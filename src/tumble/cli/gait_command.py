"""`tumble gait fit|test|mirror`: gaits of SIMBICON by what they should do, how they do, and to the other side.

    main(["fit", "big-bird", "walk", "in-place", "--speed", "0", "--generations", "30"])
    main(["test", "big-bird", "in-place.toml"])

A module `gait_NAME` does each, see `group`.
"""

from tumble.cli.group import Group

GROUP = Group(
    "gait",
    about="Gaits of SIMBICON: small files that say how a body walks; the controller 'simbicon' walks by them.",
    actions={
        "fit": "fit a gait's numbers until it goes as fast, turns and steps as wanted",
        "test": "100 steps from 10 disturbed starts: how many stood, how they went",
        "mirror": "the gait to the other side",
    },
    examples=(
        "tumble gait fit big-bird walk in-place --speed 0",
        "tumble gait fit big-bird in-place side-left --speed 0 --side 0.3 --minutes 5",
        "tumble gait fit biped34 in-place in-place-ahead --speed 0 --lean 0.1 --out mine.toml",
        "tumble gait test big-bird side-left.toml --seed 3",
        "tumble gait mirror big-bird side-left.toml side-right",
    ),
    trailer="A gait is one that ships, by its name, or a file that ends in .toml; 'tumble list' shows those that ship.",
)
main = GROUP.main
