"""Sphinx settings: Markdown pages, numpydoc docstrings, one generated page per example.

Nothing of a page is fetched: equations become MathML while it is built, by docutils, which Sphinx
brings and every browser reads.
"""

from __future__ import annotations

import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS.parent / "wrapping" / "writing")]

from write_example_pages import write_example_pages  # noqa: E402  (found only now)

import itk_consensus  # noqa: E402

project = "itk_consensus"
author = copyright = "itk_consensus contributors"
version = release = itk_consensus.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "paper"]
html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_domain_indices = False  # of one module
html_title = f"itk_consensus {version}"
autodoc_typehints = "none"
numpydoc_show_class_members = False
# The changelog links to files of the repository, which are no pages here.
suppress_warnings = ["myst.xref_missing"]

write_example_pages(DOCS / "examples")


def setup(app: Sphinx) -> None:
    """Add the renderer of equations."""
    app.add_html_math_renderer("mathml", (_write_equation, None), (_write_equation, None))


def _write_equation(page: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    displayed = isinstance(node, nodes.math_block)
    try:
        equation = tex2mathml(node.astext(), as_block=displayed)
    except MathError as error:
        # A warning, which the build makes an error, names the page; the source stays readable.
        logging.getLogger("docs").warning("equation: %s", error, location=node)
        equation = page.encode(node.astext())
    tag = "div" if displayed else "span"
    page.body.append(f'<{tag} class="math">{equation}</{tag}>')
    raise nodes.SkipNode
