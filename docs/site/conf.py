"""Sphinx's configuration: the pages that sources.py has put together."""

from pathlib import Path

from vwlite.version import __version__

project, author, copyright = "vwlite", "the vwlite authors", "the vwlite authors"
release = version = __version__
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"vwlite {__version__}"
html_show_sphinx = False
smartquotes = False  # -- begins an option
html_static_path = ["static"]
html_css_files = ["site.css", "charts.css"]
html_js_files = ["site.js"]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
suppress_warnings = ["misc.highlighting_failure"]  # output in blocks of Python and of shells
linkcheck_timeout = 10
DARK = "#79bdf0"  # of links
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0059a8",
        "color-brand-content": "#0059a8",
        "color-brand-visited": "#6a3a9c",
    },
    "dark_css_variables": {"color-brand-primary": DARK, "color-brand-content": DARK, "color-brand-visited": "#c4a5e8"},
}


def setup(app):
    """charts.css is written beside the pages."""
    app.config.html_static_path.append(str(app.srcdir / "static"))
