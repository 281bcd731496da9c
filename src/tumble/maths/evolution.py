"""CMA-ES in ask and tell form (Hansen and Ostermeier 2001), by the library cma, with a generator of one's own.

search = optimiser(np.zeros(5), 0.3, 16, np.random.default_rng(0))
asked = search.ask()                         # 16 arrays (5,)
search.tell(asked, [float(x @ x) for x in asked])
"""

from typing import Any

import numpy as np

DIAGONAL = 100  # dimensions above which CMA-ES learns no correlations: a generation takes milliseconds then


def optimiser(start: np.ndarray, spread: float, population: int, rng: np.random.Generator) -> Any:
    """CMA-ES in ask and tell form from a start (n,), whose random numbers are the generator's alone."""
    import cma  # takes a second or two

    options = {"popsize": population, "verbose": -9, "CMA_diagonal": len(start) > DIAGONAL, "seed": np.nan}
    return cma.CMAEvolutionStrategy(start, spread, {**options, "randn": lambda *shape: rng.standard_normal(shape)})
