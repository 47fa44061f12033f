"""Sphinx settings: Markdown pages, numpydoc docstrings, one generated page per method."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS.parent / "wrapping")]

from write_method_pages import write_method_pages  # noqa: E402  (found only now)

import itk_consensus  # noqa: E402

project = "itk_consensus"
author = copyright = "The itk_consensus developers"
version = release = itk_consensus.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "models"]
html_theme = "furo"
html_title = f"itk_consensus {version}"
autodoc_typehints = "none"
numpydoc_show_class_members = False
# The changelog links to files of the repository, which are no pages here.
suppress_warnings = ["myst.xref_missing"]

write_method_pages(DOCS / "models", DOCS / "methods")
