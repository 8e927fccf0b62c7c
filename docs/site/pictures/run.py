"""A run of 'vwlite train' as boxes and arrows."""

from pictures.drawing import BLUE, GREEN, INK, ORANGE, Drawing

ALT = (
    "A run: files and pipes are read and parsed by several threads into batches of hashed examples; interactions "
    "and filters are applied; the learner, in one thread, predicts each example and then updates the weights; "
    "listeners receive each batch: counters and the progress table, predictions, early stopping, checkpoints, the "
    "ledger. At the end the model is written whole."
)


def flow() -> str:
    drawn = Drawing(760, 320, ALT)
    stages = (
        (16, "files, pipes,\ncache", INK),
        (176, "data\nread, parse, hash", BLUE),
        (376, "features\ncross, filter", BLUE),
        (576, "learner\npredict, update", ORANGE),
    )
    for x, text, colour in stages:
        drawn.box(x, 40, 168 if x > 100 else 118, 62, text, colour)
    for x1, x2, name in ((134, 176, ""), (344, 376, ""), (544, 576, "")):
        drawn.arrow(x1, 71, x2, 71)
        drawn.text((x1 + x2) / 2, 58, name)
    drawn.text(260, 20, "several threads, in batches")
    drawn.text(660, 20, "one thread, in order")
    drawn.box(576, 150, 168, 48, "weights\n2^b slots", GREEN)
    drawn.arrow(640, 102, 640, 150)
    drawn.arrow(680, 150, 680, 102)
    drawn.arrow(660, 198, 660, 244)
    drawn.box(576, 246, 168, 48, "model file,\nwritten at the end", INK)
    listeners = ("counters, progress", "predictions", "early stopping", "checkpoints", "ledger")
    drawn.box(16, 150, 528, 144, "", BLUE, 0.05)
    drawn.text(280, 168, "listeners: each sees every batch with its predictions")
    for place, name in enumerate(listeners):
        drawn.box(28 + 172 * (place % 3), 186 + 54 * (place // 3), 160, 40, name, BLUE)
    drawn.line([(600, 102), (600, 126), (280, 126), (280, 148)])
    drawn.head(280, 140, 280, 150)
    drawn.text(440, 116, "batches, predicted and learned")
    return drawn.svg()
