"""The step of a dyadic model: the trail of both vectors while the prediction goes to the label."""

import math

from pictures.drawing import BLUE, GREEN, GREY, INK, ORANGE, Drawing

A, B = (1.0, 0.25), (0.15, 0.8)  # omega and kappa are 1: one feature of value 1 on each side
LABEL = 1.6
ALT = (
    "Left: two vectors a and b in the plane. As h grows from 0, both move along hyperbolas, until their dot product "
    "is the label. Right: the dot product as a function of h rises and ends at the label; a first-order step of the "
    "same length falls short of it."
)


def moved(one: tuple[float, float], other: tuple[float, float], h: float) -> tuple[float, float]:
    c, s = math.cosh(h), math.sinh(h)
    return one[0] * c + other[0] * s, one[1] * c + other[1] * s


def product(h: float) -> float:
    a, b = moved(A, B, h), moved(B, A, h)
    return a[0] * b[0] + a[1] * b[1]


def end() -> float:
    """h where the dot product is the label, by bisection; it rises in h."""
    low, high = 0.0, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if product(middle) < LABEL else (low, middle)
    return high


def step() -> str:
    drawn = Drawing(760, 330, ALT)
    last = end()
    plane(drawn, last)
    curve(drawn, last)
    return drawn.svg()


def plane(drawn: Drawing, last: float) -> None:
    def at(point: tuple[float, float]) -> tuple[float, float]:
        return 50 + 195 * point[0], 290 - 195 * point[1]

    drawn.arrow(*at((-0.1, 0)), *at((1.65, 0)), GREY)
    drawn.arrow(*at((0, -0.1)), *at((0, 1.35)), GREY)
    for one, other, name, colour in ((A, B, "a", BLUE), (B, A, "b", ORANGE)):
        trail = [at(moved(one, other, place * last / 40)) for place in range(41)]
        drawn.arrow(*at((0, 0)), *at(one), colour, stroke_dasharray="4 3")
        drawn.arrow(*at((0, 0)), *trail[-1], colour)
        drawn.line(trail, colour, stroke_width="3.2")
        for place in range(0, 41, 10):
            drawn.dot(*trail[place], colour, 3.6)
        shift = 14 if one is A else -40
        drawn.text(trail[0][0] + shift, trail[0][1] + (16 if one is A else 0), f"{name}(0)")
        drawn.text(trail[-1][0] + 26, trail[-1][1] - 6, f"{name}(h)")
    drawn.text(205, 14, "both vectors move at once, along hyperbolas")


def curve(drawn: Drawing, last: float) -> None:
    top = 1.75 * last

    def at(h: float, p: float) -> tuple[float, float]:
        return 460 + 270 * h / top, 290 - 120 * p

    slope = sum(x * x for x in (*A, *B))
    drawn.arrow(*at(0, 0), *at(top, 0), GREY)
    drawn.arrow(*at(0, 0), *at(0, 2.1), GREY)
    drawn.line([at(0, LABEL), at(top, LABEL)], GREEN, stroke_dasharray="6 4")
    drawn.text(448, at(0, LABEL)[1], "label", "end")
    drawn.line([at(place * last / 40, product(place * last / 40)) for place in range(41)], INK, stroke_width="2.6")
    drawn.line([at(0, product(0)), at(last * 0.98, product(0) + slope * last * 0.98)], GREY, stroke_dasharray="3 3")
    drawn.text(*at(last * 1.02, product(0) + slope * last * 0.8), "first-order step", "start")
    drawn.dot(*at(last, LABEL), GREEN, 5)
    drawn.text(448, at(0, product(0))[1], "a·b", "end")
    drawn.text(at(top, 0)[0] - 6, 308, "h")
    drawn.text(600, 14, "the prediction rises and ends at the label")
