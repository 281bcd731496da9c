"""How long a tree takes to be read, and to be asked live by somebody who lies anyhow."""

import time
from typing import Any

import numpy as np

from tumble.attraction.attracted import Attracted
from tumble.attraction.inquiry import AttractionSettings
from tumble.attraction.questions import system_of
from tumble.attraction.shipped import file_of, tree_named
from tumble.attraction.store import read_tree
from tumble.characters import character
from tumble.errors import UserError
from tumble.goals.wants import Balance
from tumble.world.drives import FRAME
from tumble.world.scene import Scene
from tumble.world.sims import Sims

EACH = 6.0  # s that a body is watched for


def measure(name: str, level: float, seconds: float, threads: int) -> dict[str, Any]:
    """Time the reading of a tree, then frames of control while bodies ask it, ms.

    Args:
      name: of a tree that leads to standing.
      level: of the domain that bodies lie in.
      seconds: of simulated time in all.
      threads: for the physics; 0: one per core.
    """
    system = system_of(tree_named(name, threads))  # which reading would make, too
    began = time.perf_counter()
    tree = read_tree(file_of(name), threads)
    load = time.perf_counter() - began
    scene = Scene(character(str(system.recipe["body"])))
    sims, asking, others = Sims(scene, 1, 1), list[float](), list[float]()
    for body in range(max(1, round(seconds / EACH))):
        controller = Attracted(scene, AttractionSettings(tree=name), body, threads)
        row = scene.state("rest")
        row[1 : 1 + len(system.goal)] = system.sample(level, 1, np.random.default_rng(body))[0]
        sims.load(row)
        controller.start(sims)
        controller.want(sims, Balance(facing=(1.0, 0.0)))
        for _ in range(round(EACH / FRAME)):
            began = time.perf_counter()
            control = controller.control(sims)
            (asking if controller.inquiry.waiting else others).append(1e3 * (time.perf_counter() - began))
            sims.act(control, controller.drive)
    if not asking:
        raise UserError(f"nobody asked '{name}' in {seconds:g} s at level {level:g}; try more --seconds")
    return {
        "tree": name,
        "nodes": len(tree),
        "edges": len(tree.edges),
        "load_ms": 1e3 * load,
        "level": level,
        "asking_frames": len(asking),
        "asking_ms": {"p50": float(np.median(asking)), "p95": float(np.percentile(asking, 95)), "most": max(asking)},
        "in_time": float(np.mean(np.array(asking) < 1e3 * FRAME)),
        "other_ms": float(np.median(others)) if others else 0.0,
    }
