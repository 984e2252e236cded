"""Sphinx: `make docs` builds these pages into build/docs, without the network and with warnings as errors."""

from importlib import metadata

project = "evoke"
author = copyright = "The evoke developers"
version = release = metadata.version("evoke")

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax"]
templates_path = ["_templates"]
root_doc = "index"

myst_heading_anchors = 3
# Files outside of this folder are for those who read on GitHub or in a checkout.
suppress_warnings = ["myst.header"]

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it with shapes and units
numpydoc_show_class_members = False  # the template lists them
nitpicky = True

html_theme = "furo"
html_title = f"evoke {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False


def skip_foreign(app, what, name, obj, skip, options):
    """Members that come from scikit-learn (get_params, set_output, metadata routing) are described there."""
    obj = getattr(obj, "fget", obj)
    return skip or not (getattr(obj, "__module__", None) or "evoke").startswith("evoke")


def setup(app):
    app.connect("autodoc-skip-member", skip_foreign)
