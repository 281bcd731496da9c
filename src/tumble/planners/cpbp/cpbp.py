"""Control Particle Belief Propagation (hamalainen2015), and PF-MPC, which is its forward pass alone."""

from collections.abc import Sequence

import numpy as np

from tumble.goals import Goal
from tumble.learners import Learners
from tumble.maths.sampling import resample
from tumble.planners.cpbp.beliefs import backward, density, drifted, forward, mixture, pick, widths
from tumble.planners.cpbp.followers import Followers
from tumble.planners.cpbp.kernels import Refinement, path_of, propose, weigh
from tumble.planners.cpbp.settings import CPBPSettings, PFMPCSettings, Scales
from tumble.planners.cpbp.walk import Walk, WalkerTree
from tumble.planners.cpbp.wrists import Wrists
from tumble.planners.informed import Adviser
from tumble.planners.planner import Plan, Planner
from tumble.planners.reflexes import Reflex, suited
from tumble.world.scene import Scene

LOOSE = 10.0  # how much wider the pose prior is where a goal leaves a joint group loose (section 5.2: not given)


class CPBP(Planner):
    """C-PBP: N guided random walkers that are resampled as they go, then a smoothing pass.

    Algorithm 2 of hamalainen2015. Every frame the walkers start from the current state. Two replay the
    previous best and the previous smoothed controls; the others draw from a product of Gaussians (eq.
    22): small controls, small changes, the rest pose, and near what the previous frame believed in.
    Walkers that do badly are replaced by copies of ones that do well. The first control of the cheapest
    trajectory is the result.

    With Q = 0, the default ("Allowing Zero Transition Variance"), a walker stays near one trajectory of
    the previous frame (eq. 29) and beliefs follow trajectories (eq. 27). With Q != 0 samples believe in
    their neighbours too (eqs. 14, 15), also in those that were pruned, and a control is drawn near one
    of all samples of the previous frame, chosen anew in every step by its belief and by how near its
    state was (eqs. 25, 26). With Q = 0 and without refinement it is PF-MPC (Stahl and Hauth 2011).

    `informed` walkers, none by default, have another guide: what was learned in earlier frames, as section 6
    wishes, by the two learners of rajamaki2017. They are the slots next to those without a prior. In every step the
    first half of them is drawn near what the network says of the state that the walker is in, the second near what was
    done in the nearest state that the forest knows, with the widths of other guided walkers; `follow` is not for
    them. A slot that nobody has advice for is like any other. Taught is what was done, one pair a frame, when the
    next frame begins; what was learned outlives `reset`.

    **Departures.**

    - Torque limits: paper 0 to 300 with a zero-mean prior; here 0.7 to 1 of each joint's strength, and
      the prior's mean is the effort, because a leg whose limit drops for one frame collapses.
    - Mutation and the weight of the control's cost: constant in the paper (0.25; 1); here they go from
      calm to tense as the other scales do, because one value is either restless or sedate.
    - sigma_p is a standard deviation: Cov(pose) = sigma_p^2 C_u (the paper prints sigma_p C_u).
    - Effort: the paper combines it at every step k; here one value serves a whole frame, half the mean
      and half the maximum along the previous frame's best path, so that a fall foreseen at the end of
      the horizon is met at once.
    - T_gamma is 5 (paper 20, authors' code 10): of 14 get-ups 14 succeeded, with 10 it was 11 of 15.
    - Resampling is systematic; the paper draws ancestors independently. It has less variance.
    - Refinement: Algorithm 1 pairs the control with the state it led to; here with the state it
      started from, as the text around it says ("simulating forward from x_k with controls u_k"), so that
      every step gets a smoothed control. The result is kept within the motors' bounds.
    - The backward pass of beliefs is left out where Q = 0: it adds nothing (the paper says so).
    - Transition potentials: N(x_k; f(x_k-1, u_k), Q) for every pair of samples would take a simulation
      each; here a start that is not the sample's own is compared with its own, both a step's drift
      later (see `beliefs`). The authors' code has the sample's own start inside the sum, which makes
      all summands alike; here the sum is over j.
    - Density of samples: eqs. 14 and 15 divide by the controls' proposal alone (eq. 12), so belief
      gathers where states happen to be crowded. Here q of eqs. 10 and 11 counts the states too, by the
      same Gaussians; a forward message is then a mean over neighbours, and constant after resampling.
      In the problem of figure 6 the mean cost after 5 iterations, each at its best Q, falls from 38 to 27.
    - Wrist rule: always on in the paper, without numbers (section 5.7); here an option, off by default.
    - Mutations: N(u_k; u_k-1, .) and N(u_k; guide_k, .) of eq. 22 together leave white noise around a guide,
      which averages out over the horizon: no walker takes a step that is a little longer. Here a guided
      walker's change is counted from its guide's, so that a deviation lasts (`follow`), and the widths of
      guided walkers differ by up to `spread`: some polish, some explore.
    - Reflexes: where a goal names some, a share of the walkers (`reflexes`) is drawn near what state feedback says, one
      more Gaussian in eq. 22; see `Followers`. Draws that know of no other joint hardly ever make a step near the
      horizon's end, so that plans end in falls, and choosing is choosing among falls. `reflexes` 0 is the paper's.
    - Samples without a prior: with Q = 0 a lineage stays without, as in the authors' code; with Q != 0
      they are always the same slots, as Algorithm 2 says.
    """

    figures = {  # noqa: RUF012 - never changed
        "resampled": "steps of the horizon at which the walkers were resampled",
        "best_slot": "number of the cheapest walker",
    }
    carried = ("_best", "_smooth", "_previous", "_belief", "_began", "_done", "_effort")
    learner_kind = Learners
    learner: Learners | None

    def __init__(
        self, scene: Scene, settings: CPBPSettings | PFMPCSettings = CPBPSettings(), seed: int = 0, nthread: int = 0
    ) -> None:
        self.settings = settings
        motors = scene.drive
        self._limits = motors.size - motors.joints
        self._activity = np.array([joint.activity for joint in scene.character.joints.values()])
        self._groups = np.array([joint.group for joint in scene.character.joints.values()])
        super().__init__(scene, settings.samples, settings.horizon, seed, nthread)
        n, k = settings.samples, self.steps
        self._controls = np.empty((k, n, motors.size))
        self._ends = np.empty((k + 1, n, self.sims.view("ends").shape[1]))
        self._ancestors = np.empty((k, n), np.intp)
        self._weights, self._potential, self._forward, self._crowd = np.empty((4, k, n))
        self._refinement = Refinement(k, n, motors.size, self._ends.shape[2])
        self._final = np.empty(n)  # the last step's potentials, normalised
        self._starts = np.empty((k, n, self._ends.shape[2]))
        self._resampled = np.zeros(k, bool)
        self._normal, self._uniform = np.empty((2, k, n, motors.size))
        self._posed = motors.qpos if motors.speeds else np.empty(0, np.intp)
        self._wrists: Wrists | None = None
        self._adviser: Adviser | None = None
        self._reflexes: dict[tuple[str, ...], list[Reflex]] = {}
        self._noisy = False
        self._prepare()

    def _forget(self) -> None:
        size = self.scene.drive.size
        self._best = self._smooth = np.empty((0, size))
        self._previous = np.empty((0, 0, size))
        self._belief = np.empty(0)  # of the trajectories; with Q != 0 the logarithm of every sample's, (K, N)
        self._began = np.empty((0, 0, 0))  # (K, N, F) with Q != 0: where the controls in _previous began
        self._done = np.zeros((2, size))  # the last two controls that were deployed, newest first
        self._effort = -1.0

    def plan(self, state: np.ndarray, goal: Goal, again: bool = False) -> Plan:
        """The best controls found from a state; leaves the state untouched.

        Args:
          state: one row.
          goal: what is wanted.
          again: nothing of the latest plan was carried out; improve on it in place, without a shift in time.
        """
        late = min(self.late, len(self._best))
        if late and not again:
            self._done = np.stack([self._best[late - 1], self._best[late - 2] if late > 1 else self._done[0]])
            if self._adviser is not None and self.learner is not None:
                self._adviser.teach(self.learner, self._done[0])
        walk = self._walk(state, goal, 0 if again else late)
        lineage, steps = path_of(self._ancestors), np.arange(self.steps)
        best = int(np.argmin(walk.totals))
        along = lineage[:, best]
        self._best = self._controls[steps, along]
        if self._noisy:
            self._believe()
        else:
            self._previous, self._belief = self._controls[steps[:, None], lineage], walk.weights
        self._smooth, smoothed = self._refine() if self.settings.refine else (self._best, np.empty((0, 3)))
        values = walk.values[steps, along]
        asked = goal.effort(values)
        self._effort = float(0.5 * (asked.mean() + asked.max()))
        return Plan(
            controls=self._best.copy(),
            cost=float(walk.totals[best]),
            values=values,
            path=self._ends[steps + 1, along, :3],
            paths=self._ends[1:][steps[:, None], lineage, :3].swapaxes(0, 1),
            smoothed=smoothed,
            effort=self._effort,
            sim_steps=self._controls.shape[0] * self._controls.shape[1],
            broken=walk.broken,
            statistics={"resampled": int(self._resampled.sum()), "best_slot": best},
        )

    def go_on_from(self, other: Planner) -> None:
        """Go on with the plan of one that had more or fewer walkers; with Q != 0 samples know of each other: begin."""
        if isinstance(other, CPBP) and other.steps == self.steps and not (self._noisy or other._noisy):
            for name in ("rng", *self.carried):
                setattr(self, name, getattr(other, name))

    def tree(self) -> WalkerTree:
        """What the walkers of the latest plan did; copies."""
        return WalkerTree(
            states=self._ends.copy(),
            controls=self._controls.copy(),
            ancestors=self._ancestors.copy(),
            resampled=self._resampled.copy(),
            potential=self._potential.copy(),
            forward=self._forward.copy(),
            belief=self._belief.copy() if self._noisy else np.empty((0, 0)),
        )

    def _walk(self, state: np.ndarray, goal: Goal, shift: int) -> Walk:
        """The forward pass: draw, simulate, weigh, resample, step by step up to the horizon.

        Args:
          shift: frames since the latest plan.
        """
        settings, sims, n = self.settings, self.sims, self.settings.samples
        self._prepare()
        sims.load(state)
        if self._effort < 0:
            self._effort = float(goal.effort(goal.values(sims)[:1])[0])
        walk = self._begin(goal)
        for k in range(self.steps):
            self._resampled[k] = walk.count < settings.resample_below * n
            message = self._forward[k - 1] if k > 0 else np.zeros(n)
            parents = np.arange(n)
            if self._resampled[k]:
                parents, message = self._resample(walk, k), np.zeros(n)
            self._ancestors[k], self._weights[k] = parents, walk.weights
            if self._noisy:
                message = self._hear(k, message)
                walk.prior = self._mix_priors(self._ends[k, parents] / self._unit, k + shift)
            self._propose(walk, k, shift, parents, goal)
            sims.act(self._controls[k])
            self._ends[k + 1] = sims.view("ends")
            if self._adviser is not None:
                self._adviser.look(sims, goal)
            walk.values[k] = goal.values(sims)
            walk.count = weigh(
                walk.values[k], walk.expense, walk.scales.control_weight, settings.cost_ceiling, message,
                walk.totals, self._potential[k], self._forward[k], walk.weights, self._final,
            )  # fmt: skip
            walk.before, walk.earlier = self._controls[k], walk.before
        walk.broken += int(sims.broken.sum())
        return walk

    def _begin(self, goal: Goal) -> Walk:
        """Draw a frame's random numbers and choose its priors."""
        settings, n = self.settings, self.settings.samples
        self.rng.standard_normal(out=self._normal)
        self.rng.random(out=self._uniform)
        chance = self.rng.random((self.steps, n))
        scales = settings.calm.towards(settings.tense, self._effort)
        walk = Walk(
            scales=scales,
            precision=self._precision(scales, goal.loose),
            centre=self._centre(),
            rest=np.array(self.scene.character.pose(goal.pose or "rest"), float),
            # four degrees of boldness in turn
            boldness=settings.spread ** (-(np.arange(n) % 4) / 3.0),
            chance=chance,
            prior=self._choose_priors(),
            warm=2 if len(self._previous) else 0,
            before=np.tile(self._done[0], (n, 1)),
            earlier=np.tile(self._done[1], (n, 1)),
            expense=np.empty(n),
            values=np.empty((self.steps, n, len(goal.terms))),
            totals=np.zeros(n),
            weights=np.full(n, 1.0 / n),
            following=self._follow(goal),
        )
        self._ends[0] = self.sims.view("ends")
        if self._adviser is not None:
            self._adviser.begin(self.sims, goal)
        return walk

    def _resample(self, walk: Walk, k: int) -> np.ndarray:
        """Have those that do badly go on from those that do well: parents (N,) of step k (eq. 18)."""
        sims, n = self.sims, self.settings.samples
        parents = resample(walk.weights, walk.chance[k])
        parents[: walk.warm] = np.arange(walk.warm)  # the warm starts keep their own lineage
        walk.broken += int(sims.broken.sum())
        sims.take(parents)
        walk.broken -= int(sims.broken.sum())
        walk.prior, walk.before, walk.earlier = walk.prior[parents], walk.before[parents], walk.earlier[parents]
        walk.totals = walk.totals[parents]
        if walk.following is not None:
            walk.following.take(parents)
        walk.weights[:] = 1.0 / n
        return parents

    def _propose(self, walk: Walk, k: int, shift: int, parents: np.ndarray, goal: Goal) -> None:
        """Draw the controls of step k (eq. 22), those of walkers that are told something anew."""
        motors, qpos, controls = self.scene.drive, self.sims.view("qpos"), self._controls[k]
        # only with Q = 0 is a row of the previous frame one trajectory
        follow = self.settings.follow and not self._noisy
        propose(
            controls, walk.expense, self._normal[k], self._uniform[k], walk.before, walk.earlier,
            qpos, self._posed, walk.rest, self.scene.dt,
            self._previous, self._best, self._smooth, walk.prior, k + shift, walk.warm,
            walk.precision, walk.centre, motors.low, motors.high, follow, walk.boldness,
        )  # fmt: skip
        for rows, advice in self._advice(parents):
            propose(
                controls[rows], walk.expense[rows], self._normal[k, rows], self._uniform[k, rows],
                walk.before[rows], walk.earlier[rows], qpos[rows], self._posed, walk.rest, self.scene.dt,
                advice[None], self._best, self._smooth, np.arange(len(advice)), 0, 0,
                walk.precision, walk.centre, motors.low, motors.high, False, walk.boldness[rows],
            )  # fmt: skip
        if walk.following is not None:
            new = k + shift >= len(self._previous) > 0
            walk.following.draw(
                walk, k, new, self.sims, goal, parents, self._normal[k], self._uniform[k], controls
            )  # fmt: skip
        if self._wrists is not None:
            self._wrists.spare(controls, self._ends[k, parents])

    def _follow(self, goal: Goal) -> Followers | None:
        """Who follows the goal's reflexes in this frame."""
        settings, names = self.settings, goal.reflexes
        if not names or settings.reflexes == 0:
            return None
        if names not in self._reflexes:
            self._reflexes[names] = suited(names, self.scene)
        if not (reflexes := self._reflexes[names]):
            return None
        shape = (self.steps, settings.samples)
        return Followers(self.scene, reflexes, settings.reflexes, 2, shape, self.rng)

    def _prepare(self) -> None:
        """Make what the settings of this frame ask for; they may have changed since the last one."""
        settings = self.settings
        noisy = settings.transition_place > 0
        if noisy != self._noisy:
            self._forget()  # the two kinds of memory do not mix
        self._noisy = noisy
        if noisy:
            self._unit = widths(self._ends.shape[2], settings.transition_place, settings.transition_speed)
        if settings.wrist_rule != (self._wrists is not None):
            self._wrists = Wrists(self.scene) if settings.wrist_rule else None
        if (settings.informed > 0) != self.learns:
            self._switch_learning(settings.informed > 0)

    def _switch_learning(self, on: bool) -> None:
        """Begin to learn, or leave off; what was learned is kept."""
        self.learns = on  # of the class: whether it does with default settings
        if not on:
            self._adviser, self.memory, self.about = None, None, {}
            return
        self._adviser = Adviser(self.scene, self.settings.samples)
        self.memory = (self._adviser.features, self.scene.drive.size)
        self.about = {"character": self.scene.character.name, "planner": "cpbp"}
        if self.learner is None:
            self.learner = Learners(*self.memory, self._seed)

    def _advice(self, parents: np.ndarray) -> list[tuple[slice, np.ndarray]]:
        """Rows of informed walkers and what they are told, (rows, motors.size)."""
        if self._adviser is None or self.learner is None:
            return []
        first = self._guided()
        last = min(first + self.settings.informed, self.settings.samples)
        return self._adviser.advise(self.learner, slice(first, last), parents)

    def _hear(self, k: int, log_belief: np.ndarray) -> np.ndarray:
        """(N,) forward messages of step k (eq. 17) from the beliefs of the step before; 0 after resampling."""
        self._starts[k] = drifted(self._ends[k], self.scene.dt) / self._unit
        self._crowd[k] = density(self._starts[k], self._ancestors[k])
        if self._resampled[k]:
            return log_belief
        return forward(self._starts[k], self._ancestors[k], log_belief) - self._crowd[k]

    def _believe(self) -> None:
        """Keep all samples of this frame with their beliefs (eq. 13), those that were pruned included."""
        self._belief = self._forward + backward(self._starts, self._ancestors, self._potential - self._crowd)
        self._previous = self._controls.copy()
        self._began = self._ends[np.arange(self.steps)[:, None], self._ancestors] / self._unit

    def _refine(self) -> tuple[np.ndarray, np.ndarray]:
        """Smoothed controls (K, size) within the motors' bounds, and the root's path (K, 3)."""
        motors = self.scene.drive
        smooth, path = self._refinement(
            self._controls,
            self._ends,
            self._ancestors,
            self._weights,
            self._final,
            self.settings.regularisation,
        )
        return np.clip(smooth, motors.low, motors.high), path[:, :3]

    def _precision(self, scales: Scales, loose: Sequence[str]) -> np.ndarray:
        """(5, motors.size): 1 / width^2 of the priors on control, change, bend, pose and mutation."""
        of_joints = np.array([scales.speed, scales.change, scales.bend, scales.pose / self.scene.dt, scales.mutation])
        of_limits = np.array([1.0, 1.0, 1e3, 1e3, scales.mutation]) * scales.limit
        widths = np.hstack([np.outer(of_joints, self._activity), np.outer(of_limits, np.ones(self._limits))])
        widths[3, : self._groups.size][np.isin(self._groups, loose)] *= LOOSE
        return widths**-2.0

    def _centre(self) -> np.ndarray:
        """(motors.size,): what controls are kept near: no speed, and limits that rise with effort."""
        return np.r_[np.zeros(self.scene.drive.joints), np.full(self._limits, self._effort)]

    def _choose_priors(self) -> np.ndarray:
        """(N,) which trajectory of the previous frame each walker stays near, -1 for none (eq. 29)."""
        n = self.settings.samples
        if self._noisy or not len(self._previous):
            return np.full(n, -1)
        return self._without(self.rng.choice(len(self._belief), size=n, p=self._belief))

    def _mix_priors(self, states: np.ndarray, k: int) -> np.ndarray:
        """(N,) which of the previous frame's samples of step k each walker stays near, -1 for none (eqs. 25, 26)."""
        u = self.rng.random(len(states))
        if k >= len(self._previous):
            return np.full(len(states), -1)
        return self._without(pick(mixture(states, self._began[k], self._belief[k]), u))

    def _without(self, prior: np.ndarray) -> np.ndarray:
        """Priors with -1 in the slots that go without."""
        prior[2 : self._guided()] = -1
        return prior

    def _guided(self) -> int:
        """The first slot after the warm starts and those that go without a prior."""
        return min(2 + round(self.settings.no_prior * self.settings.samples), self.settings.samples)
