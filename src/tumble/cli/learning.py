"""The options --learned and --frozen: what was learned, loaded and told of."""

from pathlib import Path

from rich.console import Console

from tumble.control.controller import Controller
from tumble.errors import UserError
from tumble.live.learning import Learning


def load_learning(path: Path, frozen: bool, name: str, controller: Controller) -> Learning:
    """What a controller like this one, called by that name, learned; tells what was wrong with the file.

    Whoever takes it closes it, which writes what was added.
    """
    learning = Learning(path, frozen, name, controller)
    if learning.file.warning is not None:
        Console(stderr=True, highlight=False).print(f"tumble: {learning.file.warning}", markup=False, soft_wrap=True)
    return learning


def check_frozen(learned: Path | None, frozen: bool) -> None:
    """Refuse to freeze what was not learned."""
    if frozen and learned is None:
        raise UserError("--frozen is for what was learned; name its file: --learned FILE")
