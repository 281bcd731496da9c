"""Reflexes by name: state feedback that planners' walkers may follow, and what they share.

    register("shield", Shield, "hold the arms before the head")    # a class that derives from Reflex

A goal says which suit it (`Goal.reflexes`); C-PBP draws some of its walkers' controls near what they say.
"""

from collections.abc import Sequence

from tumble.planners.reflexes.reflex import Reflex
from tumble.planners.reflexes.stepping import Stepping
from tumble.registry import Entry, Registry
from tumble.world.scene import Scene

__all__ = ["REFLEXES", "Reflex", "register", "suited"]

ReflexEntry = Entry[type[Reflex]]
REFLEXES: Registry[ReflexEntry] = Registry("reflex")
register = REFLEXES.register
register("stepping", Stepping, "feet step to the capture point and along the goal's course")


def suited(names: Sequence[str], scene: Scene) -> list[Reflex]:
    """Reflexes of those names for a scene, but those that its character lacks something for."""
    kinds = [REFLEXES[name].make for name in names]
    return [kind(scene) for kind in kinds if scene.character.capabilities.issuperset(kind.needs)]
