"""Sphinx: `make docs` builds these pages into build/docs, without the network and with warnings as errors."""

from importlib import metadata

project = "evoke"
author = copyright = "The evoke developers"
version = release = metadata.version("evoke-learn")

extensions = [
    "myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax",
    "sphinx_design", "sphinx_gallery.gen_gallery",
]  # fmt: skip
templates_path = ["_templates"]
root_doc = "index"

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
# Files outside of this folder are for those who read on GitHub or in a checkout.
suppress_warnings = ["myst.header"]

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it with shapes and units
numpydoc_show_class_members = False  # the template lists them
nitpicky = True

# Those that need no data are run, for their figures; tests/test_examples.py runs all.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "filename_pattern": r"/(anbncn|sines|own_sequences)\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1e9,
}

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["evoke.css"]
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
