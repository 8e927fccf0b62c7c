"""How many times as fast as vw, from the table of the README."""

import re
from pathlib import Path

from pictures.drawing import BLUE, GREY, ORANGE, Drawing

README = Path(__file__).resolve().parent.parent.parent.parent / "README.md"
ROWS = {  # of the table, and what they are called here
    "text": "learn from text",
    "clicks": "learn from clicks",
    "mnist, `--oaa 10`, `-b 18`": "ten classes of images",
    "clicks, 5 passes": "five passes",
    "clicks 100 MB, `-q ::`, `-b 24`": "all pairs of features",
    "clicks, predict": "predict",
}
WIDTH, LEFT, HEIGHT = 560, 185, 48


def measured() -> dict[str, tuple[float, float, float]]:
    """Seconds of vwlite and of vw, and how many times one goes into the other, as the table has it."""
    text = README.read_text(encoding="utf-8")
    found = re.findall(r"^\| (.+?) \| ([\d.]+) \| [^|]+\| [^|]+\| ([\d.]+) \| [^|]+\| [^|]+\| ([\d.]+) \|", text, re.M)
    return {name: (float(one), float(other), float(ratio)) for name, one, other, ratio in found}


def chart() -> str:
    rows = {shown: measured()[name] for name, shown in ROWS.items()}
    told = "; ".join(f"{name} {ratio} times" for name, (_, _, ratio) in rows.items())
    drawn = Drawing(WIDTH, 30 + HEIGHT * len(rows), f"Bars: how many times as fast as vw 9.11 vwlite is. {told}.")
    room = (WIDTH - LEFT - 50) / max(ratio for *_, ratio in rows.values())
    for place, (name, (own, other, ratio)) in enumerate(rows.items()):
        y = 8 + HEIGHT * place
        drawn.text(LEFT - 10, y + 15, name, "end", 15)
        drawn.box(LEFT, y, ratio * room, 20, colour=BLUE, solid=0.85)
        drawn.box(LEFT, y + 23, room, 9, colour=ORANGE, solid=0.85)
        drawn.text(LEFT + ratio * room + 8, y + 10, f"{ratio:g} x", "start", 15, bold=True)
        drawn.text(LEFT + room + 8, y + 29, f"{own:g} s; vw {other:g} s", "start", 13)
    y = 16 + HEIGHT * len(rows)
    drawn.box(LEFT, y - 4, 14, 10, colour=BLUE, solid=0.85)
    drawn.text(LEFT + 20, y, "vwlite", "start")
    drawn.box(LEFT + 80, y - 4, 14, 10, colour=ORANGE, solid=0.85)
    drawn.text(LEFT + 100, y, "vw 9.11", "start")
    drawn.line([(LEFT, 0), (LEFT, y - 12)], GREY)
    return drawn.svg()
