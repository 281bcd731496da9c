"""Search: online optimisation around a branch, where no branch leads to the goal as it is (alborno2016 section 4.7).

    search = Search(system, row, (tree, node), heading=0.0, rng=rng)
    while not search.done:
        search.work(900)                 # physics steps; in every frame some
    search.found, search.track, search.expected

It is asked as a `Question` is, over several frames, and answers alike.
"""

from dataclasses import dataclass

import numpy as np

from tumble.attraction.connecting import UNSTABLE
from tumble.attraction.questions import Place, Pursuit
from tumble.attraction.references import EVERY, points_of, references
from tumble.attraction.rolling import Rolling
from tumble.attraction.upright import UprightSystem
from tumble.errors import check_number
from tumble.maths.evolution import optimiser


@dataclass(frozen=True)
class Searching:
    """How hard an online search is tried."""

    seconds: float = 0.7  # over which the branch is changed, alborno2016 section 4.7
    population: int = 30  # rollouts a generation, alborno2016 section 4.7
    generations: int = 100  # at most, alborno2016 section 4.7
    spread: float = 0.2  # sigma_0 of CMA-ES, rad; not given; ours

    def __post_init__(self) -> None:
        check_number("seconds", self.seconds, 0.1, 10.0)
        check_number("population", self.population, 4, 10_000)
        check_number("generations", self.generations, 1)
        check_number("spread", self.spread, 0, above=True)


class Search(Pursuit):
    """How must a branch be changed at its beginning to lead to the goal from a state?

    u = u_branch + u_new: u_branch is the PD control of the branch's references, u_new = k_p d(t), d a cubic B-spline of
    offsets that ends after `Searching.seconds`. The cost is eq. 2 with x_d = x_goal, at the branch's end. It ends at
    the first rollout that comes to the goal and stays there.

    Attributes as of `Pursuit`, its track that of the changed branch, and
      cost: the least so far, kg rad.

    Departures: the paper's u_new is another PD controller's, which doubles the gains of all joints while it acts; its
    rollouts take 0.7 s, ours go on to the goal, so that who is found is known to stand.
    """

    def __init__(
        self, system: UprightSystem, row: np.ndarray, place: Place, heading: float | None, rng: np.random.Generator,
        settings: Searching = Searching(),
    ) -> None:  # fmt: skip
        """From a whole state row, around the branch of a node; it shall lead to facing a heading, rad, or anywhere."""
        super().__init__()
        self._system, self._row, self._place, self._heading = system, row, place, heading
        self._settings, tree = settings, place[0]
        self._branch = tree.track(place[1])
        count = min(points_of(settings.seconds), 1 + len(self._branch) // EVERY)
        self._shape = (max(count, 2), system.joints)
        self._search = optimiser(np.zeros(self._shape).ravel(), settings.spread, settings.population, rng)
        self._asked: list[np.ndarray] = []
        self.cost, self._generation = np.inf, 0

    @property
    def tried(self) -> list[Place]:
        """None, as they are."""
        return []

    @property
    def done(self) -> bool:
        spent = self._rolling is None and self._generation >= self._settings.generations
        return self.found is not None or spent

    def _next(self) -> Rolling:
        """Begin the next generation; the first rollout of all has no offsets."""
        self._asked = [np.asarray(one) for one in self._search.ask()]
        if self._generation == 0:
            self._asked[0] = np.zeros_like(self._asked[0])
        tracks = [self.changed(one.reshape(self._shape)) for one in self._asked]
        self._followed = [(self._place, track) for track in tracks]
        self.asked += len(tracks)
        rows = np.tile(self._row, (len(tracks), 1))
        return self._system.rolling(rows, tracks, len(self._branch), hold=True, heading=self._heading)

    def changed(self, offsets: np.ndarray) -> np.ndarray:
        """The branch's track (frames, size) with offsets (count, joints), rad, on its references; none at their end."""
        system, track = self._system, self._branch.copy()
        offsets = np.concatenate([offsets[:-1], np.zeros((1, system.joints))])
        added = references(offsets)[: len(track)]
        added[-1:, system.joints :] = 0.0
        track[: len(added)] += added
        return np.clip(track, np.tile(system.low, 2), np.tile(system.high, 2))

    def _learn(self, misses: np.ndarray) -> None:
        """End a generation: what it cost moves the next."""
        costs = np.where(np.isfinite(misses), misses, UNSTABLE)
        self.cost = min(self.cost, float(costs.min()))
        self._search.tell(self._asked, costs.tolist())
        self._generation += 1
