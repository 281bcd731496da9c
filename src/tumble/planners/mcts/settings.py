"""Settings of the fixed-depth informed tree search."""

from dataclasses import dataclass

from tumble.errors import check_number


@dataclass(frozen=True)
class MCTSSettings:
    """Settings of MCTS. Widths are standard deviations of reference angles, degrees."""

    samples: int = 64  # N, section 4.2
    horizon: float = 1.2  # T, s, section 4.3
    kept: float = 0.25  # K / N: share of trajectories that inform the next frame; 16 in the authors' code
    free: float = 0.25  # share that nothing informs: 16, section 4.2
    plain: int = 3  # trajectories that do what the network says, section 4.2
    noisy: int = 3  # trajectories that are drawn near what the network says, section 4.2
    neighbours: int = 3  # trajectories that are informed by the forest, section 4.2
    threshold: float = 2.0  # r_threshold over the last step's cost of the previous best, section 3.1
    pose_width: float = 25.0  # sqrt(Sigma_init), Table 2
    change_width: float = 25.0  # sqrt(Sigma_diff), Table 2; the authors' code has 2500
    variation: float = 2.5  # sqrt(Sigma_variation), Table 2: 0.1 / r_dof; 2.5 in the authors' code
    acceleration_width: float = 10.0  # sqrt(Sigma_acc), Table 2: 10 (humanoid), 30 (rest)
    gain: float = 10.0  # K_P, 1/s, section 4.1
    strength: float = 0.5  # torque limit as a share of the motors' strength: 80 N m of 160, section 4.1
    recovery_strength: float = 1.0  # the same in recovery mode: 160 N m in the authors' code; paper: 400 N m
    recovery_gain: float = 5.0  # factor on K_P in recovery mode, section 4.1; as a stiffer spring in the authors' code
    recovery_width: float = 5.0  # factor on widths in recovery mode, section 4.1
    forest: bool = True  # whether the nearest-neighbour learner informs, section 3.2
    network: bool = True  # whether the network informs, section 3.3
    updates: int = 6  # of the network in every frame; the paper's thread takes as many as it can; ours
    search: bool = True  # off: do what the network says, once it was trained, without looking ahead
    background: bool = False  # learn in a thread as fast as it can, for live use; not the same bits every time

    def __post_init__(self) -> None:
        for name in ("kept", "free"):
            check_number(name, getattr(self, name), 0, 1)
        for name in ("plain", "noisy", "neighbours"):
            check_number(name, getattr(self, name), 0, 10_000)
        check_number("threshold", self.threshold, 0)
        for name in (
            "pose_width",
            "change_width",
            "variation",
            "acceleration_width",
            "gain",
            "recovery_gain",
            "recovery_width",
        ):
            check_number(name, getattr(self, name), 0, above=True)
        check_number("updates", self.updates, 0, 10_000)
        for name in ("strength", "recovery_strength"):
            check_number(name, getattr(self, name), 0, 1, above=True)
