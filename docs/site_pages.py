"""How pages are read: taken from elsewhere in the repository, with parts that are made of the code, and with links.

A page that says `<!-- taken from experiments/rates/README.md -->` is that text. Fences such as ```{settings} cpbp
become what `site_parts` makes of them. Links of all pages stay as they are read in the repository,
`../experiments/rates/README.md`, and are made to lead to pages of the site here.
"""

import os
import re
from pathlib import Path, PurePosixPath

from site_parts import MAKERS
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
TAKEN = re.compile(r"<!-- taken from (\S+) -->")
PART = re.compile(r"^```\{([a-z-]+)\}([^\n]*)\n```$", re.MULTILINE)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
ELSEWHERE = re.compile(r"^[a-z]+:|^/")  # addresses, and pages from the top


def pages_of() -> dict[str, str]:
    """Where texts of the repository are found as pages of the site."""
    found = {}
    for page in (ROOT / "docs").rglob("*.md"):
        taken = TAKEN.search(page.read_text())
        if taken:
            found[taken[1]] = "/" + page.relative_to(ROOT / "docs").as_posix()
    return found | {"examples": "/examples.md", "README.md": "/index.md"}


PAGES = pages_of()


def relinked(text: str, home: str, page: str) -> str:
    """A text that lies in the folder `home` of the repository, with links as the page of the site `page` wants them."""

    def target(found: re.Match[str]) -> str:
        link, anchor = found[1], found[2] or ""
        if ELSEWHERE.match(link):
            return found[0]
        place = os.path.normpath(PurePosixPath(home, link)).replace(os.sep, "/")
        if place in PAGES:
            return PAGES[place] + anchor
        if place.startswith("examples/"):
            return f"/examples.md#{Path(place).stem.replace('_', '-')}"
        if place.startswith("docs/"):
            return f"/{place.removeprefix('docs/')}{anchor}"
        return os.path.relpath(ROOT / place, (ROOT / "docs" / page).parent) + anchor

    return LINK.sub(target, text)


def made(text: str) -> str:
    """A text with its parts in the place of their fences; other directives stay."""
    return PART.sub(lambda found: MAKERS[found[1]](found[2].split()) if found[1] in MAKERS else found[0], text)


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Take a text in, make its parts, mend its links."""
    taken = TAKEN.search(source[0])
    home = f"docs/{page}.md"
    if taken:
        home = taken[1]
        app.env.note_dependency(str(ROOT / home))
        source[0] = (ROOT / home).read_text()
    source[0] = relinked(made(source[0]), str(PurePosixPath(home).parent), page)


def setup(app: Sphinx) -> dict[str, bool]:
    """For Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
