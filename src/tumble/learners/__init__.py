"""Learning while acting: pairs of a state and the action taken in it, recalled (forest) and fitted (network)."""

from tumble.learners.forest import DensityForest
from tumble.learners.informed import Learners
from tumble.learners.network import Network, NetworkSettings

__all__ = ["DensityForest", "Learners", "Network", "NetworkSettings"]
