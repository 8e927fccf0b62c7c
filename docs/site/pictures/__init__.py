"""The pictures of the site as SVG, drawn whenever it is built; '<!-- picture: NAME -->' in a page stands for one."""

import re
from collections.abc import Callable
from html import escape

from pictures import aso, crr, dyadic, run, speed

DRAWN: dict[str, Callable[[], str]] = {
    "aso-theta": aso.theta,
    "crr-pairs": crr.pairs,
    "dyadic-step": dyadic.step,
    "run": run.flow,
    "speed": speed.chart,
}
MARK = re.compile(r"^<!-- picture: ([\w-]+)(?: \| (.+))? -->$", re.M)


def placed(text: str) -> str:
    """A page with its pictures; what stands behind a bar is the caption."""
    return MARK.sub(lambda found: figure(DRAWN[found[1]](), found[2] or "", "sketch"), text)


def figure(svg: str, caption: str = "", kind: str = "") -> str:
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure class="picture {kind}">{svg}{below}</figure>'
