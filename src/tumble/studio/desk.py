"""Desk: what one browser's page knows and does. Panels ask it; it asks the stage."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from nicegui import Client, ui

from tumble.errors import UserError
from tumble.live.commands import SetParameter
from tumble.studio.hub import WATCHING, Hub
from tumble.studio.presets import Presets
from tumble.studio.stage import Stage


class Desk:
    """One page's access to the stage.

    Attributes:
      hub, presets: shared by all pages.
      client: the page's own client of NiceGUI.
    """

    def __init__(self, hub: Hub, presets: Presets) -> None:
        self.hub, self.presets = hub, presets
        self.client = ui.context.client
        self._shows: list[Callable[[], None]] = []

    @property
    def stage(self) -> Stage:
        """What is played."""
        return self.hub.stage

    @property
    def controls(self) -> bool:
        """Whether this page controls."""
        return self.hub.controls(self.client.id)

    async def do(self, job: Callable[[], Any]) -> bool:
        """Have the stage do something between frames; tells the user why not. Returns whether it was done.

        A browser may be lost while its job waits, as one that is slow is: nobody is told anything then.
        """
        try:
            if not self.controls:
                raise UserError(WATCHING)
            await asyncio.wrap_future(self.stage.post(lambda: self.stage.dresser.remembered(job)))
        except UserError as error:
            if self.here:
                ui.notify(str(error), type="negative", multi_line=True)
                self.show()
            return False
        return self.here

    @property
    def here(self) -> bool:
        """Whether the page is still one of NiceGUI's."""
        return self.client.id in Client.instances

    async def set(self, values: Mapping[str, float]) -> None:
        """Change parameters of the controller, all at once, and tell the other pages."""
        changes = [SetParameter(name, value) for name, value in values.items()]
        if await self.do(lambda: self.stage.director.send(*changes)):
            self.hub.refresh(but=self.client.id)

    def doing(self, job: Callable[[], Any]) -> Callable[[], Awaitable[bool]]:
        """A handler that does a job."""
        return lambda: self.do(job)

    def shows(self, show: Callable[[], None]) -> None:
        """Have a panel's function called now, and whenever the stage has changed."""
        self._shows.append(show)
        show()

    def show(self) -> None:
        """Have all panels look at the stage again."""
        with self.client:
            for show in self._shows:
                show()
