"""Settings of the walker: all balance parameters, the same for every body and every style, by what they govern.

    WalkSettings(tuning=VelocityTuning(speed_gain=20.0))
    replaced(WalkSettings(), {"tuning.speed_gain": 20.0})

Forces and gains are those of a body of 70.4 kg and grow with mass; lengths with the leg, from 0.86 m. Where the thesis
or its authors' code has another value, the comment says so; "ours" is in neither.
"""

from dataclasses import dataclass

from tumble.errors import check_number


@dataclass(frozen=True)
class Parts:
    """What can be switched off, one by one (coros2010 section 5.6)."""

    foot_placement: bool = True  # inverted pendulum, section 5.3.2; else a fixed step
    velocity_tuning: bool = True  # virtual force, section 5.3.3
    gravity_compensation: bool = True  # section 5.3.4


@dataclass(frozen=True)
class FootPlacement:
    """Where the swing foot lands: the inverted pendulum of coros2010 section 5.3.2."""

    fixed_alpha: bool = False  # the thesis's step, d - alpha V_d; else the pendulum's own walk, see `Walker`
    alpha: float = 0.05  # s, how much shorter a step is for each m/s wanted, section 5.3.2
    sagittal_gain: float = 1.2  # of the pendulum's answer to what is off; authors' code: 1.1, not in the thesis
    coronal_gain: float = 1.1  # the same sideways; authors' code: 1.3. Of 80 pushes their pair held 66, ours 80
    longest_step: float = 0.6  # of the leg's length, section 5.3.2
    lookahead: float = 0.0  # s that the landing place is predicted; thesis: 0. Looking ahead 0.15 s falls at once
    trim_rate: float = 0.1  # integral action of the mean speed on the step, m a m; ours
    longest_trim: float = 0.2  # of the leg's length
    speed_lead: float = 0.4  # m/s that the pendulum's walk may be ahead of the mean speed; ours
    mean_time: float = 1.0  # s over which the mean is taken


@dataclass(frozen=True)
class VelocityTuning:
    """The virtual force on the centre of mass of a walk (coros2010 section 5.3.3)."""

    speed_gain: float = 30.0  # 1/s, authors' code; thesis: k_v = 100 N s/m
    side_stiffness: float = 20.0  # 1/s^2, authors' code
    side_damping: float = 9.0  # 1/s, authors' code
    ahead_force: float = 60.0  # N, largest, authors' code
    side_force: float = 150.0  # N; authors' code: 100
    edge_share: float = 0.8  # of the lever to a foot's edge that the stance ankle uses; ours, their rules: facts 1.6
    back_share: float = 0.5  # of velocity tuning at the lower back, authors' code
    chest_share: float = 0.3


@dataclass(frozen=True)
class Standing:
    """On both feet: the virtual force, how feet stand, when a push asks for a step, idling (section 5.5.1)."""

    stiffness: float = 30.0  # 1/s^2, standing, ahead; authors' code: 10, less than gravity takes
    damping: float = 12.0  # 1/s; authors' code: 150, which the largest force cuts anyway
    busy_steadiness: float = 2.0  # times lean and sway while hands or knees are busy; ours
    busy_gain: float = 2.0  # times the stiffness then; ours
    side_stiffness: float = 50.0  # 1/s^2, standing, sideways; ours
    side_damping: float = 15.0  # 1/s
    ahead_force: float = 150.0  # N, largest ahead on both feet; ours
    side_force: float = 300.0  # N, largest sideways on both feet; ours
    shift_share: float = 0.4  # of the way to the stance foot after which walking starts, section 5.5.1
    width: float = 0.16  # m between the feet when it stops; ours
    apart_stiffness: float = 600.0  # N/m between standing feet; ours
    lean: float = 0.08  # m, where the body may come to rest ahead of the feet's middle before it steps; ours
    sway: float = 0.02  # m, beyond the feet sideways; ours
    idle_after: float = 1.5  # s of standing before it idles; section 5.5.1 gives no numbers; ours
    idle_shift: float = 0.35  # of the way to a foot that its weight goes to and fro; ours
    idle_period: float = 7.0  # s; ours


@dataclass(frozen=True)
class Joints:
    """Stiffness of joints, k_p; k_d is 2 sqrt(k_p) (coros2010 section 5.4), but for the root."""

    root_stiffness: float = 1000.0  # N m/rad, authors' code
    root_damping: float = 200.0  # N m s/rad
    root_torque: float = 200.0  # N m, largest
    back_stiffness: float = 75.0  # N m/rad, and so on: authors' code
    neck_stiffness: float = 20.0
    shoulder_stiffness: float = 25.0
    elbow_stiffness: float = 10.0
    hip_stiffness: float = 300.0
    knee_stiffness: float = 300.0
    ankle_stiffness: float = 75.0  # authors' code: 50
    ankle_side_stiffness: float = 10.0
    toe_stiffness: float = 2.0
    hip_damping: float = 25.0  # N m s^2/rad^2 of the stance hip, authors' code
    knee_out: float = 0.1  # rad that the knees of a crouch point outwards, as feet do; ours
    knee_turn_damping: float = 60.0  # N m s/rad of a bent stance leg's turn about itself; ours
    crouch_gain: float = 5.0  # times the stiffness of stance knees in a crouch: softer, the body rolls over; ours
    crouch_rate: float = 2.0  # rad/s of the knees; ours


@dataclass(frozen=True)
class Steps:
    """The swing foot on level ground: its way, when its step ends, what a push changes."""

    swing_rate: float = 5.0  # rad/s, largest wanted speed of the swing hip and knee, authors' code
    clear_ahead: float = 0.2  # m ahead and behind of the stance foot where a swing foot must not come close; ours
    clear_calm: float = 0.03  # m off the usual step sideways, above which legs may cross, as pushes want; ours
    clear_side: float = 0.11  # m between their middles there; authors' code: a waypoint 5 cm inside, facts 1.5
    earliest_strike: float = 0.5  # phase from which a touch of the swing foot ends the step, authors' code
    latest_strike: float = 1.3  # phase at which a step ends though the foot is in the air; thesis: 1
    feel_down: float = 0.6  # m a phase that a foot goes down beyond phase 1; ours
    hurry_period: float = 0.4  # s, of a step after a strong push, where the period is longer; ours
    hurry_from: float = 0.10  # m off the pendulum's walk from which it hurries
    hurry_to: float = 0.25  # m where it hurries most
    land_at: float = 0.25  # of the leg's length: a foot that far out against a push lands at once; ours
    foot_twist: float = 0.04  # m, lever with which the weight keeps a foot from turning on the ground; ours


@dataclass(frozen=True)
class Crossing:
    """Steps over and onto things (coros2010 section 5.5.4), which is ours but for the idea."""

    lead: float = 0.06  # m that the body is further ahead when a foot lands at a chosen place; ours
    load_lead: float = 0.03  # m, the same with a load
    climb_lead: float = 0.4  # m more for each m up
    placed_lead: float = 0.03  # m, the same of steps onto wished footholds; ours
    placed_firmness: float = 2.0  # times the stiffness of the stance knee of such a step; ours
    between_gain: float = 60.0  # 1/s^2, of the capture point aside between two such steps; ours
    long_lead: float = 0.8  # m more for each m that a step is longer than 0.6 m: it loses speed; ours
    swing_rate: float = 8.0  # rad/s, instead of that of `Steps`; ours
    wait: float = 0.3  # s that such a foot waits for the body; ours
    foot_pace: float = 1.7  # m/s of a foot on its way over something; ours
    firmness: float = 2.0  # times the stiffness of a leg that swings over something; ours
    capture_lead: float = 0.02  # m ahead of a foot where the body must come to rest before the other one leaves; ours
    capture_aside: float = 0.02  # m beside a foot that the body may be when the other steps over something; ours
    capture_inside: float = 0.015  # m inside of it where the body is aimed at; ours
    longest_double_support: float = 1.5  # s that it pushes on both feet at most; ours
    shortest_double_support: float = 0.08  # s that it stays on both feet at least after a step over something; ours
    push_off: float = 1.6  # rad that the hind foot is pressed down then, where it lacks 0.07 m or more; ours
    push_from: float = 0.7  # phase of a long step over something from which it is pressed down before the other lands
    strike_push: float = 1.3  # rad that it stays pressed down at least until shortest_double_support is over; ours
    stoop_force: float = 80.0  # N, largest sideways on both feet with a bent trunk before something to step over; ours
    poise_force: float = 35.0  # N, the same towards the foot onto which it shifts its weight then; ours
    down_rate: float = 4.0  # rad/s of a knee that lets the other foot down to lower ground; ours
    trail_step: float = 0.35  # m ahead of the other foot where a trailing one lands at most; ours
    beside: float = 0.1  # m ahead of the other foot where a trailing one lands at most, before more to step over; ours
    flat_from: float = 0.6  # phase from which a trailing foot is held flat where a stop is near; ours
    knee_room: float = 0.09  # m between a trailing knee and what its foot is still to pass; ours
    pull_back: float = 0.3  # m that the trailing foot is drawn back for each m it has to rise; ours
    turn_out: float = 0.2  # rad that its knee points outwards over the highest obstacle; ours


@dataclass(frozen=True)
class Following:
    """How fast wishes are followed, and how it turns (coros2010 section 5.3.5)."""

    turn_rate: float = 2.0  # rad/s, omega_max, section 5.3.5
    longest_twist: float = 0.5  # rad of the back ahead of a turn, authors' code
    twist_rate: float = 8.0  # rad/s, authors' code
    foot_anticipation: float = 1.0  # of that twist in the swing leg's plane; ours
    slow_turn: float = 0.5  # rad still to turn above which it walks slowly; ours
    turn_speed: float = 0.5  # m/s; authors' code: 0.6 ahead, 0.5 back
    speed_rate: float = 1.0  # m/s^2
    blend_time: float = 0.5  # s, of every other wish


@dataclass(frozen=True)
class Hands:
    """Reaching, holding, carrying, pushing and pulling (coros2010 sections 5.3.5, 5.5.4)."""

    reach_gain: float = 4.0  # times the stiffness of an arm that has a target; ours: thesis, low gains
    reach_time: float = 0.3  # s in which an arm leaves the style's swing; ours
    grip_time: float = 0.2  # s in which a hand closes; ours
    grip_breaks: float = 600.0  # N at which a hand lets go; ours
    load_turning: float = 10.0  # how much slower it turns with a load of its own mass; ours
    load_firmness: float = 8.0  # more stiffness of the swing hip with a load of its own mass; ours
    load_lead: float = 0.5  # of the shift of the centre of mass by a load that steps are longer by; ours
    load_crouch: float = 0.35  # rad that knees are bent where a load is carried over uneven ground; ours
    firm_load: float = 5.0  # kg in a hand that double an arm's stiffness; ours: softer, a crate of 25 kg sways
    carry_time: float = 0.1  # s over which what hangs on the hands is felt; ours
    load_rate: float = 8.0  # kg/s at which a weight is taken up; ours
    haul_rate: float = 150.0  # N/s at which hands push harder; ours
    pull_slack: float = 0.2  # m short of its place at which a hand does not pull yet; ours
    pull_damping: float = 5.0  # 1/s, of a pulled crate's speed towards that of the walk; ours
    pull_most: float = 1.5  # times the pull that is wished, largest; ours
    pull_felt: float = 0.6  # how much feet follow the pull that is felt, and not the one that is wished; ours
    pull_period: float = 0.4  # s, longest of a step that pulls: the body falls back less far in it; ours


@dataclass(frozen=True)
class WalkSettings:
    """All of them. Every number is 0 or more; a switch is 0 or 1."""

    parts: Parts = Parts()
    placement: FootPlacement = FootPlacement()
    tuning: VelocityTuning = VelocityTuning()
    stand: Standing = Standing()
    joints: Joints = Joints()
    steps: Steps = Steps()
    crossing: Crossing = Crossing()
    follow: Following = Following()
    hands: Hands = Hands()

    def __post_init__(self) -> None:
        """Refuse numbers below 0, by group and name: 'tuning.speed_gain'."""
        for group, settings in vars(self).items():
            for name, value in vars(settings).items():
                check_number(f"{group}.{name}", float(value), 0)
