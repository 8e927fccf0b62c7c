"""What Theta is, and what it adds to an example."""

from pictures.drawing import BLUE, GREEN, INK, ORANGE, Drawing

ALT = (
    "Left: text without labels becomes many auxiliary problems, such as which word is missing; each has a vector "
    "of weights, a column of a matrix. Middle: a singular value decomposition finds the few directions that the "
    "columns share, the rows of Theta. Right: Theta turns the words of an example into a few numbers, which are "
    "appended to its words."
)
SHADES = (0.75, 0.2, 0.5, 0.3, 0.65, 0.15, 0.4, 0.6)


def theta() -> str:
    drawn = Drawing(760, 300, ALT)
    for place in range(8):
        drawn.box(40 + 20 * place, 70, 16, 130, colour=BLUE, solid=SHADES[place])
    drawn.text(118, 30, "weights of thousands of\nauxiliary problems")
    drawn.text(118, 232, "a column a problem:\n“is the word rocket in it?”\nfrom the other words")
    drawn.text(26, 135, "words", transform="rotate(-90 26 135)")
    drawn.arrow(214, 135, 292, 135)
    drawn.text(253, 118, "SVD")
    for place in range(3):
        drawn.box(304, 94 + 28 * place, 150, 20, colour=ORANGE, solid=0.7 - 0.2 * place)
    drawn.text(379, 30, "Theta: what the\ncolumns have in common")
    drawn.text(379, 220, "a row a direction, often a topic:\n+ rocket launch orbit\n- bread oven salt")
    drawn.arrow(466, 135, 540, 135)
    drawn.box(556, 70, 30, 130, colour=INK)
    drawn.text(571, 135, "x")
    drawn.text(606, 135, "and")
    for place in range(3):
        drawn.box(630, 94 + 28 * place, 30, 20, colour=GREEN, solid=0.7 - 0.2 * place)
    drawn.text(674, 135, "Theta x", "start")
    drawn.text(640, 30, "an example: its words\nand a few numbers more")
    drawn.text(640, 226, "few labels are enough\nto learn from these")
    return drawn.svg()
