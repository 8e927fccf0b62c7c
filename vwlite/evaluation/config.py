"""Options of measuring and of the search for options: plain data, so that ``--help`` does without what computes."""

from __future__ import annotations

from vwlite.errors import UsageError
from vwlite.options import Config, again, config, option, read_decimal

STEPS_PER_PASS = 10_000  # of ``vwlite crr`` in a pass of ``vwlite tune``
SCHEMES = ("iob1", "iob2", "iobes", "bilou", "none")


@config
class PhraseConfig(Config):
    """How phrases are counted. ``scheme`` None: as ``vwlite.evaluation.phrases.rule_for`` guesses from the labels."""

    scheme: str | None = option(
        None, "How labels mark phrases, which are then counted strictly; none: they mark none.", choices=SCHEMES,
        shown="guessed; IOB1 and IOB2 are counted as conlleval counts them",
    )


@config
class RankingConfig(Config):
    """How rankings are measured. ``bootstrap`` 0: no intervals."""

    gain: str = option("exp2", "Gain in NDCG: 2^label - 1 (exp2) or label (linear).", choices=("exp2", "linear"))
    discount: str = option(
        "letor",
        "Discount in NDCG: 1 / max(1, log2 j) at position j (letor), or 1 / log2(1 + j) as scikit-learn and trec_eval"
        " have it (log2).",
        choices=("letor", "log2"),
    )
    bootstrap: int = option(
        0, "Draw the queries anew N times: a 95% interval for each metric of rankings.", low=0, metavar="N",
        shown="none",
    )


@config
class ValueConfig(Config):
    """How policies are valued."""

    value: bool = option(False, "What the policy of a model of --cb or --cb_adf costs, which is all that it tells.")
    cost_range: str = option(
        "", "The least and the highest cost that there may be, for intervals.", metavar="LOW,HIGH",
        shown="those of the data",
    )

    def __post_init__(self) -> None:
        if self.cost_range and not self.span:
            raise UsageError(f"--cost_range takes two numbers, ascending, such as 0,1, not {self.cost_range!r}")

    @property
    def span(self) -> tuple[float, float] | None:
        """The two numbers; None where there are none."""
        try:
            low, high = map(read_decimal, self.cost_range.split(","))
        except ValueError:
            return None
        return (low, high) if low < high else None


@config
class RecommendConfig(Config):
    """``of``: the namespace of the ids of items, then others that belong to an item. ``items``: files of examples that
    hold items. ``exclude``: files of examples that hold persons and items. ``relevant``: a label.
    """

    of: str = option(
        "", "The namespace of the items, with others that belong to an item behind it.", spelled=("--of", "--among"),
        metavar="NS[,NS...]",
    )
    items: tuple[str, ...] = option(
        (), "Items are those of these examples, such as a catalogue or the training data, each with all its features.",
        reads="data",
    )
    near: tuple[str, ...] = option(
        (), "List the features that are most like this one of the same namespace instead, by cosine.",
        metavar="NS=NAME",
    )
    top: int = option(10, "So many for each example.", low=1, spelled=("--top", "-n"), metavar="N")
    exclude: tuple[str, ...] = option(
        (), "Leave out what a person has in these examples, such as the training data.", reads="data"
    )
    test: str | None = option(None, "Print how well these ratings are found instead.", reads="test data")
    relevant: float = option(
        1.0, "With --test: items of examples with a label of X or more are relevant.", needs=("test",), metavar="X"
    )


@config
class TuneConfig(Config):
    """``vary``: spaces of values, as ``vwlite.evaluation.tuning.Dimension`` reads them. ``jobs`` 0: all cores."""

    command: str = option(
        "train", f"What is tuned; a pass of crr is {STEPS_PER_PASS:,} steps.", choices=("train", "l1", "crr", "aso")
    )
    tests: tuple[str, ...] = option(
        (), "Measure on this.", spelled=("--test",), key="tests", reads="test data", shown="every fifth example"
    )
    metric: str = option("loss", "What 'vwlite evaluate' calls it.", metavar="NAME")
    scheme: str | None = again(PhraseConfig, "scheme", None, shown="guessed")
    vary: tuple[str, ...] = option(
        (), "Low..high or a|b|c.", metavar="'OPTION VALUES'", shown="the command's rates and penalties"
    )
    fixed: str = option(
        "", "Options of the command for every trial; of those that take a path, --theta only.", spelled=("--with",),
        key="fixed", metavar="'OPTIONS'",
    )
    trials: int = option(27, "Points of the space to try, beside the defaults.", low=1)
    sampler: str = option(
        "random",
        "Where points come from: at random, or by optuna's Parzen estimator from those before (extra 'tune').",
        choices=("random", "tpe"),
    )
    passes: int = option(9, "Passes at most; most trials make fewer.", low=1)
    jobs: int = option(0, "Trials at a time.", shown="all cores")
    seed: int = option(0, "Seed of the points.")
