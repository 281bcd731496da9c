"""Every block of code in README.md and docs/ is run, or parsed, or says why not.

Blocks of a page run in its order, in one folder and with one set of names, as a reader goes through it. Python is
executed. What begins with `tumble` is a command: it is run, or, where a comment before the block says why not, parsed
by the command line as it is. Nothing else may stand in a block without a language and without such a comment.

    <!-- not run: it serves until Ctrl-C -->       parsed here
    <!-- slow: ten minutes -->                     parsed here, run by `pytest -m slow`
    <!-- demo -->, <!-- test -->                   others run these, see .ci/run
"""

import functools
import os
import re
import shlex
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import tyro
from doing import kept

from tumble.cli import dispatch
from tumble.userfile import REGISTRIES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
WHY = re.compile(r"<!-- (not run|slow|demo|test)(?:: ([^\n]+?))? -->\s*$")
COMMENT = re.compile(r"\s{2,}\S.*$")  # behind a command, for people
DATA = {"bibtex", "xml", "text", "toml", "json"}  # languages that nobody runs
MOST = 7168  # bytes of README.md


@dataclass(frozen=True)
class Block:
    """A fenced block: where it begins, its language, why it is not run, '' where it is."""

    line: int
    language: str
    text: str
    why: str

    @property
    def commands(self) -> list[list[str]]:
        """Words of its commands; empty where it has other lines."""
        lines = [COMMENT.sub("", line) for line in self.text.splitlines() if line.strip()]
        parts = [part.strip() for line in lines for part in line.split("&&")]
        return [shlex.split(part) for part in parts] if all(part.startswith("tumble ") for part in parts) else []


def blocks_of(text: str) -> list[Block]:
    """Blocks of a page, without directives of the site."""
    found = []
    for match in FENCE.finditer(text):
        if not match[2].startswith("{"):
            why = WHY.search(text[: match.start()])
            line = text[: match.start(3)].count("\n")
            found.append(Block(line, match[2].strip(), match[3], why[1] if why else ""))
    return found


class ParsedWell(Exception):
    """The command line was understood."""


def only_parsed(monkeypatch) -> None:
    """Have commands stop when they are parsed: in the place of what they call stands who says so."""
    real = tyro.cli

    def cli(function, **more):
        @functools.wraps(function)
        def stop(*given, **named):
            raise ParsedWell

        return real(stop, **more)

    monkeypatch.setattr(tyro, "cli", cli)


def parse(words: list[str], monkeypatch) -> None:
    """Parse a command without the first word."""
    with monkeypatch.context() as patch:
        only_parsed(patch)
        try:
            code = dispatch(words)
        except ParsedWell:
            return
        except SystemExit as end:
            code = end.code
    assert code == 0, f"tumble {shlex.join(words)} is not understood"  # help, and the like, come to their end


def run(words: list[str]) -> None:
    """Run a command without the first word."""
    try:
        code = dispatch(words)
    except SystemExit as end:
        code = end.code
    assert not code, f"tumble {shlex.join(words)} ended with {code}"


def go_through(page: Path, monkeypatch, folder: Path, slow: bool = False) -> None:
    """Run a page's blocks in a folder."""
    monkeypatch.chdir(folder)
    os.symlink(ROOT / "examples", folder / "examples")
    (folder / "mine.py").write_text((ROOT / "examples" / "own_scenario.py").read_text())
    names = {"__name__": "__main__"}
    with ExitStack() as stack:
        for registry in REGISTRIES:
            stack.enter_context(kept(registry))
        for block in blocks_of(page.read_text()):
            if block.language == "python" and not block.why:
                exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
            for _, *words in block.commands:
                run(words) if not block.why or (slow and block.why == "slow") else parse(words, monkeypatch)


def has_code(page: Path) -> bool:
    return any(block.language == "python" or block.commands for block in blocks_of(page.read_text()))


def is_slow(page: Path) -> bool:
    return any(block.why == "slow" for block in blocks_of(page.read_text()))


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_a_block_that_is_not_run_says_why(page):
    for block in blocks_of(page.read_text()):
        known = block.why or block.language in DATA or block.language == "python" or block.commands
        assert known, f"{named(page)}, line {block.line}: neither commands of tumble nor python, and no reason"


@pytest.mark.parametrize("page", [page for page in PAGES if has_code(page)], ids=named)
def test_a_page_runs(monkeypatch, tmp_path, page):
    go_through(page, monkeypatch, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if is_slow(page)], ids=named)
def test_a_slow_page_runs(monkeypatch, tmp_path, page):
    go_through(page, monkeypatch, tmp_path, slow=True)


def test_blocks_are_found():
    commands = "```\ntumble list      all\ntumble run a && tumble b 'c d'\n```"
    one, two = blocks_of("a\n```python\nx = 1\n```\n<!-- not run: why -->\n" + commands)
    assert (one.line, one.language, one.text, one.why) == (2, "python", "x = 1\n", "")
    assert two.why == "not run" and two.commands == [
        ["tumble", "list"],
        ["tumble", "run", "a"],
        ["tumble", "b", "c d"],
    ]
    assert blocks_of("```\npip install x\n```")[0].commands == [] and not blocks_of("```{figures} cpbp\n```")


def test_what_is_wrong_is_seen(monkeypatch, capsys):
    parse(["run", "push", "--force", "600"], monkeypatch)
    for words in (["run", "push", "--farce", "600"], ["run", "pushh"], ["lisst"], ["tree", "build", "--no-such"]):
        with pytest.raises(AssertionError, match="is not understood"):
            parse(words, monkeypatch)


def test_the_readme_is_short():
    text = (ROOT / "README.md").read_text()
    assert len(text.encode()) <= MOST and text.count("<!-- test -->") == 1
