"""Combined regression and ranking: a step takes an example, or a pair."""

from pictures.drawing import BLUE, GREEN, GREY, INK, ORANGE, Drawing

ALT = (
    "A step of combined regression and ranking. With probability alpha it takes one example and moves its score "
    "to its label. Otherwise it takes a query and two of its examples with different labels, and pushes their "
    "scores apart until the one with the greater label is ahead; examples of different queries are never "
    "compared."
)
ABOVE = (
    ("first query", ((0.78, 1), (0.62, 0), (0.42, 1), (0.3, 0), (0.16, 0))),
    ("second query", ((0.9, 1), (0.7, 0), (0.55, 0))),
)


def pairs() -> str:
    drawn = Drawing(760, 330, ALT)
    drawn.box(300, 10, 160, 40, "a step", INK)
    drawn.arrow(340, 50, 190, 84)
    drawn.arrow(420, 50, 570, 84)
    drawn.text(232, 58, "alpha", "end")
    drawn.text(528, 58, "1 - alpha", "start")
    drawn.box(60, 86, 260, 34, "regression: one example", GREEN)
    drawn.box(430, 86, 290, 34, "ranking: two examples of one query", BLUE)
    regression(drawn)
    ranking(drawn)
    return drawn.svg()


def regression(drawn: Drawing) -> None:
    drawn.line([(70, 190), (310, 190)], GREY)
    drawn.text(70, 207, "0")
    drawn.text(310, 207, "1")
    drawn.dot(170, 190, BLUE, 6)
    drawn.arrow(180, 178, 262, 178, GREEN, stroke_width="2.4")
    drawn.text(170, 168, "score")
    drawn.text(296, 168, "label 1")
    drawn.text(190, 250, "the score moves to the label:\nscores mean what labels mean")


def ranking(drawn: Drawing) -> None:
    for place, (name, dots) in enumerate(ABOVE):
        y = 168 + 74 * place
        drawn.line([(430, y), (720, y)], GREY)
        drawn.text(430, y - 30, name, "start")
        for score, label in dots:
            drawn.dot(430 + 290 * score, y, BLUE if label else ORANGE, 6)
    better, worse = 430 + 290 * 0.42, 430 + 290 * 0.62
    drawn.line([(better, 160), (better, 148), (worse, 148), (worse, 160)], INK)
    drawn.arrow(better + 6, 178, better + 40, 178, BLUE, stroke_width="2.4")
    drawn.arrow(worse - 6, 189, worse - 40, 189, ORANGE, stroke_width="2.4")
    drawn.dot(440, 284, BLUE, 6)
    drawn.text(452, 284, "label 1", "start")
    drawn.dot(520, 284, ORANGE, 6)
    drawn.text(532, 284, "label 0", "start")
    drawn.text(720, 284, "score", "end")
    drawn.text(575, 312, "a pair in the wrong order is put right")
