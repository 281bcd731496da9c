"""Settings of the kD-tree sequential Monte Carlo planner."""

from dataclasses import dataclass

from tumble.errors import check_number


@dataclass(frozen=True)
class SMCSettings:
    """Settings of SMC."""

    samples: int = 25  # N, section 5: simulated plans a frame
    horizon: float = 2.0  # s, section 4.3
    keep: float = 0.1  # M / N, section 3.4: samples that are kept for the next frame
    uniform: float = 0.2  # section 4.5: share of samples drawn anywhere
    greedy: float = 0.5  # N_g / N: share that refines the best; section 5.2: 0.25, best between 0.25 and 0.5
    width: float = 0.15  # sigma, section 3.3: standard deviation over the sides of a leaf; paper: 0.5
    greedy_width: float = 0.005  # sigma_g, section 3.5
    greedy_spread: float = 20.0  # widest over narrowest greedy draw of a batch; paper: 1; ours
    neighbours: int = 3  # section 5.2: guesses from experience, where there is any
    batch: int = 12  # plans that are simulated at once, for any number of threads; paper: 12 threads; ours
    soonest: float = 0.5  # s, section 4.4: the best moment of a plan is not before
    acceleration: float = 5.0  # sigma_a, eq. 5, m^2/s^2 a step
    jerk: float = 13.7  # sigma_J, eq. 5, m^2/s^2 a step
    impact: float = 2.2  # t_d, eq. 4, m/s
    impact_slope: float = 2.5  # c, eq. 4, s/m
    memorable: float = -23.03  # log of the fitness above which a plan is remembered: 1e-10, section 4.5

    def __post_init__(self) -> None:
        for name in ("keep", "uniform", "greedy"):
            check_number(name, getattr(self, name), 0, 1)
        for name in ("width", "greedy_width", "greedy_spread", "acceleration", "jerk", "impact_slope"):
            check_number(name, getattr(self, name), 0, above=True)
        check_number("neighbours", self.neighbours, 0, 1000)
        check_number("batch", self.batch, 1, 100_000)
        check_number("soonest", self.soonest, 0, 60.0)
        check_number("impact", self.impact, 0)
        check_number("memorable", self.memorable, -1e9, 0)
