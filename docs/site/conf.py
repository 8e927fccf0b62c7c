"""Sphinx's configuration: the pages that sources.py has put together."""

from vwlite.version import __version__

project, author, copyright = "vwlite", "the vwlite authors", "the vwlite authors"
release = version = __version__
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"vwlite {__version__}"
html_show_sphinx = False
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
suppress_warnings = ["misc.highlighting_failure"]  # output in blocks of Python and of shells
linkcheck_timeout = 10
