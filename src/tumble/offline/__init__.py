"""Work that takes long: jobs on processes or on somebody's cluster, and databases that outlive whoever writes them.

A job is a function of plain data: it says by names, recipes, seeds and arrays what it needs, and builds it itself.
Nothing here knows characters or MuJoCo, looks at a clock or prints; how far the work is, it tells by callbacks.
"""
