"""Pictures of a tree: the phase plane of a pendulum and the domain that its tree covers (alborno2016 section 5).

draw_pendulum(tree, axes)                  # matplotlib's axes; of the extra 'experiments'
"""

from typing import Any

import numpy as np

from tumble.attraction.references import EVERY
from tumble.attraction.tree import Tree

GOAL, RULER = "#c8442f", "#3b6fd4"


def draw_pendulum(tree: Tree, axes: Any) -> None:
    """The first joint's angle and speed on all edges, coloured by their level, and the goal; nodes of the domain below.

    Nodes at the beginning of an edge are at rest: marks on the line of speed 0, as those that a state is asked of.
    """
    joints, largest = tree.system.joints, float(max(tree.level.max(), 1e-9))
    import matplotlib

    colours = matplotlib.colormaps["viridis"]
    for edge in tree.edges:
        states = tree.states[edge.first : edge.first + EVERY * (len(edge.points) - 1)]
        path = np.concatenate([states, tree.states[[edge.parent]]])
        axes.plot(path[:, 0], path[:, joints], color=colours(0.9 * edge.level / largest), linewidth=1.0)
    heads = tree.states[tree.heads] if len(tree.edges) else np.empty((0, 2 * joints))
    axes.plot(heads[:, 0], heads[:, joints], "o", color=RULER, markersize=3, label="nodes that states are asked of")
    axes.plot(tree.system.goal[0], tree.system.goal[joints], "*", color=GOAL, markersize=12, label="goal")
    axes.set(xlabel="angle of the first joint, rad", ylabel="its speed, rad/s")
    axes.legend(frameon=False, loc="upper left")
