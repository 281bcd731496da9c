"""Settings of C-PBP and of PF-MPC, its forward pass alone.

    settings = CPBPSettings(samples=64, horizon=1.5)
    CPBP(scene, replace(settings, calm=replace(settings.calm, speed=0.3)))

A field carries its symbol in hamalainen2015, its place there, and the paper's value where ours is another.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from tumble.errors import UserError, check_number


@dataclass(frozen=True)
class Scales:
    """Widths of the control priors at one level of effort, as multiples of a joint's activity."""

    speed: float  # sigma_0, eq. 22
    change: float  # sigma_1, eq. 22: control from one step to the next
    bend: float  # sigma_2, eq. 22: second difference of the control
    pose: float  # sigma_p, section 4.2: angles from the rest pose, rad
    mutation: float  # sigma_m, eq. 29
    limit: float  # of the torque limits, as sigma_0 and sigma_1 of theirs; fraction of strength
    control_weight: float  # of the control's own cost when the best path is chosen

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_number(name, value, 0, above=name != "control_weight")

    def towards(self, other: "Scales", share: float) -> "Scales":
        """Linear interpolation: self at share 0, other at 1."""
        mix = {k: a + share * (vars(other)[k] - a) for k, a in vars(self).items()}
        return Scales(**mix)


@dataclass(frozen=True)
class CPBPSettings:
    """Settings of C-PBP.

    Widths of the priors go from `calm` to `tense` with the effort that the goal asks for. `samples` and `horizon` are
    what a plan costs: samples * 30 * horizon physics steps.
    """

    samples: int = 32  # N, section 4.3
    horizon: float = 1.2  # K, s, section 4.3
    serves: int = 1  # frames that a plan is carried out for before the next is made; paper: 1
    resample_below: float = 0.5  # T_eff, section 4.3
    no_prior: float = 0.25  # N_n / N, section 4.3
    cost_ceiling: float = 5.0  # T_gamma, eq. 20: 20; 10 in the authors' code; with 5 it gets up more often
    regularisation: float = 0.001  # lambda, eq. 19
    follow: bool = True  # a guided walker's change is counted from its guide's; not in the paper; ours
    spread: float = 4.0  # boldest over shyest guided walker; paper: 1; ours
    refine: bool = True  # local refinement, Algorithm 1
    transition_place: float = 0.0  # sqrt(Q) of positions, m, eq. 2: 0 for the humanoid; 0 and 0 mean Q = 0
    transition_speed: float = 0.0  # sqrt(Q) of velocities, m/s
    wrist_rule: bool = False  # palms first, section 5.7
    reflexes: float = field(default=0.6, metadata={"ends": (0.0, 1.0)})
    """Share of walkers that follow a reflex, where the goal has one; 0: the paper's alone; ours."""
    informed: int = 0  # walkers guided by what was learned, half by a network, half by a forest; section 6: not tried
    # Scales are not given in the paper; ours, from measurements.
    calm: Scales = field(default_factory=lambda: Scales(0.5, 0.3, 0.5, 0.05, 0.3, 0.5, 1.0))
    tense: Scales = field(default_factory=lambda: Scales(4.0, 0.8, 8.0, 0.5, 1.0, 0.15, 0.01))

    def __post_init__(self) -> None:
        _check_walk(self)
        check_number("regularisation", self.regularisation, 0, above=True)
        check_number("reflexes", self.reflexes, 0, 1)
        check_number("informed", self.informed, 0, 10_000)
        place, speed = self.transition_place, self.transition_speed
        check_number("transition_place", place, 0)
        check_number("transition_speed", speed, 0)
        if (place == 0) != (speed == 0):
            raise UserError(
                "transition_place and transition_speed must both be 0, which means Q = 0, or both be above 0,"
                f" got {place:g} and {speed:g}"
            )


@dataclass(frozen=True)
class PFMPCSettings:
    """Settings of PF-MPC: those of C-PBP that a forward pass needs; Q = 0, nothing is refined."""

    samples: int = CPBPSettings.samples
    horizon: float = CPBPSettings.horizon
    serves: int = CPBPSettings.serves
    resample_below: float = CPBPSettings.resample_below
    no_prior: float = CPBPSettings.no_prior
    cost_ceiling: float = CPBPSettings.cost_ceiling
    follow: bool = CPBPSettings.follow
    spread: float = CPBPSettings.spread
    calm: Scales = field(default_factory=lambda: CPBPSettings().calm)
    tense: Scales = field(default_factory=lambda: CPBPSettings().tense)
    regularisation: ClassVar[float] = CPBPSettings.regularisation
    refine: ClassVar[bool] = False
    transition_place: ClassVar[float] = 0.0
    transition_speed: ClassVar[float] = 0.0
    wrist_rule: ClassVar[bool] = False
    reflexes: ClassVar[float] = 0.0
    informed: ClassVar[int] = 0

    def __post_init__(self) -> None:
        _check_walk(self)


def _check_walk(settings: CPBPSettings | PFMPCSettings) -> None:
    check_number("serves", settings.serves, 1, 10)
    check_number("resample_below", settings.resample_below, 0)
    check_number("no_prior", settings.no_prior, 0, 1)
    check_number("cost_ceiling", settings.cost_ceiling, 0, above=True)
    check_number("spread", settings.spread, 1)
