"""Options of sequences: plain data, so that ``--help`` shows them without NumPy."""

from vwlite.errors import UsageError
from vwlite.options import Config, config, option

DECODINGS = ("none", "bio", "viterbi")


@config
class SequenceConfig(Config):
    """How labels of sequences are chosen. ``decode`` None: ``bio`` where labels are like that, else ``none``."""

    sequences: bool = option(False, "An empty line ends a sequence of examples.", section="Sequences")
    decode: str | None = option(
        None, "How labels of a sequence are chosen, see below.", section="Sequences", choices=DECODINGS,
        shown="bio where labels are O, B-X, I-X; else none",
    )
    label_features: str | None = option(
        None, "Features of the labels before, for viterbi: y1, y2, y1*NS.", section="Sequences",
        spelled=("--label-features",), metavar="NAME,NAME", shown="y1",
    )
    beam: int | None = option(
        None, "Pairs of labels that the search of viterbi with y2 goes on from at each token.", section="Sequences",
        low=1, shown="all",
    )
    label_noise: float | None = option(
        None, "Share of the labels before that are replaced by guesses in training.", section="Sequences",
        spelled=("--label-noise",), low=0, high=1, shown="0.5",
    )

    def __post_init__(self) -> None:
        for name in ("decode", "label_features", "label_noise", "beam"):
            if getattr(self, name) is not None and not self.sequences:
                raise UsageError(f"{self.OPTIONS[name].display_name} does nothing without --sequences")
        for name in ("label_features", "label_noise", "beam"):
            if getattr(self, name) is not None and self.decode != "viterbi":
                raise UsageError(f"{self.OPTIONS[name].display_name} does nothing without --decode viterbi")
        if self.beam is not None and "y2" not in (self.label_features or "").split(","):
            raise UsageError("--beam does nothing without --label-features y2: the search is fast without it")
