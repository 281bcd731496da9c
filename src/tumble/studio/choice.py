"""Choice: what is played in a studio, and the trial that it makes.

choice = Choice("push", "biped", "relay", options=(("force", 900.0),))
trial = choice.trial(threads=0)
"""

import contextlib
from dataclasses import dataclass, replace
from typing import Any, cast

import msgspec

from tumble.characters import CHARACTERS, Character, character, from_recipe
from tumble.control.controller import Controller
from tumble.controllers import CONTROLLERS
from tumble.controllers.relay import Relay
from tumble.errors import UserError
from tumble.goals.wants import Balance
from tumble.live.commands import Restyle
from tumble.live.session import edited_styles, restyled
from tumble.planners import Planned
from tumble.scenarios import SCENARIOS, Scenario, Trial
from tumble.settings import replaced
from tumble.toml import toml_of
from tumble.world.dressing import check_room, dressed, put
from tumble.world.props import Prop
from tumble.world.scene import Scene


@dataclass(frozen=True)
class Choice:
    """What is played; options of the scenario and proportions of the character are those not at their defaults.

    The stance is for scenarios that want balance, where it is not to be the scenario's own. What people have placed,
    and the names of what they have removed, change the scenario's set; another scenario has its own again.
    """

    scenario: str = "stand"
    character: str = "humanoid"
    controller: str = "cpbp"
    seed: int = 0
    options: tuple[tuple[str, float], ...] = ()
    proportions: tuple[tuple[str, float], ...] = ()
    stance: Balance | None = None
    placed: tuple[Prop, ...] = ()
    removed: tuple[str, ...] = ()

    def body(self) -> Character:
        """The character with its proportions."""
        plain = character(self.character)
        return from_recipe({**plain.recipe, **dict(self.proportions)}) if self.proportions else plain

    def built(self) -> Scenario:
        """The scenario with its options."""
        return cast(Scenario, replaced(SCENARIOS[self.scenario].make(), dict(self.options)))

    def trial(self, threads: int = 0, settings: Any = None) -> Trial:
        """A trial at its beginning; refuses what does not go together.

        Args:
          threads: for planning; 0: one per core.
          settings: of the controller; None takes those that it has in this scenario.
        """
        scenario = self.built()
        usual = settings or live(scenario.settings_for(self.controller))
        trial = Trial(scenario, self.seed, self.controller, self.body(), usual, threads, scene=self._scene(scenario))
        wanted = trial.session.wanted
        if self.stance is not None and isinstance(wanted, Balance):
            trial.session.send(stood(wanted, self.stance.pose, self.stance.roll))  # by nobody who directs
        return trial

    def _scene(self, scenario: Scenario) -> Scene | None:
        """The scenario's scene with the set as people want it; None where that is the scenario's own."""
        if not (self.placed or self.removed):
            return None
        scene = scenario.scene(scenario.body(self.body(), self.seed), self.seed)
        props = put([prop for prop in scene.props if prop.name not in self.removed], *self.placed)
        found = dressed(scene, props)
        check_room(found, found.state(), {prop.name for prop in self.placed})
        return found

    def with_scenario(self, name: str) -> "Choice":
        """The choice with another scenario, and with whom that suggests where it does not suggest the present ones."""
        old, new = SCENARIOS[self.scenario].make, SCENARIOS[name].make
        suited = new().suited() or new.controllers
        controller = self.controller if self.controller in suited else suited[0]
        stays = self.character in new.characters or old.characters == new.characters
        if stays and CONTROLLERS[controller].suits(character(self.character)):
            return replace(self, scenario=name, controller=controller, options=(), stance=None, placed=(), removed=())
        return Choice(name, new.body_for(controller), controller, self.seed)


def bodies(chosen: str) -> list[str]:
    """Names of all characters, and of the one that is chosen, which may be a robot of somebody's own."""
    return list(dict.fromkeys([*CHARACTERS, chosen]))


def live(settings: Any) -> Any:
    """Settings to begin with in the studio: who can learn in the background does, because time goes on meanwhile."""
    return replace(settings, background=True) if hasattr(settings, "background") else settings


def stood(balance: Balance, pose: str | None, roll: bool | None) -> Balance:
    """Balance in a stance; None leaves what there is."""
    given = {name: value for name, value in (("pose", pose), ("roll", roll)) if value is not None}
    return msgspec.structs.replace(balance, **given)


def standing(choice: Choice, before: Choice, stance: Balance) -> tuple[Choice, str]:
    """A choice with the present stance where the scenario stays; and the pose that its body has not, or ''.

    Args:
      before: what was played.
      stance: in which that balanced; a scenario's own is not kept, as it comes with the scenario.
    """
    if choice.scenario != before.scenario:
        return replace(choice, stance=None), ""
    own = choice.built().wants()
    if stance == (Balance(pose=own.pose, roll=own.roll) if isinstance(own, Balance) else Balance()):
        return replace(choice, stance=None), ""
    missing = stance.pose if stance.pose is not None and stance.pose not in choice.body().poses else ""
    return replace(choice, stance=stood(stance, "rest", None) if missing else stance), missing


def inherit(controller: Controller, old: Controller) -> None:
    """Give a controller what one of its kind had before it: weights of terms, what was learned, styles of walking."""
    if isinstance(controller, Relay) and isinstance(old, Relay):
        inherit(controller.rising, old.rising)
    if isinstance(controller, Planned) and isinstance(old, Planned):
        controller.weights = dict(old.weights)
        controller.planner.learn_from(old.planner)
    if type(controller) is type(old):
        for style in edited_styles(old):
            with contextlib.suppress(UserError):  # a gait of another body stays there
                restyled(controller, Restyle(toml_of(style)))
