"""Settings: frozen dataclasses of numbers and switches, changed by name.

replaced(CPBPSettings(), {"samples": 64, "calm.speed": 0.4})
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from tumble.errors import UserError, unknown


def replaced(settings: Any, changes: Mapping[str, float]) -> Any:
    """A copy of a settings dataclass with fields, named 'field' or 'field.field', changed at once."""
    fields = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    new: dict[str, Any] = {}
    nested: dict[str, dict[str, float]] = {}
    for name, value in changes.items():
        head, _, rest = name.partition(".")
        if head not in fields or (rest != "") != dataclasses.is_dataclass(fields[head]):
            raise unknown("setting", name, names_of(settings))
        old = fields[head]
        if rest:
            nested.setdefault(head, {})[rest] = value
        elif isinstance(old, int) and not float(value).is_integer():
            raise UserError(f"{name} must be a whole number, got {value:g}")
        else:
            new[head] = type(old)(value)
    new |= {head: replaced(fields[head], inner) for head, inner in nested.items()}
    return dataclasses.replace(settings, **new)


def names_of(settings: Any) -> list[str]:
    """The names of all settings, nested ones with dots."""
    names: list[str] = []
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        nested = names_of(value) if dataclasses.is_dataclass(value) else []
        names += [f"{field.name}.{name}" for name in nested] or [field.name]
    return names
