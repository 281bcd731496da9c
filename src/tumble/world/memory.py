"""Memory: room in a state row that controllers claim by name, as records.

    WALK = np.dtype([("phase", "f8"), ("stance", "f8")])
    scene.claim("walker", WALK)            # at any time; the same claim again is the same place
    sims.memory("walker").phase[:] = 0.5   # (nsim,) records, live: a part of the state

What is there is MuJoCo's userdata: copying a state row copies it, so that forking, saving and replaying a controller is
copying a row. Nobody numbers places by hand, and nobody can write into another's.
"""

import numpy as np

from tumble.errors import UserError, check_number, choose

WORD = 8  # bytes of a number


class Memory:
    """Room for some numbers, handed out by name.

    Attributes:
      room: how many numbers there are.
      claims: numbers that each has, by name, in the order of their places.
    """

    def __init__(self, room: int) -> None:
        """Room for so many numbers of `WORD` bytes, none of them claimed."""
        self.room = room
        self.claims: dict[str, int] = {}
        self._dtypes: dict[str, np.dtype] = {}

    def claim(self, name: str, dtype: np.dtype) -> None:
        """Have room for a record; who claims it again with a record of the same size gets the same place."""
        if dtype.itemsize % WORD:
            raise UserError(f"a record of memory has whole numbers of {WORD} bytes, '{name}' has {dtype.itemsize}")
        self.reserve(name, dtype.itemsize // WORD)
        self._dtypes[name] = dtype

    def reserve(self, name: str, size: int) -> None:
        """Have room for so many numbers, whose meaning a later `claim` tells."""
        check_number(f"numbers of memory '{name}'", size, 1)
        if name in self.claims:
            if self.claims[name] != size:
                raise UserError(f"memory '{name}' has {self.claims[name]} numbers already, and {size} were claimed")
            return
        free = self.room - sum(self.claims.values())
        if size > free:
            who = ", ".join(f"'{other}' {taken}" for other, taken in self.claims.items()) or "nobody any"
            raise UserError(
                f"no room for {size} numbers of '{name}': the scene has {self.room}, {free} of them free; {who}"
            )
        self.claims[name] = size

    def place(self, name: str) -> slice:
        """Where in userdata a claim is."""
        choose("memory", name, self.claims)
        start = 0
        for other, size in self.claims.items():
            if other == name:
                break
            start += size
        return slice(start, start + self.claims[name])

    def view(self, name: str, userdata: np.ndarray) -> np.recarray:
        """(rows,) live records of a claim in userdata (rows, room)."""
        dtype = choose("memory", name, self._dtypes)
        return userdata[:, self.place(name)].view(dtype)[:, 0].view(np.recarray)
