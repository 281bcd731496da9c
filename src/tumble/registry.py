"""Registry: things that people choose by name, each added by one call, ours and a user's alike.

    GOALS = Registry("goal")
    GOALS.register("balance", balance, "stay up and at rest, or get there")
    GOALS["balance"].summary                 # entries know their name, make, summary and where they were registered
    GOALS["balance"](scene)                  # calling an entry calls its `make`
    GOALS["balanse"]                         # no goal 'balanse'; there are: balance (did you mean 'balance'?)

A registry is a mapping in the order of registration. A name belongs to whoever came first: a second call is refused
with both places. Nothing is ever replaced, except by `restore`, for those who load a file again.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Generic, NamedTuple, TypeVar

from tumble.errors import UserError, unknown


class Place(NamedTuple):
    """Where in which file something was registered."""

    file: str
    line: int

    def __str__(self) -> str:
        """For messages: 'mine.py, line 3'."""
        return f"{self.file}, line {self.line}"


M = TypeVar("M", bound=Callable[..., Any])


@dataclass(frozen=True)
class Entry(Generic[M]):
    """Something that people choose by name; a kind that needs more adds fields.

    Attributes:
      name: how people call it.
      make: makes one; calling the entry calls it.
      summary: a line for people.
      where: the call that registered it.
    """

    name: str
    make: M
    summary: str
    where: Place

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Make one, by whatever arguments `make` takes."""
        return self.make(*given, **named)


E = TypeVar("E", bound=Entry)


class Registry(Mapping[str, E]):
    """Entries by name, in the order in which they came.

    Args:
      kind: what the entries are, for messages: 'goal'.
      entry: the class of the entries, with a field for each further argument of `register`.
      check: called with an entry before it is let in; refuses by raising.
    """

    def __init__(
        self, kind: str, entry: type[E] = Entry, check: Callable[[E], object] = lambda entry: None  # type: ignore[assignment]
    ) -> None:  # fmt: skip
        """An empty registry; see the class for the arguments."""
        self.kind, self._entry, self._check = kind, entry, check
        self._entries: dict[str, E] = {}
        self._followers: list[Callable[[E], object]] = []

    def register(self, name: str, make: Callable[..., Any], summary: str, **more: Any) -> None:
        """Add an entry by a name that is free.

        Args:
          name: a word as it is typed in a command: without blanks, no option, no file.
          make: makes one; see the registry at hand for what it is called with.
          summary: one line that `tumble list` shows.
          more: what this kind of entry needs beside, such as the `settings` of a controller.
        """
        caller = sys._getframe(1)
        self.add(self._built(name, make, summary, Place(caller.f_code.co_filename, caller.f_lineno), more))

    def add(self, entry: E) -> None:
        """Add an entry that was registered elsewhere, as a planner that is also a controller."""
        if entry.name in self._entries:
            first = self._entries[entry.name].where
            raise UserError(
                f"{self.kind} '{entry.name}' is registered twice: first in {first}, again in {entry.where};"
                f" give one of them another name"
            )
        self._check(entry)
        for tell in self._followers:  # who may refuse it, too
            tell(entry)
        self._entries[entry.name] = entry

    def follow(self, tell: Callable[[E], object]) -> None:
        """Call `tell` with every entry that is there, and with every one that comes."""
        for entry in self.values():
            tell(entry)
        self._followers.append(tell)

    def restore(self, entries: Mapping[str, E]) -> None:
        """Have these entries and no others: what `dict(registry)` was before a file was loaded."""
        self._entries = dict(entries)

    def _built(self, name: str, make: Callable[..., Any], summary: str, where: Place, more: Mapping[str, Any]) -> E:
        """The entry of a call of `register`; refuses names, summaries and further arguments that will not do."""
        if not isinstance(name, str) or name.split() != [name] or name.startswith("-") or name.endswith(".py"):
            raise UserError(
                f"the name of a {self.kind} is a word without blanks, '-' before or '.py' behind, got {name!r}"
            )
        if not callable(make):
            raise UserError(f"{self.kind} '{name}' needs something to call that makes it, got {make!r}")
        if not isinstance(summary, str) or not summary.strip() or "\n" in summary:
            raise UserError(f"{self.kind} '{name}' needs a summary of one line, got {summary!r}")
        wanted = fields(self._entry)[len(fields(Entry)) :]
        needed = {field.name for field in wanted if field.default is MISSING}
        if not needed <= set(more) <= {field.name for field in wanted}:
            takes = ", ".join(f"{field.name}=..." for field in wanted) or "nothing more"
            raise UserError(
                f"{self.kind} '{name}' takes name, make, summary and {takes}, got {', '.join(more) or 'less'}"
            )
        return self._entry(name=name, make=make, summary=summary, where=where, **more)

    def __getitem__(self, name: str) -> E:
        """The entry of that name, or the error that lists those there are."""
        if name not in self._entries:
            raise unknown(self.kind, name, self._entries)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)
