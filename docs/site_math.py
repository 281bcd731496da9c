"""Formulas as MathML, which browsers draw by themselves: the site needs no network and runs no script for them."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator


def visit_math(self: HTML5Translator, node: nodes.math) -> None:
    """Of a line of text."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_displaymath(self: HTML5Translator, node: nodes.math_block) -> None:
    """That stands by itself."""
    self.body.append(f'<div class="formula">{convert(node.astext(), display="block")}')
    if node["number"]:
        self.body.append(f"<span>({get_node_equation_number(self, node)})</span>")
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """For Sphinx."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
