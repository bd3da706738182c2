"""How the documentation is built: ``make docs`` writes docs/_build, and warnings are errors.

Nothing is fetched: the build works offline, and every page can be opened from the disk.
"""  # noqa: INP001

import sys
from pathlib import Path

from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

import heldout

lexers["csv"] = TextLexer()  # Pygments has none
# numpydoc compiles its template again for each docstring, which takes a sixth of the build.
environments: dict[type, SandboxedEnvironment] = {}
docscrape_sphinx.SandboxedEnvironment = lambda loader: environments.setdefault(
    type(loader), SandboxedEnvironment(loader=loader)
)
sys.path.insert(0, str(Path(__file__).parent / "_extension"))

project = "heldout"
author = "the authors of heldout"
copyright = author  # noqa: A001
version = release = heldout.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "api_pages",
    "command_pages",
    "gallery_pages",
    "measure_pages",
    "warning_pages",
]
exclude_patterns = ["_build", "_extension", "Thumbs.db", ".DS_Store"]

# References that lead nowhere are errors, in pages and in docstrings.
nitpicky = True
default_role = "py:obj"
# In docstrings single backticks also hold names of parameters: they link where they can.
nitpick_ignore_regex = [("py:obj", ".*")]

myst_enable_extensions = ["deflist", "fieldlist", "colon_fence"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # numpydoc's Parameters say it in words
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = f"heldout {release}"
html_static_path = ["_static"]
html_css_files = ["heldout.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
smartquotes = False  # -- is the beginning of an option
templates_path: list[str] = []
