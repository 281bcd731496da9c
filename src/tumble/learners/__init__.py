"""Learning while acting: pairs of a state and what was done in it, recalled (experience, forest), fitted (network).

A `Learner` is what planners learn with and files keep. Nothing here knows of characters, goals or files.
"""

from tumble.learners.experience import Experience
from tumble.learners.forest import DensityForest
from tumble.learners.informed import Learners
from tumble.learners.learner import Learner
from tumble.learners.network import Network, NetworkSettings

__all__ = ["DensityForest", "Experience", "Learner", "Learners", "Network", "NetworkSettings"]
