"""The pictures of the site as SVG, drawn whenever it is built; '<!-- picture: NAME -->' in a page stands for one."""

import re
from collections.abc import Callable, Iterable
from html import escape

from pictures import aso, crr, dyadic, gallery, run, speed

DRAWN: dict[str, Callable[[], str]] = {
    "aso-theta": aso.theta,
    "crr-pairs": crr.pairs,
    "dyadic-step": dyadic.step,
    "run": run.flow,
    "speed": speed.chart,
}
MARK = re.compile(r"^<!-- picture: ([\w-]+)(?: \| (.+))? -->$", re.M)


GALLERY = re.compile(r"^<!-- gallery: ([\w-]+) -->$", re.M)


def placed(text: str) -> str:
    """A page with its pictures; what stands behind a bar is the caption."""
    text = GALLERY.sub(lambda found: pair(gallery.charts(found[1])), text)
    return MARK.sub(lambda found: sketch(found[1], found[2] or ""), text)


def sketch(name: str, caption: str) -> str:
    return figure(DRAWN[name](), caption, "half" if name == "speed" else "sketch")


def pair(svgs: Iterable[str]) -> str:
    return f'<div class="pair">{"".join(figure(svg) for svg in svgs)}</div>'


def figure(svg: str, caption: str = "", kind: str = "") -> str:
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure class="picture {kind}">{svg}{below}</figure>'
