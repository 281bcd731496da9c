"""Ground that people change while a session goes on, by `Carve`: it enters another scene before the next frame."""

from collections.abc import Iterable, Sequence

from tumble.control.controller import Controller, Treading
from tumble.errors import UserError
from tumble.live.commands import Carve, Command
from tumble.stepping.carving import carved
from tumble.world.props import Prop
from tumble.world.scene import Ground
from tumble.world.sims import Sims


def carves_in(commands: Iterable[Command]) -> tuple[Carve, ...]:
    """Those that change the ground, in their order."""
    return tuple(command for command in commands if isinstance(command, Carve))


def ground_after(controller: Controller, world: Sims, carves: Iterable[Carve]) -> tuple[Sequence[Prop], Ground]:
    """Props and ground of a world after gaps and stones came or went one after the other; refuses what cannot be.

    That takes who plans steps: gaps and stones are nothing to all others.
    """
    scene = world.scene
    props: Sequence[Prop] = scene.props
    ground = scene.ground
    for carve in carves:
        if not isinstance(controller, Treading):
            raise UserError("nobody here plans steps over gaps and onto stones; choose the controller 'stones'")
        carve.check(scene)
        feet, widest, planar = controller.taken(world), controller.widest, scene.character.planar
        props, ground = carved(props, ground, carve.at, carve.width, feet, widest, planar)
    return props, ground
