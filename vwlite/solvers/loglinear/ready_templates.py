"""Templates for the usual tasks, by the names that ``--template`` knows."""

OWN = {2: "w", 12: "t"}  # names of the word and tag of the token itself; others go by these numbers
CHUNK = "".join(
    [
        f"{OWN.get(10 * column + place, f'U{10 * column + place:02}')}:%x[{place - 2},{column}]\n"
        for column in (0, 1)
        for place in range(5)
    ]
    + ["U05:%x[-1,0]/%x[0,0]\nU06:%x[0,0]/%x[1,0]\n"]
    + [f"U{15 + place}:%x[{place - 2},1]/%x[{place - 1},1]\n" for place in range(4)]
    + [f"U{20 + place}:%x[{place - 2},1]/%x[{place - 1},1]/%x[{place},1]\n" for place in range(3)]
    + ["B\n"]
)
PLACES = {-2: "L2", -1: "L1", 0: "C", 1: "R1", 2: "R2"}


def around(letter: str, macro: str) -> str:
    """``macro`` of each token of five, in namespaces of their own."""
    return "".join(f"{letter}{name}:{macro.format(row)}\n" for row, name in PLACES.items())


NER = (
    around("w", "%x[{0},0]")
    + around("t", "%t[{0},0]")
    + around("p", "%p[{0},0,2-4]")
    + around("s", "%s[{0},0,2-4]")
    + "wLC:%x[-1,0]/%x[0,0]\nwCR:%x[0,0]/%x[1,0]\n"
    + "tLC:%t[-1,0]/%t[0,0]\ntCR:%t[0,0]/%t[1,0]\ntLR:%t[-1,0]/%t[1,0]\ntLCR:%t[-1,0]/%t[0,0]/%t[1,0]\n"
)
POS = (
    around("w", "%x[{0},0]")
    + "lC:%l[0,0]\ntL1:%t[-1,0]\ntC:%t[0,0]\ntR1:%t[1,0]\n"
    + "pC:%p[0,0,1-4]\nsC:%s[0,0,1-4]\nsL1:%s[-1,0,2-3]\nsR1:%s[1,0,2-3]\n"
    + "wLC:%x[-1,0]/%x[0,0]\nwCR:%x[0,0]/%x[1,0]\n"
)
READY = {"chunk": CHUNK, "ner": NER, "pos": POS}


def usual(columns: int) -> str:
    """Which is taken for tokens of so many columns, when none is asked for."""
    return CHUNK if columns > 1 else NER
