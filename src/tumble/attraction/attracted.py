"""Attracted: the controller that follows trees. It stands, does skills, and whoever lies is asked up by a tree.

    controller = Attracted(scene, AttractionSettings(tree="getup-1"))
    session = Session(scene, controller, start, Balance())
    session.send(Do("crouch; rise; jump; twist"))

Whoever lies holds its pose while trees are asked (`Inquiry`); then the branch is followed, and at its end the standing
controller takes over. Whoever is pushed meanwhile is no longer where the branch expects it, and asks again. Where no
branch leads up, a search around the best one is tried, and another pose. Wherever a tree was grown, it serves for all
headings: distances are taken as if the body faced as the tree's target does, and it rises facing anywhere, or where it
is wanted (Balance(facing=...)).
"""

import math
from collections.abc import Mapping

import numpy as np

from tumble.attraction.inquiry import ASTRAY, AttractionSettings, Branch, Inquiry
from tumble.attraction.progress import Phase, TreeProgress
from tumble.attraction.questions import system_of
from tumble.attraction.rolling import FALLEN, LEANING
from tumble.attraction.shipped import shipped, tree_named
from tumble.attraction.standing import StandingFeedback
from tumble.attraction.tree import Tree
from tumble.attraction.upright import SLOW
from tumble.control.controller import Controller, Report
from tumble.errors import UserError, unknown
from tumble.goals.wants import Balance, Do, Want, lines_of, name_of, part, parts
from tumble.settings import replaced
from tumble.world.drives import Pd
from tumble.world.scene import Scene
from tumble.world.sims import Sims

ACTS: Mapping[str, str] = {"crouch": "stand-crouch", "rise": "crouch-stand", "jump": "jump", "twist": "twist"}
RISING = ("getup-", "crouch-stand", "rise")  # what names of trees begin with that lead up
SETTLE = 0.7  # s that it takes to another pose before trees are asked from there; not given; ours


class Attracted(Controller):
    """Stands by feedback, does skills by their trees, and gets up by a tree.

    Attributes:
      branch: that is followed; None where none is.
      frame: of the branch, the next one.
      inquiry: what is asked of trees.
    """

    takes = (Balance, Do)

    def __init__(
        self, scene: Scene, settings: AttractionSettings = AttractionSettings(), seed: int = 0, threads: int = 0
    ) -> None:
        self.settings, self._threads = settings, threads
        self._trees: dict[str, Tree] = {}
        self._acts: list[str] = []
        self._asked: Do | None = None  # what the acts are of
        self._facing: float | None = None
        self._played: np.ndarray | None = None
        self.inquiry = Inquiry(settings, seed)
        names = [settings.tree] if settings.tree else [name for name in shipped() if name.startswith(RISING)]
        self._rising = [self._tree(name) for name in names]
        if not names:
            raise UserError("no tree for getting up ships; build one with 'tumble tree build getup-1 mine.tree'")
        self._system = system_of(self._rising[0])  # whose goal, to stand, all of them share
        self._forget()
        self.move(scene)

    def move(self, scene: Scene) -> None:
        """Go on in another scene, on the branch that is followed: whatever else is there, its body is the same."""
        ours = self._system.scene.character
        if scene.character.origin != ours.origin:
            raise UserError(f"trees that ship are of the body '{ours.name}', here it is '{scene.character.name}'")
        if Pd.name not in scene.drives:
            raise UserError(f"trees need the drive '{Pd.name}'; the scene has: {', '.join(scene.drives)}")
        self.scene, self.drive = scene, scene.drives[Pd.name]
        self._standing = StandingFeedback(scene)

    def start(self, sims: Sims) -> None:
        if sims.nsim != 1:
            raise UserError(f"a tree controls one simulation, got {sims.nsim}")
        self._forget()
        self._acts, self._asked = [], None

    def _forget(self) -> None:
        self.branch: Branch | None = None
        self._ghosts: np.ndarray | None = None
        self.frame = 0
        self.inquiry.drop()
        self._hold: np.ndarray | None = None  # references of whoever lies
        self._stays: np.ndarray | None = None  # references of whoever came to a stance that is held
        self._poses = 0  # that were tried by whoever lies, its own the first
        self._pause = 0.0  # s to wait before the next question

    def _tree(self, name: str) -> Tree:
        """A tree by its name or file, read once."""
        if name not in self._trees:
            self._trees[name] = tree_named(name, self._threads)
            system_of(self._trees[name])
        return self._trees[name]

    # What is wanted ---------------------------------------------------------------------------------

    def refuses(self, sims: Sims, want: Want) -> str | None:
        for one in parts(want):
            if not isinstance(one, self.takes):
                return f"trees do not take the want '{name_of(one)}'"
        try:
            for act in acts_of(part(want, Do)):
                self._tree(ACTS[act])
        except UserError as error:
            return str(error)
        return None

    def want(self, sims: Sims, want: Want) -> None:
        """Acts are done from the first on, unless they are under way or done: whoever wants them again says so anew."""
        facing = getattr(part(want, Balance), "facing", None)
        self._facing = None if facing is None else math.atan2(facing[1], facing[0])
        if part(want, Do) is not self._asked:
            self._asked = part(want, Do)
            self._acts = acts_of(self._asked)

    def play(self, controls: np.ndarray) -> None:
        """Hand out recorded controls (frames, size) from now on, and ask nothing."""
        self._played = controls

    # What it does -----------------------------------------------------------------------------------

    def control(self, sims: Sims) -> np.ndarray:
        if self._played is not None:
            control, self._played = self._played[:1], self._played[1:]
            return control
        state = self._state(sims)
        if self.inquiry.waiting and self.inquiry.due == 0:
            self._take_answer(state)
        if self.branch is not None and self.frame >= len(self.branch.track):
            self._end_branch(sims)
        trees = self._wanted(sims, state)
        if trees and not self.inquiry.waiting:
            self._ask(sims, state, trees)
        control = self._own(sims)
        self.inquiry.work()
        self.frame += 1
        return control

    def _state(self, sims: Sims) -> np.ndarray:
        """(nstate,) of the character alone; what else is in the scene comes after it."""
        model = self._system.drive.model
        return np.r_[sims.view("qpos")[0, : model.nq], sims.view("qvel")[0, : model.nv]]

    def _lies(self, sims: Sims) -> bool:
        """Whether it is beyond what the standing controller catches, and not in a stance that is held."""
        height, up = self._system.stature(sims, np.arange(1))
        return bool((height[0] < FALLEN and self._stays is None) or up[0] < LEANING)

    def _take_answer(self, state: np.ndarray) -> None:
        """Follow what was found; who lies and has nothing left to ask takes another pose."""
        exhausted, searched = self.inquiry.exhausted, self.inquiry.searching
        branch = self.inquiry.answer(state)
        if branch is not None:
            self.branch, self.frame = branch, 0
            self._hold, self._stays, self._poses = None, None, 0
        elif exhausted and self._hold is not None and (searched or self._poses == 0):
            tree = self._rising[self._poses % len(self._rising)]
            self._hold = tree.system.angles(tree.system.target[None])[0]
            self._poses, self._pause = self._poses + 1, SETTLE
            self.inquiry.forget()

    def _end_branch(self, sims: Sims) -> None:
        """The branch has led to its goal, or not: where it has, and was the act's, the next act may come."""
        assert self.branch is not None
        tree, self.branch, self._ghosts = self.branch.tree, None, None
        self._stays = system_of(tree).end
        self._pause = self.settings.pause
        if self._acts and not self._lies(sims):
            up = self._acts[0] == "rise" and self._stays is None
            self._acts = self._acts[1:] if up or tree is self._tree(ACTS[self._acts[0]]) else self._acts

    def _wanted(self, sims: Sims, state: np.ndarray) -> list[Tree]:
        """The trees that it should be led by, where it is not, or is no longer where its branch expects it."""
        if self.branch is not None:
            expected = self.branch.expected[self.frame]
            astray = self._system.distances(state[None], expected)[0] > ASTRAY
            if not astray or not self._system.balanced(sims, np.arange(1), None)[0]:
                return self._leading_up() if astray else []
            self.branch = None  # somebody has put it on its feet
        if self._lies(sims):
            self._stays = None
            self._pause = 0.0 if self._hold is None else self._pause - self.scene.dt
            return self._leading_up() if self._pause <= 0 else []
        self._hold, self._poses = None, 0
        slow = float(np.linalg.norm(sims.view("com_velocity")[0])) < SLOW
        self._pause = max(self._pause, 0.0) - (self.scene.dt if slow else 0.0)
        if self._acts and self._pause <= 0:
            return [self._tree(ACTS[self._acts[0]])]
        self.inquiry.forget()
        self._ghosts = None
        return []

    def _leading_up(self) -> list[Tree]:
        """Trees that lead to standing, to facing right where that is wanted."""
        return [tree for tree in self._rising if self._facing is None or system_of(tree).facing is not None]

    def _own(self, sims: Sims) -> np.ndarray:
        """What it does without a new answer: follows its branch, stands, or holds its pose."""
        if self.branch is not None:
            if self.frame == 0 or self.frame - 1 in self.branch.stops:
                self._ghosts = self._shown(self.branch.ghosts(self.frame))  # of those that are still to come
            return self.branch.track[self.frame : self.frame + 1]
        if self._lies(sims):
            if self._hold is None:
                self._hold = sims.view("qpos")[0, self.drive.qpos].copy()
            return np.r_[self._hold, self._hold][None]
        if self._stays is not None:
            return np.r_[self._stays, self._stays][None]
        return self._standing.control(sims, np.arange(1))

    def _ask(self, sims: Sims, state: np.ndarray, trees: list[Tree]) -> None:
        """Ask trees for a way from where the body will be."""
        system = system_of(trees[0])
        row = sims.state[0] if len(sims.state[0]) == system.width else system.bodies.rows(state[None])[0]

        def own(frames: int) -> np.ndarray:
            if self.branch is not None:
                rest = self.branch.track[self.frame : self.frame + frames]
                end = system_of(self.branch.tree).end
                return rest if end is None else np.vstack([rest, np.tile(end, (frames - len(rest), 2))])
            if self._lies(sims) or self._stays is not None:
                return np.repeat(self._own(sims), frames, axis=0)
            return np.empty((0, self.drive.size))

        anywhere = self._facing is None and trees == self._leading_up()
        going = None if self.branch is None else (self.branch, self.frame)
        self.inquiry.ask(system, row, trees, self._facing, anywhere, own, going)
        if self.branch is None:
            self._ghosts = self._shown(self.inquiry.ghosts)

    def _shown(self, states: np.ndarray) -> np.ndarray:
        """qpos (n, nq) of states, for others to see."""
        return states[:, : self._system.drive.model.nq].copy()

    # What others see of it --------------------------------------------------------------------------

    @property
    def progress(self) -> TreeProgress:
        """What it does, in figures; from any thread."""
        branch, inquiry = self.branch, self.inquiry
        if branch is None:
            return TreeProgress(self._phase, distance=inquiry.distance, asked=inquiry.asked)
        whole, left = len(branch.track), max(0, len(branch.track) - self.frame)
        return TreeProgress(
            Phase.FOLLOWS, str(branch.tree.system.recipe["skill"]), branch.node, branch.tree.depth(branch.node),
            left * self.scene.dt, whole * self.scene.dt, inquiry.waiting, branch.distance,
            branch.asked + inquiry.asked,
        )  # fmt: skip

    @property
    def _phase(self) -> Phase:
        """What it is at while it follows no branch."""
        if self.inquiry.waiting:
            return Phase.SEARCHES if self.inquiry.searching else Phase.ASKS
        if self._hold is not None:
            return Phase.SETTLES
        return Phase.STANDS if self._stays is None else Phase.STAYS

    @property
    def doing(self) -> str:
        """What it does, in words."""
        now = self.progress
        if now.phase is Phase.FOLLOWS:
            return f"{now.tree}: branch of node {now.node}, {now.depth} edges and {now.left:.1f} s to the goal"
        if self.inquiry.waiting:
            return str(self.inquiry)
        return "standing" if now.phase is Phase.STANDS else str(now.phase)

    def report(self) -> Report:
        """What it does, and as ghosts where its branch leads it, above all where edges begin, or the nodes it asks."""
        return Report(doing=self.doing, ghosts=self._ghosts)

    def check_parameters(self, changes: Mapping[str, float]) -> None:
        replaced(self.settings, changes)

    def set_parameters(self, changes: Mapping[str, float]) -> None:
        """Change settings by name, from the next question on."""
        self.settings = self.inquiry.settings = replaced(self.settings, changes)


def acts_of(do: Do | None) -> list[str]:
    """The acts of a script, in their order: names of `ACTS`, divided as every script is."""
    acts = [] if do is None else [act.lower() for _, act in lines_of(do.script)]
    for act in acts:
        if act not in ACTS:
            raise unknown("act", act, list(ACTS), " of a tree")
    return acts
