"""The documentation as a site: `pip install ".[docs]"` and `sphinx-build -W docs site`.

Pages are Markdown (MyST). What the code knows better than any text is made of the code by
`site_parts`; what lies elsewhere in the repository, such as reports of experiments, is taken in by `site_pages`.
"""

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

project, author, copyright = "tumble", "The tumble developers", "2026, the tumble developers"
release = version = version_of("tumble")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
extensions += ["site_pages", "site_math"]
exclude_patterns = ["*.py"]
myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "tumble"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_math_renderer = "mathml"
pygments_style, pygments_dark_style = "friendly", "github-dark"

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True}
napoleon_attr_annotations = False
default_role = "code"
highlight_language = "none"  # of fences without a language: commands


def plain(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text: departures stand on the methods' pages, and no sign is a mark of reStructuredText."""
    text = re.split(r"^\s*\*?\*?Departures\b", "\n".join(lines), flags=re.MULTILINE)[0]
    lines[:] = re.sub(r"(\||(?<=\w)_(?!\w))", r"\\\1", text).splitlines()


def setup(app: Any) -> None:
    """For Sphinx."""
    app.connect("autodoc-process-docstring", plain, priority=100)  # before napoleon
