"""Standing: feedback that catches a body that is about upright and brings it to rest, through the PD drive.

    scene = Scene(character("humanoid25"))
    standing, drive = StandingFeedback(scene), scene.drives["pd"]
    sims = Sims(scene, 64)
    sims.load(scene.state("rest"))
    sims.act(standing.control(sims, np.arange(64)), drive)

It is a function of a row's state alone, to the last bit: it keeps no memory, and knows nothing of where in the world
the body is or where it faces. Feet may stand anywhere. Two parts add up: linear feedback on features of the whole
body, and a reflex that steps where that cannot suffice, because the capture point is ahead of the toes or behind the
heels.

Traps: features are of sensors, which must be those of the state (not after `Sims.take`). Gains are for `humanoid25`.
"""

from dataclasses import dataclass

import numpy as np

from tumble.errors import UserError
from tumble.maths.compiled import entry
from tumble.world.drives import Drive
from tumble.world.scene import Scene
from tumble.world.sims import Sims

# What feedback moves: every row one number, added to the references of these joints times these weights.
SAGITTAL_MOVES: tuple[dict[str, float], ...] = (
    {"spine_bend": 1.0},
    {"left_shoulder_bend": 1.0, "right_shoulder_bend": 1.0},
    {"left_hip_bend": 1.0, "right_hip_bend": 1.0},
    {"left_knee": 1.0, "right_knee": 1.0},
    {"left_ankle": 1.0, "right_ankle": 1.0},
)
LATERAL_MOVES: tuple[dict[str, float], ...] = (
    {"spine_side": 1.0},
    {"spine_twist": 1.0},
    {"left_shoulder_side": 1.0, "right_shoulder_side": -1.0},
    {"left_hip_side": 1.0, "right_hip_side": -1.0},
    {"left_ankle_side": 1.0, "right_ankle_side": -1.0},
    {"left_hip_twist": 1.0, "right_hip_twist": -1.0},
    {  # one leg shorter, the other longer
        "left_hip_bend": 0.5, "left_knee": 1.0, "left_ankle": 0.5,
        "right_hip_bend": -0.5, "right_knee": -1.0, "right_ankle": -0.5,
    },
)  # fmt: skip
# Angles that are features beside the body's place and tilt: weights of joints.
SAGITTAL_ANGLES: tuple[dict[str, float], ...] = (
    {"spine_bend": 1.0},
    {"left_shoulder_bend": 0.5, "right_shoulder_bend": 0.5},
)
LATERAL_ANGLES: tuple[dict[str, float], ...] = (
    {"spine_side": 1.0},
    {"spine_twist": 1.0},
    {"left_shoulder_side": 0.5, "right_shoulder_side": -0.5},
    {"left_hip_twist": 0.5, "right_hip_twist": -0.5},
)
SAGITTAL, LATERAL = 10, 12  # features of either kind: so many, of which the second half are the rates of the first

FOOT_LENGTH = 0.124  # m from the middle of a foot to its toes and to its heel
FOOT_HEIGHT = 0.032  # m of a foot's middle where it stands
LIFTED = 0.02  # m above that at which a foot bears nothing
LEG = 0.78  # m from a hip to the middle of its foot, in the stance
PENDULUM = 3.38  # 1/s, sqrt(g / height of the centre of mass in the stance)
STANCE_KNEE, STANCE_SIDE = 0.5, 0.06  # rad, of the pose 'rest'
HIP_ASIDE = 0.1  # rad, about the angle under which a hip is aside of the pelvis, seen from its foot
SWING = 0.6  # largest sine of the angle of a stepping leg
SIDE = (-0.05, 0.5)  # rad by which a stepping leg goes aside of the stance, inwards and outwards


@dataclass(frozen=True)
class StandingGains:
    """Linear feedback of `StandingFeedback`; ours, fitted by experiments/alborno2016/standing.py.

    Attributes:
      sagittal: (5, 10) rad of `SAGITTAL_MOVES` per unit of the features ahead: centre of mass from the middle of the
        feet ahead and up (m), lean of the pelvis (its z axis ahead), `SAGITTAL_ANGLES` (rad); then their rates.
      lateral: (7, 12) rad of `LATERAL_MOVES` per unit of the features aside: centre of mass to the left (m), lean to
        the left, `LATERAL_ANGLES` (rad); then their rates.
      stance: (5,) sagittal features at rest, whose rates are 0; lateral ones are 0.
      lean: rad by which both ankles lean the body ahead of the pose 'rest'.
    """

    sagittal: np.ndarray
    lateral: np.ndarray
    stance: np.ndarray
    lean: float


@dataclass(frozen=True)
class StepReflex:
    """The step of `StandingFeedback`; ours, fitted by experiments/alborno2016/standing.py.

    Attributes:
      front, back: m inside of toes and heels at which a capture point asks for a step.
      width: m beyond these over which the step takes over from the feedback.
      lift: rad by which the stepping knee bends more.
      near: m between foot and its target below which it comes down.
      lead: s by which the target is ahead of the capture point.
      hold: m/m, how much a lifted foot goes on being the one that steps.
      rear: m/m, how much the foot further from the capture point is preferred.
      side: how much of the angle aside towards the target is used.
      spread: m between the target and the capture point aside, away from the middle.
      align: how much the stepping foot is turned as the other stands.
    """

    front: float
    back: float
    width: float
    lift: float
    near: float
    lead: float
    hold: float
    rear: float
    side: float
    spread: float
    align: float


GAINS = StandingGains(
    sagittal=np.array(
        [
            [-0.1701, -0.1559, 0.1685, -0.5029, -0.0035, -0.0459, -0.0051, 0.0192, 0.0154, -0.0058],
            [0.364, 5.2575, -0.3216, 1.1384, -0.9382, 0.4733, 0.0851, 0.0405, 0.0264, -0.0008],
            [1.1741, -0.7207, -0.6998, -0.1289, -0.025, -0.0005, 0.0487, 0.0256, 0.0168, -0.0026],
            [-0.0449, -0.5069, 0.0575, -0.0123, 0.001, -0.0337, -0.0073, -0.0024, -0.0011, -0.0001],
            [0.0389, 1.1421, -0.0462, 0.0183, 0.0008, 0.0956, 0.0121, 0.0053, 0.0022, 0.0],
        ]
    ),
    lateral=np.array(
        [
            [0.0004, -0.0018, -0.0011, -0.0001, 0.0003, -0.0002, 0.0001, -0.0002, 0.0001, -0.0, 0.0, -0.0],
            [0.0493, -0.0555, -0.0289, -0.6822, 0.0009, 0.1106, 0.0185, -0.001, 0.0, 0.0006, 0.0011, -0.0067],
            [-0.1263, 0.0768, -0.2244, -0.0176, -0.3966, 0.0254, 0.0173, -0.0036, 0.0019, 0.0001, 0.0015, -0.0003],
            [0.4755, -0.5771, 0.1683, -0.0061, 0.0094, 0.0172, -0.2348, 0.0025, -0.0026, -0.0009, -0.0012, 0.0022],
            [0.003, -0.001, 0.0004, -0.0001, 0.0002, -0.0, 0.0029, 0.0001, -0.0001, 0.0, 0.0, -0.0],
            [0.1442, -0.0198, 0.0416, -0.0284, -0.0071, 0.0386, 0.0337, -0.002, 0.0024, -0.0022, -0.0003, 0.0051],
            [0.0007, -0.0002, 0.0001, -0.0, 0.0, -0.0, 0.0006, 0.0, -0.0, 0.0, 0.0, -0.0],
        ]
    ),
    stance=np.array([0.0027, 0.8307, 0.0284, 0.0037, -0.0003]),
    lean=0.0081,
)
# `near` was fitted to 0.132, with which 11 of 116 that stayed up trod on the spot for ever; with 0.06 none of 117 did.
REFLEX = StepReflex(
    front=0.0009,
    back=0.0509,
    width=0.0729,
    lift=0.5752,
    near=0.06,
    lead=0.0443,
    hold=3.6332,
    rear=1.3605,
    side=0.6108,
    spread=0.1645,
    align=0.7651,
)


class StandingFeedback:
    """Standing by state feedback, for rows of a `Sims`.

    q_ref = q_rest + U (u_0 - K (z - z_0)): z features in the pelvis's heading frame, U moves of joints. K is that of a
    linear-quadratic regulator of a model z' = F z + G u that was fitted to the simulation; left and right mirror each
    other. The capture point c = x + x' / omega (x centre of mass over the ground, omega^2 = g / h) decides on the step:
    of the leg that bears less, to c.

    Attributes:
      drive: the PD drive of the scene, whose controls it gives.
    """

    def __init__(self, scene: Scene, gains: StandingGains = GAINS, reflex: StepReflex | None = REFLEX) -> None:
        """Resolve names; a reflex of None leaves the feedback alone."""
        if scene.character.name != "humanoid25":
            raise UserError(f"standing is fitted to the body 'humanoid25', got '{scene.character.name}'")
        if "pd" not in scene.drives:
            raise UserError(f"standing needs the drive 'pd'; the scene has: {', '.join(scene.drives)}")
        self.drive, self.reflex = scene.drives["pd"], reflex
        self._joints = list(scene.character.joints)
        self._read = np.ascontiguousarray(self._weights(SAGITTAL_ANGLES + LATERAL_ANGLES).T)
        moves = self._weights(SAGITTAL_MOVES + LATERAL_MOVES)
        feedback = np.zeros((len(moves), SAGITTAL + LATERAL))
        feedback[: len(SAGITTAL_MOVES), :SAGITTAL] = gains.sagittal
        feedback[len(SAGITTAL_MOVES) :, SAGITTAL:] = gains.lateral
        self._feedback = -feedback.T @ moves
        self._stance = np.zeros(SAGITTAL + LATERAL)
        self._stance[: SAGITTAL // 2] = gains.stance
        self._reference = np.array(scene.character.pose("rest")) + gains.lean * moves[len(SAGITTAL_MOVES) - 1]
        self._low, self._high = self.drive.low[: len(self._joints)], self.drive.high[: len(self._joints)]
        legs = ("hip_bend", "hip_side", "hip_twist", "knee", "ankle", "ankle_side")
        self._legs = np.array([[self._joints.index(f"{side}_{name}") for name in legs] for side in ("left", "right")])

    def control(self, sims: Sims, rows: np.ndarray) -> np.ndarray:
        """Controls (len(rows), drive.size) of the rows of these numbers; the references are held through the frame."""
        look = _Look(sims, rows, self.drive)
        references = self._reference + _times(self._features(look) - self._stance, self._feedback)
        if self.reflex is not None:
            self._step(look, self.reflex, references)
        np.clip(references, self._low, self._high, out=references)
        return np.concatenate([references, references], axis=1)

    def features(self, sims: Sims, rows: np.ndarray) -> np.ndarray:
        """What feedback sees (len(rows), 22): sagittal features, then lateral; see `StandingGains`."""
        return self._features(_Look(sims, rows, self.drive))

    def _weights(self, combinations: tuple[dict[str, float], ...]) -> np.ndarray:
        """Weights of joints as rows (len, joints)."""
        return np.array([[weights.get(joint, 0.0) for joint in self._joints] for weights in combinations])

    def _features(self, look: "_Look") -> np.ndarray:
        """See `features`."""
        z = np.empty((len(look.angles), SAGITTAL + LATERAL))
        half, second = SAGITTAL // 2, SAGITTAL + LATERAL // 2
        angles, rates = _times(look.angles, self._read), _times(look.rates, self._read)
        middle = 0.5 * (look.left + look.right)
        z[:, 0], z[:, 1], z[:, 2] = -middle[:, 0], -middle[:, 2], look.up[:, 0]
        z[:, 3:half] = angles[:, :2]
        z[:, half], z[:, half + 1], z[:, half + 2] = look.velocity[:, 0], look.velocity[:, 2], look.spin[:, 1]
        z[:, half + 3 : SAGITTAL] = rates[:, :2]
        z[:, SAGITTAL], z[:, SAGITTAL + 1] = -middle[:, 1], look.up[:, 1]
        z[:, SAGITTAL + 2 : second] = angles[:, 2:]
        z[:, second], z[:, second + 1] = look.velocity[:, 1], -look.spin[:, 0]
        z[:, second + 2 :] = rates[:, 2:]
        return z

    def _step(self, look: "_Look", k: StepReflex, references: np.ndarray) -> None:
        """Put the references of a stepping leg over those of the feedback, where the capture point asks for a step.

        With c the capture point and b the toes or heels it is beyond, both ahead of the centre of mass: the step's
        share is clip(|c - b| / width, 0, 1). The leg swings to t = c + lead v by theta = asin((t - hip) / leg), with
        the knee at kappa = 0.5 + lift share clip(|t - foot| / near, 0, 1), hip_bend kappa / 2 + theta + pitch, and the
        foot flat. It comes down as it nears t, and then bears, which ends the step.
        """
        left, right = look.left, look.right
        capture = look.velocity[:, :2] / PENDULUM
        lifted = look.heights >= FOOT_HEIGHT + LIFTED
        flight = lifted.all(0)
        lifted[:, flight] = False
        places = np.stack([left[:, 0], right[:, 0]])
        toes = np.where(lifted, -np.inf, places).max(0) + FOOT_LENGTH - k.front
        heels = np.where(lifted, np.inf, places).min(0) - FOOT_LENGTH + k.back
        beyond = np.maximum(capture[:, 0] - toes, 0.0) + np.minimum(capture[:, 0] - heels, 0.0)
        beyond[flight] = 0.0
        share = np.minimum(np.abs(beyond) / k.width, 1.0)
        who = np.flatnonzero(share)
        if not who.size:
            return
        share, beyond, capture = share[who], beyond[who], capture[who]
        left, right, velocity, pitch = left[who], right[who], look.velocity[who], look.up[who, 0]
        height = look.heights[1, who] - look.heights[0, who]
        aside = capture[:, 1] - 0.5 * (left[:, 1] + right[:, 1])
        swing = (aside + k.hold * height + k.rear * np.sign(beyond) * (left[:, 0] - right[:, 0]) > 0).astype(np.intp)
        outwards = 1.0 - 2.0 * swing
        target = capture + k.lead * velocity[:, :2]
        foot = np.where(swing, right[:, 0], left[:, 0])
        hip = look.pelvis[who]
        knee = STANCE_KNEE + k.lift * share * np.minimum(np.abs(target[:, 0] - foot) / k.near, 1.0)
        theta = np.arcsin(np.clip((target[:, 0] - hip[:, 0]) / LEG, -SWING, SWING))
        bend = knee / 2 + theta + pitch
        angle = (outwards * (target[:, 1] - hip[:, 1]) + k.spread) / LEG - HIP_ASIDE
        side = STANCE_SIDE + k.side * np.clip(angle, *SIDE)
        twist = -k.align * look.angles[who, self._legs[1 - swing, 2]]
        wanted = np.stack([bend, side, twist, knee, knee - bend + pitch, -side], axis=1)
        legs = self._legs[swing]
        now = references[who[:, None], legs]
        references[who[:, None], legs] = now + share[:, None] * (wanted - now)


class _Look:
    """What rows look like, in heading frames: x where the pelvis faces, z up, from the centre of mass.

    Attributes:
      angles, rates: (n, joints).
      up, spin, velocity, left, right, pelvis: (n, 3) z axis and angular velocity of the pelvis, velocity of the centre
        of mass; places of the feet and of the pelvis.
      heights: (2, n) of the feet in the world, m.
    """

    def __init__(self, sims: Sims, rows: np.ndarray, drive: Drive) -> None:
        channels = sims.scene.channels
        sensors, qpos = sims.view("sensordata")[rows], sims.view("qpos")[rows]
        self.angles, self.rates = qpos.take(drive.qpos, 1), sims.view("qvel")[rows].take(drive.qvel, 1)
        w, x, y, z = qpos[:, 3:7].T
        ahead = np.stack([1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)])
        cosine, sine = ahead / np.sqrt((ahead * ahead).sum(0))
        names = ("com", "com_velocity", "pelvis.up", "pelvis.spin", "left_foot.pos", "right_foot.pos", "pelvis.pos")
        found = np.stack([sensors[:, channels[name]] for name in names])
        self.heights = found[4:6, :, 2].copy()
        found[4:] -= found[0]
        x, y = found[..., 0], found[..., 1]
        found[..., 0], found[..., 1] = cosine * x + sine * y, cosine * y - sine * x
        _, self.velocity, self.up, self.spin, self.left, self.right, self.pelvis = found


def _times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b of which a row has the same bits whatever other rows there are, as BLAS does not have it."""
    out = np.zeros((len(a), b.shape[1]))
    _add_product(a, b, out)
    return out


@entry
def _add_product(a, b, out):  # type: ignore[no-untyped-def]
    """Add a @ b to out, all contiguous, one row after the other."""
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            for k in range(b.shape[1]):
                out[i, k] += a[i, j] * b[j, k]
