"""`tumble tree build|extend|info|query|plot`: attraction trees, from nothing to a picture.

    main(["build", "pendulum", "--to", "0.5", "--inside", "30"])
    main(["info", "pendulum.tree"])

A module `tree_NAME` does each; this one finds it.
"""

from importlib import import_module

from tumble.errors import unknown

ACTIONS = {
    "build": "grow a tree of a system, or go on growing it",
    "extend": "grow a tree further: larger domains, or more attempts",
    "info": "tell what a tree is, and which commands build it",
    "query": "estimate how much of a domain a tree covers",
    "plot": "draw a tree as a picture",
}
PLACES = {"build": ("tree_build", "build"), "extend": ("tree_build", "extend")}  # others: tree_NAME.main

USAGE = """\
usage: tumble tree ACTION ...

Attraction trees: from which states a skill succeeds, grown offline; the controller 'tree' follows them.

actions:
{actions}

examples:
  tumble tree build pendulum --inside 30
  tumble tree build getup-1 mine.tree --to 5 --attempts 300 --seed 1 --jobs 8
  tumble tree build getup-1 --cluster 10.0.0.5:8786 --lag 32
  tumble tree extend mine.tree --to 8
  tumble tree info getup-1
  tumble tree query mine.tree --level 6 --count 200
  tumble tree plot mine.tree mine.png
  tumble run getup-tree --tree mine.tree --alpha 5

A tree is one that ships, by its name, or a file that ends in .tree; 'tumble list' shows those that ship, and systems.
'tumble tree ACTION --help' lists all options."""


def main(arguments: list[str]) -> int:
    """Find the action and do it; the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE.format(actions="\n".join(f"  {name:8} {what}" for name, what in ACTIONS.items())))
        return 0
    if arguments[0] not in ACTIONS:
        raise unknown("action", arguments[0], ACTIONS, " of 'tumble tree'")
    module, function = PLACES.get(arguments[0], (f"tree_{arguments[0]}", "main"))
    return int(getattr(import_module(f"tumble.cli.{module}"), function)(arguments[1:]))
