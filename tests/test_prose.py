"""The texts beside the code: how wide they are."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "experiments").glob("*/README.md")])
WIDEST = 100  # columns, CONTRIBUTING.md


def prose_of(text: str) -> list[str]:
    """Lines that are neither in a block of code nor rows of a table."""
    found, code = [], False
    for line in text.splitlines():
        code ^= line.lstrip().startswith("```")
        if not code and not line.startswith("    ") and not line.lstrip().startswith("|"):
            found.append(line)
    return found


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_prose_is_no_wider_than_it_should_be(path):
    assert [line for line in prose_of(path.read_text()) if len(line) > WIDEST] == []


def test_tables_and_code_are_no_prose():
    assert prose_of("a\n```\nb\n```\n| c |\n    d\ne") == ["a", "```", "e"]
