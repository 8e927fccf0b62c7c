"""Colours and CSS of charts, on light and on dark pages."""

from __future__ import annotations

# Okabe and Ito's, darker where a light page needs it for 3:1; as they are drawn, and on dark pages.
DARK = {
    "#0072b2": "#56b4e9",
    "#c95800": "#ff9a4d",
    "#008560": "#3fcf9f",
    "#b0568a": "#e39cc4",
    "#9a6700": "#f0c04a",
    "#2480b5": "#9bd3f5",
    "#7f3c8d": "#c99ad6",
    "#4d4d4d": "#c9c9c9",
    "#767676": "#9a9a9a",
}
*COLOURS, GREY = DARK
TEXT, GRID, FRAME = ("#333333", "#d8dadd"), ("#e4e4e4", "#2f3337"), ("#666666", "#9aa0a6")  # light and dark
PLAIN = f"""\
svg text {{font: 11px system-ui, sans-serif; fill: {TEXT[0]}}} svg .title {{font-size: 13px; font-weight: 600}}
svg .grid {{stroke: {GRID[0]}}} svg .axis {{stroke: {FRAME[0]}; fill: none}}
svg .hover {{stroke: transparent; stroke-width: 13px; stroke-linecap: round; fill: none}}
svg .hover:hover {{stroke: {TEXT[0]}; stroke-width: 7px}} svg rect:hover {{fill-opacity: 1}}"""


def dark_rules(scope: str = "") -> str:
    """Rules of a dark page, for what is within ``scope``, a selector; they stand behind those of a light one."""
    rules = {
        "svg text": f"fill: {TEXT[1]}",
        "svg .grid": f"stroke: {GRID[1]}",
        "svg .axis": f"stroke: {FRAME[1]}",
        "svg .hover:hover": f"stroke: {TEXT[1]}",
    }
    for light, dark in DARK.items():
        rules[f'svg [stroke="{light}"]'] = f"stroke: {dark}"
        rules[f'svg [fill="{light}"]'] = f"fill: {dark}"
    return "\n".join(f"{scope} {selector} {{{rule}}}".lstrip() for selector, rule in rules.items())


STYLE_OF_CHARTS = f"{PLAIN}\n@media (prefers-color-scheme: dark) {{\n{dark_rules()}\n}}"
