"""Some rows of simulations, as if there were no others: for terms, sights and commands."""

import numpy as np

from tumble.errors import UserError
from tumble.world.scene import Scene
from tumble.world.sims import Sims


class Selected:
    """Rows of a Sims: a slice of them live, numbers of them as copies. It steps nothing."""

    def __init__(self, sims: Sims, rows: slice | np.ndarray) -> None:
        """See the class."""
        self._sims, self._rows = sims, rows

    @property
    def scene(self) -> Scene:
        """Theirs."""
        return self._sims.scene

    @property
    def nsim(self) -> int:
        """How many."""
        return len(self.broken)

    @property
    def state(self) -> np.ndarray:
        """(nsim, nstate)."""
        return self._sims.state[self._rows]

    @property
    def broken(self) -> np.ndarray:
        """(nsim,): which went unstable."""
        return self._sims.broken[self._rows]

    def view(self, name: str) -> np.ndarray:
        """(nsim, ...) of a channel of the scene or a field of MjData."""
        return self._sims.view(name)[self._rows]

    def memory(self, name: str) -> np.ndarray:
        """Nothing: nobody remembers here."""
        raise UserError(f"the scenario looks at what its controller '{name}' remembers, and an environment has none")

    def load(self, state: np.ndarray) -> None:
        """Put them into a state each."""
        self._sims.load(state, self._rows)
