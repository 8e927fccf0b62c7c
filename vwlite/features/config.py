"""Options of what is made of an example's features: plain data, so that ``--help`` shows them without NumPy."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from vwlite.errors import UsageError
from vwlite.options import Config, config, option

TABLE = "Table of weights"
WEIGHTING = "Values of terms"
VALUES = ("raw", "log", "binary")  # numbered as in the kernel
CROSSINGS = ("quadratic", "cubic", "interactions", "dotproduct")


def feature(default: Any, help: str, **declared: Any) -> Any:
    """An option that is settled when a model is begun."""
    return option(default, help, **{"section": "Features", "settled": True, **declared})


@config
class FeatureConfig(Config):
    """The feature pipeline's options, spelled as Vowpal Wabbit spells them."""

    bits: int = feature(
        18, "Bits of a slot's number: the table has 2^N slots.", section=TABLE, spelled=("-b", "--bit_precision"),
        low=1, high=32, unit="bits", shape=True,
    )
    hash: str = feature(
        "strings", "Whether digits are numbers (strings) or names (all).", section=TABLE, choices=("strings", "all"),
        shape=True,
    )
    hash_seed: int = feature(0, "Seed of the hash.", section=TABLE, low=0, high=2**32 - 1, shape=True)
    noconstant: bool = feature(False, "No constant feature.")
    quadratic: tuple[str, ...] = feature(
        (), "Cross two namespaces: letters, ':' for any, or full names 'a,b'.", spelled=("-q", "--quadratic"),
        metavar="AB",
    )
    cubic: tuple[str, ...] = feature((), "Cross three namespaces.", metavar="ABC")
    interactions: tuple[str, ...] = feature((), "Cross two or more namespaces.", metavar="ABC...")
    permutations: bool = feature(
        False, "Cross a namespace with itself in every order.", in_vw_models="forgotten", needs=CROSSINGS
    )
    leave_duplicate_interactions: bool = feature(
        False, "Keep interactions that differ only in order.", in_vw_models="forgotten", needs=CROSSINGS,
    )
    ignore: tuple[str, ...] = feature(
        (), "Drop namespaces beginning with these letters.", metavar="ABC", in_vw_models="added",
    )
    keep: tuple[str, ...] = feature((), "Drop all others.", metavar="ABC", in_vw_models="added")
    ignore_linear: tuple[str, ...] = feature(
        (), "Use them only within interactions.", metavar="ABC", in_vw_models="added",
    )
    redefine: tuple[str, ...] = feature((), "File namespaces S under letter N.", metavar="N:=S", in_vw_models="added")
    ngram: tuple[str, ...] = feature((), "Add n-grams, of namespace A or of all.", metavar="[A]N", in_vw_models="added")
    skips: tuple[str, ...] = feature((), "Let n-grams skip up to N features.", metavar="[A]N", in_vw_models="added")
    feature_limit: tuple[str, ...] = feature(
        (), "Keep N features of namespace A or of each.", metavar="[A]N", in_vw_models="forgotten",
    )
    affix: str = feature(
        "", "Add prefixes (+) and suffixes (-) of length N of names, like +2a,-3b.", metavar="SPEC"
    )
    spelling: tuple[str, ...] = feature(
        (), "Add the spelling classes of names; _ is the anonymous namespace.", metavar="A", in_vw_models="added",
    )
    sort_features: bool = feature(
        False, "Sort a namespace's features and drop repeated ones.", section="", vw_only=True,
        in_vw_models="forgotten",
    )
    dotproduct: tuple[str, ...] = feature(
        (), "Add the dot product of two namespaces' latent vectors.", section="Dot products of latent vectors",
        metavar="AB|A,B", shape=True,
    )

    value: str = feature(
        "raw", "Of terms: as they are, 1 + ln of what is beyond 1, or 1.", section=WEIGHTING, choices=VALUES,
        in_vw_models="forgotten",
    )
    weight: str = feature(
        "none", "Of terms: ln(examples / examples with it), or divided by an example's degree.", section=WEIGHTING,
        choices=("none", "idf", "degree"), in_vw_models="forgotten",
    )
    unit: bool = feature(False, "Scale examples to length 1.", section=WEIGHTING, in_vw_models="forgotten")
    min_df: int = feature(
        3, "Leave out what fewer examples have.", section=WEIGHTING, low=1, unit="examples", needs=("weight",),
        in_vw_models="forgotten",
    )

    def __post_init__(self) -> None:
        if self.weighs_terms and self.dotproduct:
            raise UsageError("--value, --weight and --unit do not go with --dotproduct")
        if self.weight == "degree" and self.unit:
            raise UsageError("--unit undoes --weight degree: drop one of the two")
        if self.sort_features and self.ngram:
            raise UsageError("--ngram goes by the order of features: drop --sort_features")
        if self.skips and not self.ngram:
            raise UsageError("--skips needs --ngram")

    @property
    def weighs_terms(self) -> bool:
        """Whether terms have other values than their features."""
        return self.value != "raw" or self.weight != "none" or self.unit

    def header(self) -> dict[str, Any]:
        """What models and checkpoints say of the options, as JSON data; of terms' values only what is not usual."""
        usual = {one.name: one.default for one in self.OPTIONS.values() if one.section == WEIGHTING}
        return {name: value for name, value in asdict(self).items() if name not in usual or value != usual[name]}


@config
class QueryConfig(Config):
    """``by`` is ``"tag"``, ``"none"`` (all rows are one query), a namespace's name, or None: tags if there are any."""

    by: str | None = option(
        None, "What tells queries apart: tag, none, or a namespace.", spelled=("--qid",), key="qid", metavar="NS",
        shown="tags",
    )

    def __post_init__(self) -> None:
        if self.by == "":
            raise UsageError("--qid takes tag, none or the name of a namespace")
