"""Options of sequences: plain data, so that ``--help`` shows them without NumPy."""

from vwlite.errors import UsageError
from vwlite.options import Config, config, option

DECODINGS = ("none", "bio", "viterbi")
OF_VITERBI = ("label_features", "label_noise", "beam", "recall")


@config
class SequenceConfig(Config):
    """How labels of sequences are chosen. ``decode`` None: ``bio`` where labels are like that, else ``none``."""

    sequences: bool = option(False, "An empty line ends a sequence of examples.", section="Sequences")
    decode: str | None = option(
        None, "How labels of a sequence are chosen, see below.", section="Sequences", choices=DECODINGS,
        shown="bio where labels are O, B-X, I-X; else none",
    )
    label_features: str | None = option(
        None, "Features of the labels before, for viterbi: y1, y2, y1*NS, y-prev*NS.", section="Sequences",
        spelled=("--label-features",), metavar="NAME,NAME", shown="y1",
    )
    beam: int | None = option(
        None, "Pairs of labels that the search of viterbi with y2 goes on from at each token.", section="Sequences",
        low=1, shown="all",
    )
    recall: int | None = option(
        None, "Sequences back to which y-prev looks for the label of the same word.", section="Sequences",
        spelled=("--memory",), key="recall", low=1, shown="1000",
    )
    label_noise: float | None = option(
        None, "Share of the labels before that are replaced by guesses in training.", section="Sequences",
        spelled=("--label-noise",), low=0, high=1, shown="0.5",
    )

    def __post_init__(self) -> None:
        for name in ("decode", *OF_VITERBI):
            if getattr(self, name) is not None and not self.sequences:
                raise UsageError(f"{self.OPTIONS[name].display_name} does nothing without --sequences")
        for name in OF_VITERBI:
            if getattr(self, name) is not None and self.decode != "viterbi":
                raise UsageError(f"{self.OPTIONS[name].display_name} does nothing without --decode viterbi")
        if self.beam is not None and "y2" not in (self.label_features or "").split(","):
            raise UsageError("--beam does nothing without --label-features y2: the search is fast without it")
        if self.recall is not None and "y-prev*" not in (self.label_features or ""):
            raise UsageError("--memory does nothing without --label-features y-prev*NS, of the words NS")
